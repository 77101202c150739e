"""Thousands of small tensors: what is done for each alone is a few lines, the rest is done for all together.

Entries of the usual form (see format.py) are taken apart all together, into columns, by entry_columns.py. Tensors that
lie close together in a data file are read by one call.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.entry_columns import Columns, decode_entries
from tensorkeep.checkpoint.bundle.format import encode_type_and_shape
from tensorkeep.dtypes import dtype_of_plain_array
from tensorkeep.io.coding.crc32c_arrays import unmask_array
from tensorkeep.io.files.filesystem import ON_DISK, AccessCost, Buffer
from tensorkeep.native.checksums import crc32c_of_stretches

Integers = npt.NDArray[np.int64]

SMALL: Final = 64 << 10  # bytes; what counts as small
_FEW: Final = 8  # tensors in a row, on average, that are not worth cutting out together


class Kind(NamedTuple):
    """What the small tensors of one type and shape have in common."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    nbytes: int


class Heads(NamedTuple):
    """The types and shapes that occur in many entries."""

    numbers: Integers  # which one each entry has; -1 if the entry is not of the usual form
    firsts: list[int]  # of each, where it occurs first

    @classmethod
    def of(cls, values: Sequence[bytes], columns: Columns) -> Heads:
        lengths = np.where(columns.usual, columns.heads, 0).tolist()
        heads = [value[:length] for value, length in zip(values, lengths, strict=True)]
        if len(set(heads)) == 1 and heads[0]:
            return cls(np.zeros(len(heads), np.int64), [0])
        places = dict(zip(reversed(heads), range(len(heads) - 1, -1, -1), strict=True))
        places.pop(b"", None)  # no type and shape, but all that is not usual
        firsts = sorted(places.values())
        numbers = {heads[at]: number for number, at in enumerate(firsts)} | {b"": -1}
        return cls(np.fromiter(map(numbers.__getitem__, heads), np.int64, len(heads)), firsts)


class Span(NamedTuple):
    """Tensors to be read by one call: data file, first byte, byte after the last, and rows, in order of offset."""

    shard: int
    start: int
    end: int
    members: Integers


def spans_of_tensors(columns: Columns, cost_of: Callable[[int], AccessCost] = lambda shard: ON_DISK) -> Iterator[Span]:
    """Groups of tensors, such that those of a group lie close together, and are well read in one go.

    `cost_of` says of a data file what a read of it costs.
    """
    order = np.lexsort((columns.offsets, columns.shards))
    shards, offsets = columns.shards[order], columns.offsets[order]
    ends = offsets + columns.sizes[order]
    files = [0, *(np.flatnonzero(np.diff(shards)) + 1).tolist(), order.size]
    for low, high in pairwise(files):
        if low == high:
            continue
        cost = cost_of(int(shards[low]))
        reached = np.maximum.accumulate(ends[low:high])
        gaps = np.flatnonzero(offsets[low + 1 : high] > reached[:-1] + cost.gap) + 1
        for first, last in pairwise([low, *(gaps + low).tolist(), high]):
            while first < last:
                within = low + int(np.searchsorted(reached, offsets[first] + cost.span, side="right"))
                edge = min(max(within, first + 1), last)
                yield Span(int(shards[first]), int(offsets[first]), int(ends[first:edge].max()), order[first:edge])
                first = edge


