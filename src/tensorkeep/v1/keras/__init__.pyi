# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.engine.input_layer import Input
from tensorkeep.tf1.keras.engine.model import Model
from tensorkeep.tf1.keras.engine.sequential import Sequential
from tensorkeep.tf1.keras.engine.versions import __version__
from tensorkeep.v1.keras import (
    activations, backend, callbacks, constraints, datasets, initializers, layers, losses, metrics, models, optimizers,
    preprocessing, regularizers, utils,
)

__all__ = [
    "Input", "Model", "Sequential", "__version__", "activations", "backend", "callbacks", "constraints", "datasets",
    "initializers", "layers", "losses", "metrics", "models", "optimizers", "preprocessing", "regularizers", "utils",
]
