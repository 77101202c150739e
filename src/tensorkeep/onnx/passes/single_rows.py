"""Images of a single row, which TensorFlow makes of sequences to convolve or pool them: done as sequences.

Unsqueeze, Transpose, Conv of 1 by 3, Transpose, Squeeze        Transpose, Conv of 3, Transpose
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import onnx_ir as ir

from tensorkeep.onnx.passes.editing import (
    AttrValue,
    Editor,
    constant_of,
    graphs_of,
    input_at,
    ints_attribute,
    ints_of,
    is_op,
    rank_of,
)

_SLIDING: Final = ("Conv", "ConvTranspose", "MaxPool", "AveragePool")
_FIRST: Final = (0, 3, 1, 2)
"""The order that makes channels the second axis."""
_LAST: Final = (0, 2, 3, 1)
_NEUTRAL: Final = {"kernel_shape": 1, "strides": None, "dilations": None, "output_padding": 0}
"""Attributes with a number for each axis of images, and what that is where windows do nothing; anything if None."""


def take_single_rows(model: ir.Model) -> None:
    """Lets windows slide over sequences that were made images of one row or column for them."""
    editor = Editor(model)
    for graph in graphs_of(model):
        for node in list(graph):
            if is_op(node, *_SLIDING) and len(node.outputs) == 1:
                _take_row(editor, graph, node)
            elif node.graph is not None and is_op(node, "Squeeze"):
                _squeeze_back(editor, node)


def _take_row(editor: Editor, graph: ir.Graph, node: ir.Node) -> None:
    found = _sequence(node)
    if found is None:
        return
    sequence, axis = found
    users = [use.node for use in node.outputs[0].uses()]
    attrs = _attributes(node, axis - 1)
    if attrs is None or node.outputs[0].is_graph_output() or any(_order(user) != _LAST for user in users):
        return
    weights = constant_of(input_at(node, 1))
    if len(node.inputs) > 1 and (weights is None or weights.ndim != 4 or weights.shape[1 + axis] != 1):
        return
    first = editor.node("Transpose", [sequence], {"perm": [0, 2, 1]}, sequence)
    others = list(node.inputs[1:])
    if weights is not None and others[0] is not None:
        others[0] = editor.constant_like(np.squeeze(weights, 1 + axis), others[0])
    made = editor.node(node.op_type, [first.outputs[0], *others], attrs, node.outputs[0])
    last = editor.node("Transpose", [made.outputs[0]], {"perm": [0, 2, 1]}, node.outputs[0])
    axes = editor.constant(np.array([axis], np.int64), f"{node.name}/axes")
    image = editor.node("Unsqueeze", [last.outputs[0], axes], {}, node.outputs[0])
    _set_shapes(sequence, node.outputs[0], axis, first, made, last)
    graph.insert_before(node, [first, made, last, image])
    for user in users:
        image.outputs[0].shape = user.outputs[0].shape
        editor.take_place(user.outputs[0], image.outputs[0])
    editor.drop_unused([*users, node])


def _order(node: ir.Node) -> tuple[int, ...] | None:
    found = ints_attribute(node, "perm") if is_op(node, "Transpose") else None
    return None if found is None else tuple(found)


def _sequence(node: ir.Node) -> tuple[ir.Value, int] | None:
    """The sequence that a node's images are made of, and which of their axes was added."""
    turned = None if node.inputs[0] is None else node.inputs[0].producer()
    if turned is None or _order(turned) != _FIRST or turned.inputs[0] is None:
        return None
    added = turned.inputs[0].producer()
    if added is None or not is_op(added, "Unsqueeze") or added.inputs[0] is None or rank_of(added.inputs[0]) != 3:
        return None
    axes = ints_of(input_at(added, 1))
    if axes is None or len(axes) != 1 or axes[0] % 4 not in (1, 2):
        return None
    return added.inputs[0], axes[0] % 4


def _attributes(node: ir.Node, at: int) -> dict[str, AttrValue] | None:
    """A node's attributes for one axis less of its images; None if along that axis its windows do anything."""
    found: dict[str, AttrValue] = {}
    for name, attr in node.attributes.items():
        value = attr.value
        if name in _NEUTRAL or name == "pads":
            numbers = [int(item) for item in attr.as_ints()]
            dropped = [at, at + 2] if name == "pads" else [at]
            if any(_NEUTRAL.get(name, 0) not in (None, numbers[place]) for place in dropped):
                return None
            found[name] = [number for place, number in enumerate(numbers) if place not in dropped]
        elif isinstance(value, int | float | str):
            found[name] = value
        else:
            return None
    return found


def _set_shapes(sequence: ir.Value, images: ir.Value, axis: int, *nodes: ir.Node) -> None:
    first, made, last = (node.outputs[0] for node in nodes)
    if sequence.shape is not None:
        first.shape = _in_order(sequence.shape, (0, 2, 1))
    if images.shape is not None:
        sizes = [size for place, size in enumerate(images.shape) if place != 1 + axis]
        made.shape = ir.Shape(sizes)
        last.shape = _in_order(sizes, (0, 2, 1))


def _in_order(sizes: Sequence[int | ir.SymbolicDim] | ir.Shape, order: Sequence[int]) -> ir.Shape:
    return ir.Shape([sizes[place] for place in order])


def _squeeze_back(editor: Editor, node: ir.Node) -> None:
    """Takes out a Squeeze of the axis that the Unsqueeze before it added."""
    added = None if node.inputs[0] is None else node.inputs[0].producer()
    if added is None or not is_op(added, "Unsqueeze") or added.inputs[0] is None or added.graph is not node.graph:
        return
    axes, before = ints_of(input_at(node, 1)), ints_of(input_at(added, 1))
    rank = rank_of(added.inputs[0])
    if axes is None or before is None or rank is None or len(axes) != len(before):
        return
    if {axis % (rank + len(axes)) for axis in axes} == {axis % (rank + len(axes)) for axis in before}:
        editor.take_place(node.outputs[0], added.inputs[0])
        editor.drop_unused([node])
