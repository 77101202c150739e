"""Distributions of how often each class comes in a number of draws: with known probabilities, or with drawn ones."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import FLOAT32, FLOAT64, INT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.base import NOT_REPARAMETERIZED, Distribution, derived_seed, options_of
from tensorkeep.tf1.distributions.discrete import logits_and_probs
from tensorkeep.tf1.functions.arrays.shapes import (
    broadcast_dynamic_shape,
    broadcast_static_shape,
    concat,
    expand_dims,
    identity,
    one_hot,
    ones_like,
    reshape,
    transpose,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_equal, assert_non_negative, assert_positive
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.control.higher_order import map_fn
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_set_diag
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.nn.activations import log_softmax
from tensorkeep.tf1.functions.numbers.elementwise import cast, exp, lgamma, log
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.functions.numbers.special import lbeta
from tensorkeep.tf1.functions.random.numbers import multinomial, random_gamma


class _Counts(Distribution):
    """What the two share: a number of draws, and values that have to add up to it."""

    def _take_total(self, total_count: TensorLike, validate_args: bool) -> None:
        self._total_count = convert(total_count, preferred_dtype=FLOAT32, name="total_count")
        if validate_args:
            self._total_count = whole_numbers(self._total_count)

    @property
    def total_count(self) -> Tensor:
        """How many draws there are."""
        return self._total_count

    def _checked(self, counts: Tensor) -> Tensor:
        if not self.validate_args:
            return counts
        counts = whole_numbers(counts)
        total = assert_equal(self._total_count, reduce_sum(counts, -1), message="counts must sum to `self.total_count`")
        return with_dependencies([total], counts)

    def _log_ways(self, counts: Tensor) -> Tensor:
        """The logarithm of the number of orders in which counts can have come."""
        return lgamma(self._total_count + 1.0) - reduce_sum(lgamma(counts + 1.0), -1)


def whole_numbers(values: Tensor) -> Tensor:
    checks = [assert_non_negative(values, message=f"'{values.name}' must be non-negative.")]
    if not values.dtype.is_integer:
        whole = cast(cast(values, INT64 if values.dtype is FLOAT64 else INT32), values.dtype)
        checks.append(assert_equal(values, whole, message=f"'{values.name}' cannot contain fractional components."))
    return with_dependencies(checks, values)


def _outer(left: Tensor, right: Tensor) -> Tensor:
    return matmul(expand_dims(left, -1), expand_dims(right, -2))


class Multinomial(_Counts):
    """How often each class comes in `total_count` draws with the probabilities `probs`."""

    def __init__(
        self,
        total_count: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Multinomial",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._take_total(total_count, validate_args)
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args)
            self._mean_counts = expand_dims(self._total_count, -1) * self._probs
        super().__init__(self._probs.dtype, NOT_REPARAMETERIZED, **options_of(given))

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities of the classes, but for a constant."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of the classes."""
        return self._probs

    def _batch_shape(self) -> Any:
        return self._mean_counts.get_shape()[:-1]

    def _batch_shape_tensor(self) -> Tensor:
        return shape_of(self._mean_counts)[:-1]

    def _event_shape(self) -> Any:
        return self._mean_counts.get_shape()[-1:]

    def _event_shape_tensor(self) -> Tensor:
        return shape_of(self._mean_counts)[-1:]

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        classes = self.event_shape_tensor()[0]
        counts: Any = cast(self._total_count, INT32)
        logits: Any = self._logits
        counts = ones_like(logits[..., 0], dtype=INT32) * counts
        logits = ones_like(expand_dims(counts, -1), dtype=logits.dtype) * logits
        drawn = _counted_draws(reshape(logits, [-1, classes]), reshape(counts, [-1]), n, seed)
        shape = concat([[n], self.batch_shape_tensor(), [classes]], 0)
        return cast(reshape(transpose(drawn, [1, 0, 2]), shape), self.dtype)

    def _log_prob(self, counts: Any) -> Tensor:
        counts = self._checked(counts)
        return reduce_sum(counts * log_softmax(self._logits), -1) + self._log_ways(counts)

    def _mean(self) -> Tensor:
        return identity(self._mean_counts)

    def _variance(self) -> Tensor:
        return self._mean_counts - self._mean_counts * self._whole_probs()

    def _covariance(self) -> Tensor:
        return matrix_set_diag(-_outer(self._mean_counts, self._whole_probs()), self._variance())

    def _whole_probs(self) -> Tensor:
        """The probabilities of each distribution of the batch."""
        return self._probs * expand_dims(ones_like(self._total_count), -1)


