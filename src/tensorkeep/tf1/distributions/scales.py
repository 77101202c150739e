"""The scale of vectors as a linear operator: what diagonals, triangles and thin products say together."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import INT32, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import (
    broadcast_dynamic_shape,
    broadcast_static_shape,
    expand_dims,
    ones,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_none_equal
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.linear_algebra.linear_operators.base import LinearOperator
from tensorkeep.tf1.functions.linear_algebra.linear_operators.derived import LinearOperatorLowerTriangular
from tensorkeep.tf1.functions.linear_algebra.linear_operators.diagonals import LinearOperatorDiag
from tensorkeep.tf1.functions.linear_algebra.linear_operators.products import LinearOperatorLowRankUpdate
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_diag_part, matrix_set_diag


def scale_operator(
    dtype: DType,
    identity_multiplier: TensorLike | None = None,
    diag: TensorLike | None = None,
    tril: TensorLike | None = None,
    perturb_factor: TensorLike | None = None,
    perturb_diag: TensorLike | None = None,
    like: Tensor | None = None,
    is_checked: bool = False,
) -> LinearOperator:
    """The sum of what is given, as an operator that is not singular.

    `like` is vectors that the scale is for: of them it has its size, if nothing else says it.
    """
    factor = None if perturb_factor is None else convert(perturb_factor, dtype, name="scale_perturb_factor")
    diagonal = _diagonal(dtype, identity_multiplier, diag, tril, factor, like)
    base: LinearOperator
    if tril is not None:
        triangle = convert(tril, dtype, name="scale_tril")
        if diagonal is not None:
            triangle = matrix_set_diag(triangle, matrix_diag_part(triangle) + diagonal)
        if is_checked:
            triangle = with_dependencies([_without_zeros(matrix_diag_part(triangle))], triangle)
        base = LinearOperatorLowerTriangular(triangle, is_non_singular=True)
    else:
        assert diagonal is not None  # or it was refused
        if is_checked:
            diagonal = with_dependencies([_without_zeros(diagonal)], diagonal)
        base = LinearOperatorDiag(diagonal, is_non_singular=True)
    if factor is None:
        return base
    middle = None if perturb_diag is None else convert(perturb_diag, dtype, name="scale_perturb_diag")
    return LinearOperatorLowRankUpdate(base, factor, middle, is_non_singular=True)


def _diagonal(dtype: DType, multiplier: Any, diag: Any, tril: Any, factor: Tensor | None, like: Tensor | None) -> Any:
    """The diagonal and the multiple of the identity that are given, as one diagonal; None beside a triangle alone."""
    found: Any = None if diag is None else convert(diag, dtype, name="scale_diag")
    if found is not None and found.static_shape.rank == 0:
        raise InvalidArgumentError("scale_diag has to have at least one dimension: give numbers by multipliers")
    if multiplier is None:
        if found is not None or tril is not None:
            return found
        multiplier = 1.0
    each = expand_dims(convert(multiplier, dtype, name="scale_identity_multiplier"), -1)
    if found is not None:
        return found + each
    size = _size(tril, factor, like, dtype)
    return each * ones(size, dtype)


def _size(tril: Any, factor: Tensor | None, like: Tensor | None, dtype: DType) -> Any:
    if tril is not None:
        return shape_of(convert(tril, dtype))[-1:]
    if factor is not None:
        return shape_of(factor)[-2:-1]
    if like is None:
        raise InvalidArgumentError("a multiple of the identity needs loc or another scale, for the size of its vectors")
    return shape_of(like)[-1:]


def _without_zeros(diagonal: Tensor) -> Operation:
    found: Operation = assert_none_equal(diagonal, convert(0, diagonal.dtype), message="singular scale matrix")
    return found


def _expect_same_size(loc: Tensor, scale: LinearOperator) -> None:
    """Refuses a middle that has another number of elements than what a square scale gives, as far as both are known."""
    rows, columns = scale.range_dimension.value, scale.domain_dimension.value
    if rows is not None and columns is not None and rows != columns:
        raise InvalidArgumentError(f"the scale has {rows} rows and {columns} columns, expected a square matrix")
    size = loc.get_shape().as_list()[-1] if loc.get_shape().ndims else None
    if rows is not None and size not in (None, 1, rows):
        raise InvalidArgumentError(
            f"Event size of 'scale' ({rows}) could not be broadcast up to that of 'loc' ({size}): expected as many "
            "rows of the scale as loc has elements"
        )


def shapes_of_vectors(loc: Tensor | None, scale: LinearOperator) -> tuple[Any, Any]:
    """The batch and the event shape of vectors with a middle and a scale, each known or else as a tensor."""
    batch, event = scale.batch_shape, TensorShape([scale.range_dimension])
    if loc is not None:
        _expect_same_size(loc, scale)
        batch = broadcast_static_shape(batch, loc.get_shape()[:-1])
    if batch.is_fully_defined() and event.is_fully_defined():
        return convert(batch.as_list(), INT32), convert(event.as_list(), INT32)
    sizes = scale.batch_shape_tensor()
    if loc is not None:
        sizes = broadcast_dynamic_shape(sizes, shape_of(loc)[:-1])
    return sizes, expand_dims(scale.range_dimension_tensor(), 0)
