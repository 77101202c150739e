"""Gradients, in models that give them: saliency maps, forces that are the slope of an energy."""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.dtypes import BOOL, INT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.known_axes import are_same_axes
from tensorkeep.onnx.known_sizes import Sizes, sizes_of
from tensorkeep.onnx.rules.layers.windows import widened_value
from tensorkeep.onnx.rules.numbers.elementwise import Expression, elementwise
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import (
    Part,
    axes_of,
    computed_size,
    counted_indices,
    parts_of,
    reshaped_value,
    scalar,
    vector,
)
from tensorkeep.onnx.terms import SizeOf, Term

_SELU_SCALE: Final = 1.0507009873554804934193349852946
_SELU_SCALE_ALPHA: Final = 1.7580993408473768599402175208123


def _same_shape(to: OnnxGraph, value: Term, gradient: Term) -> Term:
    """The gradient in the shape of the value, of which it has as many elements."""
    if are_same_axes(value, gradient):
        return gradient
    if to.model.is_for_engine:
        to.refuse("it is not known whether its inputs have the same shape")
    return reshaped_value(to, gradient, axes_of(value)) if value.dims is not None else gradient


def _pair(to: OnnxGraph, value: Term, gradient: Term) -> tuple[Expression, Expression]:
    """A value and the gradient that comes in, in the type to compute in."""
    given = widened_value(to, value), widened_value(to, _same_shape(to, value, gradient))
    return Expression(to, given[0]), Expression(to, given[1])


def _where_needed(to: OnnxGraph, found: Expression, dy: Expression, like: Term) -> Term:
    """A gradient, but zero where the one that comes in is, so that an infinity there does not make it NaN."""
    return to.cast(found.unless(dy.equals(0.0), 0.0).term, like.dtype)


# ---------------------------------------------------------------------------------------------------- Single elements


@rule("SqrtGrad")
def sqrt_grad(to: OnnxGraph, y: Term, dy: Term) -> Term:
    root, slope = _pair(to, y, dy)
    return _where_needed(to, slope * 0.5 / root, slope, dy)


@rule("RsqrtGrad")
def rsqrt_grad(to: OnnxGraph, y: Term, dy: Term) -> Term:
    root, slope = _pair(to, y, dy)
    return _where_needed(to, (slope * root) * -0.5 * (root * root), slope, dy)


@rule("ReciprocalGrad", "InvGrad")
def reciprocal_grad(to: OnnxGraph, y: Term, dy: Term) -> Term:
    share, slope = _pair(to, y, dy)
    return _where_needed(to, -share * share * slope, slope, dy)


@rule("TanhGrad")
def tanh_grad(to: OnnxGraph, y: Term, dy: Term) -> Term:
    value, slope = _pair(to, y, dy)
    return to.cast((slope * (1 - value * value)).term, dy.dtype)


@rule("SigmoidGrad")
def sigmoid_grad(to: OnnxGraph, y: Term, dy: Term) -> Term:
    value, slope = _pair(to, y, dy)
    return to.cast((slope * value * (1 - value)).term, dy.dtype)


@rule("ReluGrad")
def relu_grad(to: OnnxGraph, gradients: Term, features: Term) -> Term:
    return _passed_where(to, gradients, features, None)


@rule("Relu6Grad")
def relu6_grad(to: OnnxGraph, gradients: Term, features: Term) -> Term:
    return _passed_where(to, gradients, features, 6.0)


def _passed_where(to: OnnxGraph, gradients: Term, features: Term, end: float | None) -> Term:
    """The gradient where a feature is above zero, and below an end if there is one; zero elsewhere."""
    slopes = _same_shape(to, features, gradients)
    is_in = elementwise(to, "Greater", features, to.like(features, 0), dtype=BOOL)
    if end is not None:
        is_below = elementwise(to, "Less", features, to.like(features, end), dtype=BOOL)
        is_in = to.node("And", is_in, is_below, dtype=BOOL, dims=is_in.dims)
    return elementwise(to, "Mul", slopes, to.cast(is_in, slopes.dtype))


@rule("LeakyReluGrad")
def leaky_relu_grad(to: OnnxGraph, gradients: Term, features: Term, *, alpha: float) -> Term:
    feature, slope = _pair(to, features, gradients)
    return to.cast((slope * alpha).unless(feature > 0.0, slope).term, gradients.dtype)


@rule("EluGrad")
def elu_grad(to: OnnxGraph, gradients: Term, outputs: Term) -> Term:
    output, slope = _pair(to, outputs, gradients)
    return to.cast(slope.unless(output < 0.0, slope * (output + 1.0)).term, gradients.dtype)


@rule("SeluGrad")
def selu_grad(to: OnnxGraph, gradients: Term, outputs: Term) -> Term:
    output, slope = _pair(to, outputs, gradients)
    is_left = output < 0.0
    return to.cast((slope * _SELU_SCALE).unless(is_left, slope * (output + _SELU_SCALE_ALPHA)).term, gradients.dtype)


@rule("SoftplusGrad")
def softplus_grad(to: OnnxGraph, gradients: Term, features: Term) -> Term:
    feature, slope = _pair(to, features, gradients)
    return to.cast((slope / ((-feature).apply("Exp") + 1.0)).term, gradients.dtype)


