"""Features as an op describes them, and columns of values as the tensors it returns."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final, NamedTuple

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.native.examples import Column
from tensorkeep.ops.parsing.example_bytes import Wanted
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape, bracketed_shape


def texts(value: Array | Sequence[bytes]) -> list[bytes]:
    """The strings of an input, whatever its shape."""
    found: list[bytes] = np.asarray(value).reshape(-1).tolist()
    return found


# ------------------------------------------------------------------------------------------------------- Description


def check_lengths(lengths: Sequence[tuple[str, int, str, int]]) -> None:
    """Refuses counts that differ: each item is what is counted and its count, and what it must be as many as and that
    count.
    """
    for what, count, other, expected in lengths:
        if count != expected:
            raise InvalidArgumentError(f"len({what}) != len({other}): {count} vs. {expected}")


def check_dense_shapes(dense_shapes: Sequence[Shape]) -> None:
    """Refuses shapes of dense features in which another dimension than the first is left open."""
    for i, shape in enumerate(dense_shapes):
        if shape.dims is None or None in shape.dims[1:]:
            raise InvalidArgumentError(f"dense_shapes[{i}] has unknown rank or unknown inner dimensions: {shape}")


class _Required(NamedTuple):
    """Dense features without anything that stands in for them, as an operation with these attributes asks for them."""

    shapes: Sequence[Shape]
    dtypes: Sequence[DType]
    keys: Sequence[bytes]
    features: list[Wanted]


_REQUIRED: Final[dict[int, _Required]] = {}  # by the identity of the shapes, which are kept for that
_MOST_REQUIRED: Final = 64


def dense_features(
    keys: Sequence[bytes], dtypes: Sequence[DType], shapes: Sequence[Shape], defaults: Sequence[Any]
) -> list[Wanted]:
    """Dense features with what stands in for them, which must fit."""
    if len(keys) != len(dtypes):
        raise InvalidArgumentError(
            f"Expected len(dense_keys) == len(dense_types) but got: {len(keys)} vs. {len(dtypes)}"
        )
    if any(map(np.size, defaults)):
        return _dense_features(keys, dtypes, shapes, defaults)
    known = _REQUIRED.get(id(shapes))  # a long time is spent on many features otherwise, for each small batch
    if known is None or known.shapes is not shapes or known.dtypes is not dtypes or known.keys != keys:
        known = _Required(shapes, dtypes, keys, _dense_features(keys, dtypes, shapes, defaults))
        if len(_REQUIRED) >= _MOST_REQUIRED:
            _REQUIRED.clear()
        _REQUIRED[id(shapes)] = known
    return known.features


def _dense_features(
    keys: Sequence[bytes], dtypes: Sequence[DType], shapes: Sequence[Shape], defaults: Sequence[Any]
) -> list[Wanted]:
    check_dense_shapes(shapes)
    found = []
    for i, (key, dtype, shape, default) in enumerate(zip(keys, dtypes, shapes, defaults, strict=True)):
        value = np.asarray(default)
        dims = shape.dims or ()
        if dims and dims[0] is None:
            if value.size != 1:
                raise InvalidArgumentError(
                    f"dense_shape[{i}] is a variable length shape: {shape}, therefore def_value[{i}] must "
                    f"contain a single element (the padding element).  But its shape is: {bracketed_shape(value.shape)}"
                )
            found.append(Wanted(key, dtype, "varying", shape, prod(n or 0 for n in dims[1:]), value.reshape(-1)[0]))
            continue
        if value.size and value.shape != dims:
            raise InvalidArgumentError(
                f"def_value[{i}].shape() == {bracketed_shape(value.shape)} is not compatible with dense_shapes_[{i}] "
                f"== {shape}"
            )
        count = prod(n or 0 for n in dims)
        found.append(Wanted(key, dtype, "dense", shape, count, value.reshape(-1) if value.size else None))
    return found


def open_features(form: str, keys: Sequence[bytes], dtypes: Sequence[DType], what: str) -> list[Wanted]:
    """Features of any number of values: sparse or ragged ones."""
    if len(keys) != len(dtypes):
        raise InvalidArgumentError(f"Expected {what} but got: {len(keys)} vs. {len(dtypes)}")
    return [Wanted(key, dtype, form) for key, dtype in zip(keys, dtypes, strict=True)]


# ----------------------------------------------------------------------------------------------------- Static shapes


def sparse_shapes(count: int, serialized: Shape, more: int) -> tuple[list[Shape], list[Shape], list[Shape]]:
    """The shapes of indices, values and dense shapes of sparse tensors that have `more` dimensions than the input."""
    rank = None if serialized.rank is None else serialized.rank + more
    return [Shape((None, rank))] * count, [Shape((None,))] * count, [Shape((rank,))] * count


def dense_shapes_of(dense_shapes: Sequence[Shape], before: Shape) -> list[Shape]:
    """The shapes of dense features behind those of the examples they are of."""
    return [
        UNKNOWN_SHAPE if before.dims is None or shape.dims is None else Shape((*before.dims, *shape.dims))
        for shape in dense_shapes
    ]


def splits_shape(serialized: Shape) -> Shape:
    """The shape of what parts the values of ragged features: one more than there are examples."""
    size = serialized.dims[0] if serialized.rank == 1 and serialized.dims else None
    return Shape((None if size is None else size + 1,))


# ----------------------------------------------------------------------------------------------------------- Tensors


def fits(column: Column, feature: Wanted) -> bool:
    """Whether all examples have as many values as the feature must have."""
    if feature.form == "dense":
        if column.each >= 0:
            return column.each == feature.stride
        if feature.default is None and not column.present.all():
            return False
        return bool(np.all(column.counts[column.present] == feature.stride))
    return feature.form != "varying" or not np.any(column.counts % max(feature.stride, 1))


def dense_tensor(column: Column, feature: Wanted) -> Array:
    """A dense feature of a batch: rows that are missing are the default, those that are short are padded."""
    if column.each == 1 and feature.shape.dims == ():
        return column.values
    batch = column.counts.size
    dims = tuple(size or 0 for size in feature.shape.dims or ())
    if feature.form == "varying":
        return _padded_rows(column, feature, dims)
    if column.each >= 0 or column.present.all():
        return column.values.reshape((batch, *dims))
    made = np.empty((batch, feature.stride), feature.dtype.array_dtype)
    made[column.present] = column.values.reshape(-1, feature.stride) if feature.stride else 0
    made[~column.present] = feature.default
    return made.reshape((batch, *dims))


def _padded_rows(column: Column, feature: Wanted, dims: tuple[int, ...]) -> Array:
    """A dense feature whose first size is open: the values of each example, padded with the default."""
    longest = int(column.counts.max(initial=0))
    made = np.full((column.counts.size, longest), feature.default, feature.dtype.array_dtype)
    made[np.arange(longest) < column.counts[:, None]] = column.values
    return made.reshape((column.counts.size, longest // max(feature.stride, 1), *dims[1:]))


def sparse_tensor(column: Column) -> tuple[Array, Array, Array]:
    """Indices, values and dense shape of a feature of a batch."""
    counts = column.counts
    indices = np.empty((column.values.size, 2), np.int64)
    indices[:, 0] = np.repeat(np.arange(counts.size), counts)
    indices[:, 1] = np.arange(column.values.size) - np.repeat(np.cumsum(counts) - counts, counts)
    return indices, column.values, np.array([counts.size, counts.max(initial=0)], np.int64)


def row_splits(counts: Array, dtype: DType) -> Array:
    """Where the values of each of several rows begin, and where those of the last end."""
    splits = np.zeros(counts.size + 1, dtype.array_dtype)
    np.cumsum(counts, out=splits[1:])
    return splits


def single_dense(column: Column, feature: Wanted) -> Array:
    """A dense feature of one example that is no batch."""
    dims = tuple(size or 0 for size in feature.shape.dims or ())
    if feature.form == "varying":
        return column.values.reshape((column.values.size // max(feature.stride, 1), *dims[1:]))
    found = column.values if column.present[0] else np.asarray(feature.default, feature.dtype.array_dtype)
    return found.reshape(dims)


def single_sparse(column: Column) -> tuple[Array, Array, Array]:
    count = column.values.size
    return np.arange(count, dtype=np.int64).reshape(-1, 1), column.values, np.array([count], np.int64)
