"""AlexNet, OverFeat, and what other networks of convolutions and pools after one another have in common with them.

Convolutions stand in the place of dense layers. AlexNet ("One weird trick for parallelizing convolutional neural
networks") is without its normalization; OverFeat is that of "OverFeat: Integrated Recognition, Localization and
Detection using Convolutional Networks".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import Scope, arg_scope
from tensorkeep.tf1.contrib.layers.collecting import convert_collection_to_dict
from tensorkeep.tf1.contrib.layers.convolutions import convolution2d
from tensorkeep.tf1.contrib.layers.dense import dropout, fully_connected
from tensorkeep.tf1.contrib.layers.pools import max_pool2d
from tensorkeep.tf1.contrib.layers.regularizers import l2_regularizer
from tensorkeep.tf1.functions.arrays.shapes import squeeze
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.variables.initializers import Constant, TruncatedNormal, Zeros
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope

Step: TypeAlias = "Callable[[Tensor], Tensor]"
"""A layer of a network."""


def plain_arg_scope(weight_decay: float, biases: InitializerLike, pools_are_valid: bool = True) -> Scope:
    """The arguments of layers that such networks are trained with."""
    with (
        arg_scope(
            [convolution2d, fully_connected],
            activation_fn=relu,
            weights_regularizer=l2_regularizer(weight_decay),
            biases_initializer=biases,
        ),
        arg_scope([convolution2d], padding="SAME") as scope,
    ):
        if not pools_are_valid:
            return scope
        with arg_scope([max_pool2d], padding="VALID") as valid:
            return valid


def add_classifier(
    net: Tensor,
    first: tuple[int, int],
    num_classes: int,
    keep_prob: float,
    is_training: Training,
    last_biases: Mapping[str, Any],
) -> Tensor:
    """The last three layers, as convolutions, with dropout between them; `first` is the depth and the window."""
    depth, window = first
    net = convolution2d(net, depth, [window, window], padding="VALID", scope="fc6")
    net = dropout(net, keep_prob, is_training=is_training, scope="dropout6")
    net = convolution2d(net, 4096, [1, 1], scope="fc7")
    net = dropout(net, keep_prob, is_training=is_training, scope="dropout7")
    result: Tensor = convolution2d(
        net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **last_biases
    )
    return result


def finish_network(net: Tensor, scope: VariableScope, collection: str, spatial_squeeze: bool) -> tuple[Tensor, Any]:
    """The outputs without their two dimensions of size one, and the end points."""
    ends = convert_collection_to_dict(collection)
    if spatial_squeeze:
        net = squeeze(net, [1, 2], name="fc8/squeezed")
        ends[f"{scope.name}/fc8"] = net
    return net, ends


def alexnet_v2_arg_scope(weight_decay: float = 0.0005) -> Scope:
    """The arguments of layers that the network is trained with."""
    return plain_arg_scope(weight_decay, Constant(0.1))


def alexnet_v2(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: Training = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: str | VariableScope | None = "alexnet_v2",
) -> tuple[Tensor, Any]:
    """The logits of images of 224 by 224 pixels, and the end points."""
    with variable_scope(scope, "alexnet_v2", [inputs]) as opened:
        collection = f"{opened.original_name_scope}_end_points"
        with arg_scope([convolution2d, fully_connected, max_pool2d], outputs_collections=[collection]):
            net = convolution2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = max_pool2d(net, [3, 3], 2, scope="pool1")
            net = convolution2d(net, 192, [5, 5], scope="conv2")
            net = max_pool2d(net, [3, 3], 2, scope="pool2")
            for number, depth in ((3, 384), (4, 384), (5, 256)):
                net = convolution2d(net, depth, [3, 3], scope=f"conv{number}")
            net = max_pool2d(net, [3, 3], 2, scope="pool5")
            with arg_scope(
                [convolution2d], weights_initializer=TruncatedNormal(0.0, 0.005), biases_initializer=Constant(0.1)
            ):
                last = {"biases_initializer": Zeros()}
                net = add_classifier(net, (4096, 5), num_classes, dropout_keep_prob, is_training, last)
            return finish_network(net, opened, collection, spatial_squeeze)


alexnet_v2.default_image_size = 224  # type: ignore[attr-defined]


def overfeat_arg_scope(weight_decay: float = 0.0005) -> Scope:
    """The arguments of layers that the network is trained with."""
    return plain_arg_scope(weight_decay, Zeros())


def overfeat(
    inputs: Tensor,
    num_classes: int = 1000,
    is_training: Training = True,
    dropout_keep_prob: float = 0.5,
    spatial_squeeze: bool = True,
    scope: str | VariableScope | None = "overfeat",
) -> tuple[Tensor, Any]:
    """The logits of images of 231 by 231 pixels, and the end points."""
    with variable_scope(scope, "overfeat", [inputs]) as opened:
        collection = f"{opened.name}_end_points"
        with arg_scope([convolution2d, fully_connected, max_pool2d], outputs_collections=collection):
            net = convolution2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = max_pool2d(net, [2, 2], scope="pool1")
            net = convolution2d(net, 256, [5, 5], padding="VALID", scope="conv2")
            net = max_pool2d(net, [2, 2], scope="pool2")
            for number, depth in ((3, 512), (4, 1024), (5, 1024)):
                net = convolution2d(net, depth, [3, 3], scope=f"conv{number}")
            net = max_pool2d(net, [2, 2], scope="pool5")
            with arg_scope(
                [convolution2d], weights_initializer=TruncatedNormal(0.0, 0.005), biases_initializer=Constant(0.1)
            ):
                last = {"biases_initializer": Zeros()}
                net = add_classifier(net, (3072, 6), num_classes, dropout_keep_prob, is_training, last)
            return finish_network(net, opened, collection, spatial_squeeze)


overfeat.default_image_size = 231  # type: ignore[attr-defined]
