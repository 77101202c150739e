"""Pools: the maximum or the average of each window of an image, and their gradients.

The arithmetic is in `pooling_kernels`; here is what a graph knows of it.
"""

from __future__ import annotations

from typing import Any, Final

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import op, takes_attributes
from tensorkeep.ops.nn import pooling_kernels as arithmetic
from tensorkeep.ops.nn._window_shapes import dims_of, layout, of_sizes, windows_over
from tensorkeep.ops.shared.dimensions import merge_sizes
from tensorkeep.ops.shared.expressions import shape_of, zeros_like
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

Ints = tuple[int, ...]

_SIZES: Final = ("ksize: list(int) >= 4", "strides: list(int) >= 4")
_SIZES_3D: Final = ("ksize: list(int) >= 5", "strides: list(int) >= 5")
_ATTRIBUTES: Final = ("ksize", "strides", "padding", "data_format")
_EXPLICIT_ATTRIBUTES: Final = ("ksize", "strides", "padding", "explicit_paddings", "data_format")
_PADDINGS: Final = "padding: {'SAME', 'VALID'}"
_PADDINGS_AND_EXPLICIT: Final = ("padding: {'SAME', 'VALID', 'EXPLICIT'}", "explicit_paddings: list(int) = []")
_FORMATS: Final = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
_FORMATS_3D: Final = "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'"
_MAX_POOL_TYPES: Final = (
    "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16, qint8} = float",
    "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'",
)


def _passed_on(op: Operation, *names: str) -> dict[str, Any]:
    return {name: op.attr(name) for name in names}


def _pooled_shape(
    images: Tensor, ksize: Ints, strides: Ints, padding: bytes, data_format: bytes, explicit: Ints = ()
) -> Shape:
    """The shape of maxima, which may be taken over channels too."""
    dims = dims_of(images, 4)
    placed = layout(data_format, 4)
    axes = (*placed.spatial, placed.channel)
    return Shape(tuple(windows_over(dims, ksize, strides, axes=axes, padding=padding, explicit_paddings=explicit)))


def _of_rank(x: Tensor, rank: int) -> Shape:
    return Shape(dims_of(x, rank))


# ------------------------------------------------------------------------------------------- Maxima

max_pool = op(
    "MaxPool(input: T) -> output: T", _MAX_POOL_TYPES[0], *_SIZES, *_PADDINGS_AND_EXPLICIT, _MAX_POOL_TYPES[1]
)


@max_pool.shape
def max_pool_shape(
    input: Tensor, *, ksize: Ints, strides: Ints, padding: bytes, explicit_paddings: Ints, data_format: bytes
) -> Shape:
    return _pooled_shape(input, ksize, strides, padding, data_format, explicit_paddings)


max_pool.kernel(takes_attributes(*_EXPLICIT_ATTRIBUTES)(arithmetic.max_pool_kernel))


@max_pool.gradient
def max_pool_gradient(op: Operation, dy: Tensor) -> Gradients:
    attrs = _passed_on(op, "ksize", "strides", "padding", "explicit_paddings", "data_format")
    return emit(max_pool_grad, op.inputs[0], op.outputs[0], dy, **attrs)


max_pool_v2 = op(
    "MaxPoolV2(input: T, ksize: int32, strides: int32) -> output: T", _MAX_POOL_TYPES[0], _PADDINGS, _MAX_POOL_TYPES[1]
)


@max_pool_v2.shape
def max_pool_v2_shape(input: Tensor, ksize: Tensor, strides: Tensor, *, padding: bytes, data_format: bytes) -> Shape:
    dims_of(input, 4)
    found = _four(ksize), _four(strides)
    if found[0] is None or found[1] is None:
        return UNKNOWN_SHAPE
    return _pooled_shape(input, found[0], found[1], padding, data_format)


def _four(sizes: Tensor) -> Ints | None:
    """Sizes that are an input, if they are known."""
    merge_sizes(with_rank(sizes, 1)[0], 4)
    value = constant_value(sizes)
    return None if value is None else tuple(value.tolist())


max_pool_v2.kernel(takes_attributes("padding", "data_format")(arithmetic.max_pool_v2_kernel))


@max_pool_v2.gradient
def max_pool_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    images, ksize, strides = op.inputs
    attrs = _passed_on(op, "padding", "data_format")
    return max_pool_grad_v2(images, op.outputs[0], dy, ksize, strides, **attrs), None, None


