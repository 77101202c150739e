# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.estimators.tpu import (
    CrossShardOptimizer, batch_parallel, bfloat16_scope, cross_replica_sum, initialize_system, outside_compilation,
    replicate, rewrite, shard, shutdown_system,
)

__all__ = [
    "CrossShardOptimizer", "batch_parallel", "bfloat16_scope", "cross_replica_sum", "initialize_system",
    "outside_compilation", "replicate", "rewrite", "shard", "shutdown_system",
]
