"""Convolutions, under the names of TensorFlow 1's `tf.nn`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import IntegersLike, ShapeLike, SizeLike, TensorLike, emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import OpSpec
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops.nn import convolution as ops
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.arrays.patches import batch_to_space, space_to_batch
from tensorkeep.tf1.functions.arrays.shapes import concat, either, expand_dims, reshape, scope_of, shape, squeeze
from tensorkeep.tf1.functions.nn.windows import (
    PaddingLike,
    apply_dilated,
    is_channels_first,
    padding_attrs,
    sequence,
    spatial_sizes,
    with_space_to_batch,
)
from tensorkeep.tf1.functions.numbers.elementwise import negative

_CHANNELS_LAST: Final = ("NWC", "NHC", "NHWC", "NWHC", "NDHWC", "NDWHC")
_PLAIN: Final = (1, 1, 1, 1)
_PLAIN_3D: Final = (1, 1, 1, 1, 1)

# ---------------------------------------------------------------------------------------------------- Arguments


def _flat_format(data_format: str | None, formats: tuple[str, str, str, str]) -> tuple[str, bool]:
    """The data format for images of rows, where rows alone are given; and whether channels come first."""
    if data_format is None or data_format in formats[:2]:
        return "NHWC", False
    if data_format in formats[2:]:
        return "NCHW", True
    raise InvalidArgumentError(f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}")


def _with_one_batch(images: Any, compute: Callable[[Tensor], Tensor], inner: int, name: str | None) -> Tensor:
    """Computes on images of which several leading dimensions are batches."""
    with scope_of(name, "squeeze_batch_dims", images):
        images = convert(images, name="input")
        dims = images.static_shape.dims
        assert dims is not None
        inside: Any = list(dims[-inner:])
        if None in inside:
            inside = shape(images)[-inner:]
        outside: Any = list(dims[:-inner])
        if None in outside:
            outside = shape(images)[:-inner]
        flat = [-1, *inside] if isinstance(inside, list) else concat(([-1], inside), axis=-1)
        computed = compute(reshape(images, flat))
        found = computed.static_shape.dims
        kept: Any = None if found is None else list(found[-inner:])
        if kept is None or None in kept:
            kept = shape(computed)[-inner:]
        result = reshape(computed, concat((outside, kept), axis=-1))
        last = result.static_shape.dims
        result.set_shape(Shape((*dims[:-inner], *(last[-inner:] if last is not None else (None,) * inner))))
        return result


# ---------------------------------------------------------------------------------------------------- One dimension


def conv1d(
    value: TensorLike | None = None,
    filters: TensorLike | None = None,
    stride: IntegersLike | None = None,
    padding: str | None = None,
    use_cudnn_on_gpu: bool | None = None,
    data_format: str | None = None,
    name: str | None = None,
    input: TensorLike | None = None,
    dilations: IntegersLike | None = None,
) -> Tensor:
    """A convolution of rows: of images of one row."""
    value = either("input", input, "value", value)
    images: Any = value
    kernel: Any = filters
    with scope_of(name, "conv1d", value, filters) as scope:
        flat, is_first = _flat_format(data_format, ("NHWC", "NWC", "NCHW", "NCW"))
        axis = -2 if is_first else -3
        attrs: dict[str, Any] = {
            "strides": [1, *sequence(stride, 1, is_first, "stride")],
            "padding": padding,
            "use_cudnn_on_gpu": use_cudnn_on_gpu,
            "data_format": flat,
            "dilations": [1, *sequence(dilations, 1, is_first, "dilations")],
        }
        images, kernel = expand_dims(images, axis), expand_dims(kernel, 0)
        rank = images.static_shape.rank
        if rank is None or rank <= 4:
            result = _conv2d(images, kernel, attrs, scope)
        else:
            result = _with_one_batch(images, lambda images: _conv2d(images, kernel, attrs), 3, scope)
        return squeeze(result, [axis])


def _conv2d(images: Any, filters: Any, attrs: dict[str, Any], name: str | None = None) -> Tensor:
    return emit(ops.conv2d, images, filters, name=name, **attrs)


def conv1d_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: Tensor | Array | Sequence[SizeLike | Tensor],
    strides: IntegersLike,
    padding: str = "SAME",
    data_format: str | None = "NWC",
    dilations: IntegersLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of `conv1d`: its gradient, as a layer."""
    with scope_of(name, "conv1d_transpose", input, filters, output_shape) as scope:
        flat, is_first = _flat_format(data_format, ("NWC", "NWC", "NCW", "NCW"))
        axis = 2 if is_first else 1
        input, filters = expand_dims(input, axis), expand_dims(filters, 0)
        sizes: Any = output_shape if isinstance(output_shape, Tensor) else list(output_shape)
        result = ops.conv2d_backprop_input(
            concat([sizes[:axis], [1], sizes[axis:]], 0),
            filters,
            input,
            strides=[1, *sequence(strides, 1, is_first, "stride")],
            padding=padding,
            data_format=flat,
            dilations=[1, *sequence(dilations, 1, is_first, "dilations")],
            name=scope,
        )
        return squeeze(result, axis)


