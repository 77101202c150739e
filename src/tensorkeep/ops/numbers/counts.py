"""How often numbers occur in each row of a batch, as sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.ragged.rows import rows_of
from tensorkeep.ops.shared.dimensions import at_least
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import merge_shapes
from tensorkeep.shapes import Shape

_OUTPUTS = "output_indices: int64, output_values: output_type, output_dense_shape: int64"
_ATTRS = (
    "T: {int32, int64}",
    "minlength: int >= -1 = -1",
    "maxlength: int >= -1 = -1",
    "binary_output: bool",
    "output_type: {int32, int64, float, double}",
)


def _sparse_shapes(rank: int | None) -> tuple[Shape, Shape, Shape]:
    return Shape((None, rank)), Shape((None,)), Shape((rank,))


def _check_weights(weights: Any, values: Any) -> None:
    if np.size(weights) and np.shape(weights) != np.shape(values):
        raise InvalidArgumentError(
            f"Weights and values must have the same shape. Weight shape: {list(np.shape(weights))}; values shape: "
            f"{list(np.shape(values))}"
        )


def _count_values(
    values: Array, rows: Array | None, row_count: int, weights: Any, limits: tuple[int, int], binary_output: bool
) -> tuple[Array, Array, Array]:
    """The sums of the weights, or the numbers, of equal values; `rows` are those of a matrix, in any order."""
    smallest, most = limits
    if np.any(values < 0):
        raise InvalidArgumentError("Input values must all be non-negative")
    flat, places = values.reshape(-1), np.zeros(values.size, np.int64) if rows is None else rows
    kept = flat < most if most > 0 else np.ones(flat.size, bool)
    pairs = np.stack([places[kept], flat[kept].astype(np.int64)], axis=1)
    width = most if most > 0 else max(int(pairs[:, 1].max(initial=0)) + 1, smallest)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    ordered = pairs[order]
    is_first = np.ones(len(ordered), bool)
    is_first[1:] = np.any(ordered[1:] != ordered[:-1], axis=1)
    starts = np.flatnonzero(is_first)
    dtype = np.asarray(weights).dtype
    if binary_output:
        totals = np.ones(len(starts), dtype)
    else:
        each = np.asarray(weights).reshape(-1)[kept][order] if np.size(weights) else np.ones(len(ordered), dtype)
        totals = np.add.reduceat(each, starts).astype(dtype) if len(starts) else np.zeros(0, dtype)
    if rows is None:
        return ordered[starts, 1:], totals, np.array([width], np.int64)
    return ordered[starts], totals, np.array([row_count, width], np.int64)


dense_count_sparse_output = op(f"DenseCountSparseOutput(values: T, weights: output_type) -> {_OUTPUTS}", *_ATTRS)


@dense_count_sparse_output.shape
def dense_count_sparse_output_shape(values: Tensor, weights: Tensor) -> tuple[Shape, Shape, Shape]:
    shape = values.static_shape
    if weights.static_shape.element_count() != 0:
        shape = merge_shapes(weights.static_shape, shape)
    return _sparse_shapes(shape.rank)


@dense_count_sparse_output.kernel
def dense_count_sparse_output_kernel(
    values: Array, weights: Array, *, minlength: int, maxlength: int, binary_output: bool
) -> tuple[Array, Array, Array]:
    if np.ndim(values) not in (1, 2):
        raise InvalidArgumentError(f"Input must be a 1 or 2-dimensional tensor. Got: {list(np.shape(values))}")
    if values.ndim == 2 and len(values) == 0:
        raise InvalidArgumentError(f"Input must have at least one row. Got: {list(values.shape)}")
    _check_weights(weights, values)
    rows = np.repeat(np.arange(len(values)), values.shape[1]) if values.ndim == 2 else None
    return _count_values(values, rows, len(values), weights, (minlength, maxlength), binary_output)


sparse_count_sparse_output = op(
    f"SparseCountSparseOutput(indices: int64, values: T, dense_shape: int64, weights: output_type) -> {_OUTPUTS}",
    *_ATTRS,
)


@sparse_count_sparse_output.shape
def sparse_count_sparse_output_shape(
    indices: Tensor, values: Tensor, dense_shape: Tensor, weights: Tensor
) -> tuple[Shape, Shape, Shape]:
    sizes = at_least(indices.static_shape, 2).dims
    return _sparse_shapes(None if sizes is None else sizes[1])


@sparse_count_sparse_output.kernel
def sparse_count_sparse_output_kernel(
    indices: Array,
    values: Array,
    dense_shape: Array,
    weights: Array,
    *,
    minlength: int,
    maxlength: int,
    binary_output: bool,
) -> tuple[Array, Array, Array]:
    if indices.ndim != 2 or values.ndim != 1 or dense_shape.ndim != 1:
        raise InvalidArgumentError(
            f"Input indices must be a matrix, values and dense_shape vectors. Got: {list(indices.shape)}, "
            f"{list(values.shape)}, {list(dense_shape.shape)}"
        )
    if len(indices) != len(values) or indices.shape[1] != len(dense_shape):
        raise InvalidArgumentError("Number of values must match first dimension of indices.")
    if not 1 <= len(dense_shape) <= 2:
        raise InvalidArgumentError(f"Input must be a 1 or 2-dimensional tensor. Got: {dense_shape.tolist()}")
    _check_weights(weights, values)
    is_vector = len(dense_shape) == 1
    outside = np.any((indices < 0) | (indices >= dense_shape), axis=1)
    if outside.any():
        at = int(outside.argmax())
        raise InvalidArgumentError(f"Index {indices[at].tolist()} is out of bounds of {dense_shape.tolist()}")
    rows = None if is_vector else indices[:, 0]
    return _count_values(values, rows, int(dense_shape[0]), weights, (minlength, maxlength), binary_output)


ragged_count_sparse_output = op(
    f"RaggedCountSparseOutput(splits: int64, values: T, weights: output_type) -> {_OUTPUTS}", *_ATTRS
)


@ragged_count_sparse_output.shape
def ragged_count_sparse_output_shape(splits: Tensor, values: Tensor, weights: Tensor) -> tuple[Shape, Shape, Shape]:
    rank = values.static_shape.rank
    return _sparse_shapes(None if rank is None else rank + 1)


@ragged_count_sparse_output.kernel
def ragged_count_sparse_output_kernel(
    splits: Array, values: Array, weights: Array, *, minlength: int, maxlength: int, binary_output: bool
) -> tuple[Array, Array, Array]:
    if np.ndim(splits) != 1 or splits.size < 2:
        raise InvalidArgumentError(f"Must provide at least 2 elements for the splits argument, got {np.size(splits)}")
    if splits[0] != 0:
        raise InvalidArgumentError(f"Splits must start with 0, not with {int(splits[0])}")
    if splits[-1] != np.size(values) or np.any(np.diff(splits) < 0):
        raise InvalidArgumentError(
            f"Splits must end with the number of values, got {int(splits[-1])} instead of {np.size(values)}"
        )
    _check_weights(weights, values)
    return _count_values(values, rows_of(splits), len(splits) - 1, weights, (minlength, maxlength), binary_output)
