"""`tf.linalg.LinearOperatorLowerTriangular`: a lower triangular matrix, or a batch of them, as an operator."""

from __future__ import annotations

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.tensor_shape import Dimension, TensorShape
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, rank, shape, squeeze
from tensorkeep.tf1.functions.control.assertions import assert_none_equal
from tensorkeep.tf1.functions.linear_algebra.matrices import adjoint as adjoint_of
from tensorkeep.tf1.functions.linear_algebra.matrices import (
    matrix_band_part,
    matrix_diag_part,
    matrix_triangular_solve,
)
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import log
from tensorkeep.tf1.functions.numbers.reductions import reduce_prod, reduce_sum


class LinearOperatorLowerTriangular:
    """Multiplies by, and solves for, the lower triangle of a matrix; what stands above it counts as zero."""

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
                f"Argument tril must have at least 2 dimensions. Found: {self._tril.static_shape.rank}"
            )
        self._lower = matrix_band_part(self._tril, -1, 0)
        self.is_non_singular, self.is_self_adjoint = is_non_singular, is_self_adjoint
        self.is_positive_definite, self.is_square = is_positive_definite, True
        self.name = name

    # --------------------------------------------------------------------------------------------------- what it is

    @property
    def dtype(self) -> DType:
        return self._tril.dtype

    @property
    def graph_parents(self) -> list[Tensor]:
        return [self._tril]

    @property
    def shape(self) -> TensorShape:
        return self._tril.shape

    @property
    def batch_shape(self) -> TensorShape:
        return self.shape[:-2]

    @property
    def domain_dimension(self) -> Dimension:
        return self.shape[-1]

    @property
    def range_dimension(self) -> Dimension:
        return self.shape[-2]

    @property
    def tensor_rank(self) -> int | None:
        return self.shape.rank

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        return shape(self._tril, name)

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        found: Tensor = shape(self._tril, name)[:-2]
        return found

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        found: Tensor = shape(self._tril, name)[-1]
        return found

    range_dimension_tensor = domain_dimension_tensor

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        return rank(self._tril, name)

    # --------------------------------------------------------------------------------------------------- what it does

    def matmul(self, x: Tensor, adjoint: bool = False, adjoint_arg: bool = False, name: str = "matmul") -> Tensor:
        """The product with matrices."""
        with name_scope(self.name):
            return matmul(self._lower, x, adjoint_a=adjoint, adjoint_b=adjoint_arg, name=name)

    def matvec(self, x: TensorLike, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """The product with vectors."""
        return squeeze(self.matmul(expand_dims(x, -1), adjoint, name=name), [-1])

    def solve(self, rhs: TensorLike, adjoint: bool = False, adjoint_arg: bool = False, name: str = "solve") -> Tensor:
        """The matrices whose product with this one is `rhs`."""
        given = convert(rhs)
        if adjoint_arg:
            given = adjoint_of(given)
        with name_scope(self.name):
            return matrix_triangular_solve(self._lower, given, lower=True, adjoint=adjoint, name=name)

    def solvevec(self, rhs: TensorLike, adjoint: bool = False, name: str = "solve") -> Tensor:
        """The vectors whose product with this matrix is `rhs`."""
        return squeeze(self.solve(expand_dims(rhs, -1), adjoint, name=name), [-1])

    def determinant(self, name: str = "det") -> Tensor:
        return reduce_prod(self.diag_part(), axis=[-1], name=name)

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        return reduce_sum(log(absolute(self.diag_part())), axis=[-1], name=name)

    def diag_part(self, name: str = "diag_part") -> Tensor:
        return matrix_diag_part(self._lower, name=name)

    def trace(self, name: str = "trace") -> Tensor:
        return reduce_sum(self.diag_part(), axis=[-1], name=name)

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrix itself."""
        return self._lower

    def add_to_tensor(self, x: TensorLike, name: str = "add_to_tensor") -> Tensor:
        """The sum with matrices."""
        found: Tensor = self._lower + x
        return found

    def assert_non_singular(self, name: str = "assert_non_singular") -> Operation:
        """An operation that fails if a zero stands on the diagonal."""
        message = "Singular operator:  Diagonal contained zero values."
        found: Operation = assert_none_equal(self.diag_part(), convert(0, self.dtype), message=message, name=name)
        return found
