"""Linear systems: inverses, solutions, triangular factors, determinants.

ONNX has none of these. They are loops that go through the columns of all matrices of a batch at once, as one would by
hand: elimination with the largest element of a column as its pivot, or substitution. A matrix that has no inverse gives
infinities or what is no number, where TensorFlow fails.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT64, INT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.shapes import filled_array
from tensorkeep.onnx.rules.loops.control_flow import counted_rounds
from tensorkeep.onnx.rules.numbers.elementwise import computed_in, elementwise, where
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import (
    Part,
    all_known,
    axes_of,
    counted_indices,
    product,
    reshaped_value,
    scalar,
    vector,
)
from tensorkeep.onnx.terms import Term


def _check(to: OnnxGraph) -> None:
    if to.model.is_for_engine:
        to.refuse("that a matrix has no inverse is not found out")


def _as_batch(to: OnnxGraph, matrices: Term) -> tuple[Term, list[Part]]:
    """Matrices as one batch of them, and the sizes of the batch as it was."""
    rank = to.known_rank(matrices)
    if rank < 2:
        to.refuse("its input is no matrix")
    sizes = axes_of(matrices)
    if rank > 3 and all_known(sizes) is None:
        to.require_opset(14, "a batch of matrices that may be empty")
    if rank == 2:
        return to.unsqueeze(matrices, [0]), []
    flat = matrices if rank == 3 else reshaped_value(to, matrices, [product(to, sizes[:-2]), *sizes[-2:]])
    flat.dims = (flat.size(0), matrices.size(-2), matrices.size(-1))
    return flat, sizes[:-2]


def _as_it_was(to: OnnxGraph, found: Term, batch: Sequence[Part], rest: Sequence[Part]) -> Term:
    if not batch:
        return to.squeeze(found, [0])
    return found if len(batch) == 1 else reshaped_value(to, found, [*batch, *rest])


def _column(inner: OnnxGraph, matrices: Term, number: Term, axis: int) -> Term:
    """A row (axis 1) or a column (axis 2) of each matrix, [batch, elements]."""
    return inner.node("Gather", matrices, number, axis=axis, dims=(None, None))


def _with(inner: OnnxGraph, matrices: Term, number: Term, numbers: Term, axis: int, new: Term) -> Term:
    """Matrices with another row or column."""
    mark = inner.unsqueeze(inner.node("Equal", numbers, number, dtype=BOOL, dims=(None,)), [2 - axis])
    spread = inner.unsqueeze(new, [axis])
    return inner.node("Where", inner.unsqueeze(mark, [0]), spread, matrices, dtype=matrices.dtype, dims=matrices.dims)


# ---------------------------------------------------------------------------------------------------- Elimination


def _eliminated(to: OnnxGraph, matrices: Term, right: Term | None) -> tuple[Term | None, Term, Term]:
    """Right sides as they are when the matrices before them have become the identity; and of each determinant the sign
    and the logarithm.
    """
    count, width = axes_of(matrices)[1], axes_of(matrices)[2]
    whole = matrices if right is None else to.node("Concat", matrices, right, axis=2, dims=(None, None, None))
    whole.dims = (None, None, None)
    batch = to.shape(matrices, 0, 1)
    kind = matrices.dtype
    sign, total = (filled_array(to, batch, to.constant(np.array(number, kind.array_dtype), kind)) for number in (1, 0))
    sign.dims = total.dims = (None,)
    numbers = counted_indices(to, count)

    def once(inner: OnnxGraph, number: Term, given: list[Term]) -> list[Term]:
        rows, sign, total = given
        column = _column(inner, rows, number, 2)
        is_done = inner.node("Less", numbers, number, dtype=BOOL)
        size = inner.node("Where", is_done, inner.like(column, -1), inner.node("Abs", column), dtype=kind)
        pivot = inner.node("ArgMax", size, dtype=INT64, axis=1, keepdims=1, dims=(None, 1))
        own = inner.node("Equal", numbers, number, dtype=BOOL)
        theirs = inner.node("Equal", numbers, pivot, dtype=BOOL)
        order = inner.node("Where", theirs, number, numbers, dtype=INT64)
        order = inner.node("Where", own, pivot, order, dtype=INT64, dims=(None, None))
        rows = inner.node("GatherND", rows, inner.unsqueeze(order, [2]), batch_dims=1, dims=(None, None, None))
        first = inner.node("Gather", rows, number, axis=1, dims=(None, None))
        value = inner.node("Gather", first, number, axis=1, dims=(None,))
        by = value
        if right is None:  # a column of zeros makes the determinant zero, and nothing else
            is_zero = inner.node("Equal", value, inner.like(value, 0), dtype=BOOL)
            by = inner.node("Where", is_zero, inner.like(value, 1), value, dtype=kind, dims=(None,))
        first = inner.node("Div", first, inner.unsqueeze(by, [1]), dims=(None, None))
        column = _column(inner, rows, number, 2)
        factors = inner.node("Where", own, inner.like(column, 0), column, dtype=kind, dims=(None, None))
        away = inner.node("Mul", inner.unsqueeze(factors, [2]), inner.unsqueeze(first, [1]))
        rows = inner.node("Sub", rows, away, dims=(None, None, None))
        rows = _with(inner, rows, number, numbers, 1, first)
        is_same = inner.node("Equal", inner.squeeze(pivot, [1]), number, dtype=BOOL)
        turned = inner.node("Where", is_same, inner.like(value, 1), inner.like(value, -1), dtype=kind)
        sign = inner.node("Mul", sign, inner.node("Mul", turned, inner.node("Sign", value)), dims=(None,))
        total = inner.node("Add", total, inner.node("Log", inner.node("Abs", value)), dims=(None,))
        return [rows, sign, total]

    rows, sign, total = counted_rounds(to, count, [whole, sign, total], once)
    if right is None:
        return None, sign, total
    beyond = to.slice(rows, vector(to, [width]), [np.iinfo(np.int64).max], [2])
    beyond.dims = right.dims
    return beyond, sign, total


def _turned(to: OnnxGraph, matrices: Term, is_turned: bool) -> Term:
    rank = to.known_rank(matrices)
    return to.transpose(matrices, [*range(rank - 2), rank - 1, rank - 2]) if is_turned else matrices


def _is_empty(*terms: Term) -> bool:
    return any(0 in (term.dims or ()) for term in terms)


@rule("MatrixInverse", "BatchMatrixInverse")
def matrix_inverse(to: OnnxGraph, input: Term, *, adjoint: bool) -> Term:
    """What solves the system whose right side is the identity."""
    _check(to)
    if _is_empty(input):
        return input
    matrices, batch = _as_batch(to, _turned(to, input, adjoint))
    numbers = counted_indices(to, axes_of(matrices)[1])
    is_on = to.node("Equal", to.unsqueeze(numbers, [0]), to.unsqueeze(numbers, [1]), dtype=BOOL)
    ones = to.node("Expand", to.unsqueeze(to.cast(is_on, matrices.dtype), [0]), to.shape(matrices))
    ones.dims = matrices.dims
    found, _, _ = _eliminated(to, matrices, ones)
    assert found is not None
    return _as_it_was(to, found, batch, axes_of(matrices)[1:])


@rule("MatrixSolve", "BatchMatrixSolve")
def matrix_solve(to: OnnxGraph, matrix: Term, rhs: Term, *, adjoint: bool) -> Term:
    _check(to)
    if _is_empty(matrix, rhs):
        return rhs
    matrices, batch = _as_batch(to, _turned(to, matrix, adjoint))
    right, _ = _as_batch(to, rhs)
    found, _, _ = _eliminated(to, matrices, right)
    assert found is not None
    return _as_it_was(to, found, batch, axes_of(right)[1:])


@rule("LogMatrixDeterminant")
def log_matrix_determinant(to: OnnxGraph, input: Term) -> tuple[Term, Term]:
    """The sign of each determinant, and the logarithm of its size. Of a matrix without an inverse that is -inf."""
    _check(to)
    matrices, batch = _as_batch(to, input)
    if 0 in (matrices.dims or ()):
        to.refuse("its matrices have no elements")
    _, sign, total = _eliminated(to, matrices, None)
    return _as_it_was(to, sign, batch, []), _as_it_was(to, total, batch, [])


@rule("MatrixDeterminant", "BatchMatrixDeterminant")
def matrix_determinant(to: OnnxGraph, input: Term) -> Term:
    """ONNX's Det; of float64, which ONNX Runtime has none for, by elimination."""
    dims = None if input.dims is None else input.dims[:-2]
    if input.dtype is not FLOAT64 or to.model.is_for_engine or _is_empty(input):
        wide = computed_in(to, "Det", input.dtype)
        return to.cast(to.node("Det", to.cast(input, wide), dims=dims), input.dtype)
    sign, total = log_matrix_determinant(to, input)
    return to.node("Mul", sign, to.node("Exp", total), dims=dims)


