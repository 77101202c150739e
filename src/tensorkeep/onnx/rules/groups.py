"""Elements that belong together by a number, in the order of those numbers."""

from __future__ import annotations

from typing import NamedTuple

from tensorkeep.dtypes import BOOL, INT64
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.arrays.scattering import REDUCTIONS
from tensorkeep.onnx.rules.arrays.selecting import largest
from tensorkeep.onnx.rules.numbers.segments import by_segment
from tensorkeep.onnx.size_vectors import END
from tensorkeep.onnx.terms import Term


class Groups(NamedTuple):
    """Elements with equal numbers are a group; groups are in the order of their numbers."""

    order: Term
    """The places of the elements, group by group."""
    ids: Term
    """Of each element in that order, the number of its group."""
    firsts: Term
    """Of each group, the place of its first element."""
    numbers: Term
    """Of each group, the number that its elements have."""

    def reduced(self, to: OnnxGraph, values: Term, reduction: str, nothing: object) -> Term:
        """What the elements of each group give together."""
        ordered = to.node("Gather", values, self.order, dims=(None,), axis=0)
        return by_segment(to, ordered, self.ids, to.shape(self.firsts), reduction, nothing)


def groups_of(to: OnnxGraph, numbers: Term) -> Groups:
    """The groups of elements with equal numbers, a vector of int64."""
    to.require_opset(REDUCTIONS["add"], "to find elements that belong together")
    ordered, order = largest(to, numbers, to.shape(numbers), is_largest=False)
    after, before = to.slice(ordered, [1], [END], [0]), to.slice(ordered, [0], [-1], [0])
    changes = to.node("Not", to.node("Equal", after, before, dtype=BOOL))
    start = to.slice(ordered, [0], [1], [0])
    is_first = to.concat([to.node("Equal", start, start, dtype=BOOL), changes], 0)
    ids = to.node("Sub", to.node("CumSum", to.cast(is_first, INT64), to.constant(0)), to.constant(1))
    where = to.squeeze(to.node("NonZero", is_first, dtype=INT64, dims=(1, None)), [0])
    ids.dims = order.dims = (None,)
    firsts = to.node("Gather", order, where, dims=(None,), axis=0)
    return Groups(order, ids, firsts, to.node("Gather", ordered, where, dims=(None,), axis=0))
