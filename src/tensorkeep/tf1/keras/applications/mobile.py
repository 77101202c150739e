"""MobileNet and MobileNetV2: convolutions of each channel by itself, then across channels."""

# ruff: noqa: N802 - the names are Keras's

from __future__ import annotations

from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
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
    pool_channels,
    size_before_strides,
)
from tensorkeep.tf1.keras.backend.settings import image_data_format
from tensorkeep.tf1.keras.engine.model import Model
from tensorkeep.tf1.keras.layers.advanced_activations import ReLU
from tensorkeep.tf1.keras.layers.convolutional import Conv2D, DepthwiseConv2D, ZeroPadding2D
from tensorkeep.tf1.keras.layers.core import Activation, Dropout, Reshape
from tensorkeep.tf1.keras.layers.merge import Add
from tensorkeep.tf1.keras.layers.pooling import GlobalAveragePooling2D
from tensorkeep.tf1.layers.arguments import ActivationLike

_BLOCKS: Final = (
    (64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), (512, 1), (512, 1), (512, 1), (512, 1), (512, 1),
    (1024, 2), (1024, 1),
)  # fmt: skip
_ALPHAS: Final = {0.25: "2_5", 0.5: "5_0", 0.75: "7_5", 1.0: "1_0"}
_BLOCKS_V2: Final = (
    (16, 1), (24, 2), (24, 1), (32, 2), (32, 1), (32, 1), (64, 2), (64, 1), (64, 1), (64, 1), (96, 1), (96, 1), (96, 1),
    (160, 2), (160, 1), (160, 1), (320, 1),
)  # fmt: skip
_ALPHAS_V2: Final = (0.35, 0.5, 0.75, 1.0, 1.3, 1.4)


def _plane(shape: Any) -> tuple[Any, Any]:
    rows, columns = shape[1:] if image_data_format() == "channels_first" else shape[:2]
    return rows, columns


def _default_size(options: Options, sizes: tuple[int, ...]) -> int:
    """The size of images that is told, if there are weights for it; else 224."""
    shape = options.input_shape
    if shape is None:
        return 224
    rows, columns = _plane(shape)
    return int(rows) if rows == columns and rows in sizes else 224


def _stored_rows(shape: Any, sizes: tuple[int, ...]) -> int:
    rows, columns = _plane(shape)
    return int(rows) if rows == columns and rows in sizes else 224


def _shown_rows(options: Options, shape: Any, sizes: tuple[int, ...]) -> Any:
    """The rows of images in the name of the model: those of its weights, if it has any."""
    return _stored_rows(shape, sizes) if options.weights == "imagenet" else _plane(shape)[0]


def _separate(x: Any, filters: int, stride: int, multiplier: int, at: int) -> Any:
    if stride != 1:
        x = ZeroPadding2D(((0, 1), (0, 1)), name=f"conv_pad_{at}")(x)
    x = DepthwiseConv2D(
        3,
        strides=stride,
        padding="same" if stride == 1 else "valid",
        depth_multiplier=multiplier,
        use_bias=False,
        name=f"conv_dw_{at}",
    )(x)
    x = ReLU(6.0, name=f"conv_dw_{at}_relu")(normalize(x, f"conv_dw_{at}_bn"))
    x = convolve(x, filters, 1, padding="same", name=f"conv_pw_{at}")
    return ReLU(6.0, name=f"conv_pw_{at}_relu")(normalize(x, f"conv_pw_{at}_bn"))


