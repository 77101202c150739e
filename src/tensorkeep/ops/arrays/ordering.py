"""Tensors in another order: transposed, reversed, rolled."""

from __future__ import annotations

from math import prod

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.shared.dimensions import (
    at_least,
    at_most,
    constant_integers,
    merge_sizes,
    normalized_axis,
    of_rank,
    size_at,
    unknown_of_rank,
    with_size_at,
)
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

transpose = op("Transpose(x: T, perm: Tperm) -> y: T", "T: type", "Tperm: {int32, int64} = int32")


@transpose.shape
def transpose_shape(x: Tensor, perm: Tensor) -> Shape:
    order = constant_integers(perm)
    dims, count = x.static_shape.dims, perm.static_shape.element_count()
    count = len(order) if order is not None else count
    if dims is None and (count is None or count < 2):
        return UNKNOWN_SHAPE
    rank = len(dims) if dims is not None else count
    assert rank is not None
    with_rank(perm, 1)
    merge_sizes(count, rank)
    if order is None or dims is None:
        return unknown_of_rank(rank)
    for axis in order:
        if axis >= rank or axis < -rank:
            raise InvalidArgumentError(f"perm dim {axis} is out of range of input rank {rank}")
    return Shape(tuple(dims[axis] for axis in order))


@transpose.kernel
def transpose_kernel(x: Array, perm: Array) -> Array:
    try:
        return np.transpose(x, perm.tolist())
    except ValueError as error:
        raise InvalidArgumentError(f"{perm.tolist()} is not a permutation of {np.ndim(x)} axes: {error}") from None


@transpose.gradient
def transpose_gradient(op: Operation, dy: Tensor) -> Gradients:
    back = emit("InvertPermutation", op.inputs[1])
    return [emit("Transpose", dy, back, name="transpose"), None]


conjugate_transpose = op("ConjugateTranspose(x: T, perm: Tperm) -> y: T", "T: type", "Tperm: {int32, int64} = int32")
conjugate_transpose.shape(transpose_shape)


@conjugate_transpose.kernel
def conjugate_transpose_kernel(x: Array, perm: Array) -> Array:
    turned = transpose_kernel(x, perm)
    return np.conj(turned) if np.iscomplexobj(turned) else turned


@conjugate_transpose.gradient
def conjugate_transpose_gradient(op: Operation, dy: Tensor) -> Gradients:
    back = emit("InvertPermutation", op.inputs[1])
    return [emit("ConjugateTranspose" if dy.dtype.is_complex else "Transpose", dy, back, name="transpose"), None]


invert_permutation = op("InvertPermutation(x: T) -> y: T", "T: {int32, int64} = int32")
not_differentiable(invert_permutation)


@invert_permutation.shape
def invert_permutation_shape(x: Tensor) -> Shape:
    return with_rank(x, 1)


@invert_permutation.kernel
def invert_permutation_kernel(x: Array) -> Array:
    if x.ndim != 1:
        raise InvalidArgumentError(f"invert_permutation expects a 1D vector, got {x.ndim} dimensions")
    count = len(x)
    if count and not 0 <= x.min() <= x.max() < count:
        raise InvalidArgumentError(f"{x.min() if x.min() < 0 else x.max()} is not between 0 and {count}")
    inverse = np.full(count, -1, x.dtype)
    inverse[x] = np.arange(count, dtype=x.dtype)
    if count and inverse.min() < 0:
        raise InvalidArgumentError(f"an element is duplicated in the input: {x.tolist()}")
    return inverse


reverse_v2 = op(
    "ReverseV2(tensor: T, axis: Tidx) -> output: T",
    "Tidx: {int32, int64} = int32",
    "T: {uint8, int8, uint16, int16, int32, uint32, int64, uint64, bool, bfloat16, half, float, double, complex64, "
    "complex128, string}",
)


