"""What layers are made of, under the names of `tf.nn`: biases, activations, softmax, dropout, ranking."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import AxisLike, DTypeLike, ShapeLike, TensorLike, emit, emit_tensors
from tensorkeep.graph.building import control_dependencies, name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.ops.nn import activations
from tensorkeep.ops.nn import softmax as softmax_ops
from tensorkeep.ops.numbers import ranking
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    either,
    identity,
    rank,
    scope_of,
    shape,
    size,
    transpose,
    where,
    where_v2,
    zeros,
)
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.gradients.derivatives import custom_gradient
from tensorkeep.tf1.functions.numbers.elementwise import (
    cast,
    erf,
    less,
    maximum,
    multiply,
    not_equal,
    realdiv,
    sigmoid,
    square,
    subtract,
    tanh,
)
from tensorkeep.tf1.functions.numbers.elementwise import pow as power
from tensorkeep.tf1.functions.numbers.elementwise import range as number_range
from tensorkeep.tf1.functions.numbers.reductions import reduce_sum
from tensorkeep.tf1.functions.random.numbers import get_seed, random_uniform

# ---------------------------------------------------------------------------------------------------- Biases


def bias_add(value: TensorLike, bias: TensorLike, data_format: str | None = None, name: str | None = None) -> Tensor:
    """The sum of a tensor and a vector, one element of it for each channel."""
    with scope_of(name, "BiasAdd", value, bias) as scope:
        if data_format is not None:
            if data_format.startswith("NC"):
                data_format = "NCHW"
            elif data_format.startswith("N") and data_format.endswith("C"):
                data_format = "NHWC"
            else:
                raise InvalidArgumentError(
                    f"`data_format` must be of the form `N...C` or `NC...`. Received: data_format={data_format}"
                )
        value = convert(value, name="input")
        bias = convert(bias, value.dtype.base_dtype, "bias")
        return emit(activations.bias_add, value, bias, data_format=data_format, name=scope)


def xw_plus_b(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Tensor:
    """`x @ weights + biases`."""
    with scope_of(name, "xw_plus_b", x, weights, biases) as scope:
        x, weights, biases = convert(x, name="x"), convert(weights, name="weights"), convert(biases, name="biases")
        return bias_add(emit("MatMul", x, weights), biases, name=scope)


def relu_layer(x: TensorLike, weights: TensorLike, biases: TensorLike, name: str | None = None) -> Tensor:
    """`relu(x @ weights + biases)`."""
    with scope_of(name, "relu_layer", x, weights, biases) as scope:
        x, weights, biases = convert(x, name="x"), convert(weights, name="weights"), convert(biases, name="biases")
        return relu(bias_add(emit("MatMul", x, weights), biases), name=scope)


# ---------------------------------------------------------------------------------------------------- Activations


def relu(features: TensorLike, name: str | None = None) -> Tensor:
    """`max(features, 0)`."""
    return emit(activations.relu, features, name=name)


def relu6(features: TensorLike, name: str | None = None) -> Tensor:
    """`min(max(features, 0), 6)`."""
    with scope_of(name, "Relu6", features) as scope:
        return emit(activations.relu6, convert(features, name="features"), name=scope)


def leaky_relu(features: TensorLike, alpha: Tensor | float = 0.2, name: str | None = None) -> Tensor:
    """The features, those below zero times `alpha`. TensorFlow before 1.12 takes tensors below one for it too."""
    with scope_of(name, "LeakyRelu", features) as scope:
        features = convert(features, name="features")
        if features.dtype.is_integer:
            features = cast(features, FLOAT32)
        if isinstance(alpha, Real | np.ndarray):
            return emit(activations.leaky_relu, features, alpha=float(alpha), name=scope)
        return maximum(convert(alpha, features.dtype, "alpha") * features, features, name=scope)


def crelu(features: TensorLike, name: str | None = None, axis: int = -1) -> Tensor:
    """The positive and the negative parts of the features, side by side."""
    with scope_of(name, "CRelu", features) as scope:
        features = convert(features, name="features")
        return relu(concat([features, -features], axis, name=scope))


def elu(features: TensorLike, name: str | None = None) -> Tensor:
    """The features, those below zero as `exp(x) - 1`."""
    return emit(activations.elu, features, name=name)


def gelu(features: TensorLike, approximate: bool = False, name: str | None = None) -> Tensor:
    """`features` times the probability that a normal number is less than it; exact, or by a hyperbolic tangent."""
    with scope_of(name, "Gelu", features):
        features = convert(features, name="features")
        if not features.dtype.is_floating:
            raise InvalidArgumentError(f"`features.dtype` must be a floating point tensor. Received: {features.dtype}")
        if not approximate:
            return 0.5 * features * (1.0 + erf(features / cast(math.sqrt(2), features.dtype)))
        cubed = cast(0.044715, features.dtype) * power(features, 3)
        return 0.5 * features * (1.0 + tanh(math.sqrt(2 / math.pi) * (features + cubed)))


def selu(features: TensorLike, name: str | None = None) -> Tensor:
    """Scaled `elu`, which keeps means and variances."""
    return emit(activations.selu, features, name=name)


def softplus(features: TensorLike, name: str | None = None) -> Tensor:
    """`log(exp(features) + 1)`."""
    return emit(activations.softplus, features, name=name)


def softsign(features: TensorLike, name: str | None = None) -> Tensor:
    """`features / (abs(features) + 1)`."""
    return emit(activations.softsign, features, name=name)


def swish(features: TensorLike, beta: TensorLike = 1.0) -> Tensor:
    """`features * sigmoid(beta * features)`, with a gradient that needs the features only."""
    features = convert(features, name="features")
    beta = cast(convert(beta, name="beta"), features.dtype)
    found: Tensor = _swish(features, beta)
    return found


silu = swish


@custom_gradient
def _swish(features: Any, beta: Any) -> tuple[Any, Callable[..., Any]]:
    def gradient(dy: Any) -> Any:
        with control_dependencies([dy]):
            gate = sigmoid(beta * features)
        slope = gate * (1.0 + (beta * features) * (1.0 - gate))
        beta_gradient = reduce_sum(dy * square(features) * gate * (1.0 - gate))
        return dy * slope, beta_gradient

    return features * sigmoid(beta * features), gradient


# ---------------------------------------------------------------------------------------------------- Softmax


def softmax(logits: TensorLike, axis: AxisLike = None, name: str | None = None, dim: AxisLike = None) -> Tensor:
    """The exponentials of the logits, along an axis made to sum to 1."""
    return _along(logits, softmax_ops.softmax, either("axis", axis, "dim", dim), name)


def log_softmax(logits: TensorLike, axis: AxisLike = None, name: str | None = None, dim: AxisLike = None) -> Tensor:
    """The logarithm of `softmax`."""
    return _along(logits, softmax_ops.log_softmax, either("axis", axis, "dim", dim), name)


def _along(inputs: Any, compute: Callable[..., Any], axis: Any, name: str | None) -> Tensor:
    """Computes along an axis what an op computes along the last one, by exchanging the two."""
    inputs = convert(inputs)
    known = inputs.static_shape
    axis = -1 if axis is None else axis
    if not isinstance(axis, Tensor) and (axis == -1 or (known.rank is not None and axis == known.rank - 1)):
        last: Tensor = compute(inputs, name=name)
        return last
    if known.rank is None:
        raise InvalidArgumentError("the rank of the input must be known for an axis other than the last")
    value = constant_value(axis) if isinstance(axis, Tensor) else axis
    if value is not None and not -known.rank <= value < known.rank:
        raise InvalidArgumentError(
            f"`dim` must be in the range [{-known.rank}, {known.rank}) where {known.rank} is the number of dimensions "
            f"in the input. Received: dim={value}"
        )
    dimensions = rank(inputs)
    if isinstance(axis, Tensor):
        axis = where(less(axis, 0), axis + dimensions, axis)
    elif axis < 0:
        axis = axis + dimensions
    count = rank(inputs)
    axis = axis % known.rank
    swapped = _swap_axis_with_last(inputs, axis, subtract(count, 1))
    computed = compute(swapped)
    result = _swap_axis_with_last(computed, axis, subtract(count, 1), name)
    result.set_shape(known)
    return result


def _swap_axis_with_last(x: Tensor, axis: Any, last: Tensor, name: str | None = None) -> Tensor:
    order = concat([number_range(axis), [last], number_range(axis + 1, last), [axis]], 0)
    return transpose(x, order, name=name)


# ---------------------------------------------------------------------------------------------------- Dropout


def dropout(
    x: TensorLike,
    keep_prob: Tensor | float | None = None,
    noise_shape: ShapeLike = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Tensor | float | None = None,
) -> Tensor:
    """The tensor with elements set to zero at random, and the others scaled up to keep the sum."""
    try:
        dropped = None if keep_prob is None else 1.0 - keep_prob
    except TypeError:
        raise InvalidArgumentError(
            f"`keep_prob` must be a floating point number or Tensor. Received: keep_prob={keep_prob}"
        ) from None
    rate = either("rate", rate, "keep_prob", dropped)
    if rate is None:
        raise InvalidArgumentError(f"`rate` must be provided. Received: rate={rate}")
    is_number = isinstance(rate, Real)
    with scope_of(name, "dropout", x):
        if isinstance(rate, Real) and not 0 <= rate < 1:
            raise InvalidArgumentError(
                f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}"
            )
        x = convert(x, name="x")
        if not x.dtype.is_floating:
            raise InvalidArgumentError(
                f"`x.dtype` must be a floating point tensor as `x` will be scaled. Received: x_dtype={x.dtype}"
            )
        if is_number and rate == 0:
            get_seed(seed)  # so that later operations draw the same numbers as with another rate
            return x
        return _drop_elements(x, rate, noise_shape, seed, is_number)


def _drop_elements(x: Tensor, rate: Any, noise_shape: Any, seed: int | None, is_number: bool) -> Tensor:
    dtype = x.dtype.base_dtype
    if is_number:
        scaled = multiply(x, convert(1 / (1 - rate), dtype))
    elif isinstance(rate, Tensor):
        if rate.static_shape.rank not in (None, 0):
            raise InvalidArgumentError(f"Shape {rate.shape} must have rank 0")
        if rate.dtype.base_dtype is not dtype:
            raise InvalidArgumentError(
                f"`x.dtype` must be compatible with `rate.dtype`. Received: x.dtype={dtype} and rate.dtype={rate.dtype}"
            )
        scaled = realdiv(x, subtract(constant(1, dtype), rate))
    else:
        raise InvalidArgumentError(f"`rate` must be a scalar or scalar tensor. Received: rate={rate}")
    noise = random_uniform(_noise_shape(x, noise_shape), dtype=dtype, seed=seed)
    kept = noise >= rate
    result = where_v2(kept, scaled, constant(0, dtype))
    result.set_shape(x.static_shape)
    return result


def _noise_shape(x: Tensor, told: Any) -> Any:
    """The shape of the decisions: as told, with what is not known of it taken from the tensor."""
    if told is None:
        return shape(x)
    if isinstance(told, Tensor):
        return told
    try:
        wanted = plain_shape(told)
    except (TypeError, ValueError):
        return told
    known = x.static_shape
    if known.dims is None or wanted.dims is None or len(known.dims) != len(wanted.dims):
        return told
    return Shape(tuple(mine if size is None else size for size, mine in zip(wanted.dims, known.dims, strict=True)))


# ---------------------------------------------------------------------------------------------------- Ranking


class TopKV2(NamedTuple):
    """The largest elements of each row, and where they are."""

    values: Tensor
    indices: Tensor


def top_k(
    input: TensorLike, k: TensorLike = 1, sorted: bool = True, index_type: DTypeLike = INT32, name: str | None = None
) -> TopKV2:
    """The `k` largest elements of each row, and where they are."""
    return TopKV2(*emit_tensors(ranking.top_k_v2, input, k, sorted=sorted, index_type=DType.of(index_type), name=name))


def in_top_k(predictions: TensorLike, targets: TensorLike, k: TensorLike, name: str | None = None) -> Tensor:
    """Whether the target of each row is among its `k` largest predictions."""
    with scope_of(name, "in_top_k", predictions, targets):
        return emit(ranking.in_top_k_v2, predictions, targets, k, name=name)


def zero_fraction(value: TensorLike, name: str | None = None) -> Tensor:
    """The fraction of elements that are zero."""
    with scope_of(name, "zero_fraction", value):
        value = convert(value, name="value")
        count = size(value, out_type=INT64)
        nonzero = cond(
            count <= 2**31 - 1,
            true_fn=lambda: cast(_count_nonzero(value, INT32), INT64),
            false_fn=lambda: _count_nonzero(value, INT64),
        )
        with name_scope("counts_to_fraction", value.graph):
            zero = cast(count - nonzero, FLOAT32)
            fraction = zero / cast(count, FLOAT32)
        found: Tensor = identity(fraction, "fraction")
        return found


def _count_nonzero(value: Tensor, dtype: DType) -> Tensor:
    with name_scope("count_nonzero", value.graph):
        zero = zeros([], value.dtype.base_dtype)
        return reduce_sum(cast(not_equal(value, zero), dtype), name="nonzero_count")


__all__ = [
    "bias_add",
    "crelu",
    "dropout",
    "elu",
    "gelu",
    "in_top_k",
    "leaky_relu",
    "log_softmax",
    "relu",
    "relu6",
    "relu_layer",
    "selu",
    "silu",
    "softmax",
    "softplus",
    "softsign",
    "swish",
    "top_k",
    "xw_plus_b",
    "zero_fraction",
]
