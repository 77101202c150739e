"""Columns of ids that are made of several features: a bucket for each combination of their values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tensorkeep.dtypes import STRING
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.tf1.columns.categorical import HashedCategoricalColumn
from tensorkeep.tf1.columns.column import CategoricalColumn, Features
from tensorkeep.tf1.functions.parsing.feature_configs import VarLenFeature
from tensorkeep.tf1.functions.sparse.tensors import sparse_cross_hashed

Crossed = str | CategoricalColumn


@dataclass(frozen=True)
class CrossedColumn(CategoricalColumn):
    """See `crossed_column`."""

    keys: tuple[Crossed, ...]
    hash_bucket_size: int
    hash_key: int | None

    @property
    def name(self) -> str:
        return "_X_".join(sorted(key if isinstance(key, str) else key.name for key in self.leaves()))

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec: dict[str, Any] = {}
        for key in self.keys:
            spec.update({key: VarLenFeature(STRING)} if isinstance(key, str) else key.parse_example_spec)
        return spec

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def leaves(self) -> Iterator[Crossed]:
        """What is crossed, where a cross that is crossed counts as its own parts."""
        for key in self.keys:
            if isinstance(key, CrossedColumn):
                yield from key.leaves()
            else:
                yield key

    def transform(self, inputs: Features) -> SparseTensor:
        found: list[Any] = []
        for key in self.leaves():
            if isinstance(key, str):
                found.append(inputs.get(key))
                continue
            pair = key.sparse(inputs)
            if pair.weight_tensor is not None:
                raise InvalidArgumentError(
                    "crossed_column does not support weight_tensor, but the given column populates weight_tensor. "
                    f"Given column: {key.name}"
                )
            found.append(pair.id_tensor)
        return sparse_cross_hashed(found, num_buckets=self.hash_bucket_size, hash_key=self.hash_key)


def crossed_column(
    keys: Sequence[Crossed] | set[Crossed], hash_bucket_size: int, hash_key: int | None = None
) -> CrossedColumn:
    """Ids of combinations of values, of features that are named and of categorical columns, hashed into buckets."""
    if not hash_bucket_size or hash_bucket_size < 1:
        raise InvalidArgumentError(f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}")
    if not keys or len(keys) < 2:
        raise InvalidArgumentError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, str | CategoricalColumn):
            raise InvalidArgumentError(
                "Unsupported key type. All keys must be either string, or categorical column except "
                f"HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedCategoricalColumn):
            raise InvalidArgumentError(
                "categorical_column_with_hash_bucket is not supported for crossing. Hashing before crossing will "
                f"increase probability of collision. Instead, use the feature name as a string. Given: {key}"
            )
    return CrossedColumn(tuple(keys), int(hash_bucket_size), hash_key)
