"""Incremental checkpoints: what changed since the last full one. Their names are in stored/naming.py.

A delta is cumulative, so the full checkpoint and the newest delta are all that is needed. It holds the rows of the keys
that were touched and have rows now. DeepRec's has no more; here it also says which of the keys that were touched are
gone, and which are counted without a row, so that full and delta together are what a full save would have been.

    touched = keys with rows + keys without + keys that are gone
    table   = the full one without what was touched, and the delta
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.checkpoint.sources import ArraySource
from tensorkeep.embedding.stored.buckets import (
    BUCKETS,
    bucket_offsets,
    buckets_of,
    buckets_of_partition,
    checked_partition,
    find_in_order,
    is_in_order,
    order_of,
    shards_of,
    widened_keys,
)
from tensorkeep.embedding.stored.embeddings import StoredColumn, StoredEmbedding
from tensorkeep.embedding.stored.naming import (
    DELTA_FILTERED_FREQS,
    DELTA_FILTERED_KEYS,
    DELTA_FILTERED_VERSIONS,
    DELTA_FREQS,
    DELTA_KEYS,
    DELTA_OFFSETS,
    DELTA_PRESENCE,
    DELTA_REMOVED,
    DELTA_VALUES,
    DELTA_VERSIONS,
    slot_stem,
)
from tensorkeep.embedding.stored.ordered_columns import OrderedColumn, grouped_buckets
from tensorkeep.embedding.stored.rows import Batch, Fields, RowNames, TensorRows, joined_batches
from tensorkeep.embedding.stored.writing import StoredForm
from tensorkeep.embedding.table.snapshot import TableSnapshot, column_of
from tensorkeep.errors import DataLossError

Keys = npt.NDArray[np.int64]
Integers = npt.NDArray[np.int64]

_CHUNK: Final = 1 << 15  # keys whose rows are asked for at a time
_GAP: Final = 16  # rows between two wanted ones that are read along with them
_PENDING: Final = 1 << 18  # keys that are collected before they are made distinct


class TouchedKeys:
    """The keys of a table that were touched since its last full save. Any number of threads may record.

    It records from the first step on. Around a full save:

        generation = touched.begin()          before the snapshot
        …                                     the save; if it fails, nothing is forgotten
        touched.forget_before(generation)     what was touched later stays
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._generation = 0
        self._known: dict[int, Keys] = {}
        self._pending: list[tuple[int, Keys]] = []
        self._pending_size = 0

    def record(self, keys: npt.ArrayLike) -> None:
        """Notes keys that were looked up to be changed, inserted, changed or removed."""
        found = widened_keys(np.asarray(keys).reshape(-1)).copy()
        with self._lock:
            self._pending.append((self._generation, found))
            self._pending_size += found.size
            if self._pending_size >= max(_PENDING, sum(known.size for known in self._known.values())):
                self._settle()

    def begin(self) -> int:
        """Starts a generation: what is recorded from now on belongs to it. Returns its number."""
        with self._lock:
            self._settle()
            self._generation += 1
            return self._generation

    def forget_before(self, generation: int) -> None:
        """Forgets what was recorded before a generation began: a full checkpoint has it now."""
        with self._lock:
            self._settle()
            self._known = {number: keys for number, keys in self._known.items() if number >= generation}

    def keys(self) -> Keys:
        """All keys that are not forgotten, each once, in order."""
        with self._lock:
            self._settle()
            every = np.unique(np.concatenate([np.zeros(0, np.int64), *self._known.values()]))
        return every[order_of(every)]

    def __len__(self) -> int:
        return int(self.keys().size)

    def _settle(self) -> None:
        for number in {number for number, _ in self._pending}:
            new = [keys for generation, keys in self._pending if generation == number]
            self._known[number] = np.unique(np.concatenate([self._known.get(number, new[0][:0]), *new]))
        self._pending.clear()
        self._pending_size = 0


def delta_tensors(
    stem: str, snapshot: TableSnapshot, touched: Keys, column: str = "", form: StoredForm = StoredForm()
) -> dict[str, ArraySource]:
    """The tensors of an incremental checkpoint for one column: of the keys that were touched, in order."""
    chosen = column_of(snapshot, column)
    positions, there = find_in_order(snapshot.keys, touched)
    counted, is_counted = find_in_order(snapshot.filtered_keys, touched)
    is_counted &= ~there if form.filtered else False
    mine, others = positions[there], counted[is_counted]
    keys = snapshot.keys[mine]
    freqs, versions = _kept_field(snapshot.freqs, form.frequencies), _kept_field(snapshot.versions, form.versions)
    if form.frequencies and form.admitted_frequency is not None:
        freqs = np.full(snapshot.keys.size, form.admitted_frequency, np.int64)
    filtered_versions = _kept_field(snapshot.filtered_versions, form.versions)
    presence = np.array([freqs is not None, versions is not None, filtered_versions is not None], np.int8)
    tensors: dict[str, Array | ArraySource] = {
        DELTA_OFFSETS: bucket_offsets(keys).astype(np.int32),
        DELTA_FREQS: np.ones(mine.size, np.int64) if freqs is None else freqs[mine],
        DELTA_KEYS: keys.astype(form.key_dtype),
        DELTA_VALUES: ArraySource(chosen.dtype, (mine.size, chosen.dim), _Rows(snapshot, column, mine)),
        DELTA_VERSIONS: np.zeros(mine.size, np.int64) if versions is None else versions[mine],
        DELTA_FILTERED_FREQS: snapshot.filtered_freqs[others],
        DELTA_FILTERED_KEYS: snapshot.filtered_keys[others].astype(form.key_dtype),
        DELTA_FILTERED_VERSIONS: others[:0] if filtered_versions is None else filtered_versions[others],
        DELTA_PRESENCE: presence,
        DELTA_REMOVED: touched[~there & ~is_counted].astype(form.key_dtype),
    }
    return {stem + suffix: ArraySource.of(value) for suffix, value in tensors.items()}


