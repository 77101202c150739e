"""NASNetMobile and NASNetLarge: two kinds of cells, each given the outputs of the two before it."""

# ruff: noqa: N802 - the names are Keras's

from __future__ import annotations

from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import name_scope
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
    size_before_strides,
)
from tensorkeep.tf1.keras.backend.settings import image_data_format
from tensorkeep.tf1.keras.engine.model import Model
from tensorkeep.tf1.keras.layers.convolutional import Cropping2D, SeparableConv2D, ZeroPadding2D
from tensorkeep.tf1.keras.layers.merge import add, concatenate
from tensorkeep.tf1.keras.layers.pooling import AveragePooling2D, MaxPooling2D
from tensorkeep.tf1.layers.arguments import ActivationLike

_MOBILE_HASHES: Final = ("020fb642bf7360b370c678b08e0adf61", "1ed92395b5b598bdda52abe5c0dbfd63")
_LARGE_HASHES: Final = ("11577c9a518f0070763c2b964a382f17", "d81d89dc07e6e56530c4e77faddd61b5")


def _normalize(x: Any, name: str) -> Any:
    return normalize(x, name, momentum=0.9997, epsilon=1e-3)


def _convolve(x: Any, filters: int, name: str) -> Any:
    return convolve(x, filters, 1, padding="same", name=name, kernel_initializer="he_normal")


def _separate(x: Any, filters: int, size: int, name: str, stride: int = 1) -> Any:
    """Two separable convolutions, the first in steps of one or two."""
    with name_scope(f"separable_conv_block_{name}"):
        x = rectify(x)
        if stride == 2:
            x = ZeroPadding2D(size_before_strides(x, size), name=f"separable_conv_1_pad_{name}")(x)
        for at, step in ((1, stride), (2, 1)):
            if at == 2:
                x = rectify(x)
            x = SeparableConv2D(
                filters,
                size,
                strides=step,
                padding="same" if step == 1 else "valid",
                use_bias=False,
                name=f"separable_conv_{at}_{name}",
            )(x)
            x = _normalize(x, f"separable_conv_{at}_bn_{name}")
    return x


def _adjust(before: Any, x: Any, filters: int, name: str) -> Any:
    """What came before the inputs of a cell, in the shape of its inputs and with so many channels."""
    if before is None:
        return x
    (_, _, width, _), (_, _, own_width, channels) = x.get_shape().as_list(), before.get_shape().as_list()
    with name_scope("adjust_block"):
        if own_width != width:
            with name_scope(f"adjust_reduction_block_{name}"):
                return _halve(before, filters, name)
        if channels == filters:
            return before
        with name_scope(f"adjust_projection_block_{name}"):
            before = _convolve(rectify(before), filters, f"adjust_conv_projection_{name}")
            return _normalize(before, f"adjust_bn_{name}")


