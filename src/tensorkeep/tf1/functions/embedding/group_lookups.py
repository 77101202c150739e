"""Lookups in many tables at once, each with its own sparse ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.arrays.shapes import concat, expand_dims, ones_like, reshape, scope_of
from tensorkeep.tf1.functions.arrays.shapes import shape as shape_of
from tensorkeep.tf1.functions.arrays.slicing import gather, scatter_nd
from tensorkeep.tf1.functions.embedding.lookups import distinct_lookup, embedding_lookup
from tensorkeep.tf1.functions.numbers.elementwise import cast, div_no_nan
from tensorkeep.tf1.functions.numbers.segments import unsorted_segment_sum

COMBINERS: Final = ("sum", "mean")


def group_embedding_lookup_sparse(
    params: Sequence[Any],
    sp_ids: Sequence[Any],
    combiners: Sequence[str],
    sp_weights: Sequence[Any] | None = None,
    partition_strategy: str = "mod",
    is_sequence: bool = False,
    params_num_per_group: int | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """For each table and its sparse ids the sum or mean of the rows of each line of ids; zeros where there are none.

    With `is_sequence`, the rows are not combined: what each table gives is [lines, ids of the longest line, dim].
    """
    _check(params, sp_ids, combiners, sp_weights)
    weights = [None] * len(params) if sp_weights is None else list(sp_weights)
    with scope_of(name, "group_embedding_lookup", *map(_sparse, sp_ids)):
        return [
            _one(table, _sparse(ids), None if weight is None else _sparse(weight), combiner, is_sequence)
            for table, ids, weight, combiner in zip(params, sp_ids, weights, combiners, strict=True)
        ]


def group_embedding_lookup(
    params: Sequence[Any], ids: Sequence[Any], partition_strategy: str = "mod", name: str | None = None
) -> list[Tensor]:
    """For each table the rows of its ids."""
    if len(params) != len(ids):
        raise InvalidArgumentError(f"there are {len(params)} tables and {len(ids)} lists of ids")
    with scope_of(name, "group_embedding_lookup", *ids):
        return [embedding_lookup(table, own, partition_strategy) for table, own in zip(params, ids, strict=True)]


def _check(params: Any, sp_ids: Any, combiners: Any, sp_weights: Any) -> None:
    problems = []
    for what, given in (("sp_ids", sp_ids), ("combiners", combiners), ("sp_weights", sp_weights)):
        if given is not None and len(given) != len(params):
            problems.append(f"there are {len(params)} tables and {len(given)} {what}")
    problems += [f"combiner {word!r} is none of sum, mean" for word in combiners if word not in COMBINERS]
    for table in params:
        if hasattr(table, "_variable_list") and len(list(table)) > 1:
            problems.append(f'"{table.name}" is in {len(list(table))} parts, and a group takes tables in one')
    if problems:
        raise InvalidArgumentError("group_embedding_lookup_sparse: " + "; ".join(problems))


def _sparse(ids: Any) -> SparseTensor:
    if isinstance(ids, SparseTensor):
        return ids
    found: SparseTensor = ids.to_sparse()
    return found


def _one(table: Any, ids: SparseTensor, weights: SparseTensor | None, combiner: str, is_sequence: bool) -> Tensor:
    rows, places = distinct_lookup(table, ids.values)
    rows = gather(rows, places)
    if weights is not None:
        rows = rows * expand_dims(cast(weights.values, rows.dtype.base_dtype), 1)
    if is_sequence:
        size = concat([ids.dense_shape, cast(shape_of(rows)[1:], ids.dense_shape.dtype)], 0)
        return scatter_nd(ids.indices, rows, size)
    lines, count = ids.indices[:, 0], cast(ids.dense_shape[0], INT32)
    total = unsorted_segment_sum(rows, lines, count)
    if combiner == "sum":
        return total
    shares = ones_like(rows[:, 0]) if weights is None else cast(weights.values, rows.dtype.base_dtype)
    divisor = unsorted_segment_sum(reshape(convert(shares), [-1, 1]), lines, count)
    return div_no_nan(total, divisor)
