"""Ops of TensorFlow 1's contrib.memory_stats: how much memory there is.

There, allocators count what each device gave out. Here arrays are NumPy's, and the memory of the process is what can be
told.
"""

from __future__ import annotations

import numpy as np

from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.io.machine.resources import most_resident_memory, resident_memory, whole_memory
from tensorkeep.ops.shared.shape_rules import scalar
from tensorkeep.runtime.context import KernelContext

bytes_in_use = op("BytesInUse() -> out: int64", "stateful")
max_bytes_in_use = op("MaxBytesInUse() -> out: int64", "stateful")
bytes_limit = op("BytesLimit() -> out: int64", "stateful")
for memory_op in (bytes_in_use, max_bytes_in_use, bytes_limit):
    memory_op.shape(scalar)
    not_differentiable(memory_op)


@bytes_in_use.stateful_kernel
def bytes_in_use_kernel(ctx: KernelContext) -> np.int64:
    return np.int64(resident_memory())


@max_bytes_in_use.stateful_kernel
def max_bytes_in_use_kernel(ctx: KernelContext) -> np.int64:
    return np.int64(most_resident_memory())


@bytes_limit.stateful_kernel
def bytes_limit_kernel(ctx: KernelContext) -> np.int64:
    return np.int64(whole_memory())
