"""What all linear operators have in common, and what each does who says no more than how it multiplies.

A subclass says its shape (`_shape`, `_shape_tensor`) and its products (`_matmul`), and whatever else it knows a shorter
way to than by its matrix: `_solve`, `_determinant`, `_diag_part`, and so on. So do the operators of programs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import Dimension, TensorShape
from tensorkeep.tf1.functions.arrays.shapes import size
from tensorkeep.tf1.functions.control.assertions import assert_equal, assert_less, assert_positive
from tensorkeep.tf1.functions.linear_algebra.linear_operators.broadcasting import by_columns, solved
from tensorkeep.tf1.functions.linear_algebra.matrices import adjoint as adjoint_of
from tensorkeep.tf1.functions.linear_algebra.matrices import (
    cholesky,
    cholesky_solve,
    eye,
    log_matrix_determinant,
    matrix_determinant,
    matrix_diag_part,
    self_adjoint_eigvals,
    svd,
)
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import cast, exp, log, maximum, real
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_min, reduce_sum


class LinearOperator:
    """A matrix, or a batch [..., rows, columns] of them, known by what it does.

    Hints say what a program knows of it (`is_non_singular`, `is_self_adjoint`, `is_positive_definite`, `is_square`);
    they are believed, and choose shorter ways. None means that it is not known.
    """

    def __init__(
        self,
        dtype: DTypeLike | None,
        graph_parents: Sequence[Tensor] | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
        parameters: Mapping[str, object] | None = None,
    ) -> None:
        if is_positive_definite and is_non_singular is False:
            raise InvalidArgumentError("A positive definite matrix is always non-singular.")
        is_non_singular = True if is_positive_definite else is_non_singular
        for hint, word in ((is_non_singular, "non-singular"), (is_self_adjoint, "self-adjoint")):
            if hint and is_square is False:
                raise InvalidArgumentError(f"A {word} matrix is always square.")
            is_square = True if hint else is_square
        self._dtype = None if dtype is None else DType.of(dtype).base_dtype
        self._graph_parents = list(graph_parents or ())
        self._is_square_set_or_implied_by_hints = is_square
        self._is_non_singular, self._is_self_adjoint = is_non_singular, is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._parameters = dict(parameters or {})
        self._name = name or type(self).__name__

    # --------------------------------------------------------------------------------------------------- what it is

    @property
    def name(self) -> str:
        return self._name

    @property
    def dtype(self) -> DType:
        assert self._dtype is not None, f"{self.name} was made without a data type"
        return self._dtype

    @property
    def parameters(self) -> dict[str, object]:
        return dict(self._parameters)

    @property
    def graph_parents(self) -> list[Tensor]:
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether there are as many rows as columns: as it was told, or as the shape says."""
        told = self._is_square_set_or_implied_by_hints
        rows, columns = self.range_dimension.value, self.domain_dimension.value
        found = None if rows is None or columns is None else rows == columns
        if told is False and found:
            raise InvalidArgumentError("User set is_square hint to False, but the operator was square.")
        return found if told is None else told

    @property
    def shape(self) -> TensorShape:
        return TensorShape(self._shape())

    @property
    def batch_shape(self) -> TensorShape:
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int | None:
        return self.shape.rank

    @property
    def domain_dimension(self) -> Dimension:
        """How many columns it has."""
        return Dimension(None) if self.shape.rank is None else self.shape[-1]

    @property
    def range_dimension(self) -> Dimension:
        """How many rows it has."""
        return Dimension(None) if self.shape.rank is None else self.shape[-2]

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        with name_scope(f"{self.name}/{name}"):
            if self.shape.is_fully_defined():
                return convert(np.array(self.shape.as_list(), np.int32))
            return self._shape_tensor()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        found: Tensor = self.shape_tensor(name)[:-2]
        return found

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        return size(self.shape_tensor(), name)

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        found: Tensor = self.shape_tensor(name)[-1]
        return found

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        found: Tensor = self.shape_tensor(name)[-2]
        return found

    # --------------------------------------------------------------------------------------------------- what it does

    def matmul(self, x: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Any:
        """The product with matrices [..., columns, any]; with an operator, the operator that does both."""
        if isinstance(x, LinearOperator):
            left, right = (self.adjoint() if adjoint else self), (x.adjoint() if adjoint_arg else x)
            _expect_equal(left.domain_dimension, right.range_dimension, "Operators are incompatible. Expected `x`")
            with name_scope(name):
                return left._multiplied(right)
        with name_scope(f"{self.name}/{name}"):
            given = self._checked(x, "x", adjoint, adjoint_arg)
            return self._matmul(given, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def __matmul__(self, other: Any) -> Any:
        return self.matmul(other)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Any:
        """The product with vectors [..., columns]."""
        with name_scope(f"{self.name}/{name}"):
            return self._matvec(convert(x, self._dtype, name="x"), adjoint=adjoint)

    def solve(self, rhs: Any, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Any:
        """The matrices whose product with this one is `rhs`; of an operator, the operator that does it."""
        if self.is_non_singular is False:
            raise UnimplementedError("Exact solve not implemented for an operator that is expected to be singular.")
        if self.is_square is False:
            raise UnimplementedError("Exact solve not implemented for an operator that is expected to not be square.")
        if isinstance(rhs, LinearOperator):
            left, right = (self.adjoint() if adjoint else self), (rhs.adjoint() if adjoint_arg else rhs)
            _expect_equal(left.domain_dimension, right.range_dimension, "Operators are incompatible. Expected `rhs`")
            with name_scope(name):
                return left.inverse()._multiplied(right)
        with name_scope(f"{self.name}/{name}"):
            given = self._checked(rhs, "rhs", not adjoint, adjoint_arg)
            return self._solve(given, adjoint=adjoint, adjoint_arg=adjoint_arg)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Any:
        """The vectors whose product with this matrix is `rhs`."""
        with name_scope(f"{self.name}/{name}"):
            return self._solvevec(convert(rhs, self._dtype, name="rhs"), adjoint=adjoint)

    def determinant(self, name: str = "det") -> Tensor:
        self._expect_square("determinant")
        with name_scope(f"{self.name}/{name}"):
            return self._determinant()

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """The logarithm of the absolute value of the determinant."""
        self._expect_square("log_abs_determinant")
        with name_scope(f"{self.name}/{name}"):
            return self._log_abs_determinant()

    def diag_part(self, name: str = "diag_part") -> Tensor:
        with name_scope(f"{self.name}/{name}"):
            return self._diag_part()

    def trace(self, name: str = "trace") -> Tensor:
        with name_scope(f"{self.name}/{name}"):
            return self._trace()

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrix itself."""
        with name_scope(f"{self.name}/{name}"):
            return self._to_dense()

    def add_to_tensor(self, x: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """The sum with matrices."""
        with name_scope(f"{self.name}/{name}"):
            return self._add_to_tensor(convert(x, self._dtype, name="x"))

    def eigvals(self, name: str = "eigvals") -> Tensor:
        """The eigenvalues, where the operator is its own adjoint."""
        if not self.is_self_adjoint:
            raise UnimplementedError("Only self-adjoint matrices are supported.")
        with name_scope(f"{self.name}/{name}"):
            return self._eigvals()

    def cond(self, name: str = "cond") -> Tensor:
        """The largest singular value over the smallest."""
        with name_scope(f"{self.name}/{name}"):
            return self._cond()

    def assert_non_singular(self, name: str = "assert_non_singular") -> Operation:
        """An operation that fails if the matrix has no inverse, as far as numbers of its type can tell."""
        with name_scope(f"{self.name}/{name}"):
            return self._assert_non_singular()

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Operation:
        """An operation that fails unless x^H A x is more than 0 for all x but 0."""
        with name_scope(f"{self.name}/{name}"):
            return self._assert_positive_definite()

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Operation:
        """An operation that fails unless the matrix is its own adjoint."""
        with name_scope(f"{self.name}/{name}"):
            return self._assert_self_adjoint()

    # --------------------------------------------------------------------------------------------------- operators

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """The operator of the transposed, conjugated matrix."""
        if self.is_self_adjoint is True:
            return self
        with name_scope(name):
            return self._linop_adjoint()

    @property
    def H(self) -> LinearOperator:  # noqa: N802 - TensorFlow's name
        return self.adjoint()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """The operator that undoes this one."""
        if self.is_square is False:
            raise InvalidArgumentError("Cannot take the Inverse: This operator represents a non square matrix.")
        if self.is_non_singular is False:
            raise InvalidArgumentError("Cannot take the Inverse: This operator represents a singular matrix.")
        with name_scope(name):
            return self._linop_inverse()

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The lower triangular operator L for which L L^H is this one."""
        if not self._can_use_cholesky():
            raise InvalidArgumentError(
                "Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix."
            )
        with name_scope(name):
            return self._linop_cholesky()

    def _linop_adjoint(self) -> LinearOperator:
        return self._derived("LinearOperatorAdjoint", self)

    def _linop_inverse(self) -> LinearOperator:
        return self._derived("LinearOperatorInversion", self)

    def _linop_cholesky(self) -> LinearOperator:
        return self._derived(
            "LinearOperatorLowerTriangular", cholesky(self.to_dense()), is_non_singular=True,
            is_self_adjoint=False, is_square=True,
        )  # fmt: skip

    def _multiplied(self, right: LinearOperator) -> LinearOperator:
        """The operator that does `right`, then this."""
        return self._derived("LinearOperatorComposition", [self, right])

    derived_kinds: dict[str, type[LinearOperator]] = {}  # noqa: RUF012
    """By name, the operators that are made of any: they stand in modules above this one, and enter themselves."""

    def _derived(self, kind: str, *args: Any, **hints: bool | None) -> LinearOperator:
        make: Any = self.derived_kinds[kind]
        found: LinearOperator = make(*args, **hints)
        return found

    def _hints(self) -> dict[str, Any]:
        """The hints, for an operator that has the same."""
        return {
            "is_non_singular": self.is_non_singular,
            "is_self_adjoint": self.is_self_adjoint,
            "is_positive_definite": self.is_positive_definite,
            "is_square": True,
        }

    # --------------------------------------------------------------------------------------------------- to be said

    def _shape(self) -> TensorShape:
        raise UnimplementedError(f"{type(self).__name__} has no method _shape, which says its static shape")

    def _shape_tensor(self) -> Tensor:
        raise UnimplementedError(f"{type(self).__name__} has no method _shape_tensor, which gives its shape")

    def _matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        raise UnimplementedError(f"{type(self).__name__} has no method _matmul, which multiplies")

    def _matvec(self, x: Tensor, adjoint: bool = False) -> Tensor:
        return by_columns(x, self.tensor_rank == 2, lambda columns: self.matmul(columns, adjoint=adjoint))

    def _solve(self, rhs: Tensor, adjoint: bool = False, adjoint_arg: bool = False) -> Tensor:
        given = adjoint_of(rhs) if adjoint_arg else rhs
        dense = self.to_dense()
        if self._can_use_cholesky():
            return solved(cholesky_solve, cholesky(dense), given)
        return solved(None, dense, given, adjoint)

    def _solvevec(self, rhs: Tensor, adjoint: bool = False) -> Tensor:
        return by_columns(rhs, self.tensor_rank == 2, lambda columns: self.solve(columns, adjoint=adjoint))

    def _determinant(self) -> Tensor:
        return exp(self.log_abs_determinant()) if self._can_use_cholesky() else matrix_determinant(self.to_dense())

    def _log_abs_determinant(self) -> Tensor:
        if self._can_use_cholesky():
            return 2 * reduce_sum(log(matrix_diag_part(cholesky(self.to_dense()))), axis=[-1])
        return log_matrix_determinant(self.to_dense()).log_abs_determinant

    def _diag_part(self) -> Tensor:
        return matrix_diag_part(self.to_dense())

    def _trace(self) -> Tensor:
        return reduce_sum(self.diag_part(), axis=[-1])

    def _to_dense(self) -> Tensor:
        columns = self.domain_dimension.value
        known: Any = self.domain_dimension_tensor() if columns is None else columns
        dense: Tensor = self.matmul(eye(known, dtype=self.dtype))
        return dense

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return self.to_dense() + x

    def _eigvals(self) -> Tensor:
        return self_adjoint_eigvals(self.to_dense())

    def _cond(self) -> Tensor:
        values = absolute(self.eigvals()) if self.is_self_adjoint else _singular_values(self.to_dense())
        return reduce_max(values, axis=[-1]) / reduce_min(values, axis=[-1])

    def _assert_non_singular(self) -> Operation:
        if self.is_square is False:
            raise UnimplementedError("Singular matrix method not implemented for non-square matrices.")
        real_type = np.dtype(self.dtype.as_numpy_dtype).type(0).real.dtype
        most = 1.0 / (np.finfo(real_type).eps * maximum(cast(self.domain_dimension_tensor(), real_type), 1.0))
        values = absolute(self.eigvals()) if self.is_self_adjoint else _singular_values(self.to_dense())
        found = cast(reduce_max(values, axis=[-1]) / reduce_min(values, axis=[-1]), most.dtype)
        checked: Operation = assert_less(found, most, message="Singular matrix up to precision epsilon.")
        return checked

    def _assert_positive_definite(self) -> Operation:
        if self.is_self_adjoint is False:
            raise UnimplementedError("Positive definite is only decided of operators that are their own adjoint.")
        pivots = real(matrix_diag_part(cholesky(self.to_dense())))
        checked: Operation = assert_positive(pivots, message="Matrix was not positive definite.")
        return checked

    def _assert_self_adjoint(self) -> Operation:
        dense = self.to_dense()
        message = "Matrix was not equal to its adjoint."
        checked: Operation = assert_equal(dense, adjoint_of(dense), message=message)
        return checked

    # --------------------------------------------------------------------------------------------------- checks

    def _can_use_cholesky(self) -> bool:
        return bool(self.is_self_adjoint and self.is_positive_definite)

    def _expect_square(self, what: str) -> None:
        if self.is_square is False:
            raise UnimplementedError(f"{what} of {self.name} is not defined: the operator is not square")

    def _checked(self, x: Any, word: str, rows_are_ranges: bool, is_adjoint: bool) -> Tensor:
        """What is given as a tensor of the operator's data type, whose rows fit it."""
        given = convert(x, self._dtype, name=word)
        if (rank := given.static_shape.rank) is not None and rank >= 2:
            mine = self.range_dimension if rows_are_ranges else self.domain_dimension
            rows = Dimension(given.static_shape[-1 if is_adjoint else -2])
            _expect_equal(mine, rows, f"{self.name}: dimensions of the operator and of `{word}` differ: expected")
        return given


def _expect_equal(wanted: Dimension, found: Dimension, said: str) -> None:
    if not wanted.is_compatible_with(found):
        raise InvalidArgumentError(f"{said} to have {wanted} rows, got {found}")


def _singular_values(dense: Tensor) -> Tensor:
    found: Any = svd(dense, compute_uv=False)
    values: Tensor = found
    return values
