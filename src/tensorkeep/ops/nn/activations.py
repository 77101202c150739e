"""Activations and biases: what a layer does with its sums.

Where the sign of an element decides how it is computed, the positive and the negative part are computed apart and
added: choosing element by element takes NumPy several times as long.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import ALL_DTYPES, INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.building import control_dependencies, name_scope
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.ops.nn.windows import is_half, narrow_array, widen_array
from tensorkeep.ops.shared.dimensions import merge_sizes
from tensorkeep.ops.shared.expressions import (
    concat,
    constant,
    minus,
    negative,
    ones_like,
    over,
    plus,
    rank_of,
    reduce_sum,
    reshape,
    shape_of,
    span,
    times,
    zeros_like,
)
from tensorkeep.ops.shared.families import of_equal_shapes
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import merged_shape, same, with_rank, with_rank_at_least
from tensorkeep.ops.shared.stretches import LARGE, in_stretches
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_FRACTIONS: Final = "T: {half, bfloat16, float, double}"
_PLAIN: Final = tuple(dtype.array_dtype for dtype in ALL_DTYPES if not dtype.is_object and not dtype.bits)
# As arrays, which NumPy takes in half the time that it takes Python's numbers.
_ZERO: Final = {dtype: np.zeros((), dtype) for dtype in _PLAIN}
_SIX: Final = {dtype: np.full((), 6).astype(dtype) for dtype in _PLAIN}

# ------------------------------------------------------------------------------------------------------ Biases

bias_add = op("BiasAdd(value: T, bias: T) -> output: T", "T: numbertype", "data_format: {'NHWC', 'NCHW'} = 'NHWC'")


@bias_add.shape
def bias_add_shape(value: Tensor, bias: Tensor, *, data_format: bytes) -> Shape:
    is_first = data_format == b"NCHW"
    known, size = with_rank_at_least(value, 3 if is_first else 2), with_rank(bias, 1)[0]
    if known.dims is None:
        return UNKNOWN_SHAPE
    axis = 1 if is_first else len(known.dims) - 1
    return Shape((*known.dims[:axis], merge_sizes(known.dims[axis], size), *known.dims[axis + 1 :]))


@bias_add.kernel
def bias_add_kernel(value: Array, bias: Array, *, data_format: bytes) -> Array:
    if data_format == b"NHWC":
        if bias.shape != value.shape[-1:] or value.ndim < 2:
            raise _bad_bias(value, bias)
        return value + bias
    if bias.shape != value.shape[1:2] or value.ndim < 2:
        raise _bad_bias(value, bias)
    return value + bias.reshape(-1, *(1,) * (value.ndim - 2))


def _bad_bias(value: Array, bias: Array) -> InvalidArgumentError:
    return InvalidArgumentError(
        "Must provide as many biases as the channel dimension of the input tensor: "
        f"{list(bias.shape)} vs. {list(value.shape)}"
    )


@bias_add.gradient
def bias_add_gradient(op: Operation, dy: Tensor) -> Gradients:
    return dy, bias_add_grad(dy, data_format=op.attr("data_format"))


bias_add_grad = op(
    "BiasAddGrad(out_backprop: T) -> output: T", "T: numbertype", "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
)


@bias_add_grad.shape
def bias_add_grad_shape(out_backprop: Tensor, *, data_format: bytes) -> Shape:
    is_first = data_format == b"NCHW"
    known = with_rank_at_least(out_backprop, 3 if is_first else 2)
    return Shape((None if known.dims is None else known.dims[1 if is_first else -1],))


@bias_add_grad.kernel
def bias_add_grad_kernel(out_backprop: Array, *, data_format: bytes) -> Array:
    rank, dtype = out_backprop.ndim, out_backprop.dtype
    if rank == 2:
        axes: Any = 0
    elif rank < 2:
        raise InvalidArgumentError(f"Input tensor must be at least 2D: {list(out_backprop.shape)}")
    else:
        axes = (0, *range(2, rank)) if data_format == b"NCHW" else tuple(range(rank - 1))
    summands = widen_array(out_backprop)
    return narrow_array(np.add.reduce(summands, axis=axes, dtype=summands.dtype), dtype)


@bias_add_grad.gradient
def bias_add_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    sizes, bias_sizes = shape_of(op.inputs[0]), shape_of(dy)
    if op.attr("data_format") == b"NCHW":
        before = ones_like(_part(sizes, 0, 1, begin_mask=1))
        after = ones_like(_part(sizes, 2, 0, end_mask=1))
        expanded = concat([before, bias_sizes, after])
        multiples = concat([_part(sizes, 0, 1, begin_mask=1), [1], _part(sizes, 2, 0, end_mask=1)])
    else:
        expanded = concat([ones_like(_part(sizes, 0, -1, begin_mask=1)), bias_sizes])
        multiples = concat([_part(sizes, 0, -1, begin_mask=1), [1]])
    return emit("Tile", reshape(dy, expanded), multiples)


def _part(sizes: Tensor, begin: int, end: int, **masks: int) -> Tensor:
    """A slice of a vector: `sizes[begin:end]`, where a mask stands for an end that is left out."""
    with name_scope("strided_slice") as scope:
        ends = [constant(np.array([at], np.int32), INT32, "stack") for at in (begin, end, 1)]
        found: Tensor = emit("StridedSlice", sizes, *ends, name=scope, **masks)
    return found


bias_add_v1 = op("BiasAddV1(value: T, bias: T) -> output: T", "T: numbertype")


@bias_add_v1.shape
def bias_add_v1_shape(value: Tensor, bias: Tensor) -> Shape:
    return bias_add_shape(value, bias, data_format=b"NHWC")


@bias_add_v1.kernel
def bias_add_v1_kernel(value: Array, bias: Array) -> Array:
    return bias_add_kernel(value, bias, data_format=b"NHWC")


@bias_add_v1.gradient
def bias_add_v1_gradient(op: Operation, dy: Tensor) -> Gradients:
    return dy, reduce_sum(dy, span(0, minus(rank_of(dy), 1)))


# ------------------------------------------------------------------------------------------------- Activations


def _gradient_op(name: str, types: str, *attrs: str, second: str = "features") -> OpSpec:
    """The op that computes the gradient of an activation."""
    spec = op(f"{name}(gradients: T, {second}: T) -> backprops: T", *attrs, types)
    spec.shape(merged_shape)
    return spec


relu = op(
    "Relu(features: T) -> activations: T",
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, qint8}",
)
relu.shape(same)


@relu.kernel
def relu_kernel(features: Array) -> Array:
    return np.maximum(features, _ZERO[features.dtype])


@relu.gradient
def relu_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit(relu_grad, dy, op.outputs[0])


relu_grad = _gradient_op("ReluGrad", "T: realnumbertype")


@relu_grad.kernel
@of_equal_shapes
def relu_grad_kernel(gradients: Array, features: Array) -> Array:
    return gradients * (features > _ZERO[features.dtype])


@relu_grad.gradient
def relu_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    return relu_grad(dy, op.inputs[1]), zeros_like(op.inputs[1])


relu6 = op("Relu6(features: T) -> activations: T", "T: realnumbertype")
relu6.shape(same)


@relu6.kernel
def relu6_kernel(features: Array) -> Array:
    dtype = features.dtype
    positive = np.maximum(features, _ZERO[dtype])
    # Where it is already: memory for a second large array costs more than the comparison. A scalar has no place.
    result: Array = np.minimum(positive, _SIX[dtype], out=positive if positive.ndim else None)
    return result


@relu6.gradient
def relu6_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit(relu6_grad, dy, op.outputs[0])


relu6_grad = _gradient_op("Relu6Grad", "T: realnumbertype")


@relu6_grad.kernel
@of_equal_shapes
def relu6_grad_kernel(gradients: Array, features: Array) -> Array:
    dtype = features.dtype
    inside: Array = gradients * ((features > _ZERO[dtype]) & (features < _SIX[dtype]))
    return inside


@relu6_grad.gradient
def relu6_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    return relu6_grad(dy, op.inputs[1]), zeros_like(op.inputs[1])


leaky_relu = op(
    "LeakyRelu(features: T) -> activations: T", "alpha: float = 0.2", "T: {half, bfloat16, float, double} = float"
)
leaky_relu.shape(same)


@leaky_relu.kernel
def leaky_relu_kernel(features: Array, *, alpha: float) -> Array:
    slope = np.float32(alpha).astype(features.dtype)
    choose = np.maximum if slope <= 1 else np.minimum
    if features.size < LARGE or not features.flags.c_contiguous:
        small: Array = choose(features, features * slope)
        return small
    result = result_array(features.shape, features.dtype)
    given, made = features.reshape(-1), result.reshape(-1)

    def activate(part: slice) -> None:
        np.multiply(given[part], slope, out=made[part])
        choose(given[part], made[part], out=made[part])

    in_stretches(activate, features.size)
    return result


@leaky_relu.gradient
def leaky_relu_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit(leaky_relu_grad, dy, op.inputs[0], alpha=op.attr("alpha"))


leaky_relu_grad = _gradient_op("LeakyReluGrad", "T: {half, bfloat16, float, double} = float", "alpha: float = 0.2")


@leaky_relu_grad.kernel
@of_equal_shapes
def leaky_relu_grad_kernel(gradients: Array, features: Array, *, alpha: float) -> Array:
    dtype = gradients.dtype
    slope = np.float32(alpha).astype(dtype)

    def slopes_of(part: Array) -> Array:
        slopes = (part > _ZERO[dtype]).astype(dtype)
        found: Array = np.maximum(slopes, slope) if 0 <= slope <= 1 else np.where(slopes, dtype.type(1), slope)
        return found

    if features.size < LARGE or not (features.flags.c_contiguous and gradients.flags.c_contiguous):
        small: Array = gradients * slopes_of(features)
        return small
    result = result_array(features.shape, dtype)
    given, arrived, made = features.reshape(-1), gradients.reshape(-1), result.reshape(-1)
    in_stretches(lambda part: np.multiply(arrived[part], slopes_of(given[part]), out=made[part]), features.size)
    return result


@leaky_relu_grad.gradient
def leaky_relu_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    return leaky_relu_grad(dy, op.inputs[1], alpha=op.attr("alpha")), zeros_like(op.inputs[1])


elu = op("Elu(features: T) -> activations: T", _FRACTIONS)
elu.shape(same)


@elu.kernel
def elu_kernel(features: Array) -> Array:
    if features.dtype == np.float16:  # of which TensorFlow rounds every step
        less = np.exp(np.minimum(features, np.float16(0)).astype(np.float32)).astype(np.float16) - np.float16(1)
        return np.where(features < 0, less, features)
    wide = widen_array(features)
    zero = _ZERO[wide.dtype]
    return narrow_array(np.expm1(np.minimum(wide, zero)) + np.maximum(wide, zero), features.dtype)


@elu.gradient
def elu_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit(elu_grad, dy, op.outputs[0])


elu_grad = _gradient_op("EluGrad", _FRACTIONS, second="outputs")


@elu_grad.kernel
@of_equal_shapes
def elu_grad_kernel(gradients: Array, outputs: Array) -> Array:
    wide = widen_array(outputs)
    return narrow_array(
        widen_array(gradients) * (np.fmin(wide, _ZERO[wide.dtype]) + wide.dtype.type(1)), gradients.dtype
    )


@elu_grad.gradient
def elu_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    return elu_grad(dy, op.inputs[1]), _where_negative(op, dy)


def _where_negative(op: Operation, dy: Tensor) -> Any:
    """The gradient of a gradient with respect to the outputs, on which it depends where they are negative."""
    outputs = op.inputs[1]
    return emit("Select", emit("Less", outputs, 0), times(dy, op.inputs[0]), zeros_like(outputs))


selu = op("Selu(features: T) -> activations: T", _FRACTIONS)
selu.shape(same)

_SELU_SCALE: Final = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA: Final = 1.7580993408473768599402175208123


@selu.kernel
def selu_kernel(features: Array) -> Array:
    if features.dtype == np.float16:  # of which TensorFlow rounds every step
        less = np.exp(np.minimum(features, np.float16(0)).astype(np.float32)).astype(np.float16) - np.float16(1)
        return np.where(features < 0, np.float16(_SELU_SCALE_ALPHA) * less, np.float16(_SELU_SCALE) * features)
    wide = widen_array(features)
    zero, kind = _ZERO[wide.dtype], wide.dtype.type
    negative = kind(_SELU_SCALE_ALPHA) * np.expm1(np.minimum(wide, zero))
    return narrow_array(negative + kind(_SELU_SCALE) * np.maximum(wide, zero), features.dtype)


@selu.gradient
def selu_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit(selu_grad, dy, op.outputs[0])


selu_grad = _gradient_op("SeluGrad", _FRACTIONS, second="outputs")


@selu_grad.kernel
@of_equal_shapes
def selu_grad_kernel(gradients: Array, outputs: Array) -> Array:
    wide = widen_array(outputs)
    kind = wide.dtype.type
    slopes = np.where(wide < _ZERO[wide.dtype], wide + kind(_SELU_SCALE_ALPHA), kind(_SELU_SCALE))
    return narrow_array(widen_array(gradients) * slopes, gradients.dtype)


@selu_grad.gradient
def selu_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    return selu_grad(dy, op.inputs[1]), _where_negative(op, dy)


softplus = op("Softplus(features: T) -> activations: T", _FRACTIONS)
softplus.shape(same)


@softplus.kernel
def softplus_kernel(features: Array) -> Array:
    if is_half(features.dtype):
        return _half_softplus(features)
    wide = widen_array(features)
    return narrow_array(np.logaddexp(wide, _ZERO[wide.dtype]), features.dtype)


def _half_softplus(features: Array) -> Array:
    """log(1 + exp(x)) of types of 16 bits, every step rounded to the type, as TensorFlow's is (softplus_op.h). Beyond a
    limit that depends on the type, it is x or exp(x).
    """
    kind = features.dtype.type
    # What Eigen calls the epsilon of a half is that of one with three bits more.
    epsilon = 2.0**-13 if features.dtype == np.float16 else 2.0**-7
    limit = kind(np.log(epsilon)) + kind(2)
    powers = np.exp(features.astype(np.float32)).astype(kind)
    softened = np.log1p(powers.astype(np.float32)).astype(kind)
    return np.where(features > -limit, features, np.where(features < limit, powers, softened))


@softplus.gradient
def softplus_gradient(op: Operation, dy: Tensor) -> Gradients:
    return times(dy, emit("Sigmoid", op.inputs[0]))


softplus_grad = _gradient_op("SoftplusGrad", _FRACTIONS)


@softplus_grad.kernel
@of_equal_shapes
def softplus_grad_kernel(gradients: Array, features: Array) -> Array:
    wide = widen_array(features)
    return narrow_array(widen_array(gradients) / (np.exp(-wide) + wide.dtype.type(1)), gradients.dtype)


@softplus_grad.gradient
def softplus_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    gradients, x = op.inputs
    with control_dependencies([dy]):
        first = softplus_grad(dy, x)
        numerator = times(dy, gradients)
        partial = plus(emit("Exp", negative(x)), 2.0)
        return first, over(numerator, plus(partial, emit("Exp", x)))


softsign = op("Softsign(features: T) -> activations: T", _FRACTIONS)
softsign.shape(same)


@softsign.kernel
def softsign_kernel(features: Array) -> Array:
    wide = widen_array(features)
    return narrow_array(wide / (np.abs(wide) + wide.dtype.type(1)), features.dtype)


@softsign.gradient
def softsign_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit(softsign_grad, dy, op.inputs[0])


softsign_grad = _gradient_op("SoftsignGrad", _FRACTIONS)


@softsign_grad.kernel
@of_equal_shapes
def softsign_grad_kernel(gradients: Array, features: Array) -> Array:
    wide = widen_array(features)
    return narrow_array(widen_array(gradients) / np.square(np.abs(wide) + wide.dtype.type(1)), gradients.dtype)
