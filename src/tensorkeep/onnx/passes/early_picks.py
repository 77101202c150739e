"""Rows that are picked out at the end, picked before they are computed: what is made of the others is not needed.

    Add, LayerNormalization, MatMul, Gelu, MatMul, Gather of row 0        Slice of row 0, and the same of one row

A transformer that classifies takes the first token, or the last one, of what its last layer gives for all of them. Of
that layer only keys and values need the others: from the pick backwards each value is asked what is taken of it, and
if all who take it want the same row, and its maker computes rows by themselves, one row is made. Products of matrices
are what this saves; where there are none before a pick, it stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from typing import Final, TypeAlias

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
    size_of,
)
from tensorkeep.onnx.passes.layout import ELEMENT_BY_ELEMENT, UNARY

_SAVED: Final = "MatMul"
_END: Final = np.iinfo(np.int64).max
_OF_ANY_SIZE: Final = (0, -1)  # which an axis of one has as well as one of many, so that nothing need be known of it


@dataclass(frozen=True)
class Pick:
    """One index along one axis of a value."""

    axis: int
    index: int


_Asked: TypeAlias = list[Pick | None]
"""For each input of a node what is taken of it; None if it is taken whole."""


def pick_early(model: ir.Model) -> None:
    """Lets what is computed for all rows, of which one is picked, be computed for that one."""
    editor = Editor(model)
    for graph in list(graphs_of(model)):
        picks = _Picks(graph)
        for part in picks.worthwhile_parts():
            _Rewriting(editor, graph, picks, part).rewrite()


# ---------------------------------------------------------------------------------------------------- what is asked for


class _Picks:
    """What is taken of the values of a graph, found from its end to its beginning."""

    def __init__(self, graph: ir.Graph) -> None:
        self._graph = graph
        self.last: dict[ir.Node, Pick] = {}
        """The nodes that pick."""
        self.asked: dict[ir.Node, _Asked] = {}
        """The nodes that can give a pick of what they give now, and what they take for it."""
        self.given: dict[ir.Node, Pick] = {}
        for node in reversed(graph):
            if (pick := _picked_by(node)) is not None:
                self.last[node] = pick
            elif len(node.outputs) == 1 and (wanted := self._wanted_of(node.outputs[0])) is not None:
                asked = _asked_by(node, wanted)
                if asked is not None:
                    self.asked[node], self.given[node] = asked, wanted

    def _wanted_of(self, value: ir.Value) -> Pick | None:
        """What all who take a value want of it, if that is one pick."""
        if value.is_graph_output():
            return None
        wanted = {self._taken(use.node, use.idx) for use in value.uses()}
        return wanted.pop() if len(wanted) == 1 else None

    def _taken(self, node: ir.Node, at: int) -> Pick | None:
        if node in self.last:
            return self.last[node] if at == 0 else None
        return self.asked[node][at] if node in self.asked else None

    def worthwhile_parts(self) -> list[set[ir.Node]]:
        """Nodes that hang together by picks and have a product among them."""
        parts: list[set[ir.Node]] = []
        seen: set[ir.Node] = set()
        for last in self.last:
            part, waiting = set[ir.Node](), [last]
            while waiting:
                node = waiting.pop()
                if node not in part and node not in seen:
                    part.add(node)
                    waiting.extend(self._next_to(node))
            seen |= part
            if any(is_op(node, _SAVED) for node in part):
                parts.append(part)
        return parts

    def _next_to(self, node: ir.Node) -> list[ir.Node]:
        """The nodes that give a node picks, and those that it gives its pick to."""
        taken = [value for at, value in enumerate(node.inputs) if value is not None and self._taken(node, at)]
        found = [maker for value in taken if (maker := value.producer()) is not None and maker in self.asked]
        return found + ([use.node for use in node.outputs[0].uses()] if node in self.asked else [])


def _picked_by(node: ir.Node) -> Pick | None:
    """What a node picks of its first input, if it does nothing else."""
    source = input_at(node, 0)
    rank = None if source is None else rank_of(source)
    if source is None or rank is None or constant_of(source) is not None:
        return None
    if is_op(node, "Gather"):
        where, axis = constant_of(input_at(node, 1)), int_attribute(node, "axis", 0)
        index = int(where.reshape(())) if where is not None and where.ndim <= 1 and where.size == 1 else None
    elif is_op(node, "Slice") and (cut := _cut_by(node)) is not None:
        axis, index = cut
    else:
        return None
    if index is None or not -rank <= axis < rank:
        return None
    size = size_of(source, axis % rank)
    if size is None:
        return Pick(axis % rank, index) if index in _OF_ANY_SIZE else None
    return Pick(axis % rank, index % size) if size > 1 and -size <= index < size else None


def _cut_by(node: ir.Node) -> tuple[int, int] | None:
    """The axis and the index that are left by a Slice of a single one."""
    starts, ends, axes, steps = (ints_of(input_at(node, at)) for at in (1, 2, 3, 4))
    if starts is None or ends is None or axes is None or len(axes) != 1 or (input_at(node, 4) and steps != [1]):
        return None
    (start,), (end,) = starts, ends
    is_one = end == start + 1 if start != -1 else end >= np.iinfo(np.int32).max
    return (axes[0], start) if is_one else None


# ------------------------------------------------------------------------------------------------ who computes by rows


def _asked_by(node: ir.Node, pick: Pick) -> _Asked | None:
    """What a node has to be given to give a pick of its output; None if it cannot without all of it."""
    first = input_at(node, 0)
    if node.domain or first is None or rank_of(first) is None or rank_of(node.outputs[0]) is None:
        return None
    if node.op_type in ELEMENT_BY_ELEMENT:
        return _asked_together(node, pick)
    rule = _BY_ROWS.get(node.op_type)
    found = None if rule is None else rule(node, first, pick)
    return None if found is None else [found, *[None] * (len(node.inputs) - 1)]


def _asked_together(node: ir.Node, pick: Pick) -> _Asked | None:
    """Of values that are spread over each other: the pick of those that have the axis."""
    rank, size = rank_of(node.outputs[0]), size_of(node.outputs[0], pick.axis)
    asked: _Asked = []
    for value in node.inputs:
        own = None if value is None else rank_of(value)
        if value is None or own is None or rank is None:
            return None
        axis = pick.axis - (rank - own)
        if axis < 0 or size_of(value, axis) == 1:
            asked.append(None)
        elif pick.index in _OF_ANY_SIZE or (size is not None and size_of(value, axis) == size):
            asked.append(Pick(axis, pick.index))
        else:
            return None
    return asked


def _of_elements(node: ir.Node, value: ir.Value, pick: Pick) -> Pick | None:
    return pick


def _of_product(node: ir.Node, value: ir.Value, pick: Pick) -> Pick | None:
    """Rows of the left matrix are rows of the product."""
    rank, (left, right) = rank_of(node.outputs[0]), (rank_of(item) if item else None for item in node.inputs[:2])
    if rank is None or left is None or right is None or min(left, right) < 2 or pick.axis != rank - 2:
        return None
    return Pick(left - 2, pick.index)


def _of_normalisation(node: ir.Node, value: ir.Value, pick: Pick) -> Pick | None:
    """Each row is normalised by itself, if the pick is not along an axis of a row."""
    rank = rank_of(value)
    assert rank is not None
    axis = int_attribute(node, "axis", -1) % rank
    is_apart = pick.axis < axis if node.op_type == "LayerNormalization" else pick.axis != axis
    return pick if is_apart else None


def _of_transposition(node: ir.Node, value: ir.Value, pick: Pick) -> Pick | None:
    order = ints_attribute(node, "perm")
    return None if order is None else Pick(order[pick.axis], pick.index)


def _of_reshaping(node: ir.Node, value: ir.Value, pick: Pick) -> Pick | None:
    """The axis that has the same size and as many elements behind it, all of which have to be known."""
    target = ints_of(input_at(node, 1))
    behind = _elements_behind(node.outputs[0], pick.axis)
    if target is None or behind is None or int_attribute(node, "allowzero", 0):
        return None
    for axis in range(rank_of(value) or 0):
        if _elements_behind(value, axis) == behind and size_of(value, axis) == size_of(node.outputs[0], pick.axis):
            return Pick(axis, pick.index)
    return None


def _elements_behind(value: ir.Value, axis: int) -> int | None:
    """How many elements each index of an axis has; None if that or the size of the axis is not known."""
    sizes = [size_of(value, at) for at in range(axis, rank_of(value) or 0)]
    return prod(size for size in sizes[1:] if size) if all(sizes) else None


_BY_ROWS: Final[dict[str, Callable[[ir.Node, ir.Value, Pick], Pick | None]]] = {
    **dict.fromkeys(UNARY, _of_elements),
    **dict.fromkeys(("LayerNormalization", "Softmax", "LogSoftmax"), _of_normalisation),
    "MatMul": _of_product,
    "Transpose": _of_transposition,
    "Reshape": _of_reshaping,
}


# ------------------------------------------------------------------------------------------------------- rewriting


class _Rewriting:
    """Lets a part of a graph compute picks."""

    def __init__(self, editor: Editor, graph: ir.Graph, picks: _Picks, part: set[ir.Node]) -> None:
        self._editor, self._graph, self._picks, self._part = editor, graph, picks, part
        self._cuts: dict[tuple[ir.Value, Pick], ir.Value] = {}

    def rewrite(self) -> None:
        for node in [node for node in self._graph if node in self._part]:
            if node in self._picks.last:
                self._drop_pick(node)
            else:
                self._take_picks(node)

    def _take_picks(self, node: ir.Node) -> None:
        """Has a node take picks and give one."""
        for at, pick in enumerate(self._picks.asked[node]):
            value = node.inputs[at]
            if pick is not None and value is not None and not self._is_picked(value):
                node.replace_input_with(at, self._cut(node, value, pick))
        given, result = self._picks.given[node], node.outputs[0]
        if is_op(node, "Reshape"):
            target = list(ints_of(node.inputs[1]) or ())
            target[given.axis] = 1
            self._editor.replace_constant(node, 1, np.array(target, np.int64))
        assert result.shape is not None
        result.shape = ir.Shape([1 if at == given.axis else size for at, size in enumerate(result.shape)])

    def _is_picked(self, value: ir.Value) -> bool:
        """Whether the maker of a value is one of those that now give a pick."""
        maker = value.producer()
        return maker is not None and maker in self._part and maker in self._picks.asked

    def _drop_pick(self, node: ir.Node) -> None:
        """Lets the pick that was made earlier be taken in the place of the one that a node makes."""
        value, result, pick = node.inputs[0], node.outputs[0], self._picks.last[node]
        if value is None or not self._is_picked(value):
            return
        if rank_of(result) != rank_of(value):
            axes = self._editor.constant(np.array([pick.axis], np.int64), f"{node.name}/axis")
            squeezed = self._editor.node("Squeeze", [value, axes], {}, result)
            squeezed.outputs[0].shape = result.shape
            self._graph.insert_before(node, squeezed)
            value = squeezed.outputs[0]
        self._editor.take_place(result, value)
        self._editor.drop_unused([node])

    def _cut(self, node: ir.Node, value: ir.Value, pick: Pick) -> ir.Value:
        """A pick of a value that is there as a whole, before a node takes it."""
        if (value, pick) not in self._cuts:
            array = constant_of(value)
            if array is not None:
                self._cuts[value, pick] = self._editor.constant_like(array.take([pick.index], pick.axis), value)
            else:
                self._cuts[value, pick] = self._cut_by_node(node, value, pick)
        return self._cuts[value, pick]

    def _cut_by_node(self, node: ir.Node, value: ir.Value, pick: Pick) -> ir.Value:
        ends: Sequence[int] = (pick.index, pick.index + 1 or _END, pick.axis)
        inputs = [self._editor.constant(np.array([end], np.int64), f"{value.name}/pick") for end in ends]
        cut = self._editor.node("Slice", [value, *inputs], {}, value)
        assert value.shape is not None
        cut.outputs[0].shape = ir.Shape([1 if at == pick.axis else size for at, size in enumerate(value.shape)])
        self._graph.insert_before(node, cut)
        return cut.outputs[0]
