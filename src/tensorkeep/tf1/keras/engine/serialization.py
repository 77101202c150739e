"""Layers made of their class's name and their configuration, and the other way round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tensorkeep._lazy import later
from tensorkeep.tf1.keras.named_objects import deserialize_keras_object

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.layers import every
else:  # layers are made of the engine
    every = later("tensorkeep.tf1.keras.layers.every")


def serialize(layer: Any) -> dict[str, Any]:
    """The name of a layer's class, and its configuration."""
    return {"class_name": type(layer).__name__, "config": layer.get_config()}


def deserialize(config: Any, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The layer that a configuration tells of."""
    return deserialize_keras_object(config, every.LAYERS, custom_objects, "layer")
