# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.estimators.tpu import (
    CrossShardOptimizer, InputPipelineConfig, TPUConfig, bfloat16_scope, cross_replica_sum, initialize_system, shard,
    shutdown_system,
)
from tensorkeep.v1.estimators import TPUEstimator, TPUEstimatorSpec, TPURunConfig as RunConfig

__all__ = [
    "CrossShardOptimizer", "InputPipelineConfig", "RunConfig", "TPUConfig", "TPUEstimator", "TPUEstimatorSpec",
    "bfloat16_scope", "cross_replica_sum", "initialize_system", "shard", "shutdown_system",
]
