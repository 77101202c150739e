"""Files and folders with TensorFlow's manners: what `tf.gfile` and `tf.io.gfile` stand on.

Paths are those of `places`; errors are TensorFlow's. Names in a folder come sorted. Two things are safer than there:
a file copied onto itself keeps its contents, and a folder is removed without what symbolic links in it lead to.
"""

from __future__ import annotations

import os
import posixpath
import stat as modes
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from tensorkeep.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingFileError,
    NotFoundError,
    TensorKeepError,
)
from tensorkeep.io.coding.text_and_bytes import PathOrBytes
from tensorkeep.io.files import gfile_stores
from tensorkeep.io.files.directories import copy_file
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability
from tensorkeep.io.files.gfile_stores import any_in_store, store_url
from tensorkeep.io.files.globbing import matching_paths
from tensorkeep.io.files.paths import SCHEMES
from tensorkeep.io.files.places import explain_system_errors, place_of, text_of

_SECOND: Final = 10**9


@dataclass(frozen=True, slots=True)
class FileStatistics:
    """Size, time of the last change (nanoseconds since 1970, of a whole second), and kind of a file."""

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: PathOrBytes) -> bool:
    """Whether there is a file or folder."""
    if (url := store_url(path)) is not None:
        return FILES.exists(url)
    return os.path.exists(place_of(path))


def is_directory(path: PathOrBytes) -> bool:
    """Whether there is a folder; a path of a store that is not there leads to none."""
    given = text_of(path)
    if (url := store_url(path)) is not None:
        return FILES.is_directory(url)
    try:
        return os.path.isdir(place_of(given))
    except TensorKeepError:
        return False


def statistics(path: PathOrBytes) -> FileStatistics:
    """What is known of a file or folder."""
    if (url := store_url(path)) is not None:
        size, time, is_folder = gfile_stores.size_and_time(url)
        return FileStatistics(size, int(time) * _SECOND, is_folder)
    with explain_system_errors(path):
        found = os.stat(place_of(path))
    return FileStatistics(found.st_size, int(found.st_mtime) * _SECOND, modes.S_ISDIR(found.st_mode))


def list_directory(path: PathOrBytes) -> list[str]:
    """The names in a folder, sorted."""
    if not is_directory(path):
        raise MissingFileError(f"Could not find directory {path}")  # type: ignore[str-bytes-safe]
    if (url := store_url(path)) is not None:
        return list(FILES.list(url))
    with explain_system_errors(path):
        return sorted(os.listdir(place_of(path)))


def glob(pattern: PathOrBytes | Iterable[PathOrBytes]) -> list[str]:
    """The paths that match a pattern or, one after the other, several."""
    patterns = [pattern] if isinstance(pattern, str | bytes | os.PathLike) else pattern
    return [path for each in patterns for path in _matching(text_of(each))]


def _matching(pattern: str) -> list[str]:
    place_of(pattern)  # a store that is not there holds no files to match
    return matching_paths(pattern, exists=exists, names_in=_names_in)


def _names_in(path: str) -> list[str]:
    return list_directory(path) if is_directory(path) else []


def make_directory(path: PathOrBytes) -> None:
    """Makes a folder in one that is there. Fine if there is something of that name already."""
    if (url := store_url(path)) is not None:
        gfile_stores.make_directory(url)
    elif place := place_of(path):
        with explain_system_errors(path):
            try:
                os.mkdir(place)
            except FileExistsError:
                return


def make_directories(path: PathOrBytes) -> None:
    """Makes a folder and those above it. Fine if it is there already."""
    if (url := store_url(path)) is not None:
        gfile_stores.make_directories(url)
        return
    missing, place = [], place_of(path)
    while place and not os.path.exists(place):
        missing.append(place)
        place = posixpath.dirname(place)
    if place and not os.path.isdir(place):
        raise FailedPreconditionError(f"{place} is not a directory")
    for folder in reversed(missing):
        make_directory(folder)


