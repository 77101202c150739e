"""Elements chosen by what they are: Where, Select, Unique, ArgMax, TopK, and the counting of values."""

from __future__ import annotations

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT32, INT32, INT64, STRING, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.known_axes import are_same_axes
from tensorkeep.onnx.rules.arrays.joining import known_axis
from tensorkeep.onnx.rules.arrays.shapes import filled_array
from tensorkeep.onnx.rules.carriers import carried_node, carrier
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import axes_of, computed_size, counted_indices, parts_of, reshaped_value, vector
from tensorkeep.onnx.terms import Term

# ---------------------------------------------------------------------------------------------------- By condition


@rule("Where")
def where(to: OnnxGraph, input: Term) -> Term:
    """The places of the elements that are not zero, a row for each."""
    places = to.node("NonZero", to.cast(input, carrier("NonZero", input.dtype)), dtype=INT64)
    return to.transpose(places, [1, 0])


@rule("SelectV2", takes_complex=True)
def select_v2(to: OnnxGraph, condition: Term, t: Term, e: Term) -> Term:
    if t.is_complex:
        condition = to.unsqueeze(condition, [to.known_rank(condition)])
        return to.node("Where", condition, t, e, dtype=t.dtype)
    return carried_node(to, "Where", condition, t, e, data=(1, 2))


@rule("Select", takes_complex=True)
def select(to: OnnxGraph, condition: Term, t: Term, e: Term) -> Term:
    """Where, element by element; a condition with one axis chooses whole rows."""
    rank, wanted = to.known_rank(condition), to.known_rank(t)
    if to.model.is_for_engine and not (are_same_axes(t, e) and (not rank or are_same_axes(condition, t, rank))):
        to.refuse("it is not known whether its inputs have the same shape")
    if rank == 1 and wanted > 1:
        condition = to.unsqueeze(condition, list(range(1, wanted)))
    return select_v2(to, condition, t, e)


@rule("ClipByValue")
def clip_by_value(to: OnnxGraph, t: Term, clip_value_min: Term, clip_value_max: Term) -> Term:
    """One Clip for bounds that are known numbers; else the lower bound has the last word, as in TensorFlow."""
    low, high = clip_value_min.array, clip_value_max.array
    if low is not None and high is not None and low.size == high.size == 1 and np.all(low <= high):
        return carried_node(
            to, "Clip", t, to.reshape(clip_value_min, []), to.reshape(clip_value_max, []), data=(0, 1, 2)
        )
    below = carried_node(to, "Min", t, clip_value_max, data=(0, 1))
    return carried_node(to, "Max", below, clip_value_min, data=(0, 1))


# ---------------------------------------------------------------------------------------------------- The largest


def _extreme_place(to: OnnxGraph, op_type: str, input: Term, dimension: Term, output_type: DType) -> Term:
    axis = known_axis(to, dimension, input)
    values = to.cast(input, carrier(op_type, input.dtype))
    if values.dtype.is_floating:  # what is no number is never the extreme
        worst = to.like(values, -np.inf if op_type == "ArgMax" else np.inf)
        is_none = to.node("IsNaN", values, dtype=BOOL)
        values = to.node("Where", is_none, worst, values, dtype=values.dtype)
    return to.cast(to.node(op_type, values, dtype=INT64, axis=axis, keepdims=0), output_type)


@rule("ArgMax")
def arg_max(to: OnnxGraph, input: Term, dimension: Term, *, output_type: DType) -> Term:
    return _extreme_place(to, "ArgMax", input, dimension, output_type)


@rule("ArgMin")
def arg_min(to: OnnxGraph, input: Term, dimension: Term, *, output_type: DType) -> Term:
    return _extreme_place(to, "ArgMin", input, dimension, output_type)


def largest(to: OnnxGraph, input: Term, count: Term, is_largest: bool = True) -> tuple[Term, Term]:
    """The `count` largest (or smallest) along the last axis, in order, and their places; of equal ones the first comes
    first.
    """
    wide = carrier("TopK", input.dtype)
    given = [to.cast(input, wide), count]
    attrs = {"axis": -1, "largest": int(is_largest), "sorted": 1}
    values, places = to.node_with_outputs("TopK", given, 2, [wide, INT64], attrs=attrs)
    return to.cast(values, input.dtype), places


