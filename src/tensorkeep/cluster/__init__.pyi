# Written by tools/write_stubs.py. Where the names are is said in __init__.py.

from tensorkeep.cluster.executors import Executor, RayExecutor, SerialExecutor
from tensorkeep.cluster.jobs.checking import check_checkpoint
from tensorkeep.cluster.jobs.converting import convert
from tensorkeep.cluster.jobs.editing import average, cast, split
from tensorkeep.cluster.jobs.embeddings import (
    compact_checkpoint, export_parquet, prune_checkpoint, repartition_checkpoint,
)
from tensorkeep.cluster.jobs.looking import checkpoint_statistics, compare, examine
from tensorkeep.cluster.ray_start import connect, disconnect
from tensorkeep.cluster.tables.links import PartitionLostError
from tensorkeep.cluster.tables.placing import TablesOnRay
from tensorkeep.cluster.tables.sharded_table import ShardedEmbeddingTable
from tensorkeep.cluster.training.batches import DatasetBatches
from tensorkeep.cluster.training.programs import TrainingProgram
from tensorkeep.cluster.training.running import Trained, Training, train, train_serially
from tensorkeep.cluster.training.servers import TrainingOptions

__all__ = [
    "DatasetBatches", "Executor", "PartitionLostError", "RayExecutor", "SerialExecutor", "ShardedEmbeddingTable",
    "TablesOnRay", "Trained", "Training", "TrainingOptions", "TrainingProgram", "average", "cast", "check_checkpoint",
    "checkpoint_statistics", "compact_checkpoint", "compare", "connect", "convert", "disconnect", "examine",
    "export_parquet", "prune_checkpoint", "repartition_checkpoint", "split", "train", "train_serially",
]