# ---------------------------------------------------------------------------------------------------- Two dimensions


def conv2d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: IntegersLike | None = None,
    padding: PaddingLike | None = None,
    use_cudnn_on_gpu: bool | None = True,
    data_format: str | None = "NHWC",
    dilations: IntegersLike = _PLAIN,
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """The convolution of images with filters [rows, columns, channels, outputs]."""
    filter = either("filters", filters, "filter", filter)
    data_format = data_format or "NHWC"
    is_first = is_channels_first(data_format)
    attrs = {
        "strides": sequence(strides, 2, is_first, "strides"),
        "dilations": sequence(dilations, 2, is_first, "dilations"),
        "use_cudnn_on_gpu": use_cudnn_on_gpu,
        "data_format": data_format,
        **padding_attrs(padding),
    }
    known: Any = getattr(input, "shape")  # noqa: B009 - arrays and variables have one, too
    rank = known.rank if isinstance(known, TensorShape) else len(known)
    if rank is None or rank <= 4:
        return _conv2d(input, filter, attrs, name)
    return _with_one_batch(input, lambda images: _conv2d(images, filter, attrs), 3, name)


def conv2d_backprop_filter(
    input: TensorLike,
    filter_sizes: ShapeLike,
    out_backprop: TensorLike,
    strides: IntegersLike,
    padding: PaddingLike,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: IntegersLike = _PLAIN,
    name: str | None = None,
) -> Tensor:
    """The gradient of a convolution with respect to its filters."""
    return emit(
        ops.conv2d_backprop_filter,
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        dilations=dilations,
        name=name,
        **padding_attrs(padding),
    )