max_pool_grad = op(
    "MaxPoolGrad(orig_input: T, orig_output: T, grad: T) -> output: T",
    *_SIZES,
    *_PADDINGS_AND_EXPLICIT,
    _FORMATS,
    "T: realnumbertype = float",
)


@max_pool_grad.shape
def max_pool_grad_shape(orig_input: Tensor, orig_output: Tensor, grad: Tensor) -> Shape:
    return _of_rank(orig_input, 4)


max_pool_grad.kernel(takes_attributes(*_EXPLICIT_ATTRIBUTES)(arithmetic.max_pool_grad_kernel))


@max_pool_grad.gradient
def max_pool_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    images, output, _ = op.inputs
    attrs = _passed_on(op, "ksize", "strides", "padding", "data_format")
    return zeros_like(images), zeros_like(output), max_pool_grad_grad(images, output, dy, **attrs)


max_pool_grad_v2 = op(
    "MaxPoolGradV2(orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32) -> output: T",
    _PADDINGS,
    _FORMATS,
    "T: realnumbertype = float",
)


@max_pool_grad_v2.shape
def max_pool_grad_v2_shape(
    orig_input: Tensor, orig_output: Tensor, grad: Tensor, ksize: Tensor, strides: Tensor
) -> Shape:
    return _of_rank(orig_input, 4)


max_pool_grad_v2.kernel(takes_attributes("padding", "data_format")(arithmetic.max_pool_grad_v2_kernel))


@max_pool_grad_v2.gradient
def max_pool_grad_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    images, output, _, ksize, strides = op.inputs
    attrs = _passed_on(op, "padding", "data_format")
    gradient = max_pool_grad_grad_v2(images, output, dy, ksize, strides, **attrs)
    return zeros_like(images), zeros_like(output), gradient, None, None


max_pool_grad_grad = op(
    "MaxPoolGradGrad(orig_input: T, orig_output: T, grad: T) -> output: T",
    *_SIZES,
    _PADDINGS,
    _FORMATS,
    "T: realnumbertype",
)


@max_pool_grad_grad.shape
def max_pool_grad_grad_shape(
    orig_input: Tensor,
    orig_output: Tensor,
    grad: Tensor,
    *,
    ksize: Ints,
    strides: Ints,
    padding: bytes,
    data_format: bytes,
) -> Shape:
    found = _pooled_shape(orig_input, ksize, strides, padding, data_format)
    orig_input.static_shape.merge(grad.static_shape)
    orig_output.static_shape.merge(found)
    return found


max_pool_grad_grad.kernel(takes_attributes(*_ATTRIBUTES)(arithmetic.max_pool_grad_grad_kernel))


@max_pool_grad_grad.gradient
def max_pool_grad_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    images, output, _ = op.inputs
    attrs = _passed_on(op, "ksize", "strides", "padding", "data_format")
    return zeros_like(images), zeros_like(output), max_pool_grad(images, output, dy, **attrs)


max_pool_grad_grad_v2 = op(
    "MaxPoolGradGradV2(orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32) -> output: T",
    _PADDINGS,
    _FORMATS,
    "T: realnumbertype",
)


@max_pool_grad_grad_v2.shape
def max_pool_grad_grad_v2_shape(
    orig_input: Tensor,
    orig_output: Tensor,
    grad: Tensor,
    ksize: Tensor,
    strides: Tensor,
    *,
    padding: bytes,
    data_format: bytes,
) -> Shape:
    found = max_pool_v2_shape(orig_input, ksize, strides, padding=padding, data_format=data_format)
    orig_input.static_shape.merge(grad.static_shape)
    orig_output.static_shape.merge(found)
    return found


max_pool_grad_grad_v2.kernel(takes_attributes("padding", "data_format")(arithmetic.max_pool_grad_grad_v2_kernel))


# ------------------------------------------------------------------------------------------- Maxima and places

max_pool_with_argmax = op(
    "MaxPoolWithArgmax(input: T) -> output: T, argmax: Targmax",
    *_SIZES,
    "Targmax: {int32, int64} = int64",
    _PADDINGS,
    "include_batch_in_index: bool = false",
    "T: realnumbertype",
)


@max_pool_with_argmax.shape
def max_pool_with_argmax_shape(input: Tensor, *, ksize: Ints, strides: Ints, padding: bytes) -> tuple[Shape, Shape]:
    found = _pooled_shape(input, ksize, strides, padding, b"NHWC")
    return found, found


