"""Indices that count from the end where they are below zero: ONNX's Gather does that by itself.

    Gather(rows, Where(i < 0, i + n, i)), n the number of rows      becomes      Gather(rows, i)

Keras' embeddings and `take` write it so. The engine, in whose place our kernels refuse indices below zero, makes these
fail before each Gather; behind such a formula both go: what is beyond either end fails in any case.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from tensorkeep.arrays import Array


def take_wrapped_indices(model: ir.Model) -> None:
    """Leaves counting from the end to Gather."""
    for node in ir.traversal.RecursiveGraphIterator(model.graph):
        if node.op_type != "Gather" or node.domain or node.inputs[0] is None or node.inputs[1] is None:
            continue
        axis = node.attributes.get_int("axis", 0)
        shape = node.inputs[0].shape
        if shape is None or not -len(shape) <= axis < len(shape) or not isinstance(size := shape[axis], int):
            continue
        found = _unwrapped_indices(_unguarded_indices(node.inputs[1], size), size)
        if found is not None:
            node.replace_input_with(1, found)


def _unwrapped_indices(value: ir.Value, size: int) -> ir.Value | None:
    """The indices that were counted from the end where they are below zero; None if that was not done."""
    chosen = _chosen_below_zero(value)
    if chosen is None:
        return None
    below, index = chosen
    node = below.producer()
    if node is None or node.op_type != "Add":
        return None
    others = [item for item in node.inputs if item is not index]
    return index if len(others) == 1 and _is(others[0], size) else None


def _unguarded_indices(value: ir.Value, size: int) -> ir.Value:
    """The indices without what makes those below zero fail."""
    chosen = _chosen_below_zero(value)
    if chosen is None:
        return value
    known = _known_array(chosen[0])
    return chosen[1] if known is not None and known.size == 1 and int(known.reshape(())) >= size else value


def _chosen_below_zero(value: ir.Value) -> tuple[ir.Value, ir.Value] | None:
    """Of Where(x < 0, y, x) the values y and x; None of anything else."""
    node = value.producer()
    if node is None or node.op_type != "Where" or node.domain:
        return None
    condition, below, index = node.inputs
    test = condition.producer() if condition is not None else None
    if below is None or index is None or test is None or test.op_type != "Less":
        return None
    return (below, index) if test.inputs[0] is index and _is(test.inputs[1], 0) else None


def _is(value: ir.Value | None, number: int) -> bool:
    known = None if value is None else _known_array(value)
    return known is not None and known.size == 1 and known.dtype.kind in "iu" and int(known.reshape(())) == number


def _known_array(value: ir.Value) -> Array | None:
    return None if value.const_value is None else np.asarray(value.const_value.numpy())
