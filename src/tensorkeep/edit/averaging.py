"""Averages of tensors, worked out piece by piece in double precision.

Large tensors are shared out between threads in stretches, each of which reads its part of all of them. What is read
stays within the processor's own cache until it is added up.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.bundle import Entry
from tensorkeep.checkpoint.bundle_reader import BundleReader
from tensorkeep.io.crc32c import combine
from tensorkeep.io.parallel import ahead

Array = npt.NDArray[Any]

_PIECE: Final = 1 << 18  # bytes of a tensor that are read and added up at a time
_STRETCH: Final = 4 << 20  # bytes that one thread works on at a time


class Mean:
    """The weighted mean of arrays of one type. Shares add up to 1."""

    def __init__(self, dtype: np.dtype[Any], shares: Sequence[float]) -> None:
        self.dtype = dtype
        self.exact: np.dtype[Any] = np.dtype(np.complex128 if np.issubdtype(dtype, np.complexfloating) else np.float64)
        self._is_even = len(set(shares)) == 1
        self._shares = shares

    def of(self, arrays: Sequence[Array]) -> Array:
        """The mean of arrays of one shape."""
        result = np.empty(arrays[0].size, self.dtype)
        step = max(1, _PIECE // self.dtype.itemsize)
        sums, term = self.space(min(step, result.size))
        for at in range(0, result.size, step):
            piece = slice(at, min(at + step, result.size))
            count = piece.stop - at
            for number, array in enumerate(arrays):
                self.add(number, array[piece], sums[:count], term[:count])
            self.finish(sums[:count], result[piece])
        return result

    def space(self, count: int) -> tuple[Array, Array]:
        """Room for the sums, and for what is added to them."""
        return np.empty(count, self.exact), np.empty(count, self.exact)

    def add(self, number: int, array: Array, sums: Array, term: Array) -> None:
        """Adds one of the arrays to the sums; the first one begins them."""
        target = term if number else sums
        np.copyto(target, array, casting="unsafe")
        if not self._is_even:
            np.multiply(target, self._shares[number], out=target)
        if number:
            np.add(sums, term, out=sums)

    def finish(self, sums: Array, result: Array) -> None:
        """Rounds the sums to what is stored."""
        if self._is_even:
            np.divide(sums, len(self._shares), out=sums)
        np.copyto(result, sums, casting="unsafe")


def averaged_stretches(places: Sequence[tuple[BundleReader, Entry]], mean: Mean) -> Iterator[Array]:
    """The mean of tensors, each stored in one piece, in chunks. Wrong checksums are found with the last of them."""
    size = places[0][1].size
    starts = range(0, size, _STRETCH)
    totals = [0] * len(places)
    for start, (result, crcs) in zip(starts, ahead(lambda at: _stretch(places, mean, at), starts), strict=True):
        length = min(_STRETCH, size - start)
        totals = [combine(total, crc, length) if start else crc for total, crc in zip(totals, crcs, strict=True)]
        yield result
    for (reader, entry), total in zip(places, totals, strict=True):
        reader.compare_checksum(entry, total)


def _stretch(places: Sequence[tuple[BundleReader, Entry]], mean: Mean, start: int) -> tuple[Array, list[int]]:
    """The mean of one stretch, and the checksum of what each tensor has there."""
    length = min(_STRETCH, places[0][1].size - start)
    result = np.empty(length // mean.dtype.itemsize, mean.dtype)
    buffer = memoryview(bytearray(min(_PIECE, length)))
    sums, term = mean.space(len(buffer) // mean.dtype.itemsize)
    crcs = [0] * len(places)
    done = 0
    for at in range(0, length, _PIECE):
        part = buffer[: min(_PIECE, length - at)]
        count = len(part) // mean.dtype.itemsize
        for number, (reader, entry) in enumerate(places):
            crcs[number] = reader.read_stretch(entry, start + at, part, crcs[number])
            mean.add(number, np.frombuffer(part, mean.dtype), sums[:count], term[:count])
        mean.finish(sums[:count], result[done : done + count])
        done += count
    return result, crcs
