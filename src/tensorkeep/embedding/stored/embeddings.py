"""Embeddings in a checkpoint: finding them, opening their columns, and reading them as dense arrays.

Read are: the nine tensors of today, the five of before, keys and values without offsets, int32 keys, absent or empty
frequencies and versions, any number of shards, TFRA's `<name>-1of2-keys`, and the record files of an SSD tier. Their
names are in naming.py.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.stored.buckets import find_in_order
from tensorkeep.embedding.stored.column import StoredColumn
from tensorkeep.embedding.stored.naming import (
    DELTA_KEYS,
    DELTA_OFFSETS,
    DELTA_VALUES,
    FILTERED_FREQS,
    FILTERED_KEYS,
    FILTERED_OFFSETS,
    FILTERED_VERSIONS,
    FREQS,
    KEYS,
    NINE,
    OFFSETS,
    SCALES,
    VALUES,
    VERSIONS,
    slot_stem,
    split_of,
    split_parts,
)
from tensorkeep.embedding.stored.ordered_columns import in_order
from tensorkeep.embedding.stored.rows import Fields, KeyedRows, RowNames, TensorRows
from tensorkeep.embedding.stored.ssd_records import RecordFiles, RecordRows, has_records
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.io.showing.amounts import some_of

__all__ = [
    "StoredColumn",
    "StoredEmbedding",
    "find_embedding",
    "looked_up_embedding",
    "read_dense",
    "missing_embedding",
    "stored_deltas",
    "stored_embeddings",
]
_LISTED: Final = 5


@dataclass(frozen=True, slots=True)
class StoredEmbedding:
    """An embedding variable of a checkpoint, with all its shards and slots."""

    name: str
    """Without `/part_<k>`."""
    stems: Mapping[int, str]
    """The stem of each shard, by its number; a variable in one piece has the number 0."""
    slots: Mapping[str, Mapping[int, str]] = field(default_factory=dict)
    """The stems of each slot of an optimizer, by shard."""
    problems: tuple[str, ...] = ()
    """What is odd about how it is stored. It can be read all the same."""

    @property
    def shard_count(self) -> int:
        """How many shards it is stored in."""
        return max(self.stems) + 1

    @property
    def columns(self) -> tuple[str, ...]:
        """ "" for the weights, and the names of the slots."""
        return ("", *self.slots)

    def stems_of(self, column: str) -> Mapping[int, str]:
        """The stems of the weights ("") or of a slot."""
        if column and column not in self.slots:
            known = ", ".join(f'"{slot}"' for slot in self.slots) or "none"
            raise NotFoundError(f'"{self.name}" is stored without a slot "{column}"; its slots are: {known}')
        return self.slots[column] if column else self.stems

    def tensors(self, reader: CheckpointReader) -> list[str]:
        """The names of all its tensors."""
        every = [stem for column in self.columns for stem in self.stems_of(column).values()]
        return [stem + suffix for stem in every for suffix in (*NINE, SCALES) if stem + suffix in reader]

    def open(self, reader: CheckpointReader, column: str = "", *, fs: FileSystem = FILES) -> StoredColumn:
        """One column, ready to be read. `fs` is where the checkpoint lies, for the files of an SSD tier."""
        stems = self.stems_of(column)
        if gaps := sorted(set(range(max(stems) + 1)) - set(stems)):
            raise DataLossError(
                f'"{reader.path}": "{slot_stem(self.name, column)}" has no shard {gaps[0]}, but shard {max(stems)}'
            )
        admitted = [_rows_of(reader, stem) for _, stem in sorted(stems.items())]
        filtered = [_filtered_of(reader, stem) for _, stem in sorted(stems.items()) if stem + FILTERED_KEYS in reader]
        rows: list[KeyedRows] = list(admitted)
        for number, stem in sorted(self.stems.items()):
            if number in stems and has_records(fs, reader.path, stem):
                rows.append(self._records(reader, number, column, admitted[number], fs))
        return StoredColumn(slot_stem(self.name, column), reader, rows, filtered)

    def _records(
        self, reader: CheckpointReader, number: int, column: str, memory: TensorRows, fs: FileSystem
    ) -> RecordRows:
        """The rows of a shard on an SSD tier. A slot's place in a record is that of its name among the slots."""
        beside = [slot for slot in sorted(self.slots) if number in self.slots[slot]]
        stems = [self.stems[number], *(self.slots[slot][number] for slot in beside)]
        dims = [_rows_of(reader, stem).dim for stem in stems]
        files = RecordFiles(fs, reader.path, self.stems[number], dims)
        known = np.zeros(files.keys.size, np.bool_)
        for batch in in_order(StoredColumn("", reader, [memory], [])):
            positions, found = find_in_order(files.keys, batch.keys)
            known[positions[found]] = True
        return RecordRows(files, dims, ("", *beside).index(column), known)


