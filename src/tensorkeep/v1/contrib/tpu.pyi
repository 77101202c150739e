# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.estimators.tpu import (
    CrossShardOptimizer, InputPipelineConfig, TPUConfig, batch_parallel, bfloat16_scope, core, cross_replica_sum,
    initialize_system, outside_compilation, repeat_steps as repeat, replicate, rewrite, shard, shutdown_system,
    while_steps as while_loop,
)
from tensorkeep.tf1.training.loops.recording_hooks import CheckpointSaverHook as AsyncCheckpointSaverHook
from tensorkeep.v1.learning.estimators import TPUEstimator, TPUEstimatorSpec, TPURunConfig as RunConfig

__all__ = [
    "AsyncCheckpointSaverHook", "CrossShardOptimizer", "InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator",
    "TPUEstimatorSpec", "batch_parallel", "bfloat16_scope", "core", "cross_replica_sum", "initialize_system",
    "outside_compilation", "repeat", "replicate", "rewrite", "shard", "shutdown_system", "while_loop",
]
