"""Networks of the Visual Geometry Group ("Very Deep Convolutional Networks for Large-Scale Image Recognition")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import Scope, arg_scope
from tensorkeep.tf1.contrib.layers.convolutions import convolution2d
from tensorkeep.tf1.contrib.layers.dense import fully_connected, repeat
from tensorkeep.tf1.contrib.layers.pools import max_pool2d
from tensorkeep.tf1.contrib.slim.nets.plain import add_classifier, finish_network, plain_arg_scope
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope

_DEPTHS: Final = (64, 128, 256, 512, 512)


def vgg_arg_scope(weight_decay: float = 0.0005) -> Scope:
    """The arguments of layers that the networks are trained with."""
    return plain_arg_scope(weight_decay, Zeros(), pools_are_valid=False)


def _vgg(name: str, repeats: tuple[int, ...], by_name_scope: bool, layers: Sequence[Any]) -> Any:
    """The network whose five blocks have so many convolutions each."""

    def network(
        inputs: Tensor,
        num_classes: int = 1000,
        is_training: Training = True,
        dropout_keep_prob: float = 0.5,
        spatial_squeeze: bool = True,
        scope: str | VariableScope | None = name,
    ) -> tuple[Tensor, Any]:
        with variable_scope(scope, name, [inputs]) as opened:
            place = opened.original_name_scope if by_name_scope else opened.name
            collection = f"{place}_end_points"
            with arg_scope(layers, outputs_collections=collection):
                net: Any = inputs
                for number, (count, depth) in enumerate(zip(repeats, _DEPTHS, strict=True), start=1):
                    net = repeat(net, count, convolution2d, depth, [3, 3], scope=f"conv{number}")
                    net = max_pool2d(net, [2, 2], scope=f"pool{number}")
                net = add_classifier(net, (4096, 7), num_classes, dropout_keep_prob, is_training, {})
                return finish_network(net, opened, collection, spatial_squeeze)

    network.__name__ = network.__qualname__ = name
    network.__doc__ = "The logits of images of 224 by 224 pixels, and the end points."
    network.default_image_size = 224  # type: ignore[attr-defined]
    return network


_DENSE_TOO: Final = (convolution2d, fully_connected, max_pool2d)
vgg_a = _vgg("vgg_a", (1, 1, 2, 2, 2), True, (convolution2d, max_pool2d))
vgg_16 = _vgg("vgg_16", (2, 2, 3, 3, 3), True, _DENSE_TOO)
vgg_19 = _vgg("vgg_19", (2, 2, 4, 4, 4), False, _DENSE_TOO)
vgg_d = vgg_16
vgg_e = vgg_19
