"""Vectors whose elements are drawn one after the other: Autoregressive."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.base import Distribution
from tensorkeep.tf1.functions.arrays.shapes import broadcast_to, concat
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.random.numbers import get_seed


class Autoregressive(Distribution):
    """The distribution of x that `distribution_fn(x)` gives, where its element i depends on those before i alone.

    A draw begins with `sample0`, or with one of `distribution_fn()`, and is drawn anew `num_steps` times, as often as
    there are elements, each time of the distribution that the draw before gives.
    """

    def __init__(
        self,
        distribution_fn: Callable[..., Distribution],
        sample0: TensorLike | None = None,
        num_steps: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Autoregressive",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._distribution_fn = distribution_fn
            self._sample0 = None if sample0 is None else convert(sample0, name="sample0")
            self._distribution0 = distribution_fn() if self._sample0 is None else distribution_fn(self._sample0)
            self._num_steps = _steps(num_steps, self._distribution0)
        super().__init__(
            self._distribution0.dtype,
            self._distribution0.reparameterization_type,
            validate_args,
            allow_nan_stats,
            parameters=given,
            name=name,
        )

    @property
    def distribution_fn(self) -> Callable[..., Distribution]:
        """What gives the distribution of an element after others."""
        return self._distribution_fn

    @property
    def sample0(self) -> Tensor | None:
        """What a draw begins with."""
        return self._sample0

    @property
    def num_steps(self) -> int:
        """How often a draw is drawn anew."""
        return self._num_steps

    @property
    def distribution0(self) -> Distribution:
        """The distribution that a draw begins with."""
        return self._distribution0

    def _batch_shape(self) -> Any:
        return self._distribution0.batch_shape

    def _batch_shape_tensor(self) -> Tensor:
        return self._distribution0.batch_shape_tensor()

    def _event_shape(self) -> Any:
        return self._distribution0.event_shape

    def _event_shape_tensor(self) -> Tensor:
        return self._distribution0.event_shape_tensor()

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        # Each time the same noise: the first elements are right after the first time, and stay as they are.
        noise = _seed_of(seed)
        if self._sample0 is None:
            drawn = self._distribution0.sample([n], seed=noise)
        else:
            drawn = broadcast_to(self._sample0, concat([[n], shape_of(self._sample0)], 0))
            count = constant_value(convert(n, INT32))
            drawn.set_shape([None if count is None else int(count), *self._sample0.get_shape()])
        for _ in range(self._num_steps):
            drawn = self._distribution_fn(drawn).sample(seed=noise)
        return drawn

    def _log_prob(self, value: Any) -> Any:
        return self._distribution_fn(value).log_prob(value)


def _seed_of(seed: int | None) -> int:
    """The seed itself; without one, one that follows from the graph's, or any."""
    if seed is not None:
        return seed
    own = get_seed(None)[1]
    return int(np.random.default_rng().integers(2**31)) if own is None else int(own)


def _steps(told: Any, first: Distribution) -> int:
    if told is None:
        known: Any = first.event_shape.num_elements()
        if known is None:
            raise InvalidArgumentError("num_steps has to be told where the size of events is not known before a run")
    else:
        known = constant_value(convert(told, INT32, name="num_steps"))
        if known is None:
            raise UnimplementedError("num_steps has to be known before a run")
    steps = int(known)
    if steps < 1:
        raise InvalidArgumentError(f"num_steps ({steps}) must be at least 1.")
    return steps
