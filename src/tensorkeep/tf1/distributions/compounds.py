"""Poisson's distribution of rates that are drawn, by a few of them with weights; and how these are chosen."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.affine_vectors import dtype_of
from tensorkeep.tf1.distributions.base import NOT_REPARAMETERIZED, Distribution, derived_seed, options_of
from tensorkeep.tf1.distributions.discrete import Categorical, Poisson
from tensorkeep.tf1.functions.arrays.shapes import (
    broadcast_dynamic_shape,
    broadcast_static_shape,
    concat,
    expand_dims,
    one_hot,
    zeros,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.nn.activations import softmax
from tensorkeep.tf1.functions.numbers.elementwise import exp, log, square
from tensorkeep.tf1.functions.numbers.reductions import reduce_logsumexp, reduce_sum
from tensorkeep.tf1.functions.numbers.special import ndtri
from tensorkeep.tf1.functions.random.numbers import random_poisson

Quadrature = Callable[[Tensor, Tensor, int, bool], tuple[Any, Any]]


def _hermite(size: int, dtype: Any) -> tuple[Any, Any]:
    """Points and weights of the mean of a function of a normal number, by Gauss and Hermite."""
    points, weights = np.polynomial.hermite.hermgauss(size)
    kind = dtype.as_numpy_dtype
    return (math.sqrt(2.0) * points).astype(kind), (weights / weights.sum()).astype(kind)


def _middles(size: int, dtype: Any, transform: Callable[[Any], Any], loc: Any, scale: Any) -> tuple[Any, Any]:
    """The middles between the quantiles of what a function makes of normal numbers, and their equal weights."""
    edges = np.linspace(0.0, 1.0, size + 3)[1:-1].astype(dtype.as_numpy_dtype)
    quantiles: Any = transform(expand_dims(loc, -1) + expand_dims(scale, -1) * ndtri(convert(edges)))
    middles = 0.5 * (quantiles[..., :-1] + quantiles[..., 1:])
    return middles, np.full([size], 1.0 / size, dtype.as_numpy_dtype)


def quadrature_scheme_lognormal_gauss_hermite(
    loc: TensorLike,
    scale: TensorLike,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Logarithms of points, and their weights, for means over log-normal numbers: by Gauss and Hermite."""
    with name_scope(name or "quadrature_scheme_lognormal_gauss_hermite"):
        dtype = dtype_of(loc, scale)
        middle, width = convert(loc, dtype, name="loc"), convert(scale, dtype, name="scale")
        points, weights = _hermite(quadrature_size, dtype)
        grid: Any = expand_dims(middle, -1) + expand_dims(width, -1) * points
        return grid, weights + zeros_like(grid)


