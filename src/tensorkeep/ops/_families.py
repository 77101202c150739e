"""The paragraphs that whole families of ops share: element-wise ops of one and of two inputs."""

from __future__ import annotations

from collections.abc import Callable
from types import EllipsisType
from typing import Any

from tensorkeep.graph.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops._shapes import broadcast, same

Gradient = Callable[..., Any] | EllipsisType | None
"""`gradient(op, dy)`; None says that no gradient flows; `...` that nobody has defined one, and asking is an error."""


def unary(
    name: str,
    kernel: Callable[..., Any],
    gradient: Gradient = None,
    types: str = "{bfloat16, half, float, double, complex64, complex128}",
    result: str = "T",
) -> OpSpec:
    """An element-wise op of one input."""
    spec = op(f"{name}(x: T) -> y: {result}", f"T: {types}")
    spec.shape(same)
    spec.kernel(kernel)
    return differentiated(spec, gradient)


def binary(
    name: str,
    kernel: Callable[..., Any],
    gradient: Gradient = None,
    *clauses: str,
    types: str,
    result: str = "T",
    inputs: tuple[str, str] = ("x", "y"),
) -> OpSpec:
    """An element-wise op of two inputs that broadcast. `clauses` follow the type: flags such as "commutative"."""
    spec = op(f"{name}({inputs[0]}: T, {inputs[1]}: T) -> z: {result}", f"T: {types}", *clauses)
    spec.shape(broadcast)
    spec.kernel(kernel)
    return differentiated(spec, gradient)


def differentiated(spec: OpSpec, gradient: Gradient) -> OpSpec:
    """The op, with what is said of its gradient."""
    if gradient is None:
        not_differentiable(spec)
    elif gradient is not ...:
        spec.gradient(gradient)
    return spec
