"""Sparse tensors kept under numbers, so that queues and batches can pass on the numbers instead."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock
from typing import Final

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.parsing.stored_tensors import check_increasing, check_loaded, rows_of, stack_sparse_tensors
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.ops.sparse.places import check_parts
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import Shape, bracketed_shape

Parts = tuple[Array, Array, Array]


class SparseTensorsMap:
    """Sparse tensors by number. Whoever takes one removes it."""

    def __init__(self, name: str) -> None:
        self.name: Final = name
        self._tensors: dict[int, Parts] = {}
        self._next = 0
        self._lock = Lock()

    def add(self, tensors: Sequence[Parts]) -> Array:
        """Keeps tensors, and says under which numbers."""
        with self._lock:
            numbers = np.arange(self._next, self._next + len(tensors), dtype=np.int64)
            self._next += len(tensors)
            self._tensors.update(zip(numbers.tolist(), tensors, strict=True))
        return numbers

    def take(self, numbers: Sequence[int]) -> list[Parts]:
        """Gives tensors away. InvalidArgumentError if there is none of one of the numbers."""
        found = []
        with self._lock:
            for number in numbers:
                if number not in self._tensors:
                    raise InvalidArgumentError(f"Unable to find SparseTensor: {number} in map: {self.name}")
                found.append(self._tensors.pop(number))
        return found


def _map(ctx: KernelContext, container: bytes, shared_name: bytes) -> SparseTensorsMap:
    return ctx.shared(container, shared_name, SparseTensorsMap, SparseTensorsMap)


def _check_ranks(indices: Tensor, values: Tensor, shape: Tensor) -> None:
    for tensor, rank in ((indices, 2), (values, 1), (shape, 1)):
        with_rank(tensor, rank)


add_sparse_to_tensors_map = op(
    "AddSparseToTensorsMap(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> sparse_handle: int64",
    "T: type",
    "container: string = ''",
    "shared_name: string = ''",
    "stateful",
)


@add_sparse_to_tensors_map.shape
def add_sparse_to_tensors_map_shape(sparse_indices: Tensor, sparse_values: Tensor, sparse_shape: Tensor) -> Shape:
    _check_ranks(sparse_indices, sparse_values, sparse_shape)
    return Shape(())


@add_sparse_to_tensors_map.stateful_kernel
def add_sparse_to_tensors_map_kernel(
    ctx: KernelContext,
    sparse_indices: Array,
    sparse_values: Array,
    sparse_shape: Array,
    *,
    container: bytes,
    shared_name: bytes,
) -> Array:
    parts = np.asarray(sparse_indices), np.asarray(sparse_values), np.asarray(sparse_shape)
    check_parts(*parts)
    check_increasing(parts[0], parts[2])
    return _map(ctx, container, shared_name).add([parts]).reshape(())


add_many_sparse_to_tensors_map = op(
    "AddManySparseToTensorsMap(sparse_indices: int64, sparse_values: T, sparse_shape: int64) -> sparse_handles: int64",
    "T: type",
    "container: string = ''",
    "shared_name: string = ''",
    "stateful",
)


@add_many_sparse_to_tensors_map.shape
def add_many_sparse_to_tensors_map_shape(sparse_indices: Tensor, sparse_values: Tensor, sparse_shape: Tensor) -> Shape:
    _check_ranks(sparse_indices, sparse_values, sparse_shape)
    return Shape((None,))


@add_many_sparse_to_tensors_map.stateful_kernel
def add_many_sparse_to_tensors_map_kernel(
    ctx: KernelContext,
    sparse_indices: Array,
    sparse_values: Array,
    sparse_shape: Array,
    *,
    container: bytes,
    shared_name: bytes,
) -> Array:
    return _map(ctx, container, shared_name).add(rows_of(sparse_indices, sparse_values, sparse_shape))


take_many_sparse_from_tensors_map = op(
    "TakeManySparseFromTensorsMap(sparse_handles: int64) -> sparse_indices: int64, sparse_values: dtype, "
    "sparse_shape: int64",
    "dtype: type",
    "container: string = ''",
    "shared_name: string = ''",
    "stateful",
)


@take_many_sparse_from_tensors_map.shape
def take_many_sparse_from_tensors_map_shape(sparse_handles: Tensor) -> tuple[Shape, Shape, Shape]:
    with_rank(sparse_handles, 1)
    return Shape((None, None)), Shape((None,)), Shape((None,))


@take_many_sparse_from_tensors_map.stateful_kernel
def take_many_sparse_from_tensors_map_kernel(
    ctx: KernelContext, sparse_handles: Array, *, dtype: DType, container: bytes, shared_name: bytes
) -> tuple[Array, Array, Array]:
    numbers = np.asarray(sparse_handles)
    if numbers.ndim != 1:
        raise InvalidArgumentError(
            f"sparse_handles should be a vector but received shape {bracketed_shape(numbers.shape)}"
        )
    if not numbers.size:
        raise InvalidArgumentError("Must have at least 1 serialized SparseTensor, but input matrix has 0 rows")
    tensors = _map(ctx, container, shared_name).take(numbers.tolist())
    for i, parts in enumerate(tensors):
        check_loaded(i, parts, dtype)
    return stack_sparse_tensors(tensors)
