"""One SequenceExample, as bytes, parsed into tensors by the op of TensorFlow's first years."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT64, STRING, DType
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.parsing._example_rows import join_values
from tensorkeep.ops.parsing._sequence_example_bytes import Sequences, context_sparse, list_sparse
from tensorkeep.ops.parsing.example_bytes import Wanted, cannot_parse, readable
from tensorkeep.ops.parsing.example_tensors import (
    check_lengths,
    dense_shapes_of,
    sparse_shapes,
    texts,
)
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.proto.messages import Feature, SequenceExample, parse
from tensorkeep.shapes import Shape, bracketed_shape

_KINDS: Mapping[DType, str] = {STRING: "bytes_list", FLOAT32: "float_list", INT64: "int64_list"}
_ALONE = Sequences((), (), (), (), is_batch=False)

parse_single_sequence_example = op(
    "ParseSingleSequenceExample(serialized: string, feature_list_dense_missing_assumed_empty: string, "
    "context_sparse_keys: Ncontext_sparse * string, context_dense_keys: Ncontext_dense * string, "
    "feature_list_sparse_keys: Nfeature_list_sparse * string, feature_list_dense_keys: Nfeature_list_dense * string, "
    "context_dense_defaults: Tcontext_dense, debug_name: string) -> "
    "context_sparse_indices: Ncontext_sparse * int64, context_sparse_values: context_sparse_types, "
    "context_sparse_shapes: Ncontext_sparse * int64, context_dense_values: Tcontext_dense, "
    "feature_list_sparse_indices: Nfeature_list_sparse * int64, "
    "feature_list_sparse_values: feature_list_sparse_types, "
    "feature_list_sparse_shapes: Nfeature_list_sparse * int64, feature_list_dense_values: feature_list_dense_types",
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


@parse_single_sequence_example.shape
def parse_single_sequence_example_shape(
    serialized: Tensor,
    feature_list_dense_missing_assumed_empty: Tensor,
    context_sparse_keys: Sequence[Tensor],
    context_dense_keys: Sequence[Tensor],
    feature_list_sparse_keys: Sequence[Tensor],
    feature_list_dense_keys: Sequence[Tensor],
    context_dense_defaults: Sequence[Tensor],
    debug_name: Tensor,
    *,
    context_sparse_types: Sequence[DType],
    feature_list_dense_types: Sequence[DType],
    context_dense_shapes: Sequence[Shape],
    feature_list_sparse_types: Sequence[DType],
    feature_list_dense_shapes: Sequence[Shape],
) -> tuple[list[Shape], ...]:
    dense, lists = len(context_dense_keys), len(feature_list_dense_keys)
    check_lengths(
        [
            ("context_sparse_keys", len(context_sparse_keys), "context_sparse_types", len(context_sparse_types)),
            ("context_dense_keys", dense, "context_dense_types", len(context_dense_defaults)),
            ("context_dense_keys", dense, "context_dense_shapes", len(context_dense_shapes)),
            (
                "feature_list_sparse_keys",
                len(feature_list_sparse_keys),
                "feature_list_sparse_types",
                len(feature_list_sparse_types),
            ),
            ("feature_list_dense_keys", lists, "feature_list_dense_types", len(feature_list_dense_types)),
            ("feature_list_dense_keys", lists, "feature_list_dense_shapes", len(feature_list_dense_shapes)),
        ]
    )
    for shape in (*context_dense_shapes, *feature_list_dense_shapes):
        if not shape.is_fully_known:
            raise InvalidArgumentError(f"the shape of a dense feature must be fully defined, but is {shape}")
    before = with_rank(serialized, 0)
    with_rank(feature_list_dense_missing_assumed_empty, 1)
    return (
        *sparse_shapes(len(context_sparse_types), before, 1),
        dense_shapes_of(context_dense_shapes, before),
        *sparse_shapes(len(feature_list_sparse_types), before, 2),
        dense_shapes_of(feature_list_dense_shapes, Shape((None,))),
    )


@parse_single_sequence_example.kernel
def parse_single_sequence_example_kernel(
    serialized: Array,
    feature_list_dense_missing_assumed_empty: Array,
    context_sparse_keys: list[Array],
    context_dense_keys: list[Array],
    feature_list_sparse_keys: list[Array],
    feature_list_dense_keys: list[Array],
    context_dense_defaults: list[Array],
    debug_name: Array,
    *,
    context_sparse_types: Sequence[DType],
    feature_list_dense_types: Sequence[DType],
    context_dense_shapes: Sequence[Shape],
    feature_list_sparse_types: Sequence[DType],
    feature_list_dense_shapes: Sequence[Shape],
) -> tuple[list[Array], list[Array], list[Array], list[Array], list[Array], list[Array], list[Array], list[Array]]:
    _check_scalars(serialized, debug_name, *context_sparse_keys, *context_dense_keys)
    _check_scalars(*feature_list_sparse_keys, *feature_list_dense_keys)
    example = _Example(texts(serialized)[0], (texts(debug_name) or [b"<unknown>"])[0])
    dense = [
        example.context_dense(_item(key, dtype, shape), default)
        for key, dtype, shape, default in zip(
            context_dense_keys,
            (np.asarray(default).dtype for default in context_dense_defaults),
            context_dense_shapes,
            context_dense_defaults,
            strict=True,
        )
    ]
    sparse = [
        context_sparse(_ALONE, item, [example.context_values(item)])
        for item in map(_item, context_sparse_keys, context_sparse_types)
    ]
    may_miss = texts(feature_list_dense_missing_assumed_empty)
    lists = [
        example.list_dense(item, item.key in may_miss)
        for item in map(_item, feature_list_dense_keys, feature_list_dense_types, feature_list_dense_shapes)
    ]
    list_parts = [
        list_sparse(_ALONE, item, [example.list_rows(item)])
        for item in map(_item, feature_list_sparse_keys, feature_list_sparse_types)
    ]
    indices, values, shapes = ([part[i] for part in sparse] for i in range(3))
    list_indices, list_values, list_shapes = ([part[i] for part in list_parts] for i in range(3))
    return indices, values, shapes, dense, list_indices, list_values, list_shapes, lists


def _check_scalars(*values: Any) -> None:
    for value in values:
        if np.ndim(value) and np.size(value):
            raise InvalidArgumentError(f"Expected a scalar, got shape: {bracketed_shape(np.shape(value))}")


def _item(key: Any, dtype: Any, shape: Shape | None = None) -> Wanted:
    shape = shape or Shape(())
    return Wanted(np.asarray(key).item(), DType.of(dtype), "dense", shape, prod(size or 0 for size in shape))


class _Example:
    """A SequenceExample, read as the message it is."""

    def __init__(self, serialized: bytes, name: bytes) -> None:
        try:
            message = parse(SequenceExample, serialized, "a SequenceExample")
        except DataLossError:
            raise cannot_parse(serialized) from None
        self.name = readable(name)
        self.context = {key.encode(): value for key, value in message.context.feature.items()}
        self.lists = {key.encode(): value.feature for key, value in message.feature_lists.feature_list.items()}

    def _values(self, feature: Feature, item: Wanted, where: str, may_be_unset: bool) -> Any:
        kind = feature.WhichOneof("kind")
        if kind is None and may_be_unset:
            return ()
        if kind != _KINDS[item.dtype]:
            raise InvalidArgumentError(
                f"Name: {self.name}, {where}.  Data types don't match. Expected type: {item.dtype.label}  "
                f"Feature is: {feature}"
            )
        values = getattr(feature, kind).value
        return list(values) if item.dtype is STRING else np.array(values, item.dtype.array_dtype)

    def _dense_values(self, feature: Feature, item: Wanted, where: str, index: int) -> Any:
        values = self._values(feature, item, where, may_be_unset=False)
        if len(values) != item.stride:
            kind = "bytes" if item.dtype is STRING else item.dtype.label
            raise InvalidArgumentError(
                f"Name: {self.name}, Key: {item.name}, Index: {index}.  Number of {kind} values != expected.  "
                f"values size: {len(values)} but output shape: {item.shape}"
            )
        return values

    def context_dense(self, item: Wanted, default: Any) -> Array:
        value = np.asarray(default)
        if value.size and value.shape != item.shape.dims:
            raise InvalidArgumentError(
                f"def_value of {item.name}: shape() == {bracketed_shape(value.shape)} != context_dense_shapes == "
                f"{item.shape}"
            )
        feature = self.context.get(item.key)
        if feature is not None:
            found = self._dense_values(feature, item, f"Context feature: {item.name}", 0)
            return join_values([found], item.dtype).reshape(_value_shape(item))
        if not value.size:
            raise InvalidArgumentError(
                f"Name: {self.name}, Context feature '{item.name}' is required but could not be found."
            )
        return value

    def context_values(self, item: Wanted) -> Any:
        feature = self.context.get(item.key)
        return None if feature is None else self._values(feature, item, f"Context feature: {item.name}", True)

    def list_dense(self, item: Wanted, may_miss: bool) -> Array:
        rows = self.lists.get(item.key)
        if rows is None and not may_miss:
            raise InvalidArgumentError(
                f"Name: {self.name}, Feature list '{item.name}' is required but could not be found.  Did you mean to "
                "include it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
            )
        found = [
            self._dense_values(row, item, f"Feature list: {item.name}, Index: {i}", i)
            for i, row in enumerate(rows or ())
        ]
        return join_values(found, item.dtype).reshape((len(found), *_value_shape(item)))

    def list_rows(self, item: Wanted) -> Any:
        rows = self.lists.get(item.key)
        if rows is None:
            return None
        return [self._values(row, item, f"Feature List: {item.name}, Index: {i}", True) for i, row in enumerate(rows)]


def _value_shape(item: Wanted) -> tuple[int, ...]:
    """The shape of one value of a dense feature, all of whose sizes are known."""
    return tuple(size or 0 for size in item.shape)
