"""Comparisons, logic, bits, and choosing between values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit_tensors
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.ops.shared.expressions import reduce_sum, reshape, shape_of, unbroadcast, zeros, zeros_like
from tensorkeep.ops.shared.families import binary, unary
from tensorkeep.ops.shared.kernel_types import Array, Gradients, Value
from tensorkeep.ops.shared.shape_rules import broadcast, broadcast_shapes, merge_shapes, same
from tensorkeep.ops.shared.stretches import LARGE, in_stretches
from tensorkeep.shapes import Shape

_INTEGERS = "{int8, int16, int32, int64, uint8, uint16, uint32, uint64}"


# ---------------------------------------------------------------------------------------------------- Order


less = binary("Less", np.less, None, types="realnumbertype", result="bool")
less_equal = binary("LessEqual", np.less_equal, None, types="realnumbertype", result="bool")
greater = binary("Greater", np.greater, None, types="realnumbertype", result="bool")
greater_equal = binary("GreaterEqual", np.greater_equal, None, types="realnumbertype", result="bool")


# ---------------------------------------------------------------------------------------------------- Equality


def equality(name: str, kernel: Callable[..., Any]) -> OpSpec:
    """Equality of any elements; where shapes do not fit, an error or the answer that a caller may prefer."""
    spec = op(
        f"{name}(x: T, y: T) -> z: bool",
        "T: type",
        "incompatible_shape_error: bool = true",
        "commutative",
    )
    spec.shape(equality_shape)
    spec.kernel(kernel)
    not_differentiable(spec)
    return spec


def equality_shape(x: Tensor, y: Tensor, *, incompatible_shape_error: bool) -> Shape:
    return broadcast_shapes(x.static_shape, y.static_shape, incompatible_shape_error)


def _compare_values(compare: Callable[..., Any], x: Array, y: Array, strict: bool, otherwise: bool) -> Value:
    if not strict:
        try:
            np.broadcast_shapes(np.shape(x), np.shape(y))
        except ValueError:
            return np.bool_(otherwise)
    result = compare(x, y)
    return np.asarray(result, np.bool_) if x.dtype == object else result


def equal_kernel(x: Array, y: Array, *, incompatible_shape_error: bool) -> Value:
    return _compare_values(np.equal, x, y, incompatible_shape_error, False)


def not_equal_kernel(x: Array, y: Array, *, incompatible_shape_error: bool) -> Value:
    return _compare_values(np.not_equal, x, y, incompatible_shape_error, True)


equal = equality("Equal", equal_kernel)
not_equal = equality("NotEqual", not_equal_kernel)

approximate_equal = op(
    "ApproximateEqual(x: T, y: T) -> z: bool",
    "T: numbertype",
    "tolerance: float = 1e-05",
    "commutative",
)
not_differentiable(approximate_equal)


@approximate_equal.shape
def approximate_equal_shape(x: Tensor, y: Tensor) -> Shape:
    return merge_shapes(x.static_shape, y.static_shape)


@approximate_equal.kernel
def approximate_equal_kernel(x: Array, y: Array, *, tolerance: float) -> Array:
    if np.shape(x) != np.shape(y):
        raise InvalidArgumentError(f"x and y must be of the same shape: {list(np.shape(x))} vs. {list(np.shape(y))}")
    distance = np.absolute(np.subtract(x, y))
    allowed = np.float32(tolerance)
    result: Array = distance < (
        distance.dtype.type(allowed) if distance.dtype.kind in "iu" else allowed.astype(distance.dtype)
    )
    return result


# ---------------------------------------------------------------------------------------------------- Logic

logical_and = op("LogicalAnd(x: bool, y: bool) -> z: bool", "commutative")
logical_and.shape(broadcast)
logical_and.kernel(np.logical_and)

logical_or = op("LogicalOr(x: bool, y: bool) -> z: bool", "commutative")
logical_or.shape(broadcast)
logical_or.kernel(np.logical_or)

logical_not = op("LogicalNot(x: bool) -> y: bool")
logical_not.shape(same)
logical_not.kernel(np.logical_not)

not_differentiable(logical_and, logical_or, logical_not)


# ---------------------------------------------------------------------------------------------------- Bits


def _shift_count(x: Any, y: Any) -> Any:
    """The number of bits to shift by, limited to what the type has: less than none is none."""
    return np.clip(y, 0, 8 * x.dtype.itemsize - 1).astype(x.dtype)


def left_shift_kernel(x: Array, y: Array) -> Array:
    result: Array = np.left_shift(x, _shift_count(x, y))
    return result


def right_shift_kernel(x: Array, y: Array) -> Array:
    result: Array = np.right_shift(x, _shift_count(x, y))
    return result


def population_count_kernel(x: Array) -> Array:
    unsigned = np.dtype(f"u{x.dtype.itemsize}")
    result: Array = np.bitwise_count(np.asarray(x).view(unsigned))
    return result


bitwise_and = binary("BitwiseAnd", np.bitwise_and, None, "commutative", types=_INTEGERS)
bitwise_or = binary("BitwiseOr", np.bitwise_or, None, "commutative", types=_INTEGERS)
bitwise_xor = binary("BitwiseXor", np.bitwise_xor, None, "commutative", types=_INTEGERS)
left_shift = binary("LeftShift", left_shift_kernel, None, types=_INTEGERS)
right_shift = binary("RightShift", right_shift_kernel, None, types=_INTEGERS)
invert = unary("Invert", np.invert, None, _INTEGERS)
population_count = unary("PopulationCount", population_count_kernel, None, _INTEGERS, "uint8")


# ---------------------------------------------------------------------------------------------------- Choosing

select = op("Select(condition: bool, t: T, e: T) -> output: T", "T: type")


@select.shape
def select_shape(condition: Tensor, t: Tensor, e: Tensor) -> Shape:
    data, choice = merge_shapes(t.static_shape, e.static_shape), condition.static_shape
    if choice.dims is None or data.dims is None or not choice.dims:
        return data
    if len(choice.dims) > 1 or not data.dims:
        return merge_shapes(data, choice)
    merge_shapes(choice, Shape(data.dims[:1]))
    return data


@select.kernel
def select_kernel(condition: Array, t: Array, e: Array) -> Array:
    shape, data = np.shape(condition), np.shape(t)
    if data != np.shape(e):
        raise InvalidArgumentError(
            f"'then' and 'else' must have the same size, but received: {list(data)} vs. {list(np.shape(e))}"
        )
    if shape == ():
        return t if condition else e
    if shape != data:
        if len(shape) != 1 or data[:1] != shape:
            raise InvalidArgumentError(
                f"'cond' must be a scalar, a vector that picks rows, or of the shape of 'then': {list(shape)} vs. "
                f"{list(data)}"
            )
        condition = condition.reshape(shape + (1,) * (len(data) - 1))
    return np.where(condition, t, e)


@select.gradient
def select_gradient(op: Operation, dy: Tensor) -> Gradients:
    condition, x, _ = op.inputs
    none = zeros_like(x)
    gx = select(condition, dy, none)
    return None, gx, select(condition, none, dy)


select_v2 = op("SelectV2(condition: bool, t: T, e: T) -> output: T", "T: type")


@select_v2.shape
def select_v2_shape(condition: Tensor, t: Tensor, e: Tensor) -> Shape:
    return broadcast_shapes(condition.static_shape, broadcast_shapes(t.static_shape, e.static_shape))


@select_v2.kernel
def select_v2_kernel(condition: Array, t: Array, e: Array) -> Array:
    is_plain = t.dtype == e.dtype and t.dtype.kind in "biuf" and e.shape == ()
    if condition.size < LARGE or not is_plain or t.shape != condition.shape:
        return np.where(condition, t, e)
    return _where_or_one(condition, t, e)


def _where_or_one(condition: Array, t: Array, e: Array) -> Array:
    """`np.where(condition, t, e)` for one `e`, without a branch for each element: four times as fast at random ones.

    With `x` the bits of an element: (x ^ e) * condition ^ e, where a condition is 0 or 1.
    """
    kind = np.dtype(f"u{t.dtype.itemsize}")
    result = result_array(t.shape, t.dtype)
    bits, chosen = result.reshape(-1).view(kind), condition.reshape(-1)
    given, other = t.reshape(-1).view(kind), e.reshape(1).view(kind)[0]

    def choose(part: slice) -> None:
        found = np.bitwise_xor(given[part], other, out=bits[part]) if other else given[part]
        np.multiply(found, chosen[part], out=bits[part])
        if other:
            bits[part] ^= other

    in_stretches(choose, t.size)
    return result


@select_v2.gradient
def select_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    condition, x, y = op.inputs
    z = op.outputs[0]
    none = zeros((), dy.dtype.base_dtype)
    gx = select_v2(condition, dy, none)
    gy = select_v2(condition, none, dy)
    gx, _ = unbroadcast(x, z, gx, None)
    gy, _ = unbroadcast(y, z, gy, None)
    return None, gx, gy


clip_by_value = op("ClipByValue(t: T, clip_value_min: T, clip_value_max: T) -> output: T", "T: numbertype")
clip_by_value.shape(same)


@clip_by_value.kernel
def clip_by_value_kernel(t: Array, clip_value_min: Array, clip_value_max: Array) -> Array:
    for name, limit in (("clip_value_min", clip_value_min), ("clip_value_max", clip_value_max)):
        if np.ndim(limit) and np.shape(limit) != np.shape(t):
            raise InvalidArgumentError(
                f"{name} must be a scalar or of the shape of the input: {list(np.shape(limit))} vs. {list(np.shape(t))}"
            )
    below = np.where(t > clip_value_max, clip_value_max, t)
    return np.where(below < clip_value_min, clip_value_min, below)  # the minimum wins where they cross


@clip_by_value.gradient
def clip_by_value_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, low, high = op.inputs
    x_shape, low_shape, high_shape = shape_of(x), shape_of(low), shape_of(high)
    none = zeros(shape_of(dy), dy.dtype.base_dtype)
    is_below, is_above = less(x, low), greater(x, high)
    _, low_axes = emit_tensors("BroadcastGradientArgs", x_shape, low_shape)
    _, high_axes = emit_tensors("BroadcastGradientArgs", x_shape, high_shape)
    gx = select(logical_or(is_below, is_above), none, dy)
    g_low, g_high = select(is_below, dy, none), select(is_above, dy, none)
    g_low = reshape(reduce_sum(g_low, low_axes), low_shape)
    return gx, g_low, reshape(reduce_sum(g_high, high_axes), high_shape)


bucketize = op("Bucketize(input: T) -> output: int32", "T: {int32, int64, float, double}", "boundaries: list(float)")
bucketize.shape(same)


@bucketize.kernel
def bucketize_kernel(input: Array, *, boundaries: tuple[float, ...]) -> Array:
    limits = np.array(boundaries, np.float32)
    if np.any(limits[1:] < limits[:-1]):
        raise InvalidArgumentError("Expected sorted boundaries")
    values = input if input.dtype == np.float32 else input.astype(np.float64)
    return np.asarray(np.searchsorted(limits, values, "right"), np.int32)
