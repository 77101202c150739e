"""Columns of sequences, and their first layer: what an example has several of, in order, each step by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tensorkeep.dtypes import FLOAT32, STRING, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike
from tensorkeep.graph.building import control_dependencies, name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.columns.categorical import (
    categorical_column_with_hash_bucket,
    categorical_column_with_identity,
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)
from tensorkeep.tf1.columns.column import (
    CategoricalColumn,
    FeatureColumn,
    Features,
    IdWeightPair,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    by_name,
    check_batch_sizes,
    listed_columns,
    sequence_lengths,
)
from tensorkeep.tf1.columns.input_layer import column_collections
from tensorkeep.tf1.columns.keyed import categorical_column_with_embedding
from tensorkeep.tf1.columns.numeric import Normalizer, numeric_column
from tensorkeep.tf1.columns.state import ScopeState
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, identity, reshape, tile
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.control.assertions import assert_equal, assert_rank, assert_type
from tensorkeep.tf1.functions.numbers.reductions import reduce_prod
from tensorkeep.tf1.functions.parsing.feature_configs import VarLenFeature
from tensorkeep.tf1.functions.sparse.tensors import sparse_reshape, sparse_tensor_to_dense
from tensorkeep.tf1.variables.embedding_variables.options import EmbeddingVariableOption
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope


@dataclass(frozen=True)
class SequenceCategoricalColumn(CategoricalColumn):
    """See `sequence_categorical_column_with_identity` and its like."""

    categorical_column: CategoricalColumn

    @property
    def name(self) -> str:
        return self.categorical_column.name

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    @property
    def num_buckets(self) -> int:
        return self.categorical_column.num_buckets

    def transform(self, inputs: Features) -> object:
        return self.categorical_column.transform(inputs)

    def sparse(self, inputs: Features) -> IdWeightPair:
        """Ids with a third dimension, so that those of different steps are not combined."""
        ids, weights = self.categorical_column.sparse(inputs)
        sizes = shape_of(ids)
        whole = [sizes[0], sizes[1], reduce_prod(sizes[2:])]
        ids = sparse_reshape(ids, whole)
        return IdWeightPair(ids, None if weights is None else sparse_reshape(weights, whole))


@dataclass(frozen=True)
class SequenceNumericColumn(SequenceDenseColumn):
    """See `sequence_numeric_column`."""

    key: str
    shape: tuple[int, ...]
    default_value: float
    dtype: DType
    normalizer_fn: Normalizer | None

    @property
    def name(self) -> str:
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return {self.key: VarLenFeature(self.dtype)}

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape(self.shape)

    def transform(self, inputs: Features) -> SparseTensor:
        found = inputs.get(self.key)
        return found if self.normalizer_fn is None else self.normalizer_fn(found)  # type: ignore[return-value]

    def sequence(self, inputs: Features) -> TensorSequenceLengthPair:
        thin = inputs.get(self)
        dense = sparse_tensor_to_dense(thin, default_value=self.default_value)
        sizes = concat([shape_of(dense)[:1], [-1], list(self.shape)], axis=0)
        dense = reshape(dense, sizes)
        # Of rank 2, the elements of a step follow each other; of rank 3, they are in the third dimension.
        elements = self.variable_shape.num_elements() if thin.shape.ndims == 2 else 1
        return TensorSequenceLengthPair(dense, sequence_lengths(thin, elements or 1))


# ---------------------------------------------------------------------------------------------------- Making


def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """Sequences of ids; see `categorical_column_with_identity`."""
    return SequenceCategoricalColumn(categorical_column_with_identity(key, num_buckets, default_value))


def sequence_categorical_column_with_embedding(
    key: str,
    dtype: DTypeLike = STRING,
    partition_num: int | None = None,
    ev_option: EmbeddingVariableOption | None = None,
) -> SequenceCategoricalColumn:
    """Sequences of keys of an embedding variable, DeepRec's; see `categorical_column_with_embedding`."""
    return SequenceCategoricalColumn(categorical_column_with_embedding(key, dtype, partition_num, ev_option))


def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: DTypeLike = STRING
) -> SequenceCategoricalColumn:
    """Sequences of values in buckets; see `categorical_column_with_hash_bucket`."""
    return SequenceCategoricalColumn(categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: PathLike,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: DTypeLike = STRING,
) -> SequenceCategoricalColumn:
    """Sequences of values of a vocabulary; see `categorical_column_with_vocabulary_file`."""
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_file(
            key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
        )
    )


