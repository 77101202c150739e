"""The maximum or the average of what is under windows, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from tensorkeep.dtypes import BFLOAT16, FLOAT32, FLOAT64, INT64, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.shapes import filled_array
from tensorkeep.onnx.rules.layers.windows import (
    Windows,
    centered_images,
    channel_axis,
    from_channels_first,
    has_channels_first,
    spatial_axes,
    to_channels_first,
    windows_of,
)
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import axes_of, parts_of, product, reshaped_value, vector
from tensorkeep.onnx.terms import Term
from tensorkeep.ops.nn.windows import Ints, Sliding

_WIDER: Final = {BFLOAT16: FLOAT32} | {
    DType.of(name): FLOAT64 for name in ("int16", "uint16", "int32", "uint32")
}  # types in which the pools of ONNX Runtime are exact, for those it has no pools of


@rule("AvgPool")
def avg_pool(
    to: OnnxGraph, value: Term, *, ksize: Ints, strides: Ints, padding: bytes, data_format: bytes
) -> Term:  # fmt: skip
    return _average(to, value, ksize, Sliding(strides, padding, (), data_format))


@rule("AvgPool3D")
def avg_pool_3d(
    to: OnnxGraph, input: Term, *, ksize: Ints, strides: Ints, padding: bytes, data_format: bytes
) -> Term:  # fmt: skip
    sliding = Sliding(strides, padding, (), data_format)
    return _average(to, _middle(to, input, ksize, sliding), ksize, sliding)


@rule("MaxPool")
def max_pool(
    to: OnnxGraph, input: Term, *,
    ksize: Ints, strides: Ints, padding: bytes, explicit_paddings: Ints, data_format: bytes,
) -> Term:  # fmt: skip
    return _maximum(to, input, ksize, Sliding(strides, padding, explicit_paddings, data_format))


@rule("MaxPoolV2")
def max_pool_v2(
    to: OnnxGraph, input: Term, ksize: Term, strides: Term, *, padding: bytes, data_format: bytes
) -> Term:  # fmt: skip
    size, step = to.known_array(ksize, "the size of its windows"), to.known_array(strides, "the step of its windows")
    return _maximum(to, input, tuple(size.tolist()), Sliding(tuple(step.tolist()), padding, (), data_format))


@rule("MaxPool3D")
def max_pool_3d(
    to: OnnxGraph, input: Term, *, ksize: Ints, strides: Ints, padding: bytes, data_format: bytes
) -> Term:  # fmt: skip
    """Three-dimensional maxima begin with -inf, ONNX Runtime's with the least number: they differ in nothing else."""
    sliding = Sliding(strides, padding, (), data_format)
    return _maximum(to, _middle(to, input, ksize, sliding), ksize, sliding)


@rule("MaxPoolWithArgmax")
def max_pool_with_argmax(
    to: OnnxGraph, input: Term, *,
    ksize: Ints, strides: Ints, padding: bytes, include_batch_in_index: bool, Targmax: DType,  # noqa: N803
) -> tuple[Term, Term]:  # fmt: skip
    """Maxima, and where each lies: ONNX counts through (batch, channels, rows, columns), TensorFlow through
    (rows, columns, channels), with the batch or without."""
    sliding = Sliding(strides, padding)
    windows = _windows(to, input, ksize, sliding)
    x = to_channels_first(to, _pooled_as(to, input), sliding.data_format)
    attrs = windows.attrs()
    maxima, places = to.node_with_outputs("MaxPool", [x], 2, [None, INT64], attrs=attrs)
    maxima = to.channels_last(to.cast(maxima, input.dtype), 4)
    places = to.channels_last(places, 4)
    sizes = to.shape(input)
    channels = to.constant(input.dims[3]) if input.dims and input.dims[3] else _element(to, sizes, 3)
    area = _product(to, input, sizes, [1, 2])
    numbers = to.node("Range", to.constant(0), channels, to.constant(1), dims=(input.size(3),))
    in_image = to.node("Add", to.node("Mul", to.node("Mod", places, area), channels), numbers)
    if include_batch_in_index:
        whole = _product(to, input, sizes, [1, 2, 3])
        image = to.node("Range", to.constant(0), _element(to, sizes, 0), to.constant(1))
        in_image = to.node("Add", in_image, to.node("Mul", to.unsqueeze(image, [1, 2, 3]), whole))
    return maxima, to.cast(in_image, Targmax)