def _halve(x: Any, filters: int, name: str) -> Any:
    x = rectify(x, f"adjust_relu_1_{name}")
    even = AveragePooling2D(1, strides=2, name=f"adjust_avg_pool_1_{name}")(x)
    even = _convolve(even, filters // 2, f"adjust_conv_1_{name}")
    odd = Cropping2D(((1, 0), (1, 0)))(ZeroPadding2D(((0, 1), (0, 1)))(x))
    odd = AveragePooling2D(1, strides=2, name=f"adjust_avg_pool_2_{name}")(odd)
    odd = _convolve(odd, filters // 2, f"adjust_conv_2_{name}")
    return _normalize(concatenate([even, odd], axis=-1), f"adjust_bn_{name}")


def _means(x: Any, name: str) -> Any:
    return AveragePooling2D(3, strides=1, padding="same", name=name)(x)


def _keep(x: Any, before: Any, filters: int, name: str) -> tuple[Any, Any]:
    """A cell whose outputs have as many places as its inputs."""
    with name_scope(f"normal_A_block_{name}"):
        p = _adjust(before, x, filters, name)
        h = _normalize(_convolve(rectify(x), filters, f"normal_conv_1_{name}"), f"normal_bn_1_{name}")
        with name_scope("block_1"):
            parts = [
                _separate(h, filters, 5, f"normal_left1_{name}"),
                _separate(p, filters, 3, f"normal_right1_{name}"),
            ]
            first = add(parts, name=f"normal_add_1_{name}")
        with name_scope("block_2"):
            parts = [
                _separate(p, filters, 5, f"normal_left2_{name}"),
                _separate(p, filters, 3, f"normal_right2_{name}"),
            ]
            second = add(parts, name=f"normal_add_2_{name}")
        with name_scope("block_3"):
            third = add([_means(h, f"normal_left3_{name}"), p], name=f"normal_add_3_{name}")
        with name_scope("block_4"):
            parts = [_means(p, f"normal_left4_{name}"), _means(p, f"normal_right4_{name}")]
            fourth = add(parts, name=f"normal_add_4_{name}")
        with name_scope("block_5"):
            fifth = add([_separate(h, filters, 3, f"normal_left5_{name}"), h], name=f"normal_add_5_{name}")
        found = concatenate([p, first, second, third, fourth, fifth], axis=-1, name=f"normal_concat_{name}")
    return found, x


def _reduce(x: Any, before: Any, filters: int, name: str) -> tuple[Any, Any]:
    """A cell whose outputs have a quarter of the places of its inputs."""
    with name_scope(f"reduction_A_block_{name}"):
        p = _adjust(before, x, filters, name)
        h = _normalize(_convolve(rectify(x), filters, f"reduction_conv_1_{name}"), f"reduction_bn_1_{name}")
        padded = ZeroPadding2D(size_before_strides(h, 3), name=f"reduction_pad_1_{name}")(h)
        with name_scope("block_1"):
            left = _separate(h, filters, 5, f"reduction_left1_{name}", 2)
            first = add([left, _separate(p, filters, 7, f"reduction_right1_{name}", 2)], name=f"reduction_add_1_{name}")
        with name_scope("block_2"):
            left = MaxPooling2D(3, strides=2, name=f"reduction_left2_{name}")(padded)
            second = add(
                [left, _separate(p, filters, 7, f"reduction_right2_{name}", 2)], name=f"reduction_add_2_{name}"
            )
        with name_scope("block_3"):
            left = AveragePooling2D(3, strides=2, name=f"reduction_left3_{name}")(padded)
            third = add([left, _separate(p, filters, 5, f"reduction_right3_{name}", 2)], name=f"reduction_add3_{name}")
        with name_scope("block_4"):
            fourth = add([second, _means(first, f"reduction_left4_{name}")])
        with name_scope("block_5"):
            left = _separate(first, filters, 3, f"reduction_left4_{name}")
            right = MaxPooling2D(3, strides=2, name=f"reduction_right5_{name}")(padded)
            fifth = add([left, right], name=f"reduction_add4_{name}")
        found = concatenate([second, third, fourth, fifth], axis=-1, name=f"reduction_concat_{name}")
    return found, x


def _network(
    options: Options, default_size: int, stored: StoredWeights, stem: int, filters: int, count: int, *, skips: bool
) -> Model:
    if image_data_format() != "channels_last":
        raise InvalidArgumentError('NASNet is there for "channels_last" only: tf.keras.backend.set_image_data_format')
    beginning = begin(options, default_size, 32, lambda shape: stored)
    x = convolve(beginning.tensor, stem, 3, strides=2, name="stem_conv1", kernel_initializer="he_normal")
    x = _normalize(x, "stem_bn1")
    x, before = _reduce(x, None, filters // 4, "stem_1")
    x, before = _reduce(x, before, filters // 2, "stem_2")
    for at in range(3):
        wide = filters * 2**at
        if at:
            x, reduced = _reduce(x, before, wide, f"reduce_{at * count}")
            before = before if skips else reduced
        for number in range(count):
            x, before = _keep(x, before, wide, f"{at * count + number + min(at, 1)}")
    return finish(beginning, classify(rectify(x), options, top=None), "NASNet")


def _stored_weights(kind: str, hashes: tuple[str, str], *, include_top: bool) -> StoredWeights:
    """The file of weights of one of the two networks: its name, where it comes from, and its hash."""
    name, kept_as = ("", "") if include_top else ("-no-top", "_no_top")
    return StoredWeights.of(
        "nasnet", f"NASNet-{kind}{name}.h5", hashes[not include_top], kept_as=f"nasnet_{kind}{kept_as}.h5"
    )


def NASNetMobile(
    input_shape: ImageShape = None,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A network whose cells were found by search, for small devices."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    stored = _stored_weights("mobile", _MOBILE_HASHES, include_top=include_top)
    return _network(told, 224, stored, stem=32, filters=44, count=4, skips=False)


def NASNetLarge(
    input_shape: ImageShape = None,
    include_top: bool = True,
    weights: str | None = "imagenet",
    input_tensor: Tensor | None = None,
    pooling: str | None = None,
    classes: int = 1000,
    classifier_activation: ActivationLike = "softmax",
) -> Model:
    """A network whose cells were found by search."""
    told = Options(include_top, weights, input_tensor, input_shape, pooling, classes, classifier_activation)
    stored = _stored_weights("large", _LARGE_HASHES, include_top=include_top)
    return _network(told, 331, stored, stem=96, filters=168, count=6, skips=True)