def stored_embeddings(
    reader: CheckpointReader, *, primaries: Collection[str] = (), fs: FileSystem = FILES
) -> dict[str, StoredEmbedding]:
    """The embeddings of a checkpoint, by name, without `/part_<k>`.

    `a/b` is taken for a slot of `a` if `a` is an embedding too and nothing lies below `a/b`; `primaries` names those
    that are variables of their own all the same.
    """
    return grouped_stems(stems_in(reader, KEYS, VALUES), primaries)


def stored_deltas(reader: CheckpointReader) -> dict[str, StoredEmbedding]:
    """The embeddings of an incremental checkpoint, by name, without `/part_<k>`."""
    stems = {stem for stem in stems_in(reader, DELTA_KEYS, DELTA_VALUES) if stem + DELTA_OFFSETS in reader}
    return grouped_stems(stems)


def read_dense(
    reader: CheckpointReader,
    stem: str,
    rows: int | None = None,
    *,
    stored: Mapping[str, StoredEmbedding] | None = None,
    fs: FileSystem = FILES,
) -> Array:
    """An embedding whose keys are 0 to n - 1 as the dense array [n, dim] that they number the rows of.

    `rows` is the n that is wanted; by itself it is the number of keys. `stored` is what `stored_embeddings` found, if
    that is known already.
    """
    known = stored_embeddings(reader) if stored is None else stored
    name, column = find_embedding(reader, stem, known)
    source = known[name].open(reader, column, fs=fs)
    count = source.count if rows is None else rows
    out = np.zeros((count, source.dim), source.dtype)
    seen = np.zeros(count, np.bool_)
    for batch in in_order(source, fields=Fields(values=True)):
        outside = batch.keys[(batch.keys < 0) | (batch.keys >= count)]
        if outside.size:
            raise InvalidArgumentError(
                f'"{reader.path}": "{stem}" has the key {int(outside[0])}; only keys 0 to {count - 1} number the rows '
                f"of a dense tensor of {count}"
            )
        out[batch.keys] = batch.values
        seen[batch.keys] = True
    if absent := np.flatnonzero(~seen)[:_LISTED].tolist():
        raise InvalidArgumentError(
            f'"{reader.path}": "{stem}" lacks the keys {", ".join(map(str, absent))} and maybe more; a dense tensor of '
            f"{count} rows needs all from 0 to {count - 1}"
        )
    return out


def grouped_stems(stems: Collection[str], primaries: Collection[str] = ()) -> dict[str, StoredEmbedding]:
    """Stems put together to embeddings with their shards and slots."""
    groups: dict[str, dict[int, str]] = {}
    problems: dict[str, list[str]] = {}
    for stem in sorted(stems):
        name, number = _logical(stem, stems)
        group = groups.setdefault(name, {})
        if number in group:
            kept, dropped = sorted((group[number], stem), key=lambda other: other == name)
            group[number] = kept
            problems.setdefault(name, []).append(f'"{dropped}" is stored too, and is not looked at')
        else:
            group[number] = stem
    parents = {name.rpartition("/")[0] for name in groups}
    found: dict[str, StoredEmbedding] = {}
    slots: dict[str, dict[str, dict[int, str]]] = {}
    for name, group in groups.items():
        parent, _, last = name.rpartition("/")
        if parent in groups and name not in parents and name not in primaries:
            slots.setdefault(parent, {})[last] = group
    for name, group in sorted(groups.items()):
        parent, _, last = name.rpartition("/")
        if last not in slots.get(parent, {}):
            own = dict(sorted(slots.get(name, {}).items()))
            notes = (*problems.get(name, ()), *_oddities(name, group, own))
            found[name] = StoredEmbedding(name, group, own, notes)
    return found


