"""What saves that died leave beside checkpoints: parts of a sharded save, and records of an SSD tier."""

from __future__ import annotations

import posixpath
import re
from typing import Final

from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.finding.file_names import INDEX_SUFFIX, RECORDS, is_record_prefix, parse_data_path
from tensorkeep.checkpoint.reader import ReadOptions
from tensorkeep.embedding.stored.embeddings import stems_in
from tensorkeep.embedding.stored.naming import KEYS, RECORD_FOLDER, VALUES, record_path
from tensorkeep.embedding.stored.record_files import is_record_file
from tensorkeep.errors import TensorKeepError
from tensorkeep.io.files.directories import files_below
from tensorkeep.io.files.filesystem import FileSystem, is_temporary

_PARTS: Final = "_temp"  # behind the prefix, as TensorFlow's saver has it
_PARTS_FOLDER: Final = re.compile(r".+_temp(_[0-9a-f]{8,})?")  # with a number of its own up to TensorFlow 1.15


def is_parts_folder(path: str) -> bool:
    """Whether a folder is called as one in which a sharded save is collected."""
    return _PARTS_FOLDER.fullmatch(posixpath.basename(path)) is not None


def files_of_save(fs: FileSystem, folder: str) -> list[str]:
    """The files of a folder of parts, or of records, that holds nothing else, by path; none of any other folder."""
    if not fs.is_directory(folder):
        return []
    names = list(files_below(fs, folder))
    paths = [posixpath.join(folder, name) for name in names]
    is_all = all(map(_is_of_part, names)) if is_parts_folder(folder) else all(map(_is_of_records, paths))
    return paths if is_all else []


def _is_of_part(name: str) -> bool:
    """Whether a file, named from the folder of parts, is one of a part or of the records of a part."""
    if not name.startswith("part-"):
        return False
    if posixpath.dirname(name):
        return _is_of_records(name)
    is_complete = parse_data_path(name) is not None or name.endswith(INDEX_SUFFIX)
    return is_complete or ".tempstate" in name or is_temporary(name)


def _is_of_records(path: str) -> bool:
    """Whether a file is one of records, or about to become one."""
    return is_record_file(path) or (posixpath.dirname(path).endswith(RECORD_FOLDER) and is_temporary(path))


def remove_files_of_save(fs: FileSystem, folder: str) -> bool:
    """Removes a folder of parts, or of records, that holds nothing else; says whether it is gone.

    It stays, with what is in it, if somebody is still writing there.
    """
    paths = files_of_save(fs, folder)
    if not paths:
        return False
    for path in sorted(paths, key=lambda path: not is_temporary(path)):  # these tell whether somebody writes
        if not is_temporary(path):
            fs.delete(path)
        elif not fs.delete_abandoned(path):
            return False
    for inside in {posixpath.dirname(path) for path in paths} - {folder}:
        fs.remove_directory(inside)
    fs.remove_directory(folder)
    return True


def remove_parts_of(prefix: str, fs: FileSystem) -> None:
    """Removes what a sharded save to a prefix left when it was killed: before the next one, and under the same lock."""
    try:
        remove_files_of_save(fs, prefix + _PARTS)
    except TensorKeepError:
        return  # tidying never stops a save


def unclaimed_records(fs: FileSystem, folder: str) -> dict[str, list[str]]:
    """Files and folders of records in a folder that no checkpoint there speaks of, by the bundle they belong to.

    What may belong to a checkpoint that cannot be read is not among them.
    """
    names = fs.list(folder)
    records: dict[str, list[str]] = {}
    for name in names:
        if (bundle := _record_bundle(name)) is not None:
            records.setdefault(bundle, []).append(name)
    if not records:
        return {}
    bundles = [name.removesuffix(INDEX_SUFFIX) for name in names if name.endswith(INDEX_SUFFIX)]
    for base in (name for name in bundles if not is_record_prefix(name)):
        claimed = _claimed_by(fs, folder, base)
        for bundle in [name for name in records if name.startswith(f"{base}-")]:
            is_read = f"{bundle}{INDEX_SUFFIX}" in records[bundle]  # a folder alone is read by nobody
            if claimed is None or (bundle in claimed and is_read):
                del records[bundle]
    return records


def _record_bundle(name: str) -> str | None:
    """The bundle of records that a file or folder of this name belongs to."""
    if name.endswith(RECORD_FOLDER):
        return name.removesuffix(RECORD_FOLDER) + RECORDS
    parsed = parse_data_path(name)
    prefix = parsed[0] if parsed else name.removesuffix(INDEX_SUFFIX) if name.endswith(INDEX_SUFFIX) else ""
    return prefix if is_record_prefix(prefix) else None


def _claimed_by(fs: FileSystem, folder: str, base: str) -> set[str] | None:
    """The bundles of records that a checkpoint may have, by its tables; None if it cannot be read."""
    try:
        with BundleReader(posixpath.join(folder, base), ReadOptions(), fs=fs) as reader:
            return {record_path(base, stem) for stem in stems_in(reader, KEYS, VALUES)}
    except TensorKeepError:
        return None
