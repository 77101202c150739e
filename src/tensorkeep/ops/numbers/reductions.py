"""Reductions along axes: sums, means, products, extremes, and where the extremes are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import ml_dtypes
import numpy as np

from tensorkeep.dtypes import INT32, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit, emit_tensors
from tensorkeep.graph.building import colocate_with, device
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, not_differentiable, op
from tensorkeep.native.sums import fused_sum
from tensorkeep.ops.shared.dimensions import at_most, of_rank
from tensorkeep.ops.shared.expressions import (
    cast,
    concat,
    conj,
    constant,
    every_axis,
    gather,
    over,
    plain,
    rank_of,
    reduce_sum,
    reduced_shape,
    reflected_operator,
    reshape,
    shape_of,
    size_of,
    span,
    times,
)
from tensorkeep.ops.shared.half_sums import half_sums
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_EXTREMES: Final = (
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, "
    "qint8, quint8, qint32, qint16, quint16}"
)
_SUM: Final[Any] = np.add.reduce
_PRODUCT: Final[Any] = np.multiply.reduce
_MAXIMUM: Final[Any] = np.maximum.reduce
_MINIMUM: Final[Any] = np.minimum.reduce
_ANY: Final[Any] = np.logical_or.reduce
_ALL: Final[Any] = np.logical_and.reduce
_REDUCED_SHAPES: Final = object()  # the key of the shapes that gradients of sums have asked for, in `graph.extras`


def reduction(name: str, kernel: Callable[..., Any], types: str | None = "T: numbertype") -> OpSpec:
    """A reduction; of truth values if `types` is None."""
    element = "T" if types else "bool"
    clauses = [types] if types else []
    spec = op(
        f"{name}(input: {element}, reduction_indices: Tidx) -> output: {element}",
        "keep_dims: bool = false",
        *clauses,
        "Tidx: {int32, int64} = int32",
    )
    spec.shape(reduction_shape)
    spec.kernel(kernel)
    return spec


def reduction_shape(input: Tensor, reduction_indices: Tensor, *, keep_dims: bool) -> Shape:
    shape, places = input.static_shape, reduction_indices.static_shape
    at_most(places, 1)
    axes = constant_value(reduction_indices)
    if shape.dims is None or axes is None:
        return Shape((None,) * len(shape.dims)) if keep_dims and shape.dims is not None else UNKNOWN_SHAPE
    reduced = _wrapped_axes(axes.reshape(-1).tolist(), len(shape.dims))
    if keep_dims:
        return Shape(tuple(1 if axis in reduced else size for axis, size in enumerate(shape.dims)))
    return Shape(tuple(size for axis, size in enumerate(shape.dims) if axis not in reduced))


def _wrapped_axes(axes: list[int], rank: int) -> tuple[int, ...]:
    """Axes counted from the front."""
    for axis in axes:
        if not -rank <= axis < rank:
            raise InvalidArgumentError(f"Invalid reduction dimension {axis} for input with {rank} dimension(s)")
    return tuple(axis + rank if axis < 0 else axis for axis in axes)


def axes_of(reduction_indices: Array, rank: int) -> tuple[int, ...]:
    """The axes that a kernel reduces, each once."""
    if reduction_indices.size == 1 and 0 <= (axis := reduction_indices.item()) < rank:
        return (axis,)
    axes = _wrapped_axes(reduction_indices.reshape(-1).tolist(), rank)
    if len(set(axes)) < len(axes):
        twice = next(axis for axis in axes if axes.count(axis) > 1)
        raise InvalidArgumentError(f"Invalid reduction arguments: Axes contains duplicate dimension: {twice}")
    return axes


def _count(input: Any, axes: tuple[int, ...]) -> int:
    count = 1
    for axis in axes:
        count *= input.shape[axis]
    return count


# ---------------------------------------------------------------------------------------------------- Sums


def sum_kernel(input: Array, reduction_indices: Array, *, keep_dims: bool) -> Array:
    axes = axes_of(reduction_indices, input.ndim)
    dtype = input.dtype
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        return _totals_of_halves(input, axes, keep_dims).astype(dtype)
    found = fused_sum(input, axes)
    if found is not None:
        sizes = [1 if axis in axes else size for axis, size in enumerate(input.shape)]
        return found.reshape(sizes) if keep_dims else found
    result: Array = _SUM(input, axes, dtype, keepdims=keep_dims)
    return result


def _totals_of_halves(input: Array, axes: tuple[int, ...], keep_dims: bool) -> Array:
    """Sums of floats of 16 bits, in float32; of float16 along the last axes, rounded where TensorFlow rounds them."""
    kept = input.ndim - len(axes)
    if input.dtype != np.float16 or not input.size or not kept or sorted(axes) != list(range(kept, input.ndim)):
        result: Array = _SUM(input.astype(np.float32), axes, keepdims=keep_dims)
        return result
    totals = half_sums(input.reshape(*input.shape[:kept], -1))[..., 0].astype(np.float32)
    return totals.reshape(*totals.shape, *[1] * len(axes)) if keep_dims else totals


sum_ = reduction("Sum", sum_kernel)


@sum_.gradient
def sum_gradient(op: Operation, dy: Tensor) -> Gradients:
    return _spread_gradient(op, dy), None


def _spread_gradient(op: Operation, dy: Any) -> Tensor:
    """The gradient of a sum: that of the result, wherever an element went into it."""
    x, axes = op.inputs
    shape, places = x.static_shape, constant_value(axes)
    if shape.dims is not None and places is not None:
        if np.array_equal(places, np.arange(len(shape.dims))):
            spread = reshape(dy, [1] * len(shape.dims))
            return emit("Tile", spread, shape_of(x) if None in shape.dims else _constant_shape(shape))
        if shape.is_fully_known:
            kept, repeats = _kept_and_repeats(op, shape.as_tuple(), places)
            return emit("Tile", reshape(dy, kept), repeats)
    input_shape = shape_of(x)
    if not op.attr("keep_dims"):
        with colocate_with(input_shape):
            kept = reduced_shape(input_shape, axes)
        dy = reshape(dy, kept)
    return emit("BroadcastTo", dy, input_shape)


def _constant_shape(shape: Shape) -> Tensor:
    return constant(np.array(shape.as_tuple(), np.int32), INT32)


def _kept_and_repeats(op: Operation, sizes: tuple[int, ...], axes: Any) -> tuple[Any, Any]:
    """The sizes of the result with its dimensions kept, and how often it repeats in the input.

    TensorFlow computes the latter in the graph, once for a shape and axes: so do we, for the graphs are to be equal.
    """
    found = op.graph.extras.setdefault(_REDUCED_SHAPES, {})
    key = (sizes, tuple(axes.reshape(-1).tolist()))
    if key not in found:
        kept = np.array(sizes, np.int32)
        kept[axes] = 1
        at_least_one = emit("Maximum", kept, 1)
        reflected_operator("FloorDiv", np.array(sizes, np.int32), at_least_one, "floordiv")
        found[key] = (kept, np.array(sizes, np.int32) // np.maximum(kept, 1))
    return found[key]  # type: ignore[no-any-return]


# ---------------------------------------------------------------------------------------------------- Means


def mean_kernel(input: Array, reduction_indices: Array, *, keep_dims: bool) -> Array:
    axes = axes_of(reduction_indices, input.ndim)
    dtype, count = input.dtype, _count(input, axes)
    if dtype.kind in "iu":
        wide = np.uint64 if dtype.kind == "u" else np.int64
        total = _SUM(input, axes, wide, keepdims=keep_dims)
        if count == 0:
            result: Array = total.astype(dtype)
            return result
        result = (np.sign(total) * (np.abs(total) // wide(count))).astype(dtype)
        return result
    if dtype.itemsize == 2:
        result = (_totals_of_halves(input, axes, keep_dims) / np.float32(count)).astype(dtype)
        return result
    result = _SUM(input, axes, keepdims=keep_dims) / dtype.type(count)
    return result


mean = reduction("Mean", mean_kernel)


@mean.gradient
def mean_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, axes = op.inputs
    spread = _spread_gradient(op, dy)
    shape, result = x.static_shape, op.outputs[0].static_shape
    dtype = spread.dtype.base_dtype
    if shape.is_fully_known and result.is_fully_known:
        share = int(np.prod(shape.as_tuple())) // max(int(np.prod(result.as_tuple())), 1)
        return over(spread, constant(share, dtype)), None
    input_shape = shape_of(x)
    rank = size_of(input_shape)
    places = cast(axes, rank.dtype.base_dtype)
    places = plain("FloorMod", plain("AddV2", places, rank, "add"), rank, "mod")
    return over(spread, cast(_product(gather(input_shape, places)), dtype)), None


def _product(x: Tensor) -> Tensor:
    """The product of all elements."""
    return emit(prod, x, every_axis(x))


# ---------------------------------------------------------------------------------------------------- Products


def prod_kernel(input: Array, reduction_indices: Array, *, keep_dims: bool) -> Array:
    axes = axes_of(reduction_indices, input.ndim)
    dtype = input.dtype
    if dtype.itemsize == 2 and dtype.kind not in "iu":
        result: Array = _PRODUCT(input.astype(np.float32), axes, keepdims=keep_dims).astype(dtype)
        return result
    result = _PRODUCT(input, axes, dtype, keepdims=keep_dims)
    return result


prod = reduction("Prod", prod_kernel)


@prod.gradient
def prod_gradient(op: Operation, dy: Tensor) -> Gradients:
    """Each element's gradient is the product of the others: of those before it and of those after it."""
    x, axes = op.inputs
    input_shape = shape_of(x)
    places = reshape(axes, np.array([-1], np.int32))
    if not op.attr("keep_dims"):
        dy = reshape(dy, reduced_shape(input_shape, axes))
    dy = emit("BroadcastTo", dy, input_shape)
    with device("/cpu:0"):
        rank = rank_of(x)
        places = cast(places, rank.dtype.base_dtype)
        reduced = plain("FloorMod", plain("AddV2", places, rank, "add"), rank, "mod")
        others, _ = emit_tensors("ListDiff", span(0, rank), reduced, out_idx=INT32)
        order = concat([reduced, others])
        inner = _product(gather(input_shape, reduced))
        outer = _product(gather(input_shape, others))
    permuted = emit("Transpose", x, order, name="transpose")
    permuted_shape = shape_of(permuted)
    flat = reshape(permuted, [inner, outer])
    before = emit("Cumprod", flat, 0, exclusive=True)
    after = emit("Cumprod", flat, 0, exclusive=True, reverse=True)
    others_product = reshape(times(conj(before), conj(after)), permuted_shape)
    backwards = emit("InvertPermutation", order)
    gradient = times(dy, emit("Transpose", others_product, backwards, name="transpose"))
    return reshape(gradient, input_shape), None


