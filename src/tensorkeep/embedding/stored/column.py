"""One column of a stored embedding over all its shards, in batches, by bucket or by key; several read side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader, Checksums
from tensorkeep.embedding.stored.buckets import (
    BUCKETS,
    bucket_offsets,
    buckets_of_partition,
    checked_partition,
    is_in_order,
    order_of,
)
from tensorkeep.embedding.stored.rows import (
    ALL_FIELDS,
    Batch,
    DenseRows,
    Fields,
    KeyedRows,
    TensorRows,
    joined_batches,
    stretches_of_buckets,
)
from tensorkeep.errors import DataLossError

Keys = npt.NDArray[np.int64]
Integers = npt.NDArray[np.int64]


class StoredColumn:
    """One column of a stored embedding: weights or a slot, over all shards."""

    def __init__(
        self,
        name: str,
        reader: CheckpointReader,
        rows: Sequence[KeyedRows],
        filtered: Sequence[TensorRows],
    ) -> None:
        self.name = name
        self.reader = reader
        self._rows = tuple(rows)
        self._filtered = tuple(filtered)
        dims = sorted({source.dim for source in rows})
        if len(dims) != 1:
            raise DataLossError(f'"{reader.path}": the shards of "{name}" have rows of {", ".join(map(str, dims))}')
        self.dim = dims[0]
        self.dtype: np.dtype[Any] = rows[0].dtype
        if any(source.dtype != self.dtype for source in rows):
            self.dtype = np.dtype(np.float32)

    @cached_property
    def bucket_sizes(self) -> Integers:
        """How many keys each bucket has."""
        sizes: Integers = sum((np.diff(source.offsets) for source in self._rows), np.zeros(BUCKETS, np.int64))
        return sizes

    @cached_property
    def filtered_sizes(self) -> Integers:
        """How many counted keys without rows each bucket has."""
        sizes: Integers = sum((np.diff(source.offsets) for source in self._filtered), np.zeros(BUCKETS, np.int64))
        return sizes

    @property
    def count(self) -> int:
        """How many keys have rows."""
        return int(self.bucket_sizes.sum())

    @property
    def filtered_count(self) -> int:
        """How many keys are only counted."""
        return int(self.filtered_sizes.sum())

    @property
    def has_freqs(self) -> bool:
        """Whether frequencies are stored, of some shard at least. An empty shard cannot tell."""
        return any(_keeps(source, "has_freqs") for source in self._rows)

    @property
    def has_versions(self) -> bool:
        """Whether versions are stored, of some shard at least."""
        return any(_keeps(source, "has_versions") for source in self._rows)

    @property
    def filtered_has_versions(self) -> bool:
        """Whether versions of counted keys are stored, of some shard at least."""
        return any(_keeps(source, "has_versions") for source in self._filtered)

    @property
    def _tensor_rows(self) -> list[TensorRows]:
        return [source for source in self._rows if isinstance(source, TensorRows)]

    @property
    def tensor_rows(self) -> Sequence[TensorRows] | None:
        """Its shards, if all of it lies in tensors beside each other."""
        return self._tensor_rows if len(self._tensor_rows) == len(self._rows) else None

    @property
    def key_dtype(self) -> np.dtype[Any]:
        """The type of the stored keys."""
        stored = {source.key_dtype for source in self._tensor_rows}
        return np.dtype(np.int32) if stored == {np.dtype(np.int32)} else np.dtype(np.int64)

    def verify(self, partition: tuple[int, int] = (0, 1), later: Fields | None = None) -> None:
        """Compares the checksums of its tensors, unless the reader does so by itself or was told not to.

        Of a partition (k, P) those of the shards that belong to it as a whole: a checksum says nothing of a part.
        `later` are the fields that `checked_scan` will be asked for: their tensors are left out.
        """
        if self.reader.options.checksums is Checksums.ALWAYS:
            sources = [source for source in (*self._rows, *self._filtered) if _is_within(source, partition)]
            names = [name for source in sources for name in getattr(source, "tensors", ())]
            read = set() if later is None else {name for source in self._tensor_rows for name in source.scanned(later)}
            self.reader.verify_many([name for name in names if name not in read])

    def checked_scan(self, fields: Fields = ALL_FIELDS) -> Iterator[Batch]:
        """All keys, as by `scan`, after `verify(fields)`; checksums are compared as tensors are read to their ends."""
        is_checked = self.reader.options.checksums is Checksums.ALWAYS
        for source in self._rows:
            if is_checked and isinstance(source, TensorRows):
                yield from source.checked_scan(fields)
            else:
                yield from source.scan(0, 1, fields)

    def scan(self, partition: tuple[int, int] = (0, 1), fields: Fields = ALL_FIELDS) -> Iterator[Batch]:
        """The keys of a partition (k, P) in batches, in whatever order is quick to read. Only its buckets are read."""
        number, count = checked_partition(partition)
        for source in self._rows:
            yield from source.scan(number, count, fields)

    def scan_filtered(self, partition: tuple[int, int] = (0, 1)) -> Iterator[Batch]:
        """The counted keys of a partition without rows, with frequencies and versions, in batches."""
        number, count = checked_partition(partition)
        for source in self._filtered:
            yield from source.scan(number, count, Fields(freqs=True, versions=True))

    def read_buckets(self, buckets: Integers, fields: Fields = Fields()) -> Batch:
        """The keys of some buckets, ascending, in order."""
        return self._in_order(self._rows, buckets, fields)

    def read_filtered(self, buckets: Integers) -> Batch:
        """The counted keys of some buckets, in order."""
        return self._in_order(self._filtered, buckets, Fields(freqs=True, versions=True))

    def look_up(self, keys: Keys, fields: Fields = ALL_FIELDS) -> tuple[Integers, Batch]:
        """Which of some keys, in order, have rows, by position, and what is stored of these.

        Of each bucket that comes in question the keys are read, and of the keys that are found the rows.
        """
        return self._find_rows(self._rows, keys, fields)

    def look_up_filtered(self, keys: Keys) -> tuple[Integers, Batch]:
        """Which of some keys, in order, are counted and have no rows, and their counts."""
        return self._find_rows(self._filtered, keys, Fields(freqs=True, versions=True))

    def _find_rows(self, sources: Sequence[KeyedRows], keys: Keys, fields: Fields) -> tuple[Integers, Batch]:
        places: list[Integers] = []
        batches: list[Batch] = []
        ends = bucket_offsets(keys)
        for bucket in np.flatnonzero(np.diff(ends)).tolist():
            low, high = int(ends[bucket]), int(ends[bucket + 1])
            for source in sources:
                start, stop = int(source.offsets[bucket]), int(source.offsets[bucket + 1])
                if start == stop:
                    continue
                held = source.read(start, stop, Fields()).keys
                order = np.argsort(held, kind="stable")
                at = np.minimum(np.searchsorted(held, keys[low:high], sorter=order), held.size - 1)
                there = np.flatnonzero(held[order[at]] == keys[low:high])
                if there.size:
                    places.append(low + there)
                    batches.append(source.take(start + order[at[there]], fields))
        if not places:
            return np.zeros(0, np.int64), Batch(np.zeros(0, np.int64))
        return np.concatenate(places), joined_batches(batches)

    def _in_order(self, sources: Sequence[KeyedRows], buckets: Integers, fields: Fields) -> Batch:
        parts = [
            source.read(start, stop, fields)
            for source in sources
            for start, stop in stretches_of_buckets(source.offsets, buckets)
        ]
        if not parts:
            none = np.zeros(0, np.int64)
            return Batch(none, np.zeros((0, self.dim), self.dtype) if fields.values else None, none, none)
        batch = joined_batches(parts)
        if not is_in_order(batch.keys):
            batch = batch.taken(order_of(batch.keys))
            _check_distinct(sources, batch.keys)
        return batch


def dense_column(reader: CheckpointReader, name: str) -> StoredColumn:
    """A dense tensor as a column: its rows by their numbers."""
    return StoredColumn(name, reader, [DenseRows(reader, name)], [])


def _is_within(source: KeyedRows, partition: tuple[int, int]) -> bool:
    """Whether all keys belong to a partition."""
    sizes = None if partition[1] == 1 else np.diff(source.offsets)
    return sizes is None or int(sizes[buckets_of_partition(partition)].sum()) == int(sizes.sum())


def _keeps(source: KeyedRows, what: str) -> bool:
    return bool(getattr(source, what)) and bool(source.offsets[-1])


def _check_distinct(sources: Sequence[KeyedRows], keys: Keys) -> None:
    twice = np.flatnonzero(keys[1:] == keys[:-1])
    if twice.size:
        places = ", ".join(source.where for source in sources)
        raise DataLossError(f"{places}: key {int(keys[twice[0]])} is stored twice")


class ReadColumn(NamedTuple):
    """A stored column that is read for a table's column of a name, and how its rows are made to fit."""

    name: str
    source: StoredColumn
    partition: tuple[int, int]
    adapted: Callable[[Batch], Array]


