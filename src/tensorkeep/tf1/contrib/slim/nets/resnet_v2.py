"""Residual networks that normalize first ("Identity Mappings in Deep Residual Networks")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import add_arg_scope
from tensorkeep.tf1.contrib.layers.batch_norms import batch_norm
from tensorkeep.tf1.contrib.layers.collecting import collect_named_outputs, last_dimension
from tensorkeep.tf1.contrib.layers.convolutions import convolution2d
from tensorkeep.tf1.contrib.slim.nets.resnet_units import (
    Block,
    Version,
    conv2d_same,
    of_size,
    residual_network,
    subsample,
    units,
)
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.variables.options import CollectionNames
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope


@add_arg_scope
def bottleneck(
    inputs: Tensor,
    depth: int,
    depth_bottleneck: int,
    stride: int,
    rate: int = 1,
    outputs_collections: CollectionNames | None = None,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """A unit: three convolutions of which the middle one has few channels, beside a shortcut."""
    plain: dict[str, Any] = {"normalizer_fn": None, "activation_fn": None}
    with variable_scope(scope, "bottleneck_v2", [inputs]) as opened:
        normal = batch_norm(inputs, activation_fn=relu, scope="preact")
        if depth == last_dimension(inputs.get_shape(), min_rank=4):
            shortcut = subsample(inputs, stride, "shortcut")
        else:
            shortcut = convolution2d(normal, depth, [1, 1], stride=stride, scope="shortcut", **plain)
        residual = convolution2d(normal, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = convolution2d(residual, depth, [1, 1], stride=1, scope="conv3", **plain)
        return collect_named_outputs(outputs_collections, opened.name, shortcut + residual)


_VERSION: Final = Version("resnet_v2", bottleneck, is_normalized_first=True)


def resnet_v2(
    inputs: Tensor,
    blocks: Sequence[Block],
    num_classes: int | None = None,
    is_training: Training = True,
    global_pool: bool = True,
    output_stride: float | None = None,
    include_root_block: bool = True,
    reuse: bool | None = None,
    scope: str | VariableScope | None = None,
) -> tuple[Tensor, Any]:
    """A residual network of blocks, and its end points."""
    return residual_network(_VERSION, locals())


resnet_v2.default_image_size = 224  # type: ignore[attr-defined]


def resnet_v2_block(scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """A block of units, of which the last makes images smaller."""
    return units(bottleneck, scope, base_depth, num_units, stride)


resnet_v2_50 = of_size(resnet_v2, bottleneck, "resnet_v2", 50)
resnet_v2_101 = of_size(resnet_v2, bottleneck, "resnet_v2", 101)
resnet_v2_152 = of_size(resnet_v2, bottleneck, "resnet_v2", 152)
resnet_v2_200 = of_size(resnet_v2, bottleneck, "resnet_v2", 200)