def _element(to: OnnxGraph, vector: Term, at: int) -> Term:
    if vector.array is not None:
        return to.constant(int(vector.array[at]))
    return to.node("Gather", vector, to.constant(at), dims=(), axis=0)


def _product(to: OnnxGraph, images: Term, sizes: Term, axes: Sequence[int]) -> Term:
    known = [images.size(axis) for axis in axes]
    numbers = [size for size in known if size is not None]
    if len(numbers) == len(known):
        return to.constant(int(np.prod(numbers)))
    return to.reduce("ReduceProd", to.slice(sizes, [axes[0]], [axes[-1] + 1], [0]), None)


def _average(to: OnnxGraph, images: Term, ksize: Ints, sliding: Sliding) -> Term:
    """The average under each window of what is in the image; padding does not count."""
    windows = _windows(to, images, ksize, sliding)
    _refuse_unknown_padding(to, windows)
    x = to_channels_first(to, to.cast(images, _WIDER.get(images.dtype, images.dtype)), sliding.data_format)
    found = to.cast(to.node("AveragePool", x, attrs=windows.attrs()), images.dtype)
    return from_channels_first(to, found, sliding.data_format, to.known_rank(images))


def _maximum(to: OnnxGraph, images: Term, ksize: Ints, sliding: Sliding) -> Term:
    windows = _windows(to, images, ksize, sliding)
    _refuse_unknown_padding(to, windows)
    x = to_channels_first(to, _pooled_as(to, images), sliding.data_format)
    attrs = windows.attrs()
    if "pads" not in attrs and "auto_pad" not in attrs:
        attrs["auto_pad"] = "VALID"  # said, ONNX Runtime does not take a Pad with zeros before it for its own padding
    found = to.cast(to.node("MaxPool", x, attrs=attrs), images.dtype)
    return from_channels_first(to, found, sliding.data_format, to.known_rank(images))


def _pooled_as(to: OnnxGraph, images: Term) -> Term:
    return to.cast(images, _WIDER.get(images.dtype, images.dtype))


def _windows(to: OnnxGraph, images: Term, ksize: Ints, sliding: Sliding) -> Windows:
    rank = to.known_rank(images)
    if len(ksize) != rank or ksize[0] != 1 or ksize[channel_axis(rank, sliding.data_format)] != 1:
        to.refuse("it pools over the batch or the channels")
    space = spatial_axes(rank, sliding.data_format)
    return windows_of(to, images, tuple(ksize[axis] for axis in space), sliding)


def _refuse_unknown_padding(to: OnnxGraph, windows: Windows) -> None:
    if None in windows.pads and not windows.are_padded_by_name:
        to.refuse("its windows are smaller than their strides, over images whose size is not known")


def _middle(to: OnnxGraph, images: Term, ksize: Ints, sliding: Sliding) -> Term:
    return centered_images(to, images, _windows(to, images, ksize, sliding), sliding)


# ---------------------------------------------------------------------------------------------------- Gradients


@rule("MaxPoolGrad", opset=16)
def max_pool_grad(
    to: OnnxGraph, orig_input: Term, orig_output: Term, grad: Term, *,
    ksize: Ints, strides: Ints, padding: bytes, explicit_paddings: Ints, data_format: bytes,
) -> Term:  # fmt: skip
    """What comes in goes to where each window had its maximum, the first one of several."""
    if to.model.is_for_engine:
        to.refuse("it is not known whether its inputs go together")
    sliding = Sliding(strides, padding, explicit_paddings, data_format)
    rank = to.known_rank(orig_input)
    windows = _windows(to, orig_input, ksize, sliding)
    _refuse_unknown_padding(to, windows)
    wide = DType.of("float64") if orig_input.dtype is FLOAT64 else FLOAT32
    images, slopes = (to_channels_first(to, to.cast(term, wide), data_format) for term in (orig_input, grad))
    _, places = to.node_with_outputs("MaxPool", [images], 2, [None, INT64], attrs=windows.attrs())
    count = product(to, axes_of(orig_input))
    nothing = filled_array(to, vector(to, [count]), to.constant(np.zeros((), wide.array_dtype), wide))
    flat = to.reshape(slopes, [-1])
    found = to.node("ScatterElements", nothing, to.reshape(places, [-1]), flat, axis=0, reduction="add", dims=(None,))
    sizes = axes_of(orig_input)
    order = list(range(rank)) if has_channels_first(data_format) else [0, rank - 1, *range(1, rank - 1)]
    shaped = reshaped_value(to, found, [sizes[axis] for axis in order])
    shaped.dims = tuple((orig_input.dims or ())[axis] for axis in order)
    return to.cast(from_channels_first(to, shaped, data_format, rank), grad.dtype)