class SideBySide:
    """The rows of weights, and with them those of the slots that have the same keys in the same places."""

    def __init__(self, weights: ReadColumn, slots: Sequence[ReadColumn], keeps: Fields, *, is_checked: bool) -> None:
        """`keeps` are the fields that are wanted of the weights. `is_checked`: checksums are compared on the way."""
        self._weights = weights
        self._slots = slots
        self._keeps = keeps
        self._is_checked = is_checked
        self.names = [slot.name for slot in slots]
        """Slots of which all rows have been read. One in which something is otherwise is left out from there on."""

    def read(self) -> Iterator[tuple[Batch, dict[str, Array]]]:
        """The keys, with counts and versions if they are wanted, and the rows by column."""
        mine = self._scan(self._weights, self._keeps)
        others = [(slot, self._scan(slot, Fields(values=True))) for slot in self._slots]
        for batch in mine:
            blocks = {"": self._weights.adapted(batch)}
            for slot, scan in others:
                if slot.name in self.names:
                    theirs = next(scan, None)
                    if theirs is None or not np.array_equal(theirs.keys, batch.keys):
                        self.names.remove(slot.name)
                    else:
                        blocks[slot.name] = slot.adapted(theirs)
            yield batch, blocks
        self.names = [slot.name for slot, scan in others if slot.name in self.names and next(scan, None) is None]

    def _scan(self, column: ReadColumn, fields: Fields) -> Iterator[Batch]:
        if not self._is_checked:
            return column.source.scan(column.partition, fields)
        column.source.verify(later=fields)
        return column.source.checked_scan(fields)
