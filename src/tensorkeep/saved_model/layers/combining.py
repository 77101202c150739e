"""Layers made of layers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Tensor
from tensorkeep.saved_model.layers.weights import Layer, Sizes, set_fields
from tensorkeep.tf1.functions.arrays.shapes import concat
from tensorkeep.tf1.functions.numbers.elementwise import add


def checked_layers(layers: Iterable[Layer], who: str) -> tuple[Layer, ...]:
    found = tuple(layers)
    if wrong := [f"{index}: {item!r:.80}" for index, item in enumerate(found) if not callable(item)]:
        raise WrongTypeError(f"{who} takes layers, got {'; '.join(wrong)}")
    return found


def first_takes(layers: Sequence[Layer]) -> Sizes | None:
    """What a chain of layers takes, as far as its first layer says it."""
    return getattr(layers[0], "takes", None) if layers else None


def apply_layers(layers: Sequence[Layer], x: Tensor, who: str = "layer") -> Tensor:
    """What layers make of a tensor, one after the other. An error says which of them it comes from."""
    for index, layer in enumerate(layers):
        try:
            x = layer(x)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"{who} {index}, {type(layer).__name__}: {error}") from error
        if not isinstance(x, Tensor):
            raise WrongTypeError(f"{who} {index}, {type(layer).__name__}: a layer gives a tensor, got {x!r:.80}")
    return x


@dataclass(frozen=True)
class Residual:
    """x + layers(x), or shortcut(x) + layers(x)."""

    layers: Sequence[Layer]
    shortcut: Sequence[Layer] = ()

    def __post_init__(self) -> None:
        set_fields(self, layers=checked_layers(self.layers, "Residual"))
        set_fields(self, shortcut=checked_layers(self.shortcut, "Residual"))

    @property
    def takes(self) -> Sizes | None:
        return first_takes(self.layers) or first_takes(self.shortcut)

    def __call__(self, x: Tensor) -> Tensor:
        with name_scope("residual"):
            return add(apply_layers(self.shortcut, x), apply_layers(self.layers, x))


@dataclass(frozen=True)
class Concat:
    """What several chains of layers make of the same tensor, side by side in the last dimension."""

    branches: Sequence[Sequence[Layer]]

    def __post_init__(self) -> None:
        branches = tuple(checked_layers(branch, "Concat") for branch in self.branches)
        if not branches:
            raise InvalidArgumentError("Concat takes some chains of layers, got none")
        set_fields(self, branches=branches)

    @property
    def takes(self) -> Sizes | None:
        return next((found for branch in self.branches if (found := first_takes(branch))), None)

    def __call__(self, x: Tensor) -> Tensor:
        with name_scope("concat"):
            parts = [apply_layers(branch, x, f"branch {index}, layer") for index, branch in enumerate(self.branches)]
            return concat(parts, -1)
