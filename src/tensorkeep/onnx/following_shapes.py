"""Shapes of values that neither TensorFlow's graph nor a rule tells: by what ONNX says of each node.

The graph of a loop of TensorFlow 1 that was read from a file does not say what its variables are like. What a round
computes of them follows, node by node, from what the loop starts with.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import onnx
import onnx_ir as ir

from tensorkeep.onnx.terms import Dims

_FURTHEST: Final = 64  # nodes, back from a value
_FOLLOWED: Final = "followed"  # the mark of values that were followed
_SMALL: Final = 64  # elements of constants that shapes may depend on
_WITH_GRAPHS: Final = frozenset(("If", "Loop", "Scan", "SequenceMap"))


def followed_dims(value: ir.Value, opset: int) -> Dims | None:
    """The sizes of a value's axes, None for one that is not known; None if not even their number is."""
    for unknown in _back_from(value):
        node = unknown.producer()
        if node is not None and unknown.shape is None:
            _infer(node, opset)
    shape = value.shape
    return None if shape is None else tuple(size if isinstance(size, int) else None for size in shape)


def _back_from(value: ir.Value) -> list[ir.Value]:
    """Values of unknown shape that a value is computed from, each after those that it is computed from.

    Nobody looks further back than to a value that was followed before: of a long chain each is looked at twice.
    """
    found: list[ir.Value] = []
    seen = {value}
    waiting = [(value, _taken_by(value))]
    while waiting:
        item, others = waiting[-1]
        given = next(others, None)
        if given is None:
            waiting.pop()
            item.meta[_FOLLOWED] = True
            found.append(item)
        elif given not in seen and given.shape is None and given.producer() is not None and len(seen) < _FURTHEST:
            seen.add(given)
            waiting.append((given, _taken_by(given)))
    return found


def _taken_by(value: ir.Value) -> Iterator[ir.Value]:
    """What the node of a value takes; nothing of one that was followed before."""
    node = value.producer()
    return (
        iter(()) if node is None or _FOLLOWED in value.meta else (given for given in node.inputs if given is not None)
    )


def _infer(node: ir.Node, opset: int) -> None:
    """Sets the shapes of a node's outputs, as far as ONNX can tell."""
    if (
        node.domain
        or node.op_type in _WITH_GRAPHS
        or any(given is not None and given.type is None for given in node.inputs)
    ):
        return
    types, known = {}, {}
    for given in node.inputs:
        if given is None or given.name is None:
            continue
        if not isinstance(given.type, ir.TensorType):
            return
        message = onnx.TypeProto()
        message.tensor_type.elem_type = int(given.type.dtype)
        if given.shape is not None:
            message.tensor_type.shape.SetInParent()
            for size in given.shape:
                dim = message.tensor_type.shape.dim.add()
                if isinstance(size, int):
                    dim.dim_value = size
        types[given.name] = message
        if given.const_value is not None and given.const_value.size <= _SMALL:
            known[given.name] = ir.to_proto(given.const_value)
    try:
        schema = onnx.defs.get_schema(node.op_type, opset)
        found = onnx.shape_inference.infer_node_outputs(schema, ir.to_proto(node), types, known)
    except (onnx.shape_inference.InferenceError, onnx.defs.SchemaError, RuntimeError, ValueError):
        return
    for output in node.outputs:
        told = found.get(output.name or "")
        if output.shape is None and told is not None and told.tensor_type.HasField("shape"):
            sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in told.tensor_type.shape.dim]
            output.shape = ir.Shape(sizes)
