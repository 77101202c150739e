"""Columns that are read bucket by bucket, in order, as often as need be: what the offline tools are made of.

A stored column is one; so is a choice of its keys, a slot brought in line with the weights, or a full checkpoint under
an incremental one. None holds its rows. What is to be written anew is read once for each of its tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.embedding.stored.buckets import BUCKETS, buckets_of, buckets_of_partition, find_in_order
from tensorkeep.embedding.stored.rows import Batch, Fields
from tensorkeep.errors import DataLossError

Keys = npt.NDArray[np.int64]
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]

ROWS: Final = 1 << 16  # rows of a batch, about


class OrderedColumn(Protocol):
    """Weights or a slot, readable by bucket."""

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...

    @property
    def dtype(self) -> np.dtype[Any]: ...

    @property
    def key_dtype(self) -> np.dtype[Any]: ...

    @property
    def has_freqs(self) -> bool: ...

    @property
    def has_versions(self) -> bool: ...

    @property
    def filtered_has_versions(self) -> bool: ...

    @property
    def bucket_sizes(self) -> Integers:
        """How many keys with rows each bucket has."""
        ...

    @property
    def filtered_sizes(self) -> Integers:
        """How many counted keys without rows each bucket has."""
        ...

    def read_buckets(self, buckets: Integers, fields: Fields) -> Batch:
        """The keys of some buckets, ascending, in order, and what is wanted of them."""
        ...

    def read_filtered(self, buckets: Integers) -> Batch:
        """The counted keys of some buckets in order, with frequencies and versions."""
        ...


def in_order(
    column: OrderedColumn, partition: Sequence[int] = (0, 1), fields: Fields = Fields(), rows: int = ROWS
) -> Iterator[Batch]:
    """The keys of a partition (k, P) in order, in batches of whole buckets."""
    for group in grouped_buckets(column.bucket_sizes, buckets_of_partition(partition), rows):
        yield column.read_buckets(group, fields)


def filtered_in_order(column: OrderedColumn, partition: Sequence[int] = (0, 1)) -> Iterator[Batch]:
    """The counted keys of a partition without rows in order, in batches of whole buckets."""
    for group in grouped_buckets(column.filtered_sizes, buckets_of_partition(partition), ROWS):
        yield column.read_filtered(group)


def grouped_buckets(sizes: Integers, buckets: Integers, rows: int = ROWS) -> Iterator[Integers]:
    """Cuts buckets into groups of about so many rows, without those that have none."""
    wanted = buckets[sizes[buckets] > 0]
    totals = np.cumsum(sizes[wanted])
    first = done = 0
    while first < wanted.size:
        last = max(first + 1, int(np.searchsorted(totals, done + rows, side="right")))
        yield wanted[first:last]
        first, done = last, int(totals[last - 1])


@dataclass(frozen=True, eq=False)
class Selection:
    """Some of a column's keys: one bit for each, in order, and how many are chosen of each bucket."""

    starts: Integers
    bits: npt.NDArray[np.uint8]
    sizes: Integers

    @classmethod
    def of(cls, column: OrderedColumn, choose: Callable[[Batch], Booleans], fields: Fields) -> Selection:
        """The keys for which `choose`, called on batches in order, says so."""
        starts = np.cumsum(column.bucket_sizes) - column.bucket_sizes
        sizes = np.zeros(BUCKETS, np.int64)
        pieces: list[npt.NDArray[np.uint8]] = []
        rest = np.zeros(0, np.bool_)
        for batch in in_order(column, fields=fields):
            chosen = choose(batch)
            sizes += np.bincount(buckets_of(batch.keys[chosen]), minlength=BUCKETS)
            rest = np.concatenate([rest, chosen])
            whole = rest.size // 8 * 8
            pieces.append(np.packbits(rest[:whole]))
            rest = rest[whole:]
        return cls(starts, np.concatenate([*pieces, np.packbits(rest)]), sizes)

    def of_batch(self, keys: Keys) -> Booleans:
        """Which keys of whole buckets, in order, are chosen."""
        buckets = buckets_of(keys)
        first = np.flatnonzero(np.diff(buckets, prepend=-1))
        lengths = np.diff(np.append(first, keys.size))
        positions = np.arange(keys.size) - np.repeat(first, lengths) + self.starts[buckets]
        chosen: Booleans = ((self.bits[positions >> 3] >> (7 - (positions & 7)).astype(np.uint8)) & 1).astype(np.bool_)
        return chosen


class KeyChoice(Protocol):
    """Which keys of a column are meant, of those with rows and of those that are only counted."""

    def sizes(self, column: OrderedColumn) -> Integers:
        """How many keys with rows are meant of each bucket."""
        ...

    def filtered_sizes(self, column: OrderedColumn) -> Integers:
        """How many counted keys are meant of each bucket."""
        ...

    def rows(self, batch: Batch) -> Batch:
        """Those rows that are meant of a batch of whole buckets, in order, that have some."""
        ...

    def filtered_rows(self, batch: Batch) -> Batch:
        """Those counted keys that are meant of a batch of whole buckets, in order, that have some."""
        ...


