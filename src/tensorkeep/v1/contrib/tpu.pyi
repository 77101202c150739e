# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.estimators.tpu import (
    CrossShardOptimizer, InputPipelineConfig, TPUConfig, batch_parallel, bfloat16_scope, cross_replica_sum,
    initialize_system, outside_compilation, replicate, rewrite, shard, shutdown_system,
)
from tensorkeep.v1.learning.estimators import TPUEstimator, TPUEstimatorSpec, TPURunConfig as RunConfig

__all__ = [
    "CrossShardOptimizer", "InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec",
    "batch_parallel", "bfloat16_scope", "cross_replica_sum", "initialize_system", "outside_compilation", "replicate",
    "rewrite", "shard", "shutdown_system",
]
