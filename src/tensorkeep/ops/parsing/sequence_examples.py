"""SequenceExamples, as bytes, parsed into tensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.parsing._sequence_example_bytes import (
    check_distinct,
    context_dense,
    context_ragged,
    context_sparse,
    context_values,
    find_features,
    list_dense,
    list_ragged,
    list_rows,
    list_sparse,
)
from tensorkeep.ops.parsing.example_bytes import Wanted
from tensorkeep.ops.parsing.example_tensors import (
    check_lengths,
    dense_shapes_of,
    sparse_shapes,
    splits_shape,
    texts,
)
from tensorkeep.ops.shared.dimensions import at_most
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape, bracketed_shape


@dataclass(frozen=True, slots=True)
class _Asked:
    """The features that an op is asked for, of the context or of the lists."""

    what: str
    sparse: Sequence[Wanted]
    dense: Sequence[Wanted]
    ragged: Sequence[Wanted] = ()
    splits: Sequence[DType] = field(default=())

    def check(self) -> None:
        check_distinct(self.what, {"sparse": self.sparse, "dense": self.dense, "ragged": self.ragged})


def _dense(
    keys: Sequence[bytes], dtypes: Sequence[DType], shapes: Sequence[Shape], defaults: Sequence[Any] = ()
) -> list[Wanted]:
    found = []
    for i, (key, dtype, shape) in enumerate(zip(keys, dtypes, shapes, strict=True)):
        value = np.asarray(defaults[i]) if defaults else np.empty(0)
        if value.size and value.shape != shape.dims:
            raise InvalidArgumentError(
                f"default_value[{i}].shape() == {bracketed_shape(value.shape)} != context_dense_shapes[{i}] == {shape}"
            )
        default = value.reshape(-1) if value.size else None
        found.append(Wanted(key, dtype, "dense", shape, prod(size or 0 for size in shape.dims or ()), default))
    return found


def _open(form: str, keys: Sequence[bytes], dtypes: Sequence[DType]) -> list[Wanted]:
    return [Wanted(key, dtype, form) for key, dtype in zip(keys, dtypes, strict=True)]


def _check_known(what: str, shapes: Sequence[Shape]) -> None:
    for i, shape in enumerate(shapes):
        if not shape.is_fully_known:
            raise InvalidArgumentError(f"{what}[{i}] must be fully defined, but is {shape}")


def _parse_sequences(
    serialized: Array, names: Array, context: _Asked, lists: _Asked, may_miss: Sequence[bool]
) -> tuple[list[Array], ...]:
    """All outputs, in the order of the second version: those of ragged features too."""
    if np.ndim(serialized) > 1:
        raise InvalidArgumentError(
            f"Expected serialized to be a scalar or vector, got shape: {bracketed_shape(np.shape(serialized))}"
        )
    context.check()
    lists.check()
    batch = find_features(texts(serialized), texts(names), np.ndim(serialized) > 0)
    values = {item.key: context_values(batch, item) for item in (*context.sparse, *context.ragged, *context.dense)}
    rows = {item.key: list_rows(batch, item) for item in (*lists.sparse, *lists.ragged, *lists.dense)}
    dense = [context_dense(batch, item, values[item.key]) for item in context.dense]
    sparse = [context_sparse(batch, item, values[item.key]) for item in context.sparse]
    ragged = [
        context_ragged(batch, item, values[item.key], splits)
        for item, splits in zip(context.ragged, context.splits, strict=True)
    ]
    list_tensors = [
        list_dense(batch, item, rows[item.key], allowed) for item, allowed in zip(lists.dense, may_miss, strict=True)
    ]
    list_sparses = [list_sparse(batch, item, rows[item.key]) for item in lists.sparse]
    list_raggeds = [
        list_ragged(batch, item, rows[item.key], splits)
        for item, splits in zip(lists.ragged, lists.splits, strict=True)
    ]
    return (
        *_transpose_parts(sparse, 3),
        dense,
        *_transpose_parts(ragged, 2),
        *_transpose_parts(list_sparses, 3),
        *_transpose_parts(list_tensors, 2),
        *_transpose_parts(list_raggeds, 3),
    )


def _transpose_parts(parts: Sequence[tuple[Any, ...]], count: int) -> list[list[Any]]:
    """Tuples of `count` parts as `count` lists: all first parts, all second ones, and so on."""
    return [[part[i] for part in parts] for i in range(count)]


parse_sequence_example = op(
    "ParseSequenceExample(serialized: string, debug_name: string, context_dense_defaults: Tcontext_dense) -> "
    "context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: context_sparse_types, "
    "context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, "
    "feature_list_sparse_indices: Nfeature_list_sparse * int64, "
    "feature_list_sparse_values: feature_list_sparse_types, "
    "feature_list_sparse_shapes: Nfeature_list_sparse * int64, feature_list_dense_values: feature_list_dense_types, "
    "feature_list_dense_lengths: Nfeature_list_dense * int64",
    "feature_list_dense_missing_assumed_empty: list(string) >= 0",
    "context_sparse_keys: list(string) >= 0",
    "context_dense_keys: list(string) >= 0",
    "feature_list_sparse_keys: list(string) >= 0",
    "feature_list_dense_keys: list(string) >= 0",
    "Ncontext_sparse: int >= 0 = 0",
    "Ncontext_dense: int >= 0 = 0",
    "Nfeature_list_sparse: int >= 0 = 0",
    "Nfeature_list_dense: int >= 0 = 0",
    "context_sparse_types: list({float, int64, string}) >= 0 = []",
    "Tcontext_dense: list({float, int64, string}) >= 0 = []",
    "feature_list_dense_types: list({float, int64, string}) >= 0 = []",
    "context_dense_shapes: list(shape) >= 0 = []",
    "feature_list_sparse_types: list({float, int64, string}) >= 0 = []",
    "feature_list_dense_shapes: list(shape) >= 0 = []",
)


@parse_sequence_example.shape
def parse_sequence_example_shape(
    serialized: Tensor,
    debug_name: Tensor,
    context_dense_defaults: Sequence[Tensor],
    *,
    context_sparse_keys: Sequence[bytes],
    context_dense_keys: Sequence[bytes],
    feature_list_sparse_keys: Sequence[bytes],
    feature_list_dense_keys: Sequence[bytes],
    Ncontext_sparse: int,  # noqa: N803 - the attribute's name
    Ncontext_dense: int,  # noqa: N803
    Nfeature_list_sparse: int,  # noqa: N803
    Nfeature_list_dense: int,  # noqa: N803
    context_sparse_types: Sequence[DType],
    feature_list_dense_types: Sequence[DType],
    context_dense_shapes: Sequence[Shape],
    feature_list_sparse_types: Sequence[DType],
    feature_list_dense_shapes: Sequence[Shape],
) -> tuple[list[Shape], ...]:
    check_lengths(
        [
            ("context_sparse_keys", len(context_sparse_keys), "Ncontext_sparse", Ncontext_sparse),
            ("context_dense_keys", len(context_dense_keys), "Ncontext_dense", Ncontext_dense),
            ("feature_list_sparse_keys", len(feature_list_sparse_keys), "Nfeature_list_sparse", Nfeature_list_sparse),
            ("feature_list_dense_keys", len(feature_list_dense_keys), "Nfeature_list_dense", Nfeature_list_dense),
            ("context_sparse_types", len(context_sparse_types), "Ncontext_sparse", Ncontext_sparse),
            ("context_dense_types", len(context_dense_defaults), "Ncontext_dense", Ncontext_dense),
            ("context_dense_shapes", len(context_dense_shapes), "Ncontext_dense", Ncontext_dense),
            ("feature_list_sparse_types", len(feature_list_sparse_types), "Nfeature_list_sparse", Nfeature_list_sparse),
            ("feature_list_dense_types", len(feature_list_dense_types), "Nfeature_list_dense", Nfeature_list_dense),
            ("feature_list_dense_shapes", len(feature_list_dense_shapes), "Nfeature_list_dense", Nfeature_list_dense),
        ]
    )
    _check_known("context_dense_shapes", context_dense_shapes)
    _check_known("feature_list_dense_shapes", feature_list_dense_shapes)
    shape = with_rank(serialized, 1)
    with_rank(debug_name, 1)
    rows = Shape((*shape, None))
    return (
        *sparse_shapes(Ncontext_sparse, shape, 1),
        dense_shapes_of(context_dense_shapes, shape),
        *sparse_shapes(Nfeature_list_sparse, shape, 2),
        dense_shapes_of(feature_list_dense_shapes, rows),
        [shape] * Nfeature_list_dense,
    )


@parse_sequence_example.kernel
def parse_sequence_example_kernel(
    serialized: Array,
    debug_name: Array,
    context_dense_defaults: list[Array],
    *,
    feature_list_dense_missing_assumed_empty: Sequence[bytes],
    context_sparse_keys: Sequence[bytes],
    context_dense_keys: Sequence[bytes],
    feature_list_sparse_keys: Sequence[bytes],
    feature_list_dense_keys: Sequence[bytes],
    context_sparse_types: Sequence[DType],
    Tcontext_dense: Sequence[DType],  # noqa: N803 - the attribute's name
    feature_list_dense_types: Sequence[DType],
    context_dense_shapes: Sequence[Shape],
    feature_list_sparse_types: Sequence[DType],
    feature_list_dense_shapes: Sequence[Shape],
) -> tuple[list[Array], ...]:
    dense = _dense(context_dense_keys, Tcontext_dense, context_dense_shapes, context_dense_defaults)
    context = _Asked("Context", _open("sparse", context_sparse_keys, context_sparse_types), dense)
    list_features = _dense(feature_list_dense_keys, feature_list_dense_types, feature_list_dense_shapes)
    lists = _Asked("Sequence", _open("sparse", feature_list_sparse_keys, feature_list_sparse_types), list_features)
    may_miss = [key in feature_list_dense_missing_assumed_empty for key in feature_list_dense_keys]
    outputs = _parse_sequences(serialized, debug_name, context, lists, may_miss)
    return *outputs[:4], *outputs[6:11]


parse_sequence_example_v2 = op(
    "ParseSequenceExampleV2(serialized: string, debug_name: string, context_sparse_keys: string, "
    "context_dense_keys: string, context_ragged_keys: string, feature_list_sparse_keys: string, "
    "feature_list_dense_keys: string, feature_list_ragged_keys: string, "
    "feature_list_dense_missing_assumed_empty: bool, context_dense_defaults: Tcontext_dense) -> "
    "context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: context_sparse_types, "
    "context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, "
    "context_ragged_values: context_ragged_value_types, context_ragged_row_splits: context_ragged_split_types, "
    "feature_list_sparse_indices: Nfeature_list_sparse * int64, "
    "feature_list_sparse_values: feature_list_sparse_types, "
    "feature_list_sparse_shapes: Nfeature_list_sparse * int64, feature_list_dense_values: feature_list_dense_types, "
    "feature_list_dense_lengths: Nfeature_list_dense * int64, "
    "feature_list_ragged_values: feature_list_ragged_value_types, "
    "feature_list_ragged_outer_splits: feature_list_ragged_split_types, "
    "feature_list_ragged_inner_splits: feature_list_ragged_split_types",
    "Ncontext_sparse: int >= 0 = 0",
    "Tcontext_dense: list({float, int64, string}) >= 0 = []",
    "context_sparse_types: list({float, int64, string}) >= 0 = []",
    "context_ragged_value_types: list({float, int64, string}) >= 0 = []",
    "context_ragged_split_types: list({int32, int64}) >= 0 = []",
    "context_dense_shapes: list(shape) >= 0 = []",
    "Nfeature_list_sparse: int >= 0 = 0",
    "Nfeature_list_dense: int >= 0 = 0",
    "feature_list_dense_types: list({float, int64, string}) >= 0 = []",
    "feature_list_sparse_types: list({float, int64, string}) >= 0 = []",
    "feature_list_ragged_value_types: list({float, int64, string}) >= 0 = []",
    "feature_list_ragged_split_types: list({int32, int64}) >= 0 = []",
    "feature_list_dense_shapes: list(shape) >= 0 = []",
)


@parse_sequence_example_v2.shape
def parse_sequence_example_v2_shape(
    serialized: Tensor,
    debug_name: Tensor,
    *more: Tensor,
    Ncontext_sparse: int,  # noqa: N803 - the attribute's name
    Tcontext_dense: Sequence[DType],  # noqa: N803
    context_sparse_types: Sequence[DType],
    context_ragged_value_types: Sequence[DType],
    context_ragged_split_types: Sequence[DType],
    context_dense_shapes: Sequence[Shape],
    Nfeature_list_sparse: int,  # noqa: N803
    Nfeature_list_dense: int,  # noqa: N803
    feature_list_dense_types: Sequence[DType],
    feature_list_sparse_types: Sequence[DType],
    feature_list_ragged_value_types: Sequence[DType],
    feature_list_ragged_split_types: Sequence[DType],
    feature_list_dense_shapes: Sequence[Shape],
) -> tuple[list[Shape], ...]:
    ragged, list_ragged = len(context_ragged_value_types), len(feature_list_ragged_value_types)
    check_lengths(
        [
            ("context_sparse_types", len(context_sparse_types), "Ncontext_sparse", Ncontext_sparse),
            ("context_dense_types", len(Tcontext_dense), "context_dense_shapes", len(context_dense_shapes)),
            ("context_ragged_value_types", ragged, "context_ragged_split_types", len(context_ragged_split_types)),
            ("feature_list_sparse_types", len(feature_list_sparse_types), "Nfeature_list_sparse", Nfeature_list_sparse),
            ("feature_list_dense_types", len(feature_list_dense_types), "Nfeature_list_dense", Nfeature_list_dense),
            ("feature_list_dense_shapes", len(feature_list_dense_shapes), "Nfeature_list_dense", Nfeature_list_dense),
            (
                "feature_list_ragged_value_types",
                list_ragged,
                "feature_list_ragged_split_types",
                len(feature_list_ragged_split_types),
            ),
        ]
    )
    _check_known("context_dense_shapes", context_dense_shapes)
    _check_known("feature_list_dense_shapes", feature_list_dense_shapes)
    shape = at_most(serialized.static_shape, 1)
    at_most(debug_name.static_shape, 1)
    rows = UNKNOWN_SHAPE if shape.dims is None else Shape((*shape.dims, None))
    splits, some = splits_shape(shape), Shape((None,))
    return (
        *sparse_shapes(Ncontext_sparse, shape, 1),
        dense_shapes_of(context_dense_shapes, shape),
        [some] * ragged,
        [splits] * ragged,
        *sparse_shapes(Nfeature_list_sparse, shape, 2),
        dense_shapes_of(feature_list_dense_shapes, rows),
        [shape] * Nfeature_list_dense,
        [some] * list_ragged,
        [splits] * list_ragged,
        [some] * list_ragged,
    )


@parse_sequence_example_v2.kernel
def parse_sequence_example_v2_kernel(
    serialized: Array,
    debug_name: Array,
    context_sparse_keys: Array,
    context_dense_keys: Array,
    context_ragged_keys: Array,
    feature_list_sparse_keys: Array,
    feature_list_dense_keys: Array,
    feature_list_ragged_keys: Array,
    feature_list_dense_missing_assumed_empty: Array,
    context_dense_defaults: list[Array],
    *,
    Tcontext_dense: Sequence[DType],  # noqa: N803 - the attribute's name
    context_sparse_types: Sequence[DType],
    context_ragged_value_types: Sequence[DType],
    context_ragged_split_types: Sequence[DType],
    context_dense_shapes: Sequence[Shape],
    feature_list_dense_types: Sequence[DType],
    feature_list_sparse_types: Sequence[DType],
    feature_list_ragged_value_types: Sequence[DType],
    feature_list_ragged_split_types: Sequence[DType],
    feature_list_dense_shapes: Sequence[Shape],
) -> tuple[list[Array], ...]:
    may_miss = np.asarray(feature_list_dense_missing_assumed_empty).reshape(-1).tolist()
    dense_keys, list_keys = texts(context_dense_keys), texts(feature_list_dense_keys)
    sparse_keys, list_sparse_keys = texts(context_sparse_keys), texts(feature_list_sparse_keys)
    ragged_keys, list_ragged_keys = texts(context_ragged_keys), texts(feature_list_ragged_keys)
    check_lengths(
        [
            ("context_dense_keys", len(dense_keys), "Tcontext_dense", len(Tcontext_dense)),
            ("context_sparse_keys", len(sparse_keys), "context_sparse_types", len(context_sparse_types)),
            ("context_ragged_keys", len(ragged_keys), "context_ragged_value_types", len(context_ragged_value_types)),
            ("feature_list_dense_keys", len(list_keys), "feature_list_dense_types", len(feature_list_dense_types)),
            (
                "feature_list_dense_missing_assumed_empty",
                len(may_miss),
                "feature_list_dense_types",
                len(feature_list_dense_types),
            ),
            (
                "feature_list_sparse_keys",
                len(list_sparse_keys),
                "feature_list_sparse_types",
                len(feature_list_sparse_types),
            ),
            (
                "feature_list_ragged_keys",
                len(list_ragged_keys),
                "feature_list_ragged_value_types",
                len(feature_list_ragged_value_types),
            ),
        ]
    )
    context = _Asked(
        "Context",
        _open("sparse", sparse_keys, context_sparse_types),
        _dense(dense_keys, Tcontext_dense, context_dense_shapes, context_dense_defaults),
        _open("ragged", ragged_keys, context_ragged_value_types),
        context_ragged_split_types,
    )
    lists = _Asked(
        "Sequence",
        _open("sparse", list_sparse_keys, feature_list_sparse_types),
        _dense(list_keys, feature_list_dense_types, feature_list_dense_shapes),
        _open("ragged", list_ragged_keys, feature_list_ragged_value_types),
        feature_list_ragged_split_types,
    )
    return _parse_sequences(serialized, debug_name, context, lists, may_miss)
