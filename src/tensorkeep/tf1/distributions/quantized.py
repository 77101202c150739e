"""Whole numbers that numbers of another distribution are rounded up to: QuantizedDistribution."""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.base import NOT_REPARAMETERIZED, Distribution
from tensorkeep.tf1.functions.arrays.shapes import ones_like, where_v2, zeros_like
from tensorkeep.tf1.functions.control.assertions import assert_equal, assert_less
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.numbers.elementwise import ceil, exp, expm1, floor, log


class QuantizedDistribution(Distribution):
    """The smallest whole numbers that draws of a distribution do not exceed, cut off at `low` and `high`.

    Its draws have no gradients, and its probabilities do: those of a logistic mixture, say, over the 256 values of a
    pixel.
    """

    def __init__(
        self,
        distribution: Distribution,
        low: TensorLike | None = None,
        high: TensorLike | None = None,
        validate_args: bool = False,
        name: str = "QuantizedDistribution",
    ) -> None:
        given = dict(locals())
        dtype = distribution.dtype
        with name_scope(name) as self._name:
            self._distribution = distribution
            self._low: Any = None if low is None else convert(low, dtype, name="low")
            self._high: Any = None if high is None else convert(high, dtype, name="high")
            if validate_args:
                self._low, self._high = _checked_limits(self._low, self._high)
        super().__init__(
            dtype, NOT_REPARAMETERIZED, validate_args, distribution.allow_nan_stats, parameters=given, name=name
        )

    @property
    def distribution(self) -> Distribution:
        """What is rounded up."""
        return self._distribution

    @property
    def low(self) -> Any:
        """The least whole number; None if there is none."""
        return self._low

    @property
    def high(self) -> Any:
        """The largest whole number; None if there is none."""
        return self._high

    def _batch_shape(self) -> Any:
        return self._distribution.batch_shape

    def _batch_shape_tensor(self) -> Tensor:
        return self._distribution.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self._distribution.event_shape

    def _event_shape_tensor(self) -> Tensor:
        return self._distribution.event_shape_tensor()

    def _sample_n(self, n: Any, seed: int | None = None) -> Any:
        drawn: Any = ceil(self._distribution.sample([n], seed=seed))
        if self._low is not None:
            drawn = where_v2(drawn < self._low, self._low * ones_like(drawn), drawn)
        if self._high is not None:
            drawn = where_v2(drawn > self._high, self._high * ones_like(drawn), drawn)
        return drawn

    def _checked(self, y: Any) -> Any:
        if not self.validate_args:
            return y
        return with_dependencies([assert_equal(y, floor(y), message="y has non-integer components.")], y)

    def _cut(self, j: Any, inside: Any, below: float, above: float) -> Any:
        """A function of whole numbers, which is one number below `low` and another from `high` on."""
        if self._low is not None:
            inside = where_v2(j < self._low, below * ones_like(inside), inside)
        if self._high is not None:
            inside = where_v2(j >= self._high, above * ones_like(inside), inside)
        return inside

    def _cdf(self, y: Any) -> Any:
        j = floor(self._checked(y))
        return self._cut(j, self._distribution.cdf(j), 0.0, 1.0)

    def _log_cdf(self, y: Any) -> Any:
        j = floor(self._checked(y))
        return self._cut(j, self._distribution.log_cdf(j), -float("inf"), 0.0)

    def _survival_function(self, y: Any) -> Any:
        j = floor(self._checked(y))
        return self._cut(j, self._distribution.survival_function(j), 1.0, 0.0)

    def _log_survival_function(self, y: Any) -> Any:
        j = floor(self._checked(y))
        return self._cut(j, self._distribution.log_survival_function(j), 0.0, -float("inf"))

    def _log_prob(self, y: Any) -> Any:
        y = self._checked(y)
        try:
            here, before = self._log_cdf(y), self._log_cdf(y - 1.0)
        except NotImplementedError as error:
            raise UnimplementedError(f"log_prob of {self.name} needs a cdf of {self._distribution.name}") from error
        # Above the middle, the difference of what is left over loses less.
        left, left_before = self._log_survival_function(y), self._log_survival_function(y - 1.0)
        is_above = left < here
        big = where_v2(is_above, left_before, here)
        small = where_v2(is_above, left, before)
        is_something = big > small
        apart = where_v2(is_something, small - big, -ones_like(big))
        found = big + log(-expm1(apart))
        return where_v2(is_something, found, zeros_like(found) - float("inf"))

    def _prob(self, y: Any) -> Any:
        return exp(self._log_prob(y))


def _checked_limits(low: Any, high: Any) -> tuple[Any, Any]:
    """Limits that a run checks to be whole numbers, the first below the second."""
    message = "{} has non-integer components."
    if low is not None:
        low = with_dependencies([assert_equal(low, floor(low), message=message.format("low"))], low)
    if high is not None:
        high = with_dependencies([assert_equal(high, floor(high), message=message.format("high"))], high)
    if low is not None and high is not None:
        low = with_dependencies([assert_less(low, high, message="low must be strictly less than high.")], low)
    return low, high
