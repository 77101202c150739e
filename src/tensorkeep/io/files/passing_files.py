"""Files that another library opens by their paths, and that are gone when it has."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import StorageError

_PAGE: Final = 4096  # bytes: arrays begin at multiples of it, so that they can be mapped


class PassingFolder:
    """A folder on the disk that this user alone may use."""

    def __init__(self, path: str) -> None:
        self.path = path

    def write(self, name: str, content: bytes) -> str:
        """Writes a file of it, and gives the path."""
        path = os.path.join(self.path, name)
        try:
            with open(path, "wb") as file:
                file.write(content)
        except OSError as error:
            raise _unwritten(error, self.path) from error
        return path

    def append(self, name: str, array: Array) -> int:
        """Writes the elements of an array at the end of a file, in C order, and gives where they begin."""
        try:
            with open(os.path.join(self.path, name), "ab") as file:
                start = -(-file.seek(0, os.SEEK_END) // _PAGE) * _PAGE
                file.truncate(start)
                file.seek(start)
                np.ascontiguousarray(array).tofile(file)
        except OSError as error:
            raise _unwritten(error, self.path) from error
        return start


@contextmanager
def passing_folder() -> Iterator[PassingFolder]:
    """A new folder for files, which are gone afterwards: from disks at once, from what maps them when it is closed."""
    try:
        path = tempfile.mkdtemp(prefix="tensorkeep-")
    except OSError as error:
        raise _unwritten(error, tempfile.gettempdir()) from error
    try:
        yield PassingFolder(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _unwritten(error: OSError, folder: str) -> StorageError:
    return StorageError(f'temporary files cannot be written in "{folder}": {error.strerror or error}')


@contextmanager
def passing_file(data: bytes) -> Iterator[str]:
    """The path of a file with these bytes, which only this user may read, and which is gone after the block."""
    descriptor, path = tempfile.mkstemp(prefix="tensorkeep-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        yield path
    finally:
        with suppress(OSError):
            os.unlink(path)
