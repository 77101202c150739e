"""From the name of a checkpoint to its files: which there are, and a reader of them.

Names are taken literally: `*`, `?` and `[` have no special meaning, except in the patterns `...-?????-of-00003` and
`...-?????-of-?????` by which TensorFlow knows the files of a V1 checkpoint in several.
"""

from __future__ import annotations

import posixpath
import re
import warnings
from collections.abc import Iterable, Sequence
from typing import Final

from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.finding.file_names import (
    INDEX_SUFFIX,
    index_path,
    is_record_prefix,
    meta_path,
    parse_data_path,
    parse_open_pattern,
    parse_shard_path,
    parse_shard_pattern,
    prefix_of_file,
    shard_path,
    shard_pattern,
)
from tensorkeep.checkpoint.finding.state_file import read_checkpoint_state
from tensorkeep.checkpoint.reader import CheckpointReader, ReadOptions
from tensorkeep.checkpoint.saving import CheckpointFormat
from tensorkeep.checkpoint.slices.slice_files import SliceFileReader
from tensorkeep.errors import DataLossError, MissingFileError, NotFoundError, TensorKeepError
from tensorkeep.io.files.filesystem import FileSystem, PathLike, is_temporary, path_text
from tensorkeep.io.files.local import LOCAL

__all__ = [
    "checkpoint_exists",
    "checkpoint_modified",
    "checkpoint_or_parts_exist",
    "checkpoints_in",
    "open_prefix",
    "remove_checkpoint",
    "what_else_is_there",
]

_MOST_REPORTED: Final = 1000


def open_prefix(given: str, options: ReadOptions, fs: FileSystem, *, stacklevel: int = 2) -> CheckpointReader:
    """Opens the checkpoint that goes by a prefix, a pattern, a path that was saved to, or the name of a file of it.

    `stacklevel` says to whom a warning is addressed, as for `warnings.warn`.
    """
    if fs.exists(index_path(given)):
        return BundleReader(given, fs=fs, options=options)
    prefix = prefix_of_file(given)
    if prefix is not None and checkpoint_exists(prefix, fs=fs):
        warnings.warn(f'"{given}" is one file of a checkpoint; opening "{prefix}"', stacklevel=stacklevel)
        return open_prefix(prefix, options, fs)
    if fs.exists(given):
        shard = parse_shard_path(given)
        if shard is None or shard[2] == 1:
            return _open_slice_file(given, options, fs)
        pattern = shard_pattern(shard[0], shard[2])
        warnings.warn(f'"{given}" is one file of a checkpoint; opening "{pattern}"', stacklevel=stacklevel)
        return _open_slice_files(pattern, options, fs)
    return _open_slice_files(given, options, fs)


def checkpoint_exists(prefix: PathLike, *, fs: FileSystem = LOCAL) -> bool:
    """Whether files of that name exist that could be a checkpoint. What is in them is another question."""
    return _marking_file(path_text(prefix), fs) is not None


def checkpoint_or_parts_exist(path: PathLike, *, fs: FileSystem = LOCAL) -> bool:
    """The same, also of the path that a V1 checkpoint in several files was saved to, which is the name of none."""
    text = path_text(path)
    return checkpoint_exists(text, fs=fs) or bool(_shard_counts(text, fs))


def checkpoint_modified(prefix: PathLike, *, fs: FileSystem = LOCAL) -> float | None:
    """When a checkpoint was last written, in seconds since 1970; None if there is none of that name."""
    path = _marking_file(path_text(prefix), fs)
    return None if path is None else fs.modified(path)


def checkpoints_in(folder: str, fs: FileSystem) -> list[str]:
    """The prefixes and patterns of what may be checkpoints in a folder, by their names, those written last first."""
    if not fs.is_directory(folder):
        return []
    found: list[tuple[float, list[tuple[int, str]], str]] = []
    for name in fs.list(folder):
        path = posixpath.join(folder, name)
        prefix = None if fs.is_directory(path) else _marked_checkpoint(path)
        if prefix is not None:
            found.append((fs.modified(path), _by_numbers(prefix), prefix))
    return [prefix for _, _, prefix in sorted(found, reverse=True)]


