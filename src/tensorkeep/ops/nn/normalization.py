"""Normalization over a batch, and over neighbouring channels.

The arithmetic of the fused ops is in `_normalization_kernels`; here is what a graph knows of it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.nn import _normalization_kernels as arithmetic
from tensorkeep.ops.nn._normalization_gradients import gradients_of_gradient
from tensorkeep.ops.nn._window_shapes import dims_of
from tensorkeep.ops.nn.windows import Dimension, narrow_array, widen_array
from tensorkeep.ops.shared.dimensions import merge_sizes
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_EPSILON: Final = "epsilon: float = 1e-04"
_FACTOR: Final = "exponential_avg_factor: float = 1.0"
_FORMATS: Final = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
_MORE_FORMATS: Final = "data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'"
_TRAINING: Final = "is_training: bool = true"

# ------------------------------------------------------------------------------------------- Batches

fused_batch_norm = op(
    "FusedBatchNorm(x: T, scale: T, offset: T, mean: T, variance: T) -> "
    "y: T, batch_mean: T, batch_variance: T, reserve_space_1: T, reserve_space_2: T",
    "T: {float}",
    _EPSILON,
    _FACTOR,
    _FORMATS,
    _TRAINING,
)
fused_batch_norm_v2 = op(
    "FusedBatchNormV2(x: T, scale: U, offset: U, mean: U, variance: U) -> "
    "y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U",
    "T: {half, bfloat16, float}",
    "U: {float}",
    _EPSILON,
    _FACTOR,
    _FORMATS,
    _TRAINING,
)
fused_batch_norm_v3 = op(
    "FusedBatchNormV3(x: T, scale: U, offset: U, mean: U, variance: U) -> "
    "y: T, batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U",
    "T: {half, bfloat16, float}",
    "U: {bfloat16, float}",
    _EPSILON,
    _FACTOR,
    _MORE_FORMATS,
    _TRAINING,
)


def _channel_axis(data_format: bytes) -> int:
    return 1 if data_format.startswith(b"NC") else -1


def _with_channels(x: Shape, data_format: bytes, vectors: tuple[Tensor, ...]) -> tuple[Shape, Dimension]:
    """The shape of images whose channels are as many as each vector has elements, and how many that is."""
    dims = list(x)
    axis = _channel_axis(data_format)
    count = dims[axis]
    for vector in vectors:
        count = merge_sizes(count, dims_of(vector, 1)[0])
    dims[axis] = count
    return Shape(tuple(dims)), count


def _rank(data_format: bytes) -> int:
    return 5 if b"D" in data_format else 4


@fused_batch_norm.shape
@fused_batch_norm_v2.shape
def fused_batch_norm_shape(
    x: Tensor,
    scale: Tensor,
    offset: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    data_format: bytes,
    is_training: bool,
    exponential_avg_factor: float,
) -> tuple[Shape, ...]:
    given = () if is_training and exponential_avg_factor == 1 else (mean, variance)
    images = Shape(dims_of(x, _rank(data_format)))
    shape, count = _with_channels(images, data_format, (scale, offset, *given))
    return shape, *(Shape((count,)),) * 4


@fused_batch_norm_v3.shape
def fused_batch_norm_v3_shape(
    x: Tensor,
    scale: Tensor,
    offset: Tensor,
    mean: Tensor,
    variance: Tensor,
    *,
    data_format: bytes,
    is_training: bool,
    exponential_avg_factor: float,
) -> tuple[Shape, ...]:
    found = fused_batch_norm_shape(
        x,
        scale,
        offset,
        mean,
        variance,
        data_format=data_format,
        is_training=is_training,
        exponential_avg_factor=exponential_avg_factor,
    )
    return *found, UNKNOWN_SHAPE


@fused_batch_norm.kernel
@fused_batch_norm_v2.kernel
def fused_batch_norm_kernel(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float,
    exponential_avg_factor: float,
    data_format: bytes,
    is_training: bool,
) -> tuple[Array, ...]:
    if x.ndim != _rank(data_format):
        raise InvalidArgumentError(f"input must be {_rank(data_format)}-dimensional, got {list(x.shape)}")
    return arithmetic.fused_batch_norm_kernel(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=epsilon,
        exponential_avg_factor=exponential_avg_factor,
        data_format=data_format,
        is_training=is_training,
    )


@fused_batch_norm_v3.kernel
def fused_batch_norm_v3_kernel(
    x: Array,
    scale: Array,
    offset: Array,
    mean: Array,
    variance: Array,
    *,
    epsilon: float,
    exponential_avg_factor: float,
    data_format: bytes,
    is_training: bool,
) -> tuple[Array, ...]:
    if x.ndim != _rank(data_format):
        raise InvalidArgumentError(f"input must be {_rank(data_format)}-dimensional, got {list(x.shape)}")
    return arithmetic.fused_batch_norm_v3_kernel(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=epsilon,
        exponential_avg_factor=exponential_avg_factor,
        data_format=data_format,
        is_training=is_training,
    )


def _fused_gradient(op: Operation, dy: Tensor, gradient_op: OpSpec, reserved: tuple[Tensor, ...] = ()) -> Gradients:
    """The gradient, for which an inference with channels first is transposed to and fro."""
    x, scale = op.inputs[:2]
    data_format, is_training = op.attr("data_format"), op.attr("is_training")
    attrs = {"epsilon": op.attr("epsilon"), "is_training": is_training}
    if is_training:
        found = gradient_op(dy, x, scale, op.outputs[3], op.outputs[4], *reserved, data_format=data_format, **attrs)
        return *found[:3], None, None
    rank = _rank(data_format)
    is_first = data_format.startswith(b"NC")
    if is_first:
        x = emit("Transpose", x, [0, *range(2, rank), 1], name="transpose")
        dy = emit("Transpose", dy, [0, *range(2, rank), 1], name="transpose")
    target = "NHWC" if rank == 4 else "NDHWC"
    dx, dscale, doffset, *_ = gradient_op(
        dy, x, scale, op.inputs[3], op.inputs[4], *reserved, data_format=target, **attrs
    )
    if is_first:
        dx = emit("Transpose", dx, [0, rank - 1, *range(1, rank - 1)], name="transpose")
    return dx, dscale, doffset, None, None


@fused_batch_norm.gradient
def fused_batch_norm_gradient(op: Operation, dy: Tensor, *others: Tensor) -> Gradients:
    return _fused_gradient(op, dy, fused_batch_norm_grad)


@fused_batch_norm_v2.gradient
def fused_batch_norm_v2_gradient(op: Operation, dy: Tensor, *others: Tensor) -> Gradients:
    return _fused_gradient(op, dy, fused_batch_norm_grad_v2)


@fused_batch_norm_v3.gradient
def fused_batch_norm_v3_gradient(op: Operation, dy: Tensor, *others: Tensor) -> Gradients:
    return _fused_gradient(op, dy, fused_batch_norm_grad_v3, (op.outputs[5],))


fused_batch_norm_grad = op(
    "FusedBatchNormGrad(y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T) -> "
    "x_backprop: T, scale_backprop: T, offset_backprop: T, reserve_space_3: T, reserve_space_4: T",
    "T: {float}",
    _EPSILON,
    _FORMATS,
    _TRAINING,
)
fused_batch_norm_grad_v2 = op(
    "FusedBatchNormGradV2(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U) -> "
    "x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U",
    "T: {half, bfloat16, float}",
    "U: {float}",
    _EPSILON,
    _FORMATS,
    _TRAINING,
)
fused_batch_norm_grad_v3 = op(
    "FusedBatchNormGradV3(y_backprop: T, x: T, scale: float, reserve_space_1: U, reserve_space_2: U, "
    "reserve_space_3: U) -> "
    "x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U",
    "T: {half, bfloat16, float}",
    "U: {float}",
    _EPSILON,
    _MORE_FORMATS,
    _TRAINING,
)


@fused_batch_norm_grad.shape
@fused_batch_norm_grad_v2.shape
@fused_batch_norm_grad_v3.shape
def fused_batch_norm_grad_shape(
    y_backprop: Tensor,
    x: Tensor,
    scale: Tensor,
    reserve_space_1: Tensor,
    reserve_space_2: Tensor,
    *reserved: Tensor,
    data_format: bytes,
) -> tuple[Shape, ...]:
    images = Shape(dims_of(y_backprop, _rank(data_format)))
    merged_images = images.merge(x.static_shape)
    vectors = (scale, reserve_space_1, reserve_space_2)
    _, count = _with_channels(merged_images, data_format, vectors)
    dims = list(images)
    dims[_channel_axis(data_format)] = count
    return Shape(tuple(dims)), Shape((count,)), Shape((count,)), Shape((0,)), Shape((0,))


@fused_batch_norm_grad.kernel
@fused_batch_norm_grad_v2.kernel
def fused_batch_norm_grad_kernel(
    y_backprop: Array,
    x: Array,
    scale: Array,
    reserve_space_1: Array,
    reserve_space_2: Array,
    *,
    epsilon: float,
    data_format: bytes,
    is_training: bool,
) -> tuple[Array, ...]:
    return arithmetic.fused_batch_norm_grad_kernel(
        y_backprop,
        x,
        scale,
        reserve_space_1,
        reserve_space_2,
        epsilon=epsilon,
        data_format=data_format,
        is_training=is_training,
    )


@fused_batch_norm_grad_v3.kernel
def fused_batch_norm_grad_v3_kernel(
    y_backprop: Array,
    x: Array,
    scale: Array,
    reserve_space_1: Array,
    reserve_space_2: Array,
    reserve_space_3: Array,
    *,
    epsilon: float,
    data_format: bytes,
    is_training: bool,
) -> tuple[Array, ...]:
    return arithmetic.fused_batch_norm_grad_kernel(
        y_backprop,
        x,
        scale,
        reserve_space_1,
        reserve_space_2,
        epsilon=epsilon,
        data_format=data_format,
        is_training=is_training,
    )


@fused_batch_norm_grad.gradient
@fused_batch_norm_grad_v2.gradient
@fused_batch_norm_grad_v3.gradient
def fused_batch_norm_grad_gradient(op: Operation, *flows: Tensor) -> Gradients:
    return gradients_of_gradient(op, flows)


# ------------------------------------------------------------------------------------------- Batches, before that

_GLOBAL: Final = (
    "T: numbertype",
    "variance_epsilon: float",
    "scale_after_normalization: bool",
    "deprecated 9 'Use tf.nn.batch_normalization()'",
)

batch_norm_with_global_normalization = op(
    "BatchNormWithGlobalNormalization(t: T, m: T, v: T, beta: T, gamma: T) -> result: T", *_GLOBAL
)


@batch_norm_with_global_normalization.shape
def batch_norm_with_global_normalization_shape(t: Tensor, m: Tensor, v: Tensor, beta: Tensor, gamma: Tensor) -> Shape:
    return _with_channels(Shape(dims_of(t, 4)), b"NHWC", (m, v, beta, gamma))[0]


@batch_norm_with_global_normalization.kernel
def batch_norm_with_global_normalization_kernel(
    t: Array,
    m: Array,
    v: Array,
    beta: Array,
    gamma: Array,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> Array:
    _expect_vectors(t, m, v, beta, gamma)
    if t.dtype == np.float16:  # of which TensorFlow rounds every step
        inverse = arithmetic.half_inverse_root(v + np.float16(variance_epsilon))
        result: Array = (t - m) * (inverse * gamma if scale_after_normalization else inverse) + beta
        return result
    inverse = _inverse_deviation(v, variance_epsilon)
    factor = inverse * widen_array(gamma) if scale_after_normalization else inverse
    return narrow_array((widen_array(t) - widen_array(m)) * factor + widen_array(beta), t.dtype)


def _inverse_deviation(v: Array, epsilon: float) -> Array:
    wide = widen_array(v)
    inverse: Array = wide.dtype.type(1) / np.sqrt(wide + wide.dtype.type(np.float32(epsilon)))
    return inverse


def _expect_vectors(t: Array, *vectors: Array) -> None:
    if t.ndim != 4 or any(vector.shape != t.shape[3:] for vector in vectors):
        raise InvalidArgumentError(
            f"input must be 4-dimensional, with one number per channel beside it, got {list(t.shape)} and "
            f"{[list(vector.shape) for vector in vectors]}"
        )


@batch_norm_with_global_normalization.gradient
def batch_norm_with_global_normalization_gradient(op: Operation, dy: Tensor) -> Gradients:
    t, m, v, _, gamma = op.inputs
    attrs = {name: op.attr(name) for name in ("variance_epsilon", "scale_after_normalization")}
    return tuple(batch_norm_with_global_normalization_grad(t, m, v, gamma, dy, **attrs))


batch_norm_with_global_normalization_grad = op(
    "BatchNormWithGlobalNormalizationGrad(t: T, m: T, v: T, gamma: T, backprop: T) -> "
    "dx: T, dm: T, dv: T, db: T, dg: T",
    *_GLOBAL,
)


@batch_norm_with_global_normalization_grad.shape
def batch_norm_with_global_normalization_grad_shape(
    t: Tensor, m: Tensor, v: Tensor, gamma: Tensor, backprop: Tensor
) -> tuple[Shape, ...]:
    images = Shape(dims_of(t, 4)).merge(backprop.static_shape)
    shape, count = _with_channels(images, b"NHWC", (m, v, gamma))
    return shape, *(Shape((count,)),) * 4


@batch_norm_with_global_normalization_grad.kernel
def batch_norm_with_global_normalization_grad_kernel(
    t: Array,
    m: Array,
    v: Array,
    gamma: Array,
    backprop: Array,
    *,
    variance_epsilon: float,
    scale_after_normalization: bool,
) -> tuple[Array, ...]:
    _expect_vectors(t, m, v, gamma)
    dy, inverse = widen_array(backprop), _inverse_deviation(v, variance_epsilon)
    scale = widen_array(gamma) if scale_after_normalization else np.ones_like(inverse)
    products = np.add.reduce(dy * (widen_array(t) - widen_array(m)), axis=(0, 1, 2))
    sums = np.add.reduce(dy, axis=(0, 1, 2))
    dgamma = products * inverse if scale_after_normalization else np.zeros_like(inverse)
    dv = products * scale * inverse * inverse * inverse * inverse.dtype.type(-0.5)
    found = (dy * (scale * inverse), -sums * (scale * inverse), dv, sums, dgamma)
    return tuple(narrow_array(array, t.dtype) for array in found)


# ------------------------------------------------------------------------------------------- Neighbouring channels

_LRN: Final = (
    "depth_radius: int = 5",
    "bias: float = 1.0",
    "alpha: float = 1.0",
    "beta: float = 0.5",
    "T: {half, bfloat16, float} = float",
)

lrn = op("LRN(input: T) -> output: T", *_LRN)


@lrn.shape
def lrn_shape(input: Tensor) -> Shape:
    return Shape(dims_of(input, 4))


@lrn.kernel
def lrn_kernel(input: Array, *, depth_radius: int, bias: float, alpha: float, beta: float) -> Array:
    if input.ndim != 4:
        raise InvalidArgumentError(f"in must be 4-dimensional, got {list(input.shape)}")
    return arithmetic.lrn_kernel(input, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta)


@lrn.gradient
def lrn_gradient(op: Operation, dy: Tensor) -> Gradients:
    attrs = {name: op.attr(name) for name in ("depth_radius", "bias", "alpha", "beta")}
    return [lrn_grad(dy, op.inputs[0], op.outputs[0], **attrs)]


lrn_grad = op("LRNGrad(input_grads: T, input_image: T, output_image: T) -> output: T", *_LRN)


@lrn_grad.shape
def lrn_grad_shape(input_grads: Tensor, input_image: Tensor, output_image: Tensor) -> Shape:
    return Shape(dims_of(input_grads, 4)).merge(input_image.static_shape).merge(output_image.static_shape)


@lrn_grad.kernel
def lrn_grad_kernel(
    input_grads: Array,
    input_image: Array,
    output_image: Array,
    *,
    depth_radius: int,
    bias: float,
    alpha: float,
    beta: float,
) -> Array:
    return arithmetic.lrn_grad_kernel(
        input_grads, input_image, output_image, depth_radius=depth_radius, bias=bias, alpha=alpha, beta=beta
    )
