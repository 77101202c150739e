"""The mean and the variance along the last axis, as layer normalisation takes them: three operations that are one call.

mean = Mean(x, -1)        variance = Mean(SquaredDifference(x, mean), -1)        both keep the axis
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tensorkeep.dtypes import FLOAT32
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation
from tensorkeep.native import layers
from tensorkeep.runtime.blocks import Block, Step
from tensorkeep.runtime.names import Names


@dataclass(frozen=True, eq=False)
class Moments:
    """The operations that find a mean and, of it, a variance."""

    mean: Operation
    squares: Operation
    variance: Operation


def find_moments(block: Block, names: Names) -> list[Moments]:
    """Those of a block, and not of blocks inside it; none without the library."""
    if layers.functions() is None:
        return []
    steps = [item.op for item in block.items if isinstance(item, Step) and item.op not in names.silent]
    made = {names.values[op.outputs[0]]: op for op in steps if len(op.outputs) == 1 and op.outputs[0] not in names.fed}
    found = (_moments(op, made, names) for op in steps)
    return [each for each in found if each is not None]


def _moments(variance: Operation, made: Mapping[str, Operation], names: Names) -> Moments | None:
    if not _is_mean(variance, names):
        return None
    name = names.values[variance.inputs[0]]
    squares = made.get(name)
    if squares is None or squares.type != "SquaredDifference" or names.lifetimes.uses.get(name) != 1:
        return None
    for x, center in (squares.inputs, squares.inputs[::-1]):
        mean = made.get(names.values[center])
        if mean is not None and _is_mean(mean, names) and names.values[mean.inputs[0]] == names.values[x]:
            return Moments(mean, squares, variance)
    return None


def _is_mean(op: Operation, names: Names) -> bool:
    """Whether an operation is the mean along the last axis alone, of float32, which keeps the axis."""
    if op.type != "Mean" or not op.attr("keep_dims") or op.outputs[0] in names.fed:
        return False
    axes, rank = constant_value(op.inputs[1]), op.inputs[0].static_shape.rank
    if (
        axes is None
        or axes.size != 1
        or op.inputs[0].dtype is not FLOAT32
        or names.values[op.inputs[0]] in names.deferred
    ):
        return False
    return axes.item() == -1 or (rank is not None and axes.item() == rank - 1)
