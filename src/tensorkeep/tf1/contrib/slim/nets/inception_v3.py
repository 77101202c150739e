"""Inception with factored convolutions ("Rethinking the Inception Architecture for Computer Vision")."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import Scope, arg_scope
from tensorkeep.tf1.contrib.layers.batch_norms import batch_norm
from tensorkeep.tf1.contrib.layers.convolutions import convolution2d
from tensorkeep.tf1.contrib.layers.dense import dropout
from tensorkeep.tf1.contrib.layers.pools import avg_pool2d, max_pool2d
from tensorkeep.tf1.contrib.layers.reshaping import softmax
from tensorkeep.tf1.contrib.slim.nets.blocks import (
    Depths,
    End,
    build_until,
    inception_arg_scope,
    logits_of,
    steps,
    truncated_initializer,
    window_within,
)
from tensorkeep.tf1.functions.arrays.shapes import squeeze
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.variables.options import CollectionNames
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope

_HEAD: Final[dict[str, list[str] | str]] = {
    "Conv2d_1a_3x3": "32 /2",
    "Conv2d_2a_3x3": "32",
    "Conv2d_2b_3x3": "64 same",
    "MaxPool_3a_3x3": "/2",
    "Conv2d_3b_1x1": "80",
    "Conv2d_4a_3x3": "192",
    "MaxPool_5a_3x3": "/2",
}


def _wide(pooled: int, second: str = "Conv2d_0a_1x1 48 > Conv2d_0b_5x5 64") -> list[str]:
    return [
        "Conv2d_0a_1x1 64",
        second,
        "Conv2d_0a_1x1 64 > Conv2d_0b_3x3 96 > Conv2d_0c_3x3 96",
        f"AvgPool_0a_3x3 > Conv2d_0b_1x1 {pooled}",
    ]


def _long(depth: int) -> list[str]:
    return [
        "Conv2d_0a_1x1 192",
        f"Conv2d_0a_1x1 {depth} > Conv2d_0b_1x7 {depth} > Conv2d_0c_7x1 192",
        f"Conv2d_0a_1x1 {depth} > Conv2d_0b_7x1 {depth} > Conv2d_0c_1x7 {depth} > Conv2d_0d_7x1 {depth} "
        "> Conv2d_0e_1x7 192",
        "AvgPool_0a_3x3 > Conv2d_0b_1x1 192",
    ]


def _parted_branches(second: str) -> list[str]:
    return [
        "Conv2d_0a_1x1 320",
        f"Conv2d_0a_1x1 384 > (Conv2d_0b_1x3 384 | Conv2d_{second}_3x1 384)",
        "Conv2d_0a_1x1 448 > Conv2d_0b_3x3 384 > (Conv2d_0c_1x3 384 | Conv2d_0d_3x1 384)",
        "AvgPool_0a_3x3 > Conv2d_0b_1x1 192",
    ]


# Some names tell other windows and places than there are: they are so in every checkpoint.
_BODY: Final[dict[str, list[str] | str]] = {
    "Mixed_5b": _wide(32),
    "Mixed_5c": _wide(64, "Conv2d_0b_1x1 48 > Conv_1_0c_5x5 64"),
    "Mixed_5d": _wide(64),
    "Mixed_6a": [
        "Conv2d_1a_1x1 384 =3x3 /2 valid",
        "Conv2d_0a_1x1 64 > Conv2d_0b_3x3 96 > Conv2d_1a_1x1 96 =3x3 /2 valid",
        "MaxPool_1a_3x3 /2 valid",
    ],
    "Mixed_6b": _long(128),
    "Mixed_6c": _long(160),
    "Mixed_6d": _long(160),
    "Mixed_6e": _long(192),
    "Mixed_7a": [
        "Conv2d_0a_1x1 192 > Conv2d_1a_3x3 320 /2 valid",
        "Conv2d_0a_1x1 192 > Conv2d_0b_1x7 192 > Conv2d_0c_7x1 192 > Conv2d_1a_3x3 192 /2 valid",
        "MaxPool_1a_3x3 /2 valid",
    ],
    "Mixed_7b": _parted_branches("0b"),
    "Mixed_7c": _parted_branches("0c"),
}


def inception_v3_base(
    inputs: Tensor,
    final_endpoint: str = "Mixed_7c",
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    scope: str | VariableScope | None = None,
) -> tuple[Tensor, End]:
    """The network up to an end point, and the end points by name."""
    depths = Depths(depth_multiplier, min_depth)
    ends: End = {}
    layers = [convolution2d, max_pool2d, avg_pool2d]
    with variable_scope(scope, "InceptionV3", [inputs]):
        with arg_scope(layers, stride=1, padding="VALID"):
            net, is_found = build_until(inputs, _HEAD, final_endpoint, depths, ends)
        if not is_found:
            with arg_scope(layers, stride=1, padding="SAME"):
                net, is_found = build_until(net, _BODY, final_endpoint, depths, ends)
        if not is_found:
            known = ", ".join([*_HEAD, *_BODY])
            raise InvalidArgumentError(f"Unknown final endpoint {final_endpoint}; known: {known}")
        return net, ends


def inception_v3(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: Training = True,
    dropout_keep_prob: float = 0.8,
    min_depth: int = 16,
    depth_multiplier: float = 1.0,
    prediction_fn: Callable[..., Tensor] = softmax,
    spatial_squeeze: bool = True,
    reuse: bool | None = None,
    create_aux_logits: bool = True,
    scope: str | VariableScope | None = "InceptionV3",
) -> tuple[Tensor, End]:
    """The logits of images of 299 by 299 pixels, and the end points; other logits on the way are one of them."""
    depths = Depths(depth_multiplier, min_depth)
    with (
        variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as opened,
        arg_scope([batch_norm, dropout], is_training=is_training),
    ):
        net, ends = inception_v3_base(inputs, min_depth=min_depth, depth_multiplier=depth_multiplier, scope=opened)
        if create_aux_logits and num_classes:
            ends["AuxLogits"] = _auxiliary(ends["Mixed_6e"], num_classes, depths, spatial_squeeze)

        def pool(net: Tensor) -> Tensor:
            window = window_within(net, [8, 8])
            return avg_pool2d(net, window, padding="VALID", scope=f"AvgPool_1a_{window[0]}x{window[1]}")

        names = ("Dropout_1b", "Conv2d_1c_1x1")
        logits = logits_of(net, ends, num_classes, dropout_keep_prob, pool, names, spatial_squeeze, prelogits=True)
        ends["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, ends


def _auxiliary(net: Tensor, num_classes: int, depths: Depths, spatial_squeeze: bool) -> Tensor:
    with (
        arg_scope([convolution2d, max_pool2d, avg_pool2d], stride=1, padding="SAME"),
        variable_scope("AuxLogits"),
    ):
        net = steps(net, "AvgPool_1a_5x5 /3 valid > Conv2d_1b_1x1 128", depths)
        window = window_within(net, [5, 5])
        net = steps(net, f"Conv2d_2a_{window[0]}x{window[1]} 768 ~0.01 valid", depths)
        net = convolution2d(
            net,
            num_classes,
            [1, 1],
            activation_fn=None,
            normalizer_fn=None,
            weights_initializer=truncated_initializer(0.001),
            scope="Conv2d_2b_1x1",
        )
        return squeeze(net, [1, 2], name="SpatialSqueeze") if spatial_squeeze else net


inception_v3.default_image_size = 299  # type: ignore[attr-defined]


def inception_v3_arg_scope(
    weight_decay: float = 0.00004,
    batch_norm_var_collection: str = "moving_vars",
    batch_norm_decay: float = 0.9997,
    batch_norm_epsilon: float = 0.001,
    updates_collections: CollectionNames | None = GraphKeys.UPDATE_OPS,
    use_fused_batchnorm: bool = True,
) -> Scope:
    """The arguments of layers that the network is trained with."""
    params = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "updates_collections": updates_collections,
        "fused": use_fused_batchnorm,
    }
    return inception_arg_scope(weight_decay, params, batch_norm_var_collection)
