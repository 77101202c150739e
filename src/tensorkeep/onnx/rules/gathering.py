"""Elements found by index: Gather and its like."""

from __future__ import annotations

import numpy as np

from tensorkeep.dtypes import BOOL, INT32, INT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules._carriers import carried_node
from tensorkeep.onnx.rules._sizes import axes_of, vector
from tensorkeep.onnx.rules.joining import known_axis
from tensorkeep.onnx.rules.passing import read_variable
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.rules.shapes import filled
from tensorkeep.onnx.terms import Term


def checked_indices(to: OnnxGraph, indices: Term) -> Term:
    """Indices that fail where ours do: ONNX counts those below zero from the end, TensorFlow refuses them."""
    if indices.dtype.itemsize < 4:
        indices = to.cast(indices, INT32)
    if not to.model.is_for_engine or indices.array is not None:
        return indices
    is_below = to.node("Less", indices, to.like(indices, 0), dtype=BOOL, dims=indices.dims)
    beyond = to.like(indices, np.iinfo(indices.dtype.array_dtype).max)
    return to.node("Where", is_below, beyond, indices, dtype=indices.dtype, dims=indices.dims)


@rule("Gather", takes_complex=True)
def gather(to: OnnxGraph, params: Term, indices: Term) -> Term:
    return gathered(to, params, indices, 0, 0)


@rule("GatherV2", takes_complex=True)
def gather_v2(to: OnnxGraph, params: Term, indices: Term, axis: Term, *, batch_dims: int) -> Term:
    return gathered(to, params, indices, known_axis(to, axis, params), batch_dims)


def gathered(to: OnnxGraph, params: Term, indices: Term, axis: int, batch_dims: int) -> Term:
    """What indices choose along an axis; the first `batch_dims` axes of both are the same ones."""
    if batch_dims < 0:
        batch_dims += to.known_rank(indices)
    chosen = checked_indices(to, indices)
    if not batch_dims:
        return to.node("Gather", params, chosen, axis=axis)
    places = to.unsqueeze(to.cast(chosen, INT64), [to.known_rank(indices)])
    if axis == batch_dims:
        return to.node("GatherND", params, places, batch_dims=batch_dims)
    rank, more = to.known_rank(params), to.known_rank(indices) - batch_dims
    between = list(range(batch_dims, axis))
    front = to.transpose(params, [*range(batch_dims), axis, *between, *range(axis + 1, rank)])
    found = to.node("GatherND", front, places, batch_dims=batch_dims)
    found.dims = (None,) * (rank - 1 + more)
    passed = [batch_dims + more + at for at in range(len(between))]
    order = [*range(batch_dims), *passed, *range(batch_dims, batch_dims + more)]
    return to.transpose(found, [*order, *range(len(order), rank - 1 + more)])


@rule("GatherNd", takes_complex=True)
def gather_nd(to: OnnxGraph, params: Term, indices: Term, *, bad_indices_policy: bytes) -> Term:
    if bad_indices_policy.upper() == b"IGNORE":
        to.refuse("ONNX does not pass over indices that lead nowhere")
    depth = indices.size(-1)
    if depth == 0:
        sizes = [*axes_of(indices, 0, -1), *axes_of(params)]
        if params.is_complex:
            sizes.append(2)
        return carried_node(to, "Expand", params, vector(to, sizes))
    return to.node("GatherND", params, to.cast(checked_indices(to, indices), INT64))


@rule("ResourceGather", takes_complex=True)
def resource_gather(to: OnnxGraph, resource: Term, indices: Term, *, batch_dims: int) -> Term:
    """Rows of a variable, which is a constant of the file."""
    return gathered(to, read_variable(to, resource), indices, batch_dims, batch_dims)


@rule("ResourceGatherNd", takes_complex=True)
def resource_gather_nd(to: OnnxGraph, resource: Term, indices: Term) -> Term:
    return to.node("GatherND", read_variable(to, resource), to.cast(checked_indices(to, indices), INT64))


@rule("RaggedGather")
def ragged_gather(
    to: OnnxGraph, params_nested_splits: list[Term], params_dense_values: Term, indices: Term
) -> tuple[list[Term], Term]:
    """Rows of different lengths, by index: how long each is, and then where its elements are."""
    rank = to.known_rank(indices)
    if to.model.is_for_engine:
        to.refuse("indices that lead nowhere are not found out")
    found: list[Term] = []
    if rank > 1:
        to.refuse("indices of several axes into rows of different lengths have no rule")
    rows = to.cast(to.reshape(indices, [-1]), INT64)
    for splits in params_nested_splits:
        rows, lengths_end = _elements_of_rows(to, to.cast(splits, INT64), rows)
        found.append(to.cast(lengths_end, splits.dtype))
    return found[1 - rank :], to.node("Gather", params_dense_values, rows, axis=0)


def _elements_of_rows(to: OnnxGraph, splits: Term, rows: Term) -> tuple[Term, Term]:
    """The places of the elements of some rows, one row after the other, and where in them each row ends."""
    starts = to.node("Gather", splits, rows, axis=0)
    ends = to.node("Gather", splits, to.node("Add", rows, to.constant(1)), axis=0)
    return flat_ranges(to, starts, to.node("Sub", ends, starts))


def flat_ranges(to: OnnxGraph, starts: Term, lengths: Term) -> tuple[Term, Term]:
    """Numbers from each start on, so many as its length says, one after the other; and the splits between them.

    With the total of all lengths before it taken from its start, each row's numbers are those of all elements. Which
    row an element is of is found by how many rows end at or before it.
    """
    ends = to.node("CumSum", lengths, to.constant(0))
    splits = to.concat([to.constant(np.zeros(1, np.int64)), ends], 0)
    total = to.reduce("ReduceSum", lengths, [0], keepdims=True)
    numbers = to.node("Range", to.constant(0), to.squeeze(total, [0]), to.constant(1))
    row = row_of_elements(to, ends, numbers)
    shift = to.node("Sub", starts, to.node("Sub", ends, lengths))
    return to.node("Add", numbers, to.node("Gather", shift, row, axis=0)), splits


def row_of_elements(to: OnnxGraph, ends: Term, numbers: Term) -> Term:
    """For each number, how many of the ends are not above it: the row it is in."""
    reached = to.node("LessOrEqual", to.unsqueeze(ends, [0]), to.unsqueeze(numbers, [1]), dtype=BOOL)
    return to.reduce("ReduceSum", to.cast(reached, INT64), [1])


def zeros_of(to: OnnxGraph, sizes: Term, term: Term) -> Term:
    """Zeros of another value's type, in an array with these sizes."""
    return filled(to, sizes, to.constant(np.array(0, term.dtype.array_dtype), term.dtype))
