"""Text for bytes and bytes for text, wherever a program may give either."""

from __future__ import annotations

import codecs
import os
from typing import TypeAlias

from tensorkeep.errors import WrongTypeError

PathOrBytes: TypeAlias = str | bytes | os.PathLike[str] | os.PathLike[bytes]
"""What a program may give as a path."""


def as_bytes(bytes_or_text: str | bytes | bytearray, encoding: str = "utf-8") -> bytes:
    """The bytes of text; bytes stay what they are. WrongTypeError for anything else, LookupError for the encoding."""
    name = codecs.lookup(encoding).name
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(name)
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text)
    raise WrongTypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: str | bytes, encoding: str = "utf-8") -> str:
    """The text that bytes say; text stays what it is. WrongTypeError for anything else."""
    name = codecs.lookup(encoding).name
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(name)
    raise WrongTypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text_of_any(value: object, encoding: str = "utf-8") -> str:
    """The text that bytes say, and `str` of anything else."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_text(path: PathOrBytes) -> str | bytes:
    """An `os.PathLike` as text; anything else as it is."""
    return as_text_of_any(os.fspath(path)) if isinstance(path, os.PathLike) else path


def path_to_bytes(path: PathOrBytes) -> bytes:
    """An `os.PathLike`, text or bytes as bytes."""
    return as_bytes(os.fspath(path) if isinstance(path, os.PathLike) else path)
