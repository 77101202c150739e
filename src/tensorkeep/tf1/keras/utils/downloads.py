"""Files by URL, kept in a folder: `get_file`. Nothing is fetched from a network; `file://` URLs are copied."""

from __future__ import annotations

import hashlib
import posixpath
from typing import Any
from urllib.parse import unquote, urlsplit

from tensorkeep.errors import DataLossError, MissingFileError
from tensorkeep.io.files.archives import extract_archive
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, atomic_write, path_text
from tensorkeep.io.files.places import home_directory


def get_file(
    fname: PathLike,
    origin: str,
    untar: bool = False,
    md5_hash: str | None = None,
    file_hash: str | None = None,
    cache_subdir: str = "datasets",
    hash_algorithm: str = "auto",
    extract: bool = False,
    archive_format: str = "auto",
    cache_dir: PathLike | None = None,
    *,
    fs: FileSystem = FILES,
) -> str:
    """The path of a file in the folder of kept ones, `~/.keras/datasets` unless told otherwise.

    What is not there is copied if the origin is a `file://` URL; else an error says which file to put where.
    """
    folder = posixpath.join(path_text(cache_dir) if cache_dir else f"{home_directory()}/.keras", cache_subdir)
    if untar and fs.is_directory(unpacked := posixpath.join(folder, path_text(fname))):
        return unpacked
    path = posixpath.join(folder, path_text(fname) + (".tar.gz" if untar else ""))
    wanted = file_hash or md5_hash
    algorithm = "md5" if file_hash is None and md5_hash is not None else hash_algorithm
    if not fs.exists(path):
        fs.make_directory(posixpath.dirname(path))
        atomic_write(fs, path, _fetch_file(origin, path, fs), Durability.CACHE)
    if wanted is not None:
        _check(path, wanted, algorithm, fs)
    if untar or extract:
        extract_archive(path, folder)
    return path.removesuffix(".tar.gz") if untar and path.endswith(".tar.gz") else path


def _fetch_file(origin: str, path: str, fs: FileSystem) -> bytes:
    parts = urlsplit(origin)
    if parts.scheme not in ("", "file"):
        raise MissingFileError(
            f'"{path}" does not exist, and nothing is fetched from networks here: get {origin} by other means, and put '
            "it there"
        )
    source = unquote(parts.path) if parts.scheme else origin
    return read_bytes(source, fs)


def read_bytes(path: str, fs: FileSystem = FILES) -> bytes:
    """All of a file."""
    file = fs.open(path)
    try:
        return bytes(file.read(0, file.size))
    finally:
        file.close()


def _check(path: str, wanted: str, algorithm: str, fs: FileSystem) -> None:
    kind = "sha256" if algorithm == "sha256" or (algorithm == "auto" and len(wanted) == 64) else "md5"
    found: Any = hashlib.new(kind, read_bytes(path, fs), usedforsecurity=False).hexdigest()
    if found != wanted:
        raise DataLossError(f'"{path}": its {kind} is {found}, expected {wanted}. Delete it, and get it anew')
