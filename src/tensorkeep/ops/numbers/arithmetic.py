"""Arithmetic of two inputs that broadcast: sums, products, quotients, remainders, powers, extremes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT32
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import emit, emit_tensors
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.ops.shared.dimensions import at_least, of_rank
from tensorkeep.ops.shared.expressions import (
    all_known_and_equal,
    cast,
    conj,
    constant,
    minus,
    negative,
    number,
    ones,
    ones_like,
    over,
    plain,
    plus,
    reduce_sum,
    reshape,
    shape_of,
    times,
    unbroadcast,
    zeros,
    zeros_like,
)
from tensorkeep.ops.shared.families import binary
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import broadcast, merged_shape
from tensorkeep.shapes import Shape

_NUMBERS = "bfloat16, half, float, double, uint8, int8, uint16, int16, int32"
_COMPLEX = "complex64, complex128"
_FLOATS = "{bfloat16, half, float, double}"
_HALF_FIRST = "{half, bfloat16, float, double, complex64, complex128}"
_DIVISIBLE = f"{{{_NUMBERS}, uint32, uint64, int64, {_COMPLEX}}}"
_ORDERED = "{bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64}"


# ---------------------------------------------------------------------------------------------------- Sums


def add_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs
    return (dy, dy) if all_known_and_equal(x, y, dy) else unbroadcast(x, y, dy, dy)


add = binary(
    "Add",
    np.add,
    add_gradient,
    types="{bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, complex128, string}",
)
add_v2 = binary(
    "AddV2",
    np.add,
    add_gradient,
    "commutative",
    "aggregate",
    types="{bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, int64, "
    "complex64, complex128}",
)


def sub_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs
    return (dy, negative(dy)) if all_known_and_equal(x, y, dy) else unbroadcast(x, y, dy, negative(dy))


sub = binary("Sub", np.subtract, sub_gradient, types=f"{{{_NUMBERS}, int64, {_COMPLEX}, uint32, uint64}}")


def squared_difference_kernel(x: Array, y: Array) -> Array:
    difference = np.subtract(x, y)
    return difference * np.conj(difference) if difference.dtype.kind == "c" else np.square(difference)


def squared_difference_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs
    with control_dependencies([dy]):
        two = constant(2.0, dy.dtype.base_dtype, "scalar")
        if isinstance(dy, IndexedSlices):
            doubled: Any = IndexedSlices(mul(two, dy.values), dy.indices, dy.dense_shape)
        else:
            doubled = mul(two, dy)
        gx = times(doubled, minus(x, y))
    return (gx, negative(gx)) if all_known_and_equal(x, y, dy) else unbroadcast(x, y, gx, negative(gx))


squared_difference = binary(
    "SquaredDifference",
    squared_difference_kernel,
    squared_difference_gradient,
    "commutative",
    types="{bfloat16, half, float, double, int32, int64, complex64, complex128}",
)

_MANY_ELEMENTS: Final = 1 << 15
_PIECE: Final = 1 << 14  # elements


add_n = op(
    "AddN(inputs: N * T) -> sum: T",
    "N: int >= 1",
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, "
    "uint16, complex128, half, uint32, uint64, variant}",
    "commutative",
    "aggregate",
)


@add_n.shape
def add_n_shape(inputs: list[Tensor]) -> Shape:
    try:
        return merged_shape(*reversed(inputs))
    except InvalidArgumentError:
        shapes = ", ".join(str(tensor.static_shape) for tensor in inputs)
        raise InvalidArgumentError(f"AddN needs inputs of one shape, got {shapes}") from None


@add_n.kernel
def add_n_kernel(inputs: list[Array]) -> Array:
    total = inputs[0]
    for i, item in enumerate(inputs[1:], 1):
        if np.shape(item) != np.shape(total):
            raise InvalidArgumentError(
                f"Inputs to operation AddN must have the same size and shape. Input 0: {list(np.shape(total))} != "
                f"input {i}: {list(np.shape(item))}"
            )
    if len(inputs) > 1 and np.size(total) >= _MANY_ELEMENTS and all(map(_is_plain, inputs)):
        return _add_by_pieces(inputs)
    for item in inputs[1:]:
        total = np.add(total, item)
    return total


def _is_plain(array: Array) -> bool:
    return type(array) is np.ndarray and array.flags.c_contiguous and array.dtype.itemsize > 2


def _add_by_pieces(inputs: list[Array]) -> Array:
    """The sum of large arrays, in their order: all of a piece that stays in the cache, and then the next."""
    total = result_array(inputs[0].shape, inputs[0].dtype)
    flat, *rest = (array.reshape(-1) for array in (total, *inputs))
    first, second, *others = rest
    for start in range(0, flat.size, _PIECE):
        part = slice(start, start + _PIECE)
        out = np.add(first[part], second[part], out=flat[part])
        for other in others:
            np.add(out, other[part], out=out)
    return total


@add_n.gradient
def add_n_gradient(op: Operation, dy: Tensor) -> Gradients:
    return [dy] * len(op.inputs)


accumulate_n = op(
    "AccumulateNV2(inputs: N * T) -> sum: T",
    "N: int >= 1",
    "T: numbertype",
    "shape: shape",
    "commutative",
    "aggregate",
)
accumulate_n.kernel(add_n_kernel)
accumulate_n.gradient(add_n_gradient)


@accumulate_n.shape
def accumulate_n_shape(inputs: list[Tensor], *, shape: Shape) -> Shape:
    return shape


# ---------------------------------------------------------------------------------------------------- Products


def mul_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs
    if all_known_and_equal(x, y, dy) and dy.dtype.base_dtype in (INT32, FLOAT32):
        return mul(dy, y), mul(dy, x)
    gx = mul(dy, conj(y))
    return unbroadcast(x, y, gx, mul(conj(x), dy))


mul = binary(
    "Mul",
    np.multiply,
    mul_gradient,
    "commutative",
    types=f"{{{_NUMBERS}, uint32, uint64, int64, {_COMPLEX}}}",
)


def mul_no_nan_kernel(x: Array, y: Array) -> Array:
    return np.where(y == 0, y.dtype.type(0), np.multiply(x, y))


def mul_no_nan_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs
    gx, gy = mul_no_nan(dy, y), mul_no_nan(x, dy)
    return (gx, gy) if all_known_and_equal(x, y, dy) else unbroadcast(x, y, gx, gy)


mul_no_nan = binary(
    "MulNoNan",
    mul_no_nan_kernel,
    mul_no_nan_gradient,
    types="{bfloat16, half, float, double, complex64, complex128}",
)


# ---------------------------------------------------------------------------------------------------- Quotients


def _refuse_zeros(x: Any, y: Any) -> None:
    if np.size(x) and not np.all(y):
        raise InvalidArgumentError("Integer division by zero")


def truncated_quotient(x: Array, y: Array) -> Array:
    """The quotient of whole numbers, rounded towards zero."""
    _refuse_zeros(x, y)
    quotient = np.floor_divide(x, y)
    if x.dtype.kind == "u":
        result: Array = quotient
        return result
    rest = np.remainder(x, y)
    result = np.add(quotient, ((rest != 0) & ((x < 0) != (y < 0))).astype(x.dtype))
    return result


def real_div_kernel(x: Array, y: Array) -> Array:
    if x.dtype.kind in "iu":
        raise UnimplementedError(
            f"RealDiv of {x.dtype}: TensorFlow divides whole numbers by Div, FloorDiv, TruncateDiv"
        )
    return np.divide(x, y)


def real_div_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs
    cx, cy = conj(x), conj(y)
    gx = real_div(dy, cy)
    gy = times(dy, real_div(real_div(negative(cx), cy), cy))
    return unbroadcast(x, y, gx, gy)


real_div = binary("RealDiv", real_div_kernel, real_div_gradient, types=_DIVISIBLE)


def div_kernel(x: Array, y: Array) -> Array:
    return truncated_quotient(x, y) if x.dtype.kind in "iu" else np.divide(x, y)


def div_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs
    cx, cy = conj(x), conj(y)
    gx = over(dy, cy)
    gy = times(dy, over(over(negative(cx), cy), cy))
    return unbroadcast(x, y, gx, gy)


div = binary("Div", div_kernel, div_gradient, types=_DIVISIBLE)


def div_no_nan_kernel(x: Array, y: Array) -> Array:
    return np.where(y == 0, y.dtype.type(0), np.divide(x, y))


def _div_no_nan(x: Tensor, y: Tensor) -> Tensor:
    return emit(div_no_nan, x, y, name="div_no_nan")


def div_no_nan_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = conj(op.inputs[0]), conj(op.inputs[1])
    gx = _div_no_nan(dy, y)
    gy = times(dy, _div_no_nan(_div_no_nan(negative(x), y), y))
    return unbroadcast(x, y, gx, gy)


div_no_nan = binary(
    "DivNoNan",
    div_no_nan_kernel,
    div_no_nan_gradient,
    types="{half, float, bfloat16, double, complex64, complex128}",
)


def floor_div_kernel(x: Array, y: Array) -> Array:
    if x.dtype.kind in "iu":
        _refuse_zeros(x, y)
        return np.floor_divide(x, y)
    return np.floor(np.divide(x, y))


floor_div = binary("FloorDiv", floor_div_kernel, None, types=_DIVISIBLE)


def truncate_div_kernel(x: Array, y: Array) -> Array:
    return truncated_quotient(x, y) if x.dtype.kind in "iu" else np.trunc(np.divide(x, y))


truncate_div = binary("TruncateDiv", truncate_div_kernel, None, types=_DIVISIBLE)


# ---------------------------------------------------------------------------------------------------- Remainders


def truncate_mod_kernel(x: Array, y: Array) -> Array:
    if x.dtype.kind in "iu":
        _refuse_zeros(x, y)
    return np.fmod(x, y)


mod = binary("Mod", truncate_mod_kernel, ..., types="{int32, int64, half, half, bfloat16, float, double}")
truncate_mod = binary("TruncateMod", truncate_mod_kernel, ..., types="{int32, int64, bfloat16, half, float, double}")


def floor_mod_kernel(x: Array, y: Array) -> Array:
    if x.dtype.kind in "iu":
        _refuse_zeros(x, y)
    return np.remainder(x, y)


def floor_mod_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs
    gy = times(dy, negative(floor_div(x, y)))
    return unbroadcast(x, y, dy, gy)


floor_mod = binary(
    "FloorMod",
    floor_mod_kernel,
    floor_mod_gradient,
    types="{int8, int16, int32, int64, uint8, uint16, uint32, uint64, bfloat16, half, float, double}",
)


# ---------------------------------------------------------------------------------------------- Nothing times something


def _not_zero(x: Tensor) -> Tensor:
    """One where `x` is not zero, else zero."""
    dtype = x.dtype.base_dtype
    return cast(emit("NotEqual", x, number(0.0, dtype)), dtype)


def _reduced(x: Tensor, y: Tensor, dy: Tensor, partials: Any) -> Gradients:
    """Gradients from partial derivatives, each summed to its input's shape."""
    x_shape, y_shape = shape_of(x), shape_of(y)
    x_axes, y_axes = emit_tensors("BroadcastGradientArgs", x_shape, y_shape)
    with control_dependencies([dy]):
        of_x, of_y = partials()
        gx = reshape(reduce_sum(times(of_x, dy), x_axes), x_shape)
        return gx, reshape(reduce_sum(times(of_y, dy), y_axes), y_shape)


