"""Layers of columns: `tf.keras.layers.DenseFeatures` and `SequenceFeatures`, as functions of features by name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, MutableMapping
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.runtime.composite_values import SparseTensorValue
from tensorkeep.tf1.columns.column import FeatureColumn, Features, by_name, check_batch_sizes, listed_columns
from tensorkeep.tf1.columns.input_layer import check_dense_columns, flat_tensor
from tensorkeep.tf1.columns.sequence import check_sequence_columns, equal_lengths, sequence_of
from tensorkeep.tf1.columns.state import LayerState
from tensorkeep.tf1.functions.arrays.shapes import concat
from tensorkeep.tf1.layers.base import Layer, parts_of
from tensorkeep.tf1.variables.options import Partitioner
from tensorkeep.tf1.variables.scope import get_variable_scope
from tensorkeep.tf1.variables.scopes import variable_scope


def _valid_scope(name: str) -> str:
    """A column's name as that of a scope, which may not have all characters."""
    return re.sub(r"[^A-Za-z0-9_.\-]", "_", name)


class _FeaturesLayer(Layer):
    """What layers of columns share: variables in the scopes of their columns, made when the layer is first called."""

    def __init__(
        self,
        feature_columns: Any,
        trainable: bool = True,
        name: str | None = None,
        partitioner: Partitioner | None = None,
    ) -> None:
        super().__init__(trainable=trainable, name=name or self._default_name())
        self._columns = by_name(listed_columns(feature_columns))
        self._partitioner = partitioner
        self._state = LayerState(trainable)

    @staticmethod
    def _default_name() -> str:
        raise NotImplementedError

    def __call__(self, inputs: Mapping[str, Any], *args: Any, **kwargs: Any) -> Any:
        if not isinstance(inputs, Mapping):
            raise InvalidArgumentError(f"We expected a dictionary here. Instead we got: {inputs}")
        self._state.around = get_variable_scope()
        return super().__call__({key: _as_feature(value) for key, value in inputs.items()}, *args, **kwargs)

    def build(self, input_shape: Any) -> None:
        for column in self._columns:
            with variable_scope(
                _valid_scope(column.var_scope_name), partitioner=self._partitioner, auxiliary_name_scope=False
            ):
                column.create_state(self._state)
        for variable in self._state.variables.values():
            for part in parts_of(variable):
                self._keep(part, bool(part.trainable))
        self.built = True


def _as_feature(value: Any) -> Any:
    if isinstance(value, SparseTensorValue):
        return SparseTensor.from_value(value)
    return value if isinstance(value, SparseTensor) else convert(value)


class DenseFeatures(_FeaturesLayer):
    """`tf.keras.layers.DenseFeatures`: what dense columns give, side by side, in the order of their names."""

    def __init__(
        self,
        feature_columns: FeatureColumn | Iterable[FeatureColumn],
        trainable: bool = True,
        name: str | None = None,
        partitioner: Partitioner | None = None,
    ) -> None:
        super().__init__(feature_columns, trainable, name, partitioner)
        check_dense_columns(self._columns)

    @staticmethod
    def _default_name() -> str:
        return "dense_features"

    def call(
        self,
        inputs: Mapping[str, Any],
        cols_to_output_tensors: MutableMapping[Any, Any] | None = None,
        training: object = None,
    ) -> Tensor:
        features = Features(inputs, self._state)
        tensors = []
        for column in self._columns:
            with name_scope(_valid_scope(column.name)):
                tensors.append(flat_tensor(column, column.dense(features)))
            if cols_to_output_tensors is not None:
                cols_to_output_tensors[column] = tensors[-1]
        check_batch_sizes(tensors, self._columns)
        return concat(tensors, -1)


class SequenceFeatures(_FeaturesLayer):
    """`tf.keras.experimental.SequenceFeatures`: sequences of all columns side by side, and how long they are."""

    def __init__(
        self, feature_columns: FeatureColumn | Iterable[FeatureColumn], trainable: bool = True, name: str | None = None
    ) -> None:
        super().__init__(feature_columns, trainable, name)
        check_sequence_columns(self._columns)

    @staticmethod
    def _default_name() -> str:
        return "sequence_features"

    def call(self, inputs: Mapping[str, Any], training: object = None) -> tuple[Tensor, Tensor]:
        features = Features(inputs, self._state)
        tensors, lengths = [], []
        for column in self._columns:
            with name_scope(_valid_scope(column.name)):
                found = sequence_of(column, features)
            tensors.append(found.dense_tensor)
            lengths.append(found.sequence_length)
        check_batch_sizes(tensors, self._columns)
        check_batch_sizes(lengths, self._columns)
        return concat(tensors, -1), equal_lengths(lengths)
