"""V1 checkpoints: one file, or several that go by a pattern, or by the path that was saved to."""

from __future__ import annotations

import posixpath
from collections.abc import Sequence
from typing import Final

from tensorkeep.checkpoint.finding.file_names import (
    index_path,
    parse_open_pattern,
    parse_shard_path,
    parse_shard_pattern,
    shard_path,
    shard_pattern,
)
from tensorkeep.checkpoint.finding.state_file import read_checkpoint_state
from tensorkeep.checkpoint.reader import CheckpointReader, ReadOptions
from tensorkeep.checkpoint.slices.slice_files import SliceFileReader
from tensorkeep.errors import DataLossError, MissingFileError, NotFoundError, TensorKeepError
from tensorkeep.io.files.filesystem import FileSystem

_MOST_REPORTED: Final = 1000


class SliceFileLayout:
    """V1: slice files."""

    format = "V1"

    def matches(self, path: str, fs: FileSystem) -> bool:
        if fs.exists(path):
            return not fs.is_directory(path)
        pattern = parse_shard_pattern(path)
        return bool(
            shard_counts(parse_open_pattern(path) or path, fs) if pattern is None else shards_there(*pattern, fs)
        )

    def open(self, path: str, options: ReadOptions, fs: FileSystem) -> CheckpointReader:
        if fs.exists(path):
            return _open_slice_file(path, options, fs)
        found = numbered_pattern(path, fs) or _only_pattern(path, path, fs)
        there = set() if found is None else shards_there(*found, fs)
        if found is None or not there:
            raise MissingFileError(
                f'"{path}" holds no checkpoint: neither "{index_path(path)}" (V2) nor "{path}" (V1) nor '
                f'"{shard_path(path, 0, 1)}" or the like (V1 in several files) exists'
            )
        base, count = found
        # Files that are missing are reported; but a name alone must not make us look for millions of them.
        numbers = sorted(there.union(range(min(count, _MOST_REPORTED))))
        files = [shard_path(base, number, count) for number in numbers]
        return SliceFileReader(shard_pattern(base, count), files, options, fs=fs)


SLICE_FILES: Final = SliceFileLayout()


def _open_slice_file(path: str, options: ReadOptions, fs: FileSystem) -> CheckpointReader:
    """A V1 checkpoint in one file. A state file is often given in place of the checkpoint that it names."""
    try:
        return SliceFileReader(path, fs=fs, options=options)
    except DataLossError:
        named = _named_latest(path, fs)
        if named is None:
            raise
    raise DataLossError(f'"{path}" is no checkpoint, but a state file; the latest one that it names is "{named}"')


def _named_latest(path: str, fs: FileSystem) -> str | None:
    """What a state file names; None if it is no state file."""
    folder, name = posixpath.split(path)
    try:
        state = read_checkpoint_state(folder or ".", name, fs=fs)
    except TensorKeepError:
        return None
    return None if state is None else state.latest


def numbered_pattern(given: str, fs: FileSystem) -> tuple[str, int] | None:
    """Path and number of files of a V1 checkpoint given by a pattern, which may leave the number open."""
    base = parse_open_pattern(given)
    return parse_shard_pattern(given) if base is None else _only_pattern(given, base, fs)


def _only_pattern(given: str, path: str, fs: FileSystem) -> tuple[str, int] | None:
    """Path and number of files of the V1 checkpoint that was saved to a path; NotFoundError if there are several."""
    counts = shard_counts(path, fs)
    if len(counts) > 1:
        names = ", ".join(f'"{shard_pattern(path, count)}"' for count in counts)
        raise NotFoundError(f'"{given}" could mean any of {names}; say which')
    return (path, counts[0]) if counts else None


def shard_counts(path: str, fs: FileSystem) -> list[int]:
    """How many files V1 checkpoints saved to that path have, going by the names there are."""
    base = posixpath.basename(path)
    parsed = (parse_shard_path(name) for name in names_beside(path, fs) or ())
    return sorted({found[2] for found in parsed if found and found[0] == base})


def shards_there(path: str, count: int, fs: FileSystem) -> set[int]:
    """The numbers of those files of a V1 checkpoint in several that exist."""
    base = posixpath.basename(path)
    parsed = (parse_shard_path(name) for name in names_beside(path, fs) or ())
    return {found[1] for found in parsed if found and (found[0], found[2]) == (base, count) and found[1] < count}


def names_beside(path: str, fs: FileSystem) -> Sequence[str] | None:
    """The names in the folder of a path; None if there is no such folder."""
    try:
        return fs.list(posixpath.dirname(path))
    except MissingFileError:
        return None