@rule("TopKV2")
def top_k_v2(to: OnnxGraph, input: Term, k: Term, *, index_type: DType) -> tuple[Term, Term]:
    values, places = largest(to, input, vector(to, parts_of(to, k, 1)))
    return values, to.cast(places, index_type)


@rule("TopK")
def top_k(to: OnnxGraph, input: Term, *, k: int) -> tuple[Term, Term]:
    values, places = largest(to, input, to.constant(np.array([k], np.int64)))
    return values, to.cast(places, INT32)


@rule("ApproxTopK")
def approx_top_k(to: OnnxGraph, input: Term, *, k: int, reduction_dimension: int, is_max_k: bool) -> tuple[Term, Term]:
    """The exact largest or smallest, as TensorFlow gives on a processor."""
    wide = carrier("TopK", input.dtype)
    given = [to.cast(input, wide), to.constant(np.array([k], np.int64))]
    attrs = {"axis": reduction_dimension, "largest": int(is_max_k), "sorted": 1}
    values, places = to.node_with_outputs("TopK", given, 2, [wide, INT64], attrs=attrs)
    return to.cast(values, input.dtype), to.cast(places, INT32)


@rule("NthElement")
def nth_element(to: OnnxGraph, input: Term, n: Term, *, reverse: bool) -> Term:
    """The last of the n + 1 smallest, or largest."""
    at = parts_of(to, n, 1)[0]
    values, _ = largest(to, input, vector(to, [computed_size(to, "Add", at, 1)]), is_largest=reverse)
    return to.node("Gather", values, to.constant(-1), axis=-1)


@rule("InTopK")
def in_top_k(to: OnnxGraph, predictions: Term, targets: Term, *, k: int) -> Term:
    return _among_first(to, predictions, targets, to.constant(k))


@rule("InTopKV2")
def in_top_k_v2(to: OnnxGraph, predictions: Term, targets: Term, k: Term) -> Term:
    return _among_first(to, predictions, targets, to.cast(k, INT64))


def _among_first(to: OnnxGraph, predictions: Term, targets: Term, count: Term) -> Term:
    """Whether each target is among the `count` largest of its row; False for a target out of range, and for a row with
    numbers that are not finite.
    """
    classes = axes_of(predictions)[1]
    if classes == 0:
        to.refuse("there are no classes")
    wide = to.cast(targets, INT64)
    limit = to.squeeze(vector(to, [classes]), [0])
    is_below = to.node("Less", wide, to.constant(0), dtype=BOOL)
    is_beyond = to.node("GreaterOrEqual", wide, limit, dtype=BOOL)
    is_wrong = to.node("Or", is_below, is_beyond, dtype=BOOL)
    places = to.node("Where", is_wrong, to.constant(0), wide, dtype=INT64)
    mine = to.node("GatherElements", predictions, to.unsqueeze(places, [1]), axis=1)
    is_above = to.node("Greater", predictions, mine, dtype=BOOL)
    above = to.reduce("ReduceSum", to.cast(is_above, INT64), [1])
    endless = to.node("Or", to.node("IsNaN", predictions, dtype=BOOL), to.node("IsInf", predictions, dtype=BOOL))
    spoiled = to.cast(to.reduce("ReduceMax", to.cast(endless, FLOAT32), [1]), BOOL)
    is_out = to.node("Or", is_wrong, spoiled, dtype=BOOL)
    return to.node("And", to.node("Less", above, count, dtype=BOOL), to.node("Not", is_out, dtype=BOOL), dtype=BOOL)


# ---------------------------------------------------------------------------------------------------- Distinct values


@rule("Unique")
def unique(to: OnnxGraph, x: Term, *, out_idx: DType) -> tuple[Term, Term]:
    return _distinct(to, x, 0, out_idx)[:2]


@rule("UniqueWithCounts")
def unique_with_counts(to: OnnxGraph, x: Term, *, out_idx: DType) -> tuple[Term, Term, Term]:
    return _distinct(to, x, 0, out_idx)


@rule("UniqueV2")
def unique_v2(to: OnnxGraph, x: Term, axis: Term, *, out_idx: DType) -> tuple[Term, Term]:
    return _distinct(to, x, _unique_axis(to, axis), out_idx)[:2]


