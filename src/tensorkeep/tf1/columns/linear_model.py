"""A linear model of columns: a weight for each id and each number, and a bias."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Any

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.columns.column import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
    Features,
    by_name,
    check_batch_sizes,
    listed_columns,
)
from tensorkeep.tf1.columns.input_layer import column_collections, flat_tensor
from tensorkeep.tf1.columns.keyed import EmbeddingCategoricalColumn
from tensorkeep.tf1.columns.state import ScopeState, Table, Weights
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.embedding.lookups import safe_embedding_lookup_sparse
from tensorkeep.tf1.functions.linear_algebra.products import matmul
from tensorkeep.tf1.functions.nn.activations import bias_add
from tensorkeep.tf1.functions.numbers.elementwise import add_n
from tensorkeep.tf1.functions.sparse.tensors import sparse_reshape
from tensorkeep.tf1.layers.base import parts_of
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope


def linear_model(
    features: Mapping[str, Any],
    feature_columns: Iterable[FeatureColumn],
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    cols_to_vars: MutableMapping[Any, Any] | None = None,
) -> Tensor:
    """Weighted sums of what columns give, [batch, units]; variables are under "linear_model/".

    The weights of an example's ids are combined as `sparse_combiner` says: "sum", "mean" or "sqrtn". A dictionary,
    where it is given, is filled with the variables of each column, and with those of "bias".
    """
    with variable_scope(None, "linear_model") as scope:
        name = _last_part(scope.name)
    columns = _named_columns(feature_columns)
    state = ScopeState(column_collections(weight_collections), trainable)
    model = _LinearModel(columns, units, sparse_combiner, state, trainable)
    with variable_scope(name):
        return model.predictions(features, {} if cols_to_vars is None else cols_to_vars)


def _last_part(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _named_columns(feature_columns: Any) -> list[tuple[str, Any]]:
    """Columns in the order of the names of their scopes, which are made unique as TensorFlow makes them."""
    columns = by_name(listed_columns(feature_columns))
    named: list[tuple[str, Any]] = []
    for column in columns:
        if not isinstance(column, DenseColumn | CategoricalColumn):
            raise InvalidArgumentError(
                f"Items of feature_columns must be either a DenseColumn or CategoricalColumn. Given: {column}"
            )
        with variable_scope(None, default_name=column.var_scope_name) as scope:
            named.append((_last_part(scope.name), column))
    return sorted(named, key=lambda pair: pair[0])


class _LinearModel:
    """What computes the sums, in the variable scope of the model."""

    def __init__(
        self, columns: list[tuple[str, Any]], units: int, combiner: str, state: ScopeState, trainable: bool
    ) -> None:
        self._columns, self._units, self._combiner = columns, units, combiner
        self._state, self._trainable = state, trainable

    def predictions(self, features: Mapping[str, Any], cols_to_vars: MutableMapping[Any, Any]) -> Tensor:
        inputs = Features(features, self._state)
        sums = []
        for name, column in self._columns:
            with variable_scope(None, default_name=name) as scope:
                weights = self._state.variable(column, column_weights(column, self._units))
                sums.append(weighted_sum(column, inputs, weights, self._combiner))
            cols_to_vars[column] = get_collection(current_graph(), GraphKeys.GLOBAL_VARIABLES, scope.name)
        check_batch_sizes(sums, [column for _, column in self._columns])
        whole = add_n(sums, name="weighted_sum_no_bias")
        bias = self._bias()
        cols_to_vars["bias"] = parts_of(bias)
        return bias_add(whole, bias, name="weighted_sum")

    def _bias(self) -> Any:
        return get_variable(
            "bias_weights",
            shape=[self._units],
            dtype=FLOAT32,
            initializer=Zeros(),
            trainable=self._trainable,
            collections=self._state.collections,
        )


def column_weights(column: Any, units: int) -> Weights:
    """The weights of a column: a row of `units` for each id, or for each number."""
    if isinstance(column, EmbeddingCategoricalColumn):
        return Weights("weights", (1, units), Zeros(), ev_option=column.ev_option, partition_num=column.partition_num)
    if isinstance(column, CategoricalColumn):
        return Weights("weights", (column.num_buckets, units), Zeros())
    return Weights("weights", (column.variable_shape.num_elements(), units), Zeros())


def weighted_sum(column: DenseColumn | CategoricalColumn, inputs: Features, weights: Table, combiner: str) -> Tensor:
    """The sum of what a column gives, each times its weight."""
    if not isinstance(column, CategoricalColumn):
        return matmul(flat_tensor(column, column.dense(inputs)), weights, name="weighted_sum")
    ids, given = column.sparse(inputs)
    ids = sparse_reshape(ids, [shape_of(ids)[0], -1])
    if given is not None:
        given = sparse_reshape(given, [shape_of(given)[0], -1])
    return safe_embedding_lookup_sparse(weights, ids, given, combiner=combiner, name="weighted_sum")
