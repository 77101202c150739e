"""Operators of blocks that are operators: along the diagonal, or in a lower triangle.

They take what they multiply as one tensor, or as a list with a tensor for each block, and give it back alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import Dimension, TensorShape
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, shape, split, squeeze, stack, zeros
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.functions.linear_algebra.linear_operators.broadcasting import (
    all_hints,
    batch_shape_tensor,
    broadcast_rows,
    expect_hint,
    same_batches,
    static_batch_shape,
)
from tensorkeep.tf1.functions.linear_algebra.linear_operators.derived import LinearOperator, checked_operators
from tensorkeep.tf1.functions.linear_algebra.linear_operators.structured import LinearOperatorFullMatrix
from tensorkeep.tf1.functions.linear_algebra.matrices import adjoint as adjoint_of
from tensorkeep.tf1.functions.numbers.elementwise import add_n


class _Blocks(LinearOperator):
    """What operators of blocks have in common: they cut what they are given, and put together what comes out."""

    def _diagonal(self) -> list[LinearOperator]:
        """The blocks along the diagonal."""
        raise NotImplementedError

    def _products(self, parts: list[Tensor], adjoint: bool) -> list[Tensor]:
        raise NotImplementedError

    def _solutions(self, parts: list[Tensor], adjoint: bool) -> list[Tensor]:
        raise NotImplementedError

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """The product with matrices, or with a list of the blocks of some; with an operator, the operator of both."""
        if not _is_blockwise(x):
            return super().matmul(x, adjoint, adjoint_arg, name)
        with name_scope(f"{self.name}/{name}"):
            return self._products(self._converted(x, adjoint_arg), adjoint)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """The product with vectors, or with a list of the blocks of some."""
        if not _is_blockwise(x):
            return super().matvec(x, adjoint, name)
        with name_scope(f"{self.name}/{name}"):
            columns = [expand_dims(convert(item, self.dtype), -1) for item in x]
            return [squeeze(item, [-1]) for item in self._products(columns, adjoint)]

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """The matrices whose product with this one is `rhs`, which may be a list of blocks."""
        if not _is_blockwise(rhs):
            return super().solve(rhs, adjoint, adjoint_arg, name)
        with name_scope(f"{self.name}/{name}"):
            return self._solutions(self._converted(rhs, adjoint_arg), adjoint)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The vectors whose product with this matrix is `rhs`, which may be a list of blocks."""
        if not _is_blockwise(rhs):
            return super().solvevec(rhs, adjoint, name)
        with name_scope(f"{self.name}/{name}"):
            columns = [expand_dims(convert(item, self.dtype), -1) for item in rhs]
            return [squeeze(item, [-1]) for item in self._solutions(columns, adjoint)]

    def _converted(self, parts: Sequence[Any], adjoint_arg: bool) -> list[Tensor]:
        found = [convert(item, self.dtype) for item in parts]
        if len(found) != len(self._diagonal()):
            raise InvalidArgumentError(f"{self.name} has {len(self._diagonal())} blocks, got {len(found)}")
        return [adjoint_of(item) for item in found] if adjoint_arg else found

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        parts = self._cut(adjoint_of(x) if adjoint_arg else x, of_domain=not adjoint)
        return self._joined(self._products(parts, adjoint))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        parts = self._cut(adjoint_of(rhs) if adjoint_arg else rhs, of_domain=adjoint)
        return self._joined(self._solutions(parts, adjoint))

    def _cut(self, x: Tensor, of_domain: bool) -> list[Tensor]:
        """The rows that each block takes."""
        known = [item.domain_dimension if of_domain else item.range_dimension for item in self._diagonal()]
        sizes: Any = [item.value for item in known]
        if None in sizes:
            sizes = stack(
                [
                    item.domain_dimension_tensor() if of_domain else item.range_dimension_tensor()
                    for item in self._diagonal()
                ]
            )
            return list(split(x, sizes, axis=-2, num=len(known)))
        return list(split(x, sizes, axis=-2))

    def _joined(self, parts: list[Tensor]) -> Tensor:
        batch = batch_shape_tensor([self.batch_shape_tensor(), *(shape(item)[:-2] for item in parts)])
        found = concat([broadcast_rows(item, batch) for item in parts], -2)
        known = static_batch_shape([self.batch_shape, *(item.shape[:-2] for item in parts)])
        rows = sum((item.shape[-2] for item in parts), Dimension(0))
        found.set_shape(known.concatenate([rows, parts[0].shape[-1]]))
        return found

    def _shape_tensor(self) -> Tensor:
        blocks = self._diagonal()
        batch = batch_shape_tensor([item.batch_shape_tensor() for item in self._every()])
        rows = add_n([item.range_dimension_tensor() for item in blocks])
        return concat([batch, stack([rows, add_n([item.domain_dimension_tensor() for item in blocks])])], 0)

    def _shape(self) -> TensorShape:
        rows = sum((item.range_dimension for item in self._diagonal()), Dimension(0))
        columns = sum((item.domain_dimension for item in self._diagonal()), Dimension(0))
        batch = static_batch_shape([item.batch_shape for item in self._every()])
        return batch.concatenate([rows, columns])

    def _every(self) -> list[LinearOperator]:
        """All blocks, for what batches there are."""
        return self._diagonal()

    def _determinant(self) -> Tensor:
        found = self._diagonal()[0].determinant()
        for block in self._diagonal()[1:]:
            found = found * block.determinant()
        return found

    def _log_abs_determinant(self) -> Tensor:
        found = self._diagonal()[0].log_abs_determinant()
        for block in self._diagonal()[1:]:
            found = found + block.log_abs_determinant()
        return found

    def _trace(self) -> Tensor:
        found = self._diagonal()[0].trace()
        for block in self._diagonal()[1:]:
            found = found + block.trace()
        return found

    def _beside(self, parts: list[Tensor]) -> Tensor:
        """Numbers of each block, one row after the other."""
        wide = [expand_dims(item, -1) for item in parts]
        return squeeze(concat([broadcast_rows(item, self.batch_shape_tensor()) for item in wide], -2), [-1])

    def _diag_part(self) -> Tensor:
        if not all(item.is_square for item in self._diagonal()):
            return super()._diag_part()
        return self._beside([item.diag_part() for item in self._diagonal()])

    def _eigvals(self) -> Tensor:
        return self._beside([item.eigvals() for item in self._diagonal()])

    def _assert_non_singular(self) -> Operation:
        return group(*(item.assert_non_singular() for item in self._diagonal()))


