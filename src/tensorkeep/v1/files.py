"""Files and folders: `tf.gfile`, with the names of TensorFlow 1, and `tf.io.gfile`, with those of TensorFlow 2."""

# ruff: noqa: N802 - the names are TensorFlow's

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from tensorkeep.io.files import gfile

# ---------------------------------------------------------------------------------------------------- tf.gfile


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    gfile.copy(oldpath, newpath, overwrite)


def DeleteRecursively(dirname: Any) -> None:
    gfile.remove_tree(dirname)


def Exists(filename: Any) -> bool:
    return gfile.exists(filename)


def Glob(filename: Any) -> list[str]:
    return gfile.glob(filename)


def IsDirectory(dirname: Any) -> bool:
    return gfile.is_directory(dirname)


def ListDirectory(dirname: Any) -> list[str]:
    return gfile.list_directory(dirname)


def MakeDirs(dirname: Any) -> None:
    gfile.make_directories(dirname)


def MkDir(dirname: Any) -> None:
    gfile.make_directory(dirname)


def Remove(filename: Any) -> None:
    gfile.remove(filename)


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    gfile.rename(oldname, newname, overwrite)


def Stat(filename: Any) -> gfile.FileStatistics:
    return gfile.statistics(filename)


def Walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    return gfile.walk(top, in_order)


# ------------------------------------------------------------------------------------------------- tf.io.gfile


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
