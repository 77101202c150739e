"""The first layer of a model: what dense columns make of features, side by side, in the order of the columns' names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.columns.column import (
    DenseColumn,
    FeatureColumn,
    Features,
    by_name,
    check_batch_sizes,
    listed_columns,
)
from tensorkeep.tf1.columns.groups import LookupScope
from tensorkeep.tf1.columns.state import ScopeState
from tensorkeep.tf1.functions.arrays.shapes import concat, reshape
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.embedding.group_lookups import group_embedding_lookup_sparse
from tensorkeep.tf1.variables.scope import VariableScope, get_variable_scope
from tensorkeep.tf1.variables.scopes import variable_scope
from tensorkeep.tf1.variables.template import make_template

_GROUPS: Final = object()  # the key of what groups of columns have given, in `graph.extras`


def input_layer(
    features: Mapping[str, Any],
    feature_columns: Iterable[FeatureColumn],
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    cols_to_vars: MutableMapping[Any, Any] | None = None,
    cols_to_output_tensors: MutableMapping[Any, Any] | None = None,
    *,
    adaptive_mask_tensors: Mapping[str, Any] | None = None,
) -> Tensor:
    """A tensor [batch, numbers of all columns]; variables are under "input_layer/" and the names of their columns.

    Two dictionaries, where they are given, are filled with the variables and the tensors of each column. DeepRec's
    `adaptive_mask_tensors` says for each adaptive column which ids are in its embedding variable.
    """
    with variable_scope(None, default_name="input_layer", values=list(features.values())):
        return layer_of_columns(
            features, feature_columns, weight_collections, trainable, cols_to_vars, cols_to_output_tensors,
            adaptive_mask_tensors,
        )  # fmt: skip


def layer_of_columns(
    features: Mapping[str, Any],
    feature_columns: Iterable[FeatureColumn],
    weight_collections: Sequence[str] | None = None,
    trainable: bool = True,
    cols_to_vars: MutableMapping[Any, Any] | None = None,
    cols_to_output_tensors: MutableMapping[Any, Any] | None = None,
    adaptive_mask_tensors: Mapping[str, Any] | None = None,
) -> Tensor:
    """`input_layer` in the variable scope that is being built, without a scope of its own."""
    columns = by_name(listed_columns(feature_columns))
    check_dense_columns(columns)
    state = ScopeState(column_collections(weight_collections), trainable)
    inputs = Features(features, state, adaptive_mask_tensors)
    grouped = _grouped_tensors(columns, inputs, features)
    tensors = []
    for column in columns:
        with variable_scope(None, default_name=column.var_scope_name):
            tensor = grouped[column] if column in grouped else column.dense(inputs)
            tensors.append(flat_tensor(column, tensor))
            if cols_to_vars is not None:
                scope = get_variable_scope().name
                cols_to_vars[column] = get_collection(current_graph(), GraphKeys.GLOBAL_VARIABLES, scope)
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensors[-1]
    check_batch_sizes(tensors, columns)
    return concat(tensors, 1)


def check_dense_columns(columns: Sequence[Any]) -> None:
    """InvalidArgumentError if one of the columns is not dense."""
    for column in columns:
        if not isinstance(column, DenseColumn):
            raise InvalidArgumentError(
                "Items of feature_columns must be a DenseColumn. You can wrap a categorical column with an "
                f"embedding_column or indicator_column. Given: {column}"
            )


def column_collections(weight_collections: Sequence[str] | None) -> list[str]:
    """The collections of columns' variables: those given, global variables and model variables."""
    given = list(weight_collections or [])
    always = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES)
    return given + [key for key in always if key not in given]


class LazyBuilder(Features):
    """The features of a batch for programs that ask columns for their tensors themselves: `_LazyBuilder`."""

    def __init__(self, features: Mapping[Any, Any]) -> None:
        super().__init__(features, ScopeState(column_collections(None), trainable=True))


def flat_tensor(column: DenseColumn, tensor: Tensor) -> Tensor:
    """What a column gives as [batch, numbers]."""
    count = column.variable_shape.num_elements()
    return reshape(tensor, (shape_of(tensor)[0], count))


# ---------------------------------------------------------------------------------------------------- Groups


def _grouped_tensors(columns: Sequence[Any], inputs: Features, features: Mapping[str, Any]) -> dict[Any, Tensor]:
    """What the columns that are in groups give. The first layer that uses a group looks all of its columns up."""
    groups = list(dict.fromkeys(column.scope for column in columns if getattr(column, "scope", None) is not None))
    found: dict[Any, Tensor] = {}
    for group in groups:
        found.update(_tensors_of_group(group, inputs, features))
    return found


def _tensors_of_group(group: LookupScope, inputs: Features, features: Mapping[str, Any]) -> dict[Any, Tensor]:
    known: dict[Any, Any] = current_graph().extras.setdefault(_GROUPS, {})
    key = (group, tuple(sorted((str(name), id(value)) for name, value in features.items())))
    if key not in known:
        # Features are kept with what was made of them: so no others can have their identity.
        known[key] = (features, _looked_up_together(group, inputs))
    found: dict[Any, Tensor] = known[key][1]
    return found


def _looked_up_together(group: LookupScope, inputs: Features) -> dict[Any, Tensor]:
    tables, ids, weights = [], [], []
    columns = [column for column in group.embedding_columns if not column.is_sequence]  # those have layers of their own
    for column in columns:
        pair = column.categorical_column.sparse(inputs)
        with variable_scope(None, default_name=column.var_scope_name):
            tables.append(column.weights(inputs))
        ids.append(pair.id_tensor)
        weights.append(pair.weight_tensor)
    combiners = [column.combiner for column in columns]
    given = None if all(weight is None for weight in weights) else weights
    rows = group_embedding_lookup_sparse(tables, ids, combiners, given)
    return dict(zip(columns, rows, strict=True))


# ---------------------------------------------------------------------------------------------------- As an object


class InputLayer:
    """`input_layer` as an object, which uses its variables again when it is called again."""

    def __init__(
        self,
        feature_columns: Iterable[FeatureColumn],
        weight_collections: Sequence[str] | None = None,
        trainable: bool = True,
        cols_to_vars: MutableMapping[Any, Any] | None = None,
        name: str = "feature_column_input_layer",
        create_scope_now: bool = True,
    ) -> None:
        self._columns, self._collections, self._trainable = feature_columns, weight_collections, trainable
        self._cols_to_vars = cols_to_vars
        self._name = name
        self._template = make_template(name, layer_of_columns, create_scope_now_=create_scope_now)

    def __call__(self, features: Mapping[str, Any]) -> Tensor:
        found: Tensor = self._template(
            features=features,
            feature_columns=self._columns,
            weight_collections=self._collections,
            trainable=self._trainable,
            cols_to_vars=self._cols_to_vars,
        )
        return found

    @property
    def name(self) -> str:
        return self._name

    @property
    def scope(self) -> VariableScope | None:
        """The variable scope, once there is one."""
        return self._template.variable_scope

    @property
    def variables(self) -> list[Any]:
        found: list[Any] = self._template.variables
        return found

    @property
    def trainable_variables(self) -> list[Any]:
        found: list[Any] = self._template.trainable_variables
        return found
