"""Calls that a server gathers into batches. Here a call is a batch of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

batch_function = op(
    "BatchFunction(in_tensors: Tin, captured_tensors: Tcaptured) -> out_tensors: Tout",
    "f: func",
    "num_batch_threads: int",
    "max_batch_size: int",
    "batch_timeout_micros: int",
    "max_enqueued_batches: int = 10",
    "allowed_batch_sizes: list(int) = []",
    "container: string = ''",
    "shared_name: string = ''",
    "batching_queue: string = ''",
    "low_priority_max_batch_size: int = 0",
    "low_priority_batch_timeout_micros: int = 0",
    "low_priority_allowed_batch_sizes: list(int) = []",
    "low_priority_max_enqueued_batches: int = 0",
    "mixed_priority_policy: {'low_priority_padding_with_max_batch_size', "
    "'low_priority_padding_with_next_allowed_batch_size', 'priority_isolation', 'priority_merge'} = "
    "'low_priority_padding_with_max_batch_size'",
    "batch_padding_policy: {'PAD_UP', 'BATCH_DOWN', 'MINIMIZE_TPU_COST_PER_REQUEST'} = 'PAD_UP'",
    "Tin: list(type) >= 1",
    "Tcaptured: list(type) >= 0",
    "Tout: list(type) >= 1",
    "enable_large_batch_splitting: bool = false",
    "distributed",
)


@batch_function.shape
def batch_function_shape(
    in_tensors: list[Tensor],
    captured_tensors: list[Tensor],
    *,
    Tout: Sequence[DType],  # noqa: N803 - TensorFlow's name
) -> list[Shape]:
    return [UNKNOWN_SHAPE] * len(Tout)


@batch_function.stateful_kernel
def batch_function_kernel(
    ctx: KernelContext,
    in_tensors: list[Array],
    captured_tensors: list[Array],
    *,
    f: FunctionRef,
    max_batch_size: int,
) -> list[Array]:
    if any(np.ndim(value) == 0 for value in in_tensors):
        raise InvalidArgumentError("Batching input tensors must have at least one dimension")
    sizes = {np.shape(value)[0] for value in in_tensors}
    if len(sizes) > 1:
        raise InvalidArgumentError(
            "Batching input tensors supplied in a given op invocation must have equal 0th-dimension size"
        )
    (size,) = sizes
    if size > max_batch_size:
        raise InvalidArgumentError(f"Task size {size} is larger than maximum batch size {max_batch_size}")
    return list(ctx.function(f)(*in_tensors, *captured_tensors))
