"""The distance from one distribution to another, and the register of what computes it.

The Kullback-Leibler divergence of a and b is the mean of log a - log b over draws of a. Families register a function
for pairs of themselves; a pair of subclasses finds that of the nearest classes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.control.control_flow import Assert
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.numbers.elementwise import is_nan, logical_not
from tensorkeep.tf1.functions.numbers.reductions import reduce_any

if TYPE_CHECKING:
    from tensorkeep.tf1.distributions.base import Distribution

_DIVERGENCES: Final[dict[tuple[type, type], Callable[..., Any]]] = {}


class RegisterKL:
    """Decorates a function `(a, b, name=None)`, which then computes divergences of distributions of these classes."""

    def __init__(self, dist_cls_a: type, dist_cls_b: type) -> None:
        self._key = (dist_cls_a, dist_cls_b)

    def __call__(self, kl_fn: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(kl_fn):
            raise InvalidArgumentError(f"kl_fn must be callable, received: {kl_fn}")
        if self._key in _DIVERGENCES:
            first, second = (each.__name__ for each in self._key)
            raise InvalidArgumentError(f"KL({first} || {second}) has already been registered")
        _DIVERGENCES[self._key] = kl_fn
        return kl_fn


def kl_divergence(
    distribution_a: Distribution, distribution_b: Distribution, allow_nan_stats: bool = True, name: str | None = None
) -> Tensor:
    """The Kullback-Leibler divergence: the mean of log a(x) - log b(x) over draws x from a."""
    found = _nearest(type(distribution_a), type(distribution_b))
    if found is None:
        raise UnimplementedError(
            "No KL(distribution_a || distribution_b) registered for distribution_a type "
            f"{type(distribution_a).__name__} and distribution_b type {type(distribution_b).__name__}: register a "
            "function by tf.distributions.RegisterKL"
        )
    with name_scope(name or "KullbackLeibler"):
        divergence: Tensor = found(distribution_a, distribution_b, name=name)
        if allow_nan_stats:
            return divergence
        check = Assert(logical_not(reduce_any(is_nan(divergence))), ["KL calculation returned NaN values", divergence])
        return with_dependencies([check], divergence)


def _nearest(first: type, second: type) -> Callable[..., Any] | None:
    """The function registered for the nearest classes that two classes derive from; None if there is none."""
    pairs = [
        (far + near, _DIVERGENCES[one, other])
        for far, one in enumerate(first.__mro__)
        for near, other in enumerate(second.__mro__)
        if (one, other) in _DIVERGENCES
    ]
    return min(pairs, key=lambda pair: pair[0])[1] if pairs else None
