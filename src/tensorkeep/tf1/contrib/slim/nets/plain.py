"""Networks of convolutions and pools after one another, with convolutions in the place of dense layers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import arg_scope
from tensorkeep.tf1.contrib.layers.collecting import convert_collection_to_dict
from tensorkeep.tf1.contrib.layers.convolutions import convolution2d
from tensorkeep.tf1.contrib.layers.dense import dropout, fully_connected
from tensorkeep.tf1.contrib.layers.pools import max_pool2d
from tensorkeep.tf1.contrib.layers.regularizers import l2_regularizer
from tensorkeep.tf1.functions.arrays.shapes import squeeze
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.variables.scope import VariableScope

Step: TypeAlias = "Callable[[Tensor], Tensor]"
"""A layer of a network."""


def plain_arg_scope(weight_decay: float, biases: Any, pools_are_valid: bool = True) -> Any:
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


def classified(
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


def ended(net: Tensor, scope: VariableScope, collection: str, spatial_squeeze: bool) -> tuple[Tensor, Any]:
    """The outputs without their two dimensions of size one, and the end points."""
    ends = convert_collection_to_dict(collection)
    if spatial_squeeze:
        net = squeeze(net, [1, 2], name="fc8/squeezed")
        ends[f"{scope.name}/fc8"] = net
    return net, ends
