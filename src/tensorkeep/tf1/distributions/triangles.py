"""Triangles and diagonals of matrices, made of vectors: `fill_triangular`, `tridiag`, `matrix_diag_transform`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep.dtypes import FLOAT64, INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, pad, reshape, reverse, zeros_like
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.linear_algebra.matrices import (
    matrix_band_part,
    matrix_diag,
    matrix_diag_part,
    matrix_set_diag,
)
from tensorkeep.tf1.functions.numbers.elementwise import cast, floor, sqrt


def fill_triangular(x: TensorLike, upper: bool = False, name: str | None = None) -> Tensor:
    """Vectors of n (n + 1) / 2 elements as triangles of n rows, which are filled clockwise from the middle.

    `[1, 2, 3, 4, 5, 6]` becomes `[[4, 0, 0], [6, 5, 0], [3, 2, 1]]`, or with `upper`
    `[[1, 2, 3], [0, 5, 6], [0, 0, 4]]`.
    """
    with name_scope(name or "fill_triangular"):
        given: Any = convert(x, name="x")
        known = given.get_shape()
        rows, side = _rows_of(given)
        # After the first n elements, the rest in one direction and all in the other are a square that has the
        # triangle, and what stands across from it.
        rest = given[..., rows:]
        parts = [given, reverse(rest, [-1])] if upper else [rest, reverse(given, [-1])]
        square = reshape(concat(parts, -1), concat([shape_of(given)[:-1], [rows, rows]], 0))
        if known.rank is not None:
            square.set_shape(known[:-1].concatenate([side, side]))
        return matrix_band_part(square, 0 if upper else -1, -1 if upper else 0)


def _rows_of(vectors: Any) -> tuple[Any, int | None]:
    """How many rows triangles of so many elements have: as a number or a tensor, and as far as it is known."""
    known = vectors.get_shape()[-1:].num_elements() if vectors.get_shape().rank is not None else None
    if known is not None:
        rows = triangle_rows(known)
        return rows, rows
    count = cast(shape_of(vectors)[-1], FLOAT64)
    return cast(floor((sqrt(8.0 * count + 1.0) - 1.0) / 2.0 + 0.25), INT32), None


def triangle_rows(count: int) -> int:
    """How many rows a triangle of so many elements has."""
    rows = (int(np.sqrt(8 * count + 1)) - 1) // 2
    if rows * (rows + 1) // 2 != count:
        raise InvalidArgumentError(f"Input right-most shape ({count}) does not correspond to a triangular matrix.")
    return rows


def fill_triangular_inverse(x: TensorLike, upper: bool = False, name: str | None = None) -> Tensor:
    """The vectors that `fill_triangular` made triangles of."""
    with name_scope(name or "fill_triangular_inverse"):
        given: Any = convert(x, name="x")
        known = given.get_shape()
        side = known[-1:].num_elements() if known.rank is not None else None
        rows = shape_of(given)[-1] if side is None else side
        triangle: Any = matrix_band_part(given, 0 if upper else -1, -1 if upper else 0)
        flat: Any = reshape(triangle, concat([shape_of(given)[:-2], [rows * rows]], 0))
        # Each element stands at one of two places of the square; at the other one is a zero.
        count = rows * (rows + 1) // 2
        straight, turned = (flat, reverse(flat, [-1])) if upper else (reverse(flat, [-1]), flat)
        other = turned[..., : count - rows]
        found = straight[..., :count] + concat([zeros_like(straight[..., :rows]), other], -1)
        if known.rank is not None:
            found.set_shape(known[:-2].concatenate([None if side is None else side * (side + 1) // 2]))
        return found


def tridiag(
    below: TensorLike | None = None,
    diag: TensorLike | None = None,
    above: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:
    """Matrices with these vectors below, on and above the diagonal, and zeros elsewhere."""
    with name_scope(name or "tridiag"):
        found: Any = None
        for vector, rows, columns in ((below, [1, 0], [0, 1]), (diag, [0, 0], [0, 0]), (above, [0, 1], [1, 0])):
            if vector is not None:
                matrix: Any = matrix_diag(convert(vector))
                none = [[0, 0]] * ((matrix.get_shape().rank or 2) - 2)
                matrix = pad(matrix, [*none, rows, columns])
                found = matrix if found is None else found + matrix
        if found is None:
            raise InvalidArgumentError("Must specify at least one of {below, diag, above}.")
        result: Tensor = found
        return result


def matrix_diag_transform(
    matrix: TensorLike, transform: Callable[[Tensor], Tensor] | None = None, name: str | None = None
) -> Tensor:
    """Matrices whose diagonals a function has changed, such as softplus of what becomes a Cholesky factor."""
    with name_scope(name or "matrix_diag_transform"):
        given = convert(matrix, name="matrix")
        return given if transform is None else matrix_set_diag(given, transform(matrix_diag_part(given)))