@rule("UniqueWithCountsV2")
def unique_with_counts_v2(to: OnnxGraph, x: Term, axis: Term, *, out_idx: DType) -> tuple[Term, Term, Term]:
    return _distinct(to, x, _unique_axis(to, axis), out_idx)


def _unique_axis(to: OnnxGraph, axis: Term) -> int:
    if axis.array is None and axis.size(0) == 0:
        return 0
    axes = to.known_array(axis, "its axis").reshape(-1)
    return int(axes[0]) if axes.size else 0


def _distinct(to: OnnxGraph, x: Term, axis: int, out_idx: DType) -> tuple[Term, Term, Term]:
    """The distinct values as they first occur, which of them each value is, and how often each occurs.

    Numbers with a fraction may be no numbers, which TensorFlow takes to be all different: they are compared in pairs.
    """
    if x.dtype.is_floating and x.rank == 1:
        return _distinct_by_pairs(to, x, out_idx)
    if x.dtype.is_floating and to.model.is_for_engine:
        to.refuse("rows with values that are no numbers are told apart in another way")
    wide = carrier("Unique", x.dtype)
    attrs = {"axis": axis, "sorted": 0}
    dtypes = [wide, INT64, INT64, INT64]
    values, _, which, counts = to.node_with_outputs("Unique", [to.cast(x, wide)], 4, dtypes, attrs=attrs)
    return to.cast(values, x.dtype), to.cast(which, out_idx), to.cast(counts, out_idx)


def _distinct_by_pairs(to: OnnxGraph, x: Term, out_idx: DType) -> tuple[Term, Term, Term]:
    """The same for a vector: each is compared with all, and is known by the first that it is equal to, or itself."""
    size = axes_of(x)[0]
    numbers = counted_indices(to, size)
    is_same = carried_node(to, "Equal", to.unsqueeze(x, [1]), to.unsqueeze(x, [0]), data=(0, 1), dtype=BOOL)
    is_itself = to.node("Equal", to.unsqueeze(numbers, [1]), to.unsqueeze(numbers, [0]), dtype=BOOL)
    alike = to.cast(to.node("Or", is_same, is_itself, dtype=BOOL), INT32)
    first = to.node("ArgMax", alike, dtype=INT64, axis=1, keepdims=0)
    is_first = to.node("Equal", first, numbers, dtype=BOOL)
    firsts = to.squeeze(to.node("NonZero", is_first, dtype=INT64), [0])
    which = to.node("Sub", to.node("CumSum", to.cast(is_first, INT64), to.constant(0)), to.constant(1))
    counts = to.node("Gather", to.reduce("ReduceSum", to.cast(alike, INT64), [1]), firsts, axis=0)
    values = to.node("Gather", x, firsts, axis=0)
    return values, to.cast(to.node("Gather", which, first, axis=0), out_idx), to.cast(counts, out_idx)


def are_equal(to: OnnxGraph, one: Term, other: Term) -> Term:
    """Whether elements are equal, by broadcasting."""
    if one.dtype is STRING:
        to.require_opset(19, "the comparison of strings")
    return carried_node(to, "Equal", one, other, data=(0, 1), dtype=BOOL)


@rule("ListDiff")
def list_diff(to: OnnxGraph, x: Term, y: Term, *, out_idx: DType) -> tuple[Term, Term]:
    """The values that are not among the others, and where they are."""
    found = to.cast(are_equal(to, to.unsqueeze(x, [1]), to.unsqueeze(y, [0])), INT64)
    is_new = to.node("Equal", to.reduce("ReduceSum", found, [1]), to.constant(0), dtype=BOOL)
    places = to.squeeze(to.node("NonZero", is_new, dtype=INT64), [0])
    return to.node("Gather", x, places, axis=0), to.cast(places, out_idx)


# ---------------------------------------------------------------------------------------------------- Where it belongs


def _how_many(to: OnnxGraph, is_so: Term, axis: int, dtype: DType) -> Term:
    wide = carrier("ReduceSum", dtype)
    return to.cast(to.reduce("ReduceSum", to.cast(is_so, wide), [axis]), dtype)


@rule("LowerBound")
def lower_bound(to: OnnxGraph, sorted_inputs: Term, values: Term, *, out_type: DType) -> Term:
    """How many of the row are below the value."""
    return _count_before(to, "Less", sorted_inputs, values, out_type)