@rule("SoftsignGrad")
def softsign_grad(to: OnnxGraph, gradients: Term, features: Term) -> Term:
    feature, slope = _pair(to, features, gradients)
    below = feature.apply("Abs") + 1.0
    return to.cast((slope / (below * below)).term, gradients.dtype)


# ---------------------------------------------------------------------------------------------------- Shapes


@rule("BiasAddGrad")
def bias_add_grad(to: OnnxGraph, out_backprop: Term, *, data_format: bytes) -> Term:
    """The sums over everything but the channels."""
    rank = to.known_rank(out_backprop)
    axes = [0, *range(2, rank)] if data_format == b"NCHW" and rank > 2 else list(range(rank - 1))
    own = out_backprop.dtype
    wide = widened_value(to, out_backprop) if own.is_floating else to.cast(out_backprop, INT64)
    return to.cast(to.reduce("ReduceSum", wide, axes), own)


@rule("BroadcastGradientArgs")
def broadcast_gradient_args(to: OnnxGraph, s0: Term, s1: Term) -> tuple[Term, Term]:
    """Along which axes gradients of values that were stretched to each other are summed: those of size 1.

    What is known of the sizes says so before the model runs, where it is enough. Summing along an axis of size 1
    changes nothing, so that such an axis may be left out.
    """
    if to.model.is_for_engine:
        to.refuse("sizes that do not go together are not found out")
    own, other = sizes_of(s0), sizes_of(s1)
    if own is None or other is None:
        to.refuse("it is not known how many axes its inputs have; tell their shapes, by --shape")
    rank = max(len(own), len(other))
    first, second = (1,) * (rank - len(own)) + own, (1,) * (rank - len(other)) + other
    if len(own) == len(other) and first == second and None not in first:
        nothing = to.constant(np.zeros(0, np.int64), s0.dtype)
        return nothing, nothing
    known = _summed_axes(first, second), _summed_axes(second, first)
    computed = () if None not in known else _axes_of_size_one(to, s0, s1, (len(own), len(other)))
    found = [
        to.cast(computed[number], s0.dtype) if axes is None else to.constant(np.array(axes, np.int64), s0.dtype)
        for number, axes in enumerate(known)
    ]
    return found[0], found[1]


def _axes_of_size_one(to: OnnxGraph, s0: Term, s1: Term, ranks: tuple[int, int]) -> tuple[Term, ...]:
    """The axes of size 1 of two shapes, as they are computed; none if the shapes are the same."""
    rank = max(ranks)
    padded = [
        vector(to, [*[1] * (rank - own), *parts_of(to, term, own)]) for own, term in zip(ranks, (s0, s1), strict=True)
    ]
    is_other = to.constant(np.array([True]))
    if ranks[0] == ranks[1]:
        differs = to.cast(to.node("Not", to.node("Equal", *padded, dtype=BOOL), dtype=BOOL, dims=(rank,)), INT64)
        is_other = to.cast(to.reduce("ReduceMax", differs, [0], keepdims=True), BOOL)
    found = []
    for sizes in padded:
        is_one = to.node("Equal", sizes, to.constant(1), dtype=BOOL)
        is_summed = to.node("And", is_one, is_other, dtype=BOOL)
        found.append(to.squeeze(to.node("NonZero", is_summed, dtype=INT64, dims=(1, None)), [0]))
    return tuple(found)


def _summed_axes(own: Sizes, others: Sizes) -> list[int] | None:
    """The axes of size 1; None if it is not known of one whether it is one that was stretched."""
    found = []
    for axis, (size, other) in enumerate(zip(own, others, strict=True)):
        if isinstance(size, int):
            if size == 1:
                found.append(axis)
        elif not (isinstance(size, SizeOf) and (other == 1 or other == size)):
            return None
    return found


@rule("ConcatOffset")
def concat_offset(to: OnnxGraph, concat_dim: Term, shape: list[Term]) -> list[list[Term]]:
    """Where each of several values begins along the axis that they are joined by; zero along the others."""
    if to.model.is_for_engine:
        to.refuse("sizes that do not go together are not found out")
    if concat_dim.array is None:
        return [_offsets_along(to, concat_dim, shape)]
    sizes = [parts_of(to, term) for term in shape]
    axis = int(concat_dim.array.reshape(())) % len(sizes[0])
    found: list[Term] = []
    start: Part = 0
    for own in sizes:
        along = vector(to, [start if at == axis else 0 for at in range(len(own))])
        found.append(to.cast(along, shape[0].dtype))
        start = computed_size(to, "Add", start, own[axis])
    return [found]


def _offsets_along(to: OnnxGraph, axis: Term, shapes: list[Term]) -> list[Term]:
    """The same, along an axis that is computed."""
    if shapes[0].dims is None:
        to.refuse("it is not known whether it takes vectors of sizes")
    rank = axes_of(shapes[0])[0]
    wide = to.cast(axis, INT64)
    place = to.node("Mod", to.node("Add", wide, scalar(to, rank)), scalar(to, rank))
    mark = to.cast(to.node("Equal", counted_indices(to, rank), place, dtype=BOOL, dims=shapes[0].dims), INT64)
    found = [to.node("Sub", mark, mark)]
    for shape in shapes[:-1]:
        found.append(to.node("Add", found[-1], to.node("Mul", to.cast(shape, INT64), mark)))
    return [to.cast(term, shapes[0].dtype) for term in found]
