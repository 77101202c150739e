"""Optimizers by name, as canned models take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.tf1.training.optimizers.base import Optimizer
from tensorkeep.tf1.training.optimizers.standard import (
    AdagradOptimizer,
    AdamOptimizer,
    FtrlOptimizer,
    GradientDescentOptimizer,
    RMSPropOptimizer,
)

_BY_NAME: Final[dict[str, Callable[..., Optimizer]]] = {
    "Adagrad": AdagradOptimizer,
    "Adam": AdamOptimizer,
    "Ftrl": FtrlOptimizer,
    "RMSProp": RMSPropOptimizer,
    "SGD": GradientDescentOptimizer,
}

OptimizerLike: TypeAlias = "str | Optimizer | Callable[[], Optimizer]"
"""The name of an optimizer, one, or what makes one in the graph of a model."""


def optimizer_of(told: OptimizerLike, learning_rate: float) -> Optimizer:
    """An optimizer: the one of that name with a learning rate, what a function makes, or itself."""
    if isinstance(told, str):
        if told not in _BY_NAME:
            raise InvalidArgumentError(
                f"Unsupported optimizer name: {told}. Supported names are: {tuple(sorted(_BY_NAME))}"
            )
        return _BY_NAME[told](learning_rate=learning_rate)
    made = told() if callable(told) else told
    if not isinstance(made, Optimizer):
        raise InvalidArgumentError(f"The given object is not an Optimizer instance. Given: {made}")
    return made
