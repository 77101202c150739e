"""Variable scopes as data: what get_variable takes from its surroundings, and where a graph keeps that.

A graph has one current scope, one store of the variables made by get_variable, and a count of the scopes opened by
name, from which unique names come. All of it is kept with the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from tensorkeep.dtypes import FLOAT32, DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.arguments import DeviceLike, DTypeLike, ShapeLike, TensorLike
from tensorkeep.graph.building import current_graph, name_scope
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph
from tensorkeep.tf1.functions.control.higher_order import surround
from tensorkeep.tf1.variables.modes import VariableAggregation, VariableSynchronization
from tensorkeep.tf1.variables.options import (
    AggregationLike,
    CollectionNames,
    Constraint,
    CustomGetter,
    InitializerLike,
    Partitioner,
    Regularizer,
    Reuse,
    SynchronizationLike,
    VariableOptions,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tensorkeep.tf1.variables.embedding_variables.blocks import DynamicEmbeddingVariable
    from tensorkeep.tf1.variables.embedding_variables.handle import EmbeddingVariable
    from tensorkeep.tf1.variables.embedding_variables.options import EmbeddingVariableOption
    from tensorkeep.tf1.variables.hash_tables.table import DistributedHashTable, HashTable
    from tensorkeep.tf1.variables.partitioned import PartitionedVariable
    from tensorkeep.tf1.variables.store import VariableStore
    from tensorkeep.tf1.variables.variable import Variable

_KEY: Final = "variables"  # in `graph.extras`


class VariableScope:
    """The defaults that get_variable has where a scope is open. Change them with the `set_` methods."""

    def __init__(
        self,
        reuse: Reuse,
        name: str = "",
        initializer: InitializerLike = None,
        regularizer: Regularizer | None = None,
        caching_device: DeviceLike = None,
        partitioner: Partitioner | None = None,
        custom_getter: CustomGetter | None = None,
        name_scope: str = "",
        dtype: DTypeLike = FLOAT32,
        use_resource: bool | None = None,
        constraint: Constraint | None = None,
    ) -> None:
        self.reuse = reuse
        self.name = name
        self.initializer = initializer
        self.regularizer = regularizer
        self.caching_device = caching_device
        self.partitioner = partitioner
        self.custom_getter = custom_getter
        self.original_name_scope = name_scope
        self.dtype = dtype
        self.use_resource = use_resource
        self.constraint = constraint

    @property
    def _reuse(self) -> Reuse:
        """Private in TensorFlow, and set by programs: from here on variables are found, made, or either."""
        return self.reuse

    @_reuse.setter
    def _reuse(self, reuse: Reuse) -> None:
        self.reuse = reuse

    @property
    def _name_scope(self) -> str:
        """The scope of names that was opened with this one; private in TensorFlow as well."""
        return self.original_name_scope

    def reuse_variables(self) -> None:
        """From here on, variables are found and not made."""
        self.reuse = True

    def set_initializer(self, initializer: InitializerLike) -> None:
        self.initializer = initializer

    def set_dtype(self, dtype: DTypeLike) -> None:
        self.dtype = dtype

    def set_use_resource(self, use_resource: bool | None) -> None:
        self.use_resource = use_resource

    def set_regularizer(self, regularizer: Regularizer | None) -> None:
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: DeviceLike) -> None:
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: Partitioner | None) -> None:
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: CustomGetter | None) -> None:
        self.custom_getter = custom_getter

    def get_collection(self, name: str) -> list[Any]:
        """The items of a collection whose names begin with this scope's."""
        return get_collection(current_graph(), name, f"{self.name}/" if self.name else "")

    def trainable_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self) -> list[Any]:
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(
        self,
        var_store: VariableStore,
        name: str,
        shape: ShapeLike = None,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike = None,
        regularizer: Regularizer | None = None,
        reuse: Reuse = None,
        trainable: bool | None = None,
        collections: CollectionNames | None = None,
        caching_device: DeviceLike = None,
        partitioner: Partitioner | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: CustomGetter | None = None,
        constraint: Constraint | None = None,
        synchronization: SynchronizationLike = VariableSynchronization.AUTO,
        aggregation: AggregationLike = VariableAggregation.NONE,
    ) -> Variable | PartitionedVariable:
        """The variable of that name in this scope, from `var_store`: found or made, as `reuse` says."""
        options = VariableOptions(
            shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, reuse=reuse,
            trainable=trainable, collections=collections, caching_device=caching_device, partitioner=partitioner,
            validate_shape=validate_shape, use_resource=use_resource, constraint=constraint,
            synchronization=synchronization, aggregation=aggregation,
        )  # fmt: skip
        return get_with_options(self, var_store, name, options, custom_getter)

    def get_embedding_variable(
        self,
        var_store: VariableStore,
        name: str,
        shape: ShapeLike = None,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike = None,
        regularizer: Regularizer | None = None,
        reuse: Reuse = None,
        trainable: bool = True,
        collections: CollectionNames | None = None,
        caching_device: DeviceLike = None,
        partitioner: Partitioner | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: CustomGetter | None = None,
        constraint: Constraint | None = None,
        invalid_key: TensorLike | None = None,
        evconfig: EmbeddingVariableOption | None = None,
        ht_partition_num: int = 1000,
    ) -> EmbeddingVariable | PartitionedVariable:
        """The embedding variable of that name in this scope, as DeepRec's `tf.get_embedding_variable` asks for it.

        `shape` is how long rows are, or a list with that; `evconfig` an EmbeddingVariableOption. Keys are of the type
        of `invalid_key` where that has one, else int64. What an embedding variable has no use for (`caching_device`,
        `validate_shape`, `use_resource`) is told to the log.
        """
        options = VariableOptions(
            shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, reuse=reuse,
            trainable=trainable, collections=collections, caching_device=caching_device, partitioner=partitioner,
            validate_shape=validate_shape, use_resource=use_resource, constraint=constraint,
        )  # fmt: skip
        keys = (custom_getter, invalid_key, evconfig, ht_partition_num)
        return GET_EMBEDDING[-1](self, var_store, name, options, *keys)

    def get_dynamic_dimension_embedding_variable(
        self,
        var_store: VariableStore,
        name: str,
        shape: ShapeLike = None,
        embedding_block_num: int | None = None,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike = None,
        regularizer: Regularizer | None = None,
        reuse: Reuse = None,
        trainable: bool = True,
        collections: CollectionNames | None = None,
        caching_device: DeviceLike = None,
        partitioner: Partitioner | None = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: CustomGetter | None = None,
        constraint: Constraint | None = None,
        invalid_key: TensorLike | None = None,
        evconfig: EmbeddingVariableOption | None = None,
        ht_partition_num: int = 1000,
    ) -> DynamicEmbeddingVariable:
        """Blocks of embeddings in this scope, as DeepRec's `tf.get_dynamic_dimension_embedding_variable` asks for them.

        `shape` is how wide a block is, `embedding_block_num` how many there are; the rest is that of
        `get_embedding_variable`.
        """
        options = VariableOptions(
            shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer, reuse=reuse,
            trainable=trainable, collections=collections, caching_device=caching_device, partitioner=partitioner,
            validate_shape=validate_shape, use_resource=use_resource, constraint=constraint,
        )  # fmt: skip
        keys = (custom_getter, invalid_key, evconfig, ht_partition_num)
        return GET_EMBEDDING_BLOCKS[-1](self, var_store, name, embedding_block_num, options, *keys)

    def get_hash_table(
        self,
        var_store: VariableStore,
        name: str,
        shape: ShapeLike = None,
        dtype: DTypeLike | None = None,
        initializer: InitializerLike = None,
        collections: CollectionNames | None = None,
        reuse: Reuse = None,
        trainable: bool | None = True,
        synchronization: SynchronizationLike = VariableSynchronization.AUTO,
        partitioner: Partitioner | None = None,
        children: Sequence[str] | None = None,
    ) -> HashTable | DistributedHashTable:
        """The hash table of that name in this scope, as DeepRec's `tf.get_hash_table` asks for it."""
        options = VariableOptions(
            shape=shape, dtype=dtype, initializer=initializer, reuse=reuse, trainable=trainable,
            collections=collections, partitioner=partitioner,
        )  # fmt: skip
        return GET_HASH_TABLE[-1](self, var_store, name, options, children)


