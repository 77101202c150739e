"""`tf.io.gfile`: files and folders, under the names of TensorFlow 2."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tensorkeep.io.files import gfile
from tensorkeep.io.files.gfile_object import GFile


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    gfile.copy(src, dst, overwrite)


def exists(path: Any) -> bool:
    return gfile.exists(path)


def get_registered_schemes() -> list[str]:
    return gfile.registered_schemes()


def glob(pattern: Any) -> list[str]:
    return gfile.glob(pattern)


def isdir(path: Any) -> bool:
    return gfile.is_directory(path)


def join(path: Any, *paths: Any) -> Any:
    return gfile.join(path, *paths)


def listdir(path: Any) -> list[str]:
    return gfile.list_directory(path)


def makedirs(path: Any) -> None:
    gfile.make_directories(path)


def mkdir(path: Any) -> None:
    gfile.make_directory(path)


def remove(path: Any) -> None:
    gfile.remove(path)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    gfile.rename(src, dst, overwrite)


def rmtree(path: Any) -> None:
    gfile.remove_tree(path)


def stat(path: Any) -> gfile.FileStatistics:
    return gfile.statistics(path)


def walk(
    top: Any, topdown: bool = True, onerror: Callable[..., object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    return gfile.walk(top, topdown, onerror)


__all__ = [
    "GFile",
    "copy",
    "exists",
    "get_registered_schemes",
    "glob",
    "isdir",
    "join",
    "listdir",
    "makedirs",
    "mkdir",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]
