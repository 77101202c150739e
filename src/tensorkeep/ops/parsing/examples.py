"""Examples, as bytes, parsed into tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.native.examples import Column
from tensorkeep.ops.parsing._example_columns import parse_columns, pays_for
from tensorkeep.ops.parsing._example_rows import by_key, parse_rows, parse_single
from tensorkeep.ops.parsing.example_bytes import Wanted
from tensorkeep.ops.parsing.example_tensors import (
    check_dense_shapes,
    check_lengths,
    dense_features,
    dense_shapes_of,
    dense_tensor,
    fits,
    open_features,
    row_splits,
    single_dense,
    single_sparse,
    sparse_shapes,
    sparse_tensor,
    splits_shape,
    texts,
)
from tensorkeep.ops.shared.dimensions import at_most
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.shapes import Shape, bracketed_shape


def parse_batch(serialized: Array, names: Array | Sequence[bytes], wanted: Sequence[Wanted]) -> list[Column]:
    """The columns of a vector of Examples: all at once if they are many and ordinary, else one by one."""
    examples, labels = texts(serialized), texts(names)
    by_key(wanted)
    if wanted and pays_for(len(examples)):
        columns = parse_columns(examples, wanted)
        if columns is not None and all(map(fits, columns, wanted)):
            return columns
    return parse_rows(examples, labels, wanted)


def _check_names(serialized: Any, names: Any) -> None:
    if np.size(names) and np.shape(names) != np.shape(serialized):
        raise InvalidArgumentError(
            f"Expected names have the same shape as serialized: name.shape={bracketed_shape(np.shape(names))}, "
            f"serialized.shape={bracketed_shape(np.shape(serialized))}"
        )


def _outputs(
    serialized: Array, names: Array | Sequence[bytes], sparse: list[Wanted], dense: list[Wanted], ragged: list[Wanted]
) -> tuple[list[Array], list[Array], list[Array], list[Array], list[Column]]:
    """Indices, values, shapes; dense tensors; the columns of ragged features."""
    wanted = [*sparse, *dense, *ragged]
    is_batch = np.ndim(serialized) > 0
    columns = parse_batch(serialized, names, wanted) if is_batch else parse_single(texts(serialized)[0], wanted)
    make_sparse, make_dense = (sparse_tensor, dense_tensor) if is_batch else (single_sparse, single_dense)
    parts = [make_sparse(column) for column in columns[: len(sparse)]]
    indices, values, shapes = ([part[i] for part in parts] for i in range(3))
    end = len(sparse) + len(dense)
    tensors = [make_dense(column, item) for column, item in zip(columns[len(sparse) : end], dense, strict=True)]
    return indices, values, shapes, tensors, columns[end:]


parse_example = op(
    "ParseExample(serialized: string, names: string, sparse_keys: Nsparse * string, dense_keys: Ndense * string, "
    "dense_defaults: Tdense) -> sparse_indices: Nsparse * int64, sparse_values: sparse_types, "
    "sparse_shapes: Nsparse * int64, dense_values: Tdense",
    "Nsparse: int >= 0",
    "Ndense: int >= 0",
    "sparse_types: list({float, int64, string}) >= 0",
    "Tdense: list({float, int64, string}) >= 0",
    "dense_shapes: list(shape) >= 0",
)


@parse_example.shape
def parse_example_shape(
    serialized: Tensor,
    names: Tensor,
    sparse_keys: Sequence[Tensor],
    dense_keys: Sequence[Tensor],
    dense_defaults: Sequence[Tensor],
    *,
    sparse_types: Sequence[DType],
    dense_shapes: Sequence[Shape],
) -> tuple[list[Shape], ...]:
    check_lengths(
        [
            ("sparse_keys", len(sparse_keys), "sparse_types", len(sparse_types)),
            ("dense_keys", len(dense_keys), "dense_types", len(dense_defaults)),
            ("dense_keys", len(dense_keys), "dense_shapes", len(dense_shapes)),
        ]
    )
    check_dense_shapes(dense_shapes)
    shape = with_rank(serialized, 1)
    with_rank(names, 1)
    return *sparse_shapes(len(sparse_types), shape, 1), dense_shapes_of(dense_shapes, shape)


@parse_example.kernel
def parse_example_kernel(
    serialized: Array,
    names: Array,
    sparse_keys: list[Array],
    dense_keys: list[Array],
    dense_defaults: list[Array],
    *,
    sparse_types: Sequence[DType],
    Tdense: Sequence[DType],  # noqa: N803 - the attribute's name
    dense_shapes: Sequence[Shape],
) -> tuple[list[Array], list[Array], list[Array], list[Array]]:
    if np.ndim(serialized) != 1:
        raise InvalidArgumentError(
            f"Expected serialized to be a vector, got shape: {bracketed_shape(np.shape(serialized))}"
        )
    _check_names(serialized, names)
    sparse = open_features("sparse", _scalars(sparse_keys), sparse_types, "len(sparse_keys) == num_sparse")
    dense = dense_features(_scalars(dense_keys), Tdense, dense_shapes, dense_defaults)
    return _outputs(serialized, names, sparse, dense, [])[:4]


def _scalars(keys: Sequence[Any]) -> list[bytes]:
    found = []
    for key in keys:
        if np.ndim(key):
            raise InvalidArgumentError(f"Expected a key to be a scalar, got shape: {bracketed_shape(np.shape(key))}")
        found.append(np.asarray(key).item())
    return found


parse_example_v2 = op(
    "ParseExampleV2(serialized: string, names: string, sparse_keys: string, dense_keys: string, ragged_keys: string, "
    "dense_defaults: Tdense) -> sparse_indices: num_sparse * int64, sparse_values: sparse_types, "
    "sparse_shapes: num_sparse * int64, dense_values: Tdense, ragged_values: ragged_value_types, "
    "ragged_row_splits: ragged_split_types",
    "Tdense: list({float, int64, string}) >= 0",
    "num_sparse: int >= 0",
    "sparse_types: list({float, int64, string}) >= 0",
    "ragged_value_types: list({float, int64, string}) >= 0",
    "ragged_split_types: list({int32, int64}) >= 0",
    "dense_shapes: list(shape) >= 0",
)


@parse_example_v2.shape
def parse_example_v2_shape(
    serialized: Tensor,
    names: Tensor,
    sparse_keys: Tensor,
    dense_keys: Tensor,
    ragged_keys: Tensor,
    dense_defaults: Sequence[Tensor],
    *,
    num_sparse: int,
    sparse_types: Sequence[DType],
    ragged_value_types: Sequence[DType],
    ragged_split_types: Sequence[DType],
    dense_shapes: Sequence[Shape],
) -> tuple[list[Shape], ...]:
    check_lengths(
        [
            ("sparse_keys", num_sparse, "sparse_types", len(sparse_types)),
            ("dense_types", len(dense_defaults), "dense_shapes", len(dense_shapes)),
            ("ragged_value_types", len(ragged_value_types), "ragged_split_types", len(ragged_split_types)),
        ]
    )
    check_dense_shapes(dense_shapes)
    shape = at_most(serialized.static_shape, 1)
    at_most(names.static_shape, 1)
    ragged = len(ragged_value_types)
    values, splits = [Shape((None,))] * ragged, [splits_shape(shape)] * ragged
    return *sparse_shapes(num_sparse, shape, 1), dense_shapes_of(dense_shapes, shape), values, splits


@parse_example_v2.kernel
def parse_example_v2_kernel(
    serialized: Array,
    names: Array,
    sparse_keys: Array,
    dense_keys: Array,
    ragged_keys: Array,
    dense_defaults: list[Array],
    *,
    Tdense: Sequence[DType],  # noqa: N803 - the attribute's name
    sparse_types: Sequence[DType],
    ragged_value_types: Sequence[DType],
    ragged_split_types: Sequence[DType],
    dense_shapes: Sequence[Shape],
) -> tuple[list[Array], list[Array], list[Array], list[Array], list[Array], list[Array]]:
    if np.ndim(serialized) > 1:
        raise InvalidArgumentError(
            f"Expected serialized to be a scalar or vector, got shape: {bracketed_shape(np.shape(serialized))}"
        )
    _check_names(serialized, names)
    sparse = open_features("sparse", texts(sparse_keys), sparse_types, "len(sparse_keys) == num_sparse")
    ragged = open_features(
        "ragged", texts(ragged_keys), ragged_value_types, "len(ragged_keys) == len(ragged_value_types)"
    )
    dense = dense_features(texts(dense_keys), Tdense, dense_shapes, dense_defaults)
    indices, values, shapes, tensors, columns = _outputs(serialized, names, sparse, dense, ragged)
    is_batch = np.ndim(serialized) > 0
    splits = [
        row_splits(column.counts, dtype) if is_batch else np.empty(0, dtype.array_dtype)
        for column, dtype in zip(columns, ragged_split_types, strict=True)
    ]
    return indices, values, shapes, tensors, [column.values for column in columns], splits


parse_single_example = op(
    "ParseSingleExample(serialized: string, dense_defaults: Tdense) -> sparse_indices: num_sparse * int64, "
    "sparse_values: sparse_types, sparse_shapes: num_sparse * int64, dense_values: Tdense",
    "num_sparse: int >= 0",
    "sparse_keys: list(string) >= 0",
    "dense_keys: list(string) >= 0",
    "sparse_types: list({float, int64, string}) >= 0",
    "Tdense: list({float, int64, string}) >= 0",
    "dense_shapes: list(shape) >= 0",
)


@parse_single_example.shape
def parse_single_example_shape(
    serialized: Tensor,
    dense_defaults: Sequence[Tensor],
    *,
    num_sparse: int,
    sparse_keys: Sequence[bytes],
    dense_keys: Sequence[bytes],
    sparse_types: Sequence[DType],
    dense_shapes: Sequence[Shape],
) -> tuple[list[Shape], ...]:
    check_lengths(
        [
            ("sparse_keys", len(sparse_keys), "sparse_types", len(sparse_types)),
            ("sparse_keys", len(sparse_keys), "num_sparse", num_sparse),
            ("dense_keys", len(dense_keys), "dense_types", len(dense_defaults)),
            ("dense_keys", len(dense_keys), "dense_shapes", len(dense_shapes)),
        ]
    )
    check_dense_shapes(dense_shapes)
    shape = with_rank(serialized, 0)
    return *sparse_shapes(len(sparse_types), shape, 1), dense_shapes_of(dense_shapes, shape)


@parse_single_example.kernel
def parse_single_example_kernel(
    serialized: Array,
    dense_defaults: list[Array],
    *,
    sparse_keys: Sequence[bytes],
    dense_keys: Sequence[bytes],
    sparse_types: Sequence[DType],
    Tdense: Sequence[DType],  # noqa: N803 - the attribute's name
    dense_shapes: Sequence[Shape],
) -> tuple[list[Array], list[Array], list[Array], list[Array]]:
    if np.ndim(serialized):
        raise InvalidArgumentError(
            f"Expected serialized to be a scalar, got shape: {bracketed_shape(np.shape(serialized))}"
        )
    sparse = open_features("sparse", sparse_keys, sparse_types, "len(sparse_keys) == num_sparse")
    dense = dense_features(dense_keys, Tdense, dense_shapes, dense_defaults)
    return _outputs(serialized, [], sparse, dense, [])[:4]