GET_EMBEDDING: Final[list[Callable[..., EmbeddingVariable | PartitionedVariable]]] = []
"""Finds or makes an embedding variable of a scope; entered by the module that can."""

GET_EMBEDDING_BLOCKS: Final[list[Callable[..., DynamicEmbeddingVariable]]] = []
"""Finds or makes one of several blocks."""

GET_HASH_TABLE: Final[list[Callable[..., HashTable | DistributedHashTable]]] = []
"""Finds or makes a hash table of a scope."""


@dataclass
class VariableState:
    """What a graph remembers of its variables besides their nodes."""

    scope: VariableScope = field(default_factory=lambda: VariableScope(False))
    opened: dict[str, int] = field(default_factory=dict)
    """How often a variable scope of each name has been opened since the scope around it was."""
    creators: tuple[Callable[..., Variable], ...] = ()
    """What stands between a program and the making of a variable, innermost last."""
    stores: dict[str, Any] = field(default_factory=dict)
    use_resource: bool = False
    """Which kind of variable is made where neither the program nor a scope says."""

    def open(self, name: str) -> None:
        self.opened[name] = self.opened.get(name, 0) + 1

    def close_inner(self, name: str) -> None:
        """Forgets the scopes opened inside one, so that their names come again."""
        for other in self.opened:
            if other.startswith(f"{name}/"):
                self.opened[other] = 0

    def unique_scope_name(self, prefix: str) -> str:
        """`prefix`, or with a number behind it one under which no scope was opened here."""
        name = full_name(self.scope, prefix)
        if not self.opened.get(name):
            return prefix
        number = 1
        while self.opened.get(f"{name}_{number}"):
            number += 1
        return f"{prefix}_{number}"


