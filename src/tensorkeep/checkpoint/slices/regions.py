"""Reading part of an array that lies in a file, row-major, from only the bytes that are needed.

A part is a set of *runs*: stretches of elements that lie together both in the file and in the result. Runs far apart
are read one by one; runs close together are read in one go with what lies between them, and sorted out in memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.slices.tensor_slice import Box, box_shape
from tensorkeep.io.files.filesystem import AccessCost, RandomAccessFile
from tensorkeep.io.machine.parallel import in_parallel
from tensorkeep.shapes import element_count

Positions = npt.NDArray[np.int64]

_RUNS: Final = 1 << 18  # run positions held in memory at a time


def read_box(file: RandomAccessFile, offset: int, shape: tuple[int, ...], box: Box, dtype: np.dtype[Any]) -> Array:
    """The elements of `box` of an array of that shape whose first element is at byte `offset` of the file."""
    out = np.empty(box_shape(box), dtype)
    flat = out.reshape(-1)
    at = 0
    for starts, length in _runs(shape, box):
        _read_runs(file, offset, starts, length, flat[at : at + starts.size * length])
        at += starts.size * length
    return out


def read_rows(
    file: RandomAccessFile, offset: int, shape: tuple[int, ...], rows: Positions, dtype: np.dtype[Any]
) -> Array:
    """The given indices along the first axis, in the given order, of an array at byte `offset` of the file."""
    length = element_count(shape[1:])
    out = np.empty((rows.size, length), dtype)
    if out.size == 0:
        return out.reshape((rows.size, *shape[1:]))
    order = np.argsort(rows, kind="stable")
    _read_runs(file, offset, rows[order] * length, length, out.reshape(-1))
    unsorted = np.empty_like(out)
    unsorted[order] = out
    return unsorted.reshape((rows.size, *shape[1:]))


def _runs(shape: tuple[int, ...], box: Box) -> Iterator[tuple[Positions, int]]:
    """The runs of a box as (positions of their first elements, their common length), in order, in batches."""
    if 0 in box_shape(box):
        return
    axis = len(shape)  # dimensions from `axis` on are wanted whole, so they merge into one run
    while axis and box[axis - 1] == (0, shape[axis - 1]):
        axis -= 1
    inner = element_count(shape[axis:])
    if axis == 0:
        yield np.zeros(1, np.int64), inner
        return
    start, stop = box[axis - 1]
    length = (stop - start) * inner
    strides = [element_count(shape[at + 1 :]) for at in range(axis)]
    yield from ((starts + start * inner, length) for starts in _outer(box[: axis - 1], strides))


def _outer(box: Box, strides: list[int]) -> Iterator[Positions]:
    """The positions of all index tuples of a box, in row-major order, in batches of bounded size."""
    if not box:
        yield np.zeros(1, np.int64)
        return
    inner_count = element_count(box_shape(box[1:]))
    start, stop = box[0]
    if inner_count > _RUNS:
        for index in range(start, stop):
            yield from (starts + index * strides[0] for starts in _outer(box[1:], strides[1:]))
        return
    inner = np.concatenate(list(_outer(box[1:], strides[1:])))
    step = max(1, _RUNS // inner_count)
    for first in range(start, stop, step):
        indices = np.arange(first, min(first + step, stop), dtype=np.int64) * strides[0]
        yield (indices[:, None] + inner).reshape(-1)


def _read_runs(file: RandomAccessFile, offset: int, starts: Positions, length: int, out: Array) -> None:
    """Reads runs of `length` elements, in ascending order of position, into consecutive places of `out`."""
    width = out.dtype.itemsize
    out = out.view(f"V{width}")  # sliding windows know NumPy's own types alone, not those of ml_dtypes
    target = out.view(np.uint8).data
    size = length * width
    gaps = np.diff(starts) * width - size
    cost = file.cost
    if cost.in_flight == 1 and (size > cost.span // 2 or not np.any(gaps <= cost.gap)):
        for at, start in enumerate(starts.tolist()):
            file.read_into(offset + start * width, target[at * size : (at + 1) * size])
        return

    def read(group: tuple[int, int]) -> None:
        first, last = group
        base = int(starts[first])
        if first + 1 == last:
            file.read_into(offset + base * width, target[first * size : last * size])
            return
        span = file.read(offset + base * width, int(starts[last - 1] - base) * width + size)
        elements = np.frombuffer(span, out.dtype)
        windows = np.lib.stride_tricks.sliding_window_view(elements, length)
        out[first * length : last * length].reshape(last - first, length)[...] = windows[starts[first:last] - base]

    in_parallel(read, _groups(starts * width, size, gaps, cost), cost.in_flight)


def _joined_gap(gaps: Positions, cost: AccessCost) -> int:
    """The largest gap that is read over: more than `cost.gap` if that leaves too many reads, and wastes little."""
    wide = np.sort(gaps[gaps > cost.gap])
    if not cost.waste or wide.size < cost.reads:
        return cost.gap
    affordable = int(np.searchsorted(np.cumsum(wide), cost.waste, side="right"))
    count = min(affordable, wide.size + 1 - cost.reads)
    return int(wide[count - 1]) if count else cost.gap


def _groups(positions: Positions, size: int, gaps: Positions, cost: AccessCost) -> Iterator[tuple[int, int]]:
    """Cuts runs into groups, each read in one go: neighbours less than a gap apart, within a span."""
    edges = [0, *(np.flatnonzero(gaps > _joined_gap(gaps, cost)) + 1).tolist(), positions.size]
    for low, high in pairwise(edges):
        first = low
        while first < high:
            last = int(np.searchsorted(positions[low:high], positions[first] + cost.span - size, side="right")) + low
            last = max(last, first + 1)
            yield first, last
            first = last
