"""How much a model that a command line runs may take, unless its flags say otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.machine.resources import available_memory
from tensorkeep.runtime.limits import Limits

Number = TypeVar("Number", int, float)

DEFAULT_LIMITS: Final = Limits(seconds=300.0, steps=10_000_000)
"""Besides these, the memory that is free when the run begins."""


def limits_of_texts(
    seconds: str | None, memory: str | None, steps: str | None, size_of: Callable[[str], int] = int
) -> Limits:
    """What flags say, each a number or "none"; the default where there is no flag."""
    return Limits(
        DEFAULT_LIMITS.seconds if seconds is None else _number(seconds, float, "seconds"),
        available_memory() if memory is None else _number(memory, size_of, "memory"),
        DEFAULT_LIMITS.steps if steps is None else _number(steps, int, "steps"),
    )


def _number(text: str, kind: Callable[[str], Number], what: str) -> Number | None:
    if text == "none":
        return None
    try:
        return kind(text)
    except ValueError:
        raise InvalidArgumentError(f"the limit of {what} is a number or none, got {text!r}") from None
