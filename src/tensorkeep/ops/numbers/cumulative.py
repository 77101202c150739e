"""Sequences of numbers, running totals, and counts of values."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.ops.shared.dimensions import at_most
from tensorkeep.ops.shared.expressions import minus, negative, plus, times
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import SCALAR, check_scalars, merge_shapes, with_rank
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

# ---------------------------------------------------------------------------------------------------- Sequences

range_ = op(
    "Range(start: Tidx, limit: Tidx, delta: Tidx) -> output: Tidx",
    "Tidx: {bfloat16, half, float, double, int8, int16, int32, int64, uint16, uint32, uint64} = int32",
)
not_differentiable(range_)


@range_.shape
def range_shape(start: Tensor, limit: Tensor, delta: Tensor) -> Shape:
    check_scalars(start, limit, delta)
    values = [constant_value(tensor) for tensor in (start, limit, delta)]
    if any(value is None for value in values):
        return Shape((None,))
    return Shape((_range_size(*values),))


def _range_size(start: Any, limit: Any, delta: Any) -> int:
    if delta == 0:
        raise InvalidArgumentError("Requires delta != 0")
    if (delta > 0 and start > limit) or (delta < 0 and start < limit):
        order, side = ("<=", ">") if delta > 0 else (">=", "<")
        raise InvalidArgumentError(f"Requires start {order} limit when delta {side} 0: {start}/{limit}")
    if start.dtype.kind in "iu":
        first, last, step = int(start), int(limit), abs(int(delta))
        return (abs(last - first) + step - 1) // step
    size = np.ceil(np.abs((np.float64(limit) - np.float64(start)) / np.float64(delta)))
    if not size < 2.0**63:
        raise InvalidArgumentError("Requires ((limit - start) / delta) <= std::numeric_limits<int64_t>::max()")
    return int(size)


@range_.kernel
def range_kernel(start: Array, limit: Array, delta: Array) -> Array:
    for name, value in (("start", start), ("limit", limit), ("delta", delta)):
        if np.size(value) != 1:
            raise InvalidArgumentError(f"{name} must be a scalar, not shape {list(np.shape(value))}")
    start, limit, delta = (np.reshape(value, ()) for value in (start, limit, delta))
    size = _range_size(start, limit, delta)
    check_allocation((size,), np.int64, copies=2)
    steps = np.arange(size).astype(start.dtype)
    result: Array = np.add(start, np.multiply(steps, delta))
    return result


lin_space = op(
    "LinSpace(start: T, stop: T, num: Tidx) -> output: T",
    "T: {bfloat16, half, float, double}",
    "Tidx: {int32, int64} = int32",
)
not_differentiable(lin_space)


@lin_space.shape
def lin_space_shape(start: Tensor, stop: Tensor, num: Tensor) -> Shape:
    check_scalars(start, stop, num)
    count = constant_value(num)
    if count is None:
        return Shape((None,))
    if count <= 0:
        raise InvalidArgumentError(f"Requires num > 0: {int(count)}")
    return Shape((int(count),))


@lin_space.kernel
def lin_space_kernel(start: Array, stop: Array, num: Array) -> Array:
    for name, value in (("start", start), ("stop", stop), ("num", num)):
        if np.ndim(value):
            raise InvalidArgumentError(f"{name} must be a scalar, not shape {list(np.shape(value))}")
    count, dtype = int(num), start.dtype
    if count <= 0:
        raise InvalidArgumentError(f"Requires num > 0: {count}")
    check_allocation((count,), np.int64, copies=2)
    line = np.empty(count, dtype)
    if count > 1:
        step = np.divide(np.subtract(stop, start), dtype.type(count - 1))
        line[:] = np.add(start, np.multiply(step, np.arange(count).astype(dtype)))
        line[-1] = stop
    line[0] = start
    return line


# ---------------------------------------------------------------------------------------------------- Running totals


def running(name: str, types: str) -> OpSpec:
    """An op that gives, along an axis, the totals up to each element."""
    spec = op(
        f"{name}(x: T, axis: Tidx) -> out: T",
        "exclusive: bool = false",
        "reverse: bool = false",
        f"T: {types}",
        "Tidx: {int32, int64} = int32",
    )
    spec.shape(running_shape)
    return spec


def running_shape(x: Tensor, axis: Tensor) -> Shape:
    return x.static_shape


def _accumulate_values(ufunc: Any, x: Array, axis: Array, exclusive: bool, reverse: bool, nothing: Any) -> Array:
    """Running totals by a ufunc; exclusive ones begin with the ufunc's neutral element."""
    if np.ndim(axis):
        raise InvalidArgumentError(f"ScanOp: axis must be a scalar, not {list(np.shape(axis))}")
    rank, where = np.ndim(x), int(axis)
    if not -rank <= where < rank:
        raise InvalidArgumentError(f"ScanOp: Expected scan axis in the range [{-rank}, {rank}), but got {where}")
    along = np.flip(x, where) if reverse else x
    totals = ufunc.accumulate(along, where, along.dtype)
    if exclusive:
        rows = np.moveaxis(totals, where, 0)
        shifted = np.empty_like(rows)
        shifted[1:] = rows[:-1]
        shifted[:1] = nothing
        totals = np.moveaxis(shifted, 0, where)
    return np.ascontiguousarray(np.flip(totals, where) if reverse else totals)


