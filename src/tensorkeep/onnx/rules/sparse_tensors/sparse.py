"""Sparse tensors: made dense, reshaped, multiplied with matrices, their empty rows filled."""

from __future__ import annotations

import numpy as np

from tensorkeep.dtypes import BOOL, INT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.scattering import linear_places, put_at
from tensorkeep.onnx.rules.arrays.selecting import largest
from tensorkeep.onnx.rules.arrays.shapes import filled_array
from tensorkeep.onnx.rules.carriers import carried_node, carrier
from tensorkeep.onnx.rules.numbers.segments import by_segment
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import (
    Part,
    axes_of,
    computed_size,
    counted_indices,
    parts_of,
    product,
    scalar,
    vector,
    whole_vector,
)  # fmt: skip
from tensorkeep.onnx.terms import Term


def check_places(to: OnnxGraph) -> None:
    """Refuses to take over for the engine what our kernels check of indices."""
    if to.model.is_for_engine:
        to.refuse("indices that lead nowhere, come twice or are out of order are not found out")


def column_of(to: OnnxGraph, indices: Term, at: int) -> Term:
    """One coordinate of all elements."""
    return to.node("Gather", indices, to.constant(at), dims=(indices.size(0),), axis=1)


@rule("SparseToDense")
def sparse_to_dense(
    to: OnnxGraph, sparse_indices: Term, output_shape: Term, sparse_values: Term, default_value: Term
) -> Term:
    """Values at some places of an array that has another value elsewhere."""
    check_places(to)
    whole = filled_array(to, whole_vector(to, output_shape), default_value)
    rank = to.known_rank(sparse_indices)
    places = to.cast(sparse_indices, INT64)
    if rank == 0:
        places = to.reshape(places, [1, 1])
    elif rank == 1:
        places = to.unsqueeze(places, [1])
    values = sparse_values
    if sparse_values.rank == 0:
        values = carried_node(to, "Expand", sparse_values, vector(to, axes_of(places, 0, 1)))
    return to.node("ScatterND", whole, places, values)


@rule("SparseReshape")
def sparse_reshape(to: OnnxGraph, input_indices: Term, input_shape: Term, new_shape: Term) -> tuple[Term, Term]:
    """The places of elements in another shape: each becomes the element's number in all, and that the new place."""
    check_places(to)
    old = parts_of(to, input_shape, input_indices.size(1))
    new = parts_of(to, new_shape)
    total = product(to, old)
    if any(not isinstance(size, int) for size in new):
        new = _resolved_sizes(to, vector(to, new), len(new), total)
    elif -1 in new:
        at = new.index(-1)
        rest = product(to, [*new[:at], *new[at + 1 :]])
        new = [*new[:at], computed_size(to, "Div", total, rest), *new[at + 1 :]]
    target = vector(to, new)
    numbers = linear_places(to, input_indices, old)
    if not new:
        to.refuse("a sparse tensor becomes a scalar")
    strides = vector(to, [product(to, new[at + 1 :]) for at in range(len(new))])
    one = to.constant(1)
    spread = to.node("Div", to.unsqueeze(numbers, [1]), to.node("Max", strides, one))
    return to.node("Mod", spread, to.node("Max", target, one)), target


def _resolved_sizes(to: OnnxGraph, sizes: Term, count: int, total: Part) -> list[Part]:
    """Computed sizes, with a -1 among them replaced by what `total` leaves for it."""
    is_open = to.node("Equal", sizes, to.constant(-1), dtype=BOOL)
    rest = to.node("Max", to.node("Abs", to.reduce("ReduceProd", sizes, [0])), to.constant(1))
    found = to.node("Where", is_open, to.node("Div", scalar(to, total), rest), sizes, dtype=INT64)
    found.dims = (count,)
    return parts_of(to, found, count)


@rule("SparseTensorDenseMatMul")
def sparse_tensor_dense_matmul(
    to: OnnxGraph, a_indices: Term, a_values: Term, a_shape: Term, b: Term, *, adjoint_a: bool, adjoint_b: bool
) -> Term:
    """Each element times its row of the matrix, summed by the row that it is in."""
    check_places(to)
    height = parts_of(to, a_shape, 2)[1 if adjoint_a else 0]
    right = to.transpose(b, [1, 0]) if adjoint_b else b
    wide = carrier("ReduceSum", b.dtype)
    rows, columns = column_of(to, a_indices, int(adjoint_a)), column_of(to, a_indices, int(not adjoint_a))
    picked = to.cast(to.node("Gather", right, columns, axis=0, dims=(None, right.size(1))), wide)
    each = to.node("Mul", picked, to.unsqueeze(to.cast(a_values, wide), [1]), dims=picked.dims)
    return to.cast(by_segment(to, each, rows, height, "add", 0), b.dtype)


@rule("SparseTensorDenseAdd")
def sparse_tensor_dense_add(to: OnnxGraph, a_indices: Term, a_values: Term, a_shape: Term, b: Term) -> Term:
    check_places(to)
    to.known_rank(b)
    return put_at(to, b, axes_of(b), to.cast(a_indices, INT64), a_values, "add")


