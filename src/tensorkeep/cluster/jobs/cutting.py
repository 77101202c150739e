"""Cutting the tensors of checkpoints into parts of about the same size, for several workers.

What lies in a file in one piece, as it is in memory, is cut by bytes, at multiples of the chunks in which it would be
read by one process: so what adds up from chunk to chunk adds up to the same. All else goes whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.bundle.codec import CHUNK
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums, ReadOptions
from tensorkeep.checkpoint.storage import StoredBytes
from tensorkeep.checkpoint.stretches import Stretch
from tensorkeep.errors import UnimplementedError
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.files.memory import MemoryFileSystem

_PARTS: Final = 4  # of each worker, so that all end at about the same time
_LEAST: Final = 16 << 20  # bytes of a part, for a task has a price
_MOST: Final = 1 << 30

ALWAYS: Final = ReadOptions(checksums=Checksums.ALWAYS)


class Extent(NamedTuple):
    """Some bytes of a tensor; all of it, if there is no end."""

    name: str
    start: int = 0
    stop: int | None = None

    @property
    def is_whole(self) -> bool:
        return self.stop is None


def part_size(total: int, workers: int) -> int:
    """How many bytes a part should have, a multiple of chunks."""
    wanted = min(max(total // (workers * _PARTS), _LEAST), _MOST)
    return -(-wanted // CHUNK) * CHUNK


def cut_extents(
    names: Iterable[str], size_of: Callable[[str], int], can_be_cut: Callable[[str], bool], size: int
) -> list[list[Extent]]:
    """Tensors in parts of about so many bytes, in the order of their names; large ones in pieces, where they can be."""
    parts: list[list[Extent]] = [[]]
    used = 0
    for name in names:
        nbytes = size_of(name)
        is_cut = nbytes > size and can_be_cut(name)
        for start in range(0, nbytes, size) if is_cut else (0,):
            piece = Extent(name, start, min(start + size, nbytes)) if is_cut else Extent(name)
            length = nbytes if piece.stop is None else piece.stop - piece.start
            if used and used + length > size:
                parts.append([])
                used = 0
            parts[-1].append(piece)
            used += length
    return [part for part in parts if part]


def cut_units(units: Mapping[str, int], size: int) -> list[list[str]]:
    """Units by name, with their bytes, in parts of about so many bytes; none of them is cut."""
    extents = cut_extents(sorted(units), units.__getitem__, lambda name: False, size)
    return [[extent.name for extent in part] for part in extents]


def stored_bytes_of(reader: CheckpointReader, name: str) -> StoredBytes | None:
    """A tensor that can be cut; None for one that cannot."""
    info = reader[name]
    return None if not info.shape or info.dtype.is_object else reader.stored_bytes(name)


class ExtentChunks:
    """The numbers of an extent in chunks, each in memory of its own; when all were read, `crc` is their checksum."""

    def __init__(self, stored: StoredBytes, extent: Extent) -> None:
        stop = stored.size if extent.stop is None else extent.stop
        self._dtype = stored.dtype.array_dtype
        self._stretch = Stretch(stored, extent.start, stop, lambda at, size: np.empty(min(size, CHUNK), np.uint8))

    def __iter__(self) -> Iterator[Array]:
        for _, memory in self._stretch:
            yield memory.view(self._dtype)

    @property
    def crc(self) -> int:
        return self._stretch.crc


def place_for_workers(path: PathLike, fs: FileSystem) -> str:
    """A path as processes elsewhere find it, whose current folder is another one."""
    text = path_text(path)
    folder, slash, name = text.rpartition("/")
    return f"{fs.canonical(folder + slash if slash else '.').rstrip('/')}/{name}"


def check_reachable(fs: FileSystem, *, is_serial: bool) -> None:
    """UnimplementedError for files that are in the memory of this process, where other processes would read them."""
    if not is_serial and isinstance(fs, MemoryFileSystem):
        raise UnimplementedError(
            "the files are in the memory of this process, where workers of a cluster cannot reach them: use a store "
            "that all machines share, or SerialExecutor()"
        )
