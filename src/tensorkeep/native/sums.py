"""Sums of large arrays of float32 along their last axis, or along all axes before it, by threads.

Some hundred or thousand numbers at a time are summed as floats, and these sums in double precision, whatever the number
of threads.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.native.layers import FLOAT, functions, in_parts, place_of

_SMALLEST: Final = 1 << 16  # elements; of fewer, NumPy's sums take less time than the calls
_FEWEST: Final = 16  # elements of a row or of a column
_COST: Final = 8  # multiplications that take as long as the addition of a number from memory


def fused_sum(x: Array, axes: tuple[int, ...]) -> Array | None:
    """The sums of an array of float32 along axes, which are not kept; None if NumPy has to find them.

    That is so unless the axes, but for those of one element, are the last one, or all before it.
    """
    if x.size < _SMALLEST or x.dtype != FLOAT or functions() is None:
        return None
    if type(x) is not np.ndarray or not x.flags.c_contiguous or not x.flags.aligned:
        return None
    counted = [axis for axis, size in enumerate(x.shape) if size > 1]
    summed = [axis for axis in counted if axis in axes]
    kept = tuple(size for axis, size in enumerate(x.shape) if axis not in axes)
    columns = x.shape[counted[-1]]
    rows = x.size // columns
    if rows < _FEWEST or columns < _FEWEST or len(counted) < 2:
        return None
    if summed == counted[-1:]:
        return _row_sums(x, columns).reshape(kept)
    return column_sums(x, columns).astype(FLOAT).reshape(kept) if summed == counted[:-1] else None


def _row_sums(x: Array, columns: int) -> Array:
    compiled = functions()
    assert compiled is not None
    out = np.empty(x.size // columns, FLOAT)
    in_parts(partial(compiled.sum_rows, place_of(x), columns, place_of(out)), out.size, _COST * x.size)
    return out


def column_sums(x: Array, columns: int, mean: Array | None = None) -> Array:
    """The sums of each column of an array, or of the squares of what is beyond its mean; in double precision."""
    compiled = functions()
    assert compiled is not None
    rows = prod(x.shape) // columns
    blocks = -(-rows // compiled.block_rows())
    out = np.empty((blocks, columns), FLOAT)
    middle = None if mean is None else place_of(mean)
    in_parts(partial(compiled.sum_channels, place_of(x), rows, columns, middle, place_of(out)), blocks, _COST * x.size)
    total: Array = out.sum(axis=0, dtype=np.float64)
    return total
