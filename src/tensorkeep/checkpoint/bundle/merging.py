"""Merging the bundles of a sharded save into one: only the indexes are rewritten, data files just change names."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from tensorkeep.checkpoint.bundle.format import Entry
from tensorkeep.checkpoint.bundle.merged_hash_tables import MergedHashTables
from tensorkeep.checkpoint.bundle.reader import BundleReader
from tensorkeep.checkpoint.bundle.writer import commit_bundle, place_link, remove_bundle
from tensorkeep.checkpoint.finding.file_names import data_path, index_path
from tensorkeep.checkpoint.slices.tiling import check_disjoint
from tensorkeep.errors import DataLossError, InvalidArgumentError, MissingFileError, TensorKeepError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, is_path, path_text, prepare_directory

_ENDIAN: Final = {"<": "little-endian", ">": "big-endian"}


def merge_bundles(
    prefixes: Sequence[PathLike],
    destination: PathLike,
    *,
    delete_inputs: bool = True,
    allow_missing: bool = False,
    durability: Durability = Durability.DISK,
    fs: FileSystem = FILES,
) -> None:
    """Makes one V2 checkpoint of several that hold different tensors, or different slices of the same ones.

    The result is TensorFlow's, byte for byte: data files are numbered in the order in which the tensors of the first
    checkpoint, by name, then those of the second, and so on, first speak of them. Unless told otherwise it deletes
    the inputs, and their folders once those are empty, when the result is in place.
    """
    if is_path(prefixes) or not prefixes:
        raise InvalidArgumentError(f"prefixes: expected a list of the checkpoints to merge, got {prefixes!r}")
    inputs = _present([path_text(prefix) for prefix in prefixes], allow_missing, fs)
    target = path_text(destination)
    merged: dict[bytes, Entry] = {}
    tables = MergedHashTables()
    numbers: dict[str, int] = {}  # data files and their numbers in the result
    orders: dict[str, str] = {}  # byte orders, and the first checkpoint of each
    for prefix in inputs:
        with BundleReader(prefix, fs=fs) as reader:
            orders.setdefault(reader.header.byte_order, prefix)
            stored = reader.entries()
            of_tables = tables.keys_in(stored)
            for key, entry in sorted(stored.items()):
                path = data_path(prefix, entry.shard, reader.shard_count)
                if key in of_tables:
                    stored[key] = entry._replace(shard=numbers.setdefault(path, len(numbers)))
                else:
                    _merge_entry(merged, key, entry, prefix, numbers, path)
            tables.add({key: stored[key] for key in of_tables}, prefix)
    if len(orders) > 1:
        told = ", ".join(f'"{prefix}" is {_ENDIAN[order]}' for order, prefix in orders.items())
        raise InvalidArgumentError(f"cannot merge checkpoints of different byte orders: {told}; save one of them anew")
    for entry in merged.values():
        try:
            check_disjoint([part.box(entry.shape) for part in entry.slices])
        except DataLossError as error:
            raise InvalidArgumentError(f'cannot merge: tensor "{entry.name}": {error}') from None
    tables.finish(merged)
    prepare_directory(fs, posixpath.dirname(target), durability)
    if durability is Durability.DISK:
        for path in numbers:
            fs.sync(path)
    place: list[Callable[[str], None]] = [partial(place_link, fs, path) for path in numbers]
    entries = {key: entry.encode() for key, entry in merged.items()}
    commit_bundle(fs, target, place, entries, durability, byte_order=next(iter(orders)))
    if delete_inputs:
        _delete_inputs(fs, inputs, target)


def _present(prefixes: list[str], allow_missing: bool, fs: FileSystem) -> list[str]:
    places = [fs.canonical(prefix) for prefix in prefixes]
    if repeated := {prefix for prefix, place in zip(prefixes, places, strict=True) if places.count(place) > 1}:
        raise InvalidArgumentError(f"cannot merge a checkpoint with itself: {sorted(repeated)} given more than once")
    present = [prefix for prefix in prefixes if fs.exists(index_path(prefix))]
    missing = [prefix for prefix in prefixes if prefix not in present]
    if missing and not allow_missing:
        listed = ", ".join(f'"{index_path(prefix)}"' for prefix in missing[:5]) + (" ..." if missing[5:] else "")
        raise MissingFileError(f"cannot merge: {listed} missing")
    if not present:
        raise MissingFileError(f"cannot merge: none of the checkpoints exists: {', '.join(prefixes)}")
    return present


def _merge_entry(
    merged: dict[bytes, Entry], key: bytes, entry: Entry, prefix: str, numbers: dict[str, int], path: str
) -> None:
    known = merged.get(key)
    if known is None:
        merged[key] = entry._replace(shard=numbers.setdefault(path, len(numbers)))
    elif not (known.slices and entry.slices):
        raise InvalidArgumentError(f'cannot merge: tensor "{entry.name}" of "{prefix}" is in an earlier one too')
    elif (known.dtype, known.shape) != (entry.dtype, entry.shape):
        raise InvalidArgumentError(
            f'cannot merge: tensor "{entry.name}" is {entry.dtype} {list(entry.shape)} in "{prefix}", but '
            f"{known.dtype} {list(known.shape)} in an earlier one"
        )
    else:
        merged[key] = known._replace(slices=known.slices + entry.slices)


def _delete_inputs(fs: FileSystem, inputs: list[str], target: str) -> None:
    """As TensorFlow does, without complaint if something cannot be deleted: the result is complete by now."""
    place = fs.canonical(target)
    for prefix in inputs:
        if fs.canonical(prefix) != place:
            _try(partial(remove_bundle, fs, prefix, Durability.CACHE))
    for directory in dict.fromkeys(map(posixpath.dirname, inputs)):
        if fs.canonical(directory or ".") != fs.canonical(posixpath.dirname(target) or "."):
            _try(partial(fs.remove_directory, directory))


def _try(action: Callable[[], None]) -> None:
    try:
        action()
    except TensorKeepError:
        return
