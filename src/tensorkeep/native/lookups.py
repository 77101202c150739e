"""Rows of several tables side by side, in one call: what models with many embedded columns begin with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.native.layers import place_of
from tensorkeep.native.library import compiled_function

_INDICES: Final = (np.dtype(np.int32), np.dtype(np.int64))


@cache
def functions() -> Callable[..., int] | None:
    """The compiled function; None if the library is not there."""
    return compiled_function("lookups_join", "pllpl", "i")


class Column(NamedTuple):
    """What one column has: rows of a table at indices, or, without indices, the rows of the array themselves."""

    table: Any
    indices: Any = None
    wraps: bool = False  # whether an index below zero counts from the end


def joined_rows(columns: Sequence[Column]) -> Array | None:
    """For each index, the rows of all columns side by side: [indices, sum of the tables' widths].

    None if it has to be done step by step, or to say what is wrong: an index that is none of its table among it.
    """
    join = functions()
    first = columns[0]
    leading = first.table if first.indices is None else first.indices
    if join is None or type(leading) is not np.ndarray or not leading.ndim:
        return None
    rows, dtype = leading.shape[0], first.table.dtype
    numbers: list[int] = []
    offset = 0
    for column in columns:
        found = _numbers(column, rows, dtype, offset)
        if found is None:
            return None
        numbers += found
        offset += found[2]
    out = np.empty((rows, offset // dtype.itemsize), dtype)
    table = np.array(numbers, np.int64)
    return out if join(place_of(table), len(columns), rows, place_of(out), offset) else None


def _numbers(column: Column, rows: int, dtype: np.dtype[Any], offset: int) -> list[int] | None:
    """The numbers of Column in lookups.cpp; None if it has other shapes or types than those."""
    table, indices, wraps = column
    if type(table) is not np.ndarray or table.ndim != 2 or table.dtype != dtype or dtype.hasobject:
        return None
    if not table.flags.c_contiguous:
        return None
    length = table.shape[1] * dtype.itemsize
    if indices is None:
        return [place_of(table), rows, length, 0, 0, 0, 0, offset] if len(table) == rows else None
    if type(indices) is not np.ndarray or indices.dtype not in _INDICES or indices.size != rows or not indices.ndim:
        return None
    if indices.shape[0] != rows:
        return None
    place = indices.__array_interface__["data"][0]
    return [place_of(table), len(table), length, place, indices.strides[0], indices.itemsize, int(wraps), offset]
