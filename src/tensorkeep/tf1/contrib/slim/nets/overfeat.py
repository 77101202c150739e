"""OverFeat ("OverFeat: Integrated Recognition, Localization and Detection using Convolutional Networks")."""

from __future__ import annotations

from typing import Any

from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import arg_scope
from tensorkeep.tf1.contrib.layers.convolutions import convolution2d
from tensorkeep.tf1.contrib.layers.dense import fully_connected
from tensorkeep.tf1.contrib.layers.pools import max_pool2d
from tensorkeep.tf1.contrib.slim.nets.plain import classified, ended, plain_arg_scope
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.variables.initializers import Constant, TruncatedNormal, Zeros
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope


def overfeat_arg_scope(weight_decay: float = 0.0005) -> Any:
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
                net = classified(net, (3072, 6), num_classes, dropout_keep_prob, is_training, last)
            return ended(net, opened, collection, spatial_squeeze)


overfeat.default_image_size = 231  # type: ignore[attr-defined]
