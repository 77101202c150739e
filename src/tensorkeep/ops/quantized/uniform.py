"""Uniformly quantised numbers: whole numbers with a scale and the whole number that stands for zero.

    real number = (whole number - zero point) * scale

Scales and zero points are scalars, or vectors along one axis of the tensor (`quantization_axis`).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.shared.dimensions import merge_sizes, size_at
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import broadcast, same, with_rank
from tensorkeep.shapes import Shape

_FLOAT: Final = np.float32


def attributes_of(*names: str) -> list[str]:
    """The clauses that say how the tensors of these names are quantised."""
    prefixes = [f"{name}_" if name else "" for name in names]
    return [
        clause
        for prefix in prefixes
        for clause in (
            f"{prefix}quantization_axis: int = -1",
            f"{prefix}quantization_min_val: int",
            f"{prefix}quantization_max_val: int",
        )
    ]


def _check_shapes(x: Tensor, scales: Tensor, zero_points: Tensor, axis: int) -> None:
    """Scales and zero points must be scalars, or have one element for each slice along the axis."""
    found = scales.static_shape.merge(zero_points.static_shape)
    if axis < -1:
        raise InvalidArgumentError(f"quantization_axis must be at least -1, got {axis}")
    if axis == -1:
        found.merge(Shape(()))
        return
    size = size_at(found.merge(Shape((None,))), 0)
    rank = x.static_shape.rank
    if rank is not None:
        if axis >= rank:
            raise InvalidArgumentError(f"quantization_axis {axis} must be below the rank {rank} of the tensor")
        merge_sizes(size, size_at(x.static_shape, axis))


def along_axis(x: Array, scales: Array, zero_points: Array, axis: int) -> tuple[Any, Any]:
    """Scales and zero points in a shape in which they stand beside the tensor, after checks."""
    rank = np.ndim(x)
    if not -1 <= axis < max(rank, 1):
        raise InvalidArgumentError(f"quantization_axis must be -1 or within [0, {rank}), got {axis}")
    wanted = () if axis == -1 else (x.shape[axis],)
    if np.shape(scales) != wanted or np.shape(zero_points) != wanted:
        raise InvalidArgumentError(
            f"scales and zero_points must have shape {list(wanted)}, got {list(np.shape(scales))} and "
            f"{list(np.shape(zero_points))}"
        )
    shape = [] if axis == -1 else [-1 if i == axis else 1 for i in range(rank)]
    return np.reshape(scales, shape), np.reshape(zero_points, shape)


def _check_positive(*scales: Any) -> None:
    for each in scales:
        if not np.all(each > 0):
            raise InvalidArgumentError(f"scales must be all positive, got {np.asarray(each).tolist()}")


def _into(values: Array, scales: Array, zero_points: Any, least: int, most: int, dtype: Any) -> Array:
    """Numbers as whole ones: times the inverse scale, rounded half up, within the limits."""
    inverse = _FLOAT(1) / scales
    whole = np.floor(values * inverse + zero_points.astype(_FLOAT) + _FLOAT(0.5))
    result: Array = np.clip(whole.astype(np.float64), least, most).astype(dtype)
    return result


# ---------------------------------------------------------------------------------------------- There, back, elsewhere

uniform_quantize = op(
    "UniformQuantize(input: Tin, scales: float, zero_points: int32) -> output: Tout",
    "Tin: {float}",
    "Tout: {qint8, quint8, qint32}",
    *attributes_of(""),
)
uniform_dequantize = op(
    "UniformDequantize(input: Tin, scales: float, zero_points: int32) -> output: Tout",
    "Tin: {qint8, quint8, qint32}",
    "Tout: {float}",
    *attributes_of(""),
)


@uniform_quantize.shape
@uniform_dequantize.shape
def uniform_quantize_shape(input: Tensor, scales: Tensor, zero_points: Tensor, *, quantization_axis: int) -> Shape:
    _check_shapes(input, scales, zero_points, quantization_axis)
    return same(input)


@uniform_quantize.kernel
def uniform_quantize_kernel(
    input: Array,
    scales: Array,
    zero_points: Array,
    *,
    Tout: DType,  # noqa: N803
    quantization_axis: int,
    quantization_min_val: int,
    quantization_max_val: int,
) -> Array:
    scales, zeros = along_axis(input, scales, zero_points, quantization_axis)
    return _into(input, scales, zeros, quantization_min_val, quantization_max_val, Tout.array_dtype)


@uniform_dequantize.kernel
def uniform_dequantize_kernel(input: Array, scales: Array, zero_points: Array, *, quantization_axis: int) -> Array:
    _check_positive(scales)
    scales, zeros = along_axis(input, scales, zero_points, quantization_axis)
    result: Array = (input.astype(np.int32) - zeros).astype(_FLOAT) * scales
    return result


uniform_requantize = op(
    "UniformRequantize(input: Tin, input_scales: float, input_zero_points: int32, output_scales: float, "
    "output_zero_points: int32) -> output: Tout",
    "Tin: {qint8, qint32}",
    "Tout: {qint8, qint32}",
    *attributes_of("input", "output"),
)


@uniform_requantize.shape
def uniform_requantize_shape(
    input: Tensor,
    input_scales: Tensor,
    input_zero_points: Tensor,
    output_scales: Tensor,
    output_zero_points: Tensor,
    *,
    input_quantization_axis: int,
    output_quantization_axis: int,
) -> Shape:
    _check_shapes(input, input_scales, input_zero_points, input_quantization_axis)
    _check_shapes(input, output_scales, output_zero_points, output_quantization_axis)
    return same(input)


@uniform_requantize.kernel
def uniform_requantize_kernel(
    input: Array,
    input_scales: Array,
    input_zero_points: Array,
    output_scales: Array,
    output_zero_points: Array,
    *,
    Tout: DType,  # noqa: N803
    input_quantization_axis: int,
    output_quantization_axis: int,
    output_quantization_min_val: int,
    output_quantization_max_val: int,
) -> Array:
    axes = {input_quantization_axis, output_quantization_axis}
    if -1 not in axes and len(axes) > 1:
        raise InvalidArgumentError(
            f"input and output are quantised along different axes, {input_quantization_axis} and "
            f"{output_quantization_axis}"
        )
    _check_positive(input_scales, output_scales)
    scales, zeros = along_axis(input, input_scales, input_zero_points, input_quantization_axis)
    new_scales, new_zeros = along_axis(input, output_scales, output_zero_points, output_quantization_axis)
    numbers = input.astype(np.int64) - zeros
    limits = (output_quantization_min_val, output_quantization_max_val)
    return requantize_numbers(numbers, scales, new_scales, new_zeros, limits, Tout.array_dtype)


def requantize_numbers(
    numbers: Array, scales: Array, new_scales: Array, new_zeros: Array, limits: tuple[int, int], dtype: npt.DTypeLike
) -> Array:
    """Whole numbers of one scale as those of another: times a whole multiplier of 31 bits, and shifted, half up."""
    effective = scales.astype(np.float64) / new_scales.astype(np.float64)
    fraction, exponent = np.frexp(effective.astype(np.float64))
    multiplier = np.rint(fraction * 2.0**31).astype(np.int64)
    carried = multiplier == 2**31
    multiplier, exponent = np.where(carried, multiplier // 2, multiplier), exponent + carried
    total_shift = (31 - exponent).astype(np.int64)
    rounding = np.int64(1) << np.maximum(total_shift - 1, 0)
    found = ((numbers * multiplier) + rounding) >> total_shift
    result: Array = np.clip(found + new_zeros, limits[0], limits[1]).astype(dtype)
    return result


uniform_quantized_clip_by_value = op(
    "UniformQuantizedClipByValue(operand: T, min: T, max: T, scales: float, zero_points: int32) -> output: T",
    "T: {qint32}",
    *attributes_of(""),
)


@uniform_quantized_clip_by_value.shape
def uniform_quantized_clip_by_value_shape(
    operand: Tensor, min: Tensor, max: Tensor, scales: Tensor, zero_points: Tensor, *, quantization_axis: int
) -> Shape:
    _check_shapes(operand, scales, zero_points, quantization_axis)
    _check_shapes(operand, min, max, quantization_axis)
    return same(operand)


@uniform_quantized_clip_by_value.kernel
def uniform_quantized_clip_by_value_kernel(
    operand: Array, min: Array, max: Array, scales: Array, zero_points: Array, *, quantization_axis: int
) -> Array:
    along_axis(operand, scales, zero_points, quantization_axis)
    if np.shape(min) != np.shape(scales) or np.shape(max) != np.shape(scales):
        raise InvalidArgumentError(f"min and max must have the shape of scales, {list(np.shape(scales))}")
    shape = [] if quantization_axis == -1 else [-1 if i == quantization_axis else 1 for i in range(operand.ndim)]
    result: Array = np.minimum(np.maximum(operand, np.reshape(min, shape)), np.reshape(max, shape))
    return result


# ---------------------------------------------------------------------------------------------- Sums and products

_THREE: Final = ("lhs", "rhs", "output")
_PARAMETERS: Final = (
    "lhs_scales: float, lhs_zero_points: int32, rhs_scales: float, rhs_zero_points: int32, output_scales: float, "
    "output_zero_points: int32"
)
uniform_quantized_add = op(
    f"UniformQuantizedAdd(lhs: T, rhs: T, {_PARAMETERS}) -> output: T", *attributes_of(*_THREE), "T: {qint32}"
)


@uniform_quantized_add.shape
def uniform_quantized_add_shape(lhs: Tensor, rhs: Tensor, *parameters: Tensor) -> Shape:
    return broadcast(lhs, rhs)


@uniform_quantized_add.kernel
def uniform_quantized_add_kernel(
    lhs: Array,
    rhs: Array,
    lhs_scales: Array,
    lhs_zero_points: Array,
    rhs_scales: Array,
    rhs_zero_points: Array,
    output_scales: Array,
    output_zero_points: Array,
    *,
    lhs_quantization_axis: int,
    rhs_quantization_axis: int,
    output_quantization_axis: int,
    output_quantization_min_val: int,
    output_quantization_max_val: int,
) -> Array:
    try:
        whole = np.empty(np.broadcast_shapes(lhs.shape, rhs.shape), bool)
    except ValueError:
        raise InvalidArgumentError(f"cannot broadcast {list(lhs.shape)} and {list(rhs.shape)}") from None
    _check_positive(lhs_scales, rhs_scales, output_scales)
    scales, zeros = along_axis(whole, output_scales, output_zero_points, output_quantization_axis)
    limits = (output_quantization_min_val, output_quantization_max_val)
    total = -zeros.astype(np.int64)
    for values, given_scales, given_zeros, axis in (
        (lhs, lhs_scales, lhs_zero_points, lhs_quantization_axis),
        (rhs, rhs_scales, rhs_zero_points, rhs_quantization_axis),
    ):
        own_scales, own_zeros = along_axis(values, given_scales, given_zeros, axis)
        numbers = values.astype(np.int64) - own_zeros
        total = total + requantize_numbers(numbers, own_scales, scales, zeros, limits, np.int64)
    result: Array = np.clip(total, limits[0], limits[1]).astype(lhs.dtype)
    return result


uniform_quantized_dot = op(
    f"UniformQuantizedDot(lhs: Tin, rhs: Tin, {_PARAMETERS}) -> output: Tout",
    "Tin: {qint8}",
    "Tout: {qint32}",
    *attributes_of(*_THREE),
)
uniform_quantized_dot_hybrid = op(
    "UniformQuantizedDotHybrid(lhs: Tlhs, rhs: Trhs, rhs_scales: float, rhs_zero_points: int32) -> output: Tout",
    "Tlhs: {float}",
    "Trhs: {qint8}",
    "Tout: {float}",
    *attributes_of("rhs"),
)


@uniform_quantized_dot.shape
@uniform_quantized_dot_hybrid.shape
def uniform_quantized_dot_shape(lhs: Tensor, rhs: Tensor, *parameters: Tensor) -> Shape:
    (rows, inner), (other, columns) = with_rank(lhs, 2), with_rank(rhs, 2)
    merge_sizes(inner, other)
    return Shape((rows, columns))


def _check_matrices(lhs: Any, rhs: Any) -> None:
    if np.ndim(lhs) != 2 or np.ndim(rhs) != 2 or lhs.shape[1] != rhs.shape[0]:
        raise InvalidArgumentError(f"cannot multiply {list(np.shape(lhs))} by {list(np.shape(rhs))}")


def _product(lhs: Any, rhs: Any) -> Any:
    """The product of matrices of small whole numbers, which float64 holds exactly."""
    return (lhs.astype(np.float64) @ rhs.astype(np.float64)).astype(np.int64)


@uniform_quantized_dot.kernel
def uniform_quantized_dot_kernel(
    lhs: Array,
    rhs: Array,
    lhs_scales: Array,
    lhs_zero_points: Array,
    rhs_scales: Array,
    rhs_zero_points: Array,
    output_scales: Array,
    output_zero_points: Array,
    *,
    Tout: DType,  # noqa: N803
    lhs_quantization_axis: int,
    rhs_quantization_axis: int,
    output_quantization_axis: int,
    output_quantization_min_val: int,
    output_quantization_max_val: int,
) -> Array:
    _check_matrices(lhs, rhs)
    if lhs_quantization_axis != -1 or rhs_quantization_axis not in (-1, 1) or output_quantization_axis not in (-1, 1):
        raise InvalidArgumentError("lhs must be quantised as a whole, rhs and output as a whole or along axis 1")
    _check_positive(lhs_scales, rhs_scales, output_scales)
    left_scales, left_zeros = along_axis(lhs, lhs_scales, lhs_zero_points, -1)
    right_scales, right_zeros = along_axis(rhs, rhs_scales, rhs_zero_points, rhs_quantization_axis)
    whole = np.empty((len(lhs), rhs.shape[1]), bool)
    scales, zeros = along_axis(whole, output_scales, output_zero_points, output_quantization_axis)
    sums = _product(lhs.astype(np.int64) - left_zeros, rhs.astype(np.int64) - right_zeros)
    limits = (output_quantization_min_val, output_quantization_max_val)
    both = left_scales.astype(np.float64) * right_scales.astype(np.float64)
    return requantize_numbers(sums, both, scales, zeros, limits, Tout.array_dtype)


@uniform_quantized_dot_hybrid.kernel
def uniform_quantized_dot_hybrid_kernel(
    lhs: Array, rhs: Array, rhs_scales: Array, rhs_zero_points: Array, *, rhs_quantization_axis: int
) -> Array:
    _check_matrices(lhs, rhs)
    if rhs_quantization_axis not in (-1, 1):
        raise InvalidArgumentError(
            f"rhs must be quantised as a whole or along axis 1, not along {rhs_quantization_axis}"
        )
    _check_positive(rhs_scales)
    scales, zeros = along_axis(rhs, rhs_scales, rhs_zero_points, rhs_quantization_axis)
    whole, scale, zero = by_own_range(lhs)
    sums = _product(whole.astype(np.int64) - zero, rhs.astype(np.int64) - zeros)
    result: Array = sums.astype(_FLOAT) * (scale * scales)
    return result


def by_own_range(rows: Array) -> tuple[Any, Any, Any]:
    """Numbers as whole ones of 8 bits, each row over the range it has, which holds zero; scales and zero points."""
    low = np.minimum(0.0, np.min(rows, axis=1, keepdims=True, initial=0.0)).astype(np.float64)
    high = np.maximum(0.0, np.max(rows, axis=1, keepdims=True, initial=0.0)).astype(np.float64)
    scale = np.where(low == high, 1.0, (high - low) / 255.0)
    zero = np.where(low == high, 0, np.clip(np.rint(-128.0 - low / scale), -128, 127)).astype(np.int64)
    whole = np.floor(rows * (1.0 / scale).astype(_FLOAT) + zero.astype(_FLOAT) + _FLOAT(0.5))
    return np.clip(whole, -128, 127).astype(np.int8), scale.astype(_FLOAT), zero
