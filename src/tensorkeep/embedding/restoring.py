"""From a checkpoint into a table, whatever the number of shards, the dimension and the form in which it was stored.

Weights and slots may be restored in any order. Restoring replaces: afterwards the table has the keys that are stored
for its weights and no others, and every column has stored rows or its default rows, never what was there before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.admission import AdmitAll, BloomFilter, CounterFilter
from tensorkeep.embedding.ahead import ahead
from tensorkeep.embedding.buckets import (
    bucket_offsets,
    buckets_of_partition,
    checked_partition,
    find_in_order,
    shards_of,
)
from tensorkeep.embedding.initial import default_rows
from tensorkeep.embedding.naming import slot_stem
from tensorkeep.embedding.ordered import OrderedColumn, grouped, in_order
from tensorkeep.embedding.reports import ColumnReport
from tensorkeep.embedding.snapshot import ColumnInfo
from tensorkeep.embedding.sources import open_source
from tensorkeep.embedding.stored import (
    StoredColumn,
    StoredEmbedding,
    find_embedding,
    stored_embeddings,
)
from tensorkeep.embedding.stored_rows import Batch, Fields
from tensorkeep.embedding.table import EmbeddingTable
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.io.filesystem import FileSystem
from tensorkeep.io.local import LOCAL

__all__ = ["ColumnReport", "read_dense", "restore_column", "restore_table"]

Array = npt.NDArray[Any]
Keys = npt.NDArray[np.int64]
Extend = Literal["error", "initial", "zero"]
Missing = Literal["error", "initial"]

_NEVER: Final = -1
_LISTED: Final = 5
_READY: Final = 2  # batches that are read while one is stored


@dataclass(frozen=True, slots=True)
class _Rules:
    """How a column is restored."""

    replace: bool
    extend: Extend
    reset_version: bool
    missing: Missing | None

    def __post_init__(self) -> None:
        if self.extend not in ("error", "initial", "zero"):
            raise InvalidArgumentError(f'extend: expected "error", "initial" or "zero", got {self.extend!r}')
        if self.missing not in (None, "error", "initial"):
            raise InvalidArgumentError(f'missing: expected "error", "initial" or None, got {self.missing!r}')


def restore_column(
    table: EmbeddingTable,
    reader: CheckpointReader,
    stem: str,
    *,
    column: str = "",
    partition: Sequence[int] = (0, 1),
    replace: bool = True,
    extend: Extend = "error",
    reset_version: bool = False,
    missing: Missing | None = None,
    primary: str | None = None,
    stored: Mapping[str, StoredEmbedding] | None = None,
    fs: FileSystem = LOCAL,
) -> ColumnReport:
    """Restores one column of a table from what is stored under a stem, or was under other numbers of shards.

    `partition` is (k, P) for part k of P: only its keys are read. `replace`: what is not stored goes, keys and rows of
    slots; if not, stored rows are put over what is there. `extend`: rows of another dimension are refused, or cut, and
    made longer by default rows ("initial") or by zeros ("zero"). `reset_version`: keys count as updated at step 0.
    `missing`: a column that is not stored is an error, or has default rows; by itself the first for weights, the
    second for slots. `primary` is the stem of the weights, if the name of the slot does not tell it. `stored` is what
    `stored_embeddings` found, if that is known already.
    """
    rules = _Rules(replace, extend, reset_version, missing)
    known = stored_embeddings(reader, fs=fs) if stored is None else stored
    return _prepared(table, reader, (stem, column, primary), partition, rules, known, fs).run()


def restore_table(
    table: EmbeddingTable,
    reader: CheckpointReader,
    stem: str,
    *,
    partition: Sequence[int] = (0, 1),
    replace: bool = True,
    extend: Extend = "error",
    reset_version: bool = False,
    missing: Missing | None = None,
    fs: FileSystem = LOCAL,
) -> tuple[ColumnReport, ...]:
    """Restores all columns of a table, each from `<stem>/<its name>`, the weights from the stem itself.

    The arguments are those of `restore_column`. What one of the columns does not allow is raised before any is changed.
    """
    rules = _Rules(replace, extend, reset_version, missing)
    known = stored_embeddings(reader, fs=fs)
    columns = [
        _prepared(table, reader, (slot_stem(stem, info.name), info.name, stem), partition, rules, known, fs)
        for info in table.columns
    ]
    together = [column for column in columns[1:] if columns[0].goes_with(column)]
    weights, written = columns[0].run_with(together)
    return (weights, *(written.get(column.target.name) or column.run() for column in columns[1:]))


def read_dense(reader: CheckpointReader, stem: str, rows: int | None = None, *, fs: FileSystem = LOCAL) -> Array:
    """An embedding whose keys are 0 to n - 1 as the dense array [n, dim] that they number the rows of.

    `rows` is the n that is wanted; by itself it is the number of keys.
    """
    stored = stored_embeddings(reader, fs=fs)
    name, column = find_embedding(reader, stem, stored)
    source = stored[name].open(reader, column, fs=fs)
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


@dataclass(frozen=True, slots=True, eq=False)
class _Restore:
    """One column on its way from a checkpoint, or from nowhere, into a table."""

    table: EmbeddingTable
    target: ColumnInfo
    source: StoredColumn | None
    weights: OrderedColumn | None
    partition: tuple[int, int]
    rules: _Rules
    report: ColumnReport

    def run(self) -> ColumnReport:
        if not self.target.name:
            return self.run_with(())[0]
        if self.source is None:
            return self._initialised()
        self.source.verify(self.partition)
        return self._slot(self.source)

    def goes_with(self, slot: _Restore) -> bool:
        """Whether a slot may have the same keys in the same places as these weights."""
        return None not in (self.source, slot.source) and isinstance(slot.weights, StoredColumn)

    def run_with(self, slots: Sequence[_Restore]) -> tuple[ColumnReport, Mapping[str, ColumnReport]]:
        """Restores weights, and along with them the slots that turn out to have the same keys in the same places.

        A table that is empty is so again if the checkpoint is damaged; for another that is found out beforehand.
        """
        if self.source is None:
            return self._initialised(), {}
        if self.partition[1] != 1 or not self._is_empty:
            for column in (self, *slots):
                assert column.source is not None
                column.source.verify(self.partition)
            return self._weights(self.source, _SideBySide(self, slots, is_checked=False))
        try:
            return self._weights(self.source, _SideBySide(self, slots, is_checked=True))
        except BaseException:
            self.table.clear()
            raise

    @property
    def _is_empty(self) -> bool:
        """Whether nothing is lost if the table is cleared."""
        table = self.table
        return not len(table) and not table.filtered_count and not isinstance(table.admission, BloomFilter)

    def _weights(self, source: StoredColumn, rows: _SideBySide) -> tuple[ColumnReport, Mapping[str, ColumnReport]]:
        before = len(self.table)
        self.table.reserve(max(before, self._count_of(source)))
        count = 0
        for batch, blocks in ahead(rows.read(), _READY):
            freqs = np.full(batch.keys.size, max(self._threshold, 1)) if batch.freqs is None else batch.freqs
            freqs = np.maximum(freqs, self._threshold)
            self.table.assign_columns(batch.keys, blocks, freqs, self._versions(batch))
            count += batch.keys.size
        report = self._weights_report(source, before, count)
        return report, {slot.target.name: slot._reported(restored=count) for slot in rows.slots}

    def _weights_report(self, source: StoredColumn, before: int, count: int) -> ColumnReport:
        """Drops what was there and is not stored, and puts the counted keys without rows in place."""
        inserted = len(self.table) - before
        if inserted > count or (not before and inserted != count):
            raise DataLossError(f'"{source.name}": {count - inserted} keys are stored twice')
        is_replaced = self.rules.replace and count - inserted != before
        surplus = self._surplus(source) if is_replaced else np.zeros(0, np.int64)
        if surplus.size:
            self.table.remove(surplus)
        return self._filtered(source, self._reported(restored=count, removed=int(surplus.size)))

    def _slot(self, source: StoredColumn) -> ColumnReport:
        before = len(self.table)
        written = self._written_side_by_side(source)
        skipped = 0
        if written is None:
            written, skipped = self._written_by_bucket(source)
        inserted = len(self.table) - before
        bare = np.zeros(0, np.int64)
        if self.rules.replace and written - inserted != before:
            bare = self._surplus(source)
            self.table.reset_column(self.target.name, bare)
        initialised = int(bare.size) if self.weights is None else self._count_of(self.weights) - written
        return self._reported(restored=written, skipped=skipped, initialised=initialised)

    def _initialised(self) -> ColumnReport:
        """What is done about a column that is not stored."""
        if not self.rules.replace:
            return self.report
        with self.table.snapshot() as snapshot:
            keys = snapshot.keys
        self.table.reset_column(self.target.name, keys)
        return self._reported(initialised=int(keys.size))

    def _reported(self, **counts: int) -> ColumnReport:
        return dataclasses.replace(self.report, **counts)  # type: ignore[arg-type]

    def _written_side_by_side(self, source: StoredColumn) -> int | None:
        """Writes rows as they lie, as long as the weights have the same keys in the same places; None if not."""
        if not isinstance(self.weights, StoredColumn):
            return None
        count = 0
        rows = source.scan(self.partition, Fields(values=True))
        for mine, theirs in ahead(zip_longest(rows, self.weights.scan(self.partition, Fields())), _READY):
            if mine is None or theirs is None or not np.array_equal(mine.keys, theirs.keys):
                return None  # what was written is written again, by bucket
            self.table.assign(mine.keys, self.adapted(mine), self.target.name)
            count += mine.keys.size
        return count

    def _written_by_bucket(self, source: StoredColumn) -> tuple[int, int]:
        written = skipped = 0
        for group in grouped(source.bucket_sizes, buckets_of_partition(self.partition)):
            batch = source.read_buckets(group, Fields(values=True))
            if self.weights is not None:
                there = find_in_order(self.weights.read_buckets(group, Fields()).keys, batch.keys)[1]
            else:
                there = self.table.contains(batch.keys)
            chosen = batch.taken(there)
            self.table.assign(chosen.keys, self.adapted(chosen), self.target.name)
            written += chosen.keys.size
            skipped += batch.keys.size - chosen.keys.size
        return written, skipped

    def _surplus(self, source: StoredColumn) -> Keys:
        """The keys of the table that are not stored, or not stored for the weights either."""
        with self.table.snapshot() as snapshot:
            keys = snapshot.keys
        found: list[Keys] = []
        offsets = bucket_offsets(keys)
        for group in grouped(np.diff(offsets), np.arange(offsets.size - 1)):
            mine = np.concatenate([keys[offsets[bucket] : offsets[bucket + 1]] for bucket in group.tolist()])
            stored = source.read_buckets(group, Fields()).keys
            if self.weights is not None:
                stored = stored[find_in_order(self.weights.read_buckets(group, Fields()).keys, stored)[1]]
            there = find_in_order(stored, mine)[1] & (shards_of(mine, self.partition[1]) == self.partition[0])
            found.append(mine[~there])
        return np.concatenate(found) if found else keys[:0]

    def _filtered(self, source: StoredColumn, report: ColumnReport) -> ColumnReport:
        is_replaced = self.rules.replace and self.table.filtered_count
        before = self._filtered_keys() if is_replaced else np.zeros(0, np.int64)
        stored: list[Keys] = []
        total = 0
        admitted = len(self.table)
        for batch in source.scan_filtered(self.partition):
            total += batch.keys.size
            freqs = np.ones(batch.keys.size, np.int64) if batch.freqs is None else batch.freqs
            self.table.assign_filtered(batch.keys, freqs, self._versions(batch))
            stored.append(batch.keys)
        if before.size:
            self.table.remove(np.setdiff1d(before, np.concatenate([before[:0], *stored])))
        if not self._threshold or not isinstance(self.table.admission, CounterFilter):
            return dataclasses.replace(report, filtered_dropped=total)
        entered = len(self.table) - admitted
        return dataclasses.replace(report, filtered=total - entered, filtered_admitted=entered)

    def _filtered_keys(self) -> Keys:
        """The counted keys of the table that have no rows, as they are before others are restored."""
        with self.table.snapshot() as snapshot:
            return snapshot.filtered_keys

    def adapted(self, batch: Batch) -> Array:
        """Rows of the table's dimension and type."""
        values, dim = batch.values, self.target.dim
        assert values is not None
        if values.shape[1] > dim:
            values = values[:, :dim]
        elif values.shape[1] < dim:
            rows = np.zeros((len(values), dim), self.target.dtype)
            if self.rules.extend == "initial":
                rows = default_rows(self.table.default(self.target.name), batch.keys)
            rows[:, : values.shape[1]] = values
            return rows
        return values.astype(self.target.dtype, copy=False)

    def _versions(self, batch: Batch) -> Keys:
        if self.rules.reset_version:
            return np.zeros(batch.keys.size, np.int64)
        return np.full(batch.keys.size, _NEVER, np.int64) if batch.versions is None else batch.versions

    @property
    def _threshold(self) -> int:
        admission = self.table.admission
        return 0 if isinstance(admission, AdmitAll) else admission.threshold

    def _count_of(self, column: OrderedColumn) -> int:
        return int(column.bucket_sizes[buckets_of_partition(self.partition)].sum())


