"""From an incremental checkpoint into a table that the full one was restored into before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.embedding.buckets import buckets_of_partition, find_in_order
from tensorkeep.embedding.incremental import StoredDelta, of_partition, stored_deltas
from tensorkeep.embedding.ordered import filtered_in_order, grouped
from tensorkeep.embedding.reports import DeltaReport
from tensorkeep.embedding.stored import find_embedding
from tensorkeep.embedding.stored_rows import Fields
from tensorkeep.embedding.table import EmbeddingTable
from tensorkeep.errors import InvalidArgumentError

__all__ = ["DeltaReport", "restore_delta"]

Array = npt.NDArray[Any]
Keys = npt.NDArray[np.int64]


def restore_delta(
    table: EmbeddingTable,
    reader: CheckpointReader,
    stem: str,
    *,
    column: str = "",
    partition: Sequence[int] = (0, 1),
    primary: str | None = None,
    note: Callable[[Keys], object] = len,
) -> DeltaReport:
    """Puts what an incremental checkpoint holds of one column over what is in the table.

    Weights and slots may come in any order. `partition` and `primary` are as for `restore_column`. `note` is told the
    keys that have been changed or removed, some at a time.
    """
    deltas = stored_deltas(reader)
    name, own = find_embedding(reader, stem, deltas)
    delta = StoredDelta(reader, deltas[name], own)
    dim = next((info.dim for info in table.columns if info.name == column), None)
    if dim != delta.rows.dim:
        raise InvalidArgumentError(
            f'"{reader.path}": "{delta.name}" has rows of {delta.rows.dim}, column "{column}" of the table '
            f"{'does not exist' if dim is None else f'rows of {dim}'}; an incremental checkpoint goes with the full one"
        )
    if column:
        owner = find_embedding(reader, primary, deltas)[0] if primary is not None else name
        weights = StoredDelta(reader, deltas[owner])
        return _slot(table, delta, weights, DeltaReport(stem, column), partition, note)
    return _weights(table, delta, DeltaReport(stem, column), partition, note)


def _weights(
    table: EmbeddingTable,
    delta: StoredDelta,
    report: DeltaReport,
    partition: Sequence[int],
    note: Callable[[Keys], object],
) -> DeltaReport:
    updated = filtered = 0
    gone = of_partition(delta.removed, partition)
    removed = table.remove(gone) if gone.size else 0
    note(gone)
    for batch in filtered_in_order(delta.rows, partition):
        removed += table.remove(batch.keys)  # with a row before, and counted anew
        freqs = np.ones(batch.keys.size, np.int64) if batch.freqs is None else batch.freqs
        table.assign_filtered(batch.keys, freqs, batch.versions)
        note(batch.keys)
        filtered += batch.keys.size
    for group in grouped(delta.rows.bucket_sizes, buckets_of_partition(partition)):
        batch = delta.rows.read_buckets(group, Fields(True, True, True))
        assert batch.values is not None
        table.assign(batch.keys, batch.values, "", batch.freqs, batch.versions)
        note(batch.keys)
        updated += batch.keys.size
    return DeltaReport(report.stem, report.column, updated, removed, filtered)


def _slot(
    table: EmbeddingTable,
    delta: StoredDelta,
    weights: StoredDelta,
    report: DeltaReport,
    partition: Sequence[int],
    note: Callable[[Keys], object],
) -> DeltaReport:
    updated = skipped = 0
    for group in grouped(delta.rows.bucket_sizes, buckets_of_partition(partition)):
        batch = delta.rows.read_buckets(group, Fields(values=True))
        there = find_in_order(weights.rows.read_buckets(group).keys, batch.keys)[1]
        chosen = batch.taken(there)
        assert chosen.values is not None
        table.assign(chosen.keys, chosen.values, report.column)
        note(chosen.keys)
        updated += chosen.keys.size
        skipped += batch.keys.size - chosen.keys.size
    return DeltaReport(report.stem, report.column, updated, skipped=skipped)
