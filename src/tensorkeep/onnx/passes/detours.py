"""Detours that frameworks take and ONNX need not.

    Reshape to a matrix, MatMul, Reshape back            MatMul
    Unsqueeze, Tile, Reshape                             Resize that repeats pixels
    Gather at where(i < 0, i + n, i)                     Gather, which counts from the end itself
    Unsqueeze, Conv over two axes, Squeeze               Conv over one axis

What an operation was that became several nodes, its value says: `made_by` in its notes.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import onnx_ir as ir

from tensorkeep.onnx.known_sizes import sizes_of
from tensorkeep.onnx.passes.editing import (
    Editor,
    constant_of,
    graphs_of,
    input_at,
    int_attribute,
    ints_attribute,
    ints_of,
    is_op,
    only_user,
    rank_of,
    size_of,
)
from tensorkeep.onnx.terms import SizeOf, Term, axis_size

_WINDOWED: Final = ("Conv", "ConvTranspose", "MaxPool", "AveragePool")


def take_short_ways(model: ir.Model) -> None:
    """Takes out detours, before axes are put into another order."""
    editor = Editor(model)
    for graph in graphs_of(model):
        for node in list(graph):
            if node.graph is None or node.domain:
                continue
            if node.op_type == "Reshape":
                _ = _multiplied_in_rows(editor, node) or _repeated(editor, node)
            elif node.op_type == "Gather":
                _counted_from_end(editor, node)


def slide_along_one_axis(model: ir.Model) -> None:
    """Lets windows that slide along one axis have but one, after axes have been put in order."""
    editor = Editor(model)
    for graph in graphs_of(model):
        for node in list(graph):
            if node.graph is not None and is_op(node, *_WINDOWED):
                _along_one_axis(editor, node)


def _made_by(value: ir.Value | None, *ops: str) -> tuple[Term, ...] | None:
    """What an operation took that made a value, if it was one of some ops."""
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


def _repeated(editor: Editor, node: ir.Node) -> bool:
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


def _counted_from_end(editor: Editor, node: ir.Node) -> bool:
    """Indices of which negative ones have been counted from the end, which Gather does itself."""
    where = _node(input_at(node, 1), "Where")
    data = node.inputs[0]
    if where is None or data is None or len(where.inputs) != 3:
        return False
    less, moved, plain = _node(where.inputs[0], "Less"), _node(where.inputs[1], "Add"), where.inputs[2]
    if less is None or moved is None or plain is None or less.inputs[0] is not plain:
        return False
    rank = rank_of(data)
    size = None if rank is None else size_of(data, int_attribute(node, "axis", 0))
    if ints_of(less.inputs[1]) != [0] or size is None or plain.dtype not in (ir.DataType.INT32, ir.DataType.INT64):
        return False
    for value, number in ((moved.inputs[0], moved.inputs[1]), (moved.inputs[1], moved.inputs[0])):
        if value is plain and ints_of(number) == [size]:
            node.replace_input_with(1, plain)
            editor.drop_unused([where])
            return True
    return False


# --------------------------------------------------------------------------------------------------------- one axis


def _along_one_axis(editor: Editor, node: ir.Node) -> bool:
    """A convolution or pool over two axes one of which was put in for it, over the other alone."""
    squeeze = only_user(node.outputs[0])
    source = node.inputs[0]
    gone = None if squeeze is None else ints_of(input_at(squeeze, 1))
    if squeeze is None or not is_op(squeeze, "Squeeze") or source is None or gone is None or len(gone) != 1:
        return False
    axis = gone[0] % 4
    kernel, pads = ints_attribute(node, "kernel_shape"), ints_attribute(node, "pads")
    if axis not in (2, 3) or kernel is None or len(kernel) != 2 or len(node.outputs) != 1:
        return False
    at = axis - 2
    others = [kernel, *(ints_attribute(node, name) for name in ("strides", "dilations"))]
    plain = all(values is None or values[at] == 1 for values in others)
    if not plain or (pads is not None and (pads[at] or pads[at + 2])):
        return False
    if (extra := ints_attribute(node, "output_padding")) is not None and extra[at]:
        return False
    line = _without_axis(editor, source, axis)
    if line is None:
        return False
    if node.op_type.startswith("Conv"):
        weights = constant_of(node.inputs[1])
        if weights is None or node.inputs[1] is None:
            return False
        editor.replace_constant(node, 1, weights.squeeze(axis))
    for name in ("kernel_shape", "strides", "dilations", "output_padding"):
        values = ints_attribute(node, name)
        if values is not None:
            node.attributes[name] = ir.AttrInt64s(name, [values[1 - at]])
    if pads is not None:
        node.attributes["pads"] = ir.AttrInt64s("pads", [pads[1 - at], pads[3 - at]])
    shape = squeeze.outputs[0].shape
    node.replace_input_with(0, line)
    output = node.outputs[0]
    editor.take_place(squeeze.outputs[0], output)
    output.shape = shape
    editor.drop_unused([squeeze, *([producer] if (producer := source.producer()) is not None else [])])
    return True


def _without_axis(editor: Editor, source: ir.Value, axis: int) -> ir.Value | None:
    """Images of which one axis is of size 1, without it: what they were before it was put in."""
    producer = source.producer()
    if producer is None or producer.graph is None:
        return None
    if is_op(producer, "Unsqueeze"):
        axes = ints_of(input_at(producer, 1))
        return producer.inputs[0] if axes is not None and [item % 4 for item in axes] == [axis] else None
    order = ints_attribute(producer, "perm") if is_op(producer, "Transpose") else None
    unsqueeze = _node(producer.inputs[0], "Unsqueeze")
    if order is None or unsqueeze is None or unsqueeze.inputs[0] is None:
        if size_of(source, axis) != 1 or rank_of(source) != 4:
            return None
        axes_value = editor.constant(np.array([axis], np.int64), f"{source.name}/axes")
        made = editor.node("Squeeze", [source, axes_value], {}, source)
        producer.graph.insert_after(producer, made)
        assert source.shape is not None
        made.outputs[0].shape = ir.Shape([size for at, size in enumerate(source.shape) if at != axis])
        return made.outputs[0]
    axes = ints_of(input_at(unsqueeze, 1))
    if axes is None or [item % 4 for item in axes] != [order[axis]]:
        return None
    left = [item for item in order if item != order[axis]]
    perm = [sorted(left).index(item) for item in left]
    value = unsqueeze.inputs[0]
    made = editor.node("Transpose", [value], {"perm": perm}, source)
    producer.graph.insert_after(producer, made)
    if value.shape is not None:
        made.outputs[0].shape = ir.Shape([value.shape[item] for item in perm])
    return made.outputs[0]
