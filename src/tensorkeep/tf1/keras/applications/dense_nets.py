"""DenseNet: each block of layers sees the outputs of all before it."""

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
from tensorkeep.tf1.keras.layers.convolutional import ZeroPadding2D
from tensorkeep.tf1.keras.layers.merge import Concatenate
from tensorkeep.tf1.keras.layers.pooling import AveragePooling2D, MaxPooling2D
from tensorkeep.tf1.layers.arguments import ActivationLike

_HASHES: Final = {
    "densenet121": ("9d60b8095a5708f2dcce2bca79d332c7", "30ee3e1110167f948a6b9946edeeb738"),
    "densenet169": ("d699b8f76981ab1b30698df4c175e90b", "b8c4d4c20dd625c148057b9ff1c1176b"),
    "densenet201": ("1ceb130c1ea1b78c3bf6114dbdfd8807", "c13680b51ded0fb44dff2d8f86ac8bb1"),
}
_GROWTH: Final = 32


def _activate(x: Any, normal: str, relu: str) -> Any:
    return rectify(normalize(x, normal, epsilon=1.001e-5), relu)


def _grow(x: Any, name: str) -> Any:
    """A layer of a dense block: its inputs, and beside them new channels that are computed from all of them."""
    new = convolve(_activate(x, f"{name}_0_bn", f"{name}_0_relu"), 4 * _GROWTH, 1, name=f"{name}_1_conv")
    new = _activate(new, f"{name}_1_bn", f"{name}_1_relu")
    new = convolve(new, _GROWTH, 3, padding="same", name=f"{name}_2_conv")
    return Concatenate(axis=channel_axis(), name=f"{name}_concat")([x, new])


def _shrink(x: Any, name: str) -> Any:
    """The layers between dense blocks: half as many channels, and half as many rows and columns."""
    x = _activate(x, f"{name}_bn", f"{name}_relu")
    x = convolve(x, x.get_shape().as_list()[channel_axis()] // 2, 1, name=f"{name}_conv")
    return AveragePooling2D(2, strides=2, name=f"{name}_pool")(x)


def _network(name: str, counts: tuple[int, ...], options: Options) -> Model:
    ending = "" if options.include_top else "_notop"
    file = f"{name}_weights_tf_dim_ordering_tf_kernels{ending}.h5"
    stored = StoredWeights.of("densenet", file, _HASHES[name][not options.include_top])
    beginning = begin(options, 224, 32, lambda shape: stored)
    x = ZeroPadding2D(((3, 3), (3, 3)))(beginning.tensor)
    x = _activate(convolve(x, 64, 7, strides=2, name="conv1/conv"), "conv1/bn", "conv1/relu")
    x = MaxPooling2D(3, strides=2, name="pool1")(ZeroPadding2D(((1, 1), (1, 1)))(x))
    for block, count in enumerate(counts, start=2):
        if block > 2:
            x = _shrink(x, f"pool{block - 1}")
        for at in range(1, count + 1):
            x = _grow(x, f"conv{block}_block{at}")
    x = _activate(x, "bn", "relu")
    return finish(beginning, classify(x, options, means="avg_pool", maxima="max_pool"), name)


def DenseNet121(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A densely connected network of 121 layers."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _network("densenet121", (6, 12, 24, 16), told)


def DenseNet169(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A densely connected network of 169 layers."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _network("densenet169", (6, 12, 32, 32), told)


def DenseNet201(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A densely connected network of 201 layers."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _network("densenet201", (6, 12, 48, 32), told)
