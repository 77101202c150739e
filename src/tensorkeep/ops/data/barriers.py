"""Barriers: what several runs put together by key, component by component, for another that takes it whole.

A barrier outlives runs, as a queue does. What takes from it waits until enough elements are complete, or until it is
closed.
"""

from __future__ import annotations

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op, takes_attributes
from tensorkeep.ops.data._barrier_values import Barrier
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

barrier = op(
    "Barrier() -> handle: Ref(string)",
    "component_types: list(type) >= 1",
    "shapes: list(shape) >= 0 = []",
    "capacity: int = -1",
    "container: string = ''",
    "shared_name: string = ''",
    "stateful",
)
barrier.shape(lambda: Shape((2,)))  # a container and a name


@barrier.stateful_kernel
@takes_attributes("component_types", "shapes", "capacity", "container", "shared_name")
def barrier_kernel(
    ctx: KernelContext,
    *,
    component_types: tuple[DType, ...],
    shapes: tuple[Shape, ...],
    capacity: int,
    container: bytes,
    shared_name: bytes,
) -> Barrier:
    if capacity != -1:
        raise InvalidArgumentError(f"Barrier: a capacity is not supported, in TensorFlow neither; got {capacity}")
    found = ctx.shared(
        container, shared_name, Barrier, lambda name: Barrier(f"Barrier '{name}'", component_types, shapes)
    )
    found.check(component_types, shapes)
    return found


barrier_insert_many = op(
    "BarrierInsertMany(handle: Ref(string), keys: string, values: T)", "T: type", "component_index: int"
)


@barrier_insert_many.kernel
def barrier_insert_many_kernel(handle: Barrier, keys: Array, values: Array, *, component_index: int) -> tuple[()]:
    if np.ndim(keys) != 1:
        raise InvalidArgumentError(f"Barrier: keys have to be a vector, got shape {np.shape(keys)}")
    handle.insert(component_index, keys.tolist(), np.asarray(values))
    return ()


barrier_take_many = op(
    "BarrierTakeMany(handle: Ref(string), num_elements: int32)"
    " -> indices: int64, keys: string, values: component_types",
    "component_types: list(type) >= 1",
    "allow_small_batch: bool = false",
    "wait_for_incomplete: bool = false",
    "timeout_ms: int = -1",
)


@barrier_take_many.shape
def barrier_take_many_shape(handle: Tensor, num_elements: Tensor, *, component_types: tuple[DType, ...]) -> list[Shape]:
    return [UNKNOWN_SHAPE] * (2 + len(component_types))


@barrier_take_many.kernel
def barrier_take_many_kernel(
    handle: Barrier,
    num_elements: Array,
    *,
    component_types: tuple[DType, ...],
    allow_small_batch: bool,
    wait_for_incomplete: bool,  # TensorFlow's kernel does not look at it either
    timeout_ms: int,
) -> tuple[Array, Array, list[Array]]:
    if timeout_ms != -1:
        raise InvalidArgumentError("Timeout not supported yet.")
    if num_elements < 0:
        raise InvalidArgumentError(f"BarrierTakeMany requested {int(num_elements)} < 0 elements")
    return handle.take(int(num_elements), component_types, allow_small_batch)


barrier_close = op("BarrierClose(handle: Ref(string))", "cancel_pending_enqueues: bool = false")


@barrier_close.kernel
def barrier_close_kernel(handle: Barrier, *, cancel_pending_enqueues: bool) -> tuple[()]:
    handle.close(cancel_pending_enqueues)
    return ()


barrier_ready_size = op("BarrierReadySize(handle: Ref(string)) -> size: int32")


@barrier_ready_size.shape
def barrier_ready_size_shape(handle: Tensor) -> Shape:
    return SCALAR


@barrier_ready_size.kernel
def barrier_ready_size_kernel(handle: Barrier) -> np.int32:
    return np.int32(handle.ready_size)


barrier_incomplete_size = op("BarrierIncompleteSize(handle: Ref(string)) -> size: int32")


@barrier_incomplete_size.shape
def barrier_incomplete_size_shape(handle: Tensor) -> Shape:
    return SCALAR


@barrier_incomplete_size.kernel
def barrier_incomplete_size_kernel(handle: Barrier) -> np.int32:
    return np.int32(handle.incomplete_size)


not_differentiable(barrier_insert_many, barrier_take_many, barrier_close, barrier_ready_size, barrier_incomplete_size)
