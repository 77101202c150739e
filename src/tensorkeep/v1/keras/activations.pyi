# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.activations import deserialize, exponential, get, linear, selu, serialize, softmax, swish
from tensorkeep.tf1.keras.backend.activating import elu, hard_sigmoid, relu, sigmoid, softplus, softsign, tanh

__all__ = [
    "deserialize", "elu", "exponential", "get", "hard_sigmoid", "linear", "relu", "selu", "serialize", "sigmoid",
    "softmax", "softplus", "softsign", "swish", "tanh",
]