def table_delta_tensors(
    stem: str, snapshot: TableSnapshot, touched: Keys, form: StoredForm = StoredForm()
) -> dict[str, ArraySource]:
    """The tensors of an incremental checkpoint for all columns of a table."""
    tensors: dict[str, ArraySource] = {}
    for column in snapshot.columns:
        tensors.update(delta_tensors(slot_stem(stem, column.name), snapshot, touched, column.name, form))
    return tensors


class StoredDelta:
    """One column of an incremental checkpoint, over all shards: rows, and the keys that lost theirs."""

    def __init__(self, reader: CheckpointReader, entry: StoredEmbedding, column: str = "") -> None:
        stems = [stem for _, stem in sorted(entry.stems_of(column).items())]
        presence = [_presence(reader, stem) for stem in stems]
        rows = [_delta_rows(reader, stem, flags) for stem, flags in zip(stems, presence, strict=True)]
        filtered = [_delta_filtered(reader, stem) for stem in stems if stem + DELTA_FILTERED_KEYS in reader]
        self.name = slot_stem(entry.name, column)
        self.rows = StoredColumn(self.name, reader, rows, filtered)
        self.keeps = next((flags for flags in presence if flags is not None), None)
        """Whether frequencies, versions and versions of counted keys are kept; None if the file does not say."""
        self._reader = reader
        self._stems = stems

    @cached_property
    def removed(self) -> Keys:
        """The keys that are gone, in order."""
        found = [np.zeros(0, np.int64)]
        for stem in self._stems:
            if stem + DELTA_REMOVED in self._reader:
                found.append(widened_keys(_vector(self._reader, stem + DELTA_REMOVED)))
        keys = np.unique(np.concatenate(found))
        return keys[order_of(keys)]

    def removed_of(self, buckets: Integers) -> Keys:
        """The keys of some buckets, ascending, that are gone, in order."""
        offsets = self._removed_offsets
        parts = [self.removed[offsets[bucket] : offsets[bucket + 1]] for bucket in buckets.tolist()]
        return np.concatenate([self.removed[:0], *parts])

    @cached_property
    def _removed_offsets(self) -> Integers:
        return bucket_offsets(self.removed)


@dataclass(frozen=True, eq=False)
class OverlaidColumn:
    """A column of a full checkpoint under that of an incremental one: the table as it was at the later save."""

    full: OrderedColumn
    delta: StoredDelta
    partition: tuple[int, int] = (0, 1)
    """The part k of P whose keys are asked for; of the others nothing is read."""

    def __post_init__(self) -> None:
        if self.full.dim != self.delta.rows.dim:
            raise DataLossError(
                f'"{self.full.name}" has rows of {self.full.dim} in the full checkpoint, and of {self.delta.rows.dim} '
                "in the incremental one"
            )

    @property
    def name(self) -> str:
        return self.full.name

    @property
    def dim(self) -> int:
        return self.full.dim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.full.dtype

    @property
    def key_dtype(self) -> np.dtype[Any]:
        return self.full.key_dtype

    @property
    def has_freqs(self) -> bool:
        return self._keeps(0, self.full.has_freqs, self.delta.rows.has_freqs, self.full.bucket_sizes)

    @property
    def has_versions(self) -> bool:
        return self._keeps(1, self.full.has_versions, self.delta.rows.has_versions, self.full.bucket_sizes)

    @property
    def filtered_has_versions(self) -> bool:
        own = self.delta.rows.filtered_has_versions
        return self._keeps(2, self.full.filtered_has_versions, own, self.full.filtered_sizes)

    def _keeps(self, which: int, in_full: bool, in_delta: bool, sizes: Integers) -> bool:
        """An empty table does not show whether numbers are kept; then the delta tells."""
        if sizes.any():
            return in_full
        return in_delta if self.delta.keeps is None else self.delta.keeps[which]

    @cached_property
    def bucket_sizes(self) -> Integers:
        sizes = np.zeros(BUCKETS, np.int64)
        wanted = buckets_of_partition(self.partition)
        for group in grouped_buckets(self.full.bucket_sizes + self.delta.rows.bucket_sizes, wanted):
            sizes += np.bincount(buckets_of(self.read_buckets(group, Fields()).keys), minlength=BUCKETS)
        return sizes

    @cached_property
    def filtered_sizes(self) -> Integers:
        sizes = np.zeros(BUCKETS, np.int64)
        wanted = buckets_of_partition(self.partition)
        for group in grouped_buckets(self.full.filtered_sizes + self.delta.rows.filtered_sizes, wanted):
            sizes += np.bincount(buckets_of(self.read_filtered(group).keys), minlength=BUCKETS)
        return sizes

    def read_buckets(self, buckets: Integers, fields: Fields) -> Batch:
        new = self.delta.rows.read_buckets(buckets, fields)
        others = self.delta.rows.read_filtered(buckets).keys
        return self._put_over(self.full.read_buckets(buckets, fields), new, others, buckets)

    def read_filtered(self, buckets: Integers) -> Batch:
        new = self.delta.rows.read_filtered(buckets)
        others = self.delta.rows.read_buckets(buckets).keys
        return self._put_over(self.full.read_filtered(buckets), new, others, buckets)

    def _put_over(self, old: Batch, new: Batch, others: Keys, buckets: Integers) -> Batch:
        """Old rows with new ones in their place, without those that went, and with those that came."""
        kept = np.ones(old.keys.size, np.bool_)
        for gone in (others, self.delta.removed_of(buckets)):
            positions, there = find_in_order(old.keys, gone)
            kept[positions[there]] = False
        positions, there = find_in_order(old.keys, new.keys)
        old = _overwritten_rows(old, new.taken(there), positions[there])
        if not kept.all():
            old = old.taken(kept)
        if there.all():
            return old
        batch = joined_batches([old, new.taken(~there)])
        return batch if is_in_order(batch.keys) else batch.taken(order_of(batch.keys))


