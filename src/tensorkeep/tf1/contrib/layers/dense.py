"""Fully connected layers, biases, dropout, and layers after one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final, SupportsIndex

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, add_to_collections
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
from tensorkeep.tf1.contrib.layers.initializers import xavier_initializer
from tensorkeep.tf1.contrib.layers.model_layers import KERNEL_AND_BIAS, collect_variables, finish_outputs, model_scope
from tensorkeep.tf1.functions.arrays.shapes import reshape, unstack
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.shapes import stack as stack_tensors
from tensorkeep.tf1.functions.linear_algebra.matrices import matmul
from tensorkeep.tf1.functions.nn.activations import bias_add as nn_bias_add
from tensorkeep.tf1.functions.nn.activations import elu as nn_elu
from tensorkeep.tf1.functions.nn.activations import relu as nn_relu
from tensorkeep.tf1.functions.nn.activations import relu6 as nn_relu6
from tensorkeep.tf1.layers.arguments import Function, Training
from tensorkeep.tf1.layers.core import Dense, Dropout
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.options import CollectionNames, InitializerLike
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope

_WEIGHTS: Final = {"kernel": "weights", "bias": "biases"}


@add_arg_scope
def fully_connected(
    inputs: TensorLike,
    num_outputs: int,
    activation_fn: Function | None = nn_relu,
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
    """Outputs that each are a weighted sum of the last dimension of the inputs, with biases unless normalized."""
    if not isinstance(num_outputs, SupportsIndex):
        raise InvalidArgumentError(f"num_outputs type should be one of [int], got {type(num_outputs)}.")
    with model_scope(scope, "fully_connected", inputs, reuse, KERNEL_AND_BIAS) as opened:
        found = convert(inputs)
        layer = Dense(
            units=int(num_outputs),
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


elu = partial(fully_connected, activation_fn=nn_elu)
linear = partial(fully_connected, activation_fn=None)
relu = partial(fully_connected, activation_fn=nn_relu)
relu6 = partial(fully_connected, activation_fn=nn_relu6)


def legacy_fully_connected(
    x: TensorLike,
    num_output_units: int,
    activation_fn: Function | None = None,
    weight_init: InitializerLike = xavier_initializer(),
    bias_init: InitializerLike = Zeros(),
    name: str | None = None,
    weight_collections: Sequence[str] = (GraphKeys.WEIGHTS,),
    bias_collections: Sequence[str] = (GraphKeys.BIASES,),
    output_collections: Sequence[str] = (GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Function | None = None,
    bias_regularizer: Function | None = None,
) -> Tensor:
    """The fully connected layer of the first releases: its biases are called "bias"."""
    with variable_scope(name, "fully_connected", [x]):
        found = convert(x)
        depth = last_dimension(found.get_shape(), min_rank=2)
        options: dict[str, Any] = {"dtype": found.dtype.base_dtype, "trainable": trainable}

        def weight(name: str, shape: list[int], initializer: Any, collections: Any, regularizer: Any) -> Any:
            into = [*dict.fromkeys([*(collections or ()), GraphKeys.GLOBAL_VARIABLES])]
            return get_variable(
                name, shape, initializer=initializer, collections=into, regularizer=regularizer, **options
            )

        weights = weight("weights", [depth, num_output_units], weight_init, weight_collections, weight_regularizer)
        is_matrix = found.get_shape().rank == 2
        outputs = matmul(found if is_matrix else reshape(found, [-1, depth]), weights)
        if bias_init is not None:
            outputs = nn_bias_add(
                outputs, weight("bias", [num_output_units], bias_init, bias_collections, bias_regularizer)
            )
        if not is_matrix:
            outputs = reshape(outputs, stack_tensors([*unstack(shape_of(found))[:-1], num_output_units]))
            outputs.set_shape([*found.get_shape().as_list()[:-1], num_output_units])
        if activation_fn is not None:
            outputs = activation_fn(outputs)
        into = [*(output_collections or ()), GraphKeys.ACTIVATIONS]
        add_to_collections(current_graph(), into, outputs)
        return outputs


legacy_linear = partial(legacy_fully_connected, activation_fn=None)
legacy_relu = partial(legacy_fully_connected, activation_fn=nn_relu)


@add_arg_scope
def bias_add(
    inputs: TensorLike,
    activation_fn: Function | None = None,
    initializer: InitializerLike = Zeros(),
    regularizer: Function | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: str | VariableScope | None = None,
) -> Tensor:
    """The inputs with a bias for each channel."""
    place = data_format_name(data_format, ("NCHW", "NHWC"))
    with variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as opened:
        found = convert(inputs)
        rank = found.get_shape().rank
        if rank is None:
            raise InvalidArgumentError("Dims of shape must be known but is None")
        if rank != 4 and data_format == "NCHW":
            raise InvalidArgumentError(f"Data format NCHW only supports 4D Tensor, not {rank}D")
        biases = model_variable(
            "biases",
            shape=[channel_dimension(found.get_shape(), place)],
            dtype=found.dtype.base_dtype,
            initializer=initializer,
            regularizer=regularizer,
            collections=get_variable_collections(variables_collections, "biases"),
            trainable=trainable,
        )
        outputs = nn_bias_add(found, biases, data_format=data_format)
        return finish_outputs(outputs, opened.name, outputs_collections, activation_fn)


@add_arg_scope
def dropout(
    inputs: TensorLike,
    keep_prob: Tensor | float = 0.5,
    noise_shape: Sequence[int | None] | None = None,
    is_training: Training = True,
    outputs_collections: CollectionNames | None = None,
    scope: str | VariableScope | None = None,
    seed: int | None = None,
) -> Tensor:
    """The inputs, of which in training only a part is kept, made larger; the rest is zero."""
    with model_scope(scope, "Dropout", inputs, None) as opened:
        layer = Dropout(rate=1 - keep_prob, noise_shape=noise_shape, seed=seed, name=opened.name, _scope=opened)
        outputs = layer(convert(inputs), training=is_training)
        return collect_named_outputs(outputs_collections, opened.name, outputs)


def repeat(inputs: TensorLike, repetitions: int, layer: Function, *args: object, **kwargs: object) -> Tensor:
    """A layer applied again and again, each time with its own variables, in scopes that are numbered."""
    return _one_after_another(inputs, layer, [args] * repetitions, kwargs, "Repeat")


def stack(inputs: TensorLike, layer: Function, stack_args: Sequence[Any], **kwargs: object) -> Tensor:
    """A layer applied again and again, each time with its own variables and with other arguments."""
    if not isinstance(stack_args, list | tuple):
        raise InvalidArgumentError("stack_args need to be a list or tuple")
    each = [item if isinstance(item, list | tuple) else [item] for item in stack_args]
    return _one_after_another(inputs, layer, each, kwargs, "Stack")


def _one_after_another(inputs: Any, layer: Any, each: Sequence[Any], kwargs: dict[str, Any], default: str) -> Tensor:
    scope = kwargs.pop("scope", None)
    with variable_scope(scope, default, [inputs]):
        outputs = convert(inputs)
        name = scope or getattr(getattr(layer, "func", layer), "__name__", default.lower())
        for number, args in enumerate(each, start=1):
            outputs = layer(outputs, *args, **{**kwargs, "scope": f"{name}_{number}"})
        return outputs
