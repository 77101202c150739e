"""Files, as the rest of the package sees them.

`FileSystem` is the whole of what is asked of an operating system: a handful of methods, so that memory, a remote
store or a test that crashes on purpose can stand in for the disk. What can be said in terms of them (an atomic
write, a temporary name, tidying up after a crash) is a function here.

Paths are text with forward slashes. Files are written once, from start to end, under a temporary name, and take
their final name by `rename`.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from types import TracebackType
from typing import Final, Protocol, TypeGuard

from tensorkeep.errors import InvalidArgumentError, NotFoundError, StorageError, TensorKeepError, WrongTypeError
from tensorkeep.io.coding.text_and_bytes import PathOrBytes
from tensorkeep.io.files.paths import is_in_store, with_slashes, without_scheme

Buffer = bytes | bytearray | memoryview
PathLike = PathOrBytes

_TEMPORARY: Final = re.compile(r"\.tensorkeep-[0-9a-f]{16}\.tmp\Z")


class Durability(Enum):
    """What is promised when a save returns."""

    DISK = "disk"
    """Contents and names have reached the disk: a power cut loses nothing that was saved."""

    CACHE = "cache"
    """The operating system has everything: a killed process loses nothing, a power cut may. TensorFlow's promise."""


@dataclass(frozen=True, slots=True)
class AccessCost:
    """What a read costs, for whoever can choose between a few large ones and many small ones."""

    gap: int = 4096
    """To read so many bytes that nobody wants is no dearer than another read."""
    span: int = 1 << 20
    """Bytes that are well read in one go."""
    in_flight: int = 1
    """How many small reads are well under way at a time."""
    reads: int = 0
    """More small reads than that for one tensor are too many, as long as joining them wastes no more than `waste`."""
    waste: int = 0
    """Bytes that nobody wants, which may be read for the sake of fewer reads."""
    readers: int = 0
    """How many threads well read large stretches at a time; 0 for as many as there are processors."""


ON_DISK: Final = AccessCost()


class RandomAccessFile(Protocol):
    """An open file of fixed size, safe to share between threads."""

    path: str
    size: int

    @property
    def cost(self) -> AccessCost:
        """What a read of it costs."""
        return ON_DISK

    def read(self, offset: int, length: int) -> memoryview:
        """Exactly those bytes, in memory of their own; DataLossError if the file does not hold them all."""
        ...

    def read_into(self, offset: int, buffer: memoryview) -> None:
        """Fills `buffer`, writable and contiguous, from `offset`; DataLossError if the file ends before."""
        ...

    def expect(self, offset: int, length: int) -> None:
        """Says that the thread which asks will read those bytes from front to back, so that they can be fetched."""
        ...

    def map(self, offset: int, length: int) -> memoryview:
        """The same bytes as `read`, without a copy where the system can; they change if the file is overwritten."""
        ...

    def is_current(self) -> bool:
        """Whether the path still leads to this file, and not to another one or to none."""
        ...

    def is_at(self, path: str) -> bool:
        """Whether another path leads to this file: the name of a link to it."""
        ...

    def close(self) -> None:
        """Mapped bytes stay readable for as long as somebody holds them."""
        ...


class WritableFile(Protocol):
    """A file being written. Until it is closed, nobody else takes it for abandoned."""

    path: str

    def write(self, data: Buffer) -> None:
        """Appends all of `data`."""
        ...

    def reserve(self, size: int) -> None:
        """Says that about `size` bytes will come, so that space is set aside, or found lacking, at once."""
        ...

    def push(self) -> None:
        """Starts moving what was written to the disk, without waiting for it, so that `sync` has less to do."""
        ...

    def sync(self) -> None:
        """Returns when what was written has reached the disk."""
        ...

    def close(self) -> None: ...


class UploadedFile(WritableFile, Protocol):
    """A file on its way to a store, which appears when it is closed."""

    def abandon(self) -> None:
        """Gives up: it never appears."""
        ...


class ObjectPuts(Protocol):
    """How files are put in place where nothing can be renamed: objects appear whole, and on conditions.

    A version is whatever the store tells one object from the next by; None stands for no object at all.
    """

    def upload(self, path: str) -> UploadedFile:
        """A file that appears under that very name, in the place of whatever is there, when it is closed."""
        ...

    def put_if(self, path: str, data: bytes, expected: object) -> object:
        """Puts a file in the place of the expected version, in one step; None if that is not what is there."""
        ...

    def version(self, path: str) -> object:
        """The version of a file; None if there is none."""
        ...

    def ages(self, directory: str) -> dict[str, float]:
        """The files in a folder, by name, with the time of the last change to each, by the store's own clock."""
        ...


