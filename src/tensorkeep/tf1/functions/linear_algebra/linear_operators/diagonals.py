"""Operators of a diagonal: of any numbers, and of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import control_dependencies, name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, ones, shape, stack
from tensorkeep.tf1.functions.control.assertions import assert_equal, assert_none_equal, assert_positive
from tensorkeep.tf1.functions.control.grouping import no_op
from tensorkeep.tf1.functions.linear_algebra.linear_operators.broadcasting import broadcast_rows, expect_hint
from tensorkeep.tf1.functions.linear_algebra.linear_operators.derived import LinearOperator
from tensorkeep.tf1.functions.linear_algebra.matrices import adjoint as adjoint_of
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_diag, matrix_diag_part, matrix_set_diag
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import cast, conj, imag, log, real, sqrt
from tensorkeep.tf1.functions.numbers.elementwise import pow as power
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_min, reduce_prod, reduce_sum


class LinearOperatorDiag(LinearOperator):
    """Multiplies each row by a number of its own."""

    def __init__(
        self,
        diag: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        with name_scope(name):
            self._diag = convert(diag, name="diag")
        if self._diag.static_shape.rank == 0:
            raise InvalidArgumentError("Argument diag must have at least 1 dimension.  Found: 0")
        if not self._diag.dtype.is_complex:
            said = "A real diagonal operator is always self adjoint."
            is_self_adjoint = expect_hint(is_self_adjoint, True, said)
        is_square = expect_hint(is_square, True, "Only square diagonal operators currently supported.")
        super().__init__(
            self._diag.dtype, [self._diag], is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )

    @property
    def diag(self) -> Tensor:
        return self._diag

    def _shape(self) -> TensorShape:
        found = self._diag.shape
        return found if found.rank is None else found.concatenate([found[-1]])

    def _shape_tensor(self) -> Tensor:
        found = shape(self._diag)
        return concat([found, found[-1:]], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        factor = conj(self._diag) if adjoint else self._diag
        return expand_dims(factor, -1) * (adjoint_of(x) if adjoint_arg else x)

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return (conj(self._diag) if adjoint else self._diag) * x

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        factor = conj(self._diag) if adjoint else self._diag
        return (adjoint_of(rhs) if adjoint_arg else rhs) / expand_dims(factor, -1)

    def _determinant(self) -> Tensor:
        return reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self) -> Tensor:
        return cast(reduce_sum(log(absolute(self._diag)), axis=[-1]), self.dtype)

    def _diag_part(self) -> Tensor:
        return self._diag

    def _to_dense(self) -> Tensor:
        return matrix_diag(self._diag)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        wide = broadcast_rows(x, self.batch_shape_tensor())
        return matrix_set_diag(wide, matrix_diag_part(wide) + self._diag)

    def _eigvals(self) -> Tensor:
        return self._diag

    def _cond(self) -> Tensor:
        sizes = absolute(self._diag)
        return reduce_max(sizes, axis=[-1]) / reduce_min(sizes, axis=[-1])

    def _assert_non_singular(self) -> Operation:
        return assert_no_zeros(self._diag, "Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self) -> Operation:
        return assert_positive_parts(self._diag)

    def _assert_self_adjoint(self) -> Operation:
        return assert_real(self._diag)

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorDiag(conj(self._diag), **self._hints())

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorDiag(1.0 / self._diag, **self._hints())

    def _linop_cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(
            sqrt(self._diag), is_non_singular=True, is_self_adjoint=True, is_positive_definite=True
        )

    def _multiplied(self, right: LinearOperator) -> LinearOperator:
        if not isinstance(right, LinearOperatorDiag | LinearOperatorScaledIdentity):
            return super()._multiplied(right)
        other = right.diag if isinstance(right, LinearOperatorDiag) else expand_dims(right.multiplier, -1)
        return LinearOperatorDiag(self._diag * other, is_non_singular=self.is_non_singular and right.is_non_singular)


def assert_no_zeros(values: Tensor, message: str) -> Operation:
    checked: Operation = assert_none_equal(values, convert(0, values.dtype), message=message)
    return checked


def assert_positive_parts(values: Tensor) -> Operation:
    checked: Operation = assert_positive(
        real(values), message="Operator was not positive definite: it had an eigenvalue that was not positive."
    )
    return checked


def assert_real(values: Tensor) -> Operation:
    """An operation that fails if numbers have an imaginary part."""
    if not values.dtype.is_complex:
        return no_op()
    parts = imag(values)
    message = "Operator was not self-adjoint: it had an imaginary part on its diagonal."
    checked: Operation = assert_equal(parts, convert(0, parts.dtype), message=message)
    return checked


def checked_rows(operator: LinearOperator, x: Tensor, asserts: bool) -> Tensor:
    """What is to be multiplied, once it is asserted to have as many rows as the operator has columns."""
    if not asserts:
        return x
    message = "Incompatible matrices: their rows are not as many as the columns of the operator"
    with control_dependencies([assert_equal(operator.domain_dimension_tensor(), shape(x)[-2], message=message)]):
        return x + convert(0, x.dtype)


def size_of(value: Any, word: str) -> tuple[int | None, Tensor]:
    """How many rows or columns: as is known, and as a tensor."""
    given = convert(value, name=word)
    if not given.dtype.is_integer:
        raise WrongTypeError(f"Argument {word} must be integer type.  Found: {given.dtype.name}")
    known = constant_value(given)
    if known is None:
        return None, cast(given, INT32)
    if np.ndim(known) != 0:
        raise InvalidArgumentError(f"Argument {word} must be a 0-D Tensor.  Found: {known}")
    if known < 0:
        raise InvalidArgumentError(f"Argument {word} must be non-negative.  Found: {known}")
    return int(known), cast(given, INT32)


class LinearOperatorScaledIdentity(LinearOperator):
    """Multiplies by one number, or by one for each of a batch."""

    def __init__(
        self,
        num_rows: TensorLike,
        multiplier: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        with name_scope(name):
            self._multiplier = convert(multiplier, name="multiplier")
            self._rows, self._rows_tensor = size_of(num_rows, "num_rows")
        if not self._multiplier.dtype.is_complex:
            said = "A real diagonal operator is always self adjoint."
            is_self_adjoint = expect_hint(is_self_adjoint, True, said)
        if not is_square:
            raise InvalidArgumentError("A ScaledIdentity operator is always square.")
        super().__init__(
            self._multiplier.dtype,
            [self._multiplier],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
        )
        self._assert_proper_shapes = assert_proper_shapes

    @property
    def multiplier(self) -> Tensor:
        return self._multiplier

    def _shape(self) -> TensorShape:
        return self._multiplier.shape.concatenate([self._rows, self._rows])

    def _shape_tensor(self) -> Tensor:
        return concat([shape(self._multiplier), stack([self._rows_tensor, self._rows_tensor])], 0)

    def _factor(self, adjoint: bool) -> Tensor:
        return expand_dims(expand_dims(conj(self._multiplier) if adjoint else self._multiplier, -1), -1)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        given = checked_rows(self, adjoint_of(x) if adjoint_arg else x, self._assert_proper_shapes)
        return given * self._factor(adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        given = checked_rows(self, adjoint_of(rhs) if adjoint_arg else rhs, self._assert_proper_shapes)
        return given / self._factor(adjoint)

    def _determinant(self) -> Tensor:
        return power(self._multiplier, cast(self.domain_dimension_tensor(), self.dtype))

    def _log_abs_determinant(self) -> Tensor:
        size = absolute(self._multiplier)
        return cast(cast(self.domain_dimension_tensor(), size.dtype) * log(size), self.dtype)

    def _trace(self) -> Tensor:
        return self._multiplier * cast(self.domain_dimension_tensor(), self.dtype)

    def _diag_part(self) -> Tensor:
        return expand_dims(self._multiplier, -1) * ones(stack([self._rows_tensor]), self.dtype)

    def _eigvals(self) -> Tensor:
        return self._diag_part()

    def _cond(self) -> Tensor:
        return ones(shape(self._multiplier), self.dtype)

    def _to_dense(self) -> Tensor:
        return matrix_diag(self._diag_part())

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        wide = broadcast_rows(x, self.batch_shape_tensor())
        return matrix_set_diag(wide, matrix_diag_part(wide) + expand_dims(self._multiplier, -1))

    def _assert_non_singular(self) -> Operation:
        return assert_no_zeros(self._multiplier, "LinearOperator was singular")

    def _assert_positive_definite(self) -> Operation:
        return assert_positive_parts(self._multiplier)

    def _assert_self_adjoint(self) -> Operation:
        return assert_real(self._multiplier)

    def _scaled(self, multiplier: Tensor, **hints: bool | None) -> LinearOperator:
        told = {**self._hints(), **hints}
        return LinearOperatorScaledIdentity(self._rows_tensor if self._rows is None else self._rows, multiplier, **told)

    def _linop_adjoint(self) -> LinearOperator:
        return self._scaled(conj(self._multiplier))

    def _linop_inverse(self) -> LinearOperator:
        return self._scaled(1.0 / self._multiplier)

    def _linop_cholesky(self) -> LinearOperator:
        return self._scaled(sqrt(self._multiplier))

    def _multiplied(self, right: LinearOperator) -> LinearOperator:
        both = self.is_non_singular and right.is_non_singular
        if isinstance(right, LinearOperatorScaledIdentity):
            return self._scaled(
                self._multiplier * right.multiplier,
                is_non_singular=both,
                is_self_adjoint=None,
                is_positive_definite=None,
            )
        if isinstance(right, LinearOperatorDiag):
            return LinearOperatorDiag(right.diag * expand_dims(self._multiplier, -1), is_non_singular=both)
        return super()._multiplied(right)
