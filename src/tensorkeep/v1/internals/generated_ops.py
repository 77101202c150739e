"""`gen_array_ops`, `gen_math_ops` and their like: ops as functions, whose arguments may be given by position."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from tensorkeep.graph.registry.capabilities import tensorflow_ops
from tensorkeep.graph.registry.opspec import find_op
from tensorkeep.v1.op_functions import function_of


@cache
def _names() -> dict[str, str]:
    """The ops by their names in small letters: `Conv2DBackpropInput` is asked for as `conv2d_backprop_input`."""
    return {name.lower(): name for name in sorted(tensorflow_ops(), reverse=True)}


@cache
def op_function(name: str) -> Callable[..., Any] | None:
    """The op of a name as a function of its inputs and attributes; None if there is no such op."""
    found = _names().get(name.replace("_", "").lower())
    spec = None if found is None else find_op(found)
    if spec is None:
        return None
    raw = function_of(spec)

    def function(*args: Any, **kwargs: Any) -> Any:
        return raw(**raw.__signature__.bind(*args, **kwargs).arguments)

    function.__name__ = function.__qualname__ = name
    function.__doc__, function.__signature__ = raw.__doc__, raw.__signature__  # type: ignore[attr-defined]
    return function


def __getattr__(name: str) -> Callable[..., Any]:
    found = None if name.startswith("__") else op_function(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}: TensorFlow has no such op", name=name)
    return found
