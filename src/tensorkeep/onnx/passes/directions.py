"""Recurrent layers that run from the last step to the first, and two that run both ways, made one operator.

LSTM(turned(x)), its outputs turned again           LSTM(x, direction="reverse")
LSTM(x) and LSTM(x, direction="reverse")            LSTM(x, direction="bidirectional")
Concat of the outputs of both                       Transpose and Reshape of those of one
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import onnx_ir as ir

from tensorkeep.arrays import Array
from tensorkeep.onnx.recurrent.lengths import turns_around, unbounded_lengths, uncast
from tensorkeep.onnx.tensor_lists import same_value

_RECURRENT: Final = frozenset(("LSTM", "GRU", "RNN"))
_LENGTHS: Final = 4  # which input has the lengths of sequences
_ZERO: Final = ir.AttrInt64("axis", 0)
_USUAL: Final = {"LSTM": ["Sigmoid", "Tanh", "Tanh"], "GRU": ["Sigmoid", "Tanh"], "RNN": ["Tanh"]}


def join_directions(model: ir.Model) -> None:
    """Makes layers over turned sequences run backwards, and pairs of layers over one sequence run both ways."""
    graph = model.graph
    for node in list(graph):
        _drop_row_of_one(graph, node)
    for node in [node for node in graph if node.op_type in _RECURRENT and not node.domain]:
        _run_backwards(graph, node)
    layers = [node for node in graph if node.op_type in _RECURRENT and not node.domain]
    for forward in layers:
        for backward in layers:
            if forward.graph is graph and backward.graph is graph and _fit(forward, backward):
                _join(graph, forward, backward)


def _drop_row_of_one(graph: ir.Graph, node: ir.Node) -> None:
    """Takes out a Gather of the only row of what an Unsqueeze made: that row is the Unsqueeze's input."""
    if node.op_type != "Gather" or node.inputs[0] is None or (node.attributes.get("axis") or _ZERO).as_int():
        return
    maker = node.inputs[0].producer()
    if maker is None or maker.op_type != "Unsqueeze" or maker.inputs[0] is None or maker.inputs[1] is None:
        return
    axes, index = (None if value is None else value.const_value for value in (maker.inputs[1], node.inputs[1]))
    if axes is None or index is None or axes.numpy().tolist() != [0] or index.numpy().ndim:
        return
    _replace(graph, node.outputs[0], maker.inputs[0], node)


def _direction(node: ir.Node) -> str:
    attr = node.attributes.get("direction")
    return "forward" if attr is None else attr.as_string()


def _given_input(node: ir.Node, place: int) -> ir.Value | None:
    return node.inputs[place] if place < len(node.inputs) else None


# ---------------------------------------------------------------------------------------------------- backwards


def _run_backwards(graph: ir.Graph, node: ir.Node) -> None:
    """A layer over a turned sequence, whose outputs are turned again if they are used at all."""
    if _direction(node) != "forward" or node.inputs[0] is None:
        return
    lengths = _given_input(node, _LENGTHS)
    source = _unturned_sequence(graph, node.inputs[0], node, lengths)
    if source is None:
        return
    turned = list(_turned_again(node.outputs[0], 0, lengths))
    if None in turned:
        _detach_new(source, node.inputs[0])
        return
    node.replace_input_with(0, source)
    node.attributes["direction"] = ir.AttrString("direction", "reverse")
    for again in turned:
        assert again is not None
        value, result = again.inputs[0], again.outputs[0]
        assert value is not None
        _replace(graph, result, value, again)


def _detach_new(source: ir.Value, old: ir.Value) -> None:
    """Takes out a Transpose that was added and that nothing uses."""
    maker = source.producer()
    if maker is not None and maker.op_type == "Transpose" and not source.uses() and maker.graph is not None:
        maker.graph.remove(maker, safe=True)