@reverse_v2.shape
def reverse_v2_shape(tensor: Tensor, axis: Tensor) -> Shape:
    with_rank(axis, 1)
    at_most(tensor.static_shape, 8)
    axes, rank = constant_integers(axis), tensor.static_shape.rank
    if axes is not None and rank is not None:
        _distinct_axes(axes, rank)
    return tensor.static_shape


def _distinct_axes(axes: list[int], rank: int) -> tuple[int, ...]:
    found = [normalized_axis(axis, rank) for axis in axes]
    for axis in found:
        if found.count(axis) > 1:
            raise InvalidArgumentError(f"axis {axis} specified more than once.")
    return tuple(found)


@reverse_v2.kernel
def reverse_v2_kernel(tensor: Array, axis: Array) -> Array:
    if axis.ndim != 1:
        raise InvalidArgumentError(f"'dims' must be 1-dimension, not {axis.ndim}")
    if np.ndim(tensor) > 8:
        raise InvalidArgumentError("reverse does not work on tensors with more than 8 dimensions")
    return np.flip(tensor, _distinct_axes(axis.tolist(), np.ndim(tensor)))


@reverse_v2.gradient
def reverse_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit("ReverseV2", dy, op.inputs[1]), None


reverse = op(
    "Reverse(tensor: T, dims: bool) -> output: T",
    "T: {uint8, int8, uint16, int16, uint32, int32, uint64, int64, bool, bfloat16, half, float, double, complex64, "
    "complex128, string}",
)


@reverse.shape
def reverse_shape(tensor: Tensor, dims: Tensor) -> Shape:
    count = size_at(with_rank(dims, 1), 0)
    found = tensor.static_shape if count is None else of_rank(tensor.static_shape, count)
    return at_most(found, 8)


@reverse.kernel
def reverse_kernel(tensor: Array, dims: Array) -> Array:
    if dims.ndim != 1 or len(dims) != np.ndim(tensor):
        raise InvalidArgumentError(
            f"'dims' must have one value for each of the {np.ndim(tensor)} dimensions, got shape {list(dims.shape)}"
        )
    return np.flip(tensor, tuple(np.flatnonzero(dims).tolist()))


@reverse.gradient
def reverse_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit("Reverse", dy, op.inputs[1]), None


reverse_sequence = op(
    "ReverseSequence(input: T, seq_lengths: Tlen) -> output: T",
    "seq_dim: int",
    "batch_dim: int = 0",
    "T: type",
    "Tlen: {int32, int64} = int64",
)


@reverse_sequence.shape
def reverse_sequence_shape(input: Tensor, seq_lengths: Tensor, *, seq_dim: int, batch_dim: int) -> Shape:
    lengths, dims = with_rank(seq_lengths, 1), input.static_shape.dims
    if dims is None:
        return UNKNOWN_SHAPE
    for name, axis in (("batch_dim", batch_dim), ("seq_dim", seq_dim)):
        if axis >= len(dims):
            raise InvalidArgumentError(f"{name} must be < input rank: {axis} vs. {len(dims)}")
    batch_dim = normalized_axis(batch_dim, len(dims), "batch_dim")
    return with_size_at(input.static_shape, batch_dim, merge_sizes(dims[batch_dim], size_at(lengths, 0)))


@reverse_sequence.kernel
def reverse_sequence_kernel(input: Array, seq_lengths: Array, *, seq_dim: int, batch_dim: int) -> Array:
    rank = np.ndim(input)
    if seq_dim == batch_dim:
        raise InvalidArgumentError(f"batch_dim == seq_dim == {seq_dim}")
    if not 0 <= seq_dim < rank or not 0 <= batch_dim < rank:
        raise InvalidArgumentError(f"seq_dim {seq_dim} and batch_dim {batch_dim} must be of the {rank} dimensions")
    steps, batches = input.shape[seq_dim], input.shape[batch_dim]
    if seq_lengths.shape != (batches,):
        raise InvalidArgumentError(f"Length of seq_lengths != input.dims({batch_dim}), {list(seq_lengths.shape)}")
    if batches and not 0 <= seq_lengths.min() <= seq_lengths.max() <= steps:
        raise InvalidArgumentError(f"seq_lengths must be in [0, {steps}], got {seq_lengths.tolist()}")
    at = np.arange(steps)
    ends = seq_lengths.astype(np.int64)[:, None]
    places = np.where(at < ends, ends - 1 - at, at)
    if batch_dim > seq_dim:
        places = places.T
    others = [axis for axis in range(rank) if axis not in (seq_dim, batch_dim)]
    return np.take_along_axis(input, np.expand_dims(places, others), seq_dim)