def find_embedding(reader: CheckpointReader, stem: str, stored: Mapping[str, StoredEmbedding]) -> tuple[str, str]:
    """The stored embedding and column that a stem means, whose shard may be one of another number of shards.

    NotFoundError, with the names that are there, if there is none.
    """
    looked_up = looked_up_embedding(stem, stored)
    if looked_up is None:
        raise missing_embedding(reader, stem, stored)
    return looked_up


def missing_embedding(reader: CheckpointReader, stem: str, stored: Mapping[str, StoredEmbedding]) -> NotFoundError:
    """The error that a stem means none of the stored embeddings, with the names that are there."""
    names = _names_of(stem)
    known = sorted(slot_stem(name, column) for name, entry in stored.items() for column in entry.columns)
    known.sort(key=lambda other: (other.split("/")[-1] != names[-1].split("/")[-1], other))
    return NotFoundError(f'"{reader.path}" holds no embedding "{stem}"; it holds {some_of(known, 5) or "none at all"}')


def looked_up_embedding(stem: str, stored: Mapping[str, StoredEmbedding]) -> tuple[str, str] | None:
    """The stored embedding and column that a stem means, as `find_embedding` finds them; None if there is none."""
    for name in _names_of(stem):
        if name in stored:
            return name, ""
        parent, _, last = name.rpartition("/")
        if parent in stored and last in stored[parent].slots:
            return parent, last
    return None


def _names_of(stem: str) -> list[str]:
    """A stem, and what it is called without the number of its shard."""
    return [stem, *(variable + rest for variable, _, rest in split_parts(stem))]


def stems_in(reader: CheckpointReader, keys_suffix: str, values_suffix: str) -> set[str]:
    """The names before the suffixes of keys and values that are keys and rows by their types."""
    found = set()
    for name in reader:
        stem = name.removesuffix(keys_suffix)
        if stem == name or not stem or stem + values_suffix not in reader:
            continue
        keys, values = reader[name], reader[stem + values_suffix]
        if keys.dtype.name in ("int64", "int32") and len(values.shape) != 1 and not values.dtype.is_object:
            found.add(stem)
    return found


def _logical(stem: str, stems: Collection[str]) -> tuple[str, int]:
    """Name and shard of a stem. A component `part_<k>` counts if it ends the stem of a variable that has a part_0."""
    for variable, number, rest in split_parts(stem):
        owner = f"{variable}/part_{number}"
        is_shard = owner in stems or rest.startswith("/block")
        if is_shard and (f"{variable}/part_0{rest}" in stems or f"{variable}/part_0" in stems):
            return variable + rest, number
    spread = split_of(stem)
    if spread is not None:
        return spread[0], spread[1]
    return stem, 0


def _oddities(name: str, group: Mapping[int, str], slots: Mapping[str, Mapping[int, str]]) -> Iterator[str]:
    if gaps := sorted(set(range(max(group) + 1)) - set(group)):
        yield f"shards {', '.join(map(str, gaps))} are missing"
    spread = split_of(next(iter(group.values())))
    if spread is not None and len(group) != spread[2] and split_parts(group[min(group)]) == []:
        yield f"{len(group)} of {spread[2]} shards are stored"
    for slot, stems in slots.items():
        if absent := sorted(set(group) - set(stems)):
            yield f'slot "{slot}" lacks the shards {", ".join(map(str, absent))}'


def _names_in(reader: CheckpointReader, stem: str, suffixes: Sequence[str]) -> list[str]:
    return [stem + suffix if suffix and stem + suffix in reader else "" for suffix in suffixes]


def _rows_of(reader: CheckpointReader, stem: str) -> TensorRows:
    return TensorRows(reader, RowNames(*_names_in(reader, stem, (KEYS, VALUES, FREQS, VERSIONS, OFFSETS, SCALES))))


def _filtered_of(reader: CheckpointReader, stem: str) -> TensorRows:
    suffixes = (FILTERED_KEYS, "", FILTERED_FREQS, FILTERED_VERSIONS, FILTERED_OFFSETS)
    return TensorRows(reader, RowNames(*_names_in(reader, stem, suffixes)))