cumsum = running("Cumsum", "numbertype")


@cumsum.kernel
def cumsum_kernel(x: Array, axis: Array, *, exclusive: bool, reverse: bool) -> Array:
    return _accumulate_values(np.add, x, axis, exclusive, reverse, 0)


@cumsum.gradient
def cumsum_gradient(op: Operation, dy: Tensor) -> Gradients:
    exclusive, reverse = op.attr("exclusive"), op.attr("reverse")
    return cumsum(dy, op.inputs[1], exclusive=exclusive, reverse=not reverse), None


cumprod = running("Cumprod", "numbertype")


@cumprod.kernel
def cumprod_kernel(x: Array, axis: Array, *, exclusive: bool, reverse: bool) -> Array:
    return _accumulate_values(np.multiply, x, axis, exclusive, reverse, 1)


@cumprod.gradient
def cumprod_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, axis = op.inputs
    exclusive, reverse = op.attr("exclusive"), op.attr("reverse")
    products = cumprod(x, axis, exclusive=exclusive, reverse=reverse)
    totals = cumsum(times(products, dy), axis, exclusive=exclusive, reverse=not reverse)
    return emit("DivNoNan", totals, x, name="div_no_nan"), None


cumulative_logsumexp = running("CumulativeLogsumexp", "{bfloat16, half, float, double}")


@cumulative_logsumexp.kernel
def cumulative_logsumexp_kernel(x: Array, axis: Array, *, exclusive: bool, reverse: bool) -> Array:
    dtype = x.dtype
    wide = x.astype(np.float32) if dtype.itemsize == 2 else x
    return _accumulate_values(np.logaddexp, wide, axis, exclusive, reverse, -np.inf).astype(dtype, copy=False)


def _lowest(dtype: np.dtype[Any]) -> float:
    if dtype == np.float64:
        return float(np.finfo(np.float64).min)
    if dtype == np.float16:
        return -65504.0
    return float(np.finfo(np.float32).min) if dtype == np.float32 else -3.3895313892515355e38


@cumulative_logsumexp.gradient
def cumulative_logsumexp_gradient(op: Operation, dy: Tensor) -> Gradients:
    """The gradient of x. It is computed as logarithms, of the positive and of the negative part of `dy` by themselves,
    as in TensorFlow's math_grad.py.
    """
    x, axis = op.inputs
    exclusive, reverse = op.attr("exclusive"), op.attr("reverse")
    lowest = _lowest(dy.dtype.array_dtype)
    above_zero = emit("SelectV2", emit("Greater", dy, 0), emit("Log", dy), lowest)
    below_zero = emit("SelectV2", emit("Less", dy, 0), emit("Log", negative(dy)), lowest)

    def summed(part: Tensor) -> Tensor:
        totals = cumulative_logsumexp(minus(part, op.outputs[0]), axis, exclusive=exclusive, reverse=not reverse)
        return emit("Exp", plus(totals, x))

    up = summed(above_zero)
    return minus(up, summed(below_zero)), None


