"""Paths of Keras below its namespaces: `tensorflow.python.keras.engine`, `layers.core` and their like."""

from __future__ import annotations

from typing import Final

from tensorkeep._lazy import Table

_LAYERS: Final[Table] = {"tensorkeep.v1.keras.layers": "*"}
_MODULES_OF_LAYERS: Final = """
    advanced_activations convolutional core dense_attention embeddings merge noise normalization pooling recurrent
    wrappers
"""
_ENGINE: Final[Table] = {
    "tensorkeep.tf1.keras.engine.base_layer": "Layer",
    "tensorkeep.tf1.keras.engine.input_layer": "Input InputLayer",
    "tensorkeep.tf1.keras.engine.model": "Model",
    "tensorkeep.tf1.keras.engine.network": "Network",
    "tensorkeep.tf1.keras.engine.nodes": "Node",
    "tensorkeep.tf1.keras.engine.sequential": "Sequential",
    "tensorkeep.tf1.layers.input_spec": "InputSpec",
}
_MODULES_OF_ENGINE: Final = "base_layer input_layer input_spec network node sequential topology training"

KERAS: Final[dict[str, Table]] = {
    "keras.engine": _ENGINE,
    **{f"keras.engine.{name}": _ENGINE for name in _MODULES_OF_ENGINE.split()},
    **{f"keras.layers.{name}": _LAYERS for name in _MODULES_OF_LAYERS.split()},
    "keras.utils.conv_utils": {"tensorkeep.v1.internals.layers": "*"},
    "keras.utils.data_utils": {"tensorkeep.v1.keras.utils": "*"},
    "keras.utils.generic_utils": {"tensorkeep.v1.keras.utils": "*"},
    "keras.utils.np_utils": {"tensorkeep.v1.keras.utils": "*"},
}
