"""Tables of rows that are found by 64-bit keys and grow as keys appear: arrays and files, no graphs.

What is listed in `__all__` is public, and imported when it is first asked for.

    formats/     embeddings in the formats of others
    hash_table/  DeepRec's older tables, hash tables: rows by key without slots of their own, and their files
    restore/     from checkpoints into tables, full ones and incremental ones
    stored/      embeddings in checkpoints: their names, how they lie there, and readers and writers of them
    table/       the table itself: keys, rows, who is let in and who is dropped, and its memory
    tools/       work on stored embeddings that needs no table: each makes a new checkpoint, or a report
"""

from tensorkeep._lazy import on_first_use as _on_first_use

_NAMES = {
    "tensorkeep.embedding.formats.csv": "export_csv import_csv read_csv",
    "tensorkeep.embedding.formats.maxcompute": "MaxComputeReport MaxComputeTable export_maxcompute",
    "tensorkeep.embedding.formats.npz": "export_npz",
    "tensorkeep.embedding.formats.parquet": "export_parquet import_parquet read_parquet",
    "tensorkeep.embedding.formats.resp": "RedisHashes RedisLayout RedisStrings export_resp",
    "tensorkeep.embedding.restore.finding_deltas": "newest_delta",
    "tensorkeep.embedding.restore.incremental": "TouchedKeys delta_tensors table_delta_tensors",
    "tensorkeep.embedding.restore.reports": "ColumnReport DeltaReport",
    "tensorkeep.embedding.restore.restoring_deltas": "restore_delta",
    "tensorkeep.embedding.restore.restoring_rows": "restore_column restore_table",
    "tensorkeep.embedding.stored.embeddings": "StoredColumn StoredEmbedding read_dense stored_deltas stored_embeddings",
    "tensorkeep.embedding.stored.writing": "StoredForm embedding_tensors save_embeddings table_tensors",
    "tensorkeep.embedding.table.admission": "AdmitAll BloomFilter CounterFilter Touched",
    "tensorkeep.embedding.table.embedding_table": "EmbeddingTable",
    "tensorkeep.embedding.table.eviction": "GlobalStep KeepAll L2Weight",
    "tensorkeep.embedding.table.snapshot": "ArraySnapshot ColumnInfo TableSnapshot",
    "tensorkeep.embedding.table.tiers": "Cache FileTier Memory",
    "tensorkeep.embedding.tools.compacting": "compact_checkpoint full_and_newest_delta",
    "tensorkeep.embedding.tools.pruning": """
        KeepByNorm KeepFrequent KeepTop KeepUpdatedSince PruneReport PruneRule drop_slots plan_pruning
        prune_checkpoint
    """,
    "tensorkeep.embedding.tools.quantising": "plan_quantising quantise_checkpoint",
    "tensorkeep.embedding.tools.querying": "FoundRows look_up",
    "tensorkeep.embedding.tools.repairing": "KeyComparison SlotKeys compare_keys repair_checkpoint",
    "tensorkeep.embedding.tools.repartitioning": "RepartitionReport plan_repartitioning repartition_checkpoint",
    "tensorkeep.embedding.tools.statistics": "EmbeddingStatistics Histogram embedding_statistics",
}

__getattr__, __dir__, __all__ = _on_first_use(globals(), _NAMES)
