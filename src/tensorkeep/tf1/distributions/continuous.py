"""Distributions of real numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.base import FULLY_REPARAMETERIZED, Broadcast, Distribution, derived_seed, options_of
from tensorkeep.tf1.distributions.divergences import RegisterKL
from tensorkeep.tf1.functions.arrays.shapes import fill, identity, ones, ones_like, where_v2, zeros_like
from tensorkeep.tf1.functions.control.assertions import assert_less, assert_positive
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.nn.activations import softplus
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import (
    digamma,
    erfc,
    exp,
    greater,
    is_nan,
    lgamma,
    log,
    log1p,
    logical_and,
    logical_or,
    rsqrt,
    sign,
    sqrt,
    square,
    squared_difference,
    xlogy,
)
from tensorkeep.tf1.functions.numbers.special import betainc, igamma, ndtri
from tensorkeep.tf1.functions.random.numbers import random_gamma, random_normal, random_uniform


def positive(value: Any, name: str, is_checked: bool) -> Tensor:
    """A parameter as a tensor, which has to be above zero."""
    tensor = convert(value, name=name)
    return with_dependencies([assert_positive(tensor)], tensor) if is_checked else identity(tensor, name=name)


def checked_sample(of: Distribution, x: Tensor) -> Tensor:
    return with_dependencies([assert_positive(x)], x) if of.validate_args else x


def undefined_unless(of: Distribution, is_defined: Tensor, value: Tensor, limit: Tensor, message: str) -> Tensor:
    """A moment where it is defined, and NaN elsewhere; a distribution that allows no NaN fails when it is run."""
    if of.allow_nan_stats:
        return where_v2(is_defined, value, value * np.nan)
    return with_dependencies([assert_less(ones([], limit.dtype), limit, message=message)], value)


def ndtr(x: Tensor) -> Tensor:
    """The probability that a normal number is at most x."""
    return 0.5 * erfc(-x * math.sqrt(0.5))


def log_ndtr(x: Tensor) -> Tensor:
    """The logarithm of `ndtr`, by the series of Laplace where that is zero in the type."""
    far, near = (-20.0, 8.0) if x.dtype.size == 8 else (-10.0, 5.0)
    z = where_v2(x < far, x, ones_like(x) * far)
    reciprocal = 1.0 / square(z)
    # 1 - 1/z^2 + 3/z^4 - 15/z^6: Abramowitz and Stegun, 26.2.12
    series = 1.0 - reciprocal * (1.0 - 3.0 * reciprocal * (1.0 - 5.0 * reciprocal))
    tail = -0.5 * square(z) - log(-z) - 0.5 * math.log(2.0 * math.pi) + log(series)
    middle = where_v2(x < far, ones_like(x) * far, x)
    return where_v2(x < far, tail, where_v2(x > near, -ndtr(-middle), log(ndtr(middle))))


class Location(Broadcast):
    """What families with a location and a scale share."""

    def __init__(self, given: dict[str, Any], name: str) -> None:
        with name_scope(name) as self._name:
            self._loc = identity(convert(given["loc"]), name="loc")
            self._scale = positive(given["scale"], "scale", given["validate_args"])
        self._set(self._loc, self._scale)
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, **options_of(given))

    @property
    def loc(self) -> Tensor:
        """The middle."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale, by which the distance from the middle is divided."""
        return self._scale

    def _standardized(self, x: Any) -> Any:
        return (x - self._loc) / self._scale

    def _whole_scale(self) -> Tensor:
        return self._scale * ones_like(self._loc)

    def _mean(self) -> Tensor:
        return self._loc * ones_like(self._scale)

    def _mode(self) -> Tensor:
        return self._mean()


class Normal(Location):
    """The normal distribution of a mean and a standard deviation."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Normal",
    ) -> None:
        super().__init__(dict(locals()), name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = random_normal(self._drawn_shape(n), 0.0, 1.0, self._loc.dtype, seed)
        return drawn * self._scale + self._loc

    def _log_prob(self, x: Any) -> Tensor:
        return -0.5 * square(self._standardized(x)) - (0.5 * math.log(2.0 * math.pi) + log(self._scale))

    def _cdf(self, x: Any) -> Tensor:
        return ndtr(self._standardized(x))

    def _log_cdf(self, x: Any) -> Tensor:
        return log_ndtr(self._standardized(x))

    def _survival_function(self, x: Any) -> Tensor:
        return ndtr(-self._standardized(x))

    def _log_survival_function(self, x: Any) -> Tensor:
        return log_ndtr(-self._standardized(x))

    def _quantile(self, p: Any) -> Tensor:
        return ndtri(p) * self._scale + self._loc

    def _entropy(self) -> Tensor:
        return 0.5 * math.log(2.0 * math.pi * math.e) + log(self._whole_scale())

    def _stddev(self) -> Tensor:
        return self._whole_scale()


class NormalWithSoftplusScale(Normal):
    """The normal distribution whose standard deviation is the softplus of what is given."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NormalWithSoftplusScale",
    ) -> None:
        given = dict(locals())
        super().__init__(loc, softplus(convert(scale)), validate_args, allow_nan_stats, name)
        self._keep_parameters(given)


