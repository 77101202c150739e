"""Shapes of values and values of other shapes: Reshape, Transpose, Tile, Fill, Pad and their like."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.jax.registry import lowering
from tensorkeep.jax.values import NotKnownError, Value, shape_of, sizes


@lowering("Shape", raw=True, of_shapes=True)
def shape(input: Value, *, out_type: DType) -> Value:
    return np.array(shape_of(input), out_type.array_dtype)


@lowering("ShapeN", raw=True, of_shapes=True)
def shapes(input: list[Value], *, out_type: DType) -> list[Any]:
    return [np.array(shape_of(item), out_type.array_dtype) for item in input]


@lowering("Size", raw=True, of_shapes=True)
def size(input: Value, *, out_type: DType) -> Value:
    return np.array(np.prod(shape_of(input), dtype=np.int64), out_type.array_dtype)


@lowering("Rank", raw=True, of_shapes=True)
def rank(input: Value) -> Value:
    return np.array(len(shape_of(input)), np.int32)


@lowering("Reshape", known=("shape",))
def reshape(tensor: jax.Array, shape: Array) -> jax.Array:
    wanted = list(sizes(shape))
    if -1 in wanted and tensor.size == 0:  # JAX does not divide by nothing; a size that is kept may be left out
        at = wanted.index(-1)
        others = prod(size for size in wanted if size > 0)
        kept = prod(size for size in tensor.shape if size > 0)
        wanted[at] = kept // others if 0 in wanted else 0
    return jnp.reshape(tensor, wanted)


@lowering("Transpose", known=("perm",))
def transpose(x: jax.Array, perm: Array) -> jax.Array:
    return jnp.transpose(x, sizes(perm))


@lowering("ConjugateTranspose", known=("perm",))
def conjugate_transpose(x: jax.Array, perm: Array) -> jax.Array:
    return jnp.conj(jnp.transpose(x, sizes(perm)))


@lowering("ExpandDims", known=("dim",))
def expand_dims(input: jax.Array, dim: Array) -> jax.Array:
    return jnp.expand_dims(input, int(np.reshape(dim, ())))


@lowering("Squeeze")
def squeeze(input: jax.Array, *, squeeze_dims: Sequence[int]) -> jax.Array:
    return jnp.squeeze(input, tuple({axis % input.ndim for axis in squeeze_dims}) or None)


@lowering("Tile", known=("multiples",))
def tile(input: jax.Array, multiples: Array) -> jax.Array:
    return jnp.tile(input, sizes(multiples))


@lowering("Fill", known=("dims",))
def fill(dims: Array, value: jax.Array) -> jax.Array:
    return jnp.broadcast_to(value, sizes(dims))


@lowering("BroadcastTo", known=("shape",))
def broadcast_to(input: jax.Array, shape: Array) -> jax.Array:
    return jnp.broadcast_to(input, sizes(shape))


def _widths(paddings: Any) -> list[tuple[int, int]]:
    return [(int(before), int(after)) for before, after in np.reshape(paddings, (-1, 2))]


@lowering("Pad", known=("paddings",))
def pad(input: jax.Array, paddings: Array) -> jax.Array:
    return jnp.pad(input, _widths(paddings)) if input.ndim else input


@lowering("PadV2", known=("paddings",))
def pad_with(input: jax.Array, paddings: Array, constant_values: jax.Array) -> jax.Array:
    return jnp.pad(input, _widths(paddings), constant_values=jnp.reshape(constant_values, ())) if input.ndim else input


@lowering("MirrorPad", known=("paddings",))
def mirror_pad(input: jax.Array, paddings: Array, *, mode: bytes) -> jax.Array:
    if not input.ndim:
        return input
    return jnp.pad(input, _widths(paddings), mode="reflect" if mode == b"REFLECT" else "symmetric")


@lowering("MirrorPadGrad", known=("paddings",))
def mirror_pad_grad(input: jax.Array, paddings: Array, *, mode: bytes) -> jax.Array:
    """The gradient of a mirrored padding: the paddings are cut off, and what lies there is added to the elements that
    it mirrors.
    """
    skip = mode == b"REFLECT"
    for axis, (before, after) in enumerate(_widths(paddings)):
        moved = jnp.moveaxis(input, axis, 0)
        inner = moved[before : moved.shape[0] - after]
        if before:
            inner = inner.at[int(skip) : before + skip].add(moved[:before][::-1])
        if after:
            end = inner.shape[0] - skip
            inner = inner.at[end - after : end].add(moved[moved.shape[0] - after :][::-1])
        input = jnp.moveaxis(inner, 0, axis)
    return input


@lowering("ReverseV2", known=("axis",))
def reverse(tensor: jax.Array, axis: Array) -> jax.Array:
    return jnp.flip(tensor, sizes(axis)) if np.size(axis) else tensor


@lowering("Reverse", known=("dims",))
def reverse_where(tensor: jax.Array, dims: Array) -> jax.Array:
    axes = tuple(at for at, turned in enumerate(dims) if turned)
    return jnp.flip(tensor, axes) if axes else tensor


@lowering("Roll", known=("axis",))
def roll(input: jax.Array, shift: jax.Array, axis: Array) -> jax.Array:
    for number, along in enumerate(sizes(axis)):
        input = jnp.roll(input, jnp.reshape(shift, (-1,))[number], along)
    return input


@lowering("ReverseSequence")
def reverse_sequence(input: jax.Array, seq_lengths: jax.Array, *, seq_dim: int, batch_dim: int) -> jax.Array:
    moved = jnp.moveaxis(input, (batch_dim, seq_dim), (0, 1))
    places = jnp.arange(moved.shape[1])
    lengths = seq_lengths[:, None]
    order = jnp.where(places < lengths, lengths - 1 - places, places)
    order = order.reshape(*order.shape, *(1,) * (moved.ndim - 2))
    return jnp.moveaxis(jnp.take_along_axis(moved, order, 1), (0, 1), (batch_dim, seq_dim))


@lowering("InvertPermutation")
def invert_permutation(x: jax.Array) -> jax.Array:
    return jnp.zeros_like(x).at[x].set(jnp.arange(x.shape[0], dtype=x.dtype))


# ------------------------------------------------------------------------------------------------ blocks of space


@lowering("SpaceToDepth")
def space_to_depth(input: jax.Array, *, block_size: int, data_format: bytes) -> jax.Array:
    x = jnp.moveaxis(input, 1, -1) if data_format == b"NCHW" else input
    batch, height, width, depth = x.shape
    x = x.reshape(batch, height // block_size, block_size, width // block_size, block_size, depth)
    x = x.transpose(0, 1, 3, 2, 4, 5)
    x = x.reshape(batch, height // block_size, width // block_size, depth * block_size**2)
    return jnp.moveaxis(x, -1, 1) if data_format == b"NCHW" else x


@lowering("DepthToSpace")
def depth_to_space(input: jax.Array, *, block_size: int, data_format: bytes) -> jax.Array:
    x = jnp.moveaxis(input, 1, -1) if data_format == b"NCHW" else input
    batch, height, width, depth = x.shape
    x = x.reshape(batch, height, width, block_size, block_size, depth // block_size**2)
    x = x.transpose(0, 1, 3, 2, 4, 5)
    x = x.reshape(batch, height * block_size, width * block_size, depth // block_size**2)
    return jnp.moveaxis(x, -1, 1) if data_format == b"NCHW" else x


def _blocks_to_batch(x: Any, block: Sequence[int], paddings: Any) -> Any:
    count = len(block)
    x = jnp.pad(x, [(0, 0), *_widths(paddings), *[(0, 0)] * (x.ndim - 1 - count)])
    batch, space, rest = x.shape[0], x.shape[1 : 1 + count], x.shape[1 + count :]
    cut = [part for size, step in zip(space, block, strict=True) for part in (size // step, step)]
    x = x.reshape(batch, *cut, *rest)
    steps = [2 + 2 * at for at in range(count)]
    places = [1 + 2 * at for at in range(count)]
    x = x.transpose(*steps, 0, *places, *range(1 + 2 * count, x.ndim))
    return x.reshape(
        batch * int(np.prod(block)), *(size // step for size, step in zip(space, block, strict=True)), *rest
    )


def _batch_to_blocks(x: Any, block: Sequence[int], crops: Any) -> Any:
    count = len(block)
    batch, space, rest = x.shape[0] // int(np.prod(block)), x.shape[1 : 1 + count], x.shape[1 + count :]
    x = x.reshape(*block, batch, *space, *rest)
    pairs = [axis for at in range(count) for axis in (count + 1 + at, at)]
    x = x.transpose(count, *pairs, *range(1 + 2 * count, x.ndim))
    x = x.reshape(batch, *(size * step for size, step in zip(space, block, strict=True)), *rest)
    for axis, (before, after) in enumerate(_widths(crops), 1):
        x = jnp.moveaxis(jnp.moveaxis(x, axis, 0)[before : x.shape[axis] - after], 0, axis)
    return x


@lowering("SpaceToBatchND", known=("block_shape", "paddings"))
def space_to_batch_nd(input: jax.Array, block_shape: Array, paddings: Array) -> jax.Array:
    return _blocks_to_batch(input, sizes(block_shape), paddings)


@lowering("BatchToSpaceND", known=("block_shape", "crops"))
def batch_to_space_nd(input: jax.Array, block_shape: Array, crops: Array) -> jax.Array:
    return _batch_to_blocks(input, sizes(block_shape), crops)


@lowering("SpaceToBatch", known=("paddings",))
def space_to_batch(input: jax.Array, paddings: Array, *, block_size: int) -> jax.Array:
    return _blocks_to_batch(input, [block_size, block_size], paddings)


@lowering("BatchToSpace", known=("crops",))
def batch_to_space(input: jax.Array, crops: Array, *, block_size: int) -> jax.Array:
    return _batch_to_blocks(input, [block_size, block_size], crops)


@lowering("OneHot", known=("depth",))
def one_hot(indices: jax.Array, depth: Array, on_value: jax.Array, off_value: jax.Array, *, axis: int) -> jax.Array:
    at = axis if axis >= 0 else indices.ndim
    places = jnp.arange(int(depth), dtype=indices.dtype)
    places = places.reshape(-1, *(1,) * (indices.ndim - at))
    return jnp.where(jnp.expand_dims(indices, at) == places, on_value, off_value)


# ------------------------------------------------------------------------------------------------------- sequences


@lowering("Range", known=("start", "limit", "delta"))
def range_of(start: Array, limit: Array, delta: Array) -> Array:
    bounds: list[Any] = [start, limit, delta]
    found: Array = np.arange(*bounds, dtype=start.dtype)
    return found


@lowering("LinSpace", known=("num",))
def linspace(start: jax.Array, stop: jax.Array, num: Array) -> jax.Array:
    count = int(num)
    if count == 1:
        return jnp.reshape(start, (1,))
    step = (stop - start) / (count - 1)
    return jnp.concatenate([start + step * jnp.arange(count - 1, dtype=start.dtype), jnp.reshape(stop, (1,))])


def _along(x: Any, axis: Any, exclusive: bool, reverse: bool, first: float, run: Any) -> Any:
    """Running totals along an axis: from the other end, or without the element itself."""
    at = int(np.reshape(axis, ())) % x.ndim
    x = jnp.flip(x, at) if reverse else x
    if exclusive and x.shape[at]:
        widths = [(1, 0) if axis == at else (0, 0) for axis in range(x.ndim)]
        x = jnp.pad(x, widths, constant_values=first)
        x = jnp.moveaxis(jnp.moveaxis(x, at, 0)[:-1], 0, at)
    found = run(x, axis=at)
    return jnp.flip(found, at) if reverse else found


@lowering("Cumsum", known=("axis",))
def cumsum(x: jax.Array, axis: Array, *, exclusive: bool, reverse: bool) -> jax.Array:
    return _along(x, axis, exclusive, reverse, 0, jnp.cumsum)


@lowering("Cumprod", known=("axis",))
def cumprod(x: jax.Array, axis: Array, *, exclusive: bool, reverse: bool) -> jax.Array:
    return _along(x, axis, exclusive, reverse, 1, jnp.cumprod)


@lowering("CumulativeLogsumexp", known=("axis",))
def cumulative_logsumexp(x: jax.Array, axis: Array, *, exclusive: bool, reverse: bool) -> jax.Array:
    return _along(x, axis, exclusive, reverse, -np.inf, lax.cumlogsumexp)


@lowering("BroadcastGradientArgs", "BroadcastArgs", known=("s0", "s1"), raw=True)
def of_known_shapes(s0: Value, s1: Value) -> Callable[..., jax.Array]:
    raise NotKnownError("it works out shapes, and is given some that are computed by the function")


@lowering("UnravelIndex", known=("dims",))
def unravel_index(indices: jax.Array, dims: Array) -> jax.Array:
    return jnp.stack(jnp.unravel_index(indices, sizes(dims)))
