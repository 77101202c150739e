"""Blocks of residual networks: units that make tensors smaller by strides, or see further by gaps instead."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import Scope, add_arg_scope, arg_scope
from tensorkeep.tf1.contrib.layers.batch_norms import batch_norm
from tensorkeep.tf1.contrib.layers.collecting import collect_named_outputs, convert_collection_to_dict
from tensorkeep.tf1.contrib.layers.convolutions import convolution2d
from tensorkeep.tf1.contrib.layers.pools import max_pool2d
from tensorkeep.tf1.contrib.layers.regularizers import l2_regularizer
from tensorkeep.tf1.contrib.layers.reshaping import softmax
from tensorkeep.tf1.functions.arrays.shapes import pad
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.functions.numbers.reductions import reduce_mean
from tensorkeep.tf1.layers.arguments import Training
from tensorkeep.tf1.variables.initializers import variance_scaling_initializer
from tensorkeep.tf1.variables.options import CollectionNames
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope


class Block(NamedTuple):
    """A block: its scope, the function of its units, and the arguments of each unit."""

    scope: str
    unit_fn: Callable[..., Tensor]
    args: Sequence[Mapping[str, Any]]


def subsample(inputs: Tensor, factor: int, scope: str | None = None) -> Tensor:
    """Every `factor`-th row and column of images."""
    return inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(
    inputs: Tensor, num_outputs: int, kernel_size: int, stride: int, rate: int = 1, scope: str | None = None
) -> Tensor:
    """A convolution that is padded alike for all sizes of images: half of the window on each side."""
    if stride == 1:
        same: Tensor = convolution2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
        return same
    span = kernel_size + (kernel_size - 1) * (rate - 1) - 1
    around = [span // 2, span - span // 2]
    padded = pad(inputs, [[0, 0], around, around, [0, 0]])
    result: Tensor = convolution2d(
        padded, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope
    )
    return result


@add_arg_scope
def stack_blocks_dense(
    net: Tensor,
    blocks: Sequence[Block],
    output_stride: float | None = None,
    outputs_collections: CollectionNames | None = None,
) -> Tensor:
    """Blocks one after another. From where the output has the wanted stride on, gaps take the place of strides."""
    current, rate = 1, 1
    for block in blocks:
        with variable_scope(block.scope, "block", [net]) as opened:
            for number, unit in enumerate(block.args, start=1):
                if output_stride is not None and current > output_stride:
                    raise InvalidArgumentError("The target output_stride cannot be reached.")
                with variable_scope(f"unit_{number}", values=[net]):
                    if output_stride is not None and current == output_stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= unit.get("stride", 1)
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        current *= unit.get("stride", 1)
            net = collect_named_outputs(outputs_collections, opened.name, net)
    if output_stride is not None and current != output_stride:
        raise InvalidArgumentError(f"The target output_stride {output_stride} cannot be reached.")
    return net


def resnet_arg_scope(
    weight_decay: float = 0.0001,
    batch_norm_decay: float = 0.997,
    batch_norm_epsilon: float = 1e-5,
    batch_norm_scale: bool = True,
) -> Scope:
    """The arguments of layers that residual networks are trained with."""
    params = {
        "decay": batch_norm_decay,
        "epsilon": batch_norm_epsilon,
        "scale": batch_norm_scale,
        "updates_collections": GraphKeys.UPDATE_OPS,
    }
    with (
        arg_scope(
            [convolution2d],
            weights_regularizer=l2_regularizer(weight_decay),
            weights_initializer=variance_scaling_initializer(),
            activation_fn=relu,
            normalizer_fn=batch_norm,
            normalizer_params=params,
        ),
        arg_scope([batch_norm], **params),
        arg_scope([max_pool2d], padding="SAME") as scope,
    ):
        return scope


def units(bottleneck: Callable[..., Tensor], scope: str, base_depth: int, num_units: int, stride: int) -> Block:
    """A block of units, of which the last makes images smaller."""
    sizes = {"depth": base_depth * 4, "depth_bottleneck": base_depth}
    return Block(scope, bottleneck, [*[{**sizes, "stride": 1}] * (num_units - 1), {**sizes, "stride": stride}])


@dataclass(frozen=True)
class Version:
    """In what the two versions of residual networks differ."""

    name: str
    bottleneck: Callable[..., Tensor]
    is_normalized_first: bool


def residual_network(version: Version, told: Mapping[str, Any]) -> tuple[Tensor, Any]:
    """A network of blocks: a root unless it is not wanted, the blocks, a mean over the image, and logits."""
    num_classes, output_stride = told["num_classes"], told["output_stride"]
    with variable_scope(told["scope"], version.name, [told["inputs"]], reuse=told["reuse"]) as opened:
        collection = f"{opened.original_name_scope}_end_points"
        layers = [convolution2d, version.bottleneck, stack_blocks_dense]
        with (
            arg_scope(layers, outputs_collections=collection),
            arg_scope([batch_norm], is_training=told["is_training"]),
        ):
            net = told["inputs"]
            if told["include_root_block"]:
                if output_stride is not None:
                    if output_stride % 4 != 0:
                        raise InvalidArgumentError("The output_stride needs to be a multiple of 4.")
                    output_stride /= 4
                net = _root(net, version)
            net = stack_blocks_dense(net, told["blocks"], output_stride)
            if version.is_normalized_first:
                net = batch_norm(net, activation_fn=relu, scope="postnorm")
            if told["global_pool"]:
                net = reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = convolution2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
            ends = convert_collection_to_dict(collection)
            if num_classes is not None:
                ends["predictions"] = softmax(net, scope="predictions")
            return net, ends


def _root(net: Tensor, version: Version) -> Tensor:
    plain = {"activation_fn": None, "normalizer_fn": None} if version.is_normalized_first else {}
    with arg_scope([convolution2d], **plain):
        net = conv2d_same(net, 64, 7, stride=2, scope="conv1")
    return max_pool2d(net, [3, 3], stride=2, scope="pool1")


SIZES: Final = {50: (3, 4, 6, 3), 101: (3, 4, 23, 3), 152: (3, 8, 36, 3), 200: (3, 24, 36, 3)}
"""By the number of layers, how many units the four blocks have."""


def of_size(
    network: Callable[..., Any], bottleneck: Callable[..., Tensor], name: str, layers: int
) -> Callable[..., tuple[Tensor, Any]]:
    """The network of that many layers, as a function."""

    def function(
        inputs: Tensor,
        num_classes: int | None = None,
        is_training: Training = True,
        global_pool: bool = True,
        output_stride: int | None = None,
        reuse: bool | None = None,
        scope: str | VariableScope | None = f"{name}_{layers}",
    ) -> tuple[Tensor, Any]:
        blocks = [
            units(bottleneck, f"block{number}", 32 * 2**number, count, 1 if number == 4 else 2)
            for number, count in enumerate(SIZES[layers], start=1)
        ]
        found: tuple[Tensor, Any] = network(
            inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope
        )
        return found

    function.__name__ = function.__qualname__ = f"{name}_{layers}"
    function.__doc__ = f"The residual network of {layers} layers."
    function.default_image_size = 224  # type: ignore[attr-defined]
    return function
