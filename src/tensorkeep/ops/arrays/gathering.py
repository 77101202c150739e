"""Elements found by index or by value: Gather, Where, Unique, ListDiff, LowerBound, EditDistance."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.building import colocate_with
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.shared.dimensions import (
    UNKNOWN_VECTOR,
    at_least,
    constant_integer,
    constant_integers,
    normalized_axis,
    part,
    size_at,
    unknown_of_rank,
)
from tensorkeep.ops.shared.expressions import (
    cast,
    concat,
    ones,
    plus,
    rank_of,
    reshape,
    shape_of,
    size_of,
    span,
    times,
    zeros,
)
from tensorkeep.ops.shared.expressions import gather as gather_rows
from tensorkeep.ops.shared.indexing import dense, item, static_value
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

# ---------------------------------------------------------------------------------------------------- Gather

gather = op(
    "Gather(params: Tparams, indices: Tindices) -> output: Tparams",
    "validate_indices: bool = true",
    "Tparams: type",
    "Tindices: {int32, int64}",
)


@gather.shape
def gather_shape(params: Tensor, indices: Tensor) -> Shape:
    return indices.static_shape.concatenate(part(at_least(params.static_shape, 1), 1))


@gather.kernel
def gather_kernel(params: Array, indices: Array) -> Array:
    if np.ndim(params) < 1:
        raise InvalidArgumentError("params must be at least 1 dimensional")
    _check_indices(indices, params.shape[0])
    return params.take(indices, 0)


def _check_indices(indices: Any, limit: int) -> None:
    """An error unless all indices are of the `limit` elements there are, counted from the front."""
    if np.size(indices) == 1 and 0 <= indices.item() < limit:
        return
    if np.size(indices) and not (indices.min() >= 0 and indices.max() < limit):
        wrong = np.argwhere(np.asarray((indices < 0) | (indices >= limit)))[0]
        place = ",".join(map(str, wrong))
        value = np.asarray(indices)[tuple(wrong)]
        raise InvalidArgumentError(f"indices[{place}] = {value} is not in [0, {limit})")


@gather.gradient
def gather_gradient(op: Operation, dy: Tensor) -> Gradients:
    params, indices = op.inputs
    with colocate_with(params):
        shape = shape_of(params)
    count = emit("ExpandDims", size_of(indices), 0)
    return [_row_slices(dy, indices, count, shape), None]


def _row_slices(dy: Any, indices: Tensor, count: Tensor, shape: Tensor) -> IndexedSlices:
    """The gradient of rows that were chosen by `indices` from a tensor of `shape`, as the `count` rows of `dy` under
    these indices.
    """
    values_shape = concat([count, item(shape, slice(1, None))], 0)
    values = reshape(dense(dy), values_shape)
    return IndexedSlices(values, reshape(indices, count), shape)


gather_v2 = op(
    "GatherV2(params: Tparams, indices: Tindices, axis: Taxis) -> output: Tparams",
    "batch_dims: int = 0",
    "Tparams: type",
    "Tindices: {int16, int32, int64}",
    "Taxis: {int32, int64}",
)


@gather_v2.shape
def gather_v2_shape(params: Tensor, indices: Tensor, axis: Tensor, *, batch_dims: int) -> Shape:
    values, places = at_least(params.static_shape, 1), indices.static_shape
    with_rank(axis, 0)
    at = constant_integer(axis)
    if at is None:
        if values.rank is None or places.rank is None:
            return UNKNOWN_SHAPE
        return unknown_of_rank(values.rank + places.rank - 1 - (batch_dims % places.rank if batch_dims else 0))
    at_least(values, -at if at < 0 else at + 1)
    at_least(places, abs(batch_dims))
    if batch_dims < 0:
        if places.rank is None:
            return UNKNOWN_SHAPE
        batch_dims += places.rank
    at_least(values, batch_dims + 1)
    if values.dims is None:
        return UNKNOWN_SHAPE
    at = normalized_axis(at, len(values.dims))
    return part(values, 0, at).concatenate(part(places, batch_dims)).concatenate(part(values, at + 1))


@gather_v2.kernel
def gather_v2_kernel(params: Array, indices: Array, axis: Array, *, batch_dims: int) -> Array:
    if np.ndim(params) < 1:
        raise InvalidArgumentError("params must be at least 1 dimensional")
    if np.size(axis) != 1:
        raise InvalidArgumentError("axis must be a scalar")
    at = normalized_axis(int(axis.item()), params.ndim)
    if batch_dims:
        return _gather_in_batches(params, np.asarray(indices), at, batch_dims)
    _check_indices(indices, params.shape[at])
    return params.take(indices, at)


def _gather_in_batches(params: Array, indices: Any, axis: int, batch_dims: int) -> Array:
    if not -indices.ndim <= batch_dims <= indices.ndim:
        raise InvalidArgumentError(f"Expected batch_dims in the range [-{indices.ndim}, {indices.ndim}]: {batch_dims}")
    batch_dims += indices.ndim if batch_dims < 0 else 0
    if batch_dims >= params.ndim or axis < batch_dims:
        raise InvalidArgumentError(f"batch_dims ({batch_dims}) must be less than or equal to axis ({axis})")
    batch = params.shape[:batch_dims]
    if indices.shape[:batch_dims] != batch:
        raise InvalidArgumentError(
            f"params.shape[:{batch_dims}] {list(batch)} should be equal to indices.shape[:{batch_dims}] "
            f"{list(indices.shape[:batch_dims])}"
        )
    outer, inner = params.shape[batch_dims:axis], params.shape[axis + 1 :]
    _check_indices(indices, params.shape[axis])
    count = int(np.prod(batch, dtype=np.int64))
    sizes = [int(np.prod(part, dtype=np.int64)) for part in (outer, inner, indices.shape[batch_dims:])]
    flat = params.reshape(count, sizes[0], params.shape[axis], sizes[1])
    places = indices.reshape(count, sizes[2])
    found = flat[np.arange(count)[:, None], :, places]  # count, places, outer, inner
    return found.transpose(0, 2, 1, 3).reshape((*batch, *outer, *indices.shape[batch_dims:], *inner))


@gather_v2.gradient
def gather_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    params, indices, axis = op.inputs
    with colocate_with(params):
        shape = shape_of(params)
    count = emit("ExpandDims", size_of(indices), 0)
    batch_dims = op.get_attr("batch_dims")
    if batch_dims < 0:
        if indices.static_shape.rank is None:
            raise InvalidArgumentError(
                "Currently, it is unsupported to take the gradient of tf.gather when batch_dims < 0 and the rank of "
                f"the indices is unknown. Got batch_dims={batch_dims} and indices={indices}"
            )
        batch_dims += indices.static_shape.rank
    known = static_value(axis)
    if known is not None and int(known) == 0:
        return [_row_slices(dy, indices, count, shape), None, None]
    grad = _gradient_along_axis(dy, shape, indices, axis, batch_dims)
    return [reshape(grad, shape_of(params)), None, None]


def _gradient_along_axis(dy: Any, shape: Tensor, indices: Tensor, axis: Tensor, batch_dims: int) -> Tensor:
    """The gradient with the axis moved to the front, summed by index there, and moved back."""
    outer = item(shape, slice(None, axis))
    inner = item(item(shape, slice(axis, None)), slice(1, None))
    values_shape = concat([outer, [-1], inner], 0)
    values_dims, axis_dims = size_of(values_shape), size_of(outer)
    batches = span(0, batch_dims)
    between = emit("Range", batch_dims, axis_dims, 1, name="range")
    behind = emit("Range", plus(axis_dims, 1), values_dims, 1, name="range")
    values = reshape(dense(dy), values_shape)
    order = concat([batches, [axis_dims], between, behind], 0)
    turned = emit("Transpose", values, order, name="transpose")
    turned_shape = gather_rows(shape, order)
    summed = _batch_gradient(turned_shape, turned, indices, batch_dims, item(shape, axis))
    back = concat([batches, plus(between, 1), [batch_dims], behind], 0)
    found: Tensor = emit("Transpose", summed, back, name="transpose")
    return found


def _batch_gradient(shape: Tensor, values: Any, indices: Tensor, batch_dims: int, rows: Tensor) -> Tensor:
    count = emit("ExpandDims", size_of(indices), 0)
    if not batch_dims:
        summed: Tensor = emit("UnsortedSegmentSum", values, reshape(indices, count), rows)
        return summed
    values_shape = shape_of(values)
    outer = item(values_shape, slice(None, batch_dims))
    inner = item(item(values_shape, slice(batch_dims, None)), slice(1, None))
    batch_size = emit("Prod", outer, [0], keep_dims=False)
    flat_shape = concat([[-1], inner], 0)
    rows = times(rows, batch_size)
    indices = _batch_indices(shape, indices, batch_dims)
    values = reshape(dense(values), flat_shape)
    summed = emit("UnsortedSegmentSum", values, reshape(indices, count), rows)
    return reshape(summed, concat([outer, flat_shape], 0))


def _batch_indices(shape: Tensor, indices: Tensor, batch_dims: int) -> Tensor:
    """Indices into all batches laid end to end."""
    dtype = indices.dtype.base_dtype
    sizes = cast(shape, dtype)
    step = ones((), dtype)
    found = indices
    for dim in range(batch_dims, 0, -1):
        size = item(sizes, dim - 1)
        step = times(step, item(sizes, dim))
        starts = emit("Range", zeros((), dtype), size, ones((), dtype), name="range")
        starts = times(starts, step)
        ahead = emit("Tile", [1], [dim - 1])
        behind = emit("Tile", [1], [emit("Sub", rank_of(indices), dim, name="sub")])
        found = plus(found, reshape(starts, concat([ahead, [size], behind], 0)))
    return found


gather_nd = op(
    "GatherNd(params: Tparams, indices: Tindices) -> output: Tparams",
    "Tparams: type",
    "Tindices: {int16, int32, int64}",
    "bad_indices_policy: string = ''",
)


@gather_nd.shape
def gather_nd_shape(params: Tensor, indices: Tensor) -> Shape:
    values, places = params.static_shape, at_least(indices.static_shape, 1)
    depth = size_at(places, -1)
    if values.rank is None or depth is None:
        return UNKNOWN_SHAPE
    if depth > values.rank:
        raise InvalidArgumentError(
            f"indices.shape[-1] must be <= params.rank, but saw indices shape: {places} and params shape: {values}"
        )
    return part(places, 0, -1).concatenate(part(values, depth))


@gather_nd.kernel
def gather_nd_kernel(params: Array, indices: Array, *, bad_indices_policy: bytes) -> Array:
    params = np.asarray(params)
    if params.ndim < 1 or np.ndim(indices) < 1:
        raise InvalidArgumentError("params and indices must be at least a vector")
    depth = indices.shape[-1]
    if depth > params.ndim:
        raise InvalidArgumentError(f"index innermost dimension length must be <= params rank; saw: {depth}")
    if not params.size and np.prod(indices.shape[:-1]):
        raise InvalidArgumentError(f"Requested more than 0 entries, but params is empty: {list(params.shape)}")
    places = np.moveaxis(indices, -1, 0)
    limits = np.array(params.shape[:depth], np.int64).reshape((depth,) + (1,) * (indices.ndim - 1))
    bad = ((places < 0) | (places >= limits)).any(axis=0)
    if not bad.any():
        return params[tuple(places)] if depth else np.broadcast_to(params, (*indices.shape[:-1], *params.shape))
    if bad_indices_policy.upper() != b"IGNORE":
        first = np.argwhere(bad)[0]
        raise InvalidArgumentError(
            f"indices[{','.join(map(str, first))}] = {indices[tuple(first)].tolist()} does not index into param shape "
            f"{list(params.shape)}"
        )
    found = np.zeros((*indices.shape[:-1], *params.shape[depth:]), params.dtype)
    found[~bad] = params[tuple(axis[~bad] for axis in places)]
    return found


@gather_nd.gradient
def gather_nd_gradient(op: Operation, dy: Tensor) -> Gradients:
    params, indices = op.inputs
    shape = shape_of(params, out_type=indices.dtype.base_dtype)
    dims = indices.static_shape.dims
    if dims is not None and len(dims) == 2 and dims[-1] == 1:
        return [IndexedSlices(dy, emit("Squeeze", indices, squeeze_dims=[-1]), shape), None]
    policy = op.get_attr("bad_indices_policy")
    return [emit("ScatterNd", indices, dy, shape, bad_indices_policy=policy), None]


# ---------------------------------------------------------------------------------------------------- By value

where = op(
    "Where(input: T) -> index: int64",
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, quint16, "
    "uint16, complex128, half, uint32, uint64, bool} = bool",
)


@where.shape
def where_shape(input: Tensor) -> Shape:
    return Shape((None, input.static_shape.rank))


@where.kernel
def where_kernel(input: Array) -> Array:
    if np.ndim(input) == 0:
        raise InvalidArgumentError("WhereOp : Unhandled input dimensions: 0")
    return np.argwhere(input != 0)


unique = op("Unique(x: T) -> y: T, idx: out_idx", "T: type", "out_idx: {int32, int64} = int32")
unique_v2 = op(
    "UniqueV2(x: T, axis: Taxis) -> y: T, idx: out_idx",
    "T: type",
    "Taxis: {int32, int64} = int64",
    "out_idx: {int32, int64} = int32",
)
unique_with_counts = op(
    "UniqueWithCounts(x: T) -> y: T, idx: out_idx, count: out_idx", "T: type", "out_idx: {int32, int64} = int32"
)
unique_with_counts_v2 = op(
    "UniqueWithCountsV2(x: T, axis: Taxis) -> y: T, idx: out_idx, count: out_idx",
    "T: type",
    "Taxis: {int32, int64} = int64",
    "out_idx: {int32, int64} = int32",
)


@unique.shape
def unique_shape(x: Tensor) -> tuple[Shape, Shape]:
    with_rank(x, 1)
    return UNKNOWN_VECTOR, x.static_shape


@unique_with_counts.shape
def unique_with_counts_shape(x: Tensor) -> tuple[Shape, Shape, Shape]:
    return *unique_shape(x), UNKNOWN_VECTOR


@unique_v2.shape
def unique_v2_shape(x: Tensor, axis: Tensor) -> tuple[Shape, Shape]:
    return unknown_of_rank(x.static_shape.rank), _index_shape(x.static_shape, axis)


def _index_shape(found: Shape, axis: Tensor) -> Shape:
    axes = constant_integers(axis)
    if axes is None or found.dims is None:
        return UNKNOWN_VECTOR
    if axis.static_shape.rank != 1:
        raise InvalidArgumentError("axis expects a 1D vector.")
    if len(axes) > 1:
        raise InvalidArgumentError("axis does not support input tensors larger than 1 elements.")
    if not axes:
        if len(found.dims) != 1:
            raise InvalidArgumentError("x expects a 1D vector.")
        return found
    return Shape((found.dims[normalized_axis(axes[0], len(found.dims))],))


@unique_with_counts_v2.shape
def unique_with_counts_v2_shape(x: Tensor, axis: Tensor) -> tuple[Shape, Shape, Shape]:
    return *unique_v2_shape(x, axis), UNKNOWN_VECTOR


@unique.kernel
def unique_kernel(x: Array, *, out_idx: DType) -> tuple[Array, Array]:
    return _unique(x, 0, out_idx)[:2]


@unique_with_counts.kernel
def unique_with_counts_kernel(x: Array, *, out_idx: DType) -> tuple[Array, Array, Array]:
    return _unique(x, 0, out_idx)


@unique_v2.kernel
def unique_v2_kernel(x: Array, axis: Array, *, out_idx: DType) -> tuple[Array, Array]:
    return _unique(x, _unique_axis(x, axis), out_idx)[:2]


@unique_with_counts_v2.kernel
def unique_with_counts_v2_kernel(x: Array, axis: Array, *, out_idx: DType) -> tuple[Array, Array, Array]:
    return _unique(x, _unique_axis(x, axis), out_idx)


def _unique_axis(x: Any, axis: Any) -> int:
    if axis.ndim != 1 or axis.size > 1:
        raise InvalidArgumentError("axis expects a 1D vector of at most one element")
    if not axis.size:
        return 0 if np.ndim(x) == 1 else -np.ndim(x) - 1
    return normalized_axis(int(axis[0]), np.ndim(x))


def _unique(x: Any, axis: int, out_idx: DType) -> tuple[Any, Any, Any]:
    """The distinct elements along an axis as they first occur, which of them each element is, and their counts."""
    if axis < 0 or (axis == 0 and np.ndim(x) < 1):
        raise InvalidArgumentError(f"unique expects a 1D vector, got shape {list(np.shape(x))}")
    if not x.shape[axis]:
        return x, np.zeros(0, out_idx.array_dtype), np.zeros(0, out_idx.array_dtype)
    codes = x
    if x.ndim > 1:
        flat = _sortable(x.reshape(-1))
        codes = np.unique(flat, return_inverse=True, equal_nan=False)[1].reshape(x.shape)
        codes = np.moveaxis(codes, axis, 0).reshape(x.shape[axis], -1)
    else:
        codes = _sortable(x)
    _, first, inverse, counts = np.unique(
        codes,
        return_index=True,
        return_inverse=True,
        return_counts=True,
        equal_nan=False,
        axis=0 if x.ndim > 1 else None,
    )
    order = np.argsort(first)
    numbers = np.empty(len(order), out_idx.array_dtype)
    numbers[order] = np.arange(len(order))
    return x.take(first[order], axis), numbers[inverse.reshape(-1)], counts[order].astype(out_idx.array_dtype)


def _sortable(x: Any) -> Any:
    """The array in a type that NumPy sorts."""
    return x.astype(np.float32) if x.dtype.kind == "V" else x


list_diff = op("ListDiff(x: T, y: T) -> out: T, idx: out_idx", "T: type", "out_idx: {int32, int64} = int32")


@list_diff.shape
def list_diff_shape(x: Tensor, y: Tensor) -> tuple[Shape, Shape]:
    with_rank(x, 1)
    with_rank(y, 1)
    return UNKNOWN_VECTOR, UNKNOWN_VECTOR


@list_diff.kernel
def list_diff_kernel(x: Array, y: Array, *, out_idx: DType) -> tuple[Array, Array]:
    if np.ndim(x) != 1 or np.ndim(y) != 1:
        raise InvalidArgumentError("x and y should be 1D vectors.")
    if x.dtype == object:
        known = set(y.tolist())
        kept = np.flatnonzero([value not in known for value in x.tolist()])
    else:
        kept = np.flatnonzero(~np.isin(_sortable(x), _sortable(y)))
    return x[kept], kept.astype(out_idx.array_dtype)


lower_bound, upper_bound = (
    op(f"{name}(sorted_inputs: T, values: T) -> output: out_type", "T: type", "out_type: {int32, int64} = int32")
    for name in ("LowerBound", "UpperBound")
)


@lower_bound.shape
@upper_bound.shape
def bound_shape(sorted_inputs: Tensor, values: Tensor) -> Shape:
    with_rank(sorted_inputs, 2)
    with_rank(values, 2)
    return values.static_shape


@lower_bound.kernel
def lower_bound_kernel(sorted_inputs: Array, values: Array, *, out_type: DType) -> Array:
    return _bounds(sorted_inputs, values, "left", out_type)


@upper_bound.kernel
def upper_bound_kernel(sorted_inputs: Array, values: Array, *, out_type: DType) -> Array:
    return _bounds(sorted_inputs, values, "right", out_type)


def _bounds(rows: Array, values: Array, side: Any, out_type: DType) -> Array:
    if rows.ndim != 2 or values.ndim != 2 or len(rows) != len(values):
        raise InvalidArgumentError(
            f"sorted_inputs and values must be matrices of as many rows, got {list(rows.shape)}, {list(values.shape)}"
        )
    rows, values = _sortable(rows), _sortable(values)
    found = np.empty(values.shape, out_type.array_dtype)
    for i, row in enumerate(rows):
        found[i] = np.searchsorted(row, values[i], side)
    return found


not_differentiable(where)

# ---------------------------------------------------------------------------------------------------- Distance

edit_distance = op(
    "EditDistance(hypothesis_indices: int64, hypothesis_values: T, hypothesis_shape: int64, truth_indices: int64, "
    "truth_values: T, truth_shape: int64) -> output: float",
    "normalize: bool = true",
    "T: type",
)
not_differentiable(edit_distance)


@edit_distance.shape
def edit_distance_shape(
    hypothesis_indices: Tensor,
    hypothesis_values: Tensor,
    hypothesis_shape: Tensor,
    truth_indices: Tensor,
    truth_values: Tensor,
    truth_shape: Tensor,
) -> Shape:
    for tensor, rank in ((hypothesis_indices, 2), (hypothesis_values, 1), (hypothesis_shape, 1)):
        with_rank(tensor, rank)
    for tensor, rank in ((truth_indices, 2), (truth_values, 1), (truth_shape, 1)):
        with_rank(tensor, rank)
    first, second = constant_value(hypothesis_shape), constant_value(truth_shape)
    if first is None or second is None:
        return UNKNOWN_SHAPE
    if len(first) != len(second):
        raise InvalidArgumentError(
            f"Num elements of hypothesis_shape does not match truth_shape: {len(first)} vs. {len(second)}"
        )
    return Shape(tuple(int(size) for size in np.maximum(first, second)[:-1]))


@edit_distance.kernel
def edit_distance_kernel(
    hypothesis_indices: Array,
    hypothesis_values: Array,
    hypothesis_shape: Array,
    truth_indices: Array,
    truth_values: Array,
    truth_shape: Array,
    *,
    normalize: bool,
) -> Array:
    guesses = _sequences(hypothesis_indices, hypothesis_values, hypothesis_shape)
    truths = _sequences(truth_indices, truth_values, truth_shape)
    if len(hypothesis_shape) != len(truth_shape):
        raise InvalidArgumentError("Expected hypothesis_shape and truth_shape to have as many elements")
    out = np.zeros(np.maximum(hypothesis_shape, truth_shape)[:-1], np.float32)
    for place in guesses.keys() | truths.keys():
        guess, truth = guesses.get(place, []), truths.get(place, [])
        distance = float(_distance(guess, truth))
        if normalize and truth:
            distance /= len(truth)
        elif normalize and guess:
            distance = np.inf
        out[place] = distance
    return out


def _sequences(indices: Any, values: Any, shape: Any) -> dict[tuple[int, ...], list[Any]]:
    """The values of a sparse tensor, by all but the last coordinate."""
    if indices.ndim != 2 or values.ndim != 1 or shape.ndim != 1 or indices.shape != (len(values), len(shape)):
        raise InvalidArgumentError("indices should be a matrix with one row per value and one column per dimension")
    places, limits = indices[:, :-1], shape[:-1]
    if len(shape) < 2 or (places.size and ((places < 0) | (places >= limits)).any()):
        raise InvalidArgumentError(f"indices are out of bounds of shape {shape.tolist()}")
    found: dict[tuple[int, ...], list[Any]] = {}
    for place, value in zip(map(tuple, indices[:, :-1].tolist()), values.tolist(), strict=True):
        found.setdefault(place, []).append(value)
    return found


def _distance(first: list[Any], second: list[Any]) -> int:
    """How many insertions, deletions and replacements lead from one sequence to the other."""
    row = list(range(len(second) + 1))
    for i, left in enumerate(first, 1):
        corner, row[0] = row[0], i
        for j, right in enumerate(second, 1):
            corner, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, corner + (left != right))
    return row[-1]