@RegisterKL(Normal, Normal)
def _between_normals(a: Normal, b: Normal, name: str | None = None) -> Tensor:
    ratio = square(a.scale) / square(b.scale)
    return squared_difference(a.loc, b.loc) / (2.0 * square(b.scale)) + 0.5 * (ratio - 1.0 - log(ratio))


class Laplace(Location):
    """The distribution whose density falls by a constant factor on both sides of its middle."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Laplace",
    ) -> None:
        super().__init__(dict(locals()), name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        kind = self.dtype.array_dtype.type
        lowest = np.nextafter(kind(-1.0), kind(0.0))  # -1 itself would be infinitely far away
        drawn = random_uniform(self._drawn_shape(n), lowest, 1.0, self.dtype, seed)
        return self._loc - self._scale * sign(drawn) * log1p(-absolute(drawn))

    def _log_prob(self, x: Any) -> Tensor:
        return -absolute(self._standardized(x)) - (math.log(2.0) + log(self._scale))

    def _cdf(self, x: Any) -> Tensor:
        z = self._standardized(x)
        return 0.5 + 0.5 * sign(z) * (1.0 - exp(-absolute(z)))

    def _log_cdf(self, x: Any) -> Tensor:
        return self._log_of(self._standardized(x))

    def _log_survival_function(self, x: Any) -> Tensor:
        return self._log_of(-self._standardized(x))

    def _log_of(self, z: Any) -> Tensor:
        # On the left 0.5 exp(z), on the right 1 - 0.5 exp(-z), each exact where it is taken.
        return where_v2(z <= 0.0, z - math.log(2.0), log1p(-0.5 * exp(-absolute(z))))

    def _entropy(self) -> Tensor:
        return math.log(2.0) + 1.0 + log(self._whole_scale())

    def _stddev(self) -> Tensor:
        return math.sqrt(2.0) * self._whole_scale()


class Uniform(Broadcast):
    """The distribution of numbers between two that are all as likely."""

    def __init__(
        self,
        low: TensorLike = 0.0,
        high: TensorLike = 1.0,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Uniform",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._low, self._high = convert(low, name="low"), convert(high, name="high")
            if validate_args:
                check = assert_less(self._low, self._high, message="uniform not defined when low >= high.")
                self._low = with_dependencies([check], self._low)
        self._set(self._low, self._high)
        super().__init__(self._low.dtype, FULLY_REPARAMETERIZED, **options_of(given))

    @property
    def low(self) -> Tensor:
        """The least number."""
        return self._low

    @property
    def high(self) -> Tensor:
        """The number that all are below."""
        return self._high

    def range(self, name: str = "range") -> Tensor:
        """The difference of `high` and `low`."""
        with self._scope(name):
            return self._high - self._low

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return self._low + self.range() * random_uniform(self._drawn_shape(n), dtype=self.dtype, seed=seed)

    def _prob(self, x: Any) -> Tensor:
        whole = x * ones(self.batch_shape_tensor(), dtype=x.dtype)
        is_out = logical_or(whole < self._low, whole >= self._high)
        return where_v2(is_nan(whole), whole, where_v2(is_out, zeros_like(whole), ones_like(whole) / self.range()))

    def _cdf(self, x: Any) -> Tensor:
        whole = x * ones(self.batch_shape_tensor(), dtype=x.dtype)
        inside = where_v2(whole < self._low, zeros_like(whole), (whole - self._low) / self.range())
        return where_v2(whole >= self._high, ones_like(whole), inside)

    def _entropy(self) -> Tensor:
        return log(self.range())

    def _mean(self) -> Tensor:
        return (self._low + self._high) / 2.0

    def _variance(self) -> Tensor:
        return square(self.range()) / 12.0


class Gamma(Broadcast):
    """The gamma distribution of a shape and a rate."""

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gamma",
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
        """The reciprocal of the scale."""
        return self._rate

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return random_gamma([n], self._concentration, self._rate, self.dtype, seed)

    def _log_prob(self, x: Any) -> Tensor:
        positive = checked_sample(self, x)
        normalization = lgamma(self._concentration) - self._concentration * log(self._rate)
        return xlogy(self._concentration - 1.0, positive) - self._rate * positive - normalization

    def _cdf(self, x: Any) -> Tensor:
        return igamma(self._concentration, self._rate * checked_sample(self, x))

    def _entropy(self) -> Tensor:
        shape = self._concentration
        return shape - log(self._rate) + lgamma(shape) + (1.0 - shape) * digamma(shape)

    def _mean(self) -> Tensor:
        return self._concentration / self._rate

    def _variance(self) -> Tensor:
        return self._concentration / square(self._rate)

    def _stddev(self) -> Tensor:
        return sqrt(self._concentration) / self._rate

    def _mode(self) -> Tensor:
        mode, limit = (self._concentration - 1.0) / self._rate, self._concentration
        message = "mode not defined when any concentration <= 1"
        return undefined_unless(self, limit > 1.0, mode, limit, message)


@RegisterKL(Gamma, Gamma)
def _between_gammas(a: Gamma, b: Gamma, name: str | None = None) -> Tensor:
    return (
        (a.concentration - b.concentration) * digamma(a.concentration)
        + lgamma(b.concentration)
        - lgamma(a.concentration)
        + b.concentration * log(a.rate)
        - b.concentration * log(b.rate)
        + a.concentration * (b.rate / a.rate - 1.0)
    )


class Exponential(Gamma):
    """The distribution of the time to the next of events that come at a rate."""

    def __init__(
        self, rate: TensorLike, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Exponential"
    ) -> None:
        given = {"rate": rate, "validate_args": validate_args, "allow_nan_stats": allow_nan_stats, "name": name}
        rates = convert(rate, name="rate")
        super().__init__(ones_like(rates), rates, validate_args, allow_nan_stats, name)
        self._given = given

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        least = np.finfo(self.dtype.as_numpy_dtype).tiny  # the logarithm of zero is infinite
        drawn = random_uniform(self._drawn_shape(n), least, 1.0, self.dtype, seed)
        return -log(drawn) / self._rate

    def _log_survival_function(self, x: Any) -> Tensor:
        return -self._rate * checked_sample(self, x)


class Beta(Broadcast):
    """The beta distribution of numbers between 0 and 1."""

    def __init__(
        self,
        concentration1: TensorLike | None = None,
        concentration0: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Beta",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._concentration1 = positive(concentration1, "concentration1", validate_args)
            self._concentration0 = positive(concentration0, "concentration0", validate_args)
            self._total_concentration = self._concentration1 + self._concentration0
        self._set(self._concentration1, self._concentration0)
        super().__init__(self._total_concentration.dtype, FULLY_REPARAMETERIZED, **options_of(given))

    @property
    def concentration1(self) -> Tensor:
        """The first parameter (alpha): the larger it is, the nearer to 1 draws are."""
        return self._concentration1

    @property
    def concentration0(self) -> Tensor:
        """The second parameter (beta): the larger it is, the nearer to 0 draws are."""
        return self._concentration0

    @property
    def total_concentration(self) -> Tensor:
        """The sum of both parameters."""
        return self._total_concentration

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        whole = ones_like(self._total_concentration)
        first = random_gamma([n], whole * self._concentration1, dtype=self.dtype, seed=seed)
        seed = derived_seed(seed, "beta")
        second = random_gamma([n], whole * self._concentration0, dtype=self.dtype, seed=seed)
        return first / (first + second)

    def _log_normalization(self) -> Tensor:
        return lgamma(self._concentration1) + lgamma(self._concentration0) - lgamma(self._total_concentration)

    def _log_prob(self, x: Any) -> Tensor:
        x = checked_sample(self, x)
        unnormalized = xlogy(self._concentration1 - 1.0, x) + (self._concentration0 - 1.0) * log1p(-x)
        return unnormalized - self._log_normalization()

    def _cdf(self, x: Any) -> Tensor:
        whole = ones_like(self._total_concentration * x)
        return betainc(whole * self._concentration1, whole * self._concentration0, whole * x)

    def _entropy(self) -> Tensor:
        one, zero, total = self._concentration1, self._concentration0, self._total_concentration
        spread = (total - 2.0) * digamma(total) - (one - 1.0) * digamma(one) - (zero - 1.0) * digamma(zero)
        return self._log_normalization() + spread

    def _mean(self) -> Tensor:
        return self._concentration1 / self._total_concentration

    def _variance(self) -> Tensor:
        return self._mean() * (1.0 - self._mean()) / (1.0 + self._total_concentration)

    def _mode(self) -> Tensor:
        mode = (self._concentration1 - 1.0) / (self._total_concentration - 2.0)
        is_defined = logical_and(self._concentration1 > 1.0, self._concentration0 > 1.0)
        limit = where_v2(self._concentration1 < self._concentration0, self._concentration1, self._concentration0)
        return undefined_unless(self, is_defined, mode, limit, "mode undefined when a concentration <= 1")


@RegisterKL(Beta, Beta)
def _between_betas(a: Beta, b: Beta, name: str | None = None) -> Tensor:
    def part(first: Tensor, second: Tensor) -> Tensor:
        return (first - second) * digamma(first)

    return (
        b._log_normalization()
        - a._log_normalization()
        + part(a.concentration1, b.concentration1)
        + part(a.concentration0, b.concentration0)
        + (b.total_concentration - a.total_concentration) * digamma(a.total_concentration)
    )


class StudentT(Broadcast):
    """Student's t distribution, of some degrees of freedom, a location and a scale."""

    def __init__(
        self,
        df: TensorLike,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentT",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._df = positive(df, "df", validate_args)
            self._loc, self._scale = convert(loc, name="loc"), convert(scale, name="scale")
        self._set(self._df, self._loc, self._scale)
        super().__init__(self._scale.dtype, FULLY_REPARAMETERIZED, **options_of(given))

    @property
    def df(self) -> Tensor:
        """The degrees of freedom."""
        return self._df

    @property
    def loc(self) -> Tensor:
        """The middle."""
        return self._loc

    @property
    def scale(self) -> Tensor:
        """The scale, by which the distance from the middle is divided."""
        return self._scale

    def _whole(self) -> Tensor:
        return ones(self.batch_shape_tensor(), dtype=self.dtype)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        normal = random_normal(self._drawn_shape(n), dtype=self.dtype, seed=seed)
        df = self._df * self._whole()
        seed = derived_seed(seed, "student_t")
        chi = random_gamma([n], 0.5 * df, 0.5, self.dtype, seed)
        return normal * rsqrt(chi / df) * self._scale + self._loc

    def _log_prob(self, x: Any) -> Tensor:
        y = (x - self._loc) / self._scale
        normalization = log(absolute(self._scale)) + 0.5 * log(self._df) + 0.5 * math.log(math.pi)
        normalization = normalization + lgamma(0.5 * self._df) - lgamma(0.5 * (self._df + 1.0))
        return -0.5 * (self._df + 1.0) * log1p(square(y) / self._df) - normalization

    def _cdf(self, x: Any) -> Tensor:
        y = (x - self._loc) / absolute(self._scale)
        below = self._df / (square(y) + self._df)
        whole = ones_like(below)
        half = 0.5 * betainc(0.5 * self._df * whole, 0.5 * whole, below)
        return where_v2(y < 0.0, half, 1.0 - half)

    def _entropy(self) -> Tensor:
        df, half = self._df * self._whole(), 0.5 * (self._df + 1.0)
        beta = lgamma(0.5 * df) + 0.5 * math.log(math.pi) - lgamma(0.5 * (df + 1.0))
        return log(absolute(self._scale)) + 0.5 * log(df) + beta + half * (digamma(half) - digamma(0.5 * self._df))

    def _mean(self) -> Tensor:
        message = "mean not defined for components of df <= 1"
        return undefined_unless(self, self._df > 1.0, self._loc * self._whole(), self._df, message)

    def _variance(self) -> Tensor:
        df, whole = self._df, self._whole()
        divisor = where_v2(df > 2.0, df - 2.0, ones_like(df))
        finite = whole * square(self._scale) * df / divisor
        found = where_v2(
            greater(df * whole, 2.0), finite, fill(self.batch_shape_tensor(), self.dtype.array_dtype.type(np.inf))
        )
        return undefined_unless(self, df > 1.0, found, df, "variance not defined for components of df <= 1")

    def _mode(self) -> Tensor:
        return identity(self._loc)