def _unturned_sequence(graph: ir.Graph, value: ir.Value, before: ir.Node, lengths: ir.Value | None) -> ir.Value | None:
    """A sequence before its steps, which are along the first axis, were turned; None if they were not."""
    maker = value.producer()
    if maker is None:
        return None
    if _turns(maker, 0, lengths):
        return maker.inputs[0]
    if maker.op_type != "Transpose" or maker.inputs[0] is None or "perm" not in maker.attributes:
        return None
    order = list(maker.attributes["perm"].as_ints())
    turning = maker.inputs[0].producer()
    if turning is None or not _turns(turning, order[0], lengths):
        return None
    made = ir.Node("", "Transpose", [turning.inputs[0]], [ir.AttrInt64s("perm", order)], name=f"{maker.name}/unturned")
    made.outputs[0].name = f"{value.name}/unturned"
    made.outputs[0].shape, made.outputs[0].type = value.shape, value.type
    graph.insert_before(before, made)
    return made.outputs[0]


def _turns(node: ir.Node, axis: int, lengths: ir.Value | None) -> bool:
    """Whether a node turns one axis around, and no other: as far as the lengths of sequences go, if there are any."""
    if lengths is not None:
        if node.op_type != "ReverseSequence" or node.inputs[1] is None:
            return False
        steps = node.attributes.get("time_axis")
        return (steps or _ZERO).as_int() == axis and same_value(uncast(node.inputs[1]), unbounded_lengths(lengths))
    if not turns_around(node) or node.inputs[3] is None or node.inputs[3].const_value is None:
        return False
    value = node.inputs[0]
    axes = [int(item) for item in node.inputs[3].const_value.numpy().reshape(-1)]
    if value is None or value.shape is None or len(axes) != 1:
        return False
    return axes[0] % len(value.shape) == axis


def _turned_again(value: ir.Value, axis: int, lengths: ir.Value | None) -> Iterator[ir.Node | None]:
    """The nodes that turn a layer's outputs; None where they are used in another way."""
    if value.is_graph_output():
        yield None
    for user, _ in value.uses():
        if _turns(user, axis, lengths):
            yield user
        elif user.op_type == "Squeeze" and value.shape is not None and len(value.shape) == 4:
            yield from _turned_again(user.outputs[0], axis, lengths)
        elif user.op_type == "Transpose" and "perm" in user.attributes:
            order = list(user.attributes["perm"].as_ints())
            yield from _turned_again(user.outputs[0], order.index(axis), lengths)
        else:
            yield None


def _replace(graph: ir.Graph, old: ir.Value, new: ir.Value, node: ir.Node) -> None:
    """Puts a value in the place of another, and takes out the node that made that."""
    if old.is_graph_output():
        passed = ir.Node("", "Identity", [new], name=f"{node.name}/passed")
        passed.outputs[0].name, passed.outputs[0].shape, passed.outputs[0].type = old.name, old.shape, old.type
        old.name = f"{old.name}/turned"
        graph.insert_after(node, passed)
        new = passed.outputs[0]
    ir.convenience.replace_all_uses_with(old, new, replace_graph_outputs=True)
    graph.remove(node, safe=True)


# ----------------------------------------------------------------------------------------------------- both ways


def _fit(forward: ir.Node, backward: ir.Node) -> bool:
    """Whether two layers are the two directions of one."""
    if forward.op_type != backward.op_type or (_direction(forward), _direction(backward)) != ("forward", "reverse"):
        return False
    for name in ("hidden_size", "linear_before_reset", "clip"):
        one, other = (node.attributes.get(name) for node in (forward, backward))
        if (one and one.value) != (other and other.value):
            return False
    if any(
        "activation_alpha" in node.attributes or "activation_beta" in node.attributes for node in (forward, backward)
    ):
        return False
    weights = [_given_input(node, place) for node in (forward, backward) for place in (1, 2, 3)]
    if any(value is not None and value.const_value is None for value in weights):
        return False
    states = [_given_input(node, place) for node in (forward, backward) for place in range(_LENGTHS + 1, 8)]
    if any(value is not None for value in states):
        return False
    lengths = [_given_input(node, _LENGTHS) for node in (forward, backward)]
    given = [None if item is None else unbounded_lengths(item) for item in lengths]
    return same_value(given[0], given[1]) and same_value(forward.inputs[0], backward.inputs[0])


