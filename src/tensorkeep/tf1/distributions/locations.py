"""Distributions of real numbers around a location that the core of TensorFlow 1 lacks: Cauchy, Logistic, Gumbel."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.continuous import Location
from tensorkeep.tf1.distributions.divergences import RegisterKL
from tensorkeep.tf1.functions.arrays.shapes import fill
from tensorkeep.tf1.functions.nn.activations import softplus
from tensorkeep.tf1.functions.numbers.elementwise import atan, exp, lgamma, log, log1p, sigmoid, square, tan
from tensorkeep.tf1.functions.random.numbers import random_uniform


def drawn_between(of: Location, n: Any, seed: int | None) -> Tensor:
    """Uniform numbers above 0 and below 1, for each distribution of a batch."""
    least = np.finfo(of.dtype.as_numpy_dtype).tiny
    return random_uniform(of._drawn_shape(n), least, 1.0, of.dtype, seed)


class Cauchy(Location):
    """The distribution of the ratio of two normal numbers, which has neither mean nor variance."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Cauchy",
    ) -> None:
        super().__init__(dict(locals()), name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        return self._quantile(random_uniform(self._drawn_shape(n), 0.0, 1.0, self.dtype, seed))

    def _quantile(self, p: Any) -> Any:
        return self._loc + self._scale * tan(math.pi * (p - 0.5))

    def _log_prob(self, x: Any) -> Any:
        return -log1p(square(self._standardized(x))) - math.log(math.pi) - log(self._scale)

    def _cdf(self, x: Any) -> Any:
        return atan(self._standardized(x)) / math.pi + 0.5

    def _log_cdf(self, x: Any) -> Any:
        return log1p(2.0 / math.pi * atan(self._standardized(x))) - math.log(2.0)

    def _entropy(self) -> Any:
        return math.log(4.0 * math.pi) + log(self._whole_scale())

    def _mean(self) -> Any:
        return self._undefined("mean")

    def _mode(self) -> Any:
        return super()._mean()

    def _stddev(self) -> Any:
        return self._undefined("stddev")

    def _undefined(self, moment: str) -> Any:
        if not self.allow_nan_stats:
            raise InvalidArgumentError(f"`{moment}` is undefined for Cauchy distribution.")
        return fill(self.batch_shape_tensor(), self.dtype.array_dtype.type(np.nan))


class Logistic(Location):
    """The distribution whose distribution function is the sigmoid."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Logistic",
    ) -> None:
        super().__init__(dict(locals()), name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        return self._quantile(drawn_between(self, n, seed))

    def _quantile(self, p: Any) -> Any:
        return self._loc + self._scale * (log(p) - log1p(-p))

    def _log_prob(self, x: Any) -> Any:
        z = self._standardized(x)
        return -z - 2.0 * softplus(-z) - log(self._scale)

    def _cdf(self, x: Any) -> Any:
        return sigmoid(self._standardized(x))

    def _log_cdf(self, x: Any) -> Any:
        return -softplus(-self._standardized(x))

    def _survival_function(self, x: Any) -> Any:
        return sigmoid(-self._standardized(x))

    def _log_survival_function(self, x: Any) -> Any:
        return -softplus(self._standardized(x))

    def _entropy(self) -> Any:
        return 2.0 + log(self._whole_scale())

    def _stddev(self) -> Any:
        return self._whole_scale() * (math.pi / math.sqrt(3.0))


class Gumbel(Location):
    """The distribution of the largest of many numbers; TensorFlow has it below `contrib.distributions.python.ops`."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Gumbel",
    ) -> None:
        super().__init__(dict(locals()), name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        return self._quantile(drawn_between(self, n, seed))

    def _quantile(self, p: Any) -> Any:
        return self._loc - self._scale * log(-log(p))

    def _log_prob(self, x: Any) -> Any:
        z = self._standardized(x)
        return -(z + exp(-z)) - log(self._scale)

    def _cdf(self, x: Any) -> Any:
        return exp(-exp(-self._standardized(x)))

    def _log_cdf(self, x: Any) -> Any:
        return -exp(-self._standardized(x))

    def _entropy(self) -> Any:
        return 1.0 + log(self._whole_scale()) + np.euler_gamma

    def _mean(self) -> Any:
        return self._loc + self._whole_scale() * np.euler_gamma

    def _mode(self) -> Any:
        return super()._mean()

    def _stddev(self) -> Any:
        return self._whole_scale() * (math.pi / math.sqrt(6.0))


@RegisterKL(Gumbel, Gumbel)
def _between_gumbels(a: Gumbel, b: Gumbel, name: str | None = None) -> Any:
    apart: Any = (a.loc - b.loc) / b.scale
    ratio: Any = a.scale / b.scale
    expected = exp(-apart + lgamma(ratio + 1.0))
    return log(b.scale) - log(a.scale) + np.euler_gamma * (ratio - 1.0) + apart + expected - 1.0


@RegisterKL(Cauchy, Cauchy)
def _between_cauchys(a: Cauchy, b: Cauchy, name: str | None = None) -> Any:
    together: Any = square(a.scale + b.scale) + square(a.loc - b.loc)
    return log(together) - math.log(4.0) - log(a.scale) - log(b.scale)
