"""Functions whose gradients need not keep what they computed: it is computed again, or back from the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from inspect import signature
from typing import Any, TypeAlias

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import arg_scope, current_arg_scope
from tensorkeep.tf1.functions.arrays.shapes import stop_gradient
from tensorkeep.tf1.functions.control.grouping import tuple_
from tensorkeep.tf1.functions.gradients.derivatives import custom_gradient
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tensorkeep.tf1.functions.numbers.elementwise import add_n
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.variables.scope import VariableScope, get_variable_scope
from tensorkeep.tf1.variables.scopes import variable_scope

Layer: TypeAlias = "Callable[..., Tensor]"
"""A function of a tensor, and of a list of others if it has such."""


def recompute_grad(
    fn: Callable[..., Any] | None = None, use_data_dep: bool | None = None, tupleize_grads: bool = False
) -> Callable[..., Any]:
    """Decorates a function of tensors: its gradient computes all again, in the place of keeping it.

    The variables it uses are resource variables. It is told `is_recomputing` if it has such an argument. Control
    dependencies have the second computation wait for the gradients of the results, whatever `use_data_dep` says.
    """
    if fn is None:
        return lambda given: recompute_grad(given, use_data_dep, tupleize_grads)
    function = fn

    @wraps(function)
    def wrapped(*args: Any) -> Any:
        if not all(isinstance(item, Tensor) for item in args):
            raise InvalidArgumentError("All inputs to function must be Tensors")
        return _recomputed(function, args, tupleize_grads)

    return wrapped


def _recomputed(fn: Callable[..., Any], args: tuple[Tensor, ...], tupleize_grads: bool) -> Any:
    is_told = "is_recomputing" in signature(fn).parameters
    opened, arguments = get_variable_scope(), current_arg_scope()

    def compute(inputs: Sequence[Tensor], again: bool) -> Any:
        return fn(*inputs, is_recomputing=again) if is_told else fn(*inputs)

    @custom_gradient
    def with_gradient(*inputs: Tensor) -> Any:
        def gradient(*dys: Tensor, variables: Sequence[Any] = ()) -> Any:
            known = [dy for dy in dys if dy is not None]
            with control_dependencies(known), arg_scope(arguments), variable_scope(opened, reuse=True):
                cut = [stop_gradient(item) for item in inputs]
                outputs = flatten(compute(cut, True))
            found = gradients(outputs, [*cut, *variables], list(dys))
            if tupleize_grads:
                found = tuple_(found)
            parts = found[: len(cut)], found[len(cut) :]
            return parts if variables else parts[0]

        return compute(inputs, False), gradient

    return with_gradient(*args)


# ---------------------------------------------------------------------------------------------------- Reversible layers


def rev_block(
    x1: Tensor,
    x2: Tensor,
    f: Layer | Sequence[Layer],
    g: Layer | Sequence[Layer],
    num_layers: int = 1,
    f_side_input: Sequence[Tensor] | None = None,
    g_side_input: Sequence[Tensor] | None = None,
    is_training: bool = True,
) -> tuple[Tensor, Tensor]:
    """Layers y1 = x1 + f(x2), y2 = x2 + g(y1), whose gradients find x1 and x2 back from y1 and y2 (Gomez et al., 2017).

    Functions may make resource variables by `get_variable`, and use no tensors but those they are given.
    """
    sides = [list(f_side_input or []), list(g_side_input or [])]
    pairs = list(zip(_repeated(f, num_layers, "f"), _repeated(g, num_layers, "g"), strict=True))
    count = len(sides[0])

    def split(flat: Sequence[Tensor]) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        return flat[:count], flat[count:]

    reuse = get_variable_scope().reuse
    with variable_scope("revblock" if reuse is True else None, "revblock") as opened:

        def forward(a: Tensor, b: Tensor, *flat: Tensor) -> tuple[Tensor, Tensor]:
            of_f, of_g = split(flat)
            for number, (first, second) in enumerate(pairs):
                a = a + _applied(first, f"revlayer_{number}/f", b, of_f)
                b = b + _applied(second, f"revlayer_{number}/g", a, of_g)
            return a, b

        flat = [*sides[0], *sides[1]]
        if not is_training:
            return forward(x1, x2, *flat)

        @custom_gradient
        def with_gradient(*given: Tensor) -> Any:
            results = forward(*given)

            def gradient(*dys: Tensor, variables: Sequence[Any] = ()) -> Any:
                back = _Backwards(pairs, opened, split([stop_gradient(item) for item in given[2:]]), list(variables))
                found = back.run(results, dys)
                return (found, back.of_variables()) if variables else found

            return results, gradient

        y1, y2 = with_gradient(x1, x2, *flat)
        return y1, y2


def _repeated(layer: Layer | Sequence[Layer], count: int, word: str) -> list[Layer]:
    found: list[Any] = [layer] * count if callable(layer) else list(layer)
    if len(found) != count:
        raise WrongTypeError(f"rev_block: {len(found)} functions {word} were given for {count} layers")
    return found


def _applied(layer: Layer, name: str, given: Tensor, sides: Sequence[Tensor]) -> Tensor:
    with variable_scope(name, use_resource=True):
        return layer(given, list(sides)) if sides else layer(given)


class _Backwards:
    """Goes through reversible layers from the last to the first, with sums of the gradients of variables and sides."""

    def __init__(
        self,
        pairs: Sequence[tuple[Layer, Layer]],
        opened: VariableScope,
        sides: tuple[Sequence[Tensor], Sequence[Tensor]],
        variables: list[Any],
    ) -> None:
        self._pairs, self._opened, self._sides, self._variables = pairs, opened, sides, variables
        self._sums: dict[int, list[Any]] = {}

    def run(self, results: Sequence[Tensor], dys: Sequence[Tensor]) -> list[Any]:
        """The gradients of both inputs, and of what functions are given besides."""
        (y1, y2), (dy1, dy2) = results, dys
        with variable_scope(self._opened, reuse=True), control_dependencies(list(dys)):
            for number in reversed(range(len(self._pairs))):
                f, g = self._pairs[number]
                y1 = stop_gradient(y1)
                made = _applied(g, f"revlayer_{number}/g", y1, self._sides[1])
                dy1 = _total([dy1, self._through(made, y1, self._sides[1], dy2)])
                x2 = stop_gradient(y2 - made)
                made = _applied(f, f"revlayer_{number}/f", x2, self._sides[0])
                dy2 = _total([dy2, self._through(made, x2, self._sides[0], dy1)])
                y1, y2 = y1 - made, x2
        return [dy1, dy2, *(self._sum(item) for side in self._sides for item in side)]

    def of_variables(self) -> list[Any]:
        return [self._sum(item) for item in self._variables]

    def _through(self, made: Tensor, given: Tensor, sides: Sequence[Tensor], dy: Tensor) -> Any:
        """The gradient of what a function was given; those of variables and sides are added up."""
        others = [*sides, *self._variables]
        first, *rest = gradients(made, [given, *others], [dy])
        for item, found in zip(others, rest, strict=True):
            if found is not None:
                self._sums.setdefault(id(item), []).append(found)
        return first

    def _sum(self, item: Any) -> Any:
        parts = self._sums.get(id(item))
        return None if parts is None else _total(parts)


def _total(parts: Sequence[Any]) -> Any:
    known = [part for part in parts if part is not None]
    return known[0] if len(known) == 1 else add_n(known)
