"""Images cut into blocks and patches."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import IntegersLike, ShapeLike, TensorLike, emit
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.arrays import patches
from tensorkeep.ops.shared.indexing import item, static_value
from tensorkeep.tf1.functions.arrays.shapes import either, scope_of, stack, zeros


def space_to_depth(input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Blocks of an image as the channels of a smaller one."""
    return emit(patches.space_to_depth, input, block_size=block_size, data_format=data_format, name=name)


def depth_to_space(input: TensorLike, block_size: int, name: str | None = None, data_format: str = "NHWC") -> Tensor:
    """Channels of an image as the blocks of a larger one."""
    return emit(patches.depth_to_space, input, block_size=block_size, data_format=data_format, name=name)


def space_to_batch_nd(
    input: TensorLike, block_shape: ShapeLike, paddings: TensorLike, name: str | None = None
) -> Tensor:
    """Cuts each example into blocks: elements a block size apart become an example of their own in the batch."""
    return emit(patches.space_to_batch_nd, input, block_shape, paddings, name=name)


def batch_to_space_nd(input: TensorLike, block_shape: ShapeLike, crops: TensorLike, name: str | None = None) -> Tensor:
    """Examples put back into the places that `space_to_batch_nd` took them from."""
    return emit(patches.batch_to_space_nd, input, block_shape, crops, name=name)


def space_to_batch(
    input: TensorLike,
    paddings: TensorLike,
    block_size: int | None = None,
    name: str | None = None,
    block_shape: int | None = None,
) -> Tensor:
    """As `space_to_batch_nd`, of images and with square blocks."""
    size = either("block_shape", block_shape, "block_size", block_size)
    result = space_to_batch_nd(input, np.array([size, size], np.int64), paddings, name)
    result.set_shape(result.shape.with_rank(4))
    return result


def batch_to_space(
    input: TensorLike,
    crops: TensorLike,
    block_size: int | None,
    name: str | None = None,
    block_shape: int | None = None,
) -> Tensor:
    """As `batch_to_space_nd`, of images and with square blocks."""
    size = either("block_shape", block_shape, "block_size", block_size)
    result = batch_to_space_nd(input, np.array([size, size], np.int64), crops, name)
    result.set_shape(result.shape.with_rank(4))
    return result


def required_space_to_batch_paddings(
    input_shape: ShapeLike, block_shape: ShapeLike, base_paddings: TensorLike | None = None, name: str | None = None
) -> tuple[Tensor, Tensor]:
    """The paddings that make sizes divisible by those of blocks, and the crops that undo them."""
    with scope_of(name, "required_space_to_batch_paddings", input_shape, block_shape):
        sizes = convert(input_shape, INT32, "input_shape")
        blocks = convert(block_shape, INT32, "block_shape")
        blocks.shape.assert_is_fully_defined()
        blocks.shape.assert_has_rank(1)
        count = blocks.static_shape.as_tuple()[0]
        if count == 0:
            return zeros([0, 2], INT32), zeros([0, 2], INT32)
        sizes.shape.assert_is_compatible_with([count])
        if base_paddings is None:
            around = zeros([count, 2], INT32)
        else:
            around = convert(base_paddings, INT32, "base_paddings")
            around.shape.assert_is_compatible_with([count, 2])
        known = [static_value(tensor) for tensor in (blocks, sizes, around)]
        if all(value is not None for value in known):
            return _known_paddings(*known)
        return _paddings(blocks, sizes, around, count)


def _known_paddings(blocks: Any, sizes: Any, around: Any) -> tuple[Tensor, Tensor]:
    before, after = around[:, 0], around[:, 1]
    extra = (blocks - (sizes + before + after) % blocks) % blocks
    paddings = stack([[first, last] for first, last in zip(before, after + extra, strict=True)], name="paddings")
    return paddings, stack([[0, size] for size in extra], name="crops")


def _paddings(blocks: Tensor, sizes: Tensor, around: Tensor, count: int) -> tuple[Tensor, Tensor]:
    everything = slice(None)
    before, after = item(around, (everything, 0)), item(around, (everything, 1))
    whole = emit("AddV2", emit("AddV2", sizes, before, name="add"), after, name="add")
    rest = emit("FloorMod", whole, blocks, name="mod")
    extra = emit("FloorMod", emit("Sub", blocks, rest, name="sub"), blocks, name="mod")
    end = emit("AddV2", after, extra, name="add")
    paddings = stack([[item(before, i), item(end, i)] for i in range(count)], name="paddings")
    return paddings, stack([[0, item(extra, i)] for i in range(count)], name="crops")


def extract_image_patches(
    images: TensorLike,
    ksizes: IntegersLike | None = None,
    strides: IntegersLike | None = None,
    rates: IntegersLike | None = None,
    padding: str | None = None,
    name: str | None = None,
    sizes: IntegersLike | None = None,
) -> Tensor:
    """The windows of images, each laid flat into the channels."""
    ksizes = either("sizes", sizes, "ksizes", ksizes)
    if ksizes is None or strides is None or rates is None or padding is None:
        raise InvalidArgumentError("extract_image_patches needs sizes, strides, rates and padding")
    return emit(
        patches.extract_image_patches, images, ksizes=ksizes, strides=strides, rates=rates, padding=padding, name=name
    )


def extract_patches(
    images: TensorLike,
    sizes: IntegersLike,
    strides: IntegersLike,
    rates: IntegersLike,
    padding: str,
    name: str | None = None,
) -> Tensor:
    """As `extract_image_patches`, in the words of `tf.image.extract_patches`."""
    return extract_image_patches(images, sizes, strides, rates, padding, name)


def extract_volume_patches(
    input: TensorLike, ksizes: IntegersLike, strides: IntegersLike, padding: str, name: str | None = None
) -> Tensor:
    """The windows of volumes, each laid flat into the channels."""
    return emit(patches.extract_volume_patches, input, ksizes=ksizes, strides=strides, padding=padding, name=name)


__all__ = [
    "batch_to_space",
    "batch_to_space_nd",
    "depth_to_space",
    "extract_image_patches",
    "extract_patches",
    "extract_volume_patches",
    "required_space_to_batch_paddings",
    "space_to_batch",
    "space_to_batch_nd",
    "space_to_depth",
]
