"""Inception with batch normalization ("Batch Normalization: Accelerating Deep Network Training")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import Scope, arg_scope
from tensorkeep.tf1.contrib.layers.batch_norms import batch_norm
from tensorkeep.tf1.contrib.layers.convolutions import convolution2d, separable_convolution2d
from tensorkeep.tf1.contrib.layers.dense import dropout
from tensorkeep.tf1.contrib.layers.pools import avg_pool2d, max_pool2d
from tensorkeep.tf1.contrib.layers.reshaping import softmax
from tensorkeep.tf1.contrib.slim.nets.blocks import (
    Depths,
    End,
    build_until,
    inception_arg_scope,
    logits_of,
    truncated_initializer,
    window_within,
)
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope


def _module(first: int, second: tuple[int, int], third: tuple[int, int], pooled: int, pool: str = "Avg") -> list[str]:
    return [
        f"Conv2d_0a_1x1 {first}",
        f"Conv2d_0a_1x1 {second[0]} ~0.09 > Conv2d_0b_3x3 {second[1]}",
        f"Conv2d_0a_1x1 {third[0]} ~0.09 > Conv2d_0b_3x3 {third[1]} > Conv2d_0c_3x3 {third[1]}",
        f"{pool}Pool_0a_3x3 > Conv2d_0b_1x1 {pooled} ~0.1",
    ]


def _reduction(first: tuple[int, int], second: tuple[int, int]) -> list[str]:
    return [
        f"Conv2d_0a_1x1 {first[0]} ~0.09 > Conv2d_1a_3x3 {first[1]} /2",
        f"Conv2d_0a_1x1 {second[0]} ~0.09 > Conv2d_0b_3x3 {second[1]} > Conv2d_1a_3x3 {second[1]} /2",
        "MaxPool_1a_3x3 /2",
    ]


_FIRST: Final = "Conv2d_1a_7x7"
_PARTS: Final[dict[str, list[str] | str]] = {
    "MaxPool_2a_3x3": "/2",
    "Conv2d_2b_1x1": "64 ~0.1",
    "Conv2d_2c_3x3": "192",
    "MaxPool_3a_3x3": "/2",
    "Mixed_3b": _module(64, (64, 64), (64, 96), 32),
    "Mixed_3c": _module(64, (64, 96), (64, 96), 64),
    "Mixed_4a": _reduction((128, 160), (64, 96)),
    "Mixed_4b": _module(224, (64, 96), (96, 128), 128),
    "Mixed_4c": _module(192, (96, 128), (96, 128), 128),
    "Mixed_4d": _module(160, (128, 160), (128, 160), 96),
    "Mixed_4e": _module(96, (128, 192), (160, 192), 96),
    "Mixed_5a": _reduction((128, 192), (192, 256)),
    "Mixed_5b": _module(352, (192, 320), (160, 224), 128),
    "Mixed_5c": _module(352, (192, 320), (192, 224), 128, pool="Max"),
}


def inception_v2_base(
    inputs: Tensor,
    final_endpoint: str = "Mixed_5c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: str | VariableScope | None = None,
) -> tuple[Tensor, End]:
    """The network up to an end point, and the end points by name."""
    depths = Depths(depth_multiplier, min_depth)
    layers = [convolution2d, max_pool2d, avg_pool2d, separable_convolution2d]
    with variable_scope(scope, "InceptionV2", [inputs]), arg_scope(layers, stride=1, padding="SAME"):
        net = separable_convolution2d(
            inputs,
            depths.of(64),
            [7, 7],
            depth_multiplier=min(int(depths.of(64) / 3), 8),
            stride=2,
            weights_initializer=truncated_initializer(1.0),
            scope=_FIRST,
        )
        ends: End = {_FIRST: net}
        if final_endpoint == _FIRST:
            return net, ends
        net, is_found = build_until(net, _PARTS, final_endpoint, depths, ends)
        if not is_found:
            known = ", ".join([_FIRST, *_PARTS])
            raise InvalidArgumentError(f"Unknown final endpoint {final_endpoint}; known: {known}")
        return net, ends


def inception_v2(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: Training = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable[..., Tensor] = softmax,
    spatial_squeeze: bool = True,
    reuse: bool | None = None,
    scope: str | VariableScope | None = "InceptionV2",
) -> tuple[Tensor, End]:
    """The logits of images of 224 by 224 pixels, and the end points."""
    with (
        variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as opened,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, ends = inception_v2_base(inputs, min_depth=min_depth, depth_multiplier=depth_multiplier, scope=opened)

        def pool(net: Tensor) -> Tensor:
            window = window_within(net, [7, 7])
            return avg_pool2d(net, window, padding="VALID", scope=f"AvgPool_1a_{window[0]}x{window[1]}")

        names = ("Dropout_1b", "Conv2d_1c_1x1")
        logits = logits_of(net, ends, num_classes, dropout_keep_prob, pool, names, spatial_squeeze)
        ends["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, ends


inception_v2.default_image_size = 224  # type: ignore[attr-defined]


def inception_v2_arg_scope(weight_decay: float = 0.00004, batch_norm_var_collection: str = "moving_vars") -> Scope:
    """The arguments of layers that the network is trained with."""
    params = {"decay": 0.9997, "epsilon": 0.001, "updates_collections": GraphKeys.UPDATE_OPS}
    return inception_arg_scope(weight_decay, params, batch_norm_var_collection)
