"""Columns that share a table.

`shared_embedding_columns` is TensorFlow 1's: the table is in a collection of the graph, and in the scope of the column
that is built first. `shared_embeddings` is its successor, for `DenseFeatures`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import current_graph, name_scope
from tensorkeep.graph.collections import add_to_collection, get_collection
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.tf1.columns.column import (
    CategoricalColumn,
    DenseColumn,
    Features,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
    sequence_lengths,
)
from tensorkeep.tf1.columns.embedding import Lookup, checked_initializer, start_from_checkpoint, without_wrapping
from tensorkeep.tf1.columns.keyed import EmbeddingCategoricalColumn
from tensorkeep.tf1.columns.sequence import SequenceCategoricalColumn
from tensorkeep.tf1.columns.state import Table, Weights
from tensorkeep.tf1.variables.options import InitializerLike
from tensorkeep.tf1.variables.scopes import get_variable


@dataclass(frozen=True)
class SharedTable:
    """The table that columns share: what it is called, what it is made of."""

    name: str
    num_buckets: int
    dimension: int
    initializer: InitializerLike
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    trainable: bool
    lookup: Lookup

    def weights(self, column: CategoricalColumn) -> Weights:
        """The variable, of which the first column that is built makes one."""
        keyed = without_wrapping(column)
        shape = (self.num_buckets, self.dimension)
        if isinstance(keyed, EmbeddingCategoricalColumn):
            return Weights(
                "embedding_weights", shape, self.initializer, self.trainable, keyed.ev_option, keyed.partition_num
            )
        return Weights("embedding_weights", shape, self.initializer, self.trainable)

    def start(self, table: Table) -> None:
        """Lets it begin as a tensor of a checkpoint, if the columns say so."""
        if self.ckpt_to_load_from is not None and self.tensor_name_in_ckpt is not None:
            start_from_checkpoint(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)


@dataclass(frozen=True)
class _SharedColumn(DenseColumn, SequenceDenseColumn):
    """What columns with a common table share."""

    categorical_column: CategoricalColumn
    shared: SharedTable

    @property
    def name(self) -> str:
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self) -> TensorShape:
        return TensorShape([self.shared.dimension])

    def transform(self, inputs: Features) -> Any:
        return inputs.get(self.categorical_column)

    def dense(self, inputs: Features) -> Tensor:
        if isinstance(self.categorical_column, SequenceCategoricalColumn):
            raise InvalidArgumentError(
                f"In embedding_column: {self.name}. categorical_column must not be of type SequenceCategoricalColumn. "
                "If you wish to create sequence input, use sequence_input_layer or SequenceFeatures. Given: "
                f"{self.categorical_column}"
            )
        return self._rows(inputs)

    def sequence(self, inputs: Features) -> TensorSequenceLengthPair:
        if not isinstance(self.categorical_column, SequenceCategoricalColumn):
            raise InvalidArgumentError(
                f"In embedding_column: {self.name}. categorical_column must be of type SequenceCategoricalColumn. "
                f"Suggested fix: Use one of sequence_categorical_column_with_*. Given: {self.categorical_column}"
            )
        rows = self._rows(inputs)
        return TensorSequenceLengthPair(rows, sequence_lengths(self.categorical_column.sparse(inputs).id_tensor))

    def _rows(self, inputs: Features) -> Tensor:
        with name_scope(self.name):
            pair = self.categorical_column.sparse(inputs)
            return self.shared.lookup.rows(self._table(inputs), pair, f"{self.name}_weights")

    def _table(self, inputs: Features) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class SharedEmbeddingColumn(_SharedColumn):
    """See `shared_embedding_columns`."""

    @property
    def var_scope_name(self) -> str:
        return self.shared.name

    @property
    def shared_embedding_collection_name(self) -> str:
        return self.shared.name

    def _table(self, inputs: Features) -> Any:
        graph, key = current_graph(), self.shared.name
        found = get_collection(graph, key)
        if len(found) > 1:
            raise InvalidArgumentError(
                f"Collection {found} can only contain one variable. Suggested fix A: Choose a unique name for this "
                "collection. Suggested fix B: Do not add any variables to this collection."
            )
        if not found:
            table = inputs.state.variable(key, self.shared.weights(self.categorical_column))
            add_to_collection(graph, key, table)
            self.shared.start(table)
            return table
        self._check_shape(found[0])
        return found[0]

    def _check_shape(self, table: Any) -> None:
        wanted = (self.shared.num_buckets, self.shared.dimension)
        if isinstance(without_wrapping(self.categorical_column), EmbeddingCategoricalColumn):
            return
        if not table.get_shape().is_compatible_with(wanted):
            raise InvalidArgumentError(
                f"Shared embedding collection {self.shared.name} contains variable {table.name} of unexpected shape "
                f"{table.get_shape()}. Expected shape is {wanted}. Suggested fix A: Choose a unique name for this "
                "collection. Suggested fix B: Do not add any variables to this collection."
            )


@dataclass(frozen=True)
class SharedEmbeddingColumnV2(_SharedColumn):
    """See `shared_embeddings`."""

    tables: WeakKeyDictionary[Graph, Any] = field(compare=False, repr=False)
    """The table in each graph, for all columns that share it."""

    def _table(self, inputs: Features) -> Any:
        graph, shared = current_graph(), self.shared
        if graph not in self.tables:
            shape = (shared.num_buckets, shared.dimension)
            with inputs.state.outside():
                table = get_variable(
                    shared.name, shape=shape, dtype=FLOAT32, initializer=shared.initializer, trainable=shared.trainable
                )
            shared.start(table)
            self.tables[graph] = table
        return self.tables[graph]


def _shared_table(
    categorical_columns: Sequence[CategoricalColumn],
    dimension: int,
    combiner: str,
    initializer: InitializerLike,
    name: str | None,
    checkpoint: str | None,
    tensor: str | None,
    max_norm: float | None,
    trainable: bool,
    use_safe_embedding_lookup: bool,
) -> SharedTable:
    """The table of columns, which must be of the same kind and have as many ids."""
    if not categorical_columns:
        raise InvalidArgumentError("categorical_columns must not be empty.")
    ordered = sorted(categorical_columns, key=lambda column: column.name)
    first = ordered[0]
    if not isinstance(first, CategoricalColumn):
        raise InvalidArgumentError(
            f"All categorical_columns must be subclasses of CategoricalColumn. Given: {first}, of type: {type(first)}"
        )
    inner = without_wrapping(first)
    for column in map(without_wrapping, ordered[1:]):
        if type(column) is not type(inner):
            raise InvalidArgumentError(
                "To use shared_embedding_column, all categorical_columns must have the same type, or be "
                f"weighted_categorical_column or sequence column of the same type. Given column: {inner} of type: "
                f"{type(inner)} does not match given column: {column} of type: {type(column)}"
            )
        if column.num_buckets != inner.num_buckets:
            raise InvalidArgumentError(
                "To use shared_embedding_column, all categorical_columns must have the same number of buckets. Given "
                f"column: {inner} with buckets: {inner.num_buckets} does not match column: {column} with buckets: "
                f"{column.num_buckets}"
            )
    chosen = checked_initializer(dimension, initializer, checkpoint, tensor, first.name)
    name = name or "_".join(column.name for column in ordered) + "_shared_embedding"
    lookup = Lookup(combiner, max_norm, use_safe_embedding_lookup)
    return SharedTable(name, first.num_buckets, dimension, chosen, checkpoint, tensor, trainable, lookup)


def shared_embedding_columns(
    categorical_columns: Sequence[CategoricalColumn],
    dimension: int,
    combiner: str = "mean",
    initializer: InitializerLike = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
    *,
    do_fusion: object = False,
) -> list[SharedEmbeddingColumn]:
    """For each categorical column an embedding column; all look up in the same table.

    The table is called after the collection, by default after all columns.
    """
    shared = _shared_table(
        categorical_columns, dimension, combiner, initializer, shared_embedding_collection_name, ckpt_to_load_from,
        tensor_name_in_ckpt, max_norm, trainable, use_safe_embedding_lookup,
    )  # fmt: skip
    return [SharedEmbeddingColumn(column, shared) for column in categorical_columns]


def shared_embeddings(
    categorical_columns: Sequence[CategoricalColumn],
    dimension: int,
    combiner: str = "mean",
    initializer: InitializerLike = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
    use_safe_embedding_lookup: bool = True,
) -> list[SharedEmbeddingColumnV2]:
    """Embedding columns that share a table, which is in the variable scope in which it is used first, under the name of
    the collection.
    """
    shared = _shared_table(
        categorical_columns, dimension, combiner, initializer, shared_embedding_collection_name, ckpt_to_load_from,
        tensor_name_in_ckpt, max_norm, trainable, use_safe_embedding_lookup,
    )  # fmt: skip
    tables: WeakKeyDictionary[Graph, Any] = WeakKeyDictionary()
    return [SharedEmbeddingColumnV2(column, shared, tables) for column in categorical_columns]
