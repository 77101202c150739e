"""DeepRec's other lookups by sparse ids: over several axes, with rows that start from another table, and fused ones.

The fused ones compute what the others do, by the same operations: there is nothing to fuse here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tensorkeep.dtypes import BFLOAT16, FLOAT16, FLOAT32, INT32, INT64
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike, emit
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.ops.arrays.joining import dynamic_stitch
from tensorkeep.tf1.functions.arrays.shapes import (
    concat,
    dynamic_partition,
    expand_dims,
    ones_like,
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
from tensorkeep.tf1.functions.arrays.slicing import gather, scatter_nd
from tensorkeep.tf1.functions.arrays.slicing import slice as block
from tensorkeep.tf1.functions.embedding.lookups import (
    embedding_lookup,
    embedding_lookup_sparse,
    safe_embedding_lookup_sparse,
    tables_to_look_up,
    without_invalid_ids,
    without_invalid_weights,
)
from tensorkeep.tf1.functions.numbers.elementwise import cast, div_no_nan, sqrt
from tensorkeep.tf1.functions.numbers.elementwise import pow as power
from tensorkeep.tf1.functions.numbers.elementwise import range as span
from tensorkeep.tf1.functions.numbers.reductions import reduce_prod
from tensorkeep.tf1.functions.numbers.segments import (
    segment_max,
    segment_mean,
    segment_min,
    segment_sum,
    unsorted_segment_sum,
)
from tensorkeep.tf1.functions.sparse.tensors import sparse_fill_empty_rows, sparse_reshape

COMBINERS: Final = ("mean", "sqrtn", "sum", "max", "min", "tile")


# ------------------------------------------------------------------------------------------------- Several axes


def embedding_lookup_sparse_multi_dim(
    params: TensorLike,
    sp_ids: SparseTensor,
    sp_weights: SparseTensor | None,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiners: Sequence[str] | None = None,
    max_norm: Tensor | float | None = None,
    weight_axis: int | None = -1,
) -> Tensor:
    """The rows of sparse ids of any rank, combined along each axis but the first: by the last combiner along the last.

    "tile" puts what is along an axis side by side, zeros where there is nothing. Weights multiply rows, and divide a
    mean along the axis `weight_axis`.
    """
    chosen = _combiners(combiners)
    ids, weights = _checked_ids(sp_ids, sp_weights)
    rank = _rank(ids)
    if rank != len(chosen) + 1:
        raise InvalidArgumentError(
            f"sparse ids of rank {rank} are combined along {rank - 1} axes, and {len(chosen)} combiners are given: "
            f"{list(chosen)}"
        )
    axis = -1 if weight_axis is None else weight_axis
    axis = axis + rank if axis < 0 else axis
    tables = tables_to_look_up(params)
    with scope_of(name, "embedding_lookup_sparse", *tables, ids):
        distinct, places = unique(ids.values)
        rows = gather(embedding_lookup(tables, distinct, partition_strategy, max_norm=max_norm), places)
        if rows.dtype.base_dtype in (FLOAT16, BFLOAT16):
            rows = cast(rows, FLOAT32)
        return _along_axes(rows, ids, None if weights is None else weights.values, chosen, axis)


def safe_embedding_lookup_multi_dim(
    embedding_weights: TensorLike,
    sparse_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    combiners: Sequence[str] = ("mean",),
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Tensor | float | None = None,
    weight_axis: int | None = 1,
    prune: bool = True,
) -> Tensor:
    """As `embedding_lookup_sparse_multi_dim`, without ids below 0.

    Unless a combiner is "sum", ids whose weights are not positive are left out, too.
    Axes for which there is no combiner stay as they are; rows without ids are zero.
    """
    own = _combiners(combiners)
    ids, weights = _checked_ids(sparse_ids, sparse_weights)
    chosen = ("tile",) * (_rank(ids) - 1 - len(own)) + own
    dtype = None if weights is None else weights.dtype.base_dtype
    tables = tables_to_look_up(embedding_weights, dtype)
    with scope_of(name, "embedding_lookup", *tables, ids):
        sizes = cast(ids.dense_shape, INT32)
        if prune:
            ids, weights = without_invalid_ids(ids, weights)
            if "sum" not in chosen:
                ids, weights = without_invalid_weights(ids, weights)
        found = embedding_lookup_sparse_multi_dim(
            tables, ids, weights, partition_strategy, None, chosen, max_norm, weight_axis
        )
        kept: Tensor = reshape(found, concat([sizes[: _rank(ids) - len(own)], [-1]], 0))
        return kept


def _combiners(given: Any) -> tuple[str, ...]:
    chosen = ("mean",) if given is None else tuple(given) if isinstance(given, list | tuple) else (given,)
    unknown = [item for item in chosen if item not in COMBINERS]
    if unknown:
        raise InvalidArgumentError(f"combiner must be one of {', '.join(map(repr, COMBINERS))}; got {unknown[0]!r}")
    return chosen


def _checked_ids(ids: Any, weights: Any) -> tuple[SparseTensor, SparseTensor | None]:
    if not isinstance(ids, SparseTensor):
        raise WrongTypeError(f"sp_ids must be SparseTensor, got {type(ids)}")
    if weights is not None and not isinstance(weights, SparseTensor):
        raise WrongTypeError(f"sp_weights must be either None or SparseTensor, got {type(weights)}")
    return ids, weights


def _rank(ids: SparseTensor) -> int:
    rank = ids.dense_shape.static_shape.with_rank(1)[0]
    if rank is None:
        raise InvalidArgumentError("sparse ids are looked up over several axes: their rank has to be known")
    return rank


def _along_axes(
    rows: Tensor, ids: SparseTensor, given: Tensor | None, combiners: Sequence[str], weight_axis: int
) -> Tensor:
    """Rows combined along the last axis, then along the one before it, and so on; one for each item of the first."""
    dtype = rows.dtype.base_dtype
    weights = ones_like(ids.values, dtype=dtype) if given is None else cast(given, dtype)
    weights = expand_dims(weights, 1)
    rows = rows * weights
    indices, sizes = ids.indices, ids.dense_shape
    for axis in range(len(combiners), 0, -1):
        _, places = unique(_flat(indices, sizes, axis), out_idx=INT32)
        is_weighted = given is not None and axis == weight_axis
        offsets = cast(indices[:, axis], INT32)
        rows = _combine_rows(combiners[axis - 1], rows, places, weights if is_weighted else None, offsets, sizes[axis])
        weights = segment_mean(weights, places)
        # Indices are in order, so each group's are those of any of its items, cut off at this axis.
        indices = segment_max(indices, places)
    whole = stack([cast(sizes[0], INT32), shape(rows)[1]])
    found: Tensor = scatter_nd(cast(indices[:, :1], INT32), rows, whole)
    return found


def _flat(indices: Tensor, sizes: Tensor, axes: int) -> Tensor:
    """A number for each item by its indices along the first axes, in their order."""
    number = indices[:, 0]
    for axis in range(1, axes):
        number = number * sizes[axis] + indices[:, axis]
    return number


def _combine_rows(
    combiner: str, rows: Tensor, places: Tensor, weights: Tensor | None, offsets: Tensor, width: Tensor
) -> Tensor:
    """The rows of each group as one. `offsets` is where each is along an axis of that width."""
    plain: dict[str, Callable[..., Tensor]] = {"sum": segment_sum, "max": segment_max, "min": segment_min}
    if combiner in plain:
        return plain[combiner](rows, places)
    if combiner == "mean":
        if weights is None:
            return segment_mean(rows, places)
        # Where weights cancel out DeepRec divides by 0; here the row is 0, as everywhere in TensorFlow 2.
        return div_no_nan(segment_sum(rows, places), segment_sum(weights, places))
    if combiner == "sqrtn":
        squares = ones_like(expand_dims(offsets, 1), dtype=rows.dtype.base_dtype)
        squares = squares if weights is None else power(weights, 2)
        return div_no_nan(segment_sum(rows, places), sqrt(segment_sum(squares, places)))
    columns = cast(width, INT32)
    count = shape(segment_max(offsets, places))[0]
    side_by_side = unsorted_segment_sum(rows, places * columns + offsets, count * columns)
    tiled: Tensor = reshape(side_by_side, stack([count, columns * shape(rows)[1]]))
    return tiled


# ------------------------------------------------------------------------------------------------- Two tables


def adaptive_embedding_lookup_sparse(
    hash_params: TensorLike,
    ev_params: TensorLike,
    sp_ids: SparseTensor,
    hash_ev_ids: TensorLike,
    sp_weights: SparseTensor | None,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: Tensor | float | None = None,
    bucket_size: int | None = None,
    adaptive_mask_tensor: TensorLike | None = None,
    blocknums: TensorLike | None = None,
) -> Tensor:
    """A row for each id: of a plain table where the mask is 0, of an embedding variable where it is 1.

    Keys that the embedding variable does not have yet begin as the rows of the plain table that `hash_ev_ids` names,
    one for each id whose mask is 1. As in DeepRec there are no weights, and ids are not combined: `combiner` is
    checked, and changes nothing.
    """
    if (combiner or "mean") not in ("mean", "sqrtn", "sum"):
        raise InvalidArgumentError(f"combiner must be one of 'mean', 'sqrtn' or 'sum', got {combiner!r}")
    if sp_weights is not None:
        raise InvalidArgumentError("adaptive_embedding_lookup_sparse takes no weights: sp_weights must be None")
    if adaptive_mask_tensor is None:
        raise InvalidArgumentError("adaptive_mask_tensor must say of each id which table it is in: 0 or 1")
    ids, _ = _checked_ids(sp_ids, None)
    plain, keyed = tables_to_look_up(hash_params), tables_to_look_up(ev_params)
    with scope_of(name, "embedding_lookup_sparse", *keyed, ids):
        flat = reshape(ids.values, [-1])
        mask = cast(convert(adaptive_mask_tensor), INT32)
        places = dynamic_partition(span(size(flat, out_type=INT32)), mask, 2)
        own, others = dynamic_partition(flat, mask, 2)
        distinct, at = unique(own)
        hashed = gather(embedding_lookup(plain, distinct, partition_strategy, max_norm=max_norm), at)
        first = embedding_lookup(plain, hash_ev_ids, partition_strategy, max_norm=max_norm)
        rows = embedding_lookup(keyed, others, partition_strategy, max_norm=max_norm, ev_init_value=first)
        return emit(dynamic_stitch, places, [hashed, rows])


def safe_adaptive_embedding_lookup_sparse(
    hash_embedding_weights: TensorLike,
    ev_embedding_weights: TensorLike,
    sparse_ids: SparseTensor,
    hash_ev_ids: TensorLike,
    sparse_weights: SparseTensor | None = None,
    combiner: str | None = None,
    default_id: Tensor | int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: Tensor | float | None = None,
    bucket_size: int | None = None,
    adaptive_mask_tensor: TensorLike | None = None,
    blocknums: TensorLike | None = None,
) -> Tensor:
    """The same for sparse ids of any rank that have at most one id in each line; lines without one are zero.

    With `default_id` they are the row of that id instead. The mask has a number for each line.
    """
    ids, _ = _checked_ids(sparse_ids, sparse_weights)
    plain, keyed = tables_to_look_up(hash_embedding_weights), tables_to_look_up(ev_embedding_weights)
    with scope_of(name, "embedding_lookup", *plain, ids):
        original, rank = cast(ids.dense_shape, INT32), _rank(ids)
        lines = reduce_prod(block(ids.dense_shape, [0], [rank - 1]))
        ids = sparse_reshape(ids, [lines, gather(ids.dense_shape, rank - 1)])
        ids, _ = without_invalid_ids(ids, None)
        ids, is_empty = sparse_fill_empty_rows(ids, cast(default_id or 0, INT64))
        found = adaptive_embedding_lookup_sparse(
            plain, keyed, ids, hash_ev_ids, sparse_weights, partition_strategy, None, combiner, max_norm,
            bucket_size, adaptive_mask_tensor, blocknums,
        )  # fmt: skip
        if default_id is None:
            wide = tile(reshape(is_empty, [-1, 1]), stack([1, shape(found)[1]]))
            found = where(wide, zeros_like(found), found)
        result: Tensor = reshape(found, concat([original[: rank - 1], shape(found)[1:]], 0))
        return result


# ------------------------------------------------------------------------------------------------- Fused


def fused_embedding_lookup_sparse(
    params: TensorLike,
    sp_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    partition_strategy: str | None = None,
    name: str | None = None,
    combiner: str | None = None,
    max_norm: Tensor | float | None = None,
    default_id: int | None = None,
    prune_invalid_ids: bool = False,
    blocknums: TensorLike | None = None,
) -> Tensor:
    """As `safe_embedding_lookup_sparse`, for sparse ids of rank 2 without weights; ids below 0 are left out on request.

    `partition_strategy` is "div" unless it is said.
    """
    return fused_embedding_lookup_sparse_v2(
        params,
        sp_ids,
        sparse_weights,
        partition_strategy,
        name,
        combiner,
        max_norm,
        default_id,
        prune_invalid_ids,
        blocknums=blocknums,
    )


def fused_embedding_lookup_sparse_v2(
    params: TensorLike,
    sp_ids: SparseTensor,
    sparse_weights: SparseTensor | None = None,
    partition_strategy: str | None = None,
    name: str | None = None,
    combiner: str | None = None,
    max_norm: Tensor | float | None = None,
    default_id: int | None = None,
    prune: bool = False,
    fill_empty_row: bool = True,
    blocknums: TensorLike | None = None,
) -> Tensor:
    """`fused_embedding_lookup_sparse`, in which every row must have an id unless `fill_empty_row` is set."""
    ids, _ = _checked_ids(sp_ids, None)
    for what, value in (("sparse_weights", sparse_weights), ("blocknums", blocknums)):
        if value is not None:
            raise InvalidArgumentError(f"fused lookups take no {what}; safe_embedding_lookup_sparse does")
    if default_id is not None and type(default_id) is not int:
        raise InvalidArgumentError(f"default_id must be a integer!, got {default_id!r}")
    strategy = "mod" if partition_strategy == "mod_ev" else partition_strategy or "div"
    with scope_of(name, "fused_embedding_lookup_sparse", *tables_to_look_up(params), ids):
        if fill_empty_row:
            return safe_embedding_lookup_sparse(
                params, ids, None, combiner or "mean", default_id, None, strategy, max_norm, prune=prune
            )
        if prune:
            ids, _ = without_invalid_ids(ids, None)
        return embedding_lookup_sparse(params, ids, None, strategy, None, combiner or "mean", max_norm)
