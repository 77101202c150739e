"""Files and folders: `tf.gfile`, with the names of TensorFlow 1, and `tf.io.gfile`, with those of TensorFlow 2."""

# ruff: noqa: N802 - the names are TensorFlow's

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from tensorkeep.io.coding.text_and_bytes import PathOrBytes
from tensorkeep.io.files import gfile

# ---------------------------------------------------------------------------------------------------- tf.gfile


def Copy(oldpath: PathOrBytes, newpath: PathOrBytes, overwrite: bool = False) -> None:
    gfile.copy(oldpath, newpath, overwrite)


def DeleteRecursively(dirname: PathOrBytes) -> None:
    gfile.remove_tree(dirname)


def Exists(filename: PathOrBytes) -> bool:
    return gfile.exists(filename)


def Glob(filename: PathOrBytes | Iterable[PathOrBytes]) -> list[str]:
    return gfile.glob(filename)


def IsDirectory(dirname: PathOrBytes) -> bool:
    return gfile.is_directory(dirname)


def ListDirectory(dirname: PathOrBytes) -> list[str]:
    return gfile.list_directory(dirname)


def MakeDirs(dirname: PathOrBytes) -> None:
    gfile.make_directories(dirname)


def MkDir(dirname: PathOrBytes) -> None:
    gfile.make_directory(dirname)


def Remove(filename: PathOrBytes) -> None:
    gfile.remove(filename)


def Rename(oldname: PathOrBytes, newname: PathOrBytes, overwrite: bool = False) -> None:
    gfile.rename(oldname, newname, overwrite)


def Stat(filename: PathOrBytes) -> gfile.FileStatistics:
    return gfile.statistics(filename)


def Walk(top: PathOrBytes, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    return gfile.walk(top, in_order)


# ------------------------------------------------------------------------------------------------- tf.io.gfile


def copy(src: PathOrBytes, dst: PathOrBytes, overwrite: bool = False) -> None:
    gfile.copy(src, dst, overwrite)


def exists(path: PathOrBytes) -> bool:
    return gfile.exists(path)


def get_registered_schemes() -> list[str]:
    return gfile.registered_schemes()


def glob(pattern: str | Iterable[str]) -> list[str]:
    return gfile.glob(pattern)


def isdir(path: PathOrBytes) -> bool:
    return gfile.is_directory(path)


def join(path: PathOrBytes, *paths: PathOrBytes) -> str | bytes:
    return gfile.join(path, *paths)


def listdir(path: PathOrBytes) -> list[str]:
    return gfile.list_directory(path)


def makedirs(path: PathOrBytes) -> None:
    gfile.make_directories(path)


def mkdir(path: PathOrBytes) -> None:
    gfile.make_directory(path)


def remove(path: PathOrBytes) -> None:
    gfile.remove(path)


def rename(src: PathOrBytes, dst: PathOrBytes, overwrite: bool = False) -> None:
    gfile.rename(src, dst, overwrite)


def rmtree(path: PathOrBytes) -> None:
    gfile.remove_tree(path)


def stat(path: PathOrBytes) -> gfile.FileStatistics:
    return gfile.statistics(path)


def walk(
    top: PathOrBytes, topdown: bool = True, onerror: Callable[..., object] | None = None
) -> Iterator[tuple[str, list[str], list[str]]]:
    return gfile.walk(top, topdown, onerror)
