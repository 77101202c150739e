# Written by tools/write_stubs.py. Where the names are is said in tables.

from tensorkeep.tf1.keras.initializers import (
    RandomNormal, RandomUniform, TruncatedNormal, constant, deserialize, get, glorot_normal, glorot_uniform, identity,
    normal, ones, orthogonal, random_normal, random_uniform, serialize, truncated_normal, uniform, zeros,
)
from tensorkeep.tf1.variables.initializers import (
    Constant, GlorotNormal, GlorotUniform, Identity, Initializer, Ones, Orthogonal, VarianceScaling, Zeros, he_normal,
    he_uniform, lecun_normal, lecun_uniform,
)

__all__ = [
    "Constant", "GlorotNormal", "GlorotUniform", "Identity", "Initializer", "Ones", "Orthogonal", "RandomNormal",
    "RandomUniform", "TruncatedNormal", "VarianceScaling", "Zeros", "constant", "deserialize", "get", "glorot_normal",
    "glorot_uniform", "he_normal", "he_uniform", "identity", "lecun_normal", "lecun_uniform", "normal", "ones",
    "orthogonal", "random_normal", "random_uniform", "serialize", "truncated_normal", "uniform", "zeros",
]
