"""Whole tensors, read from end to end by several threads, whose bytes go wherever they are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.bundle.format import Entry
from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.io.coding.crc32c import combine
from tensorkeep.io.machine.parallel import in_parallel

__all__ = ["Compared", "Placed", "Target", "read_through"]

Bytes: TypeAlias = npt.NDArray[np.uint8]

_AT_ONCE: Final = 1 << 20  # bytes, which are still in the cache when their checksum is taken
_STRETCH: Final = 16 << 20  # bytes that one thread reads; large, for the checksums of stretches have to be combined


class Target(Protocol):
    """What becomes of the bytes of a tensor. Several threads ask it at a time, of different bytes."""

    def room(self, start: int, size: int) -> Bytes:
        """Memory for bytes from a place in the tensor on; for some, if not for as many as there are."""
        ...

    def done(self, start: int, data: Bytes) -> None:
        """The memory that was asked for has been filled."""
        ...


class Placed:
    """Bytes that stay, from a place on, in blocks of memory that follow each other, all but the last of one size."""

    def __init__(self, blocks: Sequence[Bytes], begin: int = 0) -> None:
        self._blocks = blocks
        self._begin = begin

    def room(self, start: int, size: int) -> Bytes:
        number, within = divmod(self._begin + start, self._blocks[0].size)
        return self._blocks[number][within : within + size]

    def done(self, start: int, data: Bytes) -> None:
        return None


class Compared:
    """Bytes that are compared with others, and then forgotten."""

    def __init__(self, others: Bytes) -> None:
        self._others = others
        self.is_same = True

    def room(self, start: int, size: int) -> Bytes:
        return np.empty(size, np.uint8)

    def done(self, start: int, data: Bytes) -> None:
        if not np.array_equal(self._others[start : start + data.size], data):
            self.is_same = False


def read_through(reader: BundleReader, wanted: Sequence[tuple[Entry, Target]]) -> None:
    """Reads tensors in no particular order, and compares checksums.

    That a tensor is damaged is raised when all have been read, or earlier.
    """
    tasks = [(entry, target, at) for entry, target in wanted for at in range(0, entry.size, _STRETCH)]
    crcs = iter(in_parallel(lambda task: _read_stretch(reader, *task), tasks))
    for entry, _ in wanted:
        crc = 0
        for at in range(0, entry.size, _STRETCH):
            crc = combine(crc, next(crcs), min(_STRETCH, entry.size - at)) if at else next(crcs)
        reader.compare_checksum(entry, crc)


def _read_stretch(reader: BundleReader, entry: Entry, target: Target, start: int) -> int:
    """Reads part of a tensor, and returns its checksum."""
    end = min(start + _STRETCH, entry.size)
    crc = 0
    while start < end:
        memory = target.room(start, min(_AT_ONCE, end - start))
        crc = reader.read_stretch(entry, start, memory.data, crc)
        target.done(start, memory)
        start += memory.size
    return crc