def xlogy_kernel(x: Array, y: Array) -> Array:
    return np.where(x == 0, x.dtype.type(0), np.multiply(x, np.log(y)))


def xlogy_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs
    return _reduced(x, y, dy, lambda: (xlogy(_not_zero(x), y), xdivy(x, y)))


xlogy = binary("Xlogy", xlogy_kernel, xlogy_gradient, types=_HALF_FIRST)


def xlog1py_kernel(x: Array, y: Array) -> Array:
    return np.where(x == 0, x.dtype.type(0), np.multiply(x, np.log1p(y)))


def xlog1py_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs
    return _reduced(x, y, dy, lambda: (xlog1py(_not_zero(x), y), xdivy(x, plus(y, 1.0))))


xlog1py = binary("Xlog1py", xlog1py_kernel, xlog1py_gradient, types=_HALF_FIRST)


def xdivy_kernel(x: Array, y: Array) -> Array:
    return np.where(x == 0, x.dtype.type(0), np.divide(x, y))


def xdivy_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs
    return _reduced(x, y, dy, lambda: (xdivy(_not_zero(x), y), xdivy(negative(x), plain("Pow", y, 2, "pow"))))


xdivy = binary("Xdivy", xdivy_kernel, xdivy_gradient, types=_HALF_FIRST)


