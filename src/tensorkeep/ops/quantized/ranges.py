"""Numbers as whole numbers of few bits over a range, and back: QuantizeV2, Dequantize."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.shared.dimensions import at_least, merge_sizes, size_at
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import SCALAR
from tensorkeep.shapes import Shape

_FLOAT: Final = np.float32
_MODES: Final = "mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'"

quantize_v2 = op(
    "QuantizeV2(input: float, min_range: float, max_range: float) -> output: T, output_min: float, output_max: float",
    "T: quantizedtype",
    _MODES,
    "round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'",
    "narrow_range: bool = false",
    "axis: int = -1",
    "ensure_minimum_range: float = 0.01",
)
dequantize = op(
    "Dequantize(input: T, min_range: float, max_range: float) -> output: dtype",
    "T: quantizedtype",
    _MODES,
    "narrow_range: bool = false",
    "axis: int = -1",
    "dtype: {bfloat16, float} = float",
)


def _range_shape(input: Tensor, low: Tensor, high: Tensor, axis: int) -> Shape:
    """The shape of a range: a scalar, or one element for each slice along an axis."""
    if axis < -1:
        raise InvalidArgumentError(f"axis should be at least -1, got {axis}")
    found = low.static_shape.merge(high.static_shape)
    if axis == -1:
        return found.merge(SCALAR)
    at_least(input.static_shape, axis + 1)
    return Shape((merge_sizes(size_at(found.merge(Shape((None,))), 0), size_at(input.static_shape, axis)),))


@quantize_v2.shape
def quantize_v2_shape(input: Tensor, min_range: Tensor, max_range: Tensor, *, axis: int) -> tuple[Shape, Shape, Shape]:
    ends = _range_shape(input, min_range, max_range, axis)
    return input.static_shape, ends, ends


@dequantize.shape
def dequantize_shape(input: Tensor, min_range: Tensor, max_range: Tensor, *, axis: int) -> Shape:
    _range_shape(input, min_range, max_range, axis)
    return input.static_shape


def _along(input: Any, low: Any, high: Any, axis: int) -> list[int]:
    """The shape in which the ends of ranges broadcast with the input: along one axis, or as scalars if `axis` is -1."""
    if axis < -1 or axis >= max(np.ndim(input), 1):
        raise InvalidArgumentError(f"Axis must be less than input dimension({np.ndim(input)}), got {axis}")
    wanted = () if axis == -1 else (input.shape[axis],)
    if np.size(low) != int(np.prod(wanted)) or np.size(high) != np.size(low):
        raise InvalidArgumentError(f"min_range and max_range must have shape {list(wanted)}")
    return [] if axis == -1 else [-1 if i == axis else 1 for i in range(input.ndim)]


def _round(values: Any) -> Any:
    """To the nearest whole number, halves away from zero."""
    whole = np.trunc(values)
    return whole + np.where(np.abs(values - whole) >= _FLOAT(0.5), np.copysign(_FLOAT(1), values), _FLOAT(0))


@quantize_v2.kernel
def quantize_v2_kernel(
    input: Array,
    min_range: Array,
    max_range: Array,
    *,
    T: DType,  # noqa: N803
    mode: bytes,
    round_mode: bytes,
    narrow_range: bool,
    axis: int,
    ensure_minimum_range: float,
) -> tuple[Array, Array, Array]:
    along = _along(input, min_range, max_range, axis)
    if np.any(max_range < min_range):
        raise InvalidArgumentError("input_max_range must be larger than input_min_range.")
    limits = np.iinfo(T.array_dtype)
    low = np.minimum(_FLOAT(0), min_range)
    reach = np.maximum(_FLOAT(1), np.maximum(np.abs(min_range), np.abs(max_range))) * _FLOAT(ensure_minimum_range)
    high = np.maximum(_FLOAT(0), np.maximum(max_range, low + reach))
    scale = _scale(low, high, limits.min + int(narrow_range), limits.max)
    if mode == b"SCALED":
        low, high = (
            _flush_subnormals(_FLOAT(limits.min + int(narrow_range)) / scale),
            _flush_subnormals(_FLOAT(limits.max) / scale),
        )
    bottom, top = np.reshape(low, along), np.reshape(high, along)
    clamped = np.maximum(np.minimum(input, top), bottom)
    if mode == b"SCALED":
        scaled = clamped * np.reshape(scale, along)
        whole = np.rint(scaled) if round_mode == b"HALF_TO_EVEN" else _round(scaled)
    elif mode == b"MIN_FIRST":
        steps = ((float(limits.max) - limits.min) / (top - bottom)).astype(_FLOAT)
        whole = _round(input * steps) - (_round(bottom * steps) - _FLOAT(limits.min))
        whole = np.minimum(whole, _below(limits.max))
    else:
        steps = ((float(limits.max) - limits.min) / (top - bottom)).astype(_FLOAT)
        scaled = (clamped - bottom) * steps
        whole = _round(scaled + _FLOAT(limits.min)) if limits.min else np.floor(scaled + _FLOAT(0.5))
    output = _whole_numbers(whole, T.array_dtype)
    return output, np.asarray(low, _FLOAT), np.asarray(high, _FLOAT)


def _flush_subnormals(values: Any) -> Any:
    """Numbers of which those that are below all normal ones are zero, as TensorFlow's kernels compute."""
    return np.where(np.abs(values) < np.finfo(_FLOAT).tiny, _FLOAT(0), values)


