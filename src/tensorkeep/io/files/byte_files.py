"""Bytes as open files, for libraries that read and write nothing else."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import BinaryIO


def file_of(data: bytes) -> BinaryIO:
    """An open file that these bytes are read from."""
    return BytesIO(data)


def bytes_written_by(write: Callable[[BinaryIO], object]) -> bytes:
    """What a function writes to the file that it is given."""
    target = BytesIO()
    write(target)
    return target.getvalue()
