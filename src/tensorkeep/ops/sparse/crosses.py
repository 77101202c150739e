"""Crosses of features: for each row of a batch all combinations of the features of several columns, of each one.

A column is a sparse tensor, whose elements in a row are that row's features, or a dense matrix. Of a row's
combinations the last column's features change fastest. A combination is written with its features joined by a
separator, or hashed to a number.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.dtypes import INT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.sparse.feature_columns import (
    bucket_hashes,
    cross_columns,
    hash_features,
    hash_with_salt,
    join_features,
    sparse_columns,
)
from tensorkeep.shapes import Shape

_COLUMNS: Final = "indices: N * int64, values: sparse_types, shapes: N * int64, dense_inputs: dense_types"
_TYPES: Final = ("sparse_types: list({int64, string}) >= 0", "dense_types: list({int64, string}) >= 0")

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
sparse_cross_hashed = op(
    f"SparseCrossHashed({_COLUMNS}, num_buckets: int64, strong_hash: bool, salt: int64) -> "
    "output_indices: int64, output_values: int64, output_shape: int64",
    "N: int >= 0",
    *_TYPES,
)
not_differentiable(sparse_cross, sparse_cross_v2, sparse_cross_hashed)


@sparse_cross.shape
@sparse_cross_v2.shape
@sparse_cross_hashed.shape
def sparse_cross_shape(
    indices: list[Tensor], values: list[Tensor], shapes: list[Tensor], dense_inputs: list[Tensor], *_: Tensor
) -> tuple[Shape, Shape, Shape]:
    return Shape((None, 2)), Shape((None,)), Shape((2,))


@sparse_cross.kernel
def sparse_cross_kernel(
    indices: list[Array],
    values: list[Array],
    shapes: list[Array],
    dense_inputs: list[Array],
    *,
    hashed_output: bool,
    num_buckets: int,
    hash_key: int,
    out_type: DType,
) -> tuple[Array, Array, Array]:
    if hashed_output != (out_type is INT64):
        raise InvalidArgumentError("crosses that are hashed are int64, and others are strings")
    places, features, shape = cross_columns(sparse_columns(indices, values, shapes, dense_inputs))
    if not hashed_output:
        return places, join_features(features, b"_X_"), shape
    return places, bucket_hashes(hash_features(features, hash_key), num_buckets), shape


@sparse_cross_v2.kernel
def sparse_cross_v2_kernel(
    indices: list[Array], values: list[Array], shapes: list[Array], dense_inputs: list[Array], sep: Array
) -> tuple[Array, Array, Array]:
    places, features, shape = cross_columns(sparse_columns(indices, values, shapes, dense_inputs))
    mark: bytes = np.asarray(sep, object).item()
    return places, join_features(features, mark), shape


@sparse_cross_hashed.kernel
def sparse_cross_hashed_kernel(
    indices: list[Array],
    values: list[Array],
    shapes: list[Array],
    dense_inputs: list[Array],
    num_buckets: Array,
    strong_hash: Array,
    salt: Array,
) -> tuple[Array, Array, Array]:
    places, features, shape = cross_columns(sparse_columns(indices, values, shapes, dense_inputs))
    if np.shape(salt) != (2,):
        raise InvalidArgumentError(f"salt must be a vector of two numbers, got shape {list(np.shape(salt))}")
    hashes = hash_with_salt(features, len(values), np.asarray(salt).tolist() if strong_hash else None)
    return places, bucket_hashes(hashes, int(num_buckets)), shape
