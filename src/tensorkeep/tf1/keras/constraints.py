"""`tf.keras.constraints`: what weights are held to after each training step, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import AxisLike, TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.slicing import gather_nd
from tensorkeep.tf1.functions.numbers.clipping import clip_by_value
from tensorkeep.tf1.functions.numbers.elementwise import cast, greater_equal, sqrt, square
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.keras.backend.settings import epsilon
from tensorkeep.tf1.keras.named_objects import (
    Described,
    by_name_or_config,
    deserialize_keras_object,
    serialize_keras_object,
)


class Constraint:
    """A function of weights that gives those to keep; override `__call__` and perhaps `get_config`."""

    def __call__(self, w: TensorLike) -> TensorLike:
        return w

    def get_config(self) -> dict[str, Any]:
        return {}


def _lengths(w: Tensor, axis: AxisLike) -> Tensor:
    return sqrt(reduce_sum(square(w), axis=axis, keepdims=True))


class MaxNorm(Constraint):
    """Vectors along an axis are no longer than `max_value`."""

    def __init__(self, max_value: float = 2, axis: int = 0) -> None:
        self.max_value = max_value
        self.axis = axis

    def __call__(self, w: TensorLike) -> Tensor:
        values = convert(w)
        lengths = _lengths(values, self.axis)
        return values * (clip_by_value(lengths, 0.0, self.max_value) / (epsilon() + lengths))

    def get_config(self) -> dict[str, Any]:
        return {"max_value": self.max_value, "axis": self.axis}


class NonNeg(Constraint):
    """No weight is negative."""

    def __call__(self, w: TensorLike) -> Tensor:
        values = convert(w)
        return values * cast(greater_equal(values, 0.0), values.dtype)


class UnitNorm(Constraint):
    """Vectors along an axis have length one."""

    def __init__(self, axis: int = 0) -> None:
        self.axis = axis

    def __call__(self, w: TensorLike) -> Tensor:
        values = convert(w)
        return values / (epsilon() + _lengths(values, self.axis))

    def get_config(self) -> dict[str, Any]:
        return {"axis": self.axis}


class MinMaxNorm(Constraint):
    """Vectors along an axis have lengths from `min_value` to `max_value`; `rate` says how quickly they get there."""

    def __init__(self, min_value: float = 0.0, max_value: float = 1.0, rate: float = 1.0, axis: int = 0) -> None:
        self.min_value = min_value
        self.max_value = max_value
        self.rate = rate
        self.axis = axis

    def __call__(self, w: TensorLike) -> Tensor:
        values = convert(w)
        lengths = _lengths(values, self.axis)
        wanted = self.rate * clip_by_value(lengths, self.min_value, self.max_value) + (1 - self.rate) * lengths
        return values * (wanted / (epsilon() + lengths))

    def get_config(self) -> dict[str, Any]:
        return {"min_value": self.min_value, "max_value": self.max_value, "rate": self.rate, "axis": self.axis}


class RadialConstraint(Constraint):
    """Kernels of convolutions have one value for each ring around their middle: one of the kernel's diagonal."""

    def __call__(self, w: TensorLike) -> Tensor:
        values = convert(w)
        known = values.get_shape()
        sizes = known.as_list() if known.rank == 4 else []
        if not sizes or sizes[0] != sizes[1] or sizes[0] is None:
            raise InvalidArgumentError(
                f"The weight tensor must be of rank 4, with as many rows as columns, but is of shape: {known}"
            )
        return gather_nd(values, _diagonal_places(sizes[0]))


def _diagonal_places(size: int) -> Array:
    """For each place of a square, which one of the diagonal its value is taken from: as TensorFlow pads it."""
    half = size // 2
    rings = np.array([half - 1, *range(half, size - 1)] if size % 2 else [half - 1, *range(half + 1, size)])
    at = np.arange(size)
    away = np.maximum(np.maximum(half - 1 + size % 2 - at, at - half), 0)
    places = rings[np.maximum(away[:, None], away[None, :])]
    return np.stack([places, places], axis=-1)


max_norm = MaxNorm
min_max_norm = MinMaxNorm
non_neg = NonNeg
radial_constraint = RadialConstraint
unit_norm = UnitNorm

_CONSTRAINTS: Final[dict[str, Any]] = {
    "Constraint": Constraint,
    "MaxNorm": MaxNorm,
    "MinMaxNorm": MinMaxNorm,
    "NonNeg": NonNeg,
    "RadialConstraint": RadialConstraint,
    "UnitNorm": UnitNorm,
    "max_norm": MaxNorm,
    "maxnorm": MaxNorm,
    "min_max_norm": MinMaxNorm,
    "non_neg": NonNeg,
    "nonneg": NonNeg,
    "radial_constraint": RadialConstraint,
    "unit_norm": UnitNorm,
    "unitnorm": UnitNorm,
}


def serialize(constraint: object) -> Described:
    """A constraint as its name and its arguments."""
    return serialize_keras_object(constraint)


def deserialize(config: Described, custom_objects: Mapping[str, Any] | None = None) -> Callable[..., TensorLike] | None:
    """The constraint that a name, or a name with arguments, stands for."""
    if isinstance(config, str):
        config = {"class_name": config, "config": {}}
    found: Callable[..., TensorLike] | None = deserialize_keras_object(
        config, _CONSTRAINTS, custom_objects, "constraint"
    )
    return found


def get(identifier: object) -> Callable[..., TensorLike] | None:
    """A constraint by its name, by name and arguments, or as itself."""
    found: Callable[..., TensorLike] | None = by_name_or_config(
        identifier, deserialize, "constraint", calls_classes=False
    )
    return found
