"""Reshapes that keep some sizes of their input, as Keras' Flatten does: four operations that are one call.

Reshape(x, Pack([Shape(x)[0], 26, …]))        sizes of x itself by their axes, others as they are told
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.runtime.plans.blocks import Block
from tensorkeep.runtime.plans.makers import Makers
from tensorkeep.runtime.plans.names import Names


@dataclass(frozen=True, eq=False)
class Flattening:
    """Operations in their order, the Reshape last; and its sizes: axes of what it is given, or (None, size)."""

    ops: tuple[Operation, ...]
    sizes: tuple[tuple[int | None, int], ...]


def flatten_array(x: object, sizes: tuple[tuple[int | None, int], ...]) -> Array | None:
    """The array with these sizes; None if its operations have to run one by one, or to say what is wrong."""
    if type(x) is not np.ndarray:
        return None
    shape = x.shape
    try:
        return x.reshape([size if axis is None else shape[axis] for axis, size in sizes])
    except (IndexError, ValueError):
        return None


def find_flattenings(block: Block, names: Names) -> list[Flattening]:
    """The flattenings of a block itself, not of the blocks inside it."""
    makers = Makers(block, names)
    found = (_flattening(op, makers, names) for op in makers.all("Reshape"))
    return [each for each in found if each is not None]


def _flattening(root: Operation, makers: Makers, names: Names) -> Flattening | None:
    pack = makers.sole(root.inputs[1], "Pack")
    x = names.values[root.inputs[0]]
    if pack is None or pack.attr("axis") or x in names.deferred or root.inputs[0].dtype.is_ref:
        return None
    ops: list[Operation] = [pack]
    sizes: list[tuple[int | None, int]] = []
    for tensor in pack.inputs:
        value = constant_value(tensor)
        if value is not None:
            sizes.append((None, int(value)))
            continue
        taken = _size_taken(tensor, x, makers, names)
        if taken is None:
            return None
        axis, *others = taken
        sizes.append((axis, 0))
        ops = [*others, *ops]
    return Flattening((*ops, root), tuple(sizes)) if len(ops) > 1 else None


def _size_taken(tensor: Tensor, x: str, makers: Makers, names: Names) -> tuple[int, Operation, Operation] | None:
    """The axis whose size of `x` a number is, and the operations that find it."""
    taking = makers.sole(tensor, "StridedSlice")
    if taking is None or any(taking.attr(f"{name}_mask") for name in ("begin", "end", "ellipsis", "new_axis")):
        return None
    shape = makers.sole(taking.inputs[0], "Shape")
    known = [constant_value(each) for each in taking.inputs[1:]]
    if shape is None or names.values[shape.inputs[0]] != x or taking.attr("shrink_axis_mask") != 1:
        return None
    if any(each is None or each.shape != (1,) for each in known):
        return None
    first, end, step = (int(each[0]) for each in known if each is not None)
    return (first, shape, taking) if first >= 0 and step == 1 and end == first + 1 else None
