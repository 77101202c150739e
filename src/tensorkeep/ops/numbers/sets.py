"""Sets along the last dimension: union, intersection, differences, and sizes.

A result is sparse: for each set its elements in order, so many along the last dimension as the largest set has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.shared.dimensions import merge_sizes
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.shapes import Shape

Place = tuple[int, ...]

_ATTRS: Final = (
    "set_operation: string",
    "validate_indices: bool = true",
    "T: {int8, int16, int32, int64, uint8, uint16, string}",
)
_RESULTS: Final = "result_indices: int64, result_values: T, result_shape: int64"

_OPERATIONS: Final[Mapping[bytes, Callable[[set[Any], set[Any]], set[Any]]]] = {
    b"a-b": lambda a, b: a - b,
    b"b-a": lambda a, b: b - a,
    b"intersection": lambda a, b: a & b,
    b"union": lambda a, b: a | b,
}

dense_to_dense_set_operation = op(f"DenseToDenseSetOperation(set1: T, set2: T) -> {_RESULTS}", *_ATTRS)
dense_to_sparse_set_operation = op(
    f"DenseToSparseSetOperation(set1: T, set2_indices: int64, set2_values: T, set2_shape: int64) -> {_RESULTS}", *_ATTRS
)
sparse_to_sparse_set_operation = op(
    "SparseToSparseSetOperation(set1_indices: int64, set1_values: T, set1_shape: int64, set2_indices: int64, "
    f"set2_values: T, set2_shape: int64) -> {_RESULTS}",
    *_ATTRS,
)
set_size = op(
    "SetSize(set_indices: int64, set_values: T, set_shape: int64) -> size: int32",
    "validate_indices: bool = true",
    "T: {int8, int16, int32, int64, uint8, uint16, string}",
)
not_differentiable(
    dense_to_dense_set_operation, dense_to_sparse_set_operation, sparse_to_sparse_set_operation, set_size
)


def _result_shapes(rank: int | None) -> tuple[Shape, ...]:
    return Shape((None, rank)), Shape((None,)), Shape((rank,))


@dense_to_dense_set_operation.shape
def dense_to_dense_set_operation_shape(set1: Tensor, set2: Tensor) -> tuple[Shape, ...]:
    first, second = set1.static_shape, set2.static_shape
    for shape in (first, second):
        if shape.rank is not None and shape.rank < 2:
            raise InvalidArgumentError(f"Input rank must be at least 2, got {shape.rank}")
    if first.dims is not None and second.dims is not None:
        Shape(first.dims[:-1]).merge(Shape(second.dims[:-1]))
    return _result_shapes(second.rank if first.rank is None else first.rank)


@dense_to_sparse_set_operation.shape
def dense_to_sparse_set_operation_shape(
    set1: Tensor, set2_indices: Tensor, set2_values: Tensor, set2_shape: Tensor
) -> tuple[Shape, ...]:
    return _result_shapes(set1.static_shape.rank if set1.static_shape.rank is not None else _rank(set2_shape))


def _rank(shape: Tensor) -> int | None:
    return with_rank(shape, 1)[0]


@sparse_to_sparse_set_operation.shape
def sparse_to_sparse_set_operation_shape(
    set1_indices: Tensor,
    set1_values: Tensor,
    set1_shape: Tensor,
    set2_indices: Tensor,
    set2_values: Tensor,
    set2_shape: Tensor,
) -> tuple[Shape, ...]:
    return _result_shapes(merge_sizes(_rank(set1_shape), _rank(set2_shape)))


def _dense(array: Array) -> dict[Place, set[Any]]:
    if array.ndim < 2:
        raise InvalidArgumentError(f"Input shape should be [..., n] of rank 2 or more, got {list(array.shape)}")
    return {place: set(array[place].tolist()) for place in np.ndindex(array.shape[:-1])}


def _sparse(indices: Array, values: Array, shape: Array) -> dict[Place, set[Any]]:
    if indices.shape != (values.size, shape.size) or shape.size < 2:
        raise InvalidArgumentError(
            f"a sparse tensor of indices {list(indices.shape)}, values {list(values.shape)} and shape {shape.tolist()}"
        )
    if indices.size and not ((indices >= 0) & (indices < shape)).all():
        raise InvalidArgumentError(f"indices of a sparse tensor lie outside of its shape {shape.tolist()}")
    found: dict[Place, set[Any]] = {}
    for place, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        found.setdefault(tuple(place), set()).add(value)
    return found


def _combine_sets(
    first: dict[Place, set[Any]], second: dict[Place, set[Any]], groups: Place, operation: bytes, dtype: np.dtype[Any]
) -> tuple[Array, Array, Array]:
    """The sets that an operation makes of two sets in each place, as the parts of a sparse tensor."""
    combine = _OPERATIONS.get(operation.lower())
    if combine is None:
        raise InvalidArgumentError(f"Invalid set_operation {operation.decode(errors='replace')}.")
    places: list[tuple[int, ...]] = []
    values: list[Any] = []
    largest = 0
    for place in sorted({*first, *second}):
        members = sorted(combine(first.get(place, set()), second.get(place, set())))
        places.extend((*place, at) for at in range(len(members)))
        values.extend(members)
        largest = max(largest, len(members))
    array = np.empty(len(values), dtype)
    array[:] = values
    indices = np.array(places, np.int64).reshape(len(places), len(groups) + 1)
    return indices, array, np.array([*groups, largest], np.int64)


def _same_groups(first: Place, second: Place) -> Place:
    if first != second:
        raise InvalidArgumentError(f"Mismatched group shapes {list(first)} and {list(second)}")
    return first


@dense_to_dense_set_operation.kernel
def dense_to_dense_set_operation_kernel(
    set1: Array, set2: Array, *, set_operation: bytes
) -> tuple[Array, Array, Array]:
    first, second = _dense(set1), _dense(set2)
    return _combine_sets(first, second, _same_groups(set1.shape[:-1], set2.shape[:-1]), set_operation, set1.dtype)


@dense_to_sparse_set_operation.kernel
def dense_to_sparse_set_operation_kernel(
    set1: Array, set2_indices: Array, set2_values: Array, set2_shape: Array, *, set_operation: bytes
) -> tuple[Array, Array, Array]:
    first, second = _dense(set1), _sparse(set2_indices, set2_values, set2_shape)
    groups = _same_groups(set1.shape[:-1], tuple(set2_shape.tolist()[:-1]))
    return _combine_sets(first, second, groups, set_operation, set1.dtype)


@sparse_to_sparse_set_operation.kernel
def sparse_to_sparse_set_operation_kernel(
    set1_indices: Array,
    set1_values: Array,
    set1_shape: Array,
    set2_indices: Array,
    set2_values: Array,
    set2_shape: Array,
    *,
    set_operation: bytes,
) -> tuple[Array, Array, Array]:
    first = _sparse(set1_indices, set1_values, set1_shape)
    second = _sparse(set2_indices, set2_values, set2_shape)
    groups = _same_groups(tuple(set1_shape.tolist()[:-1]), tuple(set2_shape.tolist()[:-1]))
    return _combine_sets(first, second, groups, set_operation, set1_values.dtype)


@set_size.shape
def set_size_shape(set_indices: Tensor, set_values: Tensor, set_shape: Tensor) -> Shape:
    return Shape(None)


@set_size.kernel
def set_size_kernel(set_indices: Array, set_values: Array, set_shape: Array) -> Array:
    sizes = np.zeros(tuple(set_shape.tolist()[:-1]), np.int32)
    for place, members in _sparse(set_indices, set_values, set_shape).items():
        sizes[place] = len(members)
    return sizes
