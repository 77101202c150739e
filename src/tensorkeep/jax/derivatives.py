"""Functions that say themselves what their derivative is, where JAX has none or another one than TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

import jax

Rule: TypeAlias = Callable[[Any, Any], tuple[Any, Any]]
"""Of the values of the arguments, and how each of them moves: the result, and how it moves."""


class Derivable(Protocol):
    """A function whose rule is yet to be said, or has been."""

    def __call__(self, *arguments: Any) -> Any: ...

    def defjvp(self, rule: Rule) -> Rule:
        """Decorates the rule. It is linear in how arguments move, so that JAX turns it around for gradients."""
        ...


def own_derivative(function: Callable[..., Any]) -> Derivable:
    """Decorates a function whose derivative is not what JAX would make of it."""
    made: Derivable = jax.custom_jvp(function)
    return made
