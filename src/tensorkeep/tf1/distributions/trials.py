"""Distributions of how often something comes in trials: Binomial, Geometric, NegativeBinomial."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import INT32
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.base import NOT_REPARAMETERIZED, Distribution, derived_seed, options_of
from tensorkeep.tf1.distributions.counts import whole_numbers
from tensorkeep.tf1.distributions.discrete import logits_and_probs
from tensorkeep.tf1.distributions.divergences import RegisterKL
from tensorkeep.tf1.functions.arrays.shapes import (
    broadcast_dynamic_shape,
    broadcast_static_shape,
    concat,
    identity,
    ones_like,
    where_v2,
    zeros,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_less_equal, assert_non_negative, assert_positive
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.nn.activations import softplus
from tensorkeep.tf1.functions.numbers.elementwise import (
    exp,
    expm1,
    floor,
    lgamma,
    log,
    maximum,
    multiply_no_nan,
    sigmoid,
)
from tensorkeep.tf1.functions.numbers.special import betainc
from tensorkeep.tf1.functions.random.numbers import (
    random_gamma,
    random_poisson,
    random_uniform,
    stateless_random_binomial,
)


class _Trials(Distribution):
    """What families share that have trials with a probability: its two forms, and the batch they make with others."""

    _others: tuple[Tensor, ...] = ()

    def _take_odds(self, logits: Any, probs: Any, validate_args: bool) -> None:
        self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args)

    @property
    def logits(self) -> Tensor:
        """The logarithms of the odds of success in a trial."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of success in a trial."""
        return self._probs

    def _batch_shape(self) -> Any:
        known: Any = self._probs.get_shape()
        for each in self._others:
            known = broadcast_static_shape(known, each.get_shape())
        return known

    def _batch_shape_tensor(self) -> Tensor:
        found = shape_of(self._probs)
        for each in self._others:
            found = broadcast_dynamic_shape(found, shape_of(each))
        return found

    def _log_success(self) -> Any:
        return -softplus(-self._logits)

    def _log_failure(self) -> Any:
        return -softplus(self._logits)

    def _whole(self, value: Any) -> Any:
        """Something for each distribution of the batch."""
        return value + zeros(self.batch_shape_tensor(), self.dtype)


class Binomial(_Trials):
    """How many of `total_count` trials succeed."""

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Binomial",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._take_odds(logits, probs, validate_args)
            self._total_count = convert(total_count, self._probs.dtype, name="total_count")
            if validate_args:
                self._total_count = whole_numbers(self._total_count)
        self._others = (self._total_count,)
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, **options_of(given))

    @property
    def total_count(self) -> Tensor:
        """How many trials there are."""
        return self._total_count

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        # The op takes its seed as an input: one of its own for each run.
        drawn_seed = random_uniform([2], maxval=np.iinfo(np.int32).max, dtype=INT32, seed=seed)
        shape = concat([[n], self.batch_shape_tensor()], 0)
        return stateless_random_binomial(
            shape, drawn_seed, self._whole(self._total_count), self._whole(self._probs), self.dtype
        )

    def _checked(self, counts: Any) -> Any:
        if not self.validate_args:
            return counts
        counts = whole_numbers(counts)
        message = "counts are not less than or equal to n."
        return with_dependencies([assert_less_equal(counts, self._total_count, message=message)], counts)

    def _log_prob(self, counts: Any) -> Any:
        counts = self._checked(counts)
        rest = self._total_count - counts
        ways = lgamma(1.0 + self._total_count) - lgamma(1.0 + counts) - lgamma(1.0 + rest)
        return ways + multiply_no_nan(self._log_success(), counts) + multiply_no_nan(self._log_failure(), rest)

    def _mean(self) -> Any:
        return self._total_count * self._probs

    def _variance(self) -> Any:
        return self._mean() * (1.0 - self._probs)

    def _mode(self) -> Any:
        return floor((1.0 + self._total_count) * self._probs)


class Geometric(_Trials):
    """How many trials fail before the first that succeeds."""

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Geometric",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._take_odds(logits, probs, validate_args)
            if validate_args:
                self._probs = with_dependencies([assert_positive(self._probs)], self._probs)
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, **options_of(given))

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        shape = concat([[n], self.batch_shape_tensor()], 0)
        least = np.finfo(self.dtype.as_numpy_dtype).tiny  # the logarithm of zero is infinite
        return floor(log(random_uniform(shape, least, 1.0, self.dtype, seed)) / self._log_failure())

    def _checked(self, counts: Any) -> Any:
        return with_dependencies([assert_non_negative(counts)], counts) if self.validate_args else floor(counts)

    def _log_prob(self, counts: Any) -> Any:
        return multiply_no_nan(self._log_failure(), self._checked(counts)) + self._log_success()

    def _cdf(self, counts: Any) -> Any:
        counts = self._checked(counts)
        inside = -expm1((1.0 + counts) * self._log_failure())
        return where_v2(counts < 0.0, zeros_like(inside), inside)

    def _entropy(self) -> Any:
        # That of each trial, as many as there are on average.
        each = softplus(-self._logits) + self._logits * sigmoid(-self._logits)
        return each / self._probs

    def _mean(self) -> Any:
        return exp(-self._logits)

    def _variance(self) -> Any:
        return self._mean() / self._probs

    def _mode(self) -> Any:
        return zeros(self.batch_shape_tensor(), self.dtype)


@RegisterKL(Geometric, Geometric)
def _between_geometrics(a: Geometric, b: Geometric, name: str | None = None) -> Any:
    failures = a._mean() * (a._log_failure() - b._log_failure())
    return failures + a._log_success() - b._log_success()


class NegativeBinomial(_Trials):
    """How many trials succeed before `total_count` have failed."""

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "NegativeBinomial",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._take_odds(logits, probs, validate_args)
            self._total_count = identity(convert(total_count, self._probs.dtype, name="total_count"))
            if validate_args:
                self._total_count = with_dependencies([assert_positive(self._total_count)], self._total_count)
        self._others = (self._total_count,)
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, **options_of(given))

    @property
    def total_count(self) -> Tensor:
        """How many failures end the trials."""
        return self._total_count

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        # Poisson's distribution, of a rate that a gamma distribution draws.
        rate = random_gamma(
            [n], self._whole(self._total_count), exp(-self._logits), self.dtype, seed=derived_seed(seed, "gamma")
        )
        return random_poisson(rate, [], self.dtype, seed=derived_seed(seed, "poisson"))

    def _checked(self, counts: Any) -> Any:
        return with_dependencies([assert_non_negative(counts)], counts) if self.validate_args else counts

    def _log_prob(self, counts: Any) -> Any:
        counts = self._checked(counts)
        ways = lgamma(self._total_count + counts) - lgamma(1.0 + counts) - lgamma(self._total_count)
        failures = multiply_no_nan(self._log_failure(), self._total_count)
        return ways + failures + multiply_no_nan(self._log_success(), counts)

    def _cdf(self, counts: Any) -> Any:
        counts = floor(self._checked(counts))
        whole = ones_like(self._whole(counts))
        reached = maximum(counts, zeros_like(counts))
        found = betainc(self._total_count * whole, (1.0 + reached) * whole, sigmoid(-self._logits) * whole)
        return where_v2(counts < 0.0, zeros_like(found), found)

    def _mean(self) -> Any:
        return self._total_count * exp(self._logits)

    def _variance(self) -> Any:
        return self._mean() / sigmoid(-self._logits)

    def _mode(self) -> Any:
        more: Any = self._total_count - 1.0
        found = floor(more * exp(self._logits))
        return where_v2(more > 0.0, found, zeros_like(found))
