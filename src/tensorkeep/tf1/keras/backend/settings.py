"""What programs set once: the type of numbers, the least number, and where images have their channels."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.keras.surroundings import settings, surroundings
from tensorkeep.tf1.variables.variable import Variable

_TYPES: Final = ("float16", "float32", "float64")
_FORMATS: Final = ("channels_last", "channels_first")


def floatx() -> str:
    """The type of numbers where a program names none."""
    return settings().floatx


def set_floatx(value: str) -> None:
    """Sets the type of numbers: "float16", "float32" or "float64"."""
    if value not in _TYPES:
        raise InvalidArgumentError(f"Unknown floatx type: {value}. Expected one of {_TYPES}")
    surroundings().set_settings(replace(settings(), floatx=str(value)))


def epsilon() -> float:
    """The small number that is added before dividing and taking logarithms; 1e-7 unless a program sets another."""
    return settings().epsilon


def set_epsilon(value: float) -> None:
    """Sets the number that keeps logarithms and quotients finite."""
    surroundings().set_settings(replace(settings(), epsilon=value))


def image_data_format() -> str:
    """Where images have their channels where a program does not say."""
    return settings().image_data_format


def set_image_data_format(data_format: str) -> None:
    """Sets where images have their channels: "channels_first" or "channels_last"."""
    surroundings().set_settings(replace(settings(), image_data_format=_checked_format(data_format)))


def chosen_data_format(data_format: str | None) -> str:
    """Where the channels are, as told or as set."""
    return image_data_format() if data_format is None else _checked_format(data_format)


def _checked_format(data_format: str) -> str:
    if data_format not in _FORMATS:
        raise InvalidArgumentError(f"Unknown data_format: {data_format}. Expected one of {_FORMATS}")
    return data_format


def chosen_dtype(dtype: DTypeLike | None) -> DType:
    """A type, as told or as set."""
    return DType.of(floatx() if dtype is None else dtype).base_dtype


def cast_to_floatx(x: Tensor) -> Tensor | Array:
    """A tensor or an array in the type that was set."""
    if isinstance(x, Tensor | Variable):
        return cast(x, chosen_dtype(None))
    return np.asarray(x, dtype=floatx())


def chosen_seed(seed: int | None) -> int:
    """A seed, drawn by NumPy's generator if none is told: so `np.random.seed` decides, as in TensorFlow."""
    return int(np.random.randint(10_000_000)) if seed is None else seed
