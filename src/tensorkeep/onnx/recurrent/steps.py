"""Which steps of a sequence count: those below a length, or those of a mask.

A variable or result of a round that stays as it is where a step does not count is a Where of the loop's round:

    Where(mask[t], new, old)            Where(t >= lengths, old, new)

ONNX's operators know lengths. Steps that a mask leaves out in the middle change nothing, so that the steps which count
are moved to the front, and the results back to where they came from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import onnx_ir as ir

from tensorkeep.dtypes import BOOL, INT32, INT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.recurrent.gates import Round
from tensorkeep.onnx.terms import Term

_SAME_CONDITION = ("Identity", "Unsqueeze", "Expand", "Tile", "Squeeze", "Cast", "Reshape")


@dataclass(frozen=True)
class Steps:
    """The steps that count: those below `source`, which are lengths, or those of `source`, which is a mask."""

    source: ir.Value
    is_mask: bool


@dataclass(frozen=True, eq=False)
class Masked:
    """A value that is `new` where a step counts, and `old` where it does not. Without steps, all count."""

    steps: Steps | None
    new: ir.Value
    old: ir.Value | None = None


def unmasked_value(step: Round, value: ir.Value, counters: set[ir.Value]) -> Masked:
    """A value of a round, and what it is where a step does not count."""
    value = step.plain(value)
    node = step.node(value, "Where")
    if node is None or any(given is None for given in node.inputs):
        return Masked(None, value)
    condition, first, second = (step.plain(given) for given in node.inputs if given is not None)
    found = _condition(step, condition, counters)
    if found is None:
        return Masked(None, value)
    steps, counts = found
    return Masked(steps, first, second) if counts else Masked(steps, second, first)


def _condition(step: Round, value: ir.Value, counters: set[ir.Value]) -> tuple[Steps, bool] | None:
    """The steps that a condition is about, and whether it holds where they count."""
    counts = True
    while (node := step.node(value, *_SAME_CONDITION, "Not")) is not None and node.inputs[0] is not None:
        counts ^= node.op_type == "Not"
        value = node.inputs[0]
    node = step.node(value, "Gather", "Less", "LessOrEqual", "Greater", "GreaterOrEqual")
    if node is None or node.inputs[0] is None or node.inputs[1] is None:
        return None
    first, second = step.plain(node.inputs[0]), step.plain(node.inputs[1])
    if node.op_type == "Gather":
        is_row = not step.is_inside(first) and second in counters
        return (Steps(first, True), counts) if is_row and _is_bool(first) else None
    if node.op_type in ("Less", "GreaterOrEqual"):  # t < lengths; t >= lengths
        is_below = node.op_type == "Less"
    else:  # lengths > t; lengths <= t
        first, second = second, first
        is_below = node.op_type == "Greater"
    if first not in counters or step.is_inside(second):
        return None
    return Steps(second, False), counts == is_below


def _is_bool(value: ir.Value) -> bool:
    return value.type is not None and value.type.dtype == ir.DataType.BOOL


class Counted:
    """The steps that count, as values of the file."""

    def __init__(self, to: OnnxGraph, steps: Term, is_mask: bool, rows: Term) -> None:
        """`rows` is a sequence: its first axis is as long as all are."""
        self.to = to
        self.is_mask = is_mask
        self._steps = steps
        self._rows = rows
        self._numbers: Term | None = None
        self._order: Term | None = None
        if is_mask:
            rank = to.known_rank(steps)
            mask = to.squeeze(steps, list(range(2, rank))) if rank > 2 else steps
            self._numbers = to.cast(mask, INT64)
            total = to.reduce("ReduceSum", self._numbers, [0])
            self.lengths = to.cast(total, INT32)
        else:
            # What is longer than the sequence is as long as it, to TensorFlow, and what is below zero is none.
            longest = to.node("Min", to.cast(steps, INT32), to.cast(self._count(), INT32))
            self.lengths = to.node("Max", longest, to.constant(np.int32(0)))
        self.lengths.dims = (rows.size(1),)

    def _count(self) -> Term:
        """How many steps there are, a vector of one number."""
        return self.to.shape(self._rows, 0, 1)

    def _positions(self) -> Term:
        """The number of each step, as a column."""
        to, known = self.to, self._rows.size(0)
        if known is not None:
            return to.constant(np.arange(known, dtype=np.int64)[:, None])
        count = to.squeeze(self._count(), [0])
        numbers = to.node("Range", to.constant(0), count, to.constant(1), dims=(None,))
        return to.unsqueeze(numbers, [1])

    def to_front(self, rows: Term) -> Term:
        """A sequence whose steps that count come first, in their order."""
        if not self.is_mask:
            return rows
        to = self.to
        if self._order is None:
            assert self._numbers is not None
            ahead = to.node("Mul", self._numbers, self._count(), dims=self._numbers.dims)
            key = to.node("Sub", ahead, self._positions(), dims=self._numbers.dims)
            dims = self._numbers.dims
            _, order = to.node_with_outputs(
                "TopK", [key, self._count()], 2, [INT64, INT64], [dims, dims], attrs={"axis": 0}
            )
            self._order = order
        return self._picked_rows(rows, self._order)

    def held(self, rows: Term, start: Term | None) -> Term:
        """A result for all steps: where one does not count, that of the last one before that did, or the start.

        Without a start, it is zero.
        """
        to = self.to
        if self.is_mask:
            assert self._numbers is not None
            index = to.node("CumSum", self._numbers, to.constant(0), dims=self._numbers.dims)
        else:
            one_more = to.node("Add", self._positions(), to.constant(1), dims=(self._rows.size(0), 1))
            index = to.node("Min", one_more, to.cast(self.lengths, INT64), dims=(None, None))
        before = to.unsqueeze(self._zeros_like_step(rows) if start is None else start, [0])
        dims = None if rows.dims is None else (None, *rows.dims[1:])
        whole = to.node("Concat", before, rows, dims=dims, axis=0)
        return self._picked_rows(whole, index, like=rows)

    def zeroed(self, rows: Term, *, is_layer: bool) -> Term:
        """A result for all steps: zero where one does not count, as it is already in what a layer gives of lengths."""
        to = self.to
        if self.is_mask:
            mask = to.unsqueeze(self._steps, [2]) if to.known_rank(self._steps) == 2 else self._steps
            rows = self.held(rows, None)
        elif is_layer:
            return rows
        else:
            counts = to.node("Less", self._positions(), to.cast(self._steps, INT64), dtype=BOOL, dims=(None, None))
            mask = to.unsqueeze(counts, [2])
        return to.node("Where", mask, rows, to.like(rows, 0), dtype=rows.dtype, dims=rows.dims)

    def _zeros_like_step(self, rows: Term) -> Term:
        to = self.to
        shape = to.shape(rows, 1, 3)
        zero = to.like(rows, 0)
        return to.node("Expand", zero, shape, dims=None if rows.dims is None else rows.dims[1:])

    def _picked_rows(self, rows: Term, index: Term, like: Term | None = None) -> Term:
        """The rows that an index of each step and sequence names."""
        to = self.to
        like = rows if like is None else like
        wide = to.node("Expand", to.unsqueeze(index, [2]), to.shape(like), dims=like.dims)
        return to.node("GatherElements", rows, wide, dims=like.dims, axis=0)
