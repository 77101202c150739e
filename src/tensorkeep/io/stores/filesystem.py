"""A store as a file system.

What is different from a disk: there are no folders, but keys that begin alike, so a folder is there as long as
something is in it, and one that was made and left empty is known to this process alone; nothing is renamed, so a rename
is a copy and a deletion, except of a file that is being written, which goes to its final key at once; nothing is added
to; whoever holds an object open and finds another in its place is told, and does not read a mixture. Locks hold within
this process; what keeps writers apart beyond it are conditional puts (`ObjectPuts`).
"""

from __future__ import annotations

import posixpath
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from tensorkeep.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    MissingFileError,
    StorageError,
    UnimplementedError,
)
from tensorkeep.io.files.filesystem import FileSystem, ObjectPuts, RandomAccessFile, WritableFile, is_temporary
from tensorkeep.io.stores.caching import CachedFile
from tensorkeep.io.stores.objects import Objects, Version
from tensorkeep.io.stores.reading import StoreFile
from tensorkeep.io.stores.settings import settings_of
from tensorkeep.io.stores.urls import StoreUrl
from tensorkeep.io.stores.writing import StoreWritableFile


class StoreFileSystem(FileSystem, ObjectPuts):
    """The objects of all stores, by URL. `STORES` is the one instance anybody needs."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._turns: dict[str, threading.RLock] = {}
        self._writing: dict[str, StoreWritableFile] = {}  # files that have no object yet, by URL
        self._made: set[str] = set()  # folders that were made, by URL

    # Files

    def open(self, path: str) -> RandomAccessFile:
        url = StoreUrl.parse(path)
        self._require_file_name(url)
        said = settings_of(url)
        try:
            if said.cache is not None:
                return CachedFile(Objects(url), url.key, path, said.cache)
            return StoreFile(Objects(url), url.key, path)
        except MissingFileError:
            if self.is_directory(path):
                raise InvalidArgumentError(f'"{path}" is a folder, expected a file') from None
            raise

    def create(self, path: str) -> WritableFile:
        url = _writable(path)
        self._require_file_name(url)
        with self._lock:
            if str(url) in self._writing or self.exists(path):
                raise AlreadyExistsError(f'cannot create "{path}": it exists')
            return self._begin(url, path)

    def _begin(self, url: StoreUrl, path: str) -> StoreWritableFile:
        is_new = not is_temporary(url.key)
        file = StoreWritableFile(Objects(url), path, url.key, self._forget, must_be_new=is_new)
        self._writing[str(url)] = file
        return file

    def rename(self, source: str, target: str) -> None:
        old, new = _writable(source), _writable(target)
        with self._lock:
            file = self._writing.pop(str(old), None)
        if file is not None and old.root == new.root:
            with self._lock:
                self._writing[str(new)] = file
            file.move(target, new.key)
            return
        if not self._has(old):
            self._rename_folder(old, new)
            return
        if self.is_directory(target):
            raise InvalidArgumentError(f'cannot rename "{source}" to "{target}": that is a folder')
        self._copy(old, new)
        Objects(old).delete(old.key)

    def _rename_folder(self, old: StoreUrl, new: StoreUrl) -> None:
        if not self.is_directory(str(old)):
            raise MissingFileError(f'"{old}" does not exist')
        if self._has(new) or str(new).startswith(f"{old}/"):
            raise StorageError(f'cannot rename folder "{old}" to "{new}": that is a file, or inside of it')
        if self.is_directory(str(new)) and self.list(str(new)):
            raise StorageError(f'cannot rename folder "{old}" to "{new}": that is not empty')
        keys = sorted(Objects(old).below(old.key))
        for key in keys:
            self._copy(_at(old, key), _at(new, new.key + key[len(old.key) :]))
        for key in keys:
            Objects(old).delete(key)
        with self._lock:
            moved = {made for made in self._made if made == str(old) or made.startswith(f"{old}/")}
            self._made = (self._made - moved) | {str(new) + made[len(str(old)) :] for made in moved}
            self._made.add(str(new))

    def _copy(self, old: StoreUrl, new: StoreUrl) -> None:
        """Within a bucket by the store itself; else, and where that cannot, piece by piece."""
        if old.root == new.root:
            try:
                Objects(old).copy(old.key, new.key)
            except (UnimplementedError, StorageError):
                pass  # S3 copies 5 GiB at most by one request
            else:
                return
        reader = StoreFile(Objects(old), old.key, str(old))
        writer = StoreWritableFile(Objects(new), str(new), new.key, self._forget)
        writer.reserve(reader.size)
        try:
            for at in range(0, reader.size, _PIECE):
                writer.write(reader.read(at, min(_PIECE, reader.size - at)))
            writer.close()
        except BaseException:
            writer.abandon()
            raise

    def link(self, source: str, target: str) -> None:
        old, new = _writable(source), _writable(target)
        if not self._has(old):
            raise MissingFileError(f'"{source}" does not exist')
        if self.exists(target):
            raise AlreadyExistsError(f'cannot link "{source}" to "{target}": it exists')
        self._copy(old, new)

    def delete(self, path: str) -> None:
        url = _writable(path)
        with self._lock:
            file = self._writing.pop(str(url), None)
        if file is not None:
            file.abandon()
            return
        if not self._has(url):
            if self.is_directory(path):
                raise InvalidArgumentError(f'"{path}" is a folder, expected a file')
            raise MissingFileError(f'"{path}" does not exist')
        Objects(url).delete(url.key)

    def exists(self, path: str) -> bool:
        url = StoreUrl.parse(path)
        return str(url) in self._writing or self._has(url) or self.is_directory(path)

    def is_file(self, path: str) -> bool:
        """Whether there is an object of that name."""
        return self._has(StoreUrl.parse(path))

    def _has(self, url: StoreUrl) -> bool:
        return bool(url.key) and Objects(url).version(url.key) is not None

    def modified(self, path: str) -> float:
        url = StoreUrl.parse(path)
        return Objects(url).head(url.key).modified

    def set_modified(self, path: str, time: float) -> None:
        if not self._has(StoreUrl.parse(path)):
            raise MissingFileError(f'"{path}" does not exist')
        raise UnimplementedError(f'"{path}": a store sets the time of an object itself, when it is written')

    # Folders

    def is_directory(self, path: str) -> bool:
        url = StoreUrl.parse(path)
        if not url.key or self._made_here(path):
            return True
        if url.is_read_only:
            return False
        return next(Objects(url).below(url.key), None) is not None

    def list(self, directory: str) -> Sequence[str]:
        url = StoreUrl.parse(directory)
        if url.is_read_only:
            raise UnimplementedError(f'"{directory}" cannot be listed: {url.scheme}:// has no folders; name the files')
        found = Objects(url).list(url.key)
        below = f"{url}/"
        with self._lock:
            here = {*self._writing, *self._made}
        pending = {path[len(below) :].split("/")[0] for path in here if path.startswith(below)}
        names = {*found.objects, *found.folders, *pending} - {""}
        if not names and not self.is_directory(directory):
            raise MissingFileError(f'folder "{directory}" does not exist')
        return sorted(names)

    def make_directory(self, path: str) -> None:
        url = _writable(path)
        with self._lock:
            while url.key:
                self._made.add(str(url))
                url = _at(url, posixpath.dirname(url.key))

    def remove_directory(self, path: str) -> None:
        if self.is_directory(path) and self.list(path):
            raise StorageError(f'cannot remove folder "{path}": it is not empty')
        with self._lock:
            self._made.discard(str(StoreUrl.parse(path)))

    def canonical(self, path: str) -> str:
        return str(StoreUrl.parse(path))

    def sync(self, path: str) -> None:
        if not self._has(StoreUrl.parse(path)):
            raise MissingFileError(f'"{path}" does not exist')

    def sync_directory(self, path: str) -> None:
        if not self.is_directory(path):
            raise MissingFileError(f'folder "{path}" does not exist')

    @contextmanager
    def locked(self, directory: str) -> Iterator[None]:
        if not self.is_directory(directory):
            raise MissingFileError(f'folder "{directory}" does not exist')
        with self._lock:
            turn = self._turns.setdefault(self.canonical(directory), threading.RLock())
        with turn:
            yield

    def delete_abandoned(self, path: str) -> bool:
        return False  # nothing in a store says whether its writer lives

    # What takes the place of renames

    def puts(self, path: str) -> ObjectPuts | None:
        return self

    def upload(self, path: str) -> StoreWritableFile:
        url = _writable(path)
        return StoreWritableFile(Objects(url), path, url.key, self._forget)

    def put_if(self, path: str, data: bytes, expected: object) -> object:
        url = _writable(path)
        assert expected is None or isinstance(expected, Version)
        return Objects(url).put_if(url.key, data, expected)

    def version(self, path: str) -> object:
        url = StoreUrl.parse(path)
        return Objects(url).version(url.key)

    def ages(self, directory: str) -> dict[str, float]:
        url = StoreUrl.parse(directory)
        return {name: found.modified for name, found in Objects(url).list(url.key).objects.items()}

    # Names

    def _made_here(self, path: str) -> bool:
        return str(StoreUrl.parse(path)) in self._made

    def _forget(self, file: StoreWritableFile) -> None:
        with self._lock:
            for path in [path for path, known in self._writing.items() if known is file]:
                del self._writing[path]

    def _require_file_name(self, url: StoreUrl) -> None:
        if not url.key:
            raise InvalidArgumentError(f'"{url}" is a folder, expected a file')


def _writable(path: str) -> StoreUrl:
    url = StoreUrl.parse(path)
    if url.is_read_only:
        raise UnimplementedError(f'"{path}" cannot be written: {url.scheme}:// is read only')
    return url


def _at(url: StoreUrl, key: str) -> StoreUrl:
    return StoreUrl(url.scheme, url.container, key)


_PIECE: Final = 8 << 20

STORES: Final = StoreFileSystem()
