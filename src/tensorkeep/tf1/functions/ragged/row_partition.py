"""How values are parted into rows: by splits, and by what else is known of them without computing it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tensorkeep.dtypes import INT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, TensorLike, emit
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.ops.shared.indexing import static_value
from tensorkeep.tf1.functions import operators  # noqa: F401 - so that tensors have operators
from tensorkeep.tf1.functions.arrays.counting import bincount
from tensorkeep.tf1.functions.arrays.shapes import concat, scope_of, zeros
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import repeat
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.assertions import (
    assert_equal,
    assert_greater_equal,
    assert_less,
    assert_less_equal,
    assert_non_negative,
    assert_rank,
)
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.numbers.elementwise import cast, cumsum, maximum
from tensorkeep.tf1.functions.numbers.elementwise import range as range_of


@dataclass(frozen=True, eq=False)
class RowPartition:
    """Rows of values: splits, and optionally the same in other words."""

    splits: Tensor
    lengths: Tensor | None = None
    rowids: Tensor | None = None
    row_count: Tensor | None = None
    uniform_length: Tensor | None = None
    value_count: Tensor | None = None

    def __post_init__(self) -> None:
        if self.splits.dtype.base_dtype not in (INT32, INT64):
            raise InvalidArgumentError("Row-partitioning argument must be int32 or int64")
        self.splits.shape.assert_has_rank(1)
        self.splits.set_shape([None])
        for other in (self.lengths, self.rowids, self.row_count, self.uniform_length, self.value_count):
            if other is not None and other.dtype is not self.splits.dtype:
                raise InvalidArgumentError(f"Inconsistent dtype for encoding tensors: {other} vs {self.splits}")

    @property
    def dtype(self) -> DType:
        return self.splits.dtype

    def value_rowids(self) -> Tensor:
        return self.rowids if self.rowids is not None else row_splits_to_segment_ids(self.splits)

    def nvals(self) -> Tensor:
        return self.splits[-1]

    def nrows(self) -> Tensor:
        if self.row_count is not None:
            return self.row_count
        known = self.splits.static_shape.with_rank(1)[0]
        if known is None:
            return shape_of(self.splits, out_type=self.dtype)[0] - 1
        return constant(known - 1, self.dtype)

    def row_lengths(self) -> Tensor:
        return self.lengths if self.lengths is not None else self.splits[1:] - self.splits[:-1]

    @property
    def static_nrows(self) -> int | None:
        known = self.splits.static_shape.with_rank(1)[0]
        if known is not None:
            return known - 1
        if self.lengths is not None and self.lengths.static_shape.dims:
            count = self.lengths.static_shape.dims[0]
            if count is not None:
                return count
        return _whole_number(self.row_count)

    @property
    def static_uniform_row_length(self) -> int | None:
        return _whole_number(self.uniform_length)

    def after(self, checks: Sequence[Any]) -> RowPartition:
        """The partition, once the checks have passed."""
        return replace(self, splits=with_dependencies(checks, self.splits), value_count=None)

    def with_dtype(self, dtype: DType) -> RowPartition:
        if self.dtype is dtype:
            return self

        def converted(tensor: Tensor | None) -> Any:
            return None if tensor is None else cast(tensor, dtype)

        return RowPartition(
            converted(self.splits),
            converted(self.lengths),
            converted(self.rowids),
            converted(self.row_count),
            converted(self.uniform_length),
        )

    def merge_with(self, other: RowPartition) -> RowPartition:
        """The partition with what either knows; that they are one is checked when it runs."""
        mine, theirs = _tensors(self), _tensors(other)
        if self is other or all(a is b for a, b in zip(mine, theirs, strict=True)):
            return self
        check = True
        count, counts_checked = _merge_tensors(self.row_count, other.row_count, "nrows", check)
        values, _ = _merge_tensors(self.value_count, other.value_count, "nvals", check)
        length, length_checked = _merge_tensors(self.uniform_length, other.uniform_length, "uniform_row_length", check)
        check = not (length_checked and counts_checked)
        splits, checked = _merge_tensors(self.splits, other.splits, "row_splits", check)
        check = check and not checked
        lengths, checked = _merge_tensors(self.lengths, other.lengths, "row_lengths", check)
        check = check and not checked
        rowids, _ = _merge_tensors(self.rowids, other.rowids, "value_rowids", check)
        found = (splits, lengths, rowids, count, length)
        for old, parts in ((self, mine), (other, theirs)):
            if all(a is b for a, b in zip(found, parts[:5], strict=True)):
                return old
        assert splits is not None
        return RowPartition(splits, lengths, rowids, count, length, values)

    def __repr__(self) -> str:
        if self.uniform_length is not None:
            return f"tf.RowPartition(nrows={self.row_count}, uniform_row_length={self.uniform_length})"
        return f"tf.RowPartition(row_splits={self.splits})"


def _tensors(partition: RowPartition) -> tuple[Tensor | None, ...]:
    known = (partition.splits, partition.lengths, partition.rowids, partition.row_count)
    return (*known, partition.uniform_length, partition.value_count)


def _merge_tensors(first: Tensor | None, second: Tensor | None, what: str, check: bool) -> tuple[Tensor | None, bool]:
    """Either of two that must be equal, and whether that has been checked."""
    if first is None or second is None:
        return first if second is None else second, False
    if first is second:
        return first, True
    message = f"RowPartition._merge_precomputed_encodings: partitions have incompatible {what}"
    if not first.shape.is_compatible_with(second.shape):
        raise InvalidArgumentError(message)
    if not check:
        return first, False
    return with_dependencies([assert_equal(first, second, message=message)], first), True


def _whole_number(tensor: Tensor | None) -> int | None:
    known = None if tensor is None else static_value(tensor)
    return None if known is None else int(known)


def check_flag(validate: bool) -> None:
    if not isinstance(validate, bool):
        raise WrongTypeError(f"Argument `validate` must have type bool. Received {validate}.")


def _partition(value: Any, name: str, dtype_hint: DType | None) -> Tensor:
    """Splits, lengths and the like as a tensor: of int64 unless they have a type, or go with some that have."""
    if isinstance(value, np.ndarray) and value.dtype == np.int32:
        found = convert(value, name=name)
    else:
        found = convert(value, name=name, preferred_dtype=dtype_hint or INT64)
    if found.dtype.base_dtype not in (INT32, INT64):
        raise InvalidArgumentError(f"{name} must have dtype int32 or int64")
    return found


convert_row_partition = _partition


def assert_increasing(tensor: Tensor, message: str) -> Operation:
    return assert_non_negative(tensor[1:] - tensor[:-1], message=message)


def _assert_zero(tensor: Tensor, message: str) -> Any:
    return assert_equal(tensor, constant(0, tensor.dtype), message=message)


# ---------------------------------------------------------------------------------------------------- Making


def from_row_splits(row_splits: TensorLike, validate: bool = True, dtype_hint: DType | None = None) -> RowPartition:
    check_flag(validate)
    if isinstance(row_splits, list | tuple) and not row_splits:
        raise InvalidArgumentError("row_splits tensor may not be empty.")
    with scope_of(None, "RowPartitionFromRowSplits", row_splits):
        splits = _partition(row_splits, "row_splits", dtype_hint)
        splits.shape.assert_has_rank(1)
        if validate:
            message = "Arguments to from_row_splits do not form a valid RaggedTensor:"
            checks = [
                assert_rank(splits, 1, message=f"{message}rank"),
                _assert_zero(splits[0], f"{message}zero"),
                assert_increasing(splits, f"{message}monotonic"),
            ]
            splits = with_dependencies(checks, splits)
        return RowPartition(splits)


def from_row_lengths(row_lengths: TensorLike, validate: bool = True, dtype_hint: DType | None = None) -> RowPartition:
    check_flag(validate)
    with scope_of(None, "RowPartitionFromRowLengths", row_lengths):
        lengths = _partition(row_lengths, "row_lengths", dtype_hint)
        lengths.shape.assert_has_rank(1)
        if validate:
            message = "Arguments to from_row_lengths do not form a valid RowPartition"
            checks = [assert_rank(lengths, 1, message=message), assert_non_negative(lengths, message=message)]
            lengths = with_dependencies(checks, lengths)
        limits = cumsum(lengths)
        return RowPartition(concat([[0], limits], axis=0), lengths=lengths)


def from_value_rowids(
    value_rowids: TensorLike, nrows: TensorLike | None = None, validate: bool = True, dtype_hint: DType | None = None
) -> RowPartition:
    check_flag(validate)
    with scope_of(None, "RowPartitionFromValueRowIds", value_rowids, nrows):
        ids = _partition(value_rowids, "value_rowids", dtype_hint)
        count = _row_count(ids, nrows)
        known = _whole_number(count)
        ids.shape.assert_has_rank(1)
        count.shape.assert_has_rank(0)
        if validate:
            message = "Arguments to from_value_rowids do not form a valid RowPartition"
            checks = [
                assert_rank(ids, 1, message=message),
                assert_rank(count, 0, message=message),
                assert_non_negative(ids[:1], message=message),
                assert_increasing(ids, message),
                assert_less(ids[-1:], count, message=message),
            ]
            ids = with_dependencies(checks, ids)
        small_ids, small_count = cast(ids, INT32), cast(count, INT32)
        lengths = bincount(small_ids, minlength=small_count, maxlength=small_count, dtype=ids.dtype)
        splits = concat([[0], cumsum(lengths)], axis=0)
        if known is not None:
            lengths.set_shape([known])
            splits.set_shape([known + 1])
        return RowPartition(splits, lengths=lengths, rowids=ids, row_count=count)


def _row_count(ids: Tensor, nrows: Any) -> Tensor:
    """How many rows there are; if nobody says, as many as the last id asks for."""
    known_ids = static_value(ids)
    if nrows is None:
        if known_ids is None:
            found: Tensor = concat([ids[-1:], [-1]], axis=0)[0] + 1
            return found
        return convert(int(known_ids[-1]) + 1 if known_ids.size else 0, ids.dtype, "nrows")
    count = convert(nrows, ids.dtype.base_dtype, "nrows")
    known = static_value(count)
    if known is not None and known < 0:
        raise InvalidArgumentError(f"Expected nrows >= 0; got {int(known)}")
    if known is not None and known_ids is not None and known_ids.size and known < known_ids[-1] + 1:
        raise InvalidArgumentError(
            f"Expected nrows >= value_rowids[-1] + 1; got nrows={int(known)}, value_rowids[-1]={int(known_ids[-1])}"
        )
    return count


def from_row_starts(
    row_starts: TensorLike, nvals: TensorLike, validate: bool = True, dtype_hint: DType | None = None
) -> RowPartition:
    check_flag(validate)
    with scope_of(None, "RowPartitionFromRowStarts", row_starts):
        starts = _partition(row_starts, "row_starts", dtype_hint)
        starts.shape.assert_has_rank(1)
        count = cast(nvals, starts.dtype)
        if validate:
            message = "Arguments to from_row_starts do not form a valid RaggedTensor"
            checks = [
                assert_rank(starts, 1, message=message),
                _assert_zero(starts[:1], message),
                assert_increasing(starts, message),
                assert_less_equal(starts[-1:], count, message=message),
            ]
            starts = with_dependencies(checks, starts)
        return RowPartition(concat([starts, [count]], axis=0), value_count=count)


def from_row_limits(row_limits: TensorLike, validate: bool = True, dtype_hint: DType | None = None) -> RowPartition:
    check_flag(validate)
    with scope_of(None, "RowPartitionFromRowLimits", row_limits):
        limits = _partition(row_limits, "row_limits", dtype_hint)
        limits.shape.assert_has_rank(1)
        if validate:
            message = "Arguments to from_row_limits do not form a valid RaggedTensor"
            checks = [
                assert_rank(limits, 1, message=message),
                assert_non_negative(limits[:1], message=message),
                assert_increasing(limits, message),
            ]
            limits = with_dependencies(checks, limits)
        zero = zeros([1], limits.dtype)
        return RowPartition(concat([zero, limits], axis=0))


def from_uniform_row_length(
    uniform_row_length: TensorLike,
    nvals: TensorLike | None = None,
    nrows: TensorLike | None = None,
    validate: bool = True,
    dtype_hint: DType | None = None,
) -> RowPartition:
    """Rows that all have the same length."""
    check_flag(validate)
    with scope_of(None, "RowPartitionFromUniformRowLength", uniform_row_length, nrows):
        length, values, rows = _same_type(uniform_row_length, nvals, nrows, dtype_hint)
        length.shape.assert_has_rank(0)
        rows = _rows_of_length(length, values) if rows is None else rows
        known_length, known_rows, known_values = (_whole_number(part) for part in (length, rows, values))
        checks: list[Any] = []
        if known_values is None and known_rows is not None and known_length is not None:
            known_values = known_rows * known_length
            if values is not None and validate:
                checks.append(assert_equal(values, np.asarray(known_values, length.dtype.array_dtype)))
            values = constant(known_values, length.dtype)
        if values is None:
            values = rows * length
        if known_rows is not None and known_length is not None:
            splits = constant([row * known_length for row in range(known_rows + 1)], length.dtype)
        else:
            splits = range_of(rows + 1, dtype=length.dtype) * length
        if validate:
            checks += _uniform_checks(length, rows, values, (known_length, known_rows, known_values))
            splits = with_dependencies(checks, splits)
        return RowPartition(splits, uniform_length=length, row_count=rows, value_count=values)


def _same_type(length: Any, nvals: Any, nrows: Any, dtype_hint: DType | None) -> tuple[Tensor, Any, Any]:
    """The three as tensors of the type of the first that is one, or of int64."""
    parts = (length, nvals, nrows)
    found = {part.dtype.base_dtype for part in parts if isinstance(part, Tensor)}
    dtype = (INT64 if len(found) > 1 else found.pop()) if found else dtype_hint or INT64
    names = ("uniform_row_length", "nvals", "nrows")
    made = [None if part is None else convert(part, dtype, name) for part, name in zip(parts, names, strict=True)]
    assert made[0] is not None
    return made[0], made[1], made[2]


def _rows_of_length(length: Tensor, values: Any) -> Any:
    known = _whole_number(length)
    if known is None:
        return values // maximum(length, constant(1, length.dtype))
    return constant(0, length.dtype) if known == 0 else values // known


def _uniform_checks(length: Tensor, rows: Any, values: Any, known: tuple[int | None, ...]) -> list[Any]:
    known_length, known_rows, known_values = known
    checks: list[Any] = []
    if known_length is None or known_rows is None or known_values is None:
        parts: Any = ("uniform_row_length", length, "times nrows", rows, "must equal nvals", values)
        checks.append(assert_equal(rows * length, values, parts))
    elif known_rows * known_length != known_values:
        raise InvalidArgumentError(
            f"uniform_row_length={known_length} times nrows={known_rows} must equal nvals={known_values}"
        )
    if length.static_shape.rank is None:
        checks.append(assert_rank(length, 0, message="uniform_row_length must be a scalar."))
    if known_length is None:
        message = "uniform_row_length must be >= 0."
        checks.append(assert_greater_equal(length, constant(0, length.dtype), message=message))
    elif known_length < 0:
        raise InvalidArgumentError("uniform_row_length must be >= 0.")
    return checks


# ------------------------------------------------------------------------------------------- Splits and rows


def row_splits_to_segment_ids(splits: TensorLike, name: str | None = None, out_type: DTypeLike | None = None) -> Tensor:
    """The row of each value, of rows that splits part."""
    with scope_of(name, "RaggedSplitsToSegmentIds", splits):
        splits = convert(splits, name="splits", preferred_dtype=INT64)
        if splits.dtype.base_dtype not in (INT32, INT64):
            raise InvalidArgumentError("splits must have dtype int32 or int64")
        splits.shape.assert_has_rank(1)
        if splits.static_shape.dims == (0,):
            raise InvalidArgumentError("Invalid row_splits: []")
        dtype = splits.dtype if out_type is None else DType.of(out_type)
        lengths = splits[1:] - splits[:-1]
        count = shape_of(splits, out_type=dtype)[-1] - 1
        return repeat(range_of(count), lengths, axis=0)


def segment_ids_to_row_splits(
    segment_ids: TensorLike,
    num_segments: TensorLike | None = None,
    out_type: DTypeLike | None = None,
    name: str | None = None,
) -> Tensor:
    """The splits that part values into the rows that their ids name."""
    given = next((part.dtype for part in (segment_ids, num_segments) if isinstance(part, Tensor)), INT64)
    dtype = given if out_type is None else DType.of(out_type)
    with scope_of(name, "SegmentIdsToRaggedSplits", segment_ids):
        ids = integers(segment_ids, "segment_ids", INT32)
        ids.shape.assert_has_rank(1)
        count = None if num_segments is None else integers(num_segments, "num_segments", INT32)
        if count is not None:
            count.shape.assert_has_rank(0)
        lengths = bincount(ids, minlength=count, maxlength=count, dtype=dtype)
        splits = concat([[0], cumsum(lengths)], axis=0)
        known = _whole_number(count)
        if known is not None:
            splits.set_shape([known + 1])
        return splits


def integers(value: TensorLike, name: str, dtype: DType = INT32) -> Tensor:
    """Whole numbers as a tensor of a type."""
    tensor = convert(value, name=name, preferred_dtype=dtype)
    if not tensor.dtype.is_integer:
        raise WrongTypeError(f"Argument `tensor` (name: {name}) must be of type integer. Received {tensor}")
    return emit("Cast", tensor, DstT=dtype)
