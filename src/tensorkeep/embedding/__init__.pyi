# Written by tools/write_stubs.py. Where the names are is said in __init__.py.

from tensorkeep.embedding.formats.csv import export_csv, import_csv, read_csv
from tensorkeep.embedding.formats.maxcompute import MaxComputeReport, MaxComputeTable, export_maxcompute
from tensorkeep.embedding.formats.npz import export_npz
from tensorkeep.embedding.formats.parquet import export_parquet, import_parquet, read_parquet
from tensorkeep.embedding.formats.resp import RedisHashes, RedisLayout, RedisStrings, export_resp
from tensorkeep.embedding.restore.finding_deltas import newest_delta
from tensorkeep.embedding.restore.incremental import TouchedKeys, delta_tensors, table_delta_tensors
from tensorkeep.embedding.restore.reports import ColumnReport, DeltaReport
from tensorkeep.embedding.restore.restoring_deltas import restore_delta
from tensorkeep.embedding.restore.restoring_rows import restore_column, restore_table
from tensorkeep.embedding.stored.embeddings import (
    StoredColumn, StoredEmbedding, read_dense, stored_deltas, stored_embeddings,
)
from tensorkeep.embedding.stored.writing import StoredForm, embedding_tensors, save_embeddings, table_tensors
from tensorkeep.embedding.table.admission import AdmitAll, BloomFilter, CounterFilter, Touched
from tensorkeep.embedding.table.embedding_table import EmbeddingTable
from tensorkeep.embedding.table.eviction import GlobalStep, KeepAll, L2Weight
from tensorkeep.embedding.table.snapshot import ArraySnapshot, ColumnInfo, TableSnapshot
from tensorkeep.embedding.table.tiers import Cache, FileTier, Memory
from tensorkeep.embedding.tools.compacting import compact_checkpoint, full_and_newest_delta
from tensorkeep.embedding.tools.pruning import (
    KeepByNorm, KeepFrequent, KeepTop, KeepUpdatedSince, PruneReport, PruneRule, drop_slots, plan_pruning,
    prune_checkpoint,
)
from tensorkeep.embedding.tools.quantising import plan_quantising, quantise_checkpoint
from tensorkeep.embedding.tools.querying import FoundRows, look_up
from tensorkeep.embedding.tools.repairing import KeyComparison, SlotKeys, compare_keys, repair_checkpoint
from tensorkeep.embedding.tools.repartitioning import RepartitionReport, plan_repartitioning, repartition_checkpoint
from tensorkeep.embedding.tools.statistics import EmbeddingStatistics, Histogram, embedding_statistics

__all__ = [
    "AdmitAll", "ArraySnapshot", "BloomFilter", "Cache", "ColumnInfo", "ColumnReport", "CounterFilter", "DeltaReport",
    "EmbeddingStatistics", "EmbeddingTable", "FileTier", "FoundRows", "GlobalStep", "Histogram", "KeepAll",
    "KeepByNorm", "KeepFrequent", "KeepTop", "KeepUpdatedSince", "KeyComparison", "L2Weight", "MaxComputeReport",
    "MaxComputeTable", "Memory", "PruneReport", "PruneRule", "RedisHashes", "RedisLayout", "RedisStrings",
    "RepartitionReport", "SlotKeys", "StoredColumn", "StoredEmbedding", "StoredForm", "TableSnapshot", "Touched",
    "TouchedKeys", "compact_checkpoint", "compare_keys", "delta_tensors", "drop_slots", "embedding_statistics",
    "embedding_tensors", "export_csv", "export_maxcompute", "export_npz", "export_parquet", "export_resp",
    "full_and_newest_delta", "import_csv", "import_parquet", "look_up", "newest_delta", "plan_pruning",
    "plan_quantising", "plan_repartitioning", "prune_checkpoint", "quantise_checkpoint", "read_csv", "read_dense",
    "read_parquet", "repair_checkpoint", "repartition_checkpoint", "restore_column", "restore_delta", "restore_table",
    "save_embeddings", "stored_deltas", "stored_embeddings", "table_delta_tensors", "table_tensors",
]
