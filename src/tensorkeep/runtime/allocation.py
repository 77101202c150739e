"""A limit for kernels whose results are as large as a value of an input says (Fill, Tile), not as an input is."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError
from tensorkeep.io.machine.resources import available_memory
from tensorkeep.runtime.limits import current_meter
from tensorkeep.shapes import MAX_RANK

_UNQUESTIONED: Final = 1 << 28  # bytes
_SMALL: Final = 1 << 10  # bytes; nobody's limit is below that


def check_allocation(shape: Sequence[int], dtype: npt.DTypeLike, copies: int = 1) -> None:
    """Raises unless an array of this shape, and what making it takes besides, fits into the memory that is there.

    A negative size is an InvalidArgumentError, too large a size a ResourceExhaustedError. To be called before
    anything is allocated.
    """
    if shape and min(shape) < 0:
        raise InvalidArgumentError(f"Dimension {min(shape)} must be >= 0")
    if len(shape) > MAX_RANK:
        raise InvalidArgumentError(f"a tensor has at most {MAX_RANK} dimensions, got {len(shape)}")
    wanted = prod(shape) * np.dtype(dtype).itemsize * copies
    if wanted > _SMALL and (meter := current_meter()) is not None:
        meter.check_bytes(wanted, f"a tensor with shape{list(shape)} and type {np.dtype(dtype).name}")
    if wanted > _UNQUESTIONED and wanted > available_memory():
        raise ResourceExhaustedError(
            f"OOM when allocating tensor with shape{list(shape)} and type {np.dtype(dtype).name}: there is no memory "
            f"for {wanted / 2**30:,.1f} GiB"
        )