def variable_state(graph: Graph | None = None) -> VariableState:
    """What a graph remembers of its variables."""
    found: VariableState = (graph or current_graph()).extras.setdefault(_KEY, VariableState())
    return found


def get_variable_scope() -> VariableScope:
    """The scope that is open in the graph being built."""
    return variable_state().scope


def full_name(scope: VariableScope, name: str) -> str:
    """The name that a variable of a scope has in its graph."""
    return f"{scope.name}/{name}" if scope.name else name


def with_defaults(options: VariableOptions, scope: VariableScope) -> VariableOptions:
    """The options, with what the scope says where they say nothing."""
    keys = ("dtype", "initializer", "regularizer", "reuse", "caching_device", "partitioner", "use_resource")
    return replace(
        options, **{key: getattr(scope, key) for key in (*keys, "constraint") if getattr(options, key) is None}
    )


def get_with_options(
    scope: VariableScope,
    store: VariableStore,
    name: str,
    options: VariableOptions,
    custom_getter: CustomGetter | None = None,
) -> Variable | PartitionedVariable:
    """The variable of that name in a scope, found or made: what `get_variable` gives for these options."""
    with name_scope(None):
        if options.dtype is not None and options.initializer is not None and not callable(options.initializer):
            found, wanted = convert(options.initializer).dtype.base_dtype, DType.of(options.dtype)
            if found is not wanted.base_dtype:
                raise InvalidArgumentError(
                    f"Initializer type '<dtype: '{found}'>' and explicit dtype '<dtype: '{wanted}'>' don't match."
                )
        custom = scope.custom_getter if custom_getter is None else custom_getter
        return store.get_variable(full_name(scope, name), with_defaults(options, scope), custom)


@surround
@contextmanager
def _reading_once() -> Iterator[None]:
    """Variables made inside are read once, where they are, rather than in each round of a loop."""
    scope = get_variable_scope()
    if scope.caching_device is not None:
        yield
        return
    scope.set_caching_device(lambda op: op.device)
    try:
        yield
    finally:
        scope.set_caching_device(None)


@contextmanager
def variable_creator_scope(variable_creator: Callable[..., Variable]) -> Iterator[None]:
    """Variables made inside are made by `variable_creator(next_creator, **arguments)`."""
    state = variable_state()
    old = state.creators
    state.creators = created = (*old, variable_creator)
    try:
        yield
    finally:
        if state.creators is not created:
            raise FailedPreconditionError("Exiting variable_creator_scope without proper nesting.")
        state.creators = old
