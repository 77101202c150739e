"""Tables of rows that are found by 64-bit keys and grow as keys appear: arrays and files, no graphs.

What is listed here is imported when it is first asked for.
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from tensorkeep._lazy import on_first_use as _on_first_use

if _TYPE_CHECKING:
    from tensorkeep.embedding.admission import AdmitAll, BloomFilter, CounterFilter, Touched
    from tensorkeep.embedding.compacting import compact_checkpoint, full_and_newest_delta
    from tensorkeep.embedding.dense import read_dense
    from tensorkeep.embedding.dropping import drop_slots
    from tensorkeep.embedding.eviction import GlobalStep, KeepAll, L2Weight
    from tensorkeep.embedding.finding_deltas import newest_delta
    from tensorkeep.embedding.formats.csv import export_csv, import_csv, read_csv
    from tensorkeep.embedding.formats.maxcompute import MaxComputeReport, MaxComputeTable, export_maxcompute
    from tensorkeep.embedding.formats.npz import export_npz
    from tensorkeep.embedding.formats.parquet import export_parquet, import_parquet, read_parquet
    from tensorkeep.embedding.formats.resp import RedisHashes, RedisLayout, RedisStrings, export_resp
    from tensorkeep.embedding.histograms import Histogram
    from tensorkeep.embedding.incremental import TouchedKeys, delta_tensors, stored_deltas, table_delta_tensors
    from tensorkeep.embedding.options import Cache, FileTier, Memory
    from tensorkeep.embedding.pruning import (
        KeepByNorm,
        KeepFrequent,
        KeepTop,
        KeepUpdatedSince,
        PruneReport,
        PruneRule,
        plan_pruning,
        prune_checkpoint,
    )
    from tensorkeep.embedding.quantising import plan_quantising, quantise_checkpoint
    from tensorkeep.embedding.querying import FoundRows, look_up
    from tensorkeep.embedding.repairing import KeyComparison, SlotKeys, compare_keys, repair_checkpoint
    from tensorkeep.embedding.repartitioning import RepartitionReport, plan_repartitioning, repartition_checkpoint
    from tensorkeep.embedding.reports import ColumnReport, DeltaReport
    from tensorkeep.embedding.restoring import restore_column, restore_table
    from tensorkeep.embedding.restoring_deltas import restore_delta
    from tensorkeep.embedding.snapshot import ArraySnapshot, ColumnInfo, TableSnapshot
    from tensorkeep.embedding.statistics import EmbeddingStatistics, embedding_statistics
    from tensorkeep.embedding.stored import StoredColumn, StoredEmbedding, stored_embeddings
    from tensorkeep.embedding.table import EmbeddingTable
    from tensorkeep.embedding.writing import StoredForm, embedding_tensors, save_embeddings, table_tensors

# The modules of this package, and the names in them.
_NAMES = {
    "admission": "AdmitAll BloomFilter CounterFilter Touched",
    "compacting": "compact_checkpoint full_and_newest_delta",
    "dense": "read_dense",
    "dropping": "drop_slots",
    "eviction": "GlobalStep KeepAll L2Weight",
    "finding_deltas": "newest_delta",
    "formats.csv": "export_csv import_csv read_csv",
    "formats.maxcompute": "MaxComputeReport MaxComputeTable export_maxcompute",
    "formats.npz": "export_npz",
    "formats.parquet": "export_parquet import_parquet read_parquet",
    "formats.resp": "RedisHashes RedisLayout RedisStrings export_resp",
    "histograms": "Histogram",
    "incremental": "TouchedKeys delta_tensors stored_deltas table_delta_tensors",
    "options": "Cache FileTier Memory",
    "pruning": "KeepByNorm KeepFrequent KeepTop KeepUpdatedSince PruneReport PruneRule plan_pruning prune_checkpoint",
    "quantising": "plan_quantising quantise_checkpoint",
    "querying": "FoundRows look_up",
    "repairing": "KeyComparison SlotKeys compare_keys repair_checkpoint",
    "repartitioning": "RepartitionReport plan_repartitioning repartition_checkpoint",
    "reports": "ColumnReport DeltaReport",
    "restoring": "restore_column restore_table",
    "restoring_deltas": "restore_delta",
    "snapshot": "ArraySnapshot ColumnInfo TableSnapshot",
    "statistics": "EmbeddingStatistics embedding_statistics",
    "stored": "StoredColumn StoredEmbedding stored_embeddings",
    "table": "EmbeddingTable",
    "writing": "StoredForm embedding_tensors save_embeddings table_tensors",
}

if not _TYPE_CHECKING:
    __getattr__, __dir__ = _on_first_use(globals(), _NAMES)

__all__ = [
    "AdmitAll",
    "ArraySnapshot",
    "BloomFilter",
    "Cache",
    "ColumnInfo",
    "ColumnReport",
    "CounterFilter",
    "DeltaReport",
    "EmbeddingStatistics",
    "EmbeddingTable",
    "FileTier",
    "FoundRows",
    "GlobalStep",
    "Histogram",
    "KeepAll",
    "KeepByNorm",
    "KeepFrequent",
    "KeepTop",
    "KeepUpdatedSince",
    "KeyComparison",
    "L2Weight",
    "MaxComputeReport",
    "MaxComputeTable",
    "Memory",
    "PruneReport",
    "PruneRule",
    "RedisHashes",
    "RedisLayout",
    "RedisStrings",
    "RepartitionReport",
    "SlotKeys",
    "StoredColumn",
    "StoredEmbedding",
    "StoredForm",
    "TableSnapshot",
    "Touched",
    "TouchedKeys",
    "compact_checkpoint",
    "compare_keys",
    "delta_tensors",
    "drop_slots",
    "embedding_statistics",
    "embedding_tensors",
    "export_csv",
    "export_maxcompute",
    "export_npz",
    "export_parquet",
    "export_resp",
    "full_and_newest_delta",
    "import_csv",
    "import_parquet",
    "look_up",
    "newest_delta",
    "plan_pruning",
    "plan_quantising",
    "plan_repartitioning",
    "prune_checkpoint",
    "quantise_checkpoint",
    "read_csv",
    "read_dense",
    "read_parquet",
    "repair_checkpoint",
    "repartition_checkpoint",
    "restore_column",
    "restore_delta",
    "restore_table",
    "save_embeddings",
    "stored_deltas",
    "stored_embeddings",
    "table_delta_tensors",
    "table_tensors",
]
