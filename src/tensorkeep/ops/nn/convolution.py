"""Convolutions of images in two and three dimensions, plain, grouped, depthwise and morphological.

The arithmetic is in `convolution_kernels`; here is what a graph knows of it. Images are [batch, space…, channels], or
[batch, channels, space…] where the data format says so; filters are [space…, channels of a group, outputs].
"""

from __future__ import annotations

from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit_tensors
from tensorkeep.graph.constants import constant_shape
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op, takes_attributes
from tensorkeep.ops.nn import convolution_kernels as arithmetic
from tensorkeep.ops.nn._window_shapes import dims_of, layout, of_sizes, times, windows_over
from tensorkeep.ops.nn.windows import Dimension
from tensorkeep.ops.shared.dimensions import merge_sizes
from tensorkeep.ops.shared.expressions import shape_of
from tensorkeep.ops.shared.kernel_types import Gradients
from tensorkeep.ops.shared.shape_rules import same
from tensorkeep.shapes import Shape

Ints = tuple[int, ...]
Dims = tuple[Dimension, ...]

_ATTRIBUTES: Final = ("strides", "padding", "explicit_paddings", "data_format", "dilations")
_ATTRIBUTES_3D: Final = ("strides", "padding", "data_format", "dilations")
_OLD_ATTRIBUTES_3D: Final = ("strides", "padding", "dilations")
_PADDINGS: Final = "padding: {'SAME', 'VALID', 'EXPLICIT'}"
_EXPLICIT: Final = "explicit_paddings: list(int) = []"
_FORMATS: Final = "data_format: {'NHWC', 'NCHW'} = 'NHWC'"
_DILATIONS: Final = "dilations: list(int) = [1, 1, 1, 1]"
_FORMATS_3D: Final = "data_format: {'NDHWC', 'NCDHW'} = 'NDHWC'"
_DILATIONS_3D: Final = "dilations: list(int) = [1, 1, 1, 1, 1]"


def _output_shape(dims: Dims, filters: Dims, outputs: Dimension, data_format: bytes, sliding: dict[str, Any]) -> Shape:
    """The shape of a convolution's result, with that many channels."""
    placed = layout(data_format, len(dims))
    window: list[Dimension] = [1] * len(dims)
    for axis, size in zip(placed.spatial, filters, strict=False):
        window[axis] = size
    found = windows_over(dims, window, axes=placed.spatial, **sliding)
    found[placed.channel] = outputs
    return Shape(tuple(found))


def _check_groups(channels: Dimension, group: Dimension, outputs: Dimension) -> None:
    if channels is None or group is None:
        return
    if group == 0:
        raise InvalidArgumentError("Depth of filter must not be 0")
    if channels % group:
        raise InvalidArgumentError(f"Depth of input ({channels}) is not a multiple of input depth of filter ({group})")
    groups = channels // group
    if groups != 1 and outputs is not None and (not groups or outputs % groups):
        raise InvalidArgumentError(f"Depth of output ({outputs}) is not a multiple of the number of groups ({groups})")


def _passed_on(op: Operation, *names: str) -> dict[str, Any]:
    """The attributes of a convolution, for those that make its gradient."""
    return {name: op.attr(name) for name in ("dilations", "strides", "padding", "data_format", *names)}


# ------------------------------------------------------------------------------------------- Two dimensions

conv2d = op(
    "Conv2D(input: T, filter: T) -> output: T",
    "T: {half, bfloat16, float, double, int32}",
    "strides: list(int)",
    "use_cudnn_on_gpu: bool = true",
    _PADDINGS,
    _EXPLICIT,
    _FORMATS,
    _DILATIONS,
)


