"""Rows of different lengths: what kernels do with the numbers that part values into rows.

splits = 0, end of row 0, end of row 1, ...     never falling, one more than there are rows
row ids = the row of each value                 never falling
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from tensorkeep.dtypes import VARIANT, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.limits import check_allocation


class RaggedVariant:
    """A ragged tensor as one value of a variant tensor: its splits, outermost first, and the values that they part."""

    # To NumPy it is one element of an array of objects.
    dtype = np.dtype(object)
    __slots__ = ("nested_splits", "values")

    def __init__(self, nested_splits: Sequence[Array], values: Array) -> None:
        self.nested_splits = tuple(nested_splits)
        self.values = values

    def zeros_like(self) -> RaggedVariant:
        """The same rows of zeros: its gradient where none comes."""
        return RaggedVariant(self.nested_splits, np.zeros_like(self.values))

    def __add__(self, other: RaggedVariant) -> RaggedVariant:
        if not isinstance(other, RaggedVariant):
            return NotImplemented
        if len(self.nested_splits) != len(other.nested_splits):
            raise InvalidArgumentError("Can only add RaggedTensorVariants of the same ragged rank")
        for mine, theirs in zip(self.nested_splits, other.nested_splits, strict=True):
            if not np.array_equal(mine, theirs):
                raise InvalidArgumentError("Can only add RaggedTensorVariants with matching row_splits")
        return RaggedVariant(self.nested_splits, np.add(self.values, other.values))

    def __repr__(self) -> str:
        return f"RaggedVariant({len(self.nested_splits)} splits, values of shape {list(self.values.shape)})"


def checked_splits(splits: Array, count: int | None = None, what: str = "row splits") -> Array:
    """Splits that begin with 0, never fall, and end with the number of values; an error if they are others."""
    array = np.asarray(splits)
    if array.ndim != 1 or array.size == 0:
        raise InvalidArgumentError(f"Invalid {what}: expected a vector of at least one element, got {array.shape}")
    if array[0] != 0:
        raise InvalidArgumentError(f"First value in {what} must be zero, got {int(array[0])}")
    if np.any(np.diff(array) < 0):
        raise InvalidArgumentError(f"Invalid {what}: the values must be sorted in ascending order, got {array}")
    if count is not None and array[-1] != count:
        raise InvalidArgumentError(f"Last value of {what} must be the number of values {count}, got {int(array[-1])}")
    return array


def ranges(starts: Array, lengths: Array) -> Array:
    """The numbers from each start on, as many as its length, one range after the other."""
    lengths = np.asarray(lengths, np.int64)
    total = int(lengths.sum())
    check_allocation((total,), np.dtype(np.int64))
    before = np.cumsum(lengths) - lengths
    found: Array = np.arange(total, dtype=np.int64) + np.repeat(np.asarray(starts, np.int64) - before, lengths)
    return found


def splits_of(lengths: Array | Sequence[int], dtype: np.dtype[Any]) -> Array:
    """The splits of rows of these lengths."""
    found = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=found[1:])
    return found.astype(dtype)


def rows_of(splits: Array) -> Array:
    """The row of each value."""
    return np.repeat(np.arange(len(splits) - 1), np.diff(splits))


def split_apart(variant: RaggedVariant) -> list[RaggedVariant]:
    """The rows of a ragged tensor, each one by itself; of a tensor that is not ragged, its slices."""
    if not variant.nested_splits:
        return [RaggedVariant((), np.asarray(row, variant.values.dtype)) for row in variant.values]
    found = []
    outer = variant.nested_splits[0]
    for start, end in pairwise(outer.tolist()):
        inner: list[Array] = []
        for splits in variant.nested_splits[1:]:
            inner.append(splits[start : end + 1] - splits[start])
            start, end = int(splits[start]), int(splits[end])
        found.append(RaggedVariant(inner, variant.values[start:end]))
    return found


def stack_variants(
    variants: Sequence[RaggedVariant], rank: int, dtype: DType, splits_dtype: np.dtype[Any]
) -> RaggedVariant:
    """Ragged tensors, or tensors, as the rows of one, which has one dimension more; `rank` is that of each."""
    if not variants:
        empty = np.zeros((0,), dtype.array_dtype)
        return RaggedVariant([np.zeros(1, splits_dtype)] * (rank + 1), empty)
    counts = [len(item.nested_splits[0]) - 1 if rank else len(item.values) for item in variants]
    nested = [splits_of(counts, splits_dtype)]
    for level in range(rank):
        lengths = np.concatenate([np.diff(item.nested_splits[level]) for item in variants])
        nested.append(splits_of(lengths, splits_dtype))
    shapes = {item.values.shape[1:] for item in variants}
    if len(shapes) > 1:
        raise InvalidArgumentError(f"All flat_values must have compatible shapes, got {sorted(shapes)}")
    return RaggedVariant(nested, np.concatenate([item.values for item in variants]))


def variant_array(items: Sequence[RaggedVariant]) -> Array:
    found = np.empty(len(items), VARIANT.array_dtype)
    found[:] = list(items)
    return found
