"""From a checkpoint into a table that is empty, the short way: rows lie in the table in the order of the file.

So they are read to where they stay, and the index is filled at once. It is for whole embeddings that are stored as a
table has them: keys of 64 bits, rows of its dimension and type, and slots with the same keys in the same places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.storage import StoredBytes
from tensorkeep.checkpoint.stretches import Compared, Placed, Target, read_through
from tensorkeep.embedding.stored.column import StoredColumn
from tensorkeep.embedding.stored.rows import Fields, TensorRows
from tensorkeep.embedding.table.contents import Blocks
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.eviction import NEVER
from tensorkeep.io.machine.large_arrays import empty_array
from tensorkeep.io.machine.parallel import in_parallel

Bytes: TypeAlias = npt.NDArray[np.uint8]
Keys: TypeAlias = npt.NDArray[np.int64]

_CHECKED: Final = 1 << 18  # keys whose buckets are looked at together
_KEY_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class FilledTable:
    """What a table was filled with: how many keys, how many of them stored twice (then it is empty), and slots."""

    count: int
    repeated: int
    slots: frozenset[str]


def fill_table(
    table: EmbeddingTable,
    weights: StoredColumn,
    slots: Mapping[str, StoredColumn],
    least: int,
    version: int | None,
) -> FilledTable | None:
    """Fills a table with weights, and with those slots, by name, that have the same keys; None if that is no way.

    `least` is what frequencies are raised to. `version`, if given, is that of all keys. All checksums are compared, and
    if something is damaged, the table is empty.
    """
    fields = Fields(True, table.keeps_frequencies, table.keeps_versions and version is None)
    mine = _plain(table, "", weights, fields)
    if mine is None or not table.can_be_filled:
        return None
    weights.verify(later=fields)
    keys = _read_keys(mine)
    others: dict[str, _Plain] = {}
    for name, column in slots.items():
        plain = _plain(table, name, column, Fields(values=True))
        if plain is not None and plain.counts == mine.counts:
            column.verify(later=Fields(values=True))
            if _has_keys(plain, keys):
                _check_buckets(plain, keys, mine.sources)
                others[name] = plain

    def write(blocks: Blocks) -> None:
        wanted = [*_into(mine.values, blocks.rows[""])]
        for name, plain in others.items():
            wanted += _into(plain.values, blocks.rows[name])
        wanted += _numbers(mine.counts, mine.freqs, blocks.frequencies, max(least, 1))
        wanted += _numbers(mine.counts, mine.versions, blocks.versions, NEVER if version is None else version)
        read_through(wanted)
        for block in (blocks.frequencies or ()) if least else ():
            np.maximum(block, least, out=block)

    repeated = table.fill(keys, ["", *others], write)
    return None if repeated is None else FilledTable(len(keys), repeated, frozenset(others))


@dataclass(frozen=True, slots=True, eq=False)
class _Plain:
    """Where the tensors of a column lie, by shard. Frequencies and versions may be missing."""

    sources: Sequence[TensorRows]
    keys: Sequence[StoredBytes]
    values: Sequence[StoredBytes]
    freqs: Sequence[StoredBytes | None]
    versions: Sequence[StoredBytes | None]

    @property
    def counts(self) -> list[int]:
        """How many keys each shard has."""
        return [entry.size // _KEY_BYTES for entry in self.keys]

    @property
    def starts(self) -> list[int]:
        """How many keys the shards before each have."""
        return [0, *accumulate(self.counts)][:-1]


def _plain(table: EmbeddingTable, name: str, column: StoredColumn, fields: Fields) -> _Plain | None:
    """The tensors of a column, if their bytes are those that a table has."""
    reader, sources = column.reader, column.tensor_rows
    target = next(info for info in table.columns if info.name == name)
    fits = (column.dim, column.dtype, table.key_dtype) == (target.dim, target.dtype, np.dtype(np.int64))
    if sources is None or not fits:
        return None
    kinds: list[list[StoredBytes | None]] = [[], [], [], []]
    for source in sources:
        names = source.names
        freqs = names.freqs if fields.freqs and source.has_freqs else ""
        versions = names.versions if fields.versions and source.has_versions else ""
        dtypes = (np.dtype(np.int64), target.dtype, np.dtype(np.int64), np.dtype(np.int64))
        for kind, tensor, dtype in zip(kinds, (names.keys, names.values, freqs, versions), dtypes, strict=True):
            stored = reader.stored_bytes(tensor) if tensor else None
            if tensor and (stored is None or stored.dtype.array_dtype != dtype):
                return None
            kind.append(stored)
    keys, values = ([stored for stored in kind if stored is not None] for kind in kinds[:2])
    return _Plain(sources, keys, values, kinds[2], kinds[3])


def _read_keys(column: _Plain) -> Keys:
    """The keys of all shards, each of which lies in its bucket."""
    keys: Keys = empty_array((sum(column.counts),), np.int64)
    read_through(list(_into(column.keys, [keys])))
    _check_buckets(column, keys)
    return keys


def _check_buckets(column: _Plain, keys: Keys, known: Sequence[TensorRows] = ()) -> None:
    """Raises DataLossError unless the keys of each shard are in the buckets that its offsets state. Shards with the
    same offsets as their `known` ones have been checked with those.
    """
    tasks = [
        (source, keys[start : start + count], at)
        for number, (source, start, count) in enumerate(zip(column.sources, column.starts, column.counts, strict=True))
        if source.is_grouped and not (known and _has_offsets(known[number], source))
        for at in range(0, count, _CHECKED)
    ]

    def check(task: tuple[TensorRows, Keys, int]) -> None:
        source, held, at = task
        source.check_buckets(held[at : at + _CHECKED], at)

    in_parallel(check, tasks)


def _has_offsets(known: TensorRows, source: TensorRows) -> bool:
    return known.is_grouped and np.array_equal(known.offsets, source.offsets)


def _has_keys(column: _Plain, keys: Keys) -> bool:
    """Whether a column has just these keys in these places."""
    targets = [Compared(keys[start:].view(np.uint8)) for start in column.starts]
    read_through(list(zip(column.keys, targets, strict=True)))
    return all(target.is_same for target in targets)


def _into(entries: Sequence[StoredBytes], blocks: Sequence[Array]) -> Iterator[tuple[StoredBytes, Target]]:
    """Pairs stored tensors with the places that they are read into: one behind the other, through blocks of memory."""
    memory = _bytes_of(blocks)
    begin = 0
    for entry in entries:
        yield entry, Placed(memory, begin)
        begin += entry.size


def _numbers(
    counts: Sequence[int], entries: Sequence[StoredBytes | None], blocks: Sequence[Array] | None, absent: int
) -> Iterator[tuple[StoredBytes, Target]]:
    """What is to be read of one number for each key. Where nothing is stored, `absent` is written."""
    if blocks is None:
        return
    memory = _bytes_of(blocks)
    begin = 0
    for count, entry in zip(counts, entries, strict=True):
        target = Placed(memory, begin * _KEY_BYTES)
        begin += count
        if entry is not None:
            yield entry, target
            continue
        start, end = 0, count * _KEY_BYTES
        while start < end:
            room = target.room(start, end - start)
            room.view(np.int64)[...] = absent
            start += room.size


def _bytes_of(blocks: Sequence[Array]) -> list[Bytes]:
    return [block.reshape(-1).view(np.uint8) for block in blocks]
