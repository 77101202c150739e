"""How sessions fetch and feed values made of several tensors, and how these become one tensor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.composites import IndexedSlices, SparseTensor
from tensorkeep.graph.conversion import register_conversion
from tensorkeep.ops.shared.expressions import first_size
from tensorkeep.runtime.composite_values import IndexedSlicesValue, SparseTensorValue
from tensorkeep.runtime.fetches import register_fetch


def _expand_slices(slices: IndexedSlices) -> tuple[Sequence[Any], Callable[[list[Any]], Any]]:
    if slices.dense_shape is None:
        return (slices.values, slices.indices), lambda parts: IndexedSlicesValue(parts[0], parts[1], None)
    return (slices.values, slices.indices, slices.dense_shape), lambda parts: IndexedSlicesValue(*parts)


def _feed_slices(slices: IndexedSlices, value: Any) -> Sequence[tuple[Any, Any]]:
    keys = [slices.values, slices.indices, slices.dense_shape]
    return [(key, part) for key, part in zip(keys, value, strict=False) if key is not None]


def _expand_sparse(sparse: SparseTensor) -> tuple[Sequence[Any], Callable[[list[Any]], Any]]:
    return (sparse.indices, sparse.values, sparse.dense_shape), lambda parts: SparseTensorValue(*parts)


def _feed_sparse(sparse: SparseTensor, value: Any) -> Sequence[tuple[Any, Any]]:
    return list(zip((sparse.indices, sparse.values, sparse.dense_shape), value, strict=True))


def _convert_slices(value: IndexedSlices, dtype: DType | None, name: str | None, as_ref: bool) -> Any:
    """The dense tensor that slices stand for."""
    if dtype is not None and dtype is not value.dtype:
        raise InvalidArgumentError(f"IndexedSlices of {value.dtype} cannot be made a tensor of {dtype}")
    if value.dense_shape is None:
        raise InvalidArgumentError(f"Tensor conversion requested for IndexedSlices without dense_shape: {value!r}")
    rows = first_size(value.dense_shape)
    return emit("UnsortedSegmentSum", value.values, value.indices, rows, name=name)


register_fetch(IndexedSlices, _expand_slices, _feed_slices)
register_fetch(SparseTensor, _expand_sparse, _feed_sparse)
register_conversion(IndexedSlices, _convert_slices, 100)
