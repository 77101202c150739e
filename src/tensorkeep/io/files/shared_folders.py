"""Folders that processes share as long as one of them lives: in memory where the system has a place for that."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from tensorkeep.errors import StorageError

_IN_MEMORY: Final = "/dev/shm"  # of Linux


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
