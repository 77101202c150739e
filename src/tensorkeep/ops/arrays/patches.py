"""Images cut into blocks and patches: SpaceToDepth, SpaceToBatch, ExtractImagePatches, and their opposites."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit, emit_tensors
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import get_op, op
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.native.moves import copy_into, padded_array
from tensorkeep.ops.shared.dimensions import (
    Size,
    add,
    at_least,
    divide,
    multiply,
    of_rank,
    part,
    subtract,
    unknown_of_rank,
)
from tensorkeep.ops.shared.expressions import cast, concat, constant, minus, ones, plus, reshape, shape_of, times
from tensorkeep.ops.shared.indexing import dense, item
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import Shape

# ---------------------------------------------------------------------------------------------------- Depth

_FORMATS: Final = "data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'"
space_to_depth = op("SpaceToDepth(input: T) -> output: T", "T: type", "block_size: int >= 2", _FORMATS)
depth_to_space = op("DepthToSpace(input: T) -> output: T", "T: type", "block_size: int >= 2", _FORMATS)


@space_to_depth.shape
def space_to_depth_shape(input: Tensor, *, block_size: int, data_format: bytes) -> Shape:
    return _resized_image(
        input, data_format, lambda side: divide(side, block_size), lambda depth: multiply(depth, block_size**2)
    )


def _resized_image(
    input: Tensor, data_format: bytes, resize: Callable[[Size], Size], deepen: Callable[[Size], Size]
) -> Shape:
    """The shape of images whose height and width, and whose depth, become others."""
    found = of_rank(input.static_shape, 5 if data_format == b"NCHW_VECT_C" else 4)
    if data_format == b"NHWC":
        batch, height, width, depth = found
        return Shape((batch, resize(height), resize(width), deepen(depth)))
    batch, depth, height, width, *rest = found
    return Shape((batch, deepen(depth), resize(height), resize(width), *rest))


@space_to_depth.kernel
def space_to_depth_kernel(input: Array, *, block_size: int, data_format: bytes) -> Array:
    _check_image(input, data_format)
    b = block_size
    n, h, w, c = input.shape
    if h % b or w % b:
        raise InvalidArgumentError(f"Image width {w} and height {h} should be divisible by block_size: {b}")
    blocks = input.reshape(n, h // b, b, w // b, b, c).transpose(0, 1, 3, 2, 4, 5)
    return blocks.reshape(n, h // b, w // b, b * b * c)


def _check_image(input: Any, data_format: bytes) -> None:
    if data_format != b"NHWC":
        raise InvalidArgumentError("Only NHWC data_format supported on CPU. Got " + data_format.decode())
    if np.ndim(input) != 4:
        raise InvalidArgumentError(f"Input rank should be: 4 instead of: {np.ndim(input)}")


@space_to_depth.gradient
def space_to_depth_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit("DepthToSpace", dy, block_size=op.attr("block_size"), data_format=op.attr("data_format"))


@depth_to_space.shape
def depth_to_space_shape(input: Tensor, *, block_size: int, data_format: bytes) -> Shape:
    return _resized_image(
        input, data_format, lambda side: multiply(side, block_size), lambda depth: divide(depth, block_size**2)
    )


@depth_to_space.kernel
def depth_to_space_kernel(input: Array, *, block_size: int, data_format: bytes) -> Array:
    _check_image(input, data_format)
    b = block_size
    n, h, w, c = input.shape
    if c % (b * b):
        raise InvalidArgumentError(f"Input depth dimension {c} should be divisible by: {b * b}")
    pixels = input.reshape(n, h, w, b, b, c // (b * b)).transpose(0, 1, 3, 2, 4, 5)
    return pixels.reshape(n, h * b, w * b, c // (b * b))


@depth_to_space.gradient
def depth_to_space_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit("SpaceToDepth", dy, block_size=op.attr("block_size"), data_format=op.attr("data_format"))


# ---------------------------------------------------------------------------------------------------- Batch

space_to_batch = op(
    "SpaceToBatch(input: T, paddings: Tpaddings) -> output: T",
    "T: type",
    "Tpaddings: {int32, int64} = int32",
    "block_size: int >= 2",
)
space_to_batch_nd = op(
    "SpaceToBatchND(input: T, block_shape: Tblock_shape, paddings: Tpaddings) -> output: T",
    "T: type",
    "Tblock_shape: {int32, int64} = int32",
    "Tpaddings: {int32, int64} = int32",
)
batch_to_space = op(
    "BatchToSpace(input: T, crops: Tidx) -> output: T",
    "T: type",
    "block_size: int >= 2",
    "Tidx: {int32, int64} = int32",
)
batch_to_space_nd = op(
    "BatchToSpaceND(input: T, block_shape: Tblock_shape, crops: Tcrops) -> output: T",
    "T: type",
    "Tblock_shape: {int32, int64} = int32",
    "Tcrops: {int32, int64} = int32",
)


def _block_count(block_shape: Tensor) -> int:
    dims = block_shape.static_shape.dims
    if dims is None or len(dims) != 1:
        raise InvalidArgumentError("block_shape must have rank 1.")
    if dims[0] is None:
        raise InvalidArgumentError("block_shape must have known size.")
    return dims[0]


def _amounts(table: Tensor, count: int, what: str) -> Any:
    """Paddings or crops, if they are known."""
    with_rank(table, 2).merge(Shape((count, 2)))
    amounts = constant_value(table)
    if amounts is not None and amounts.size and amounts.min() < 0:
        raise InvalidArgumentError(f"{what} cannot be negative")
    return amounts


def _checked_blocks(blocks: Any) -> Any:
    if blocks is not None and blocks.size and blocks.min() < 1:
        raise InvalidArgumentError("block_shape must be positive")
    return blocks


def _to_batch_shape(found: Shape, count: int, blocks: Any, paddings: Any) -> Shape:
    at_least(found, count + 1)
    dims = found.dims or (None,) * (count + 1)
    batch = dims[0]
    sizes: list[int | None] = [None] * count
    if blocks is None:
        batch = None if count else batch
    else:
        for block in blocks:
            batch = None if batch is None else multiply(batch, int(block))
        if paddings is not None:
            for i, (before, after) in enumerate(paddings):
                sizes[i] = divide(add(dims[i + 1], int(before + after)), int(blocks[i]))
    return Shape((batch, *sizes)).concatenate(part(found, count + 1))


def _to_space_shape(found: Shape, count: int, blocks: Any, crops: Any) -> Shape:
    at_least(found, count + 1)
    dims = found.dims or (None,) * (count + 1)
    batch = dims[0]
    sizes: list[int | None] = [None] * count
    if blocks is None:
        batch = None if count else batch
    else:
        for block in blocks:
            batch = None if batch is None else divide(batch, int(block))
        if crops is not None:
            for i, (before, after) in enumerate(crops):
                sizes[i] = subtract(multiply(dims[i + 1], int(blocks[i])), int(before + after))
    return Shape((batch, *sizes)).concatenate(part(found, count + 1))


@space_to_batch_nd.shape
def space_to_batch_nd_shape(input: Tensor, block_shape: Tensor, paddings: Tensor) -> Shape:
    count = _block_count(block_shape)
    blocks = _checked_blocks(constant_value(block_shape))
    return _to_batch_shape(input.static_shape, count, blocks, _amounts(paddings, count, "paddings"))


@space_to_batch.shape
def space_to_batch_shape(input: Tensor, paddings: Tensor, *, block_size: int) -> Shape:
    blocks = np.array([block_size, block_size])
    return _to_batch_shape(with_rank(input, 4), 2, blocks, _amounts(paddings, 2, "paddings"))


@batch_to_space_nd.shape
def batch_to_space_nd_shape(input: Tensor, block_shape: Tensor, crops: Tensor) -> Shape:
    count = _block_count(block_shape)
    blocks = _checked_blocks(constant_value(block_shape))
    return _to_space_shape(input.static_shape, count, blocks, _amounts(crops, count, "crops"))


@batch_to_space.shape
def batch_to_space_shape(input: Tensor, crops: Tensor, *, block_size: int) -> Shape:
    blocks = np.array([block_size, block_size])
    return _to_space_shape(with_rank(input, 4), 2, blocks, _amounts(crops, 2, "crops"))


def _check_blocks(input: Any, block_shape: Any, amounts: Any) -> tuple[list[int], list[list[int]]]:
    if block_shape.ndim != 1 or amounts.shape != (len(block_shape), 2):
        raise InvalidArgumentError(
            f"block_shape should be one-dimensional and paddings or crops of shape [{np.size(block_shape)}, 2], not "
            f"{list(block_shape.shape)} and {list(amounts.shape)}"
        )
    if np.ndim(input) < len(block_shape) + 1:
        raise InvalidArgumentError(f"input rank should be >= {len(block_shape) + 1} instead of {np.ndim(input)}")
    if block_shape.size and (block_shape.min() < 1 or amounts.min() < 0):
        raise InvalidArgumentError("block_shape must be positive, and paddings or crops non-negative")
    return block_shape.tolist(), amounts.tolist()


@space_to_batch_nd.kernel
def space_to_batch_nd_kernel(input: Array, block_shape: Array, paddings: Array) -> Array:
    blocks, amounts = _check_blocks(input, block_shape, paddings)
    count = len(blocks)
    batch, rest = input.shape[0], input.shape[count + 1 :]
    if any(map(any, amounts)):
        wider = [size + sum(pair) for size, pair in zip(input.shape[1:], amounts, strict=False)]
        check_allocation((batch, *wider, *rest), input.dtype)
        value = b"" if input.dtype.hasobject else 0
        input = padded_array(input, [(0, 0), *amounts, *[(0, 0)] * len(rest)], value)
    sizes = input.shape[1 : count + 1]
    if any(size % block for size, block in zip(sizes, blocks, strict=True)):
        raise InvalidArgumentError(f"padded_shape {list(sizes)} is not divisible by block_shape {blocks}")
    outer = [size // block for size, block in zip(sizes, blocks, strict=True)]
    cut = input.reshape(batch, *(x for pair in zip(outer, blocks, strict=True) for x in pair), *rest)
    inside, outside = range(2, 2 * count + 1, 2), range(1, 2 * count, 2)
    cut = _copy_view(cut.transpose(*inside, 0, *outside, *range(2 * count + 1, cut.ndim)))
    return cut.reshape(batch * int(np.prod(blocks, dtype=np.int64)), *outer, *rest)


def _copy_view(cut: Array) -> Array:
    """The elements of a view, in C order."""
    if cut.dtype.hasobject:
        return np.ascontiguousarray(cut)
    out = result_array(cut.shape, cut.dtype)
    copy_into(out, cut)
    return out


@space_to_batch.kernel
def space_to_batch_kernel(input: Array, paddings: Array, *, block_size: int) -> Array:
    return space_to_batch_nd_kernel(input, np.array([block_size, block_size]), paddings)


@batch_to_space_nd.kernel
def batch_to_space_nd_kernel(input: Array, block_shape: Array, crops: Array) -> Array:
    blocks, amounts = _check_blocks(input, block_shape, crops)
    count = len(blocks)
    parts = int(np.prod(blocks, dtype=np.int64))
    if input.shape[0] % parts:
        raise InvalidArgumentError(f"Input batch dimension ({input.shape[0]}) is not divisible by product of {blocks}")
    batch, outer, rest = input.shape[0] // parts, input.shape[1 : count + 1], input.shape[count + 1 :]
    cut = input.reshape(*blocks, batch, *outer, *rest)
    order = [x for i in range(count) for x in (count + 1 + i, i)]
    cut = _copy_view(cut.transpose(count, *order, *range(2 * count + 1, cut.ndim)))
    sizes = [size * block for size, block in zip(outer, blocks, strict=True)]
    places = [slice(before, size - after) for size, (before, after) in zip(sizes, amounts, strict=True)]
    if any(place.stop < place.start for place in places):
        raise InvalidArgumentError(f"cropped_shape must be non-negative: {sizes} less {amounts}")
    return cut.reshape(batch, *sizes, *rest)[(slice(None), *places)]


@batch_to_space.kernel
def batch_to_space_kernel(input: Array, crops: Array, *, block_size: int) -> Array:
    return batch_to_space_nd_kernel(input, np.array([block_size, block_size]), crops)


@space_to_batch_nd.gradient
def space_to_batch_nd_gradient(op: Operation, dy: Tensor) -> Gradients:
    return [emit("BatchToSpaceND", dy, op.inputs[1], op.inputs[2]), None, None]


@batch_to_space_nd.gradient
def batch_to_space_nd_gradient(op: Operation, dy: Tensor) -> Gradients:
    return [emit("SpaceToBatchND", dy, op.inputs[1], op.inputs[2]), None, None]


@space_to_batch.gradient
def space_to_batch_gradient(op: Operation, dy: Tensor) -> Gradients:
    blocks = np.full(2, op.attr("block_size"), np.int64)
    return [emit("BatchToSpaceND", dy, blocks, op.inputs[1]), None]


@batch_to_space.gradient
def batch_to_space_gradient(op: Operation, dy: Tensor) -> Gradients:
    blocks = np.full(2, op.attr("block_size"), np.int64)
    return [emit("SpaceToBatchND", dy, blocks, op.inputs[1]), None]


# ---------------------------------------------------------------------------------------------------- Patches

extract_image_patches = op(
    "ExtractImagePatches(images: T) -> patches: T",
    "ksizes: list(int) >= 4",
    "strides: list(int) >= 4",
    "rates: list(int) >= 4",
    "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, "
    "complex128, bool}",
    "padding: {'SAME', 'VALID'}",
)
extract_volume_patches = op(
    "ExtractVolumePatches(input: T) -> patches: T",
    "ksizes: list(int) >= 5",
    "strides: list(int) >= 5",
    "T: realnumbertype",
    "padding: {'SAME', 'VALID'}",
)
_Ints = tuple[int, ...]


def _window_count(size: int, window: int, stride: int, same: bool) -> int:
    return -(-size // stride) if same else max(0, -(-(size - window + 1) // stride))


def _patches_shape(found: Shape, ksizes: _Ints, strides: _Ints, rates: _Ints, padding: bytes) -> Shape:
    rank = len(ksizes)
    found = of_rank(found, rank)
    for name, sizes in (("ksizes", ksizes), ("strides", strides), ("rates", rates)):
        if sizes[0] != 1 or sizes[-1] != 1 or min(sizes) < 1:
            raise InvalidArgumentError(f"ExtractImagePatches requires {name} of 1 in batch and depth, got {sizes}")
    dims = tuple(found)
    depth = multiply(dims[-1], int(np.prod(ksizes)))
    if None in dims[1:-1]:
        return unknown_of_rank(rank)
    counts: list[int] = []
    for size, ksize, stride, rate in zip(dims[1:-1], ksizes[1:-1], strides[1:-1], rates[1:-1], strict=True):
        assert size is not None
        window = ksize + (ksize - 1) * (rate - 1)
        if padding == b"VALID" and size < window - stride:
            raise InvalidArgumentError(f"Negative dimension size caused by subtracting {window} from {size}")
        counts.append(_window_count(size, window, stride, padding == b"SAME"))
    return Shape((dims[0], *counts, depth))


@extract_image_patches.shape
def extract_image_patches_shape(
    images: Tensor, *, ksizes: _Ints, strides: _Ints, rates: _Ints, padding: bytes
) -> Shape:
    return _patches_shape(images.static_shape, ksizes, strides, rates, padding)


@extract_volume_patches.shape
def extract_volume_patches_shape(input: Tensor, *, ksizes: _Ints, strides: _Ints, padding: bytes) -> Shape:
    return _patches_shape(input.static_shape, ksizes, strides, (1,) * len(ksizes), padding)


@extract_image_patches.kernel
def extract_image_patches_kernel(
    images: Array, *, ksizes: _Ints, strides: _Ints, rates: _Ints, padding: bytes
) -> Array:
    return _patches(images, ksizes, strides, rates, padding)


@extract_volume_patches.kernel
def extract_volume_patches_kernel(input: Array, *, ksizes: _Ints, strides: _Ints, padding: bytes) -> Array:
    return _patches(input, ksizes, strides, (1,) * len(ksizes), padding)


def _patches(images: Array, ksizes: _Ints, strides: _Ints, rates: _Ints, padding: bytes) -> Array:
    """The windows of an image of any number of dimensions, each laid flat."""
    rank = len(ksizes)
    if np.ndim(images) != rank:
        raise InvalidArgumentError(f"input must be {rank}-dimensional, got shape {list(np.shape(images))}")
    spatial = range(1, rank - 1)
    counts: list[int] = []
    amounts = [(0, 0)] * rank
    for axis in spatial:
        size, window = images.shape[axis], ksizes[axis] + (ksizes[axis] - 1) * (rates[axis] - 1)
        count = _window_count(size, window, strides[axis], padding == b"SAME")
        if padding == b"SAME":
            missing = max(0, (count - 1) * strides[axis] + window - size)
            amounts[axis] = (missing // 2, missing - missing // 2)
        counts.append(count)
    depth = images.shape[-1]
    shape = (images.shape[0], *counts, int(np.prod(ksizes)) * depth)
    if 0 in shape:
        return np.zeros(shape, images.dtype)
    check_allocation(shape, images.dtype)
    padded = np.ascontiguousarray(np.pad(images, amounts) if any(map(any, amounts)) else images)
    step = padded.strides
    windows = np.lib.stride_tricks.as_strided(
        padded,
        (images.shape[0], *counts, *ksizes[1:-1], depth),
        (
            step[0],
            *(step[axis] * strides[axis] for axis in spatial),
            *(step[axis] * rates[axis] for axis in spatial),
            step[-1],
        ),
        writeable=False,
    )
    return windows.reshape(shape)


@extract_image_patches.gradient
def extract_image_patches_gradient(op: Operation, dy: Tensor) -> Gradients:
    """Sums the gradients of each pixel by its number, which the same op finds for every place in the patches."""
    batch, rows, columns, channels = emit_tensors(
        "Unpack", shape_of(op.inputs[0], out_type=INT64), num=4, axis=0, name="unstack"
    )
    out_shape = shape_of(op.outputs[0], out_type=INT64)
    out_rows, out_columns = emit_tensors("Unpack", item(out_shape, slice(1, 3)), num=2, axis=0, name="unstack")
    attrs = {name: op.attr(name) for name in ("ksizes", "strides", "rates", "padding")}
    _, height, width, _ = op.get_attr("ksizes")
    count = times(rows, columns)
    numbers = _float_span(plus(count, 1))
    numbered = emit("ExtractImagePatches", reshape(numbers, (1, rows, columns, 1)), **attrs)
    places = cast(numbered, INT64)
    grads = reshape(dense(dy), (batch, out_rows, out_columns, height, width, channels))
    turned = emit("Transpose", grads, (1, 2, 3, 4, 0, 5), name="transpose")
    flat = reshape(turned, (-1, times(batch, channels)))
    segments = minus(reshape(places, [-1]), 1)
    summed = emit("UnsortedSegmentSum", flat, segments, count)
    image = reshape(summed, (rows, columns, batch, channels))
    return [emit("Transpose", image, (2, 0, 1, 3), name="transpose")]


def _float_span(limit: Tensor) -> Tensor:
    """`range(1, limit, dtype=float32)`."""
    with name_scope("range", limit.graph) as scope:
        start, step = (constant(1.0, FLOAT32, name) for name in ("start", "delta"))
        found: Tensor = emit("Range", start, cast(limit, FLOAT32), step, name=scope)
        return found


@extract_volume_patches.gradient
def extract_volume_patches_gradient(op: Operation, dy: Tensor) -> Gradients:
    """Multiplies by the matrix that says which voxel each place in the patches holds."""
    _, *size, _ = op.inputs[0].static_shape.as_tuple()
    _, *out_size, _ = op.outputs[0].static_shape.as_tuple()
    ksizes = list(op.get_attr("ksizes"))[1:-1]
    attrs = {name: op.attr(name) for name in ("ksizes", "strides", "padding")}
    whole = shape_of(op.inputs[0])
    batch, channels = item(whole, 0), item(whole, 4)
    voxels, places = prod(size) + 1, prod(out_size) * prod(ksizes)
    numbers = reshape(_long_span(1, voxels), (1, *size, 1))
    numbered = emit("ExtractVolumePatches", numbers, **attrs)
    counted = reshape(_long_span(0, places), (1, *out_size, prod(ksizes)))
    pairs = [emit("ExpandDims", table, -1) for table in (numbered, counted)]
    pairs_flat = reshape(concat(pairs, -1), (-1, 2))
    values = ones([places], dy.dtype.base_dtype)
    with name_scope("SparseTensor", dy.graph):
        dense_shape = constant(np.array([voxels, places], np.int64), INT64, "dense_shape")
    start = constant(np.array([1, 0], np.int64), INT64)
    extent = constant(np.array([voxels - 1, places], np.int64), INT64)
    matrix = get_op("SparseSlice")(pairs_flat, values, dense_shape, start, extent)
    grads = reshape(dense(dy), (batch, *out_size, *ksizes, channels))
    turned = emit("Transpose", grads, (1, 2, 3, 4, 5, 6, 0, 7), name="transpose")
    flat = reshape(turned, (-1, times(batch, channels)))
    with name_scope("SparseTensorDenseMatMul", dy.graph):
        summed = emit("SparseTensorDenseMatMul", *matrix, flat)
    volume = reshape(summed, (*size, batch, channels))
    return [emit("Transpose", volume, (3, 0, 1, 2, 4), name="transpose")]


def _long_span(start: int, limit: int) -> Tensor:
    """`range(start, limit, dtype=int64)`."""
    with name_scope("range") as scope:
        bounds = [constant(value, INT64, name) for value, name in ((start, "start"), (limit, "limit"), (1, "delta"))]
        found: Tensor = emit("Range", *bounds, name=scope)
        return found
