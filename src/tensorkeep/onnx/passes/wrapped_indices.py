"""Indices that count from the end where they are below zero: ONNX's Gather does that by itself.

    Gather(rows, Where(i < 0, i + n, i)), n the number of rows      becomes      Gather(rows, i)

Keras' embeddings and `take` write it so. The engine, in whose place our kernels refuse indices below zero, makes these
fail before each Gather; behind such a formula both go: what is beyond either end fails in any case. Where it stays, and
the indices of several are cut from one array, as columns are from a table of keys, the array is looked at once:

    Where(Slice(i) < 0, n, Slice(i)), for many slices       becomes      Slice(j), j being Where(i < 0, n, i) for all

if n is one number, and the same for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import onnx_ir as ir

from tensorkeep.onnx.passes.editing import Editor, graphs_of, is_op

_CUTTING: Final = ("Slice", "Squeeze", "Unsqueeze", "Reshape", "Gather")  # what gives elements of its first input


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


def check_indices_once(model: ir.Model) -> None:
    """Looks once for indices below zero in an array that several pieces of are looked at."""
    editor = Editor(model)
    for graph in graphs_of(model):
        checks: dict[tuple[ir.Value, int], list[tuple[ir.Value, ir.Value]]] = {}
        for node in graph:
            chosen = _chosen_below_zero(node.outputs[0]) if is_op(node, "Where") else None
            if chosen is None or (instead := _single_number(chosen[0])) is None:
                continue
            if {use.node for use in chosen[1].uses()} - {*_both(node)}:  # others want it as it is
                continue
            source = _source_of(chosen[1], graph)
            if source is not chosen[1] and all(_takes_axes(value, chosen[0]) for value in (source, chosen[1])):
                checks.setdefault((source, instead), []).append((chosen[1], node.outputs[0]))
        for (source, _), pieces in checks.items():
            if len(pieces) > 1:
                _check_source(editor, graph, source, pieces)


def _both(check: ir.Node) -> tuple[ir.Node | None, ir.Node]:
    """The two nodes of Where(x < 0, y, x)."""
    condition = check.inputs[0]
    return (None if condition is None else condition.producer()), check


def _source_of(value: ir.Value, graph: ir.Graph) -> ir.Value:
    """What a value was cut from, by nodes of a graph that make nothing else that is taken."""
    while True:
        node = value.producer()
        if node is None or node.graph is not graph or not is_op(node, *_CUTTING) or node.inputs[0] is None:
            return value
        value = node.inputs[0]
        if len(value.uses()) > 1 or value.is_graph_output():
            return value


def _check_source(
    editor: Editor, graph: ir.Graph, source: ir.Value, pieces: Sequence[tuple[ir.Value, ir.Value]]
) -> None:
    """Puts a check of all that pieces are cut from in the place of theirs."""
    first = pieces[0][1].producer()
    assert first is not None
    test = _both(first)[0]
    assert test is not None
    is_below = editor.node("Less", [source, test.inputs[1]], {}, test.outputs[0])
    checked = editor.node("Where", [is_below.outputs[0], first.inputs[1], source], {}, source)
    is_below.outputs[0].shape = checked.outputs[0].shape = source.shape
    maker = source.producer()
    if maker is not None and maker.graph is graph:
        graph.insert_after(maker, [is_below, checked])
    else:
        graph.insert_before(graph[0], [is_below, checked])
    for piece, result in pieces:
        cut = piece.producer()
        while cut is not None and cut.inputs[0] is not source:
            assert cut.inputs[0] is not None
            cut = cut.inputs[0].producer()
        assert cut is not None
        cut.replace_input_with(0, checked.outputs[0])
        old = result.producer()
        editor.take_place(result, piece)
        editor.drop_unused([node for node in (old,) if node is not None])


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
    instead = _single_number(chosen[0])
    return chosen[1] if instead is not None and instead >= size else value


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
    return value is not None and _single_number(value) == number


def _single_number(value: ir.Value) -> int | None:
    """The whole number that a constant is, whatever its axes; None of anything else."""
    known = None if value.const_value is None else np.asarray(value.const_value.numpy())
    return int(known.reshape(())) if known is not None and known.size == 1 and known.dtype.kind in "iu" else None


def _takes_axes(value: ir.Value, number: ir.Value) -> bool:
    """Whether a value keeps its axes beside a constant of one number."""
    assert number.const_value is not None
    rank = len(number.const_value.shape)
    return rank == 0 or (value.shape is not None and len(value.shape) >= rank)