@conv2d.shape
def conv2d_shape(
    input: Tensor,
    filter: Tensor,
    *,
    strides: Ints,
    padding: bytes,
    explicit_paddings: Ints,
    data_format: bytes,
    dilations: Ints,
) -> Shape:
    dims, filters = dims_of(input, 4), dims_of(filter, 4)
    _check_groups(dims[layout(data_format, 4).channel], filters[2], filters[3])
    sliding = {
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "dilations": dilations,
    }
    return _output_shape(dims, filters, filters[3], data_format, sliding)


conv2d.kernel(takes_attributes(*_ATTRIBUTES)(arithmetic.conv2d_kernel))
conv2d.finishing(arithmetic.finished_conv2d, joins=True)


@conv2d.gradient
def conv2d_gradient(op: Operation, dy: Tensor) -> Gradients:
    images, filters = op.inputs
    attrs = _passed_on(op, "explicit_paddings", "use_cudnn_on_gpu")
    image_sizes, filter_sizes = emit_tensors("ShapeN", [images, filters])
    return [
        conv2d_backprop_input(image_sizes, filters, dy, **attrs),
        conv2d_backprop_filter(images, filter_sizes, dy, **attrs),
    ]


conv2d_backprop_input = op(
    "Conv2DBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> output: T",
    "T: {half, bfloat16, float, double, int32}",
    "strides: list(int)",
    "use_cudnn_on_gpu: bool = true",
    _PADDINGS,
    _EXPLICIT,
    _FORMATS,
    _DILATIONS,
)


@conv2d_backprop_input.shape
def conv2d_backprop_input_shape(
    input_sizes: Tensor, filter: Tensor, out_backprop: Tensor, *, data_format: bytes
) -> Shape:
    gradient, filters = dims_of(out_backprop, 4), dims_of(filter, 4)
    placed = layout(data_format, 4)
    merge_sizes(gradient[placed.channel], filters[3])
    stated = constant_shape(input_sizes)
    found = list(gradient)
    if stated.dims is not None and len(stated.dims) == 2:
        space: Dims = stated.dims
        channels = filters[2]
    else:
        dims = of_sizes(input_sizes, 4)
        # TensorFlow 1 takes the batch from the sizes, 2 from the gradient: programs reshape to what the first knows
        found[0] = merge_sizes(dims[0], gradient[0])
        space, channels = tuple(dims[axis] for axis in placed.spatial), dims[placed.channel]
    for axis, size in zip(placed.spatial, space, strict=True):
        found[axis] = size
    found[placed.channel] = channels
    return Shape(tuple(found))


conv2d_backprop_input.kernel(takes_attributes(*_ATTRIBUTES)(arithmetic.conv2d_backprop_input_kernel))
conv2d_backprop_input.finishing(arithmetic.finished_conv2d_backprop_input, measured=2)


@conv2d_backprop_input.gradient
def conv2d_backprop_input_gradient(op: Operation, dy: Tensor) -> Gradients:
    _, filters, gradient = op.inputs
    attrs = _passed_on(op, "explicit_paddings", "use_cudnn_on_gpu")
    return [
        None,
        conv2d_backprop_filter(dy, shape_of(filters), gradient, **attrs),
        conv2d(dy, filters, **attrs),
    ]


conv2d_backprop_filter = op(
    "Conv2DBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> output: T",
    "T: {half, bfloat16, float, double}",
    "strides: list(int)",
    "use_cudnn_on_gpu: bool = true",
    _PADDINGS,
    _EXPLICIT,
    _FORMATS,
    _DILATIONS,
)


@conv2d_backprop_filter.shape
def conv2d_backprop_filter_shape(input: Tensor, filter_sizes: Tensor, out_backprop: Tensor) -> Shape:
    return of_sizes(filter_sizes, 4)


conv2d_backprop_filter.kernel(takes_attributes(*_ATTRIBUTES)(arithmetic.conv2d_backprop_filter_kernel))