def _join(graph: ir.Graph, forward: ir.Node, backward: ir.Node) -> None:
    """One layer for both directions, in the place of the first of the two."""
    parts = [[_given_input(node, place) for node in (forward, backward)] for place in (1, 2, 3)]
    inputs: list[ir.Value | None] = [forward.inputs[0]]
    for place, pair in enumerate(parts):
        inputs.append(_both(graph, pair, f"{forward.name}/{('weights', 'recurrent_weights', 'bias')[place]}"))
    if _given_input(forward, _LENGTHS) is not None:
        inputs.append(_given_input(forward, _LENGTHS))
    attrs = [attr for name, attr in forward.attributes.items() if name not in ("direction", "activations")]
    attrs.append(ir.AttrString("direction", "bidirectional"))
    named = [node.attributes.get("activations") for node in (forward, backward)]
    if any(named):
        usual = _USUAL[forward.op_type]
        attrs.append(ir.AttrStrings("activations", [
            name for attr in named for name in (usual if attr is None else attr.as_strings())
        ]))  # fmt: skip
    more = max(forward, backward, key=lambda node: len(node.outputs))
    made = ir.Node("", forward.op_type, inputs, attrs, num_outputs=len(more.outputs), name=f"{forward.name}/both")
    for place, output in enumerate(made.outputs):
        like = more.outputs[place]
        output.name, output.type = f"{like.name}/both", like.type
        if like.shape is not None:
            sizes = list(like.shape)
            sizes[1 if place == 0 else 0] = 2
            output.shape = ir.Shape(sizes)
    graph.insert_before(_first(graph, forward, backward), made)
    for place, output in enumerate(made.outputs):
        if all(place < len(node.outputs) for node in (forward, backward)):
            _join_concat(graph, output, [node.outputs[place] for node in (forward, backward)], 1 if place == 0 else 0)
        for number, node in enumerate((forward, backward)):
            if place < len(node.outputs):
                _take_direction(graph, output, node.outputs[place], number, 1 if place == 0 else 0, made)
    for node in (forward, backward):
        graph.remove(node, safe=True)


def _first(graph: ir.Graph, *nodes: ir.Node) -> ir.Node:
    return next(node for node in graph if node in nodes)


def _both(graph: ir.Graph, pair: list[ir.Value | None], name: str) -> ir.Value | None:
    """A new constant with the weights of both directions, one behind the other; None if neither direction has any."""
    known = [None if value is None or value.const_value is None else value.const_value.numpy() for value in pair]
    like = next((array for array in known if array is not None), None)
    if like is None:
        return None
    return _new_constant(graph, np.concatenate([np.zeros_like(like) if item is None else item for item in known]), name)


def _take_direction(graph: ir.Graph, both: ir.Value, one: ir.Value, number: int, axis: int, made: ir.Node) -> None:
    """Lets the users of one direction's results take them from the results of the joint layer."""
    for user, _ in list(one.uses()):
        if user.op_type != "Squeeze" or user.graph is not graph:
            continue
        index = _constant(graph, np.array(number, np.int64), f"{made.name}/direction_{number}")
        taken = ir.Node("", "Gather", [both, index], [ir.AttrInt64("axis", axis)], name=f"{user.name}/of_{number}")
        _move_output(graph, user, taken)
    if one.uses() or one.is_graph_output():
        ends = [_constant(graph, np.array([item], np.int64), f"{made.name}/{item}") for item in (number, number + 1)]
        axes = _constant(graph, np.array([axis], np.int64), f"{made.name}/axis_{axis}")
        part = ir.Node("", "Slice", [both, *ends, axes], name=f"{made.name}/part_{number}_{axis}")
        part.outputs[0].name, part.outputs[0].shape = f"{one.name}/part", one.shape
        part.outputs[0].type = one.type
        graph.insert_after(made, part)
        ir.convenience.replace_all_uses_with(one, part.outputs[0], replace_graph_outputs=True)


