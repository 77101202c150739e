"""Families whose parameters are the softplus, or the absolute value, of what is given: of outputs of a network, say."""

from __future__ import annotations

from typing import Any

from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.distributions.continuous import Beta, Exponential, Gamma, Laplace, StudentT
from tensorkeep.tf1.distributions.positive import Chi2, InverseGamma
from tensorkeep.tf1.functions.nn.activations import softplus
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import floor


def _softened(value: TensorLike | None, name: str) -> Tensor:
    return softplus(convert(value, name=name), name=f"softplus_{name}")


class BetaWithSoftplusConcentration(Beta):
    """Beta, of the softplus of both concentrations."""

    def __init__(
        self,
        concentration1: TensorLike,
        concentration0: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "BetaWithSoftplusConcentration",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as name:
            one, zero = _softened(concentration1, "concentration1"), _softened(concentration0, "concentration0")
        super().__init__(one, zero, validate_args, allow_nan_stats, name)
        self._keep_parameters(given)


class Chi2WithAbsDf(Chi2):
    """Chi2, of the absolute value of the degrees of freedom, rounded down."""

    def __init__(
        self, df: TensorLike, validate_args: bool = False, allow_nan_stats: bool = True, name: str = "Chi2WithAbsDf"
    ) -> None:
        given = dict(locals())
        with name_scope(name) as name:
            whole = floor(absolute(convert(df, name="df")), name="floor_abs_df")
        super().__init__(whole, validate_args, allow_nan_stats, name)
        self._keep_parameters(given)


class ExponentialWithSoftplusRate(Exponential):
    """Exponential, of the softplus of the rate."""

    def __init__(
        self,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "ExponentialWithSoftplusRate",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as name:
            rates = _softened(rate, "rate")
        super().__init__(rates, validate_args, allow_nan_stats, name)
        self._keep_parameters(given)


class GammaWithSoftplusConcentrationRate(Gamma):
    """Gamma, of the softplus of the concentration and the rate."""

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "GammaWithSoftplusConcentrationRate",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as name:
            shape, rates = _softened(concentration, "concentration"), _softened(rate, "rate")
        super().__init__(shape, rates, validate_args, allow_nan_stats, name)
        self._keep_parameters(given)


class InverseGammaWithSoftplusConcentrationRate(InverseGamma):
    """InverseGamma, of the softplus of the concentration and the rate."""

    def __init__(
        self,
        concentration: TensorLike,
        rate: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "InverseGammaWithSoftplusConcentrationRate",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as name:
            shape, rates = _softened(concentration, "concentration"), _softened(rate, "rate")
        super().__init__(shape, rates, validate_args, allow_nan_stats, name)
        self._keep_parameters(given)


class LaplaceWithSoftplusScale(Laplace):
    """Laplace, of the softplus of the scale."""

    def __init__(
        self,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "LaplaceWithSoftplusScale",
    ) -> None:
        given = dict(locals())
        with name_scope(name) as name:
            positive = _softened(scale, "scale")
        super().__init__(loc, positive, validate_args, allow_nan_stats, name)
        self._keep_parameters(given)


class StudentTWithAbsDfSoftplusScale(StudentT):
    """StudentT, of the absolute value of the degrees of freedom, rounded down, and the softplus of the scale."""

    def __init__(
        self,
        df: TensorLike,
        loc: TensorLike,
        scale: TensorLike,
        validate_args: bool = False,
        allow_nan_stats: bool = True,
        name: str = "StudentTWithAbsDfSoftplusScale",
    ) -> None:
        given: dict[str, Any] = dict(locals())
        with name_scope(name) as name:
            whole = floor(absolute(convert(df, name="df")), name="floor_abs_df")
            positive = _softened(scale, "scale")
        super().__init__(whole, loc, positive, validate_args, allow_nan_stats, name)
        self._keep_parameters(given)
