"""Every layer by the name of its class: what configurations may name."""

from __future__ import annotations

from inspect import isclass
from typing import Any, Final

from tensorkeep.tf1.keras.engine import input_layer, model, network, op_layers, sequential
from tensorkeep.tf1.keras.engine.base_layer import Layer
from tensorkeep.tf1.keras.layers import (
    advanced_activations,
    attention,
    convolutional,
    convolutional_recurrent,
    core,
    cudnn_recurrent,
    embeddings,
    locally_connected,
    merge,
    noise,
    normalization,
    pooling,
    recurrent,
    recurrent_cells,
    wrappers,
)

_MODULES: Final = (
    advanced_activations, attention, convolutional, convolutional_recurrent, core, cudnn_recurrent, embeddings,
    input_layer, locally_connected, merge, model, network, noise, normalization, op_layers, pooling, recurrent,
    recurrent_cells, sequential, wrappers,
)  # fmt: skip


def _classes(module: Any) -> dict[str, Any]:
    return {
        name: item
        for name, item in vars(module).items()
        if isclass(item) and issubclass(item, Layer) and item.__module__ == module.__name__ and not name.startswith("_")
    }


LAYERS: Final[dict[str, Any]] = {
    **{name: item for module in _MODULES for name, item in _classes(module).items()},
    "BatchNormalizationV1": normalization.BatchNormalization,
    "BatchNormalizationV2": normalization.BatchNormalization,
    "Custom>CustomScaleLayer": merge.CustomScaleLayer,  # as Keras 2 registers it
    "Functional": model.Model,
}