def sequence_categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Sequence[Any],
    dtype: DTypeLike | None = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> SequenceCategoricalColumn:
    """Sequences of values of a vocabulary; see `categorical_column_with_vocabulary_list`."""
    return SequenceCategoricalColumn(
        categorical_column_with_vocabulary_list(key, vocabulary_list, dtype, default_value, num_oov_buckets)
    )


def sequence_numeric_column(
    key: str,
    shape: int | Sequence[int] = (1,),
    default_value: float = 0.0,
    dtype: DTypeLike = FLOAT32,
    normalizer_fn: Normalizer | None = None,
) -> SequenceNumericColumn:
    """Sequences of numbers, each step of a shape; shorter sequences are filled up with `default_value`."""
    like = numeric_column(key, shape, None, dtype, normalizer_fn)
    if isinstance(default_value, bool) or not isinstance(default_value, int | float):
        raise WrongTypeError(f"default_value must be a number. default_value: {default_value}, key: {key}")
    return SequenceNumericColumn(key, like.shape, default_value, like.dtype, normalizer_fn)


# ---------------------------------------------------------------------------------------------------- The layer


def sequence_input_layer(
    features: Mapping[str, Any],
    feature_columns: Iterable[FeatureColumn],
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> tuple[Tensor, Tensor]:
    """`tf.contrib.feature_column.sequence_input_layer`: [batch, longest, numbers of all columns], and the lengths."""
    columns = by_name(listed_columns(feature_columns))
    check_sequence_columns(columns)
    with variable_scope(scope, default_name="sequence_input_layer", values=list(features.values())):
        inputs = Features(features, ScopeState(column_collections(weight_collections), trainable))
        tensors, lengths = [], []
        for column in columns:
            with variable_scope(None, default_name=column.var_scope_name):
                found = sequence_of(column, inputs)
            tensors.append(found.dense_tensor)
            lengths.append(found.sequence_length)
        check_batch_sizes(tensors, columns)
        check_batch_sizes(lengths, columns)
        return concat(tensors, -1), equal_lengths(lengths)


def check_sequence_columns(columns: Sequence[Any]) -> None:
    """InvalidArgumentError if one of the columns is not of sequences."""
    for column in columns:
        if not isinstance(column, SequenceDenseColumn):
            raise InvalidArgumentError(
                "All feature_columns must be of type SequenceDenseColumn. You can wrap a sequence_categorical_column "
                f"with an embedding_column or indicator_column. Given (type {type(column)}): {column}"
            )


def sequence_of(column: SequenceDenseColumn, inputs: Features) -> TensorSequenceLengthPair:
    """What a column gives, as [batch, longest, numbers]."""
    found = column.sequence(inputs)
    sizes = shape_of(found.dense_tensor)
    count = column.variable_shape.num_elements() or 1
    flat = reshape(found.dense_tensor, concat([sizes[:2], [count]], axis=0))
    return TensorSequenceLengthPair(flat, found.sequence_length)


def equal_lengths(lengths: Sequence[Tensor]) -> Tensor:
    """The lengths of which all columns must have the same."""
    with name_scope("assert_all_equal"):
        if len(lengths) == 1:
            return lengths[0]
        checks = [assert_equal(lengths[0], other) for other in lengths[1:]]
        with control_dependencies(checks):
            return identity(lengths[0])


def concatenate_context_input(context_input: Tensor, sequence_input: Tensor) -> Tensor:
    """Sequences of which every step has the numbers of its example behind its own."""
    checks = [
        assert_rank(sequence_input, 3, [shape_of(sequence_input)], message="sequence_input must have rank 3"),
        assert_type(sequence_input, FLOAT32, "sequence_input must have dtype float32."),
        assert_rank(context_input, 2, [shape_of(context_input)], message="context_input must have rank 2"),
        assert_type(context_input, FLOAT32, "context_input must have dtype float32."),
    ]
    with control_dependencies(checks):
        longest = shape_of(sequence_input)[1]
        tiled = tile(expand_dims(context_input, 1), concat([[1], [longest], [1]], 0))
    return concat([sequence_input, tiled], 2)
