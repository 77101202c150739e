"""Embedding lookups: rows of a table, or of a table in shards, by ids, and their weighted sums by sparse ids.

A table is a tensor, a variable, a list of either, or a partitioned variable. Ids are spread over shards by one of two
strategies:

    mod    shard id % count holds row id // count
    div    shards hold consecutive ids, the first ones one more if the ids cannot be divided evenly

An embedding variable is a table by key: its shard `id mod 1000 mod count` holds id, whatever the strategy.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorkeep.dtypes import BFLOAT16, BOOL, FLOAT16, FLOAT32, INT32, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.building import colocate_with, device
from tensorkeep.graph.composites import IndexedSlices, SparseTensor, is_composite
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import TensorShape, plain_shape
from tensorkeep.ops.arrays.joining import parallel_dynamic_stitch
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    dynamic_partition,
    expand_dims,
    identity,
    ones,
    ones_like,
    rank,
    reshape,
    scope_of,
    shape,
    size,
    stack,
    tile,
    unique,
    where,
    zeros_like,
)
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.arrays.slicing import slice as block
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.embedding.keys import (
    count_of_occurrences,
    is_embedding_variable,
    looked_up_by_key,
    own_lookup,
)
from tensorkeep.tf1.functions.numbers.clipping import clip_by_norm
from tensorkeep.tf1.functions.numbers.elementwise import (
    cast,
    div_no_nan,
    greater,
    greater_equal,
    logical_and,
    maximum,
    sqrt,
)
from tensorkeep.tf1.functions.numbers.elementwise import pow as power
from tensorkeep.tf1.functions.numbers.elementwise import range as span
from tensorkeep.tf1.functions.numbers.reductions import reduce_prod, reduce_sum
from tensorkeep.tf1.functions.numbers.segments import (
    segment_sum,
    sparse_segment_mean,
    sparse_segment_sqrt_n,
    sparse_segment_sum,
    unsorted_segment_max,
    unsorted_segment_sum,
)
from tensorkeep.tf1.functions.sparse.tensors import sparse_fill_empty_rows, sparse_reshape, sparse_retain

Transform = Callable[[Tensor], Tensor]


def embedding_lookup(
    params: TensorLike,
    ids: TensorLike,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: Tensor | float | None = None,
    ev_init_value: TensorLike | None = None,
    blocknums: TensorLike | None = None,
    counts: TensorLike | None = None,
) -> Tensor:
    """The rows of a table that ids name, each shortened to `max_norm` if it is longer.

    Of an embedding variable, new keys begin as `ev_init_value`, a row for each id, or as default rows; `counts` says
    how often each id occurred. `blocknums` are for embedding variables of blocks: how many blocks of each id are read.
    """
    tables = _tables(params)
    lookup = own_lookup(tables)
    if lookup is not None:
        return _clipped_rows(lookup(ids, name, partition_strategy, blocknums), convert(ids), max_norm)
    if any(map(is_embedding_variable, tables)):
        with scope_of(name, "embedding_lookup", *tables, ids) as scope:
            rows = looked_up_by_key(tables, ids, scope, ev_init_value, counts)
            return _clipped_rows(rows, convert(ids), max_norm)
    return lookup_and_transform(params, ids, partition_strategy, name, max_norm)


def lookup_and_transform(
    params: TensorLike,
    ids: TensorLike,
    partition_strategy: str = "mod",
    name: str | None = None,
    max_norm: Tensor | float | None = None,
    transform: Transform | None = None,
) -> Tensor:
    """As `embedding_lookup`; rows are transformed where their shard is."""
    tables = _tables(params)
    if any(map(is_embedding_variable, tables)):
        found = embedding_lookup(params, ids, partition_strategy, name, max_norm=max_norm)
        return found if transform is None else transform(found)
    with scope_of(name, "embedding_lookup", *tables, ids) as scope:
        if not any(map(_is_resource, tables)):
            tables = [
                table if isinstance(table, Tensor | IndexedSlices) else convert(table, name=f"params_{i}")
                for i, table in enumerate(tables)
            ]
        ids = convert(ids, name="ids")
        if len(tables) == 1 and (transform is None or ids.static_shape.rank == 1):
            with colocate_with(tables[0]):
                rows = _clipped_rows(gather(tables[0], ids, name=scope), ids, max_norm)
                if transform is not None:
                    rows = transform(rows)
            return identity(rows)
        return _looked_up(tables, ids, partition_strategy, scope, max_norm, transform)


def _tables(params: Any) -> list[Any]:
    """The shards of a table, which may be one."""
    if params is None:
        raise InvalidArgumentError("params must be specified")
    if isinstance(params, list | tuple) and not params:
        raise InvalidArgumentError("Length of params is currently 0. Need at least one param.")
    if hasattr(params, "_variable_list"):  # a partitioned variable
        return list(params)
    return params if isinstance(params, list) else [params]


def _is_resource(table: Any) -> bool:
    """Whether it is a variable that is read by rows rather than as a whole."""
    return isinstance(getattr(table, "handle", None), Tensor)


def _clipped_rows(rows: Tensor, ids: Tensor, max_norm: Any) -> Tensor:
    """Each row shortened to a norm; the axes of a row are those that the ids do not have."""
    if max_norm is None:
        return rows
    ids_rank, rows_rank = convert(ids).static_shape.rank, convert(rows).static_shape.rank
    if ids_rank and rows_rank:
        axes: Any = list(range(ids_rank, rows_rank))
    else:
        first = ids_rank or rank(ids)
        axes = span(first, rows_rank or rank(rows))
    return clip_by_norm(rows, max_norm, axes=axes)


def _looked_up(
    tables: list[Any], ids: Tensor, strategy: str, scope: str, max_norm: Any, transform: Transform | None
) -> Tensor:
    """The rows of several shards, or of one that are to be transformed, in the order of the ids."""
    count = len(tables)
    flat = reshape(ids, [-1])
    originals = span(size(flat, out_type=INT32))
    assignments, places = _assign_shards(tables, flat, strategy)
    assignments = cast(assignments, INT32)
    ids_of_shards = dynamic_partition(places, assignments, count)
    originals_of_shards = dynamic_partition(originals, assignments, count)
    parts = []
    for table, own in zip(tables, ids_of_shards, strict=True):
        with device(None), colocate_with(table):
            rows = gather(table, own)
            if transform is not None:
                rows = transform(_clipped_rows(rows, own, max_norm))
        parts.append(rows)
    found = emit(parallel_dynamic_stitch, originals_of_shards, parts, name=scope)
    known = _row_shape(tables, found, transform)
    if known.is_fully_known:
        row: Any = TensorShape(known)
    elif transform is None:
        with colocate_with(tables[0]):
            table_shape = shape(tables[0])
        row = table_shape[1:]
    else:
        row = shape(found)[1:]
    sizes = shape(ids)
    found = reshape(found, concat([sizes, row], 0))
    found.set_shape(ids.static_shape.concatenate(known))
    return found if transform is not None else _clipped_rows(found, ids, max_norm)


def _static_shape(table: Any) -> Shape:
    return plain_shape(table.shape)


def _row_shape(tables: list[Any], found: Tensor, transform: Transform | None) -> Shape:
    known = UNKNOWN_SHAPE
    for table in tables if transform is None else [found]:
        dims = _static_shape(table).dims
        known = known if dims is None else known.merge(Shape(dims[1:]))
    return known


def _assign_shards(tables: list[Any], ids: Tensor, strategy: str) -> tuple[Any, Any]:
    """The shard of each id, and its place there."""
    count = len(tables)
    if strategy == "mod":
        assignments = ids % count
        return assignments, ids // count
    if strategy != "div":
        raise InvalidArgumentError(
            f"Unrecognized partition strategy: {strategy}. Must be one of either `mod` or `div`."
        )
    total = _total_rows(tables, ids)
    each = total // count
    extras = total % count
    longer = each + 1
    assignments = maximum(ids // longer, (ids - extras) // each)
    in_longer = assignments < extras
    return assignments, where(in_longer, ids % (each + 1), (ids - extras) % each)


def _total_rows(tables: list[Any], ids: Tensor) -> Tensor:
    dims = [_static_shape(table).dims for table in tables]
    sizes = [None if not sizes else sizes[0] for sizes in dims]
    known = [size for size in sizes if size is not None]
    total = sum(known)
    if total and len(known) == len(sizes):
        return constant(total, ids.dtype.base_dtype)
    found: list[Any] = []
    for table, rows in zip(tables, sizes, strict=True):
        if rows is not None:
            found.append(rows)
        else:
            with colocate_with(table):
                found.append(shape(table)[0])
    return reduce_sum(cast(stack(found), ids.dtype.base_dtype))


# ---------------------------------------------------------------------------------------------------- By sparse ids


def embedding_lookup_sparse(
    params: TensorLike,
    sp_ids: SparseTensor,
    sp_weights: SparseTensor | None,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: Tensor | float | None = None,
    allow_fast_lookup: bool = False,
    blocknums: TensorLike | None = None,
) -> Tensor:
    """For each row of sparse ids the weighted sum, mean, or sum divided by the root of the squares, of their rows.

    DeepRec has one more `combiner`: "tile" puts weighted rows side by side, each in its id's column, zeros elsewhere.
    """
    combiner = combiner or "mean"
    if combiner not in ("mean", "sqrtn", "sum", "tile"):
        raise InvalidArgumentError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner}")
    tables = _tables(params)
    if not isinstance(sp_ids, SparseTensor):
        raise WrongTypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if sp_weights is not None:
        if not isinstance(sp_weights, SparseTensor):
            raise WrongTypeError(f"sp_weights must be either None or SparseTensor, got {type(sp_weights)}")
        for part in ("values", "indices", "dense_shape"):
            getattr(sp_ids, part).static_shape.merge(getattr(sp_weights, part).static_shape)
    with scope_of(name, "embedding_lookup_sparse", *tables, sp_ids) as scope:
        segment_ids, ids = sp_ids.indices[:, 0], sp_ids.values
        if len(tables) == 1 and not _is_tensor(tables[0]):
            tables = [convert(tables[0], name="params")]
        is_fast = (
            len(tables) == 1
            and not is_composite(tables[0])
            and not _is_resource(tables[0])
            and own_lookup(tables) is None
            and tables[0].device == segment_ids.device
            and max_norm is None
            and (allow_fast_lookup or sp_weights is None)
        )
        if is_fast:
            places, rows = ids, tables[0]
        else:
            distinct, places, counts, blocks = _distinct(tables, ids, blocknums)
            rows = embedding_lookup(
                tables, distinct, partition_strategy, max_norm=max_norm, counts=counts, blocknums=blocks
            )
        sparse_gradient = is_fast and not allow_fast_lookup
        return combined_rows(rows, places, segment_ids, sp_ids, sp_weights, combiner, scope, sparse_gradient)


def combined_rows(
    rows: TensorLike,
    places: Tensor,
    segment_ids: Tensor,
    sp_ids: SparseTensor,
    sp_weights: SparseTensor | None,
    combiner: str,
    scope: str,
    sparse_gradient: bool = False,
) -> Tensor:
    """For each row of sparse ids the combination of their rows.

    `places` says which of `rows` each id has, `segment_ids` which row of the ids it is in.
    """
    if combiner == "tile":
        return _tiled_rows(gather(rows, places), sp_ids, sp_weights, scope)
    if sp_weights is not None:
        return _combine_weighted_rows(rows, places, segment_ids, sp_weights.values, combiner, scope)
    combine = {"sum": sparse_segment_sum, "mean": sparse_segment_mean, "sqrtn": sparse_segment_sqrt_n}[combiner]
    return combine(rows, places, segment_ids, name=scope, sparse_gradient=sparse_gradient)


def _distinct(tables: list[Any], ids: Tensor, blocknums: Any) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
    """Each id once, where ids are among these, and how often they occur and of how many blocks, if it matters."""
    if any(is_embedding_variable(table) and table.needs_counts for table in tables):
        distinct, places, counts = count_of_occurrences(ids)
    else:
        distinct, places = unique(ids)
        counts = None
    if blocknums is None:
        return distinct, places, counts, None
    return distinct, places, counts, unsorted_segment_max(convert(blocknums), places, size(distinct))


def distinct_lookup(params: TensorLike, ids: Tensor) -> tuple[Tensor, Tensor]:
    """The rows of the distinct ids, and which of them each id has."""
    tables = _tables(params)
    distinct, places, counts, _ = _distinct(tables, ids, None)
    return embedding_lookup(tables, distinct, counts=counts), places


def _is_tensor(table: Any) -> bool:
    """Whether it is a tensor, or can be used as one without being converted: a variable can."""
    return isinstance(table, Tensor) or is_composite(table) or hasattr(table, "initializer")


def _combine_weighted_rows(
    rows: Any, places: Any, segment_ids: Tensor, weights: Tensor, combiner: str, scope: str
) -> Tensor:
    """The weighted combination of the rows of each segment."""
    if segment_ids.dtype.base_dtype is not INT32:
        segment_ids = cast(segment_ids, INT32)
    embeddings = gather(rows, places)
    original = embeddings.dtype.base_dtype
    if original in (FLOAT16, BFLOAT16):
        embeddings = cast(embeddings, FLOAT32)
    if weights.dtype.base_dtype is not embeddings.dtype.base_dtype:
        weights = cast(weights, embeddings.dtype.base_dtype)
    more = expand_dims(rank(embeddings) - 1, 0)
    sizes = shape(weights)
    column = concat([sizes, ones(more, sizes.dtype.base_dtype)], 0)
    known = weights.static_shape
    weights = reshape(weights, column)
    if embeddings.static_shape.rank is not None:
        weights.set_shape(known.concatenate(Shape((1,) * (embeddings.static_shape.rank - 1))))
    embeddings = embeddings * weights
    if combiner == "sum":
        found = segment_sum(embeddings, segment_ids, name=scope)
    else:
        total = segment_sum(embeddings, segment_ids)
        if combiner == "mean":
            divisor = segment_sum(weights, segment_ids)
        else:
            divisor = sqrt(segment_sum(power(weights, 2), segment_ids))
        found = div_no_nan(total, divisor, name=scope)
    return found if found.dtype.base_dtype is original else cast(found, original)


def _tiled_rows(rows: Tensor, ids: SparseTensor, weights: SparseTensor | None, scope: str) -> Tensor:
    """The rows of each line of ids side by side, in the columns that they are in."""
    if weights is not None:
        rows = rows * expand_dims(cast(weights.values, rows.dtype.base_dtype), 1)
    sizes = cast(ids.dense_shape, INT32)
    places = cast(ids.indices, INT32)
    whole = unsorted_segment_sum(rows, places[:, 0] * sizes[1] + places[:, 1], sizes[0] * sizes[1])
    return reshape(whole, stack([sizes[0], sizes[1] * shape(rows)[1]]), name=scope)


def safe_embedding_lookup_sparse(
    embedding_weights: TensorLike,
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    combiner: str = "mean",
    default_id: Tensor | int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Tensor | float | None = None,
    allow_fast_lookup: bool = False,
    prune: bool = True,
) -> Tensor:
    """As `embedding_lookup_sparse`, without ids below 0 and weights that are not positive; rows without ids are zero.

    With `default_id`, they are the row of that id instead. Sparse ids may have any rank. DeepRec's `prune=False` leaves
    ids and weights as they are: negative keys of embedding variables, for one, or to save the time.
    """
    if embedding_weights is None:
        raise InvalidArgumentError(f"Missing embedding_weights {embedding_weights}.")
    dtype = None if sparse_weights is None else sparse_weights.dtype.base_dtype
    tables = tables_to_look_up(embedding_weights, dtype)
    parts = [part for part in (*tables, sparse_ids, sparse_weights) if part is not None]
    with scope_of(name, "embedding_lookup", *parts) as scope:
        original_shape = sparse_ids.dense_shape
        known_rank = original_shape.static_shape.with_rank(1)[0]
        original_rank: Any = size(original_shape) if known_rank is None else known_rank
        leading = reduce_prod(block(original_shape, [0], [original_rank - 1]))
        ids = sparse_reshape(sparse_ids, [leading, gather(original_shape, original_rank - 1)])
        weights = sparse_weights
        if weights is not None:
            weights = SparseTensor(ids.indices, weights.values, ids.dense_shape)
        if prune:
            ids, weights = without_invalid_ids(ids, weights)
        if prune and combiner != "sum":
            ids, weights = without_invalid_weights(ids, weights)
        ids, is_empty = sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = sparse_fill_empty_rows(weights, 1.0)
        found = embedding_lookup_sparse(
            tables,
            ids,
            weights,
            combiner=combiner,
            partition_strategy=partition_strategy,
            name=None if default_id is None else scope,
            max_norm=max_norm,
            allow_fast_lookup=allow_fast_lookup,
        )
        if default_id is None:
            column = reshape(is_empty, [-1, 1])
            is_empty = tile(column, stack([1, shape(found)[1]]))
            found = where(is_empty, zeros_like(found), found, name=scope)
        leading = block(cast(original_shape, INT32), [0], [original_rank - 1])
        result = reshape(found, concat([leading, block(shape(found), [1], [-1])], 0))
        rest = found.static_shape
        before = UNKNOWN_SHAPE if known_rank is None else Shape((None,) * (known_rank - 1))
        result.set_shape(before.concatenate(UNKNOWN_SHAPE if rest.dims is None else Shape(rest.dims[1:])))
        return result


def tables_to_look_up(params: TensorLike, dtype: DType | None = None) -> list[Any]:
    """The shards of a table, as tensors of a type, if they are not variables that are looked up where they are."""
    return [table if _looks_itself_up(table, dtype) else convert(table, dtype) for table in _tables(params)]


def _looks_itself_up(table: Any, dtype: Any) -> bool:
    return own_lookup([table]) is not None or (_is_resource(table) and dtype in (None, table.dtype.base_dtype))


def without_invalid_ids(ids: SparseTensor, weights: SparseTensor | None) -> tuple[SparseTensor, SparseTensor | None]:
    """The sparse ids, and their weights, without ids below 0."""
    is_valid = greater_equal(ids.values, 0)
    if weights is None:
        return sparse_retain(ids, is_valid), None
    is_valid = logical_and(is_valid, ones_like(weights.values, dtype=BOOL))
    kept = sparse_retain(ids, is_valid)
    return kept, sparse_retain(weights, is_valid)


def without_invalid_weights(
    ids: SparseTensor, weights: SparseTensor | None
) -> tuple[SparseTensor, SparseTensor | None]:
    """The sparse ids, and their weights, without those whose weights are not positive."""
    if weights is None:
        return ids, None
    is_valid = greater(weights.values, 0)
    kept = sparse_retain(ids, is_valid)
    return kept, sparse_retain(weights, is_valid)


__all__ = ["embedding_lookup", "embedding_lookup_sparse", "safe_embedding_lookup_sparse"]
