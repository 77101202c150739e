"""How often values occur: in ranges of one width, and in each row of ragged and sparse tensors."""

from __future__ import annotations

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT64, INT64, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.joining import as_vector
from tensorkeep.onnx.rules.arrays.selecting import weights_or_ones
from tensorkeep.onnx.rules.arrays.shapes import filled_array
from tensorkeep.onnx.rules.numbers.segments import by_segment, groups_of
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.rules.sparse_tensors.ragged import row_of_elements
from tensorkeep.onnx.rules.sparse_tensors.sparse import column_of
from tensorkeep.onnx.size_vectors import (
    END,
    Part,
    axes_of,
    computed_size,
    counted_indices,
    parts_of,
    product,
    reshaped_value,
    scalar,
    vector,
)
from tensorkeep.onnx.terms import Term


def _check_numbers(to: OnnxGraph) -> None:
    if to.model.is_for_engine:
        to.refuse("numbers below zero, and rows that do not fit, are not found out")


def _ones_like(to: OnnxGraph, values: Term, dtype: DType) -> Term:
    found = filled_array(to, vector(to, axes_of(values)), to.constant(np.ones((), dtype.array_dtype), dtype))
    found.dims = values.dims
    return found


def _weights_of(to: OnnxGraph, weights: Term, values: Term, binary: bool) -> Term:
    """What each of some values in one axis counts for."""
    if binary or weights.element_count == 0:
        return _ones_like(to, values, weights.dtype)
    if weights.element_count is None and weights.size(0) is None:
        return weights_or_ones(to, weights, values)
    return as_vector(to, weights)


@rule("HistogramFixedWidth")
def histogram_fixed_width(to: OnnxGraph, values: Term, value_range: Term, nbins: Term, *, dtype: DType) -> Term:
    """How many values are in each of several ranges of one width. What is outside of all counts for the nearest."""
    if to.model.is_for_engine:
        to.refuse("a range that ends before it begins is not found out")
    count = parts_of(to, nbins, 1)[0]
    numbers = scalar(to, count)
    low, high = (to.node("Gather", value_range, to.constant(at), dims=(), axis=0) for at in (0, 1))
    step = to.node("Div", to.cast(to.node("Sub", high, low), FLOAT64), to.cast(numbers, FLOAT64))
    flat = as_vector(to, values)
    distance = to.cast(to.node("Sub", to.node("Max", flat, low), low, dims=(None,)), FLOAT64)
    if values.dtype.is_floating:
        distance = to.node("Compress", distance, to.node("Not", to.node("IsNaN", distance, dtype=BOOL)), axis=0)
    last = to.cast(to.node("Sub", numbers, to.constant(1)), FLOAT64)
    places = to.cast(to.node("Min", to.node("Div", distance, step), last, dims=(None,)), INT64)
    found = by_segment(to, _ones_like(to, places, INT64), places, count, "add", 0)
    return to.cast(found, dtype)


# ---------------------------------------------------------------------------------------------------- Rows of counts


def _counts_in_rows(
    to: OnnxGraph, rows: Term | None, height: Part, values: Term, size: Term, weights: Term, binary: bool
) -> Term:
    """A matrix with a row for each of the rows that values are in, and a column for each number; without rows a vector.
    Numbers that have no column are not counted.
    """
    _check_numbers(to)
    width = parts_of(to, size, 1)[0]
    wide = to.cast(values, INT64)
    is_in = to.node("Less", wide, scalar(to, width), dtype=BOOL)
    each = _weights_of(to, weights, wide, binary)
    places = wide if rows is None else to.node("Add", to.node("Mul", rows, scalar(to, width)), wide)
    places, each = (to.node("Compress", term, is_in, dims=(None,), axis=0) for term in (places, each))
    whole = width if rows is None else product(to, [height, width])
    found = by_segment(to, each, places, whole, "add", 0)
    if binary:
        is_there = to.node("Greater", to.cast(found, FLOAT64), to.constant(0.0, FLOAT64), dtype=BOOL)
        found = to.cast(is_there, weights.dtype)
    if rows is None:
        return found
    found.dims = (None,)
    return reshaped_value(to, found, [height, width])


