"""Sparse tensors in another order or shape, joined, cut, and with their empty rows filled."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.constants import constant_shape
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.shared.dimensions import merge_sizes
from tensorkeep.ops.shared.expressions import first_size, gather, shape_of, span
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import merge_shapes, with_rank
from tensorkeep.ops.sparse.places import check_inside, check_parts, checked_sizes, order_of, pick_gradients
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_VECTOR: Final = Shape((None,))

# ---------------------------------------------------------------------------------------------------- Orders and shapes

sparse_reorder = op(
    "SparseReorder(input_indices: int64, input_values: T, input_shape: int64) "
    "-> output_indices: int64, output_values: T",
    "T: type",
)


@sparse_reorder.shape
def sparse_reorder_shape(input_indices: Tensor, input_values: Tensor, input_shape: Tensor) -> tuple[Shape, Shape]:
    with_rank(input_shape, 1)
    return with_rank(input_indices, 2), with_rank(input_values, 1)


@sparse_reorder.kernel
def sparse_reorder_kernel(input_indices: Array, input_values: Array, input_shape: Array) -> tuple[Array, Array]:
    check_parts(input_indices, input_values, input_shape, "input")
    order = order_of(input_indices)
    return (input_indices, input_values) if order is None else (input_indices[order], input_values[order])


@sparse_reorder.gradient
def sparse_reorder_gradient(op: Operation, _: Tensor, dy: Tensor) -> Gradients:
    indices, _, shape = op.inputs
    numbers = span(0, first_size(shape_of(indices)))
    ordered = reorder_sparse_tensor(SparseTensor(indices, numbers, shape))
    backwards = emit("InvertPermutation", ordered.values)
    return None, gather(dy, backwards), None


def reorder_sparse_tensor(sparse: SparseTensor, name: str | None = None) -> SparseTensor:
    """The same sparse tensor with its elements in order."""
    indices, values = sparse_reorder(sparse.indices, sparse.values, sparse.dense_shape, name=name)
    known = sparse.static_shape
    if known.is_fully_known:
        return SparseTensor(indices, values, np.array(known.as_tuple(), np.int64))
    return SparseTensor(indices, values, emit("Identity", sparse.dense_shape))


sparse_reshape = op(
    "SparseReshape(input_indices: int64, input_shape: int64, new_shape: int64) "
    "-> output_indices: int64, output_shape: int64"
)


@sparse_reshape.shape
def sparse_reshape_shape(input_indices: Tensor, input_shape: Tensor, new_shape: Tensor) -> tuple[Shape, Shape]:
    with_rank(input_shape, 1)
    shape = with_rank(new_shape, 1)
    return Shape((with_rank(input_indices, 2)[0], shape[0])), shape


@sparse_reshape.kernel
def sparse_reshape_kernel(input_indices: Array, input_shape: Array, new_shape: Array) -> tuple[Array, Array]:
    if input_indices.ndim != 2 or input_shape.ndim != 1 or new_shape.ndim != 1:
        raise InvalidArgumentError(
            f"Input indices should be a matrix and shapes vectors, got {list(input_indices.shape)}, "
            f"{list(input_shape.shape)} and {list(new_shape.shape)}"
        )
    if input_indices.shape[1] != len(input_shape):
        raise InvalidArgumentError(
            f"Input tensor rank must match input shape length: {input_indices.shape[1]} and {len(input_shape)}"
        )
    old = checked_sizes(input_shape)
    sizes = _resolved_sizes(old, [int(size) for size in new_shape])
    target = np.array(sizes, np.int64)
    check_inside(input_indices, input_shape)
    numbers = input_indices @ _strides(old)
    if not sizes:
        return np.zeros((len(input_indices), 0), np.int64), target
    strides = _strides(sizes)
    return numbers[:, np.newaxis] // strides % np.maximum(target, 1), target


def _strides(sizes: tuple[int, ...]) -> Any:
    return np.array([int(np.prod(sizes[i + 1 :], dtype=np.int64)) for i in range(len(sizes))], np.int64)


def _resolved_sizes(old: tuple[int, ...], new: list[int]) -> tuple[int, ...]:
    """Sizes of which one may be -1."""
    total = int(np.prod(old, dtype=np.int64))
    if new.count(-1) > 1:
        raise InvalidArgumentError("only one output dimension may be -1")
    if any(size < -1 for size in new):
        raise InvalidArgumentError(f"a size must be 0 or more, or -1, got {new}")
    if -1 in new:
        rest = int(np.prod([size for size in new if size != -1], dtype=np.int64))
        if rest == 0:
            raise InvalidArgumentError(f"reshape cannot infer the size that is -1 of an empty tensor, in {new}")
        if total % rest:
            raise InvalidArgumentError(
                f"Input to reshape is a SparseTensor with {total} dense values, but the requested shape requires a "
                f"multiple of {rest}."
            )
        new = [total // rest if size == -1 else size for size in new]
    if int(np.prod(new, dtype=np.int64)) != total:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape is {new}."
        )
    return tuple(new)


# ---------------------------------------------------------------------------------------------------- Joins and parts

sparse_concat = op(
    "SparseConcat(indices: N * int64, values: N * T, shapes: N * int64) "
    "-> output_indices: int64, output_values: T, output_shape: int64",
    "concat_dim: int",
    "N: int >= 2",
    "T: type",
)
not_differentiable(sparse_concat)


@sparse_concat.shape
def sparse_concat_shape(
    indices: list[Tensor], values: list[Tensor], shapes: list[Tensor]
) -> tuple[Shape, Shape, Shape]:
    count: int | None = 0
    columns: int | None = None
    joined = UNKNOWN_SHAPE
    for index, value, shape in zip(indices, values, shapes, strict=True):
        rows, width = with_rank(index, 2)
        rows = merge_sizes(rows, with_rank(value, 1)[0])
        count = None if count is None or rows is None else count + rows
        columns = merge_sizes(columns, width)
        joined = merge_shapes(joined, with_rank(shape, 1))
    return Shape((count, columns)), Shape((count,)), joined


@sparse_concat.kernel
def sparse_concat_kernel(
    indices: list[Array], values: list[Array], shapes: list[Array], *, concat_dim: int
) -> tuple[Array, Array, Array]:
    for parts in zip(indices, values, shapes, strict=True):
        check_parts(*parts)
    rank = len(shapes[0])
    axis = concat_dim + rank if concat_dim < 0 else concat_dim
    if not 0 <= axis < rank:
        raise InvalidArgumentError(f"Concat dimension must be in range [{-rank}, {rank}), got {concat_dim}")
    others = [np.delete(shape, axis).tolist() for shape in shapes]
    if any(len(shape) != rank for shape in shapes) or any(other != others[0] for other in others):
        raise InvalidArgumentError(
            f"Concat shapes of sparse tensors must agree but for dimension {axis}, got "
            f"{[shape.tolist() for shape in shapes]}"
        )
    moved, start = [], 0
    for index, shape in zip(indices, shapes, strict=True):
        part = np.array(index)
        part[:, axis] += start
        moved.append(part)
        start += int(shape[axis])
    whole = np.array(shapes[0])
    whole[axis] = start
    joined, elements = np.concatenate(moved), np.concatenate(values)
    order = order_of(joined)
    return (joined, elements, whole) if order is None else (joined[order], elements[order], whole)


sparse_split = op(
    "SparseSplit(split_dim: int64, indices: int64, values: T, shape: int64) -> output_indices: num_split * int64, "
    "output_values: num_split * T, output_shape: num_split * int64",
    "num_split: int >= 1",
    "T: type",
)


@sparse_split.shape
def sparse_split_shape(
    split_dim: Tensor, indices: Tensor, values: Tensor, shape: Tensor, *, num_split: int
) -> tuple[list[Shape], list[Shape], list[Shape]]:
    known = shape.static_shape
    part = Shape((None, known.element_count()))
    return [part] * num_split, [_VECTOR] * num_split, [known] * num_split


@sparse_split.kernel
def sparse_split_kernel(
    split_dim: Array, indices: Array, values: Array, shape: Array, *, num_split: int
) -> tuple[list[Any], list[Any], list[Any]]:
    check_parts(indices, values, shape)
    if np.size(split_dim) != 1:
        raise InvalidArgumentError(f"split_dim must be a scalar, got shape {list(np.shape(split_dim))}")
    rank, axis = len(shape), int(split_dim)
    if not 0 <= axis < rank:
        raise InvalidArgumentError(f"Input split_dim should be between 0 and rank ({rank}), got {axis}")
    size = int(shape[axis])
    if not 1 <= num_split <= size:
        raise InvalidArgumentError(
            f"Input num_split should be between 1 and the splitting dimension size ({size}), got {num_split}"
        )
    check_inside(indices, shape)
    each, longer = divmod(size, num_split)
    ends = np.cumsum([each + (i < longer) for i in range(num_split)])
    which = np.searchsorted(ends, indices[:, axis], side="right")
    found: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
    for i, end in enumerate(ends):
        inside = which == i
        length = each + (i < longer)
        part, sizes = indices[inside], np.array(shape)
        part[:, axis] -= end - length
        sizes[axis] = length
        for target, value in zip(found, (part, values[inside], sizes), strict=True):
            target.append(value)
    return found


sparse_slice = op(
    "SparseSlice(indices: int64, values: T, shape: int64, start: int64, size: int64) "
    "-> output_indices: int64, output_values: T, output_shape: int64",
    "T: type",
)


@sparse_slice.shape
def sparse_slice_shape(
    indices: Tensor, values: Tensor, shape: Tensor, start: Tensor, size: Tensor
) -> tuple[Shape, Shape, Shape]:
    return Shape((None, with_rank(shape, 1)[0])), _VECTOR, shape.static_shape


@sparse_slice.kernel
def sparse_slice_kernel(
    indices: Array, values: Array, shape: Array, start: Array, size: Array
) -> tuple[Array, Array, Array]:
    check_parts(indices, values, shape)
    checked_sizes(shape)
    if start.shape != shape.shape or size.shape != shape.shape:
        raise InvalidArgumentError(
            f"Expected start and size to be vectors of length {len(shape)}, got {list(start.shape)} and "
            f"{list(size.shape)}"
        )
    if np.any(size < 0):
        raise InvalidArgumentError(f"Input size must be 0 or more, got {size.tolist()}")
    kept = np.maximum(np.minimum(size, shape - start), 0)
    inside = np.all((indices >= start) & (indices < start + kept), axis=1)
    return indices[inside] - start, values[inside], kept


@sparse_slice.gradient
def sparse_slice_gradient(op: Operation, _: Tensor, dy: Tensor, __: Tensor) -> Gradients:
    gradient = sparse_slice_grad(dy, op.inputs[0], op.inputs[3], op.outputs[0])
    gradient.set_shape(op.inputs[1].static_shape)
    return None, gradient, None, None, None


sparse_slice_grad = op(
    "SparseSliceGrad(backprop_val_grad: T, input_indices: int64, input_start: int64, output_indices: int64) "
    "-> val_grad: T",
    "T: numbertype",
)


@sparse_slice_grad.shape
def sparse_slice_grad_shape(
    backprop_val_grad: Tensor, input_indices: Tensor, input_start: Tensor, output_indices: Tensor
) -> Shape:
    return Shape((with_rank(input_indices, 2)[0],))


@sparse_slice_grad.kernel
def sparse_slice_grad_kernel(
    backprop_val_grad: Array, input_indices: Array, input_start: Array, output_indices: Array
) -> Array:
    if output_indices.ndim != 2 or input_start.ndim != 1 or output_indices.shape[1] != len(input_start):
        raise InvalidArgumentError(
            f"output_indices {list(output_indices.shape)} and input_start {list(input_start.shape)} do not agree"
        )
    return pick_gradients(backprop_val_grad, input_indices, output_indices + input_start)


# ---------------------------------------------------------------------------------------------------- Empty rows

sparse_fill_empty_rows = op(
    "SparseFillEmptyRows(indices: int64, values: T, dense_shape: int64, default_value: T) -> output_indices: int64, "
    "output_values: T, empty_row_indicator: bool, reverse_index_map: int64",
    "T: type",
)


@sparse_fill_empty_rows.shape
def sparse_fill_empty_rows_shape(
    indices: Tensor, values: Tensor, dense_shape: Tensor, default_value: Tensor
) -> tuple[Shape, Shape, Shape, Shape]:
    rows, columns = with_rank(indices, 2)
    count = merge_sizes(rows, with_rank(values, 1)[0])
    known = with_rank(dense_shape, 1)
    with_rank(default_value, 0)
    merge_sizes(columns, known[0])
    whole = constant_shape(dense_shape)
    height = whole.dims[0] if whole.dims else None
    return Shape((None, known[0])), _VECTOR, Shape((height,)), Shape((count,))


@sparse_fill_empty_rows.kernel
def sparse_fill_empty_rows_kernel(
    indices: Array, values: Array, dense_shape: Array, default_value: Array
) -> tuple[Any, Any, Any, Any]:
    check_parts(indices, values, dense_shape)
    if np.ndim(default_value):
        raise InvalidArgumentError(f"default_value must be a scalar, saw: {list(np.shape(default_value))}")
    if not len(dense_shape):
        raise InvalidArgumentError("Dense shape cannot be empty.")
    height = int(dense_shape[0])
    rows = indices[:, 0]
    if not height:
        if len(indices):
            raise InvalidArgumentError(
                f"Received SparseTensor with dense_shape[0] = 0 but indices.shape[0] = {len(indices)}"
            )
        return indices, values, np.zeros(0, np.bool_), np.zeros(0, np.int64)
    outside = (rows < 0) | (rows >= height)
    if outside.any():
        at = int(outside.argmax())
        raise InvalidArgumentError(f"indices({at}, 0) is invalid: {rows[at]} >= {height}")
    empty = np.ones(height, np.bool_)
    empty[rows] = False
    fresh = np.flatnonzero(empty)
    added = np.zeros((len(fresh), indices.shape[1]), np.int64)
    added[:, 0] = fresh
    order = np.argsort(np.concatenate([rows, fresh]), kind="stable")
    back = np.empty(len(order), np.int64)
    back[order] = np.arange(len(order))
    filling = np.empty(len(fresh), values.dtype)
    filling[...] = np.asarray(default_value)[()]
    whole, elements = np.concatenate([indices, added])[order], np.concatenate([values, filling])[order]
    return whole, elements, empty, back[: len(rows)]


@sparse_fill_empty_rows.gradient
def sparse_fill_empty_rows_gradient(op: Operation, _: Tensor, dy: Tensor, *__: Tensor) -> Gradients:
    values, default = sparse_fill_empty_rows_grad(op.outputs[3], dy)
    return None, values, None, default


sparse_fill_empty_rows_grad = op(
    "SparseFillEmptyRowsGrad(reverse_index_map: int64, grad_values: T) -> d_values: T, d_default_value: T", "T: type"
)


@sparse_fill_empty_rows_grad.shape
def sparse_fill_empty_rows_grad_shape(reverse_index_map: Tensor, grad_values: Tensor) -> tuple[Shape, Shape]:
    with_rank(grad_values, 1)
    return with_rank(reverse_index_map, 1), Shape(())


@sparse_fill_empty_rows_grad.kernel
def sparse_fill_empty_rows_grad_kernel(reverse_index_map: Array, grad_values: Array) -> tuple[Array, Array]:
    if reverse_index_map.ndim != 1 or grad_values.ndim != 1:
        raise InvalidArgumentError("reverse_index_map and grad_values must be vectors")
    if len(reverse_index_map) and not 0 <= reverse_index_map.min() <= reverse_index_map.max() < len(grad_values):
        raise InvalidArgumentError(f"Elements in reverse index must be in [0, {len(grad_values)})")
    added = np.ones(len(grad_values), np.bool_)
    added[reverse_index_map] = False
    return grad_values[reverse_index_map], np.asarray(np.add.reduce(grad_values[added], dtype=grad_values.dtype))