@rule("UpperBound")
def upper_bound(to: OnnxGraph, sorted_inputs: Term, values: Term, *, out_type: DType) -> Term:
    """How many of the row are not above the value."""
    return _count_before(to, "LessOrEqual", sorted_inputs, values, out_type)


def _count_before(to: OnnxGraph, op_type: str, rows: Term, values: Term, out_type: DType) -> Term:
    if to.model.is_for_engine and not are_same_axes(rows, values, 1):
        to.refuse("it is not known whether there are as many rows of values")
    is_before = carried_node(to, op_type, to.unsqueeze(rows, [1]), to.unsqueeze(values, [2]), data=(0, 1), dtype=BOOL)
    return _how_many(to, is_before, 2, out_type)


@rule("Bucketize")
def bucketize(to: OnnxGraph, input: Term, *, boundaries: list[float]) -> Term:
    """How many of the boundaries are not above the value."""
    rank = to.known_rank(input)
    if input.dtype.is_integer:  # as whole numbers: no value is between them
        limits = to.constant(np.ceil(np.array(boundaries, np.float32)).astype(np.int64))
        input = to.cast(input, INT64)
        is_reached = to.node("GreaterOrEqual", to.unsqueeze(input, [rank]), limits, dtype=BOOL)
    else:  # what is no number is not below any of them
        limits = to.constant(np.array(boundaries, np.float32).astype(input.dtype.array_dtype))
        is_reached = to.node("Not", to.node("Less", to.unsqueeze(input, [rank]), limits, dtype=BOOL))
    return _how_many(to, is_reached, rank, INT32)


# ---------------------------------------------------------------------------------------------------- Counts


def weights_or_ones(to: OnnxGraph, weights: Term, values: Term) -> Term:
    """What each value counts for, all in one axis: its weight, or one where there turn out to be no weights."""
    count = to.unsqueeze(to.node("Size", values, dtype=INT64, dims=()), [0])
    ones = filled_array(to, count, to.constant(np.ones((), weights.dtype.array_dtype), weights.dtype))
    found = to.slice(to.concat([to.reshape(weights, [-1]), ones], 0), [0], count, [0])
    found.dims = (values.element_count,)
    return found


def counted_values(to: OnnxGraph, values: Term, size: Term, weights: Term, binary: bool) -> Term:
    """How often each number below a size occurs along the last axis, or what its weights add up to."""
    if to.model.is_for_engine:
        to.refuse("numbers below zero are not found out")
    count = weights.element_count
    if count is None and weights.rank != values.rank:
        count = 0 if weights.rank == 1 and weights.size(0) in (None, 0) and values.rank != 1 else None
    rank = to.known_rank(values)
    if rank == 0:
        values, weights, rank = to.unsqueeze(values, [0]), weights if count == 0 else to.reshape(weights, [-1]), 1
    numbers = to.cast(counted_indices(to, parts_of(to, size, 1)[0]), values.dtype)
    is_it = to.node("Equal", to.unsqueeze(values, [rank]), numbers, dtype=BOOL)
    if binary:
        found = to.node("Greater", _how_many(to, is_it, rank - 1, INT32), to.constant(0, INT32), dtype=BOOL)
        return to.cast(found, weights.dtype)
    if count == 0:
        return _how_many(to, is_it, rank - 1, weights.dtype)
    if count is None and weights.rank in (None, 1):
        weights = reshaped_value(to, weights_or_ones(to, weights, values), axes_of(values))
    each = to.node("Where", is_it, to.unsqueeze(weights, [rank]), to.like(weights, 0), dtype=weights.dtype)
    return to.reduce("ReduceSum", each, [rank - 1])


@rule("Bincount")
def bincount(to: OnnxGraph, arr: Term, size: Term, weights: Term) -> Term:
    if arr.rank != 1:
        arr = to.reshape(arr, [-1])
        arr.dims = (arr.element_count,)
        if weights.element_count != 0 and weights.rank != 1:
            many = weights.element_count
            weights = to.reshape(weights, [-1])
            weights.dims = (many,)
    return counted_values(to, arr, size, weights, binary=False)


@rule("DenseBincount")
def dense_bincount(to: OnnxGraph, input: Term, size: Term, weights: Term, *, binary_output: bool) -> Term:
    return counted_values(to, input, size, weights, binary_output)
