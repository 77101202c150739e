"""How paths are spelled: with forward slashes, on Windows too.

Windows takes both slashes; the rest of the package knows one. So a path that comes from outside, from a program, from
the system or from a file, has its slashes turned there (`C:\\run\\model` is `C:/run/model`), and what is asked about a
path (whether it is absolute, whether a name that a stranger's file gives stays inside a folder) also knows drives. On
other systems a backslash is a character like any other, and `C:` a name.
"""

from __future__ import annotations

import os
import posixpath
import re
from typing import Final

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
