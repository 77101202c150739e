"""VGG16 and VGG19: blocks of convolutions, each ended by a pool."""

# ruff: noqa: N802 - the names are Keras's

from __future__ import annotations

from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.keras.applications.building import ImageShape, Options, StoredWeights, begin, finish, pool_channels
from tensorkeep.tf1.keras.engine.model import Model
from tensorkeep.tf1.keras.layers.convolutional import Conv2D
from tensorkeep.tf1.keras.layers.core import Dense, Flatten
from tensorkeep.tf1.keras.layers.pooling import MaxPooling2D
from tensorkeep.tf1.layers.arguments import ActivationLike

_FILTERS = (64, 128, 256, 512, 512)
_HASHES = {
    "vgg16": ("64373286793e3c8b2b4e3219cbf3544b", "6d6bbae143d832006294945121d1f1fc"),
    "vgg19": ("cbe5617147190e668d6c5d5026f83318", "253f8cb515780f3b799900260a226db6"),
}


def _network(name: str, counts: tuple[int, ...], options: Options) -> Model:
    ending = "" if options.include_top else "_notop"
    file = f"{name}_weights_tf_dim_ordering_tf_kernels{ending}.h5"
    stored = StoredWeights.of(name, file, _HASHES[name][not options.include_top])
    beginning = begin(options, 224, 32, lambda shape: stored)
    x = beginning.tensor
    for block, (filters, count) in enumerate(zip(_FILTERS, counts, strict=True), start=1):
        for at in range(1, count + 1):
            x = Conv2D(filters, 3, activation="relu", padding="same", name=f"block{block}_conv{at}")(x)
        x = MaxPooling2D(2, strides=2, name=f"block{block}_pool")(x)
    if options.include_top:
        x = Flatten(name="flatten")(x)
        for at in (1, 2):
            x = Dense(4096, activation="relu", name=f"fc{at}")(x)
        x = Dense(options.classes, activation=options.classifier_activation, name="predictions")(x)
    else:
        x = pool_channels(x, options)
    return finish(beginning, x, name)


def VGG16(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A network of 13 convolutions and 3 dense layers."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _network("vgg16", (2, 2, 3, 3, 3), told)


def VGG19(
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    input_shape: ImageShape = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A network of 16 convolutions and 3 dense layers."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    return _network("vgg19", (2, 2, 4, 4, 4), told)
