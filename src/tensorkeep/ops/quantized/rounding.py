"""Numbers as quantisation would leave them: QuantizeAndDequantize, FakeQuant, Quantize, Dequantize."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit, emit_tensors
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.shared.dimensions import at_least, merge_sizes, normalized_axis, size_at
from tensorkeep.ops.shared.kernel_types import Array, Gradients, Value
from tensorkeep.ops.shared.shape_rules import SCALAR, merged_shape, same, with_rank
from tensorkeep.shapes import Shape

# ---------------------------------------------------------------------------------------------------- FakeQuant

_FAKE: Final = ("num_bits: int = 8", "narrow_range: bool = false")
_ARGS: Final = ("min: float = -6.0", "max: float = 6.0", *_FAKE)

fake_quant_with_min_max_args = op("FakeQuantWithMinMaxArgs(inputs: float) -> outputs: float", *_ARGS)
fake_quant_with_min_max_args.shape(same)


def _nudged_range(low: Any, high: Any, num_bits: int, narrow_range: bool) -> tuple[Any, Any, Any, Any]:
    """The range moved so that zero is one of its steps: its ends, the step, and the steps per unit."""
    if not 2 <= num_bits <= 16:
        raise InvalidArgumentError(f"num_bits must be between 2 and 16, inclusive, got {num_bits}")
    first, last = np.float32(int(narrow_range)), np.float32((1 << num_bits) - 1)
    scale = (high - low) / (last - first)
    inverse = (last - first) / (high - low)
    zero = first - low / scale
    zero = np.where(zero < first, first, np.where(zero > last, last, np.floor(zero + np.float32(0.5))))
    zero = zero.astype(np.float32)
    return (first - zero) * scale, (last - zero) * scale, scale, inverse


def _check_range(low: Any, high: Any) -> None:
    if np.any(np.asarray(low) > 0) or np.any(np.asarray(high) < 0) or np.any(np.asarray(low) >= np.asarray(high)):
        raise InvalidArgumentError(f"min has to be smaller than max, and zero between them, was: {low} and {high}")


_HALF: Final = np.float32(0.5)


@fake_quant_with_min_max_args.kernel
def fake_quant_with_min_max_args_kernel(
    inputs: Array, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> Array:
    if min >= max:
        raise InvalidArgumentError(f"min has to be smaller than max, was: {min} >= {max}")
    low, high, scale, inverse = _nudged_range(np.float32(min), np.float32(max), num_bits, narrow_range)
    zero = np.floor(-low * inverse + _HALF)
    clamped = np.maximum(np.minimum(inputs, high), low) - low
    result: Array = np.floor(clamped * inverse - zero + _HALF) * scale
    return result


@fake_quant_with_min_max_args.gradient
def fake_quant_with_min_max_args_gradient_rule(op: Operation, dy: Tensor) -> Gradients:
    attrs = {name: op.attr(name) for name in ("min", "max", "num_bits", "narrow_range")}
    return emit("FakeQuantWithMinMaxArgsGradient", dy, op.inputs[0], **attrs)


fake_quant_with_min_max_args_gradient = op(
    "FakeQuantWithMinMaxArgsGradient(gradients: float, inputs: float) -> backprops: float", *_ARGS
)
fake_quant_with_min_max_args_gradient.shape(merged_shape)
not_differentiable(fake_quant_with_min_max_args_gradient)


@fake_quant_with_min_max_args_gradient.kernel
def fake_quant_with_min_max_args_gradient_kernel(
    gradients: Array, inputs: Array, *, min: float, max: float, num_bits: int, narrow_range: bool
) -> Array:
    if np.shape(gradients) != np.shape(inputs):
        raise InvalidArgumentError("gradient and input must be the same size")
    low, high, _, _ = _nudged_range(np.float32(min), np.float32(max), num_bits, narrow_range)
    result: Array = gradients * ((inputs >= low) & (inputs <= high)).astype(np.float32)
    return result


fake_quant_with_min_max_vars = op(
    "FakeQuantWithMinMaxVars(inputs: float, min: float, max: float) -> outputs: float", *_FAKE
)


@fake_quant_with_min_max_vars.shape
def fake_quant_with_min_max_vars_shape(inputs: Tensor, min: Tensor, max: Tensor) -> Shape:
    with_rank(min, 0)
    with_rank(max, 0)
    return inputs.static_shape


@fake_quant_with_min_max_vars.kernel
def fake_quant_with_min_max_vars_kernel(
    inputs: Array, min: Array, max: Array, *, num_bits: int, narrow_range: bool
) -> Array:
    if np.ndim(min) or np.ndim(max):
        raise InvalidArgumentError("min and max must be scalars")
    if min == 0 and max == 0:
        return np.zeros(np.shape(inputs), np.float32)
    low, high, scale, inverse = _nudged_range(min, max, num_bits, narrow_range)
    zero = np.floor(-low * inverse + _HALF)
    clamped = np.maximum(np.minimum(inputs, high), low) - low
    result: Array = np.floor(clamped / scale - zero + _HALF) * scale
    return result


_VARS: Final = (
    "gradients: float, inputs: float, min: float, max: float) -> backprops_wrt_input: float, backprop_wrt_min: float, "
    "backprop_wrt_max: float"
)
fake_quant_with_min_max_vars_gradient = op(f"FakeQuantWithMinMaxVarsGradient({_VARS}", *_FAKE)
not_differentiable(fake_quant_with_min_max_vars_gradient)


@fake_quant_with_min_max_vars_gradient.shape
def fake_quant_with_min_max_vars_gradient_shape(
    gradients: Tensor, inputs: Tensor, min: Tensor, max: Tensor
) -> tuple[Shape, Shape, Shape]:
    found = merged_shape(gradients, inputs)
    return found, merged_shape(min, max).merge(SCALAR), SCALAR


@fake_quant_with_min_max_vars_gradient.kernel
def fake_quant_with_min_max_vars_gradient_kernel(
    gradients: Array, inputs: Array, min: Array, max: Array, *, num_bits: int, narrow_range: bool
) -> tuple[Value, Value, Value]:
    if np.shape(gradients) != np.shape(inputs) or np.ndim(min) or np.ndim(max):
        raise InvalidArgumentError("gradient and input must be the same size, min and max scalars")
    if min == 0 and max == 0:
        return gradients, np.float32(0), np.float32(0)
    low, high, _, _ = _nudged_range(min, max, num_bits, narrow_range)
    passed = gradients * ((inputs >= low) & (inputs <= high)).astype(np.float32)
    below, above = np.sum(gradients * (inputs < low)), np.sum(gradients * (inputs > high))
    return passed, np.float32(below), np.float32(above)


fake_quant_with_min_max_vars_per_channel = op(
    "FakeQuantWithMinMaxVarsPerChannel(inputs: float, min: float, max: float) -> outputs: float", *_FAKE
)


@fake_quant_with_min_max_vars_per_channel.shape
def fake_quant_with_min_max_vars_per_channel_shape(inputs: Tensor, min: Tensor, max: Tensor) -> Shape:
    found = at_least(inputs.static_shape, 1)
    channels = size_at(merged_shape(min, max).merge(Shape((None,))), 0)
    channels = merge_sizes(size_at(found, -1), channels)
    return found if found.dims is None else Shape((*found.dims[:-1], channels))


@fake_quant_with_min_max_vars_per_channel.kernel
def fake_quant_with_min_max_vars_per_channel_kernel(
    inputs: Array, min: Array, max: Array, *, num_bits: int, narrow_range: bool
) -> Array:
    _check_channels(inputs, min, max)
    idle = (min == 0) & (max == 0)
    low, high, scale, inverse = _nudged_range(min, max, num_bits, narrow_range)
    zero = np.floor(-low * inverse + _HALF)
    clamped = np.maximum(np.minimum(inputs, high), low) - low
    return np.where(idle, np.float32(0), np.floor(clamped * inverse - zero + _HALF) * scale)


def _check_channels(inputs: Any, low: Any, high: Any) -> None:
    if np.ndim(inputs) < 1 or low.shape != (inputs.shape[-1],) or high.shape != low.shape:
        raise InvalidArgumentError(f"min and max have incorrect size, expected {np.shape(inputs)[-1:]}")


fake_quant_with_min_max_vars_per_channel_gradient = op(f"FakeQuantWithMinMaxVarsPerChannelGradient({_VARS}", *_FAKE)
not_differentiable(fake_quant_with_min_max_vars_per_channel_gradient)


@fake_quant_with_min_max_vars_per_channel_gradient.shape
def fake_quant_with_min_max_vars_per_channel_gradient_shape(
    gradients: Tensor, inputs: Tensor, min: Tensor, max: Tensor
) -> tuple[Shape, Shape, Shape]:
    found = merged_shape(gradients, inputs)
    channels = merge_sizes(size_at(found, -1), size_at(merged_shape(min, max).merge(Shape((None,))), 0))
    return found, Shape((channels,)), Shape((channels,))


@fake_quant_with_min_max_vars_per_channel_gradient.kernel
def fake_quant_with_min_max_vars_per_channel_gradient_kernel(
    gradients: Array, inputs: Array, min: Array, max: Array, *, num_bits: int, narrow_range: bool
) -> tuple[Value, Value, Value]:
    if np.shape(gradients) != np.shape(inputs):
        raise InvalidArgumentError("gradient and input must be the same size")
    _check_channels(inputs, min, max)
    idle = (min == 0) & (max == 0)
    low, high, _, _ = _nudged_range(min, max, num_bits, narrow_range)
    inside = idle | ((inputs >= low) & (inputs <= high))
    axes = tuple(range(inputs.ndim - 1))
    below = np.sum(gradients * (~idle & (inputs < low)), axes, dtype=np.float32)
    above = np.sum(gradients * (~idle & (inputs > high)), axes, dtype=np.float32)
    return gradients * inside.astype(np.float32), below, above


def _fake_gradient(name: str) -> Any:
    def fake_quant_gradient(op: Operation, dy: Tensor) -> Gradients:
        attrs = {attr: op.attr(attr) for attr in ("num_bits", "narrow_range")}
        return list(emit_tensors(name, dy, *op.inputs, **attrs))

    return fake_quant_gradient


fake_quant_with_min_max_vars.gradient(_fake_gradient("FakeQuantWithMinMaxVarsGradient"))
fake_quant_with_min_max_vars_per_channel.gradient(_fake_gradient("FakeQuantWithMinMaxVarsPerChannelGradient"))

# ---------------------------------------------------------------------------------------------------- There and back

_REAL: Final = "T: {bfloat16, half, float, double}"
_ROUNDING: Final = "round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'"
_V2: Final = (
    "signed_input: bool = true",
    "num_bits: int = 8",
    "range_given: bool = false",
    _REAL,
    _ROUNDING,
    "narrow_range: bool = false",
    "axis: int = -1",
)

quantize_and_dequantize = op(
    "QuantizeAndDequantize(input: T) -> output: T",
    "signed_input: bool = true",
    "num_bits: int = 8",
    "range_given: bool = false",
    "input_min: float = 0.0",
    "input_max: float = 0.0",
    _REAL,
    "deprecated 22 'Replaced by QuantizeAndDequantizeV2'",
)
quantize_and_dequantize.shape(same)


@quantize_and_dequantize.kernel
def quantize_and_dequantize_kernel(
    input: Array, *, signed_input: bool, num_bits: int, range_given: bool, input_min: float, input_max: float
) -> Array:
    low, high = input.dtype.type(input_min), input.dtype.type(input_max)
    return _there_and_back(input, low, high, signed_input, num_bits, range_given, b"HALF_TO_EVEN", False, -1)


@quantize_and_dequantize.gradient
def quantize_and_dequantize_gradient(op: Operation, dy: Tensor) -> Gradients:
    return dy


quantize_and_dequantize_v2 = op("QuantizeAndDequantizeV2(input: T, input_min: T, input_max: T) -> output: T", *_V2)
quantize_and_dequantize_v4 = op("QuantizeAndDequantizeV4(input: T, input_min: T, input_max: T) -> output: T", *_V2)


def _check_axis_shapes(found: Shape, low: Shape, high: Shape, axis: int) -> None:
    if axis < -1:
        raise InvalidArgumentError(f"axis should be at least -1, got {axis}")
    range_shape = low.merge(high)
    if axis == -1:
        range_shape.merge(SCALAR)
        return
    at_least(found, axis + 1)
    merge_sizes(size_at(range_shape.merge(Shape((None,))), 0), size_at(found, axis))


@quantize_and_dequantize_v2.shape
@quantize_and_dequantize_v4.shape
def quantize_and_dequantize_v2_shape(input: Tensor, input_min: Tensor, input_max: Tensor, *, axis: int) -> Shape:
    _check_axis_shapes(input.static_shape, input_min.static_shape, input_max.static_shape, axis)
    return input.static_shape


@quantize_and_dequantize_v2.kernel
@quantize_and_dequantize_v4.kernel
def quantize_and_dequantize_v2_kernel(
    input: Array,
    input_min: Array,
    input_max: Array,
    *,
    signed_input: bool,
    num_bits: int,
    range_given: bool,
    round_mode: bytes,
    narrow_range: bool,
    axis: int,
) -> Array:
    return _there_and_back(
        input, input_min, input_max, signed_input, num_bits, range_given, round_mode, narrow_range, axis
    )


quantize_and_dequantize_v3 = op(
    "QuantizeAndDequantizeV3(input: T, input_min: T, input_max: T, num_bits: int32) -> output: T",
    "signed_input: bool = true",
    "range_given: bool = true",
    _REAL,
    "narrow_range: bool = false",
    "axis: int = -1",
)


@quantize_and_dequantize_v3.shape
def quantize_and_dequantize_v3_shape(
    input: Tensor, input_min: Tensor, input_max: Tensor, num_bits: Tensor, *, axis: int
) -> Shape:
    with_rank(num_bits, 0)
    return quantize_and_dequantize_v2_shape(input, input_min, input_max, axis=axis)


@quantize_and_dequantize_v3.kernel
def quantize_and_dequantize_v3_kernel(
    input: Array,
    input_min: Array,
    input_max: Array,
    num_bits: Array,
    *,
    signed_input: bool,
    range_given: bool,
    narrow_range: bool,
    axis: int,
) -> Array:
    if np.ndim(num_bits):
        raise InvalidArgumentError(f"num_bits must be a scalar, got shape {list(num_bits.shape)}")
    bits = int(num_bits)
    return _there_and_back(
        input, input_min, input_max, signed_input, bits, range_given, b"HALF_TO_EVEN", narrow_range, axis
    )


def _there_and_back(
    input: Array,
    low: Array,
    high: Array,
    signed: bool,
    num_bits: int,
    range_given: bool,
    round_mode: bytes,
    narrow: bool,
    axis: int,
) -> Array:
    """The input scaled to whole numbers of so many bits, rounded, and scaled back; all in the input's own type."""
    if not 0 < num_bits <= (62 if signed else 63):
        raise InvalidArgumentError(f"num_bits is out of range: {num_bits} with signed_input {signed}")
    if axis < -1 or axis >= max(np.ndim(input), 1):
        raise InvalidArgumentError(f"Axis requested is larger than input dimensions. Axis: {axis}")
    dtype = input.dtype
    if range_given:
        wanted = () if axis == -1 else (input.shape[axis],)
        if np.shape(low) != wanted or np.shape(high) != wanted:
            raise InvalidArgumentError(f"input_min and input_max must have shape {list(wanted)}")
        if np.any(low > high):
            raise InvalidArgumentError(f"Invalid range: input_min {low} > input_max {high}")
    else:
        others = None if axis == -1 else tuple(i for i in range(input.ndim) if i != axis)
        if not np.size(input):
            return input
        low, high = np.min(input, others), np.max(input, others)
    low, high, scale, inverse = _steps(low, high, signed, num_bits, narrow, dtype)
    if axis != -1:
        along = [1] * input.ndim
        along[axis] = -1
        low, high, scale, inverse = (np.reshape(part, along) for part in (low, high, scale, inverse))
    clamped = np.maximum(np.minimum(input, high), low) if range_given else input
    scaled = clamped * scale
    rounded = np.rint(scaled) if round_mode == b"HALF_TO_EVEN" else np.floor(scaled + dtype.type(0.5))
    result: Array = (rounded * inverse).astype(dtype, copy=False)
    return result


