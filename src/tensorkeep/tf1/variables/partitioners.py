"""Partitioners: into how many parts a variable of some shape and type is cut, one number for each axis.

The rules are those of TensorFlow's python/ops/partitioned_variables.py.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor
from typing import Any

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike
from tensorkeep.graph.tensor_shape import TensorShape, sizes_of
from tensorkeep.tf1.variables.options import Partitioner


def fixed_size_partitioner(num_shards: int, axis: int = 0) -> Partitioner:
    """Cuts one axis into `num_shards` parts, or fewer if it is shorter."""

    def partitioner(shape: TensorShape | Sequence[int], **_: Any) -> list[int]:
        partitions = [1] * len(shape)
        partitions[axis] = min(num_shards, sizes_of(shape)[axis])
        return partitions

    return partitioner


def variable_axis_size_partitioner(
    max_shard_bytes: int, axis: int = 0, bytes_per_string_element: int = 16, max_shards: int | None = None
) -> Partitioner:
    """Cuts one axis so that no part has more than `max_shard_bytes`, unless one row has, or `max_shards` forbids."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise InvalidArgumentError(
            "Both max_shard_bytes and bytes_per_string_element must be positive. Currently, max_shard_bytes is "
            f"{max_shard_bytes} andbytes_per_string_element is {bytes_per_string_element}"
        )
    if max_shards and max_shards < 1:
        raise InvalidArgumentError("max_shards must be positive.")

    def partitioner(shape: TensorShape, dtype: DTypeLike) -> list[int]:
        if not isinstance(shape, TensorShape):
            raise InvalidArgumentError(f"shape is not a TensorShape: {shape}")
        if not shape.is_fully_defined():
            raise InvalidArgumentError(f"shape is not fully defined: {shape}")
        partitions = [1] * len(shape)
        rows = sizes_of(shape)[axis]
        row_bytes = (shape.num_elements() or 0) / rows * _element_bytes(dtype, bytes_per_string_element)
        rows_per_shard = max(1, floor(max_shard_bytes / row_bytes))
        shards = ceil(rows / rows_per_shard)
        partitions[axis] = min(max_shards, shards) if max_shards else shards
        return partitions

    return partitioner


def min_max_variable_partitioner(
    max_partitions: int = 1, axis: int = 0, min_slice_size: int = 256 << 10, bytes_per_string_element: int = 16
) -> Partitioner:
    """Cuts one axis into as many parts as there are `min_slice_size` bytes, and no more than `max_partitions`."""

    def partitioner(shape: TensorShape, dtype: DTypeLike) -> list[int]:
        if axis >= len(shape):
            raise InvalidArgumentError(f"Cannot partition variable along axis {axis} when shape is only {shape}")
        total = (shape.num_elements() or 0) * _element_bytes(dtype, bytes_per_string_element)
        partitions = [1] * len(shape)
        partitions[axis] = max(1, min(sizes_of(shape)[axis], max_partitions, ceil(total / min_slice_size)))
        return partitions

    return partitioner


def _element_bytes(dtype: DTypeLike, of_string: int) -> int:
    found = DType.of(dtype).base_dtype
    return of_string if found is STRING else max(1, found.itemsize)


__all__ = ["fixed_size_partitioner", "min_max_variable_partitioner", "variable_axis_size_partitioner"]
