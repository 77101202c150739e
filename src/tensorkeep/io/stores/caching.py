"""Copies of objects on the local disk, each of one version.

    FOLDER/<sha256 of URL, version and size>.object

The store is asked for the version whenever an object is opened, so a copy is never used for another one. Copies are
whole: the first to read an object fetches all of it. Nothing is ever removed; whoever gave the folder may empty it at
any time, for an open file stays readable.
"""

from __future__ import annotations

import hashlib
import os
import posixpath
import threading

from tensorkeep.errors import MissingFileError
from tensorkeep.io.files.filesystem import AccessCost, Durability, TemporaryFile
from tensorkeep.io.files.local import LOCAL, LocalFile
from tensorkeep.io.stores.objects import Objects
from tensorkeep.io.stores.reading import StoreFile, check_extent

_PIECE = 32 << 20


class CachedFile:
    """One version of an object, read from its copy on the disk, which is made when something is first read."""

    cost = AccessCost()

    def __init__(self, objects: Objects, key: str, path: str, folder: str) -> None:
        self.path = path
        self._objects = objects
        self._key = key
        self._found = objects.head(key)
        self.size = self._found.size
        name = f"{objects.url(key)}\n{self._found.version}\n{self.size}\n{self._found.modified}"
        self._place = posixpath.join(folder, f"{hashlib.sha256(name.encode()).hexdigest()}.object")
        self._copy: LocalFile | None = None
        self._is_closed = False
        self._lock = threading.Lock()

    def read(self, offset: int, length: int) -> memoryview:
        return self._local(offset, length).read(offset, length)

    def read_into(self, offset: int, buffer: memoryview) -> None:
        self._local(offset, len(buffer)).read_into(offset, buffer)

    def expect(self, offset: int, length: int) -> None:
        """The system reads ahead by itself."""

    def map(self, offset: int, length: int) -> memoryview:
        return self._local(offset, length).map(offset, length)

    def is_current(self) -> bool:
        return self.is_at(self.path)

    def is_at(self, path: str) -> bool:
        if path != self.path:
            return False
        try:
            return self._objects.head(self._key)[:2] == self._found[:2]
        except MissingFileError:
            return False

    def close(self) -> None:
        self._is_closed = True
        if self._copy is not None:
            self._copy.close()

    def _local(self, offset: int, length: int) -> LocalFile:
        """The copy, for bytes that must be in it."""
        check_extent(self, offset, length, is_closed=self._is_closed)
        with self._lock:
            return self._open_local()

    def _open_local(self) -> LocalFile:
        if self._copy is None:
            if not LOCAL.exists(self._place) or os.path.getsize(self._place) != self.size:
                self._fetch()
            self._copy = LOCAL.open(self._place)
        return self._copy

    def _fetch(self) -> None:
        LOCAL.make_directory(posixpath.dirname(self._place))
        source = StoreFile(self._objects, self._key, self.path, self._found)
        with TemporaryFile(LOCAL, self._place) as target:
            target.reserve(self.size)
            for at in range(0, self.size, _PIECE):
                target.write(source.read(at, min(_PIECE, self.size - at)))
            target.commit(Durability.CACHE)
