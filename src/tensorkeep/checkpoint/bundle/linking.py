"""Tensors of one checkpoint taken over into another as they are stored: renamed entries, linked data files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.bundle.entry_columns import decode_entries, encode_entries
from tensorkeep.checkpoint.bundle.format import Entry, encode_name
from tensorkeep.checkpoint.bundle.small_tensors import Heads
from tensorkeep.checkpoint.finding.file_names import data_path
from tensorkeep.checkpoint.slices.tensor_slice import slice_key
from tensorkeep.checkpoint.storage import Linkable
from tensorkeep.errors import DataLossError, InvalidArgumentError

Integers = npt.NDArray[np.int64]


class LinkedTensors:
    """Stored tensors under new names, and the data files that they lie in, numbered in the order they are met."""

    def __init__(self) -> None:
        self._files: dict[str, int] = {}
        self._entries: dict[bytes, bytes] = {}
        self._byte_order: str | None = None

    @property
    def files(self) -> Sequence[str]:
        """The data files, in the order of their numbers."""
        return list(self._files)

    @property
    def byte_order(self) -> str | None:
        """The byte order of the data files; None as long as there are none."""
        return self._byte_order

    def __contains__(self, key: bytes) -> bool:
        return key in self._entries

    def __bool__(self) -> bool:
        return bool(self._entries)

    def isdisjoint(self, keys: Iterable[bytes]) -> bool:
        """Whether none of the keys is taken."""
        return self._entries.keys().isdisjoint(keys)

    def add(self, reader: Linkable, names: Mapping[str, str]) -> list[bytes]:
        """Takes over tensors: `names` has the new name by the one that a tensor is stored under. Gives the new keys.

        DataLossError if a data file is missing or too short for what is said to be in it.
        """
        if self._byte_order not in (None, reader.header.byte_order):
            raise InvalidArgumentError(
                f'"{reader.path}" has its data in another byte order than the checkpoints before it'
            )
        keys, values, labels = zip(*_renamed_entries(reader, names), strict=True) if names else ((), (), ())
        shards = _shards(reader, values, labels)
        numbers = np.zeros(reader.shard_count, np.int64)
        for shard in np.unique(shards).tolist():
            path = data_path(reader.path, shard, reader.shard_count)
            numbers[shard] = self._files.setdefault(path, len(self._files))
        self._byte_order = reader.header.byte_order
        self._entries.update(zip(keys, renumbered_entries(values, numbers), strict=True))
        return list(keys)

    def entries(self, before: int) -> dict[bytes, bytes]:
        """The encoded entries by key, with the data files numbered from `before` on."""
        if not before:
            return self._entries
        numbers = np.arange(len(self._files), dtype=np.int64) + before
        return dict(zip(self._entries, renumbered_entries(list(self._entries.values()), numbers), strict=True))


def _renamed_entries(reader: Linkable, names: Mapping[str, str]) -> Iterator[tuple[bytes, bytes, str]]:
    """The new key of each stored tensor and slice, its entry as it is stored, and what it is called in messages."""
    for name, new in names.items():
        key = encode_name(new)
        yield key, reader.encoded_entry(name), name
        for part in reader[name].slices:
            yield slice_key(key, part), reader.encoded_entry(name, part), f"{name} [{part}]"


def _shards(reader: Linkable, values: Sequence[bytes], labels: Sequence[str]) -> Integers:
    """The data file of each entry. DataLossError if one speaks of bytes that are not there."""
    columns = decode_entries(values)
    shards = columns.shards.copy()
    for at in np.flatnonzero(~columns.usual).tolist():
        entry = Entry.decode(labels[at], values[at], f'"{reader.path}"')
        shards[at] = entry.shard
        reader.check_extent(entry)
    if shards.size and not 0 <= shards.min() <= shards.max() < reader.shard_count:
        at = int(np.flatnonzero((shards < 0) | (shards >= reader.shard_count))[0])
        raise DataLossError(f'"{reader.path}": "{labels[at]}" is in data file {shards[at]} of {reader.shard_count}')
    sizes = np.zeros(reader.shard_count, np.int64)
    usual = np.flatnonzero(columns.usual)
    used, firsts = np.unique(shards[usual], return_index=True)
    for shard, at in zip(used.tolist(), usual[firsts].tolist(), strict=True):
        reader.check_extent(Entry.decode(labels[at], values[at], f'"{reader.path}"'))  # that the file is there
        sizes[shard] = reader.shard(shard).size
    beyond = columns.usual & (columns.offsets + columns.sizes > sizes[shards])
    for at in np.flatnonzero(beyond).tolist():
        reader.check_extent(Entry.decode(labels[at], values[at], f'"{reader.path}"'))
    return shards


def renumbered_entries(values: Sequence[bytes], numbers: Integers) -> list[bytes]:
    """Encoded entries whose data files have other numbers: `numbers` has the new one at the place of the old one."""
    if np.array_equal(numbers, np.arange(numbers.size)):
        return list(values)
    columns = decode_entries(values)
    kinds, firsts = Heads.of(values, columns)
    heads = [values[at][: columns.heads[at]] for at in firsts]
    usual = np.flatnonzero(columns.usual)
    _, _, shards, offsets, sizes, masked_crcs = columns.take(usual)
    found = list(values)
    encoded = encode_entries(heads, kinds[usual], numbers[shards], offsets, sizes, masked_crcs) if usual.size else []
    for at, value in zip(usual.tolist(), encoded, strict=True):
        found[at] = value
    for at in np.flatnonzero(~columns.usual).tolist():
        entry = Entry.decode("", values[at], "index")
        found[at] = entry._replace(shard=int(numbers[entry.shard])).encode()
    return found
