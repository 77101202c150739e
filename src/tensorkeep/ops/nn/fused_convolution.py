"""Convolutions of images that are enlarged and mirrored at their edges first, as optimized graphs have them."""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.arrays.padding import mirror_pad_kernel
from tensorkeep.ops.images.resizing import resize_bilinear_kernel
from tensorkeep.ops.nn.convolution_kernels import conv2d_kernel
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.shapes import Shape

Ints = tuple[int, ...]

_SLIDING: Final = ("mode: {'REFLECT', 'SYMMETRIC'}", "strides: list(int)", "padding: {'SAME', 'VALID'}")

fused_pad_conv2d = op(
    "FusedPadConv2D(input: T, paddings: int32, filter: T) -> output: T", "T: {half, bfloat16, float, double}", *_SLIDING
)
fused_resize_and_pad_conv2d = op(
    "FusedResizeAndPadConv2D(input: T, size: int32, paddings: int32, filter: T) -> output: T",
    "T: {half, float, double}",
    "resize_align_corners: bool = false",
    *_SLIDING,
)


@fused_pad_conv2d.shape
def fused_pad_conv2d_shape(input: Tensor, paddings: Tensor, filter: Tensor, *, strides: Ints, padding: bytes) -> Shape:
    sizes = with_rank(input, 4)
    return _convolved_shape((sizes[1], sizes[2]), input, paddings, filter, strides, padding)


@fused_resize_and_pad_conv2d.shape
def fused_resize_and_pad_conv2d_shape(
    input: Tensor, size: Tensor, paddings: Tensor, filter: Tensor, *, strides: Ints, padding: bytes
) -> Shape:
    with_rank(input, 4)
    known = constant_value(size)
    resized = (None, None) if known is None else (int(known[0]), int(known[1]))
    return _convolved_shape(resized, input, paddings, filter, strides, padding)


def _convolved_shape(
    sizes: tuple[int | None, int | None],
    input: Tensor,
    paddings: Tensor,
    filter: Tensor,
    strides: Ints,
    padding: bytes,
) -> Shape:
    if len(strides) != 4:
        raise InvalidArgumentError(
            f"Operation requires the stride attribute to contain 4 values, but got: {len(strides)}"
        )
    filters = with_rank(filter, 4)
    with_rank(paddings, 2)
    amounts = constant_value(paddings)
    batch = with_rank(input, 4)[0]
    if amounts is None:
        return Shape((None, None, None, filters[3]))
    if amounts.shape != (4, 2):
        raise InvalidArgumentError(f"paddings must be [4, 2], got {list(amounts.shape)}")
    found = [
        None
        if size is None or window is None
        else _output(size + int(amounts[axis].sum()), window, strides[axis], padding)
        for axis, size, window in ((1, sizes[0], filters[0]), (2, sizes[1], filters[1]))
    ]
    count = None if batch is None else batch + int(amounts[0].sum())
    return Shape((count, *found, filters[3]))


def _output(size: int, window: int, stride: int, padding: bytes) -> int:
    return -(-size // stride) if padding == b"SAME" else -(-(size - window + 1) // stride)


def _pad_and_convolve(
    images: Array, paddings: Array, filter: Array, mode: bytes, strides: Ints, padding: bytes
) -> Array:
    """The convolution of images with mirrored paddings."""
    if np.shape(paddings) != (4, 2):
        raise InvalidArgumentError(f"paddings must be a matrix with 2 columns: {list(np.shape(paddings))}")
    if len(strides) != 4 or strides[0] != 1 or strides[3] != 1:
        raise InvalidArgumentError(
            "Current implementation does not yet support strides in the batch and depth dimensions."
        )
    padded = mirror_pad_kernel(images, paddings, mode=mode)
    return conv2d_kernel(
        padded,
        filter,
        strides=strides,
        padding=padding,
        explicit_paddings=(),
        data_format=b"NHWC",
        dilations=(1, 1, 1, 1),
    )


@fused_pad_conv2d.kernel
def fused_pad_conv2d_kernel(
    input: Array, paddings: Array, filter: Array, *, mode: bytes, strides: Ints, padding: bytes
) -> Array:
    return _pad_and_convolve(input, paddings, filter, mode, strides, padding)


@fused_resize_and_pad_conv2d.kernel
def fused_resize_and_pad_conv2d_kernel(
    input: Array,
    size: Array,
    paddings: Array,
    filter: Array,
    *,
    resize_align_corners: bool,
    mode: bytes,
    strides: Ints,
    padding: bytes,
) -> Array:
    resized = resize_bilinear_kernel(input, size, align_corners=resize_align_corners, half_pixel_centers=False)
    return _pad_and_convolve(resized.astype(input.dtype), paddings, filter, mode, strides, padding)
