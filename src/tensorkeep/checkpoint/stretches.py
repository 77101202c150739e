"""Stored tensors read in stretches, with one checksum for all of each: by several threads, or from front to back.

    Stretch        consecutive bytes, read piece by piece, and their checksum: the loop that all the others use
    in_order       a tensor from front to back
    in_step        several tensors at a time, by the same elements
    read_through   whole tensors, in no particular order, by several threads

Whoever reads says where each piece goes: into memory of its own, or into some that is used again and again.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.storage import StoredBytes
from tensorkeep.io.coding.crc32c import combine
from tensorkeep.io.machine.large_arrays import ReadBuffer, empty_array
from tensorkeep.io.machine.parallel import in_parallel

Bytes: TypeAlias = npt.NDArray[np.uint8]
Room: TypeAlias = Callable[[int, int], Bytes]
"""Memory for the bytes of a tensor from a place on, of which there are so many; for some of them, if not for all."""

_AT_ONCE: Final = 1 << 20  # bytes, which are still in the cache when their checksum is taken
_CHECKED_AT_ONCE: Final = 256 << 10  # what is read only to be checked stays within the processor's own cache
_STRETCH: Final = 16 << 20  # bytes that one thread reads; large, for the checksums of stretches have to be combined


class Stretch:
    """Consecutive bytes of a tensor, read piece by piece as it is gone through; then `crc` is their checksum."""

    def __init__(self, stored: StoredBytes, start: int, end: int, room: Room) -> None:
        self.crc = 0
        self._stored = stored
        self._extent = (start, end)
        self._room = room

    def __iter__(self) -> Iterator[tuple[int, Bytes]]:
        """Each piece, and where it begins in the tensor. Its memory is the caller's, who gave it."""
        at, end = self._extent
        read, room = self._stored.read, self._room
        if at < end:
            self._stored.expect(at, end)
        while at < end:
            memory = room(at, end - at)
            self.crc = read(at, memory.data, self.crc)
            yield at, memory
            at += memory.size


def in_order(stored: StoredBytes, room: Room) -> Iterator[Bytes]:
    """Reads a tensor from front to back, piece by piece. Damage is raised before the last piece is handed out, at the
    latest.
    """
    stretch = Stretch(stored, 0, stored.size, room)
    for at, memory in stretch:
        if at + memory.size == stored.size:
            stored.compare(stretch.crc)
        yield memory
    if not stored.size:
        stored.compare(0)


class Target(Protocol):
    """What becomes of the bytes of a tensor. Several threads ask it at a time, of different bytes."""

    def room(self, start: int, size: int) -> Bytes:
        """Memory for bytes from a place in the tensor on; for some, if not for as many as there are."""
        ...

    def done(self, start: int, data: Bytes) -> None:
        """Takes memory that `room` gave for the bytes from `start` on, now that it has been filled."""
        ...


class Placed:
    """Bytes that stay, from a place on, in blocks of memory that follow each other, all but the last of one size; so
    many of them are read at a time.
    """

    def __init__(self, blocks: Sequence[Bytes], begin: int = 0, at_once: int = _AT_ONCE) -> None:
        self._blocks = blocks
        self._begin = begin
        self._at_once = at_once

    def room(self, start: int, size: int) -> Bytes:
        number, within = divmod(self._begin + start, self._blocks[0].size)
        return self._blocks[number][within : within + min(size, self._at_once)]

    def done(self, start: int, data: Bytes) -> None:
        return None


class Compared:
    """Bytes that are compared with others, and then forgotten."""

    def __init__(self, others: Bytes) -> None:
        self._others = others
        self.is_same = True

    def room(self, start: int, size: int) -> Bytes:
        return np.empty(min(size, _AT_ONCE), np.uint8)

    def done(self, start: int, data: Bytes) -> None:
        if not np.array_equal(self._others[start : start + data.size], data):
            self.is_same = False