# ---------------------------------------------------------------------------------------------------- Counts


def _size_of(size: Tensor) -> int | None:
    """How many bins a constant asks for."""
    with_rank(size, 0)
    value = constant_value(size)
    if value is None:
        return None
    if value < 0:
        raise InvalidArgumentError(f"size ({int(value)}) must be non-negative")
    return int(value)


def _checked_size(size: Any) -> int:
    if np.size(size) != 1 or np.ndim(size):
        raise InvalidArgumentError(f"Shape must be rank 0 but is rank {np.ndim(size)}")
    if size < 0:
        raise InvalidArgumentError(f"size ({int(size)}) must be non-negative")
    return int(size)


def _count_values(values: Array, rows: Any, shape: tuple[int, ...], weights: Array, binary: bool) -> Array:
    """How often each value occurs in each row, or what the weights of its occurrences add up to."""
    check_allocation(shape, np.int64, copies=2)
    if np.size(values) and np.min(values) < 0:
        raise InvalidArgumentError("Input arr must be non-negative!")
    if np.size(weights) and np.shape(weights) != np.shape(values):
        raise InvalidArgumentError(
            "`weights` must be the same shape as `arr` or a length-0 `Tensor`, in which case it acts as all weights "
            f"equal to 1. Received {list(np.shape(weights))} instead of {list(np.shape(values))}."
        )
    bins = np.zeros(shape, weights.dtype)
    flat, count = bins.reshape(-1), shape[-1]
    chosen = np.reshape(values, -1)
    inside = chosen < count
    places = (np.reshape(rows, -1) * count + chosen)[inside]
    if binary:
        flat[places] = 1
    elif np.size(weights):
        np.add.at(flat, places, np.reshape(weights, -1)[inside])
    else:
        flat[:] = np.bincount(places, minlength=flat.size).astype(bins.dtype)
    return bins


bincount = op("Bincount(arr: int32, size: int32, weights: T) -> bins: T", "T: {int32, int64, float, double}")


@bincount.shape
def bincount_shape(arr: Tensor, size: Tensor, weights: Tensor) -> Shape:
    return Shape((_size_of(size),))


@bincount.kernel
def bincount_kernel(arr: Array, size: Array, weights: Array) -> Array:
    return _count_values(arr, np.zeros(np.shape(arr), np.int64), (_checked_size(size),), weights, False)


dense_bincount = op(
    "DenseBincount(input: Tidx, size: Tidx, weights: T) -> output: T",
    "Tidx: {int32, int64}",
    "T: {int32, int64, float, double}",
    "binary_output: bool = false",
)


@dense_bincount.shape
def dense_bincount_shape(input: Tensor, size: Tensor, weights: Tensor) -> Shape:
    shape = input.static_shape
    at_most(shape, 2)
    count = _size_of(size)
    if shape.dims is None:
        return UNKNOWN_SHAPE
    if len(shape.dims) < 2:
        return Shape((count,))
    return Shape((None if count is None else shape.dims[0], count))


@dense_bincount.kernel
def dense_bincount_kernel(input: Array, size: Array, weights: Array, *, binary_output: bool) -> Array:
    if np.ndim(input) > 2:
        raise InvalidArgumentError(f"Shape must be at most rank 2 but is rank {np.ndim(input)}")
    count = _checked_size(size)
    if np.ndim(input) < 2:
        return _count_values(input, np.zeros(np.shape(input), np.int64), (count,), weights, binary_output)
    rows = np.broadcast_to(np.arange(input.shape[0])[:, None], input.shape)
    return _count_values(input, rows, (input.shape[0], count), weights, binary_output)


ragged_bincount = op(
    "RaggedBincount(splits: int64, values: Tidx, size: Tidx, weights: T) -> output: T",
    "Tidx: {int32, int64}",
    "T: {int32, int64, float, double}",
    "binary_output: bool = false",
)


