"""Distributions of vectors: Dirichlet's, and normal ones with a diagonal scale."""

from __future__ import annotations

import math
from typing import Any

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.base import FULLY_REPARAMETERIZED, Distribution, options_of
from tensorkeep.tf1.distributions.continuous import undefined_unless
from tensorkeep.tf1.distributions.divergences import RegisterKL
from tensorkeep.tf1.functions.arrays.shapes import (
    broadcast_dynamic_shape,
    broadcast_static_shape,
    concat,
    expand_dims,
    ones,
    ones_like,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_positive
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.linear_algebra.matrices import matrix_diag, matrix_set_diag
from tensorkeep.tf1.functions.nn.activations import softplus
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import cast, digamma, log, square, xlogy
from tensorkeep.tf1.functions.numbers.reductions import reduce_all, reduce_min, reduce_sum
from tensorkeep.tf1.functions.numbers.special import lbeta
from tensorkeep.tf1.functions.random.numbers import random_gamma, random_normal


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


class MultivariateNormalDiag(Distribution):
    """Vectors of independent normal numbers; `tf.contrib.distributions` has it.

    The standard deviations are `scale_diag`, `scale_identity_multiplier` in every element, or their sum.
    """

    def __init__(
        self,
        loc: TensorLike | None = None,
        scale_diag: TensorLike | None = None,
        scale_identity_multiplier: TensorLike | None = None,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiag",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as self._name:
            middle = None if loc is None else convert(loc, preferred_dtype=FLOAT32, name="loc")
            self._scale_diag = _diagonal(middle, scale_diag, scale_identity_multiplier)
            self._loc = zeros_like(self._scale_diag) if middle is None else middle
            if validate_args:
                check = assert_positive(absolute(self._scale_diag), message="singular scale matrix")
                self._scale_diag = with_dependencies([check], self._scale_diag)
        super().__init__(self._scale_diag.dtype, FULLY_REPARAMETERIZED, **options_of(given))

    @property
    def loc(self) -> Tensor:
        """The middle."""
        return self._loc

    @property
    def scale_diag(self) -> Tensor:
        """The standard deviations of the elements."""
        return self._scale_diag

    def _whole_shape(self) -> Tensor:
        return broadcast_dynamic_shape(shape_of(self._loc), shape_of(self._scale_diag))

    def _known_shape(self) -> Any:
        return broadcast_static_shape(self._loc.get_shape(), self._scale_diag.get_shape())

    def _batch_shape(self) -> Any:
        return self._known_shape()[:-1]

    def _batch_shape_tensor(self) -> Tensor:
        return self._whole_shape()[:-1]

    def _event_shape(self) -> Any:
        return self._known_shape()[-1:]

    def _event_shape_tensor(self) -> Tensor:
        return self._whole_shape()[-1:]

    def _sample_n(self, n: Any, seed: int | None = None) -> Tensor:
        shape = concat([[n], self._whole_shape()], 0)
        return random_normal(shape, dtype=self.dtype, seed=seed) * self._scale_diag + self._loc

    def _log_prob(self, x: Any) -> Tensor:
        each = square((x - self._loc) / self._scale_diag) + math.log(2.0 * math.pi)
        return -0.5 * reduce_sum(each, -1) - self._log_determinant()

    def _log_determinant(self) -> Tensor:
        return reduce_sum(log(absolute(self._whole_scale())), -1)

    def _whole_scale(self) -> Tensor:
        return self._scale_diag * ones_like(self._loc)

    def _entropy(self) -> Tensor:
        size = cast(self.event_shape_tensor()[0], self.dtype)
        return 0.5 * size * (1.0 + math.log(2.0 * math.pi)) + self._log_determinant()

    def _mean(self) -> Tensor:
        return self._loc * ones(shape_of(self._scale_diag), self.dtype)

    def _mode(self) -> Tensor:
        return self._mean()

    def _stddev(self) -> Tensor:
        return absolute(self._whole_scale())

    def _covariance(self) -> Tensor:
        return matrix_diag(square(self._whole_scale()))


def _diagonal(loc: Tensor | None, scale_diag: Any, multiplier: Any) -> Tensor:
    """The standard deviations that `scale_diag` and `scale_identity_multiplier` say together."""
    if scale_diag is None and loc is None:
        raise InvalidArgumentError("MultivariateNormalDiag needs loc or scale_diag, for the size of its vectors")
    preferred = FLOAT32 if loc is None else loc.dtype
    diagonal = None if scale_diag is None else convert(scale_diag, preferred_dtype=preferred, name="scale_diag")
    if multiplier is not None:
        like = diagonal if diagonal is not None else loc
        assert like is not None
        each = expand_dims(convert(multiplier, preferred_dtype=preferred, name="scale_identity_multiplier"), -1)
        return each * ones_like(like) if diagonal is None else diagonal + each
    if diagonal is None:
        assert loc is not None  # or it was refused above
        return ones_like(loc)
    return diagonal


class MultivariateNormalDiagWithSoftplusScale(MultivariateNormalDiag):
    """Vectors of independent normal numbers, whose standard deviations are the softplus of what is given."""

    def __init__(
        self,
        loc: TensorLike,
        scale_diag: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "MultivariateNormalDiagWithSoftplusScale",
    ) -> None:
        given = dict(locals())
        scale = softplus(convert(scale_diag, preferred_dtype=FLOAT32))
        super().__init__(loc, scale, None, validate_args, allow_nan_stats, name)
        self._given = {key: value for key, value in given.items() if key not in ("self", "__class__")}


@RegisterKL(MultivariateNormalDiag, MultivariateNormalDiag)
def _between_normal_vectors(a: MultivariateNormalDiag, b: MultivariateNormalDiag, name: str | None = None) -> Tensor:
    ratio = square(a.scale_diag / b.scale_diag)
    each = ratio - 1.0 - log(ratio) + square((a.loc - b.loc) / b.scale_diag)
    return 0.5 * reduce_sum(each, -1)
