"""The files of an SSD tier as parts of their checkpoint: which they are, and that they go when it goes.

What they look like: ssd_records.py. They are told by the tables that the checkpoint's index names, not by how their
names begin: "m-7-e-ssd_record" may belong to "m-7", or to "m".
"""

from __future__ import annotations

import posixpath
import warnings
from collections.abc import Iterable
from typing import Final

from tensorkeep.checkpoint.bundle_reader import BundleReader
from tensorkeep.checkpoint.finding import remove_checkpoint
from tensorkeep.checkpoint.naming import INDEX_SUFFIX, index_path, parse_data_path
from tensorkeep.checkpoint.reader import ReadOptions
from tensorkeep.checkpoint.saving import CheckpointFormat
from tensorkeep.embedding.naming import KEYS, RECORD_FOLDER, RECORDS, VALUES, record_folder, record_path
from tensorkeep.embedding.stored import stems_in
from tensorkeep.errors import MissingFileError, TensorKeepError
from tensorkeep.io.filesystem import FileSystem, PathLike, path_text
from tensorkeep.io.local import LOCAL

__all__ = ["delete_records", "is_record_prefix", "record_files", "remove_checkpoint_with_records"]

_ROWS: Final = ".emb"


def is_record_prefix(prefix: str) -> bool:
    """Whether a bundle of that prefix says where records lie, and so is part of another checkpoint."""
    return prefix.endswith(RECORDS)


def is_record_file(name: str) -> bool:
    """Whether a name, from the folder of a checkpoint, is that of a file in a folder of records."""
    return posixpath.dirname(name).endswith(RECORD_FOLDER) and name.endswith(_ROWS)


def record_files(fs: FileSystem, prefix: str) -> list[str]:
    """The files of records of a checkpoint, named from its folder, those that say where the others lie first.

    If its index cannot be read, a warning says that they stay.
    """
    folder, base = posixpath.split(prefix)
    names = fs.list(folder)
    bundles = {name.removesuffix(INDEX_SUFFIX) for name in names if name.endswith(INDEX_SUFFIX)}
    likely = {name for name in bundles if name.startswith(f"{base}-") and is_record_prefix(name)}
    if not likely or not fs.exists(index_path(prefix)):
        return []
    try:
        with BundleReader(prefix, ReadOptions(), fs=fs) as reader:
            stems = stems_in(reader, KEYS, VALUES)
    except TensorKeepError as error:
        warnings.warn(f'"{prefix}": the records of its tables are not deleted with it: {error}', stacklevel=2)
        return []
    files: list[str] = []
    for stem in sorted(stems):
        if (bundle := record_path(base, stem)) in likely:
            likely.discard(bundle)  # "a/b" and "a_b" have the same one
            files.append(index_path(bundle))
            files += [name for name in names if (found := parse_data_path(name)) and found[0] == bundle]
            files += _files_in(fs, folder, record_folder(base, stem))
    return files


def _files_in(fs: FileSystem, folder: str, name: str) -> list[str]:
    inside = posixpath.join(folder, name)
    return [f"{name}/{item}" for item in fs.list(inside) if item.endswith(_ROWS)] if fs.is_directory(inside) else []


def delete_records(fs: FileSystem, paths: Iterable[str]) -> list[str]:
    """Deletes files, and then the folders of records that this leaves empty; says which files it deleted."""
    deleted: list[str] = []
    for path in paths:
        try:
            fs.delete(path)
            deleted.append(path)
        except MissingFileError:
            continue
    for inside in {posixpath.dirname(path) for path in deleted if is_record_file(path)}:
        if not fs.list(inside):
            fs.remove_directory(inside)
    return deleted


def remove_checkpoint_with_records(
    prefix: PathLike,
    format: CheckpointFormat = CheckpointFormat.V2,
    *,
    meta_suffix: str = "meta",
    fs: FileSystem = LOCAL,
) -> list[str]:
    """Deletes the files of a checkpoint, and those of its tables that lie beside it; says which it deleted."""
    text = path_text(prefix)
    folder = posixpath.dirname(text)
    records = record_files(fs, text) if format is CheckpointFormat.V2 and fs.is_directory(folder) else []
    deleted = remove_checkpoint(text, format, meta_suffix=meta_suffix, fs=fs)
    return deleted + delete_records(fs, [posixpath.join(folder, name) for name in records])
