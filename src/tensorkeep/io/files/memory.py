"""Files in memory: for tests, for building a checkpoint that goes straight elsewhere, for libraries that want files."""

from __future__ import annotations

import posixpath
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from io import BytesIO
from typing import BinaryIO

from tensorkeep.errors import (
    AlreadyExistsError,
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    StorageError,
)
from tensorkeep.io.files.filesystem import ON_DISK, Buffer, FileSystem

__all__ = ["MemoryFileSystem"]


@dataclass(eq=False)
class _Node:
    """One file's bytes. Several names may share a node (links), and an open reader keeps it."""

    data: bytearray = field(default_factory=bytearray)
    modified: float = 0.0
    is_being_written: bool = True


class MemoryFile:
    """A reader of the bytes as they were when it was opened."""

    cost = ON_DISK

    def __init__(self, path: str, node: _Node, nodes: Mapping[str, _Node]) -> None:
        data = bytes(node.data)
        self.path = path
        self.size = len(data)
        self._view = memoryview(data)
        self._node = node
        self._nodes = nodes
        self._is_closed = False

    def read(self, offset: int, length: int) -> memoryview:
        return memoryview(bytes(self.map(offset, length)))

    def read_into(self, offset: int, buffer: memoryview) -> None:
        buffer[:] = self.map(offset, len(buffer))

    def expect(self, offset: int, length: int) -> None:
        """It is there already."""

    def map(self, offset: int, length: int) -> memoryview:
        if self._is_closed:
            raise FailedPreconditionError(f'"{self.path}" is closed')
        if offset < 0 or length < 0 or offset + length > self.size:
            raise DataLossError(
                f'"{self.path}" is {self.size} bytes long, but bytes {offset}..{offset + length} were expected in it'
            )
        return self._view[offset : offset + length]

    def is_current(self) -> bool:
        return self.is_at(self.path)

    def is_at(self, path: str) -> bool:
        return self._nodes.get(path) is self._node

    def close(self) -> None:
        self._is_closed = True


class MemoryWritableFile:
    def __init__(self, path: str, node: _Node) -> None:
        self.path = path
        self._node = node

    def write(self, data: Buffer) -> None:
        self._node.data += data

    def reserve(self, size: int) -> None:
        """Memory grows as it is needed."""

    def push(self) -> None:
        """What is written is where it will stay."""

    def sync(self) -> None:
        """What is written is where it will stay."""

    def close(self) -> None:
        self._node.is_being_written = False


