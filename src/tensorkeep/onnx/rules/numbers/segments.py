"""Rows that belong together by a number: grouped, and reduced, by sorted ids, by any ids, or picked by indices."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT32, FLOAT64, INT64, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.known_axes import are_same_axes
from tensorkeep.onnx.rules.arrays.joining import as_rows, as_vector
from tensorkeep.onnx.rules.arrays.scattering import REDUCTIONS, carrier_of_reduction, put_rows
from tensorkeep.onnx.rules.arrays.selecting import largest
from tensorkeep.onnx.rules.arrays.shapes import filled_array
from tensorkeep.onnx.rules.carriers import carried_node
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import END, Part, axes_of, computed_size, parts_of, scalar, vector
from tensorkeep.onnx.terms import Term


def by_segment(to: OnnxGraph, rows: Term, ids: Term, count: Part, reduction: str, nothing: object) -> Term:
    """For each id below `count` the reduction of its rows; `nothing` where it has none."""
    own = rows.dtype
    rows = to.cast(rows, carrier_of_reduction(reduction, own))
    start = to.constant(np.array(nothing, rows.dtype.array_dtype), rows.dtype)
    whole = filled_array(to, vector(to, [count, *axes_of(rows, 1)]), start)
    return to.cast(put_rows(to, whole, ids, rows, reduction), own)


class Groups(NamedTuple):
    """Elements with equal numbers are a group; groups are in the order of their numbers."""

    order: Term
    """The places of the elements, group by group."""
    ids: Term
    """Of each element in that order, the number of its group."""
    firsts: Term
    """Of each group, the place of its first element."""
    numbers: Term
    """Of each group, the number that its elements have."""

    def reduced(self, to: OnnxGraph, values: Term, reduction: str, nothing: object) -> Term:
        """What the elements of each group give together."""
        ordered = to.node("Gather", values, self.order, dims=(None,), axis=0)
        return by_segment(to, ordered, self.ids, to.shape(self.firsts), reduction, nothing)


def groups_of(to: OnnxGraph, numbers: Term) -> Groups:
    """The groups of elements with equal numbers, a vector of int64."""
    to.require_opset(REDUCTIONS["add"], "to find elements that belong together")
    ordered, order = largest(to, numbers, to.shape(numbers), is_largest=False)
    after, before = to.slice(ordered, [1], [END], [0]), to.slice(ordered, [0], [-1], [0])
    changes = to.node("Not", to.node("Equal", after, before, dtype=BOOL))
    start = to.slice(ordered, [0], [1], [0])
    is_first = to.concat([to.node("Equal", start, start, dtype=BOOL), changes], 0)
    ids = to.node("Sub", to.node("CumSum", to.cast(is_first, INT64), to.constant(0)), to.constant(1))
    where = to.squeeze(to.node("NonZero", is_first, dtype=INT64, dims=(1, None)), [0])
    ids.dims = order.dims = (None,)
    firsts = to.node("Gather", order, where, dims=(None,), axis=0)
    return Groups(order, ids, firsts, to.node("Gather", ordered, where, dims=(None,), axis=0))


def lowest_number(dtype: DType, highest: bool = False) -> object:
    """The lowest number of a type, or the highest: what an extreme of no rows is."""
    array_dtype = dtype.array_dtype
    if dtype.is_integer:
        return np.iinfo(array_dtype).max if highest else np.iinfo(array_dtype).min
    limits = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38}
    limit = limits.get(dtype.name) or float(np.finfo(array_dtype).max)
    return limit if highest else -limit


# ---------------------------------------------------------------------------------------------------- Sorted ids


def _sorted_count(to: OnnxGraph, ids: Term) -> Part:
    """How many segments sorted ids make: one more than the last id, none if there is none."""
    if to.model.is_for_engine:
        to.refuse("ids that are not sorted are not found out")
    if ids.array is not None:
        return int(ids.array[-1]) + 1 if ids.array.size else 0
    last = to.slice(to.cast(ids, INT64), [-1], [END], [0])
    return to.reduce("ReduceSum", to.node("Add", last, to.constant(1)), [0], keepdims=True)


def _occurrences(to: OnnxGraph, ids: Term, count: Part) -> Term:
    """How many rows each segment has, at least 1."""
    size = axes_of(ids)[0]
    ones = filled_array(to, vector(to, [size]), to.constant(1))
    ones.dims = ids.dims
    found = by_segment(to, ones, ids, count, "add", 0)
    return to.node("Max", found, to.constant(1))


def _column(to: OnnxGraph, factors: Term, rank: int) -> Term:
    return to.unsqueeze(factors, list(range(1, rank)))


@rule("SegmentSum", takes_complex=True)
def segment_sum(to: OnnxGraph, data: Term, segment_ids: Term) -> Term:
    return by_segment(to, data, segment_ids, _sorted_count(to, segment_ids), "add", 0)


@rule("SegmentProd")
def segment_prod(to: OnnxGraph, data: Term, segment_ids: Term) -> Term:
    return by_segment(to, data, segment_ids, _sorted_count(to, segment_ids), "mul", 1)


@rule("SegmentMean")
def segment_mean(to: OnnxGraph, data: Term, segment_ids: Term) -> Term:
    count = _sorted_count(to, segment_ids)
    totals = by_segment(to, data, segment_ids, count, "add", 0)
    return _averaged_totals(to, totals, data, segment_ids, count, False)


def _averaged_totals(to: OnnxGraph, totals: Term, data: Term, ids: Term, count: Part, by_root: bool) -> Term:
    """Totals divided by how many rows they are of, or by the root of that."""
    factors = _column(to, _occurrences(to, ids, count), to.known_rank(data))
    if by_root:
        wide = FLOAT64 if data.dtype is FLOAT64 else FLOAT32
        factors = to.node("Sqrt", to.cast(factors, wide))
    return carried_node(to, "Div", totals, to.cast(factors, data.dtype), data=(0, 1))


@rule("SegmentMax")
def segment_max(to: OnnxGraph, data: Term, segment_ids: Term) -> Term:
    return _sorted_extreme(to, data, segment_ids, "max")


@rule("SegmentMin")
def segment_min(to: OnnxGraph, data: Term, segment_ids: Term) -> Term:
    return _sorted_extreme(to, data, segment_ids, "min")


def _sorted_extreme(to: OnnxGraph, data: Term, ids: Term, reduction: str) -> Term:
    """The extremes of segments of sorted ids; zero for ids that have no rows."""
    count = _sorted_count(to, ids)
    worst = lowest_number(data.dtype, reduction == "min")
    found = by_segment(to, data, ids, count, reduction, worst)
    if ids.array is not None and len(np.unique(ids.array)) == count:
        return found
    size = axes_of(ids)[0]
    ones = filled_array(to, vector(to, [size]), to.constant(1))
    ones.dims = ids.dims
    is_there = to.node("Greater", by_segment(to, ones, ids, count, "add", 0), to.constant(0), dtype=BOOL)
    return carried_node(to, "Where", _column(to, is_there, to.known_rank(data)), found, to.like(data, 0), data=(1, 2))


# ---------------------------------------------------------------------------------------------------- Any ids


def _unsorted_reduction(
    to: OnnxGraph, data: Term, ids: Term, num_segments: Term, reduction: str, nothing: object
) -> Term:
    """A reduction of rows by any ids. Rows with ids below zero go to one more row, which is cut off again."""
    count = parts_of(to, num_segments, 1)[0]
    rank = to.known_rank(ids)
    if to.model.is_for_engine and not are_same_axes(data, ids, rank):
        to.refuse("it is not known whether there are as many ids as rows")
    rows, places = as_rows(to, data, rank), as_vector(to, ids)
    if rank != 1 and data.dims is not None:
        rows.dims = (None, *data.dims[rank:])
    if places.dtype.itemsize < 4:
        places = to.cast(places, INT64)
    if places.array is not None and not np.any(places.array < 0):
        return by_segment(to, rows, places, count, reduction, nothing)
    wide = to.cast(places, INT64)
    is_out = to.node("Less", wide, to.constant(0), dtype=BOOL)
    places = to.node("Where", is_out, scalar(to, count), wide, dtype=INT64)
    found = by_segment(to, rows, places, computed_size(to, "Add", count, 1), reduction, nothing)
    return to.slice(found, [0], vector(to, [count]), [0])


_UNSORTED: Final = {
    "UnsortedSegmentSum": "add",
    "UnsortedSegmentProd": "mul",
    "UnsortedSegmentMax": "max",
    "UnsortedSegmentMin": "min",
}


@rule(*_UNSORTED)
def unsorted_segment(to: OnnxGraph, data: Term, segment_ids: Term, num_segments: Term) -> Term:
    """Segments without rows are 0 or 1, or the number that all others are above, or below."""
    assert to.operation is not None
    reduction = _UNSORTED[to.operation.type]
    nothing = {"add": 0, "mul": 1}.get(reduction)
    if nothing is not None:
        return _unsorted_reduction(to, data, segment_ids, num_segments, reduction, nothing)
    return _unsorted_reduction(
        to, data, segment_ids, num_segments, reduction, lowest_number(data.dtype, reduction == "min")
    )


# ---------------------------------------------------------------------------------------------------- Picked rows


def _picked_reduction(to: OnnxGraph, data: Term, indices: Term, ids: Term, num_segments: Term | None, how: str) -> Term:
    """Reductions of the rows that indices pick."""
    count = _sorted_count(to, ids) if num_segments is None else parts_of(to, num_segments, 1)[0]
    if to.model.is_for_engine:
        to.refuse("ids that are not sorted are not found out")
    assert data.dims is not None
    rows = to.node("Gather", data, indices, dims=(indices.size(0), *data.dims[1:]), axis=0)
    totals = by_segment(to, rows, ids, count, "add", 0)
    return totals if how == "Sum" else _averaged_totals(to, totals, rows, ids, count, how == "SqrtN")


@rule("SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN")
def sparse_segment(to: OnnxGraph, data: Term, indices: Term, segment_ids: Term) -> Term:
    assert to.operation is not None
    return _picked_reduction(to, data, indices, segment_ids, None, to.operation.type.removeprefix("SparseSegment"))


@rule(
    "SparseSegmentSumWithNumSegments", "SparseSegmentMeanWithNumSegments", "SparseSegmentSqrtNWithNumSegments"
)  # fmt: skip
def sparse_segment_with_num_segments(
    to: OnnxGraph, data: Term, indices: Term, segment_ids: Term, num_segments: Term
) -> Term:
    assert to.operation is not None
    how = to.operation.type.removeprefix("SparseSegment").removesuffix("WithNumSegments")
    return _picked_reduction(to, data, indices, segment_ids, num_segments, how)