def _steps(low: Any, high: Any, signed: bool, bits: int, narrow: bool, dtype: Any) -> tuple[Any, Any, Any, Any]:
    """The range that whole numbers of so many bits can reach, steps per unit, and units per step."""
    first = (-(1 << (bits - 1)) + int(narrow)) if signed else 0
    last = (1 << (bits - 1)) - 1 if signed else (1 << bits) - 1
    low, high = np.asarray(low, dtype), np.asarray(high, dtype)
    least, most = np.asarray(first, dtype), np.asarray(last, dtype)
    largest = np.asarray(_largest(dtype), dtype)
    from_low = np.where(least * low > 0, least / low, largest).astype(dtype)
    from_high = np.where(most * high > 0, most / high, largest).astype(dtype)
    by_low = from_low < from_high
    scale = np.where(by_low, from_low, from_high).astype(dtype)
    inverse = np.where(by_low, low / least, high / most).astype(dtype)
    high = np.where(by_low, most * inverse, high).astype(dtype)
    low = np.where(by_low, low, least * inverse).astype(dtype)
    return low, high, scale, inverse


def _largest(dtype: Any) -> Any:
    return ml_dtypes.finfo(dtype).max  # type: ignore[no-untyped-call]


@quantize_and_dequantize_v2.gradient
def quantize_and_dequantize_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    return [dy, None, None]


