"""Columns of ids: of buckets, of vocabularies, identical, weighted.

Where a feature is dense, "" and -1 stand for nothing, and are left out.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import FLOAT32, INT64, STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike
from tensorkeep.graph.building import init_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike
from tensorkeep.io.files.places import text_of
from tensorkeep.tf1.columns.column import (
    CategoricalColumn,
    Features,
    IdWeightPair,
    SingleFeatureColumn,
    check_key,
    check_text_or_integer,
    checked_ids,
    sparse_input,
)
from tensorkeep.tf1.functions.arrays.shapes import fill, where
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.data.lookup_tables import index_table_from_file, index_table_from_tensor
from tensorkeep.tf1.functions.numbers.elementwise import cast, logical_or
from tensorkeep.tf1.functions.parsing.feature_configs import VarLenFeature
from tensorkeep.tf1.functions.parsing.strings import as_string, string_to_hash_bucket_fast

LOG: Final = logging.getLogger("tensorkeep")


@dataclass(frozen=True)
class HashedCategoricalColumn(SingleFeatureColumn):
    """See `categorical_column_with_hash_bucket`."""

    key: str
    hash_bucket_size: int
    dtype: DType

    @property
    def num_buckets(self) -> int:
        return self.hash_bucket_size

    def transform(self, inputs: Features) -> SparseTensor:
        found = checked_ids(sparse_input(inputs.get(self.key)), self.key, self.dtype)
        text = found.values if self.dtype is STRING else as_string(found.values)
        return found.with_values(string_to_hash_bucket_fast(text, self.hash_bucket_size, name="lookup"))


@dataclass(frozen=True)
class VocabularyFileCategoricalColumn(SingleFeatureColumn):
    """See `categorical_column_with_vocabulary_file`."""

    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: DType
    default_value: int

    @property
    def num_buckets(self) -> int:
        return self.vocabulary_size + self.num_oov_buckets

    def transform(self, inputs: Features) -> SparseTensor:
        found, kind = _vocabulary_keys(self, inputs)

        def make() -> Any:
            return index_table_from_file(
                self.vocabulary_file,
                self.num_oov_buckets,
                self.vocabulary_size,
                self.default_value,
                key_dtype=kind,
                name=f"{self.key}_lookup",
            )

        return _looked_up(self, inputs, found, make)


@dataclass(frozen=True)
class VocabularyListCategoricalColumn(SingleFeatureColumn):
    """See `categorical_column_with_vocabulary_list`."""

    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: DType
    default_value: int
    num_oov_buckets: int

    @property
    def num_buckets(self) -> int:
        return len(self.vocabulary_list) + self.num_oov_buckets

    def transform(self, inputs: Features) -> SparseTensor:
        found, kind = _vocabulary_keys(self, inputs)

        def make() -> Any:
            return index_table_from_tensor(
                list(self.vocabulary_list),
                self.num_oov_buckets,
                self.default_value,
                dtype=kind,
                name=f"{self.key}_lookup",
            )

        return _looked_up(self, inputs, found, make)


def _vocabulary_keys(column: Any, inputs: Features) -> tuple[SparseTensor, DType]:
    """What is looked up in a vocabulary, and its type: text, or 64-bit numbers."""
    found = checked_ids(sparse_input(inputs.get(column.key)), column.key, column.dtype)
    if not found.dtype.base_dtype.is_integer:
        return found, column.dtype
    return found.with_values(cast(found.values, INT64)), INT64


def _looked_up(column: CategoricalColumn, inputs: Features, keys: SparseTensor, make: Any) -> SparseTensor:
    with init_scope():
        table = inputs.state.table(column, make)
    found: SparseTensor = table.lookup(keys)
    return found


@dataclass(frozen=True)
class IdentityCategoricalColumn(CategoricalColumn):
    """See `categorical_column_with_identity`."""

    key: str
    number_buckets: int
    default_value: int | None

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(INT64)}

    @property
    def num_buckets(self) -> int:
        return self.number_buckets

    def transform(self, inputs: Features) -> SparseTensor:
        found = sparse_input(inputs.get(self.key))
        if not found.dtype.base_dtype.is_integer:
            raise InvalidArgumentError(f"Invalid input, not integer. key: {self.key} dtype: {found.dtype.name}")
        values: Any = cast(found.values, INT64, name="values")
        if self.default_value is not None:
            size = cast(self.num_buckets, INT64, name="num_buckets")
            zero = cast(0, INT64, name="zero")
            outside = logical_or(values < zero, values >= size, name="out_of_range")
            default = cast(self.default_value, INT64)
            values = where(outside, fill(shape_of(values), default, name="default_values"), values)
        return found.with_values(values)


@dataclass(frozen=True)
class WeightedCategoricalColumn(CategoricalColumn):
    """See `weighted_categorical_column`."""

    categorical_column: CategoricalColumn
    weight_feature_key: str
    dtype: DType

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        spec = self.categorical_column.parse_example_spec
        if self.weight_feature_key in spec:
            raise InvalidArgumentError(
                f"Parse config {spec[self.weight_feature_key]} already exists for {self.weight_feature_key}."
            )
        return {**spec, self.weight_feature_key: VarLenFeature(self.dtype)}

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    def transform(self, inputs: Features) -> tuple[SparseTensor, SparseTensor]:
        weights = inputs.get(self.weight_feature_key)
        if weights.dtype.base_dtype is not self.dtype:
            raise InvalidArgumentError(f"Bad dtype, expected {self.dtype.name}, but got {weights.dtype.name}.")
        thin = sparse_input(weights, 0)
        if not thin.dtype.base_dtype.is_floating:
            thin = thin.with_values(cast(thin.values, FLOAT32))
        return inputs.get(self.categorical_column), thin

    def sparse(self, inputs: Features) -> IdWeightPair:
        return IdWeightPair(*inputs.get(self))


# ---------------------------------------------------------------------------------------------------- Making


def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DTypeLike = STRING
) -> HashedCategoricalColumn:
    """Text, or whole numbers as text, whose ids are their hashes, of which there are `hash_bucket_size`."""
    if hash_bucket_size is None:
        raise InvalidArgumentError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise InvalidArgumentError(
            f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    check_key(key)
    kind = DType.of(dtype)
    check_text_or_integer(kind, f"column_name: {key}")
    return HashedCategoricalColumn(key, int(hash_bucket_size), kind)


def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: PathLike,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DTypeLike = STRING,
) -> VocabularyFileCategoricalColumn:
    """Values whose ids are the numbers of their lines in a file, of which the first `vocabulary_size` are used.

    A value that is not there has the id `default_value`, or is hashed to one of `num_oov_buckets` further ids; with
    neither, it is left out.
    """
    if not vocabulary_file:
        raise InvalidArgumentError(f"Missing vocabulary_file in {key}.")
    file = text_of(vocabulary_file)
    if vocabulary_size is None:
        if not FILES.exists(file):
            raise InvalidArgumentError(f'vocabulary_file in {key} does not exist: "{file}".')
        vocabulary_size = line_count(file)
        LOG.info(
            "vocabulary_size = %d in %s is inferred from the number of elements in the vocabulary_file %s.",
            vocabulary_size,
            key,
            file,
        )
    if vocabulary_size < 1:
        raise InvalidArgumentError(f"Invalid vocabulary_size in {key}: {vocabulary_size}.")
    _check_unknown(key, num_oov_buckets, default_value is not None)
    kind = DType.of(dtype)
    check_text_or_integer(kind, f"column_name: {key}")
    check_key(key)
    default = -1 if default_value is None else default_value
    return VocabularyFileCategoricalColumn(key, file, vocabulary_size, num_oov_buckets or 0, kind, default)


def line_count(path: str, fs: FileSystem = FILES) -> int:
    """How many lines a file has, of which the last may lack its end."""
    file = fs.open(path)
    try:
        data = bytes(file.read(0, file.size))
    finally:
        file.close()
    return data.count(b"\n") + (bool(data) and not data.endswith(b"\n"))


def _check_unknown(key: str, num_oov_buckets: int, has_default: bool) -> None:
    if not num_oov_buckets:
        return
    if has_default:
        raise InvalidArgumentError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if num_oov_buckets < 0:
        raise InvalidArgumentError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: DTypeLike | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """A column of the values in a list, whose ids are their places in the list."""
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise InvalidArgumentError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise InvalidArgumentError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    vocabulary_dtype = DType.of(np.array(vocabulary_list).dtype)
    _check_unknown(key, num_oov_buckets, default_value != -1)
    check_text_or_integer(vocabulary_dtype, f"column_name: {key} vocabulary")
    kind = vocabulary_dtype if dtype is None else DType.of(dtype)
    if kind.is_integer != vocabulary_dtype.is_integer:
        raise InvalidArgumentError(
            f"dtype {kind.name} and vocabulary dtype {vocabulary_dtype.name} do not match, column_name: {key}"
        )
    check_text_or_integer(kind, f"column_name: {key}")
    check_key(key)
    return VocabularyListCategoricalColumn(key, tuple(vocabulary_list), kind, default_value, num_oov_buckets)


def categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> IdentityCategoricalColumn:
    """Whole numbers that are ids below `num_buckets`; others are `default_value`, or an error if there is none."""
    if num_buckets < 1:
        raise InvalidArgumentError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise InvalidArgumentError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    check_key(key)
    return IdentityCategoricalColumn(key, int(num_buckets), default_value)


def weighted_categorical_column(
    categorical_column: CategoricalColumn, weight_feature_key: str, dtype: DTypeLike = FLOAT32
) -> WeightedCategoricalColumn:
    """Ids that count as much as another feature says, which has a number for each."""
    kind = None if dtype is None else DType.of(dtype)
    if kind is None or not (kind.is_integer or kind.is_floating):
        raise InvalidArgumentError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, kind)
