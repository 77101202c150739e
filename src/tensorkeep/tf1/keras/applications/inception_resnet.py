"""InceptionResNetV2: branches whose sum with their inputs is scaled."""

# ruff: noqa: N802 - the names are Keras's

from __future__ import annotations

from typing import Any, Final

from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.keras.applications.building import (
    ImageShape,
    Options,
    StoredWeights,
    begin,
    channel_axis,
    classify,
    convolve,
    finish,
    normalize,
    rectify,
)
from tensorkeep.tf1.keras.engine.model import Model
from tensorkeep.tf1.keras.layers.convolutional import Conv2D
from tensorkeep.tf1.keras.layers.merge import Concatenate, CustomScaleLayer
from tensorkeep.tf1.keras.layers.pooling import AveragePooling2D, MaxPooling2D
from tensorkeep.tf1.layers.arguments import ActivationLike

_HASHES: Final = ("e693bd0210a403b3192acc6073ad2e96", "d19885ff4a710c122648d3b5c3b684e4")
Chain = tuple[tuple[int, Any], ...]
"""Convolutions one after the other: how many filters, of which size."""
_BLOCKS: Final[dict[str, tuple[Chain, ...]]] = {
    "block35": (((32, 1),), ((32, 1), (32, 3)), ((32, 1), (48, 3), (64, 3))),
    "block17": (((192, 1),), ((128, 1), (160, (1, 7)), (192, (7, 1)))),
    "block8": (((192, 1),), ((192, 1), (224, (1, 3)), (256, (3, 1)))),
}


def _convolve(x: Any, filters: int, size: Any, stride: int = 1, padding: str = "same", name: str | None = None) -> Any:
    x = convolve(x, filters, size, strides=stride, padding=padding, name=name)
    x = normalize(x, None if name is None else f"{name}_bn", scale=False)
    return rectify(x, None if name is None else f"{name}_ac")


def _chain(x: Any, chain: Chain) -> Any:
    for filters, size in chain:
        x = _convolve(x, filters, size)
    return x


def _join(branches: list[Any], name: str) -> Any:
    return Concatenate(axis=channel_axis(), name=name)(branches)


def _reduce(x: Any, chains: tuple[Chain, ...], name: str) -> Any:
    """Half as many rows and columns: branches that end in steps of two and a pool of maxima, concatenated."""
    branches = []
    for *before, (filters, size) in chains:
        branches.append(_convolve(_chain(x, tuple(before)), filters, size, 2, "valid"))
    return _join([*branches, MaxPooling2D(3, strides=2)(x)], name)


def _add(x: Any, kind: str, at: int, scale: float, *, is_rectified: bool = True) -> Any:
    """The inputs, and added to them the outputs of branches, which are multiplied by a number."""
    name = f"{kind}_{at}"
    mixed = _join([_chain(x, chain) for chain in _BLOCKS[kind]], f"{name}_mixed")
    channels = x.get_shape().as_list()[channel_axis()]
    up = Conv2D(channels, 1, padding="same", name=f"{name}_conv")(mixed)
    x = CustomScaleLayer(scale)([x, up])
    return rectify(x, f"{name}_ac") if is_rectified else x


def _network(options: Options) -> Model:
    ending = "" if options.include_top else "_notop"
    file = f"inception_resnet_v2_weights_tf_dim_ordering_tf_kernels{ending}.h5"
    stored = StoredWeights.of("inception_resnet_v2", file, _HASHES[not options.include_top])
    beginning = begin(options, 299, 75, lambda shape: stored)
    x = _convolve(beginning.tensor, 32, 3, 2, "valid")
    x = MaxPooling2D(3, strides=2)(_convolve(_convolve(x, 32, 3, padding="valid"), 64, 3))
    x = _convolve(_convolve(x, 80, 1, padding="valid"), 192, 3, padding="valid")
    x = MaxPooling2D(3, strides=2)(x)
    chains: tuple[Chain, ...] = (((96, 1),), ((48, 1), (64, 5)), ((64, 1), (96, 3), (96, 3)))
    branches = [_chain(x, chain) for chain in chains]
    means = AveragePooling2D(3, strides=1, padding="same")(x)
    x = _join([*branches, _convolve(means, 64, 1)], "mixed_5b")
    for at in range(1, 11):
        x = _add(x, "block35", at, 0.17)
    x = _reduce(x, (((384, 3),), ((256, 1), (256, 3), (384, 3))), "mixed_6a")
    for at in range(1, 21):
        x = _add(x, "block17", at, 0.1)
    x = _reduce(x, (((256, 1), (384, 3)), ((256, 1), (288, 3)), ((256, 1), (288, 3), (320, 3))), "mixed_7a")
    for at in range(1, 10):
        x = _add(x, "block8", at, 0.2)
    x = _add(x, "block8", 10, 1.0, is_rectified=False)
    x = _convolve(x, 1536, 1, name="conv_7b")
    return finish(beginning, classify(x, options), "inception_resnet_v2")


def InceptionResNetV2(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A network of branches that are added to their inputs."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _network(told)
