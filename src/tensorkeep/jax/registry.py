"""Which op has which lowering, a function of JAX's arrays to JAX's arrays, and functions that say their derivative."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeAlias, TypeVar

import jax

from tensorkeep.graph.registry.opspec import keyword_names

LoweringFunction: TypeAlias = Callable[..., Any]
Function = TypeVar("Function", bound=LoweringFunction)
Rule: TypeAlias = Callable[[Any, Any], tuple[Any, Any]]
"""Of the values of the arguments, and how each of them moves: the result, and how it moves."""


@dataclass(frozen=True)
class Lowering:
    """How operations of one op are computed by JAX."""

    op: str
    function: LoweringFunction
    attrs: tuple[str, ...]
    """The attributes that the function takes."""
    known: tuple[str, ...]
    """Inputs, by the names of the function's parameters, that must be known while it is traced: sizes and axes. Where
    inputs are given as they are, the function itself sees to it.
    """
    raw: bool
    """Whether inputs are given as they are: known arrays, lists and handles among them."""
    takes_tracing: bool
    """Whether the function is given what it is part of, before its inputs."""
    of_shapes: bool
    """Whether the result depends on the shapes of inputs alone, and is known."""


LOWERINGS: Final[dict[str, Lowering]] = {}
"""Every lowering by the op's name, once `tensorkeep.jax.lowerings.every` has been imported."""


def lowering(
    *ops: str, known: Sequence[str] = (), raw: bool = False, of_shapes: bool = False
) -> Callable[[Function], Function]:
    """Decorates the lowering of one op, or of several that differ in nothing.

    Its parameters are the op's inputs in their order; those by keyword are attributes. Inputs come as JAX's arrays but
    for those that are `known`, which are NumPy's.
    """
    return _registering(ops, tuple(known), raw, False, of_shapes)


def traced_lowering(*ops: str, known: Sequence[str] = (), raw: bool = True) -> Callable[[Function], Function]:
    """Decorates the lowering of an op that needs more than its inputs: variables, functions, random numbers.

    Its first parameter is the `Tracing` that it is part of.
    """
    return _registering(ops, tuple(known), raw, True, False)


def _registering(
    ops: Sequence[str], known: tuple[str, ...], raw: bool, takes_tracing: bool, of_shapes: bool
) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        for op in ops:
            assert op not in LOWERINGS, f"{op} has two lowerings"
            attrs = tuple(keyword_names(function))
            LOWERINGS[op] = Lowering(op, function, attrs, known, raw, takes_tracing, of_shapes)
        return function

    return register


def same_function(table: Mapping[str, LoweringFunction]) -> None:
    """Lowerings of ops that are one function of JAX, of the same inputs in the same order, without attributes."""
    for op, function in table.items():
        lowering(op)(_positional(function))


def _positional(function: LoweringFunction) -> LoweringFunction:
    def one_call(*inputs: Any) -> Any:
        return function(*inputs)

    return one_call


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
