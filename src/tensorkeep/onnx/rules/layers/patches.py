"""Images cut into blocks and patches: SpaceToDepth, SpaceToBatch, ExtractImagePatches, and their opposites."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from tensorkeep.dtypes import INT64, STRING
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.shapes import padded_value
from tensorkeep.onnx.rules.carriers import runs
from tensorkeep.onnx.rules.layers.dilations import dilated_convolution
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import END, Element, Part, all_known, axes_of, computed_size, reshaped_value, vector
from tensorkeep.onnx.terms import Term

# ---------------------------------------------------------------------------------------------------- Depth


@rule("SpaceToDepth", takes_complex=True)
def space_to_depth(to: OnnxGraph, input: Term, *, block_size: int, data_format: bytes) -> Term:
    """ONNX has it for images with their channels first, and ONNX Runtime for few types: others are put in order."""
    if runs("SpaceToDepth", input.dtype) and not input.is_complex:
        return _by_node(to, "SpaceToDepth", input, block_size, data_format)
    _check_channels_last(to, data_format)
    batch, height, width, depth = axes_of(input)
    b = block_size
    rows, columns = computed_size(to, "Div", height, b), computed_size(to, "Div", width, b)
    blocks = reshaped_value(to, input, [batch, rows, b, columns, b, depth])
    blocks = _turned_blocks(to, blocks, [0, 1, 3, 2, 4, 5])
    return reshaped_value(to, blocks, [batch, rows, columns, computed_size(to, "Mul", depth, b * b)])


@rule("DepthToSpace", takes_complex=True)
def depth_to_space(to: OnnxGraph, input: Term, *, block_size: int, data_format: bytes) -> Term:
    if runs("DepthToSpace", input.dtype) and not input.is_complex:
        return _by_node(to, "DepthToSpace", input, block_size, data_format)
    _check_channels_last(to, data_format)
    batch, height, width, depth = axes_of(input)
    b = block_size
    less = computed_size(to, "Div", depth, b * b)
    blocks = _turned_blocks(to, reshaped_value(to, input, [batch, height, width, b, b, less]), [0, 1, 3, 2, 4, 5])
    return reshaped_value(
        to, blocks, [batch, computed_size(to, "Mul", height, b), computed_size(to, "Mul", width, b), less]
    )


def _check_channels_last(to: OnnxGraph, data_format: bytes) -> None:
    if data_format != b"NHWC":
        to.refuse("images of this type are only cut with their channels last")


def _by_node(to: OnnxGraph, op_type: str, input: Term, block_size: int, data_format: bytes) -> Term:
    if data_format == b"NHWC":
        found = to.node(op_type, to.channels_first(input), blocksize=block_size)
        return to.channels_last(found, 4)
    if data_format != b"NCHW":
        to.refuse(f"images in the order {data_format.decode()} have no rule")
    return to.node(op_type, input, blocksize=block_size)


def _turned_blocks(to: OnnxGraph, blocks: Term, order: Sequence[int]) -> Term:
    blocks.dims = blocks.dims or (None,) * len(order)
    return to.transpose(blocks, list(order))


# ---------------------------------------------------------------------------------------------------- Batch


@rule("SpaceToBatchND", takes_complex=True)
def space_to_batch_nd(to: OnnxGraph, input: Term, block_shape: Term, paddings: Term) -> Term:
    blocks = [int(size) for size in to.known_array(block_shape, "the size of its blocks").reshape(-1)]
    return _to_batch(to, input, blocks, paddings)


@rule("SpaceToBatch", takes_complex=True)
def space_to_batch(to: OnnxGraph, input: Term, paddings: Term, *, block_size: int) -> Term:
    return _to_batch(to, input, [block_size, block_size], paddings)


def _to_batch(to: OnnxGraph, input: Term, blocks: list[int], paddings: Term) -> Term:
    """Each place of a block becomes an image of its own, all of one place after the other."""
    to.known_rank(input)
    count = len(blocks)
    amounts = _amounts(to, input, paddings, count, "how much is put around its input")
    sizes: list[Part] = axes_of(input)
    outer = [_grown_size(to, size, pair) for size, pair in zip(sizes[1:], amounts, strict=False)]
    rows = [computed_size(to, "Div", size, block) for size, block in zip(outer, blocks, strict=True)]
    rest = sizes[count + 1 :]
    wide = _with_zeros(to, input, amounts)
    if wide is not input:
        wide.dims = tuple(size if isinstance(size, int) else None for size in [sizes[0], *outer, *rest])
    cut = reshaped_value(
        to, wide, [sizes[0], *(part for pair in zip(rows, blocks, strict=True) for part in pair), *rest]
    )
    inside, outside = range(2, 2 * count + 1, 2), range(1, 2 * count, 2)
    cut = _turned_blocks(to, cut, [*inside, 0, *outside, *range(2 * count + 1, 2 * count + 1 + len(rest))])
    return reshaped_value(to, cut, [computed_size(to, "Mul", sizes[0], int(np.prod(blocks))), *rows, *rest])


def _amounts(to: OnnxGraph, input: Term, pairs: Term, count: int, what: str) -> list[tuple[Part, Part]]:
    """For each of some axes, how much is added or cut off before it and after it."""
    if pairs.array is not None:
        return [(int(first), int(last)) for first, last in pairs.array]
    if to.model.is_for_engine or input.is_complex or input.dtype is STRING:
        to.refuse(f"{what} is computed while the model runs")
    to.require_opset(14, "a shape that is computed, of what may be empty,")
    flat = to.reshape(to.cast(pairs, INT64), [-1])
    return [(Element(flat, 2 * axis), Element(flat, 2 * axis + 1)) for axis in range(count)]


def _grown_size(to: OnnxGraph, size: Part, pair: tuple[Part, Part]) -> Part:
    before, after = pair
    return computed_size(to, "Add", size, computed_size(to, "Add", before, after))


def _with_zeros(to: OnnxGraph, input: Term, amounts: list[tuple[Part, Part]]) -> Term:
    """Images with so much around them, after their first axis."""
    others = [0] * (to.known_rank(input) - len(amounts) - 1)
    starts, ends = ([0, *(pair[end] for pair in amounts), *others] for end in (0, 1))
    known = all_known(starts), all_known(ends)
    if known[0] is not None and known[1] is not None:
        return padded_value(to, input, to.constant(np.array(known, np.int64).T.copy()), None)
    return to.node("Pad", input, vector(to, [*starts, *ends]))


@rule("BatchToSpaceND", takes_complex=True)
def batch_to_space_nd(to: OnnxGraph, input: Term, block_shape: Term, crops: Term) -> Term:
    blocks = [int(size) for size in to.known_array(block_shape, "the size of its blocks").reshape(-1)]
    return dilated_convolution(to, input, blocks, crops) or _to_space(to, input, blocks, crops)


@rule("BatchToSpace", takes_complex=True)
def batch_to_space(to: OnnxGraph, input: Term, crops: Term, *, block_size: int) -> Term:
    return _to_space(to, input, [block_size, block_size], crops)


def _to_space(to: OnnxGraph, input: Term, blocks: list[int], crops: Term) -> Term:
    count = len(blocks)
    to.known_rank(input)
    amounts = _amounts(to, input, crops, count, "how much is cut off")
    sizes: list[Part] = axes_of(input)
    batch = computed_size(to, "Div", sizes[0], int(np.prod(blocks)))
    outer, rest = sizes[1 : count + 1], sizes[count + 1 :]
    cut = reshaped_value(to, input, [*blocks, batch, *outer, *rest])
    order = [x for i in range(count) for x in (count + 1 + i, i)]
    cut = _turned_blocks(to, cut, [count, *order, *range(2 * count + 1, 2 * count + 1 + len(rest))])
    wide = [computed_size(to, "Mul", size, block) for size, block in zip(outer, blocks, strict=True)]
    found = reshaped_value(to, cut, [batch, *wide, *rest])
    axes = [axis for axis in range(count) if amounts[axis] != (0, 0)]
    if not axes:
        return found
    if crops.array is None:
        ends = [computed_size(to, "Sub", wide[axis], amounts[axis][1]) for axis in axes]
    else:
        ends = [-int(crops.array[axis][1]) or END for axis in axes]
    starts = vector(to, [amounts[axis][0] for axis in axes])
    return to.slice(found, starts, vector(to, ends), [axis + 1 for axis in axes])


# ---------------------------------------------------------------------------------------------------- Patches


@rule("ExtractImagePatches", takes_complex=True)
def extract_image_patches(
    to: OnnxGraph, images: Term, *, ksizes: list[int], strides: list[int], rates: list[int], padding: bytes
) -> Term:
    return _patches(to, images, ksizes, strides, rates, padding)


@rule("ExtractVolumePatches")
def extract_volume_patches(
    to: OnnxGraph, input: Term, *, ksizes: list[int], strides: list[int], padding: bytes
) -> Term:
    return _patches(to, input, ksizes, strides, [1] * len(ksizes), padding)


def _patches(
    to: OnnxGraph, images: Term, ksizes: list[int], strides: list[int], rates: list[int], padding: bytes
) -> Term:
    """The elements of each window by their places, which are known if the size of the images is."""
    rank = len(ksizes)
    to.known_rank(images)
    around = np.zeros((rank, 2), np.int64)
    sizes: list[int] = []
    places: list[np.ndarray] = []
    for axis in range(1, rank - 1):
        size = images.size(axis)
        if size is None:
            to.refuse("the size of its images is not known; tell their shape, by --shape")
        window = ksizes[axis] + (ksizes[axis] - 1) * (rates[axis] - 1)
        if padding == b"SAME":
            count = -(-size // strides[axis])
            missing = max(0, (count - 1) * strides[axis] + window - size)
            around[axis] = (missing // 2, missing - missing // 2)
        else:
            count = max(0, -(-(size - window + 1) // strides[axis]))
        to.require_listed(count * ksizes[axis])
        sizes.append(size + int(around[axis].sum()))
        places.append(np.arange(count)[:, None] * strides[axis] + np.arange(ksizes[axis]) * rates[axis])
    outer = [axes_of(images)[0]]
    depth = axes_of(images)[-1]
    to.require_listed(prod(along.size for along in places))
    numbers = _window_places(places, sizes)
    wide = padded_value(to, images, to.constant(around), None)
    wide.dims = wide.dims or (images.size(0), *sizes, images.size(-1))
    flat = reshaped_value(to, wide, [*outer, int(np.prod(sizes)), depth])
    found = to.node("Gather", flat, numbers, axis=1)
    found.dims = (images.size(0), *numbers.shape, images.size(-1))
    return reshaped_value(
        to, found, [*outer, *numbers.shape[:-1], computed_size(to, "Mul", depth, int(np.prod(ksizes)))]
    )


def _window_places(places: list[np.ndarray], sizes: list[int]) -> np.ndarray:
    """The numbers of the elements of all windows, those of a window along the last axis."""
    spatial = len(sizes)
    found = np.zeros((1,) * (2 * spatial), np.int64)
    for axis, (along, size) in enumerate(zip(places, sizes, strict=True)):
        shape = [1] * (2 * spatial)
        shape[axis], shape[spatial + axis] = along.shape
        found = found * size + along.reshape(shape)
    counts = [along.shape[0] for along in places]
    return found.reshape(*counts, -1) if 0 not in counts else np.zeros((*counts, 1), np.int64)
