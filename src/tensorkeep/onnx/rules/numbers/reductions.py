"""Reductions along axes: sums, means, products, extremes, truth, norms."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT64, INT32, INT64
from tensorkeep.onnx.graphs import OnnxGraph, reduced_dims
from tensorkeep.onnx.rules.numbers.complex_numbers import complex_of_parts, pairs
from tensorkeep.onnx.rules.numbers.elementwise import computed_in, elementwise, is_empty, nothing
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Dims, Term


def _axes(to: OnnxGraph, input: Term, reduction_indices: Term) -> list[int] | Term:
    """The axes that are reduced, if they are known; those of a computed list are checked by our kernels only."""
    if reduction_indices.array is not None:
        return [int(axis) for axis in reduction_indices.array.reshape(-1)]
    if to.model.is_for_engine:
        to.refuse("the axes are computed while the model runs, and ONNX Runtime does not check them")
    if input.rank == 1 and (reduction_indices.rank == 0 or reduction_indices.size(0) == 1):
        return [0]  # there is no other
    return reduction_indices


def reduced(to: OnnxGraph, op_type: str, input: Term, axes: Sequence[int] | Term, keep_dims: bool) -> Term:
    """A reduction in a type that it is computed in."""
    if not isinstance(axes, Term):
        if not axes:
            return input
        dims = reduced_dims(input.dims, axes, keep_dims)
        if is_empty(dims):  # whose axes ONNX Runtime keeps
            return nothing(input.dtype, dims)
    wide = computed_in(to, op_type, input.dtype)
    found = to.reduce(op_type, to.cast(input, wide), axes, keep_dims)
    return to.cast(found, input.dtype)


def _of_pairs(to: OnnxGraph, op_type: str, input: Term, axes: Sequence[int] | Term, keep_dims: bool) -> Term:
    """A reduction of the parts of complex numbers, each by itself."""
    if isinstance(axes, Term):
        to.refuse("the axes of complex numbers must be known before the model runs")
    if not axes:
        return input
    found = to.reduce(op_type, pairs(to, input), [axis - 1 if axis < 0 else axis for axis in axes], keep_dims)
    return _as_complex(found, input)


def _as_complex(found: Term, like: Term) -> Term:
    dims: Dims | None = None if found.dims is None else found.dims[:-1]
    return Term(like.dtype, dims, value=found.value)


@rule("Sum", takes_complex=True)
def sum_(to: OnnxGraph, input: Term, reduction_indices: Term, *, keep_dims: bool) -> Term:
    axes = _axes(to, input, reduction_indices)
    reduce = _of_pairs if input.is_complex else reduced
    return reduce(to, "ReduceSum", input, axes, keep_dims)


@rule("Mean", takes_complex=True)
def mean(to: OnnxGraph, input: Term, reduction_indices: Term, *, keep_dims: bool) -> Term:
    """A mean; of whole numbers rounded towards zero, from a sum that does not wrap."""
    axes = _axes(to, input, reduction_indices)
    if input.is_complex:
        return _of_pairs(to, "ReduceMean", input, axes, keep_dims)
    count = _known_count(input, axes)
    if count == 0:
        total = reduced(to, "ReduceSum", input, axes, keep_dims)
        return elementwise(to, "Div", total, to.like(total, 0)) if input.dtype.is_floating else total
    if input.dtype.is_integer and input.dtype.name != "uint64":
        if count is None and to.model.is_for_engine:
            to.refuse("ONNX Runtime does not survive a mean of no whole numbers, and the sizes are not known")
        return to.cast(reduced(to, "ReduceMean", to.cast(input, INT64), axes, keep_dims), input.dtype)
    return reduced(to, "ReduceMean", input, axes, keep_dims)


def _known_count(input: Term, axes: Sequence[int] | Term) -> int | None:
    """How many elements one result is made of, if that is known."""
    if isinstance(axes, Term) or input.dims is None:
        return None
    sizes = [input.dims[axis] for axis in axes]
    known = [size for size in sizes if size is not None]
    return int(np.prod(known)) if len(known) == len(sizes) or 0 in known else None


@rule("Prod")
def prod(to: OnnxGraph, input: Term, reduction_indices: Term, *, keep_dims: bool) -> Term:
    return reduced(to, "ReduceProd", input, _axes(to, input, reduction_indices), keep_dims)


@rule("Max")
def max_(to: OnnxGraph, input: Term, reduction_indices: Term, *, keep_dims: bool) -> Term:
    """The largest element. ONNX does not say what becomes of elements that are no numbers (NaN)."""
    return reduced(to, "ReduceMax", input, _axes(to, input, reduction_indices), keep_dims)


@rule("Min")
def min_(to: OnnxGraph, input: Term, reduction_indices: Term, *, keep_dims: bool) -> Term:
    """The smallest element. ONNX does not say what becomes of elements that are no numbers (NaN)."""
    return reduced(to, "ReduceMin", input, _axes(to, input, reduction_indices), keep_dims)


def _truth(to: OnnxGraph, op_type: str, older: str, input: Term, axes: Sequence[int] | Term, keep_dims: bool) -> Term:
    """A reduction of truth values; as numbers where ONNX has none of them, or where there may be none to reduce."""
    if not isinstance(axes, Term) and not axes:
        return input
    if to.opset >= 20 and _known_count(input, axes):
        return to.reduce(op_type, input, axes, keep_dims)
    return to.cast(to.reduce(older, to.cast(input, INT32), axes, keep_dims), BOOL)


@rule("All")
def all_(to: OnnxGraph, input: Term, reduction_indices: Term, *, keep_dims: bool) -> Term:
    return _truth(to, "ReduceMin", "ReduceMin", input, _axes(to, input, reduction_indices), keep_dims)


@rule("Any")
def any_(to: OnnxGraph, input: Term, reduction_indices: Term, *, keep_dims: bool) -> Term:
    """Whether any is true: of numbers, whether there are any but zero."""
    return _truth(to, "ReduceMax", "ReduceSum", input, _axes(to, input, reduction_indices), keep_dims)


@rule("EuclideanNorm", takes_complex=True)
def euclidean_norm(to: OnnxGraph, input: Term, reduction_indices: Term, *, keep_dims: bool) -> Term:
    """The root of the sum of squares; of whole numbers, of a sum that wraps round."""
    axes = _axes(to, input, reduction_indices)
    if input.is_complex:
        size = to.reduce("ReduceL2", pairs(to, input), [-1])
        norm = reduced(to, "ReduceL2", size, axes, keep_dims)
        return complex_of_parts(to, norm, to.like(norm, 0), input.dtype)
    if input.dtype.is_integer:
        total = reduced(to, "ReduceSum", elementwise(to, "Mul", input, input), axes, keep_dims)
        return to.cast(elementwise(to, "Sqrt", to.cast(total, FLOAT64)), input.dtype)
    if not isinstance(axes, Term) and not axes:
        return elementwise(to, "Abs", input)
    return reduced(to, "ReduceL2", input, axes, keep_dims)
