"""Crosses of the features of ragged, sparse and dense columns, and values stacked by the partition they are of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorkeep.dtypes import INT32, INT64, STRING
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.ragged.tensors import ragged_cross
from tensorkeep.tf1.functions.arrays import shapes, slicing
from tensorkeep.tf1.functions.arrays.shapes import scope_of
from tensorkeep.tf1.functions.arrays.sorting import argsort
from tensorkeep.tf1.functions.control.assertions import assert_equal, assert_less, assert_non_negative
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.functions.ragged.arrays import gather
from tensorkeep.tf1.functions.ragged.broadcasting import unary
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedLike, RaggedTensor, as_ragged_or_tensor

_DEFAULT_KEY: Final = 0xDECAFCAFFE


def cross(inputs: Sequence[RaggedLike], name: str | None = None) -> RaggedTensor:
    """For each row all combinations of one feature of each column, joined by `_X_`."""
    return _cross_columns(inputs, False, 0, None, name)


def cross_hashed(
    inputs: Sequence[RaggedLike], num_buckets: int = 0, hash_key: int | None = None, name: str | None = None
) -> RaggedTensor:
    """For each row all combinations of one feature of each column, as numbers of buckets."""
    return _cross_columns(inputs, True, num_buckets, hash_key, name)


def _cross_columns(inputs: Any, is_hashed: bool, buckets: int, key: int | None, name: str | None) -> RaggedTensor:
    if not isinstance(inputs, list | tuple):
        raise WrongTypeError("Inputs must be a list")
    key = _DEFAULT_KEY if key is None else key
    with scope_of(name, "RaggedCross", *inputs):
        columns = [_column(i, value) for i, value in enumerate(inputs)]
        ragged = [column for column in columns if isinstance(column, RaggedTensor)]
        sparse = [column for column in columns if isinstance(column, SparseTensor)]
        order = "".join(
            "R" if isinstance(column, RaggedTensor) else "S" if isinstance(column, SparseTensor) else "D"
            for column in columns
        )
        is_small = bool(ragged) and all(column.row_splits.dtype is INT32 for column in ragged)
        attrs: dict[str, Any] = {
            "hashed_output": is_hashed,
            "num_buckets": buckets,
            "hash_key": key - (1 << 64) if key > 1 << 63 else key,
            "out_values_type": INT64 if is_hashed else STRING,
            "out_row_splits_type": INT32 if is_small else INT64,
        }
        found = ragged_cross(
            [column.values for column in ragged],
            [column.row_splits for column in ragged],
            [column.indices for column in sparse],
            [column.values for column in sparse],
            [column.dense_shape for column in sparse],
            [column for column in columns if isinstance(column, Tensor)],
            input_order=order,
            name=name,
            **attrs,
        )
        return RaggedTensor.from_row_splits(found.output_values, found.output_row_splits, validate=False)


def _column(number: int, value: Any) -> Any:
    """A column of int64 or strings."""
    column = SparseTensor.from_value(value) if _is_sparse(value) else as_ragged_or_tensor(value)
    if column.dtype.is_integer:
        column = unary(cast, column, INT64) if isinstance(column, RaggedTensor) else cast(column, INT64)
    elif column.dtype.base_dtype is not STRING:
        raise InvalidArgumentError(f"Unexpected dtype for inputs[{number}]: {column.dtype}")
    if isinstance(column, RaggedTensor) and column.ragged_rank != 1:
        raise InvalidArgumentError("tf.ragged.cross only supports inputs with rank=2")
    return column


def _is_sparse(value: Any) -> bool:
    return isinstance(value, SparseTensor) or (hasattr(value, "dense_shape") and hasattr(value, "indices"))


def stack_dynamic_partitions(
    data: RaggedLike, partitions: RaggedLike, num_partitions: Tensor | int, name: str | None = None
) -> RaggedTensor:
    """The elements of each partition as a row."""
    with scope_of(name, "SegmentStack", data, partitions, num_partitions):
        data = as_ragged_or_tensor(data, name="data")
        dtype = data.row_splits.dtype if isinstance(data, RaggedTensor) else None
        parts: Any = as_ragged_or_tensor(partitions, preferred_dtype=dtype, name="partitions")
        count = convert(num_partitions, name="num_partitions", preferred_dtype=parts.dtype)
        if dtype is not None:
            parts = _cast(parts, dtype)
        count = cast(count, parts.dtype)
        rank = parts.shape.rank
        if rank is None:
            raise InvalidArgumentError("partitions must have known rank.")
        count.shape.assert_has_rank(0)
        parts.shape.assert_is_compatible_with(data.shape[:rank])
        if rank == 0:
            values, rows = shapes.stack([data]), shapes.stack([parts])
            return RaggedTensor.from_value_rowids(values, rows, count, validate=False)
        return _stack_partitions(data, parts, count) if rank == 1 else _stacked_rows(data, parts, count, rank)


def _cast(partitions: Any, dtype: Any) -> Any:
    return unary(cast, partitions, dtype) if isinstance(partitions, RaggedTensor) else cast(partitions, dtype)


def _stack_partitions(data: Any, partitions: Tensor, count: Tensor) -> RaggedTensor:
    order = argsort(partitions, stable=True)
    rows = slicing.gather(partitions, order)
    values = gather(data, order, axis=0) if isinstance(data, RaggedTensor) else slicing.gather(data, order)
    checks: Sequence[Any] = [
        assert_less(rows[-1:], count, message="partitions must be less than num_partitions"),
        assert_non_negative(partitions, message="partitions must be non-negative."),
    ]
    with control_dependencies(checks):
        return RaggedTensor.from_value_rowids(values, rows, count, validate=False)


def _stacked_rows(data: Any, partitions: Any, count: Tensor, rank: int) -> RaggedTensor:
    dtype = partitions.dtype
    if not isinstance(data, RaggedTensor):
        data = RaggedTensor.from_tensor(data, row_splits_dtype=dtype, ragged_rank=1)
    if not isinstance(partitions, RaggedTensor):
        depth = max(data.ragged_rank, rank - 1)
        partitions = RaggedTensor.from_tensor(partitions, row_splits_dtype=dtype, ragged_rank=depth)
    message = "data and partitions have incompatible ragged shapes"
    with control_dependencies([assert_equal(data.row_splits, partitions.row_splits, message=message)]):
        return stack_dynamic_partitions(data.values, partitions.values, count)


__all__ = ["cross", "cross_hashed", "stack_dynamic_partitions"]