def conv2d_backprop_input(
    input_sizes: ShapeLike,
    filter: TensorLike | None = None,
    out_backprop: TensorLike | None = None,
    strides: IntegersLike | None = None,
    padding: PaddingLike | None = None,
    use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC",
    dilations: IntegersLike = _PLAIN,
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """The gradient of a convolution with respect to its images."""
    filter = either("filters", filters, "filter", filter)
    return emit(
        ops.conv2d_backprop_input,
        input_sizes,
        filter,
        out_backprop,
        strides=strides,
        use_cudnn_on_gpu=use_cudnn_on_gpu,
        data_format=data_format,
        dilations=dilations,
        name=name,
        **padding_attrs(padding),
    )


def conv2d_transpose(
    value: TensorLike | None = None,
    filter: TensorLike | None = None,
    output_shape: ShapeLike = None,
    strides: IntegersLike | None = None,
    padding: PaddingLike = "SAME",
    data_format: str | None = "NHWC",
    name: str | None = None,
    input: TensorLike | None = None,
    filters: TensorLike | None = None,
    dilations: IntegersLike | None = None,
) -> Tensor:
    """The transpose of `conv2d`: its gradient, as a layer."""
    value = either("input", input, "value", value)
    filter = either("filters", filters, "filter", filter)
    with scope_of(name, "conv2d_transpose", value, filter, output_shape) as scope:
        data_format = data_format or "NHWC"
        is_first = is_channels_first(data_format)
        return emit(
            ops.conv2d_backprop_input,
            output_shape,
            filter,
            value,
            strides=sequence(strides, 2, is_first, "strides"),
            data_format=data_format,
            dilations=sequence(dilations, 2, is_first, "dilations"),
            name=scope,
            **padding_attrs(padding),
        )


# ---------------------------------------------------------------------------------------------------- Three dimensions


def conv3d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: IntegersLike | None = None,
    padding: str | None = None,
    data_format: str = "NDHWC",
    dilations: IntegersLike = _PLAIN_3D,
    name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:
    """The convolution of space with filters [planes, rows, columns, channels, outputs]."""
    filter = either("filters", filters, "filter", filter)
    return emit(
        ops.conv3d,
        input,
        filter,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


def conv3d_backprop_filter_v2(
    input: TensorLike,
    filter_sizes: ShapeLike,
    out_backprop: TensorLike,
    strides: IntegersLike,
    padding: str,
    data_format: str = "NDHWC",
    dilations: IntegersLike = _PLAIN_3D,
    name: str | None = None,
) -> Tensor:
    """The gradient of a convolution of space with respect to its filters."""
    return emit(
        ops.conv3d_backprop_filter_v2,
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        padding=padding,
        data_format=data_format,
        dilations=dilations,
        name=name,
    )


conv3d_backprop_filter = conv3d_backprop_filter_v2


def conv3d_transpose(
    value: TensorLike | None,
    filter: TensorLike | None = None,
    output_shape: ShapeLike = None,
    strides: IntegersLike | None = None,
    padding: str = "SAME",
    data_format: str | None = "NDHWC",
    name: str | None = None,
    input: TensorLike | None = None,
    filters: TensorLike | None = None,
    dilations: IntegersLike | None = None,
) -> Tensor:
    """The transpose of `conv3d`: its gradient, as a layer."""
    filter = either("filters", filters, "filter", filter)
    value = either("input", input, "value", value)
    with scope_of(name, "conv3d_transpose", value, filter, output_shape) as scope:
        data_format = data_format or "NDHWC"
        is_first = is_channels_first(data_format)
        return emit(
            ops.conv3d_backprop_input_v2,
            output_shape,
            filter,
            value,
            strides=sequence(strides, 3, is_first, "strides"),
            padding=padding,
            data_format=data_format,
            dilations=sequence(dilations, 3, is_first, "dilations"),
            name=scope,
        )


def conv_transpose(
    input: TensorLike,
    filters: TensorLike,
    output_shape: Tensor | Array | Sequence[SizeLike | Tensor],
    strides: IntegersLike,
    padding: str = "SAME",
    data_format: str | None = None,
    dilations: IntegersLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The transpose of a convolution in one, two or three dimensions."""
    with scope_of(name, "conv_transpose", input, filters, output_shape) as scope:
        length = output_shape.static_shape[0] if isinstance(output_shape, Tensor) else len(output_shape)
        functions: dict[int | None, Callable[..., Tensor]] = {
            3: conv1d_transpose,
            4: conv2d_transpose,
            5: conv3d_transpose,
        }
        if length not in functions:
            raise InvalidArgumentError(
                f"`output_shape` must be of length 3, 4 or 5. Received: output_shape={output_shape} of length {length}."
            )
        return functions[length](
            input,
            filters,
            output_shape,
            strides,
            padding=padding,
            data_format=data_format,
            dilations=dilations,
            name=scope,
        )


# ---------------------------------------------------------------------------------------------------- Depthwise


def depthwise_conv2d_native(
    input: TensorLike,
    filter: TensorLike,
    strides: IntegersLike,
    padding: PaddingLike,
    data_format: str | None = "NHWC",
    dilations: IntegersLike = _PLAIN,
    name: str | None = None,
) -> Tensor:
    """A convolution of each channel by filters of its own, [rows, columns, channels, outputs of each]."""
    return emit(
        ops.depthwise_conv2d_native,
        input,
        filter,
        strides=strides,
        data_format=data_format,
        dilations=dilations,
        name=name,
        **padding_attrs(padding),
    )


def depthwise_conv2d_backprop_input(
    input_sizes: ShapeLike,
    filter: TensorLike,
    out_backprop: TensorLike,
    strides: IntegersLike,
    padding: PaddingLike,
    data_format: str = "NHWC",
    dilations: IntegersLike = _PLAIN,
    name: str | None = None,
) -> Tensor:
    """The gradient of a depthwise convolution with respect to its images."""
    return emit(
        ops.depthwise_conv2d_native_backprop_input,
        input_sizes,
        filter,
        out_backprop,
        strides=strides,
        data_format=data_format,
        dilations=dilations,
        name=name,
        **padding_attrs(padding),
    )


def depthwise_conv2d_backprop_filter(
    input: TensorLike,
    filter_sizes: ShapeLike,
    out_backprop: TensorLike,
    strides: IntegersLike,
    padding: PaddingLike,
    data_format: str = "NHWC",
    dilations: IntegersLike = _PLAIN,
    name: str | None = None,
) -> Tensor:
    """The gradient of a depthwise convolution with respect to its filters."""
    return emit(
        ops.depthwise_conv2d_native_backprop_filter,
        input,
        filter_sizes,
        out_backprop,
        strides=strides,
        data_format=data_format,
        dilations=dilations,
        name=name,
        **padding_attrs(padding),
    )


depthwise_conv2d_native_backprop_input = depthwise_conv2d_backprop_input
depthwise_conv2d_native_backprop_filter = depthwise_conv2d_backprop_filter


def depthwise_conv2d(
    input: TensorLike,
    filter: TensorLike,
    strides: IntegersLike,
    padding: PaddingLike,
    rate: IntegersLike | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: IntegersLike | None = None,
) -> Tensor:
    """A depthwise convolution. A dilated one is computed as a plain one of interleaved parts of the images."""
    rate = either("dilations", dilations, "rate", rate)
    with scope_of(name, "depthwise", input, filter) as scope:
        input, filter = convert(input, name="tensor_in"), convert(filter, name="filter_in")

        def compute(images: Tensor, _: int, padding: Any) -> Tensor:
            return depthwise_conv2d_native(images, filter, strides, padding, data_format, name=scope)

        return with_space_to_batch(
            input, [1, 1] if rate is None else rate, padding, compute, shape(filter), data_format=data_format
        )


def separable_conv2d(
    input: TensorLike,
    depthwise_filter: TensorLike,
    pointwise_filter: TensorLike,
    strides: IntegersLike,
    padding: PaddingLike,
    rate: IntegersLike | None = None,
    name: str | None = None,
    data_format: str | None = None,
    dilations: IntegersLike | None = None,
) -> Tensor:
    """A depthwise convolution, and then one of 1 x 1 elements across channels."""
    rate = either("dilations", dilations, "rate", rate)
    with scope_of(name, "separable_conv2d", input, depthwise_filter, pointwise_filter) as scope:
        input = convert(input, name="tensor_in")
        depthwise_filter = convert(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert(pointwise_filter, name="pointwise_filter")
        if not pointwise_filter.static_shape.is_compatible(Shape((1, 1, None, None))):
            raise InvalidArgumentError(
                f"pointwise_filter has the shape {pointwise_filter.shape}, expected (1, 1, ?, ?)"
            )

        def compute(images: Tensor, _: int, padding: Any) -> Tensor:
            return depthwise_conv2d_native(images, depthwise_filter, strides, padding, data_format, name="depthwise")

        rates = [1, 1] if rate is None else rate
        filter_shape = shape(depthwise_filter)
        depthwise = with_space_to_batch(input, rates, padding, compute, filter_shape, data_format=data_format)
        return conv2d(depthwise, pointwise_filter, [1, 1, 1, 1], "VALID", data_format=data_format, name=scope)


# ---------------------------------------------------------------------------------------------------- Dilated


def convolution(
    input: TensorLike,
    filter: TensorLike | None,
    padding: PaddingLike,
    strides: IntegersLike | None = None,
    dilation_rate: IntegersLike | None = None,
    name: str | None = None,
    data_format: str | None = None,
    filters: TensorLike | None = None,
    dilations: IntegersLike | None = None,
) -> Tensor:
    """A convolution in one to three dimensions. A dilated one is computed as a plain one of interleaved parts."""
    filter = either("filters", filters, "filter", filter)
    rates = either("dilations", dilations, "dilation_rate", dilation_rate)
    kernel, images = _as_images(filter, "filters"), _as_images(input, "input")
    rank = kernel.get_shape().rank or images.get_shape().rank
    if rank is None:
        raise InvalidArgumentError("One of `input.shape.rank` or `filters.shape.rank` must be known.")
    spatial = rank - 2
    if spatial not in (1, 2, 3):
        raise InvalidArgumentError(f"`num_spatial_dims` must be 1, 2, or 3. Received: num_spatial_dims={spatial}.")
    is_first = data_format is not None and data_format not in _CHANNELS_LAST
    dilation = sequence(rates, spatial, is_first, "dilations")
    step = sequence(strides, spatial, is_first, "strides")
    with scope_of(name, "convolution", images, kernel) as scope:
        if rates is None or all(size == 1 for size in dilation):
            return _convolve_images(images, kernel, step, padding, data_format, dilation, scope)
        return _dilated_convolution(images, kernel, step, padding, data_format, dilation, scope)


def _as_images(value: Any, name: str) -> Any:
    """A tensor, or a variable, which only the operation that uses it reads."""
    if isinstance(value, Tensor) or hasattr(value, "graph"):
        return value
    with name_scope("convolution_internal"):
        return convert(value, name=name)


def _convolve_images(
    images: Any, filters: Any, strides: Any, padding: Any, data_format: str | None, dilations: Any, name: str
) -> Tensor:
    """A convolution of as many dimensions as the strides have spatial ones."""
    attrs = {"strides": strides, "padding": padding, "data_format": data_format, "dilations": dilations}
    rank = images.get_shape().rank
    if len(strides) == 3:
        return conv1d(images, filters, strides, padding, data_format=data_format, dilations=dilations, name=name)
    spec: OpSpec = ops.conv2d if len(strides) == 4 else ops.conv3d
    if rank is None or rank <= len(strides):
        return emit(spec, images, filters, name=name, **attrs)
    return _with_one_batch(images, lambda part: spec(part, filters, **attrs), len(strides) - 1, name)


def _dilated_convolution(
    images: Any, filters: Any, strides: Any, padding: Any, data_format: str | None, dilations: Any, name: str
) -> Tensor:
    is_first, spatial = is_channels_first(data_format), len(strides) - 2
    part = slice(2, None) if is_first else slice(1, -1)
    steps, rates = spatial_sizes(spatial, strides[part], dilations[part])
    batch = 1 if images.get_shape().rank is None else images.get_shape().rank - spatial - 1
    start = batch + 1 if is_first else batch

    def compute(inner: Tensor, _: int, padding: Any) -> Tensor:
        sizes = steps.tolist()
        if spatial == 1:
            return conv1d(inner, filters, sizes[0], padding, data_format=data_format, name=name)
        around = [1, 1, *sizes] if is_first else [1, *sizes, 1]
        if spatial == 2:
            return conv2d(inner, filters, around, padding, data_format=data_format, name=name)
        return _convolve_images(inner, filters, around, padding, data_format, None, name)

    axes = list(range(start, start + spatial))
    return apply_dilated(images, rates, padding, compute, filters.get_shape(), axes, data_format, filters)


def atrous_conv2d(
    value: TensorLike, filters: TensorLike, rate: int, padding: PaddingLike, name: str | None = None
) -> Tensor:
    """A convolution whose filters are spread out by `rate`."""
    return convolution(value, filters, padding, dilation_rate=np.broadcast_to(rate, (2,)), name=name)


def atrous_conv2d_transpose(
    value: TensorLike,
    filters: TensorLike,
    output_shape: Tensor | Array | Sequence[SizeLike | Tensor],
    rate: int,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """The transpose of `atrous_conv2d`: its gradient, as a layer."""
    with scope_of(name, "atrous_conv2d_transpose", value, filters, output_shape):
        value, filters = convert(value, name="value"), convert(filters, name="filters")
        if rate < 1:
            raise InvalidArgumentError(f"`rate` cannot be less than one. Received: rate={rate}")
        if rate == 1:
            return conv2d_transpose(value, filters, output_shape, [1, 1, 1, 1], padding)
        convert(output_shape, name="output_shape")
        sizes: Any = output_shape if isinstance(output_shape, Tensor) else list(output_shape)
        known = filters.static_shape
        extent = list(known.as_tuple()) if known.is_fully_known else shape(filters)
        before, after = _rows_and_columns(extent, rate, padding)
        inner = [sizes[axis] + before[axis - 1] + after[axis - 1] for axis in (1, 2)]
        extra = [(rate - size % rate) % rate for size in inner]
        parts = space_to_batch(value, [[0, extra[0]], [0, extra[1]]], rate)
        input_sizes = [
            rate * rate * sizes[0],
            (inner[0] + extra[0]) // rate,
            (inner[1] + extra[1]) // rate,
            sizes[3],
        ]
        found = ops.conv2d_backprop_input(input_sizes, filters, parts, strides=[1, 1, 1, 1], padding="VALID")
        crops = [[before[0], after[0] + extra[0]], [before[1], after[1] + extra[1]]]
        return batch_to_space(found, crops, rate)


def _rows_and_columns(extent: Any, rate: int, padding: str) -> tuple[list[Any], list[Any]]:
    """What a dilated filter adds before and after rows and columns."""
    if padding == "VALID":
        return [0, 0], [0, 0]
    if padding != "SAME":
        raise InvalidArgumentError(f"`padding` must be either 'VALID' or 'SAME'. Received: padding={padding}")
    rows, columns = extent[0], extent[1]
    grown = [rows + (rows - 1) * (rate - 1), columns + (columns - 1) * (rate - 1)]
    total = [size - 1 for size in grown]
    before = [size // 2 for size in total]
    return before, [size - half for size, half in zip(total, before, strict=True)]


# ---------------------------------------------------------------------------------------------------- Morphological


def dilation2d(
    input: TensorLike,
    filter: TensorLike | None = None,
    strides: IntegersLike | None = None,
    rates: IntegersLike | None = None,
    padding: str | None = None,
    name: str | None = None,
    filters: TensorLike | None = None,
    dilations: IntegersLike | None = None,
) -> Tensor:
    """The maximum, under each window, of the images plus the filter."""
    filter = either("filters", filters, "filter", filter)
    rates = either("dilations", dilations, "rates", rates)
    return emit(ops.dilation2d, input, filter, strides=strides, rates=rates, padding=padding, name=name)


def erosion2d(
    value: TensorLike,
    kernel: TensorLike,
    strides: IntegersLike,
    rates: IntegersLike,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """The minimum, under each window, of the images less the mirrored kernel."""
    with scope_of(name, "erosion2d", value, kernel) as scope:
        negated = negative(value)
        mirrored = emit("ReverseV2", kernel, [0, 1])
        return negative(ops.dilation2d(negated, mirrored, strides=strides, rates=rates, padding=padding, name=scope))


__all__ = [
    "atrous_conv2d",
    "atrous_conv2d_transpose",
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_backprop_filter",
    "conv2d_backprop_input",
    "conv2d_transpose",
    "conv3d",
    "conv3d_backprop_filter",
    "conv3d_backprop_filter_v2",
    "conv3d_transpose",
    "conv_transpose",
    "convolution",
    "depthwise_conv2d",
    "depthwise_conv2d_backprop_filter",
    "depthwise_conv2d_backprop_input",
    "depthwise_conv2d_native",
    "depthwise_conv2d_native_backprop_filter",
    "depthwise_conv2d_native_backprop_input",
    "dilation2d",
    "erosion2d",
    "separable_conv2d",
    "with_space_to_batch",
]
