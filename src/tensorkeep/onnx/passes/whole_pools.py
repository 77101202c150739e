"""Means and maxima over all rows and columns of images, as the operators that ONNX Runtime's kernels for images have.

    Conv, ReduceMean over rows and columns              Conv, GlobalAveragePool, Squeeze
    Conv, Relu, ReduceMax over rows and columns         Conv, Relu, GlobalMaxPool, Squeeze

The pool takes images as the convolution before it leaves them, in blocks of channels; a sum over axes does not.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from tensorkeep.onnx.passes.editing import (
    Editor,
    graphs_of,
    input_at,
    int_attribute,
    ints_attribute,
    ints_of,
    is_op,
    rank_of,
    size_of,
)


def pool_whole_images(model: ir.Model) -> None:
    """Puts pools in the place of sums over all rows and columns."""
    editor = Editor(model)
    for graph in graphs_of(model):
        for node in list(graph):
            source = node.inputs[0] if is_op(node, "ReduceMean", "ReduceMax") else None
            if source is not None and _is_over_images(node, source):
                pool = "GlobalAveragePool" if node.op_type == "ReduceMean" else "GlobalMaxPool"
                _pool(editor, node, source, pool)


def _is_over_images(node: ir.Node, source: ir.Value) -> bool:
    """Whether a node sums up all of images, and a pool would give the same.

    ONNX Runtime's GlobalMaxPool takes the lowest number there is for the largest of infinities below zero, so that
    there must be none.
    """
    rank = rank_of(source)
    axes = ints_attribute(node, "axes") if input_at(node, 1) is None else ints_of(input_at(node, 1))
    if rank is None or rank < 4 or not axes or source.dtype != ir.DataType.FLOAT:
        return False
    if sorted(axis % rank for axis in axes) != list(range(2, rank)):
        return False
    return node.op_type == "ReduceMean" or is_op(source.producer(), "Relu")


def _pool(editor: Editor, node: ir.Node, source: ir.Value, pool: str) -> None:
    rank, old, graph = rank_of(source), node.outputs[0], node.graph
    assert rank is not None
    assert graph is not None
    made = editor.node(pool, [source], {}, old)
    graph.insert_before(node, made)
    made.outputs[0].shape = ir.Shape([size_of(source, 0), size_of(source, 1), *[1] * (rank - 2)])
    if not int_attribute(node, "keepdims", 1):
        axes = editor.constant(np.arange(2, rank), f"{node.name}/axes")
        made = editor.node("Squeeze", [made.outputs[0], axes], {}, old)
        graph.insert_before(node, made)
    made.outputs[0].shape = old.shape
    editor.take_place(old, made.outputs[0])
    editor.drop_unused([node])
