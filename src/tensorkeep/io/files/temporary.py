"""Folders for what is needed as long as this process lives, or as long as one of several that share it does."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tensorkeep.errors import StorageError

_IN_MEMORY: Final = "/dev/shm"  # of Linux


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
