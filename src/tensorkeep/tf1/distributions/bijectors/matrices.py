"""Bijectors of matrices: triangles of vectors, products and inverses of triangles, and products with a vector."""

from __future__ import annotations

import math
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.distributions.bijectors.affine import AffineScalar
from tensorkeep.tf1.distributions.bijectors.base import Bijector
from tensorkeep.tf1.distributions.bijectors.combining import Chain, TransformDiagonal
from tensorkeep.tf1.distributions.bijectors.elementwise import Softplus
from tensorkeep.tf1.distributions.triangles import fill_triangular, fill_triangular_inverse, triangle_rows
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_near, assert_none_equal, assert_positive
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.linear_algebra.matrices import (
    cholesky,
    eye,
    lu_reconstruct,
    lu_solve,
    matrix_band_part,
    matrix_diag_part,
    matrix_triangular_solve,
)
from tensorkeep.tf1.functions.linear_algebra.products import matmul, matvec
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import cast, log
from tensorkeep.tf1.functions.numbers.elementwise import range as range_tensor
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum


class FillTriangular(Bijector):
    """Vectors as triangles, which `fill_triangular` makes."""

    def __init__(self, upper: bool = False, validate_args: bool = False, name: str = "fill_triangular") -> None:
        self._upper = upper
        super().__init__(
            is_constant_jacobian=True,
            validate_args=validate_args,
            forward_min_event_ndims=1,
            inverse_min_event_ndims=2,
            name=name,
        )

    def _forward(self, x: Any) -> Any:
        return fill_triangular(x, upper=self._upper)

    def _inverse(self, y: Any) -> Any:
        return fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return zeros([], x.dtype)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return zeros([], y.dtype)

    def _forward_event_shape(self, input_shape: TensorShape) -> Any:
        if input_shape.rank is None:
            return input_shape
        count = input_shape.as_list()[-1]
        rows = None if count is None else triangle_rows(count)
        return input_shape[:-1].concatenate([rows, rows])

    def _inverse_event_shape(self, output_shape: TensorShape) -> Any:
        if output_shape.rank is None:
            return output_shape
        rows, columns = output_shape.as_list()[-2:]
        if None is not rows != columns is not None:
            raise InvalidArgumentError(f"{self.name}: matrices have to be square, and are of the shape {output_shape}")
        return output_shape[:-2].concatenate([None if rows is None else rows * (rows + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        count = input_shape[-1]
        # The largest row whose triangle is not larger: small numbers, counted.
        totals = range_tensor(1, count + 2) * range_tensor(2, count + 3) // 2
        rows = reduce_sum(cast(totals <= count, input_shape.dtype))
        return concat([input_shape[:-1], [rows, rows]], 0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        rows = output_shape[-1]
        return concat([output_shape[:-2], [rows * (rows + 1) // 2]], 0)


class ScaleTriL(Chain):
    """Vectors as lower triangles, whose diagonals `diag_bijector` makes positive and `diag_shift` is added to."""

    def __init__(
        self,
        diag_bijector: Bijector | None = None,
        diag_shift: TensorLike | None = 1e-5,
        validate_args: bool = False,
        name: str = "scale_tril",
    ) -> None:
        of_diagonal = diag_bijector if diag_bijector is not None else Softplus(validate_args=validate_args)
        if diag_shift is not None:
            of_diagonal = Chain([AffineScalar(shift=diag_shift), of_diagonal])
        parts = [TransformDiagonal(of_diagonal), FillTriangular()]
        super().__init__(parts, validate_args=validate_args, name=name)


class CholeskyOuterProduct(Bijector):
    """X X^T of lower triangles X with positive diagonals."""

    def __init__(self, validate_args: bool = False, name: str = "cholesky_outer_product") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=2, name=name)

    def _forward(self, x: Any) -> Any:
        lower = matrix_band_part(x, -1, 0)
        if self.validate_args:
            checks = [
                assert_near(x, lower, message="Input has to be lower triangular."),
                assert_positive(matrix_diag_part(x), message="Input has to have a positive diagonal."),
            ]
            lower = with_dependencies(checks, lower)
        return matmul(lower, lower, adjoint_b=True)

    def _inverse(self, y: Any) -> Any:
        return cholesky(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        # The derivative is a triangle, in which element (k, k) of x stands n - k times on the diagonal, and 2 once.
        diagonal: Any = matrix_diag_part(x)
        known = diagonal.get_shape()[-1:].num_elements() if diagonal.get_shape().rank is not None else None
        rows: Any = shape_of(diagonal)[-1] if known is None else known
        times = cast(range_tensor(rows, 0, -1), x.dtype)
        return reduce_sum(times * log(diagonal), -1) + cast(rows, x.dtype) * math.log(2.0)


class MatrixInverseTriL(Bijector):
    """The inverses of lower triangles."""

    def __init__(self, validate_args: bool = False, name: str = "matrix_inverse_tril") -> None:
        super().__init__(validate_args=validate_args, forward_min_event_ndims=2, name=name)

    def _forward(self, x: Any) -> Any:
        if self.validate_args:
            message = "Input must be nonsingular: a zero stands on its diagonal."
            check = assert_none_equal(matrix_diag_part(x), convert(0, x.dtype), message=message)
            x = with_dependencies([check], x)
        known = x.get_shape()
        batch = known[:-2].as_list() if known[:-2].is_fully_defined() else shape_of(x)[:-2]
        rows = known[-1:].num_elements() or shape_of(x)[-1]
        return matrix_triangular_solve(x, eye(rows, batch_shape=batch, dtype=x.dtype), lower=True)

    def _inverse(self, y: Any) -> Any:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        rows = cast(shape_of(x)[-1], x.dtype)
        return -(rows + 1.0) * reduce_sum(log(absolute(matrix_diag_part(x))), -1)

    def _inverse_log_det_jacobian(self, y: Any) -> Any:
        return self._forward_log_det_jacobian(y)


class MatvecLU(Bijector):
    """The product of a matrix, given by the factors of `tf.linalg.lu`, with vectors."""

    def __init__(
        self,
        lower_upper: TensorLike,
        permutation: TensorLike,
        validate_args: bool = False,
        name: str | None = None,
    ) -> None:
        with name_scope(name or "MatvecLU"):
            self._lower_upper = convert(lower_upper, preferred_dtype=None, name="lower_upper")
            self._permutation = convert(permutation, name="permutation")
        super().__init__(
            is_constant_jacobian=True,
            validate_args=validate_args,
            dtype=self._lower_upper.dtype.base_dtype,
            forward_min_event_ndims=1,
            name=name or "MatvecLU",
        )

    @property
    def lower_upper(self) -> Tensor:
        """Both triangles, in one matrix."""
        return self._lower_upper

    @property
    def permutation(self) -> Tensor:
        """The order of the rows."""
        return self._permutation

    def _forward(self, x: Any) -> Any:
        return matvec(lu_reconstruct(self._lower_upper, self._permutation), x)

    def _inverse(self, y: Any) -> Any:
        return lu_solve(self._lower_upper, self._permutation, expand_dims(y, -1))[..., 0]

    def _forward_log_det_jacobian(self, x: Any) -> Any:
        return reduce_sum(log(absolute(matrix_diag_part(self._lower_upper))), -1)
