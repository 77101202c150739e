"""From the name of a checkpoint to its files: which there are, and a reader of them.

Names are taken literally: `*`, `?` and `[` have no special meaning, except in the patterns `...-?????-of-00003` and
`...-?????-of-?????` by which TensorFlow knows the files of a V1 checkpoint in several.
"""

from __future__ import annotations

import posixpath
import re
import warnings
from collections.abc import Iterable, Sequence

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
from tensorkeep.checkpoint.layouts.bundles import BUNDLES
from tensorkeep.checkpoint.layouts.slice_files import (
    SLICE_FILES,
    names_beside,
    numbered_pattern,
    shard_counts,
    shards_there,
)
from tensorkeep.checkpoint.layouts.table import layout_of
from tensorkeep.checkpoint.reader import CheckpointReader, ReadOptions
from tensorkeep.checkpoint.saving import CheckpointFormat
from tensorkeep.errors import DataLossError, MissingFileError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, is_temporary, path_text


def open_prefix(given: str, options: ReadOptions, fs: FileSystem, *, stacklevel: int = 2) -> CheckpointReader:
    """Opens the checkpoint that goes by a prefix, a pattern, a path that was saved to, or the name of a file of it.

    `stacklevel` says to whom a warning is addressed, as for `warnings.warn`.
    """
    path = _meant_checkpoint(given, fs, stacklevel + 1)
    layout = layout_of(path, fs)
    if layout is not None:
        return layout.open(path, options, fs)
    try:
        return SLICE_FILES.open(path, options, fs)  # which says what there might have been
    except MissingFileError as error:
        raise MissingFileError(f"{error.message}{what_else_is_there(path, fs)}") from None


def _meant_checkpoint(given: str, fs: FileSystem, stacklevel: int) -> str:
    """The checkpoint that somebody means who gives the name of one of its files, with a warning; else what is given."""
    prefix = prefix_of_file(given)
    if BUNDLES.matches(given, fs):
        return given
    if prefix is not None and checkpoint_exists(prefix, fs=fs):
        warnings.warn(f'"{given}" is one file of a checkpoint; opening "{prefix}"', stacklevel=stacklevel)
        return _meant_checkpoint(prefix, fs, stacklevel + 1)
    shard = parse_shard_path(given) if fs.exists(given) else None
    if shard is None or shard[2] == 1:
        return given
    pattern = shard_pattern(shard[0], shard[2])
    warnings.warn(f'"{given}" is one file of a checkpoint; opening "{pattern}"', stacklevel=stacklevel)
    return pattern


def checkpoint_exists(prefix: PathLike, *, fs: FileSystem = FILES) -> bool:
    """Whether files of that name exist that could be a checkpoint. What is in them is another question."""
    return _marking_file(path_text(prefix), fs) is not None


def checkpoint_or_parts_exist(path: PathLike, *, fs: FileSystem = FILES) -> bool:
    """As `checkpoint_exists`; also true of the path that a V1 checkpoint in several files was saved to, though no file
    has that name.
    """
    text = path_text(path)
    return checkpoint_exists(text, fs=fs) or bool(shard_counts(text, fs))


def checkpoint_modified(prefix: PathLike, *, fs: FileSystem = FILES) -> float | None:
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
    fs: FileSystem = FILES,
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
    names = names_beside(path, fs)
    if names is None:
        return f'; there is no folder "{folder}"'
    prefixes = [name.removesuffix(".index") for name in names if name.endswith(".index")]
    prefixes.sort(key=lambda name: (not name.startswith(base), not base.startswith(name), name))
    return f"; the folder holds {_first_few(prefixes)}" if prefixes else ""


def _first_few(names: Sequence[str]) -> str:
    return f"{', '.join(names[:5])}{' ...' if names[5:] else ''}"


def _bundle_files(prefix: str, fs: FileSystem) -> list[str]:
    folder, base = posixpath.split(prefix)
    found = [(name, parse_data_path(name)) for name in names_beside(prefix, fs) or ()]
    own = None if fs.puts(prefix) is None else _total(prefix, fs)  # in a store others may be the data of a save
    data = [
        posixpath.join(folder, name)
        for name, parsed in found
        if parsed and parsed[0] == base and own in (None, parsed[2])
    ]
    return [index_path(prefix), *data]


def _total(prefix: str, fs: FileSystem) -> int | None:
    """How many data files a checkpoint has by its index; None if it has none that can be read."""
    try:
        with BundleReader(prefix, fs=fs) as reader:
            return reader.shard_count
    except (MissingFileError, DataLossError):
        return None


def _slice_files(prefix: str, fs: FileSystem) -> list[str]:
    pattern = numbered_pattern(prefix, fs)
    if pattern is None:
        return [prefix]
    return [shard_path(pattern[0], number, pattern[1]) for number in sorted(shards_there(*pattern, fs))]


def _marking_file(prefix: str, fs: FileSystem) -> str | None:
    """The file by which a checkpoint of that name is known: its index, or its only or first slice file."""
    if fs.exists(index_path(prefix)):
        return index_path(prefix)
    base = parse_open_pattern(prefix)
    patterns = [parse_shard_pattern(prefix)] if base is None else [(base, count) for count in shard_counts(base, fs)]
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
