"""From what a person types to an open checkpoint."""

from __future__ import annotations

import posixpath
import warnings
from collections.abc import Sequence
from typing import Any, Final

import numpy.typing as npt

from tensorkeep.checkpoint.bundle_reader import BundleReader
from tensorkeep.checkpoint.naming import (
    INDEX_SUFFIX,
    index_path,
    parse_shard_path,
    parse_shard_pattern,
    prefix_of_file,
    shard_path,
    shard_pattern,
)
from tensorkeep.checkpoint.reader import CheckpointReader, ReadOptions, TensorInfo
from tensorkeep.checkpoint.slices import Part
from tensorkeep.checkpoint.state import STATE_FILE, read_checkpoint_state
from tensorkeep.checkpoint.v1 import SliceFileReader
from tensorkeep.errors import InvalidArgumentError, MissingFileError, NotFoundError, TensorKeepError
from tensorkeep.io.filesystem import FileSystem, PathLike, is_temporary, path_text
from tensorkeep.io.local import LOCAL

__all__ = ["latest_checkpoint", "list_tensors", "load_tensor", "load_tensors", "open_checkpoint"]

Array = npt.NDArray[Any]

_MOST_REPORTED: Final = 1000


def open_checkpoint(
    path: PathLike, options: ReadOptions = ReadOptions(), *, fs: FileSystem = LOCAL
) -> CheckpointReader:
    """Opens a checkpoint of any format for reading.

    `path` is the prefix that was saved to. A folder stands for the latest checkpoint in it. One of a checkpoint's
    files stands for the checkpoint, with a warning. Names are taken literally: `*`, `?` and
    `[` have no special meaning, except in the pattern `...-?????-of-00003` by which TensorFlow knows the files of a V1
    checkpoint in several.
    """
    given = path_text(path)
    if not isinstance(options, ReadOptions):
        raise InvalidArgumentError(f"options: expected ReadOptions, got {type(options).__name__}")
    if fs.exists(index_path(given)):
        return BundleReader(given, fs=fs, options=options)
    if fs.is_directory(given):
        return _open_latest(given, options, fs)
    prefix = prefix_of_file(given)
    if prefix is not None and _is_checkpoint(prefix, fs):
        warnings.warn(f'"{given}" is one file of a checkpoint; opening "{prefix}"', stacklevel=2)
        return open_checkpoint(prefix, options, fs=fs)
    if fs.exists(given):
        shard = parse_shard_path(given)
        if shard is None or shard[2] == 1:
            return SliceFileReader(given, fs=fs, options=options)
        pattern = shard_pattern(shard[0], shard[2])
        warnings.warn(f'"{given}" is one file of a checkpoint; opening "{pattern}"', stacklevel=2)
        return _open_slice_files(pattern, options, fs)
    return _open_slice_files(given, options, fs)


def latest_checkpoint(directory: PathLike, filename: str = STATE_FILE, *, fs: FileSystem = LOCAL) -> str | None:
    """The latest checkpoint of a folder: the one its state file names or, if it has none, the newest complete one.

    None if there is neither. If the folder was moved, so that the state file names a place that is no more, the
    checkpoint of that name in the folder is meant.
    """
    folder = path_text(directory)
    state = read_checkpoint_state(folder, filename, fs=fs)
    if state is None:
        return _newest_complete(folder, fs)
    moved = posixpath.join(folder, posixpath.basename(state.latest))
    for prefix in (state.latest, moved):
        if _is_checkpoint(prefix, fs):
            return prefix
    return None


def list_tensors(path: PathLike, *, fs: FileSystem = LOCAL) -> dict[str, TensorInfo]:
    """What a checkpoint holds, in order of name. `path` is as for `open_checkpoint`."""
    with open_checkpoint(path, fs=fs) as reader:
        return dict(reader)


def load_tensor(path: PathLike, name: str, part: Part | None = None, *, fs: FileSystem = LOCAL) -> Array:
    """One tensor of a checkpoint, or a part of it. A name as of a graph's tensor, ending in ":0", will do too."""
    with open_checkpoint(path, fs=fs) as reader:
        if name not in reader and isinstance(name, str):
            name = name.removesuffix(":0")
        return reader.read(name, part)


def load_tensors(path: PathLike, *, fs: FileSystem = LOCAL) -> dict[str, Array]:
    """All tensors of a checkpoint."""
    with open_checkpoint(path, fs=fs) as reader:
        return reader.read_many()


def _open_latest(folder: str, options: ReadOptions, fs: FileSystem) -> CheckpointReader:
    latest = latest_checkpoint(folder, fs=fs)
    if latest is not None:
        return open_checkpoint(latest, options, fs=fs)
    state = read_checkpoint_state(folder, fs=fs)
    if state is not None:
        raise NotFoundError(
            f'"{posixpath.join(folder, STATE_FILE)}" names "{state.latest}" as the latest checkpoint, which does not '
            "exist; name another one by its prefix"
        )
    raise NotFoundError(f'folder "{folder}" holds no checkpoint: neither a "{STATE_FILE}" file nor a complete one')


