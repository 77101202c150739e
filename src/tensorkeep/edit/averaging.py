"""Averages of the tensors of several checkpoints, worked out piece by piece and ahead of who writes them.

What is averaged is added up in double precision, in the order of the checkpoints, and rounded once, to what is stored.
Sums of float32 in float32 would be rounded once for every checkpoint. In double precision those roundings are some
2**29 times smaller than the one that remains.

Threads work on shares, each of which reads its part of all tensors into buffers that are used again and again. What
is read stays within the processor's cache until its checksum is known and it is added up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.storage import StoredBytes
from tensorkeep.checkpoint.stretches import Stretch, in_step
from tensorkeep.io.coding.crc32c import combine
from tensorkeep.io.machine.large_arrays import ReadBuffer
from tensorkeep.io.machine.parallel import ahead, default_threads
from tensorkeep.native.means import fused_mean

Bytes = npt.NDArray[np.uint8]

# One thread holds up the other for as long as it runs Python, so calls have to be few: what is read at a time is more
# than the nearest cache holds.
_READ: Final = 8 << 20  # bytes of all tensors together that are read before they are added up
_PIECES: Final = (1 << 14, 1 << 20)  # the fewest bytes, and the most, of one tensor that are read at a time
_STRETCH: Final = 1 << 20  # bytes that one thread works on at a time
_LARGE: Final = 1 << 16  # bytes of a tensor from which on another thread works on it
_SUMMED: Final = 1 << 15  # elements that NumPy adds up at a time


class Mean:
    """The weighted mean of arrays of one type. Shares add up to 1."""

    def __init__(self, dtype: np.dtype[Any], shares: Sequence[float]) -> None:
        self.dtype = dtype
        self._exact = np.dtype(np.complex128 if np.issubdtype(dtype, np.complexfloating) else np.float64)
        self._number = len(shares)
        self._shares = None if len(set(shares)) == 1 else np.array(shares, np.float64)

    def of(self, arrays: Sequence[Array]) -> Array:
        """The mean of arrays of one shape, one-dimensional."""
        result = np.empty(arrays[0].size, self.dtype)
        self.into(result, arrays)
        return result

    def into(self, result: Array, arrays: Sequence[Array]) -> None:
        """The mean of arrays of the size of `result`, put there. All are one-dimensional."""
        if fused_mean(arrays, self._shares, result):
            return
        sums, term = np.empty((2, min(_SUMMED, result.size)), self._exact)
        for at in range(0, result.size, _SUMMED):
            piece = slice(at, min(at + _SUMMED, result.size))
            self._add_up([array[piece] for array in arrays], sums[: piece.stop - at], term[: piece.stop - at])
            np.copyto(result[piece], sums[: piece.stop - at], casting="unsafe")

    def _add_up(self, arrays: Sequence[Array], sums: Array, term: Array) -> None:
        for number, array in enumerate(arrays):
            target = term if number else sums
            np.copyto(target, array, casting="unsafe")
            if self._shares is not None:
                np.multiply(target, self._shares[number], out=target)
            if number:
                np.add(sums, term, out=sums)
        if self._shares is None and self.dtype.itemsize < self._exact.itemsize:
            np.multiply(sums, 1 / self._number, out=sums)
        elif self._shares is None:
            np.divide(sums, self._number, out=sums)


@dataclass(frozen=True)
class _Share:
    """Some bytes of a tensor that lies in each of several checkpoints in one piece: what one thread works on."""

    stored: Sequence[StoredBytes]
    mean: Mean
    start: int
    length: int


class _Space:
    """Memory that parts of tensors are read into."""

    def __init__(self, number: int) -> None:
        least, most = _PIECES
        self._piece = min(max(_READ // number & -least, least), most)
        self._buffers = [ReadBuffer(self._piece) for _ in range(number)]

    def averaged(self, share: _Share, memory: Bytes) -> tuple[Array, list[int]]:
        """The mean of a share, in the memory given, and the checksum of what each tensor has there."""
        mean = share.mean
        result = memory[: share.length].view(mean.dtype)
        end = share.start + share.length
        stretches = [
            Stretch(stored, share.start, end, self._room(number, stored.offset))
            for number, stored in enumerate(share.stored)
        ]
        for pieces in zip(*stretches, strict=True):
            arrays = [piece.view(mean.dtype) for _, piece in pieces]
            first = (pieces[0][0] - share.start) // mean.dtype.itemsize
            mean.into(result[first : first + arrays[0].size], arrays)
        return result, [stretch.crc for stretch in stretches]

    def _room(self, number: int, offset: int) -> Callable[[int, int], Bytes]:
        buffer, most = self._buffers[number], self._piece
        return lambda at, size: buffer.at(offset + at, min(size, most))


class Averages:
    """The averages of tensors of checkpoints that are alike. Close it when no more are wanted.

    Threads work ahead in the order of `names`. Who asks in this order waits least; any other order is served too.
    """

    def __init__(self, readers: Sequence[CheckpointReader], names: Sequence[str], shares: Sequence[float]) -> None:
        self._readers = readers
        self._shares = shares
        self._line: list[_Share] = []
        self._of: dict[str, range] = {}
        for name in names:
            if readers[-1][name].nbytes >= _LARGE:
                first = len(self._line)
                self._line += self._cut_tensor(name)
                self._of[name] = range(first, len(self._line))
        self._taken = 0  # how many shares have left the line
        self._spaces: list[_Space] = []  # that nobody uses; the last has been used last, and is in the cache
        self._results = [np.empty(_STRETCH, np.uint8) for _ in range(min(default_threads() + 2, len(self._line)))]
        self._worked = ahead(self._work, range(len(self._line)))

    def chunks(self, name: str) -> Iterator[Array]:
        """The average of a tensor, in chunks, each valid until the next. A wrong checksum is found with the last."""
        numbers = self._of.get(name, range(0))
        shares = [self._line[number] for number in numbers] or self._cut_tensor(name)
        if not shares:
            chunks = [map(np.asarray, reader.source(name).chunks) for reader in self._readers]
            yield from map(self._mean(name).of, in_step(chunks))
            return
        totals = [0] * len(self._readers)
        for at, share in enumerate(shares):
            result, crcs = self._take(numbers[at]) if numbers else self._average_share(share)
            totals = [combine(total, crc, result.nbytes) for total, crc in zip(totals, crcs, strict=True)]
            yield result
        for stored, total in zip(shares[0].stored, totals, strict=True):
            stored.compare(total)

    def close(self) -> None:
        self._worked.close()

    def _cut_tensor(self, name: str) -> list[_Share]:
        """A tensor in shares; none if it lies otherwise than in one piece in one of the checkpoints."""
        found = [reader.stored_bytes(name) for reader in self._readers]
        plain = [stored for stored in found if stored is not None]
        if len(plain) < len(found):
            return []
        mean, size = self._mean(name), plain[0].size
        return [_Share(plain, mean, at, min(_STRETCH, size - at)) for at in range(0, size, _STRETCH)]

    def _mean(self, name: str) -> Mean:
        return Mean(self._readers[-1][name].dtype.array_dtype, self._shares)

    def _average_share(self, share: _Share, memory: Bytes | None = None) -> tuple[Array, list[int]]:
        try:
            space = self._spaces.pop()
        except IndexError:
            space = _Space(len(self._readers))
        try:
            return space.averaged(share, np.empty(share.length, np.uint8) if memory is None else memory)
        finally:
            self._spaces.append(space)

    def _work(self, number: int) -> tuple[Array, list[int]]:
        """What threads do. By the time that memory for a result is used again, nobody needs what is in it."""
        return self._average_share(self._line[number], self._results[number % len(self._results)])

    def _take(self, number: int) -> tuple[Array, list[int]]:
        if number < self._taken:
            return self._average_share(self._line[number])
        for found in self._worked:
            self._taken += 1
            if self._taken > number:
                return found
        raise AssertionError("all shares are in the line")
