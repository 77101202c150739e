"""Layers without variables: flattening, one-hot encodings, sequences of images, maxima of channels."""

from __future__ import annotations

from typing import Any

from tensorkeep.dtypes import FLOAT32, INT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import add_arg_scope
from tensorkeep.tf1.contrib.framework.variables import model_variable
from tensorkeep.tf1.contrib.layers.collecting import (
    VariableCollections,
    channel_dimension,
    collect_named_outputs,
    data_format_name,
    get_variable_collections,
    last_dimension,
)
from tensorkeep.tf1.functions.arrays.shapes import concat, identity, meshgrid, one_hot, reshape, transpose
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.gradients.derivatives import custom_gradient
from tensorkeep.tf1.functions.nn.activations import softmax as nn_softmax
from tensorkeep.tf1.functions.numbers.elementwise import cast, lin_space
from tensorkeep.tf1.functions.numbers.reductions import reduce_max, reduce_sum
from tensorkeep.tf1.layers.core import flatten as flatten_layer
from tensorkeep.tf1.variables.initializers import Constant, Ones
from tensorkeep.tf1.variables.options import CollectionNames
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope


@add_arg_scope
def flatten(inputs: TensorLike, outputs_collections: CollectionNames | None = None, scope: str | None = None) -> Tensor:
    """One row for each example."""
    with name_scope(scope or "Flatten") as opened:
        outputs = flatten_layer(convert(inputs))
        return collect_named_outputs(outputs_collections, opened, outputs)


@add_arg_scope
def one_hot_encoding(
    labels: TensorLike,
    num_classes: int,
    on_value: float = 1.0,
    off_value: float = 0.0,
    outputs_collections: CollectionNames | None = None,
    scope: str | None = None,
) -> Tensor:
    """A row for each label, with one value at its place and another at all others."""
    with name_scope(scope or "OneHotEncoding") as opened:
        found = convert(labels)
        if found.dtype is INT32:
            found = cast(found, INT64)
        outputs = one_hot(found, num_classes, on_value=on_value, off_value=off_value)
        return collect_named_outputs(outputs_collections, opened, outputs)


@add_arg_scope
def softmax(logits: Tensor, scope: str | VariableScope | None = None) -> Tensor:
    """Probabilities along the last dimension, of tensors of any rank."""
    with variable_scope(scope, "softmax", [logits]):
        rows = reshape(logits, [-1, last_dimension(logits.get_shape(), min_rank=2)])
        found = reshape(nn_softmax(rows), shape_of(logits))
        found.set_shape(logits.get_shape())
        return found


@add_arg_scope
def maxout(inputs: TensorLike, num_units: int, axis: int = -1, scope: str | VariableScope | None = None) -> Tensor:
    """The largest of each group of channels, of which there are `num_units`."""
    with variable_scope(scope, "MaxOut", [inputs]):
        found = convert(inputs)
        sizes: list[Any] = found.get_shape().as_list()
        if sizes[axis] is None or sizes[axis] % num_units:
            raise InvalidArgumentError(f"number of features({sizes[axis]}) is not a multiple of num_units({num_units})")
        each = sizes[axis] // num_units
        sizes[axis] = num_units
        wanted = [shape_of(found)[number] if size is None else size for number, size in enumerate([*sizes, each])]
        return reduce_max(reshape(found, wanted), -1, keepdims=False)


@add_arg_scope
def images_to_sequence(
    inputs: TensorLike,
    data_format: str = "NHWC",
    outputs_collections: CollectionNames | None = None,
    scope: str | None = None,
) -> Tensor:
    """A sequence of columns for each row of each image: [width, batch * height, channels]."""
    place = data_format_name(data_format, ("NCHW", "NHWC"))
    with name_scope(scope or "ImagesToSequence") as opened:
        found = convert(inputs)
        if place == "channels_first":
            found = transpose(found, [0, 2, 3, 1])
        batch, _, width, depth = found.get_shape().as_list()
        turned = transpose(found, [2, 0, 1, 3])
        height = found.get_shape().as_list()[1]
        rows = -1 if batch is None or height is None else batch * height
        return collect_named_outputs(outputs_collections, opened, reshape(turned, [width, rows, depth]))


@add_arg_scope
def sequence_to_images(
    inputs: TensorLike,
    height: int,
    output_data_format: str = "channels_last",
    outputs_collections: CollectionNames | None = None,
    scope: str | None = None,
) -> Tensor:
    """The images of which `images_to_sequence` made sequences."""
    with name_scope(scope or "SequenceToImages") as opened:
        found = convert(inputs)
        width, rows, depth = found.get_shape().as_list()
        batch = -1 if rows is None else rows // height
        parts = reshape(found, [width, batch, height, depth])
        order = [1, 3, 2, 0] if output_data_format == "channels_first" else [1, 2, 0, 3]
        return collect_named_outputs(outputs_collections, opened, transpose(parts, order))


@add_arg_scope
def spatial_softmax(
    features: Tensor,
    temperature: float | None = None,
    name: str | None = None,
    variables_collections: VariableCollections = None,
    trainable: bool = True,
    data_format: str = "NHWC",
) -> Tensor:
    """For each channel of an image where it is strongest: the mean place, weighted by the softmax over the image."""
    place = data_format_name(data_format, ("NCHW", "NHWC"))
    with variable_scope(name, "spatial_softmax"):
        sizes, channels = shape_of(features), channel_dimension(features.get_shape(), place)
        height, width = (sizes[2], sizes[3]) if place == "channels_first" else (sizes[1], sizes[2])
        with name_scope("spatial_softmax_op"):
            rows, columns = meshgrid(lin_space(-1.0, 1.0, num=height), lin_space(-1.0, 1.0, num=width), indexing="ij")
            rows, columns = reshape(rows, [height * width]), reshape(columns, [height * width])
            collections = get_variable_collections(variables_collections, "temperature") if trainable else None
            warmth = model_variable(
                "temperature",
                shape=(),
                dtype=FLOAT32,
                initializer=Ones() if temperature is None else Constant(temperature),
                collections=collections,
                trainable=trainable,
            )
            if place == "channels_last":
                features = transpose(features, [0, 3, 1, 2])
            attention = nn_softmax(reshape(features, [-1, height * width]) / warmth)
            means = [reduce_sum(axis * attention, [1], keepdims=True) for axis in (rows, columns)]
            points = reshape(concat(means, 1), [-1, channels * 2])
            points.set_shape([None, channels * 2])
            return points


def scale_gradient(inputs: TensorLike, gradient_multiplier: TensorLike) -> Tensor:
    """The inputs, whose gradient is multiplied by a number."""

    @custom_gradient
    def scaled(x: Tensor, factor: Tensor) -> Any:
        return identity(x), lambda dy: [dy * factor, None]

    found: Tensor = scaled(convert(inputs), convert(gradient_multiplier))
    return found
