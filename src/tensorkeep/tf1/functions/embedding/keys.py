"""Lookups in embedding variables: tables by key rather than by row number, in one piece or in shards."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any, Final, Protocol

from tensorkeep.dtypes import INT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.building import colocate_with, device
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.ops.arrays.joining import parallel_dynamic_stitch
from tensorkeep.tf1.functions.arrays.shapes import dynamic_partition, identity, reshape, size, unique_with_counts
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.numbers.elementwise import cast, floormod, maximum
from tensorkeep.tf1.functions.numbers.elementwise import range as span

BUCKETS: Final = 1000
"""Keys are spread over shards by their remainders, so that shards can be saved and restored in any number."""


class EmbeddingTable(Protocol):
    """What lookups need to know of an embedding variable."""

    @property
    def key_dtype(self) -> DType: ...

    @property
    def handle(self) -> Tensor: ...

    def lookup_tier(self, ids: Tensor, /) -> Tensor: ...

    def lookup_resource(self) -> Tensor: ...


def is_embedding_variable(table: object) -> bool:
    """Whether it is a table by key."""
    handle = getattr(table, "handle", None)
    return isinstance(handle, Tensor) and handle.op.type == "KvVarHandleOp"


def own_lookup(tables: Sequence[Any]) -> Callable[..., Tensor] | None:
    """The lookup function of a table that is composed of other tables; None for any other."""
    return getattr(tables[0], "_embedding_lookup", None) if len(tables) == 1 else None


def looked_up_by_key(
    tables: Sequence[Any], ids: TensorLike, scope: str, ev_init_value: TensorLike | None, counts: TensorLike | None
) -> Tensor:
    """The rows of ids, in their order."""
    if not all(map(is_embedding_variable, tables)):
        raise InvalidArgumentError("embedding variables and other tables cannot be shards of the same table")
    keys = keys_of(tables[0], ids)
    if len(tables) == 1:
        with colocate_with(tables[0]):
            rows: Tensor = tables[0].sparse_read(keys, name=scope, ev_init_value=ev_init_value, counts=counts)
        return identity(rows)
    flat = reshape(keys, [-1])
    places = shards_of(flat, len(tables))
    originals = span(size(flat, out_type=INT32))
    keys_of_shards = dynamic_partition(flat, places, len(tables))
    originals_of_shards = dynamic_partition(originals, places, len(tables))
    counts_of_shards = _spread_values(counts, [-1], places, len(tables))
    row = plain_shape(tables[0].shape)
    first_of_shards = _spread_values(ev_init_value, [-1, *row.as_tuple()], places, len(tables))
    parts = []
    for number, table in enumerate(tables):
        with device(None), colocate_with(table):
            parts.append(
                table.sparse_read(
                    keys_of_shards[number], ev_init_value=first_of_shards[number], counts=counts_of_shards[number]
                )
            )
    found = emit(parallel_dynamic_stitch, originals_of_shards, parts, name=scope)
    if keys.static_shape.rank != 1:
        dims = emit("ConcatV2", [shape_of(keys), convert(list(row.as_tuple()), INT32)], 0, name="concat")
        found = reshape(found, dims)
    found.set_shape(keys.static_shape.concatenate(row))
    return found


def keys_of(table: EmbeddingTable, ids: TensorLike) -> Tensor:
    """Ids as keys of a table: of its type, into which smaller ones are widened."""
    wanted = table.key_dtype
    keys: Tensor = ids if isinstance(ids, Tensor) else convert(ids, name="ids", preferred_dtype=wanted)
    found = keys.dtype.base_dtype
    if found is wanted:
        return keys
    if found is INT32 and wanted is INT64:
        return cast(keys, INT64)
    raise WrongTypeError(
        f'embedding variable "{table.handle.op.name}" has keys of type {wanted.name}, and was asked for ids of type '
        f"{found.name}; cast the ids, or give the variable this key_dtype"
    )


def shards_of(keys: Tensor, count: int) -> Tensor:
    """The shard of each key; of negative keys too."""
    return cast(floormod(floormod(keys, BUCKETS), count), INT32)


def lookup_tier(var: EmbeddingTable | Iterable[EmbeddingTable], ids: TensorLike) -> Tensor:
    """In which place of a table, or of one in shards, each key is, 0 being the fastest; -1 if it is in none."""
    given: Any = var
    shards = list(given) if hasattr(var, "_variable_list") else [given]
    tiers: Tensor = reduce(maximum, [shard.lookup_tier(keys_of(shard, ids)) for shard in shards])
    return tiers


def lookup_resource(var: EmbeddingTable) -> Tensor:
    """The number under which a session knows the table of an embedding variable."""
    return var.lookup_resource()


def _spread_values(values: Any, shape: list[int], places: Tensor, count: int) -> list[Any]:
    """What belongs to the keys, spread over shards like them; nothing for each if there is nothing."""
    if values is None:
        return [None] * count
    return list(dynamic_partition(reshape(convert(values), shape), places, count))


def count_of_occurrences(ids: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Each id once, where ids are among these, and how often each occurs."""
    distinct, places, counts = unique_with_counts(ids)
    return distinct, places, counts