# -------------------------------------------------------------------------------------------------- Powers and extremes


def pow_kernel(x: Array, y: Array) -> Array:
    if x.dtype.kind == "i" and np.size(x) and np.any(y < 0):
        raise InvalidArgumentError("Integers to negative integer powers are not allowed")
    return np.power(x, y)


def pow_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs
    cx, cy = conj(x), conj(y)
    gx = times(times(dy, cy), power(cx, minus(cy, 1)))
    mask = emit("NotEqual", cx, 0) if x.dtype.is_complex else emit("Greater", cx, 0)
    safe = emit("Select", mask, cx, ones_like(x))
    log_x = emit("Select", mask, emit("Log", safe), zeros_like(x))
    gy = times(times(dy, conj(op.outputs[0])), log_x)
    return unbroadcast(x, y, gx, gy)


power = binary(
    "Pow",
    pow_kernel,
    pow_gradient,
    types="{bfloat16, float, half, double, int8, int16, int32, int64, complex64, complex128}",
)


def _extreme_gradient(op: Operation, dy: Tensor, selector: str) -> Gradients:
    x, y = op.inputs
    none = zeros_like(dy)
    mask = emit(selector, x, y)
    gx = emit("SelectV2", mask, dy, none)
    return unbroadcast(x, y, gx, emit("SelectV2", mask, none, dy))