class MemoryFileSystem(FileSystem):
    """A dictionary of paths, empty or filled with `contents`. "" is the root, and always exists."""

    def __init__(self, contents: Mapping[str, bytes] | None = None) -> None:
        self._nodes: dict[str, _Node] = {}
        self._directories: set[str] = {"", "/"}
        self._lock = threading.RLock()
        self._turns: dict[str, threading.RLock] = {}  # who may write to a folder
        self._clock = 0.0  # counts changes, so that "newest" is well defined and the same in every run
        for path, data in (contents or {}).items():
            self.make_directory(posixpath.dirname(path))
            self._nodes[path] = _Node(bytearray(data), self._tick(), is_being_written=False)

    def open(self, path: str) -> MemoryFile:
        with self._lock:
            return MemoryFile(path, self._node(path), self._nodes)

    def create(self, path: str) -> MemoryWritableFile:
        with self._lock:
            self._require_directory(posixpath.dirname(path))
            if self.exists(path):
                raise AlreadyExistsError(f'cannot create "{path}": it exists')
            node = self._nodes[path] = _Node(modified=self._tick())
            return MemoryWritableFile(path, node)

    def rename(self, source: str, target: str) -> None:
        with self._lock:
            self._require_directory(posixpath.dirname(target))
            if source not in self._nodes and self.is_directory(source):
                self._move_directory(source.rstrip("/"), target.rstrip("/"))
                return
            if target in self._directories:
                raise InvalidArgumentError(f'cannot rename "{source}" to "{target}": that is a folder')
            node = self._node(source)
            del self._nodes[source]
            self._nodes[target] = node

    def _move_directory(self, source: str, target: str) -> None:
        if target in self._nodes:
            raise MissingFileError(f'cannot rename folder "{source}" to "{target}": that is a file')
        if target.startswith(f"{source}/"):
            raise StorageError(f'cannot rename folder "{source}" to "{target}": that is inside of it')
        if self.is_directory(target) and self.list(target):
            raise StorageError(f'cannot rename folder "{source}" to "{target}": that is not empty')
        below = f"{source}/"
        for path in [path for path in self._nodes if path.startswith(below)]:  # in place: open readers look there
            self._nodes[f"{target}/{path[len(below) :]}"] = self._nodes.pop(path)
        folders = {path for path in self._directories if path == source or path.startswith(below)}
        self._directories = (self._directories - folders) | {target + path[len(source) :] for path in folders}

    def link(self, source: str, target: str) -> None:
        with self._lock:
            if self.exists(target):
                raise AlreadyExistsError(f'cannot link "{source}" to "{target}": it exists')
            self._require_directory(posixpath.dirname(target))
            self._nodes[target] = self._node(source)

    def delete(self, path: str) -> None:
        with self._lock:
            self._node(path)
            del self._nodes[path]

    def exists(self, path: str) -> bool:
        return path in self._nodes or self.is_directory(path)

    def is_directory(self, path: str) -> bool:
        return path.rstrip("/") in self._directories

    def list(self, directory: str) -> Sequence[str]:
        with self._lock:
            self._require_directory(directory)
            folder = directory.rstrip("/")
            names = {*self._nodes, *self._directories} - {"", "/", folder}
            return sorted(posixpath.basename(path) for path in names if posixpath.dirname(path).rstrip("/") == folder)

    def modified(self, path: str) -> float:
        return self._node(path).modified

    def set_modified(self, path: str, time: float) -> None:
        self._node(path).modified = time

    def make_directory(self, path: str) -> None:
        with self._lock:
            folder = path.rstrip("/")
            missing: set[str] = set()
            while folder and folder not in self._directories:
                if folder in self._nodes:
                    raise AlreadyExistsError(f'cannot make folder "{path}": "{folder}" is a file')
                missing.add(folder)
                folder = posixpath.dirname(folder)
            self._directories |= missing

    def remove_directory(self, path: str) -> None:
        with self._lock:
            self._require_directory(path)
            if self.list(path):
                raise StorageError(f'cannot remove folder "{path}": it is not empty')
            self._directories.discard(path.rstrip("/"))

    def canonical(self, path: str) -> str:
        return posixpath.normpath(path)

    def sync(self, path: str) -> None:
        self._node(path)

    def sync_directory(self, path: str) -> None:
        self._require_directory(path)

    @contextmanager
    def locked(self, directory: str) -> Iterator[None]:
        with self._lock:
            self._require_directory(directory)
            turn = self._turns.setdefault(self.canonical(directory), threading.RLock())
        with turn:
            yield

    def delete_abandoned(self, path: str) -> bool:
        with self._lock:
            is_abandoned = not self._node(path).is_being_written
            if is_abandoned:
                del self._nodes[path]
            return is_abandoned

    def forget_writers(self) -> None:
        """What the death of every writing process would do: all files now count as abandoned."""
        for node in self._nodes.values():
            node.is_being_written = False

    def contents(self) -> dict[str, bytes]:
        """Every file, by path."""
        with self._lock:
            return {path: bytes(node.data) for path, node in sorted(self._nodes.items())}

    def _node(self, path: str) -> _Node:
        try:
            return self._nodes[path]
        except KeyError:
            if self.is_directory(path):
                raise InvalidArgumentError(f'"{path}" is a folder, expected a file') from None
            raise MissingFileError(f'"{path}" does not exist') from None

    def _require_directory(self, path: str) -> None:
        if not self.is_directory(path):
            raise MissingFileError(f'folder "{path}" does not exist')

    def _tick(self) -> float:
        self._clock += 1
        return self._clock


def file_of(data: bytes) -> BinaryIO:
    """An open file that these bytes are read from."""
    return BytesIO(data)


def bytes_written_by(write: Callable[[BinaryIO], object]) -> bytes:
    """What a function writes to the file that it is given."""
    target = BytesIO()
    write(target)
    return target.getvalue()
