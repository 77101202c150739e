"""What to parse of an Example: one description for each feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, TypeAlias

from tensorkeep.dtypes import FLOAT32, INT32, INT64, STRING, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike


class VarLenFeature(NamedTuple):
    """A feature of any number of values, parsed into a sparse tensor."""

    dtype: Any


class FixedLenFeature(NamedTuple):
    """A feature of as many values as its shape has. An example that lacks it is an error if there is no default."""

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """A feature of any number of rows of a shape, padded to the longest of a batch."""

    shape: Any
    dtype: Any
    allow_missing: Any = False
    default_value: Any = None


class SparseFeature(NamedTuple):
    """A sparse tensor that an Example holds as a feature of values and one of indices for each dimension."""

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: Any = False


class RowSplits(NamedTuple):
    """A partition, see RaggedFeature."""

    key: Any


class RowLengths(NamedTuple):
    """A partition, see RaggedFeature."""

    key: Any


class RowStarts(NamedTuple):
    """A partition, see RaggedFeature."""

    key: Any


class RowLimits(NamedTuple):
    """A partition, see RaggedFeature."""

    key: Any


class ValueRowIds(NamedTuple):
    """A partition, see RaggedFeature."""

    key: Any


class UniformRowLength(NamedTuple):
    """A partition, see RaggedFeature."""

    length: Any


class _RaggedFields(NamedTuple):
    dtype: Any
    value_key: Any
    partitions: Any
    row_splits_dtype: Any
    validate: Any


Partition: TypeAlias = "RowSplits | RowLengths | RowStarts | RowLimits | ValueRowIds | UniformRowLength"


class RaggedFeature(_RaggedFields):
    """A feature of any number of values, parsed into a ragged tensor: one row for each example, or as parted by others.

    `partitions` are, from outermost to innermost, `RowSplits(key)`, `RowLengths(key)`, `RowStarts(key)`,
    `RowLimits(key)`, `ValueRowIds(key)` or `UniformRowLength(length)`; a key is that of a feature of integers.
    """

    RowSplits: ClassVar[type[RowSplits]] = RowSplits
    RowLengths: ClassVar[type[RowLengths]] = RowLengths
    RowStarts: ClassVar[type[RowStarts]] = RowStarts
    RowLimits: ClassVar[type[RowLimits]] = RowLimits
    ValueRowIds: ClassVar[type[ValueRowIds]] = ValueRowIds
    UniformRowLength: ClassVar[type[UniformRowLength]] = UniformRowLength

    def __new__(
        cls,
        dtype: DTypeLike,
        value_key: str | None = None,
        partitions: Sequence[Partition] = (),
        row_splits_dtype: DTypeLike = INT32,
        validate: bool = False,
    ) -> RaggedFeature:
        _check_value_key(value_key)
        dtype, row_splits_dtype = DType.of(dtype), DType.of(row_splits_dtype)
        if dtype not in (INT64, FLOAT32, STRING):
            raise InvalidArgumentError(f"Argument `dtype` must be int64, float32, or bytes; got {dtype!r}")
        if row_splits_dtype not in (INT32, INT64):
            raise InvalidArgumentError(f"Argument `row_splits_dtype` must be int32 or int64; got{row_splits_dtype!r}")
        _check_partitions(partitions)
        if not isinstance(validate, bool):
            raise WrongTypeError(f"Argument `validate` must be a bool; got {validate!r}")
        return super().__new__(cls, dtype, value_key, tuple(partitions), row_splits_dtype, validate)


PARTITIONS = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)


def _check_value_key(value_key: Any) -> None:
    if value_key is None:
        return
    if not isinstance(value_key, str):
        raise InvalidArgumentError(f"Argument `value_key` must be a string; got {value_key}")
    if not value_key:
        raise InvalidArgumentError("Argument `value_key` must not be empty")


def _check_partitions(partitions: Any) -> None:
    if not isinstance(partitions, list | tuple):
        raise WrongTypeError(
            f"Argument `partitions` must be a list or tuple. Receivedpartitions={partitions} of type "
            f"{type(partitions).__name__}."
        )
    for partition in partitions:
        if not isinstance(partition, PARTITIONS):
            raise WrongTypeError(
                f"Argument `partitions` cannot be cast to any of the partition types in {PARTITIONS}; got: "
                f"{partition!r} with type {type(partition)}"
            )


__all__ = ["FixedLenFeature", "FixedLenSequenceFeature", "RaggedFeature", "SparseFeature", "VarLenFeature"]
