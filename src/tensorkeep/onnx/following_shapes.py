"""Shapes of values that neither TensorFlow's graph nor a rule tells: by what ONNX says of each node.

The graph of a loop of TensorFlow 1 that was read from a file does not say what its variables are like. What a round
computes of them follows, node by node, from what the loop starts with.
"""

from __future__ import annotations

from typing import Final

import onnx
import onnx_ir as ir

from tensorkeep.onnx.terms import Dims

_FURTHEST: Final = 64  # nodes, back from a value
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
    """Values of unknown shape that a value is computed from, each after those that it is computed from."""
    found: dict[ir.Value, None] = {}

    def visit(item: ir.Value) -> None:
        node = item.producer()
        if item in found or item.shape is not None or node is None or len(found) >= _FURTHEST:
            return
        for given in node.inputs:
            if given is not None:
                visit(given)
        found[item] = None

    visit(value)
    return list(found)


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
