"""Operators given by numbers: a whole matrix, a reflection, an order of rows, three diagonals, a Toeplitz matrix."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import COMPLEX64, COMPLEX128, FLOAT32, FLOAT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    expand_dims,
    fill,
    matrix_transpose,
    one_hot,
    ones,
    pad,
    reverse,
    shape,
    stack,
    zeros,
)
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.arrays.sorting import argsort
from tensorkeep.tf1.functions.control.grouping import no_op
from tensorkeep.tf1.functions.linear_algebra.linear_operators.broadcasting import (
    batch_shape_tensor,
    broadcast_rows,
    expect_hint,
    same_batches,
    static_batch_shape,
)
from tensorkeep.tf1.functions.linear_algebra.linear_operators.derived import LinearOperator
from tensorkeep.tf1.functions.linear_algebra.matrices import adjoint as adjoint_of
from tensorkeep.tf1.functions.linear_algebra.matrices import (
    matrix_diag,
    matrix_diag_part,
    tridiagonal_matmul,
    tridiagonal_solve,
)
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.nn.normalization import l2_normalize
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import cast, conj, equal, real, square
from tensorkeep.tf1.functions.numbers.elementwise import range as numbers
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.functions.numbers.signal import fft, ifft


class LinearOperatorFullMatrix(LinearOperator):
    """A matrix, as it is."""

    def __init__(
        self,
        matrix: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        with name_scope(name):
            self._matrix = convert(matrix, name="matrix")
        _expect_rank(self._matrix, 2, "matrix")
        super().__init__(
            self._matrix.dtype, [self._matrix], is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )

    @property
    def matrix(self) -> Tensor:
        return self._matrix

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Tensor:
        return shape(self._matrix)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)

    def _to_dense(self) -> Tensor:
        return self._matrix


def _expect_rank(value: Tensor, least: int, word: str) -> None:
    rank = value.static_shape.rank
    if rank is not None and rank < least:
        raise InvalidArgumentError(
            f"Argument {word} must have at least {least} dimension{'s' if least > 1 else ''}.  Found: {rank}"
        )


class LinearOperatorHouseholder(LinearOperator):
    """Reflects at the plane that a vector stands upright on: I - 2 v v^H / |v|^2."""

    def __init__(
        self,
        reflection_axis: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        with name_scope(name):
            self._axis = convert(reflection_axis, name="reflection_axis")
        _expect_rank(self._axis, 1, "reflection_axis")
        is_self_adjoint = expect_hint(is_self_adjoint, True, "A Householder operator is always self adjoint.")
        expect_hint(is_non_singular, True, "A Householder operator is always non-singular.")
        is_square = expect_hint(is_square, True, "A Householder operator is always square.")
        if is_positive_definite:
            raise InvalidArgumentError("A Householder operator is always non-positive definite.")
        super().__init__(self._axis.dtype, [self._axis], is_non_singular, is_self_adjoint, False, is_square, name)

    @property
    def reflection_axis(self) -> Tensor:
        return self._axis

    def _shape(self) -> TensorShape:
        found = self._axis.shape
        return found if found.rank is None else found.concatenate([found[-1]])

    def _shape_tensor(self) -> Tensor:
        found = shape(self._axis)
        return concat([found, found[-1:]], 0)

    def _upright(self) -> Tensor:
        """The vector, of length 1."""
        if not self.dtype.is_complex:
            return l2_normalize(self._axis, axis=-1)
        length = reduce_sum(square(absolute(self._axis)), axis=[-1], keepdims=True) ** 0.5
        return self._axis / cast(length, self.dtype)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        given = adjoint_of(x) if adjoint_arg else x
        column = expand_dims(self._upright(), -1)
        return given - 2 * column * matmul(column, given, adjoint_a=True)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return -ones(self.batch_shape_tensor(), self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self.dtype)

    def _trace(self) -> Tensor:
        return cast(self.domain_dimension_tensor() - 2, self.dtype) * ones(self.batch_shape_tensor(), self.dtype)

    def _diag_part(self) -> Tensor:
        upright = self._upright()
        return 1.0 - 2 * upright * conj(upright)

    def _eigvals(self) -> Tensor:
        some = ones(self.shape_tensor()[:-1], self.dtype)
        return concat([-some[..., :1], some[..., 1:]], -1)

    def _cond(self) -> Tensor:
        return ones(self.batch_shape_tensor(), self.dtype)

    def _assert_non_singular(self) -> Operation:
        return no_op()

    def _assert_self_adjoint(self) -> Operation:
        return no_op()

    def _assert_positive_definite(self) -> Operation:
        raise InvalidArgumentError("A Householder operator is never positive definite.")

    def _linop_adjoint(self) -> LinearOperator:
        return self

    def _linop_inverse(self) -> LinearOperator:
        return self


class LinearOperatorPermutation(LinearOperator):
    """Puts rows into another order: the row `perm[i]` becomes row i."""

    def __init__(
        self,
        perm: TensorLike,
        dtype: DTypeLike = FLOAT32,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorPermutation",
    ) -> None:
        with name_scope(name):
            self._perm = convert(perm, name="perm")
        _expect_rank(self._perm, 1, "perm")
        if not self._perm.dtype.is_integer:
            raise InvalidArgumentError(f"Argument perm must be integer dtype. Found: {self._perm.dtype.name}")
        expect_hint(is_non_singular, True, "A Permutation operator is always non-singular.")
        is_square = expect_hint(is_square, True, "A Permutation operator is always square.")
        super().__init__(dtype, [self._perm], is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    @property
    def perm(self) -> Tensor:
        return self._perm

    def _shape(self) -> TensorShape:
        found = self._perm.shape
        return found if found.rank is None else found.concatenate([found[-1]])

    def _shape_tensor(self) -> Tensor:
        found = shape(self._perm)
        return concat([found, found[-1:]], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        order = argsort(self._perm, axis=-1) if adjoint else self._perm
        given = broadcast_rows(adjoint_of(x) if adjoint_arg else x, shape(order)[:-1])
        wide = concat([shape(given)[:-2], shape(order)[-1:]], 0)
        return gather(given, order + zeros(wide, order.dtype), axis=-2, batch_dims=(given.static_shape.rank or 2) - 2)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        return self._matmul(rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg)

    def _to_dense(self) -> Tensor:
        return one_hot(self._perm, self.domain_dimension_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self) -> Tensor:
        return zeros(self.batch_shape_tensor(), self.dtype)

    def _cond(self) -> Tensor:
        return ones(self.batch_shape_tensor(), self.dtype)

    def _diag_part(self) -> Tensor:
        places = numbers(0, self.domain_dimension_tensor(), dtype=self._perm.dtype)
        return cast(equal(self._perm, places), self.dtype)

    def _assert_non_singular(self) -> Operation:
        return no_op()


class LinearOperatorTridiag(LinearOperator):
    """A matrix of three diagonals, which are given as `diagonals_format` says: rows, three tensors, or the matrix."""

    def __init__(
        self,
        diagonals: Any,
        diagonals_format: str = "compact",
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorTridiag",
    ) -> None:
        if diagonals_format not in ("compact", "sequence", "matrix"):
            raise InvalidArgumentError(
                f"Expected `diagonals_format` to be one of: 'compact', 'matrix', 'sequence'. Found: {diagonals_format}"
            )
        with name_scope(name):
            if diagonals_format == "sequence":
                self._diagonals: Any = [convert(item, name="diagonal") for item in diagonals]
                self._dtype_given = self._diagonals[0].dtype
            else:
                self._diagonals = convert(diagonals, name="diagonals")
                self._dtype_given = self._diagonals.dtype
        is_square = expect_hint(is_square, True, "A tridiagonal operator is always square.")
        self._diagonals_format = diagonals_format
        super().__init__(
            self._dtype_given, None, is_non_singular, is_self_adjoint, is_positive_definite, is_square, name
        )

    @property
    def diagonals(self) -> Any:
        return self._diagonals

    @property
    def diagonals_format(self) -> str:
        return self._diagonals_format

    def _shape(self) -> TensorShape:
        if self._diagonals_format == "sequence":
            batch = static_batch_shape([item.shape[:-1] for item in self._diagonals])
            return batch.concatenate([self._diagonals[1].shape[-1]] * 2)
        found: TensorShape = self._diagonals.shape
        return found[:-2].concatenate([found[-1], found[-1]])

    def _shape_tensor(self) -> Tensor:
        if self._diagonals_format == "sequence":
            batch = batch_shape_tensor([shape(item)[:-1] for item in self._diagonals])
            last = shape(self._diagonals[1])[-1:]
            return concat([batch, last, last], 0)
        found = shape(self._diagonals)
        return concat([found[:-2], found[-1:], found[-1:]], 0)

    def _rows(self, adjoint: bool = False) -> Tensor:
        """The upper, the main and the lower diagonal, one below the other."""
        if self._diagonals_format == "matrix":
            upper, main, lower = (matrix_diag_part(self._diagonals, k=at) for at in (1, 0, -1))
            none = zeros(concat([shape(upper)[:-1], [1]], 0), self.dtype)
            upper, lower = concat([upper, none], -1), concat([none, lower], -1)
        elif self._diagonals_format == "sequence":
            wide = [expand_dims(item, -2) for item in self._diagonals]
            upper, main, lower = (item[..., 0, :] for item in same_batches(wide))
        else:
            upper, main, lower = (self._diagonals[..., at, :] for at in range(3))
        if not adjoint:
            return stack([upper, main, lower], -2)
        none = zeros(concat([shape(main)[:-1], [1]], 0), self.dtype)
        return conj(stack([concat([lower[..., 1:], none], -1), main, concat([none, upper[..., :-1]], -1)], -2))

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rows, given = same_batches([self._rows(adjoint), adjoint_of(x) if adjoint_arg else x])
        return tridiagonal_matmul(rows, given)

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        rows, given = same_batches([self._rows(adjoint), adjoint_of(rhs) if adjoint_arg else rhs])
        return tridiagonal_solve(rows, given)

    def _diag_part(self) -> Tensor:
        found: Tensor = self._rows()[..., 1, :]
        return found

    def _to_dense(self) -> Tensor:
        rows = self._rows()
        upper, main, lower = rows[..., 0, :-1], rows[..., 1, :], rows[..., 2, 1:]
        return matrix_diag(upper, k=1) + matrix_diag(main) + matrix_diag(lower, k=-1)


class LinearOperatorToeplitz(LinearOperator):
    """A matrix with one number along each diagonal, given by its first column and its first row.

    It multiplies as a part of a circulant matrix, which Fourier transforms make a diagonal one.
    """

    def __init__(
        self,
        col: TensorLike,
        row: TensorLike,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        with name_scope(name):
            self._col, self._row = convert(row if col is None else col, name="col"), convert(row, name="row")
        for value, word in ((self._col, "col"), (self._row, "row")):
            _expect_rank(value, 1, word)
        is_square = expect_hint(is_square, True, "Only square Toeplitz operators currently supported.")
        super().__init__(
            self._row.dtype,
            [self._row, self._col],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
        )

    @property
    def col(self) -> Tensor:
        return self._col

    @property
    def row(self) -> Tensor:
        return self._row

    def _shape(self) -> TensorShape:
        batch = static_batch_shape([self._row.shape, self._col.shape])
        return batch if batch.rank is None else batch.concatenate([batch[-1]])

    def _shape_tensor(self) -> Tensor:
        found = batch_shape_tensor([shape(self._row), shape(self._col)])
        return concat([found, found[-1:]], 0)

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        given = adjoint_of(x) if adjoint_arg else x
        down, right = (conj(self._row), conj(self._col)) if adjoint else (self._col, self._row)
        around = _around(down, right)
        kind = COMPLEX128 if self.dtype in (FLOAT64, COMPLEX128) else COMPLEX64
        rows = matrix_transpose(cast(given, kind))
        count = shape(rows)[-1]
        wide = pad(rows, _behind(rows, count - 1))
        product = ifft(expand_dims(fft(cast(around, kind)), -2) * fft(wide))[..., :count]
        return _as(matrix_transpose(product), self.dtype)

    def _trace(self) -> Tensor:
        return cast(self.domain_dimension_tensor(), self.dtype) * self._first()

    def _first(self) -> Tensor:
        found: Tensor = self._col[..., 0] + zeros(self.batch_shape_tensor(), self.dtype)
        return found

    def _diag_part(self) -> Tensor:
        return expand_dims(self._first(), -1) * ones(self.shape_tensor()[-1:], self.dtype)

    def _to_dense(self) -> Tensor:
        lines = batch_shape_tensor([shape(self._row), shape(self._col)])
        down, right = (item + zeros(lines, self.dtype) for item in (self._col, self._row))
        places = numbers(0, lines[-1])
        at = expand_dims(places, 0) - expand_dims(places, 1)
        along = concat([reverse(down, [-1]), right[..., 1:]], -1)
        return gather(along, at + lines[-1] - 1, axis=-1)


def _around(down: Tensor, right: Tensor) -> Tensor:
    """The first column of the circulant matrix that a Toeplitz matrix is the upper left part of."""
    lines = batch_shape_tensor([shape(down), shape(right)])
    down, right = (item + zeros(lines, item.dtype) for item in (down, right))
    return concat([down, reverse(right[..., 1:], [-1])], -1)


def _behind(rows: Tensor, count: Tensor) -> Tensor:
    """Paddings with so many zeros after the last dimension only."""
    before = fill(stack([_rank(rows) - 1, 2]), 0)
    return concat([before, expand_dims(stack([0, count]), 0)], 0)


def _rank(value: Tensor) -> int:
    assert value.static_shape.rank is not None
    return value.static_shape.rank


def _as(value: Tensor, dtype: DType) -> Tensor:
    return cast(value, dtype) if dtype.is_complex else cast(real(value), dtype)
