"""Operators that others lead to: adjoints, inverses, what one does after another, and lower triangular factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, shape, stack
from tensorkeep.tf1.functions.control.assertions import assert_none_equal
from tensorkeep.tf1.functions.linear_algebra.linear_operators.base import LinearOperator
from tensorkeep.tf1.functions.linear_algebra.linear_operators.broadcasting import (
    all_hints,
    batch_shape_tensor,
    expect_hint,
    same_batches,
    static_batch_shape,
)
from tensorkeep.tf1.functions.linear_algebra.matrices import adjoint as adjoint_of
from tensorkeep.tf1.functions.linear_algebra.matrices import (
    matrix_band_part,
    matrix_diag_part,
    matrix_triangular_solve,
)
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import conj, log
from tensorkeep.tf1.functions.numbers.reductions import reduce_prod, reduce_sum


class _OfAnother(LinearOperator):
    """An operator made of one, whose hints are those of that one."""

    _word = ""
    _suffix = ""

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        told = {
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
            "is_square": is_square,
        }
        hints: dict[str, Any] = {key: self._combined(key, hint, getattr(operator, key)) for key, hint in told.items()}
        self._operator = operator
        super().__init__(operator.dtype, name=name or operator.name + self._suffix, **hints)

    def _combined(self, key: str, told: bool | None, known: bool | None) -> bool | None:
        if known is None:
            return told
        return expect_hint(told, known, f"The operator was {key} = {known}, and its {self._word} was told {told}")

    @property
    def operator(self) -> LinearOperator:
        return self._operator


class LinearOperatorAdjoint(_OfAnother):
    """The transposed, conjugated matrix of an operator."""

    _word, _suffix = "adjoint", "_adjoint"

    def _shape(self) -> TensorShape:
        found = self.operator.shape
        return found[:-2].concatenate([found[-1], found[-2]])

    def _shape_tensor(self) -> Tensor:
        found = self.operator.shape_tensor()
        return concat([found[:-2], [found[-1], found[-2]]], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        found: Tensor = self.operator.matmul(x, adjoint=not adjoint, adjoint_arg=adjoint_arg)
        return found

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        found: Tensor = self.operator.matvec(x, adjoint=not adjoint)
        return found

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        found: Tensor = self.operator.solve(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)
        return found

    def _determinant(self) -> Tensor:
        return conj(self.operator.determinant())

    def _log_abs_determinant(self) -> Tensor:
        return self.operator.log_abs_determinant()

    def _trace(self) -> Tensor:
        return conj(self.operator.trace())

    def _diag_part(self) -> Tensor:
        return conj(self.operator.diag_part())

    def _to_dense(self) -> Tensor:
        return adjoint_of(self.operator.to_dense())

    def _eigvals(self) -> Tensor:
        return conj(self.operator.eigvals())

    def _cond(self) -> Tensor:
        return self.operator.cond()

    def _assert_non_singular(self) -> Operation:
        return self.operator.assert_non_singular()

    def _linop_adjoint(self) -> LinearOperator:
        return self.operator


class LinearOperatorInversion(_OfAnother):
    """What undoes an operator: it multiplies by solving, and solves by multiplying."""

    _word, _suffix = "inverse", "_inv"

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        if False in (operator.is_non_singular, is_non_singular):
            raise InvalidArgumentError(f"{operator.name}: the inverse of a singular operator does not exist")
        super().__init__(operator, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    def _shape(self) -> TensorShape:
        return self.operator.shape

    def _shape_tensor(self) -> Tensor:
        return self.operator.shape_tensor()

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        found: Tensor = self.operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        return found

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        found: Tensor = self.operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        return found

    def _determinant(self) -> Tensor:
        return 1.0 / self.operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        return -1.0 * self.operator.log_abs_determinant()

    def _eigvals(self) -> Tensor:
        return 1.0 / self.operator.eigvals()

    def _cond(self) -> Tensor:
        return self.operator.cond()

    def _linop_inverse(self) -> LinearOperator:
        return self.operator


class LinearOperatorComposition(LinearOperator):
    """What several operators do one after the other, the last of them first."""

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operators = checked_operators(operators)
        for left, right in zip(self._operators, self._operators[1:], strict=False):
            if not left.domain_dimension.is_compatible_with(right.range_dimension):
                raise InvalidArgumentError(
                    f"Operators are incompatible: {left.name} takes {left.domain_dimension} rows, and {right.name} "
                    f"gives {right.range_dimension}"
                )
        if all_hints([item.is_non_singular for item in self._operators]):
            said = "The composition of non-singular operators is always non-singular."
            is_non_singular = expect_hint(is_non_singular, True, said)
        super().__init__(
            self._operators[0].dtype,
            None,
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name or "_o_".join(item.name for item in self._operators),
        )

    @property
    def operators(self) -> list[LinearOperator]:
        return self._operators

    def _shape(self) -> TensorShape:
        batch = static_batch_shape([item.batch_shape for item in self._operators])
        return batch.concatenate([self._operators[0].range_dimension, self._operators[-1].domain_dimension])

    def _shape_tensor(self) -> Tensor:
        batch = batch_shape_tensor([item.batch_shape_tensor() for item in self._operators])
        ends = [self._operators[0].range_dimension_tensor(), self._operators[-1].domain_dimension_tensor()]
        return concat([batch, stack(ends)], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        order = self._operators if adjoint else self._operators[::-1]
        found: Tensor = order[0].matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in order[1:]:
            found = operator.matmul(found, adjoint=adjoint)
        return found

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        order = self._operators[::-1] if adjoint else self._operators
        found: Tensor = order[0].solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in order[1:]:
            found = operator.solve(found, adjoint=adjoint)
        return found

    def _determinant(self) -> Tensor:
        if not all(item.is_square for item in self._operators):
            return super()._determinant()
        found = self._operators[0].determinant()
        for operator in self._operators[1:]:
            found = found * operator.determinant()
        return found

    def _log_abs_determinant(self) -> Tensor:
        if not all(item.is_square for item in self._operators):
            return super()._log_abs_determinant()
        found = self._operators[0].log_abs_determinant()
        for operator in self._operators[1:]:
            found = found + operator.log_abs_determinant()
        return found


def checked_operators(operators: Sequence[LinearOperator]) -> list[LinearOperator]:
    found = list(operators)
    if not found:
        raise InvalidArgumentError("Expected a non-empty list of operators. Found: []")
    if len(types := {item.dtype for item in found}) > 1:
        raise InvalidArgumentError(
            f"Expected all operators to have the same dtype.  Found {sorted(item.name for item in types)}"
        )
    return found


class LinearOperatorLowerTriangular(LinearOperator):
    """The lower triangle of a matrix, or of a batch of them; what stands above it counts as zero."""

    def __init__(
        self,
        tril: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        if is_square is False:
            raise InvalidArgumentError("Only square lower triangular operators supported at this time.")
        with name_scope(name):
            self._tril = convert(tril, name="tril")
            if (self._tril.static_shape.rank or 2) < 2:
                raise InvalidArgumentError(
                    f"Argument tril must have at least 2 dimensions.  Found: {self._tril.static_shape.rank}"
                )
            self._lower = matrix_band_part(self._tril, -1, 0)
            self._diagonal = matrix_diag_part(self._tril)
        super().__init__(
            self._tril.dtype, [self._tril], is_non_singular, is_self_adjoint, is_positive_definite, True, name
        )

    @property
    def tril(self) -> Tensor:
        """The lower triangle, with zeros above it."""
        return self._lower

    def _shape(self) -> TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Tensor:
        return shape(self._tril)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return matmul(self._lower, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        lower, given = same_batches([self._lower, adjoint_of(rhs) if adjoint_arg else rhs])
        return matrix_triangular_solve(lower, given, lower=True, adjoint=adjoint)

    def _determinant(self) -> Tensor:
        return reduce_prod(self._diagonal, axis=[-1])

    def _log_abs_determinant(self) -> Tensor:
        return reduce_sum(log(absolute(self._diagonal)), axis=[-1])

    def _diag_part(self) -> Tensor:
        return self._diagonal

    def _to_dense(self) -> Tensor:
        return self._lower

    def _eigvals(self) -> Tensor:
        return self._diagonal

    def _assert_non_singular(self) -> Operation:
        message = "Singular operator:  Diagonal contained zero values."
        checked: Operation = assert_none_equal(self._diagonal, convert(0, self.dtype), message=message)
        return checked


_MADE: tuple[type[Any], ...] = (
    LinearOperatorAdjoint,
    LinearOperatorComposition,
    LinearOperatorInversion,
    LinearOperatorLowerTriangular,
)
LinearOperator.derived_kinds.update({kind.__name__: kind for kind in _MADE})

__all__ = [
    "LinearOperator",
    "LinearOperatorAdjoint",
    "LinearOperatorComposition",
    "LinearOperatorInversion",
    "LinearOperatorLowerTriangular",
]
