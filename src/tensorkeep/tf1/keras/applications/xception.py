"""Xception: separable convolutions in blocks whose inputs are added to their outputs."""

# ruff: noqa: N802 - the names are Keras's

from __future__ import annotations

from typing import Any, Final

from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.keras.applications.building import (
    ImageShape,
    Options,
    StoredWeights,
    begin,
    classify,
    convolve,
    finish,
    normalize,
    rectify,
)
from tensorkeep.tf1.keras.engine.model import Model
from tensorkeep.tf1.keras.layers.convolutional import SeparableConv2D
from tensorkeep.tf1.keras.layers.merge import add
from tensorkeep.tf1.keras.layers.pooling import MaxPooling2D
from tensorkeep.tf1.layers.arguments import ActivationLike

_HASHES: Final = ("0a58e3b7378bc2990ea3b43d5981f1f6", "b0042744bf5b25fce3cb969f33bebb97")


def _separate(x: Any, filters: int, name: str) -> Any:
    """A separable convolution, normalized."""
    x = SeparableConv2D(filters, 3, padding="same", use_bias=False, name=name)(x)
    return normalize(x, f"{name}_bn")


def _reduce(x: Any, block: int, filters: tuple[int, int]) -> Any:
    """A block of a quarter of the places."""
    residual = normalize(convolve(x, filters[1], 1, strides=2, padding="same"))
    for at, count in enumerate(filters, start=1):
        if (block, at) != (2, 1):  # what comes before is rectified already
            x = rectify(x, f"block{block}_sepconv{at}_act")
        x = _separate(x, count, f"block{block}_sepconv{at}")
    x = MaxPooling2D(3, strides=2, padding="same", name=f"block{block}_pool")(x)
    return add([x, residual])


def _network(options: Options) -> Model:
    ending = "" if options.include_top else "_notop"
    file = f"xception_weights_tf_dim_ordering_tf_kernels{ending}.h5"
    stored = StoredWeights.of("xception", file, _HASHES[not options.include_top])
    beginning = begin(options, 299, 71, lambda shape: stored)
    x = beginning.tensor
    for at, (filters, stride) in enumerate(((32, 2), (64, 1)), start=1):
        x = convolve(x, filters, 3, strides=stride, name=f"block1_conv{at}")
        x = rectify(normalize(x, f"block1_conv{at}_bn"), f"block1_conv{at}_act")
    for block, filters in ((2, 128), (3, 256), (4, 728)):
        x = _reduce(x, block, (filters, filters))
    for block in range(5, 13):
        residual = x
        for at in range(1, 4):
            x = _separate(rectify(x, f"block{block}_sepconv{at}_act"), 728, f"block{block}_sepconv{at}")
        x = add([x, residual])
    x = _reduce(x, 13, (728, 1024))
    for at, filters in ((1, 1536), (2, 2048)):
        x = rectify(_separate(x, filters, f"block14_sepconv{at}"), f"block14_sepconv{at}_act")
    return finish(beginning, classify(x, options), "xception")


def Xception(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A network of separable convolutions."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _network(told)
