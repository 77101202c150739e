"""`tf.keras.initializers`: first values of weights, by name.

They are those of `tf.initializers`; the random ones have Keras's own defaults. What TensorFlow 2 calls by other names
(`HeNormal`) is known too, so that its models can be read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, overload

from tensorkeep.dtypes import FLOAT32
from tensorkeep.graph.arguments import DTypeLike, TensorLike
from tensorkeep.tf1.keras.named_objects import (
    Described,
    by_name_or_config,
    deserialize_keras_object,
    serialize_keras_object,
)
from tensorkeep.tf1.variables import initializers as base
from tensorkeep.tf1.variables.initializers import (
    Constant,
    GlorotNormal,
    GlorotUniform,
    Identity,
    Initializer,
    Number,
    Ones,
    Orthogonal,
    VarianceScaling,
    Zeros,
    he_normal,
    he_uniform,
    lecun_normal,
    lecun_uniform,
)


class RandomNormal(base.RandomNormal):
    """Normal numbers."""

    def __init__(
        self, mean: Number = 0.0, stddev: Number = 0.05, seed: int | None = None, dtype: DTypeLike = FLOAT32
    ) -> None:
        super().__init__(mean, stddev, seed, dtype)


class RandomUniform(base.RandomUniform):
    """Numbers of [minval, maxval), each as likely as the others."""

    def __init__(
        self,
        minval: Number = -0.05,
        maxval: Number | None = 0.05,
        seed: int | None = None,
        dtype: DTypeLike = FLOAT32,
    ) -> None:
        super().__init__(minval, maxval, seed, dtype)


class TruncatedNormal(base.TruncatedNormal):
    """Normal numbers, none further from the mean than two deviations."""

    def __init__(
        self, mean: Number = 0.0, stddev: Number = 0.05, seed: int | None = None, dtype: DTypeLike = FLOAT32
    ) -> None:
        super().__init__(mean, stddev, seed, dtype)


zero = zeros = Zeros
one = ones = Ones
constant = Constant
uniform = random_uniform = RandomUniform
normal = random_normal = RandomNormal
truncated_normal = TruncatedNormal
identity = Identity
orthogonal = Orthogonal
glorot_normal = GlorotNormal
glorot_uniform = GlorotUniform

_INITIALIZERS: Final[dict[str, Any]] = {
    "Constant": Constant,
    "GlorotNormal": GlorotNormal,
    "GlorotUniform": GlorotUniform,
    "HeNormal": he_normal,
    "HeUniform": he_uniform,
    "Identity": Identity,
    "Initializer": Initializer,
    "LecunNormal": lecun_normal,
    "LecunUniform": lecun_uniform,
    "Ones": Ones,
    "Orthogonal": Orthogonal,
    "RandomNormal": RandomNormal,
    "RandomUniform": RandomUniform,
    "TruncatedNormal": TruncatedNormal,
    "VarianceScaling": VarianceScaling,
    "Zeros": Zeros,
    "constant": Constant,
    "glorot_normal": GlorotNormal,
    "glorot_uniform": GlorotUniform,
    "he_normal": he_normal,
    "he_uniform": he_uniform,
    "identity": Identity,
    "lecun_normal": lecun_normal,
    "lecun_uniform": lecun_uniform,
    "normal": RandomNormal,
    "one": Ones,
    "ones": Ones,
    "orthogonal": Orthogonal,
    "random_normal": RandomNormal,
    "random_uniform": RandomUniform,
    "truncated_normal": TruncatedNormal,
    "uniform": RandomUniform,
    "variance_scaling": VarianceScaling,
    "zero": Zeros,
    "zeros": Zeros,
}


def serialize(initializer: object) -> Described:
    """An initializer as its name and its arguments."""
    return serialize_keras_object(initializer)


def deserialize(
    config: str | dict[str, Any], custom_objects: Mapping[str, Any] | None = None
) -> Callable[..., TensorLike]:
    """The initializer that a name, or a name with arguments, stands for."""
    if isinstance(config, str):
        config = {"class_name": config, "config": {}}
    found: Callable[..., TensorLike] = deserialize_keras_object(config, _INITIALIZERS, custom_objects, "initializer")
    return found


@overload
def get(identifier: None) -> None: ...
@overload
def get(identifier: str | dict[str, Any] | Callable[..., TensorLike]) -> Callable[..., TensorLike]: ...
@overload
def get(
    identifier: str | Mapping[str, Any] | Callable[..., TensorLike] | TensorLike | None,
) -> Callable[..., TensorLike] | None: ...
def get(identifier: object) -> Callable[..., TensorLike] | None:
    """An initializer by its name, by name and arguments, as its class or as itself."""
    found: Callable[..., TensorLike] | None = by_name_or_config(identifier, deserialize, "initializer")
    return found
