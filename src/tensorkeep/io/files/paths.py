"""How paths are spelled: with forward slashes, on Windows too.

Windows takes both slashes; the rest of the package knows one. So a path that comes from outside, from a program, from
the system or from a file, has its slashes turned there (`C:\\run\\model` is `C:/run/model`), and what is asked about a
path (whether it is absolute, whether a name that a stranger's file gives stays inside a folder) also knows drives. On
other systems a backslash is a character like any other, and `C:` a name.

Some begin with a scheme, such as `file:///models/run` or `s3://bucket/run`; what is served is said once, here:

    path = scheme "://" host "/" rest     a scheme has two characters or more, as `C://` is a drive of Windows
         | anything else                  a plain path of this machine

`file://` is this machine. `STORE_SCHEMES` are those of object stores, whose paths stay URLs as they go through the
package; nothing else may take them for plain ones, for `s3:` would become a folder on the disk, and whoever wrote there
would believe it was in the store. Every other scheme is refused.
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
    plain = posixpath.isabs(with_slashes(path, windows)) or (windows and _DRIVE.match(path) is not None)
    return plain or has_scheme(path)


def absolute_path(path: str) -> str:
    """The path, taken from the folder that the program runs in unless it is absolute. Links stay links."""
    return path if has_scheme(path) else with_slashes(os.path.abspath(path))


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


STORE_SCHEMES: Final = ("s3", "gs", "az", "abfs", "abfss", "http", "https", "memory")
"""The schemes of object stores."""

SCHEMES: Final = ("", "file", *STORE_SCHEMES)
"""What may stand before `://`, and nothing at all."""

_SCHEME: Final = re.compile(r"([a-zA-Z][0-9a-zA-Z.+-]+)://([^/]*)(.*)", re.DOTALL)
_HOSTS: Final = ("", "localhost")


def split_scheme(path: str) -> tuple[str, str, str] | None:
    """The scheme, the host or bucket and the rest of a path that has a scheme; None of a plain one."""
    parts = _SCHEME.match(path) if "://" in path else None
    return None if parts is None else (parts[1].lower(), parts[2], parts[3])


def has_scheme(path: str) -> bool:
    """Whether a path begins with a scheme, served or not."""
    return "://" in path and _SCHEME.match(path) is not None


def is_in_store(path: str) -> bool:
    """Whether a path is the URL of something in an object store."""
    parts = split_scheme(path)
    return parts is not None and parts[0] in STORE_SCHEMES


def leads_elsewhere(path: str, folder: str) -> bool:
    """Whether a path that a file gives names another store or bucket than that of the folder which the file is in.

    It is not followed: a file must not make a program talk to a server that nobody named to it.
    """
    there, here = split_scheme(path), split_scheme(folder)
    return there is not None and there[0] != "file" and (here is None or there[:2] != here[:2])


def tidied_path(path: str) -> str:
    """The path without `.`, `..` and doubled slashes, as far as that can be told without a look at the disk."""
    parts = split_scheme(path)
    if parts is None:
        return posixpath.normpath(path)
    rest = posixpath.normpath(f"/{parts[2].lstrip('/')}")
    return f"{parts[0]}://{parts[1]}{rest if rest != '/' else ''}"


def require_plain(path: str) -> None:
    """UnimplementedError for a URL of a store, InvalidArgumentError for a scheme that had to be taken off."""
    if is_in_store(path):
        raise UnimplementedError(f'"{path}" is in a store; a path of this machine is wanted here')
    if without_scheme(path) != path:
        raise InvalidArgumentError(f'"{path}": a plain path is wanted here, "{without_scheme(path)}"')


def without_scheme(path: str) -> str:
    """The plain path that `path` leads to; of a store, its URL. UnimplementedError for what is not served."""
    parts = split_scheme(path)
    if parts is None:
        return path
    scheme, host, rest = parts
    if scheme in STORE_SCHEMES:
        return f"{scheme}://{host}{rest}"
    if scheme not in SCHEMES:  # begins with TensorFlow's words
        raise UnimplementedError(
            f"File system scheme '{scheme}' not implemented (file: '{path}'): plain paths, file:///… and "
            f"{', '.join(f'{known}://' for known in STORE_SCHEMES)} are served; copy what is there to one of them"
        )
    if host not in _HOSTS:
        raise UnimplementedError(
            f"'{path}' names a file of the machine \"{host}\"; those of this one are file:///…, with three slashes"
        )
    return rest or "/"
