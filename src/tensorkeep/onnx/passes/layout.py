"""The order of axes, once for the whole model: transposes that are passed on until they meet their inverse.

    Transpose, Conv, Transpose, Add, Relu, Transpose, Conv, Transpose        Transpose, Conv, Add, Relu, Conv, Transpose

Rules of images transpose to ONNX's order of axes and back. Here nodes are gone through in their order. One whose input
is a Transpose, and which could as well be computed before it, is: its axes and constants follow, and the Transpose
comes after it. Two in a row become one or none. One in front of a reduction over rows and columns is gone with these.

A node is computed before a Transpose only if that leaves no more of them: if a later node wants another order anyway,
or if several inputs are transposed in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

import numpy as np
import onnx_ir as ir

from tensorkeep.errors import InvalidArgumentError
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

Order: TypeAlias = tuple[int, ...]
"""The order of axes that a Transpose makes: axis i of its output is axis `order[i]` of its input."""

UNARY: Final = frozenset(
    ("Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "BitwiseNot", "Cast", "Ceil", "Celu", "Clip", "Cos",
     "Cosh", "Elu", "Erf", "Exp", "Floor", "Gelu", "HardSigmoid", "HardSwish", "Identity", "IsInf", "IsNaN",
     "LeakyRelu", "Log", "Mish", "Neg", "Not", "Reciprocal", "Relu", "Round", "Selu", "Shrink", "Sigmoid", "Sign",
     "Sin", "Sinh", "Softplus", "Softsign", "Sqrt", "Swish", "Tan", "Tanh", "ThresholdedRelu")
)  # fmt: skip
ELEMENT_BY_ELEMENT: Final = frozenset(
    ("Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater", "GreaterOrEqual",
     "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or", "Pow", "PRelu", "Sub", "Sum", "Where", "Xor")
)  # fmt: skip
REDUCING: Final = frozenset(
    ("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean", "ReduceMin", "ReduceProd",
     "ReduceSum", "ReduceSumSquare")
)  # fmt: skip
_ALONG: Final = {"Softmax": -1, "LogSoftmax": -1, "Hardmax": -1, "LpNormalization": -1, "TopK": -1}
_ENDS: Final = frozenset(("Reshape", "Flatten", "Shape"))  # of which the outputs have no order of axes of their inputs
_MOST_ROUNDS: Final = 4


def inverse_of(order: Sequence[int]) -> Order:
    return tuple(int(axis) for axis in np.argsort(order))


def is_same(order: Sequence[int]) -> bool:
    return list(order) == list(range(len(order)))


def order_axes(model: ir.Model) -> None:
    """Takes away transposes that cancel each other out, of the model and of the graphs that its nodes have."""
    for graph in graphs_of(model):
        before = _count(graph)
        for _ in range(_MOST_ROUNDS if before else 0):
            _Layout(model, graph).run()
            after = _count(graph)
            if after >= before:
                break
            before = after


def take_channels_first(model: ir.Model, input_name: str) -> None:
    """Lets an input of the model have its channels as the second axis rather than the last; changes the model."""
    found = next((value for value in model.graph.inputs if value.name == input_name), None)
    if found is None:
        names = ", ".join(f'"{value.name}"' for value in model.graph.inputs)
        raise InvalidArgumentError(f'the model has no input "{input_name}": its inputs are {names}')
    rank = rank_of(found)
    if rank is None or rank < 3:
        raise InvalidArgumentError(f'the input "{input_name}" has no channels: expected three axes or more, got {rank}')
    editor = Editor(model)
    back = editor.node("Transpose", [], {"perm": [0, *range(2, rank), 1]}, found)
    old = found.shape
    assert old is not None
    uses = list(found.uses())
    is_output = found.is_graph_output()
    back.resize_inputs(1)
    back.replace_input_with(0, found)
    back.outputs[0].shape = old
    found.shape = ir.Shape([old[0], old[rank - 1], *(old[axis] for axis in range(1, rank - 1))])
    for use in uses:
        use.node.replace_input_with(use.idx, back.outputs[0])
    if is_output:
        model.graph.outputs[model.graph.outputs.index(found)] = back.outputs[0]
    first = next(iter(model.graph), None)
    if first is None:
        model.graph.append(back)
    else:
        model.graph.insert_before(first, back)
    order_axes(model)


def _is_dropped(value: ir.Value) -> bool:
    """Whether the node that makes a value is in no graph any more."""
    producer = value.producer()
    return producer is None or producer.graph is None


def _count(graph: ir.Graph) -> int:
    return sum(is_op(node, "Transpose") for node in graph)


def _order(node: ir.Node | None) -> Order | None:
    """The order that a node makes, if it is a Transpose that says it."""
    if node is None or not is_op(node, "Transpose"):
        return None
    found = ints_attribute(node, "perm")
    if found is None and node.inputs[0] is not None and (rank := rank_of(node.inputs[0])) is not None:
        found = list(range(rank))[::-1]
    return None if found is None else tuple(found)


class _Layout:
    """One pass over the nodes of a graph, in their order."""

    def __init__(self, model: ir.Model, graph: ir.Graph) -> None:
        self.editor = Editor(model)
        self.graph = graph
        self.wanted: set[int] = set()
        self.made: dict[tuple[int, Order], ir.Value] = {}
        self.constants: dict[tuple[int, Order, int], ir.Value] = {}
        self._keep: list[ir.Value] = []  # so that no identity of a value is used twice

    def run(self) -> None:
        nodes = list(self.graph)
        for node in reversed(nodes):
            self._note_wanted(node)
        for node in nodes:
            if is_op(node, "Transpose"):
                self._join(node)
            elif not node.domain:
                push = _HOW.get(node.op_type)
                if push is not None:
                    push(self, node)
        transposes = [node for node in self.graph if is_op(node, "Transpose")]
        self.editor.drop_unused(transposes)
        for node in [node for node in self.graph if is_op(node, "Transpose")]:
            self._over_padding(node)
            self._as_reshape(node)

    def _note_wanted(self, node: ir.Node) -> None:
        """Whether a node, or one that comes after it, transposes or loses the order of what it is given."""
        wants = is_op(node, "Transpose") or is_op(node, *REDUCING)
        if (
            not wants
            and not node.domain
            and node.op_type in _HOW
            and node.op_type not in ("Reshape", "Flatten", "Shape")
        ):
            wants = any(id(value) in self.wanted for value in node.outputs)
        if wants:
            self.wanted.update(id(value) for value in node.inputs if value is not None and not value.is_initializer())

    def before(self, value: ir.Value | None) -> tuple[ir.Value, Order] | None:
        """What a value is before its Transpose, and the order that that makes; None if it is made by another node."""
        if value is None:
            return None
        producer = value.producer()
        order = _order(producer)
        if order is None or producer is None or producer.inputs[0] is None or producer.graph is not self.graph:
            return None
        return producer.inputs[0], order

    # ------------------------------------------------------------------------------------------------ transposes

    def _join(self, node: ir.Node) -> None:
        """Makes one of a Transpose and the one before it."""
        order, earlier = _order(node), self.before(node.inputs[0])
        if order is None:
            return
        source = node.inputs[0]
        if earlier is not None:
            source, first = earlier
            order = tuple(first[axis] for axis in order)
            node.replace_input_with(0, source)
            node.attributes["perm"] = ir.AttrInt64s("perm", order)
        assert source is not None
        if is_same(order):
            self.editor.take_place(node.outputs[0], source)
            return
        known = self.made.setdefault((id(source), order), node.outputs[0])
        self._keep.append(source)
        if known is not node.outputs[0]:
            self.editor.take_place(node.outputs[0], known)

    def transposed(self, value: ir.Value, order: Order) -> ir.Value:
        """A value in another order, for a node to take."""
        key = id(value), order
        if key not in self.made or _is_dropped(self.made[key]):
            node = self.editor.node("Transpose", [value], {"perm": list(order)}, value)
            if value.shape is not None:
                node.outputs[0].shape = ir.Shape([value.shape[axis] for axis in order])
            producer = value.producer()
            if producer is not None and producer.graph is self.graph:
                self.graph.insert_after(producer, node)
            else:
                first = next(iter(self.graph))
                self.graph.insert_before(first, node)
            self.made[key] = node.outputs[0]
            self._keep.append(value)
        return self.made[key]

    def passed_on(self, node: ir.Node, orders: Sequence[Order | None]) -> None:
        """Puts a Transpose after each output of a node, which is computed in another order from now on."""
        for output, order in zip(list(node.outputs), orders, strict=True):
            shape = output.shape
            if order is None or is_same(order):
                continue
            after = self.editor.node("Transpose", [], {"perm": list(order)}, output)
            result = after.outputs[0]
            self.editor.take_place(output, result)
            after.resize_inputs(1)
            after.replace_input_with(0, output)
            result.shape = shape
            if shape is not None:
                output.shape = ir.Shape([shape[axis] for axis in inverse_of(order)])
            if id(output) in self.wanted:
                self.wanted.add(id(result))
            self.graph.insert_after(node, after)
            self.made[id(output), order] = result
            self._keep += [output, result]

    def _over_padding(self, node: ir.Node) -> None:
        """Puts a Transpose before the Pad that it comes after, so that a convolution may take that."""
        order, value = _order(node), node.inputs[0]
        pad = None if value is None else value.producer()
        if order is None or pad is None or value is None or not is_op(pad, "Pad") or pad.graph is not self.graph:
            return
        pads, source = ints_of(input_at(pad, 1)), pad.inputs[0]
        if pads is None or source is None or input_at(pad, 3) is not None or only_user(value) is not node:
            return
        rank = len(order)
        moved = [pads[end * rank + axis] for end in (0, 1) for axis in order]
        before = self.transposed(source, order)
        pad.replace_input_with(0, before)
        pad.replace_input_with(1, self.editor.constant(np.array(moved, np.int64), f"{pad.name}/pads"))
        if value.shape is not None:
            value.shape = ir.Shape([value.shape[axis] for axis in order])
        self.editor.take_place(node.outputs[0], value)
        self.editor.drop_unused([node])

    def _as_reshape(self, node: ir.Node) -> None:
        """A Transpose that moves axes of size 1 only is a Reshape, which costs nothing."""
        order, source = _order(node), node.inputs[0]
        if node.graph is None or order is None or source is None or not self.moves_nothing(source, order):
            return
        sizes = [size_of(source, axis) for axis in order]
        wanted = [size if size is not None else 0 if order[at] == at else -1 for at, size in enumerate(sizes)]
        if wanted.count(-1) > 1 or 0 in [size for size in sizes if size is not None]:
            return
        shape = self.editor.constant(np.array(wanted, np.int64), f"{node.outputs[0].name}/shape")
        reshape = self.editor.node("Reshape", [source, shape], {}, node.outputs[0])
        self.graph.insert_after(node, reshape)
        reshape.outputs[0].shape = node.outputs[0].shape
        self.editor.take_place(node.outputs[0], reshape.outputs[0])
        self.editor.drop_unused([node])

    def moves_nothing(self, source: ir.Value, order: Order) -> bool:
        """Whether an order leaves all axes in their places but those of size 1."""
        if source.shape is None:
            return False
        moved = [axis for axis in order if size_of(source, axis) != 1]
        return moved == sorted(moved)

    # -------------------------------------------------------------------------------- how nodes are computed before

    def should_pass(self, node: ir.Node, transposed: int, others: int) -> bool:
        """Whether fewer transposes are left if a node is computed before them.

        Left as it is, each transposed input keeps its Transpose, and one follows if a later node wants it. Otherwise
        each other input gets one, and one follows if no later node wants to be rid of it. Where both are the same,
        a node that follows a convolution alone is computed before, as that may take its constants.
        """
        wanted = any(id(value) in self.wanted for value in node.outputs)
        left, passed = transposed + wanted, others + (not wanted)
        return passed < left or (passed == left and self._follows_images(node))

    def _follows_images(self, node: ir.Node) -> bool:
        """Whether all that is transposed are images that no other node takes, or moves axes of size 1 only."""
        for value in node.inputs:
            found = self.before(value)
            if found is None or value is None:
                continue
            rank = len(found[1])
            is_of_images = found[1] == (0, *range(2, rank), 1) and only_user(value) is node
            if not is_of_images and not self.moves_nothing(*found):
                return False
        return True

    def unary(self, node: ir.Node) -> None:
        found = self.before(node.inputs[0])
        if found is not None and self.should_pass(node, 1, 0):
            node.replace_input_with(0, found[0])
            self.passed_on(node, [found[1]])

    def together(self, node: ir.Node) -> None:
        """Nodes that combine their inputs element by element, small ones spread over large ones."""
        before = [self.before(value) for value in node.inputs]
        orders = {found[1] for found in before if found is not None}
        if not orders:
            return
        order = max(orders, key=lambda item: (sum(f is not None and f[1] == item for f in before), len(item), item))
        rank, back, others = len(order), inverse_of(order), 0
        for value, found in zip(node.inputs, before, strict=True):
            if value is None:
                return
            if found is not None and found[1] == order:
                continue
            others_rank = rank_of(value)
            if others_rank is None or others_rank > rank:
                return
            if constant_of(value) is not None or others_rank == 0:
                continue
            if others_rank < rank:
                return
            others += not self.moves_nothing(value, back)
        same = {id(found[0]) for found in before if found is not None and found[1] == order}
        if not self.should_pass(node, len(same), others):
            return
        for at, (value, found) in enumerate(zip(list(node.inputs), before, strict=True)):
            assert value is not None
            if found is not None and found[1] == order:
                node.replace_input_with(at, found[0])
            elif constant_of(value) is not None:
                node.replace_input_with(at, self.reordered_constant(value, back))
            elif rank_of(value) != 0:
                node.replace_input_with(at, self.transposed(value, back))
        self.passed_on(node, [order])

    def reordered_constant(self, value: ir.Value, back: Order) -> ir.Value:
        """A constant that is spread over values of another order, in that order; without axes of size 1 in front."""
        array = constant_of(value)
        assert array is not None
        if array.size == 1:
            return value
        key = id(value), back, len(back)
        if key not in self.constants:
            whole = array.reshape((1,) * (len(back) - array.ndim) + array.shape).transpose(back)
            while whole.shape[0] == 1:
                whole = whole[0]
            self.constants[key] = self.editor.constant_like(whole, value)
        return self.constants[key]

    def joined(self, node: ir.Node) -> None:
        """Concat: as what combines elements, but for its axis."""
        before = [self.before(value) for value in node.inputs]
        orders = [found[1] for found in before if found is not None]
        if not orders:
            return
        order = max(set(orders), key=lambda item: (orders.count(item), item))
        back, others = inverse_of(order), 0
        for value, found in zip(node.inputs, before, strict=True):
            if value is None or (found is None and rank_of(value) != len(order)):
                return
            is_here = (found is not None and found[1] == order) or constant_of(value) is not None
            others += not is_here and not self.moves_nothing(value, back)
        if not self.should_pass(node, orders.count(order), others):
            return
        for at, (value, found) in enumerate(zip(list(node.inputs), before, strict=True)):
            assert value is not None
            if found is not None and found[1] == order:
                node.replace_input_with(at, found[0])
            elif (array := constant_of(value)) is not None:
                node.replace_input_with(at, self.editor.constant_like(array.transpose(back), value))
            else:
                node.replace_input_with(at, self.transposed(value, back))
        self._set_axis(node, order, 0)
        self.passed_on(node, [order])

    def along(self, node: ir.Node) -> None:
        """Nodes that work along one axis: softmax, split, cumulated sums."""
        found = self.before(node.inputs[0])
        if found is None or not self.should_pass(node, 1, 0):
            return
        source, order = found
        if node.op_type == "CumSum":
            axes = ints_of(input_at(node, 1))
            if axes is None:
                return
            node.replace_input_with(1, self.editor.constant(np.array(order[axes[0]], np.int64), f"{node.name}/axis"))
        else:
            self._set_axis(node, order, _ALONG.get(node.op_type, 0))
        node.replace_input_with(0, source)
        self.passed_on(node, [order] * len(node.outputs))

    def _set_axis(self, node: ir.Node, order: Order, otherwise: int) -> None:
        node.attributes["axis"] = ir.AttrInt64("axis", order[int_attribute(node, "axis", otherwise)])

    def reduced(self, node: ir.Node) -> None:
        """Reductions: done before the Transpose, over the places that the same axes have there."""
        found = self.before(node.inputs[0])
        if found is None:
            return
        source, order = found
        rank, keeps = len(order), int_attribute(node, "keepdims", 1) == 1
        given = input_at(node, 1)
        axes = ints_attribute(node, "axes") if given is None else ints_of(given)
        if axes is None and given is not None:
            return
        if not axes:
            if int_attribute(node, "noop_with_empty_axes", 0):
                return
            chosen = list(range(rank))
        else:
            chosen = sorted(order[axis] for axis in axes)
        after = order if keeps else self._without(order, chosen)
        if keeps and len(chosen) == rank:
            after = tuple(range(rank))
        if not is_same(after) and not self.should_pass(node, 1, 0):
            return
        node.replace_input_with(0, source)
        if axes:
            self._set_axes(node, chosen, given)
        self.passed_on(node, [after])

    def _set_axes(self, node: ir.Node, axes: list[int], given: ir.Value | None, position: int = 1) -> None:
        if given is None:
            node.attributes["axes"] = ir.AttrInt64s("axes", axes)
        else:
            made = self.editor.constant(np.array(axes, np.int64), f"{node.name}/axes")
            node.replace_input_with(position, made)

    @staticmethod
    def _without(order: Order, gone: Sequence[int]) -> Order:
        """The order of the axes that are left when some are gone, numbered anew."""
        left = [axis for axis in order if axis not in gone]
        return tuple(sorted(left).index(axis) for axis in left)

    def chosen(self, node: ir.Node) -> None:
        """ArgMax and ArgMin: reductions of one axis, which is kept with size 1 or dropped."""
        found = self.before(node.inputs[0])
        if found is None:
            return
        source, order = found
        axis = order[int_attribute(node, "axis", 0)]
        after = order if int_attribute(node, "keepdims", 1) else self._without(order, [axis])
        if is_same(after) or self.should_pass(node, 1, 0):
            node.attributes["axis"] = ir.AttrInt64("axis", axis)
            node.replace_input_with(0, source)
            self.passed_on(node, [after])

    def sliced(self, node: ir.Node) -> None:
        found, axes = self.before(node.inputs[0]), ints_of(input_at(node, 3))
        if found is None or axes is None or not self.should_pass(node, 1, 0):
            return
        source, order = found
        node.replace_input_with(0, source)
        self._set_axes(node, [order[axis] for axis in axes], node.inputs[3], 3)
        self.passed_on(node, [order])

    def padded(self, node: ir.Node) -> None:
        found, pads = self.before(node.inputs[0]), ints_of(input_at(node, 1))
        axes = input_at(node, 3)
        if found is None or pads is None or not self.should_pass(node, 1, 0):
            return
        source, order = found
        rank = len(order)
        if axes is not None:
            known = ints_of(axes)
            if known is None:
                return
            self._set_axes(node, [order[axis] for axis in known], axes, 3)
        else:
            moved = [pads[end * rank + axis] for end in (0, 1) for axis in inverse_of(order)]
            node.replace_input_with(1, self.editor.constant(np.array(moved, np.int64), f"{node.name}/pads"))
        node.replace_input_with(0, source)
        self.passed_on(node, [order])

    def spread(self, node: ir.Node) -> None:
        """Tile and Expand: a number for each axis."""
        found, counts = self.before(node.inputs[0]), ints_of(input_at(node, 1))
        if found is None or counts is None or len(counts) != len(found[1]) or not self.should_pass(node, 1, 0):
            return
        source, order = found
        moved = [counts[axis] for axis in inverse_of(order)]
        node.replace_input_with(0, source)
        node.replace_input_with(1, self.editor.constant(np.array(moved, np.int64), f"{node.name}/counts"))
        self.passed_on(node, [order])

    def resized(self, node: ir.Node) -> None:
        """Resize by factors, one for each axis."""
        found, factors = self.before(node.inputs[0]), constant_of(input_at(node, 2))
        if found is None or factors is None or factors.size != len(found[1]) or "axes" in node.attributes:
            return
        if input_at(node, 1) is not None or input_at(node, 3) is not None or not self.should_pass(node, 1, 0):
            return
        source, order = found
        node.replace_input_with(0, source)
        node.replace_input_with(2, self.editor.constant(factors[list(inverse_of(order))], f"{node.name}/factors"))
        self.passed_on(node, [order])

    def squeezed(self, node: ir.Node) -> None:
        found, axes = self.before(node.inputs[0]), ints_of(input_at(node, 1))
        if found is None or axes is None:
            return
        source, order = found
        gone = sorted(order[axis] for axis in axes)
        after = self._without(order, gone)
        if is_same(after) or self.should_pass(node, 1, 0):
            node.replace_input_with(0, source)
            self._set_axes(node, gone, node.inputs[1])
            self.passed_on(node, [after])

    def unsqueezed(self, node: ir.Node) -> None:
        found, axes = self.before(node.inputs[0]), ints_of(input_at(node, 1))
        if found is None or axes is None or not self.should_pass(node, 1, 0):
            return
        source, order = found
        rank = len(order) + len(axes)
        new = {axis % rank for axis in axes}
        old = [axis for axis in range(rank) if axis not in new]
        places = iter(order)
        after = tuple(axis if axis in new else old[next(places)] for axis in range(rank))
        of_images = (0, *range(2, rank), 1)
        if self._without(of_images, [of_images[axis] for axis in new]) == order:
            after = of_images  # so that it meets others of this order
        node.replace_input_with(0, source)
        self._set_axes(node, sorted(after[axis] for axis in new), node.inputs[1])
        self.passed_on(node, [after])

    def gathered(self, node: ir.Node) -> None:
        found, indices = self.before(node.inputs[0]), input_at(node, 1)
        rank = None if indices is None else rank_of(indices)
        if found is None or rank is None or rank > 1:
            return
        source, order = found
        axis = order[int_attribute(node, "axis", 0)]
        after = order if rank == 1 else self._without(order, [axis])
        if is_same(after) or self.should_pass(node, 1, 0):
            node.attributes["axis"] = ir.AttrInt64("axis", axis)
            node.replace_input_with(0, source)
            self.passed_on(node, [after])

    def measured(self, node: ir.Node) -> None:
        """Shape: that of the value before the Transpose, with its elements in the Transpose's order."""
        found = self.before(node.inputs[0])
        if found is None:
            return
        source, order = found
        start, end = int_attribute(node, "start", 0), int_attribute(node, "end", len(order))
        wanted = list(range(len(order))[start:end])
        moved = [order[axis] for axis in wanted]
        node.replace_input_with(0, source)
        if moved == wanted:
            return
        for name in ("start", "end"):
            node.attributes.pop(name, None)
        output = node.outputs[0]
        shape = output.shape
        places = self.editor.constant(np.array(moved, np.int64), f"{node.name}/places")
        gather = self.editor.node("Gather", [], {"axis": 0}, output)
        self.editor.take_place(output, gather.outputs[0])
        gather.resize_inputs(2)
        gather.replace_input_with(0, output)
        gather.replace_input_with(1, places)
        gather.outputs[0].shape = shape
        output.shape = ir.Shape([len(order)])
        self.graph.insert_after(node, gather)

    def reshaped(self, node: ir.Node) -> None:
        """Reshape and Flatten, to which the places of axes of size 1 are all the same."""
        found = self.before(node.inputs[0])
        if found is None or not self.moves_nothing(*found):
            return
        source, order = found
        if node.op_type == "Reshape":
            sizes = ints_of(input_at(node, 1))
            if sizes is None or int_attribute(node, "allowzero", 0):
                return
            if any(size == 0 and order[at] != at for at, size in enumerate(sizes)):
                return
        else:
            axis = int_attribute(node, "axis", 1) % (len(order) + 1)
            if sorted(order[:axis]) != list(range(axis)):
                return
        node.replace_input_with(0, source)


_HOW: Final[dict[str, Callable[[_Layout, ir.Node], None]]] = {
    **dict.fromkeys(UNARY, _Layout.unary),
    **dict.fromkeys(ELEMENT_BY_ELEMENT, _Layout.together),
    **dict.fromkeys(REDUCING, _Layout.reduced),
    **dict.fromkeys((*_ALONG, "Split", "CumSum"), _Layout.along),
    **dict.fromkeys(("ArgMax", "ArgMin"), _Layout.chosen),
    **dict.fromkeys(("Tile", "Expand"), _Layout.spread),
    **dict.fromkeys(("Reshape", "Flatten"), _Layout.reshaped),
    "Concat": _Layout.joined,
    "Slice": _Layout.sliced,
    "Pad": _Layout.padded,
    "Resize": _Layout.resized,
    "Squeeze": _Layout.squeezed,
    "Unsqueeze": _Layout.unsqueezed,
    "Gather": _Layout.gathered,
    "Shape": _Layout.measured,
}
