"""Distributions of a single value: Deterministic, VectorDeterministic."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.base import FULLY_REPARAMETERIZED, Distribution, options_of
from tensorkeep.tf1.distributions.divergences import RegisterKL
from tensorkeep.tf1.functions.arrays.shapes import (
    broadcast_to,
    concat,
    identity,
    ones_like,
    where_v2,
    zeros,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_equal, assert_non_negative
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.numbers.reductions import reduce_all


class _Point(Distribution):
    """What both share: a value, and how far from it others still count as it: `atol + rtol |loc|`."""

    def __init__(self, given: dict[str, Any], name: str) -> None:
        with name_scope(name) as self._name:
            self._loc = convert(given["loc"], name="loc")
            self._atol = self._tolerance(given["atol"], "atol", given["validate_args"])
            self._rtol = self._tolerance(given["rtol"], "rtol", given["validate_args"])
            self._slack: Any = self._atol + self._rtol * absolute(self._loc)
        super().__init__(self._loc.dtype, FULLY_REPARAMETERIZED, **options_of(given))

    def _tolerance(self, value: Any, name: str, is_checked: bool) -> Any:
        found = convert(0 if value is None else value, self._loc.dtype, name=name)
        if not is_checked:
            return found
        return with_dependencies([assert_non_negative(found, message=f"Argument {name!r} must be non-negative")], found)

    @property
    def loc(self) -> Tensor:
        """The value."""
        return self._loc

    @property
    def atol(self) -> Tensor:
        """By how much others may differ."""
        return self._atol  # type: ignore[no-any-return]

    @property
    def rtol(self) -> Tensor:
        """By what part of the value others may differ."""
        return self._rtol  # type: ignore[no-any-return]

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        return broadcast_to(self._loc, concat([[n], shape_of(self._loc)], 0))

    def _mean(self) -> Any:
        return identity(self._loc)

    def _variance(self) -> Any:
        return zeros_like(self._loc)

    def _mode(self) -> Any:
        return self._mean()

    def _entropy(self) -> Any:
        return zeros(self.batch_shape_tensor(), self.dtype)

    def _is_near(self, x: Any) -> Any:
        return absolute(x - self._loc) <= self._slack


class Deterministic(_Point):
    """The distribution whose draws are all the same number."""

    def __init__(
        self,
        loc: TensorLike,
        atol: TensorLike | None = None,
        rtol: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Deterministic",
    ) -> None:
        super().__init__(dict(locals()), name)

    def _batch_shape(self) -> Any:
        return self._loc.get_shape()

    def _batch_shape_tensor(self) -> Tensor:
        return shape_of(self._loc)

    def _prob(self, x: Any) -> Any:
        return cast(self._is_near(x), self.dtype)

    def _log_prob(self, x: Any) -> Any:
        return _log_of(self._is_near(x), self._loc)

    def _cdf(self, x: Any) -> Any:
        return cast(x >= self._loc - self._slack, self.dtype)


class VectorDeterministic(_Point):
    """The distribution whose draws are all the same vector."""

    def __init__(
        self,
        loc: TensorLike,
        atol: TensorLike | None = None,
        rtol: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "VectorDeterministic",
    ) -> None:
        super().__init__(dict(locals()), name)
        if self._loc.get_shape().rank == 0:
            raise InvalidArgumentError("VectorDeterministic: loc has to have at least one dimension, and is a number")

    def _batch_shape(self) -> Any:
        known = self._loc.get_shape()
        return known[:-1] if known.rank is not None else known

    def _batch_shape_tensor(self) -> Tensor:
        found: Tensor = shape_of(self._loc)[:-1]
        return found

    def _event_shape(self) -> Any:
        known = self._loc.get_shape()
        return known[-1:] if known.rank is not None else [None]

    def _event_shape_tensor(self) -> Tensor:
        found: Tensor = shape_of(self._loc)[-1:]
        return found

    def _are_all_near(self, x: Any) -> Any:
        if self.validate_args:
            message = "Argument `x` not defined in the same space R**k as this distribution"
            x = with_dependencies([assert_equal(shape_of(x)[-1], shape_of(self._loc)[-1], message=message)], x)
        return reduce_all(self._is_near(x), axis=-1)

    def _prob(self, x: Any) -> Any:
        return cast(self._are_all_near(x), self.dtype)

    def _log_prob(self, x: Any) -> Any:
        return _log_of(self._are_all_near(x), self._loc)


def _log_of(is_value: Any, like: Any) -> Any:
    one = ones_like(is_value, dtype=like.dtype if like.dtype.is_floating else FLOAT32)
    return where_v2(is_value, 0.0 * one, -np.inf * one)


@RegisterKL(_Point, Distribution)
def _from_point(a: _Point, b: Distribution, name: str | None = None) -> Any:
    return -b.log_prob(a.loc)
