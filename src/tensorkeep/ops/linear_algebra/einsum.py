"""Sums of products by Einstein's notation, of one or two tensors.

    equation = labels {"," labels} "->" labels          labels = letters, "..." among them once at most

A label that occurs in several places has one size there. Labels that the result lacks are summed over. What stands for
"..." broadcasts. A label that the result has twice fills a diagonal of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from typing import Any, Final

import ml_dtypes
import numpy as np

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit, emit_tensors
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.linear_algebra.products import multiply
from tensorkeep.ops.shared.dimensions import merge_sizes
from tensorkeep.ops.shared.expressions import (
    concat,
    conj,
    constant,
    reduce_sum,
    reduced_shape,
    reflected_operator,
    reshape,
    shape_of,
)
from tensorkeep.ops.shared.indexing import item, stack
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import broadcast_shapes
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_ELLIPSIS: Final = "..."
_BLAS: Final = frozenset("fdFD")
_HALF: Final = (np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))

einsum = op("Einsum(inputs: N * T) -> output: T", "equation: string", "N: int >= 1", "T: type")


@lru_cache(1024)
def _parse(equation: bytes, count: int) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
    """The labels of each input and of the result; "..." is one of them."""
    text = equation.decode("utf-8", "replace")
    left, arrow, right = text.partition("->")
    if not arrow or "->" in right:
        raise InvalidArgumentError(f"Expecting exactly one '->' in einsum equation: {text}")
    inputs = tuple(_labels(part, text) for part in left.split(","))
    if len(inputs) != count:
        raise InvalidArgumentError(f"Expecting {len(inputs)} inputs for equation {text} but got: {count}")
    if count > 2:
        raise InvalidArgumentError(f"Expecting at most 2 inputs in einsum equation {text}, got: {count}")
    output = _labels(right, text)
    known = {label for labels in inputs for label in labels}
    for label in output:
        if label not in known and label != _ELLIPSIS:
            raise InvalidArgumentError(f"Einsum output subscripts of {text} have the label '{label}' of no input")
    return inputs, output


def _labels(part: str, text: str) -> tuple[str, ...]:
    before, dots, after = part.partition(_ELLIPSIS)
    found = (*before, _ELLIPSIS, *after) if dots else tuple(part)
    if any(len(label) == 1 and not (label.isascii() and label.isalpha()) for label in found):
        raise InvalidArgumentError(f"Invalid character in einsum equation: {text}")
    return found


@einsum.shape
def einsum_shape(inputs: list[Tensor], *, equation: bytes, N: int) -> Shape:  # noqa: N803
    labels_of_inputs, output = _parse(equation, N)
    sizes: dict[str, int | None] = {}
    stretched = Shape(())
    for labels, tensor in zip(labels_of_inputs, inputs, strict=True):
        shape = tensor.static_shape
        named = [label for label in labels if label != _ELLIPSIS]
        if shape.dims is None:
            if len(named) < len(labels):
                stretched = UNKNOWN_SHAPE
            for label in named:
                sizes.setdefault(label, None)
            continue
        before, middle, after = _split_at_ellipsis(labels, shape.dims)
        for label, size in zip(named, (*before, *after), strict=True):
            sizes[label] = merge_sizes(sizes.get(label), size)
        stretched = broadcast_shapes(stretched, Shape(middle))
    if _ELLIPSIS not in output and stretched.dims:
        raise InvalidArgumentError(f"No ellipsis in the output of {equation.decode()} for the dimensions {stretched}")
    if _ELLIPSIS in output and stretched.dims is None:
        return UNKNOWN_SHAPE
    dims: list[int | None] = []
    for label in output:
        dims.extend(stretched.dims or () if label == _ELLIPSIS else (sizes[label],))
    return Shape(tuple(dims))


def _split_at_ellipsis(
    labels: Sequence[str], dims: Sequence[Any]
) -> tuple[tuple[Any, ...], tuple[Any, ...], tuple[Any, ...]]:
    """The sizes before, under and after an ellipsis."""
    named = len(labels) - (_ELLIPSIS in labels)
    if len(dims) < named or (named == len(labels) and len(dims) > named):
        raise InvalidArgumentError(
            f"Expected input with labels {''.join(labels)} to have {'at least ' if named < len(labels) else ''}{named} "
            f"dimensions but got {len(dims)}"
        )
    if named == len(labels):
        return tuple(dims), (), ()
    start = labels.index(_ELLIPSIS)
    end = len(dims) - (named - start)
    return tuple(dims[:start]), tuple(dims[start:end]), tuple(dims[end:])


# ---------------------------------------------------------------------------------------------------- Kernel


@dataclass(frozen=True)
class _Operand:
    """How an input becomes a batch of matrices."""

    labels: tuple[int, ...]  # of its axes; those under an ellipsis count down from -1 at the last
    kept: tuple[int, ...]  # each label once: batch, rows, columns
    summed: tuple[int, ...]  # axes, behind the others, of labels that nothing else has


@dataclass(frozen=True)
class _Contraction:
    """What is known of an equation and the ranks of its inputs."""

    operands: tuple[_Operand, ...]
    batch: tuple[int, ...]
    free: tuple[tuple[int, ...], ...]  # of each operand
    common: tuple[int, ...]
    output: tuple[int, ...]

    @property
    def product(self) -> tuple[int, ...]:
        """The labels of the product's axes."""
        return (*self.batch, *(label for labels in self.free for label in labels))


