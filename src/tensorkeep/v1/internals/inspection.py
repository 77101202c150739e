"""What `tensorflow.python.util.tf_inspect` has otherwise than Python's `inspect`: functions that Python has dropped."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

FullArgSpec = inspect.FullArgSpec
currentframe = inspect.currentframe


class ArgSpec(NamedTuple):
    """The arguments of a function, as Python before 3.11 told them."""

    args: list[str]
    varargs: str | None
    keywords: str | None
    defaults: tuple[Any, ...] | None


def getargspec(obj: Callable[..., Any]) -> ArgSpec:
    """The arguments of a function; the defaults of those that are given by name only are not told."""
    spec = getfullargspec(obj)
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def getfullargspec(obj: Callable[..., Any]) -> inspect.FullArgSpec:
    """All arguments of a function; of a class, those of what makes an object of it."""
    made = obj.__init__ if inspect.isclass(obj) else obj
    callable_itself = inspect.isroutine(made) or hasattr(made, "__wrapped__") or hasattr(made, "func")
    return inspect.getfullargspec(made if callable_itself else type(made).__call__)


def getcallargs(*func_and_positional: Any, **named: Any) -> dict[str, Any]:
    """The values of the arguments of a call, by name."""
    func, *positional = func_and_positional
    bound = inspect.signature(func).bind(*positional, **named)
    bound.apply_defaults()
    return dict(bound.arguments)