def maximum_gradient(op: Operation, dy: Tensor) -> Gradients:
    return _extreme_gradient(op, dy, "GreaterEqual")


maximum = binary("Maximum", np.maximum, maximum_gradient, types=_ORDERED)


def minimum_gradient(op: Operation, dy: Tensor) -> Gradients:
    return _extreme_gradient(op, dy, "LessEqual")


minimum = binary("Minimum", np.minimum, minimum_gradient, types=_ORDERED)


# ------------------------------------------------------------------------------------------------- Geometry, neighbours


def atan2_gradient(op: Operation, dy: Tensor) -> Gradients:
    y, x = op.inputs
    with control_dependencies([dy]):
        squared_y = emit("Square", y)
        inverse = over(dy, plus(squared_y, emit("Square", x)))
        gy = times(x, inverse)
        gx = times(negative(y), inverse)
        return unbroadcast(y, x, gy, gx)


atan2 = binary("Atan2", np.arctan2, atan2_gradient, types=_FLOATS, inputs=("y", "x"))

next_after = op("NextAfter(x1: T, x2: T) -> output: T", "T: {double, float} = float")
next_after.shape(broadcast)
next_after.kernel(np.nextafter)


@next_after.gradient
def next_after_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs
    x_shape, y_shape = shape_of(x), shape_of(y)
    x_axes, y_axes = emit_tensors("BroadcastGradientArgs", x_shape, y_shape)
    with control_dependencies([dy]):
        of_x = ones(x_shape, x.dtype.base_dtype)
        of_y = zeros(y_shape, y.dtype.base_dtype)
        gx = reshape(reduce_sum(times(of_x, dy), x_axes), x_shape)
        return gx, reshape(reduce_sum(times(of_y, dy), y_axes), y_shape)


cross = op("Cross(a: T, b: T) -> product: T", "T: realnumbertype")


@cross.shape
def cross_shape(a: Tensor, b: Tensor) -> Shape:
    shape = at_least(merged_shape(a, b), 1)
    if shape.dims is not None and shape.dims[-1] not in (None, 3):
        raise InvalidArgumentError(f"Dimension must be 3 but is {shape.dims[-1]}")
    return shape


@cross.kernel
def cross_kernel(a: Array, b: Array) -> Array:
    if np.shape(a) != np.shape(b):
        raise InvalidArgumentError(f"Both inputs must be of same shape: {list(np.shape(a))} vs. {list(np.shape(b))}")
    if np.ndim(a) < 1 or np.shape(a)[-1] != 3:
        raise InvalidArgumentError(f"Cross-products are only defined for 3-element vectors, got {list(np.shape(a))}")
    (a0, a1, a2), (b0, b1, b2) = np.moveaxis(a, -1, 0), np.moveaxis(b, -1, 0)
    return np.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], -1).astype(a.dtype, copy=False)


@cross.gradient
def cross_gradient(op: Operation, dy: Tensor) -> Gradients:
    u, v = op.inputs
    return cross(v, dy), cross(dy, u)


# ---------------------------------------------------------------------------------------------------- Broadcasting


broadcast_gradient_args = op(
    "BroadcastGradientArgs(s0: T, s1: T) -> r0: T, r1: T",
    "T: {int32, int64} = int32",
)
not_differentiable(broadcast_gradient_args)


@broadcast_gradient_args.shape
def broadcast_gradient_args_shape(s0: Tensor, s1: Tensor) -> tuple[Shape, Shape]:
    for tensor in (s0, s1):
        of_rank(tensor.static_shape, 1)
    return Shape((None,)), Shape((None,))


@broadcast_gradient_args.kernel
def broadcast_gradient_args_kernel(s0: Array, s1: Array) -> tuple[Array, Array]:
    if np.ndim(s0) != 1 or np.ndim(s1) != 1:
        raise InvalidArgumentError("In[0] and In[1] of BroadcastGradientArgs must be vectors")
    a, b = s0.tolist(), s1.tolist()
    if a == b:
        none = np.zeros(0, s0.dtype)
        return none, none
    rank = max(len(a), len(b))
    a, b = [1] * (rank - len(a)) + a, [1] * (rank - len(b)) + b
    if any(m != n and m != 1 and n != 1 for m, n in zip(a, b, strict=True)):
        raise InvalidArgumentError(f"Incompatible shapes: {s0.tolist()} vs. {s1.tolist()}")
    r0 = [axis for axis, (m, n) in enumerate(zip(a, b, strict=True)) if m == 1]
    r1 = [axis for axis, (m, n) in enumerate(zip(a, b, strict=True)) if n == 1]
    return np.array(r0, s0.dtype), np.array(r1, s0.dtype)
