"""ResNet and ResNetV2: blocks of three convolutions whose inputs are added to their outputs."""

# ruff: noqa: N802 - the names are Keras's

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.keras.applications.building import (
    ImageShape,
    Options,
    StoredWeights,
    begin,
    classify,
    finish,
    normalize,
    rectify,
)
from tensorkeep.tf1.keras.engine.model import Model
from tensorkeep.tf1.keras.layers.convolutional import Conv2D, ZeroPadding2D
from tensorkeep.tf1.keras.layers.merge import Add
from tensorkeep.tf1.keras.layers.pooling import MaxPooling2D
from tensorkeep.tf1.layers.arguments import ActivationLike

_HASHES: Final = {
    "resnet50": ("2cb95161c43110f7111970584f804107", "4d473c1dd8becc155b73f8504c6f6626"),
    "resnet101": ("f1aeb4b969a6efcfb50fad2f0c20cfc5", "88cf7a10940856eca736dc7b7e228a21"),
    "resnet152": ("100835be76be38e30d865e96f2aaae62", "ee4c566cf9a93f14d82f913c2dc6dd0c"),
    "resnet50v2": ("3ef43a0b657b3be2300d5770ece849e0", "fac2f116257151a9d068a22e544a4917"),
    "resnet101v2": ("6343647c601c52e1368623803854d971", "c0ed64b8031c3730f411d2eb4eea35b5"),
    "resnet152v2": ("a49b44d1979771252814e80f8ec446f9", "ed17cf2e0169df9d443503ef94b23b33"),
}
_FILTERS: Final = (64, 128, 256, 512)
_EPSILON: Final = 1.001e-5
Stack = Callable[[Any, int, int, int, str], Any]


def _normalize(x: Any, name: str) -> Any:
    return normalize(x, name, epsilon=_EPSILON)


def _block(x: Any, filters: int, stride: int, name: str, *, is_projected: bool) -> Any:
    """Normalized after each convolution."""
    shortcut = x
    if is_projected:
        shortcut = _normalize(Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(x), f"{name}_0_bn")
    x = _normalize(Conv2D(filters, 1, strides=stride, name=f"{name}_1_conv")(x), f"{name}_1_bn")
    x = rectify(x, f"{name}_1_relu")
    x = _normalize(Conv2D(filters, 3, padding="same", name=f"{name}_2_conv")(x), f"{name}_2_bn")
    x = rectify(x, f"{name}_2_relu")
    x = _normalize(Conv2D(4 * filters, 1, name=f"{name}_3_conv")(x), f"{name}_3_bn")
    return rectify(Add(name=f"{name}_add")([shortcut, x]), f"{name}_out")


def _stack(x: Any, filters: int, count: int, at: int, name: str) -> Any:
    x = _block(x, filters, 1 if at == 0 else 2, f"{name}_block1", is_projected=True)
    for number in range(2, count + 1):
        x = _block(x, filters, 1, f"{name}_block{number}", is_projected=False)
    return x


def _block_v2(x: Any, filters: int, stride: int, name: str, *, is_projected: bool) -> Any:
    """Normalized before each convolution."""
    before = rectify(_normalize(x, f"{name}_preact_bn"), f"{name}_preact_relu")
    if is_projected:
        shortcut = Conv2D(4 * filters, 1, strides=stride, name=f"{name}_0_conv")(before)
    else:
        shortcut = MaxPooling2D(1, strides=stride)(x) if stride > 1 else x
    x = Conv2D(filters, 1, strides=1, use_bias=False, name=f"{name}_1_conv")(before)
    x = rectify(_normalize(x, f"{name}_1_bn"), f"{name}_1_relu")
    x = ZeroPadding2D(((1, 1), (1, 1)), name=f"{name}_2_pad")(x)
    x = Conv2D(filters, 3, strides=stride, use_bias=False, name=f"{name}_2_conv")(x)
    x = rectify(_normalize(x, f"{name}_2_bn"), f"{name}_2_relu")
    x = Conv2D(4 * filters, 1, name=f"{name}_3_conv")(x)
    return Add(name=f"{name}_out")([shortcut, x])


def _stack_v2(x: Any, filters: int, count: int, at: int, name: str) -> Any:
    x = _block_v2(x, filters, 1, f"{name}_block1", is_projected=True)
    for number in range(2, count):
        x = _block_v2(x, filters, 1, f"{name}_block{number}", is_projected=False)
    last = 1 if at == len(_FILTERS) - 1 else 2
    return _block_v2(x, filters, last, f"{name}_block{count}", is_projected=False)


def _network(name: str, counts: tuple[int, ...], options: Options) -> Model:
    is_second = name.endswith("v2")
    ending = "" if options.include_top else "_notop"
    file = f"{name}_weights_tf_dim_ordering_tf_kernels{ending}.h5"
    stored = StoredWeights.of("resnet", file, _HASHES[name][not options.include_top])
    beginning = begin(options, 224, 32, lambda shape: stored)
    x = ZeroPadding2D(((3, 3), (3, 3)), name="conv1_pad")(beginning.tensor)
    x = Conv2D(64, 7, strides=2, name="conv1_conv")(x)
    if not is_second:
        x = rectify(_normalize(x, "conv1_bn"), "conv1_relu")
    x = ZeroPadding2D(((1, 1), (1, 1)), name="pool1_pad")(x)
    x = MaxPooling2D(3, strides=2, name="pool1_pool")(x)
    stack: Stack = _stack_v2 if is_second else _stack
    for at, (filters, count) in enumerate(zip(_FILTERS, counts, strict=True)):
        x = stack(x, filters, count, at, f"conv{at + 2}")
    if is_second:
        x = rectify(_normalize(x, "post_bn"), "post_relu")
    return finish(beginning, classify(x, options, means="avg_pool", maxima="max_pool"), name)


def ResNet50(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A residual network of 50 layers."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _network("resnet50", (3, 4, 6, 3), told)


def ResNet101(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A residual network of 101 layers."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _network("resnet101", (3, 4, 23, 3), told)


def ResNet152(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A residual network of 152 layers."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _network("resnet152", (3, 8, 36, 3), told)


def ResNet50V2(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A residual network of 50 layers, normalized before each convolution."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _network("resnet50v2", (3, 4, 6, 3), told)


def ResNet101V2(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A residual network of 101 layers, normalized before each convolution."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _network("resnet101v2", (3, 4, 23, 3), told)


def ResNet152V2(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A residual network of 152 layers, normalized before each convolution."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _network("resnet152v2", (3, 8, 36, 3), told)
