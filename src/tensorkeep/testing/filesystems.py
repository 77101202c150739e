"""File systems for tests: one that dies, one that fails, one that counts, one that loses what was not synced.

Each wraps another and does what that does, but for the one thing it is there for:

    CrashingFileSystem    dies before the n-th change: nothing happens after it, not even tidying up
    FailingFileSystem     raises a given error instead of the n-th change, and goes on
    CountingFileSystem    notes what is read
    PowerCutFileSystem    knows what would survive a power cut at this moment

A *change* is whatever alters the store: to create, write, sync, rename, link or delete a file, to make or remove a
folder, to sync one. Setting space aside is not.
"""

from __future__ import annotations

import posixpath
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple, TypeVar

from tensorkeep.errors import TensorKeepError
from tensorkeep.io.files.filesystem import Buffer, FileSystem, ObjectPuts, RandomAccessFile, UploadedFile, WritableFile
from tensorkeep.io.files.memory import MemoryFileSystem

T = TypeVar("T")

_NEVER: Final = 1 << 62


class Change(NamedTuple):
    """One change: what was done, to which path and, of a rename or a link, which new name."""

    action: str
    path: str
    target: str = ""

    def __str__(self) -> str:
        return f'{self.action} "{self.path}"' + (f' to "{self.target}"' if self.target else "")


class FileSystemWrapper(FileSystem):
    """Forwards everything. Subclasses say what else happens with each change, and with each look."""

    def __init__(self, inner: FileSystem) -> None:
        self.inner = inner

    def _change(self, change: Change, act: Callable[[], T]) -> T:
        """Called for every change; `act` makes it."""
        return act()

    def _look(self, action: str, path: str, act: Callable[[], T]) -> T:
        """Called for everything that is no change; `act` does it."""
        return act()

    def _read(self, read: Read, act: Callable[[], T]) -> T:
        """Called for every read of a file's bytes."""
        return self._look("map" if read.is_mapped else "read", read.path, act)

    def _write(self, file: WritableFile, data: Buffer) -> None:
        self._change(Change("write", file.path), lambda: file.write(data))

    def open(self, path: str) -> RandomAccessFile:
        return _WrappedReader(self, self._look("open", path, lambda: self.inner.open(path)))

    def create(self, path: str) -> WritableFile:
        return _WrappedWriter(self, self._change(Change("create", path), lambda: self.inner.create(path)))

    def rename(self, source: str, target: str) -> None:
        self._change(Change("rename", source, target), lambda: self.inner.rename(source, target))

    def link(self, source: str, target: str) -> None:
        self._change(Change("link", source, target), lambda: self.inner.link(source, target))

    def delete(self, path: str) -> None:
        self._change(Change("delete", path), lambda: self.inner.delete(path))

    def exists(self, path: str) -> bool:
        return self._look("exists", path, lambda: self.inner.exists(path))

    def is_directory(self, path: str) -> bool:
        return self._look("is_directory", path, lambda: self.inner.is_directory(path))

    def list(self, directory: str) -> Sequence[str]:
        return self._look("list", directory, lambda: self.inner.list(directory))

    def modified(self, path: str) -> float:
        return self._look("modified", path, lambda: self.inner.modified(path))

    def set_modified(self, path: str, time: float) -> None:
        self._change(Change("set_modified", path), lambda: self.inner.set_modified(path, time))

    def make_directory(self, path: str) -> None:
        self._change(Change("make_directory", path), lambda: self.inner.make_directory(path))

    def remove_directory(self, path: str) -> None:
        self._change(Change("remove_directory", path), lambda: self.inner.remove_directory(path))

    def canonical(self, path: str) -> str:
        return self._look("canonical", path, lambda: self.inner.canonical(path))

    def sync(self, path: str) -> None:
        self._change(Change("sync", path), lambda: self.inner.sync(path))

    def sync_directory(self, path: str) -> None:
        self._change(Change("sync_directory", path), lambda: self.inner.sync_directory(path))

    def locked(self, directory: str) -> AbstractContextManager[None]:
        return self._look("lock", directory, lambda: self.inner.locked(directory))

    def delete_abandoned(self, path: str) -> bool:
        return self._change(Change("delete", path), lambda: self.inner.delete_abandoned(path))

    def puts(self, path: str) -> ObjectPuts | None:
        inner = self.inner.puts(path)
        return None if inner is None else _WrappedPuts(self, inner)