class _SideBySide:
    """The rows of weights, and with them those of the slots that have the same keys in the same places."""

    def __init__(self, weights: _Restore, slots: Sequence[_Restore], *, is_checked: bool) -> None:
        self._weights = weights
        self._is_checked = is_checked
        self.slots = list(slots)
        """Those of which all rows have been read. A slot in which something is otherwise is left out from there on."""

    def read(self) -> Iterator[tuple[Batch, dict[str, Array]]]:
        """The keys, with counts and versions if the table keeps them, and the rows by column."""
        table = self._weights.table
        keeps = Fields(True, table.keeps_frequencies or isinstance(table.admission, BloomFilter), table.keeps_versions)
        mine = self._scan(self._weights, keeps)
        others = [(slot, self._scan(slot, Fields(values=True))) for slot in self.slots]
        for batch in mine:
            blocks = {"": self._weights.adapted(batch)}
            for slot, scan in others:
                if slot in self.slots:
                    theirs = next(scan, None)
                    if theirs is None or not np.array_equal(theirs.keys, batch.keys):
                        self.slots.remove(slot)
                    else:
                        blocks[slot.target.name] = slot.adapted(theirs)
            yield batch, blocks
        self.slots = [slot for slot, scan in others if slot in self.slots and next(scan, None) is None]

    def _scan(self, column: _Restore, fields: Fields) -> Iterator[Batch]:
        assert column.source is not None
        if not self._is_checked:
            return column.source.scan(column.partition, fields)
        column.source.verify(later=fields)
        return column.source.checked_scan(fields)


