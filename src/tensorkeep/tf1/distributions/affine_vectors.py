"""Distributions of vectors that are scaled and shifted: normal ones with any scale, Laplace's, exponential, skewed.

Draws are loc + scale @ z of vectors z of independent numbers of one family.
"""

from __future__ import annotations

import math
from typing import Any

from tensorkeep.dtypes import FLOAT32, DType
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.base import Distribution
from tensorkeep.tf1.distributions.bijectors.affine import AffineLinearOperator
from tensorkeep.tf1.distributions.bijectors.base import Bijector
from tensorkeep.tf1.distributions.bijectors.combining import Chain
from tensorkeep.tf1.distributions.bijectors.families import SinhArcsinh as SinhArcsinhBijector
from tensorkeep.tf1.distributions.continuous import Exponential, Laplace, Normal
from tensorkeep.tf1.distributions.divergences import RegisterKL
from tensorkeep.tf1.distributions.scales import scale_operator, shapes_of_vectors
from tensorkeep.tf1.distributions.transformed import TransformedDistribution
from tensorkeep.tf1.functions.arrays.shapes import concat, matrix_transpose, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_near
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.linear_algebra.linear_operators.base import LinearOperator
from tensorkeep.tf1.functions.linear_algebra.linear_operators.diagonals import LinearOperatorDiag
from tensorkeep.tf1.functions.linear_algebra.matrices import (
    cholesky,
    matrix_diag,
    matrix_diag_part,
)
from tensorkeep.tf1.functions.nn.activations import softplus
from tensorkeep.tf1.functions.numbers.elementwise import cast, sqrt, square
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum


def dtype_of(*values: Any) -> DType:
    """The type of the first of some parameters that has one; numbers of Python are float32."""
    for value in values:
        found = getattr(value, "dtype", None)
        if found is not None:
            return DType.of(found).base_dtype
    return FLOAT32


class AffineVectors(TransformedDistribution):
    """What families of vectors share: a location, a scale as an operator, and moments that follow from both."""

    def __init__(
        self,
        of_numbers: Distribution,
        loc: Tensor | None,
        scale: LinearOperator,
        validate_args: bool,
        name: str,
        inner: Bijector | None = None,
    ) -> None:
        batch, event = shapes_of_vectors(loc, scale)
        affine: Bijector = AffineLinearOperator(loc, scale, validate_args=validate_args)
        self._loc, self._scale = loc, scale
        bijector = affine if inner is None else Chain([affine, inner])
        super().__init__(of_numbers, bijector, batch, event, validate_args, name)

    @property
    def loc(self) -> Any:
        """What is added to each vector; None is nothing."""
        return self._loc

    @property
    def scale(self) -> LinearOperator:
        """What vectors are multiplied by, as a linear operator."""
        return self._scale

    def _vector_variance(self) -> Any:
        """The variance of the numbers that vectors are made of."""
        return self.distribution.variance()

    def _whole(self, value: Any, event_ndims: int) -> Any:
        """Something of an event, for each distribution of the batch."""
        sizes = concat([self.batch_shape_tensor(), shape_of(value)[-event_ndims:]], 0)
        found = value + zeros(sizes, self.dtype)
        if self.batch_shape.rank is not None:
            found.set_shape(self.batch_shape.concatenate(value.get_shape()[-event_ndims:]))
        return found

    def _covariance(self) -> Any:
        dense: Any
        if isinstance(self._scale, LinearOperatorDiag):
            dense = matrix_diag(square(self._scale.diag_part()))
        else:
            dense = self._scale.matmul(self._scale.to_dense(), adjoint_arg=True)
        return self._whole(self._vector_variance() * dense, 2)

    def _variance(self) -> Any:
        if isinstance(self._scale, LinearOperatorDiag):
            return self._whole(self._vector_variance() * square(self._scale.diag_part()), 1)
        return matrix_diag_part(self._covariance())

    def _stddev(self) -> Any:
        return sqrt(self._variance())


# ------------------------------------------------------------------------------------------------------------- Normal


