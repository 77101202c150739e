"""Reductions of rows that belong together: by sorted ids, by any ids, and of rows picked by indices."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import BOOL, INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit, emit_tensors
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.io.machine.reused_memory import result_array
from tensorkeep.ops.shared.dimensions import at_least
from tensorkeep.ops.shared.expressions import (
    cast,
    concat,
    first_size,
    gather,
    minus,
    ones,
    ones_like,
    over,
    plain,
    rank_of,
    reshape,
    shape_of,
    times,
    zeros_like,
)
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import merge_shapes, with_rank, with_rank_at_least
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_FLOATS = "{bfloat16, half, float, double}"


def _size(count: Tensor, what: str) -> int | None:
    """The size that a scalar states, if it is known."""
    with_rank(count, 0)
    value = constant_value(count)
    if value is None:
        return None
    if value < 0:
        raise InvalidArgumentError(f"Cannot specify a negative value for {what}: {int(value)}")
    return int(value)


def _rows_of(data: Tensor, size: int | None) -> Shape:
    """Rows of the data's, `size` of them."""
    dims = with_rank_at_least(data, 1).dims
    return UNKNOWN_SHAPE if dims is None else Shape((size, *dims[1:]))


def by_segment(ufunc: np.ufunc, rows: Array, ids: Array, count: int, nothing: float) -> Array:
    """For each id below `count` the reduction of its rows; `nothing` where it has none. All ids are in range."""
    dtype = rows.dtype
    check_allocation((count, *rows.shape[1:]), dtype)
    result = result_array((count, *rows.shape[1:]), dtype)
    np.copyto(result, nothing, casting="unsafe")
    if ids.size == 0:
        return result
    if np.any(ids[1:] < ids[:-1]):
        order = np.argsort(ids, kind="stable")
        ids, rows = ids[order], rows[order]
    starts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]]))
    wide = rows.astype(np.float32) if dtype.itemsize == 2 and dtype.kind not in "iu" else rows
    result[ids[starts]] = ufunc.reduceat(wide, starts, 0, wide.dtype).astype(dtype, copy=False)
    return result


def _checked_ids(ids: Any, length: int) -> None:
    """Refuses ids that are not sorted, or not one per row."""
    if np.ndim(ids) != 1:
        raise InvalidArgumentError("segment_ids should be a vector.")
    if ids.size != length:
        raise InvalidArgumentError("segment_ids should be the same size as dimension 0 of input.")
    if ids.size and ids[0] < 0:
        raise InvalidArgumentError("segment ids must be >= 0")
    if np.any(ids[1:] < ids[:-1]):
        raise InvalidArgumentError("segment ids are not increasing")


def _counts(ids: Any, count: int) -> Any:
    return np.maximum(np.bincount(ids, minlength=count), 1)