def _open_slice_files(given: str, options: ReadOptions, fs: FileSystem) -> CheckpointReader:
    """A V1 checkpoint in several files, given by its pattern or by the path that was saved to."""
    found = parse_shard_pattern(given)
    if found is None:
        counts = _shard_counts(given, fs)
        if len(counts) > 1:
            names = ", ".join(f'"{shard_pattern(given, count)}"' for count in counts)
            raise NotFoundError(f'"{given}" could mean any of {names}; say which')
        found = (given, counts[0]) if counts else None
    if found is not None:
        base, count = found
        there = _shards_there(base, count, fs)
        if there:
            # Files that are missing are reported; but a name alone must not make us look for millions of them.
            numbers = sorted(there.union(range(min(count, _MOST_REPORTED))))
            files = [shard_path(base, number, count) for number in numbers]
            return SliceFileReader(shard_pattern(base, count), files, fs=fs, options=options)
    raise MissingFileError(
        f'"{given}" holds no checkpoint: neither "{index_path(given)}" (V2) nor "{given}" (V1) nor '
        f'"{shard_path(given, 0, 1)}" or the like (V1 in several files) exists{_similar(given, fs)}'
    )


def _shard_counts(path: str, fs: FileSystem) -> list[int]:
    """How many files V1 checkpoints saved to that path have, going by the names there are."""
    base = posixpath.basename(path)
    parsed = (parse_shard_path(name) for name in _names_beside(path, fs) or ())
    return sorted({found[2] for found in parsed if found and found[0] == base})


def _shards_there(path: str, count: int, fs: FileSystem) -> set[int]:
    """The numbers of those files of a V1 checkpoint in several that exist."""
    base = posixpath.basename(path)
    parsed = (parse_shard_path(name) for name in _names_beside(path, fs) or ())
    return {found[1] for found in parsed if found and (found[0], found[2]) == (base, count) and found[1] < count}


def _names_beside(path: str, fs: FileSystem) -> Sequence[str] | None:
    """The names in the folder of a path; None if there is no such folder."""
    try:
        return fs.list(posixpath.dirname(path))
    except MissingFileError:
        return None


def _similar(path: str, fs: FileSystem) -> str:
    """What else the folder holds, for somebody who mistyped a name."""
    folder, base = posixpath.split(path)
    names = _names_beside(path, fs)
    if names is None:
        return f'; nor does the folder "{folder}"'
    prefixes = [name.removesuffix(".index") for name in names if name.endswith(".index")]
    prefixes.sort(key=lambda name: (not name.startswith(base), not base.startswith(name), name))
    return f"; the folder holds {', '.join(prefixes[:5])}{' ...' if prefixes[5:] else ''}" if prefixes else ""


def _is_checkpoint(prefix: str, fs: FileSystem) -> bool:
    """Whether files of that name exist that could be a checkpoint."""
    if fs.exists(index_path(prefix)):
        return True
    if (pattern := parse_shard_pattern(prefix)) is not None:
        return fs.exists(shard_path(pattern[0], 0, pattern[1])) and not fs.is_directory(prefix)
    return fs.exists(prefix) and not fs.is_directory(prefix)


def _newest_complete(folder: str, fs: FileSystem) -> str | None:
    """The checkpoint in a folder, of either format, that was written last among those that are complete."""
    if not fs.is_directory(folder):
        return None
    found: list[tuple[float, str]] = []
    for name in fs.list(folder):
        path = posixpath.join(folder, name)
        prefix = None if fs.is_directory(path) else _candidate(path)
        if prefix is not None and _is_complete(prefix, fs):
            found.append((fs.modified(path), prefix))
    return max(found)[1] if found else None


def _candidate(path: str) -> str | None:
    """The checkpoint that a file stands for: each has one such file, its index or its only or first slice file."""
    if path.endswith(INDEX_SUFFIX):
        return path.removesuffix(INDEX_SUFFIX)
    if prefix_of_file(path) is not None or is_temporary(path):
        return None
    shard = parse_shard_path(path)
    if shard is None:
        return path
    return shard_pattern(shard[0], shard[2]) if shard[1] == 0 else None


def _is_complete(prefix: str, fs: FileSystem) -> bool:
    """Whether all its files are there, and are as long as they have to be."""
    try:
        with open_checkpoint(prefix, fs=fs) as reader:
            if isinstance(reader, BundleReader):
                for entry in reader.entries().values():
                    reader.check_extent(entry)
            return not reader.damage
    except TensorKeepError:
        return False