class MultivariateNormalLinearOperator(AffineVectors):
    """Normal vectors, whose covariance is the product of a linear operator and its transpose."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale: LinearOperator | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalLinearOperator",
    ) -> None:
        given = dict(locals())
        if scale is None:
            raise InvalidArgumentError("Missing required `scale` parameter.")
        dtype = scale.dtype
        with name_scope(name) as name:
            middle = None if loc is None else convert(loc, dtype, name="loc")
            base = Normal(zeros([], dtype), convert(1.0, dtype), allow_nan_stats=allow_nan_stats)
        super().__init__(base, middle, scale, validate_args, name)
        self._keep_parameters(given)

    def _mode(self) -> Any:
        return self._mean()

    def _entropy(self) -> Any:
        size = cast(self.event_shape_tensor()[0], self.dtype)
        found = 0.5 * size * (1.0 + math.log(2.0 * math.pi)) + self._scale.log_abs_determinant()
        return found + zeros(self.batch_shape_tensor(), self.dtype)


class MultivariateNormalDiag(MultivariateNormalLinearOperator):
    """Vectors of independent normal numbers.

    The standard deviations are `scale_diag`, `scale_identity_multiplier` in every element, or their sum.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as name:
            middle, scale = _diagonal_scale(loc, scale_diag, scale_identity_multiplier, validate_args)
        super().__init__(middle, scale, validate_args, allow_nan_stats, name)
        self._keep_parameters(given)


def _diagonal_scale(loc: Any, diag: Any, multiplier: Any, validate_args: bool) -> tuple[Tensor | None, LinearOperator]:
    """A location and a diagonal scale, from what is given of them."""
    dtype = dtype_of(loc, diag, multiplier)
    if loc is None and diag is None:
        raise InvalidArgumentError("loc or scale_diag has to be given, for the size of its vectors")
    middle = None if loc is None else convert(loc, dtype, name="loc")
    return middle, scale_operator(dtype, multiplier, diag, like=middle, is_checked=validate_args)


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """Vectors of independent normal numbers, whose standard deviations are the softplus of what is given."""

    def __init__(
        self,
        loc: TensorLike,
        scale_diag: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as name:
            scale = softplus(convert(scale_diag, dtype_of(loc, scale_diag), name="scale_diag"))
        super().__init__(loc, scale, None, validate_args, allow_nan_stats, name)
        self._keep_parameters(given)


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """Normal vectors, whose covariance is the product of a lower triangle and its transpose; none is the identity."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_tril: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalTriL",
    ) -> None:
        given = dict(locals())
        if loc is None and scale_tril is None:
            raise InvalidArgumentError("Must specify one or both of `loc`, `scale_tril`.")
        dtype = dtype_of(loc, scale_tril)
        with name_scope(name) as name:
            middle = None if loc is None else convert(loc, dtype, name="loc")
            scale = scale_operator(dtype, tril=scale_tril, like=middle, is_checked=validate_args)
        super().__init__(middle, scale, validate_args, allow_nan_stats, name)
        self._keep_parameters(given)


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """Normal vectors with a covariance, which has to be symmetric and positive definite; none is the identity."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        covariance_matrix: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalFullCovariance",
    ) -> None:
        given = dict(locals())
        triangle = None
        if covariance_matrix is not None:
            with name_scope(name) as name:
                matrix = convert(covariance_matrix, dtype_of(loc, covariance_matrix), name="covariance_matrix")
                if validate_args:
                    check = assert_near(matrix, matrix_transpose(matrix), message="Matrix was not symmetric.")
                    matrix = with_dependencies([check], matrix)
                triangle = cholesky(matrix)
        super().__init__(loc, triangle, validate_args, allow_nan_stats, name)
        self._keep_parameters(given)


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """Normal vectors, whose scale is a diagonal and a product V D V^T of a thin matrix and a diagonal of a few."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        scale_perturb_factor: TensorLike | None = None,
        scale_perturb_diag: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagPlusLowRank",
    ) -> None:
        given = dict(locals())
        if scale_perturb_factor is None and scale_perturb_diag is not None:
            raise InvalidArgumentError("scale_perturb_diag goes with scale_perturb_factor, which is not given")
        dtype = dtype_of(loc, scale_diag, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag)
        with name_scope(name) as name:
            middle = None if loc is None else convert(loc, dtype, name="loc")
            scale = scale_operator(
                dtype,
                scale_identity_multiplier,
                scale_diag,
                None,
                scale_perturb_factor,
                scale_perturb_diag,
                like=middle,
                is_checked=validate_args,
            )
        super().__init__(middle, scale, validate_args, allow_nan_stats, name)
        self._keep_parameters(given)


@RegisterKL(MultivariateNormalLinearOperator, MultivariateNormalLinearOperator)
def _between_normal_vectors(
    a: MultivariateNormalLinearOperator, b: MultivariateNormalLinearOperator, name: str | None = None
) -> Any:
    apart: Any = (0.0 if b.loc is None else b.loc) - (0.0 if a.loc is None else a.loc)
    size = cast(a.event_shape_tensor()[0], a.dtype)
    spread: Any
    if isinstance(a.scale, LinearOperatorDiag) and isinstance(b.scale, LinearOperatorDiag):
        spread = reduce_sum(square(a.scale.diag_part() / b.scale.diag_part()), axis=-1)
    else:
        spread = reduce_sum(square(b.scale.solve(a.scale.to_dense())), axis=[-2, -1])
    shifted = 0.0 if isinstance(apart, float) else reduce_sum(square(b.scale.solvevec(apart)), axis=-1)
    logs = b.scale.log_abs_determinant() - a.scale.log_abs_determinant()
    return logs + 0.5 * (spread + shifted - size)


# ------------------------------------------------------------------------------------------------------ other families


class VectorLaplaceDiag(AffineVectors):
    """Vectors of independent numbers of Laplace's distribution, scaled by a diagonal."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorLaplaceDiag",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as name:
            middle, scale = _diagonal_scale(loc, scale_diag, scale_identity_multiplier, validate_args)
            base = Laplace(zeros([], scale.dtype), convert(1.0, scale.dtype), allow_nan_stats=allow_nan_stats)
        super().__init__(base, middle, scale, validate_args, name)
        self._keep_parameters(given)

    def _mode(self) -> Any:
        return self._mean()