class Discarded:
    """Bytes that are wanted for their checksum alone. Each thread has memory that it uses again and again."""

    def __init__(self, offset: int, buffers: dict[int, ReadBuffer]) -> None:
        self._offset = offset
        self._buffers = buffers  # by thread

    def room(self, start: int, size: int) -> Bytes:
        thread = threading.get_ident()
        buffer = self._buffers.get(thread)
        if buffer is None:
            buffer = self._buffers[thread] = ReadBuffer(_CHECKED_AT_ONCE)
        return buffer.at(self._offset + start, min(size, _CHECKED_AT_ONCE))

    def done(self, start: int, data: Bytes) -> None:
        return None


def read_through(wanted: Sequence[tuple[StoredBytes, Target]], threads: int | None = None) -> None:
    """Reads tensors in no particular order, and compares checksums.

    That a tensor is damaged is raised when all have been read, or earlier.
    """
    tasks = [(stored, target, at) for stored, target in wanted for at in range(0, stored.size, _STRETCH)]
    readers = max((stored.readers for stored, _ in wanted[:1]), default=0)
    crcs = iter(in_parallel(_read_stretch, tasks, threads or readers or None))
    for stored, _ in wanted:
        crc = 0
        for at in range(0, stored.size, _STRETCH):
            crc = combine(crc, next(crcs), min(_STRETCH, stored.size - at)) if at else next(crcs)
        stored.compare(crc)


def _read_stretch(task: tuple[StoredBytes, Target, int]) -> int:
    """Reads part of a tensor, and returns its checksum."""
    stored, target, start = task
    stretch = Stretch(stored, start, min(start + _STRETCH, stored.size), target.room)
    for at, memory in stretch:
        target.done(at, memory)
    return stretch.crc


def check_through(wanted: Iterable[StoredBytes], threads: int | None = None) -> None:
    """Reads tensors to compare their checksums, by several threads, and keeps nothing of them."""
    buffers: dict[int, ReadBuffer] = {}
    read_through([(stored, Discarded(stored.offset, buffers)) for stored in wanted], threads)


def check_in_order(stored: StoredBytes) -> None:
    """Reads one tensor to compare its checksum, in the thread that asks, and keeps nothing of it."""
    deque(in_order(stored, Discarded(stored.offset, {}).room), maxlen=0)


def stretch_checksum(stored: StoredBytes, start: int, stop: int) -> int:
    """The checksum of some bytes of a tensor, of which nothing is kept."""
    stretch = Stretch(stored, start, stop, Discarded(stored.offset, {}).room)
    deque(stretch, maxlen=0)
    return stretch.crc


def in_step(sources: Sequence[Iterator[Array]]) -> Iterator[list[Array]]:
    """Chunks of several tensors that begin and end at the same elements, wherever those of each begin and end."""
    rest: list[Array] = [np.empty(0)] * len(sources)
    while True:
        rest = [rest[at] if rest[at].size else next(source, rest[at]).reshape(-1) for at, source in enumerate(sources)]
        count = min(chunk.size for chunk in rest)
        if not count:
            return
        yield [chunk[:count] for chunk in rest]
        rest = [chunk[count:] for chunk in rest]


class SequentialTensor:
    """A tensor of at least one row. That it is damaged is raised before its last rows are handed out, or earlier."""

    def __init__(self, reader: CheckpointReader, name: str) -> None:
        self._reader = reader
        self._name = name
        self._info = reader[name]
        self._stored = reader.stored_bytes(name)
        self._memory = np.empty(0, np.uint8)  # of the rows that are read next
        if self._stored is None:  # stored otherwise: read twice
            reader.verify(name)
        else:
            self._pieces = in_order(self._stored, lambda at, size: self._memory)

    def read(self, start: int, stop: int) -> Array:
        """The rows from `start`, which is where the ones before ended, up to `stop`."""
        if self._stored is None:
            return self._reader.read(self._name, slice(start, stop))
        dtype = self._info.dtype.array_dtype
        row = int(np.prod(self._info.shape[1:], dtype=np.int64)) * dtype.itemsize
        array = empty_array((stop - start, *self._info.shape[1:]), dtype, self._stored.offset + start * row)
        self._memory = array.reshape(-1).view(np.uint8)
        next(self._pieces, None)
        return array
