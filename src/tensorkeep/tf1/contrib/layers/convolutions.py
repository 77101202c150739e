"""Convolutions of one, two and three dimensions, transposed, separable, and in each plane by itself."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import IntegersLike, TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import add_arg_scope
from tensorkeep.tf1.contrib.framework.variables import model_variable
from tensorkeep.tf1.contrib.layers.collecting import (
    VariableCollections,
    channel_dimension,
    data_format_name,
    get_variable_collections,
    last_dimension,
    two_element_tuple,
)
from tensorkeep.tf1.contrib.layers.initializers import xavier_initializer
from tensorkeep.tf1.contrib.layers.model_layers import KERNEL_AND_BIAS, collect_variables, finish_outputs, model_scope
from tensorkeep.tf1.functions.arrays.shapes import tile
from tensorkeep.tf1.functions.nn.activations import bias_add as nn_bias_add
from tensorkeep.tf1.functions.nn.activations import relu
from tensorkeep.tf1.functions.nn.convolution import depthwise_conv2d
from tensorkeep.tf1.layers.arguments import Function
from tensorkeep.tf1.layers.convolutional import Conv1D, Conv2D, Conv3D
from tensorkeep.tf1.layers.separable import SeparableConv2D
from tensorkeep.tf1.layers.transposed import Conv2DTranspose, Conv3DTranspose
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.options import CollectionNames, InitializerLike
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope

_LAYERS: Final[dict[int, tuple[type, tuple[str, str]]]] = {
    3: (Conv1D, ("NCW", "NWC")),
    4: (Conv2D, ("NCHW", "NHWC")),
    5: (Conv3D, ("NCDHW", "NDHWC")),
}
_WEIGHTS: Final = {"kernel": "weights", "bias": "biases"}
_SEPARABLE: Final = {"bias": "biases", "depthwise_kernel": "depthwise_weights", "pointwise_kernel": "pointwise_weights"}
_SEPARABLE_KINDS: Final = {"depthwise_kernel": "weights", "pointwise_kernel": "weights", "bias": "biases"}


@add_arg_scope
def convolution(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: IntegersLike,
    stride: IntegersLike = 1,
    padding: str = "SAME",
    data_format: str | None = None,
    rate: IntegersLike = 1,
    activation_fn: Function | None = relu,
    normalizer_fn: Function | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: InitializerLike = xavier_initializer(),
    weights_regularizer: Function | None = None,
    biases_initializer: InitializerLike = Zeros(),
    biases_regularizer: Function | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
    conv_dims: int | None = None,
) -> Tensor:
    """A convolution of as many dimensions as the inputs have, with biases unless there is a normalizer."""
    with model_scope(scope, "Conv", inputs, reuse, KERNEL_AND_BIAS) as opened:
        found = convert(inputs)
        kind, formats = _layer_for(found, conv_dims)
        layer = kind(
            filters=num_outputs,
            kernel_size=kernel_size,
            strides=stride,
            padding=padding,
            data_format=data_format_name(data_format, formats),
            dilation_rate=rate,
            use_bias=bool(not normalizer_fn and biases_initializer),
            kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer,
            trainable=trainable,
            name=opened.name,
            dtype=found.dtype.base_dtype,
            _scope=opened,
            _reuse=reuse,
        )
        outputs = layer(found)
        collect_variables(layer, _WEIGHTS, variables_collections)
        return finish_outputs(
            outputs, opened.name, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )


def _layer_for(inputs: Tensor, dimensions: int | None) -> Any:
    rank = inputs.static_shape.rank
    if dimensions is not None and rank != dimensions + 2:
        raise InvalidArgumentError(
            f"Convolution expects input with rank {dimensions + 2}, got {'unknown rank' if rank is None else rank}"
        )
    if rank not in _LAYERS:
        raise InvalidArgumentError(f"Convolution not supported for input with rank {rank}; it must be 3, 4 or 5")
    return _LAYERS[rank]


def _of_dimensions(dimensions: int, name: str, about: str) -> Any:
    """The function of convolutions of so many dimensions: as `convolution`, under the name of its own."""
    shown = signature(convolution)
    own = [item for item in shown.parameters.values() if item.name != "conv_dims"]

    def function(*args: Any, **kwargs: Any) -> Any:
        told = shown.replace(parameters=own).bind(*args, **kwargs).arguments
        return convolution(**told, conv_dims=dimensions)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = about
    function.__signature__ = shown.replace(parameters=own)  # type: ignore[attr-defined]
    return add_arg_scope(function)


convolution1d = _of_dimensions(1, "convolution1d", "A convolution of rows.")
convolution2d = _of_dimensions(2, "convolution2d", "A convolution of images.")
convolution3d = _of_dimensions(3, "convolution3d", "A convolution of volumes.")


@add_arg_scope
def convolution2d_in_plane(
    inputs: TensorLike,
    kernel_size: IntegersLike,
    stride: IntegersLike = 1,
    padding: str = "SAME",
    activation_fn: Function | None = relu,
    normalizer_fn: Function | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: InitializerLike = xavier_initializer(),
    weights_regularizer: Function | None = None,
    biases_initializer: InitializerLike = Zeros(),
    biases_regularizer: Function | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """A convolution of each channel by itself, all of them with the same kernel."""
    with variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as opened:
        found = convert(inputs)
        dtype = found.dtype.base_dtype
        channels = last_dimension(found.get_shape(), min_rank=4)
        weights = model_variable(
            "weights",
            shape=[*two_element_tuple(kernel_size), 1, 1],
            dtype=dtype,
            initializer=weights_initializer,
            regularizer=weights_regularizer,
            collections=get_variable_collections(variables_collections, "weights"),
            trainable=trainable,
        )
        steps = [1, *two_element_tuple(stride), 1]
        outputs = depthwise_conv2d(found, tile(weights, [1, 1, channels, 1]), steps, padding)
        if normalizer_fn is None and biases_initializer is not None:
            biases = model_variable(
                "biases",
                shape=[channels],
                dtype=dtype,
                initializer=biases_initializer,
                regularizer=biases_regularizer,
                collections=get_variable_collections(variables_collections, "biases"),
                trainable=trainable,
            )
            outputs = nn_bias_add(outputs, biases)
        return finish_outputs(
            outputs, opened.name, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )


def _transposed_convolution(
    layer_type: type, default: str, formats: tuple[str, str], told: Mapping[str, Any]
) -> Tensor:
    data_format = data_format_name(told["data_format"], formats)
    with model_scope(told["scope"], default, told["inputs"], told["reuse"], KERNEL_AND_BIAS) as opened:
        found = convert(told["inputs"])
        layer = layer_type(
            filters=told["num_outputs"],
            kernel_size=told["kernel_size"],
            strides=told["stride"],
            padding=told["padding"],
            data_format=data_format,
            use_bias=bool(not told["normalizer_fn"] and told["biases_initializer"]),
            kernel_initializer=told["weights_initializer"],
            bias_initializer=told["biases_initializer"],
            kernel_regularizer=told["weights_regularizer"],
            bias_regularizer=told["biases_regularizer"],
            trainable=told["trainable"],
            name=opened.name,
            dtype=found.dtype.base_dtype,
            _scope=opened,
            _reuse=told["reuse"],
        )
        outputs = layer(found)
        collect_variables(layer, _WEIGHTS, told["variables_collections"])
        then = [told[name] for name in ("outputs_collections", "activation_fn", "normalizer_fn", "normalizer_params")]
        result: Tensor = finish_outputs(outputs, opened.name, *then)
        return result


@add_arg_scope
def convolution2d_transpose(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: IntegersLike,
    stride: IntegersLike = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    activation_fn: Function | None = relu,
    normalizer_fn: Function | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: InitializerLike = xavier_initializer(),
    weights_regularizer: Function | None = None,
    biases_initializer: InitializerLike = Zeros(),
    biases_regularizer: Function | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """A transposed convolution of images."""
    return _transposed_convolution(Conv2DTranspose, "Conv2d_transpose", ("NCHW", "NHWC"), locals())


@add_arg_scope
def convolution3d_transpose(
    inputs: TensorLike,
    num_outputs: int,
    kernel_size: IntegersLike,
    stride: IntegersLike = 1,
    padding: str = "SAME",
    data_format: str = "NDHWC",
    activation_fn: Function | None = relu,
    normalizer_fn: Function | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: InitializerLike = xavier_initializer(),
    weights_regularizer: Function | None = None,
    biases_initializer: InitializerLike = Zeros(),
    biases_regularizer: Function | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """A transposed convolution of volumes."""
    return _transposed_convolution(Conv3DTranspose, "Conv3d_transpose", ("NCDHW", "NDHWC"), locals())


@add_arg_scope
def separable_convolution2d(
    inputs: TensorLike,
    num_outputs: int | None,
    kernel_size: IntegersLike,
    depth_multiplier: int = 1,
    stride: IntegersLike = 1,
    padding: str = "SAME",
    data_format: str = "NHWC",
    rate: IntegersLike = 1,
    activation_fn: Function | None = relu,
    normalizer_fn: Function | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: InitializerLike = xavier_initializer(),
    pointwise_initializer: InitializerLike = None,
    weights_regularizer: Function | None = None,
    biases_initializer: InitializerLike = Zeros(),
    biases_regularizer: Function | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """A convolution of each channel, then one across channels; without a number of outputs the first alone."""
    told = dict(locals())
    told["df"] = data_format_name(data_format, ("NCHW", "NHWC"))
    with model_scope(scope, "SeparableConv2d", inputs, reuse, _SEPARABLE) as opened:
        found = convert(inputs)
        outputs = _depthwise(found, told) if num_outputs is None else _separable_convolution(found, opened, told)
        return finish_outputs(
            outputs, opened.name, outputs_collections, activation_fn, normalizer_fn, normalizer_params
        )


def _separable_convolution(inputs: Tensor, opened: VariableScope, told: Mapping[str, Any]) -> Tensor:
    layer = SeparableConv2D(
        filters=told["num_outputs"],
        kernel_size=told["kernel_size"],
        strides=told["stride"],
        padding=told["padding"],
        data_format=told["df"],
        dilation_rate=two_element_tuple(told["rate"]),
        depth_multiplier=told["depth_multiplier"],
        use_bias=bool(not told["normalizer_fn"] and told["biases_initializer"]),
        depthwise_initializer=told["weights_initializer"],
        pointwise_initializer=told["pointwise_initializer"] or told["weights_initializer"],
        bias_initializer=told["biases_initializer"],
        depthwise_regularizer=told["weights_regularizer"],
        pointwise_regularizer=told["weights_regularizer"],
        bias_regularizer=told["biases_regularizer"],
        trainable=told["trainable"],
        name=opened.name,
        dtype=inputs.dtype.base_dtype,
        _scope=opened,
        _reuse=told["reuse"],
    )
    outputs: Tensor = layer(inputs)
    collect_variables(layer, _SEPARABLE_KINDS, told["variables_collections"])
    return outputs


def _depthwise(inputs: Tensor, told: Mapping[str, Any]) -> Tensor:
    multiplier, letters = told["depth_multiplier"], told["data_format"]
    channels = channel_dimension(inputs.get_shape(), told["df"], min_rank=4)
    common = {"dtype": inputs.dtype.base_dtype, "trainable": told["trainable"]}
    weights = model_variable(
        "depthwise_weights",
        shape=[*two_element_tuple(told["kernel_size"]), channels, multiplier],
        initializer=told["weights_initializer"],
        regularizer=told["weights_regularizer"],
        collections=get_variable_collections(told["variables_collections"], "weights"),
        **common,
    )
    steps = two_element_tuple(told["stride"])
    strides = [1, 1, *steps] if letters == "NCHW" else [1, *steps, 1]
    rate = two_element_tuple(told["rate"])
    outputs = depthwise_conv2d(inputs, weights, strides, told["padding"], rate=rate, data_format=letters)
    if told["normalizer_fn"] is not None or told["biases_initializer"] is None:
        return outputs
    biases = model_variable(
        "biases",
        shape=[multiplier * channels],
        initializer=told["biases_initializer"],
        regularizer=told["biases_regularizer"],
        collections=get_variable_collections(told["variables_collections"], "biases"),
        **common,
    )
    return nn_bias_add(outputs, biases, data_format=letters)
