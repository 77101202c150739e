"""Whether a model computes each row of a batch by itself, so that it can be given some rows at a time.

Followed through the model's graph, operator by operator, is where the rows of the batch lie in each value: along which
axis, and how many elements of that axis belong to each row, which is more than one where axes were joined. An operator
that is not known here, and one that might put something of two rows together, ends it: then nothing is said of the
model. A value that has no rows is the same for all of them. What is known holds for runs in which all inputs that have
rows have as many of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple, TypeAlias

import onnx_ir as ir

from tensorkeep.onnx.passes.editing import input_at, int_attribute, ints_attribute, ints_of, rank_of


class _Rows(NamedTuple):
    """Where the rows of a batch lie in a value: this axis has so many elements of each, one row after the other."""

    axis: int
    each: int = 1


class _NotByRowError(Exception):
    """What follows is not known to be computed row by row."""


_Where: TypeAlias = "dict[ir.Value, _Rows | None]"
_Rule: TypeAlias = "Callable[[_Where, ir.Node], _Rows | None]"


def inputs_by_row(model: ir.Model, names: Iterable[str]) -> frozenset[str]:
    """Those of the inputs `names` whose rows, the elements of their first axes, a model computes each by itself; its
    outputs then have the results of the rows in their order. Empty if that is not known.
    """
    graph, may_have_rows = model.graph, frozenset(names)
    where: _Where = {}
    for value in graph.inputs:
        has_size = value.shape is None or not len(value.shape) or isinstance(value.shape[0], int)
        where[value] = None if has_size or value.name not in may_have_rows else _Rows(0)
    try:
        for node in graph:
            _follow(where, node)
    except _NotByRowError:
        return frozenset()
    if any(where.get(value) != _Rows(0) for value in graph.outputs):
        return frozenset()
    return frozenset(value.name or "" for value in graph.inputs if where[value] is not None)


def _follow(where: _Where, node: ir.Node) -> None:
    rule = None if node.domain else _RULES.get(node.op_type)
    if rule is None:
        raise _NotByRowError
    found = rule(where, node)
    for value in node.outputs:
        where[value] = found


def _rows(where: _Where, value: ir.Value | None) -> _Rows | None:
    return None if value is None else where.get(value)


def _only_first(where: _Where, node: ir.Node) -> _Rows | None:
    """Where the rows of a node's first input are, if no other input has any."""
    if any(_rows(where, value) for value in node.inputs[1:]):
        raise _NotByRowError
    return _rows(where, node.inputs[0])


def _rank(value: ir.Value | None) -> int:
    found = None if value is None else rank_of(value)
    if found is None:
        raise _NotByRowError
    return found


def _known_axes(node: ir.Node, at: int) -> list[int]:
    """The axes that an input or, before, an attribute names, counted from the first; an error if they are not known."""
    axes = ints_of(input_at(node, at)) or ints_attribute(node, "axes")
    if not axes:
        raise _NotByRowError
    return axes


# ---------------------------------------------------------------------------------------------------------- operators


def _element_by_element(where: _Where, node: ir.Node) -> _Rows | None:
    """Axes are counted from the last; a value without rows has one element along the axis, or none."""
    found: set[tuple[int, int]] = set()
    for value in node.inputs:
        if (rows := _rows(where, value)) is not None:
            found.add((rows.axis - _rank(value), rows.each))
    if not found:
        return None
    if len(found) > 1:
        raise _NotByRowError
    ((from_last, each),) = found
    taken = [value for value in node.inputs if value is not None]
    for value in taken:
        if _rows(where, value) is None:
            _see_alike(value, from_last)
    return _Rows(max(map(_rank, taken)) + from_last, each)


def _see_alike(value: ir.Value, from_last: int) -> None:
    """An error if a value without rows may not have the same for each: has more than one element along their axis."""
    rank = _rank(value)
    assert value.shape is not None
    if rank + from_last >= 0 and value.shape[rank + from_last] != 1:
        raise _NotByRowError


def _of_first_axis(where: _Where, node: ir.Node) -> _Rows | None:
    """Of images: the first axis of the first input has the rows. Places of largest elements, and what training gives
    besides, are of all images together.
    """
    rows = _only_first(where, node)
    if rows is not None and (rows.axis or len(node.outputs) > 1 or int_attribute(node, "training_mode", 0)):
        raise _NotByRowError
    return rows


