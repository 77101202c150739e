"""Lookups in hash tables, and hooks that take part in them: DeepRec's hash_table/embedding.py.

A hook is open in a `with` block. It may say who lets keys in, and is told of every lookup in the block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Final

from tensorkeep.dtypes import INT64
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.building import chosen_name, current_graph, device, name_scope
from tensorkeep.graph.collections import GraphKeys, get_collection_ref
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.tf1.functions.arrays.shapes import unique_with_counts
from tensorkeep.tf1.functions.arrays.slicing import boolean_mask
from tensorkeep.tf1.functions.embedding.lookups import combined_rows
from tensorkeep.tf1.functions.numbers.elementwise import not_equal
from tensorkeep.tf1.variables.hash_tables.admission import BloomFilterAdmitStrategy
from tensorkeep.tf1.variables.hash_tables.table import LOOK_UP, DistributedHashTable, HashTable

Table = HashTable | DistributedHashTable
StrategyFactory = Callable[[HashTable], Tensor | None]

_HOOKS: Final = "hooks of lookups in hash tables"  # in `graph.extras`


class EmbeddingLookupContext:
    """What a hook is told of a lookup."""

    def __init__(
        self,
        hash_table: Table,
        origin_keys: TensorLike,
        partitioned_keys: Sequence[Tensor],
        filtered_keys: Sequence[Tensor | None],
        ids: Sequence[Tensor],
    ) -> None:
        self._table = hash_table
        self._origin_keys = origin_keys
        self._partitioned_keys = list(partitioned_keys)
        self._filtered_keys = list(filtered_keys)
        self._ids = list(ids)
        self._result: dict[str, Any] = {}

    def hash_table(self) -> Table:
        return self._table

    def distributed_hash_table(self) -> Table:
        """The same, by the name that the first release has."""
        return self._table

    def partitions(self) -> list[HashTable]:
        """The parts of the table; one that is not cut is its own."""
        return self._table.partitions if isinstance(self._table, DistributedHashTable) else [self._table]

    def origin_key(self) -> TensorLike:
        return self._origin_keys

    def origin_keys(self) -> TensorLike:
        return self._origin_keys

    def partitioned_keys(self) -> list[Tensor]:
        """The keys that each part is asked for."""
        return self._partitioned_keys

    def filtered_keys(self) -> list[Tensor | None]:
        """The keys of each part that were let in; None if no strategy decides that."""
        return self._filtered_keys

    def ids(self) -> list[Tensor]:
        """The ids of the keys of each part."""
        return self._ids

    def devices(self) -> list[str]:
        return list(dict.fromkeys(part.device for part in self.partitions()))

    def _at(self, place: str) -> int:
        """The last part on a device, as in DeepRec, which knows one for each."""
        places = [part.device for part in self.partitions()]
        if place not in places:
            raise InvalidArgumentError(f'no part of "{self._table.name}" is on "{place}"; they are on {places}')
        return len(places) - 1 - places[::-1].index(place)

    def hash_table_on_device(self, device: str) -> HashTable:
        return self.partitions()[self._at(device)]

    def filtered_key_on_device(self, device: str) -> Tensor | None:
        return self._filtered_keys[self._at(device)]

    def id_on_device(self, device: str) -> Tensor:
        return self._ids[self._at(device)]

    def result(self) -> dict[str, Any]:
        """What hooks have added by `add_result`; `tf.hash_table.embedding_lookup` returns it beside the rows."""
        return self._result

    def add_result(self, name: str, rst: object) -> None:
        """Adds a value to what the lookup returns beside the rows."""
        if name in self._result:
            raise FailedPreconditionError(f"Double set result with name: {name}")
        self._result[name] = rst

    def add_update_op(self, op: Tensor | Operation) -> None:
        """Adds an operation to those that a program runs with each step of training."""
        get_collection_ref(current_graph(), GraphKeys.UPDATE_OPS).append(op)


class EmbeddingLookupHook:
    """Takes part in lookups: a class to derive from, with `get_admit_strategy(part)` if it lets keys in."""

    def get_admit_strategy_factory(self, distributed_hash_table: Table) -> StrategyFactory | None:
        """What gives the strategy of a part of a table; None if this hook has none."""
        found: StrategyFactory | None = getattr(self, "get_admit_strategy", None)
        return found

    def on_embedding_lookup(self, ctx: EmbeddingLookupContext) -> None:
        """Is called with each lookup."""

    def get_config(self) -> dict[str, Any]:
        raise UnimplementedError("Embedding lookup hook get config function not implemented.")

    def __enter__(self) -> None:
        _hooks(current_graph()).append(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        hooks = _hooks(current_graph())
        if not hooks or hooks[-1] is not self:
            raise InvalidArgumentError("hooks should be a stack")
        hooks.pop()


def _hooks(graph: Graph) -> list[EmbeddingLookupHook]:
    """The hooks that are open where a graph is built."""
    found: list[EmbeddingLookupHook] = graph.extras.setdefault(_HOOKS, [])
    return found


class BloomFilterLookupHook(EmbeddingLookupHook):
    """Lets keys in that occurred often enough; see `BloomFilterAdmitStrategy`."""

    def __init__(
        self,
        minimum_frequency: int,
        max_element_size: int | None = None,
        false_positive_probability: float | None = None,
        name: str | None = None,
    ) -> None:
        self._config: dict[str, Any] = {
            "minimum_frequency": minimum_frequency,
            "max_element_size": max_element_size,
            "false_positive_probability": false_positive_probability,
            "name": name,
        }

    def get_config(self) -> dict[str, Any]:
        return dict(self._config)

    def get_admit_strategy_factory(self, distributed_hash_table: Table) -> StrategyFactory:
        def strategy(part: HashTable) -> Tensor:
            return BloomFilterAdmitStrategy(
                **self._config,
                slicer=part.slicer,
                hash_table=part,
                distributed_name=f"{part.distributed_name}_BloomFilter",
            ).handle

        return strategy


class ReadOnlyHook(EmbeddingLookupHook):
    """Lets nobody in: keys that a table does not have are looked up as the default value."""

    def __init__(self) -> None:
        self._strategies: dict[tuple[Graph, str], Tensor] = {}

    def get_admit_strategy(self, ht: HashTable) -> Tensor:
        """The strategy of the table's device, made once for each device."""
        key = (ht.graph, ht.device)
        if key not in self._strategies:
            with device(ht.device):
                self._strategies[key] = emit("ReadOnlyHashTableAdmitStrategyOp")
        return self._strategies[key]

    def get_config(self) -> dict[str, Any]:
        return {}


