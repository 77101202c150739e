"""From a checkpoint into a table, whatever the number of shards, the dimension and the form in which it was stored.

Weights and slots may be restored in any order. Restoring replaces: afterwards the table has the keys that are stored
for its weights and no others, and every column has stored rows or its default rows, never what was there before.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.restore.filling_empty_tables import fill_table
from tensorkeep.embedding.restore.reports import ColumnReport
from tensorkeep.embedding.stored.buckets import (
    bucket_offsets,
    buckets_of_partition,
    checked_partition,
    find_in_order,
    shards_of,
)
from tensorkeep.embedding.stored.column import ReadColumn, SideBySide
from tensorkeep.embedding.stored.embeddings import StoredColumn, StoredEmbedding, missing_embedding
from tensorkeep.embedding.stored.naming import slot_stem
from tensorkeep.embedding.stored.ordered_columns import OrderedColumn, grouped_buckets
from tensorkeep.embedding.stored.rows import Batch, Fields
from tensorkeep.embedding.stored.surveyed_checkpoints import SurveyedCheckpoint, open_source
from tensorkeep.embedding.table.admission import AdmitAll, BloomFilter, CounterFilter
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.eviction import NEVER
from tensorkeep.embedding.table.initial_rows import rows_of_dim
from tensorkeep.embedding.table.snapshot import ColumnInfo
from tensorkeep.errors import DataLossError, InvalidArgumentError, WrongTypeError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, is_path, path_text
from tensorkeep.io.machine.parallel import read_ahead

__all__ = ["ColumnReport", "restore_column", "restore_surveyed_column", "restore_table"]

Keys = npt.NDArray[np.int64]
Extend = Literal["error", "initial", "zero"]
Missing = Literal["error", "initial"]

_Reports = tuple[ColumnReport, Mapping[str, ColumnReport]]  # of the weights, and of the slots restored with them

_READY: Final = 2  # batches that are read while one is stored
_FEW: Final = 1 << 14  # keys; for fewer a thread that reads ahead costs more than it saves


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
    fs: FileSystem = FILES,
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
    _check_reader(reader)
    checkpoint = SurveyedCheckpoint(reader, stored)
    return _restore_column(_prepared_restore(table, checkpoint, (stem, column, primary), partition, rules, fs))


def restore_surveyed_column(
    table: EmbeddingTable,
    checkpoint: SurveyedCheckpoint,
    stem: str,
    *,
    column: str,
    partition: Sequence[int],
    extend: Extend,
    reset_version: bool,
    fs: FileSystem,
) -> ColumnReport:
    """`restore_column` from a checkpoint that several columns and tables are restored from, one after the other."""
    rules = _Rules(True, extend, reset_version, None)
    return _restore_column(_prepared_restore(table, checkpoint, (stem, column, None), partition, rules, fs))


def _restore_column(column: _Restore) -> ColumnReport:
    report = column.run()
    column.table.settle()
    return report


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
    fs: FileSystem = FILES,
) -> tuple[ColumnReport, ...]:
    """Restores all columns of a table, each from `<stem>/<its name>`, the weights from the stem itself.

    The arguments are those of `restore_column`. What one of the columns does not allow is raised before any is changed.
    """
    rules = _Rules(replace, extend, reset_version, missing)
    _check_reader(reader)
    checkpoint = SurveyedCheckpoint(reader)
    columns = [
        _prepared_restore(table, checkpoint, (slot_stem(stem, info.name), info.name, stem), partition, rules, fs)
        for info in table.columns
    ]
    together = [column for column in columns[1:] if columns[0].goes_with(column)]
    weights, written = columns[0].run_with(together)
    reports = (weights, *(written.get(column.target.name) or column.run() for column in columns[1:]))
    table.settle()
    return reports


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
            return self._initialise_column()
        self.source.verify(self.partition)
        return self._slot(self.source)

    def goes_with(self, slot: _Restore) -> bool:
        """Whether a slot may have the same keys in the same places as these weights."""
        return None not in (self.source, slot.source) and isinstance(slot.weights, StoredColumn)

    def run_with(self, slots: Sequence[_Restore]) -> _Reports:
        """Restores weights, and along with them the slots that turn out to have the same keys in the same places.

        A table that is empty is so again if the checkpoint is damaged; for another that is found out beforehand.
        """
        if self.source is None:
            return self._initialise_column(), {}
        if self.partition[1] != 1 or not self._is_empty:
            for column in (self, *slots):
                assert column.source is not None
                column.source.verify(self.partition)
            return self._weights(self.source, self._side_by_side(slots, is_checked=False), slots)
        try:
            filled = self._fill_empty_table(self.source, slots)
            return filled or self._weights(self.source, self._side_by_side(slots, is_checked=True), slots)
        except BaseException:
            self.table.clear()
            raise

    @property
    def _is_empty(self) -> bool:
        """Whether nothing is lost if the table is cleared."""
        table = self.table
        return not len(table) and not table.filtered_count and not isinstance(table.admission, BloomFilter)

    def _fill_empty_table(self, source: StoredColumn, slots: Sequence[_Restore]) -> _Reports | None:
        """Restores a table that is empty the short way; None if the checkpoint is not made for it."""
        beside = {slot.target.name: slot.source for slot in slots if slot.source is not None}
        version = 0 if self.rules.reset_version else None
        filled = fill_table(self.table, source, beside, self._threshold, version)
        if filled is None:
            return None
        if filled.repeated:
            raise _repeated_keys_error(source, filled.repeated)
        return self._reports(source, 0, filled.count, filled.slots, slots)

    def _side_by_side(self, slots: Sequence[_Restore], *, is_checked: bool) -> SideBySide:
        table = self.table
        keeps = Fields(True, table.keeps_frequencies or isinstance(table.admission, BloomFilter), table.keeps_versions)
        return SideBySide(self._readable(), [slot._readable() for slot in slots], keeps, is_checked=is_checked)

    def _readable(self) -> ReadColumn:
        assert self.source is not None
        return ReadColumn(self.target.name, self.source, self.partition, self.adapted)

    def _weights(self, source: StoredColumn, rows: SideBySide, slots: Sequence[_Restore]) -> _Reports:
        before = len(self.table)
        self.table.reserve(max(before, self._count_of(source)))
        count = 0
        for batch, blocks in read_ahead(rows.read(), _READY):
            freqs = np.full(batch.keys.size, max(self._threshold, 1)) if batch.freqs is None else batch.freqs
            freqs = np.maximum(freqs, self._threshold)
            self.table.assign_columns(batch.keys, blocks, freqs, self._versions(batch))
            count += batch.keys.size
        return self._reports(source, before, count, rows.names, slots)

    def _reports(
        self, source: StoredColumn, before: int, count: int, names: Collection[str], slots: Sequence[_Restore]
    ) -> _Reports:
        """What became of the weights, and of the slots that were restored with them."""
        report = self._weights_report(source, before, count)
        written = [slot for slot in slots if slot.target.name in names]
        return report, {slot.target.name: slot._reported(restored=count) for slot in written}

    def _weights_report(self, source: StoredColumn, before: int, count: int) -> ColumnReport:
        """Drops what was there and is not stored, and puts the counted keys without rows in place."""
        inserted = len(self.table) - before
        if inserted > count or (not before and inserted != count):
            raise _repeated_keys_error(source, count - inserted)
        is_replaced = self.rules.replace and count - inserted != before
        surplus = self._surplus(source) if is_replaced else np.zeros(0, np.int64)
        if surplus.size:
            self.table.remove(surplus)
        return self._restore_filtered(source, self._reported(restored=count, removed=int(surplus.size)))

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

    def _initialise_column(self) -> ColumnReport:
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
        pairs = zip_longest(rows, self.weights.scan(self.partition, Fields()))
        is_small = self._count_of(source) < _FEW
        for mine, theirs in pairs if is_small else read_ahead(pairs, _READY):
            if mine is None or theirs is None or not np.array_equal(mine.keys, theirs.keys):
                return None  # what was written is written again, by bucket
            self.table.assign(mine.keys, self.adapted(mine), self.target.name)
            count += mine.keys.size
        return count

    def _written_by_bucket(self, source: StoredColumn) -> tuple[int, int]:
        written = skipped = 0
        for group in grouped_buckets(source.bucket_sizes, buckets_of_partition(self.partition)):
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
        for group in grouped_buckets(np.diff(offsets), np.arange(offsets.size - 1)):
            mine = np.concatenate([keys[offsets[bucket] : offsets[bucket + 1]] for bucket in group.tolist()])
            stored = source.read_buckets(group, Fields()).keys
            if self.weights is not None:
                stored = stored[find_in_order(self.weights.read_buckets(group, Fields()).keys, stored)[1]]
            there = find_in_order(stored, mine)[1] & (shards_of(mine, self.partition[1]) == self.partition[0])
            found.append(mine[~there])
        return np.concatenate(found) if found else keys[:0]

    def _restore_filtered(self, source: StoredColumn, report: ColumnReport) -> ColumnReport:
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
        assert batch.values is not None
        defaults = self.table.default(self.target.name) if self.rules.extend == "initial" else None
        rows = rows_of_dim(batch.values, batch.keys, self.target.dim, defaults)
        return rows.astype(self.target.dtype, copy=False)

    def _versions(self, batch: Batch) -> Keys:
        if self.rules.reset_version:
            return np.zeros(batch.keys.size, np.int64)
        return np.full(batch.keys.size, NEVER, np.int64) if batch.versions is None else batch.versions

    @property
    def _threshold(self) -> int:
        admission = self.table.admission
        return 0 if isinstance(admission, AdmitAll) else admission.threshold

    def _count_of(self, column: OrderedColumn) -> int:
        return int(column.bucket_sizes[buckets_of_partition(self.partition)].sum())


def _prepared_restore(
    table: EmbeddingTable,
    checkpoint: SurveyedCheckpoint,
    wanted: tuple[str, str, str | None],
    partition: Sequence[int],
    rules: _Rules,
    fs: FileSystem,
) -> _Restore:
    """A column that is about to be restored: by stem, name and stem of the weights. What is not allowed is raised."""
    stem, column, primary = wanted
    reader = checkpoint.reader
    target = _target(table, column)
    source, weights, kind, problems = open_source(checkpoint, stem, column, primary, fs)
    report = ColumnReport(stem, column, kind, dim=target.dim, problems=problems)
    if source is None and (rules.missing or ("initial" if column else "error")) == "error":
        raise missing_embedding(reader, stem, checkpoint.embeddings)
    if source is not None:
        if source.dim != target.dim and rules.extend == "error":
            raise InvalidArgumentError(
                f'"{reader.path}": "{source.name}" has rows of {source.dim}, the table rows of {target.dim}; allow it '
                'by extend="initial" or extend="zero"'
            )
        report = dataclasses.replace(report, stored_dim=source.dim)
    return _Restore(table, target, source, weights, checked_partition(partition), rules, report)


def _check_reader(reader: object) -> None:
    if is_path(reader):
        raise WrongTypeError(
            f"reader is the path {path_text(reader)!r}, expected an open checkpoint: open_checkpoint(path)"
        )


def _repeated_keys_error(source: StoredColumn, count: int) -> DataLossError:
    return DataLossError(f'"{source.name}": {count} keys are stored twice')


def _target(table: EmbeddingTable, column: str) -> ColumnInfo:
    for info in table.columns:
        if info.name == column:
            return info
    known = ", ".join(f'"{info.name}"' for info in table.columns)
    raise InvalidArgumentError(f'the table has no column "{column}"; it has {known}')
