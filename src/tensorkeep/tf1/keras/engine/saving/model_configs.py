"""Models as configurations, and made of them: JSON that says of which layers they are."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.tensor_shape import Dimension, TensorShape
from tensorkeep.tf1.keras.engine import serialization
from tensorkeep.tf1.keras.engine.saving.weight_files import KERAS_VERSION

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine.model import Model


def described_model(model: Model) -> dict[str, Any]:
    """A model as a configuration, and by what it was written."""
    return {
        "class_name": type(model).__name__,
        "config": model.get_config(),
        "keras_version": KERAS_VERSION,
        "backend": "tensorflow",
    }


def json_value(value: object) -> object:
    """What JSON has no word for: arrays, types, shapes, objects by class and configuration, functions by name."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    if isinstance(value, TensorShape):
        return value.as_list()
    if isinstance(value, Dimension):
        return value.value
    if isinstance(value, DType):
        return value.name
    if isinstance(value, np.dtype):
        return value.name
    if hasattr(value, "get_config"):
        return {"class_name": type(value).__name__, "config": value.get_config()}
    if hasattr(value, "__name__"):
        return value.__name__
    raise InvalidArgumentError(f"{value!r} cannot be written as JSON")


def model_from_config(config: dict[str, Any], custom_objects: Mapping[str, Any] | None = None) -> Model:
    """The model that a configuration with its class tells of."""
    if isinstance(config, list):
        raise TypeError("`model_from_config` expects a dictionary, not a list. Use `Sequential.from_config(config)`.")
    model: Model = serialization.deserialize(config, custom_objects)
    return model


def model_from_json(json_string: str, custom_objects: Mapping[str, Any] | None = None) -> Model:
    """The model that `to_json` wrote."""
    try:
        config = json.loads(json_string)
    except json.JSONDecodeError as error:
        raise InvalidArgumentError(f"the text is no JSON: {error}") from None
    return model_from_config(config, custom_objects)
