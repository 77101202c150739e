"""Dirichlet's distribution, of vectors that add up to 1."""

from __future__ import annotations

from typing import Any

from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.base import FULLY_REPARAMETERIZED, Distribution, options_of
from tensorkeep.tf1.distributions.continuous import undefined_unless
from tensorkeep.tf1.distributions.divergences import RegisterKL
from tensorkeep.tf1.functions.arrays.shapes import (
    expand_dims,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_positive
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_set_diag
from tensorkeep.tf1.functions.numbers.elementwise import cast, digamma, xlogy
from tensorkeep.tf1.functions.numbers.reductions import reduce_all, reduce_min, reduce_sum
from tensorkeep.tf1.functions.numbers.special import lbeta
from tensorkeep.tf1.functions.random.numbers import random_gamma


class Dirichlet(Distribution):
    """The distribution of vectors of numbers above 0 that add up to 1."""

    def __init__(
        self,
        concentration: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "Dirichlet",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            self._concentration = convert(concentration, name="concentration")
            if validate_args:
                check = assert_positive(self._concentration, message="Concentration parameter must be positive.")
                self._concentration = with_dependencies([check], self._concentration)
            self._total_concentration = reduce_sum(self._concentration, -1)
        super().__init__(self._concentration.dtype, FULLY_REPARAMETERIZED, **options_of(given))

    @property
    def concentration(self) -> Tensor:
        """The parameters (alpha), one for each element: the larger one is, the larger that element of draws."""
        return self._concentration

    @property
    def total_concentration(self) -> Tensor:
        """The sum of the parameters."""
        return self._total_concentration

    def _batch_shape(self) -> Any:
        return self._concentration.get_shape()[:-1]

    def _batch_shape_tensor(self) -> Tensor:
        return shape_of(self._total_concentration)

    def _event_shape(self) -> Any:
        return self._concentration.get_shape()[-1:]

    def _event_shape_tensor(self) -> Tensor:
        return shape_of(self._concentration)[-1:]

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        drawn = random_gamma([n], self._concentration, dtype=self.dtype, seed=seed)
        return drawn / reduce_sum(drawn, -1, keepdims=True)

    def _log_prob(self, x: Any) -> Tensor:
        return reduce_sum(xlogy(self._concentration - 1.0, x), -1) - lbeta(self._concentration)

    def _size(self) -> Tensor:
        return cast(self.event_shape_tensor()[0], self.dtype)

    def _entropy(self) -> Tensor:
        total = (self._total_concentration - self._size()) * digamma(self._total_concentration)
        parts = reduce_sum((self._concentration - 1.0) * digamma(self._concentration), -1)
        return lbeta(self._concentration) + total - parts

    def _mean(self) -> Tensor:
        return self._concentration / expand_dims(self._total_concentration, -1)

    def _variance(self) -> Tensor:
        mean = self._mean()
        return mean * (1.0 - mean) / (1.0 + expand_dims(self._total_concentration, -1))

    def _covariance(self) -> Tensor:
        mean = self._mean()
        between = -expand_dims(mean, -1) * expand_dims(mean, -2)
        total = expand_dims(expand_dims(self._total_concentration, -1), -1)
        return matrix_set_diag(between / (1.0 + total), self._variance())

    def _mode(self) -> Tensor:
        mode = (self._concentration - 1.0) / (expand_dims(self._total_concentration, -1) - self._size())
        is_defined = reduce_all(self._concentration > 1.0, axis=-1, keepdims=True)
        limit = reduce_min(self._concentration)
        return undefined_unless(self, is_defined, mode, limit, "Mode undefined when any concentration <= 1")


@RegisterKL(Dirichlet, Dirichlet)
def _between_dirichlets(a: Dirichlet, b: Dirichlet, name: str | None = None) -> Tensor:
    logs = digamma(a.concentration) - digamma(reduce_sum(a.concentration, axis=-1, keepdims=True))
    between = reduce_sum((a.concentration - b.concentration) * logs, axis=-1)
    return between - lbeta(a.concentration) + lbeta(b.concentration)
