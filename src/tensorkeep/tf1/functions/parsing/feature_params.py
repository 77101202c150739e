"""The descriptions of features as the inputs and attributes of the ops that parse them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tensorkeep.dtypes import INT64, STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.arrays.shapes import reshape
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.parsing.feature_configs import (
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    UniformRowLength,
    VarLenFeature,
)


@dataclass(slots=True)
class FeatureParams:
    """Keys, types and shapes, by the form in which features are parsed."""

    sparse: dict[str, DType] = field(default_factory=dict)
    dense: dict[str, DType] = field(default_factory=dict)
    dense_shapes: list[Shape] = field(default_factory=list)
    dense_defaults: dict[str, Any] = field(default_factory=dict)
    ragged: dict[str, tuple[DType, DType]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.sparse or self.dense or self.ragged)

    @property
    def keys(self) -> list[str]:
        """All keys, in the order of the outputs of an op."""
        return [*self.sparse, *self.dense, *self.ragged]

    @property
    def ragged_value_types(self) -> list[DType]:
        return [values for values, _ in self.ragged.values()]

    @property
    def ragged_split_types(self) -> list[DType]:
        return [splits for _, splits in self.ragged.values()]

    def default_tensors(self) -> list[Tensor]:
        """What stands in for a dense feature that is missing, or pads it; nothing if it must be there."""
        return [
            _default_tensor(key, shape, dtype, self.dense_defaults.get(key))
            for (key, dtype), shape in zip(self.dense.items(), self.dense_shapes, strict=True)
        ]


def feature_params(features: Mapping[str, Any] | None, kinds: tuple[type, ...]) -> FeatureParams:
    """Sorts features by their keys. InvalidArgumentError for one of another kind, or that contradicts another."""
    params = FeatureParams()
    for key in sorted(features or {}):
        feature = (features or {})[key]
        if not isinstance(feature, kinds):
            raise InvalidArgumentError(f"Unsupported {type(feature).__name__} {feature} for key '{key}'")
        _add(params, key, feature)
    _check_disjoint("Dense and sparse", params.dense, params.sparse)
    _check_disjoint("Dense and ragged", params.dense, params.ragged)
    _check_disjoint("Ragged and sparse", params.ragged, params.sparse)
    return params


def _check_disjoint(what: str, first: Mapping[str, Any], second: Mapping[str, Any]) -> None:
    both = set(first) & set(second)
    if both:
        raise InvalidArgumentError(
            f"{what} keys must not intersect; {list(first)} and {list(second)}, intersection: {both}"
        )


def _add(params: FeatureParams, key: str, feature: Any) -> None:
    if isinstance(feature, VarLenFeature):
        _require_type(key, feature)
        _add_sparse(params, key, DType.of(feature.dtype))
    elif isinstance(feature, SparseFeature):
        _add_sparse_feature(params, key, feature)
    elif isinstance(feature, RaggedFeature):
        _add_ragged_feature(params, key, feature)
    else:
        _add_dense(params, key, feature)


def _require_type(key: str, feature: Any) -> None:
    if not feature.dtype:
        raise InvalidArgumentError(f"Missing type for feature {key}. Received feature={feature}.")


def _add_sparse(params: FeatureParams, key: str, dtype: DType) -> None:
    known = params.sparse.setdefault(key, dtype)
    if known is not dtype:
        raise InvalidArgumentError(f"Conflicting type {known} vs {dtype} for feature {key}.")


def _add_sparse_feature(params: FeatureParams, key: str, feature: SparseFeature) -> None:
    if not feature.index_key:
        raise InvalidArgumentError(f"Missing index_key for SparseFeature {feature}.")
    if not feature.value_key:
        raise InvalidArgumentError(f"Missing value_key for SparseFeature {feature}.")
    _require_type(key, feature)
    index_keys = [feature.index_key] if isinstance(feature.index_key, str) else feature.index_key
    for index_key in sorted(index_keys):
        _add_sparse(params, index_key, INT64)
    _add_sparse(params, feature.value_key, DType.of(feature.dtype))


def _add_dense(params: FeatureParams, key: str, feature: FixedLenFeature | FixedLenSequenceFeature) -> None:
    _require_type(key, feature)
    if feature.shape is None:
        raise InvalidArgumentError(f"Missing shape for feature {key}. Received feature={feature}.")
    shape = _shape(feature.shape)
    if isinstance(feature, FixedLenFeature):
        _check_fixed(key, feature, shape)
    elif feature.allow_missing:
        params.dense_defaults[key] = None
    params.dense[key] = DType.of(feature.dtype)
    params.dense_shapes.append(shape)
    if feature.default_value is not None:
        params.dense_defaults[key] = feature.default_value


def _shape(shape: Any) -> Shape:
    return Shape.of([shape] if isinstance(shape, int) else shape)


def _check_fixed(key: str, feature: FixedLenFeature, shape: Shape) -> None:
    if shape.dims and shape.dims[0] is None:
        raise InvalidArgumentError(
            f"First dimension of shape for feature {key} unknown. Consider using FixedLenSequenceFeature. Received "
            f"feature={feature}."
        )
    if not shape.is_fully_known:
        raise InvalidArgumentError(
            f"All dimensions of shape for feature {key} need to be known but received {feature.shape!s}."
        )


def _add_ragged_feature(params: FeatureParams, key: str, feature: RaggedFeature) -> None:
    splits = feature.row_splits_dtype
    _add_ragged(params, key if feature.value_key is None else feature.value_key, feature.dtype, splits)
    for partition in feature.partitions:
        if not isinstance(partition, UniformRowLength):
            _add_ragged(params, partition.key, INT64, splits)


def _add_ragged(params: FeatureParams, key: str, dtype: DType, splits: DType) -> None:
    values, known = params.ragged.setdefault(key, (dtype, splits))
    if values is not dtype:
        raise InvalidArgumentError(f"Conflicting type {values} vs {dtype} for feature {key}.")
    if known is not splits:
        raise InvalidArgumentError(f"Conflicting partition type {known} vs {splits} for feature {key}.")


def _default_tensor(key: str, shape: Shape, dtype: DType, default: Any) -> Tensor:
    word = re.sub("[^A-Za-z0-9_.\\-/]", "_", key)
    if shape.dims and shape.dims[0] is None:
        if default is None:
            return convert("" if dtype is STRING else 0, dtype)
        return reshape(convert(default, dtype, "padding_" + word), [])
    if default is None:
        return constant(np.empty(0, dtype.array_dtype), dtype)
    if isinstance(default, Tensor):
        return default
    return reshape(convert(default, dtype, "key_" + word), np.array(shape.as_tuple(), np.int32))
