"""Ragged tensors: values in rows of different lengths, made dense, sparse, gathered, counted up, crossed, filled."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import INT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.constants import constant_shape, constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.ragged.rows import checked_splits, ranges, rows_of, splits_of
from tensorkeep.ops.shared.dimensions import at_most, merge_sizes
from tensorkeep.ops.shared.expressions import reshape, shape_of
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank, with_rank_at_least
from tensorkeep.ops.sparse.feature_columns import (
    Column,
    bucket_hashes,
    column_of,
    common_rows,
    cross_columns,
    hash_features,
    join_features,
    sparse_columns,
)
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

VECTOR = Shape((None,))


# ------------------------------------------------------------------------------------------------ To sparse

ragged_tensor_to_sparse = op(
    "RaggedTensorToSparse(rt_nested_splits: RAGGED_RANK * Tsplits, rt_dense_values: T) -> "
    "sparse_indices: int64, sparse_values: T, sparse_dense_shape: int64",
    "RAGGED_RANK: int >= 1",
    "T: type",
    "Tsplits: {int32, int64} = int64",
)


@ragged_tensor_to_sparse.shape
def ragged_tensor_to_sparse_shape(rt_nested_splits: list[Tensor], rt_dense_values: Tensor) -> tuple[Shape, ...]:
    values = with_rank_at_least(rt_dense_values, 1)
    for splits in rt_nested_splits:
        with_rank(splits, 1)
    rank = None if values.rank is None else values.rank + len(rt_nested_splits)
    count = values.element_count()
    return Shape((count, rank)), Shape((count,)), Shape((rank,))


@ragged_tensor_to_sparse.kernel
def ragged_tensor_to_sparse_kernel(rt_nested_splits: list[Array], rt_dense_values: Array) -> tuple[Array, Array, Array]:
    _check_nested(rt_nested_splits, rt_dense_values)
    inner = rt_dense_values.shape[1:]
    count, size = len(rt_dense_values), int(np.prod(inner, dtype=np.int64))
    columns = [np.tile(row.reshape(-1), count) for row in np.indices(inner)]
    widths: list[int] = list(inner)
    rows = np.repeat(np.arange(count), size)
    for splits in reversed(rt_nested_splits):
        parents = rows_of(splits)
        columns.insert(0, (np.arange(len(parents)) - splits[parents])[rows])
        widths.insert(0, int(np.diff(splits).max(initial=0)))
        rows = parents[rows]
    columns.insert(0, rows)
    widths.insert(0, len(rt_nested_splits[0]) - 1)
    indices = np.stack(columns, axis=1).astype(np.int64)
    return indices, rt_dense_values.reshape(-1), np.array(widths, np.int64)


def _check_nested(nested: list[Any], values: Any) -> None:
    """Refuses splits that part something else than what is there."""
    if np.ndim(values) < 1:
        raise InvalidArgumentError("Expected the values of a ragged tensor to have at least one dimension")
    for splits, count in zip(nested, [*(len(inner) - 1 for inner in nested[1:]), len(values)], strict=True):
        checked_splits(splits, count)


@ragged_tensor_to_sparse.gradient
def ragged_tensor_to_sparse_gradient(op: Operation, indices: Tensor, values: Tensor, shape: Tensor) -> Gradients:
    flat = op.inputs[-1]
    return [*[None] * (len(op.inputs) - 1), reshape(values, shape_of(flat))]


# ------------------------------------------------------------------------------------------------- To dense

ragged_tensor_to_tensor = op(
    "RaggedTensorToTensor(shape: Tshape, values: T, default_value: T, "
    "row_partition_tensors: num_row_partition_tensors * Tindex) -> result: T",
    "T: type",
    "Tindex: {int64, int32}",
    "Tshape: {int64, int32}",
    "num_row_partition_tensors: int >= 1",
    "row_partition_types: list(string)",
)


def _ragged_rank(row_partition_types: tuple[bytes, ...]) -> int:
    for kind in row_partition_types:
        if kind not in (b"FIRST_DIM_SIZE", b"ROW_SPLITS", b"VALUE_ROWIDS"):
            raise InvalidArgumentError(f"Unknown string for partition info type: {kind.decode(errors='replace')}")
    return len(row_partition_types) - (row_partition_types[:1] == (b"FIRST_DIM_SIZE",))


def _check_default(default: Shape, values: Shape) -> None:
    if default.dims is None or values.dims is None:
        return
    if len(default.dims) >= len(values.dims):
        raise InvalidArgumentError(
            f"default_value.shape={default} and rt_input.flat_values.shape={values} are incompatible: "
            f"default_value.rank = {len(default.dims)} must be less than rt_input.flat_values.rank = {len(values.dims)}"
        )
    for i, (mine, theirs) in enumerate(zip(default.dims, values.dims[1:], strict=False)):
        if None not in (mine, theirs) and mine not in (1, theirs):
            raise InvalidArgumentError(
                f"default_value.shape={default} and rt_input.flat_values.shape={values} are incompatible: "
                f"default_value.shape[{i}] = {mine} but rt_input.flat_values.shape[{i + 1}] = {theirs}"
            )


def _dense_sizes(told: Shape, values: Shape, ragged_rank: int) -> Shape:
    """What is known of the dense shape, of what was asked for and of the values."""
    if told.dims is None and values.dims is None:
        return UNKNOWN_SHAPE
    rank = ragged_rank + len(values.dims or ())
    sizes: list[int | None] = [None] * rank if told.dims is None else list(told.dims)
    if values.dims is None:
        return Shape(tuple(sizes))
    if len(sizes) != rank:
        raise InvalidArgumentError(
            f"rt_input.shape and shape={told} are incompatible: rt_input.rank = {rank} but shape.rank = {len(sizes)}"
        )
    for i, size in enumerate(values.dims[1:], ragged_rank + 1):
        if None not in (size, sizes[i]) and size != sizes[i]:
            raise InvalidArgumentError(
                f"rt_input.shape and shape={told} are incompatible: rt_input.shape[{i}] = {size} but "
                f"shape[{i}] = {sizes[i]}"
            )
        sizes[i] = sizes[i] if size is None else size
    return Shape(tuple(sizes))


@ragged_tensor_to_tensor.shape
def ragged_tensor_to_tensor_shape(
    shape: Tensor,
    values: Tensor,
    default_value: Tensor,
    row_partition_tensors: list[Tensor],
    *,
    row_partition_types: tuple[bytes, ...],
) -> Shape:
    rank = _ragged_rank(row_partition_types)
    _check_default(default_value.static_shape, values.static_shape)
    return _dense_sizes(_told_statically(shape), values.static_shape, rank)


def _told_statically(shape: Tensor) -> Shape:
    known = constant_value(shape)
    if known is not None:
        return _told_shape(known)
    sizes = shape.static_shape
    if sizes.rank == 0:
        raise InvalidArgumentError(
            "Received a shape scalar with unknown static value.  A static value of '-1' is required to represent an "
            "unknown shape."
        )
    return constant_shape(shape)


def _told_shape(shape: Any) -> Shape:
    """The shape that a tensor asks for: -1 is open, and as a scalar leaves everything open."""
    sizes = np.asarray(shape)
    if sizes.ndim == 0:
        if sizes != -1:
            raise InvalidArgumentError("The only valid scalar shape tensor is the fully unknown shape specified as -1.")
        return UNKNOWN_SHAPE
    if sizes.ndim != 1 or np.any(sizes < -1):
        raise InvalidArgumentError(f"shape must be a vector of sizes, -1 for those that are open, got {sizes}")
    return Shape.of(sizes.tolist())


@ragged_tensor_to_tensor.kernel
def ragged_tensor_to_tensor_kernel(
    shape: Array,
    values: Array,
    default_value: Array,
    row_partition_tensors: list[Array],
    *,
    row_partition_types: tuple[bytes, ...],
) -> Array:
    rank = _ragged_rank(row_partition_types)
    if len(row_partition_types) != len(row_partition_tensors):
        raise InvalidArgumentError("Expected as many row partition tensors as types")
    _check_default(Shape(np.shape(default_value)), Shape(np.shape(values)))
    first, levels = _levels(row_partition_tensors, row_partition_types)
    dense = _dense_sizes(_told_shape(shape), Shape(np.shape(values)), rank)
    sizes = [first, *(int(_lengths(*level).max(initial=0)) for level in levels), *values.shape[1:]]
    sizes = [size if told is None else told for size, told in zip(sizes, dense, strict=True)]
    check_allocation(sizes, values.dtype)
    found = np.empty(sizes, values.dtype)
    found[...] = default_value
    if found.size:
        _place(found.reshape(-1, *values.shape[1:]), values, first, levels, sizes)
    return found


def _levels(tensors: list[Any], kinds: tuple[bytes, ...]) -> tuple[int, list[tuple[Any, bytes]]]:
    """The number of rows, and how each dimension parts those of the next."""
    if kinds[0] == b"FIRST_DIM_SIZE":
        if np.size(tensors[0]) != 1 or tensors[0] < 0:
            raise InvalidArgumentError(f"FIRST_DIM_SIZE must be a scalar of 0 or more, got {tensors[0]}")
        return int(tensors[0]), list(zip(tensors[1:], kinds[1:], strict=True))
    if kinds[0] == b"VALUE_ROWIDS":
        raise InvalidArgumentError("Cannot handle VALUE_ROWIDS in first dimension.")
    if np.size(tensors[0]) == 0:
        raise InvalidArgumentError("Invalid first partition input. Tensor requires at least one element.")
    return len(tensors[0]) - 1, list(zip(tensors, kinds, strict=True))


def _lengths(tensor: Any, kind: bytes) -> Array:
    """How many values the rows have; of row ids, those rows that are there."""
    if np.ndim(tensor) != 1 or kind == b"FIRST_DIM_SIZE":
        raise InvalidArgumentError(f"{kind.decode()} of shape {list(np.shape(tensor))} cannot part rows")
    if kind == b"ROW_SPLITS":
        return np.diff(tensor)
    steps = np.diff(tensor)
    if steps.min(initial=0) < 0 or tensor[:1].min(initial=0) < 0:
        raise InvalidArgumentError("Invalid value_rowids: they must be in ascending order, and not negative")
    return np.diff(np.flatnonzero(steps), prepend=-1, append=len(tensor) - 1)


def _place(found: Array, values: Array, first: int, levels: list[tuple[Any, bytes]], sizes: list[int]) -> None:
    """Writes each value that has a place to it."""
    places = np.arange(first)
    places[sizes[0] :] = -1
    for (tensor, kind), size in zip(levels, sizes[1:], strict=False):
        if kind == b"ROW_SPLITS":
            checked_splits(tensor)
            if len(tensor) - 1 > len(places):
                raise InvalidArgumentError(
                    f"row partition size is greater than output size: {len(tensor) - 1} > {len(places)}"
                )
            rows = rows_of(tensor)
            starts = tensor
        else:
            if tensor[-1:].max(initial=-1) >= len(places):  # in ascending order, as `_lengths` has seen
                raise InvalidArgumentError(f"value_rowids must be less than the number of rows {len(places)}")
            rows, starts = tensor, np.searchsorted(tensor, np.arange(len(places)))
        columns = np.arange(len(rows)) - starts[rows]
        parents = places[rows]
        nowhere = (parents < 0) | (columns >= size)
        places = parents * size + columns
        places[nowhere] = -1
    if len(places) != len(values):
        raise InvalidArgumentError(f"the row partitions are of {len(places)} values, but there are {len(values)}")
    has_place = places >= 0
    if has_place.all():
        found[places] = values
    else:
        found[places[has_place]] = values[has_place]


# -------------------------------------------------------------------------------------------------- Ranges

ragged_range = op(
    "RaggedRange(starts: T, limits: T, deltas: T) -> rt_nested_splits: Tsplits, rt_dense_values: T",
    "T: {bfloat16, float, double, int32, int64} = int32",
    "Tsplits: {int32, int64} = int64",
)
not_differentiable(ragged_range)


@ragged_range.shape
def ragged_range_shape(starts: Tensor, limits: Tensor, deltas: Tensor) -> tuple[Shape, Shape]:
    size: int | None = None
    are_scalars = True
    for tensor in (starts, limits, deltas):
        shape = tensor.static_shape
        at_most(shape, 1)
        are_scalars &= shape.rank == 0
        if shape.dims:
            size = merge_sizes(size, shape.dims[0])
    return Shape((2 if are_scalars else None if size is None else size + 1,)), VECTOR


@ragged_range.kernel
def ragged_range_kernel(starts: Array, limits: Array, deltas: Array, *, Tsplits: DType) -> tuple[Array, Array]:  # noqa: N803
    inputs = [np.asarray(item) for item in (starts, limits, deltas)]
    sizes = {item.size for item in inputs if item.ndim}
    if any(item.ndim > 1 for item in inputs) or len(sizes) > 1:
        raise InvalidArgumentError("starts, limits, and deltas must be scalars or vectors of the same shape")
    begin, end, step = (np.broadcast_to(item.reshape(-1), (sizes or {1}).copy().pop()) for item in inputs)
    if np.any(step == 0):
        raise InvalidArgumentError("Requires delta != 0")
    is_real = begin.dtype.kind not in "iu"
    counts = _range_lengths(begin, end, step, is_real)
    if counts.sum(dtype=np.float64) > np.iinfo(Tsplits.array_dtype).max:
        raise InvalidArgumentError("Requires ((limit - start) / delta) <= the largest number that splits can hold")
    lengths = counts.astype(np.int64)
    check_allocation((int(lengths.sum()),), np.dtype(np.int64))
    splits = splits_of(lengths, Tsplits.array_dtype)
    if is_real:
        return splits, _add_up_steps(begin, step, lengths)
    numbers = ranges(np.zeros(len(lengths), np.int64), lengths).astype(begin.dtype)
    return splits, np.repeat(begin, lengths) + numbers * np.repeat(step, lengths)


def _range_lengths(begin: Array, end: Array, step: Array, is_real: bool) -> Array:
    runs = np.where(step > 0, begin < end, begin > end)
    if is_real:
        begin, end, step = (item.astype(np.float64) for item in (begin, end, step))
        return np.where(runs, np.ceil(np.abs((end - begin) / step)), 0)
    distance = np.abs(end.astype(object) - begin.astype(object)) if begin.size else np.zeros(0, object)
    counts = -(-distance // np.abs(step.astype(object))) if begin.size else distance
    return np.where(runs, counts, 0).astype(np.float64)


def _add_up_steps(begin: Array, step: Array, lengths: Array) -> Array:
    """Ranges of numbers with a fraction, one after the other: of each its first number and its step, `lengths` of them.
    They are added up one by one, with the rounding of their type, as TensorFlow does it (ragged_range_op.cc).
    """
    found = np.repeat(step, lengths)
    ends = np.cumsum(lengths)
    for row in np.flatnonzero(lengths):
        part = found[ends[row] - lengths[row] : ends[row]]
        part[0] = begin[row]
        np.add.accumulate(part, out=part)
    return found


# -------------------------------------------------------------------------------------------------- Gathering

ragged_gather = op(
    "RaggedGather(params_nested_splits: PARAMS_RAGGED_RANK * Tsplits, params_dense_values: Tvalues, "
    "indices: Tindices) -> output_nested_splits: OUTPUT_RAGGED_RANK * Tsplits, output_dense_values: Tvalues",
    "Tvalues: type",
    "Tindices: {int32, int64}",
    "Tsplits: {int32, int64} = int64",
    "PARAMS_RAGGED_RANK: int >= 1",
    "OUTPUT_RAGGED_RANK: int >= 0",
)


@ragged_gather.shape
def ragged_gather_shape(
    params_nested_splits: list[Tensor],
    params_dense_values: Tensor,
    indices: Tensor,
    *,
    OUTPUT_RAGGED_RANK: int,  # noqa: N803
) -> tuple[list[Shape], Shape]:
    if indices.static_shape.rank is not None:
        _check_ragged_rank(indices.static_shape.rank, len(params_nested_splits), OUTPUT_RAGGED_RANK)
    for splits in params_nested_splits:
        with_rank(splits, 1)
    values = with_rank_at_least(params_dense_values, 1)
    found = UNKNOWN_SHAPE if values.dims is None else Shape((None, *values.dims[1:]))
    return [VECTOR] * OUTPUT_RAGGED_RANK, found


def _check_ragged_rank(rank: int, of_params: int, wanted: int) -> None:
    if rank + of_params - 1 != wanted:
        raise InvalidArgumentError(
            f"Expected OUTPUT_RAGGED_RANK == indices.rank + PARAMS_RAGGED_RANK - 1, got {wanted} for indices of rank "
            f"{rank} and a ragged rank of {of_params}"
        )


@ragged_gather.kernel
def ragged_gather_kernel(
    params_nested_splits: list[Array],
    params_dense_values: Array,
    indices: Array,
    *,
    OUTPUT_RAGGED_RANK: int,  # noqa: N803
) -> tuple[list[Any], Any]:
    places = np.asarray(indices)
    _check_ragged_rank(places.ndim, len(params_nested_splits), OUTPUT_RAGGED_RANK)
    _check_nested(params_nested_splits, params_dense_values)
    dtype = params_nested_splits[0].dtype
    count = len(params_nested_splits[0]) - 1
    rows = places.reshape(-1)
    outside = (rows < 0) | (rows >= count)
    if outside.any():
        at = int(outside.argmax())
        raise InvalidArgumentError(f"indices[{at}] = {int(rows[at])} is not in [0, {count})")
    nested = []
    for axis, size in enumerate(places.shape[1:], 1):
        outer = int(np.prod(places.shape[:axis], dtype=np.int64))
        nested.append((np.arange(outer + 1) * size).astype(dtype))
    for splits in params_nested_splits:
        lengths = splits[rows + 1] - splits[rows]
        nested.append(splits_of(lengths, dtype))
        rows = ranges(splits[rows], lengths)
    return nested if places.ndim else nested[1:], params_dense_values[rows]


# -------------------------------------------------------------------------------------------------- Crossing

ragged_cross = op(
    "RaggedCross(ragged_values: ragged_values_types, ragged_row_splits: ragged_splits_types, "
    "sparse_indices: Nsparse * int64, sparse_values: sparse_values_types, sparse_shape: Nsparse * int64, "
    "dense_inputs: dense_types) -> output_values: out_values_type, output_row_splits: out_row_splits_type",
    "Nsparse: int >= 0",
    "input_order: string",
    "hashed_output: bool",
    "num_buckets: int >= 0",
    "hash_key: int",
    "ragged_values_types: list({int64, string}) >= 0",
    "ragged_splits_types: list({int32, int64}) >= 0",
    "sparse_values_types: list({int64, string}) >= 0",
    "dense_types: list({int64, string}) >= 0",
    "out_values_type: {int64, string}",
    "out_row_splits_type: {int32, int64}",
)
not_differentiable(ragged_cross)


@ragged_cross.shape
def ragged_cross_shape(
    ragged_values: list[Tensor],
    ragged_row_splits: list[Tensor],
    sparse_indices: list[Tensor],
    sparse_values: list[Tensor],
    sparse_shape: list[Tensor],
    dense_inputs: list[Tensor],
) -> tuple[Shape, Shape]:
    rows: int | None = None
    for splits in ragged_row_splits:
        count = with_rank(splits, 1)[0]
        rows = merge_sizes(rows, None if count is None else count - 1)
    for matrix in dense_inputs:
        rows = merge_sizes(rows, with_rank(matrix, 2)[0])
    return VECTOR, Shape((None if rows is None else rows + 1,))


@ragged_cross.kernel
def ragged_cross_kernel(
    ragged_values: list[Array],
    ragged_row_splits: list[Array],
    sparse_indices: list[Array],
    sparse_values: list[Array],
    sparse_shape: list[Array],
    dense_inputs: list[Array],
    *,
    input_order: bytes,
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
    out_values_type: DType,
    out_row_splits_type: DType,
) -> tuple[Array, Array]:
    if hashed_output != (out_values_type is INT64):
        raise InvalidArgumentError("crosses that are hashed are int64, and others are strings")
    columns: dict[str, list[Column]] = {"R": [], "S": [], "D": []}
    for values, splits in zip(ragged_values, ragged_row_splits, strict=True):
        columns["R"].append(column_of(values, np.diff(checked_splits(splits, len(values)))))
    if sparse_values or dense_inputs:
        others = sparse_columns(sparse_indices, sparse_values, sparse_shape, dense_inputs)
        columns["S"], columns["D"] = others[: len(sparse_values)], others[len(sparse_values) :]
    ordered = _in_order(columns, input_order)
    common_rows([len(column.counts) for column in ordered])
    places, features, shape = cross_columns(ordered)
    splits = splits_of(np.bincount(places[:, 0], minlength=int(shape[0])), out_row_splits_type.array_dtype)
    if hashed_output:
        return bucket_hashes(hash_features(features, hash_key), num_buckets), splits
    return join_features(features, b"_X_"), splits


def _in_order(columns: dict[str, list[Column]], order: bytes) -> list[Column]:
    """The columns as the program had them, before they were sorted by kind."""
    rest = {kind: iter(items) for kind, items in columns.items()}
    kinds = order.decode(errors="replace")
    if sorted(kinds) != sorted("".join(kind * len(items) for kind, items in columns.items())):
        raise InvalidArgumentError(f"input_order {kinds!r} does not name every input once")
    return [next(rest[kind]) for kind in kinds]


# ------------------------------------------------------------------------------------------------- Empty rows

ragged_fill_empty_rows = op(
    "RaggedFillEmptyRows(value_rowids: int64, values: T, nrows: int64, default_value: T) -> "
    "output_value_rowids: int64, output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    "T: type",
)


@ragged_fill_empty_rows.shape
def ragged_fill_empty_rows_shape(
    value_rowids: Tensor, values: Tensor, nrows: Tensor, default_value: Tensor
) -> tuple[Shape, ...]:
    ids, flat = with_rank(value_rowids, 1), with_rank(values, 1)
    with_rank(nrows, 0), with_rank(default_value, 0)
    count = merge_sizes(ids[0], flat[0])
    return VECTOR, VECTOR, VECTOR, Shape((count,))


@ragged_fill_empty_rows.kernel
def ragged_fill_empty_rows_kernel(
    value_rowids: Array, values: Array, nrows: Array, default_value: Array
) -> tuple[Any, Any, Any, Any]:
    _check_fill(value_rowids, values, nrows, default_value)
    count = int(nrows)
    check_allocation((count,), np.dtype(np.int64))
    is_empty = np.bincount(value_rowids, minlength=count) == 0
    missing = np.flatnonzero(is_empty)
    rows = np.concatenate([value_rowids, missing])
    order = np.argsort(rows, kind="stable")
    filled = np.concatenate([values, np.full(len(missing), default_value, values.dtype)])
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    return rows[order], filled[order], is_empty, back[: len(values)]


def _check_fill(value_rowids: Any, values: Any, nrows: Any, default_value: Any) -> None:
    if np.ndim(value_rowids) != 1 or np.ndim(values) != 1 or np.ndim(nrows) or np.ndim(default_value):
        raise InvalidArgumentError("value_rowids and values must be vectors, nrows and default_value scalars")
    if len(value_rowids) != len(values):
        raise InvalidArgumentError(
            f"Expected {len(value_rowids)} values, as many as value_rowids, but got {len(values)}"
        )
    if nrows < 0 or (nrows == 0 and len(values)):
        raise InvalidArgumentError(f"Received a ragged tensor of {int(nrows)} rows but {len(values)} values")
    outside = (value_rowids < 0) | (value_rowids >= nrows)
    if outside.any():
        at = int(outside.argmax())
        raise InvalidArgumentError(
            f"value_rowids({at}) is invalid: {int(value_rowids[at])} is not in [0, {int(nrows)})"
        )


@ragged_fill_empty_rows.gradient
def ragged_fill_empty_rows_gradient(
    op: Operation, rows: Tensor, values: Tensor, empty: Tensor, back: Tensor
) -> Gradients:
    grad = ragged_fill_empty_rows_grad(op.outputs[3], values)
    return None, grad.d_values, None, grad.d_default_value


ragged_fill_empty_rows_grad = op(
    "RaggedFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> d_values: T, d_default_value: T",
    "T: type",
)


@ragged_fill_empty_rows_grad.shape
def ragged_fill_empty_rows_grad_shape(reverse_index_map: Tensor, grad_values: Tensor) -> tuple[Shape, Shape]:
    with_rank(grad_values, 1)
    return with_rank(reverse_index_map, 1), Shape(())


@ragged_fill_empty_rows_grad.kernel
def ragged_fill_empty_rows_grad_kernel(reverse_index_map: Array, grad_values: Array) -> tuple[Array, Array]:
    for name, array in (("reverse_index_map", reverse_index_map), ("grad_values", grad_values)):
        if array.ndim != 1:
            raise InvalidArgumentError(f"{name} must be a vector, saw: {list(array.shape)}")
    outside = (reverse_index_map < 0) | (reverse_index_map >= len(grad_values))
    if outside.any():
        raise InvalidArgumentError(
            f"Elements in reverse index must be in [0, {len(grad_values)}) but got "
            f"{int(reverse_index_map[outside.argmax()])}"
        )
    is_default = np.ones(len(grad_values), bool)
    is_default[reverse_index_map] = False
    rest = grad_values[is_default].sum(dtype=grad_values.dtype)
    return grad_values[reverse_index_map], np.asarray(rest, grad_values.dtype)
