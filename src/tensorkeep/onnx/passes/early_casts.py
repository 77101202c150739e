"""Casts before the transpositions whose results they take, where a product of matrices takes theirs.

    Transpose, Cast, MatMul                     Cast, Transpose, MatMul

The same numbers. ONNX Runtime 1.31 makes one operator of the three where the transposition moves whole matrices, and
ends the process while it opens such a model; of a transposition and a product it makes one that works.
"""

from __future__ import annotations

import onnx_ir as ir

from tensorkeep.onnx.passes.editing import Editor, graphs_of, ints_attribute, is_op


def cast_before_transposing(model: ir.Model) -> None:
    """Lets casts take what transpositions take, and these take the casts, before products of matrices."""
    editor = Editor(model)
    for graph in graphs_of(model):
        for node in list(graph):
            if is_op(node, "Cast") and any(is_op(use.node, "MatMul") for use in node.outputs[0].uses()):
                _cast_first(editor, node)


def _cast_first(editor: Editor, cast: ir.Node) -> None:
    between = cast.inputs[0]
    turn = None if between is None else between.producer()
    if between is None or turn is None or not is_op(turn, "Transpose") or turn.graph is not cast.graph:
        return
    graph, source, old, order = cast.graph, turn.inputs[0], cast.outputs[0], ints_attribute(turn, "perm")
    assert graph is not None
    assert source is not None
    first = editor.node("Cast", [source], {}, old)
    first.attributes.update({attr.name: attr for attr in cast.attributes.values()})
    first.outputs[0].shape = source.shape
    second = editor.node("Transpose", first.outputs, {} if order is None else {"perm": order}, old)
    second.outputs[0].shape = old.shape
    graph.insert_before(cast, [first, second])
    editor.take_place(old, second.outputs[0])
    editor.drop_unused([cast])
