"""Distributions of whole numbers and of classes."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import FLOAT32, INT32, INT64
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.base import NOT_REPARAMETERIZED, Broadcast, Distribution, options_of
from tensorkeep.tf1.distributions.divergences import RegisterKL
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    expand_dims,
    identity,
    one_hot,
    ones,
    ones_like,
    reshape,
    transpose,
    where,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import sequence_mask
from tensorkeep.tf1.functions.control.assertions import (
    assert_less_equal,
    assert_near,
    assert_non_negative,
    assert_positive,
)
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.nn.activations import log_softmax, softmax, softplus
from tensorkeep.tf1.functions.nn.cross_entropies import (
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)
from tensorkeep.tf1.functions.numbers.elementwise import cast, exp, floor, less, lgamma, log, log1p, sigmoid, xlogy
from tensorkeep.tf1.functions.numbers.reductions import argmax, reduce_sum
from tensorkeep.tf1.functions.numbers.special import igammac
from tensorkeep.tf1.functions.random.numbers import multinomial, random_poisson, random_uniform


def logits_and_probs(
    logits: TensorLike | None, probs: TensorLike | None, of_classes: bool, is_checked: bool
) -> tuple[Tensor, Tensor]:
    """Logits and probabilities, computed from the one of both that is given."""
    if (probs is None) == (logits is None):
        raise InvalidArgumentError("Must pass probs or logits, but not both.")
    given = convert(probs if logits is None else logits, name="probs" if logits is None else "logits")
    if not given.dtype.is_floating:
        raise WrongTypeError(f"logits and probs have to be of a floating type, and are {given.dtype.name}")
    if probs is None:
        return given, softmax(given, name="probs") if of_classes else sigmoid(given, name="probs")
    if is_checked:
        checks = [assert_non_negative(given)]
        one = convert(1.0, given.dtype)
        if of_classes:
            checks.append(assert_near(reduce_sum(given, -1), one, message="probs does not sum to 1."))
        else:
            checks.append(assert_less_equal(given, one, message="probs has components greater than 1."))
        given = with_dependencies(checks, given)
    return (log(given) if of_classes else log(given) - log1p(-given)), given


class Bernoulli(Distribution):
    """The distribution of a 1 with some probability, and else a 0."""

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = INT32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Bernoulli",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args)
        super().__init__(dtype, NOT_REPARAMETERIZED, **options_of(given))

    @property
    def logits(self) -> Tensor:
        """The logarithms of the odds of a 1."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of a 1."""
        return self._probs

    def _batch_shape(self) -> Any:
        return self._logits.get_shape()

    def _batch_shape_tensor(self) -> Tensor:
        return shape_of(self._logits)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        shape = concat([[n], self.batch_shape_tensor()], 0)
        return cast(less(random_uniform(shape, dtype=self._probs.dtype, seed=seed), self._probs), self.dtype)

    def _log_prob(self, event: Any) -> Tensor:
        event = cast(event, self._logits.dtype)
        logits = ones_like(event) * self._logits
        return -sigmoid_cross_entropy_with_logits(labels=ones_like(self._logits) * event, logits=logits)

    def _entropy(self) -> Tensor:
        return -self._logits * (sigmoid(self._logits) - 1.0) + softplus(-self._logits)

    def _mean(self) -> Tensor:
        return identity(self._probs)

    def _variance(self) -> Tensor:
        return self._probs * (1.0 - self._probs)

    def _mode(self) -> Tensor:
        return cast(self._probs > 0.5, self.dtype)


@RegisterKL(Bernoulli, Bernoulli)
def _between_bernoullis(a: Bernoulli, b: Bernoulli, name: str | None = None) -> Tensor:
    of_ones = softplus(-b.logits) - softplus(-a.logits)
    of_zeros = softplus(b.logits) - softplus(a.logits)
    return sigmoid(a.logits) * of_ones + sigmoid(-a.logits) * of_zeros


class _Classes(Distribution):
    """What the two forms of a distribution over classes share."""

    def __init__(self, given: dict[str, Any], name: str) -> None:
        with name_scope(name) as self._name:
            self._logits, self._probs = logits_and_probs(given["logits"], given["probs"], True, given["validate_args"])
        super().__init__(given["dtype"], NOT_REPARAMETERIZED, **options_of(given))

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities of the classes, but for a constant."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of the classes."""
        return self._probs

    @property
    def event_size(self) -> Tensor:
        """How many classes there are."""
        known = self._logits.get_shape()[-1].value
        return shape_of(self._logits)[-1] if known is None else convert(known, INT32)

    def _batch_shape(self) -> Any:
        return self._logits.get_shape()[:-1]

    def _batch_shape_tensor(self) -> Tensor:
        return shape_of(self._logits)[:-1]

    def _drawn_classes(self, n: Any, seed: int | None) -> Tensor:
        logits = self._logits
        if logits.get_shape().rank != 2:
            logits = reshape(logits, [-1, self.event_size])
        dtype = INT64 if self.dtype.size > 4 else INT32
        drawn = multinomial(logits, n, seed=seed, output_dtype=dtype)
        return reshape(transpose(drawn), concat([[n], self.batch_shape_tensor()], 0))

    def _entropy(self) -> Tensor:
        return -reduce_sum(log_softmax(self._logits) * self._probs, axis=-1)


