"""Rows of many tables side by side, as models with embedded columns begin: one call for all of them.

    ConcatV2([x, Reshape(GatherV2(table, indices)), …], 1)        columns of a matrix, others among them
    Pack([GatherV2(table, indices), …], axis=1)                   rows of a matrix for each

Indices may be Keras' `SelectV2(i < 0, i + rows, i)`, which counts from the end of the table.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.native.lookups import Column, functions, joined_rows
from tensorkeep.runtime.fusions.finishing import nothing_changes
from tensorkeep.runtime.fusions.flattening import Flattening
from tensorkeep.runtime.plans.blocks import Block
from tensorkeep.runtime.plans.makers import Makers
from tensorkeep.runtime.plans.names import Names

_FEWEST: Final = 3  # lookups; of fewer, NumPy's calls are not many


@dataclass(frozen=True, eq=False)
class _Lookup:
    """A column: what it takes of the plan, the operations that it stands for, and how many rows the table must have."""

    inputs: tuple[Tensor, ...]  # table and indices, or a matrix
    ops: tuple[Operation, ...] = ()
    rows: int | None = None


@dataclass(frozen=True, eq=False)
class Joining:
    """Operations in their order, the one that joins last; and the columns."""

    ops: tuple[Operation, ...]
    columns: tuple[_Lookup, ...]
    is_stack: bool

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return tuple(tensor for column in self.columns for tensor in column.inputs)

    def applied(self) -> Callable[..., Any]:
        """What computes it of the inputs; None if the operations have to."""
        plan = [(len(column.inputs) == 2, column.rows) for column in self.columns]
        count, is_stack = len(plan), self.is_stack

        def joined(*values: Any) -> Any:
            at = iter(values)
            columns = [
                Column(next(at), next(at), rows is not None) if is_lookup else Column(next(at))
                for is_lookup, rows in plan
            ]
            for (_, rows), column in zip(plan, columns, strict=True):
                if type(column.table) is not np.ndarray or (rows is not None and len(column.table) != rows):
                    return None
            if is_stack and len({column.table.shape[-1:] for column in columns}) > 1:
                return None
            found = joined_rows(columns)
            return (
                found.reshape(len(found), count, found.shape[1] // count) if is_stack and found is not None else found
            )

        return joined


def find_joinings(block: Block, names: Names, flattenings: dict[Operation, Flattening]) -> list[tuple[Joining, int]]:
    """The joined lookups of a block itself, each with the number of the item that ends it; none without the library."""
    if functions() is None:
        return []
    makers = Makers(block, names)
    roots = [(op, op.inputs[:-1], False) for op in makers.all("ConcatV2") if _joins_columns(op)]
    roots += [(op, op.inputs, True) for op in makers.all("Pack") if op.attr("axis") == 1]
    found = (_joining(op, inputs, is_stack, makers, names, flattenings) for op, inputs, is_stack in roots)
    joinings = [(each, makers.places[each.ops[-1]]) for each in found if each is not None]
    return [
        (each, at) for each, at in joinings if nothing_changes(block, min(makers.places[op] for op in each.ops), at)
    ]


def _joins_columns(op: Operation) -> bool:
    axis = constant_value(op.inputs[-1])
    return axis is not None and axis.ndim == 0 and axis.item() in (1, -1) and op.outputs[0].static_shape.rank == 2


def _joining(
    root: Operation,
    inputs: list[Tensor],
    is_stack: bool,
    makers: Makers,
    names: Names,
    flattenings: dict[Operation, Flattening],
) -> Joining | None:
    dtype = root.outputs[0].dtype
    if dtype.is_object or any(tensor.static_shape.rank != 2 or tensor.dtype is not dtype for tensor in inputs):
        return None
    columns = [_lookup(tensor, makers, flattenings) or _Lookup((tensor,)) for tensor in inputs]
    if sum(bool(column.ops) for column in columns) < _FEWEST:
        return None
    if any(names.values[tensor] in names.deferred for column in columns for tensor in column.inputs):
        return None
    ops = sorted((op for column in columns for op in column.ops), key=makers.places.__getitem__)
    return Joining((*ops, root), tuple(columns), is_stack)


def _lookup(tensor: Tensor, makers: Makers, flattenings: dict[Operation, Flattening]) -> _Lookup | None:
    """The lookup that a matrix is, if it is used nowhere else."""
    ops: tuple[Operation, ...] = ()
    maker = makers.sole_maker(tensor)
    if maker in flattenings:
        sizes = flattenings[maker].sizes
        if len(sizes) != 2 or sizes[0][0] != 0 or sizes[1][0] is not None:
            return None
        ops = flattenings[maker].ops
        maker = makers.of(maker.inputs[0], "GatherV2")
        if maker is None or not _is_seen_by(maker, ops, makers):
            return None
    if maker is None or maker.type != "GatherV2" or maker.attr("batch_dims"):
        return None
    table, indices, axis = maker.inputs
    at = constant_value(axis)
    if at is None or at.ndim or at.item() or table.dtype.is_ref or indices.dtype.is_ref:
        return None
    wrapping = _wrapping(indices, makers)
    if wrapping is None:
        return _Lookup((table, indices), (maker, *ops))
    start, rows, before = wrapping
    return _Lookup((table, start), (*before, maker, *ops), rows)


def _is_seen_by(maker: Operation, ops: tuple[Operation, ...], makers: Makers) -> bool:
    """Whether nothing but these operations uses what an operation makes."""
    uses = sum(tensor is maker.outputs[0] for op in ops for tensor in op.inputs)
    return makers.uses(maker.outputs[0]) == uses


def _wrapping(indices: Tensor, makers: Makers) -> tuple[Tensor, int, tuple[Operation, ...]] | None:
    """Of `SelectV2(i < 0, i + rows, i)`: i, rows, and the operations."""
    choice = makers.sole(indices, "SelectV2")
    if choice is None:
        return None
    is_below, moved, start = choice.inputs
    less, add = makers.sole(is_below, "Less"), makers.sole(moved, "AddV2")
    if less is None or add is None or less.inputs[0] is not start or add.inputs[0] is not start:
        return None
    zero, rows = constant_value(less.inputs[1]), constant_value(add.inputs[1])
    if zero is None or rows is None or zero.size != 1 or rows.size != 1 or zero.item() or zero.ndim or rows.ndim:
        return None
    return start, int(rows.item()), (less, add, choice)