def remove_checkpoint(
    prefix: PathLike,
    format: CheckpointFormat = CheckpointFormat.V2,
    *,
    meta_suffix: str = "meta",
    beside: Iterable[str] = (),
    fs: FileSystem = LOCAL,
) -> list[str]:
    """Deletes the files of a checkpoint, and the graph beside it; says which it deleted.

    The file by which the checkpoint is known goes first, so that at no moment half a checkpoint is taken for a whole
    one; then other files that belong to it, `beside`, by path; then the rest. The state file stays as it is. Files that
    are not there, or that somebody else deletes meanwhile, are no error.
    """
    text = path_text(prefix)
    folder = posixpath.dirname(text)
    if not fs.is_directory(folder):
        return []
    deleted: list[str] = []
    with fs.locked(folder):  # one who saves it anew meanwhile loses nothing of it
        files = _bundle_files(text, fs) if format is CheckpointFormat.V2 else _slice_files(text, fs)
        for path in [*files[:1], *beside, *files[1:], meta_path(text, meta_suffix)]:
            try:
                if fs.exists(path) and not fs.is_directory(path):
                    fs.delete(path)
                    deleted.append(path)
            except MissingFileError:
                continue
    return deleted


def what_else_is_there(path: str, fs: FileSystem) -> str:
    """What there is where a checkpoint is not, for the end of a message to somebody who mistyped its name."""
    if fs.is_directory(path):
        inside = [posixpath.basename(prefix) for prefix in checkpoints_in(path, fs) if fs.exists(index_path(prefix))]
        return f"; it is a folder, which holds {_first_few(inside)}" if inside else "; it is a folder"
    folder, base = posixpath.split(path)
    names = _names_beside(path, fs)
    if names is None:
        return f'; there is no folder "{folder}"'
    prefixes = [name.removesuffix(".index") for name in names if name.endswith(".index")]
    prefixes.sort(key=lambda name: (not name.startswith(base), not base.startswith(name), name))
    return f"; the folder holds {_first_few(prefixes)}" if prefixes else ""


def _first_few(names: Sequence[str]) -> str:
    return f"{', '.join(names[:5])}{' ...' if names[5:] else ''}"


def _bundle_files(prefix: str, fs: FileSystem) -> list[str]:
    folder, base = posixpath.split(prefix)
    found = [(name, parse_data_path(name)) for name in _names_beside(prefix, fs) or ()]
    data = [posixpath.join(folder, name) for name, parsed in found if parsed and parsed[0] == base]
    return [index_path(prefix), *data]


def _slice_files(prefix: str, fs: FileSystem) -> list[str]:
    pattern = _numbered_pattern(prefix, fs)
    if pattern is None:
        return [prefix]
    return [shard_path(pattern[0], number, pattern[1]) for number in sorted(_shards_there(*pattern, fs))]


def _marking_file(prefix: str, fs: FileSystem) -> str | None:
    """The file by which a checkpoint of that name is known: its index, or its only or first slice file."""
    if fs.exists(index_path(prefix)):
        return index_path(prefix)
    base = parse_open_pattern(prefix)
    patterns = [parse_shard_pattern(prefix)] if base is None else [(base, count) for count in _shard_counts(base, fs)]
    paths = [prefix if pattern is None else shard_path(pattern[0], 0, pattern[1]) for pattern in patterns]
    return next((path for path in paths if fs.exists(path) and not fs.is_directory(prefix)), None)


def _marked_checkpoint(path: str) -> str | None:
    """The checkpoint that is known by a file of that name; None if there can be none."""
    if path.endswith(INDEX_SUFFIX):
        prefix = path.removesuffix(INDEX_SUFFIX)
        return None if is_record_prefix(prefix) else prefix
    if prefix_of_file(path) is not None or is_temporary(path):
        return None
    shard = parse_shard_path(path)
    if shard is None:
        return path
    return shard_pattern(shard[0], shard[2]) if shard[1] == 0 else None


def _by_numbers(name: str) -> list[tuple[int, str]]:
    """A key by which model-9 comes before model-10."""
    return [(int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"([0-9]+)", name)]


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


def _open_slice_files(given: str, options: ReadOptions, fs: FileSystem) -> CheckpointReader:
    """A V1 checkpoint in several files, given by its pattern or by the path that was saved to."""
    found = _numbered_pattern(given, fs) or _only_pattern(given, given, fs)
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
        f'"{shard_path(given, 0, 1)}" or the like (V1 in several files) exists{what_else_is_there(given, fs)}'
    )


def _numbered_pattern(given: str, fs: FileSystem) -> tuple[str, int] | None:
    """Path and number of files of a V1 checkpoint given by a pattern, which may leave the number open."""
    base = parse_open_pattern(given)
    return parse_shard_pattern(given) if base is None else _only_pattern(given, base, fs)


def _only_pattern(given: str, path: str, fs: FileSystem) -> tuple[str, int] | None:
    """Path and number of files of the V1 checkpoint that was saved to a path; NotFoundError if there are several."""
    counts = _shard_counts(path, fs)
    if len(counts) > 1:
        names = ", ".join(f'"{shard_pattern(path, count)}"' for count in counts)
        raise NotFoundError(f'"{given}" could mean any of {names}; say which')
    return (path, counts[0]) if counts else None


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
