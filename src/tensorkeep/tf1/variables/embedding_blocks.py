"""Embedding variables of several blocks: each key has as many of them as a lookup says.

emb/block0, emb/block1, …            embedding variables of their own, saved each by itself
emb/part_0/block0, …                 the same in shards
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.dtypes import INT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, reshape, scope_of
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.shapes import where as positions_of
from tensorkeep.tf1.functions.arrays.slicing import boolean_mask, scatter_nd
from tensorkeep.tf1.functions.embedding.lookups import embedding_lookup
from tensorkeep.tf1.functions.numbers.elementwise import cast, greater
from tensorkeep.tf1.variables.composed import ComposedVariable
from tensorkeep.tf1.variables.embedding import EmbeddingVariable
from tensorkeep.tf1.variables.embedding_options import EmbeddingVariableOption, InitializerOption, StorageOption
from tensorkeep.tf1.variables.embedding_store import (
    check_data_source,
    dtype_of_keys,
    found_or_made,
    row_length,
    shard_count,
)
from tensorkeep.tf1.variables.scope import GET_EMBEDDING_BLOCKS, VariableScope, get_variable_scope
from tensorkeep.tf1.variables.slices import SaveSliceInfo
from tensorkeep.tf1.variables.store import VariableStore, variable_store


class DynamicEmbeddingVariable(ComposedVariable):
    """Blocks of rows: a key that is looked up with `blocknums` n has its first n blocks, and zeros behind them."""

    def __init__(self, name: str, blocks: Sequence[Sequence[EmbeddingVariable]]) -> None:
        self._blocks = [list(shards) for shards in blocks]
        shards = [shard for block in self._blocks for shard in block]
        super().__init__(name, shards, [shards[0].dim * len(self._blocks)])

    @property
    def blocks(self) -> list[list[EmbeddingVariable]]:
        """The blocks, each a list of its shards."""
        return self._blocks

    def mainev(self) -> EmbeddingVariable:
        """The first block, or its first shard."""
        return self._blocks[0][0]

    def blocknum(self) -> int:
        return len(self._blocks)

    @property
    def block_dim(self) -> int:
        """How wide a block is."""
        return self.mainev().dim

    def _embedding_lookup(
        self, ids: Any, name: str | None = None, partition_strategy: str = "mod", blocknums: Any = None
    ) -> Tensor:
        if blocknums is None:
            raise InvalidArgumentError(
                f'"{self._name}" has {len(self._blocks)} blocks: say by `blocknums` how many of each id are looked up'
            )
        with scope_of(name, "embedding_lookup", ids, blocknums):
            keys, counts = convert(ids), reshape(convert(blocknums), [-1])
            flat = reshape(keys, [-1])
            total = shape_of(flat)
            parts = [self._block(number, flat, counts, total) for number in range(len(self._blocks))]
            rows = concat(parts, 1)
            if keys.static_shape.rank == 1:
                return rows
            width = self.block_dim * len(self._blocks)
            wide: Tensor = reshape(rows, concat([shape_of(keys), [width]], 0))
            return wide

    def _block(self, number: int, keys: Tensor, counts: Tensor, total: Tensor) -> Tensor:
        """A block of each key, zeros for those that have fewer."""
        has_it = greater(counts, number)
        rows = embedding_lookup(self._blocks[number], boolean_mask(keys, has_it))
        places = cast(positions_of(has_it), INT32)
        whole: Tensor = scatter_nd(places, rows, concat([total, [self.block_dim]], 0))
        return whole


def get_dynamic_dimension_embedding_variable(
    name: str,
    embedding_block_dimension: int,
    embedding_block_num: int,
    key_dtype: Any = INT64,
    value_dtype: Any = None,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    collections: Any = None,
    caching_device: Any = None,
    partitioner: Any = None,
    validate_shape: bool = True,
    custom_getter: Callable[..., Any] | None = None,
    constraint: Any = None,
    steps_to_live: int | None = None,
    init_data_source: Any = None,
    ht_partition_num: int = 1000,
    storage_type: int | None = None,
) -> DynamicEmbeddingVariable:
    """Blocks of embeddings under a name, each an embedding variable; every key begins as the same row."""
    check_data_source(init_data_source)
    return _found_or_made(
        get_variable_scope(),
        variable_store(),
        name,
        embedding_block_dimension,
        embedding_block_num,
        partitioner,
        key_dtype=key_dtype,
        value_dtype=value_dtype,
        initializer=initializer,
        regularizer=regularizer,
        trainable=trainable,
        collections=collections,
        custom_getter=custom_getter,
        constraint=constraint,
        steps_to_live=steps_to_live,
        ev_option=_option(ht_partition_num, storage_type),
    )


def _option(ht_partition_num: int, storage_type: int | None = None) -> EmbeddingVariableOption:
    return EmbeddingVariableOption(
        ht_partition_num=ht_partition_num,
        storage_option=StorageOption(storage_type=storage_type),
        init_option=InitializerOption(default_value_dim=1),
    )


def _of_scope(
    scope: VariableScope, store: VariableStore, name: str, embedding_block_num: int | None, **arguments: Any
) -> DynamicEmbeddingVariable:
    """What `VariableScope.get_dynamic_dimension_embedding_variable` gives."""
    if embedding_block_num is None:
        raise InvalidArgumentError(f'"{name}": say by `embedding_block_num` how many blocks a key has at most')
    shape, key, option = (arguments.pop(what) for what in ("shape", "invalid_key", "evconfig"))
    plain = _option(arguments.pop("ht_partition_num"))
    return _found_or_made(
        scope, store, name, row_length(name, shape), embedding_block_num, arguments.pop("partitioner"),
        key_dtype=dtype_of_keys(key), value_dtype=arguments.pop("dtype"), ev_option=option or plain, **arguments,
    )  # fmt: skip


GET_EMBEDDING_BLOCKS.append(_of_scope)


def _found_or_made(
    scope: VariableScope,
    store: VariableStore,
    name: str,
    dim: int,
    block_count: int,
    partitioner: Any,
    *,
    value_dtype: Any,
    **arguments: Any,
) -> DynamicEmbeddingVariable:
    """The blocks of that name in a scope, each found or made as an embedding variable is."""
    if block_count < 1:
        raise InvalidArgumentError(f"embedding_block_num is {block_count}, expected at least one block")
    chosen = scope.partitioner if partitioner is None else partitioner
    count = None if chosen is None else shard_count(chosen, dim, DType.of(value_dtype or scope.dtype))

    def make(own: str) -> Any:
        return found_or_made(scope, store, own, dim, value_dtype=value_dtype, partitioner=None, **arguments)

    old, scope.partitioner = scope.partitioner, None  # the blocks are cut already
    try:
        blocks = [_shards(make, name, number, count, dim) for number in range(block_count)]
    finally:
        scope.partitioner = old
    return DynamicEmbeddingVariable(f"{scope.name}/{name}" if scope.name else name, blocks)


def _shards(
    make: Callable[[str], EmbeddingVariable], name: str, block: int, count: int | None, dim: int
) -> list[EmbeddingVariable]:
    """The shards of one block; one if it is not cut."""
    if count is None:
        return [make(f"{name}/block{block}")]
    shards = []
    for number in range(count):
        shard = make(f"{name}/part_{number}/block{block}")
        whole = shard.op.name.replace(f"/part_{number}/block", "/block")
        shard._set_save_slice_info(SaveSliceInfo(whole, [count, dim], [number, 0], [1, dim]))
        shards.append(shard)
    return shards


__all__ = ["DynamicEmbeddingVariable", "get_dynamic_dimension_embedding_variable"]