def _of_other_axes(*, from_axis: bool, otherwise: int) -> _Rule:
    """For what mixes elements along one axis, or along all from one axis on."""

    def rule(where: _Where, node: ir.Node) -> _Rows | None:
        rows = _only_first(where, node)
        if rows is not None:
            rank = _rank(node.inputs[0])
            axis = int_attribute(node, "axis", otherwise) % rank
            if axis == rows.axis or (from_axis and axis < rows.axis):
                raise _NotByRowError
            for value in node.inputs[1:]:
                if value is not None:
                    _see_alike(value, rows.axis - rank)
        return rows

    return rule


def _joined(where: _Where, node: ir.Node) -> _Rows | None:
    found = {_rows(where, value) for value in node.inputs}
    if len(found) > 1:
        raise _NotByRowError
    (rows,) = found
    if rows is not None and int_attribute(node, "axis", 0) % _rank(node.inputs[0]) == rows.axis:
        raise _NotByRowError
    return rows


def _turned(where: _Where, node: ir.Node) -> _Rows | None:
    rows = _only_first(where, node)
    if rows is None:
        return None
    order = ints_attribute(node, "perm") or list(reversed(range(_rank(node.inputs[0]))))
    return _Rows(order.index(rows.axis), rows.each)


def _squeezed(where: _Where, node: ir.Node) -> _Rows | None:
    rows = _only_first(where, node)
    if rows is None:
        return None
    rank = _rank(node.inputs[0])
    gone = [axis % rank for axis in _known_axes(node, 1)]
    if rows.axis in gone:
        raise _NotByRowError
    return _Rows(rows.axis - sum(axis < rows.axis for axis in gone), rows.each)


def _unsqueezed(where: _Where, node: ir.Node) -> _Rows | None:
    rows = _only_first(where, node)
    if rows is None:
        return None
    axes = _known_axes(node, 1)
    rank = _rank(node.inputs[0]) + len(axes)
    new = {axis % rank for axis in axes}
    return _Rows([axis for axis in range(rank) if axis not in new][rows.axis], rows.each)


def _reshaped(where: _Where, node: ir.Node) -> _Rows | None:
    """Rows stay apart if their axis stays, with all before it, or if it is the first and is one part of the new first
    axis or a multiple of it.
    """
    rows = _only_first(where, node)
    if rows is None:
        return None
    sizes = ints_of(input_at(node, 1))
    if sizes is None or int_attribute(node, "allowzero", 0):
        raise _NotByRowError
    if len(sizes) > rows.axis and not any(sizes[: rows.axis + 1]):
        return rows
    if rows.axis or not sizes or sizes[0] != -1:
        raise _NotByRowError
    rest = _sizes_after_first(node.inputs[0])
    new = [size or (rest[at] if at < len(rest) else 0) for at, size in enumerate(sizes[1:])]
    if not all(new):
        raise _NotByRowError
    each, left = divmod(rows.each * math.prod(rest), math.prod(new))
    if left or not each:
        raise _NotByRowError
    return _Rows(0, each)


def _sizes_after_first(value: ir.Value | None) -> list[int]:
    """The sizes of the axes after the first, which have to be known, and not to be zero."""
    shape = None if value is None else value.shape
    sizes = [] if shape is None else [size for size in list(shape)[1:] if isinstance(size, int) and size > 0]
    if shape is None or len(sizes) != len(shape) - 1:
        raise _NotByRowError
    return sizes


def _flattened(where: _Where, node: ir.Node) -> _Rows | None:
    rows = _only_first(where, node)
    if rows is not None and (rows.axis or int_attribute(node, "axis", 1) != 1):
        raise _NotByRowError
    return rows


def _cut(where: _Where, node: ir.Node) -> _Rows | None:
    rows = _only_first(where, node)
    if rows is not None and rows.axis in [axis % _rank(node.inputs[0]) for axis in _known_axes(node, 3)]:
        raise _NotByRowError
    return rows


def _split(where: _Where, node: ir.Node) -> _Rows | None:
    rows = _only_first(where, node)
    if rows is not None and int_attribute(node, "axis", 0) % _rank(node.inputs[0]) == rows.axis:
        raise _NotByRowError
    return rows


def _picked(where: _Where, node: ir.Node) -> _Rows | None:
    of, by = _rows(where, node.inputs[0]), _rows(where, node.inputs[1])
    if of is None and by is None:
        return None
    axis = int_attribute(node, "axis", 0) % _rank(node.inputs[0])
    if of is None and by is not None:
        return _Rows(axis + by.axis, by.each)
    if of is None or by is not None or axis == of.axis:
        raise _NotByRowError
    return _Rows(of.axis - 1 + _rank(node.inputs[1]) if axis < of.axis else of.axis, of.each)