def _divide_rows(rows: Any, factors: Any) -> Array:
    """Rows divided by one number each."""
    shape = (factors.size,) + (1,) * (rows.ndim - 1)
    if rows.dtype.kind in "iu":
        divisor = factors.astype(rows.dtype).reshape(shape)
        result: Array = np.sign(rows) * (np.abs(rows) // divisor)
        return result
    if rows.dtype.itemsize == 2:
        result = (rows.astype(np.float32) / factors.astype(np.float32).reshape(shape)).astype(rows.dtype)
        return result
    result = (rows / factors.astype(rows.real.dtype).reshape(shape)).astype(rows.dtype, copy=False)
    return result


# ---------------------------------------------------------------------------------------------------- Sorted ids


def sorted_segments(name: str, types: str) -> OpSpec:
    spec = op(f"{name}(data: T, segment_ids: Tindices) -> output: T", f"T: {types}", "Tindices: {int32, int64}")
    spec.shape(sorted_segments_shape)
    return spec


def sorted_segments_shape(data: Tensor, segment_ids: Tensor) -> Shape:
    with_rank(segment_ids, 1)
    return _rows_of(data, None)


def _reduce_sorted_segments(ufunc: Any, data: Array, ids: Array, nothing: int) -> Array:
    """For each id, which ascend, the reduction of its rows of `data`; `nothing` where it has none."""
    if np.ndim(data) < 1:
        raise InvalidArgumentError("data must be at least rank 1")
    _checked_ids(ids, data.shape[0])
    return by_segment(ufunc, data, ids, int(ids[-1]) + 1 if ids.size else 0, nothing)


segment_sum = sorted_segments("SegmentSum", "numbertype")


@segment_sum.kernel
def segment_sum_kernel(data: Array, segment_ids: Array) -> Array:
    return _reduce_sorted_segments(np.add, data, segment_ids, 0)


@segment_sum.gradient
def segment_sum_gradient(op: Operation, dy: Tensor) -> Gradients:
    return gather(dy, op.inputs[1]), None


segment_mean = sorted_segments("SegmentMean", "numbertype")


@segment_mean.kernel
def segment_mean_kernel(data: Array, segment_ids: Array) -> Array:
    totals = _reduce_sorted_segments(np.add, data, segment_ids, 0)
    return _divide_rows(totals, _counts(segment_ids, totals.shape[0])) if totals.shape[0] else totals


@segment_mean.gradient
def segment_mean_gradient(op: Operation, dy: Tensor) -> Gradients:
    data, ids = op.inputs
    rank = rank_of(data)
    ids_shape = shape_of(ids)
    others = emit("ExpandDims", minus(rank, 1), 0, name="ExpandDims")
    rest = ones(others, ids_shape.dtype.base_dtype)
    every = ones(concat([ids_shape, rest]), dy.dtype.base_dtype)
    return gather(over(dy, segment_sum(every, ids)), ids), None


segment_prod = sorted_segments("SegmentProd", "numbertype")


@segment_prod.kernel
def segment_prod_kernel(data: Array, segment_ids: Array) -> Array:
    return _reduce_sorted_segments(np.multiply, data, segment_ids, 1)


@segment_prod.gradient
def segment_prod_gradient(op: Operation, dy: Tensor) -> Gradients:
    """The gradient of the data: for each element the product of the others in its segment, found without dividing by
    zero.
    """
    data, ids = op.inputs
    is_zero = emit("Equal", data, 0)
    zeros_in = segment_sum(cast(is_zero, INT32), ids)
    dy = emit("SelectV2", emit("Greater", zeros_in, 1), zeros_like(dy), dy)
    divisors = emit("SelectV2", is_zero, ones_like(data), data)
    without_zeros = segment_prod(divisors, ids)
    products = gather(op.outputs[0], ids)
    others = gather(without_zeros, ids)
    quotients = over(products, divisors)
    partial = emit("SelectV2", is_zero, others, quotients)
    return times(gather(dy, ids), partial), None


segment_min = sorted_segments("SegmentMin", "realnumbertype")


@segment_min.kernel
def segment_min_kernel(data: Array, segment_ids: Array) -> Array:
    return _reduce_sorted_segments(np.minimum, data, segment_ids, 0)


segment_max = sorted_segments("SegmentMax", "realnumbertype")


@segment_max.kernel
def segment_max_kernel(data: Array, segment_ids: Array) -> Array:
    return _reduce_sorted_segments(np.maximum, data, segment_ids, 0)


@segment_min.gradient
@segment_max.gradient
def segment_extreme_gradient(op: Operation, dy: Tensor) -> Gradients:
    """The gradient of the data: the elements that are the extreme of their segment share that of the result."""
    data, ids = op.inputs
    none = zeros_like(data)
    extremes = gather(op.outputs[0], ids)
    chosen = emit("Equal", data, extremes)
    count = segment_sum(cast(chosen, dy.dtype.base_dtype), ids)
    shares = gather(over(dy, count), ids)
    return emit("SelectV2", chosen, shares, none), None


# ---------------------------------------------------------------------------------------------------- Any ids


def unsorted_segments(name: str, types: str, indices: str = "{int32, int64}") -> OpSpec:
    spec = op(
        f"{name}(data: T, segment_ids: Tindices, num_segments: Tnumsegments) -> output: T",
        f"T: {types}",
        f"Tindices: {indices}",
        "Tnumsegments: {int32, int64} = int32",
    )
    spec.shape(unsorted_segments_shape)
    return spec


def unsorted_segments_shape(data: Tensor, segment_ids: Tensor, num_segments: Tensor) -> Shape:
    size = _size(num_segments, "num_segments")
    shape, ids = data.static_shape, segment_ids.static_shape
    if ids.dims is None:
        return UNKNOWN_SHAPE
    if shape.dims is None:
        return UNKNOWN_SHAPE
    at_least(shape, len(ids.dims))
    merge_shapes(Shape(shape.dims[: len(ids.dims)]), ids)
    return Shape((size, *shape.dims[len(ids.dims) :]))


def _reduce_unsorted_segments(ufunc: Any, data: Array, segment_ids: Array, num_segments: Array, nothing: Any) -> Array:
    """For each of `num_segments` ids the reduction of its rows of `data`; `nothing` where it has none. Negative ids are
    left out.
    """
    rank = np.ndim(segment_ids)
    if np.ndim(num_segments) or num_segments < 0:
        raise InvalidArgumentError("num_segments should be a scalar that is not negative")
    if data.shape[:rank] != np.shape(segment_ids):
        raise InvalidArgumentError(
            f"data.shape = {list(data.shape)} does not start with segment_ids.shape = {list(np.shape(segment_ids))}"
        )
    ids, count = np.reshape(segment_ids, -1), int(num_segments)
    if ids.size and np.max(ids) >= count:
        at = int(np.argmax(ids >= count))
        raise InvalidArgumentError(f"segment_ids[{at}] = {int(ids[at])} is out of range [0, {count})")
    rows = np.reshape(data, (ids.size, *data.shape[rank:]))
    if ids.size and np.min(ids) < 0:
        counted = ids >= 0
        ids, rows = ids[counted], rows[counted]
    return by_segment(ufunc, rows, ids, count, nothing)


def _gather_present(params: Tensor, ids: Tensor | None, clipped: Any = None, mask: Any = None) -> tuple[Any, Any, Any]:
    """Rows by id, zeros for ids below zero; with what was found on the way, to be used again."""
    if clipped is None:
        clipped = emit("Maximum", ids, zeros_like(ids)) if ids is not None else None
    gathered = gather(params, clipped)
    if mask is None:
        mask = emit("GreaterEqual", ids, 0)
        mask_shape = shape_of(mask)
        missing = minus(rank_of(gathered), rank_of(mask))
        rest = ones([missing], mask_shape.dtype.base_dtype)
        mask = reshape(mask, concat([mask_shape, rest]))
        mask = plain("LogicalAnd", mask, ones_like(gathered, BOOL), "and")
    none = zeros_like(gathered)
    return emit("SelectV2", mask, gathered, none), clipped, mask


unsorted_segment_sum = unsorted_segments("UnsortedSegmentSum", "numbertype", "{int16, int32, int64}")


@unsorted_segment_sum.kernel
def unsorted_segment_sum_kernel(data: Array, segment_ids: Array, num_segments: Array) -> Array:
    return _reduce_unsorted_segments(np.add, data, segment_ids, num_segments, 0)


@unsorted_segment_sum.gradient
def unsorted_segment_sum_gradient(op: Operation, dy: Tensor) -> Gradients:
    return _gather_present(dy, op.inputs[1])[0], None, None


unsorted_segment_prod = unsorted_segments("UnsortedSegmentProd", "numbertype")


@unsorted_segment_prod.kernel
def unsorted_segment_prod_kernel(data: Array, segment_ids: Array, num_segments: Array) -> Array:
    return _reduce_unsorted_segments(np.multiply, data, segment_ids, num_segments, 1)


@unsorted_segment_prod.gradient
def unsorted_segment_prod_gradient(op: Operation, dy: Tensor) -> Gradients:
    data, ids, count = op.inputs
    is_zero = emit("Equal", data, 0)
    zeros_in = unsorted_segment_sum(cast(is_zero, INT32), ids, count)
    dy = emit("SelectV2", emit("Greater", zeros_in, 1), zeros_like(dy), dy)
    divisors = emit("SelectV2", is_zero, ones_like(data), data)
    without_zeros = unsorted_segment_prod(divisors, ids, count)
    clipped = emit("Maximum", ids, zeros_like(ids))
    products = gather(op.outputs[0], clipped)
    others = gather(without_zeros, clipped)
    quotients = over(products, data)
    partial = emit("SelectV2", is_zero, others, quotients)
    return times(_gather_present(dy, ids, clipped)[0], partial), None, None


def _beyond(dtype: np.dtype[Any], highest: bool) -> Any:
    """The largest or smallest number of a type."""
    if dtype.kind in "iu":
        return np.iinfo(dtype).max if highest else np.iinfo(dtype).min
    if dtype == np.float16:
        limit = 65504.0
    elif dtype.itemsize == 2:
        limit = 3.3895313892515355e38
    else:
        limit = float(np.finfo(dtype).max)
    return dtype.type(limit if highest else -limit)


unsorted_segment_max = unsorted_segments("UnsortedSegmentMax", "realnumbertype")


@unsorted_segment_max.kernel
def unsorted_segment_max_kernel(data: Array, segment_ids: Array, num_segments: Array) -> Array:
    return _reduce_unsorted_segments(np.maximum, data, segment_ids, num_segments, _beyond(data.dtype, False))


unsorted_segment_min = unsorted_segments("UnsortedSegmentMin", "realnumbertype")


@unsorted_segment_min.kernel
def unsorted_segment_min_kernel(data: Array, segment_ids: Array, num_segments: Array) -> Array:
    return _reduce_unsorted_segments(np.minimum, data, segment_ids, num_segments, _beyond(data.dtype, True))


@unsorted_segment_max.gradient
@unsorted_segment_min.gradient
def unsorted_segment_extreme_gradient(op: Operation, dy: Tensor) -> Gradients:
    data, ids, count = op.inputs
    extremes, clipped, mask = _gather_present(op.outputs[0], ids)
    chosen = emit("Equal", data, extremes)
    chosen = emit("LogicalAnd", chosen, mask)
    counts = unsorted_segment_sum(cast(chosen, dy.dtype.base_dtype), ids, count)
    shares, _, _ = _gather_present(over(dy, counts), None, clipped, mask)
    return emit("SelectV2", chosen, shares, zeros_like(shares)), None, None


# ---------------------------------------------------------------------------------------------------- Picked rows


def sparse_segments(name: str, types: str, counted: bool) -> OpSpec:
    """Segments of rows that indices pick; `counted` if the number of segments is an input."""
    more = ", num_segments: Tnumsegments" if counted else ""
    spec = op(
        f"{name}(data: T, indices: Tidx, segment_ids: Tsegmentids{more}) -> output: T",
        f"T: {types}",
        "Tidx: {int32, int64} = int32",
        *(["Tnumsegments: {int32, int64} = int32"] if counted else []),
        "Tsegmentids: {int32, int64} = int32",
        "sparse_gradient: bool = false",
    )
    spec.shape(counted_sparse_segments_shape if counted else sparse_segments_shape)
    return spec


def _check_picks(indices: Tensor, segment_ids: Tensor) -> None:
    merge_shapes(with_rank(indices, 1), with_rank(segment_ids, 1))


def sparse_segments_shape(data: Tensor, indices: Tensor, segment_ids: Tensor) -> Shape:
    _check_picks(indices, segment_ids)
    return _rows_of(data, None)


def counted_sparse_segments_shape(data: Tensor, indices: Tensor, segment_ids: Tensor, num_segments: Tensor) -> Shape:
    _check_picks(indices, segment_ids)
    return _rows_of(data, _size(num_segments, "num_segments"))


def _sum_picked_rows(data: Array, indices: Array, segment_ids: Array, num_segments: Any, scale: Any) -> Array:
    """For each segment the sum of the rows of `data` that `indices` pick for it; divided by what `scale` makes of their
    number.
    """
    if np.ndim(indices) != 1 or np.ndim(segment_ids) != 1 or indices.size != segment_ids.size:
        raise InvalidArgumentError("segment_ids and indices should be vectors of the same size.")
    if np.ndim(data) < 1:
        raise InvalidArgumentError("Shape must be at least rank 1 but is rank 0")
    _checked_ids(segment_ids, indices.size)
    if np.any(indices < 0) or np.any(indices >= data.shape[0]):
        at = int(np.argmax((indices < 0) | (indices >= data.shape[0])))
        raise InvalidArgumentError(f"Bad: indices[{at}] == {int(indices[at])} out of range [0, {data.shape[0]})")
    needed = int(segment_ids[-1]) + 1 if segment_ids.size else 0
    count = needed if num_segments is None else int(num_segments)
    if count < needed:
        raise InvalidArgumentError("segment ids must be < num_segments")
    totals = by_segment(np.add, data[indices], segment_ids, count, 0)
    return totals if scale is None or not count else _divide_rows(totals, scale(_counts(segment_ids, count)))


def _itself(counts: Any) -> Any:
    return counts


def sparse_segment_sum_kernel(
    data: Array, indices: Array, segment_ids: Array, num_segments: Array | None = None
) -> Array:
    return _sum_picked_rows(data, indices, segment_ids, num_segments, None)


def sparse_segment_mean_kernel(
    data: Array, indices: Array, segment_ids: Array, num_segments: Array | None = None
) -> Array:
    return _sum_picked_rows(data, indices, segment_ids, num_segments, _itself)


def sparse_segment_sqrt_n_kernel(
    data: Array, indices: Array, segment_ids: Array, num_segments: Array | None = None
) -> Array:
    return _sum_picked_rows(data, indices, segment_ids, num_segments, np.sqrt)


def _sparse_gradient(grad: str) -> Any:
    """The gradient of picked rows, by the op for it: dense, or rows alone if the operation asks for that."""

    def gradient(op: Operation, dy: Tensor) -> Gradients:
        data, indices, ids = op.inputs[:3]
        nothing = [None] * (len(op.inputs) - 1)
        data_shape = shape_of(data)
        rows = first_size(data_shape)
        if op.attr("sparse_gradient"):
            values, places = emit_tensors(f"{grad}V2", dy, indices, ids, rows)
            return [IndexedSlices(values, places, data_shape), *nothing]
        return [emit(grad, dy, indices, ids, rows), *nothing]

    return gradient


def _sparse_family(name: str, types: str, kernel: Any) -> tuple[OpSpec, OpSpec]:
    plain_op, counted = sparse_segments(name, types, False), sparse_segments(f"{name}WithNumSegments", types, True)
    for spec in (plain_op, counted):
        spec.kernel(kernel)
        spec.gradient(_sparse_gradient(f"{name}Grad"))
    return plain_op, counted


sparse_segment_sum, sparse_segment_sum_with_num_segments = _sparse_family(
    "SparseSegmentSum", "realnumbertype", sparse_segment_sum_kernel
)
sparse_segment_mean, sparse_segment_mean_with_num_segments = _sparse_family(
    "SparseSegmentMean", _FLOATS, sparse_segment_mean_kernel
)
sparse_segment_sqrt_n, sparse_segment_sqrt_n_with_num_segments = _sparse_family(
    "SparseSegmentSqrtN", _FLOATS, sparse_segment_sqrt_n_kernel
)


# ---------------------------------------------------------------------------------------------------- Their gradients


def _given_back(grad: Any, indices: Any, segment_ids: Any, rows: Any, scale: Any) -> tuple[Any, Any]:
    """The gradient of each picked row, and the numbers of the picked rows, in order."""
    if np.ndim(indices) != 1 or np.ndim(segment_ids) != 1 or indices.size != segment_ids.size:
        raise InvalidArgumentError("segment_ids and indices should be vectors of the same size.")
    limit = int(rows)
    if np.any(indices < 0) or np.any(indices >= limit):
        at = int(np.argmax((indices < 0) | (indices >= limit)))
        raise InvalidArgumentError(f"Index {int(indices[at])} out of range [0, {limit}).")
    if np.any(segment_ids < 0) or np.any(segment_ids >= grad.shape[0]):
        raise InvalidArgumentError(f"Segment id out of range [0, {grad.shape[0]}).")
    given = grad if scale is None else _divide_rows(grad, scale(_counts(segment_ids, grad.shape[0])))
    places, positions = np.unique(indices, return_inverse=True)
    return by_segment(np.add, given[segment_ids], positions, places.size, 0), places


def _spread_gradient(grad: Array, indices: Array, segment_ids: Array, rows: Array, scale: Any) -> Array:
    values, places = _given_back(grad, indices, segment_ids, rows, scale)
    check_allocation((int(rows), *grad.shape[1:]), grad.dtype)
    result = np.zeros((int(rows), *grad.shape[1:]), grad.dtype)
    result[places] = values
    return result


def sparse_segment_grad_shape(grad: Tensor, indices: Tensor, segment_ids: Tensor, output_dim0: Tensor) -> Shape:
    _check_picks(indices, segment_ids)
    return _rows_of(grad, _size(output_dim0, "output_dim0"))


def sparse_segment_grad_v2_shape(
    grad: Tensor, indices: Tensor, segment_ids: Tensor, dense_output_dim0: Tensor
) -> tuple[Shape, Shape]:
    _check_picks(indices, segment_ids)
    with_rank(dense_output_dim0, 0)
    return _rows_of(grad, None), Shape((None,))


def _gradient_family(name: str, scale: Any) -> tuple[OpSpec, OpSpec]:
    clauses = (f"T: {_FLOATS}", "Tidx: {int32, int64} = int32", "Tsegmentids: {int32, int64} = int32")
    inputs = "grad: T, indices: Tidx, segment_ids: Tsegmentids"
    dense = op(f"{name}({inputs}, output_dim0: int32) -> output: T", *clauses)
    dense.shape(sparse_segment_grad_shape)

    @dense.kernel
    def sparse_segment_grad_kernel(grad: Array, indices: Array, segment_ids: Array, output_dim0: Array) -> Array:
        return _spread_gradient(grad, indices, segment_ids, output_dim0, scale)

    rows = op(
        f"{name}V2({inputs}, dense_output_dim0: int32) -> output: T, sorted_unique_indices: Tidx",
        *clauses,
    )
    rows.shape(sparse_segment_grad_v2_shape)

    @rows.kernel
    def sparse_segment_grad_v2_kernel(
        grad: Array, indices: Array, segment_ids: Array, dense_output_dim0: Array
    ) -> tuple[Array, Array]:
        return _given_back(grad, indices, segment_ids, dense_output_dim0, scale)

    return dense, rows


sparse_segment_sum_grad, sparse_segment_sum_grad_v2 = _gradient_family("SparseSegmentSumGrad", None)
sparse_segment_mean_grad, sparse_segment_mean_grad_v2 = _gradient_family("SparseSegmentMeanGrad", _itself)
sparse_segment_sqrt_n_grad, sparse_segment_sqrt_n_grad_v2 = _gradient_family("SparseSegmentSqrtNGrad", np.sqrt)
