"""Tensors with something around them: Pad, PadV2, MirrorPad."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.native.moves import padded_array
from tensorkeep.ops.shared.dimensions import add, merge_sizes, of_rank, size_at, subtract, unknown_of_rank
from tensorkeep.ops.shared.expressions import rank_of, reshape, shape_of
from tensorkeep.ops.shared.indexing import stack
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import Shape

pad = op("Pad(input: T, paddings: Tpaddings) -> output: T", "T: type", "Tpaddings: {int32, int64} = int32")
pad_v2 = op(
    "PadV2(input: T, paddings: Tpaddings, constant_values: T) -> output: T",
    "T: type",
    "Tpaddings: {int32, int64} = int32",
)


@pad.shape
def pad_shape(input: Tensor, paddings: Tensor) -> Shape:
    found = _known_paddings(input, paddings)
    if isinstance(found, Shape):
        return found
    dims = of_rank(input.static_shape, len(found))
    return Shape(tuple(add(size, int(before + after)) for size, (before, after) in zip(dims, found, strict=True)))


def _known_paddings(input: Tensor, paddings: Tensor, by_input: bool = True) -> Array | Shape:
    """The paddings as an array; while they are not known, what is known of the result's shape."""
    table, rank = with_rank(paddings, 2), input.static_shape.rank
    merge_sizes(size_at(table, 1), 2)
    rank = merge_sizes(size_at(table, 0), rank)
    amounts = constant_value(paddings)
    if amounts is None:
        return unknown_of_rank(rank if by_input else size_at(table, 0))
    if amounts.size and amounts.min() < 0:
        raise InvalidArgumentError(f"Paddings must be non-negative: {amounts.tolist()}")
    return amounts


@pad_v2.shape
def pad_v2_shape(input: Tensor, paddings: Tensor, constant_values: Tensor) -> Shape:
    return pad_shape(input, paddings)


@pad.kernel
def pad_kernel(input: Array, paddings: Array, *, T: DType) -> Array:  # noqa: N803
    return _pad_input(input, paddings, b"" if T is STRING else 0, T)


@pad_v2.kernel
def pad_v2_kernel(input: Array, paddings: Array, constant_values: Array, *, T: DType) -> Array:  # noqa: N803
    if np.ndim(constant_values):
        raise InvalidArgumentError(f"pad_value must be a scalar, got shape {list(np.shape(constant_values))}")
    return _pad_input(input, paddings, constant_values, T)


def _pad_input(input: Array, paddings: Array, value: Array | bytes | int, dtype: DType) -> Array:
    _check_paddings(input, paddings)
    dims = np.shape(input)
    amounts = paddings.tolist()
    if not any(map(any, amounts)):
        return input
    sizes = [before + size + after for size, (before, after) in zip(dims, amounts, strict=True)]
    check_allocation(sizes, dtype.array_dtype)
    return padded_array(np.asarray(input, dtype.array_dtype), amounts, value)


def _check_paddings(input: Any, paddings: Any) -> None:
    if paddings.shape != (np.ndim(input), 2):
        raise InvalidArgumentError(
            f"The first dimension of paddings must be the rank of inputs, and the second 2: {list(paddings.shape)}, "
            f"{list(np.shape(input))}"
        )
    if paddings.size and paddings.min() < 0:
        raise InvalidArgumentError(f"Paddings must be non-negative: {paddings.tolist()}")


@pad.gradient
@pad_v2.gradient
def pad_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, paddings = op.inputs[:2]
    ahead = emit("Slice", paddings, [0, 0], stack([rank_of(x), 1]))
    begin = reshape(ahead, [-1])
    sizes = shape_of(x, out_type=begin.dtype.base_dtype)
    grad = emit("Slice", dy, begin, sizes)
    return [grad] + [None] * (len(op.inputs) - 1)


# ---------------------------------------------------------------------------------------------------- Mirrors

_MIRROR = ("T: type", "Tpaddings: {int32, int64} = int32", "mode: {'REFLECT', 'SYMMETRIC'}")
mirror_pad = op("MirrorPad(input: T, paddings: Tpaddings) -> output: T", *_MIRROR)
mirror_pad_grad = op("MirrorPadGrad(input: T, paddings: Tpaddings) -> output: T", *_MIRROR)
mirror_pad.shape(pad_shape)


@mirror_pad_grad.shape
def mirror_pad_grad_shape(input: Tensor, paddings: Tensor) -> Shape:
    found = _known_paddings(input, paddings, by_input=False)
    if isinstance(found, Shape):
        return found
    dims = of_rank(input.static_shape, len(found))
    return Shape(tuple(subtract(size, int(before + after)) for size, (before, after) in zip(dims, found, strict=True)))


@mirror_pad.kernel
def mirror_pad_kernel(input: Array, paddings: Array, *, mode: bytes) -> Array:
    _check_paddings(input, paddings)
    edge = int(mode == b"REFLECT")  # how many elements lie on the mirror itself
    for axis, (before, after) in enumerate(paddings.tolist()):
        if not before and not after:
            continue
        size = input.shape[axis]
        if max(before, after) > size - edge:
            raise InvalidArgumentError(
                f"paddings must be {'less than' if edge else 'no greater than'} the dimension size: {before}, {after} "
                f"{'not less than' if edge else 'greater than'} {size}"
            )
        places = np.arange(-before, size + after)
        places = np.where(places < 0, edge - 1 - places, places)
        places = np.where(places >= size, 2 * size - edge - 1 - places, places)
        input = input.take(places, axis)
    return input


@mirror_pad_grad.kernel
def mirror_pad_grad_kernel(input: Array, paddings: Array, *, mode: bytes) -> Array:
    """The gradient of a mirrored padding: the paddings are cut off, and what lies there is added to the elements that
    it mirrors.
    """
    _check_paddings(input, paddings)
    edge = int(mode == b"REFLECT")
    for axis, (before, after) in enumerate(paddings.tolist()):
        if not before and not after:
            continue
        size = input.shape[axis] - before - after
        if max(before, after) > size - edge or size < 0:
            raise InvalidArgumentError(f"paddings {before}, {after} are too large for a dimension of size {size}")
        turned = np.moveaxis(input, axis, 0)
        out = np.array(turned[before : before + size])
        out[edge : edge + before] += turned[:before][::-1]
        out[size - edge - after : size - edge] += turned[before + size :][::-1]
        input = np.moveaxis(out, 0, axis)
    return input


@mirror_pad.gradient
def mirror_pad_gradient(op: Operation, dy: Tensor) -> Gradients:
    return [emit("MirrorPadGrad", dy, op.inputs[1], mode=op.attr("mode")), None]


@mirror_pad_grad.gradient
def mirror_pad_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    return [emit("MirrorPad", dy, op.inputs[1], mode=op.attr("mode")), None]