@max_pool_with_argmax.kernel
def max_pool_with_argmax_kernel(
    input: Array,
    *,
    ksize: Ints,
    strides: Ints,
    padding: bytes,
    include_batch_in_index: bool,
    Targmax: DType,  # noqa: N803 - TensorFlow's name
) -> tuple[Array, Array]:
    return arithmetic.max_pool_with_argmax_kernel(
        input,
        ksize=ksize,
        strides=strides,
        padding=padding,
        include_batch_in_index=include_batch_in_index,
        Targmax=Targmax.array_dtype,
    )


@max_pool_with_argmax.gradient
def max_pool_with_argmax_gradient(op: Operation, dy: Tensor, dargmax: Tensor) -> Gradients:
    attrs = _passed_on(op, "ksize", "strides", "padding", "include_batch_in_index")
    return emit(max_pool_grad_with_argmax, op.inputs[0], dy, op.outputs[1], **attrs)


max_pool_grad_with_argmax = op(
    "MaxPoolGradWithArgmax(input: T, grad: T, argmax: Targmax) -> output: T",
    *_SIZES,
    _PADDINGS,
    "include_batch_in_index: bool = false",
    "Targmax: {int32, int64}",
    "T: realnumbertype",
)


@max_pool_grad_with_argmax.shape
def max_pool_grad_with_argmax_shape(input: Tensor, grad: Tensor, argmax: Tensor) -> Shape:
    grad.static_shape.merge(argmax.static_shape)
    return _of_rank(input, 4)


@max_pool_grad_with_argmax.kernel
def max_pool_grad_with_argmax_kernel(
    input: Array,
    grad: Array,
    argmax: Array,
    *,
    ksize: Ints,
    strides: Ints,
    padding: bytes,
    include_batch_in_index: bool,
) -> Array:
    if grad.shape != argmax.shape:
        raise InvalidArgumentError(f"grad {list(grad.shape)} and argmax {list(argmax.shape)}: expected the same shape")
    return arithmetic.max_pool_grad_with_argmax_kernel(
        input,
        grad,
        argmax,
        ksize=ksize,
        strides=strides,
        padding=padding,
        include_batch_in_index=include_batch_in_index,
    )


# ------------------------------------------------------------------------------------------- Averages

avg_pool = op("AvgPool(value: T) -> output: T", *_SIZES, _PADDINGS, _FORMATS, "T: {half, bfloat16, float, double}")


@avg_pool.shape
def avg_pool_shape(value: Tensor, *, ksize: Ints, strides: Ints, padding: bytes, data_format: bytes) -> Shape:
    axes = layout(data_format, 4).spatial
    return Shape(tuple(windows_over(dims_of(value, 4), ksize, strides, axes=axes, padding=padding)))


avg_pool.kernel(takes_attributes(*_ATTRIBUTES)(arithmetic.avg_pool_kernel))


@avg_pool.gradient
def avg_pool_gradient(op: Operation, dy: Tensor) -> Gradients:
    attrs = _passed_on(op, "ksize", "strides", "padding", "data_format")
    return emit(avg_pool_grad, shape_of(op.inputs[0]), dy, **attrs)


avg_pool_grad = op(
    "AvgPoolGrad(orig_input_shape: int32, grad: T) -> output: T",
    *_SIZES,
    _PADDINGS,
    _FORMATS,
    "T: {half, bfloat16, float, double}",
)


@avg_pool_grad.shape
def avg_pool_grad_shape(orig_input_shape: Tensor, grad: Tensor) -> Shape:
    return of_sizes(orig_input_shape, 4)


avg_pool_grad.kernel(takes_attributes(*_ATTRIBUTES)(arithmetic.avg_pool_grad_kernel))


@avg_pool_grad.gradient
def avg_pool_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    attrs = _passed_on(op, "ksize", "strides", "padding", "data_format")
    return emit("StopGradient", op.inputs[0]), avg_pool(dy, **attrs)


# ------------------------------------------------------------------------------------------- Three dimensions

max_pool3d = op("MaxPool3D(input: T) -> output: T", *_SIZES_3D, _PADDINGS, _FORMATS_3D, "T: {half, bfloat16, float}")