# ---------------------------------------------------------------------------------------------------- Triangles


@rule("Cholesky", "BatchCholesky")
def cholesky(to: OnnxGraph, input: Term) -> Term:
    """The triangle whose product with itself is the matrix, column by column."""
    _check(to)
    if _is_empty(input):
        return input
    matrices, batch = _as_batch(to, input)
    count = axes_of(matrices)[1]
    numbers = counted_indices(to, count)

    def once(inner: OnnxGraph, number: Term, given: list[Term]) -> list[Term]:
        (found,) = given
        row = inner.unsqueeze(_column(inner, found, number, 1), [2])
        known = inner.squeeze(inner.node("MatMul", found, row, dims=(None, None, 1)), [2])
        left = inner.node("Sub", _column(inner, matrices, number, 2), known, dims=(None, None))
        root = inner.node("Sqrt", inner.node("Gather", left, number, axis=1, dims=(None,)))
        column = inner.node("Div", left, inner.unsqueeze(root, [1]), dims=(None, None))
        is_above = inner.node("Less", numbers, number, dtype=BOOL)
        column = inner.node("Where", is_above, inner.like(column, 0), column, dtype=column.dtype, dims=(None, None))
        return [_with(inner, found, number, numbers, 2, column)]

    (found,) = counted_rounds(to, count, [_zeros_like(to, matrices)], once)
    return _as_it_was(to, found, batch, axes_of(matrices)[1:])


