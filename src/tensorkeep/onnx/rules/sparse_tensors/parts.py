"""Sparse tensors put together and taken apart: joined, split, cut, added, and reduced along axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from tensorkeep.dtypes import BOOL, INT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.scattering import linear_places
from tensorkeep.onnx.rules.arrays.shapes import filled_array
from tensorkeep.onnx.rules.carriers import carried_node
from tensorkeep.onnx.rules.numbers.elementwise import elementwise
from tensorkeep.onnx.rules.numbers.segments import Groups, by_segment, groups_of, lowest_number
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.rules.sparse_tensors.sparse import check_places, column_of
from tensorkeep.onnx.size_vectors import (
    Part,
    axes_of,
    computed_size,
    parts_of,
    product,
    reshaped_value,
    scalar,
    vector,
    whole_vector,
)
from tensorkeep.onnx.terms import Term

_MOST_PARTS: Final = 256  # each is a dozen nodes

# ---------------------------------------------------------------------------------------------------- Joins and parts


@rule("SparseConcat")
def sparse_concat(
    to: OnnxGraph, indices: list[Term], values: list[Term], shapes: list[Term], *, concat_dim: int
) -> tuple[Term, Term, Term]:
    """Elements of all, moved along an axis by the sizes of those before, in the order of their places."""
    check_places(to)
    sizes = [parts_of(to, shape, index.size(1)) for shape, index in zip(shapes, indices, strict=True)]
    rank = len(sizes[0])
    axis = concat_dim % rank
    moved: list[Term] = []
    start: Part = 0
    for index, own in zip(indices, sizes, strict=True):
        along = vector(to, [start if at == axis else 0 for at in range(rank)])
        moved.append(to.node("Add", index, along, dims=index.dims))
        start = computed_size(to, "Add", start, own[axis])
    whole = [*sizes[0][:axis], start, *sizes[0][axis + 1 :]]
    joined = to.concat(moved, 0)
    joined.dims = (None, rank)
    order = groups_of(to, _numbers(to, joined, whole)).order
    elements = to.node("Gather", to.concat(values, 0), order, axis=0)
    return to.node("Gather", joined, order, axis=0), elements, vector(to, whole)


def _numbers(to: OnnxGraph, places: Term, sizes: Sequence[Part]) -> Term:
    """The numbers of places among all of them, row by row; 0 where there is only one."""
    if not sizes:
        return to.reduce("ReduceSum", places, [1])
    found = linear_places(to, places, list(sizes))
    found.dims = (None,)
    return found


@rule("SparseSplit")
def sparse_split(
    to: OnnxGraph, split_dim: Term, indices: Term, values: Term, shape: Term, *, num_split: int
) -> tuple[list[Term], list[Term], list[Term]]:
    """Parts along an axis, the first of which are longer by one if they cannot be of one length."""
    check_places(to)
    if num_split > _MOST_PARTS:
        to.refuse(f"each of its {num_split:,} parts would be several nodes")
    sizes = parts_of(to, shape, indices.size(1))
    axis = int(to.known_array(split_dim, "its axis").reshape(()))
    column = column_of(to, indices, axis)
    found: tuple[list[Term], list[Term], list[Term]] = ([], [], [])
    start: Part = 0
    for number in range(num_split):
        length = computed_size(to, "Div", computed_size(to, "Add", sizes[axis], num_split - 1 - number), num_split)
        end = computed_size(to, "Add", start, length)
        is_in = to.node("And", _is_from(to, column, start), to.node("Not", _is_from(to, column, end)))
        along = vector(to, [start if at == axis else 0 for at in range(len(sizes))])
        found[0].append(to.node("Sub", to.node("Compress", indices, is_in, axis=0), along))
        found[1].append(to.node("Compress", values, is_in, axis=0))
        found[2].append(vector(to, [*sizes[:axis], length, *sizes[axis + 1 :]]))
        start = end
    return found


def _is_from(to: OnnxGraph, column: Term, start: Part) -> Term:
    return to.node("GreaterOrEqual", column, scalar(to, start), dtype=BOOL)


@rule("SparseSlice")
def sparse_slice(
    to: OnnxGraph, indices: Term, values: Term, shape: Term, start: Term, size: Term
) -> tuple[Term, Term, Term]:
    """The elements inside of a box, with their places in it; the box ends where the tensor does."""
    check_places(to)
    begin = whole_vector(to, start)
    left = to.node("Sub", whole_vector(to, shape), begin)
    kept = to.node("Max", to.node("Min", whole_vector(to, size), left), to.constant(0), dims=shape.dims)
    places = to.node("Sub", indices, begin, dims=indices.dims)
    is_behind = to.node("GreaterOrEqual", places, to.constant(0), dtype=BOOL)
    is_before = to.node("Less", places, kept, dtype=BOOL)
    is_in = to.cast(to.node("And", is_behind, is_before, dtype=BOOL, dims=indices.dims), INT64)
    inside = to.cast(to.reduce("ReduceMin", is_in, [1]), BOOL)
    return to.node("Compress", places, inside, axis=0), to.node("Compress", values, inside, axis=0), kept


# ---------------------------------------------------------------------------------------------------- Two of them


def _of_both(to: OnnxGraph, a_indices: Term, a_shape: Term, b_indices: Term) -> tuple[Term, Groups]:
    """The places of two tensors, and the groups of those that are the same."""
    sizes = parts_of(to, a_shape, a_indices.size(1))
    places = to.concat([a_indices, b_indices], 0)
    places.dims = (None, len(sizes))
    return places, groups_of(to, _numbers(to, places, sizes))


def _nothing_like(to: OnnxGraph, values: Term, filling: object = 0) -> Term:
    found = filled_array(to, vector(to, axes_of(values)), to.constant(filling, values.dtype))
    found.dims = values.dims
    return found


@rule("SparseAdd")
def sparse_add(
    to: OnnxGraph, a_indices: Term, a_values: Term, a_shape: Term, b_indices: Term, b_values: Term, b_shape: Term,
    thresh: Term,
) -> tuple[Term, Term, Term]:  # fmt: skip
    """The sums where either has elements; where both have, only those that are not below a threshold."""
    check_places(to)
    places, groups = _of_both(to, a_indices, a_shape, b_indices)
    totals = groups.reduced(to, to.concat([a_values, b_values], 0), "add", 0)
    found = to.node("Gather", places, groups.firsts, axis=0)
    if not (thresh.array is not None and thresh.dtype.is_integer and thresh.array <= 0):
        ones, zeros = ([to.cast(_nothing_like(to, values, number), INT64) for values in (a_values, b_values)]
                       for number in (1, 0))  # fmt: skip
        in_a = groups.reduced(to, to.concat([ones[0], zeros[1]], 0), "add", 0)
        in_b = groups.reduced(to, to.concat([zeros[0], ones[1]], 0), "add", 0)
        is_alone = to.node("Equal", to.node("Mul", in_a, in_b), to.constant(0), dtype=BOOL)
        is_large = carried_node(
            to, "GreaterOrEqual", to.node("Abs", totals), to.cast(thresh, totals.dtype), data=(0, 1), dtype=BOOL
        )
        is_kept = to.node("Or", is_alone, is_large, dtype=BOOL)
        found, totals = (to.node("Compress", term, is_kept, axis=0) for term in (found, totals))
    return found, totals, a_shape


@rule("SparseSparseMaximum", "SparseSparseMinimum")
def sparse_sparse_extreme(
    to: OnnxGraph, a_indices: Term, a_values: Term, a_shape: Term, b_indices: Term, b_values: Term, b_shape: Term
) -> tuple[Term, Term]:
    """The larger or smaller where either has elements; what one of them does not have is zero."""
    check_places(to)
    assert to.operation is not None
    places, groups = _of_both(to, a_indices, a_shape, b_indices)
    a = groups.reduced(to, to.concat([a_values, _nothing_like(to, b_values)], 0), "add", 0)
    b = groups.reduced(to, to.concat([_nothing_like(to, a_values), b_values], 0), "add", 0)
    found = elementwise(to, to.operation.type.removeprefix("SparseSparse")[:3], a, b)
    return to.node("Gather", places, groups.firsts, axis=0), found


# ---------------------------------------------------------------------------------------------------- Reductions


def _kept_axes(to: OnnxGraph, reduction_axes: Term, rank: int) -> list[int]:
    gone = {int(axis) % rank for axis in to.known_array(reduction_axes, "which axes are reduced").reshape(-1)}
    return [axis for axis in range(rank) if axis not in gone]


def _reduced_places(to: OnnxGraph, indices: Term, kept: Sequence[int]) -> Term:
    """The coordinates of the axes that are kept."""
    dims = (indices.size(0), len(kept))
    return to.node("Gather", indices, to.constant(np.array(kept, np.int64)), dims=dims, axis=1)


def _start_of(to: OnnxGraph, values: Term) -> tuple[str, object]:
    """How elements of one place are joined, and what that begins with."""
    assert to.operation is not None
    is_sum = to.operation.type.startswith("SparseReduceSum")
    return ("add", 0) if is_sum else ("max", lowest_number(values.dtype))


@rule("SparseReduceSum", "SparseReduceMax")
def sparse_reduce(
    to: OnnxGraph, input_indices: Term, input_values: Term, input_shape: Term, reduction_axes: Term, *, keep_dims: bool
) -> Term:
    """The sums, or largest elements, along axes, as a dense tensor; zero where there are no elements."""
    check_places(to)
    sizes = parts_of(to, input_shape, input_indices.size(1))
    kept = _kept_axes(to, reduction_axes, len(sizes))
    numbers = _numbers(to, _reduced_places(to, input_indices, kept), [sizes[axis] for axis in kept])
    count = product(to, [sizes[axis] for axis in kept])
    reduction, start = _start_of(to, input_values)
    found = by_segment(to, input_values, numbers, count, reduction, start)
    found.dims = (None,)
    if reduction == "max":
        ones = _nothing_like(to, to.cast(input_values, INT64), 1)
        is_there = to.node("Greater", by_segment(to, ones, numbers, count, "add", 0), to.constant(0), dtype=BOOL)
        found = carried_node(to, "Where", is_there, found, to.like(found, 0), data=(1, 2), dims=(None,))
    after: list[Part] = [sizes[axis] if axis in kept else 1 for axis in range(len(sizes)) if axis in kept or keep_dims]
    return reshaped_value(to, found, after)


@rule("SparseReduceSumSparse", "SparseReduceMaxSparse")
def sparse_reduce_sparse(
    to: OnnxGraph, input_indices: Term, input_values: Term, input_shape: Term, reduction_axes: Term, *, keep_dims: bool
) -> tuple[Term, Term, Term]:
    """The same as a sparse tensor, of the places that have elements."""
    check_places(to)
    sizes = parts_of(to, input_shape, input_indices.size(1))
    rank = len(sizes)
    kept = _kept_axes(to, reduction_axes, rank)
    places = _reduced_places(to, input_indices, kept)
    groups = groups_of(to, _numbers(to, places, [sizes[axis] for axis in kept]))
    found = groups.reduced(to, input_values, *_start_of(to, input_values))
    if not keep_dims:
        rows = to.node("Gather", places, groups.firsts, axis=0)
        return rows, found, vector(to, [sizes[axis] for axis in kept])
    marks = to.constant(np.array([int(axis in kept) for axis in range(rank)], np.int64))
    rows = to.node("Mul", to.node("Gather", input_indices, groups.firsts, axis=0), marks)
    return rows, found, vector(to, [sizes[axis] if axis in kept else 1 for axis in range(rank)])
