"""Where values come from and go through unchanged: constants, placeholders, identities."""

from __future__ import annotations

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.messages.attrs import shape_of_proto
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import same
from tensorkeep.proto.messages import TensorProto
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.runtime.context import KernelContext
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import Shape

const = op("Const() -> output: dtype", "value: tensor", "dtype: type")
not_differentiable(const)


@const.shape
def const_shape(*, value: TensorProto) -> Shape:
    return shape_of_proto(value.tensor_shape)


@const.kernel
def const_kernel(*, value: TensorProto) -> Array:
    found = array_of_tensor(value)
    check_allocation(found.shape, found.dtype)  # one value may stand for all
    return found


placeholder = op("Placeholder() -> output: dtype", "dtype: type", "shape: shape = shape")
not_differentiable(placeholder)


@placeholder.shape
def placeholder_shape(*, shape: Shape) -> Shape:
    return shape


@placeholder.stateful_kernel
def placeholder_kernel(ctx: KernelContext, *, dtype: DType, shape: Shape) -> Array:
    raise InvalidArgumentError(
        f"You must feed a value for placeholder tensor '{ctx.name}' with dtype {dtype.label}"
        + (f" and shape {shape}" if shape.dims is not None else "")
    )


placeholder_with_default = op("PlaceholderWithDefault(input: dtype) -> output: dtype", "dtype: type", "shape: shape")


@placeholder_with_default.shape
def placeholder_with_default_shape(input: Tensor, *, shape: Shape) -> Shape:
    input.static_shape.merge(shape)  # the default must fit
    return shape


@placeholder_with_default.kernel
def placeholder_with_default_kernel(input: Array) -> Array:
    return input


@placeholder_with_default.gradient
def placeholder_with_default_gradient(op: Operation, dy: Tensor) -> Gradients:
    return dy


identity = op("Identity(input: T) -> output: T", "T: type")
identity.shape(same)


@identity.kernel
def identity_kernel(input: Array) -> Array:
    return input


@identity.gradient
def identity_gradient(op: Operation, dy: Tensor) -> Gradients:
    return dy


identity_n = op("IdentityN(input: T) -> output: T", "T: list(type) >= 1")


@identity_n.shape
def identity_n_shape(input: list[Tensor]) -> list[Shape]:
    return [tensor.static_shape for tensor in input]


@identity_n.kernel
def identity_n_kernel(input: list[Array]) -> list[Array]:
    return input


@identity_n.gradient
def identity_n_gradient(op: Operation, *dys: Tensor) -> Gradients:
    return list(dys)


stop_gradient = op("StopGradient(input: T) -> output: T", "T: type")
stop_gradient.shape(same)
stop_gradient.kernel(identity_kernel)
not_differentiable(stop_gradient)

prevent_gradient = op("PreventGradient(input: T) -> output: T", "T: type", "message: string = ''")
prevent_gradient.shape(same)
prevent_gradient.kernel(identity_kernel)


@prevent_gradient.gradient
def prevent_gradient_gradient(op: Operation, dy: Tensor) -> Gradients:
    raise LookupError(f"Gradient explicitly disabled. Reason: {op.get_attr('message').decode()!r}")


no_op = op("NoOp()")


@no_op.kernel
def no_op_kernel() -> tuple[()]:
    return ()


control_trigger = op("ControlTrigger()")
control_trigger.kernel(no_op_kernel)
not_differentiable(no_op, control_trigger)