def _constant(graph: ir.Graph, array: Array, name: str) -> ir.Value:
    """The constant of that name: the one that the graph has already, or a new one with the values of an array."""
    return graph.initializers.get(name) or _new_constant(graph, array, name)


def _new_constant(graph: ir.Graph, array: Array, name: str) -> ir.Value:
    tensor = ir.Tensor(array, name=name)
    value = ir.Value(name=name, shape=ir.Shape(array.shape), type=ir.TensorType(tensor.dtype), const_value=tensor)
    graph.register_initializer(value)
    return value


def _move_output(graph: ir.Graph, old: ir.Node, new: ir.Node) -> None:
    """Puts a node in the place of another that has one output."""
    before, after = old.outputs[0], new.outputs[0]
    after.name, after.shape, after.type = before.name, before.shape, before.type
    before.name = f"{before.name}/before"
    graph.insert_before(old, new)
    ir.convenience.replace_all_uses_with(before, after, replace_graph_outputs=True)
    graph.remove(old, safe=True)


def _join_concat(graph: ir.Graph, both: ir.Value, single: list[ir.Value], axis: int) -> None:
    """Replaces a Concat of both directions' results by a Transpose and a Reshape of the joint layer's results."""
    chains = [_to_concat(value) for value in single]
    if chains[0] is None or chains[1] is None:
        return
    first, order = chains[0]
    second, other = chains[1]
    if first is not second or order != other or both.shape is None:
        return
    if [_reached_value(value) for value in first.inputs] != [_reached_value(value) for value in single]:
        return
    rank = len(order)
    places = [place + (place >= axis) for place in order[:-1]]
    size = both.shape[rank]
    perm = [*places, axis, rank]
    turned = ir.Node("", "Transpose", [both], [ir.AttrInt64s("perm", perm)], name=f"{first.name}/ordered")
    turned.outputs[0].name = f"{first.outputs[0].name}/ordered"
    turned.outputs[0].type = both.type
    turned.outputs[0].shape = ir.Shape([both.shape[place] for place in perm])
    graph.insert_before(first, turned)
    assert isinstance(size, int)
    shape = _constant(graph, np.array([0] * (rank - 1) + [2 * size], np.int64), f"{first.name}/shape")
    _move_output(graph, first, ir.Node("", "Reshape", [turned.outputs[0], shape], name=f"{first.name}/side_by_side"))


def _to_concat(value: ir.Value) -> tuple[ir.Node, list[int]] | None:
    """The Concat of features that a layer's results go to alone, and the order of their axes there."""
    order: list[int] | None = None
    while True:
        uses = list(value.uses())
        if len(uses) != 1 or value.is_graph_output():
            return None
        user = uses[0][0]
        if user.op_type == "Squeeze" and order is None and value.shape is not None:
            order = list(range(len(value.shape) - 1))
        elif user.op_type == "Transpose" and order is not None and "perm" in user.attributes:
            order = [order[place] for place in user.attributes["perm"].as_ints()]
        elif user.op_type == "Concat" and order is not None and len(user.inputs) == 2:
            at = user.attributes["axis"].as_int() % len(order)
            return (user, order) if at == len(order) - 1 == order[-1] else None
        else:
            return None
        value = user.outputs[0]


def _reached_value(value: ir.Value | None) -> ir.Value | None:
    """The value that a value was made of by nothing but Squeeze and Transpose: a layer's result, if there is one."""
    while value is not None and (node := value.producer()) is not None and node.op_type in ("Squeeze", "Transpose"):
        value = node.inputs[0]
    return value
