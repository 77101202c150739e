"""Sequences that a convolution slides over, as images of one row: ONNX Runtime has faster kernels for images.

    Transpose, Conv of 3, Relu, ReduceMax        Transpose, Unsqueeze, Conv of 1 by 3, Relu, ReduceMax

What is next to such a convolution and does not mind an axis more (elements by themselves, pools, sums) has the axis
too, so that it is added once before all of them, and dropped once after.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import onnx_ir as ir

from tensorkeep.onnx.passes.editing import (
    Editor,
    constant_of,
    graphs_of,
    input_at,
    int_attribute,
    ints_attribute,
    ints_of,
    is_op,
    rank_of,
)
from tensorkeep.onnx.passes.layout import ELEMENT_BY_ELEMENT, REDUCING, UNARY

_BLOCK: Final = 16  # channels that the kernels for images compute together
_ROW: Final = 2  # the axis that is added: images have batch, channels, rows, columns
_COLUMNS: Final = 2  # the axis of a sequence that becomes the columns
_WHOLE: Final = [_ROW, _COLUMNS + 1]
_SLIDING: Final = frozenset(("Conv", "MaxPool", "AveragePool"))
_ANY_AXES: Final = frozenset(("BatchNormalization", "GlobalAveragePool", "GlobalMaxPool"))


def make_row_images(model: ir.Model) -> None:
    """Lets convolutions of sequences be convolutions of images."""
    editor = Editor(model)
    for graph in list(graphs_of(model)):
        chosen = _around_convolutions(graph)
        if chosen:
            rows = _Rows(editor, graph)
            for node in [node for node in graph if node in chosen]:
                rows.rewrite(node)
            rows.finish()


def _around_convolutions(graph: ir.Graph) -> set[ir.Node]:
    """The convolutions of a graph that are faster for images, and what hangs together with them."""
    waiting = [node for node in graph if _is_worthwhile(node)]
    found: set[ir.Node] = set()
    while waiting:
        node = waiting.pop()
        if node in found or node.graph is not graph or not _may_have_rows(node):
            continue
        found.add(node)
        waiting.extend(_neighbours(node))
    return found


def _neighbours(node: ir.Node) -> Iterable[ir.Node]:
    for value in node.inputs:
        producer = None if value is None or rank_of(value) != 3 else value.producer()
        if producer is not None:
            yield producer
    if rank_of(node.outputs[0]) == 3:
        yield from (use.node for use in node.outputs[0].uses())


def _is_worthwhile(node: ir.Node) -> bool:
    weights = constant_of(input_at(node, 1)) if is_op(node, "Conv") else None
    return weights is not None and weights.ndim == 3 and weights.shape[0] % _BLOCK == 0 and _may_have_rows(node)


# ---------------------------------------------------------------------------------------------- what can have rows


def _may_have_rows(node: ir.Node) -> bool:
    """Whether a node does the same if the sequences that it takes are images of one row."""
    first = node.inputs[0] if node.inputs else None
    if node.domain or len(node.outputs) != 1 or first is None:
        return False
    if node.op_type in ELEMENT_BY_ELEMENT:
        return rank_of(node.outputs[0]) == 3 and all(map(_spreads, node.inputs))
    if rank_of(first) != 3 or constant_of(first) is not None:
        return False
    if node.op_type in _SLIDING:
        weights = constant_of(input_at(node, 1))
        return node.op_type != "Conv" or (weights is not None and weights.ndim == 3)
    if node.op_type in REDUCING:
        return _reduced_axes(node) in ([_COLUMNS], [-1])
    if node.op_type == "Concat":
        return int_attribute(node, "axis", 0) in (1, -2) and all(value and rank_of(value) == 3 for value in node.inputs)
    return node.op_type in UNARY or node.op_type in _ANY_AXES


def _spreads(value: ir.Value | None) -> bool:
    """Whether a value is a sequence, or can be spread over images as it was over sequences."""
    rank = None if value is None else rank_of(value)
    return rank is not None and (rank in (0, 1, 3) or (rank == 2 and constant_of(value) is not None))


def _reduced_axes(node: ir.Node) -> list[int] | None:
    given = input_at(node, 1)
    return ints_attribute(node, "axes") if given is None else ints_of(given)


# ------------------------------------------------------------------------------------------------------- rewriting


class _Rows:
    """Rewrites nodes of one graph, each after those that it takes something from."""

    def __init__(self, editor: Editor, graph: ir.Graph) -> None:
        self._editor = editor
        self._graph = graph
        self._images: dict[ir.Value, ir.Value] = {}
        """The images that sequences, and constants, have become."""
        self._backs: list[ir.Node] = []
        """The nodes that make sequences of images again."""
        self._row_axis = editor.constant(np.array([_ROW], np.int64), "row_axis")

    def rewrite(self, node: ir.Node) -> None:
        """Lets a node take and give images; who took the sequence that it gave takes one that is made of its images."""
        for at, value in enumerate(self._inputs(node)):
            node.replace_input_with(at, value)
        _set_attributes(node)
        image = node.outputs[0]
        if rank_of(image) != 3:
            return
        back = self._editor.node("Squeeze", [], {}, image)
        sequence, shape = back.outputs[0], image.shape
        self._editor.take_place(image, sequence)
        sequence.shape, image.shape = shape, _shape_with_row(image)
        back.resize_inputs(2)
        back.replace_input_with(0, image)
        back.replace_input_with(1, self._row_axis)
        self._graph.insert_after(node, back)
        self._images[sequence] = image
        self._backs.append(back)

    def finish(self) -> None:
        """Drops sequences that nobody takes."""
        self._editor.drop_unused(self._backs)

    def _inputs(self, node: ir.Node) -> list[ir.Value | None]:
        """What a node takes, as it takes it for images."""
        found = list(node.inputs)
        if node.op_type in ELEMENT_BY_ELEMENT or node.op_type == "Concat":
            return [self._image(node, value) for value in found]
        found[0] = self._image(node, found[0])
        if node.op_type == "Conv":
            found[1] = self._image(node, found[1])
        elif node.op_type in REDUCING and input_at(node, 1) is not None:
            found[1] = self._editor.constant(np.array(_WHOLE, np.int64), f"{node.name}/axes")
        return found

    def _image(self, node: ir.Node, value: ir.Value | None) -> ir.Value | None:
        """A sequence as an image of one row; a constant that is spread over sequences as one that is over images."""
        if value is None or (rank_of(value) or 0) < 2:
            return value
        if value not in self._images:
            array = constant_of(value)
            if array is not None:
                self._images[value] = self._editor.constant_like(np.expand_dims(array, -2), value)
            else:
                self._images[value] = self._with_row(node, value)
        return self._images[value]

    def _with_row(self, node: ir.Node, value: ir.Value) -> ir.Value:
        """A sequence with an axis for its row, before a node takes it."""
        made = self._editor.node("Unsqueeze", [value, self._row_axis], {}, value)
        self._graph.insert_before(node, made)
        made.outputs[0].shape = _shape_with_row(value)
        return made.outputs[0]


def _shape_with_row(value: ir.Value) -> ir.Shape:
    assert value.shape is not None
    sizes = list(value.shape)
    return ir.Shape([*sizes[:_ROW], 1, *sizes[_ROW:]])


def _set_attributes(node: ir.Node) -> None:
    """Says by a node's attributes that along the rows of images, windows do nothing."""
    attrs = node.attributes
    if node.op_type in _SLIDING:
        for name in ("kernel_shape", "strides", "dilations"):
            if name in attrs:
                attrs[name] = ir.AttrInt64s(name, [1, *attrs[name].as_ints()])
        if "pads" in attrs:
            before, after = attrs["pads"].as_ints()
            attrs["pads"] = ir.AttrInt64s("pads", [0, before, 0, after])
    elif node.op_type in REDUCING and "axes" in attrs:
        attrs["axes"] = ir.AttrInt64s("axes", _WHOLE)
    elif node.op_type == "Concat":
        attrs["axis"] = ir.AttrInt64("axis", 1)
