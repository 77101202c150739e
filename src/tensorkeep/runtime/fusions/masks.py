"""Random numbers that are only compared with others, as those of dropout are: truths, made where the random words are.

    GreaterEqual(RandomUniform(shape), rate)

The numbers, four times the size of the truths, are never stored. They are drawn where the comparison stands; that is
seen by nobody, for every operation that draws has a stream of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from tensorkeep.dtypes import FLOAT32
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.runtime.plans.blocks import Block
from tensorkeep.runtime.plans.makers import Makers
from tensorkeep.runtime.plans.names import Names

_COMPARISONS: Final = ("Greater", "GreaterEqual", "Less", "LessEqual")


@dataclass(frozen=True, eq=False)
class Mask:
    """What draws, and what compares that."""

    draw: Operation
    comparison: Operation

    @property
    def ops(self) -> tuple[Operation, Operation]:
        return self.draw, self.comparison

    @property
    def inputs(self) -> tuple[Tensor, ...]:
        return *self.draw.inputs, self.comparison.inputs[1]

    def applied(self, compare: Any, attributes: Mapping[str, Any]) -> Callable[..., Any]:
        """What gives the truths, of the context of the operation that draws, and of the inputs."""
        assert self.draw.spec.comparing_kernel is not None
        return partial(self.draw.spec.comparing_kernel, comparison=compare, **attributes)


def find_masks(block: Block, names: Names) -> list[tuple[Mask, int]]:
    """Those of a block, and not of blocks inside it, with the number of the item of each one's comparison."""
    makers = Makers(block, names)
    found = (_mask(op, makers, names) for kind in _COMPARISONS for op in makers.all(kind))
    return [(mask, makers.places[mask.comparison]) for mask in found if mask is not None]


def _mask(comparison: Operation, makers: Makers, names: Names) -> Mask | None:
    draw = makers.sole_maker(comparison.inputs[0])
    if draw is None or draw.spec.comparing_kernel is None or comparison.inputs[0].dtype is not FLOAT32:
        return None
    if comparison.type in comparison.graph.functions or draw.type in draw.graph.functions:
        return None
    # A shape that is known cannot have changed between the two.
    if constant_value(draw.inputs[0]) is None or any(names.values[tensor] in names.deferred for tensor in draw.inputs):
        return None
    return Mask(draw, comparison)