@reverse_sequence.gradient
def reverse_sequence_gradient(op: Operation, dy: Tensor) -> Gradients:
    attrs = {name: op.attr(name) for name in ("seq_dim", "batch_dim")}
    return [emit("ReverseSequence", dy, op.inputs[1], **attrs), None]


roll = op(
    "Roll(input: T, shift: Tshift, axis: Taxis) -> output: T",
    "T: type",
    "Tshift: {int32, int64}",
    "Taxis: {int32, int64}",
)


@roll.shape
def roll_shape(input: Tensor, shift: Tensor, axis: Tensor) -> Shape:
    at_most(shift.static_shape, 1)
    at_most(axis.static_shape, 1)
    return at_least(input.static_shape, 1)


@roll.kernel
def roll_kernel(input: Array, shift: Array, axis: Array) -> Array:
    if np.ndim(input) < 1:
        raise InvalidArgumentError("input must be 1-D or higher")
    if shift.ndim > 1 or axis.ndim > 1 or shift.shape != axis.shape:
        raise InvalidArgumentError("shift and axis must be scalars or 1-D vectors of the same size")
    axes = [normalized_axis(int(item), np.ndim(input)) for item in axis.reshape(-1)]
    return np.roll(input, tuple(shift.reshape(-1).tolist()), tuple(axes))


@roll.gradient
def roll_gradient(op: Operation, dy: Tensor) -> Gradients:
    shift, axis = op.inputs[1:]
    return emit("Roll", dy, emit("Neg", shift), axis, name="Roll"), None, None


unravel_index = op("UnravelIndex(indices: Tidx, dims: Tidx) -> output: Tidx", "Tidx: {int32, int64} = int32")
not_differentiable(unravel_index)


@unravel_index.shape
def unravel_index_shape(indices: Tensor, dims: Tensor) -> Shape:
    known, sizes = indices.static_shape, with_rank(dims, 1)
    count = None if sizes.dims is None else sizes.dims[0]
    if known.rank is None:
        return UNKNOWN_SHAPE
    return Shape((count,)) if known.rank == 0 else Shape((count, known.element_count()))


@unravel_index.kernel
def unravel_index_kernel(indices: Array, dims: Array) -> Array:
    if np.ndim(dims) != 1:
        raise InvalidArgumentError(f"The indices can only be 1-D, not of shape {list(np.shape(dims))}")
    if np.ndim(indices) > 1:
        raise InvalidArgumentError(f"The indices can only be scalar or vector, not of shape {list(np.shape(indices))}")
    for name, value in (("indices", indices), ("dims", dims)):
        if np.size(value) == 0:
            raise InvalidArgumentError(f"received empty tensor {name}")
    sizes = [int(size) for size in dims]
    if 0 in sizes:
        raise InvalidArgumentError("Input dims cannot contain a dim of zero, but dims contains zero")
    if any(size < 0 for size in sizes) or prod(sizes) > np.iinfo(dims.dtype).max:
        raise InvalidArgumentError(f"dims {sizes} are no sizes whose product fits into {dims.dtype}")
    if np.max(indices) >= prod(sizes):
        raise InvalidArgumentError("index is out of bound as with dims")
    # Remainders of negative numbers are negative, as in C.
    strides = [prod(sizes[i:]) for i in range(len(sizes) + 1)]
    inside = [np.fmod(indices, stride) for stride in strides[:-1]]
    parts = [(item - np.fmod(item, stride)) // stride for item, stride in zip(inside, strides[1:], strict=True)]
    return np.array(parts, dims.dtype)