def quadrature_scheme_lognormal_quantiles(
    loc: TensorLike,
    scale: TensorLike,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Logarithms of points, and their weights, for means over log-normal numbers: the middles between quantiles.

    TensorFlow gives the points, and takes them for their logarithms.
    """
    with name_scope(name or "quadrature_scheme_lognormal_quantiles"):
        dtype = dtype_of(loc, scale)
        middle, width = convert(loc, dtype, name="loc"), convert(scale, dtype, name="scale")
        grid, weights = _middles(quadrature_size, dtype, exp, middle, width)
        return log(grid), weights + zeros_like(grid)


def quadrature_scheme_softmaxnormal_gauss_hermite(
    normal_loc: TensorLike,
    normal_scale: TensorLike,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Points of two shares, and their weights, for means over the softmax of a normal number: by Gauss and Hermite."""
    with name_scope(name or "quadrature_scheme_softmaxnormal_gauss_hermite"):
        dtype = dtype_of(normal_loc, normal_scale)
        loc, scale = convert(normal_loc, dtype, name="normal_loc"), convert(normal_scale, dtype, name="normal_scale")
        points, weights = _hermite(quadrature_size, dtype)
        return _two_shares(expand_dims(loc, -1) + expand_dims(scale, -1) * points), convert(weights)


def quadrature_scheme_softmaxnormal_quantiles(
    normal_loc: TensorLike,
    normal_scale: TensorLike,
    quadrature_size: int,
    validate_args: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """Points of two shares, and their weights, for means over the softmax of a normal number: middles of quantiles."""
    with name_scope(name or "quadrature_scheme_softmaxnormal_quantiles"):
        dtype = dtype_of(normal_loc, normal_scale)
        loc, scale = convert(normal_loc, dtype, name="normal_loc"), convert(normal_scale, dtype, name="normal_scale")
        grid, weights = _middles(quadrature_size, dtype, _two_shares, loc, scale)
        return grid, convert(weights)


def _two_shares(numbers: Any) -> Any:
    """The softmax of 0 and minus numbers, along the dimension before the last: a large one is a large first share."""
    return softmax(concat([zeros_like(numbers[..., :1, :]), -numbers], -2), axis=-2)


class PoissonLogNormalQuadratureCompound(Distribution):
    """How many events come at a rate that is log-normal: a mixture over a few rates.

    `quadrature_fn(loc, scale, quadrature_size, validate_args)` gives the logarithms of the rates, and their weights.
    """

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        quadrature_size: int = 8,
        quadrature_fn: Quadrature = quadrature_scheme_lognormal_quantiles,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "PoissonLogNormalQuadratureCompound",
    ) -> None:
        given = dict(locals())
        dtype = dtype_of(loc, scale)
        with name_scope(name) as self._name:
            self._loc, self._scale = convert(loc, dtype, name="loc"), convert(scale, dtype, name="scale")
            self._quadrature_size = quadrature_size
            grid, weights = quadrature_fn(self._loc, self._scale, quadrature_size, validate_args)
            self._rates, self._weights = exp(grid), convert(weights)
            self._mixture = Categorical(logits=log(self._weights), validate_args=validate_args)
            self._distribution = Poisson(self._rates, validate_args=validate_args, allow_nan_stats=allow_nan_stats)
        super().__init__(dtype, NOT_REPARAMETERIZED, **options_of(given))

    @property
    def mixture_distribution(self) -> Categorical:
        """What chooses a rate."""
        return self._mixture

    @property
    def distribution(self) -> Poisson:
        """Poisson's distributions of the rates."""
        return self._distribution

    @property
    def loc(self) -> Tensor:
        """The mean of the logarithm of the rate."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The deviation of the logarithm of the rate."""
        return self._scale

    @property
    def quadrature_size(self) -> int:
        """How many rates there are."""
        return self._quadrature_size

    def _batch_shape(self) -> Any:
        return broadcast_static_shape(self._loc.get_shape(), self._scale.get_shape())

    def _batch_shape_tensor(self) -> Tensor:
        return broadcast_dynamic_shape(shape_of(self._loc), shape_of(self._scale))

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        sizes = concat([[n], self.batch_shape_tensor()], 0)
        is_shared = self._mixture.batch_shape.rank == 0
        chosen = self._mixture.sample(sizes if is_shared else [n], seed=derived_seed(seed, "mixture"))
        mask = one_hot(chosen, self._quadrature_size, dtype=self.dtype)
        rates = reduce_sum(mask * self._rates, axis=-1)
        return random_poisson(rates, [], self.dtype, derived_seed(seed, "poisson"))

    def _log_prob(self, x: Any) -> Any:
        return reduce_logsumexp(log(self._weights) + self._distribution.log_prob(expand_dims(x, -1)), axis=-1)

    def _mean(self) -> Any:
        return reduce_sum(self._weights * self._rates, axis=-1) + zeros(self.batch_shape_tensor(), self.dtype)

    def _variance(self) -> Any:
        mean = self._mean()
        away = square(self._rates - expand_dims(mean, -1))
        return mean + reduce_sum(self._weights * away, axis=-1)
