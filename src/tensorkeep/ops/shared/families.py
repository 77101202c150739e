"""The paragraphs that whole families of ops share: element-wise ones, and those of two generations."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from types import EllipsisType
from typing import Any, TypeVar, cast

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops.shared.shape_rules import broadcast, same

Function = TypeVar("Function", bound=Callable[..., Any])
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
    return with_gradient(spec, gradient)


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
    return with_gradient(spec, gradient)


def with_gradient(spec: OpSpec, gradient: Gradient) -> OpSpec:
    """The op, with a gradient: a rule, None for an op through which none flows, or `...` for nothing yet."""
    if gradient is None:
        not_differentiable(spec)
    elif gradient is not ...:
        spec.gradient(gradient)
    return spec


def of_equal_shapes(kernel: Function) -> Function:
    """A kernel of two inputs that do not broadcast: of other shapes it would give what TensorFlow refuses."""

    @wraps(kernel)
    def checked_kernel(first: Any, second: Any, **attrs: Any) -> Any:
        if first.shape != second.shape:
            raise InvalidArgumentError(
                "the inputs must have the same size and shape: "
                f"input 0 has {list(first.shape)}, input 1 {list(second.shape)}"
            )
        return kernel(first, second, **attrs)

    return cast(Function, checked_kernel)


def of_equal_sizes(kernel: Function) -> Function:
    """A kernel of two inputs that do not broadcast; the second may have another shape of as many elements."""

    @wraps(kernel)
    def checked_kernel(first: Any, second: Any) -> Any:
        if first.shape != second.shape:
            if first.size != second.size:
                raise InvalidArgumentError(
                    f"the two inputs must have the same number of elements, got {first.size} and {second.size}"
                )
            second = second.reshape(first.shape)
        return kernel(first, second)

    return cast(Function, checked_kernel)


def two_generations(name: str, handle: str, signature: str, *clauses: str) -> tuple[OpSpec, OpSpec]:
    """An op on references to tables, queues and the like, and the same on handles, which is stateful.

    `handle` is what the first input is called; `signature` is what follows it, as in ", n: int32 -> values: T".
    """
    inputs, arrow, outputs = signature.partition(" -> ")
    old = op(f"{name}({handle}: Ref(string){inputs}){arrow}{outputs}", *clauses)
    new = op(f"{name}V2({handle}: resource{inputs}){arrow}{outputs}", *clauses, "stateful")
    return old, new