@rule("MaxPoolGradV2", opset=16)
def max_pool_grad_v2(
    to: OnnxGraph, orig_input: Term, orig_output: Term, grad: Term, ksize: Term, strides: Term, *,
    padding: bytes, data_format: bytes,
) -> Term:  # fmt: skip
    size, step = to.known_array(ksize, "the size of its windows"), to.known_array(strides, "the step of its windows")
    return max_pool_grad(
        to, orig_input, orig_output, grad, ksize=tuple(size.tolist()), strides=tuple(step.tolist()), padding=padding,
        explicit_paddings=(), data_format=data_format,
    )  # fmt: skip


@rule("AvgPoolGrad")
def avg_pool_grad(
    to: OnnxGraph, orig_input_shape: Term, grad: Term, *, ksize: Ints, strides: Ints, padding: bytes, data_format: bytes
) -> Term:
    """What comes in, shared by the elements of its window that are in the image: a ConvTranspose of ones, channel by
    channel.
    """
    if to.model.is_for_engine:
        to.refuse("it is not known whether its inputs go together")
    sliding = Sliding(strides, padding, (), data_format)
    sizes = parts_of(to, orig_input_shape, 4)
    images = Term(grad.dtype, tuple(size if isinstance(size, int) else None for size in sizes))
    windows = _windows(to, images, ksize, sliding)
    space = [images.dims[axis] for axis in spatial_axes(4, data_format)] if images.dims else []
    if None in space or None in windows.pads or None in windows.kernel or grad.dims is None:
        to.refuse("its images have sizes that are not known before the model runs; tell them, by --shape")
    wide = FLOAT64 if grad.dtype is FLOAT64 else FLOAT32
    slopes = to_channels_first(to, to.cast(grad, wide), data_format)
    known = [(int(size or 0), int(kernel or 0), step, pair or (0, 0)) for size, kernel, step, pair in
             zip(space, windows.kernel, windows.strides, windows.pads, strict=True)]  # fmt: skip
    counts = [_elements_inside(*item) for item in known]
    shares = 1 / (counts[0][:, np.newaxis] * counts[1])
    each = to.node("Mul", slopes, to.constant(shares.astype(wide.array_dtype), wide), dims=slopes.dims)
    planes = to.reshape(each, [-1, 1, *shares.shape])
    ones = to.constant(np.ones((1, 1, known[0][1], known[1][1]), wide.array_dtype), wide)
    over = [size + sum(pair) - ((len(count) - 1) * step + kernel)
            for (size, kernel, step, pair), count in zip(known, counts, strict=True)]  # fmt: skip
    pads = [item[3][end] for end in (0, 1) for item in known]
    spread = to.node(
        "ConvTranspose", planes, ones, dims=(None, 1, *(item[0] for item in known)),
        strides=[item[2] for item in known], pads=pads, output_padding=over if any(over) else None,
    )  # fmt: skip
    channels = channel_axis(4, data_format)
    whole = reshaped_value(to, spread, [sizes[0], sizes[channels], *(item[0] for item in known)])
    return to.cast(from_channels_first(to, whole, data_format, 4), grad.dtype)


def _elements_inside(size: int, kernel: int, stride: int, pads: tuple[int, int]) -> np.ndarray:
    """How many elements of an axis each of its windows has."""
    starts = np.arange((size + sum(pads) - kernel) // stride + 1) * stride - pads[0]
    return np.minimum(starts + kernel, size) - np.maximum(starts, 0)
