"""Ops that call functions of the graph's library: branches, loops, and plain calls."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import RESOURCE, DType, dtype_of_array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit_tensors
from tensorkeep.graph.functions import result_shapes
from tensorkeep.graph.graph import Operation, Tensor, held_behind
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.control._round_running import WholeLoop
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_CONDITIONS: Final = frozenset(("bool", "int8", "uint8", "int16", "int32", "int64", "float32", "float64", "object"))


def truth(value: Array) -> bool:
    """The truth value of a condition: of a scalar, whether it is not zero or the empty string; of any other array,
    whether it has elements.
    """
    if isinstance(value, np.bool_):
        return bool(value)
    array = np.asarray(value)
    if array.ndim:
        return array.size > 0
    if array.dtype.name not in _CONDITIONS:
        raise InvalidArgumentError(f"{dtype_of_array(array.dtype).label} cannot be converted to a boolean")
    return bool(array.item())


def _told_shapes(output_shapes: Sequence[Shape], dtypes: Sequence[DType]) -> list[Shape]:
    """The shapes that the attribute tells, if it tells any."""
    if not output_shapes:
        return [UNKNOWN_SHAPE] * len(dtypes)
    if len(output_shapes) != len(dtypes):
        raise InvalidArgumentError(
            f"`output_shapes` must be the same length as num outputs ({len(output_shapes)} vs. {len(dtypes)}"
        )
    return list(output_shapes)


# ---------------------------------------------------------------------------------------------------- Branches


def _branch_shapes(
    choice: Tensor,
    input: list[Tensor],
    *,
    Tout: Sequence[DType],  # noqa: N803
    output_shapes: Sequence[Shape],
) -> list[Shape]:
    return _told_shapes(output_shapes, Tout)


def if_kernel(
    ctx: KernelContext, cond: Array, input: list[Array], *, then_branch: FunctionRef, else_branch: FunctionRef
) -> list[Array]:
    return list(ctx.function(then_branch if truth(cond) else else_branch)(*input))


if_ = op(
    "If(cond: Tcond, input: Tin) -> output: Tout",
    "Tcond: type",
    "Tin: list(type) >= 0",
    "Tout: list(type) >= 0",
    "then_branch: func",
    "else_branch: func",
    "output_shapes: list(shape) = []",
    "stateful",
)
if_.shape(_branch_shapes)
if_.stateful_kernel(if_kernel)

stateless_if = op(
    "StatelessIf(cond: Tcond, input: Tin) -> output: Tout",
    "Tcond: type",
    "Tin: list(type) >= 0",
    "Tout: list(type) >= 0",
    "then_branch: func",
    "else_branch: func",
    "output_shapes: list(shape) = []",
)
stateless_if.shape(_branch_shapes)
stateless_if.stateful_kernel(if_kernel)


def case_kernel(
    ctx: KernelContext, branch_index: Array, input: list[Array], *, branches: Sequence[FunctionRef]
) -> list[Array]:
    index = int(branch_index)
    return list(ctx.function(branches[index if 0 <= index < len(branches) else -1])(*input))


case = op(
    "Case(branch_index: int32, input: Tin) -> output: Tout",
    "Tin: list(type) >= 0",
    "Tout: list(type) >= 0",
    "branches: list(func) >= 1",
    "output_shapes: list(shape) = []",
    "stateful",
)
case.shape(_branch_shapes)
case.stateful_kernel(case_kernel)

stateless_case = op(
    "StatelessCase(branch_index: int32, input: Tin) -> output: Tout",
    "Tin: list(type) >= 0",
    "Tout: list(type) >= 0",
    "branches: list(func) >= 1",
    "output_shapes: list(shape) = []",
)
stateless_case.shape(_branch_shapes)
stateless_case.stateful_kernel(case_kernel)


# ------------------------------------------------------------------------------------------------------- Loops


def _loop_shapes(input: list[Tensor], *, T: Sequence[DType], output_shapes: Sequence[Shape]) -> list[Shape]:  # noqa: N803
    return _told_shapes(output_shapes, T) if output_shapes else [tensor.static_shape for tensor in input]


def _lightest(value: Any) -> Any:
    """A number as a NumPy scalar: loops count ten times as fast with these as with arrays."""
    is_number = isinstance(value, np.ndarray) and value.ndim == 0 and value.dtype != object
    return value[()] if is_number else value


def while_kernel(ctx: KernelContext, input: list[Array], *, cond: FunctionRef, body: FunctionRef) -> list[Array]:
    goes_on, once = ctx.function(cond), ctx.function(body)
    values: Sequence[Any] = [_lightest(value) for value in input]
    whole = ctx.keep(
        "the loop as a whole", lambda: WholeLoop(partial(ctx.body, cond), partial(ctx.body, body), ctx.part)
    )
    found = whole(values)
    if found is not None:
        return found
    while truth(goes_on(*values)[0]):
        values = once(*values)
    return list(values)


while_ = op(
    "While(input: T) -> output: T",
    "T: list(type) >= 0",
    "cond: func",
    "body: func",
    "output_shapes: list(shape) = []",
    "parallel_iterations: int = 10",
    "stateful",
)
while_.shape(_loop_shapes)
while_.stateful_kernel(while_kernel)

stateless_while = op(
    "StatelessWhile(input: T) -> output: T",
    "T: list(type) >= 0",
    "cond: func",
    "body: func",
    "output_shapes: list(shape) = []",
    "parallel_iterations: int = 10",
)
stateless_while.shape(_loop_shapes)
stateless_while.stateful_kernel(while_kernel)

for_ = op(
    "For(start: int32, limit: int32, delta: int32, input: T) -> output: T",
    "T: list(type) >= 0",
    "body: func",
)


@for_.shape
def for_shape(start: Tensor, limit: Tensor, delta: Tensor, input: list[Tensor]) -> list[Shape]:
    return [UNKNOWN_SHAPE] * len(input)


@for_.stateful_kernel
def for_kernel(
    ctx: KernelContext, start: Array, limit: Array, delta: Array, input: list[Array], *, body: FunctionRef
) -> list[Array]:
    for name, value in (("start", start), ("limit", limit), ("delta", delta)):
        if np.ndim(value):
            raise InvalidArgumentError(f"{name} must be a scalar, not shape {list(np.shape(value))}")
    first, last, step = int(start), int(limit), int(delta)
    if (step > 0 and first > last) or (step < 0 and first < last):
        raise InvalidArgumentError(
            f"Requires start {'<=' if step > 0 else '>='} limit when delta {'>' if step > 0 else '<'} 0"
        )
    if step == 0 and first != last:
        raise InvalidArgumentError("Delta cannot be 0 when start != limit")
    once = ctx.function(body)
    values: Sequence[Any] = input
    for number in range(first, last, step or 1):
        values = once(np.int32(number), *values)
    return list(values)


# ------------------------------------------------------------------------------------------------------- Calls


def _call_shapes(op: Operation) -> list[Shape]:
    """What the body of the function tells, given what is known of its arguments."""
    reference = op.attr("f")
    found = result_shapes(reference, op.inputs, op.graph) if isinstance(reference, FunctionRef) else None
    if found is None or len(found) != len(op.outputs):
        return [UNKNOWN_SHAPE] * len(op.outputs)
    return list(found)


def call_kernel(ctx: KernelContext, args: list[Array], *, f: FunctionRef) -> list[Array]:
    return list(ctx.function(f)(*args))


partitioned_call = op(
    "PartitionedCall(args: Tin) -> output: Tout",
    "Tin: list(type) >= 0",
    "Tout: list(type) >= 0",
    "f: func",
    "config: string = ''",
    "config_proto: string = ''",
    "executor_type: string = ''",
)
partitioned_call.operation_shape(_call_shapes)
partitioned_call.stateful_kernel(call_kernel)

stateful_partitioned_call = op(
    "StatefulPartitionedCall(args: Tin) -> output: Tout",
    "Tin: list(type) >= 0",
    "Tout: list(type) >= 0",
    "f: func",
    "config: string = ''",
    "config_proto: string = ''",
    "executor_type: string = ''",
    "stateful",
    "distributed",
)
stateful_partitioned_call.operation_shape(_call_shapes)
stateful_partitioned_call.stateful_kernel(call_kernel)


symbolic_gradient = op(
    "SymbolicGradient(input: Tin) -> output: Tout",
    "Tin: list(type) >= 1",
    "Tout: list(type) >= 1",
    "f: func",
)


@symbolic_gradient.shape
def symbolic_gradient_shape(input: list[Tensor], *, Tout: Sequence[DType]) -> list[Shape]:  # noqa: N803
    """The gradients are like the arguments, which come first."""
    if len(input) < len(Tout):
        raise InvalidArgumentError("len(inputs) < len(outputs)")
    return [_gradient_shape(tensor) for tensor in input[: len(Tout)]]


def _gradient_shape(tensor: Tensor) -> Shape:
    held = held_behind(tensor)
    return tensor.static_shape if held is None else held.element_shape


def gradient_dtype(tensor: Tensor) -> DType:
    """The type of a gradient with respect to a tensor: for a handle, that of the variable behind it."""
    held = held_behind(tensor) if tensor.dtype is RESOURCE else None
    return tensor.dtype.base_dtype if held is None else held.element_dtype


@symbolic_gradient.stateful_kernel
def symbolic_gradient_kernel(
    ctx: KernelContext,
    input: list[Array],
    *,
    f: FunctionRef,
    Tout: Sequence[DType],  # noqa: N803 - the attribute's name
) -> list[Array]:
    return list(ctx.gradient(f, Tout)(*input))


@partitioned_call.gradient
@stateful_partitioned_call.gradient
def call_gradient(op: Operation, *dys: Tensor) -> Gradients:
    """The gradient of a call, be it of a function by an attribute or by the type of the operation."""
    called = op.get_attr("f").name if op.spec in (partitioned_call, stateful_partitioned_call) else op.type
    dtypes = [gradient_dtype(tensor) for tensor in op.inputs]
    return emit_tensors(symbolic_gradient, [*op.inputs, *dys], Tout=dtypes, f=FunctionRef(called, dict(op.attrs)))


# ------------------------------------------------------------------------------------------- What goes with them

to_bool = op("ToBool(input: T) -> output: bool", "T: type")
not_differentiable(to_bool)


@to_bool.shape
def to_bool_shape(input: Tensor) -> Shape:
    return SCALAR


@to_bool.kernel
def to_bool_kernel(input: Array) -> np.bool_:
    return np.bool_(truth(input))


fake_param = op("FakeParam() -> output: dtype", "dtype: type", "shape: shape")
not_differentiable(fake_param)


@fake_param.shape
def fake_param_shape(*, shape: Shape) -> Shape:
    return shape


@fake_param.kernel
def fake_param_kernel(*, dtype: DType, shape: Shape) -> Array:
    """What a branch gives in the place of a value that only the other branch has: nobody looks at it."""
    sizes = tuple(size or 0 for size in shape.dims or ())
    check_allocation(sizes, dtype.array_dtype)
    return np.full(sizes, b"", object) if dtype.is_object else np.zeros(sizes, dtype.array_dtype)


device_index = op("DeviceIndex() -> index: int32", "device_names: list(string)", "stateful")
not_differentiable(device_index)


@device_index.shape
def device_index_shape() -> Shape:
    return SCALAR


@device_index.kernel
def device_index_kernel(*, device_names: Sequence[bytes]) -> np.int32:
    return np.int32(device_names.index(b"CPU") if b"CPU" in device_names else len(device_names))