@dataclass(frozen=True, eq=False)
class SelectedKeys:
    """The keys of a selection. Of the counted keys, those for which `filtered` says so; all, if it is None."""

    selection: Selection
    filtered: Callable[[Batch], Booleans] | None = None

    def sizes(self, column: OrderedColumn) -> Integers:
        return self.selection.sizes

    def filtered_sizes(self, column: OrderedColumn) -> Integers:
        if self.filtered is None:
            return column.filtered_sizes
        sizes = np.zeros(BUCKETS, np.int64)
        for batch in filtered_in_order(column):
            sizes += np.bincount(buckets_of(self.filtered_rows(batch).keys), minlength=BUCKETS)
        return sizes

    def rows(self, batch: Batch) -> Batch:
        return batch.taken(self.selection.of_batch(batch.keys))

    def filtered_rows(self, batch: Batch) -> Batch:
        return batch if self.filtered is None else batch.taken(self.filtered(batch))


@dataclass(frozen=True, eq=False)
class KeysWithin:
    """The keys of some buckets; of the other buckets nothing is read."""

    buckets: Integers

    def sizes(self, column: OrderedColumn) -> Integers:
        return self._of(column.bucket_sizes)

    def filtered_sizes(self, column: OrderedColumn) -> Integers:
        return self._of(column.filtered_sizes)

    def _of(self, sizes: Integers) -> Integers:
        mine = np.zeros(BUCKETS, np.int64)
        mine[self.buckets] = sizes[self.buckets]
        return mine

    def rows(self, batch: Batch) -> Batch:
        return batch

    def filtered_rows(self, batch: Batch) -> Batch:
        return batch


@dataclass(frozen=True, eq=False)
class ChosenColumn:
    """A column with some of its keys alone."""

    column: OrderedColumn
    choice: KeyChoice

    @property
    def name(self) -> str:
        return self.column.name

    @property
    def dim(self) -> int:
        return self.column.dim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.column.dtype

    @property
    def key_dtype(self) -> np.dtype[Any]:
        return self.column.key_dtype

    @property
    def has_freqs(self) -> bool:
        return self.column.has_freqs

    @property
    def has_versions(self) -> bool:
        return self.column.has_versions

    @property
    def filtered_has_versions(self) -> bool:
        return self.column.filtered_has_versions

    @cached_property
    def bucket_sizes(self) -> Integers:
        return self.choice.sizes(self.column)

    @cached_property
    def filtered_sizes(self) -> Integers:
        return self.choice.filtered_sizes(self.column)

    def read_buckets(self, buckets: Integers, fields: Fields) -> Batch:
        return self.choice.rows(self.column.read_buckets(buckets, fields))

    def read_filtered(self, buckets: Integers) -> Batch:
        return self.choice.filtered_rows(self.column.read_filtered(buckets))


@dataclass(frozen=True, eq=False)
class AlignedColumn:
    """A slot with exactly the keys of the weights; frequencies, versions and counted keys are those of the weights.

    Keys that only the slot has are left out. Those that only the weights have are given rows of `fill`; without it they
    are an error.
    """

    weights: OrderedColumn
    slot: OrderedColumn
    fill: float | None = None

    @property
    def name(self) -> str:
        return self.slot.name

    @property
    def dim(self) -> int:
        return self.slot.dim

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.slot.dtype

    @property
    def key_dtype(self) -> np.dtype[Any]:
        return self.weights.key_dtype

    @property
    def has_freqs(self) -> bool:
        return self.weights.has_freqs

    @property
    def has_versions(self) -> bool:
        return self.weights.has_versions

    @property
    def filtered_has_versions(self) -> bool:
        return self.weights.filtered_has_versions

    @property
    def bucket_sizes(self) -> Integers:
        return self.weights.bucket_sizes

    @property
    def filtered_sizes(self) -> Integers:
        return self.weights.filtered_sizes

    def read_buckets(self, buckets: Integers, fields: Fields) -> Batch:
        batch = self.weights.read_buckets(buckets, fields._replace(values=False))
        return batch._replace(values=self._rows(batch.keys, buckets)) if fields.values else batch

    def _rows(self, keys: Keys, buckets: Integers) -> Array:
        found = self.slot.read_buckets(buckets, Fields(values=True))
        assert found.values is not None
        if np.array_equal(found.keys, keys):
            return found.values
        positions, there = find_in_order(found.keys, keys)
        if not there.all() and self.fill is None:
            raise DataLossError(
                f'"{self.slot.name}" has no row for key {int(keys[~there][0])}, which "{self.weights.name}" has; '
                "the checkpoint can be repaired by `repair_checkpoint`"
            )
        rows = np.full((keys.size, self.dim), self.fill or 0.0, self.dtype)
        rows[there] = found.values[positions[there]]
        return rows

    def read_filtered(self, buckets: Integers) -> Batch:
        return self.weights.read_filtered(buckets)
