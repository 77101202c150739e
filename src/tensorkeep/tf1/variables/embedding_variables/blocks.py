"""Embedding variables of several blocks: each key has as many of them as a lookup says.

emb/block0, emb/block1, …            embedding variables of their own, saved each by itself
emb/part_0/block0, …                 the same in shards
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from tensorkeep.dtypes import INT32, INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DeviceLike, DTypeLike, TensorLike
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, reshape, scope_of
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.shapes import where as positions_of
from tensorkeep.tf1.functions.arrays.slicing import boolean_mask, scatter_nd
from tensorkeep.tf1.functions.embedding.lookups import embedding_lookup
from tensorkeep.tf1.functions.numbers.elementwise import cast, greater
from tensorkeep.tf1.variables.composed import ComposedVariable
from tensorkeep.tf1.variables.embedding_variables.handle import EmbeddingVariable
from tensorkeep.tf1.variables.embedding_variables.options import (
    EmbeddingVariableOption,
    InitializerOption,
    StorageOption,
)
from tensorkeep.tf1.variables.embedding_variables.store import (
    EmbeddingRequest,
    dtype_of_keys,
    get_or_make_embedding,
    refuse_data_source,
    row_length,
    shard_count,
)
from tensorkeep.tf1.variables.options import (
    CollectionNames,
    Constraint,
    CustomGetter,
    InitializerLike,
    Partitioner,
    Regularizer,
    VariableOptions,
)
from tensorkeep.tf1.variables.scope import (
    GET_EMBEDDING_BLOCKS,
    VariableScope,
    full_name,
    get_variable_scope,
    with_defaults,
)
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
        self,
        ids: TensorLike,
        name: str | None = None,
        partition_strategy: str = "mod",
        blocknums: TensorLike | None = None,
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
    key_dtype: DTypeLike = INT64,
    value_dtype: DTypeLike | None = None,
    initializer: InitializerLike = None,
    regularizer: Regularizer | None = None,
    trainable: bool = True,
    collections: CollectionNames | None = None,
    caching_device: DeviceLike = None,
    partitioner: Partitioner | None = None,
    validate_shape: bool = True,
    custom_getter: CustomGetter | None = None,
    constraint: Constraint | None = None,
    steps_to_live: int | None = None,
    init_data_source: object = None,
    ht_partition_num: int = 1000,
    storage_type: int | None = None,
) -> DynamicEmbeddingVariable:
    """Blocks of embeddings under a name, each an embedding variable; every key begins as the same row."""
    refuse_data_source(init_data_source)
    options = VariableOptions(
        dtype=value_dtype, initializer=initializer, regularizer=regularizer, trainable=trainable,
        collections=collections, partitioner=partitioner, constraint=constraint,
    )  # fmt: skip
    block = EmbeddingRequest(
        embedding_block_dimension, options, key_dtype, _option(ht_partition_num, storage_type), steps_to_live,
        custom_getter,
    )  # fmt: skip
    return _get_or_make_blocks(get_variable_scope(), variable_store(), name, embedding_block_num, block)


def _option(ht_partition_num: int, storage_type: int | None = None) -> EmbeddingVariableOption:
    return EmbeddingVariableOption(
        ht_partition_num=ht_partition_num,
        storage_option=StorageOption(storage_type=storage_type),
        init_option=InitializerOption(default_value_dim=1),
    )


def _of_scope(
    scope: VariableScope,
    store: VariableStore,
    name: str,
    block_count: int | None,
    options: VariableOptions,
    custom_getter: CustomGetter | None,
    invalid_key: TensorLike | None,
    ev_option: EmbeddingVariableOption | None,
    ht_partition_num: int,
) -> DynamicEmbeddingVariable:
    """What `VariableScope.get_dynamic_dimension_embedding_variable` gives."""
    if block_count is None:
        raise InvalidArgumentError(f'"{name}": say by `embedding_block_num` how many blocks a key has at most')
    dim, keys = row_length(name, options.shape), dtype_of_keys(invalid_key)
    block = EmbeddingRequest(dim, options, keys, ev_option or _option(ht_partition_num), custom_getter=custom_getter)
    return _get_or_make_blocks(scope, store, name, block_count, block)


GET_EMBEDDING_BLOCKS.append(_of_scope)


def _get_or_make_blocks(
    scope: VariableScope, store: VariableStore, name: str, block_count: int, block: EmbeddingRequest
) -> DynamicEmbeddingVariable:
    """The blocks of that name in a scope, each found or made as an embedding variable is."""
    if block_count < 1:
        raise InvalidArgumentError(f"embedding_block_num is {block_count}, expected at least one block")
    options = with_defaults(block.options, scope)
    partitioner = options.partitioner
    count = None if partitioner is None else shard_count(partitioner, block.dim, options.base_dtype)
    uncut = replace(block, options=replace(block.options, partitioner=None))

    def make(own: str) -> EmbeddingVariable:
        made = get_or_make_embedding(scope, store, own, uncut)
        assert isinstance(made, EmbeddingVariable)  # neither the request nor, here, the scope has a partitioner
        return made

    old, scope.partitioner = scope.partitioner, None  # the blocks are cut already
    try:
        blocks = [_shards(make, name, number, count, block.dim) for number in range(block_count)]
    finally:
        scope.partitioner = old
    return DynamicEmbeddingVariable(full_name(scope, name), blocks)


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