class Categorical(_Classes):
    """The distribution of the number of a class."""

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = INT32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Categorical",
    ) -> None:
        super().__init__(dict(locals()), name)

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return cast(self._drawn_classes(n, seed), self.dtype)

    def _together(self, k: Any, parameters: Tensor) -> tuple[Tensor, Tensor]:
        """Classes and the parameters of the distribution, broadcast to one batch shape."""
        k = cast(k, INT32) if k.dtype.is_floating else k
        shape = parameters.get_shape()
        if shape.rank is None or not shape[:-1].is_fully_defined() or k.get_shape() != shape[:-1]:
            parameters = parameters * ones_like(expand_dims(k, -1), dtype=parameters.dtype)
            k = k * ones(shape_of(parameters)[:-1], dtype=k.dtype)
            if parameters.get_shape().rank is not None:
                k.set_shape(parameters.get_shape()[:-1])
        return k, parameters

    def _log_prob(self, k: Any) -> Tensor:
        k, logits = self._together(k, self._logits)
        return -sparse_softmax_cross_entropy_with_logits(labels=k, logits=logits)

    def _cdf(self, k: Any) -> Tensor:
        """The probability of a class before k, which is how TensorFlow 1 has it."""
        k, probs = self._together(k, self._probs)
        flat = reshape(probs, [-1, self.event_size])
        counted = where(sequence_mask(reshape(k, [-1]), self.event_size), flat, zeros_like(flat))
        return reshape(reduce_sum(counted, -1), shape_of(k))

    def _mode(self) -> Tensor:
        return cast(argmax(self._logits, -1), self.dtype)


class OneHotCategorical(_Classes):
    """The distribution of a class as a vector with a single 1; `tf.contrib.distributions` has it."""

    def __init__(
        self,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike = INT32,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "OneHotCategorical",
    ) -> None:
        super().__init__(dict(locals()), name)

    def _event_shape(self) -> Any:
        return self._logits.get_shape()[-1:]

    def _event_shape_tensor(self) -> Tensor:
        return shape_of(self._logits)[-1:]

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return one_hot(self._drawn_classes(n, seed), self.event_size, dtype=self.dtype)

    def _log_prob(self, x: Any) -> Tensor:
        return reduce_sum(cast(x, self._logits.dtype) * log_softmax(self._logits), -1)

    def _mean(self) -> Tensor:
        return identity(self._probs)

    def _variance(self) -> Tensor:
        return self._probs * (1.0 - self._probs)

    def _mode(self) -> Tensor:
        return one_hot(argmax(self._logits, -1), self.event_size, dtype=self.dtype)


@RegisterKL(Categorical, Categorical)
@RegisterKL(OneHotCategorical, OneHotCategorical)
def _between_classes(a: Any, b: Any, name: str | None = None) -> Tensor:
    return reduce_sum(softmax(a.logits) * (log_softmax(a.logits) - log_softmax(b.logits)), axis=-1)


class Poisson(Broadcast):
    """The distribution of how many events come, at a rate; `tf.contrib.distributions` has it."""

    def __init__(
        self,
        rate: TensorLike | None = None,
        log_rate: TensorLike | None = None,
        interpolate_nondiscrete: bool = True,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Poisson",
    ) -> None:
        given = dict(locals())
        if (rate is None) == (log_rate is None):
            raise InvalidArgumentError("Must specify exactly one of `rate` and `log_rate`.")
        with name_scope(name) as self._name:
            rates = convert(rate, preferred_dtype=FLOAT32, name="rate") if log_rate is None else None
            logs = convert(log_rate, preferred_dtype=FLOAT32, name="log_rate") if rates is None else log(rates)
            self._rate = exp(logs) if rates is None else rates
            self._log_rate = logs
            if validate_args:
                self._rate = with_dependencies([assert_positive(self._rate)], self._rate)
        self._interpolates = interpolate_nondiscrete
        self._set(self._rate)
        super().__init__(self._rate.dtype, NOT_REPARAMETERIZED, **options_of(given))

    @property
    def rate(self) -> Tensor:
        """How many come on average."""
        return self._rate

    @property
    def log_rate(self) -> Tensor:
        """The logarithm of the rate."""
        return self._log_rate

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return random_poisson(self._rate, [n], dtype=self.dtype, seed=seed)

    def _log_prob(self, x: Any) -> Tensor:
        x = x if self._interpolates else floor(x)
        return xlogy(x, self._rate) - lgamma(1.0 + x) - self._rate

    def _cdf(self, x: Any) -> Tensor:
        return igammac(1.0 + (x if self._interpolates else floor(x)), self._rate * ones_like(x))

    def _mean(self) -> Tensor:
        return identity(self._rate)

    def _variance(self) -> Tensor:
        return identity(self._rate)

    def _mode(self) -> Tensor:
        return floor(self._rate)
