"""The calls and layers between the inputs and the outputs of a model, in the order in which they are computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.keras.engine.nodes import Node, node_of
from tensorkeep.tf1.keras.engine.tensor_notes import history_of


@dataclass(frozen=True)
class GraphMap:
    """What lies between some inputs and some outputs."""

    nodes: tuple[Node, ...]
    """The calls, those first that need nothing of the others."""
    layers: tuple[Any, ...]
    """The layers, those furthest from the outputs first."""


def map_graph(inputs: Sequence[Any], outputs: Sequence[Any]) -> GraphMap:
    """Finds the calls and layers that lead from inputs to outputs, and raises if an output needs another input."""
    order, first_seen = _walk(outputs)
    depths: dict[Node, int] = {}
    layer_depths: dict[Any, int] = {}
    for node in reversed(order):
        depth = max(depths.setdefault(node, 0), layer_depths.get(node.layer, 0))
        layer_depths[node.layer] = depths[node] = depth
        for parent in node.parents:
            depths[parent] = max(depth + 1, depths.get(parent, 0))
    for tensor in inputs:  # those that lead to no output may lead to a loss
        node = node_of(tensor)
        if node.layer not in layer_depths:
            layer_depths[node.layer] = depths[node] = 0
            first_seen[node.layer] = -1
    layers = sorted(layer_depths, key=lambda layer: (-layer_depths[layer], first_seen[layer]))
    nodes = [node for depth in sorted(set(depths.values()), reverse=True) for node in depths if depths[node] == depth]
    _check_connected(inputs, nodes)
    _check_names(layers)
    return GraphMap(tuple(nodes), tuple(layers))


def _walk(outputs: Sequence[Any]) -> tuple[list[Node], dict[Any, int]]:
    """The calls that outputs need, each after what it needs; and when each layer was first seen, from the outputs."""
    order: list[Node] = []
    finished: set[Node] = set()
    open_nodes: set[Node] = set()
    first_seen: dict[Any, int] = {}
    for output in outputs:
        stack: list[tuple[Node, bool]] = [(node_of(output), False)]
        while stack:
            node, is_done = stack.pop()
            if is_done:
                finished.add(node)
                open_nodes.discard(node)
                order.append(node)
                continue
            if node in finished:
                continue
            if node in open_nodes:
                raise InvalidArgumentError(f'A tensor of layer "{node.layer.name}" is part of a cycle.')
            first_seen.setdefault(node.layer, len(first_seen))
            open_nodes.add(node)
            stack.append((node, True))
            stack.extend((parent, False) for parent in reversed(_distinct(node.parents)) if parent not in finished)
    return order, first_seen


def _distinct(nodes: list[Node]) -> list[Node]:
    return list(dict.fromkeys(nodes))


def _check_connected(inputs: Sequence[Any], nodes: Sequence[Node]) -> None:
    known = {id(tensor) for tensor in inputs}
    reached: list[str] = []
    for node in nodes:
        for tensor in node.tensors:
            if id(tensor) not in known:
                raise InvalidArgumentError(
                    f"Graph disconnected: cannot obtain value for tensor {tensor} at layer "
                    f'"{node.layer.name}". The following previous layers were accessed without issue: {reached}'
                )
        if not node.is_input:
            known.update(id(tensor) for tensor in flatten(node.outputs))
            reached.append(node.layer.name)


def _check_names(layers: Sequence[Any]) -> None:
    names = [layer.name for layer in layers]
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgumentError(
                f'The name "{name}" is used {names.count(name)} times in the model. All layer names should be unique.'
            )


def check_ends(inputs: Sequence[Any], outputs: Sequence[Any], model: str) -> None:
    """Raises unless inputs and outputs are tensors that a model can begin and end with."""
    if len({id(tensor) for tensor in inputs}) != len(inputs):
        raise InvalidArgumentError(f"The list of inputs passed to the model {model} contains the same input twice.")
    for tensor in inputs:
        if history_of(tensor) is None:
            raise InvalidArgumentError(
                f"Input tensors to a Model must come from `tf.keras.Input`. Received: {tensor} (missing previous "
                "layer metadata)."
            )
        if not node_of(tensor).is_input:
            raise InvalidArgumentError(
                f"Model inputs must come from `tf.keras.Input`, they cannot be the output of a previous layer. "
                f'Tensor {tensor} is the output of layer "{node_of(tensor).layer.name}"; make a new `Input` instead.'
            )
    for tensor in outputs:
        if history_of(tensor) is None:
            raise InvalidArgumentError(
                f"Output tensors of a Model must be the output of a TensorFlow `Layer` (thus holding past layer "
                f"metadata). Found: {tensor}"
            )
