"""Work that outgrows one machine, on Ray: jobs over large checkpoints, and embedding tables that several machines hold.

    with tensorkeep.cluster.RayExecutor("auto") as executor:
        print(tensorkeep.cluster.check_checkpoint("run/model-1000", executor))

Ray is an extra (`pip install "tensorkeep[ray]"`). Everything also runs without it, in this process
(`SerialExecutor`), with the same results. Every name is imported when it is first asked for.

    jobs/         jobs over checkpoints, cut into parts
    tables/       embedding tables in parts, each in a process of its own
    training/     several processes that train one model
    executors     who does the parts of a job: this process, or a Ray cluster
    ray_start     Ray, found and started
"""

from tensorkeep._lazy import on_first_use as _on_first_use

_NAMES = {
    "tensorkeep.cluster.executors": "Executor RayExecutor SerialExecutor",
    "tensorkeep.cluster.jobs.checking": "check_checkpoint",
    "tensorkeep.cluster.jobs.converting": "convert",
    "tensorkeep.cluster.jobs.editing": "average cast split",
    "tensorkeep.cluster.jobs.embeddings": "compact_checkpoint export_parquet prune_checkpoint repartition_checkpoint",
    "tensorkeep.cluster.jobs.looking": "checkpoint_statistics compare examine",
    "tensorkeep.cluster.ray_start": "connect disconnect",
    "tensorkeep.cluster.tables.links": "PartitionLostError",
    "tensorkeep.cluster.tables.placing": "TablesOnRay",
    "tensorkeep.cluster.tables.sharded_table": "ShardedEmbeddingTable",
    "tensorkeep.cluster.training.batches": "DatasetBatches",
    "tensorkeep.cluster.training.programs": "TrainingProgram",
    "tensorkeep.cluster.training.running": "Trained Training train train_serially",
    "tensorkeep.cluster.training.servers": "TrainingOptions",
}

__getattr__, __dir__, __all__ = _on_first_use(globals(), _NAMES)