# ---------------------------------------------------------------------------------------------------- Extremes


def _limit(dtype: np.dtype[Any], sign: int) -> Any:
    """What the minimum (`sign` 1) or the maximum (-1) of no elements is."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).max if sign > 0 else np.iinfo(dtype).min
    return dtype.type(sign * np.inf)


def max_kernel(input: Array, reduction_indices: Array, *, keep_dims: bool) -> Array:
    axes = axes_of(reduction_indices, input.ndim)
    result: Array = _MAXIMUM(input, axes, keepdims=keep_dims, initial=_limit(input.dtype, -1))
    return result


def min_kernel(input: Array, reduction_indices: Array, *, keep_dims: bool) -> Array:
    axes = axes_of(reduction_indices, input.ndim)
    result: Array = _MINIMUM(input, axes, keepdims=keep_dims, initial=_limit(input.dtype, 1))
    return result


def extreme_gradient(op: Operation, dy: Tensor) -> Gradients:
    """Elements that are the extreme share its gradient."""
    x, axes = op.inputs
    input_shape, y = shape_of(x), op.outputs[0]
    if op.attr("keep_dims"):
        kept: Any = shape_of(y)
    else:
        kept = reduced_shape(input_shape, axes)
        y = reshape(y, kept)
        dy = reshape(dy, kept)
    chosen = cast(emit("Equal", y, x), dy.dtype.base_dtype)
    count = reshape(reduce_sum(chosen, axes), kept)
    return times(over(chosen, count), dy), None


max_ = reduction("Max", max_kernel, _EXTREMES)
max_.gradient(extreme_gradient)
min_ = reduction("Min", min_kernel, _EXTREMES)
min_.gradient(extreme_gradient)


# ---------------------------------------------------------------------------------------------------- Truth, norms


def any_kernel(input: Array, reduction_indices: Array, *, keep_dims: bool) -> Array:
    result: Array = _ANY(input, axes_of(reduction_indices, input.ndim), keepdims=keep_dims)
    return result


def all_kernel(input: Array, reduction_indices: Array, *, keep_dims: bool) -> Array:
    result: Array = _ALL(input, axes_of(reduction_indices, input.ndim), keepdims=keep_dims)
    return result


any_ = reduction("Any", any_kernel, None)
all_ = reduction("All", all_kernel, None)


def euclidean_norm_kernel(input: Array, reduction_indices: Array, *, keep_dims: bool) -> Array:
    axes, dtype = axes_of(reduction_indices, input.ndim), input.dtype
    if dtype.kind in "iu":
        total = _SUM(np.square(input), axes, dtype, keepdims=keep_dims)
        result: Array = np.sqrt(total.astype(np.float64)).astype(dtype)
        return result
    if dtype.itemsize == 2:
        total = _SUM(np.square(input.astype(np.float32)), axes, keepdims=keep_dims)
        result = np.sqrt(total).astype(dtype)
        return result
    squared = input * np.conj(input) if dtype.kind == "c" else np.square(input)
    result = np.sqrt(_SUM(squared, axes, keepdims=keep_dims))
    return result


euclidean_norm = reduction("EuclideanNorm", euclidean_norm_kernel)


@euclidean_norm.gradient
def euclidean_norm_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, axes = op.inputs
    y = op.outputs[0]
    if not op.attr("keep_dims"):
        kept = reduced_shape(shape_of(x), axes)
        y, dy = reshape(y, kept), reshape(dy, kept)
    return over(x, over(y, dy)), None


# ---------------------------------------------------------------------------------------------------- Positions

_ARGUMENTS: Final = (
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64, "
    "qint8, quint8, qint32, qint16, quint16, bool}"
)


def arg_shape(input: Tensor, dimension: Tensor) -> Shape:
    shape, place = input.static_shape, dimension.static_shape
    of_rank(place, 0)
    if shape.dims is None:
        return UNKNOWN_SHAPE
    rank = len(shape.dims)
    if rank <= 1:
        return Shape(())
    axis = constant_value(dimension)
    if axis is None:
        return Shape((None,) * (rank - 1))
    where = _checked_axis(int(axis), rank)
    return Shape(shape.dims[:where] + shape.dims[where + 1 :])


def _checked_axis(axis: int, rank: int) -> int:
    if not -rank <= axis < rank:
        raise InvalidArgumentError(f"Dimension ({axis}) must be in the range [{-rank}, {rank})")
    return axis + rank if axis < 0 else axis


def _position(find: Callable[..., Any], worst: float, input: Array, dimension: Array, output_type: DType) -> Array:
    if np.ndim(dimension):
        raise InvalidArgumentError(f"dim must be a scalar, but received tensor of shape: {list(np.shape(dimension))}")
    axis = _checked_axis(int(dimension), input.ndim) if input.ndim else 0
    if input.ndim == 0:
        raise InvalidArgumentError("Expected dimension in the range [0, 0), but got a scalar")
    if input.shape[axis] == 0:
        raise InvalidArgumentError(f"Reduction axis {axis} is empty in shape {list(input.shape)}")
    if input.dtype.kind == "f" or input.dtype == ml_dtypes.bfloat16:
        is_nan = np.isnan(input)
        if is_nan.any():  # what is no number is never the extreme
            input = np.where(is_nan, input.dtype.type(worst), input)
    return np.asarray(find(input, axis), output_type.array_dtype)


def arg_max_kernel(input: Array, dimension: Array, *, output_type: DType) -> Array:
    return _position(np.argmax, -np.inf, input, dimension, output_type)


def arg_min_kernel(input: Array, dimension: Array, *, output_type: DType) -> Array:
    return _position(np.argmin, np.inf, input, dimension, output_type)


arg_max = op(
    "ArgMax(input: T, dimension: Tidx) -> output: output_type",
    _ARGUMENTS,
    "Tidx: {int16, int32, int64} = int32",
    "output_type: {int16, uint16, int32, int64} = int64",
)
arg_max.shape(arg_shape)
arg_max.kernel(arg_max_kernel)

arg_min = op(
    "ArgMin(input: T, dimension: Tidx) -> output: output_type",
    _ARGUMENTS,
    "Tidx: {int32, int64} = int32",
    "output_type: {int32, int64} = int64",
)
arg_min.shape(arg_shape)
arg_min.kernel(arg_min_kernel)
not_differentiable(arg_max, arg_min)
