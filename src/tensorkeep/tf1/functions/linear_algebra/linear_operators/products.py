"""Operators made of others by Kronecker's product, and by adding a matrix of low rank."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import Dimension, TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, reshape, shape, stack, transpose
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.linear_algebra.linear_operators.broadcasting import (
    all_hints,
    batch_shape_tensor,
    broadcast_rows,
    expect_hint,
    solved,
    static_batch_shape,
)
from tensorkeep.tf1.functions.linear_algebra.linear_operators.derived import LinearOperator, checked_operators
from tensorkeep.tf1.functions.linear_algebra.linear_operators.diagonals import LinearOperatorDiag
from tensorkeep.tf1.functions.linear_algebra.linear_operators.identities import LinearOperatorIdentity
from tensorkeep.tf1.functions.linear_algebra.matrices import adjoint as adjoint_of
from tensorkeep.tf1.functions.linear_algebra.matrices import (
    cholesky,
    cholesky_solve,
    log_matrix_determinant,
    matrix_determinant,
    matrix_diag_part,
)
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.numbers.elementwise import cast, conj, exp, log
from tensorkeep.tf1.functions.numbers.elementwise import pow as power
from tensorkeep.tf1.functions.numbers.reductions import reduce_prod, reduce_sum


class LinearOperatorKronecker(LinearOperator):
    """Kronecker's product of operators: each works along an axis of its own of what is given."""

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
        if all_hints([item.is_square for item in self._operators]):
            is_square = expect_hint(is_square, True, "The Kronecker product of square operators is always square.")
        if all_hints([item.is_non_singular for item in self._operators]):
            said = "The Kronecker product of non-singular operators is always non-singular."
            is_non_singular = expect_hint(is_non_singular, True, said)
        if all_hints([item.is_self_adjoint for item in self._operators]):
            said = "The Kronecker product of self-adjoint operators is always self-adjoint."
            is_self_adjoint = expect_hint(is_self_adjoint, True, said)
        if all_hints([item.is_positive_definite for item in self._operators]):
            said = "The Kronecker product of positive-definite operators is always positive-definite."
            is_positive_definite = expect_hint(is_positive_definite, True, said)
        name = name or "_x_".join(item.name for item in self._operators)
        dtype = self._operators[0].dtype
        super().__init__(dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def operators(self) -> list[LinearOperator]:
        return self._operators

    def _shape(self) -> TensorShape:
        rows = columns = Dimension(1)
        for item in self._operators:
            rows, columns = rows * item.range_dimension, columns * item.domain_dimension
        return static_batch_shape([item.batch_shape for item in self._operators]).concatenate([rows, columns])

    def _shape_tensor(self) -> Tensor:
        rows = reduce_prod(stack([item.range_dimension_tensor() for item in self._operators]))
        columns = reduce_prod(stack([item.domain_dimension_tensor() for item in self._operators]))
        return concat(
            [batch_shape_tensor([item.batch_shape_tensor() for item in self._operators]), stack([rows, columns])], 0
        )

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        given = adjoint_of(x) if adjoint_arg else x
        sizes = [self._size(item, of_domain=not adjoint) for item in self._operators]
        return self._along_axes(given, sizes, lambda item, part: item.matmul(part, adjoint=adjoint))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        given = adjoint_of(rhs) if adjoint_arg else rhs
        sizes = [self._size(item, of_domain=adjoint) for item in self._operators]
        return self._along_axes(given, sizes, lambda item, part: item.solve(part, adjoint=adjoint))

    def _size(self, item: LinearOperator, of_domain: bool) -> Any:
        known = (item.domain_dimension if of_domain else item.range_dimension).value
        if known is not None:
            return known
        return item.domain_dimension_tensor() if of_domain else item.range_dimension_tensor()

    def _along_axes(self, given: Tensor, sizes: list[Any], do: Callable[[LinearOperator, Tensor], Tensor]) -> Tensor:
        """What each operator makes of the axis of rows that is its own."""
        found = broadcast_rows(given, self.batch_shape_tensor())
        batch, columns = shape(found)[:-2], shape(found)[-1]
        done: Any = 1
        for at, item in enumerate(self._operators):
            rest = 1
            for size in sizes[at + 1 :]:
                rest = rest * size
            parts = reshape(found, concat([batch, stack([done, sizes[at], rest * columns])], 0))
            moved = _swapped(parts)  # [batch, own, before and after]
            wide = shape(moved)
            made = do(item, reshape(moved, concat([batch, stack([sizes[at], wide[-2] * wide[-1]])], 0)))
            own = shape(made)[-2]
            back = reshape(made, concat([batch, stack([own, done, rest * columns])], 0))
            found, done = _swapped(back), done * own
        product = reshape(found, concat([batch, stack([done, columns])], 0))
        return product

    def _determinant(self) -> Tensor:
        found: Any = 1
        for item in self._operators:
            found = found * power(item.determinant(), self._others(item))
        return convert(found)

    def _log_abs_determinant(self) -> Tensor:
        found: Any = 0
        for item in self._operators:
            found = found + item.log_abs_determinant() * self._others(item)
        return convert(found)

    def _others(self, item: LinearOperator) -> Tensor:
        """How many rows all others have together."""
        return cast(self.domain_dimension_tensor() // item.domain_dimension_tensor(), self.dtype)

    def _trace(self) -> Tensor:
        found = self._operators[0].trace()
        for item in self._operators[1:]:
            found = found * item.trace()
        return found

    def _diag_part(self) -> Tensor:
        return self._products_of([item.diag_part() for item in self._operators])

    def _eigvals(self) -> Tensor:
        return self._products_of([item.eigvals() for item in self._operators])

    def _products_of(self, rows: list[Tensor]) -> Tensor:
        """The products of each number of each row, the last changing fastest."""
        found = rows[0]
        for row in rows[1:]:
            both = expand_dims(found, -1) * expand_dims(row, -2)
            found = reshape(both, concat([shape(both)[:-2], [-1]], 0))
        found.set_shape(self.shape[:-2].concatenate([found.shape[-1]]))
        return found

    def _to_dense(self) -> Tensor:
        found = self._operators[0].to_dense()
        for item in self._operators[1:]:
            dense = item.to_dense()
            both = expand_dims(expand_dims(found, -1), -3) * expand_dims(expand_dims(dense, -2), -4)
            sizes = shape(both)
            found = reshape(both, concat([sizes[:-4], stack([sizes[-4] * sizes[-3], sizes[-2] * sizes[-1]])], 0))
        found.set_shape(self.shape)
        return found

    def _assert_non_singular(self) -> Operation:
        if not all(item.is_square for item in self._operators):
            return super()._assert_non_singular()
        return group(*(item.assert_non_singular() for item in self._operators))

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorKronecker(
            [item.adjoint() for item in self._operators], **{**self._hints(), "is_square": None}
        )

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorKronecker([item.inverse() for item in self._operators], **self._hints())

    def _linop_cholesky(self) -> LinearOperator:
        return LinearOperatorKronecker([item.cholesky() for item in self._operators], is_non_singular=True)


def _swapped(value: Tensor) -> Tensor:
    """A tensor [batch, a, b, c], whose batch has any rank that is known, as [batch, b, a, c]."""
    rank = value.static_shape.rank
    assert rank is not None, "the rank of what Kronecker's product multiplies is known"
    return transpose(value, [*range(rank - 3), rank - 2, rank - 3, rank - 1])


class LinearOperatorLowRankUpdate(LinearOperator):
    """An operator L and a matrix of low rank: L + U D V^H, where V is U unless it is given.

    It solves by Woodbury's identity: by L and a system as small as the rank.
    """

    def __init__(
        self,
        base_operator: LinearOperator,
        u: TensorLike,
        diag_update: TensorLike | None = None,
        v: TensorLike | None = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        with name_scope(name):
            self._u = convert(u, base_operator.dtype, name="u")
            self._v = self._u if v is None else convert(v, base_operator.dtype, name="v")
            self._diag_update = (
                None if diag_update is None else convert(diag_update, base_operator.dtype, name="diag_update")
            )
        self._base_operator = base_operator
        is_positive = bool(diag_update is None) or is_diag_update_positive
        if diag_update is None and is_diag_update_positive is False:
            raise InvalidArgumentError(
                "Default diagonal is the identity matrix.  is_diag_update_positive cannot be False."
            )
        if v is None and is_positive and base_operator.is_self_adjoint and is_self_adjoint is None:
            is_self_adjoint = True
        if v is None and is_positive and base_operator.is_positive_definite:
            is_positive_definite = expect_hint(
                is_positive_definite, True, "A positive definite operator plus a positive update is positive definite."
            )
            is_non_singular = expect_hint(is_non_singular, True, "A positive definite operator is non-singular.")
        self._is_diag_update_positive = is_positive
        self._use_cholesky = bool(
            base_operator.is_positive_definite and base_operator.is_self_adjoint and is_positive and v is None
        )
        parents = [item for item in (self._u, self._diag_update, self._v) if item is not None]
        super().__init__(
            base_operator.dtype, parents, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )
        self._check_shapes()

    def _check_shapes(self) -> None:
        if not self._u.shape[-2].is_compatible_with(self._base_operator.range_dimension):
            raise InvalidArgumentError(
                f"u has {self._u.shape[-2]} rows, and the base operator {self._base_operator.range_dimension}"
            )
        if not self._v.shape[-2].is_compatible_with(self._base_operator.domain_dimension):
            raise InvalidArgumentError(
                f"v has {self._v.shape[-2]} rows, and the base operator {self._base_operator.domain_dimension} columns"
            )
        if self._diag_update is not None and not self._u.shape[-1].is_compatible_with(self._diag_update.shape[-1]):
            raise InvalidArgumentError(
                f"u has {self._u.shape[-1]} columns, and diag_update {self._diag_update.shape[-1]} numbers"
            )

    @property
    def u(self) -> Tensor:
        return self._u

    @property
    def v(self) -> Tensor:
        return self._v

    @property
    def is_diag_update_positive(self) -> bool | None:
        return self._is_diag_update_positive

    @property
    def diag_update(self) -> Tensor | None:
        return self._diag_update

    @property
    def diag_operator(self) -> LinearOperator:
        """The operator D."""
        if self._diag_update is not None:
            return LinearOperatorDiag(self._diag_update, is_positive_definite=self._is_diag_update_positive)
        count = self._u.shape[-1].value
        return LinearOperatorIdentity(shape(self._u)[-1] if count is None else count, dtype=self.dtype)

    @property
    def base_operator(self) -> LinearOperator:
        return self._base_operator

    def _shape(self) -> TensorShape:
        parts = [self._base_operator.batch_shape, self._u.shape[:-2], self._v.shape[:-2]]
        if self._diag_update is not None:
            parts.append(self._diag_update.shape[:-1])
        return static_batch_shape(parts).concatenate(self._base_operator.shape[-2:])

    def _shape_tensor(self) -> Tensor:
        parts = [self._base_operator.batch_shape_tensor(), shape(self._u)[:-2], shape(self._v)[:-2]]
        if self._diag_update is not None:
            parts.append(shape(self._diag_update)[:-1])
        return concat([batch_shape_tensor(parts), self._base_operator.shape_tensor()[-2:]], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        first, last = (self._v, self._u) if adjoint else (self._u, self._v)
        inner = self.diag_operator.matmul(matmul(last, x, adjoint_a=True, adjoint_b=adjoint_arg), adjoint=adjoint)
        base = self._base_operator.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        found: Tensor = base + matmul(first, inner)
        return found

    def _diag_part(self) -> Tensor:
        factor = convert(1, self.dtype) if self._diag_update is None else expand_dims(self._diag_update, -2)
        return self._base_operator.diag_part() + reduce_sum(self._u * factor * conj(self._v), axis=[-1])

    def _trace(self) -> Tensor:
        return reduce_sum(self.diag_part(), axis=[-1])

    def _capacitance(self) -> Tensor:
        """D^-1 + V^H L^-1 U, as small as the rank."""
        inner = matmul(self._v, self._base_operator.solve(self._u), adjoint_a=True)
        return self.diag_operator.inverse().add_to_tensor(inner)

    def _determinant(self) -> Tensor:
        if self._use_cholesky:
            return exp(self._log_abs_determinant())
        found = matrix_determinant(self._capacitance())
        return found * self.diag_operator.determinant() * self._base_operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        inner = self._capacitance()
        if self._use_cholesky:
            found = 2 * reduce_sum(log(matrix_diag_part(cholesky(inner))), axis=[-1])
        else:
            found = log_matrix_determinant(inner).log_abs_determinant
        return found + self.diag_operator.log_abs_determinant() + self._base_operator.log_abs_determinant()

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        first, last = (self._v, self._u) if adjoint else (self._u, self._v)
        given = adjoint_of(rhs) if adjoint_arg else rhs
        base: Tensor = self._base_operator.solve(given, adjoint=adjoint)
        inner = matmul(last, base, adjoint_a=True)
        if self._use_cholesky:
            small = solved(cholesky_solve, cholesky(self._capacitance()), inner)
        else:
            small = solved(None, self._capacitance(), inner, adjoint)
        found: Tensor = base - self._base_operator.solve(matmul(first, small), adjoint=adjoint)
        return found
