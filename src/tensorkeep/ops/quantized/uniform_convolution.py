"""Convolutions of uniformly quantised numbers, over any number of spatial dimensions, in groups, strided and dilated.

Whatever the attribute `dimension_numbers` calls the dimensions, the arithmetic is done on (batch, features, space…),
filters being (output features, input features, space…).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any, Final, TypedDict

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op, takes_attributes
from tensorkeep.ops.quantized.uniform import along_axis, attributes_of, by_own_range, requantize_numbers
from tensorkeep.ops.shared.dimensions import unknown_of_rank
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.proto.messages import parse
from tensorkeep.proto.op_messages import UniformQuantizedConvolutionDimensionNumbersAttr
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import Shape

if TYPE_CHECKING:
    from typing_extensions import Unpack  # in `typing` since Python 3.11

Ints = tuple[int, ...]

_WINDOWS: Final = (
    "window_strides: list(int) = []",
    "padding: string",
    "explicit_padding: list(int) = []",
    "lhs_dilation: list(int) = []",
    "rhs_dilation: list(int) = []",
    "batch_group_count: int = 1",
    "feature_group_count: int = 1",
    "dimension_numbers: string = ''",
)
_WINDOW_NAMES: Final = tuple(clause.partition(":")[0] for clause in _WINDOWS)
uniform_quantized_convolution = op(
    "UniformQuantizedConvolution(lhs: Tin, rhs: Tin, lhs_scales: float, lhs_zero_points: int32, rhs_scales: float, "
    "rhs_zero_points: int32, output_scales: float, output_zero_points: int32) -> output: Tout",
    "Tin: {qint8}",
    "Tout: {qint32}",
    *_WINDOWS,
    *attributes_of("lhs", "rhs", "output"),
)
uniform_quantized_convolution_hybrid = op(
    "UniformQuantizedConvolutionHybrid(lhs: Tlhs, rhs: Trhs, rhs_scales: float, rhs_zero_points: int32)"
    " -> output: Tout",
    "Tlhs: {float}",
    "Trhs: {qint8}",
    "Tout: {float}",
    *_WINDOWS,
    *attributes_of("rhs"),
)


# ------------------------------------------------------------------------------------------------------ The geometry


class WindowAttributes(TypedDict):
    """Where windows lie, and which dimension is which."""

    window_strides: Sequence[int]
    padding: bytes
    explicit_padding: Sequence[int]
    lhs_dilation: Sequence[int]
    rhs_dilation: Sequence[int]
    batch_group_count: int
    feature_group_count: int
    dimension_numbers: bytes


@dataclass(frozen=True, slots=True)
class _Geometry:
    """Where windows lie. The orders say which dimension of a tensor is batch, features, space…"""

    lhs_order: Ints
    rhs_order: Ints
    output_order: Ints
    strides: Ints
    paddings: tuple[tuple[int, int], ...]
    lhs_dilation: Ints
    rhs_dilation: Ints
    batch_groups: int
    feature_groups: int
    output_shape: Ints  # in the order of the tensor


def _geometry(
    lhs: Sequence[int],
    rhs: Sequence[int],
    *,
    window_strides: Sequence[int],
    padding: bytes,
    explicit_padding: Sequence[int],
    lhs_dilation: Sequence[int],
    rhs_dilation: Sequence[int],
    batch_group_count: int,
    feature_group_count: int,
    dimension_numbers: bytes,
) -> _Geometry:
    rank = len(lhs)
    if rank != len(rhs) or rank < 3:
        raise InvalidArgumentError(f"lhs and rhs must have one rank, of 3 or more, got {list(lhs)} and {list(rhs)}")
    strides = _of_space("window_strides", window_strides, rank)
    spread_lhs, spread_rhs = (
        _of_space("lhs_dilation", lhs_dilation, rank),
        _of_space("rhs_dilation", rhs_dilation, rank),
    )
    orders = _orders(dimension_numbers, rank)
    sizes, filters = [lhs[axis] for axis in orders[0]], [rhs[axis] for axis in orders[1]]
    _check_groups(sizes, filters, batch_group_count, feature_group_count)
    inner = [_dilated_size(size, by) for size, by in zip(sizes[2:], spread_lhs, strict=True)]
    window = [_dilated_size(size, by) for size, by in zip(filters[2:], spread_rhs, strict=True)]
    paddings = _paddings(padding, explicit_padding, inner, window, strides)
    space = [
        int((size + sum(pads) - taps + stride) / stride)  # towards zero, as TensorFlow divides
        for size, pads, taps, stride in zip(inner, paddings, window, strides, strict=True)
    ]
    if min(space) < 0:
        raise InvalidArgumentError(f"filters {list(rhs)} do not fit into {list(lhs)}")
    output_shape = [0] * rank
    for axis, size in zip(orders[2], [sizes[0] // batch_group_count, filters[0], *space], strict=True):
        output_shape[axis] = size
    groups = (batch_group_count, feature_group_count)
    return _Geometry(*orders, strides, paddings, spread_lhs, spread_rhs, *groups, tuple(output_shape))


def _of_space(name: str, given: Sequence[int], rank: int) -> Ints:
    """One number for each spatial dimension: the given ones, or 1 where none are given."""
    numbers = tuple(given) or (1,) * (rank - 2)
    if len(numbers) != rank - 2 or min(numbers) < 1:
        raise InvalidArgumentError(f"{name} must be {rank - 2} numbers of 1 or more, got {list(numbers)}")
    return numbers


def _orders(dimension_numbers: bytes, rank: int) -> tuple[Ints, Ints, Ints]:
    stated = parse(UniformQuantizedConvolutionDimensionNumbersAttr, dimension_numbers, "dimension_numbers")
    if not stated.input_spatial_dimensions:
        return (tuple(range(rank)),) * 3
    orders = (
        (stated.input_batch_dimension, stated.input_feature_dimension, *stated.input_spatial_dimensions),
        (
            stated.kernel_output_feature_dimension,
            stated.kernel_input_feature_dimension,
            *stated.kernel_spatial_dimensions,
        ),
        (stated.output_batch_dimension, stated.output_feature_dimension, *stated.output_spatial_dimensions),
    )
    for order in orders:
        if sorted(order) != list(range(rank)):
            raise InvalidArgumentError(
                f"dimension_numbers must name each dimension of rank {rank} once, got {list(order)}"
            )
    return orders


def _check_groups(sizes: Sequence[int], filters: Sequence[int], batch_groups: int, feature_groups: int) -> None:
    if batch_groups < 1 or feature_groups < 1:
        raise InvalidArgumentError(
            f"groups must be 1 or more, got {batch_groups} of batches, {feature_groups} of features"
        )
    if not filters[1] or sizes[1] != feature_groups * filters[1] or filters[0] % feature_groups:
        raise InvalidArgumentError(
            f"{sizes[1]} features in {feature_groups} groups cannot be convolved with filters from {filters[1]} to "
            f"{filters[0]} features"
        )
    if sizes[0] % batch_groups or filters[0] % batch_groups:
        raise InvalidArgumentError(
            f"batch_group_count {batch_groups} must divide the batch, {sizes[0]}, and the output features, {filters[0]}"
        )


def _dilated_size(size: int, by: int) -> int:
    return (size - 1) * by + 1 if size else 0


def _paddings(
    padding: bytes, explicit: Sequence[int], sizes: Sequence[int], windows: Sequence[int], strides: Ints
) -> tuple[tuple[int, int], ...]:
    if padding not in (b"EXPLICIT", b"SAME", b"VALID"):
        raise InvalidArgumentError(f"padding must be EXPLICIT, SAME or VALID, got {padding!r}")
    if padding != b"EXPLICIT" and explicit:
        raise InvalidArgumentError(f"explicit_padding must be empty with padding {padding!r}, got {list(explicit)}")
    if padding == b"VALID":
        return ((0, 0),) * len(sizes)
    if padding == b"EXPLICIT":
        if len(explicit) != 2 * len(sizes) or min(explicit) < 0:
            raise InvalidArgumentError(
                f"explicit_padding must be {2 * len(sizes)} numbers of 0 or more, got {list(explicit)}"
            )
        return tuple(zip(explicit[::2], explicit[1::2], strict=True))
    totals = [
        max((-(-size // stride) - 1) * stride + window - size, 0)
        for size, window, stride in zip(sizes, windows, strides, strict=True)
    ]
    return tuple((total // 2, total - total // 2) for total in totals)


# ---------------------------------------------------------------------------------------------------- The arithmetic


def _spread_inputs(numbers: Any, fill: Any, geometry: _Geometry) -> Any:
    """Inputs (batch, features, space…) dilated and padded with a number, one or one for each of the batch."""
    inner = [_dilated_size(size, by) for size, by in zip(numbers.shape[2:], geometry.lhs_dilation, strict=True)]
    shape = (*numbers.shape[:2], *(size + sum(pads) for size, pads in zip(inner, geometry.paddings, strict=True)))
    check_allocation(shape, np.float64)
    spread = np.broadcast_to(np.asarray(fill, np.float64), shape).copy()
    places: list[Any] = [
        slice(before, before + size, by)
        for (before, _), size, by in zip(geometry.paddings, inner, geometry.lhs_dilation, strict=True)
    ]
    spread[(..., *places)] = numbers
    return spread


def _convolve_inputs(spread: Any, filters: Any, geometry: _Geometry) -> Any:
    """The sums as whole numbers, (batch, output features, space…). Products of small whole numbers are exact here."""
    shape = [geometry.output_shape[axis] for axis in geometry.output_order]
    sums = np.zeros(shape, np.int64)
    if not sums.size or not filters.size:
        return sums
    window = [_dilated_size(size, by) for size, by in zip(filters.shape[2:], geometry.rhs_dilation, strict=True)]
    views = sliding_window_view(spread, window, axis=tuple(range(2, spread.ndim)))
    steps = (*geometry.strides, *geometry.rhs_dilation)
    views = views[(slice(None), slice(None), *(slice(None, None, step) for step in steps))]
    batch, depth, space = shape[0], filters.shape[1], len(window)
    check_allocation((batch, prod(shape[2:]), depth, prod(filters.shape[2:])), np.float64)
    axes = [1, *range(2 + space, 2 + 2 * space)]
    for start, stop in _runs(shape[1], geometry):
        row = start // (shape[1] // geometry.batch_groups) * batch
        column = start // (shape[1] // geometry.feature_groups) * depth
        part = views[row : row + batch, column : column + depth]
        products = np.tensordot(part, filters[start:stop].astype(np.float64), (axes, list(range(1, filters.ndim))))
        sums[:, start:stop] = np.moveaxis(products, -1, 1)
    return sums


def _runs(features: int, geometry: _Geometry) -> Iterator[tuple[int, int]]:
    """Ranges of output features that are of one group, of batches and of features."""
    steps = (features // geometry.batch_groups, features // geometry.feature_groups)
    starts = sorted({start for step in steps for start in range(0, features, step)})
    yield from zip(starts, [*starts[1:], features], strict=True)


def _beside_features(numbers: Any, rank: int) -> Any:
    """One number, or one for each output feature, in a shape that stands beside (batch, features, space…)."""
    return np.reshape(numbers, (1, -1) + (1,) * (rank - 2))


def _check_scales(rhs: Any, scales: Any, zeros: Any, axis: int, geometry: _Geometry) -> None:
    if axis not in (-1, geometry.rhs_order[0]):
        raise InvalidArgumentError(
            f"rhs must be quantised as a whole or along its output features, {geometry.rhs_order[0]}, not along {axis}"
        )
    along_axis(rhs, scales, zeros, axis)
    _check_positive("rhs", scales)


def _check_positive(name: str, scales: Any) -> None:
    if not np.all(np.asarray(scales) > 0):
        raise InvalidArgumentError(f"scales of {name} must be positive")


# ----------------------------------------------------------------------------------------------------------- The ops


@uniform_quantized_convolution.shape
@uniform_quantized_convolution_hybrid.shape
@takes_attributes(*_WINDOW_NAMES)
def uniform_quantized_convolution_shape(
    lhs: Tensor, rhs: Tensor, *parameters: Tensor, **windows: Unpack[WindowAttributes]
) -> Shape:
    left, right = lhs.static_shape, rhs.static_shape
    if left.is_fully_known and right.is_fully_known:
        return Shape(_geometry(left.as_tuple(), right.as_tuple(), **windows).output_shape)
    return unknown_of_rank(right.rank if left.rank is None else left.rank)


@uniform_quantized_convolution.kernel
@takes_attributes(
    "Tout",
    "lhs_quantization_axis",
    "rhs_quantization_axis",
    "output_quantization_axis",
    "output_quantization_min_val",
    "output_quantization_max_val",
    *_WINDOW_NAMES,
)
def uniform_quantized_convolution_kernel(
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
    **windows: Unpack[WindowAttributes],
) -> Array:
    geometry = _geometry(lhs.shape, rhs.shape, **windows)
    if lhs_quantization_axis != -1 or output_quantization_axis not in (-1, geometry.output_order[1]):
        raise InvalidArgumentError(
            "lhs must be quantised as a whole, output as a whole or along its features, not along "
            f"{lhs_quantization_axis} and {output_quantization_axis}"
        )
    if rhs_quantization_axis == -1 != output_quantization_axis:
        raise InvalidArgumentError("output cannot be quantised by features where rhs is quantised as a whole")
    along_axis(lhs, lhs_scales, lhs_zero_points, -1)
    _check_scales(rhs, rhs_scales, rhs_zero_points, rhs_quantization_axis, geometry)
    whole = np.broadcast_to(False, geometry.output_shape)
    along_axis(whole, output_scales, output_zero_points, output_quantization_axis)
    _check_positive("lhs", lhs_scales)
    _check_positive("output", output_scales)
    zero = np.int64(lhs_zero_points)
    fill = np.int64(zero.astype(np.int8)) - zero  # padding is the zero point as a number of 8 bits
    spread = _spread_inputs(lhs.transpose(geometry.lhs_order).astype(np.int64) - zero, fill, geometry)
    sums = _convolve_inputs(spread, _centered_filters(rhs, rhs_zero_points, geometry), geometry)
    both = np.float64(lhs_scales) * _beside_features(rhs_scales, rhs.ndim).astype(np.float64)
    limits = (output_quantization_min_val, output_quantization_max_val)
    new_scales, new_zeros = (_beside_features(given, rhs.ndim) for given in (output_scales, output_zero_points))
    output = requantize_numbers(sums, both, new_scales, new_zeros, limits, Tout.array_dtype)
    result: Array = output.transpose(np.argsort(geometry.output_order))
    return result


@uniform_quantized_convolution_hybrid.kernel
@takes_attributes("rhs_quantization_axis", *_WINDOW_NAMES)
def uniform_quantized_convolution_hybrid_kernel(
    lhs: Array,
    rhs: Array,
    rhs_scales: Array,
    rhs_zero_points: Array,
    *,
    rhs_quantization_axis: int,
    **windows: Unpack[WindowAttributes],
) -> Array:
    geometry = _geometry(lhs.shape, rhs.shape, **windows)
    _check_scales(rhs, rhs_scales, rhs_zero_points, rhs_quantization_axis, geometry)
    images = lhs.transpose(geometry.lhs_order)
    whole, scale, zero = by_own_range(images.reshape(len(images), prod(images.shape[1:])))
    numbers = (whole.astype(np.int64) - zero).reshape(images.shape)
    sums = _convolve_inputs(
        _spread_inputs(numbers, 0, geometry), _centered_filters(rhs, rhs_zero_points, geometry), geometry
    )
    own_scales = _per_output(scale.reshape(-1), sums.shape, geometry)
    output = sums.astype(np.float32) * own_scales * _beside_features(rhs_scales, rhs.ndim)
    result: Array = output.transpose(np.argsort(geometry.output_order))
    return result


def _centered_filters(rhs: Any, zero_points: Any, geometry: _Geometry) -> Any:
    """Filters (output features, input features, space…) less their zero points."""
    zeros = np.reshape(zero_points, (-1,) + (1,) * (rhs.ndim - 1))
    return rhs.transpose(geometry.rhs_order).astype(np.int64) - zeros


def _per_output(scales: Any, shape: Ints, geometry: _Geometry) -> Any:
    """The scale of the input that each output of (batch, features) comes from."""
    batch, features = shape[:2]
    groups = np.arange(features) // max(features // geometry.batch_groups, 1)
    chosen = scales[groups[np.newaxis, :] * batch + np.arange(batch)[:, np.newaxis]]
    return chosen.reshape((batch, features) + (1,) * (len(shape) - 2))
