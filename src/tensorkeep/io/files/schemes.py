"""Paths that begin with a scheme, such as `file:///models/run` or `s3://bucket/run`: what is served, said once.

    path = scheme "://" host "/" rest     a scheme has two characters or more, as `C://` is a drive of Windows
         | anything else                  a plain path of this machine

`file://` is this machine. Every other scheme names a store that nobody here can reach: taken for a plain path, it
would become a folder called `s3:` on the disk, and whoever wrote there would believe it was in the store.
"""

from __future__ import annotations

import re
from typing import Final

from tensorkeep.errors import InvalidArgumentError, UnimplementedError

SCHEMES: Final = ("", "file")
"""What may stand before `://`, and nothing at all."""

_SCHEME: Final = re.compile(r"([a-zA-Z][0-9a-zA-Z.+-]+)://([^/]*)(.*)", re.DOTALL)
_HOSTS: Final = ("", "localhost")


def has_scheme(path: str) -> bool:
    """Whether a path begins with a scheme, served or not."""
    return "://" in path and _SCHEME.match(path) is not None


def require_plain(path: str) -> None:
    """UnimplementedError for a scheme that is not served, InvalidArgumentError for one that had to be taken off."""
    if without_scheme(path) != path:
        raise InvalidArgumentError(f'"{path}": a plain path is wanted here, "{without_scheme(path)}"')


def without_scheme(path: str) -> str:
    """The plain path that `path` leads to. UnimplementedError for a scheme, or a machine, that is not served."""
    parts = _SCHEME.match(path) if "://" in path else None
    if parts is None:
        return path
    if parts[1] not in SCHEMES:  # begins with TensorFlow's words
        raise UnimplementedError(
            f"File system scheme '{parts[1]}' not implemented (file: '{path}'): plain paths and file:///… are served; "
            f"copy what is there to a local folder, or write to one and copy that"
        )
    if parts[2] not in _HOSTS:
        raise UnimplementedError(
            f"'{path}' names a file of the machine \"{parts[2]}\"; those of this one are file:///…, with three slashes"
        )
    return parts[3] or "/"
