"""What `tf.gfile` does with URLs of object stores: the same manners, by the file system of stores.

Folders are what keys begin with: one that was made is there for this process, one with something in it for everybody.
A file that is written appears when it is closed; one that is added to is written anew, for stores add nothing.
"""

from __future__ import annotations

import io
import posixpath
from typing import BinaryIO, Final, cast

from tensorkeep.errors import AlreadyExistsError, FailedPreconditionError, InvalidArgumentError, MissingFileError
from tensorkeep.io.coding.text_and_bytes import PathOrBytes
from tensorkeep.io.files.directories import copy_file
from tensorkeep.io.files.directories import remove_tree as remove_folder
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, RandomAccessFile, UploadedFile
from tensorkeep.io.files.paths import is_in_store, tidied_path
from tensorkeep.io.files.places import place_of, text_of

_BUFFER: Final = 1 << 20


def store_url(path: PathOrBytes) -> str | None:
    """The URL that a path is, tidied; None if it leads to this machine."""
    text = text_of(path)
    return tidied_path(text) if is_in_store(text) else None


def any_in_store(*paths: PathOrBytes) -> bool:
    """Whether one of the paths is the URL of a store."""
    return any(is_in_store(text_of(path)) for path in paths)


def size_and_time(url: str) -> tuple[int, float, bool]:
    """The size of a file, the time of its last change, and whether it is a folder instead."""
    try:
        file = FILES.open(url)
    except InvalidArgumentError:
        return 0, 0.0, True
    try:
        return file.size, FILES.modified(url), False
    finally:
        file.close()


def rename(source: PathOrBytes, target: PathOrBytes, overwrite: bool) -> None:
    """Gives a file or folder another name, within a store or from one to another."""
    origin, place = _either(source), _either(target)
    _check_free(place, overwrite)
    if FILES.is_directory(origin) and store_url(source) is None:
        raise InvalidArgumentError(f"{text_of(source)} is a folder, and only files are moved between stores")
    FILES.rename(origin, place)


def copy(source: PathOrBytes, target: PathOrBytes, overwrite: bool) -> None:
    """Copies a file, within a store or from one to another. The copy appears whole or not at all."""
    origin, place = _either(source), _either(target)
    _check_free(place, overwrite)
    if FILES.canonical(origin) != FILES.canonical(place):
        copy_file(FILES, origin, place, Durability.CACHE)


def remove_tree(url: str) -> None:
    """Removes a file, or a folder and all that is in it."""
    if FILES.is_directory(url):
        remove_folder(FILES, url)
    elif FILES.exists(url):
        FILES.delete(url)
    else:
        raise MissingFileError(f"{url} not found")


def make_directory(url: str) -> None:
    """Makes a folder, for this process. Fine if there is something of that name already."""
    FILES.make_directory(url)


def make_directories(url: str) -> None:
    """Makes a folder and those above it, unless one of these is a file."""
    above = url
    while posixpath.dirname(above).count("/") >= 3:
        if not FILES.is_directory(above) and FILES.exists(above):
            raise FailedPreconditionError(f"{above} is not a directory")
        above = posixpath.dirname(above)
    FILES.make_directory(url)


def opened_to_read(url: str) -> BinaryIO:
    """An object as a file of Python's."""
    return cast("BinaryIO", io.BufferedReader(_Reader(FILES.open(url)), _BUFFER))


def opened_to_write(url: str, *, adds: bool) -> BinaryIO:
    """A file of Python's whose bytes are an object when it is closed; after those that are there, if it `adds`."""
    puts = FILES.puts(url)
    assert puts is not None
    writer = _Writer(puts.upload(url))
    if adds and FILES.exists(url):
        with opened_to_read(url) as old:
            while piece := old.read(_BUFFER):
                writer.write(piece)
    return cast("BinaryIO", writer)


def _either(path: PathOrBytes) -> str:
    return store_url(path) or place_of(path)


def _check_free(place: str, overwrite: bool) -> None:
    if not overwrite and FILES.exists(place):
        raise AlreadyExistsError("file already exists")


class _Reader(io.RawIOBase):
    """A file of ours as one of Python's."""

    def __init__(self, file: RandomAccessFile) -> None:
        self._file = file
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: object) -> int:
        target = memoryview(buffer).cast("B")  # type: ignore[arg-type]
        count = max(0, min(len(target), self._file.size - self._at))
        self._file.read_into(self._at, target[:count])
        self._at += count
        return count

    def seek(self, offset: int, whence: int = 0) -> int:
        self._at = max(0, offset + (0, self._at, self._file.size)[whence])
        return self._at

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()


class _Writer(io.RawIOBase):
    """An upload as a file of Python's. What was flushed waits: the object appears when the file is closed."""

    def __init__(self, file: UploadedFile) -> None:
        self._file = file
        self._at = 0

    def writable(self) -> bool:
        return True

    def write(self, data: object) -> int:
        view = memoryview(data).cast("B")  # type: ignore[arg-type]
        self._file.write(view)
        self._at += len(view)
        return len(view)

    def tell(self) -> int:
        return self._at

    def close(self) -> None:
        if not self.closed:
            super().close()
            self._file.close()