@quantize_and_dequantize_v3.gradient
def quantize_and_dequantize_v3_gradient(op: Operation, dy: Tensor) -> Gradients:
    return [dy, None, None, None]


quantize_and_dequantize_v4_grad = op(
    "QuantizeAndDequantizeV4Grad(gradients: T, input: T, input_min: T, input_max: T) -> input_backprop: T, "
    "input_min_backprop: T, input_max_backprop: T",
    _REAL,
    "axis: int = -1",
)


@quantize_and_dequantize_v4.gradient
def quantize_and_dequantize_v4_gradient(op: Operation, dy: Tensor) -> Gradients:
    return list(emit_tensors("QuantizeAndDequantizeV4Grad", dy, *op.inputs, axis=op.attr("axis")))


@quantize_and_dequantize_v4_grad.shape
def quantize_and_dequantize_v4_grad_shape(
    gradients: Tensor, input: Tensor, input_min: Tensor, input_max: Tensor, *, axis: int
) -> tuple[Shape, Shape, Shape]:
    found = merged_shape(gradients, input)
    _check_axis_shapes(found, input_min.static_shape, input_max.static_shape, axis)
    if axis == -1:
        return found, SCALAR, SCALAR
    channels = Shape((size_at(found, axis),)).merge(merged_shape(input_min, input_max))
    return found, channels, channels


@quantize_and_dequantize_v4_grad.kernel
def quantize_and_dequantize_v4_grad_kernel(
    gradients: Array, input: Array, input_min: Array, input_max: Array, *, axis: int
) -> tuple[Array, Array, Array]:
    if np.shape(gradients) != np.shape(input):
        raise InvalidArgumentError("gradient and input must be the same size")
    wanted = () if axis == -1 else (input.shape[normalized_axis(axis, np.ndim(input))],)
    if np.shape(input_min) != wanted or np.shape(input_max) != wanted:
        raise InvalidArgumentError(f"input_min and input_max must have shape {list(wanted)}")
    low, high = input_min, input_max
    if axis != -1:
        along = [1] * input.ndim
        along[axis] = -1
        low, high = np.reshape(low, along), np.reshape(high, along)
    inside = ((input >= low) & (input <= high)).astype(input.dtype)
    return gradients * inside, np.zeros(wanted, input.dtype), np.zeros(wanted, input.dtype)
