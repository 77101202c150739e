"""Detours that frameworks take and ONNX need not.

    Reshape to a matrix, MatMul, Reshape back            MatMul
    Unsqueeze, Tile, Reshape                             Resize that repeats pixels

What an operation was that became several nodes, its value says: `made_by` in its notes.
"""

from __future__ import annotations

import numpy as np
import onnx_ir as ir

from tensorkeep.onnx.known_sizes import sizes_of
from tensorkeep.onnx.passes.editing import (
    Editor,
    constant_of,
    graphs_of,
    input_at,
    ints_of,
    is_op,
    only_user,
    rank_of,
    size_of,
)
from tensorkeep.onnx.terms import SizeOf, Term, axis_size


def take_short_ways(model: ir.Model) -> None:
    """Takes out detours, before axes are put into another order."""
    editor = Editor(model)
    for graph in graphs_of(model):
        for node in list(graph):
            if node.graph is None or node.domain:
                continue
            if node.op_type == "Reshape":
                _ = _multiplied_in_rows(editor, node) or _make_resize(editor, node)


def _made_by(value: ir.Value | None, *ops: str) -> tuple[Term, ...] | None:
    """The inputs of the operation of TensorFlow's that made a value, if it is one of these ops; None otherwise."""
    found = None if value is None else value.meta.get("made_by")
    return found[1] if found is not None and found[0] in ops else None


def _node(value: ir.Value | None, *op_types: str) -> ir.Node | None:
    producer = None if value is None else value.producer()
    return producer if is_op(producer, *op_types) else None


# ------------------------------------------------------------------------------------------------- rows and pixels


def _multiplied_in_rows(editor: Editor, node: ir.Node) -> bool:
    """All rows of an array as one matrix, times a matrix, as an array again: the product of the array with the matrix.

    So Keras has layers that work on the last axis of several.
    """
    value = node.inputs[0]
    product = _node(value, "MatMul")
    if product is None or only_user(product.outputs[0]) is not node:
        return False
    rows, weights = product.inputs[0], constant_of(product.inputs[1])
    flatten = _node(rows, "Reshape")
    if weights is None or weights.ndim != 2 or flatten is None or flatten.inputs[0] is None:
        return False
    source = flatten.inputs[0]
    rank = rank_of(source)
    if rank is None or rank < 2 or size_of(source, rank - 1) != weights.shape[0] or rank_of(rows or source) != 2:
        return False
    if not _has_rows_of(node, flatten, source, weights.shape[1]):
        return False
    product.replace_input_with(0, source)
    shape = node.outputs[0].shape
    editor.take_place(node.outputs[0], product.outputs[0])
    product.outputs[0].shape = shape
    editor.drop_unused([node, flatten])
    return True


def _has_rows_of(node: ir.Node, flatten: ir.Node, source: ir.Value, columns: int) -> bool:
    """Whether a Reshape gives all axes of a value back but the last, which has so many elements now."""
    rank = rank_of(source) or 0
    constant = ints_of(input_at(node, 1))
    if constant is not None:
        sizes: list[int | SizeOf | None] = list(constant)
    else:
        after = _made_by(node.outputs[0], "Reshape")
        found = None if after is None else sizes_of(after[1])
        sizes = [] if found is None else list(found)
    before = _made_by(flatten.outputs[0], "Reshape")
    term = None if before is None else before[0]
    if len(sizes) != rank or sizes[-1] != columns or sizes[:-1].count(-1) > 1:
        return False
    for axis, size in enumerate(sizes[:-1]):
        wanted = size_of(source, axis) if term is None or term.rank != rank else axis_size(term, axis)
        if size is None or (size != -1 and size != wanted):
            return False
    return True


def _make_resize(editor: Editor, node: ir.Node) -> bool:
    """Elements repeated along an axis, by one that is put in, tiled and merged: a Resize to the nearest."""
    tile = _node(node.inputs[0], "Tile")
    unsqueeze = None if tile is None else _node(tile.inputs[0], "Unsqueeze")
    if tile is None or unsqueeze is None or unsqueeze.inputs[0] is None or node.graph is None:
        return False
    source, axes, counts = unsqueeze.inputs[0], ints_of(input_at(unsqueeze, 1)), ints_of(input_at(tile, 1))
    rank = rank_of(source)
    if rank is None or axes is None or counts is None or len(axes) != 1 or source.dtype != ir.DataType.FLOAT:
        return False
    new = axes[0] % (rank + 1)
    if new == 0 or [count for at, count in enumerate(counts) if at != new] != [1] * rank:
        return False
    axis, times = new - 1, counts[new]
    output = node.outputs[0]
    if rank not in (3, 4, 5) or axis in (0, rank - 1) or output.shape is None or rank_of(output) != rank:
        return False
    for at in range(rank):
        had, has = size_of(source, at), size_of(output, at)
        if at == axis and (had is None or has != had * times):
            return False
        if at not in (0, axis) and (had is None or has != had):
            return False
    scales = np.ones(rank, np.float32)
    scales[axis] = times
    earlier = _node(source, "Resize")
    if earlier is not None and only_user(source) is unsqueeze and earlier.inputs[0] is not None:
        before = constant_of(input_at(earlier, 2))
        if before is not None and _repeats(earlier):
            scales, source = scales * before, earlier.inputs[0]
    values = [source, None, editor.constant(scales, f"{output.name}/scales")]
    how = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    made = editor.node("Resize", values, how, output)
    node.graph.insert_after(node, made)
    made.outputs[0].shape = output.shape
    editor.take_place(output, made.outputs[0])
    editor.drop_unused([node])
    return True


def _repeats(node: ir.Node) -> bool:
    """Whether a Resize repeats elements a whole number of times."""
    names = {name: node.attributes[name].as_string() for name in ("mode", "nearest_mode") if name in node.attributes}
    scales = constant_of(input_at(node, 2))
    whole = scales is not None and bool(np.all(scales == np.floor(scales)))
    return names == {"mode": "nearest", "nearest_mode": "floor"} and whole
