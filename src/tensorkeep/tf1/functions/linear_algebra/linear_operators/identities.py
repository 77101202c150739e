"""Operators that need no numbers but sizes: the identity, and zeros."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import FLOAT32, INT32, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, ones, shape, stack, zeros
from tensorkeep.tf1.functions.control.grouping import no_op
from tensorkeep.tf1.functions.linear_algebra.linear_operators.broadcasting import broadcast_rows
from tensorkeep.tf1.functions.linear_algebra.linear_operators.derived import LinearOperator
from tensorkeep.tf1.functions.linear_algebra.linear_operators.diagonals import checked_rows, size_of
from tensorkeep.tf1.functions.linear_algebra.matrices import adjoint as adjoint_of
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_diag, matrix_diag_part, matrix_set_diag
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.numbers.reductions import reduce_min


class _Batch:
    """The shape of a batch of equal operators: as is known, and as a tensor; none if it was not given."""

    def __init__(self, batch_shape: Any) -> None:
        self.is_given = batch_shape is not None
        if isinstance(batch_shape, TensorShape):
            batch_shape = batch_shape.as_list()
        is_empty = batch_shape is None or (isinstance(batch_shape, list | tuple) and not batch_shape)
        self.tensor = convert([], INT32) if is_empty else convert(batch_shape)
        if self.tensor.static_shape.rank != 1:
            raise InvalidArgumentError(f"Argument batch_shape must be a 1-D Tensor.  Found: {batch_shape}")
        known = constant_value(self.tensor)
        self.static = TensorShape(None if known is None else [int(item) for item in known])


class LinearOperatorIdentity(LinearOperator):
    """Leaves everything as it is."""

    def __init__(
        self,
        num_rows: TensorLike,
        batch_shape: Any = None,
        dtype: DTypeLike | None = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        told = {
            "self adjoint": is_self_adjoint,
            "non-singular": is_non_singular,
            "positive-definite": is_positive_definite,
        }
        for word, hint in told.items():
            if not hint:
                raise InvalidArgumentError(f"An identity operator is always {word}.")
        kind = FLOAT32 if dtype is None else DType.of(dtype)
        super().__init__(kind, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)
        with name_scope(name):
            self._rows, self._rows_tensor = size_of(num_rows, "num_rows")
            self._batch = _Batch(batch_shape)
        self._assert_proper_shapes = assert_proper_shapes

    def _shape(self) -> TensorShape:
        return self._batch.static.concatenate([self._rows, self._rows])

    def _shape_tensor(self) -> Tensor:
        return concat([cast(self._batch.tensor, INT32), stack([self._rows_tensor, self._rows_tensor])], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        given = checked_rows(self, adjoint_of(x) if adjoint_arg else x, self._assert_proper_shapes)
        return broadcast_rows(given, cast(self._batch.tensor, INT32)) if self._batch.is_given else given

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _ones(self) -> Tensor:
        return ones(self.batch_shape_tensor(), self.dtype)

    def _determinant(self) -> Tensor:
        return self._ones()

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self.dtype)

    def _trace(self) -> Tensor:
        return cast(self.domain_dimension_tensor(), self.dtype) * self._ones()

    def _diag_part(self) -> Tensor:
        return ones(self.shape_tensor()[:-1], self.dtype)

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def _cond(self) -> Tensor:
        return self._ones()

    def _to_dense(self) -> Tensor:
        return matrix_diag(self._diag_part())

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return matrix_set_diag(x, matrix_diag_part(x) + convert(1, self.dtype))

    def _assert_non_singular(self) -> Operation:
        return no_op()

    def _assert_positive_definite(self) -> Operation:
        return no_op()

    def _assert_self_adjoint(self) -> Operation:
        return no_op()

    def _linop_inverse(self) -> LinearOperator:
        return self

    def _linop_cholesky(self) -> LinearOperator:
        return self

    def _multiplied(self, right: LinearOperator) -> LinearOperator:
        return super()._multiplied(right) if self._batch.is_given else right


class LinearOperatorZeros(LinearOperator):
    """Makes zeros of everything."""

    def __init__(
        self,
        num_rows: TensorLike,
        num_columns: TensorLike | None = None,
        batch_shape: Any = None,
        dtype: DTypeLike | None = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        if is_self_adjoint is False and is_square:
            raise InvalidArgumentError("A zero operator is always self adjoint.")
        if is_non_singular or is_positive_definite:
            raise InvalidArgumentError("A zero operator is always singular, and never positive-definite.")
        with name_scope(name):
            self._rows, self._rows_tensor = size_of(num_rows, "num_rows")
            same = num_columns is None
            self._columns, self._columns_tensor = size_of(num_rows if same else num_columns, "num_columns")
            self._batch = _Batch(batch_shape)
        kind = FLOAT32 if dtype is None else DType.of(dtype)
        if is_square and self._rows != self._columns:
            raise InvalidArgumentError(
                f"LinearOperatorZeros initialized as is_square=True, but got num_rows({self._rows}) != "
                f"num_columns({self._columns})"
            )
        super().__init__(kind, None, False, is_self_adjoint, False, is_square, name)
        self._assert_proper_shapes = assert_proper_shapes

    def _shape(self) -> TensorShape:
        return self._batch.static.concatenate([self._rows, self._columns])

    def _shape_tensor(self) -> Tensor:
        return concat([cast(self._batch.tensor, INT32), stack([self._rows_tensor, self._columns_tensor])], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        given = adjoint_of(x) if adjoint_arg else x
        if not adjoint:
            given = checked_rows(self, given, self._assert_proper_shapes)
        wide = shape(broadcast_rows(given, cast(self._batch.tensor, INT32)) if self._batch.is_given else given)
        rows = self._columns_tensor if adjoint else self._rows_tensor
        return zeros(concat([wide[:-2], stack([rows, wide[-1]])], 0), self.dtype)

    def _none(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self.dtype)

    def _determinant(self) -> Tensor:
        return self._none()

    def _trace(self) -> Tensor:
        return self._none()

    def _diag_part(self) -> Tensor:
        both = reduce_min(stack([self._rows_tensor, self._columns_tensor]), axis=[0])
        return zeros(concat([self.batch_shape_tensor(), stack([both])], 0), self.dtype)

    def _to_dense(self) -> Tensor:
        return zeros(self.shape_tensor(), self.dtype)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return broadcast_rows(x, self.batch_shape_tensor())

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def _assert_non_singular(self) -> Operation:
        raise InvalidArgumentError("Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Operation:
        raise InvalidArgumentError("Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Operation:
        return no_op()
