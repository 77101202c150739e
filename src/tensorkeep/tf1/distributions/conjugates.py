"""What normal numbers tell of their mean, of which a normal distribution was known: `normal_conjugates_…`."""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.tf1.distributions.continuous import Normal
from tensorkeep.tf1.functions.numbers.elementwise import cast, sqrt, square


def normal_conjugates_known_scale_posterior(prior: Normal, scale: TensorLike, s: TensorLike, n: TensorLike) -> Normal:
    """The distribution of the mean after `n` numbers, of sum `s` and deviation `scale`, where `prior` was before."""
    mean, variance = _posterior(prior, scale, s, n)
    return Normal(loc=mean, scale=sqrt(variance))


def normal_conjugates_known_scale_predictive(prior: Normal, scale: TensorLike, s: TensorLike, n: TensorLike) -> Normal:
    """The distribution of the next number after `n` numbers, of sum `s` and deviation `scale`."""
    mean, variance = _posterior(prior, scale, s, n)
    return Normal(loc=mean, scale=sqrt(variance + square(cast(scale, prior.dtype))))


def _posterior(prior: Any, scale: Any, s: Any, n: Any) -> tuple[Any, Any]:
    if not isinstance(prior, Normal):
        raise WrongTypeError(f"Expected prior to be an instance of type Normal, and it is {prior!r}")
    total: Any = cast(s, prior.dtype)
    if total.dtype is not prior.dtype:
        raise WrongTypeError(f"Observation sum s.dtype does not match prior dtype: {total.dtype} vs. {prior.dtype}")
    count, own = cast(n, prior.dtype), square(cast(scale, prior.dtype))
    before = square(prior.scale)
    variance: Any = 1.0 / (1.0 / before + count / own)
    return (prior.loc / before + total / own) * variance, variance