class VectorExponentialDiag(AffineVectors):
    """Vectors of independent numbers of the exponential distribution, scaled by a diagonal."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorExponentialDiag",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as name:
            middle, scale = _diagonal_scale(loc, scale_diag, scale_identity_multiplier, validate_args)
            base = Exponential(convert(1.0, scale.dtype), allow_nan_stats=allow_nan_stats)
        super().__init__(base, middle, scale, validate_args, name)
        self._keep_parameters(given)

    def _mode(self) -> Any:
        # The most probable exponential number is 0.
        nothing = zeros(self.event_shape_tensor(), self.dtype)
        return self._whole(nothing if self._loc is None else nothing + self._loc, 1)


def skewed_by(skewness: Any, tailweight: Any, dtype: DType) -> tuple[Bijector, Any]:
    """The bijector that skews and stretches, and what makes numbers as wide as before where nothing is skewed."""
    tail = convert(1.0 if tailweight is None else tailweight, dtype, name="tailweight")
    lean = convert(0.0 if skewness is None else skewness, dtype, name="skewness")
    widest = SinhArcsinhBijector(tailweight=tail).forward(convert(2.0, dtype))
    return SinhArcsinhBijector(lean, tail), 2.0 / widest


class VectorSinhArcsinhDiag(AffineVectors):
    """Vectors of independent numbers that are skewed and stretched, then scaled by a diagonal."""

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        skewness: TensorLike | None = None,
        tailweight: TensorLike | None = None,
        distribution: Distribution | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorSinhArcsinhDiag",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as name:
            middle, scale = _diagonal_scale(loc, scale_diag, scale_identity_multiplier, validate_args)
            base = Normal(zeros([], scale.dtype), convert(1.0, scale.dtype)) if distribution is None else distribution
            self._skewing, width = skewed_by(skewness, tailweight, scale.dtype)
            operator = LinearOperatorDiag(scale.diag_part() * width, is_non_singular=True)
        super().__init__(base, middle, operator, validate_args, name, inner=self._skewing)
        self._keep_parameters(given)

    @property
    def skewness(self) -> Any:
        return self._skewing.skewness  # type: ignore[attr-defined]

    @property
    def tailweight(self) -> Any:
        return self._skewing.tailweight  # type: ignore[attr-defined]

    def _covariance(self) -> Any:
        raise UnimplementedError("covariance is not implemented: VectorSinhArcsinhDiag")

    def _variance(self) -> Any:
        raise UnimplementedError("variance is not implemented: VectorSinhArcsinhDiag")

    def _stddev(self) -> Any:
        raise UnimplementedError("stddev is not implemented: VectorSinhArcsinhDiag")
