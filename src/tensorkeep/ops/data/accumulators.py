"""Accumulators: gradients that several runs bring, for another that takes their sum or mean when there are enough.

An accumulator outlives runs, as a queue does. What takes from it waits until enough gradients are there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypedDict

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op, takes_attributes
from tensorkeep.ops.data._accumulator_values import Accumulator, SparseAccumulator
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

_MAKING = (
    "dtype: numbertype",
    "shape: shape",
    "container: string = ''",
    "shared_name: string = ''",
    "reduction_type: {'MEAN', 'SUM'} = 'MEAN'",
    "stateful",
)
_ATTRIBUTES = ("dtype", "shape", "container", "shared_name", "reduction_type")


class AccumulatorAttributes(TypedDict):
    """What says which accumulator is meant, and what it takes."""

    dtype: DType
    shape: Shape
    container: bytes
    shared_name: bytes
    reduction_type: bytes


def _made(kind: type[Accumulator], ctx: KernelContext, **attributes: Unpack[AccumulatorAttributes]) -> Accumulator:
    told = (attributes["dtype"], attributes["shape"], attributes["reduction_type"])
    found = ctx.shared(
        attributes["container"], attributes["shared_name"], kind, lambda name: kind(f"Accumulator '{name}'", *told)
    )
    found.check(*told)
    return found


conditional_accumulator = op("ConditionalAccumulator() -> handle: Ref(string)", *_MAKING)
resource_conditional_accumulator = op("ResourceConditionalAccumulator() -> handle: resource", *_MAKING)
conditional_accumulator.shape(lambda: Shape((2,)))  # a container and a name
resource_conditional_accumulator.shape(lambda: SCALAR)


@conditional_accumulator.stateful_kernel
@resource_conditional_accumulator.stateful_kernel
@takes_attributes(*_ATTRIBUTES)
def conditional_accumulator_kernel(ctx: KernelContext, **attributes: Unpack[AccumulatorAttributes]) -> Accumulator:
    return _made(Accumulator, ctx, **attributes)


sparse_conditional_accumulator = op("SparseConditionalAccumulator() -> handle: Ref(string)", *_MAKING)
sparse_conditional_accumulator.shape(lambda: Shape((2,)))


@sparse_conditional_accumulator.stateful_kernel
@takes_attributes(*_ATTRIBUTES)
def sparse_conditional_accumulator_kernel(
    ctx: KernelContext, **attributes: Unpack[AccumulatorAttributes]
) -> Accumulator:
    return _made(SparseAccumulator, ctx, **attributes)


def _both(name: str, inputs: str, outputs: str, *attributes: str) -> tuple[OpSpec, OpSpec]:
    """An op of accumulators, by either kind of handle."""
    return (
        op(f"Accumulator{name}(handle: Ref(string){inputs}){outputs}", *attributes),
        op(f"ResourceAccumulator{name}(handle: resource{inputs}){outputs}", *attributes, "stateful"),
    )


accumulator_apply_gradient, resource_accumulator_apply_gradient = _both(
    "ApplyGradient", ", local_step: int64, gradient: dtype", "", "dtype: numbertype"
)


@accumulator_apply_gradient.kernel
@resource_accumulator_apply_gradient.kernel
def accumulator_apply_gradient_kernel(handle: Accumulator, local_step: Array, gradient: Array) -> tuple[()]:
    handle.apply(int(local_step), np.asarray(gradient))
    return ()


accumulator_num_accumulated, resource_accumulator_num_accumulated = _both(
    "NumAccumulated", "", " -> num_accumulated: int32"
)


@accumulator_num_accumulated.shape
@resource_accumulator_num_accumulated.shape
def accumulator_num_accumulated_shape(handle: Tensor) -> Shape:
    return SCALAR


@accumulator_num_accumulated.kernel
@resource_accumulator_num_accumulated.kernel
def accumulator_num_accumulated_kernel(handle: Accumulator) -> np.int32:
    return np.int32(handle.count)


accumulator_set_global_step, resource_accumulator_set_global_step = _both(
    "SetGlobalStep", ", new_global_step: int64", ""
)


@accumulator_set_global_step.kernel
@resource_accumulator_set_global_step.kernel
def accumulator_set_global_step_kernel(handle: Accumulator, new_global_step: Array) -> tuple[()]:
    handle.set_step(int(new_global_step))
    return ()


accumulator_take_gradient, resource_accumulator_take_gradient = _both(
    "TakeGradient", ", num_required: int32", " -> average: dtype", "dtype: numbertype"
)


@accumulator_take_gradient.shape
@resource_accumulator_take_gradient.shape
def accumulator_take_gradient_shape(handle: Tensor, num_required: Tensor) -> Shape:
    return UNKNOWN_SHAPE


@accumulator_take_gradient.kernel
@resource_accumulator_take_gradient.kernel
def accumulator_take_gradient_kernel(handle: Accumulator, num_required: Array, *, dtype: DType) -> Array:
    taken: Array = handle.take(int(num_required), dtype)
    return taken


sparse_accumulator_apply_gradient = op(
    "SparseAccumulatorApplyGradient(handle: Ref(string), local_step: int64, gradient_indices: int64,"
    " gradient_values: dtype, gradient_shape: int64)",
    "dtype: numbertype",
    "has_known_shape: bool",
)


@sparse_accumulator_apply_gradient.kernel
def sparse_accumulator_apply_gradient_kernel(
    handle: SparseAccumulator,
    local_step: Array,
    gradient_indices: Array,
    gradient_values: Array,
    gradient_shape: Array,
    *,
    has_known_shape: bool,
) -> tuple[()]:
    shape = gradient_shape if has_known_shape else None
    handle.apply_rows(int(local_step), gradient_indices, gradient_values, shape)
    return ()


sparse_accumulator_take_gradient = op(
    "SparseAccumulatorTakeGradient(handle: Ref(string), num_required: int32)"
    " -> indices: int64, values: dtype, shape: int64",
    "dtype: numbertype",
)


@sparse_accumulator_take_gradient.shape
def sparse_accumulator_take_gradient_shape(handle: Tensor, num_required: Tensor) -> list[Shape]:
    return [UNKNOWN_SHAPE] * 3


@sparse_accumulator_take_gradient.kernel
def sparse_accumulator_take_gradient_kernel(
    handle: SparseAccumulator, num_required: Array, *, dtype: DType
) -> tuple[Array, Array, Array]:
    taken: tuple[Array, Array, Array] = handle.take(int(num_required), dtype)
    return taken


not_differentiable(
    accumulator_apply_gradient,
    accumulator_num_accumulated,
    accumulator_set_global_step,
    accumulator_take_gradient,
    resource_accumulator_apply_gradient,
    resource_accumulator_num_accumulated,
    resource_accumulator_set_global_step,
    resource_accumulator_take_gradient,
    sparse_accumulator_apply_gradient,
    sparse_accumulator_take_gradient,
)
