"""Sums, along the last axis, of what a group of element-wise operations makes: the group's result is never stored.

Sum(gradient * chances, -1)        as the gradient of softmax has it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tensorkeep.dtypes import FLOAT32
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.runtime.fusions.finishing import nothing_changes
from tensorkeep.runtime.fusions.fusing import Group
from tensorkeep.runtime.plans.blocks import Block
from tensorkeep.runtime.plans.makers import Makers
from tensorkeep.runtime.plans.names import Names


@dataclass(frozen=True, eq=False)
class RowSum:
    """A group, and what sums its result."""

    group: Group
    sum: Operation

    @property
    def keeps_axis(self) -> bool:
        return bool(self.sum.attr("keep_dims"))

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return self.group.inputs


def find_row_sums(
    block: Block, groups: Sequence[tuple[Group, Block, int]], names: Names, taken: frozenset[Operation]
) -> list[tuple[RowSum, int]]:
    """Those of a block, and not of blocks inside it, with the number of each sum's item; of operations not `taken`."""
    makers = Makers(block, names)
    roots = {group.ops[-1]: (group, at) for group, home, at in groups if home is block}
    found = []
    for op in makers.all("Sum"):
        root = makers.sole_maker(op.inputs[0])
        if root is None or root not in roots or root in taken or op in taken or not _is_along_rows(op):
            continue
        group, begin = roots[root]
        if nothing_changes(block, begin, makers.places[op]):
            found.append((RowSum(group, op), makers.places[op]))
    return found


def _is_along_rows(op: Operation) -> bool:
    """Whether a Sum is that of float32 along the last axis alone."""
    axes, rank = constant_value(op.inputs[1]), op.inputs[0].static_shape.rank
    if op.inputs[0].dtype is not FLOAT32 or op.type in op.graph.functions or axes is None or axes.size != 1:
        return False
    return axes.item() == -1 or (rank is not None and axes.item() == rank - 1)