def embedding_lookup(
    input_hash_table: Table,
    origin_keys: TensorLike,
    default_value: TensorLike = 0,
    counts: TensorLike | None = None,
    name: str | None = None,
) -> tuple[Tensor, dict[str, Any]]:
    """The rows of keys, and what hooks have to say. `counts` says how often each key occurred."""
    if not isinstance(input_hash_table, HashTable | DistributedHashTable):
        raise UnimplementedError(
            "Hash table embedding lookup only support `DistributedHashTable` or `HashTable`, not "
            f"{type(input_hash_table).__name__}"
        )
    graph = input_hash_table.graph
    with name_scope(chosen_name(name, "EmbeddingLookupScope_EmbeddingLookup"), graph):
        hooks = list(_hooks(graph))
        factory = _strategy_factory(hooks, input_hash_table)
        if isinstance(input_hash_table, DistributedHashTable):
            keys, ids, indices, dense_shape = input_hash_table.gen_ids(origin_keys, factory, counts)
            rows = input_hash_table.lookup_by_id(ids, indices, dense_shape, default_value)
        else:
            keys = [convert(origin_keys, INT64)]
            strategy = None if factory is None else factory(input_hash_table)
            ids = [input_hash_table.gen_ids(keys[0], strategy, counts)]
            rows = input_hash_table.lookup_by_id(ids[0], default_value)
        admitted: list[Tensor | None] = [None] * len(keys)
        if factory is not None:
            admitted = [boolean_mask(own, not_equal(some, -1)) for own, some in zip(keys, ids, strict=True)]
        context = EmbeddingLookupContext(input_hash_table, origin_keys, keys, admitted, ids)
        for hook in hooks:
            hook.on_embedding_lookup(context)
        return rows, context.result()


def _strategy_factory(hooks: Sequence[EmbeddingLookupHook], table: Table) -> StrategyFactory | None:
    found = [factory for hook in hooks if (factory := hook.get_admit_strategy_factory(table)) is not None]
    if len(found) > 1:
        raise FailedPreconditionError("Only one embedding hook should set admit strategy")
    return found[0] if found else None


def embedding_lookup_sparse(
    hash_table: Table,
    sp_ids: SparseTensor,
    sp_weights: SparseTensor | None,
    default_value: TensorLike = 0,
    name: str | None = None,
    combiner: str | None = None,
    sp_uniq_ids: tuple[Tensor, Tensor] | None = None,
) -> tuple[Tensor, dict[str, Any]]:
    """For each row of sparse keys the sum, mean or other combination of their rows, and what hooks have to say.

    `sp_uniq_ids` are each key once, and where keys are among these, if that is known already.
    """
    combiner = combiner or "mean"
    if combiner not in ("mean", "sqrtn", "sum", "tile"):
        raise InvalidArgumentError(f"combiner must be one of 'mean', 'sqrtn', 'tile' or 'sum', got {combiner}")
    if not isinstance(sp_ids, SparseTensor):
        raise WrongTypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if sp_weights is not None and not isinstance(sp_weights, SparseTensor):
        raise WrongTypeError(f"sp_weights must be either None or SparseTensor, got {type(sp_weights)}")
    with name_scope(chosen_name(name, "embedding_lookup_sparse"), hash_table.graph) as scope:
        counts = None
        if sp_uniq_ids is not None:
            distinct, places = sp_uniq_ids
        else:
            distinct, places, counts = unique_with_counts(sp_ids.values)
        rows, found = embedding_lookup(hash_table, distinct, default_value, counts)
        return combined_rows(rows, places, sp_ids.indices[:, 0], sp_ids, sp_weights, combiner, scope), found


LOOK_UP.append(embedding_lookup)
