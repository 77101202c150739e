"""Convolutions, and their gradients with respect to images, which are the convolutions that enlarge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from tensorkeep.dtypes import INT32, INT64
from tensorkeep.onnx.graphs import AttrValue, OnnxGraph
from tensorkeep.onnx.known_sizes import sizes_of
from tensorkeep.onnx.rules.layers.windows import (
    Windows,
    centered_images,
    channel_axis,
    from_channels_first,
    spatial_axes,
    to_channels_first,
    widened_value,
    windows_of,
)
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Dims, Term
from tensorkeep.ops.nn.windows import Ints, Sliding

_MOST_ADDED: Final = 4096  # elements of a window that are added one by one
_TO_THE_END: Final = int(np.iinfo(np.int64).max)


@rule("Conv2D")
def conv2d(
    to: OnnxGraph, input: Term, filter: Term, *,
    strides: Ints, padding: bytes, explicit_paddings: Ints, data_format: bytes, dilations: Ints,
) -> Term:  # fmt: skip
    return convolution(to, input, filter, Sliding(strides, padding, explicit_paddings, data_format, dilations))


@rule("Conv3D")
def conv3d(
    to: OnnxGraph, input: Term, filter: Term, *, strides: Ints, padding: bytes, data_format: bytes, dilations: Ints
) -> Term:
    return convolution(to, input, filter, Sliding(strides, padding, (), data_format, dilations))


@rule("Conv")
def conv(
    to: OnnxGraph, input: Term, filter: Term, *,
    strides: Ints, padding: bytes, explicit_paddings: Ints, data_format: bytes, dilations: Ints,
    batch_dims: int, groups: int,
) -> Term:  # fmt: skip
    """A convolution over two or three spatial axes; of its batches, several axes of them are one to ONNX."""
    if batch_dims != 1:
        to.refuse(f"batches of {batch_dims} axes are not convolved at once in ONNX")
    sliding = Sliding(strides, padding, explicit_paddings, data_format, dilations)
    return convolution(to, input, filter, sliding, groups)


@rule("DepthwiseConv2dNative")
def depthwise_conv2d(
    to: OnnxGraph, input: Term, filter: Term, *,
    strides: Ints, padding: bytes, explicit_paddings: Ints, data_format: bytes, dilations: Ints,
) -> Term:  # fmt: skip
    """A convolution in which each channel is a group of its own."""
    return depthwise(to, input, filter, Sliding(strides, padding, explicit_paddings, data_format, dilations))


def convolution(
    to: OnnxGraph, images: Term, filters: Term, sliding: Sliding, groups: int | None = None, bias: Term | None = None
) -> Term:
    """Images with filters (space, channels of a group, outputs). The number of groups follows from the channels."""
    rank = to.known_rank(images)
    windows = _windows(to, images, filters, sliding)
    depth = images.size(channel_axis(rank, sliding.data_format))
    group_depth = filters.size(-2)
    if groups is None:
        if depth is None or group_depth is None:
            to.refuse("it is not known how many channels its images or filters have, hence not in how many groups")
        groups = depth // group_depth
    if rank == 5:
        images = centered_images(to, images, windows, sliding)
    return _convolved_images(to, images, _filters_first(to, filters), windows, sliding, groups, bias)


def depthwise(to: OnnxGraph, images: Term, filters: Term, sliding: Sliding, bias: Term | None = None) -> Term:
    """Images with filters (space, channels, outputs of each channel)."""
    windows = _windows(to, images, filters, sliding)
    return _convolved_images(
        to, images, _depthwise_filters(to, filters), windows, sliding, _channels(to, filters), bias
    )


def _windows(to: OnnxGraph, images: Term, filters: Term, sliding: Sliding) -> Windows:
    if images.dtype.is_integer:
        to.refuse("ONNX has no convolution of whole numbers that keeps them whole")
    rank = to.known_rank(images)
    kernel: Dims = (None,) * (rank - 2) if filters.dims is None else filters.dims[:-2]
    return windows_of(to, images, kernel, sliding)


def _convolved_images(
    to: OnnxGraph, images: Term, filters: Term, windows: Windows, sliding: Sliding, groups: int, bias: Term | None
) -> Term:
    rank = to.known_rank(images)
    x = windows.padded(to, to_channels_first(to, widened_value(to, images), sliding.data_format))
    more = [] if bias is None else [widened_value(to, bias)]
    dims: Dims = (images.size(0), filters.size(0), *windows.outputs)
    attrs = {**windows.attrs(), "group": groups if groups > 1 else None}
    found = to.node("Conv", x, widened_value(to, filters), *more, dims=dims, attrs=attrs)
    return from_channels_first(to, to.cast(found, images.dtype), sliding.data_format, rank)


def _filters_first(to: OnnxGraph, filters: Term) -> Term:
    """Filters (space, inputs, outputs) as (outputs, inputs, space). Those that many share stay one constant."""
    rank = to.known_rank(filters)
    return to.transpose(filters, [rank - 1, rank - 2, *range(rank - 2)])


def _depthwise_filters(to: OnnxGraph, filters: Term) -> Term:
    """Filters (space, channels, outputs of each) as (all outputs, 1, space)."""
    rank = to.known_rank(filters)
    space = list(filters.dims[:-2]) if filters.dims is not None else []
    outputs = _channels(to, filters) * _known_size(to, filters.size(-1), "how many outputs each channel has")
    sizes = [_known_size(to, size, "how large its filters are") for size in space]
    return to.transpose(to.reshape(filters, [*sizes, 1, outputs]), [rank - 1, rank - 2, *range(rank - 2)])


def _channels(to: OnnxGraph, filters: Term) -> int:
    return _known_size(to, filters.size(-2), "how many channels its filters have")


def _known_size(to: OnnxGraph, size: int | None, what: str) -> int:
    if size is None:
        to.refuse(f"it is not known {what}")
    return size


# ---------------------------------------------------------------------------------------- convolutions that enlarge


@rule("Conv2DBackpropInput")
def conv2d_backprop_input(
    to: OnnxGraph, input_sizes: Term, filter: Term, out_backprop: Term, *,
    strides: Ints, padding: bytes, explicit_paddings: Ints, data_format: bytes, dilations: Ints,
) -> Term:  # fmt: skip
    sliding = Sliding(strides, padding, explicit_paddings, data_format, dilations)
    return _enlarged_images(to, input_sizes, filter, out_backprop, sliding, is_depthwise=False)


@rule("Conv3DBackpropInputV2")
def conv3d_backprop_input(
    to: OnnxGraph, input_sizes: Term, filter: Term, out_backprop: Term, *,
    strides: Ints, padding: bytes, data_format: bytes, dilations: Ints,
) -> Term:  # fmt: skip
    sliding = Sliding(strides, padding, (), data_format, dilations)
    return _enlarged_images(to, input_sizes, filter, out_backprop, sliding, is_depthwise=False)


@rule("Conv3DBackpropInput")
def conv3d_backprop_input_like(
    to: OnnxGraph, input: Term, filter: Term, out_backprop: Term, *, strides: Ints, padding: bytes, dilations: Ints
) -> Term:
    """The same, with images of the size that is wanted in the place of that size."""
    sliding = Sliding(strides, padding, (), b"NDHWC", dilations)
    return _enlarged_images(to, to.shape(input), filter, out_backprop, sliding, is_depthwise=False)


@rule("DepthwiseConv2dNativeBackpropInput")
def depthwise_conv2d_backprop_input(
    to: OnnxGraph, input_sizes: Term, filter: Term, out_backprop: Term, *,
    strides: Ints, padding: bytes, explicit_paddings: Ints, data_format: bytes, dilations: Ints,
) -> Term:  # fmt: skip
    sliding = Sliding(strides, padding, explicit_paddings, data_format, dilations)
    return _enlarged_images(to, input_sizes, filter, out_backprop, sliding, is_depthwise=True)


def _enlarged_images(
    to: OnnxGraph, wanted: Term, filters: Term, gradient: Term, sliding: Sliding, *, is_depthwise: bool
) -> Term:
    """Images whose convolution with the filters would have had the size of `gradient`: ONNX's ConvTranspose.

    Several sizes of images have convolutions of one size; `wanted` says which it is.
    """
    if gradient.dtype in (INT32, INT64):
        to.refuse("ONNX has no convolution of whole numbers that keeps them whole")
    rank = to.known_rank(gradient)
    dims = _wanted_dims(wanted, gradient, filters, sliding, rank)
    images = Term(gradient.dtype, dims)
    kernel: Dims = (None,) * (rank - 2) if filters.dims is None else filters.dims[:-2]
    windows = windows_of(to, images, kernel, sliding)
    if None in windows.kernel:
        to.refuse("it is not known how large its filters are")
    weights, groups = _weights_of_groups(to, filters, dims[channel_axis(rank, sliding.data_format)], is_depthwise)
    x = to_channels_first(to, widened_value(to, gradient), sliding.data_format)
    space = spatial_axes(rank, sliding.data_format)
    left_over = [
        None if size is None or had is None or pads is None
        else size - (step * (had - 1) + (kernel_size - 1) * rate + 1 - sum(pads))
        for size, had, pads, step, rate, kernel_size in zip(
            [dims[axis] for axis in space], [gradient.size(axis) for axis in space],
            windows.pads, windows.strides, windows.dilations, [size or 1 for size in windows.kernel], strict=True,
        )
    ]  # fmt: skip
    attrs = {**windows.attrs(), "auto_pad": None, "group": groups if groups > 1 else None}
    known = [size for size in left_over if size is not None]
    if len(known) < len(left_over):
        found = _cut_to_size(to, x, weights, wanted, windows, sliding, {**attrs, "pads": None})
    else:
        if any(not 0 <= over < max(step, rate)
               for over, step, rate in zip(known, windows.strides, windows.dilations, strict=True)):  # fmt: skip
            to.refuse(f"images of shape {list(dims)} have no convolution of this size")
        found = to.node("ConvTranspose", x, weights, attrs=attrs, output_padding=known if any(known) else None)
    return from_channels_first(to, to.cast(found, gradient.dtype), sliding.data_format, rank)


def _wanted_dims(wanted: Term, gradient: Term, filters: Term, sliding: Sliding, rank: int) -> Dims:
    """The sizes of the images, as far as they are known; of spatial ones alone, the others follow."""
    sizes = sizes_of(wanted) or (None,) * (wanted.size(0) or rank)
    known = [size if isinstance(size, int) else None for size in sizes]
    if len(known) == rank:
        return tuple(known)
    dims: list[int | None] = [None] * rank
    dims[0], dims[channel_axis(rank, sliding.data_format)] = gradient.size(0), filters.size(-2)
    for axis, size in zip(spatial_axes(rank, sliding.data_format), known, strict=True):
        dims[axis] = size
    return tuple(dims)


def _weights_of_groups(to: OnnxGraph, filters: Term, depth: int | None, is_depthwise: bool) -> tuple[Term, int]:
    if is_depthwise:
        return widened_value(to, _depthwise_filters(to, filters)), _channels(to, filters)
    groups = _known_size(to, depth, "how many channels its images have") // _channels(to, filters)
    return widened_value(to, _filters_first(to, filters)), groups


def _cut_to_size(
    to: OnnxGraph,
    x: Term,
    weights: Term,
    wanted: Term,
    windows: Windows,
    sliding: Sliding,
    attrs: dict[str, AttrValue | None],
) -> Term:
    """The largest images that have such a convolution, and of them as much as is wanted."""
    count = len(windows.strides)

    def vector(values: Sequence[int]) -> Term:
        return to.constant(np.array(values, np.int64))

    if any(rate > step > 1 for step, rate in zip(windows.strides, windows.dilations, strict=True)):
        to.refuse("its windows are dilated and move in steps, to a size that is not known before the model runs")
    whole = to.node("ConvTranspose", x, weights, attrs=attrs, output_padding=[step - 1 for step in windows.strides])
    space = spatial_axes(count + 2, sliding.data_format)
    given = to.cast(wanted, INT64)
    size = given if wanted.size(0) == count else to.slice(given, [space.start], [space.stop], [0])
    if None not in windows.pads:
        before = vector([pair[0] for pair in windows.pads if pair is not None])
    else:
        reach = [(size - 1) * rate + 1 for size, rate in zip(windows.kernel, windows.dilations, strict=True) if size]
        steps = vector(windows.strides)
        had = to.node("Sub", to.shape(x, 2), vector([1] * count))
        lacking = to.node("Sub", to.node("Add", to.node("Mul", had, steps), vector(reach)), size)
        before = to.node("Div", to.node("Max", lacking, vector([0] * count)), vector([2] * count))
    return to.slice(whole, before, to.node("Add", before, size), range(2, count + 2))


# --------------------------------------------------------------------------------------- greatest of sums, padded


@rule("Dilation2D")
def dilation2d(to: OnnxGraph, input: Term, filter: Term, *, strides: Ints, rates: Ints, padding: bytes) -> Term:
    """The greatest of image plus filter under each window: for each element of the window an addition."""
    windows = windows_of(to, input, (filter.dims or (None,) * 3)[:2], Sliding(strides, padding, dilations=rates))
    rows, columns = windows.kernel
    if rows is None or columns is None or None in windows.pads:
        to.refuse("it is not known how large its filters or images are")
    if rows * columns > _MOST_ADDED:
        to.refuse(f"its windows have {rows * columns:,} elements, and each would be nodes of its own in the file")
    if not input.dtype.is_floating:
        to.refuse("ONNX has no least number to pad whole numbers with that stays the least")
    images, weights = widened_value(to, input), widened_value(to, filter)
    (top, bottom), (left, right) = (pair or (0, 0) for pair in windows.pads)
    if top or bottom or left or right:
        around = to.constant([0, top, left, 0, 0, bottom, right, 0])
        images = to.node("Pad", images, around, to.like(images, -np.inf))
    last = (rows - 1) * windows.dilations[0], (columns - 1) * windows.dilations[1]
    sums = []
    for row, column in np.ndindex(rows, columns):
        start = row * windows.dilations[0], column * windows.dilations[1]
        end = [at - whole or _TO_THE_END for at, whole in zip(start, last, strict=True)]
        part = to.slice(images, start, end, [1, 2], windows.strides)
        tap = to.slice(weights, [row, column], [row + 1, column + 1], [0, 1])
        sums.append(to.node("Add", part, to.squeeze(tap, [0, 1])))
    found = to.node("Max", *sums, to.like(images, float(np.finfo(images.dtype.array_dtype).min)))
    return to.cast(found, input.dtype)


@rule("FusedPadConv2D")
def fused_pad_conv2d(
    to: OnnxGraph, input: Term, paddings: Term, filter: Term, *, mode: bytes, strides: Ints, padding: bytes
) -> Term:
    """A convolution of images that are mirrored at their edges first."""
    amounts = to.known_array(paddings, "how much is padded")
    if mode != b"REFLECT" and amounts.any():
        to.refuse("ONNX mirrors images without their edges only, and SYMMETRIC repeats these")
    images = widened_value(to, input)
    if amounts.any():
        dims = None if input.dims is None else tuple(
            None if size is None else size + int(pair.sum()) for size, pair in zip(input.dims, amounts, strict=True)
        )  # fmt: skip
        images = to.node("Pad", images, to.constant(amounts.T.reshape(-1).tolist()), mode="reflect", dims=dims)
    return to.cast(convolution(to, images, widened_value(to, filter), Sliding(strides, padding)), input.dtype)
