"""How paths are spelled: with forward slashes, on Windows too.

Windows takes both slashes; the rest of the package knows one. So a path that comes from outside, from a program, from
the system or from a file, has its slashes turned there (`C:\\run\\model` is `C:/run/model`), and what is asked about a
path (whether it is absolute, whether a name that a stranger's file gives stays inside a folder) also knows drives. On
other systems a backslash is a character like any other, and `C:` a name.

Some begin with a scheme, such as `file:///models/run` or `s3://bucket/run`; what is served is said once, here:

    path = scheme "://" host "/" rest     a scheme has two characters or more, as `C://` is a drive of Windows
         | anything else                  a plain path of this machine

`file://` is this machine. Every other scheme names a store that nobody here can reach: taken for a plain path, it
would become a folder called `s3:` on the disk, and whoever wrote there would believe it was in the store.
"""

from __future__ import annotations

import os
import posixpath
import re
from typing import Final

from tensorkeep.errors import InvalidArgumentError, UnimplementedError

IS_WINDOWS: Final = os.sep == "\\"
_DRIVE: Final = re.compile(r"[A-Za-z]:")
_SLASH_BEFORE_DRIVE: Final = re.compile(r"^/(?=[A-Za-z]:)")


def with_slashes(path: str, windows: bool = IS_WINDOWS) -> str:
    """The path, spelled with forward slashes; that of `file:///C:/run` begins with its drive."""
    return _SLASH_BEFORE_DRIVE.sub("", path.replace("\\", "/")) if windows else path


def is_absolute(path: str, windows: bool = IS_WINDOWS) -> bool:
    """Whether a path leads to the same place wherever it is taken from, a drive's own folder included."""
    return posixpath.isabs(with_slashes(path, windows)) or (windows and _DRIVE.match(path) is not None)


def absolute_path(path: str) -> str:
    """The path, taken from the folder that the program runs in unless it is absolute. Links stay links."""
    return with_slashes(os.path.abspath(path))


def join_to_folder(folder: str, path: str, windows: bool = IS_WINDOWS) -> str:
    """The path, taken from a folder unless it is absolute."""
    path = with_slashes(path, windows)
    return path if is_absolute(path, windows) else posixpath.join(folder, path)


def stays_inside(path: str, windows: bool = IS_WINDOWS) -> bool:
    """Whether a path that a file gives leads to something inside the folder that it is taken from."""
    parts = with_slashes(path, windows).split("/")
    # On Windows a colon makes a drive, or another stream of the same file.
    has_colon = windows and ":" in path
    return bool(path) and not is_absolute(path, windows) and ".." not in parts and "\0" not in path and not has_colon


def is_plain_name(name: str, windows: bool = IS_WINDOWS) -> bool:
    """Whether a name that a file gives is that of something in a folder: no path, and not the folder itself."""
    return stays_inside(name, windows) and name != "." and "/" not in with_slashes(name, windows)


def folder_of_system(path: str, windows: bool = IS_WINDOWS) -> str:
    """A folder as the system is told: nothing is where the program is, and a drive alone is its topmost folder."""
    return f"{path}/" if windows and _DRIVE.fullmatch(path) else path or "."


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
