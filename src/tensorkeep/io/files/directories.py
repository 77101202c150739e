"""Whole folders: copied, removed, put in place in one step, or there for a while only.

A folder is written under a temporary name beside its place, `X.tensorkeep-<16 hex digits>.tmp`, and takes its name by
one rename when it is complete. As long as somebody writes it, a locked file beside it says so:
`X.tensorkeep-<16 hex digits>.lock`. A temporary folder whose lock is gone, or whose locker has died, is nobody's.

Other folders are there for as long as this process lives, or as long as one of several that share them does.
"""

from __future__ import annotations

import atexit
import os
import posixpath
import re
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from typing import Final

from tensorkeep.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    NotFoundError,
    StorageError,
    TensorKeepError,
    UnimplementedError,
)
from tensorkeep.io.files.filesystem import (
    Durability,
    FileSystem,
    TemporaryFile,
    WritableFile,
    is_temporary,
    prepare_directory,
    temporary_path,
)
from tensorkeep.io.files.paths import tidied_path

_AT_ONCE: Final = 1 << 22
_LOCK: Final = re.compile(r"\.tensorkeep-[0-9a-f]{16}\.lock\Z")
_IN_MEMORY: Final = "/dev/shm"  # of Linux


def files_below(fs: FileSystem, directory: str) -> Iterator[str]:
    """The paths of all files in a folder and the folders in it, relative to it, sorted within each."""
    return _files_below(fs, directory, ())


def _files_below(fs: FileSystem, directory: str, above: tuple[str, ...]) -> Iterator[str]:
    places = _enter_folder(fs, directory, above)
    for name in fs.list(directory):
        path = posixpath.join(directory, name)
        if fs.is_directory(path):
            yield from (f"{name}/{below}" for below in _files_below(fs, path, places))
        else:
            yield name


def _enter_folder(fs: FileSystem, directory: str, above: tuple[str, ...]) -> tuple[str, ...]:
    """The places of a folder and of those on the way to it, which may be links; an error if it is one of these."""
    place = fs.canonical(directory)
    if place in above:
        raise InvalidArgumentError(f'"{directory}" is a link to a folder that it lies in itself')
    return (*above, place)


def file_size(fs: FileSystem, path: str) -> int:
    """The size of a file."""
    file = fs.open(path)
    try:
        return file.size
    finally:
        file.close()


def is_empty_directory(fs: FileSystem, path: str) -> bool:
    """Whether there is a folder with nothing in it."""
    return fs.is_directory(path) and not fs.list(path)


def copy_file(fs: FileSystem, source: str, target: str, durability: Durability = Durability.DISK) -> None:
    """Puts a copy of a file in place in one step, piece by piece; the folder must be there."""
    reader = fs.open(source)
    try:
        with TemporaryFile(fs, target) as writer:
            writer.reserve(reader.size)
            for at in range(0, reader.size, _AT_ONCE):
                writer.write(reader.read(at, min(_AT_ONCE, reader.size - at)))
            writer.commit(durability)
    finally:
        reader.close()


def copy_tree(
    fs: FileSystem,
    source: str,
    target: str,
    durability: Durability = Durability.DISK,
    *,
    without: Collection[str] = (),
) -> None:
    """Copies what is in a folder into another one, which is made if it is missing; but not the names in `without`.

    Temporary files that somebody is writing, or has left behind, stay where they are. What links lead to is copied.
    """
    _copy_tree(fs, source, target, durability, without, ())


def _copy_tree(
    fs: FileSystem,
    source: str,
    target: str,
    durability: Durability,
    without: Collection[str],
    above: tuple[str, ...],
) -> None:
    places = _enter_folder(fs, source, above)
    fs.make_directory(target)
    for name in fs.list(source):
        path, copy = posixpath.join(source, name), posixpath.join(target, name)
        if name in without or is_temporary(name):
            continue
        if fs.is_directory(path):
            _copy_tree(fs, path, copy, durability, (), places)
        else:
            copy_file(fs, path, copy, durability)


def remove_tree(fs: FileSystem, directory: str) -> None:
    """Removes a folder and all that is in it. Of a link the link is removed, and not what it leads to."""
    for name in fs.list(directory):
        path = posixpath.join(directory, name)
        if fs.is_directory(path) and not _is_link(fs, path):
            remove_tree(fs, path)
        else:
            fs.delete(path)
    fs.remove_directory(directory)


def _is_link(fs: FileSystem, path: str) -> bool:
    """Whether a path leads elsewhere than to what is in its folder under its name."""
    folder, name = posixpath.split(path)
    return fs.canonical(path) != tidied_path(posixpath.join(fs.canonical(folder or "."), name))


