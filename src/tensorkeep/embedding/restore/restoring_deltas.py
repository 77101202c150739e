"""From an incremental checkpoint into a table that the full one was restored into before."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.restore.incremental import StoredDelta, of_partition
from tensorkeep.embedding.restore.reports import DeltaReport
from tensorkeep.embedding.restore.restoring_rows import Extend
from tensorkeep.embedding.stored.buckets import buckets_of_partition, find_in_order
from tensorkeep.embedding.stored.embeddings import StoredEmbedding, find_embedding, looked_up_embedding, stored_deltas
from tensorkeep.embedding.stored.ordered_columns import filtered_in_order, grouped_buckets
from tensorkeep.embedding.stored.rows import Batch, Fields
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.initial_rows import rows_of_dim
from tensorkeep.errors import InvalidArgumentError

__all__ = ["DeltaReport", "restore_delta"]

Keys = npt.NDArray[np.int64]


def restore_delta(
    table: EmbeddingTable,
    reader: CheckpointReader,
    stem: str,
    *,
    column: str = "",
    partition: Sequence[int] = (0, 1),
    primary: str | None = None,
    extend: Extend = "error",
    note: Callable[[Keys], object] = len,
    stored: Mapping[str, StoredEmbedding] | None = None,
) -> DeltaReport:
    """Puts what an incremental checkpoint holds of one column over what is in the table.

    Weights and slots may come in any order. `partition`, `primary` and `extend` are as for `restore_column`. A slot
    that is not stored stays as it is. `note` is told the keys that have been changed or removed, some at a time.
    `stored` is what `stored_deltas` found, if that is known already.
    """
    deltas = stored_deltas(reader) if stored is None else stored
    if column and looked_up_embedding(stem, deltas) is None:
        return DeltaReport(stem, column)
    name, own = find_embedding(reader, stem, deltas)
    delta = StoredDelta(reader, deltas[name], own)
    work = _Overlay(table, delta, column, _defaults(table, delta, column, extend), partition, note)
    if column:
        owner = find_embedding(reader, primary, deltas)[0] if primary is not None else name
        return work.slot(StoredDelta(reader, deltas[owner]), DeltaReport(stem, column))
    return work.weights(DeltaReport(stem, column))


def _defaults(table: EmbeddingTable, delta: StoredDelta, column: str, extend: Extend) -> Array | None:
    """What rows are extended by, if they have to be: those that a new key would have, or zeros."""
    dim = next((info.dim for info in table.columns if info.name == column), None)
    if dim is None or (dim != delta.rows.dim and extend == "error"):
        raise InvalidArgumentError(
            f'"{delta.rows.name}": the incremental checkpoint has rows of {delta.rows.dim}, column "{column}" of the '
            f'table {"does not exist" if dim is None else f"rows of {dim}"}; allow it by extend="initial" or '
            'extend="zero"'
        )
    return table.default(column) if extend == "initial" else None


@dataclass(frozen=True, slots=True, eq=False)
class _Overlay:
    """A column of an incremental checkpoint on its way into a table."""

    table: EmbeddingTable
    delta: StoredDelta
    column: str
    defaults: Array | None
    partition: Sequence[int]
    note: Callable[[Keys], object]

    def weights(self, report: DeltaReport) -> DeltaReport:
        updated = filtered = 0
        table, rows = self.table, self.delta.rows
        gone = of_partition(self.delta.removed, self.partition)
        removed = table.remove(gone) if gone.size else 0
        self.note(gone)
        for batch in filtered_in_order(rows, self.partition):
            removed += table.remove(batch.keys)  # with a row before, and counted anew
            freqs = np.ones(batch.keys.size, np.int64) if batch.freqs is None else batch.freqs
            table.assign_filtered(batch.keys, freqs, batch.versions)
            self.note(batch.keys)
            filtered += batch.keys.size
        for group in grouped_buckets(rows.bucket_sizes, buckets_of_partition(self.partition)):
            batch = rows.read_buckets(group, Fields(True, True, True))
            table.assign(batch.keys, self._adapted(batch), "", batch.freqs, batch.versions)
            self.note(batch.keys)
            updated += batch.keys.size
        return replace(report, updated=updated, removed=removed, filtered=filtered)

    def slot(self, weights: StoredDelta, report: DeltaReport) -> DeltaReport:
        updated = skipped = 0
        for group in grouped_buckets(self.delta.rows.bucket_sizes, buckets_of_partition(self.partition)):
            batch = self.delta.rows.read_buckets(group, Fields(values=True))
            there = find_in_order(weights.rows.read_buckets(group).keys, batch.keys)[1]
            chosen = batch.taken(there)
            self.table.assign(chosen.keys, self._adapted(chosen), self.column)
            self.note(chosen.keys)
            updated += chosen.keys.size
            skipped += batch.keys.size - chosen.keys.size
        return replace(report, updated=updated, skipped=skipped)

    def _adapted(self, batch: Batch) -> Array:
        """Rows of the table's dimension."""
        assert batch.values is not None
        dim = next(info.dim for info in self.table.columns if info.name == self.column)
        return rows_of_dim(batch.values, batch.keys, dim, self.defaults)
