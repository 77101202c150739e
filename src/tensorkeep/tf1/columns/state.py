"""Where the variables and tables of columns are made: in the variable scope being built, or by a layer.

A column asks for what it needs by name, whenever it is used. What exists already is found again.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypeVar

from tensorkeep.dtypes import FLOAT32
from tensorkeep.graph.building import current_graph
from tensorkeep.tf1.variables.embedding_variables.handle import EmbeddingVariable
from tensorkeep.tf1.variables.embedding_variables.options import EmbeddingVariableOption
from tensorkeep.tf1.variables.embedding_variables.store import get_embedding_variable
from tensorkeep.tf1.variables.options import InitializerLike, Partitioner
from tensorkeep.tf1.variables.partitioned import PartitionedVariable
from tensorkeep.tf1.variables.partitioners import fixed_size_partitioner
from tensorkeep.tf1.variables.scope import VariableScope
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope
from tensorkeep.tf1.variables.variable import Variable

Vocabulary = TypeVar("Vocabulary")

Table: TypeAlias = Variable | PartitionedVariable | EmbeddingVariable
"""What a column keeps: a variable, one in parts, or one of rows by key."""


@dataclass(frozen=True)
class Weights:
    """A variable as a column asks for it. With `ev_option` it is an embedding variable, of rows of `shape[1]`."""

    name: str
    shape: tuple[int, int]
    initializer: InitializerLike
    trainable: bool = True
    ev_option: EmbeddingVariableOption | None = None
    partition_num: int | None = None

    def partitioner(self) -> Partitioner | None:
        """What cuts it, if the column says into how many parts."""
        return None if self.partition_num is None else fixed_size_partitioner(self.partition_num)

    def made(self, trainable: bool, collections: Sequence[str] | None, use_resource: bool | None = None) -> Table:
        """The variable in the scope being built, found or made."""
        if self.ev_option is not None:
            return get_embedding_variable(
                self.name,
                self.shape[1],
                initializer=self.initializer,
                trainable=self.trainable and trainable,
                collections=collections,
                partitioner=self.partitioner(),
                ev_option=self.ev_option,
            )
        return get_variable(
            self.name,
            shape=self.shape,
            dtype=FLOAT32,
            initializer=self.initializer,
            trainable=self.trainable and trainable,
            collections=collections,
            partitioner=self.partitioner(),
            use_resource=use_resource,
        )


class ColumnState(Protocol):
    """What gives a column its variables and tables, in whichever scope or layer they belong."""

    def variable(self, column: Hashable, weights: Weights) -> Table:
        """The variable of a column."""

    def table(self, column: Hashable, make: Callable[[], Vocabulary]) -> Vocabulary:
        """The vocabulary of a column."""

    def outside(self) -> AbstractContextManager[Any]:
        """The variable scope around what is built, for variables that are not of one column."""


class ScopeState:
    """Variables of the scope being built, as `input_layer` and `linear_model` have them."""

    def __init__(self, collections: Sequence[str], trainable: bool) -> None:
        self.collections = list(collections)
        self._trainable = trainable

    def variable(self, column: Hashable, weights: Weights) -> Table:
        return weights.made(self._trainable, self.collections)

    def table(self, column: Hashable, make: Callable[[], Vocabulary]) -> Vocabulary:
        return make()

    def outside(self) -> AbstractContextManager[Any]:
        return nullcontext()


class LayerState:
    """Variables of a layer: made when it is built, in the scopes of its columns, and found ever after."""

    def __init__(self, trainable: bool) -> None:
        self._trainable = trainable
        self.variables: dict[tuple[Hashable, str], Table] = {}
        """By column and name."""
        self._tables: dict[Hashable, Any] = {}
        self.around: VariableScope | None = None
        """The variable scope in which the layer is called."""

    def variable(self, column: Hashable, weights: Weights) -> Table:
        key = (column, weights.name)
        if key not in self.variables:
            self.variables[key] = weights.made(self._trainable, None, use_resource=True)
        return self.variables[key]

    def table(self, column: Hashable, make: Callable[[], Vocabulary]) -> Vocabulary:
        key = (column, id(current_graph()))
        if key not in self._tables:
            self._tables[key] = make()
        found: Vocabulary = self._tables[key]
        return found

    def outside(self) -> AbstractContextManager[Any]:
        if self.around is None:
            return nullcontext()
        return variable_scope(self.around, auxiliary_name_scope=False)
