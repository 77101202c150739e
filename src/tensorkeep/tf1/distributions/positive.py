"""Distributions of numbers above 0 or between 0 and 1: Chi2, InverseGamma, HalfNormal, Kumaraswamy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.base import FULLY_REPARAMETERIZED, Broadcast, options_of
from tensorkeep.tf1.distributions.bijectors.families import Kumaraswamy as KumaraswamyBijector
from tensorkeep.tf1.distributions.continuous import Gamma, Uniform, checked_sample, positive, undefined_unless
from tensorkeep.tf1.distributions.divergences import RegisterKL
from tensorkeep.tf1.distributions.transformed import TransformedDistribution
from tensorkeep.tf1.functions.arrays.shapes import (
    broadcast_dynamic_shape,
    broadcast_static_shape,
    ones_like,
    where_v2,
    zeros,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import (
    digamma,
    erf,
    erfc,
    exp,
    lgamma,
    log,
    logical_and,
    minimum,
    square,
)
from tensorkeep.tf1.functions.numbers.special import erfinv, igammac
from tensorkeep.tf1.functions.random.numbers import random_gamma, random_normal


class Chi2(Gamma):
    """The distribution of the sum of the squares of `df` normal numbers."""

    def __init__(
        self, df: TensorLike, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2"
    ) -> None:
        given = dict(locals())
        with name_scope(name) as name:
            self._df = positive(df, "df", validate_args)
            half = convert(0.5, self._df.dtype)
        super().__init__(half * self._df, half, validate_args, allow_nan_stats, name)
        self._keep_parameters(given)

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df


class InverseGamma(Broadcast):
    """The distribution of one over a number of a gamma distribution."""

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGamma",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._concentration = positive(concentration, "concentration", validate_args)
            self._rate = positive(rate, "rate", validate_args)
        self._set(self._concentration, self._rate)
        super().__init__(self._concentration.dtype, FULLY_REPARAMETERIZED, **options_of(given))

    @property
    def concentration(self) -> Tensor:
        """The shape."""
        return self._concentration

    @property
    def rate(self) -> Tensor:
        """The rate of the gamma distribution, which is the scale of this one."""
        return self._rate

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        return 1.0 / random_gamma([n], self._concentration, self._rate, self.dtype, seed)

    def _log_prob(self, x: Any) -> Any:
        x = checked_sample(self, x)
        shape = self._concentration
        return shape * log(self._rate) - lgamma(shape) - (1.0 + shape) * log(x) - self._rate / x

    def _cdf(self, x: Any) -> Any:
        x = checked_sample(self, x)
        return igammac(self._concentration * ones_like(x), self._rate / x)

    def _entropy(self) -> Any:
        shape = self._concentration
        return shape + log(self._rate) + lgamma(shape) - (1.0 + shape) * digamma(shape)

    def _mean(self) -> Any:
        shape: Any = self._concentration
        mean = self._rate / where_v2(shape > 1.0, shape - 1.0, ones_like(shape))
        return undefined_unless(self, shape > 1.0, mean, shape, "mean undefined when any concentration <= 1")

    def _variance(self) -> Any:
        shape: Any = self._concentration
        safe = where_v2(shape > 2.0, shape, 3.0 * ones_like(shape))
        variance = square(self._rate) / square(safe - 1.0) / (safe - 2.0)
        limit = shape - 1.0
        return undefined_unless(self, shape > 2.0, variance, limit, "variance undefined when any concentration <= 2")

    def _mode(self) -> Any:
        return self._rate / (1.0 + self._concentration)


@RegisterKL(InverseGamma, InverseGamma)
def _between_inverse_gammas(a: InverseGamma, b: InverseGamma, name: str | None = None) -> Any:
    return (
        (a.concentration - b.concentration) * digamma(a.concentration)
        + lgamma(b.concentration)
        - lgamma(a.concentration)
        + b.concentration * log(a.rate)
        - b.concentration * log(b.rate)
        + a.concentration * (b.rate / a.rate - 1.0)
    )


class HalfNormal(Broadcast):
    """The distribution of the absolute value of a normal number around 0."""

    def __init__(
        self,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "HalfNormal",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._scale = positive(scale, "scale", validate_args)
        self._set(self._scale)
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, **options_of(given))

    @property
    def scale(self) -> Tensor:
        """The standard deviation of the normal number."""
        return self._scale

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        return absolute(random_normal(self._drawn_shape(n), dtype=self.dtype, seed=seed) * self._scale)

    def _log_prob(self, x: Any) -> Any:
        inside = 0.5 * math.log(2.0 / math.pi) - log(self._scale) - 0.5 * square(x / self._scale)
        return where_v2(x < 0.0, -np.inf * ones_like(inside), inside)

    def _cdf(self, x: Any) -> Any:
        return erf(self._over_root(x))

    def _survival_function(self, x: Any) -> Any:
        return erfc(self._over_root(x))

    def _over_root(self, x: Any) -> Any:
        positive_part = where_v2(x > 0.0, x, zeros_like(x))
        return positive_part / (self._scale * math.sqrt(2.0))

    def _quantile(self, p: Any) -> Any:
        return math.sqrt(2.0) * self._scale * erfinv(p)

    def _entropy(self) -> Any:
        return 0.5 * math.log(math.pi / 2.0) + log(self._scale) + 0.5

    def _mean(self) -> Any:
        return self._scale * math.sqrt(2.0 / math.pi)

    def _mode(self) -> Any:
        return zeros(self.batch_shape_tensor(), self.dtype)

    def _variance(self) -> Any:
        return square(self._scale) * (1.0 - 2.0 / math.pi)


@RegisterKL(HalfNormal, HalfNormal)
def _between_half_normals(a: HalfNormal, b: HalfNormal, name: str | None = None) -> Any:
    ratio: Any = square(a.scale / b.scale)
    return 0.5 * (ratio - 1.0 - log(ratio))


class Kumaraswamy(TransformedDistribution):
    """Numbers between 0 and 1, much like those of `Beta`, whose distribution function has a closed form."""

    def __init__(
        self,
        concentration1: TensorLike | None = None,
        concentration0: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Kumaraswamy",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as name:
            one = positive(1.0 if concentration1 is None else concentration1, "concentration1", validate_args)
            zero = positive(1.0 if concentration0 is None else concentration0, "concentration0", validate_args)
            low: Any = zeros_like(one + zero)
            bijector = KumaraswamyBijector(one, zero, validate_args=validate_args)
            base = Uniform(low, low + 1.0, allow_nan_stats=allow_nan_stats)
        self._one, self._zero = one, zero
        super().__init__(base, bijector, validate_args=validate_args, name=name)
        self._keep_parameters(given)

    @property
    def concentration1(self) -> Tensor:
        """The first parameter (a): the larger it is, the nearer to 1 draws are."""
        return self._one

    @property
    def concentration0(self) -> Tensor:
        """The second parameter (b): the larger it is, the nearer to 0 draws are."""
        return self._zero

    def _batch_shape(self) -> Any:
        return broadcast_static_shape(self._one.get_shape(), self._zero.get_shape())

    def _batch_shape_tensor(self) -> Tensor:
        return broadcast_dynamic_shape(shape_of(self._one), shape_of(self._zero))

    def _moment(self, power: float) -> Any:
        """The mean of draws to a power: b B(1 + power / a, b)."""
        first: Any = 1.0 + power / self._one
        beta = lgamma(first) + lgamma(self._zero) - lgamma(first + self._zero)
        return exp(log(self._zero) + beta)

    def _mean(self) -> Any:
        return self._moment(1.0)

    def _variance(self) -> Any:
        return self._moment(2.0) - square(self._moment(1.0))

    def _entropy(self) -> Any:
        a, b = self._one, self._zero
        harmonic: Any = digamma(b + 1.0) + np.euler_gamma
        return (1.0 - 1.0 / a) * harmonic + (1.0 - 1.0 / b) - log(a) - log(b)

    def _mode(self) -> Any:
        a, b = self._one, self._zero
        is_defined = logical_and(a > 1.0, b > 1.0)
        safe_a, safe_b = (where_v2(is_defined, each, 2.0 * ones_like(a * b)) for each in (a, b))
        mode = exp((log(safe_a - 1.0) - log(safe_a * safe_b - 1.0)) / safe_a)
        return undefined_unless(self, is_defined, mode, minimum(a, b), "Mode undefined for concentrations <= 1.")
