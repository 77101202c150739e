"""First layers and linear models of the columns of `tf.contrib.layers`, with the names that their variables have there.

Columns are in the order of their keys, which are their descriptions in TensorFlow 1.15: by kind, and then by what the
description of a kind begins with, which is the name for most of them and the combiner for embeddings.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from tensorkeep.dtypes import INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.columns import categorical
from tensorkeep.tf1.columns.column import CategoricalColumn, FeatureColumn, Features, make_parse_example_spec
from tensorkeep.tf1.columns.crossed import CrossedColumn
from tensorkeep.tf1.columns.embedding import EmbeddingColumn, IndicatorColumn
from tensorkeep.tf1.columns.input_layer import check_dense_columns, column_collections, flat_tensor
from tensorkeep.tf1.columns.linear_model import weighted_sum
from tensorkeep.tf1.columns.numeric import BucketizedColumn, NumericColumn
from tensorkeep.tf1.columns.state import ScopeState, Weights
from tensorkeep.tf1.contrib.framework.variables import model_variable
from tensorkeep.tf1.contrib.layers.feature_columns import WHOLE_ARRAY
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, reshape
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.embedding.lookups import safe_embedding_lookup_sparse
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.numbers.elementwise import add_n, cast, greater_equal
from tensorkeep.tf1.functions.parsing.examples import parse_example
from tensorkeep.tf1.functions.sparse.tensors import sparse_concat, sparse_reshape, sparse_retain
from tensorkeep.tf1.layers.base import parts_of
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import variable_scope

LOG: Final = logging.getLogger("tensorkeep")

_SPARSE: Final[dict[type, str]] = {
    categorical.HashedCategoricalColumn: "_SparseColumnHashed",
    categorical.IdentityCategoricalColumn: "_SparseColumnIntegerized",
    categorical.VocabularyListCategoricalColumn: "_SparseColumnKeys",
    categorical.VocabularyFileCategoricalColumn: "_SparseColumnVocabulary",
}
"""What columns of ids are called in TensorFlow 1.15."""


class _State(ScopeState):
    """Variables of a scope, of which a column has one: "weights"."""

    def variable(self, column: Any, weights: Weights) -> Any:
        return super().variable(column, replace(weights, name="weights"))


# ---------------------------------------------------------------------------------------------------- First layers


def input_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Iterable[FeatureColumn],
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """A tensor [batch, numbers of all columns]; a column's variable is under the scope and the column's name."""
    columns = checked_columns(feature_columns)
    check_dense_columns(columns)
    with variable_scope(scope, "input_from_feature_columns", values=list(columns_to_tensors.values())):
        return concat(
            _dense_tensors(columns, _inputs(columns_to_tensors, weight_collections, trainable), flat_tensor), 1
        )


def sequence_input_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Iterable[FeatureColumn],
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> Tensor:
    """A tensor [batch, steps, numbers of all columns], of features that have a dimension of steps after the first."""
    columns = checked_columns(feature_columns)
    for column in columns:
        _check_takes_sequences(column)
    with variable_scope(scope, "sequence_input_from_feature_columns", values=list(columns_to_tensors.values())):
        return concat(_dense_tensors(columns, _inputs(columns_to_tensors, weight_collections, trainable), _steps), 2)


def _dense_tensors(columns: Iterable[Any], inputs: Features, shaped: Callable[[Any, Tensor], Tensor]) -> list[Tensor]:
    """What each column makes of the inputs, under a scope of its name, in the shape in which they are joined."""
    tensors = []
    for column in columns:
        with variable_scope(None, default_name=_scope_name(column)):
            tensors.append(shaped(column, column.dense(inputs)))
    return tensors


def _check_takes_sequences(column: Any) -> None:
    if not isinstance(column, NumericColumn | EmbeddingColumn | IndicatorColumn):
        raise InvalidArgumentError(
            f"FeatureColumn type {type(column).__name__} is not currently supported for sequence data: {column.name}"
        )
    ids = None if isinstance(column, NumericColumn) else column.categorical_column
    if isinstance(ids, BucketizedColumn | CrossedColumn):
        raise InvalidArgumentError(
            f"Column {ids.name} is of type {type(ids).__name__}, which is not currently supported for sequences."
        )


def _steps(column: Any, tensor: Tensor) -> Tensor:
    """What a column made of a feature, as [batch, steps, numbers]."""
    rank = tensor.static_shape.rank
    if isinstance(column, NumericColumn) and rank == 2 and column.variable_shape.num_elements() == 1:
        LOG.warning("column %s: its feature has 2 dimensions, batch and steps; a third one is added", column.name)
        return expand_dims(tensor, -1)
    if rank is not None and rank < 3:
        raise InvalidArgumentError(
            f"column {column.name}: its feature has to have 3 dimensions, the first two those of examples and steps; "
            f"what it gives has the shape {tensor.static_shape}"
        )
    sizes = shape_of(tensor)
    return reshape(tensor, [sizes[0], sizes[1], column.variable_shape.num_elements()])


# ---------------------------------------------------------------------------------------------------- Linear models


def weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Iterable[FeatureColumn],
    num_outputs: int,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> tuple[Tensor, dict[FeatureColumn, list[Any]], Any]:
    """Weighted sums [batch, num_outputs] of what columns give, the variables of each column, and the bias."""
    columns = checked_columns(feature_columns)
    for column in columns:
        _check_is_linear(column)
    with variable_scope(scope, "weighted_sum_from_feature_columns", values=list(columns_to_tensors.values())):
        inputs = _inputs(columns_to_tensors, weight_collections, trainable)
        sums, variables = [], {}
        for column in columns:
            with variable_scope(None, default_name=_scope_name(column)):
                weights = _column_weights(column, num_outputs, weight_collections, trainable)
                found = weighted_sum(column, inputs, weights, "sum")
            sums.append(reshape(found, (-1, num_outputs)))
            variables[column] = parts_of(weights)
        bias = _bias(num_outputs, weight_collections, trainable)
        return bias_add(add_n(sums), bias), variables, bias


def joint_weighted_sum_from_feature_columns(
    columns_to_tensors: Mapping[Any, Any],
    feature_columns: Iterable[FeatureColumn],
    num_outputs: int,
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    scope: str | VariableScope | None = None,
) -> tuple[Tensor, list[Any], Any]:
    """The same for columns of ids, whose weights are one variable: its rows are those of one column after the other.

    An id that is in no vocabulary has no weight. In TensorFlow 1.15 it has the last one of the column before.
    """
    columns = checked_columns(feature_columns)
    for column in columns:
        _check_is_linear(column)
        if isinstance(column, NumericColumn):
            raise InvalidArgumentError(
                f"column {column.name}: Real-valued columns are not supported. Use weighted_sum_from_feature_columns "
                f"instead, or bucketize these columns."
            )
    with variable_scope(scope, "joint_weighted_sum_from_feature_columns", values=list(columns_to_tensors.values())):
        inputs = _inputs(columns_to_tensors, weight_collections, trainable)
        shifted, count = [], 0
        for column in columns:
            shifted.append(_shifted_ids(column, inputs, count))
            count += column.num_buckets
        with variable_scope(None, default_name="linear_weights"):
            weights = model_variable(
                "weights", [count, num_outputs], initializer=Zeros(), trainable=trainable,
                collections=list(weight_collections or []),
            )  # fmt: skip
            found = safe_embedding_lookup_sparse(weights, sparse_concat(1, shifted), combiner="sum", name="_weights")
        bias = _bias(num_outputs, weight_collections, trainable)
        return bias_add(found, bias), parts_of(weights), bias


def _check_is_linear(column: Any) -> None:
    if not isinstance(column, NumericColumn | CategoricalColumn):
        raise InvalidArgumentError(
            f"Error creating weighted sum for column: {column.name}. {type(column).__name__} is not supported in "
            f"linear models: use the column of ids that it is made of"
        )


def _column_weights(column: Any, outputs: int, collections: Sequence[str] | None, trainable: bool) -> Any:
    if isinstance(column, NumericColumn):
        name, rows = "weight", column.variable_shape.num_elements()
    else:
        name, rows = "weights", column.num_buckets
    return model_variable(
        name, [rows, outputs], initializer=Zeros(), trainable=trainable, collections=list(collections or [])
    )


def _bias(outputs: int, collections: Sequence[str] | None, trainable: bool) -> Any:
    return model_variable(
        "bias_weight", [outputs], initializer=Zeros(), trainable=trainable, collections=list(collections or [])
    )


def _shifted_ids(column: Any, inputs: Features, begin: int) -> SparseTensor:
    """The ids of a column, that begin where those of the columns before it end."""
    ids, weights = column.sparse(inputs)
    if weights is not None:
        raise InvalidArgumentError(
            f"column {column.name}: Joint sums for weighted sparse columns are not supported. Please use "
            f"weighted_sum_from_feature_columns instead."
        )
    flat = sparse_reshape(ids, [shape_of(ids)[0], -1])
    known = sparse_retain(flat, greater_equal(flat.values, 0))
    return SparseTensor(known.indices, cast(known.values, INT64) + begin, known.dense_shape)


# ---------------------------------------------------------------------------------------------------- Features


def parse_feature_columns_from_examples(
    serialized: TensorLike,
    feature_columns: Iterable[FeatureColumn],
    name: str | None = None,
    example_names: TensorLike | None = None,
) -> dict[Any, Any]:
    """The features that columns read, parsed of examples, by name; and by column what the column makes of them."""
    columns = checked_columns(feature_columns)
    spec = make_parse_example_spec(columns)
    features: dict[Any, Any] = parse_example(serialized, spec, name=name, example_names=example_names)
    return {**features, **_transformed_features(features, columns)}


def transform_features(features: Mapping[Any, Any], feature_columns: Iterable[FeatureColumn]) -> dict[Any, Any]:
    """By column, what the column makes of features: ids, buckets, numbers."""
    columns = checked_columns(feature_columns)
    made = _transformed_features(features, columns)
    return {column: made[column] for column in columns}


def _transformed_features(features: Mapping[Any, Any], columns: Sequence[Any]) -> dict[Any, Any]:
    inputs = _inputs(features, None, True)
    made = {}
    for column in columns:
        ids = getattr(column, "categorical_column", None)
        for item in (column,) if ids is None else (ids, column):
            made[item] = inputs.get(item)
    return made


def _inputs(features: Mapping[Any, Any], collections: Sequence[str] | None, trainable: bool) -> Features:
    named = {key or WHOLE_ARRAY if isinstance(key, str) else key: value for key, value in features.items()}
    return Features(named, _State(column_collections(collections), trainable))


# ---------------------------------------------------------------------------------------------------- Columns


def check_feature_columns(feature_columns: Iterable[FeatureColumn]) -> None:
    """InvalidArgumentError if what is given are no columns, or the same twice."""
    checked_columns(feature_columns)


def checked_columns(feature_columns: Iterable[FeatureColumn]) -> list[Any]:
    """Columns in the order of their keys, of which there are no two alike."""
    if isinstance(feature_columns, Mapping):
        raise InvalidArgumentError("Expected feature_columns to be iterable, found dict.")
    columns = list(feature_columns)
    if not columns:
        raise InvalidArgumentError("feature_columns must not be empty.")
    by_key: dict[str, Any] = {}
    for column in columns:
        if not isinstance(column, FeatureColumn):
            raise InvalidArgumentError(f"Items of feature_columns must be columns, got {type(column)}: {column}")
        key = _key(column)
        if key in by_key:
            raise InvalidArgumentError(
                f"Duplicate feature column key found for column: {column.name}. This usually means that the column is "
                "almost identical to another column, and one must be discarded."
            )
        by_key[key] = column
    return [by_key[key] for key in sorted(by_key)]


def _scope_name(column: Any) -> str:
    if isinstance(column, IndicatorColumn):
        return f"{column.categorical_column.name}_one_hot"
    return str(column.name)


def _key(column: Any) -> str:
    """How TensorFlow 1.15 describes a column, as far as the order of columns goes by it."""
    if isinstance(column, NumericColumn):
        size = column.variable_shape.num_elements()
        return f"_RealValuedColumn(column_name: {column.name}, default_value: {column.default_value}, dimension: {size}"
    if isinstance(column, EmbeddingColumn):
        return (
            f"_EmbeddingColumn(ckpt_to_load_from: {column.ckpt_to_load_from}, combiner: {column.combiner}, dimension: "
            f"{column.dimension}, max_norm: {column.max_norm}, shared_embedding_name: None, shared_vocab_size: None, "
            f"sparse_id_column: {_key(column.categorical_column)}, tensor_name_in_ckpt: {column.tensor_name_in_ckpt}, "
            f"trainable: {column.trainable})"
        )
    if isinstance(column, IndicatorColumn):
        return f"_OneHotColumn(sparse_id_column={_key(column.categorical_column)})"
    if isinstance(column, BucketizedColumn):
        source = f"_RealValuedColumn(column_name={column.source_column.name!r}, {column.source_column})"
        return f"_BucketizedColumn(source_column={source}, boundaries={column.boundaries})"
    if isinstance(column, CrossedColumn):
        parts = sorted(column.keys, key=lambda part: part if isinstance(part, str) else part.name)
        # A hashed column is crossed by its feature, which is a text here.
        shown = [f"_SparseColumnHashed(column_name={part!r}" if isinstance(part, str) else _key(part) for part in parts]
        return f"_CrossedColumn(columns=({', '.join(shown)}), hash_bucket_size={column.hash_bucket_size})"
    if isinstance(column, categorical.WeightedCategoricalColumn):
        inner = _key(column.categorical_column)
        return f"_WeightedSparseColumn(sparse_id_column={inner}, weight_column_name={column.weight_feature_key!r})"
    kind = _SPARSE.get(type(column), type(column).__name__)
    return f"{kind}(column_name={column.name!r}, {column})"
