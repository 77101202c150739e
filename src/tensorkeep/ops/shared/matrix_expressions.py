"""Pieces of graph that linear algebra is written with, named as TensorFlow's Python names them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import INT32, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import ShapeLike, TensorLike, emit
from tensorkeep.graph.building import chosen_name, graph_of, name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.linear_algebra.diagonals import matrix_diag, matrix_set_diag
from tensorkeep.ops.shared.expressions import concat, constant, minus, ones, rank_of, times, zeros


def matrix_transpose(x: TensorLike, conjugate: bool = False, name: str = "matrix_transpose") -> Tensor:
    """The last two dimensions exchanged."""
    with name_scope(name, graph_of((x,))):
        x = convert(x, name="a")
        rank = x.static_shape.rank
        if rank is None:
            count = rank_of(x)
            leading = emit("Range", 0, minus(count, 2), 1)
            axes: Any = concat([leading, [minus(count, 1), minus(count, 2)]])
        elif rank < 2:
            raise InvalidArgumentError(
                f"Argument `a` should be a (batch) matrix with rank >= 2. Received `a` = {x} with shape: {x.shape}"
            )
        else:
            axes = np.array([*range(rank - 2), rank - 1, rank - 2], np.int32)
        with name_scope("transpose") as scope:
            op = "ConjugateTranspose" if conjugate and x.dtype.is_complex else "Transpose"
            return emit(op, x, axes, name=scope)


def adjoint(x: TensorLike, name: str | None = None) -> Tensor:
    """The last two dimensions exchanged, and conjugated."""
    with name_scope(chosen_name(name, "adjoint"), graph_of((x,))):
        return matrix_transpose(convert(x, name="matrix"), conjugate=True)


def eye(
    num_rows: Tensor | int,
    num_columns: Tensor | int | None = None,
    batch_shape: ShapeLike = None,
    *,
    dtype: DType,
    name: str | None = None,
) -> Tensor:
    """Identity matrices, or rectangles with ones on the diagonal."""
    with name_scope(chosen_name(name, "eye"), graph_of((num_rows, num_columns, batch_shape))):
        is_square = num_columns is None
        batch: Any = [] if batch_shape is None else batch_shape
        columns = num_rows if num_columns is None else num_columns
        if isinstance(num_rows, Tensor) or isinstance(columns, Tensor):
            size: Any = emit("Minimum", num_rows, columns)
        else:
            is_square, size = num_rows == columns, min(num_rows, columns)
        whole: Any = None
        if isinstance(batch, Tensor) or isinstance(size, Tensor):
            batch = (
                constant(np.zeros(0, np.int32), INT32, "shape") if _is_empty(batch) else convert(batch, INT32, "shape")
            )
            row: Any = concat([batch, [size]])
            if not is_square:
                whole = concat([batch, [num_rows, columns]])
        else:
            row = [*batch, size]
            if not is_square:
                whole = [*batch, num_rows, columns]
        filled = ones(row, dtype)
        if is_square:
            return matrix_diag(filled)
        return matrix_set_diag(zeros(whole, dtype), filled)


def _is_empty(batch: Any) -> bool:
    return not isinstance(batch, Tensor) and len(batch) == 0


def expand(x: Tensor, axis: int) -> Tensor:
    """The tensor with one more dimension, of size 1."""
    return emit("ExpandDims", x, axis)


def triangular_solve(matrix: Tensor, rhs: TensorLike, *, lower: bool = True, adjoint: bool = False) -> Tensor:
    with name_scope("triangular_solve"):
        return emit("MatrixTriangularSolve", matrix, rhs, lower=lower, adjoint=adjoint)


def cholesky_solve(factor: TensorLike, rhs: TensorLike, name: str | None = None) -> Tensor:
    """The solution for a matrix of which this is the Cholesky factor."""
    with name_scope(chosen_name(name, "cholesky_solve"), graph_of((factor, rhs))):
        return emit(
            "MatrixTriangularSolve",
            factor,
            emit("MatrixTriangularSolve", factor, rhs, adjoint=False, lower=True),
            adjoint=True,
            lower=True,
        )


def safe_reciprocal(x: Tensor) -> Tensor:
    """1 / x, and 0 at 0: x / (x² + 1e-20), as `_SafeReciprocal` in linalg_grad.py has it."""
    return times(x, emit("Reciprocal", _plus_number(times(x, x), 1e-20)))


def _plus_number(x: Tensor, value: float) -> Tensor:
    """`x + value`"""
    with name_scope("add") as scope:
        return emit("AddV2", x, constant(value, x.dtype.base_dtype, "y"), name=scope)
