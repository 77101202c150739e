"""What is largest in each row: the first k, whether a class is among them, the n-th."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.dtypes import INT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.shared.dimensions import merge_sizes, normalized_axis, with_size_at
from tensorkeep.ops.shared.expressions import (
    cast,
    constant,
    first_size,
    gather,
    minus,
    over,
    plus,
    reduce_sum,
    reshape,
    shape_of,
    size_of,
    times,
    zeros,
)
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank, with_rank_at_least
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_FEW: Final = 256  # columns; rows of fewer are sorted whole

top_k = op(
    "TopK(input: T) -> values: T, indices: int32",
    "k: int >= 0",
    "sorted: bool = true",
    "T: realnumbertype",
    "deprecated 7 'Use TopKV2 instead'",
)


@top_k.shape
def top_k_shape(input: Tensor, *, k: int) -> tuple[Shape, Shape]:
    return _top_k_shape(input, k)


def _top_k_shape(input: Tensor, k: int | None) -> tuple[Shape, Shape]:
    known = with_rank_at_least(input, 1)
    if known.dims is None:
        return UNKNOWN_SHAPE, UNKNOWN_SHAPE
    last = known.dims[-1]
    if last is not None and k is not None and last < k:
        raise InvalidArgumentError(f"input must have last dimension >= k = {k} but is {last}")
    found = Shape((*known.dims[:-1], k))
    return found, found


@top_k.kernel
def top_k_kernel(input: Array, *, k: int) -> tuple[Array, Array]:
    """The `k` largest numbers of each row, from the largest down, and their places; `sorted` asks for nothing else, for
    false allows any order.
    """
    return _largest(input, k, np.int32)


def _largest(input: Array, k: int, index_dtype: npt.DTypeLike) -> tuple[Array, Array]:
    if not input.ndim:
        raise InvalidArgumentError("input must be >= 1-D, got shape []")
    if k < 0:
        raise InvalidArgumentError(f"Need k >= 0, got {k}")
    columns = input.shape[-1]
    if columns < k:
        raise InvalidArgumentError(f"input must have at least k columns. Had {columns}, needed {k}")
    if k == 1:
        indices = np.argmax(input, axis=-1, keepdims=True)
    elif columns <= _FEW or 4 * k > columns:
        indices = _descending(input)[..., :k]
    else:
        indices = _first_of_many(input.reshape(-1, columns), k).reshape(*input.shape[:-1], k)
    return np.take_along_axis(input, indices, -1), indices.astype(index_dtype)


def _descending(values: Array) -> Any:
    """The order from the largest down; of equals, the first comes first."""
    return values.shape[-1] - 1 - np.argsort(values[..., ::-1], axis=-1, kind="stable")[..., ::-1]


def _first_of_many(rows: Array, k: int) -> Any:
    """The places of the `k` largest numbers of each row, as `_descending` orders them, for few of many columns: only
    those are sorted that are not below the k-th.
    """
    found = np.empty((len(rows), k), np.int64)
    if not k:
        return found
    least = np.partition(rows, rows.shape[1] - k, axis=1)[:, rows.shape[1] - k]
    for row, bound, target in zip(rows, least, found, strict=True):
        candidates = np.flatnonzero(~(row < bound))
        target[:] = candidates[_descending(row[candidates])[:k]]
    return found


@top_k.gradient
def top_k_gradient(op: Operation, dvalues: Tensor, dindices: Tensor) -> Gradients:
    """The gradient goes back to where the values were; the second one is for the `k` of TopKV2."""
    in_shape, found_shape = shape_of(op.inputs[0]), shape_of(op.outputs[1])
    columns = gather(cast(found_shape, INT64), minus(size_of(found_shape), 1))
    rows = reshape(op.outputs[1], convert([-1, columns], INT64, "stack"))
    in_columns = gather(cast(in_shape, INT64), minus(size_of(in_shape), 1))
    count = first_size(shape_of(rows))
    starts = _steps(times(cast(count, INT64), in_columns), in_columns)
    flat = reshape(plus(rows, cast(emit("ExpandDims", starts, -1), INT32)), [-1])
    places, updates = emit("ExpandDims", flat, -1), reshape(dvalues, [-1])
    size = emit("Prod", in_shape, constant(np.zeros(1, np.int32)))
    return [reshape(emit("ScatterNd", places, updates, [size]), in_shape), zeros((), INT32)][: len(op.inputs)]


def _steps(limit: Tensor, step: Tensor) -> Any:
    """The multiples of a step, below a limit."""
    with name_scope("range") as scope:
        return emit("Range", cast(constant(0, INT32, "start"), limit.dtype), limit, step, name=scope)


top_k_v2 = op(
    "TopKV2(input: T, k: Tk) -> values: T, indices: index_type",
    "sorted: bool = true",
    "T: realnumbertype",
    "Tk: {int16, int32, int64} = int32",
    "index_type: {int16, int32, int64} = int32",
)


@top_k_v2.shape
def top_k_v2_shape(input: Tensor, k: Tensor) -> tuple[Shape, Shape]:
    return _top_k_shape(input, _scalar_size(k))


def _scalar_size(x: Tensor) -> int | None:
    """A size that is an input, if it is known."""
    with_rank(x, 0)
    value = constant_value(x)
    if value is None:
        return None
    if int(value) < 0:
        raise InvalidArgumentError(f"Dimension size, given by scalar input, must be non-negative but is {int(value)}")
    return int(value)


@top_k_v2.kernel
def top_k_v2_kernel(input: Array, k: Array, *, index_type: DType) -> tuple[Array, Array]:
    if np.ndim(k):
        raise InvalidArgumentError(f"k must be scalar, got shape {list(k.shape)}")
    return _largest(input, int(k), index_type.array_dtype)


top_k_v2.gradient(top_k_gradient)

in_top_k = op("InTopK(predictions: float, targets: T) -> precision: bool", "k: int", "T: {int32, int64} = int32")
in_top_k_v2 = op("InTopKV2(predictions: float, targets: T, k: T) -> precision: bool", "T: {int32, int64} = int32")
not_differentiable(in_top_k, in_top_k_v2)


@in_top_k.shape
def in_top_k_shape(predictions: Tensor, targets: Tensor) -> Shape:
    return Shape((merge_sizes(with_rank(predictions, 2)[0], with_rank(targets, 1)[0]),))


@in_top_k.kernel
def in_top_k_kernel(predictions: Array, targets: Array, *, k: int) -> Array:
    """Whether fewer than `k` classes are more probable than the target; false where a number is not finite."""
    if predictions.ndim != 2 or targets.shape != predictions.shape[:1]:
        raise InvalidArgumentError(
            f"First dimension of predictions {list(predictions.shape)} must match length of targets "
            f"{list(targets.shape)}"
        )
    classes = predictions.shape[1]
    valid = (targets >= 0) & (targets < classes)
    if not classes:
        result: Array = valid
        return result
    mine = np.take_along_axis(predictions, np.where(valid, targets, 0)[:, None], 1)
    fewer = np.count_nonzero(predictions > mine, axis=1) < k
    result = fewer & valid & np.isfinite(predictions).all(axis=1)
    return result


@in_top_k_v2.shape
def in_top_k_v2_shape(predictions: Tensor, targets: Tensor, k: Tensor) -> Shape:
    with_rank(k, 0)
    return in_top_k_shape(predictions, targets)


@in_top_k_v2.kernel
def in_top_k_v2_kernel(predictions: Array, targets: Array, k: Array) -> Array:
    if np.ndim(k):
        raise InvalidArgumentError(f"k must be 0-D, got shape {list(k.shape)}")
    return in_top_k_kernel(predictions, targets, k=int(k))


nth_element = op("NthElement(input: T, n: int32) -> values: T", "reverse: bool = false", "T: realnumbertype")


@nth_element.shape
def nth_element_shape(input: Tensor, n: Tensor) -> Shape:
    known, at = with_rank_at_least(input, 1), _scalar_size(n)
    if known.dims is None:
        return UNKNOWN_SHAPE
    last = known.dims[-1]
    if last is not None and at is not None and last <= at:
        raise InvalidArgumentError(f"Input must have last dimension > n = {at} but is {last}")
    return Shape(known.dims[:-1])


@nth_element.kernel
def nth_element_kernel(input: Array, n: Array, *, reverse: bool) -> Array:
    if np.ndim(n):
        raise InvalidArgumentError(f"N must be scalar but has rank {n.ndim}")
    at = int(n)
    if at < 0:
        raise InvalidArgumentError(f"n must be non-negative but is {at}")
    if not input.ndim or input.shape[-1] <= at:
        raise InvalidArgumentError(f"Input must have last dimension > n = {at}")
    at = input.shape[-1] - 1 - at if reverse else at
    if input.dtype.kind == "V":  # NumPy cannot partition numbers of other packages
        return np.sort(input, axis=-1)[..., at]
    return np.partition(input, at, axis=-1)[..., at]


@nth_element.gradient
def nth_element_gradient(op: Operation, dy: Tensor) -> Gradients:
    found = cast(emit("Equal", emit("ExpandDims", op.outputs[0], -1), op.inputs[0]), dy.dtype)
    rows = emit("ExpandDims", dy, -1)
    counts = emit("ExpandDims", reduce_sum(found, -1), -1)
    return [times(over(found, counts), rows), None]


approx_top_k = op(
    "ApproxTopK(input: T) -> values: T, indices: int32",
    "k: int >= 0",
    "reduction_dimension: int = -1",
    "recall_target: float = 0.95",
    "is_max_k: bool = true",
    "reduction_input_size_override: int = -1",
    "aggregate_to_topk: bool = true",
    "T: {half, bfloat16, float}",
)


@approx_top_k.shape
def approx_top_k_shape(
    input: Tensor, *, k: int, reduction_dimension: int, aggregate_to_topk: bool, recall_target: float
) -> tuple[Shape, Shape]:
    if not 0 <= recall_target <= 1:
        raise InvalidArgumentError(f"Invalid recall target: {recall_target}. Valid value range in [0, 1]")
    known = with_rank_at_least(input, 1)
    if known.dims is None:
        return UNKNOWN_SHAPE, UNKNOWN_SHAPE
    axis = normalized_axis(reduction_dimension, len(known.dims), "reduction_dimension")
    size = known.dims[axis]
    if size is not None and size < k:
        raise InvalidArgumentError(f"input must have last dimension >= k = {k} but was {size}")
    found = with_size_at(known, axis, k if aggregate_to_topk else None)
    return found, found


@approx_top_k.kernel
def approx_top_k_kernel(input: Array, *, k: int, reduction_dimension: int, is_max_k: bool) -> tuple[Array, Array]:
    """The k largest or smallest exactly, as TensorFlow on a processor: approximation is for accelerators."""
    axis = normalized_axis(reduction_dimension, input.ndim, "reduction_dimension")
    rows = np.moveaxis(input, axis, -1)
    values, indices = _largest(rows if is_max_k else -rows, k, np.int32)
    return np.moveaxis(values if is_max_k else -values, -1, axis), np.moveaxis(indices, -1, axis)


@approx_top_k.gradient
def approx_top_k_gradient(op: Operation, dvalues: Tensor, dindices: Tensor) -> Gradients:
    """The gradient goes back to where the values were. As in TensorFlow, their shape must be known."""
    dims = op.outputs[1].static_shape.as_tuple()
    axis = normalized_axis(op.attr("reduction_dimension"), len(dims), "reduction_dimension")
    places = [
        reshape(op.outputs[1], constant([-1]))
        if at == axis
        else constant(np.broadcast_to(np.arange(size).reshape([-1, *[1] * (len(dims) - 1 - at)]), dims).reshape(-1))
        for at, size in enumerate(dims)
    ]
    stacked = emit("Pack", [cast(place, INT32) for place in places], axis=1)
    return emit("ScatterNd", stacked, reshape(dvalues, constant([-1])), shape_of(op.inputs[0]))
