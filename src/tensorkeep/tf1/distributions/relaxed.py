"""Classes that are nearly one-hot: continuous distributions with a temperature, whose draws have gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import INT32
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.base import FULLY_REPARAMETERIZED, Distribution, options_of
from tensorkeep.tf1.distributions.bijectors.elementwise import Exp, Sigmoid
from tensorkeep.tf1.distributions.discrete import logits_and_probs
from tensorkeep.tf1.distributions.locations import Logistic
from tensorkeep.tf1.distributions.transformed import TransformedDistribution
from tensorkeep.tf1.functions.arrays.shapes import broadcast_dynamic_shape, broadcast_static_shape, concat, expand_dims
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_positive
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.nn.activations import log_softmax
from tensorkeep.tf1.functions.numbers.elementwise import cast, lgamma, log
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.functions.random.numbers import random_uniform


def _temperature(value: Any, like: Tensor, is_checked: bool) -> Tensor:
    found = convert(value, preferred_dtype=like.dtype, name="temperature")
    return with_dependencies([assert_positive(found)], found) if is_checked else found


class ExpRelaxedOneHotCategorical(Distribution):
    """The logarithms of draws of `RelaxedOneHotCategorical`, which small temperatures do not make zero."""

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExpRelaxedOneHotCategorical",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._logits, self._probs = logits_and_probs(logits, probs, True, validate_args)
            self._temperature = _temperature(temperature, self._logits, validate_args)
        super().__init__(self._logits.dtype if dtype is None else dtype, FULLY_REPARAMETERIZED, **options_of(given))

    @property
    def temperature(self) -> Tensor:
        """The higher it is, the nearer draws are to each other."""
        return self._temperature

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
        known = self._logits.get_shape()[-1:].num_elements() if self._logits.get_shape().rank is not None else None
        return shape_of(self._logits)[-1] if known is None else convert(known, INT32)

    def _batch_shape(self) -> Any:
        return broadcast_static_shape(self._temperature.get_shape(), self._logits.get_shape()[:-1])

    def _batch_shape_tensor(self) -> Tensor:
        return broadcast_dynamic_shape(shape_of(self._temperature), shape_of(self._logits)[:-1])

    def _event_shape(self) -> Any:
        return self._logits.get_shape()[-1:]

    def _event_shape_tensor(self) -> Tensor:
        return shape_of(self._logits)[-1:]

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        shape = concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        least = np.finfo(self.dtype.as_numpy_dtype).tiny  # the logarithm of zero is infinite
        uniform = random_uniform(shape, least, 1.0, self.dtype, seed)
        noisy = (self._logits - log(-log(uniform))) / expand_dims(self._temperature, -1)
        return log_softmax(noisy)

    def _log_prob(self, x: Any) -> Any:
        classes = cast(self.event_size, self.dtype)
        each = log_softmax(self._logits - x * expand_dims(self._temperature, -1))
        return reduce_sum(each, -1) + lgamma(classes) + (classes - 1.0) * log(self._temperature)


class RelaxedOneHotCategorical(TransformedDistribution):
    """Vectors above 0 that add up to 1, the nearer to one-hot the lower the temperature is."""

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        dtype: DTypeLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedOneHotCategorical",
    ) -> None:
        given = dict(locals())
        self._logs = ExpRelaxedOneHotCategorical(temperature, logits, probs, dtype, validate_args, allow_nan_stats)
        super().__init__(self._logs, Exp(validate_args=validate_args), validate_args=validate_args, name=name)
        self._keep_parameters(given)

    @property
    def temperature(self) -> Tensor:
        """The higher it is, the nearer draws are to each other."""
        return self._logs.temperature

    @property
    def logits(self) -> Tensor:
        """The logarithms of the probabilities of the classes, but for a constant."""
        return self._logs.logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of the classes."""
        return self._logs.probs

    @property
    def event_size(self) -> Tensor:
        """How many classes there are."""
        return self._logs.event_size


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1, the nearer to either the lower the temperature is."""

    def __init__(
        self,
        temperature: TensorLike,
        logits: TensorLike | None = None,
        probs: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "RelaxedBernoulli",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as name:
            self._logits, self._probs = logits_and_probs(logits, probs, False, validate_args)
            self._temperature = _temperature(temperature, self._logits, validate_args)
            base = Logistic(
                self._logits / self._temperature,
                1.0 / self._temperature,
                validate_args,
                allow_nan_stats,
                "Logistic",
            )
        super().__init__(base, Sigmoid(validate_args=validate_args), validate_args=validate_args, name=name)
        self._keep_parameters(given)

    @property
    def temperature(self) -> Tensor:
        """The higher it is, the nearer draws are to the middle."""
        return self._temperature

    @property
    def logits(self) -> Tensor:
        """The logarithms of the odds of a 1."""
        return self._logits

    @property
    def probs(self) -> Tensor:
        """The probabilities of a 1."""
        return self._probs