class SmallTensors:
    """The small tensors among many, which are to be read together.

    `kind_of` gives the kind of the entry at a position; None if such tensors are to be read one by one.
    """

    def __init__(self, values: Sequence[bytes], kind_of: Callable[[int], Kind | None]) -> None:
        columns = decode_entries(values)
        numbers, firsts = Heads.of(values, columns)
        kinds = [kind_of(at) for at in firsts]
        is_small = np.array([*(kind is not None for kind in kinds), False])[numbers]  # the last: what is not usual
        self.positions: Integers = np.flatnonzero(is_small)
        self.others: list[int] = np.flatnonzero(~is_small).tolist()
        self.columns = columns.take(self.positions)
        self._kinds = [Kind((), np.dtype(np.uint8), 0) if kind is None else kind for kind in kinds]
        self._numbers = numbers[self.positions]
        self._sizes = np.array([kind.nbytes for kind in self._kinds], np.int64)[self._numbers]

    def first_of_each_file(self) -> list[int]:
        """Of each data file, the position of a tensor that lies in it."""
        _, firsts = np.unique(self.columns.shards, return_index=True)
        return sorted(map(int, self.positions[firsts]))

    def misfits(self, file_size: Callable[[int], int]) -> list[int]:
        """Positions of the tensors that are not of the size their type and shape ask for, or not within their file."""
        shards, places = np.unique(self.columns.shards, return_inverse=True)
        limits = np.array([file_size(shard) for shard in shards.tolist()], np.int64)[places]
        misfit = (self.columns.sizes != self._sizes) | (self.columns.offsets + self.columns.sizes > limits)
        return [int(at) for at in self.positions[misfit]]

    def wrong_checksums(self, data: Buffer, span: Span) -> list[tuple[int, int]]:
        """Positions and checksums of the tensors of a span whose checksum is not the one that is stored."""
        starts, lengths = self.columns.offsets[span.members] - span.start, self._sizes[span.members]
        crcs = crc32c_of_stretches(data, starts, lengths)
        wrong = np.flatnonzero(crcs != unmask_array(self.columns.masked_crcs[span.members]))
        return list(zip(self.positions[span.members[wrong]].tolist(), crcs[wrong].tolist(), strict=True))

    def arrays(self, data: Buffer, span: Span) -> list[Array]:
        """The tensors of a span, each in memory of its own.

        Those of one kind that lie one behind the other are cut out together.
        """
        starts, numbers = self.columns.offsets[span.members] - span.start, self._numbers[span.members]
        breaks = (np.diff(numbers) != 0) | (np.diff(starts) != self._sizes[span.members[:-1]])
        edges = [0, *(np.flatnonzero(breaks) + 1).tolist(), starts.size]
        places, kinds = starts.tolist(), list(map(self._kinds.__getitem__, numbers.tolist()))
        if len(edges) > starts.size // _FEW:
            return _cut_out(data, places, kinds)
        found: list[Array] = []
        for first, last in pairwise(edges):
            shape, dtype, nbytes = kinds[first]
            if shape and nbytes:
                found += map(np.ndarray.copy, np.ndarray((last - first, *shape), dtype, data, places[first]))
            else:
                found += _cut_out(data, places[first:last], kinds[first:last])
        return found


def _cut_out(data: Buffer, places: list[int], kinds: list[Kind]) -> list[Array]:
    """Arrays of those kinds, which begin in those places."""
    view = memoryview(data)
    return [
        np.ndarray(shape, dtype, bytearray(view[at : at + nbytes]))
        for at, (shape, dtype, nbytes) in zip(places, kinds, strict=True)
    ]


class ArrayKinds(dict[tuple[np.dtype[Any], tuple[int, ...]], int]):
    """The types and shapes of small arrays that lie in memory just as they are stored, numbered as they occur.

    Others have the number -1. (Arrays in another order than C's are brought into it when their bytes are taken.)
    """

    def __init__(self) -> None:
        self.heads: list[bytes] = []  # encoded
        self.sizes: list[int] = []  # in bytes

    def __missing__(self, kind: tuple[np.dtype[Any], tuple[int, ...]]) -> int:
        array_dtype, shape = kind
        dtype = dtype_of_plain_array(array_dtype)
        size = array_dtype.itemsize * math.prod(shape)
        self[kind] = -1 if dtype is None or dtype.bits or size > SMALL else len(self.heads)
        if dtype is not None and self[kind] >= 0:
            self.heads.append(encode_type_and_shape(dtype.number, shape))
            self.sizes.append(size)
        return self[kind]

    def numbers(self, values: Sequence[object]) -> Integers:
        """The number of each value."""
        array = np.ndarray
        found = [self[value.dtype, value.shape] if type(value) is array else -1 for value in values]
        return np.array(found, np.int64)
