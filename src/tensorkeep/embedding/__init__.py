"""Tables of rows that are found by 64-bit keys and grow as keys appear: arrays and files, no graphs.

What is listed in `__all__` is public, and imported when it is first asked for.

    formats/     embeddings in the formats of others
    hash_table/  DeepRec's older tables, hash tables: rows by key without slots of their own, and their files
    restore/     from checkpoints into tables, full ones and incremental ones
    stored/      embeddings in checkpoints: their names, how they lie there, and readers and writers of them
    table/       the table itself: keys, rows, who is let in and who is dropped, and its memory
    tools/       work on stored embeddings that needs no table: each makes a new checkpoint, or a report
"""

from typing import TYPE_CHECKING as _TYPE_CHECKING

from tensorkeep._lazy import on_first_use as _on_first_use

if _TYPE_CHECKING:
    from tensorkeep.embedding.formats.csv import export_csv, import_csv, read_csv
    from tensorkeep.embedding.formats.maxcompute import MaxComputeReport, MaxComputeTable, export_maxcompute
    from tensorkeep.embedding.formats.npz import export_npz
    from tensorkeep.embedding.formats.parquet import export_parquet, import_parquet, read_parquet
    from tensorkeep.embedding.formats.resp import RedisHashes, RedisLayout, RedisStrings, export_resp
    from tensorkeep.embedding.restore.finding_deltas import newest_delta
    from tensorkeep.embedding.restore.incremental import TouchedKeys, delta_tensors, stored_deltas, table_delta_tensors
    from tensorkeep.embedding.restore.reports import ColumnReport, DeltaReport
    from tensorkeep.embedding.restore.restoring_deltas import restore_delta
    from tensorkeep.embedding.restore.restoring_rows import restore_column, restore_table
    from tensorkeep.embedding.stored.dense import read_dense
    from tensorkeep.embedding.stored.embeddings import StoredColumn, StoredEmbedding, stored_embeddings
    from tensorkeep.embedding.stored.writing import StoredForm, embedding_tensors, save_embeddings, table_tensors
    from tensorkeep.embedding.table.admission import AdmitAll, BloomFilter, CounterFilter, Touched
    from tensorkeep.embedding.table.embedding_table import EmbeddingTable
    from tensorkeep.embedding.table.eviction import GlobalStep, KeepAll, L2Weight
    from tensorkeep.embedding.table.options import Cache, FileTier, Memory
    from tensorkeep.embedding.table.snapshot import ArraySnapshot, ColumnInfo, TableSnapshot
    from tensorkeep.embedding.tools.compacting import compact_checkpoint, full_and_newest_delta
    from tensorkeep.embedding.tools.dropping_slots import drop_slots
    from tensorkeep.embedding.tools.histograms import Histogram
    from tensorkeep.embedding.tools.pruning import (
        KeepByNorm,
        KeepFrequent,
        KeepTop,
        KeepUpdatedSince,
        PruneReport,
        PruneRule,
        plan_pruning,
        prune_checkpoint,
    )
    from tensorkeep.embedding.tools.quantising import plan_quantising, quantise_checkpoint
    from tensorkeep.embedding.tools.querying import FoundRows, look_up
    from tensorkeep.embedding.tools.repairing import KeyComparison, SlotKeys, compare_keys, repair_checkpoint
    from tensorkeep.embedding.tools.repartitioning import RepartitionReport, plan_repartitioning, repartition_checkpoint
    from tensorkeep.embedding.tools.statistics import EmbeddingStatistics, embedding_statistics

# The modules of this package, and the names in them.
_NAMES = {
    "table.admission": "AdmitAll BloomFilter CounterFilter Touched",
    "tools.compacting": "compact_checkpoint full_and_newest_delta",
    "stored.dense": "read_dense",
    "tools.dropping_slots": "drop_slots",
    "table.eviction": "GlobalStep KeepAll L2Weight",
    "restore.finding_deltas": "newest_delta",
    "formats.csv": "export_csv import_csv read_csv",
    "formats.maxcompute": "MaxComputeReport MaxComputeTable export_maxcompute",
    "formats.npz": "export_npz",
    "formats.parquet": "export_parquet import_parquet read_parquet",
    "formats.resp": "RedisHashes RedisLayout RedisStrings export_resp",
    "tools.histograms": "Histogram",
    "restore.incremental": "TouchedKeys delta_tensors stored_deltas table_delta_tensors",
    "table.options": "Cache FileTier Memory",
    "tools.pruning": """
        KeepByNorm KeepFrequent KeepTop KeepUpdatedSince PruneReport PruneRule plan_pruning prune_checkpoint
    """,
    "tools.quantising": "plan_quantising quantise_checkpoint",
    "tools.querying": "FoundRows look_up",
    "tools.repairing": "KeyComparison SlotKeys compare_keys repair_checkpoint",
    "tools.repartitioning": "RepartitionReport plan_repartitioning repartition_checkpoint",
    "restore.reports": "ColumnReport DeltaReport",
    "restore.restoring_rows": "restore_column restore_table",
    "restore.restoring_deltas": "restore_delta",
    "table.snapshot": "ArraySnapshot ColumnInfo TableSnapshot",
    "tools.statistics": "EmbeddingStatistics embedding_statistics",
    "stored.embeddings": "StoredColumn StoredEmbedding stored_embeddings",
    "table.embedding_table": "EmbeddingTable",
    "stored.writing": "StoredForm embedding_tensors save_embeddings table_tensors",
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