def remove(path: PathOrBytes) -> None:
    """Removes a file."""
    if (url := store_url(path)) is not None:
        FILES.delete(url)
        return
    with explain_system_errors(path):
        os.unlink(place_of(path))


def rename(source: PathOrBytes, target: PathOrBytes, overwrite: bool = False) -> None:
    """Gives a file or folder another name."""
    if any_in_store(source, target):
        gfile_stores.rename(source, target, overwrite)
        return
    origin, place = place_of(source), place_of(target)
    _check_free(place, overwrite)
    with explain_system_errors(source):
        os.replace(origin, place)


def copy(source: PathOrBytes, target: PathOrBytes, overwrite: bool = False) -> None:
    """Copies a file, with its permissions. The copy appears whole or not at all."""
    if any_in_store(source, target):
        gfile_stores.copy(source, target, overwrite)
        return
    origin, place = place_of(source), os.path.realpath(place_of(target))
    _check_free(place, overwrite)
    with explain_system_errors(source):
        mode = os.stat(origin).st_mode
    if modes.S_ISDIR(mode):
        raise InvalidArgumentError(f"{text_of(source)}; Is a directory: only files are copied")
    with explain_system_errors(target):
        _copy_over(origin, place, modes.S_IMODE(mode))


def _copy_over(origin: str, place: str, mode: int) -> None:
    """Replaces a file; into what is no file, such as a pipe or a device, the bytes are written."""
    os.stat(posixpath.dirname(place))  # so that a folder that is missing is the system's to report
    if not os.path.exists(place):
        copy_file(FILES, origin, place, Durability.CACHE)
        os.chmod(place, mode)
    elif not os.path.isfile(place):
        with open(origin, "rb") as reader, open(place, "wb") as writer:
            while piece := reader.read(1 << 20):
                writer.write(piece)
    elif not os.path.samefile(origin, place):
        kept = modes.S_IMODE(os.stat(place).st_mode)
        copy_file(FILES, origin, place, Durability.CACHE)
        os.chmod(place, kept)


def _check_free(place: str, overwrite: bool) -> None:
    if not overwrite and os.path.exists(place):
        raise AlreadyExistsError("file already exists")


def remove_tree(path: PathOrBytes) -> None:
    """Removes a file, or a folder and all that is in it; of symbolic links, the links."""
    if (url := store_url(path)) is not None:
        gfile_stores.remove_tree(url)
        return
    place = place_of(path)
    if not os.path.lexists(place):
        raise MissingFileError(f"{text_of(path)} not found")
    with explain_system_errors(path):
        _remove_below(place)


def _remove_below(place: str) -> None:
    if os.path.islink(place) or not os.path.isdir(place):
        os.unlink(place)
        return
    for name in os.listdir(place):
        _remove_below(posixpath.join(place, name))
    os.rmdir(place)


def walk(
    top: PathOrBytes, top_down: bool = True, on_error: Callable[[TensorKeepError], object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """For a folder and each one below it: its path, the names of folders in it, and those of files.

    A caller that goes from the top may take names out of the list of folders, and they are not entered. A folder that
    is not there is reported to `on_error`, and passed over.
    """
    path = text_of(top) if isinstance(top, str | bytes | os.PathLike) else str(top)
    try:
        names = list_directory(path)
    except NotFoundError as error:
        if on_error is not None:
            on_error(error)
        return
    kinds = {name: is_directory(posixpath.join(path, name)) for name in names}
    folders = [name for name in names if kinds[name]]
    here = (path, folders, [name for name in names if not kinds[name]])
    if top_down:
        yield here
    for folder in folders:
        yield from walk(posixpath.join(path, folder), top_down, on_error)
    if not top_down:
        yield here


def join(path: PathOrBytes, *paths: PathOrBytes) -> str | bytes:
    """Parts of a path as one: text if they are text, bytes if they are bytes."""
    joined: str | bytes = posixpath.join(path, *paths)  # type: ignore[arg-type]
    return joined


def registered_schemes() -> list[str]:
    """The schemes of paths that lead somewhere."""
    return list(SCHEMES)
