"""Numbers that several processes count, each in a file of its own that all of them can read.

    file    = "TKCOUNT1"  process(8)  used(8)  entry*           little-endian; `used` bytes count, from the start
    entry   = slots(4)  key_size(4)  key, with zeros up to a multiple of 8  slots * float64

The file is mapped, so that counting is a write to memory; entries are only ever added. A process that takes the place
of a dead one opens its file and goes on counting. A file is sparse: what nobody writes to takes no space.
"""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorkeep.errors import DataLossError, StorageError

_MAGIC: Final = b"TKCOUNT1"
_HEADER: Final = struct.Struct("<8sqq")
_ENTRY: Final = struct.Struct("<II")
_SIZE: Final = 8 << 20

Numbers = npt.NDArray[np.float64]


class CounterMemory:
    """Numbers under keys. Without a path they are this process's alone."""

    def __init__(self, path: str | None = None, size: int = _SIZE) -> None:
        self.path = path
        try:
            self._map = mmap.mmap(-1, size) if path is None else _map_file(path, size)
        except OSError as error:
            raise StorageError(f'cannot count in "{path}": {error.strerror or error}') from error
        self.values = memoryview(self._map).cast("d")
        """All of the memory as numbers, by the places that `add` gives."""
        magic, _, used = _HEADER.unpack_from(self._map)
        if magic not in (_MAGIC, bytes(8)):
            raise DataLossError(f'"{path}" is not a file of counters: it begins with {magic!r}')
        self._used: int = max(used, _HEADER.size)
        _HEADER.pack_into(self._map, 0, _MAGIC, os.getpid(), self._used)
        self._places = {key: at // 8 for key, at, _ in _entries(self._map[: self._used])}

    @property
    def places(self) -> dict[bytes, int]:
        """The keys, and where the numbers of each begin."""
        return dict(self._places)

    def add(self, key: bytes, slots: int) -> int | None:
        """Where the numbers of a key begin, zeros if it is new; None if there is no room for it."""
        found = self._places.get(key)
        if found is not None:
            return found
        at = self._used + _ENTRY.size + -(-len(key) // 8) * 8
        end = at + 8 * slots
        if end > len(self._map):
            return None
        _ENTRY.pack_into(self._map, self._used, slots, len(key))
        self._map[self._used + _ENTRY.size : self._used + _ENTRY.size + len(key)] = key
        self._used = end  # told last: a reader never sees half an entry
        _HEADER.pack_into(self._map, 0, _MAGIC, os.getpid(), end)
        self._places[key] = at // 8
        return at // 8

    def numbers(self) -> dict[bytes, Numbers]:
        """A copy of all numbers by their keys."""
        return counters_of(self._map[: self._used])

    def close(self) -> None:
        """Nothing is counted any more; the file stays."""
        self.values.release()
        self._map.close()


def _map_file(path: str, size: int) -> mmap.mmap:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        os.ftruncate(descriptor, size)
        return mmap.mmap(descriptor, size)
    finally:
        os.close(descriptor)


def read_counters(path: str) -> tuple[int, dict[bytes, Numbers]]:
    """The process that counts in a file, and all numbers there by their keys; (0, nothing) if there is no such file."""
    try:
        with open(path, "rb", buffering=0) as file:
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size:
                return 0, {}
            magic, process, used = _HEADER.unpack(header)
            if magic != _MAGIC:
                raise DataLossError(f'"{path}" is not a file of counters: it begins with {magic!r}')
            return process, counters_of(header + file.read(used - _HEADER.size))
    except FileNotFoundError:
        return 0, {}
    except OSError as error:
        raise StorageError(f'cannot read "{path}": {error.strerror or error}') from error


def counters_of(data: bytes) -> dict[bytes, Numbers]:
    """The numbers in the bytes of such a file."""
    numbers = np.frombuffer(data, np.float64, len(data) // 8)
    return {key: numbers[at // 8 : at // 8 + slots] for key, at, slots in _entries(data)}


def _entries(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """The key of each entry, where its numbers begin, and how many they are."""
    at = _HEADER.size
    while at + _ENTRY.size <= len(data):
        slots, size = _ENTRY.unpack_from(data, at)
        key = data[at + _ENTRY.size : at + _ENTRY.size + size]
        at += _ENTRY.size + -(-size // 8) * 8
        yield key, at, slots
        at += 8 * slots
