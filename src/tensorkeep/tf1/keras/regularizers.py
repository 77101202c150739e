"""`tf.keras.regularizers`: losses of weights, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.numbers.elementwise import abs as absolute
from tensorkeep.tf1.functions.numbers.elementwise import square
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.keras.backend.settings import chosen_dtype
from tensorkeep.tf1.keras.named_objects import (
    Described,
    by_name_or_config,
    deserialize_keras_object,
    serialize_keras_object,
)


class Regularizer:
    """A function of weights that gives a loss; override `__call__` and `get_config`."""

    def __call__(self, x: TensorLike) -> Tensor | float:
        """The loss of some weights."""
        return 0.0

    @classmethod
    def from_config(cls, config: dict[str, Any]) -> Regularizer:
        return cls(**config)

    def get_config(self) -> dict[str, Any]:
        raise NotImplementedError(f"{type(self).__name__} has no method get_config, which its model needs to be saved")


class L1L2(Regularizer):
    """`l1` times the sum of absolute weights, and `l2` times that of their squares."""

    def __init__(self, l1: float | None = 0.0, l2: float | None = 0.0) -> None:
        self.l1 = float(l1 or 0.0)
        self.l2 = float(l2 or 0.0)

    def __call__(self, x: TensorLike) -> Tensor:
        if not self.l1 and not self.l2:
            return constant(0.0, chosen_dtype(None))
        loss: Any = 0.0
        if self.l1:
            loss = loss + reduce_sum(self.l1 * absolute(x))
        if self.l2:
            loss = loss + reduce_sum(self.l2 * square(x))
        result: Tensor = loss
        return result

    def get_config(self) -> dict[str, Any]:
        return {"l1": self.l1, "l2": self.l2}


def l1(l: float = 0.01) -> L1L2:  # noqa: E741 - TensorFlow's word
    """`l` times the sum of absolute weights."""
    return L1L2(l1=l)


def l2(l: float = 0.01) -> L1L2:  # noqa: E741 - TensorFlow's word
    """`l` times the sum of the squares of weights."""
    return L1L2(l2=l)


def l1_l2(l1: float = 0.01, l2: float = 0.01) -> L1L2:
    """`l1` times the sum of absolute weights, and `l2` times the sum of their squares."""
    return L1L2(l1=l1, l2=l2)


def _first(l1: float = 0.01) -> L1L2:
    """What TensorFlow 2 stores as `L1`."""
    return L1L2(l1=l1)


def _second(l2: float = 0.01) -> L1L2:
    """What TensorFlow 2 stores as `L2`."""
    return L1L2(l2=l2)


_REGULARIZERS: Final[dict[str, Any]] = {
    "L1": _first,
    "L1L2": L1L2,
    "L2": _second,
    "Regularizer": Regularizer,
    "l1": l1,
    "l1_l2": l1_l2,
    "l2": l2,
}


def serialize(regularizer: object) -> Described:
    """A regularizer as its name and its arguments."""
    return serialize_keras_object(regularizer)


def deserialize(config: Described, custom_objects: Mapping[str, Any] | None = None) -> Callable[..., Tensor] | None:
    """The regularizer that a name, or a name with arguments, stands for."""
    if isinstance(config, str):
        config = {"class_name": config, "config": {}}
    found: Callable[..., Tensor] | None = deserialize_keras_object(config, _REGULARIZERS, custom_objects, "regularizer")
    return found


def get(identifier: object) -> Callable[..., Tensor] | None:
    """A regularizer by its name, by name and arguments, or as itself."""
    found: Callable[..., Tensor] | None = by_name_or_config(identifier, deserialize, "regularizer", calls_classes=False)
    return found