@lru_cache(1024)
def _contraction(equation: bytes, ranks: tuple[int, ...]) -> _Contraction:
    labels_of_inputs, output = _parse(equation, len(ranks))
    numbers = {label: i for i, label in enumerate(sorted({x for part in labels_of_inputs for x in part}))}
    numbers.pop(_ELLIPSIS, None)
    longest = 0
    inputs = []
    for labels, rank in zip(labels_of_inputs, ranks, strict=True):
        before, middle, after = _split_at_ellipsis(labels, range(rank))
        longest = max(longest, len(middle))
        named = [numbers[label] for label in labels if label != _ELLIPSIS]
        inputs.append((*named[: len(before)], *range(-len(middle), 0), *named[len(before) :]))
        del after
    if longest and _ELLIPSIS not in output:
        raise InvalidArgumentError(f"No ellipsis in the output of {equation.decode()}")
    result: list[int] = []
    for label in output:
        result.extend(range(-longest, 0) if label == _ELLIPSIS else (numbers[label],))
    return _plan_contraction(inputs, tuple(result))


def _plan_contraction(inputs: list[tuple[int, ...]], output: tuple[int, ...]) -> _Contraction:
    """How an equation is computed: as a product of two batches of matrices, or of one input by sums over its axes."""
    others = [set(inputs[1 - i]) if len(inputs) == 2 else set() for i in range(len(inputs))]
    both = set(inputs[0]) & others[0]
    wanted = dict.fromkeys(output)
    batch = tuple(label for label in wanted if label < 0 or label in both)
    common = tuple(label for label in dict.fromkeys(inputs[0]) if label in both and label not in wanted and label >= 0)
    operands, free = [], []
    for i, labels in enumerate(inputs):
        own = tuple(label for label in dict.fromkeys(labels) if label not in both and label in wanted and label >= 0)
        gone = tuple(label for label in dict.fromkeys(labels) if label not in both and label not in wanted)
        there = tuple(label for label in batch if label in labels)
        order = (*there, *own, *common) if i == 0 else (*there, *common, *own)
        operands.append(_Operand(labels, (*order, *gone), tuple(range(len(order), len(order) + len(gone)))))
        free.append(own)
    return _Contraction(tuple(operands), batch, tuple(free), common, output)


@einsum.kernel
def einsum_kernel(inputs: list[Array], *, equation: bytes) -> Array:
    arrays = [np.asarray(array) for array in inputs]
    dtype = arrays[0].dtype
    plan = _contraction(equation, tuple(array.ndim for array in arrays))
    if dtype in _HALF:
        arrays = [array.astype(np.float32) for array in arrays]
    sizes: dict[int, int] = {}
    for operand, array in zip(plan.operands, arrays, strict=True):
        _note_sizes(operand.labels, array.shape, sizes)
    parts = [_arrange_operand(operand, array) for operand, array in zip(plan.operands, arrays, strict=True)]
    found = plan.product
    result = _multiply_operands(plan, parts, sizes) if len(parts) == 2 else parts[0]
    result = result.reshape([sizes[label] for label in found])
    return _place_axes(result, found, plan.output).astype(dtype, copy=False)


def _note_sizes(labels: tuple[int, ...], shape: tuple[int, ...], sizes: dict[int, int]) -> None:
    for label, size in zip(labels, shape, strict=True):
        known = sizes.get(label)
        if known is None or (label < 0 and known == 1):
            sizes[label] = size
        elif known != size and not (label < 0 and size == 1):
            raise InvalidArgumentError(f"Expected dimension {known} at an axis of the inputs but got dimension {size}")


def _arrange_operand(operand: _Operand, array: Any) -> Any:
    """An operand with its axes in order: diagonals taken, and summed over the labels that nothing else has."""
    kept = operand.kept
    if kept != operand.labels:
        smallest = min(operand.labels)
        array = np.einsum(
            array, [label - min(smallest, 0) for label in operand.labels], [x - min(smallest, 0) for x in kept]
        )
    return np.add.reduce(array, operand.summed, dtype=array.dtype) if operand.summed else array


def _multiply_operands(plan: _Contraction, parts: list[Any], sizes: dict[int, int]) -> Any:
    """The product of two batches of matrices."""
    rows, depth, columns = (prod(sizes[x] for x in labels) for labels in (plan.free[0], plan.common, plan.free[1]))
    matrices = []
    for operand, part, matrix in zip(plan.operands, parts, ((rows, depth), (depth, columns)), strict=True):
        own = iter(part.shape)
        batch = tuple(next(own) if label in operand.labels else 1 for label in plan.batch)
        matrices.append(part.reshape(*batch, *matrix))
    left, right = matrices
    return multiply(left, right) if left.dtype.char in _BLAS else np.matmul(left, right)