@max_pool3d.shape
def max_pool3d_shape(input: Tensor, *, ksize: Ints, strides: Ints, padding: bytes, data_format: bytes) -> Shape:
    axes = layout(data_format, 5).spatial
    return Shape(tuple(windows_over(dims_of(input, 5), ksize, strides, axes=axes, padding=padding)))


max_pool3d.kernel(takes_attributes(*_ATTRIBUTES)(arithmetic.max_pool3d_kernel))


@max_pool3d.gradient
def max_pool3d_gradient(op: Operation, dy: Tensor) -> Gradients:
    attrs = _passed_on(op, "ksize", "strides", "padding", "data_format")
    return emit(max_pool3d_grad, op.inputs[0], op.outputs[0], dy, **attrs)


max_pool3d_grad = op(
    "MaxPool3DGrad(orig_input: TInput, orig_output: TInput, grad: T) -> output: T",
    *_SIZES_3D,
    _PADDINGS,
    _FORMATS_3D,
    "T: {half, bfloat16, float} = float",
    "TInput: {half, bfloat16, float} = float",
)


@max_pool3d_grad.shape
def max_pool3d_grad_shape(orig_input: Tensor, orig_output: Tensor, grad: Tensor) -> Shape:
    return _of_rank(orig_input, 5)


max_pool3d_grad.kernel(takes_attributes(*_ATTRIBUTES)(arithmetic.max_pool3d_grad_kernel))


@max_pool3d_grad.gradient
def max_pool3d_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    images, output, _ = op.inputs
    attrs = _passed_on(op, "ksize", "strides", "padding", "data_format")
    return zeros_like(images), zeros_like(output), max_pool3d_grad_grad(images, output, dy, **attrs)


max_pool3d_grad_grad = op(
    "MaxPool3DGradGrad(orig_input: T, orig_output: T, grad: T) -> output: T",
    *_SIZES_3D,
    _PADDINGS,
    _FORMATS_3D,
    "T: realnumbertype",
)


@max_pool3d_grad_grad.shape
def max_pool3d_grad_grad_shape(
    orig_input: Tensor,
    orig_output: Tensor,
    grad: Tensor,
    *,
    ksize: Ints,
    strides: Ints,
    padding: bytes,
    data_format: bytes,
) -> Shape:
    found = max_pool3d_shape(orig_input, ksize=ksize, strides=strides, padding=padding, data_format=data_format)
    orig_input.static_shape.merge(grad.static_shape)
    orig_output.static_shape.merge(found)
    return found


max_pool3d_grad_grad.kernel(takes_attributes(*_ATTRIBUTES)(arithmetic.max_pool3d_grad_grad_kernel))


@max_pool3d_grad_grad.gradient
def max_pool3d_grad_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    images, output, _ = op.inputs
    attrs = _passed_on(op, "ksize", "strides", "padding", "data_format")
    return zeros_like(images), zeros_like(output), max_pool3d_grad(images, output, dy, **attrs)


avg_pool3d = op(
    "AvgPool3D(input: T) -> output: T", *_SIZES_3D, _PADDINGS, _FORMATS_3D, "T: {half, bfloat16, float, double}"
)
avg_pool3d.shape(max_pool3d_shape)


avg_pool3d.kernel(takes_attributes(*_ATTRIBUTES)(arithmetic.avg_pool3d_kernel))


@avg_pool3d.gradient
def avg_pool3d_gradient(op: Operation, dy: Tensor) -> Gradients:
    attrs = _passed_on(op, "ksize", "strides", "padding", "data_format")
    return emit(avg_pool3d_grad, shape_of(op.inputs[0]), dy, **attrs)


avg_pool3d_grad = op(
    "AvgPool3DGrad(orig_input_shape: int32, grad: T) -> output: T",
    *_SIZES_3D,
    _PADDINGS,
    _FORMATS_3D,
    "T: {half, bfloat16, float, double}",
)


@avg_pool3d_grad.shape
def avg_pool3d_grad_shape(orig_input_shape: Tensor, grad: Tensor) -> Shape:
    return of_sizes(orig_input_shape, 5)


avg_pool3d_grad.kernel(takes_attributes(*_ATTRIBUTES)(arithmetic.avg_pool3d_grad_kernel))


@avg_pool3d_grad.gradient
def avg_pool3d_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    attrs = _passed_on(op, "ksize", "strides", "padding", "data_format")
    return emit("StopGradient", op.inputs[0]), avg_pool3d(dy, **attrs)