def _is_blockwise(x: Any) -> bool:
    return isinstance(x, list | tuple) and bool(x) and all(hasattr(item, "shape") for item in x)


class LinearOperatorBlockDiag(_Blocks):
    """Operators along a diagonal, each for some of the rows, and zeros elsewhere."""

    def __init__(
        self,
        operators: Sequence[LinearOperator],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        self._operators = checked_operators(operators)
        if all_hints([item.is_non_singular for item in self._operators]):
            said = "The direct sum of non-singular operators is always non-singular."
            is_non_singular = expect_hint(is_non_singular, True, said)
        if all_hints([item.is_self_adjoint for item in self._operators]):
            said = "The direct sum of self-adjoint operators is always self-adjoint."
            is_self_adjoint = expect_hint(is_self_adjoint, True, said)
        if all_hints([item.is_positive_definite for item in self._operators]):
            said = "The direct sum of positive definite operators is always positive definite."
            is_positive_definite = expect_hint(is_positive_definite, True, said)
        squares = all_hints([item.is_square for item in self._operators])
        is_square = True if squares and is_square is None else is_square
        name = name or "_ds_".join(item.name for item in self._operators)
        dtype = self._operators[0].dtype
        super().__init__(dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def operators(self) -> list[LinearOperator]:
        return self._operators

    def _diagonal(self) -> list[LinearOperator]:
        return self._operators

    def _products(self, parts: list[Tensor], adjoint: bool) -> list[Tensor]:
        return [item.matmul(part, adjoint=adjoint) for item, part in zip(self._operators, parts, strict=True)]

    def _solutions(self, parts: list[Tensor], adjoint: bool) -> list[Tensor]:
        return [item.solve(part, adjoint=adjoint) for item, part in zip(self._operators, parts, strict=True)]

    def _to_dense(self) -> Tensor:
        whole, rows, before = self.domain_dimension_tensor(), [], None
        for block in self._operators:
            dense = broadcast_rows(block.to_dense(), self.batch_shape_tensor())
            left = convert(0) if before is None else before
            sizes = shape(dense)
            right = whole - left - sizes[-1]
            rows.append(concat([_zeros(sizes, left, self), dense, _zeros(sizes, right, self)], -1))
            before = left + sizes[-1]
        found = concat(rows, -2)
        found.set_shape(self.shape)
        return found

    def _assert_positive_definite(self) -> Operation:
        return group(*(item.assert_positive_definite() for item in self._operators))

    def _assert_self_adjoint(self) -> Operation:
        return group(*(item.assert_self_adjoint() for item in self._operators))

    def _linop_adjoint(self) -> LinearOperator:
        return LinearOperatorBlockDiag([item.adjoint() for item in self._operators], **self._hints())

    def _linop_inverse(self) -> LinearOperator:
        return LinearOperatorBlockDiag([item.inverse() for item in self._operators], **self._hints())

    def _linop_cholesky(self) -> LinearOperator:
        return LinearOperatorBlockDiag([item.cholesky() for item in self._operators], is_non_singular=True)


def _zeros(like: Tensor, columns: Tensor, operator: LinearOperator) -> Tensor:
    return zeros(concat([like[:-1], expand_dims(columns, 0)], 0), operator.dtype)


class LinearOperatorBlockLowerTriangular(_Blocks):
    """Operators in a lower triangle, row by row, the last of each row on the diagonal, and zeros above."""

    def __init__(
        self,
        operators: Sequence[Sequence[LinearOperator]],
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorBlockLowerTriangular",
    ) -> None:
        self._operators = [checked_operators(row) for row in operators]
        self._check_triangle()
        if all_hints([row[-1].is_non_singular for row in self._operators]):
            said = "A block lower-triangular operator is always non-singular when its diagonal blocks are."
            is_non_singular = expect_hint(is_non_singular, True, said)
        if any(row[-1].is_non_singular is False for row in self._operators):
            said = "A block lower-triangular operator is always singular when one of its diagonal blocks is."
            is_non_singular = expect_hint(is_non_singular, False, said)
        said = "A block lower-triangular operator has square diagonal blocks."
        if any(row[-1].is_square is False for row in self._operators) or is_square is False:
            raise InvalidArgumentError(said)
        dtype = self._operators[0][0].dtype
        super().__init__(dtype, None, is_non_singular, is_self_adjoint, is_positive_definite, True, name)

    def _check_triangle(self) -> None:
        checked_operators([item for row in self._operators for item in row])
        for number, row in enumerate(self._operators, 1):
            if len(row) != number:
                raise InvalidArgumentError(f"Row {number - 1} of blocks has {len(row)} of them, expected {number}")
            for block, diagonal in zip(row, (rows[-1] for rows in self._operators), strict=False):
                fits = block.domain_dimension.is_compatible_with(diagonal.domain_dimension)
                if not (fits and block.range_dimension.is_compatible_with(row[-1].range_dimension)):
                    raise InvalidArgumentError(f"Block {block.name} of row {number - 1} does not fit: {block.shape}")

    @property
    def operators(self) -> list[list[LinearOperator]]:
        return self._operators

    def _diagonal(self) -> list[LinearOperator]:
        return [row[-1] for row in self._operators]

    def _every(self) -> list[LinearOperator]:
        return [item for row in self._operators for item in row]

    def _products(self, parts: list[Tensor], adjoint: bool) -> list[Tensor]:
        if not adjoint:
            return [
                _total([item.matmul(part) for item, part in zip(row, parts, strict=False)]) for row in self._operators
            ]
        count = len(self._operators)
        return [
            _total([self._operators[at][column].matmul(parts[at], adjoint=True) for at in range(column, count)])
            for column in range(count)
        ]

    def _solutions(self, parts: list[Tensor], adjoint: bool) -> list[Tensor]:
        """Row by row from the top, or for the adjoint from the bottom."""
        count, found = len(self._operators), dict[int, Tensor]()
        for at in reversed(range(count)) if adjoint else range(count):
            rest = parts[at]
            for other, solution in found.items():
                block = self._operators[other][at] if adjoint else self._operators[at][other]
                rest = rest - block.matmul(solution, adjoint=adjoint)
            found[at] = self._operators[at][-1].solve(rest, adjoint=adjoint)
        return [found[at] for at in range(count)]

    def _to_dense(self) -> Tensor:
        rows, whole, batch = [], self.domain_dimension_tensor(), self.batch_shape_tensor()
        for row in self._operators:
            dense = concat([broadcast_rows(item.to_dense(), batch) for item in row], -1)
            sizes = shape(dense)
            rows.append(concat([dense, _zeros(sizes, whole - sizes[-1], self)], -1))
        found = concat(rows, -2)
        found.set_shape(self.shape)
        return found

    def _eigvals(self) -> Tensor:
        return self._beside([row[-1].eigvals() for row in self._operators])

    def _linop_inverse(self) -> LinearOperator:
        """Its blocks follow from those above them: X_ij = -A_ii^-1 (A_ij X_jj + ... + A_i,i-1 X_i-1,j)."""
        diagonal = [row[-1].inverse() for row in self._operators]
        found: list[list[LinearOperator]] = []
        for at, row in enumerate(self._operators):
            made: list[LinearOperator] = []
            for column in range(at):
                above = [found[other][column].to_dense() for other in range(column, at)]
                sums = _total([item.matmul(part) for item, part in zip(row[column:at], above, strict=True)])
                made.append(LinearOperatorFullMatrix(-row[-1].solve(sums)))
            found.append([*made, diagonal[at]])
        return LinearOperatorBlockLowerTriangular(found, **self._hints())


def _total(parts: list[Tensor]) -> Tensor:
    return add_n(same_batches(parts))
