# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.estimators.strategies import MirroredStrategy, OneDeviceStrategy
from tensorkeep.v1.internals.execution import (
    ReduceOp, get_loss_reduction, get_replica_context, get_strategy, has_strategy, in_cross_replica_context,
)
from tensorkeep.v1.learning.servers import Server

__all__ = [
    "MirroredStrategy", "OneDeviceStrategy", "ReduceOp", "Server", "get_loss_reduction", "get_replica_context",
    "get_strategy", "has_strategy", "in_cross_replica_context",
]
