"""`tf.gfile`: files and folders, under the names of TensorFlow 1."""

# ruff: noqa: N802 - the names are TensorFlow's

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tensorkeep.io.files import gfile
from tensorkeep.io.files.gfile_object import GFile

FastGFile = Open = GFile


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


__all__ = [
    "Copy",
    "DeleteRecursively",
    "Exists",
    "FastGFile",
    "GFile",
    "Glob",
    "IsDirectory",
    "ListDirectory",
    "MakeDirs",
    "MkDir",
    "Open",
    "Remove",
    "Rename",
    "Stat",
    "Walk",
]