@ragged_bincount.shape
def ragged_bincount_shape(splits: Tensor, values: Tensor, size: Tensor, weights: Tensor) -> Shape:
    return UNKNOWN_SHAPE


@ragged_bincount.kernel
def ragged_bincount_kernel(splits: Array, values: Array, size: Array, weights: Array, *, binary_output: bool) -> Array:
    if splits.size == 0 or splits[0] != 0:
        raise InvalidArgumentError("Splits must start with 0" if splits.size else "Splits must be non-empty")
    if splits[-1] != np.size(values) or np.any(np.diff(splits) < 0):
        raise InvalidArgumentError(
            f"Splits must end with the number of values, got {int(splits[-1])} instead of {np.size(values)}"
        )
    rows = np.repeat(np.arange(splits.size - 1), np.diff(splits))
    return _count_values(values, rows, (splits.size - 1, _checked_size(size)), weights, binary_output)


sparse_bincount = op(
    "SparseBincount(indices: int64, values: Tidx, dense_shape: int64, size: Tidx, weights: T) -> output: T",
    "Tidx: {int32, int64}",
    "T: {int32, int64, float, double}",
    "binary_output: bool = false",
)


@sparse_bincount.shape
def sparse_bincount_shape(indices: Tensor, values: Tensor, dense_shape: Tensor, size: Tensor, weights: Tensor) -> Shape:
    count, sizes = _size_of(size), constant_value(dense_shape)
    if count is None or sizes is None:
        return UNKNOWN_SHAPE
    return Shape((count,)) if sizes.size < 2 else Shape((int(sizes[0]), count))


@sparse_bincount.kernel
def sparse_bincount_kernel(
    indices: Array, values: Array, dense_shape: Array, size: Array, weights: Array, *, binary_output: bool
) -> Array:
    count = _checked_size(size)
    if indices.shape[:1] != np.shape(values):
        raise InvalidArgumentError("Number of values must match first dimension of indices.")
    if dense_shape.size < 2:
        return _count_values(values, np.zeros(np.shape(values), np.int64), (count,), weights, binary_output)
    rows = indices[:, 0]
    if np.any(rows < 0) or np.any(rows >= dense_shape[0]):
        raise InvalidArgumentError(f"Index out of bound: a row outside of [0, {int(dense_shape[0])})")
    return _count_values(values, rows, (int(dense_shape[0]), count), weights, binary_output)


histogram_fixed_width = op(
    "HistogramFixedWidth(values: T, value_range: T, nbins: int32) -> out: dtype",
    "T: {int32, int64, float, double}",
    "dtype: {int32, int64} = int32",
)


@histogram_fixed_width.shape
def histogram_fixed_width_shape(values: Tensor, value_range: Tensor, nbins: Tensor) -> Shape:
    merge_shapes(value_range.static_shape, Shape((2,)))
    merge_shapes(nbins.static_shape, SCALAR)
    count = constant_value(nbins)
    if count is None:
        return Shape((None,))
    if count <= 0:
        raise InvalidArgumentError(f"Requires nbins > 0: {int(count)}")
    return Shape((int(count),))


@histogram_fixed_width.kernel
def histogram_fixed_width_kernel(values: Array, value_range: Array, nbins: Array, *, dtype: DType) -> Array:
    if np.ndim(nbins) or np.shape(value_range) != (2,):
        raise InvalidArgumentError("nbins should be a scalar, and value_range a vector of 2 elements")
    if not value_range[0] < value_range[1]:
        raise InvalidArgumentError(
            "value_range should satisfy value_range[0] < value_range[1], but got "
            f"'[{value_range[0]}, {value_range[1]}]'"
        )
    if nbins <= 0:
        raise InvalidArgumentError(f"nbins should be a positive number, but got '{int(nbins)}'")
    low, high, count = value_range[0], value_range[1], int(nbins)
    check_allocation((count,), np.int64)
    step = np.float64(high - low) / count
    distance = (np.maximum(np.reshape(values, -1), low) - low).astype(np.float64)
    places = np.minimum(distance / step, count - 1).astype(np.int32)
    return np.bincount(places[places >= 0], minlength=count).astype(dtype.array_dtype)