def _below(most: int) -> Any:
    """The largest number that does not exceed a whole number."""
    return _FLOAT(most) if int(_FLOAT(most)) <= most else np.nextafter(_FLOAT(most), _FLOAT(0))


def _whole_numbers(values: Any, dtype: Any) -> Any:
    """Rounded numbers as whole ones of a type, those beyond its ends as the ends.

    Of 32 bits the upper end is no float32: what reaches it becomes the lowest number, as by the processor's conversion,
    which is all that TensorFlow's MIN_COMBINED and SCALED do.
    """
    limits = np.iinfo(dtype)
    inside = np.clip(values, _FLOAT(limits.min), _below(limits.max)).astype(dtype)
    return np.where(values >= 2.0**31, dtype.type(limits.min), inside) if limits.bits == 32 else inside


def _scale(low: Any, high: Any, least: int, most: int) -> Any:
    """Steps per unit that keep both ends of a range among the whole numbers."""
    largest = np.finfo(_FLOAT).max
    from_low = np.where(_FLOAT(least) * low > 0, _FLOAT(least) / low, largest)
    from_high = np.where(_FLOAT(most) * high > 0, _FLOAT(most) / high, largest)
    return np.minimum(from_low, from_high).astype(_FLOAT)


@dequantize.kernel
def dequantize_kernel(
    input: Array,
    min_range: Array,
    max_range: Array,
    *,
    T: DType,  # noqa: N803
    mode: bytes,
    narrow_range: bool,
    axis: int,
    dtype: DType,
) -> Array:
    along = _along(input, min_range, max_range, axis)
    low, high = np.reshape(min_range, along), np.reshape(max_range, along)
    limits = np.iinfo(T.array_dtype)
    span = float(limits.max) - limits.min
    numbers = input.astype(_FLOAT)
    if mode == b"SCALED":
        least, most = _FLOAT(limits.min + int(narrow_range)), _FLOAT(limits.max)
        unit = np.maximum(low / least, high / most) if limits.min else high / most
        # TensorFlow goes through float32 and int32: of qint32, what rounds to 2**31 turns round.
        found = np.where(numbers >= 2.0**31, _FLOAT(limits.min), numbers) * unit
    elif mode == b"MIN_FIRST":
        unit = ((high - low) / _FLOAT(span)).astype(_FLOAT)
        start = np.where(high == low, low, _round(low / unit) * unit)
        found = (start - _FLOAT(limits.min) * unit) + numbers * unit
    else:
        unit = ((high - low) / _FLOAT(span)).astype(_FLOAT)
        half = _FLOAT((span + 1) / 2 if limits.min else 0)
        found = (numbers + half) * unit + low
    return found.astype(dtype.array_dtype)
