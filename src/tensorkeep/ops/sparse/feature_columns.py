"""Columns of features, and the combinations of one of each, row by row of a batch.

Of a row's combinations the last column's features change fastest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.sparse.places import check_inside, check_parts
from tensorkeep.ops.text.hashes import fingerprints, keyed_hashes
from tensorkeep.runtime.limits import check_allocation

_FACTOR: Final = np.uint64(0xC6A4A7935BD1E995)
_MOST: Final = np.uint64((1 << 63) - 1)


@dataclass(frozen=True)
class Column:
    """The features of all rows, one row after the other."""

    features: Array
    counts: Array  # of features, by row
    starts: Array


def column_of(features: Array, counts: Array) -> Column:
    return Column(features, counts, np.cumsum(counts) - counts)


def common_rows(sizes: Sequence[int]) -> int:
    """How many rows there are, if that is the same for all columns."""
    if not sizes or any(size != sizes[0] for size in sizes):
        raise InvalidArgumentError(f"Expected as many rows of each input, got {list(sizes)}")
    return sizes[0]


def sparse_columns(
    indices: Sequence[Any], values: Sequence[Any], shapes: Sequence[Any], dense: Sequence[Any]
) -> list[Column]:
    """Checks the inputs, which must all have as many rows."""
    for parts in zip(indices, values, shapes, strict=True):
        check_parts(*parts)
        if len(parts[2]) != 2:
            raise InvalidArgumentError(f"shape should imply a 2D tensor, but got shape {parts[2].tolist()}")
        check_inside(parts[0], parts[2])
    for matrix in dense:
        if matrix.ndim != 2:
            raise InvalidArgumentError(f"Dense inputs should be a matrix but received shape {list(matrix.shape)}")
    count = common_rows([*(int(shape[0]) for shape in shapes), *(len(matrix) for matrix in dense)])
    found = []
    for index, features in zip(indices, values, strict=True):
        rows = index[:, 0]
        order = np.argsort(rows, kind="stable")
        found.append(column_of(features[order], np.bincount(rows, minlength=count)))
    for matrix in dense:
        found.append(column_of(matrix.reshape(-1), np.full(len(matrix), matrix.shape[1])))
    return found


def cross_columns(columns: list[Column]) -> tuple[Array, list[Array], Array]:
    """The places of the combinations, the features of each column in them, and the dense shape."""
    totals = np.ones(len(columns[0].counts), np.int64)
    for column in columns:
        totals = totals * column.counts
    check_allocation((int(totals.sum()), len(columns)), np.dtype(np.int64))
    rows = np.repeat(np.arange(len(totals)), totals)
    numbers = np.arange(len(rows)) - np.repeat(np.cumsum(totals) - totals, totals)
    picked: list[Array] = []
    rest = numbers
    for column in reversed(columns):
        counts = column.counts[rows]
        picked.append(column.features[column.starts[rows] + rest % counts])
        rest = rest // counts
    places = np.stack([rows, numbers], axis=1).astype(np.int64)
    shape = np.array([len(totals), totals.max(initial=0)], np.int64)
    return places, picked[::-1], shape


def _mix_words(words: Array) -> Array:
    found: Array = words ^ (words >> np.uint64(47))
    return found


def _combine_fingerprints(result: Array, words: Array) -> Array:
    """Two fingerprints as one."""
    found = (result ^ _FACTOR ^ (_mix_words(words * _FACTOR) * _FACTOR)) * _FACTOR
    return _mix_words(_mix_words(found) * _FACTOR)


def _words(column: Array) -> Array:
    found: Array = fingerprints(column) if column.dtype == object else column.astype(np.uint64)
    return found


def hash_features(features: list[Array], key: int) -> Array:
    """The fingerprints of features, of numbers the numbers themselves, joined one to the other after the key."""
    result = np.full(len(features[0]), np.int64(key).astype(np.uint64), np.uint64)
    for column in features:
        result = _combine_fingerprints(result, _words(column))
    return result


def hash_with_salt(features: list[Array], sparse_count: int, salt: Sequence[int] | None) -> Array:
    """The fingerprints of features, joined one to the other; with a salt, keyed hashes instead.

    Of the numbers of the first columns, those that are sparse, the lower four bytes are hashed; of others nothing is.
    """
    result: Array | None = None
    for i, column in enumerate(features):
        if column.dtype != object and (i < sparse_count or salt is not None):
            column = _low_bytes(column)
        words = keyed_hashes(column, salt) if salt is not None else _words(column)
        result = words if result is None else _combine_fingerprints(result, words)
    assert result is not None
    return result


def _low_bytes(numbers: Array) -> Array:
    data = numbers.astype("<i8").tobytes()
    found = np.empty(len(numbers), object)
    found[:] = [data[at : at + 4] for at in range(0, len(data), 8)]
    return found


def bucket_hashes(hashes: Array, buckets: int) -> Array:
    """The remainders by the number of buckets; with none, what an int64 can hold."""
    found: Array = (hashes % (np.uint64(buckets) if buckets > 0 else _MOST)).astype(np.int64)
    return found


def join_features(features: list[Array], separator: bytes) -> Array:
    """The features of each combination as one string."""
    words = [
        column if column.dtype == object else [str(number).encode() for number in column.tolist()]
        for column in features
    ]
    found = np.empty(len(features[0]), object)
    found[:] = [separator.join(parts) for parts in zip(*words, strict=True)]
    return found