def _prepared(
    table: EmbeddingTable,
    reader: CheckpointReader,
    wanted: tuple[str, str, str | None],
    partition: Sequence[int],
    rules: _Rules,
    stored: Mapping[str, StoredEmbedding],
    fs: FileSystem,
) -> _Restore:
    """A column that is about to be restored: by stem, name and stem of the weights. What is not allowed is raised."""
    stem, column, primary = wanted
    target = _target(table, column)
    source, weights, kind, problems = open_source(reader, stem, column, primary, stored, fs)
    report = ColumnReport(stem, column, kind, dim=target.dim, problems=problems)
    if source is None and (rules.missing or ("initial" if column else "error")) == "error":
        find_embedding(reader, stem, stored)  # which raises, and lists what is there
    if source is not None:
        if source.dim != target.dim and rules.extend == "error":
            raise InvalidArgumentError(
                f'"{reader.path}": "{source.name}" has rows of {source.dim}, the table rows of {target.dim}; allow it '
                'by extend="initial" or extend="zero"'
            )
        report = dataclasses.replace(report, stored_dim=source.dim)
    return _Restore(table, target, source, weights, checked_partition(partition), rules, report)


def _target(table: EmbeddingTable, column: str) -> ColumnInfo:
    for info in table.columns:
        if info.name == column:
            return info
    known = ", ".join(f'"{info.name}"' for info in table.columns)
    raise InvalidArgumentError(f'the table has no column "{column}"; it has {known}')