def _rows_of_splits(to: OnnxGraph, splits: Term, values: Term) -> tuple[Term, Part]:
    """The row that each value of a ragged tensor is in, and how many rows there are."""
    ends = to.slice(to.cast(splits, INT64), [1], [END], [0])
    return row_of_elements(to, ends, counted_indices(to, axes_of(values)[0])), computed_size(
        to, "Sub", axes_of(splits)[0], 1
    )


@rule("RaggedBincount")
def ragged_bincount(
    to: OnnxGraph, splits: Term, values: Term, size: Term, weights: Term, *, binary_output: bool
) -> Term:
    rows, height = _rows_of_splits(to, splits, values)
    return _counts_in_rows(to, rows, height, values, size, weights, binary_output)


@rule("SparseBincount")
def sparse_bincount(
    to: OnnxGraph, indices: Term, values: Term, dense_shape: Term, size: Term, weights: Term, *, binary_output: bool
) -> Term:
    sizes = parts_of(to, dense_shape, indices.size(1))
    rows = column_of(to, indices, 0) if len(sizes) > 1 else None
    return _counts_in_rows(to, rows, sizes[0] if sizes else 1, values, size, weights, binary_output)


# ---------------------------------------------------------------------------------------------------- Sparse counts


def _sparse_counts(
    to: OnnxGraph, rows: Term | None, height: Part, values: Term, weights: Term, limits: tuple[int, int], binary: bool
) -> tuple[Term, Term, Term]:
    """The numbers that occur, row by row, and how often, or what their weights add up to. `limits` are the least width
    and, if it is above zero, the only one.
    """
    _check_numbers(to)
    smallest, most = limits
    wide = as_vector(to, to.cast(values, INT64))
    wide.dims = (None,)
    each = _weights_of(to, weights, wide, binary)
    if most > 0:
        is_in = to.node("Less", wide, to.constant(most), dtype=BOOL)
        width: Part = most
    else:
        least = to.constant(np.array([max(smallest, 1) - 1], np.int64))
        largest = to.reduce("ReduceMax", to.concat([wide, least], 0), [0], keepdims=True)
        width = to.node("Add", largest, to.constant(1), dims=(1,))
        is_in = None
    places = wide if rows is None else to.node("Add", to.node("Mul", rows, scalar(to, width)), wide)
    if is_in is not None:
        places, each = (to.node("Compress", term, is_in, axis=0) for term in (places, each))
    places.dims = each.dims = (None,)
    groups = groups_of(to, places)
    totals = groups.reduced(to, each, "add", 0)
    if binary:
        totals = _ones_like(to, groups.numbers, weights.dtype)
    if rows is None:
        return to.unsqueeze(groups.numbers, [1]), totals, vector(to, [width])
    pairs = [to.node(op_type, groups.numbers, scalar(to, width), dims=(None,)) for op_type in ("Div", "Mod")]
    return to.concat([to.unsqueeze(term, [1]) for term in pairs], 1), totals, vector(to, [height, width])


@rule("DenseCountSparseOutput")
def dense_count_sparse_output(
    to: OnnxGraph, values: Term, weights: Term, *, minlength: int, maxlength: int, binary_output: bool
) -> tuple[Term, Term, Term]:
    rows: Term | None = None
    height: Part = 1
    if to.known_rank(values) == 2:
        height, width = axes_of(values)
        every = counted_indices(to, product(to, [height, width]))
        rows = to.node("Div", every, scalar(to, computed_size(to, "Max", width, 1)), dims=(None,))
    return _sparse_counts(to, rows, height, values, weights, (minlength, maxlength), binary_output)


@rule("SparseCountSparseOutput")
def sparse_count_sparse_output(
    to: OnnxGraph, indices: Term, values: Term, dense_shape: Term, weights: Term, *,
    minlength: int, maxlength: int, binary_output: bool,
) -> tuple[Term, Term, Term]:  # fmt: skip
    sizes = parts_of(to, dense_shape, indices.size(1))
    rows = column_of(to, indices, 0) if len(sizes) > 1 else None
    return _sparse_counts(to, rows, sizes[0], values, weights, (minlength, maxlength), binary_output)


@rule("RaggedCountSparseOutput")
def ragged_count_sparse_output(
    to: OnnxGraph, splits: Term, values: Term, weights: Term, *, minlength: int, maxlength: int, binary_output: bool
) -> tuple[Term, Term, Term]:
    rows, height = _rows_of_splits(to, splits, values)
    return _sparse_counts(to, rows, height, values, weights, (minlength, maxlength), binary_output)
