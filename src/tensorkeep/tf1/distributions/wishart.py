"""Wishart's distribution, of positive definite matrices: sums of outer products of normal vectors."""

from __future__ import annotations

import math
from typing import Any

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.distributions.affine_vectors import dtype_of
from tensorkeep.tf1.distributions.base import FULLY_REPARAMETERIZED, Distribution, derived_seed, options_of
from tensorkeep.tf1.distributions.continuous import undefined_unless
from tensorkeep.tf1.functions.arrays.shapes import (
    broadcast_dynamic_shape,
    broadcast_static_shape,
    concat,
    expand_dims,
    ones,
    stack,
    zeros,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_greater_equal, assert_positive
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.linear_algebra.linear_operators.base import LinearOperator
from tensorkeep.tf1.functions.linear_algebra.linear_operators.derived import LinearOperatorLowerTriangular
from tensorkeep.tf1.functions.linear_algebra.matrices import (
    cholesky,
    matrix_band_part,
    matrix_diag_part,
    matrix_set_diag,
)
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.numbers.elementwise import cast, digamma, lgamma, log, sqrt, square
from tensorkeep.tf1.functions.numbers.elementwise import range as range_tensor
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.functions.random.numbers import random_gamma, random_normal


class _Wishart(Distribution):
    """What both forms share: degrees of freedom, and the lower triangle L of the scale L L^T as an operator."""

    def __init__(self, given: dict[str, Any], df: Tensor, operator: LinearOperator) -> None:
        self._df, self._operator = df, operator
        self._cholesky = bool(given["cholesky_input_output_matrices"])
        rows = operator.domain_dimension.value
        self._rows: Any = convert(operator.domain_dimension_tensor() if rows is None else rows, INT32)
        self._dimension: Any = cast(self._rows, df.dtype)
        self._check_degrees(rows, given["validate_args"])
        super().__init__(df.dtype, FULLY_REPARAMETERIZED, **options_of(given))

    def _check_degrees(self, rows: int | None, is_checked: bool) -> None:
        known = constant_value(self._df)
        if known is not None and rows is not None and (known < rows).any():
            raise InvalidArgumentError(
                f"Degrees of freedom (df = {known}) cannot be less than dimension of scale matrix ({rows})"
            )
        if is_checked and (known is None or rows is None):
            message = f"Degrees of freedom (df = {self._df.name}) cannot be less than dimension of scale matrix"
            check = assert_greater_equal(self._df, self._dimension, message=message)
            self._df = with_dependencies([check], self._df)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom: of how many outer products draws are the sum."""
        return self._df

    @property
    def cholesky_input_output_matrices(self) -> bool:
        """Whether matrices go in and come out as their Cholesky factors."""
        return self._cholesky

    @property
    def scale_operator(self) -> LinearOperator:
        """The lower triangle of the scale."""
        return self._operator

    @property
    def dimension(self) -> Tensor:
        """How many rows matrices have."""
        return self._rows  # type: ignore[no-any-return]

    def scale(self) -> Tensor:
        """The scale, or its Cholesky factor where matrices are given and returned as those."""
        with self._scope("scale"):
            return self._operator.to_dense() if self._cholesky else self._squared(self._operator.to_dense())

    def _squared(self, triangle: Any) -> Any:
        return matmul(triangle, triangle, adjoint_b=True)

    # ----------------------------------------------------------------------------------------------------- shapes

    def _batch_shape(self) -> Any:
        return broadcast_static_shape(self._df.get_shape(), self._operator.batch_shape)

    def _batch_shape_tensor(self) -> Tensor:
        return broadcast_dynamic_shape(shape_of(self._df), self._operator.batch_shape_tensor())

    def _event_shape(self) -> Any:
        rows = self._operator.domain_dimension.value
        return TensorShape([rows, rows])

    def _event_shape_tensor(self) -> Tensor:
        return stack([self._rows, self._rows])

    # --------------------------------------------------------------------------------------- draws and probabilities

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        # Bartlett's decomposition: normal numbers below a diagonal of roots of Chi2 numbers.
        batch = self._batch_shape_tensor()
        normal = random_normal(
            concat([[n], batch, self._event_shape_tensor()], 0), dtype=self.dtype, seed=derived_seed(seed, "normal")
        )
        degrees = self._each_degrees() + zeros(concat([batch, [1]], 0), self.dtype)
        squares = random_gamma([n], 0.5 * degrees, 0.5, self.dtype, derived_seed(seed, "chi2"))
        triangle = matrix_set_diag(matrix_band_part(normal, -1, 0), sqrt(squares))
        found = self._operator.matmul(triangle)
        return found if self._cholesky else self._squared(found)

    def _each_degrees(self) -> Any:
        """The degrees of freedom of each row: df, df - 1, ..."""
        return expand_dims(self._df, -1) - cast(range_tensor(self._rows), self.dtype)

    def _log_gamma_of_matrices(self) -> Any:
        """The logarithm of the multivariate gamma function of df / 2."""
        rows = self._dimension
        return 0.25 * math.log(math.pi) * rows * (rows - 1.0) + reduce_sum(lgamma(0.5 * self._each_degrees()), -1)

    def _digamma_of_matrices(self) -> Any:
        return reduce_sum(digamma(0.5 * self._each_degrees()), -1)

    def log_normalization(self, name: str = "log_normalization") -> Tensor:
        """The logarithm of what densities are divided by."""
        with self._scope(name):
            found: Tensor = (
                self._df * self._operator.log_abs_determinant()
                + 0.5 * self._df * self._dimension * math.log(2.0)
                + self._log_gamma_of_matrices()
            )
            return found

    def mean_log_det(self, name: str = "mean_log_det") -> Tensor:
        """What the logarithm of a draw's determinant is on average."""
        with self._scope(name):
            found: Tensor = (
                self._digamma_of_matrices()
                + self._dimension * math.log(2.0)
                + 2.0 * self._operator.log_abs_determinant()
            )
            return found

    def _log_prob(self, x: Any) -> Any:
        triangle: Any = x if self._cholesky else cholesky(x)
        # The trace of (L L^T)^-1 X is the sum of the squares of L^-1 times the factor of X.
        trace = reduce_sum(square(self._operator.solve(triangle)), axis=[-2, -1])
        half_log_det = reduce_sum(log(matrix_diag_part(triangle)), axis=-1)
        return (self._df - self._dimension - 1.0) * half_log_det - 0.5 * trace - self.log_normalization()

    # -------------------------------------------------------------------------------------------------------- moments

    def _entropy(self) -> Any:
        more = self._dimension + 1.0
        return (
            self._dimension * more * 0.5 * math.log(2.0)
            + more * self._operator.log_abs_determinant()
            + self._log_gamma_of_matrices()
            - 0.5 * (self._df - more) * self._digamma_of_matrices()
            + 0.5 * self._df * self._dimension
        )

    def _matrices(self, factor: Any, root: Any) -> Any:
        """The scale times a factor, or the Cholesky factor of that, which is given the root."""
        if self._cholesky:
            return expand_dims(expand_dims(root, -1), -1) * self._operator.to_dense()
        return expand_dims(expand_dims(factor, -1), -1) * self._squared(self._operator.to_dense())

    def _mean(self) -> Any:
        return self._matrices(self._df, sqrt(self._df))

    def _variance(self) -> Any:
        scale = self._squared(self._operator.to_dense())
        diagonal: Any = matrix_diag_part(scale)
        spread = square(scale) + expand_dims(diagonal, -1) * expand_dims(diagonal, -2)
        found = expand_dims(expand_dims(self._df, -1), -1) * spread
        return cholesky(found) if self._cholesky else found

    def _stddev(self) -> Any:
        if self._cholesky:
            raise InvalidArgumentError(
                "there is no stddev of Cholesky factors: pass cholesky_input_output_matrices=False"
            )
        return sqrt(self._variance())

    def _mode(self) -> Any:
        over: Any = self._df - self._dimension - 1.0
        safe = over * ones(self.batch_shape_tensor(), self.dtype)
        modes = self._matrices(safe, sqrt(safe))
        is_defined = expand_dims(expand_dims(over > 0.0, -1), -1)
        return undefined_unless(self, is_defined, modes, over + 1.0, "mode undefined when df <= dimension + 1")


class WishartCholesky(_Wishart):
    """Wishart's distribution, whose scale is given as its Cholesky factor.

    With `cholesky_input_output_matrices` draws, values and moments are Cholesky factors as well.
    """

    def __init__(
        self,
        df: TensorLike,
        scale: TensorLike,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartCholesky",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            triangle = convert(scale, dtype_of(scale, df), name="scale")
            if validate_args:
                check = assert_positive(matrix_diag_part(triangle), message="scale must be positive definite")
                triangle = with_dependencies([check], triangle)
            degrees = convert(df, triangle.dtype, name="df")
            operator = LinearOperatorLowerTriangular(triangle, is_non_singular=True)
        super().__init__(given, degrees, operator)


class WishartFull(_Wishart):
    """Wishart's distribution, whose scale is given as a matrix.

    With `cholesky_input_output_matrices` draws, values and moments are Cholesky factors.
    """

    def __init__(
        self,
        df: TensorLike,
        scale: TensorLike,
        cholesky_input_output_matrices: bool = False,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "WishartFull",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            matrix = convert(scale, dtype_of(scale, df), name="scale")
            degrees = convert(df, matrix.dtype, name="df")
            triangle = cholesky(matrix)
            operator = LinearOperatorLowerTriangular(triangle, is_non_singular=True)
        super().__init__(given, degrees, operator)
