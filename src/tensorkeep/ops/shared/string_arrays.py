"""Arrays of strings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod

import numpy as np

from tensorkeep.ops.shared.kernel_types import Array


def string_array(items: Iterable[bytes], shape: Sequence[int]) -> Array:
    """Strings as an array of a shape."""
    flat = np.empty(prod(shape), object)
    flat[:] = list(items)
    return flat.reshape(tuple(shape))
