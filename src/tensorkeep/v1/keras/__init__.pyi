# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.engine.input_layer import Input
from tensorkeep.tf1.keras.engine.model import Model
from tensorkeep.tf1.keras.engine.sequential import Sequential
from tensorkeep.v1.keras import (
    activations, applications, backend, callbacks, constraints, datasets, estimator, experimental, initializers,
    layers, losses, metrics, models, optimizers, preprocessing, regularizers, utils, wrappers,
)
from tensorkeep.v1.versions import KERAS_VERSION as __version__

__all__ = [
    "Input", "Model", "Sequential", "__version__", "activations", "applications", "backend", "callbacks",
    "constraints", "datasets", "estimator", "experimental", "initializers", "layers", "losses", "metrics", "models",
    "optimizers", "preprocessing", "regularizers", "utils", "wrappers",
]