def _overwritten_rows(old: Batch, new: Batch, positions: Integers) -> Batch:
    """The old rows, with the new ones at these positions. A field that only one of the two has is filled up: counts
    with 1, versions with -1.
    """
    if not new.keys.size:
        return old
    parts: list[Array | None] = [old.keys]
    for mine, theirs, absent in zip(old[1:], new[1:], (0, 1, -1), strict=True):
        if mine is None and theirs is None:
            parts.append(None)
            continue
        whole = np.full(old.keys.size, absent, np.int64) if mine is None else mine
        whole = whole if whole.flags.writeable else whole.copy()
        whole[positions] = absent if theirs is None else theirs
        parts.append(whole)
    return Batch(*parts)  # type: ignore[arg-type]


def of_partition(keys: Keys, partition: Iterable[int]) -> Keys:
    """The keys that belong to part k of P."""
    number, count = checked_partition(tuple(partition))
    chosen: Keys = keys[shards_of(keys, count) == number]
    return chosen


def _kept_field(numbers: Keys | None, is_wanted: bool) -> Keys | None:
    return numbers if is_wanted else None


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of a snapshot at some positions, ascending: neighbours together, the rest one by one."""

    snapshot: TableSnapshot
    column: str
    positions: Integers

    def __iter__(self) -> Iterator[Array]:
        for first in range(0, self.positions.size, _CHUNK):
            wanted = self.positions[first : first + _CHUNK]
            edges = [0, *(np.flatnonzero(np.diff(wanted) > _GAP) + 1).tolist(), wanted.size]
            for low, high in pairwise(edges):
                start, stop = int(wanted[low]), int(wanted[high - 1]) + 1
                yield self.snapshot.rows(self.column, start, stop)[wanted[low:high] - start]


def _vector(reader: CheckpointReader, name: str) -> Array:
    info = reader[name]
    if len(info.shape) != 1 or not info.dtype.is_integer:
        raise DataLossError(f'"{reader.path}": "{name}" is {info}, expected a vector of integers')
    return reader.read(name)


def _presence(reader: CheckpointReader, stem: str) -> tuple[bool, bool, bool] | None:
    if stem + DELTA_PRESENCE not in reader:
        return None
    flags = _vector(reader, stem + DELTA_PRESENCE)
    if flags.size != 3:
        raise DataLossError(f'"{reader.path}": "{stem}{DELTA_PRESENCE}" has {flags.size} numbers, expected 3')
    return bool(flags[0]), bool(flags[1]), bool(flags[2])


def _delta_rows(reader: CheckpointReader, stem: str, flags: tuple[bool, bool, bool] | None) -> TensorRows:
    freqs, versions, _ = flags or (True, True, True)
    names = [DELTA_KEYS, DELTA_VALUES, DELTA_FREQS if freqs else "", DELTA_VERSIONS if versions else "", DELTA_OFFSETS]
    present = [stem + name if name and stem + name in reader else "" for name in names]
    return TensorRows(reader, RowNames(*present))


def _delta_filtered(reader: CheckpointReader, stem: str) -> TensorRows:
    names = [DELTA_FILTERED_KEYS, "", DELTA_FILTERED_FREQS, DELTA_FILTERED_VERSIONS]
    return TensorRows(reader, RowNames(*(stem + name if name and stem + name in reader else "" for name in names)))
