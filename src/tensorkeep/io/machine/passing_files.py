"""Files for libraries that take nothing else: theirs for a moment, and nobody else's."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress


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
