"""The files of an SSD tier as parts of their checkpoint: which they are, and that they go when it goes.

What they look like: ssd_records.py. They are told by the tables that the checkpoint's index names, not by how their
names begin: "m-7-e-ssd_record" may belong to "m-7", or to "m".
"""

from __future__ import annotations

import posixpath
import warnings
from collections.abc import Iterable
from typing import Final

from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.finding.file_names import INDEX_SUFFIX, index_path, is_record_prefix, parse_data_path
from tensorkeep.checkpoint.finding.files import remove_checkpoint
from tensorkeep.checkpoint.reader import ReadOptions
from tensorkeep.checkpoint.saving import CheckpointFormat
from tensorkeep.embedding.stored.embeddings import stems_in
from tensorkeep.embedding.stored.naming import KEYS, RECORD_FOLDER, VALUES, record_folder, record_path
from tensorkeep.errors import MissingFileError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, path_text, prepare_directory

_ROWS: Final = ".emb"


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
            files += files_of_records(fs, folder, base, stem)
    return files


def files_of_records(fs: FileSystem, folder: str, base: str, stem: str) -> list[str]:
    """The files of records of a stem that lie beside the prefix `base` of a folder, named from there."""
    bundle, inside = record_path(base, stem), record_folder(base, stem)
    names = fs.list(folder)
    files = [name for name in (index_path(bundle),) if name in names]
    files += [name for name in names if (parsed := parse_data_path(name)) and parsed[0] == bundle]
    if fs.is_directory(place := posixpath.join(folder, inside)):
        files += [f"{inside}/{item}" for item in fs.list(place) if item.endswith(_ROWS)]
    return files


def delete_records(fs: FileSystem, paths: Iterable[str]) -> list[str]:
    """Deletes files, and then the folders of records that this leaves empty; says which files it deleted."""
    deleted: list[str] = []
    for path in paths:
        try:
            fs.delete(path)
            deleted.append(path)
        except MissingFileError:
            continue
    _remove_empty_folders(fs, deleted)
    return deleted


def _remove_empty_folders(fs: FileSystem, files: Iterable[str]) -> None:
    """Removes the folders of records that are empty now that these files are gone."""
    for inside in {posixpath.dirname(path) for path in files if is_record_file(path)}:
        if not fs.list(inside):
            fs.remove_directory(inside)


def link_records(fs: FileSystem, source: str, target: str, stem: str) -> None:
    """Gives the records of a stem, if there are any, a second name beside another checkpoint."""
    folder, base = posixpath.split(source)
    for name in files_of_records(fs, folder, base, stem):
        path, place = posixpath.join(folder, name), f"{target}{name[len(base) :]}"
        if fs.canonical(path) == fs.canonical(place):
            continue
        fs.make_directory(posixpath.dirname(place))
        if fs.exists(place):
            fs.delete(place)
        fs.link(path, place)


def move_records(fs: FileSystem, source: str, target: str, durability: Durability) -> None:
    """Gives the records of a checkpoint, a part of a sharded save, the names of another one's.

    DeepRec does it when it merges the parts (MoveSsdFiles). What says where the others lie comes last.
    """
    folder, base = posixpath.split(source)
    if not fs.is_directory(folder):
        return
    files = record_files(fs, source)
    for name in reversed(files):
        place = f"{target}{name[len(base) :]}"
        prepare_directory(fs, posixpath.dirname(place), durability)
        fs.rename(posixpath.join(folder, name), place)
        if durability is Durability.DISK:
            fs.sync_directory(posixpath.dirname(place))
    _remove_empty_folders(fs, [posixpath.join(folder, name) for name in files])


def remove_checkpoint_with_records(
    prefix: PathLike,
    format: CheckpointFormat = CheckpointFormat.V2,
    *,
    meta_suffix: str = "meta",
    fs: FileSystem = FILES,
) -> list[str]:
    """Deletes the files of a checkpoint, and those of its tables that lie beside it; says which it deleted.

    Its index goes first: without the records it would be taken for a whole checkpoint with fewer rows. What a process
    that is killed then leaves behind no checkpoint speaks of, and `find_garbage` finds.
    """
    text = path_text(prefix)
    folder = posixpath.dirname(text)
    names = record_files(fs, text) if format is CheckpointFormat.V2 and fs.is_directory(folder) else []
    records = [posixpath.join(folder, name) for name in names]
    deleted = remove_checkpoint(text, format, meta_suffix=meta_suffix, beside=records, fs=fs)
    _remove_empty_folders(fs, [path for path in deleted if path in records])
    return deleted
