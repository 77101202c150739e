"""What is known of numbers and zeros that a graph computes: which of them are the length of a sequence."""

from __future__ import annotations

from typing import Final

import numpy as np
import onnx_ir as ir

from tensorkeep.onnx.tensor_lists import is_number, same_value
from tensorkeep.onnx.terms import Term

_SAME_NUMBER: Final = frozenset(("Cast", "Identity", "Squeeze", "Unsqueeze", "Reshape"))
_SAME_ZEROS: Final = frozenset(("Expand", "Identity", "Unsqueeze", "Tile", "Reshape"))
_DEEPEST: Final = 16


def is_zero(term: Term) -> bool:
    """Whether all elements of a value are known to be zero."""
    return not term.array.any() if term.array is not None else is_zero_value(term.value)


def is_zero_value(value: ir.Value | None) -> bool:
    """Whether all elements of a value of the file are known to be zero."""
    for _ in range(_DEEPEST):
        if value is None:
            return False
        if value.const_value is not None:
            return not value.const_value.numpy().any()
        node = value.producer()
        if node is None:
            return False
        if node.op_type == "ConstantOfShape":
            attr = node.attributes.get("value")
            return attr is None or not attr.as_tensor().numpy().any()
        if node.op_type not in _SAME_ZEROS:
            return False
        value = node.inputs[0]
    return False


def counts_rows(number: ir.Value, rows: ir.Value) -> bool:
    """Whether a number is the first size of a value."""
    found = _size_read(number)
    if found is None:
        return False
    one, other = _origin(*found), _origin(rows, 0)
    return one[1] == other[1] and same_value(one[0], other[0])


def _size_read(number: ir.Value) -> tuple[ir.Value, int] | None:
    """The value and the axis of it that a number is the size of."""
    for _ in range(_DEEPEST):
        node = number.producer()
        if node is None or not node.inputs or node.inputs[0] is None:
            return None
        if node.op_type == "Shape":
            start, end = (node.attributes.get(name) for name in ("start", "end"))
            at = 0 if start is None else start.as_int()
            is_one = end is not None and end.as_int() == at + 1
            return (node.inputs[0], at) if is_one and at >= 0 else None
        if node.op_type in ("Gather", "Slice"):
            return _size_taken(node)
        is_scalar = number.shape is not None and not len(number.shape)
        if node.op_type not in _SAME_NUMBER and not (node.op_type in ("ReduceMax", "ReduceMin") and is_scalar):
            return None
        if node.op_type.startswith("Reduce") and (node.inputs[0].shape is None or len(node.inputs[0].shape)):
            return None
        number = node.inputs[0]
    return None


def _size_taken(node: ir.Node) -> tuple[ir.Value, int] | None:
    """The value and axis whose size a node takes from a whole shape."""
    shape = node.inputs[0]
    while shape is not None and (source := shape.producer()) is not None and source.op_type in ("Cast", "Identity"):
        shape = source.inputs[0]
    source = None if shape is None else shape.producer()
    known = None if node.inputs[1] is None else node.inputs[1].const_value
    if source is None or source.op_type != "Shape" or source.attributes or known is None or known.size != 1:
        return None
    at = int(known.numpy().reshape(()))
    if at < 0 or source.inputs[0] is None or (node.op_type == "Slice" and not is_number(node.inputs[2], at + 1)):
        return None
    return source.inputs[0], at


def _origin(value: ir.Value, axis: int) -> tuple[ir.Value, int]:
    """An axis of a value, followed back to where its size comes from."""
    for _ in range(_DEEPEST):
        node = value.producer()
        if node is None or not node.inputs or node.inputs[0] is None:
            break
        if node.op_type == "Transpose":
            order = node.attributes.get("perm")
            if order is None:
                break
            axis = order.as_ints()[axis]
        elif node.op_type == "Unsqueeze":
            new = None if node.inputs[1] is None else node.inputs[1].const_value
            if new is None or value.shape is None:
                break
            places = {int(place) % len(value.shape) for place in new.numpy().reshape(-1)}
            if axis in places:
                break
            axis -= sum(place < axis for place in places)
        elif node.op_type not in ("ReverseSequence", "Identity", "Cast", "Not") and not turns_around(node):
            break
        value = node.inputs[0]
    return value, axis


def turns_around(node: ir.Node) -> bool:
    """Whether a node gives all of its input, with some axes from their ends to their beginnings."""
    if node.op_type != "Slice" or len(node.inputs) != 5:
        return False
    known = [None if value is None else value.const_value for value in (node.inputs[1], node.inputs[2], node.inputs[4])]
    starts, ends, steps = (np.zeros(1) if found is None else found.numpy().astype(np.float64) for found in known)
    far = np.iinfo(np.int32).max
    return bool(((starts == -1) | (starts >= far)).all() and (ends <= -far).all() and (steps == -1).all())


def smallest_of(value: ir.Value) -> list[ir.Value]:
    """The numbers that a number is the smallest of."""
    node = value.producer()
    if node is not None and node.op_type in ("Cast", "Identity") and node.inputs[0] is not None:
        return smallest_of(node.inputs[0])
    if node is not None and node.op_type == "Min":
        return [part for given in node.inputs if given is not None for part in smallest_of(given)]
    return [value]


def is_longest(value: ir.Value, lengths: ir.Value) -> bool:
    """Whether a number is the largest of some lengths, or one if they are all smaller."""
    node = value.producer()
    if node is None or not node.inputs or node.inputs[0] is None:
        return False
    if node.op_type in _SAME_NUMBER:
        return is_longest(node.inputs[0], lengths)
    if node.op_type == "Max" and len(node.inputs) == 2:
        first, second = node.inputs
        return any(
            is_number(one, 1) and other is not None and is_longest(other, lengths)
            for one, other in ((first, second), (second, first))
        )
    return node.op_type == "ReduceMax" and same_value(uncast(node.inputs[0]), uncast(lengths))


def uncast(value: ir.Value) -> ir.Value:
    """The value before all casts between types of whole numbers."""
    while (
        (node := value.producer()) is not None and node.op_type in ("Cast", "Identity") and node.inputs[0] is not None
    ):
        value = node.inputs[0]
    return value


def unbounded_lengths(value: ir.Value) -> ir.Value:
    """Lengths as they are given, before they are made to fit the sequence: max(min(lengths, rows), 0)."""
    value = uncast(value)
    for op_type in ("Max", "Min"):
        node = value.producer()
        if node is None or node.op_type != op_type or len(node.inputs) != 2 or node.inputs[0] is None:
            return value
        value = uncast(node.inputs[0])
    return value
