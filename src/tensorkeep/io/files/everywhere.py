"""The file system behind every path: the one place that decides where a path leads.

A plain path is a file of this machine; one with the scheme of a store (`s3://bucket/run`) is an object of that store.
`FILES` is what every function of the package takes unless it is handed another file system.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager
from functools import cache
from importlib import import_module
from typing import Any, Final

from tensorkeep.errors import AlreadyExistsError
from tensorkeep.io.files.filesystem import (
    Durability,
    FileSystem,
    ObjectPuts,
    RandomAccessFile,
    TemporaryFile,
    WritableFile,
)
from tensorkeep.io.files.local import LOCAL, LocalFileSystem
from tensorkeep.io.files.paths import is_in_store


class Everywhere(FileSystem):
    """Hands each call to the file system that its path belongs to."""

    def __reduce__(self) -> str | tuple[Any, ...]:
        """Another process has a `FILES` of its own, which is told what this one was told of stores."""
        settings = sys.modules.get(_SETTINGS)
        told = settings.all_settings() if settings is not None else ()
        return (files_told, (told,)) if told else "FILES"

    def open(self, path: str) -> RandomAccessFile:
        return file_system_of(path).open(path)

    def create(self, path: str) -> WritableFile:
        return file_system_of(path).create(path)

    def rename(self, source: str, target: str) -> None:
        if file_system_of(source) is file_system_of(target):
            file_system_of(source).rename(source, target)
        else:
            _copy(source, target)
            self.delete(source)

    def link(self, source: str, target: str) -> None:
        if file_system_of(source) is file_system_of(target):
            file_system_of(source).link(source, target)
        elif self.exists(target):
            raise AlreadyExistsError(f'cannot link "{source}" to "{target}": it exists')
        else:
            _copy(source, target)

    def delete(self, path: str) -> None:
        file_system_of(path).delete(path)

    def exists(self, path: str) -> bool:
        return file_system_of(path).exists(path)

    def is_directory(self, path: str) -> bool:
        return file_system_of(path).is_directory(path)

    def list(self, directory: str) -> Sequence[str]:
        return file_system_of(directory).list(directory)

    def modified(self, path: str) -> float:
        return file_system_of(path).modified(path)

    def set_modified(self, path: str, time: float) -> None:
        file_system_of(path).set_modified(path, time)

    def make_directory(self, path: str) -> None:
        file_system_of(path).make_directory(path)

    def remove_directory(self, path: str) -> None:
        file_system_of(path).remove_directory(path)

    def canonical(self, path: str) -> str:
        return file_system_of(path).canonical(path)

    def sync(self, path: str) -> None:
        file_system_of(path).sync(path)

    def sync_directory(self, path: str) -> None:
        file_system_of(path).sync_directory(path)

    def locked(self, directory: str) -> AbstractContextManager[None]:
        return file_system_of(directory).locked(directory)

    def delete_abandoned(self, path: str) -> bool:
        return file_system_of(path).delete_abandoned(path)

    def puts(self, path: str) -> ObjectPuts | None:
        return file_system_of(path).puts(path)


def _copy(source: str, target: str) -> None:
    """Copies a file from one file system to another, in one step, piece by piece."""
    reader = file_system_of(source).open(source)
    try:
        with TemporaryFile(file_system_of(target), target) as writer:
            writer.reserve(reader.size)
            for at in range(0, reader.size, _PIECE):
                writer.write(reader.read(at, min(_PIECE, reader.size - at)))
            writer.commit(Durability.DISK)
    finally:
        reader.close()


def file_system_of(path: str) -> FileSystem:
    """The file system that a path belongs to."""
    return _stores() if is_in_store(path) else LOCAL


@cache
def _stores() -> FileSystem:
    """The file system of stores, imported when one is asked: most programs ask none, and start the sooner."""
    stores: FileSystem = import_module("tensorkeep.io.stores.filesystem").STORES
    return stores


_PIECE: Final = 16 << 20
_SETTINGS: Final = "tensorkeep.io.stores.settings"

FILES: Final = Everywhere()


def files_told(settings: Sequence[Any]) -> FileSystem:
    """`FILES` of this process, after it was told what another knows of stores."""
    import_module(_SETTINGS).adopt_settings(settings)
    return FILES


def is_on_disk(fs: FileSystem, path: str) -> bool:
    """Whether a path of a file system is that of a file of this machine, which other libraries can open too."""
    return isinstance(fs, LocalFileSystem) or (isinstance(fs, Everywhere) and file_system_of(path) is LOCAL)