def _place_axes(result: Array, labels: tuple[int, ...], output: tuple[int, ...]) -> Array:
    """The axes in the order of the output, on diagonals where it names one twice."""
    order = tuple(dict.fromkeys(output))
    result = result.transpose([labels.index(label) for label in order])
    if len(order) == len(output):
        return result
    whole = np.zeros([result.shape[order.index(label)] for label in output], result.dtype)
    smallest = min(min(output), 0)
    view = np.einsum(whole, [label - smallest for label in output], [label - smallest for label in order])
    view[...] = result
    return whole


# ---------------------------------------------------------------------------------------------------- Gradient


@einsum.gradient
def einsum_gradient(op: Operation, dy: Tensor) -> Gradients:
    """The gradients of the inputs. That of one of two is the product of the result's gradient with the other input, by
    the equation turned around.
    """
    left, _, output = op.attr("equation").decode().partition("->")
    if len(op.inputs) == 1:
        shape = shape_of(op.inputs[0])
        gone = _only_in(left, output)
        if not gone:
            return emit(einsum, [dy], equation=f"{output}->{left}")
        return _spread_gradient(dy, output, left, shape, gone)
    x_labels, y_labels = left.split(",")
    if _ELLIPSIS in output:
        x_labels += "" if _ELLIPSIS in x_labels else _ELLIPSIS
        y_labels += "" if _ELLIPSIS in y_labels else _ELLIPSIS
    x, y = op.inputs
    if dy.dtype.is_complex:
        x, y = conj(x), conj(y)
    x_shape, y_shape = shape_of(x), shape_of(y)
    gx = _toward(dy, y, x_shape, x_labels, y_labels, output)
    gy = _toward(dy, x, y_shape, y_labels, x_labels, output)
    if _ELLIPSIS not in output:
        return gx, gy
    x_part, y_part = _under_ellipsis(x_labels), _under_ellipsis(y_labels)
    known = (x.static_shape, y.static_shape)
    if all(shape.is_fully_known for shape in known) and (known[0].dims or ())[x_part] == (known[1].dims or ())[y_part]:
        return gx, gy
    x_axes, y_axes = emit_tensors("BroadcastGradientArgs", item(x_shape, x_part), item(y_shape, y_part))
    gx = reshape(reduce_sum(gx, reflected_operator("AddV2", x_part.start, x_axes, "add")), x_shape)
    return gx, reshape(reduce_sum(gy, reflected_operator("AddV2", y_part.start, y_axes, "add")), y_shape)


def _only_in(labels: str, others: str) -> list[str]:
    """The labels that the others lack, each once. If there are several, TensorFlow has them in the order of a Python
    set, which is any.
    """
    return list(dict.fromkeys(label for label in labels if label not in others and label not in ".,"))


def _under_ellipsis(labels: str) -> slice:
    start = labels.find(_ELLIPSIS)
    if start < 0:
        return slice(0, 0)
    behind = len(labels) - start - len(_ELLIPSIS)
    return slice(start, -behind if behind else None)


def _toward(dy: Any, other: Tensor, shape: Tensor, labels: str, other_labels: str, output: str) -> Tensor:
    """The gradient of an input, before it is summed over what was stretched."""
    gone = _only_in(labels, output + other_labels)
    left = "".join(label for label in labels if label not in gone)
    found: Tensor = einsum([dy, other], equation=f"{output},{other_labels}->{left}")
    return _spread_gradient(found, left, labels, shape, gone) if gone else found


def _axis_of(labels: str, label: str) -> int:
    """The axis of a label: counted from the end if it is behind an ellipsis."""
    before, _, after = labels.partition(_ELLIPSIS)
    return before.index(label) if label in before else after.index(label) - len(after)


def _spread_gradient(dy: Tensor, output: str, labels: str, shape: Tensor, gone: list[str]) -> Tensor:
    """The gradient of a sum over labels: that of the result, wherever an element went into it."""
    axes = [_axis_of(labels, label) for label in gone]
    sizes = stack([item(shape, axis) for axis in axes])
    repeats = len(set(labels)) + len(set(output)) < len(labels) + len(output)
    if not repeats and "".join(label for label in labels if label not in gone) == output:
        kept = reduced_shape(shape, convert(axes))
        return emit("BroadcastTo", reshape(dy, kept), shape)
    with_gone = concat([sizes, shape_of(dy)])
    kept = concat([_ones(len(gone)), shape_of(dy)])
    spread = emit("BroadcastTo", reshape(dy, kept), with_gone)
    return emit(einsum, [spread], equation=f"{''.join(gone)}{output}->{labels}")


def _ones(count: int) -> Tensor:
    with name_scope("ones") as scope:
        sizes = constant(np.array([count], np.int32), INT32, "shape_as_tensor")
        return emit("Fill", sizes, constant(1, INT32), name=scope)
