"""Sparse tensors in batches: a queue holds numbers, under which a map keeps the tensors until a batch is taken.

As `_store_sparse_tensors` does in TensorFlow's python/training/input.py.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from tensorkeep.dtypes import INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike, emit, emit_tensors
from tensorkeep.graph.building import colocate_with
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.ops.sparse.maps import (
    add_many_sparse_to_tensors_map,
    add_sparse_to_tensors_map,
    take_many_sparse_from_tensors_map,
)
from tensorkeep.tf1.functions.arrays.shapes import expand_dims, ones, shape, squeeze
from tensorkeep.tf1.functions.arrays.slicing import gather
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import smart_cond
from tensorkeep.tf1.functions.control.grouping import with_dependencies
from tensorkeep.tf1.functions.sparse.tensors import sparse_retain

Example: TypeAlias = "TensorLike | SparseTensor"
Dequeued: TypeAlias = Tensor | SparseTensor | Sequence[Tensor | SparseTensor]
"""What a queue gives: one tensor, or a list of several."""

_ADDING: Final = ("AddSparseToTensorsMap", "AddManySparseToTensorsMap")


@dataclass(frozen=True)
class Stored:
    """A sparse tensor of which a queue holds the number."""

    map: Operation
    """The operation that first puts tensors into the map."""
    rank: int | None
    """That of one example."""

    def goes_with(self, other: Stored | None) -> bool:
        return other is not None and (None in (self.rank, other.rank) or self.rank == other.rank)


def stored_sets(
    sets: Sequence[Sequence[Tensor | SparseTensor]], enqueue_many: bool, kept: Tensor
) -> tuple[list[list[Tensor]], list[Stored | None]]:
    """What goes into the queue for the tensors of each set, and which of them stand for sparse ones.

    Those at the same place share a map. Tensors that are not `kept` are not put there.
    """
    first, known = _store_tensors(sets[0], enqueue_many, kept, [None] * len(sets[0]))
    found = [first]
    for tensors in sets[1:]:
        queued, other = _store_tensors(tensors, enqueue_many, kept, known)
        if not all(a.goes_with(b) if a is not None else b is None for a, b in zip(known, other, strict=True)):
            raise InvalidArgumentError(f"Inconsistent SparseTensors list: {sets[0]} vs. {tensors}")
        found.append(queued)
    return found, known


def _store_tensors(
    tensors: Sequence[Tensor | SparseTensor], enqueue_many: bool, kept: Tensor, known: Sequence[Stored | None]
) -> tuple[list[Tensor], list[Stored | None]]:
    pairs = list(zip(tensors, known, strict=True))
    numbers = [
        _number(item, enqueue_many, kept, shared) if isinstance(item, SparseTensor) else item for item, shared in pairs
    ]
    found: list[Stored | None] = []
    for (item, shared), number in zip(pairs, numbers, strict=True):
        if not isinstance(item, SparseTensor):
            found.append(None)
            continue
        (rank,) = item.dense_shape.static_shape.with_rank(1)
        found.append(
            Stored(_adding(number) if shared is None else shared.map, rank - 1 if enqueue_many and rank else rank)
        )
    queued = [
        expand_dims(number, [-1]) if about is not None else number for number, about in zip(numbers, found, strict=True)
    ]
    return queued, found


def _number(tensor: SparseTensor, enqueue_many: bool, kept: Tensor, shared: Stored | None) -> Tensor:
    """The number under which a tensor is put into the map, or the numbers of those that it holds."""
    name = "" if shared is None else shared.map.name
    if kept.static_shape.rank == 1:
        rows = tensor.indices[:, 0]
        return _add_to_map(sparse_retain(tensor, gather(kept, rows)), True, name)
    add: Callable[[], Tensor] = partial(_add_to_map, tensor, enqueue_many, name)
    if not enqueue_many:
        found: Tensor = smart_cond(kept, add, lambda: constant(-1, INT64))
        return found
    numbers: Tensor = smart_cond(kept, add, lambda: -1 * ones(shape(tensor)[0:1], INT64))
    numbers.set_shape([None])
    return numbers


def _add_to_map(tensor: SparseTensor, many: bool, shared_name: str) -> Tensor:
    add = add_many_sparse_to_tensors_map if many else add_sparse_to_tensors_map
    return emit(add, tensor.indices, tensor.values, tensor.dense_shape, shared_name=shared_name.encode())


def _adding(number: Tensor) -> Operation:
    """The operation that puts a tensor into the map, perhaps in a branch."""
    return next((tensor.op for tensor in number.op.inputs if tensor.op.type in _ADDING), number.op)


def with_sparse_tensors(taken: Tensor | Sequence[Tensor], stored: Sequence[Stored | None]) -> Dequeued:
    """What a queue gave, with sparse tensors in the place of their numbers. None is to be had without the others."""
    if not any(stored):
        return taken
    pairs = zip([taken] if isinstance(taken, Tensor) else taken, stored, strict=True)
    found: list[Tensor | SparseTensor] = [
        item if about is None else _take_from_map(squeeze(item, [1]), about) for item, about in pairs
    ]
    values = [item.values if isinstance(item, SparseTensor) else item for item in found]
    behind = partial(with_dependencies, values)
    together = [
        SparseTensor(behind(item.indices), behind(item.values), behind(item.dense_shape))
        if isinstance(item, SparseTensor)
        else behind(item)
        for item in found
    ]
    return found[0] if isinstance(taken, Tensor) else together


def _take_from_map(numbers: Tensor, stored: Stored) -> SparseTensor:
    adding = stored.map
    with colocate_with(adding):
        indices, values, dense_shape = emit_tensors(
            take_many_sparse_from_tensors_map,
            numbers,
            dtype=adding.attr("T"),
            container=adding.attr("container"),
            shared_name=adding.attr("shared_name") or adding.name.encode(),
        )
    rank = None if stored.rank is None else stored.rank + 1
    indices.set_shape([None, rank])
    dense_shape.set_shape([rank])
    return SparseTensor(indices, values, dense_shape)