def _counted_draws(logits: Tensor, counts: Tensor, n: Any, seed: int | None) -> Tensor:
    """For each row n times how often each class comes in so many draws: [rows, n, classes]."""
    classes = shape_of(logits)[-1]

    def counted(row: Any) -> Tensor:
        drawn = reshape(multinomial(expand_dims(row[0], 0), row[1], seed), [n, -1])
        return reduce_sum(one_hot(drawn, classes), axis=-2)

    found: Tensor = map_fn(counted, [logits, n * counts], dtype=one_hot([0], 1).dtype)
    return found


class DirichletMultinomial(_Counts):
    """How often each class comes in `total_count` draws, with probabilities that Dirichlet's distribution gives.

    A batch of numbers of draws goes with one of concentrations; TensorFlow has moments and draws of one number alone.
    """

    def __init__(
        self,
        total_count: TensorLike,
        concentration: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "DirichletMultinomial",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._take_total(total_count, validate_args)
            self._concentration = convert(concentration, name="concentration")
            if self._concentration.static_shape.rank == 0:
                raise InvalidArgumentError("concentration has to have a dimension of classes, and is a scalar")
            if validate_args:
                check = assert_positive(self._concentration, message="Concentration parameter must be positive.")
                self._concentration = with_dependencies([check], self._concentration)
            self._total_concentration = reduce_sum(self._concentration, -1)
        super().__init__(self._concentration.dtype, NOT_REPARAMETERIZED, **options_of(given))

    @property
    def concentration(self) -> Tensor:
        """What draws the probability of each class up."""
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        """The sum over the classes."""
        return self._total_concentration

    def _batch_shape(self) -> Any:
        return broadcast_static_shape(self._total_count.get_shape(), self._total_concentration.get_shape())

    def _batch_shape_tensor(self) -> Tensor:
        return broadcast_dynamic_shape(shape_of(self._total_count), shape_of(self._total_concentration))

    def _event_shape(self) -> Any:
        return self._concentration.get_shape()[-1:]

    def _event_shape_tensor(self) -> Tensor:
        return shape_of(self._concentration)[-1:]

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        classes = self.event_shape_tensor()[0]
        is_one_number = self._total_count.static_shape.rank == 0
        like = ones_like(expand_dims(self._total_count, -1))
        gammas: Any = random_gamma(
            [n], self._concentration if is_one_number else self._concentration * like, dtype=self.dtype, seed=seed
        )
        logits = reshape(log(gammas), [-1, classes])
        counts: Any = cast(self._total_count, INT32)
        salted = derived_seed(seed, "dirichlet_multinomial")
        if is_one_number:
            drawn = reduce_sum(one_hot(multinomial(logits, counts, salted), classes), -2)
        else:
            each = reshape(ones_like(gammas[..., 0], dtype=INT32) * counts, [-1])
            drawn = _counted_draws(logits, each, 1, salted)
        return cast(reshape(drawn, concat([[n], self.batch_shape_tensor(), [classes]], 0)), self.dtype)

    def _log_prob(self, counts: Any) -> Tensor:
        counts = self._checked(counts)
        ordered = lbeta(self._concentration + counts) - lbeta(self._concentration)
        return ordered + self._log_ways(counts)

    def _prob(self, counts: Any) -> Tensor:
        return exp(self._log_prob(counts))

    def _mean(self) -> Tensor:
        return expand_dims(self._total_count, -1) * self._shares()

    def _variance(self) -> Tensor:
        shares = self._shares()
        return expand_dims(self._spread(), -1) * shares * (1.0 - shares)

    def _covariance(self) -> Tensor:
        shares = self._shares()
        between = expand_dims(expand_dims(self._spread(), -1), -1) * _outer(shares, shares)
        return matrix_set_diag(-between, self._variance())

    def _shares(self) -> Tensor:
        """The mean of the probabilities."""
        return self._concentration / expand_dims(self._total_concentration, -1)

    def _spread(self) -> Tensor:
        """The number of draws, times how much more counts vary than they would with known probabilities."""
        count, total = self._total_count, self._total_concentration
        return count * (count + total) / (1.0 + total)
