"""`tensorflow.python.lib.io.file_io`: files and folders, under the oldest of their three sets of names."""

from __future__ import annotations

from collections.abc import Iterator

from tensorkeep.errors import NotFoundError
from tensorkeep.io.coding.text_and_bytes import PathOrBytes
from tensorkeep.io.files import gfile
from tensorkeep.io.files.gfile_object import GFile as FileIO
from tensorkeep.io.files.places import text_of


def file_exists(filename: PathOrBytes) -> bool:
    return gfile.exists(filename)


def file_exists_v2(path: PathOrBytes) -> bool:
    return gfile.exists(path)


def delete_file(filename: PathOrBytes) -> None:
    gfile.remove(filename)


def read_file_to_string(filename: PathOrBytes, binary_mode: bool = False) -> str | bytes:
    """What a file holds, as text or as bytes."""
    with FileIO(filename, "rb" if binary_mode else "r") as file:
        found: str | bytes = file.read()
    return found


def write_string_to_file(filename: PathOrBytes, file_content: str | bytes) -> None:
    """Makes a file that holds a text or bytes."""
    with FileIO(filename, "w") as file:
        file.write(file_content)


def atomic_write_string_to_file(filename: PathOrBytes, contents: str | bytes, overwrite: bool = True) -> None:
    """Makes a file that holds a text or bytes, and is there as a whole or not at all."""
    temporary = f"{text_of(filename)}.tmp"
    write_string_to_file(temporary, contents)
    gfile.rename(temporary, filename, overwrite)


def get_matching_files(filename: PathOrBytes | list[PathOrBytes]) -> list[str]:
    return gfile.glob(filename)


def create_dir(dirname: PathOrBytes) -> None:
    gfile.make_directory(dirname)


def recursive_create_dir(dirname: PathOrBytes) -> None:
    gfile.make_directories(dirname)


def copy(oldpath: PathOrBytes, newpath: PathOrBytes, overwrite: bool = False) -> None:
    gfile.copy(oldpath, newpath, overwrite)


def rename(oldname: PathOrBytes, newname: PathOrBytes, overwrite: bool = False) -> None:
    gfile.rename(oldname, newname, overwrite)


def delete_recursively(dirname: PathOrBytes) -> None:
    gfile.remove_tree(dirname)


def is_directory(dirname: PathOrBytes) -> bool:
    return gfile.is_directory(dirname)


def list_directory(dirname: PathOrBytes) -> list[str]:
    """The names in a folder; NotFoundError if there is no such folder."""
    if not gfile.is_directory(dirname):
        raise NotFoundError(f"Could not find directory {dirname!s}")
    return gfile.list_directory(dirname)


def walk(top: PathOrBytes, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    return gfile.walk(top, in_order)


def stat(filename: PathOrBytes) -> gfile.FileStatistics:
    return gfile.statistics(filename)