class FileSystem(Protocol):
    """A store of named files. Every failure is raised as a TensorKeepError that names the path."""

    def open(self, path: str) -> RandomAccessFile:
        """MissingFileError if there is no such file."""
        ...

    def create(self, path: str) -> WritableFile:
        """Starts a new file; the folder must exist, the file must not."""
        ...

    def rename(self, source: str, target: str) -> None:
        """Atomic; replaces a file at `target`. A folder moves with all that is in it, and replaces an empty one."""
        ...

    def link(self, source: str, target: str) -> None:
        """Gives the same bytes a second name. Copies where the store knows no links. `target` must not exist."""
        ...

    def delete(self, path: str) -> None: ...

    def exists(self, path: str) -> bool: ...

    def is_directory(self, path: str) -> bool: ...

    def list(self, directory: str) -> Sequence[str]:
        """The names in a folder, sorted. MissingFileError if there is no such folder."""
        ...

    def modified(self, path: str) -> float:
        """When the file was last written, in seconds since 1970."""
        ...

    def set_modified(self, path: str, time: float) -> None:
        """Says that the file was last written at that time: for one that is rewritten with the same contents."""
        ...

    def make_directory(self, path: str) -> None:
        """Makes the folder and those above it. Fine if it is there already."""
        ...

    def remove_directory(self, path: str) -> None:
        """Removes an empty folder."""
        ...

    def canonical(self, path: str) -> str:
        """The one spelling of a path: two paths lead to the same place just if their canonical forms are equal."""
        ...

    def sync(self, path: str) -> None:
        """Returns when the contents of a file, whoever wrote it, have reached the disk."""
        ...

    def sync_directory(self, path: str) -> None:
        """Returns when the names in the folder have reached the disk."""
        ...

    def locked(self, directory: str) -> AbstractContextManager[None]:
        """Keeps all others who ask for it out of a folder until the block is left: other threads and processes.

        They wait. The thread that has it may ask again. It ends with the process. A store that knows no locks keeps
        nobody out. MissingFileError if there is no such folder.
        """
        ...

    def delete_abandoned(self, path: str) -> bool:
        """Deletes a file if whoever was writing it has died, in one step, and says whether it did.

        A file whose writer lives stays, and so does one of which that cannot be told.
        """
        ...

    def puts(self, path: str) -> ObjectPuts | None:
        """How files at and beside a path are put in place if they cannot be renamed; None if they can."""
        return None


def path_text(path: PathLike) -> str:
    """A path as text, with forward slashes and without the scheme of this machine (`file:///a` is `/a`).

    Bytes are the text that `os.fsdecode` makes of them: what a session gives for a string is a path too. One in a store
    stays a URL. Anything that is not a path, or cannot be one, is an InvalidArgumentError; a scheme that is not served,
    such as `hdfs://`, is an UnimplementedError.
    """
    try:
        text = os.fsdecode(path)
    except TypeError:
        raise WrongTypeError(f"a path is text, bytes or an os.PathLike, got {type(path).__name__}") from None
    if not text or "\0" in text:
        raise InvalidArgumentError(f"{text!r} cannot be a path: it is empty or holds a NUL")
    return text if is_in_store(text) and text.split(":", 1)[0].islower() else with_slashes(without_scheme(text))


def is_path(value: object) -> TypeGuard[PathLike]:
    """Whether a value is one path, where several may be given, or something else."""
    return isinstance(value, str | bytes | os.PathLike)


def texts_of_paths(paths: PathLike | Iterable[PathLike]) -> list[str]:
    """One path or several as text, see `path_text`."""
    if isinstance(paths, str | bytes | os.PathLike):
        return [path_text(paths)]
    return [path_text(path) for path in paths]


def temporary_path(path: str) -> str:
    """A fresh name beside `path`, recognisable as ours."""
    return f"{path}.tensorkeep-{os.urandom(8).hex()}.tmp"


def is_temporary(name: str) -> bool:
    """Whether `temporary_path` made this name."""
    return _TEMPORARY.search(name) is not None


def final_name(name: str) -> str:
    """The name that a file is to have which goes by one that `temporary_path` made."""
    return _TEMPORARY.sub("", name)


def prepare_directory(fs: FileSystem, path: str, durability: Durability) -> None:
    """Makes a folder ready to be written to: it is there, for good if that is wanted, and tidied up."""
    if fs.puts(path) is not None:
        fs.make_directory(path)
        return
    made: list[str] = []
    above = path
    while above and not fs.is_directory(above):
        made.append(above)
        above = posixpath.dirname(above)
    fs.make_directory(path)
    if durability is Durability.DISK:
        for folder in made:  # a folder is a name in the one above it
            fs.sync_directory(posixpath.dirname(folder))
    remove_abandoned(fs, path)


def remove_abandoned(fs: FileSystem, directory: str) -> None:
    """Deletes temporary files that a writer left in a folder when it died. Those of living writers stay."""
    for name in fs.list(directory):
        if is_temporary(name):
            try:
                fs.delete_abandoned(posixpath.join(directory, name))
            except TensorKeepError:
                continue  # somebody else was quicker, or it is not ours to delete: tidying never stops a save


def atomic_write(fs: FileSystem, path: str, data: Buffer, durability: Durability = Durability.DISK) -> None:
    """Puts `data` at `path` in one step: whenever this is interrupted, the old file or the new one is there."""
    with TemporaryFile(fs, path) as file:
        file.write(data)
        file.commit(durability)


class TemporaryFile:
    """A file under a temporary name that takes its final one on `commit`, and vanishes if that never comes."""

    def __init__(self, fs: FileSystem, target: str) -> None:
        self.target = target
        self.path = temporary_path(target)
        self._fs = fs
        self._file = fs.create(self.path)
        self._is_pending = True
        self._is_synced = False
        self.write = self._file.write
        self.reserve = self._file.reserve
        self.push = self._file.push

    def sync(self) -> None:
        self._file.sync()
        self._is_synced = True

    def commit(self, durability: Durability) -> None:
        """Makes the contents durable if that is wanted, then moves the file into place and closes it."""
        if durability is Durability.DISK and not self._is_synced:
            self.sync()
        self.rename(self.target)
        if durability is Durability.DISK:
            self._fs.sync_directory(posixpath.dirname(self.target))

    def rename(self, target: str) -> None:
        """Moves the file to its final name. It stays open, so that nobody takes it for abandoned on the way."""
        self._fs.rename(self.path, target)
        self.path = target
        self._is_pending = False

    def close(self) -> None:
        """Closes the file, and deletes it unless it was moved into place."""
        self._file.close()
        if self._is_pending:
            self._is_pending = False
            try:
                self._fs.delete(self.path)
            except (StorageError, NotFoundError):
                return  # an error is on its way already; the next save tidies up

    def __enter__(self) -> TemporaryFile:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
