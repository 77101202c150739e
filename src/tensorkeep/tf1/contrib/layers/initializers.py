"""Initial values that keep the scale of what goes through a layer."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from tensorkeep.dtypes import FLOAT32, DType
from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.arguments import DTypeLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.functions.random.numbers import random_uniform, truncated_normal

_MODES: Final = ("FAN_IN", "FAN_OUT", "FAN_AVG")
_CUT: Final = 1.3  # how much wider a normal distribution must be for its part within two deviations to have one


def xavier_initializer(
    uniform: bool = True, seed: int | None = None, dtype: DTypeLike = FLOAT32
) -> Callable[..., Tensor]:
    """Values for layers whose outputs shall vary as much as their inputs do, forwards and backwards."""
    return variance_scaling_initializer(factor=1.0, mode="FAN_AVG", uniform=uniform, seed=seed, dtype=dtype)


def variance_scaling_initializer(
    factor: float = 2.0,
    mode: str = "FAN_IN",
    uniform: bool = False,
    seed: int | None = None,
    dtype: DTypeLike = FLOAT32,
) -> Callable[..., Tensor]:
    """Values whose variance is `factor` for each of the inputs, the outputs, or the mean of the two numbers."""
    if not DType.of(dtype).is_floating:
        raise WrongTypeError(f"Cannot create initializer for non-floating point type, got {DType.of(dtype).name}")
    if mode not in _MODES:
        raise WrongTypeError(f"Unknown mode {mode} {list(_MODES)}")

    def _initializer(shape: Any, dtype: Any = dtype, partition_info: Any = None) -> Tensor:
        if not DType.of(dtype).is_floating:
            raise WrongTypeError(f"Cannot create initializer for non-floating point type, got {DType.of(dtype).name}")
        count = _count(_sizes(shape), mode)
        if uniform:
            limit = math.sqrt(3.0 * factor / count)
            return random_uniform(shape, -limit, limit, dtype, seed=seed)
        return truncated_normal(shape, 0.0, math.sqrt(_CUT * factor / count), dtype, seed=seed)

    return _initializer


def _sizes(shape: Any) -> list[float]:
    sizes: Any = shape.as_list() if isinstance(shape, TensorShape) else shape
    return [float(size) for size in sizes]


def _count(sizes: list[float], mode: str) -> float:
    """How many inputs or outputs a layer has whose weights have that shape."""
    fan_in = sizes[-2] if len(sizes) > 1 else (sizes[-1] if sizes else 1.0)
    fan_out = sizes[-1] if sizes else 1.0
    for size in sizes[:-2]:
        fan_in, fan_out = fan_in * size, fan_out * size
    return {"FAN_IN": fan_in, "FAN_OUT": fan_out, "FAN_AVG": (fan_in + fan_out) / 2.0}[mode]
