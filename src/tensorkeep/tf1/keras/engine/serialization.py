"""Layers as configurations: their class's name and what they tell of their attributes; and layers made of these."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tensorkeep._lazy import later
from tensorkeep.tf1.keras import activations, constraints, initializers, regularizers
from tensorkeep.tf1.keras.named_objects import Described, deserialize_keras_object

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine.base_layer import Layer
    from tensorkeep.tf1.keras.layers import every
else:  # layers are made of the engine
    every = later("tensorkeep.tf1.keras.layers.every")


def serialize(layer: Layer) -> dict[str, Any]:
    """The name of a layer's class, and its configuration."""
    return {"class_name": type(layer).__name__, "config": layer.get_config()}


def deserialize(config: Described, custom_objects: Mapping[str, Any] | None = None) -> Any:
    """The layer that a configuration tells of."""
    return deserialize_keras_object(config, every.LAYERS, custom_objects, "layer")


def described_attribute(name: str, value: Any) -> Any:
    """An attribute as it is stored: functions and objects by name and arguments, sizes and flags as they are."""
    if name.endswith("_initializer"):
        return initializers.serialize(value)
    if name.endswith("_regularizer"):
        return regularizers.serialize(value)
    if name.endswith("_constraint"):
        return constraints.serialize(value)
    if name.endswith("activation"):
        return activations.serialize(value)
    return value
