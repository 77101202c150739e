"""The paragraphs that whole families of ops share: element-wise ops of one and of two inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorkeep.graph.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops._shapes import broadcast, same


def unary(
    name: str,
    kernel: Callable[..., Any],
    gradient: Callable[..., Any] | None = None,
    types: str = "{bfloat16, half, float, double, complex64, complex128}",
) -> OpSpec:
    """An element-wise op of one input. `gradient(op, dy)` gives the gradient; None says that there is none."""
    spec = op(f"{name}(x: T) -> y: T", f"T: {types}")
    spec.shape(same)
    spec.kernel(kernel)
    if gradient is None:
        not_differentiable(spec)
    else:
        spec.gradient(gradient)
    return spec


def binary(
    name: str,
    kernel: Callable[..., Any],
    gradient: Callable[..., Any] | None = None,
    *clauses: str,
    types: str,
    result: str = "T",
) -> OpSpec:
    """An element-wise op of two inputs that broadcast. `clauses` follow the type: flags such as "commutative"."""
    spec = op(f"{name}(x: T, y: T) -> z: {result}", f"T: {types}", *clauses)
    spec.shape(broadcast)
    spec.kernel(kernel)
    if gradient is None:
        not_differentiable(spec)
    else:
        spec.gradient(gradient)
    return spec
