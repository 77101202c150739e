"""Variable scopes as data: what get_variable takes from its surroundings, and where a graph keeps that.

A graph has one current scope, one store of the variables made by get_variable, and a count of the scopes opened by
name, from which unique names come. All of it is kept with the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from tensorkeep.dtypes import FLOAT32, DType
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.building import current_graph, name_scope
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph
from tensorkeep.tf1.functions.control.higher_order import surround
from tensorkeep.tf1.variables.modes import ReuseMode, VariableAggregation, VariableSynchronization

_KEY: Final = "variables"  # in `graph.extras`

Reuse = bool | ReuseMode | None


class VariableScope:
    """The defaults that get_variable has where a scope is open. Change them with the `set_` methods."""

    def __init__(
        self,
        reuse: Reuse,
        name: str = "",
        initializer: Any = None,
        regularizer: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        custom_getter: Callable[..., Any] | None = None,
        name_scope: str = "",
        dtype: Any = FLOAT32,
        use_resource: bool | None = None,
        constraint: Any = None,
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

    def reuse_variables(self) -> None:
        """From here on, variables are found and not made."""
        self.reuse = True

    def set_initializer(self, initializer: Any) -> None:
        self.initializer = initializer

    def set_dtype(self, dtype: Any) -> None:
        self.dtype = dtype

    def set_use_resource(self, use_resource: bool | None) -> None:
        self.use_resource = use_resource

    def set_regularizer(self, regularizer: Any) -> None:
        self.regularizer = regularizer

    def set_caching_device(self, caching_device: Any) -> None:
        self.caching_device = caching_device

    def set_partitioner(self, partitioner: Any) -> None:
        self.partitioner = partitioner

    def set_custom_getter(self, custom_getter: Callable[..., Any] | None) -> None:
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
        var_store: Any,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Reuse = None,
        trainable: bool | None = None,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Callable[..., Any] | None = None,
        constraint: Any = None,
        synchronization: Any = VariableSynchronization.AUTO,
        aggregation: Any = VariableAggregation.NONE,
    ) -> Any:
        """The variable of that name in this scope, from `var_store`: found or made, as `reuse` says."""
        with name_scope(None):
            if dtype is not None and initializer is not None and not callable(initializer):
                found = convert(initializer).dtype.base_dtype
                if found is not DType.of(dtype).base_dtype:
                    raise InvalidArgumentError(
                        f"Initializer type '<dtype: '{found}'>' and explicit dtype '<dtype: '{DType.of(dtype)}'>' "
                        "don't match."
                    )
            return var_store.get_variable(
                f"{self.name}/{name}" if self.name else name,
                shape=shape,
                dtype=self.dtype if dtype is None else dtype,
                initializer=self.initializer if initializer is None else initializer,
                regularizer=self.regularizer if regularizer is None else regularizer,
                reuse=self.reuse if reuse is None else reuse,
                trainable=trainable,
                collections=collections,
                caching_device=self.caching_device if caching_device is None else caching_device,
                partitioner=self.partitioner if partitioner is None else partitioner,
                validate_shape=validate_shape,
                use_resource=self.use_resource if use_resource is None else use_resource,
                custom_getter=self.custom_getter if custom_getter is None else custom_getter,
                constraint=self.constraint if constraint is None else constraint,
                synchronization=synchronization,
                aggregation=aggregation,
            )

    def get_embedding_variable(
        self,
        var_store: Any,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Reuse = None,
        trainable: bool = True,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Callable[..., Any] | None = None,
        constraint: Any = None,
        invalid_key: Any = None,
        evconfig: Any = None,
        ht_partition_num: int = 1000,
    ) -> Any:
        """The embedding variable of that name in this scope, as DeepRec's `tf.get_embedding_variable` asks for it.

        `shape` is how long rows are, or a list with that; `evconfig` an EmbeddingVariableOption. Keys are of the type
        of `invalid_key` where that has one, else int64.
        """
        return GET_EMBEDDING[-1](
            self, var_store, name, shape=shape, dtype=dtype, initializer=initializer, regularizer=regularizer,
            reuse=reuse, trainable=trainable, collections=collections, partitioner=partitioner,
            custom_getter=custom_getter, constraint=constraint, invalid_key=invalid_key, evconfig=evconfig,
        )  # fmt: skip

    def get_dynamic_dimension_embedding_variable(
        self,
        var_store: Any,
        name: str,
        shape: Any = None,
        embedding_block_num: int | None = None,
        dtype: Any = None,
        initializer: Any = None,
        regularizer: Any = None,
        reuse: Reuse = None,
        trainable: bool = True,
        collections: Any = None,
        caching_device: Any = None,
        partitioner: Any = None,
        validate_shape: bool = True,
        use_resource: bool | None = None,
        custom_getter: Callable[..., Any] | None = None,
        constraint: Any = None,
        invalid_key: Any = None,
        evconfig: Any = None,
        ht_partition_num: int = 1000,
    ) -> Any:
        """Blocks of embeddings in this scope, as DeepRec's `tf.get_dynamic_dimension_embedding_variable` asks for them.

        `shape` is how wide a block is, `embedding_block_num` how many there are; the rest is that of
        `get_embedding_variable`.
        """
        return GET_EMBEDDING_BLOCKS[-1](
            self, var_store, name, shape=shape, embedding_block_num=embedding_block_num, dtype=dtype,
            initializer=initializer, regularizer=regularizer, reuse=reuse, trainable=trainable,
            collections=collections, partitioner=partitioner, custom_getter=custom_getter, constraint=constraint,
            invalid_key=invalid_key, evconfig=evconfig, ht_partition_num=ht_partition_num,
        )  # fmt: skip

    def get_hash_table(
        self,
        var_store: Any,
        name: str,
        shape: Any = None,
        dtype: Any = None,
        initializer: Any = None,
        collections: Any = None,
        reuse: Reuse = None,
        trainable: bool | None = True,
        synchronization: Any = VariableSynchronization.AUTO,
        partitioner: Any = None,
        children: Any = None,
    ) -> Any:
        """The hash table of that name in this scope, as DeepRec's `tf.get_hash_table` asks for it."""
        return GET_HASH_TABLE[-1](
            self, var_store, name, shape=shape, dtype=dtype, initializer=initializer, collections=collections,
            reuse=reuse, trainable=trainable, partitioner=partitioner, children=children,
        )  # fmt: skip


GET_EMBEDDING: Final[list[Callable[..., Any]]] = []
"""Finds or makes an embedding variable of a scope; entered by the module that can."""

GET_EMBEDDING_BLOCKS: Final[list[Callable[..., Any]]] = []
"""Finds or makes one of several blocks."""

GET_HASH_TABLE: Final[list[Callable[..., Any]]] = []
"""Finds or makes a hash table of a scope."""


@dataclass
class VariableState:
    """What a graph remembers of its variables besides their nodes."""

    scope: VariableScope = field(default_factory=lambda: VariableScope(False))
    opened: dict[str, int] = field(default_factory=dict)
    """How often a variable scope of each name has been opened since the scope around it was."""
    creators: tuple[Callable[..., Any], ...] = ()
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
        name = f"{self.scope.name}/{prefix}" if self.scope.name else prefix
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
def variable_creator_scope(variable_creator: Callable[..., Any]) -> Iterator[None]:
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
