"""Which op has which rule."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, TypeVar

from tensorkeep.graph.registry.opspec import keyword_names

RuleFunction: TypeAlias = Callable[..., Any]
Function = TypeVar("Function", bound=RuleFunction)


@dataclass(frozen=True)
class Rule:
    """How operations of one op become nodes."""

    op: str
    function: RuleFunction
    attrs: tuple[str, ...]
    """The attributes that the function takes."""
    takes_complex: bool
    """Whether it knows of complex numbers, which are pairs in the file."""
    oldest_opset: int
    """The version of ONNX below which it has no rule."""


RULES: Final[dict[str, Rule]] = {}
"""Every rule by the op's name, once `tensorkeep.onnx.rules.every` has been imported."""


def rule(*ops: str, takes_complex: bool = False, opset: int = 0) -> Callable[[Function], Function]:
    """Decorates the rule of one op, or of several that differ in nothing but what the rule is told by `to.operation`.

    `opset` is the oldest version of ONNX that it can be written for.
    """

    def known(function: Function) -> Function:
        for op in ops:
            assert op not in RULES, f"{op} has two rules"
            RULES[op] = Rule(op, function, tuple(keyword_names(function)), takes_complex, opset)
        return function

    return known