class _WrappedPuts:
    def __init__(self, fs: FileSystemWrapper, inner: ObjectPuts) -> None:
        self._fs = fs
        self._inner = inner

    def upload(self, path: str) -> UploadedFile:
        return _WrappedUpload(self._fs, self._inner.upload(path))

    def put_if(self, path: str, data: bytes, expected: object) -> object:
        return self._fs._change(Change("put", path), lambda: self._inner.put_if(path, data, expected))

    def version(self, path: str) -> object:
        return self._fs._look("version", path, lambda: self._inner.version(path))

    def ages(self, directory: str) -> dict[str, float]:
        return self._fs._look("list", directory, lambda: self._inner.ages(directory))


class _WrappedReader:
    def __init__(self, fs: FileSystemWrapper, inner: RandomAccessFile) -> None:
        self._fs = fs
        self._inner = inner
        self.path = inner.path
        self.size = inner.size
        self.cost = inner.cost

    def read(self, offset: int, length: int) -> memoryview:
        return self._fs._read(Read(self.path, offset, length), lambda: self._inner.read(offset, length))

    def read_into(self, offset: int, buffer: memoryview) -> None:
        self._fs._read(Read(self.path, offset, len(buffer)), lambda: self._inner.read_into(offset, buffer))

    def expect(self, offset: int, length: int) -> None:
        self._inner.expect(offset, length)

    def map(self, offset: int, length: int) -> memoryview:
        return self._fs._read(Read(self.path, offset, length, True), lambda: self._inner.map(offset, length))

    def is_current(self) -> bool:
        return self._fs._look("is_current", self.path, self._inner.is_current)

    def is_at(self, path: str) -> bool:
        return self._fs._look("is_at", path, lambda: self._inner.is_at(path))

    def close(self) -> None:
        self._fs._look("close", self.path, self._inner.close)


class _WrappedWriter:
    def __init__(self, fs: FileSystemWrapper, inner: WritableFile) -> None:
        self._fs = fs
        self._inner = inner
        self.path = inner.path

    def write(self, data: Buffer) -> None:
        self._fs._write(self._inner, data)

    def reserve(self, size: int) -> None:
        self._fs._look("reserve", self.path, lambda: self._inner.reserve(size))

    def push(self) -> None:
        self._fs._look("push", self.path, self._inner.push)

    def sync(self) -> None:
        self._fs._change(Change("sync", self.path), self._inner.sync)

    def close(self) -> None:
        self._fs._look("close", self.path, self._inner.close)


class _WrappedUpload(_WrappedWriter):
    """An upload, which changes the store when it is closed: then it appears."""

    def __init__(self, fs: FileSystemWrapper, inner: UploadedFile) -> None:
        super().__init__(fs, inner)
        self._upload = inner

    def close(self) -> None:
        self._fs._change(Change("put", self.path), self._upload.close)

    def abandon(self) -> None:
        self._fs._look("abandon", self.path, self._upload.abandon)


class SimulatedCrash(BaseException):
    """The process died here. Not an Exception: nothing is meant to survive it."""


class CrashingFileSystem(FileSystemWrapper):
    """Makes the first `changes` changes, then dies: that next change and everything after it raise SimulatedCrash.

    Reading, listing and closing raise too, so no handler can tidy up. As with a process that died, the files it was
    writing are then nobody's. Left undisturbed (the default), it tells what an operation does: `log`.
    """

    def __init__(self, inner: FileSystem, changes: int = _NEVER) -> None:
        super().__init__(inner)
        self.log: list[Change] = []
        self.has_crashed = False
        self._changes = changes
        self._writing: list[WritableFile] = []
        self._lock = threading.RLock()

    @property
    def changes_made(self) -> int:
        return len(self.log)

    def create(self, path: str) -> WritableFile:
        file = self._change(Change("create", path), lambda: self.inner.create(path))
        self._writing.append(file)
        return _WrappedWriter(self, file)

    def _change(self, change: Change, act: Callable[[], T]) -> T:
        with self._lock:
            if not self.has_crashed and self.changes_made >= self._changes:
                self._die()
            result = self._look(change.action, change.path, act)
            self.log.append(change)
            return result

    def _look(self, action: str, path: str, act: Callable[[], T]) -> T:
        if self.has_crashed:
            raise SimulatedCrash(f'{action} "{path}"')
        return act()

    def _die(self) -> None:
        self.has_crashed = True
        for file in self._writing:
            file.close()