@rule("SparseSoftmax")
def sparse_softmax(to: OnnxGraph, sp_indices: Term, sp_values: Term, sp_shape: Term) -> Term:
    """The softmax of each row, over the elements that are there."""
    check_places(to)
    sizes = parts_of(to, sp_shape, sp_indices.size(1))
    outer = to.slice(sp_indices, [0], [-1], [1])
    outer.dims = (sp_indices.size(0), len(sizes) - 1)
    rows = linear_places(to, outer, sizes[:-1])
    rows.dims = (sp_indices.size(0),)
    count = product(to, sizes[:-1])
    wide = to.cast(sp_values, carrier("Add", sp_values.dtype))
    most = to.node("Gather", by_segment(to, wide, rows, count, "max", -np.inf), rows, axis=0)
    powers = to.node("Exp", to.node("Sub", wide, most), dims=wide.dims)
    totals = to.node("Gather", by_segment(to, powers, rows, count, "add", 0), rows, axis=0)
    return to.cast(to.node("Div", powers, totals), sp_values.dtype)


@rule("SparseFillEmptyRows")
def sparse_fill_empty_rows(
    to: OnnxGraph, indices: Term, values: Term, dense_shape: Term, default_value: Term
) -> tuple[Term, Term, Term, Term]:
    """Rows without an element get one at their start; then all are put in the order of their rows."""
    check_places(to)
    rank = indices.size(1)
    sizes = parts_of(to, dense_shape, rank)
    rows = column_of(to, indices, 0)
    is_empty, fresh, order, back = _rows_filled(to, rows, sizes[0])
    around = to.constant(np.array([0, 0, 0, len(sizes) - 1], np.int64))
    added = to.node("Pad", to.unsqueeze(fresh, [1]), around)
    filling = carried_node(to, "Expand", default_value, to.shape(fresh))
    all_places = to.node("Gather", to.concat([indices, added], 0), order, axis=0)
    all_values = to.node("Gather", to.concat([values, filling], 0), order, axis=0)
    return all_places, all_values, is_empty, back


def _rows_filled(to: OnnxGraph, rows: Term, count: Part) -> tuple[Term, Term, Term, Term]:
    """Which rows have no element, and their numbers; the order of all elements, with one more for each of these; and
    where in it the elements are that there were.
    """
    numbers = counted_indices(to, count)
    found = to.node("Equal", to.unsqueeze(numbers, [1]), to.unsqueeze(rows, [0]), dtype=BOOL)
    many = to.reduce("ReduceSum", to.cast(found, INT64), [1])
    is_empty = to.node("Equal", many, to.constant(0), dtype=BOOL)
    fresh = to.squeeze(to.node("NonZero", is_empty, dtype=INT64), [0])
    keys = to.concat([rows, fresh], 0)
    _, order = largest(to, keys, to.shape(keys), is_largest=False)
    back = to.node("ScatterElements", order, order, counted_indices(to, to.shape(keys)), axis=0)
    return is_empty, fresh, order, to.slice(back, [0], to.shape(rows), [0])


@rule("RaggedFillEmptyRows")
def ragged_fill_empty_rows(
    to: OnnxGraph, value_rowids: Term, values: Term, nrows: Term, default_value: Term
) -> tuple[Term, Term, Term, Term]:
    """The same of ragged rows."""
    check_places(to)
    is_empty, fresh, order, back = _rows_filled(to, value_rowids, parts_of(to, nrows, 1)[0])
    filling = carried_node(to, "Expand", default_value, to.shape(fresh))
    all_rows = to.node("Gather", to.concat([value_rowids, fresh], 0), order, axis=0)
    return all_rows, to.node("Gather", to.concat([values, filling], 0), order, axis=0), is_empty, back


@rule("SparseReorder")
def sparse_reorder(to: OnnxGraph, input_indices: Term, input_values: Term, input_shape: Term) -> tuple[Term, Term]:
    """The elements sorted by their places, row by row."""
    check_places(to)
    numbers = linear_places(to, input_indices, parts_of(to, input_shape, input_indices.size(1)))
    _, order = largest(to, numbers, vector(to, axes_of(input_values)), is_largest=False)
    return to.node("Gather", input_indices, order, axis=0), to.node("Gather", input_values, order, axis=0)


@rule("SparseDenseCwiseAdd", "SparseDenseCwiseMul", "SparseDenseCwiseDiv")
def sparse_dense_cwise(to: OnnxGraph, sp_indices: Term, sp_values: Term, sp_shape: Term, dense: Term) -> Term:
    """The elements combined with those of a dense array at the same places; the array is broadcast to their shape."""
    check_places(to)
    assert to.operation is not None
    rank = sp_indices.size(1)
    if rank is None:
        to.refuse("it is not known how many axes its indices are for")
    missing = rank - to.known_rank(dense)
    wide = carried_node(to, "Expand", to.unsqueeze(dense, list(range(missing))), whole_vector(to, sp_shape))
    there = to.node("GatherND", wide, sp_indices)
    return carried_node(to, to.operation.type.removeprefix("SparseDenseCwise"), sp_values, there, data=(0, 1))