def _multiplied(where: _Where, node: ir.Node) -> _Rows | None:
    left, right = node.inputs
    of_left, of_right = _rows(where, left), _rows(where, right)
    if of_left is None and of_right is None:
        return None
    ranks = _rank(left), _rank(right)
    if min(ranks) < 2:
        raise _NotByRowError
    places = {
        (rows.axis - rank, rows.each) for rows, rank in zip((of_left, of_right), ranks, strict=True) if rows is not None
    }
    if len(places) > 1:
        raise _NotByRowError
    ((from_last, each),) = places
    if from_last == -1 or (of_right is not None and from_last == -2):  # along this axis, products are summed
        raise _NotByRowError
    if from_last < -2:
        for value, rows in ((left, of_left), (right, of_right)):
            if value is not None and rows is None:
                _see_alike(value, from_last)
    return _Rows(max(ranks) + from_last, each)


def _multiplied_matrices(where: _Where, node: ir.Node) -> _Rows | None:
    rows = _only_first(where, node)
    if rows is None:
        return None
    if rows.axis or int_attribute(node, "transA", 0):
        raise _NotByRowError
    if (added := input_at(node, 2)) is not None:
        _see_alike(added, -2)
    return rows


def _reduced(where: _Where, node: ir.Node) -> _Rows | None:
    rows = _only_first(where, node)
    if rows is None:
        return None
    rank = _rank(node.inputs[0])
    axes = {axis % rank for axis in _known_axes(node, 1)}
    if rows.axis in axes:
        raise _NotByRowError
    gone = 0 if int_attribute(node, "keepdims", 1) else sum(axis < rows.axis for axis in axes)
    return _Rows(rows.axis - gone, rows.each)


def _padded(where: _Where, node: ir.Node) -> _Rows | None:
    rows = _only_first(where, node)
    if rows is None:
        return None
    amounts, rank = ints_of(input_at(node, 1)), _rank(node.inputs[0])
    if input_at(node, 3) is not None or amounts is None or amounts[rows.axis] or amounts[rows.axis + rank]:
        raise _NotByRowError
    return rows


def _resized(where: _Where, node: ir.Node) -> _Rows | None:
    rows = _only_first(where, node)
    if rows is None:
        return None
    scales = input_at(node, 2)
    known = None if scales is None or scales.const_value is None else scales.const_value.numpy()
    if known is None or known.size != _rank(node.inputs[0]) or known[rows.axis] != 1:
        raise _NotByRowError
    return rows


_RULES: Final[Mapping[str, _Rule]] = {
    **dict.fromkeys(
        ("Abs", "Add", "And", "Cast", "Ceil", "Clip", "Cos", "Div", "Elu", "Equal", "Erf", "Exp", "Floor", "Gelu",
         "Greater", "GreaterOrEqual", "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Less", "LessOrEqual", "Log",
         "Max", "Min", "Mish", "Mod", "Mul", "Neg", "Not", "Or", "PRelu", "Pow", "Reciprocal", "Relu", "Round", "Selu",
         "Sigmoid", "Sign", "Sin", "Softplus", "Softsign", "Sqrt", "Sub", "Sum", "Tanh", "ThresholdedRelu", "Where",
         "Xor"),
        _element_by_element,
    ),
    **dict.fromkeys(
        ("AveragePool", "BatchNormalization", "Conv", "ConvTranspose", "DepthToSpace", "GlobalAveragePool",
         "GlobalMaxPool", "LRN", "MaxPool", "SpaceToDepth"),
        _of_first_axis,
    ),
    **dict.fromkeys(
        ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin",
         "ReduceProd", "ReduceSum", "ReduceSumSquare"),
        _reduced,
    ),
    **dict.fromkeys(("Softmax", "LogSoftmax"), _of_other_axes(from_axis=False, otherwise=-1)),
    "LayerNormalization": _of_other_axes(from_axis=True, otherwise=-1),
    "Concat": _joined,
    "Flatten": _flattened,
    "Gather": _picked,
    "Gemm": _multiplied_matrices,
    "MatMul": _multiplied,
    "Pad": _padded,
    "Reshape": _reshaped,
    "Resize": _resized,
    "Slice": _cut,
    "Split": _split,
    "Squeeze": _squeezed,
    "Transpose": _turned,
    "Unsqueeze": _unsqueezed,
}  # fmt: skip
"""Where the rows of what an operator gives are, by where those of what it takes are."""