class FailingFileSystem(FileSystemWrapper):
    """Raises `error` instead of change number `fail_at`, counted from 0, and works before and after it.

    Of a write that fails, the first half arrives, as on a disk that fills up.
    """

    def __init__(self, inner: FileSystem, fail_at: int, error: TensorKeepError) -> None:
        super().__init__(inner)
        self.failed: Change | None = None
        self._fail_at = fail_at
        self._error = error
        self._made = 0

    def _change(self, change: Change, act: Callable[[], T]) -> T:
        number, self._made = self._made, self._made + 1
        if number == self._fail_at:
            self.failed = change
            raise self._error
        return act()

    def _write(self, file: WritableFile, data: Buffer) -> None:
        if self._made == self._fail_at:
            file.write(memoryview(data)[: len(data) // 2])
        super()._write(file, data)


class Read(NamedTuple):
    """One stretch of a file that was read, or mapped into memory to be read as needed."""

    path: str
    offset: int
    length: int
    is_mapped: bool = False


class CountingFileSystem(FileSystemWrapper):
    """Notes every stretch that is read, and how often each method is called."""

    def __init__(self, inner: FileSystem) -> None:
        super().__init__(inner)
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Forgets what was noted."""
        self.reads: list[Read] = []
        self.calls: Counter[str] = Counter()

    @property
    def bytes_read(self) -> int:
        """The bytes that were copied out of files; those that were mapped are not among them."""
        return sum(read.length for read in self.reads if not read.is_mapped)

    @property
    def bytes_mapped(self) -> int:
        return sum(read.length for read in self.reads if read.is_mapped)

    @property
    def paths_read(self) -> set[str]:
        return {read.path for read in self.reads}

    def _read(self, read: Read, act: Callable[[], T]) -> T:
        with self._lock:
            self.reads.append(read)
        return super()._read(read, act)

    def _look(self, action: str, path: str, act: Callable[[], T]) -> T:
        with self._lock:
            self.calls[action] += 1
        return act()

    def _change(self, change: Change, act: Callable[[], T]) -> T:
        return self._look(change.action, change.path, act)


class UnsyncedContents(Enum):
    """What a power cut makes of bytes that were written but not synced. What was synced stays, whatever happens."""

    KEPT = "kept"
    LOST = "lost"
    HALF = "half"
    """The first half arrived, and the file ends there."""
    GARBAGE = "garbage"
    """The file has its length; where bytes had not arrived, it holds others."""


@dataclass(frozen=True)
class CutOutcome:
    """One way in which a power cut may go.

    `kept_names` says how many of the changes of names in a folder since it was last synced survive: a share of them,
    the oldest first. By `seed` the share is another for every folder.
    """

    contents: UnsyncedContents
    kept_names: float = 1.0
    seed: int | None = None

    def share(self) -> Callable[[], float]:
        return random.Random(self.seed).random if self.seed is not None else lambda: self.kept_names

    @classmethod
    def variety(cls, seeds: int = 3) -> Iterator[CutOutcome]:
        """Every fate of contents, with all names kept, none kept, and some kept."""
        for contents in UnsyncedContents:
            yield cls(contents, kept_names=1.0)
            yield cls(contents, kept_names=0.0)
            yield from (cls(contents, seed=seed) for seed in range(seeds))


@dataclass(eq=False)
class _Contents:
    """A file's bytes, whatever its names."""

    written: bytearray = field(default_factory=bytearray)
    synced: bytes = b""

    def after_cut(self, fate: UnsyncedContents) -> bytes:
        lost = len(self.written) - len(self.synced)
        if fate is UnsyncedContents.KEPT:
            return bytes(self.written)
        if fate is UnsyncedContents.LOST:
            return self.synced
        arrived = self.synced + self.written[len(self.synced) :][: lost // 2]
        if fate is UnsyncedContents.HALF:
            return bytes(arrived)
        return bytes(arrived) + b"\xa5" * (len(self.written) - len(arrived))


_Names = dict[str, _Contents | None]  # None: a folder


class _NameChange(NamedTuple):
    """A change of names, and the folders that have to be synced (any of them) for it to last."""

    folders: frozenset[str]
    removed: str = ""
    added: str = ""
    contents: _Contents | None = None

    def apply(self, names: _Names) -> None:
        if self.removed and self.added and self.contents is None:  # a folder takes along what is in it
            below = f"{self.removed}/"
            for path in [path for path in names if path.startswith(below)]:
                names[f"{self.added}/{path[len(below) :]}"] = names.pop(path)
        if self.removed:
            names.pop(self.removed, None)
        if self.added:
            names[self.added] = self.contents


class PowerCutFileSystem(FileSystemWrapper):
    """Files in memory that know what of them is on the disk: contents once synced, names once their folder is.

    What `initial` holds is there for good. `after_cut` gives the store as it might be found after a power cut at this
    moment; the store itself goes on. A folder that was made is a name in the folder above it like any other, and
    lost with all that is in it unless that one is synced.
    """

    def __init__(self, initial: MemoryFileSystem | None = None) -> None:
        super().__init__(MemoryFileSystem())
        self._names: _Names = {}
        self._durable: _Names = {}
        self._pending: list[_NameChange] = []
        if initial is not None:
            self._take_over(initial, "")
            self._durable, self._pending = dict(self._names), []

    def _take_over(self, fs: MemoryFileSystem, folder: str) -> None:
        for name in fs.list(folder):
            path = posixpath.join(folder, name)
            if fs.is_directory(path):
                self.make_directory(path)
                self._take_over(fs, path)
                continue
            file = fs.open(path)
            copy = self.create(path)
            copy.write(file.read(0, file.size))
            copy.sync()
            copy.close()

    def create(self, path: str) -> WritableFile:
        file = self.inner.create(path)
        contents = _Contents()
        self._note(posixpath.dirname(path), added=path, contents=contents)
        return _PowerCutWriter(file, contents)

    def rename(self, source: str, target: str) -> None:
        self.inner.rename(source, target)
        folders = posixpath.dirname(source), posixpath.dirname(target)
        self._note(*folders, removed=source, added=target, contents=self._names[source])

    def link(self, source: str, target: str) -> None:
        self.inner.link(source, target)
        self._note(posixpath.dirname(target), added=target, contents=self._names[source])

    def delete(self, path: str) -> None:
        self.inner.delete(path)
        self._note(posixpath.dirname(path), removed=path)

    def delete_abandoned(self, path: str) -> bool:
        is_gone = self.inner.delete_abandoned(path)
        if is_gone:
            self._note(posixpath.dirname(path), removed=path)
        return is_gone

    def make_directory(self, path: str) -> None:
        above = posixpath.dirname(path.rstrip("/"))
        if self.inner.is_directory(path):
            return
        if not self.inner.is_directory(above):
            self.make_directory(above)
        self.inner.make_directory(path)
        self._note(above, added=path.rstrip("/"))

    def remove_directory(self, path: str) -> None:
        self.inner.remove_directory(path)
        self._note(posixpath.dirname(path.rstrip("/")), removed=path.rstrip("/"))

    def sync(self, path: str) -> None:
        self.inner.sync(path)
        contents = self._names[path]
        if contents is not None:
            contents.synced = bytes(contents.written)

    def sync_directory(self, path: str) -> None:
        self.inner.sync_directory(path)
        folder = path.rstrip("/")
        for change in self._pending:
            if folder in change.folders:
                change.apply(self._durable)
        self._pending = [change for change in self._pending if folder not in change.folders]

    def after_cut(self, outcome: CutOutcome) -> MemoryFileSystem:
        """What is there when the power is back."""
        names = dict(self._durable)
        for change in self._surviving(outcome):
            change.apply(names)
        fs = MemoryFileSystem()
        for path, contents in sorted(names.items()):
            if not fs.is_directory(posixpath.dirname(path)):
                continue  # its folder was lost; sorted, a folder comes before what is in it
            if contents is None:
                fs.make_directory(path)
                continue
            file = fs.create(path)
            file.write(contents.after_cut(outcome.contents))
            file.close()
        return fs

    def _surviving(self, outcome: CutOutcome) -> Iterator[_NameChange]:
        """In every folder the oldest changes, up to a share of them; one between two folders must survive in both."""
        counts = Counter(folder for change in self._pending for folder in change.folders)
        share = outcome.share()
        left = {folder: round(share() * count) for folder, count in counts.items()}
        for change in self._pending:
            if all(left[folder] > 0 for folder in change.folders):
                left.update({folder: left[folder] - 1 for folder in change.folders})
                yield change
            else:
                left.update(dict.fromkeys(change.folders, 0))

    def _note(self, *folders: str, removed: str = "", added: str = "", contents: _Contents | None = None) -> None:
        change = _NameChange(frozenset(folder.rstrip("/") for folder in folders), removed, added, contents)
        change.apply(self._names)
        self._pending.append(change)


class _PowerCutWriter:
    def __init__(self, inner: WritableFile, contents: _Contents) -> None:
        self._inner = inner
        self._contents = contents
        self.path = inner.path
        self.reserve = inner.reserve
        self.push = inner.push
        self.close = inner.close

    def write(self, data: Buffer) -> None:
        self._inner.write(data)
        self._contents.written += data

    def sync(self) -> None:
        self._inner.sync()
        self._contents.synced = bytes(self._contents.written)
