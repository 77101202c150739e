"""Crosses of features: for each row of a batch all combinations of the features of several columns, of each one.

A column is a sparse tensor, whose elements in a row are that row's features, or a dense matrix. Of a row's
combinations the last column's features change fastest. A combination is written with its features joined by a
separator, or hashed to a number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.dtypes import INT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.opspec import not_differentiable, op
from tensorkeep.ops._hashes import fingerprints
from tensorkeep.ops._sparse import check_inside, check_parts
from tensorkeep.shapes import Shape

Array = npt.NDArray[Any]

_COLUMNS: Final = "indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types"
_TYPES: Final = ("sparse_types: list({int64, string}) >= 0", "dense_types: list({int64, string}) >= 0")
_FACTOR: Final = np.uint64(0xC6A4A7935BD1E995)
_MOST: Final = np.uint64((1 << 63) - 1)

sparse_cross = op(
    f"SparseCross({_COLUMNS}) -> output_indices: int64, output_values: out_type, output_shape: int64",
    "N: int >= 0",
    "hashed_output: bool",
    "num_buckets: int >= 0",
    "hash_key: int",
    *_TYPES,
    "out_type: {int64, string}",
    "internal_type: {int64, string}",
)
sparse_cross_v2 = op(
    f"SparseCrossV2({_COLUMNS}, sep: string) -> output_indices: int64, output_values: string, output_shape: int64",
    "N: int >= 0",
    *_TYPES,
)
not_differentiable(sparse_cross, sparse_cross_v2)


@sparse_cross.shape
@sparse_cross_v2.shape
def sparse_cross_shape(
    indices: list[Tensor], values: list[Tensor], shapes: list[Tensor], dense_inputs: list[Tensor], *_: Tensor
) -> tuple[Shape, Shape, Shape]:
    return Shape((None, 2)), Shape((None,)), Shape((2,))


@dataclass(frozen=True)
class _Column:
    """The features of all rows, one row after the other."""

    features: Array
    counts: Array  # of features, by row
    starts: Array


def _column(features: Array, counts: Array) -> _Column:
    return _Column(features, counts, np.cumsum(counts) - counts)


def _columns(
    indices: Sequence[Any], values: Sequence[Any], shapes: Sequence[Any], dense: Sequence[Any]
) -> list[_Column]:
    """Checks the inputs, which must all have as many rows."""
    for parts in zip(indices, values, shapes, strict=True):
        check_parts(*parts)
        if len(parts[2]) != 2:
            raise InvalidArgumentError(f"shape should imply a 2D tensor, but got shape {parts[2].tolist()}")
        check_inside(parts[0], parts[2])
    for matrix in dense:
        if matrix.ndim != 2:
            raise InvalidArgumentError(f"Dense inputs should be a matrix but received shape {list(matrix.shape)}")
    sizes = [*(int(shape[0]) for shape in shapes), *(len(matrix) for matrix in dense)]
    if not sizes or any(size != sizes[0] for size in sizes):
        raise InvalidArgumentError(f"Expected as many rows of each input, got {sizes}")
    found = []
    for index, features in zip(indices, values, strict=True):
        rows = index[:, 0]
        order = np.argsort(rows, kind="stable")
        found.append(_column(features[order], np.bincount(rows, minlength=sizes[0])))
    for matrix in dense:
        found.append(_column(matrix.reshape(-1), np.full(len(matrix), matrix.shape[1])))
    return found


def _crossed(columns: list[_Column]) -> tuple[Array, list[Array], Array]:
    """The places of the combinations, the features of each column in them, and the dense shape."""
    totals = np.ones(len(columns[0].counts), np.int64)
    for column in columns:
        totals = totals * column.counts
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


def _mixed(words: Array) -> Array:
    found: Array = words ^ (words >> np.uint64(47))
    return found


def _hashed(features: list[Array], key: int) -> Array:
    """The fingerprints of features, of numbers the numbers themselves, joined one to the other."""
    result = np.full(len(features[0]), np.int64(key).astype(np.uint64), np.uint64)
    for column in features:
        words = fingerprints(column) if column.dtype == object else column.astype(np.uint64)
        result = (result ^ _FACTOR ^ (_mixed(words * _FACTOR) * _FACTOR)) * _FACTOR
        result = _mixed(_mixed(result) * _FACTOR)
    return result


def _joined(features: list[Array], separator: bytes) -> Array:
    words = [
        column if column.dtype == object else [str(number).encode() for number in column.tolist()]
        for column in features
    ]
    found = np.empty(len(features[0]), object)
    found[:] = [separator.join(parts) for parts in zip(*words, strict=True)]
    return found


@sparse_cross.kernel
def sparse_cross_kernel(
    indices: list[Any],
    values: list[Any],
    shapes: list[Any],
    dense_inputs: list[Any],
    *,
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
    out_type: DType,
) -> tuple[Any, Any, Any]:
    if hashed_output != (out_type is INT64):
        raise InvalidArgumentError("crosses that are hashed are int64, and others are strings")
    places, features, shape = _crossed(_columns(indices, values, shapes, dense_inputs))
    if not hashed_output:
        return places, _joined(features, b"_X_"), shape
    buckets = np.uint64(num_buckets) if num_buckets else _MOST
    return places, (_hashed(features, hash_key) % buckets).astype(np.int64), shape


@sparse_cross_v2.kernel
def sparse_cross_v2_kernel(
    indices: list[Any], values: list[Any], shapes: list[Any], dense_inputs: list[Any], sep: Any
) -> tuple[Any, Any, Any]:
    places, features, shape = _crossed(_columns(indices, values, shapes, dense_inputs))
    mark: bytes = np.asarray(sep, object).item()
    return places, _joined(features, mark), shape
