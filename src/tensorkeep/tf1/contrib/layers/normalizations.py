"""Normalization within an example: of layers, instances and groups; and of lengths."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorkeep.dtypes import FLOAT16, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import AxisLike, TensorLike
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.contrib.framework.arg_scopes import add_arg_scope
from tensorkeep.tf1.contrib.framework.variables import model_variable
from tensorkeep.tf1.contrib.layers.collecting import (
    VariableCollections,
    channel_dimension,
    data_format_name,
    get_variable_collections,
)
from tensorkeep.tf1.contrib.layers.model_layers import finish_outputs
from tensorkeep.tf1.functions.arrays.shapes import reshape
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.nn.normalization import (
    batch_normalization,
    moments,
    normalize_moments,
    sufficient_statistics,
)
from tensorkeep.tf1.functions.numbers.elementwise import div, minimum, multiply, rsqrt, sqrt, square
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.layers.arguments import Function
from tensorkeep.tf1.variables.initializers import Ones, Zeros
from tensorkeep.tf1.variables.options import CollectionNames
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope


def _scale_and_offset(
    told: Mapping[str, Any], shape: Any, dtype: DType, initializers: Mapping[str, Any]
) -> tuple[Any, Any]:
    """The variables gamma and beta, or None where one is not wanted."""
    made: dict[str, Any] = {"beta": None, "gamma": None}
    for kind, wanted, begin in (("beta", told["center"], Zeros()), ("gamma", told["scale"], Ones())):
        if wanted:
            made[kind] = model_variable(
                kind,
                shape=shape,
                dtype=dtype,
                initializer=initializers.get(kind, begin),
                collections=get_variable_collections(told["variables_collections"], kind),
                trainable=told["trainable"],
            )
    return made["gamma"], made["beta"]


def _whole(value: Any, shape: Sequence[int]) -> Any:
    return None if value is None else reshape(value, shape)


@add_arg_scope
def layer_norm(
    inputs: TensorLike,
    center: bool = True,
    scale: bool = True,
    activation_fn: Function | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    begin_norm_axis: int = 1,
    begin_params_axis: int = -1,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """The inputs normalized by the mean and variance of each example, over the axes from `begin_norm_axis` on."""
    told = dict(locals())
    with variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as opened:
        found = convert(inputs)
        shape = found.get_shape()
        rank = shape.rank
        if rank is None:
            raise InvalidArgumentError(f"Inputs {found.name} has undefined rank.")
        begin = begin_norm_axis + rank if begin_norm_axis < 0 else begin_norm_axis
        if begin_params_axis >= rank or begin >= rank:
            raise InvalidArgumentError(
                f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin}) must be < rank(inputs) ({rank})"
            )
        sizes = shape[begin_params_axis:]
        if not sizes.is_fully_defined():
            raise InvalidArgumentError(
                f"Inputs {found.name}: shape(inputs)[{begin_params_axis}:] is not fully defined: {shape}"
            )
        gamma, beta = _scale_and_offset(told, sizes, found.dtype.base_dtype, {})
        mean, variance = moments(found, list(range(begin, rank)), keep_dims=True)
        # TensorFlow adds less than float32 can tell from a variance of one; half precision needs more.
        epsilon = 1e-3 if found.dtype.base_dtype is FLOAT16 else 1e-12
        outputs = batch_normalization(found, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(shape)
        return finish_outputs(outputs, opened.name, outputs_collections, activation_fn)


@add_arg_scope
def instance_norm(
    inputs: TensorLike,
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Function | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    data_format: str = "NHWC",
    scope: str | VariableScope | None = None,
) -> Tensor:
    """The inputs normalized by the mean and variance of each channel of each example."""
    told = dict(locals())
    place = data_format_name(data_format, ("NCHW", "NHWC"))
    with variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as opened:
        found = convert(inputs)
        shape = found.get_shape()
        rank = shape.rank
        if rank is None:
            raise InvalidArgumentError(f"Inputs {found.name} has undefined rank.")
        channels = channel_dimension(shape, place)
        axis = 1 if place == "channels_first" else rank - 1
        axes = [number for number in range(1, rank) if number != axis]
        broadcast = [channels if number == axis else 1 for number in range(rank)]
        gamma, beta = _scale_and_offset(told, shape[axis : axis + 1], found.dtype.base_dtype, param_initializers or {})
        if place == "channels_first":
            gamma, beta = _whole(gamma, broadcast), _whole(beta, broadcast)
        mean, variance = moments(found, axes, keep_dims=True)
        outputs = batch_normalization(found, mean, variance, beta, gamma, epsilon, name="instancenorm")
        outputs.set_shape(shape)
        return finish_outputs(outputs, opened.name, outputs_collections, activation_fn)


@add_arg_scope
def group_norm(
    inputs: TensorLike,
    groups: int = 32,
    channels_axis: int = -1,
    reduction_axes: Sequence[int] = (-3, -2),
    center: bool = True,
    scale: bool = True,
    epsilon: float = 1e-6,
    activation_fn: Function | None = None,
    param_initializers: Mapping[str, Any] | None = None,
    reuse: bool | None = None,
    variables_collections: VariableCollections = None,
    outputs_collections: CollectionNames | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
    mean_close_to_zero: bool = False,
) -> Tensor:
    """The inputs normalized by the mean and variance of each group of channels of each example."""
    told = dict(locals())
    with variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as opened:
        found = convert(inputs)
        axis, axes, channels = _group_axes(found, groups, channels_axis, reduction_axes)
        sizes = found.get_shape().as_list()
        dynamic = shape_of(found)
        whole: list[Any] = [dynamic[number] if size is None else size for number, size in enumerate(sizes)]
        grouped = reshape(found, [*whole[:axis], groups, channels // groups, *whole[axis + 1 :]])
        # The axis of the channels has become two, so that the axes behind it are one further.
        reduced = [number + 1 if number > axis else number for number in axes] + [axis + 1]
        gamma, beta = _scale_and_offset(told, [channels], found.dtype.base_dtype, param_initializers or {})
        broadcast = [1] * (len(sizes) + 1)
        broadcast[axis], broadcast[axis + 1] = groups, channels // groups
        mean, variance = _group_moments(grouped, sorted(reduced), mean_close_to_zero)
        gain = rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain, offset = gain * _whole(gamma, broadcast), offset * _whole(gamma, broadcast)
        if beta is not None:
            offset = offset + _whole(beta, broadcast)
        outputs = reshape(grouped * gain + offset, whole)
        outputs.set_shape(found.get_shape())
        return finish_outputs(outputs, opened.name, outputs_collections, activation_fn)


def _group_axes(inputs: Tensor, groups: int, axis: int, reduced: Sequence[int]) -> tuple[int, list[int], int]:
    rank = inputs.static_shape.rank
    if rank is None:
        raise InvalidArgumentError(f"Inputs {inputs.name} has undefined rank.")
    if not -rank <= axis < rank or any(not -rank <= number < rank for number in reduced):
        raise InvalidArgumentError(f"axis {axis} and axes {list(reduced)} must be of inputs with rank {rank}")
    place, axes = axis % rank, [number % rank for number in reduced]
    if place in axes:
        raise InvalidArgumentError(f"reduction_axes must be mutually exclusive with channels_axis: {axes}, {place}")
    channels = inputs.get_shape()[place].value
    if channels is None:
        raise InvalidArgumentError(f"Inputs {inputs.name} has undefined channel dimension: {inputs.get_shape()}.")
    if groups > channels or channels % groups:
        raise InvalidArgumentError(f"{channels} channels cannot be divided into {groups} groups of equal size.")
    return place, axes, channels


def _group_moments(inputs: Tensor, axes: list[int], mean_close_to_zero: bool) -> tuple[Tensor, Tensor]:
    if not mean_close_to_zero:
        return moments(inputs, axes, keep_dims=True)
    statistics = sufficient_statistics(inputs, axes, keep_dims=True)
    return normalize_moments(*statistics[:3], shift=statistics[3])


@add_arg_scope
def unit_norm(inputs: TensorLike, dim: int, epsilon: float = 1e-7, scope: str | VariableScope | None = None) -> Tensor:
    """The inputs as vectors of length one along a dimension."""
    with variable_scope(scope, "UnitNorm", [inputs]):
        inputs = inputs if isinstance(inputs, Tensor) else convert(inputs, name="inputs")
        rank = inputs.static_shape.rank
        if rank is None:
            raise InvalidArgumentError("The input rank must be known.")
        if not 0 <= dim < rank:
            raise InvalidArgumentError(f"dim must be positive but smaller than the input rank {rank}: {dim}")
        lengths = sqrt(epsilon + reduce_sum(square(inputs), dim, True))
        return div(inputs, lengths)


def poincare_normalize(x: TensorLike, axis: AxisLike = 1, epsilon: float = 1e-5, name: str | None = None) -> Tensor:
    """Vectors that are cut to lengths below one."""
    with name_scope(name or "poincare_normalize") as scope:
        found = convert(x, name="x")
        inverse = rsqrt(reduce_sum(square(found), axis, keepdims=True))
        return multiply(found, minimum((1.0 - epsilon) * inverse, 1.0), name=scope)
