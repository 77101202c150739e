"""The mean and the variance along the last axis, as layer normalisation takes them: three operations that are one call.

mean = Mean(x, -1)        variance = Mean(SquaredDifference(x, mean), -1)        both keep the axis
"""

from __future__ import annotations

from dataclasses import dataclass

from tensorkeep.dtypes import FLOAT32
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation
from tensorkeep.native import layers
from tensorkeep.runtime.plans.blocks import Block
from tensorkeep.runtime.plans.makers import Makers
from tensorkeep.runtime.plans.names import Names


@dataclass(frozen=True, eq=False)
class Moments:
    """The operations that find a mean and, of it, a variance."""

    mean: Operation
    squares: Operation
    variance: Operation


def find_moments(block: Block, names: Names) -> list[Moments]:
    """The pairs of a mean and a variance of a block itself, not of the blocks inside it; none without the library."""
    if layers.functions() is None:
        return []
    makers = Makers(block, names)
    found = (_moments(op, makers, names) for op in makers.all("Mean"))
    return [each for each in found if each is not None]


def _moments(variance: Operation, makers: Makers, names: Names) -> Moments | None:
    squares = makers.sole(variance.inputs[0], "SquaredDifference")
    if squares is None or not _is_mean(variance, names):
        return None
    for x, center in (squares.inputs, squares.inputs[::-1]):
        mean = makers.of(center, "Mean")
        if mean is not None and _is_mean(mean, names) and names.values[mean.inputs[0]] == names.values[x]:
            return Moments(mean, squares, variance)
    return None


def _is_mean(op: Operation, names: Names) -> bool:
    """Whether a Mean is that along the last axis alone, of float32, which keeps the axis."""
    if not op.attr("keep_dims"):
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
