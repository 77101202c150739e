"""`tf.function`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.tf1.functions.control import tracing


def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool = False,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Any = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
) -> Any:
    """Makes a function of a graph of a Python function. Python's control flow is not translated: `tf.cond` is."""
    named = {"experimental_implements": experimental_implements, "experimental_attributes": experimental_attributes}
    return tracing.function(func, input_signature, **named)


__all__ = ["function"]