def _zeros_like(to: OnnxGraph, matrices: Term) -> Term:
    found = filled_array(to, vector(to, axes_of(matrices)), to.like(matrices, 0))
    found.dims = matrices.dims
    return found


def _stretched_batches(to: OnnxGraph, *matrices: Term) -> list[Term]:
    """Batches of matrices, stretched to each other."""
    zero = to.constant(0)
    corners = [to.node("Gather", to.node("Gather", term, zero, axis=-1), zero, axis=-1) for term in matrices]
    for corner, term in zip(corners, matrices, strict=True):
        corner.dims = (term.dims or ())[:-2]
    batch = to.shape(elementwise(to, "Add", corners[0], corners[1]))
    found = []
    for term in matrices:
        rank = to.known_rank(term)
        whole = to.concat([batch, to.shape(term, rank - 2, rank)], 0)
        dims = (*(None,) * (max(map(to.known_rank, matrices)) - 2), term.size(-2), term.size(-1))
        found.append(to.node("Expand", term, whole, dims=dims))
    return found


@rule("MatrixTriangularSolve", "BatchMatrixTriangularSolve")
def matrix_triangular_solve(to: OnnxGraph, matrix: Term, rhs: Term, *, lower: bool, adjoint: bool) -> Term:
    """Unknowns one after the other, from the row that has only one; what is beyond the triangle is not looked at."""
    _check(to)
    if _is_empty(matrix, rhs):
        return rhs
    batches = [(term.dims or ())[: to.known_rank(term) - 2] for term in (matrix, rhs)]
    if len(batches[0]) != len(batches[1]) or any(
        None not in (one, other) and one != other for one, other in zip(*batches, strict=True)
    ):
        matrix, rhs = _stretched_batches(to, matrix, rhs)
    matrices, _ = _as_batch(to, _turned(to, matrix, adjoint))
    right, batch = _as_batch(to, rhs)
    count = axes_of(matrices)[1]
    numbers = counted_indices(to, count)
    down, across = to.unsqueeze(numbers, [1]), to.unsqueeze(numbers, [0])
    pair = (across, down) if lower != adjoint else (down, across)
    is_inside = to.node("LessOrEqual", *pair, dtype=BOOL)
    triangle = where(to, is_inside, matrices, to.like(matrices, 0))
    last = to.node("Sub", scalar(to, count), to.constant(1))

    def once(inner: OnnxGraph, number: Term, given: list[Term]) -> list[Term]:
        (found,) = given
        at = number if lower != adjoint else inner.node("Sub", last, number, dims=())
        row = _column(inner, triangle, at, 1)
        known = inner.squeeze(inner.node("MatMul", inner.unsqueeze(row, [1]), found, dims=(None, 1, None)), [1])
        left = inner.node("Sub", _column(inner, right, at, 1), known, dims=(None, None))
        value = inner.node("Gather", row, at, axis=1, dims=(None,))
        mine = inner.node("Div", left, inner.unsqueeze(value, [1]), dims=(None, None))
        return [_with(inner, found, at, numbers, 1, mine)]

    (found,) = counted_rounds(to, count, [_zeros_like(to, right)], once)
    return _as_it_was(to, found, batch, axes_of(right)[1:])