def replace_directory(fs: FileSystem, target: str, write: Callable[[str], None]) -> None:
    """Has `write` make a folder, and puts it in the place of another one, which is removed.

    It is made as `X.tensorkeep-new`; the old one is `X.tensorkeep-old` until it is gone. Whoever is interrupted between
    the two renames finds both under these names. Where the target is a link, that is what it leads to.
    """
    target = target.rstrip("/")
    if fs.puts(target) is not None:
        raise UnimplementedError(
            f'"{target}" is a folder in a store, and cannot be replaced in one step there; write to another place, and '
            "point to that"
        )
    if _is_link(fs, target):
        target = fs.canonical(target)
    new, old = f"{target}.tensorkeep-new", f"{target}.tensorkeep-old"
    for path in (new, old):
        if fs.exists(path):
            raise AlreadyExistsError(
                f'"{path}" is there, left behind by somebody who was interrupted; look at it first'
            )
    try:
        write(new)
    except BaseException:
        if fs.is_directory(new):
            remove_tree(fs, new)
        raise
    fs.rename(target, old)
    fs.rename(new, target)
    remove_tree(fs, old)


def remove_abandoned_directories(fs: FileSystem, directory: str) -> None:
    """Removes temporary folders in a folder whose writers have died. Those of living writers stay."""
    if fs.puts(directory) is not None:
        return  # nothing in a store says whether its writer lives
    for name in fs.list(directory):
        path = posixpath.join(directory, name)
        try:
            if is_temporary(name) and fs.is_directory(path) and _is_unlocked(fs, _lock_of(path)):
                remove_tree(fs, path)
            elif _LOCK.search(name) and not fs.exists(f"{path.removesuffix('.lock')}.tmp"):
                fs.delete_abandoned(path)
        except TensorKeepError:
            continue  # somebody else was quicker, or it is not ours to remove: tidying never stops a save


def _lock_of(temporary: str) -> str:
    return f"{temporary.removesuffix('.tmp')}.lock"


def _is_unlocked(fs: FileSystem, lock: str) -> bool:
    return not fs.exists(lock) or fs.delete_abandoned(lock)


class StagedDirectory:
    """A folder that is written under a temporary name, `path`, and appears at `target` whole or not at all.

    Files in it are to be written durably by whoever writes them; `publish` sees to the names.
    """

    def __init__(self, fs: FileSystem, target: str, durability: Durability = Durability.DISK) -> None:
        self.target = target.rstrip("/") or target
        self._fs = fs
        self._durability = durability
        self._above = posixpath.dirname(self.target)
        prepare_directory(fs, self._above, durability)
        remove_abandoned_directories(fs, self._above)
        self.path = temporary_path(self.target)
        self._lock: WritableFile = fs.create(_lock_of(self.path))
        fs.make_directory(self.path)

    def publish(self, last: str) -> None:
        """Puts the folder in place. If there is one already, which is not empty, what was written joins what is there.

        Then there is no one step for all of it, and the file `last` comes last: with it the rest is there.
        """
        self._sync(self.path)
        is_taken = self._fs.exists(self.target) and not is_empty_directory(self._fs, self.target)
        if is_taken or self._fs.puts(self.target) is not None:
            self._merge(self.path, self.target, last)
            self._sync(self.target)
        else:
            self._fs.rename(self.path, self.target)
        if self._durability is Durability.DISK:
            self._fs.sync_directory(self._above)
        self._unlock()

    def discard(self) -> None:
        """Removes what was written."""
        if self._fs.is_directory(self.path):
            remove_tree(self._fs, self.path)
        self._unlock()

    def _merge(self, source: str, target: str, last: str) -> None:
        if self._fs.exists(target) and not self._fs.is_directory(target):
            raise AlreadyExistsError(f'cannot put a folder at "{target}": there is a file')
        for name in sorted(self._fs.list(source), key=lambda name: (name == last, name)):
            path, place = posixpath.join(source, name), posixpath.join(target, name)
            if self._fs.is_directory(path) and self._fs.exists(place):
                self._merge(path, place, last)
            else:
                self._fs.rename(path, place)
        self._fs.remove_directory(source)

    def _sync(self, directory: str) -> None:
        """Makes names in the folder and the folders in it last."""
        if self._durability is not Durability.DISK:
            return
        for name in self._fs.list(directory):
            if self._fs.is_directory(path := posixpath.join(directory, name)):
                self._sync(path)
        self._fs.sync_directory(directory)

    def _unlock(self) -> None:
        self._lock.close()
        try:
            self._fs.delete(self._lock.path)
        except (StorageError, NotFoundError):
            return  # the folder is in place; the next one who writes here tidies up


def temporary_folder(prefix: str = "tensorkeep-") -> str:
    """A new folder, which is removed when the process ends."""
    try:
        path = tempfile.mkdtemp(prefix=prefix)
    except OSError as error:
        raise StorageError(
            f'no temporary folder can be made in "{tempfile.gettempdir()}": {error.strerror or error}'
        ) from error
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@contextmanager
def shared_folder() -> Iterator[str]:
    """A new folder, which this user alone may use and which is gone afterwards with all that is in it."""
    has_memory = os.access(_IN_MEMORY, os.W_OK | os.X_OK)
    try:
        folder = tempfile.mkdtemp(prefix="tensorkeep-", dir=_IN_MEMORY if has_memory else None)
    except OSError as error:
        raise StorageError(f"no folder for temporary files can be made: {error.strerror or error}") from error
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