@conv2d_backprop_filter.gradient
def conv2d_backprop_filter_gradient(op: Operation, dy: Tensor) -> Gradients:
    images, _, gradient = op.inputs
    attrs = _passed_on(op, "explicit_paddings", "use_cudnn_on_gpu")
    return [
        conv2d_backprop_input(shape_of(images), dy, gradient, **attrs),
        None,
        conv2d(images, dy, **attrs),
    ]


# ------------------------------------------------------------------------------------------- Three dimensions

_FRACTIONS: Final = "T: {half, bfloat16, float, double}"
_STRIDES_3D: Final = "strides: list(int) >= 5"
_PADDINGS_3D: Final = "padding: {'SAME', 'VALID'}"

conv3d = op(
    "Conv3D(input: T, filter: T) -> output: T", _FRACTIONS, _STRIDES_3D, _PADDINGS_3D, _FORMATS_3D, _DILATIONS_3D
)


@conv3d.shape
def conv3d_shape(
    input: Tensor, filter: Tensor, *, strides: Ints, padding: bytes, data_format: bytes, dilations: Ints
) -> Shape:
    dims, filters = dims_of(input, 5), dims_of(filter, 5)
    _check_groups(dims[layout(data_format, 5).channel], filters[3], filters[4])
    sliding = {"strides": strides, "padding": padding, "dilations": dilations}
    return _output_shape(dims, filters, filters[4], data_format, sliding)


# With groups too, which TensorFlow has in functions that XLA compiles only: so does Keras export them.
conv3d.kernel(takes_attributes(*_ATTRIBUTES_3D)(arithmetic.conv3d_kernel))


@conv3d.gradient
def conv3d_gradient(op: Operation, dy: Tensor) -> Gradients:
    images, filters = op.inputs
    attrs = _passed_on(op)
    image_sizes, filter_sizes = emit_tensors("ShapeN", [images, filters])
    return [
        conv3d_backprop_input_v2(image_sizes, filters, dy, **attrs),
        conv3d_backprop_filter_v2(images, filter_sizes, dy, **attrs),
    ]


conv3d_backprop_input_v2 = op(
    "Conv3DBackpropInputV2(input_sizes: Tshape, filter: T, out_backprop: T) -> output: T",
    _FRACTIONS,
    _STRIDES_3D,
    _PADDINGS_3D,
    _FORMATS_3D,
    _DILATIONS_3D,
    "Tshape: {int32, int64} = int32",
)


@conv3d_backprop_input_v2.shape
def conv3d_backprop_input_v2_shape(input_sizes: Tensor, filter: Tensor, out_backprop: Tensor) -> Shape:
    return of_sizes(input_sizes, 5)


conv3d_backprop_input_v2.kernel(takes_attributes(*_ATTRIBUTES_3D)(arithmetic.conv3d_backprop_input_v2_kernel))


@conv3d_backprop_input_v2.gradient
def conv3d_backprop_input_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    _, filters, gradient = op.inputs
    attrs = _passed_on(op)
    return [
        None,
        conv3d_backprop_filter_v2(dy, shape_of(filters), gradient, **attrs),
        conv3d(dy, filters, **attrs),
    ]


conv3d_backprop_filter_v2 = op(
    "Conv3DBackpropFilterV2(input: T, filter_sizes: int32, out_backprop: T) -> output: T",
    _FRACTIONS,
    _STRIDES_3D,
    _PADDINGS_3D,
    _FORMATS_3D,
    _DILATIONS_3D,
)


@conv3d_backprop_filter_v2.shape
def conv3d_backprop_filter_v2_shape(input: Tensor, filter_sizes: Tensor, out_backprop: Tensor) -> Shape:
    return of_sizes(filter_sizes, 5)


conv3d_backprop_filter_v2.kernel(takes_attributes(*_ATTRIBUTES_3D)(arithmetic.conv3d_backprop_filter_v2_kernel))


