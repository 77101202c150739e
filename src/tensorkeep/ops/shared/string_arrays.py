"""Arrays of strings."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def string_array(items: Iterable[bytes], shape: Sequence[int]) -> Array:
    """Strings as an array of a shape."""
    flat = np.empty(prod(shape), object)
    flat[:] = list(items)
    return flat.reshape(tuple(shape))
