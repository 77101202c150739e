# Written by tools/write_stubs.py. Where the names are is said in __init__.py.

from tensorkeep.embedding.formats.csv import export_csv as export_csv, import_csv as import_csv, read_csv as read_csv
from tensorkeep.embedding.formats.maxcompute import (
    MaxComputeReport as MaxComputeReport, MaxComputeTable as MaxComputeTable, export_maxcompute as export_maxcompute,
)
from tensorkeep.embedding.formats.npz import export_npz as export_npz
from tensorkeep.embedding.formats.parquet import (
    export_parquet as export_parquet, import_parquet as import_parquet, read_parquet as read_parquet,
)
from tensorkeep.embedding.formats.resp import (
    RedisHashes as RedisHashes, RedisLayout as RedisLayout, RedisStrings as RedisStrings, export_resp as export_resp,
)
from tensorkeep.embedding.restore.finding_deltas import newest_delta as newest_delta
from tensorkeep.embedding.restore.incremental import (
    TouchedKeys as TouchedKeys, delta_tensors as delta_tensors, table_delta_tensors as table_delta_tensors,
)
from tensorkeep.embedding.restore.reports import ColumnReport as ColumnReport, DeltaReport as DeltaReport
from tensorkeep.embedding.restore.restoring_deltas import restore_delta as restore_delta
from tensorkeep.embedding.restore.restoring_rows import restore_column as restore_column, restore_table as restore_table
from tensorkeep.embedding.stored.dense import read_dense as read_dense
from tensorkeep.embedding.stored.embeddings import (
    StoredColumn as StoredColumn, StoredEmbedding as StoredEmbedding, stored_deltas as stored_deltas,
    stored_embeddings as stored_embeddings,
)
from tensorkeep.embedding.stored.writing import (
    StoredForm as StoredForm, embedding_tensors as embedding_tensors, save_embeddings as save_embeddings,
    table_tensors as table_tensors,
)
from tensorkeep.embedding.table.admission import (
    AdmitAll as AdmitAll, BloomFilter as BloomFilter, CounterFilter as CounterFilter, Touched as Touched,
)
from tensorkeep.embedding.table.embedding_table import EmbeddingTable as EmbeddingTable
from tensorkeep.embedding.table.eviction import GlobalStep as GlobalStep, KeepAll as KeepAll, L2Weight as L2Weight
from tensorkeep.embedding.table.options import Cache as Cache, FileTier as FileTier, Memory as Memory
from tensorkeep.embedding.table.snapshot import (
    ArraySnapshot as ArraySnapshot, ColumnInfo as ColumnInfo, TableSnapshot as TableSnapshot,
)
from tensorkeep.embedding.tools.compacting import (
    compact_checkpoint as compact_checkpoint, full_and_newest_delta as full_and_newest_delta,
)
from tensorkeep.embedding.tools.dropping_slots import drop_slots as drop_slots
from tensorkeep.embedding.tools.histograms import Histogram as Histogram
from tensorkeep.embedding.tools.pruning import (
    KeepByNorm as KeepByNorm, KeepFrequent as KeepFrequent, KeepTop as KeepTop, KeepUpdatedSince as KeepUpdatedSince,
    PruneReport as PruneReport, PruneRule as PruneRule, plan_pruning as plan_pruning,
    prune_checkpoint as prune_checkpoint,
)
from tensorkeep.embedding.tools.quantising import (
    plan_quantising as plan_quantising, quantise_checkpoint as quantise_checkpoint,
)
from tensorkeep.embedding.tools.querying import FoundRows as FoundRows, look_up as look_up
from tensorkeep.embedding.tools.repairing import (
    KeyComparison as KeyComparison, SlotKeys as SlotKeys, compare_keys as compare_keys,
    repair_checkpoint as repair_checkpoint,
)
from tensorkeep.embedding.tools.repartitioning import (
    RepartitionReport as RepartitionReport, plan_repartitioning as plan_repartitioning,
    repartition_checkpoint as repartition_checkpoint,
)
from tensorkeep.embedding.tools.statistics import (
    EmbeddingStatistics as EmbeddingStatistics, embedding_statistics as embedding_statistics,
)

__all__: list[str]