def MobileNet(
    input_shape: ImageShape = None,
    alpha: float = 1.0,
    depth_multiplier: int = 1,
    dropout: float = 1e-3,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A network for small devices; `alpha` makes it wider or narrower."""
    options = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    sizes = (128, 160, 192, 224)
    if weights == "imagenet" and (depth_multiplier != 1 or alpha not in _ALPHAS):
        raise InvalidArgumentError(
            'With weights="imagenet", depth_multiplier must be 1 and alpha 0.25, 0.5, 0.75 or 1.0. Received '
            f"depth_multiplier={depth_multiplier}, alpha={alpha}"
        )

    def stored(shape: Any) -> StoredWeights:
        ending = "" if include_top else "_no_top"
        return StoredWeights.of("mobilenet", f"mobilenet_{_ALPHAS[alpha]}_{_stored_rows(shape, sizes)}_tf{ending}.h5")

    beginning = begin(options, _default_size(options, sizes), 32, stored)
    x = convolve(beginning.tensor, int(32 * alpha), 3, strides=2, padding="same", name="conv1")
    x = ReLU(6.0, name="conv1_relu")(normalize(x, "conv1_bn"))
    for at, (filters, stride) in enumerate(_BLOCKS, start=1):
        x = _separate(x, int(filters * alpha), stride, depth_multiplier, at)
    if include_top:
        x = Dropout(dropout, name="dropout")(GlobalAveragePooling2D(keepdims=True)(x))
        x = Conv2D(classes, 1, padding="same", name="conv_preds")(x)
        x = Activation(classifier_activation, name="predictions")(Reshape((classes,), name="reshape_2")(x))
    else:
        x = pool_channels(x, options)
    return finish(beginning, x, f"mobilenet_{alpha:0.2f}_{_shown_rows(options, beginning.shape, sizes)}")


# ---------------------------------------------------------------------------------------------------- V2


def _divisible(count: float) -> int:
    """The nearest multiple of eight that is not a tenth less."""
    found = max(8, int(count + 4) // 8 * 8)
    return found + 8 if found < 0.9 * count else found


def _normalize(x: Any, name: str) -> Any:
    return normalize(x, name, epsilon=1e-3, momentum=0.999)


def _invert(inputs: Any, filters: int, stride: int, at: int) -> Any:
    """Many channels between few; the inputs are added if they fit."""
    channels = inputs.get_shape().as_list()[channel_axis()]
    name = f"block_{at}" if at else "expanded_conv"
    x = inputs
    if at:
        x = convolve(x, 6 * channels, 1, padding="same", name=f"{name}_expand")
        x = ReLU(6.0, name=f"{name}_expand_relu")(_normalize(x, f"{name}_expand_BN"))
    if stride == 2:
        x = ZeroPadding2D(size_before_strides(x, 3), name=f"{name}_pad")(x)
    x = DepthwiseConv2D(
        3,
        strides=stride,
        padding="same" if stride == 1 else "valid",
        use_bias=False,
        name=f"{name}_depthwise",
    )(x)
    x = ReLU(6.0, name=f"{name}_depthwise_relu")(_normalize(x, f"{name}_depthwise_BN"))
    x = _normalize(convolve(x, filters, 1, padding="same", name=f"{name}_project"), f"{name}_project_BN")
    return Add(name=f"{name}_add")([inputs, x]) if channels == filters and stride == 1 else x


def MobileNetV2(
    input_shape: ImageShape = None,
    alpha: float = 1.0,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A network for small devices, of inverted residual blocks; `alpha` makes it wider or narrower."""
    sizes = (96, 128, 160, 192, 224)
    options = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    if weights == "imagenet" and alpha not in _ALPHAS_V2:
        raise InvalidArgumentError(f'With weights="imagenet", alpha must be one of {_ALPHAS_V2}. Received {alpha}')

    def stored(shape: Any) -> StoredWeights:
        ending = "" if include_top else "_no_top"
        start = "mobilenet_v2_weights_tf_dim_ordering_tf_kernels"
        return StoredWeights.of("mobilenet_v2", f"{start}_{float(alpha)}_{_stored_rows(shape, sizes)}{ending}.h5")

    beginning = begin(options, _default_size(options, sizes), 32, stored)
    x = convolve(beginning.tensor, _divisible(32 * alpha), 3, strides=2, padding="same", name="Conv1")
    x = ReLU(6.0, name="Conv1_relu")(_normalize(x, "bn_Conv1"))
    for at, (filters, stride) in enumerate(_BLOCKS_V2):
        x = _invert(x, _divisible(int(filters * alpha)), stride, at)
    x = convolve(x, _divisible(1280 * alpha) if alpha > 1.0 else 1280, 1, name="Conv_1")
    x = ReLU(6.0, name="out_relu")(_normalize(x, "Conv_1_bn"))
    x = classify(x, options, top=None)
    return finish(beginning, x, f"mobilenetv2_{alpha:0.2f}_{_shown_rows(options, beginning.shape, sizes)}")
