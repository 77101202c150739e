"""Folders for what is needed as long as the process lives."""

from __future__ import annotations

import atexit
import shutil
import tempfile

from tensorkeep.errors import StorageError


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