@conv3d_backprop_filter_v2.gradient
def conv3d_backprop_filter_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    images, _, gradient = op.inputs
    attrs = _passed_on(op)
    return [
        conv3d_backprop_input_v2(shape_of(images), dy, gradient, **attrs),
        None,
        conv3d(images, dy, **attrs),
    ]


def _first_backprop(name: str, deprecated: str) -> OpSpec:
    return op(
        f"{name}(input: T, filter: T, out_backprop: T) -> output: T",
        "T: {half, float, double}",
        _STRIDES_3D,
        _PADDINGS_3D,
        _DILATIONS_3D,
        deprecated,
    )


conv3d_backprop_input = _first_backprop("Conv3DBackpropInput", "deprecated 10 'Use Conv3DBackpropInputV2'")
conv3d_backprop_filter = _first_backprop("Conv3DBackpropFilter", "deprecated 10 'Use Conv3DBackpropFilterV2'")


@conv3d_backprop_input.shape
def conv3d_backprop_input_shape(input: Tensor, filter: Tensor, out_backprop: Tensor) -> Shape:
    return Shape(dims_of(input, 5))


conv3d_backprop_input.kernel(takes_attributes(*_OLD_ATTRIBUTES_3D)(arithmetic.conv3d_backprop_input_kernel))


@conv3d_backprop_filter.shape
def conv3d_backprop_filter_shape(input: Tensor, filter: Tensor, out_backprop: Tensor) -> Shape:
    return Shape(dims_of(filter, 5))


conv3d_backprop_filter.kernel(takes_attributes(*_OLD_ATTRIBUTES_3D)(arithmetic.conv3d_backprop_filter_kernel))


# ------------------------------------------------------------------------------------------- Depthwise

depthwise_conv2d_native = op(
    "DepthwiseConv2dNative(input: T, filter: T) -> output: T",
    _FRACTIONS,
    "strides: list(int)",
    _PADDINGS,
    _EXPLICIT,
    _FORMATS,
    _DILATIONS,
)


@depthwise_conv2d_native.shape
def depthwise_conv2d_native_shape(
    input: Tensor,
    filter: Tensor,
    *,
    strides: Ints,
    padding: bytes,
    explicit_paddings: Ints,
    data_format: bytes,
    dilations: Ints,
) -> Shape:
    dims, filters = dims_of(input, 4), dims_of(filter, 4)
    merge_sizes(dims[layout(data_format, 4).channel], filters[2])
    sliding = {
        "strides": strides,
        "padding": padding,
        "explicit_paddings": explicit_paddings,
        "dilations": dilations,
    }
    return _output_shape(dims, filters, times(filters[2], filters[3]), data_format, sliding)


depthwise_conv2d_native.kernel(takes_attributes(*_ATTRIBUTES)(arithmetic.depthwise_conv2d_native_kernel))
depthwise_conv2d_native.finishing(arithmetic.finished_depthwise_conv2d)


@depthwise_conv2d_native.gradient
def depthwise_conv2d_native_gradient(op: Operation, dy: Tensor) -> Gradients:
    images, filters = op.inputs
    attrs = _passed_on(op, "explicit_paddings")
    return [
        depthwise_conv2d_native_backprop_input(shape_of(images), filters, dy, **attrs),
        depthwise_conv2d_native_backprop_filter(images, shape_of(filters), dy, **attrs),
    ]


depthwise_conv2d_native_backprop_input = op(
    "DepthwiseConv2dNativeBackpropInput(input_sizes: int32, filter: T, out_backprop: T) -> output: T",
    _FRACTIONS,
    "strides: list(int)",
    _PADDINGS,
    _EXPLICIT,
    _FORMATS,
    _DILATIONS,
)


@depthwise_conv2d_native_backprop_input.shape
def depthwise_conv2d_native_backprop_input_shape(input_sizes: Tensor, filter: Tensor, out_backprop: Tensor) -> Shape:
    return of_sizes(input_sizes, 4)


