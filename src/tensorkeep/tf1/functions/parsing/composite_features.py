"""Sparse and ragged tensors that several features of an Example make up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tensorkeep.dtypes import DType
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.arrays.shapes import concat, shape
from tensorkeep.tf1.functions.arrays.shapes import reshape as reshaped
from tensorkeep.tf1.functions.arrays.slicing import repeat
from tensorkeep.tf1.functions.control.assertions import assert_equal
from tensorkeep.tf1.functions.numbers.elementwise import add, cast, cumsum, maximum
from tensorkeep.tf1.functions.parsing.feature_configs import (
    RaggedFeature,
    RowLengths,
    RowLimits,
    RowSplits,
    RowStarts,
    SparseFeature,
    UniformRowLength,
)
from tensorkeep.tf1.functions.ragged.indexing import ragged_getitem
from tensorkeep.tf1.functions.ragged.ragged_math import reduce_max
from tensorkeep.tf1.functions.ragged.ragged_tensor import RaggedTensor
from tensorkeep.tf1.functions.sparse.tensors import sparse_merge


def ragged_tensors(
    serialized: Shape, values: Sequence[Any], outer: Sequence[Tensor], inner: Sequence[Tensor] | None = None
) -> list[Any]:
    """What an op parsed of ragged features, as tensors: of a batch one dimension more than of a single example."""
    if inner is not None:
        values = [RaggedTensor.from_row_splits(*pair, validate=False) for pair in zip(values, inner, strict=True)]
    if serialized.rank == 0:
        return list(values)
    return [RaggedTensor.from_row_splits(*pair, validate=False) for pair in zip(values, outer, strict=True)]


def with_composites(features: Mapping[str, Any], parsed: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked for, made of what was parsed."""
    made: dict[str, Any] = {}
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, SparseFeature):
            made[key] = _sparse(feature, parsed)
        elif isinstance(feature, RaggedFeature):
            made[key] = _ragged_feature(key, feature, parsed)
    complete = {**parsed, **made}
    return {key: tensor for key, tensor in complete.items() if key in features}


def _sparse(feature: SparseFeature, parsed: Mapping[str, Any]) -> Any:
    index_key = feature.index_key
    ids = parsed[index_key] if isinstance(index_key, str) else [parsed[key] for key in index_key]
    return sparse_merge(ids, parsed[feature.value_key], vocab_size=feature.size, already_sorted=feature.already_sorted)


def _ragged_feature(key: str, feature: RaggedFeature, parsed: Mapping[str, Any]) -> Any:
    values = parsed[key if feature.value_key is None else feature.value_key]
    if not isinstance(values, RaggedTensor):
        for partition in reversed(feature.partitions):
            values = _part_values(values, partition, parsed, feature.row_splits_dtype, feature.validate)
        return values
    outer = None
    if values.ragged_rank > 1:  # rows of a batch of sequences: their examples are put back in the end
        outer, values = values.row_splits, values.values
    for partition in reversed(feature.partitions):
        values = _part_batch(values, partition, _Batch(key, parsed, feature.validate, outer))
    return values if outer is None else RaggedTensor.from_row_splits(values, outer, validate=feature.validate)


def _in_rows(values: Any, length: Any) -> Tensor:
    """Values in rows of one length, as a dense tensor."""
    return reshaped(values, concat([[-1, length], shape(values)[1:]], axis=0))


def _part_values(values: Any, partition: Any, parsed: Mapping[str, Any], dtype: DType, validate: bool) -> Any:
    """The values of one example, parted by another feature of it."""
    if isinstance(partition, UniformRowLength):
        if not isinstance(values, RaggedTensor):
            return _in_rows(values, partition.length)
        return RaggedTensor.from_uniform_row_length(values, convert(partition.length, dtype), validate=validate)
    given = cast(parsed[partition.key], dtype)
    if isinstance(partition, RowSplits):
        return RaggedTensor.from_row_splits(values, given, validate=validate)
    if isinstance(partition, RowLengths):
        return RaggedTensor.from_row_lengths(values, given, validate=validate)
    if isinstance(partition, RowStarts):
        return RaggedTensor.from_row_starts(values, given, validate=validate)
    if isinstance(partition, RowLimits):
        return RaggedTensor.from_row_limits(values, given, validate=validate)
    return RaggedTensor.from_value_rowids(values, given, validate=validate)


class _Batch:
    """What is needed to part the values of a batch."""

    def __init__(self, key: str, parsed: Mapping[str, Any], validate: bool, outer: Tensor | None) -> None:
        self.key = key
        self.parsed = parsed
        self.validate = validate
        self.outer = outer


def _part_batch(values: RaggedTensor, partition: Any, batch: _Batch) -> Any:
    """The values of each example, parted by another feature of it."""
    if isinstance(partition, UniformRowLength):
        return _batch_in_rows(values, partition.length, batch.validate)
    given = batch.parsed[partition.key]
    if given.values.dtype is not values.row_splits.dtype:
        given = given.with_flat_values(cast(given.flat_values, values.row_splits.dtype))
    checks = []
    if batch.outer is not None:
        if batch.validate:
            message = f"Feature {batch.key}: values and partitions are not aligned"
            checks.append(assert_equal(batch.outer, given.row_splits, message=message))
        given = given.values
    with control_dependencies(checks):
        return _by_feature(values, partition, given, batch.validate)


def _batch_in_rows(values: RaggedTensor, length: Any, validate: bool) -> RaggedTensor:
    if values.ragged_rank > 1:
        size = convert(length, values.row_splits.dtype)
        rows: Any = RaggedTensor.from_uniform_row_length(values.values, size, validate=validate)
        return RaggedTensor.from_row_splits(rows, values.row_splits // size, validate=validate)
    rows = _in_rows(values.values, length)
    return RaggedTensor.from_row_splits(rows, values.row_splits // length, validate=validate)


def _by_feature(values: RaggedTensor, partition: Any, given: Any, validate: bool) -> Any:
    if isinstance(partition, RowSplits | RowLimits):
        if isinstance(partition, RowSplits):
            given = ragged_getitem(given, (slice(None), slice(1, None)))
        limits = given.values + repeat(values.row_starts(), given.row_lengths())
        return given.with_values(RaggedTensor.from_row_limits(values.values, limits, validate=validate))
    if isinstance(partition, RowStarts):
        starts = given.values + repeat(values.row_starts(), given.row_lengths())
        return given.with_values(RaggedTensor.from_row_starts(values.values, starts, validate=validate))
    if isinstance(partition, RowLengths):
        return given.with_values(RaggedTensor.from_row_lengths(values.values, given.values, validate=validate))
    after = given.with_flat_values(add(given.flat_values, convert(1, given.dtype)))
    count = maximum(reduce_max(after, axis=1), 0)  # rows of each example
    ids = given.values + repeat(cumsum(count, exclusive=True), given.row_lengths())
    rows = RaggedTensor.from_value_rowids(values.values, ids, validate=validate)
    return RaggedTensor.from_row_lengths(rows, count, validate=validate)
