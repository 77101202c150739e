"""Inception, the first ("Going deeper with convolutions"), with batch normalization."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import Scope, arg_scope
from tensorkeep.tf1.contrib.layers.batch_norms import batch_norm
from tensorkeep.tf1.contrib.layers.convolutions import convolution2d
from tensorkeep.tf1.contrib.layers.dense import dropout, fully_connected
from tensorkeep.tf1.contrib.layers.pools import avg_pool2d, max_pool2d
from tensorkeep.tf1.contrib.layers.reshaping import softmax
from tensorkeep.tf1.contrib.slim.nets.blocks import (
    Depths,
    End,
    build_until,
    inception_arg_scope,
    logits_of,
    truncated_initializer,
)
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope


def _module(first: int, second: tuple[int, int], third: tuple[int, int], pooled: int, name: str = "0b") -> list[str]:
    return [
        f"Conv2d_0a_1x1 {first}",
        f"Conv2d_0a_1x1 {second[0]} > Conv2d_0b_3x3 {second[1]}",
        f"Conv2d_0a_1x1 {third[0]} > Conv2d_{name}_3x3 {third[1]}",
        f"MaxPool_0a_3x3 > Conv2d_0b_1x1 {pooled}",
    ]


_PARTS: Final[dict[str, list[str] | str]] = {
    "Conv2d_1a_7x7": "64 /2",
    "MaxPool_2a_3x3": "/2",
    "Conv2d_2b_1x1": "64",
    "Conv2d_2c_3x3": "192",
    "MaxPool_3a_3x3": "/2",
    "Mixed_3b": _module(64, (96, 128), (16, 32), 32),
    "Mixed_3c": _module(128, (128, 192), (32, 96), 64),
    "MaxPool_4a_3x3": "/2",
    "Mixed_4b": _module(192, (96, 208), (16, 48), 64),
    "Mixed_4c": _module(160, (112, 224), (24, 64), 64),
    "Mixed_4d": _module(128, (128, 256), (24, 64), 64),
    "Mixed_4e": _module(112, (144, 288), (32, 64), 64),
    "Mixed_4f": _module(256, (160, 320), (32, 128), 128),
    "MaxPool_5a_2x2": "/2",
    "Mixed_5b": _module(256, (160, 320), (32, 128), 128, name="0a"),  # so called in every checkpoint
    "Mixed_5c": _module(384, (192, 384), (48, 128), 128),
}


def inception_v1_base(
    inputs: Tensor, final_endpoint: str = "Mixed_5c", scope: str | VariableScope | None = "InceptionV1"
) -> tuple[Tensor, End]:
    """The network up to an end point, and the end points by name."""
    ends: End = {}
    with (
        variable_scope(scope, "InceptionV1", [inputs]),
        arg_scope([convolution2d, fully_connected], weights_initializer=truncated_initializer(0.01)),
        arg_scope([convolution2d, max_pool2d], stride=1, padding="SAME"),
    ):
        net, is_found = build_until(inputs, _PARTS, final_endpoint, Depths(), ends)
        if not is_found:
            raise InvalidArgumentError(f"Unknown final endpoint {final_endpoint}; known: {', '.join(_PARTS)}")
        return net, ends


def inception_v1(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: Training = True,
    dropout_keep_prob: float = 0.8,
    prediction_fn: Callable[..., Tensor] = softmax,
    spatial_squeeze: bool = True,
    reuse: bool | None = None,
    scope: str | VariableScope | None = "InceptionV1",
) -> tuple[Tensor, End]:
    """The logits of images of 224 by 224 pixels, and the end points."""
    with (
        variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as opened,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, ends = inception_v1_base(inputs, scope=opened)

        def pool(net: Tensor) -> Tensor:
            return avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")  # so called in TensorFlow

        names = ("Dropout_0b", "Conv2d_0c_1x1")
        logits = logits_of(
            net, ends, num_classes, dropout_keep_prob, pool, names, spatial_squeeze, predict=prediction_fn
        )
    return logits, ends


inception_v1.default_image_size = 224  # type: ignore[attr-defined]


def inception_v1_arg_scope(
    weight_decay: float = 0.00004, use_batch_norm: bool = True, batch_norm_var_collection: str = "moving_vars"
) -> Scope:
    """The arguments of layers that the network is trained with."""
    params = {"decay": 0.9997, "epsilon": 0.001, "updates_collections": GraphKeys.UPDATE_OPS}
    return inception_arg_scope(weight_decay, params if use_batch_norm else None, batch_norm_var_collection)