depthwise_conv2d_native_backprop_input.kernel(
    takes_attributes(*_ATTRIBUTES)(arithmetic.depthwise_conv2d_native_backprop_input_kernel)
)


@depthwise_conv2d_native_backprop_input.gradient
def depthwise_conv2d_native_backprop_input_gradient(op: Operation, dy: Tensor) -> Gradients:
    _, filters, gradient = op.inputs
    attrs = _passed_on(op, "explicit_paddings")
    return [
        None,
        depthwise_conv2d_native_backprop_filter(dy, shape_of(filters), gradient, **attrs),
        depthwise_conv2d_native(dy, filters, **attrs),
    ]


depthwise_conv2d_native_backprop_filter = op(
    "DepthwiseConv2dNativeBackpropFilter(input: T, filter_sizes: int32, out_backprop: T) -> output: T",
    _FRACTIONS,
    "strides: list(int)",
    _PADDINGS,
    _EXPLICIT,
    _FORMATS,
    _DILATIONS,
)
depthwise_conv2d_native_backprop_filter.shape(conv2d_backprop_filter_shape)


depthwise_conv2d_native_backprop_filter.kernel(
    takes_attributes(*_ATTRIBUTES)(arithmetic.depthwise_conv2d_native_backprop_filter_kernel)
)


@depthwise_conv2d_native_backprop_filter.gradient
def depthwise_conv2d_native_backprop_filter_gradient(op: Operation, dy: Tensor) -> Gradients:
    images, _, gradient = op.inputs
    attrs = _passed_on(op, "explicit_paddings")
    return [
        depthwise_conv2d_native_backprop_input(shape_of(images), dy, gradient, **attrs),
        None,
        depthwise_conv2d_native(images, dy, **attrs),
    ]


# ------------------------------------------------------------------------------------------- Morphological

_DILATION_ATTRS: Final = (
    "T: realnumbertype",
    "strides: list(int) >= 4",
    "rates: list(int) >= 4",
    "padding: {'SAME', 'VALID'}",
)

dilation2d = op("Dilation2D(input: T, filter: T) -> output: T", *_DILATION_ATTRS)


@dilation2d.shape
def dilation2d_shape(input: Tensor, filter: Tensor, *, strides: Ints, rates: Ints, padding: bytes) -> Shape:
    dims, filters = dims_of(input, 4), dims_of(filter, 3)
    if None in (*dims[1:3], *filters[:2]):
        return Shape((dims[0], None, None, filters[2]))
    merge_sizes(dims[3], filters[2])
    sliding = {"strides": strides, "padding": padding, "dilations": rates}
    return _output_shape(dims, filters, filters[2], b"NHWC", sliding)


dilation2d.kernel(arithmetic.dilation2d_kernel)


@dilation2d.gradient
def dilation2d_gradient(op: Operation, dy: Tensor) -> Gradients:
    images, filters = op.inputs
    attrs = {name: op.attr(name) for name in ("strides", "rates", "padding")}
    return [
        dilation2d_backprop_input(images, filters, dy, **attrs),
        dilation2d_backprop_filter(images, filters, dy, **attrs),
    ]


dilation2d_backprop_input = op(
    "Dilation2DBackpropInput(input: T, filter: T, out_backprop: T) -> in_backprop: T", *_DILATION_ATTRS
)
dilation2d_backprop_input.shape(same)


dilation2d_backprop_input.kernel(arithmetic.dilation2d_backprop_input_kernel)


dilation2d_backprop_filter = op(
    "Dilation2DBackpropFilter(input: T, filter: T, out_backprop: T) -> filter_backprop: T", *_DILATION_ATTRS
)


@dilation2d_backprop_filter.shape
def dilation2d_backprop_filter_shape(input: Tensor, filter: Tensor, out_backprop: Tensor) -> Shape:
    return filter.static_shape


dilation2d_backprop_filter.kernel(arithmetic.dilation2d_backprop_filter_kernel)
