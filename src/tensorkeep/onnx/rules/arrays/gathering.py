"""Elements found by index: Gather and its like."""

from __future__ import annotations

import numpy as np

from tensorkeep.dtypes import BOOL, INT32, INT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.joining import known_axis
from tensorkeep.onnx.rules.arrays.passing import read_variable
from tensorkeep.onnx.rules.carriers import carried_node
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import axes_of, vector
from tensorkeep.onnx.terms import Term


def checked_indices(to: OnnxGraph, indices: Term) -> Term:
    """Indices that make Gather fail where they are below zero: TensorFlow refuses those, ONNX counts from the end."""
    if indices.dtype.itemsize < 4:
        indices = to.cast(indices, INT32)
    if not to.model.is_for_engine or indices.array is not None:
        return indices
    is_below = to.node("Less", indices, to.like(indices, 0), dtype=BOOL, dims=indices.dims)
    beyond = to.like(indices, np.iinfo(indices.dtype.array_dtype).max)
    return to.node("Where", is_below, beyond, indices, dtype=indices.dtype, dims=indices.dims)


@rule("Gather", takes_complex=True)
def gather(to: OnnxGraph, params: Term, indices: Term) -> Term:
    return gathered_rows(to, params, indices, 0, 0)


@rule("GatherV2", takes_complex=True)
def gather_v2(to: OnnxGraph, params: Term, indices: Term, axis: Term, *, batch_dims: int) -> Term:
    return gathered_rows(to, params, indices, known_axis(to, axis, params), batch_dims)


def gathered_rows(to: OnnxGraph, params: Term, indices: Term, axis: int, batch_dims: int) -> Term:
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
    return gathered_rows(to, read_variable(to, resource), indices, batch_dims, batch_dims)


@rule("ResourceGatherNd", takes_complex=True)
def resource_gather_nd(to: OnnxGraph, resource: Term, indices: Term) -> Term:
    return to.node("GatherND", read_variable(to, resource), to.cast(checked_indices(to, indices), INT64))
