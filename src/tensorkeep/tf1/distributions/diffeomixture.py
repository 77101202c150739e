"""Vectors that are scaled and shifted by a drawn mixture of two ways to do it: VectorDiffeomixture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.errors import InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.distributions.base import FULLY_REPARAMETERIZED, Distribution, derived_seed, options_of
from tensorkeep.tf1.distributions.bijectors.affine import AffineLinearOperator
from tensorkeep.tf1.distributions.compounds import Quadrature, quadrature_scheme_softmaxnormal_quantiles
from tensorkeep.tf1.distributions.discrete import Categorical
from tensorkeep.tf1.functions.arrays.shapes import (
    broadcast_dynamic_shape,
    broadcast_static_shape,
    concat,
    expand_dims,
    one_hot,
    stack,
    zeros,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.linear_algebra.linear_operators.base import LinearOperator
from tensorkeep.tf1.functions.linear_algebra.linear_operators.derived import LinearOperatorLowerTriangular
from tensorkeep.tf1.functions.linear_algebra.linear_operators.diagonals import (
    LinearOperatorDiag,
    LinearOperatorScaledIdentity,
)
from tensorkeep.tf1.functions.linear_algebra.linear_operators.identities import LinearOperatorIdentity
from tensorkeep.tf1.functions.linear_algebra.linear_operators.structured import LinearOperatorFullMatrix
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_diag_part
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.numbers.elementwise import log
from tensorkeep.tf1.functions.numbers.reductions import reduce_logsumexp, reduce_sum

_DIAGONAL = (LinearOperatorDiag, LinearOperatorIdentity, LinearOperatorScaledIdentity)


class VectorDiffeomixture(Distribution):
    """w (loc_0 + scale_0 @ z) + (1 - w) (loc_1 + scale_1 @ z) of vectors z of independent numbers, and a drawn share w.

    The share is the sigmoid of a normal number of mean `mix_loc / temperature` and deviation `1 / temperature`, of
    which `quadrature_fn` chooses a few points: densities are sums over these.
    """

    def __init__(
        self,
        mix_loc: TensorLike,
        temperature: TensorLike,
        distribution: Distribution,
        loc: Sequence[TensorLike | None] | None = None,
        scale: Sequence[LinearOperator] | None = None,
        quadrature_size: int = 8,
        quadrature_fn: Quadrature = quadrature_scheme_softmaxnormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDiffeomixture",
    ) -> None:
        given = dict(locals())
        scales = _checked_scales(scale)
        dtype = scales[0].dtype
        _check_numbers(distribution, dtype)
        with name_scope(name) as self._name:
            locs = [None, None] if loc is None else [None if each is None else convert(each, dtype) for each in loc]
            if len(locs) != 2:
                raise InvalidArgumentError(
                    f"loc has to be of as many vectors as scale has operators, 2, not {len(locs)}"
                )
            middle, heat = convert(mix_loc, dtype, name="mix_loc"), convert(temperature, dtype, name="temperature")
            if middle.get_shape()[-1:].as_list() not in ([1], [None]):
                raise UnimplementedError(f"mix_loc has to be of the shape [..., 1], for two affine maps: {middle}")
            grid, weights = quadrature_fn(middle / heat, 1.0 / heat, quadrature_size, validate_args)
            self._grid, self._weights = convert(grid, dtype), convert(weights, dtype)
            self._distribution, self._size = distribution, quadrature_size
            self._mixture = Categorical(logits=log(self._weights), validate_args=validate_args)
            pairs = list(zip(locs, scales, strict=True))
            self._ends = [AffineLinearOperator(shift, each, validate_args=validate_args) for shift, each in pairs]
            self._between = [self._interpolated(index) for index in range(quadrature_size)]
        super().__init__(dtype, FULLY_REPARAMETERIZED, **options_of(given))

    # ------------------------------------------------------------------------------------------------- what it is

    @property
    def distribution(self) -> Distribution:
        """Of what numbers vectors are made."""
        return self._distribution

    @property
    def mixture_distribution(self) -> Categorical:
        """What chooses a point."""
        return self._mixture

    @property
    def grid(self) -> Tensor:
        """The shares of both ways at each point: [..., 2, points]."""
        return self._grid

    @property
    def endpoint_affine(self) -> list[AffineLinearOperator]:
        """The two ways to scale and shift."""
        return list(self._ends)

    @property
    def interpolated_affine(self) -> list[AffineLinearOperator]:
        """The way to scale and shift at each point."""
        return list(self._between)

    def _interpolated(self, index: int) -> AffineLinearOperator:
        shares: list[Any] = [self._grid[..., end, index] for end in range(2)]
        scale = _weighed_operators([end.scale for end in self._ends], shares)
        shifts = [(end.shift, share) for end, share in zip(self._ends, shares, strict=True) if end.shift is not None]
        shift: Any = None
        for each, share in shifts:
            part = expand_dims(share, -1) * each
            shift = part if shift is None else shift + part
        return AffineLinearOperator(shift, scale)

    def _batch_shape(self) -> Any:
        known: Any = self._grid.get_shape()[:-2]
        for end in self._ends:
            known = broadcast_static_shape(known, end.scale.batch_shape if end.scale is not None else [])
            known = known if end.shift is None else broadcast_static_shape(known, end.shift.get_shape()[:-1])
        return known

    def _batch_shape_tensor(self) -> Tensor:
        found: Any = shape_of(self._grid)[:-2]
        for end in self._ends:
            assert end.scale is not None  # as it was checked
            found = broadcast_dynamic_shape(found, end.scale.batch_shape_tensor())
            found = found if end.shift is None else broadcast_dynamic_shape(found, shape_of(end.shift)[:-1])
        result: Tensor = found
        return result

    def _event_shape(self) -> Any:
        return TensorShape([self._scale(0).range_dimension])

    def _event_shape_tensor(self) -> Tensor:
        return expand_dims(self._scale(0).range_dimension_tensor(), 0)

    def _scale(self, end: int) -> LinearOperator:
        found = self._ends[end].scale
        assert found is not None  # as it was checked
        return found

    # --------------------------------------------------------------------------------------- draws and probabilities

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        sizes = concat([[n], self.batch_shape_tensor()], 0)
        numbers = self._distribution.sample(concat([sizes, self.event_shape_tensor()], 0), seed=seed)
        chosen = self._mixture.sample(sizes, seed=derived_seed(seed, "diffeomixture"))
        mask = one_hot(chosen, self._size, dtype=self.dtype)
        total: Any = None
        for end, affine in enumerate(self._ends):
            shares = reduce_sum(mask * self._grid[..., end, :], axis=-1, keepdims=True)
            part = shares * affine.forward(numbers)
            total = part if total is None else total + part
        return total

    def _log_prob(self, x: Any) -> Any:
        each = []
        for affine in self._between:
            numbers = affine.inverse(x)
            logs = reduce_sum(self._distribution.log_prob(numbers), axis=-1)
            each.append(logs + affine.inverse_log_det_jacobian(x, event_ndims=1))
        return reduce_logsumexp(stack(each, axis=-1) + log(self._weights), axis=-1)

    # -------------------------------------------------------------------------------------------------------- moments

    def _means(self) -> list[Any]:
        """The mean at each point, for each distribution of the batch."""
        sizes = concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        some = self._distribution.mean() + zeros(sizes, self.dtype)
        return [affine.forward(some) for affine in self._between]

    def _mean(self) -> Any:
        return reduce_sum(stack(self._means(), axis=-1) * self._weights, axis=-1)

    def _covariance(self) -> Any:
        means = self._means()
        middle = reduce_sum(stack(means, axis=-1) * self._weights, axis=-1)
        total: Any = None
        for index, (affine, mean) in enumerate(zip(self._between, means, strict=True)):
            assert affine.scale is not None
            dense, away = affine.scale.to_dense(), expand_dims(mean - middle, -1)
            within = self._distribution.variance() * matmul(dense, dense, adjoint_b=True)
            part = self._weights[index] * (within + matmul(away, away, adjoint_b=True))
            total = part if total is None else total + part
        return total

    def _variance(self) -> Any:
        return matrix_diag_part(self._covariance())


def _checked_scales(scale: Any) -> list[LinearOperator]:
    if scale is None:
        raise InvalidArgumentError("VectorDiffeomixture: Missing required parameter 'scale'.")
    scales = list(scale)
    if len(scales) != 2:
        raise UnimplementedError(f"VectorDiffeomixture mixes two affine maps, and is given {len(scales)} scales")
    for each in scales:
        if not isinstance(each, LinearOperator):
            raise WrongTypeError(f"scale has to be of linear operators of tf.linalg, and holds {each!r}")
    if scales[0].dtype is not scales[1].dtype:
        raise WrongTypeError(f"the scales have to be of one dtype: {scales[0].dtype.name}, {scales[1].dtype.name}")
    return scales


def _check_numbers(distribution: Distribution, dtype: Any) -> None:
    if distribution.batch_shape.rank != 0 or distribution.event_shape.rank != 0:
        raise InvalidArgumentError(
            f"`distribution` must be scalar, of single numbers: {distribution.name} has the batch shape "
            f"{distribution.batch_shape} and the event shape {distribution.event_shape}"
        )
    if distribution.dtype is not dtype:
        raise WrongTypeError(f"`distribution` has the dtype {distribution.dtype.name}, and the scales {dtype.name}")


def _weighed_operators(scales: Sequence[Any], shares: Sequence[Any]) -> LinearOperator:
    """The sum of operators times numbers, as an operator of the plainest kind that it is."""
    pairs = list(zip(scales, shares, strict=True))
    if all(isinstance(each, _DIAGONAL) for each in scales):
        diagonal: Any = sum(expand_dims(share, -1) * each.diag_part() for each, share in pairs)
        return LinearOperatorDiag(diagonal, is_non_singular=True)
    dense: Any = sum(expand_dims(expand_dims(share, -1), -1) * each.to_dense() for each, share in pairs)
    if all(isinstance(each, (*_DIAGONAL, LinearOperatorLowerTriangular)) for each in scales):
        return LinearOperatorLowerTriangular(dense, is_non_singular=True)
    return LinearOperatorFullMatrix(dense, is_non_singular=True)
