"""Networks as configurations: their layers, and how these are called; and made anew of them.

{"name": ..., "layers": [{"name": ..., "class_name": ..., "config": {...}, "inbound_nodes": [call, ...]}, ...],
 "input_layers": [place, ...], "output_layers": [place, ...]}
call = [[layer, number of the call, number of the output, further arguments], ...]     one for each input
place = [layer, number of the call, number of the output]
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.keras.engine import serialization
from tensorkeep.tf1.keras.engine.nodes import Node
from tensorkeep.tf1.keras.engine.tensor_notes import history_of

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine.network import Network


def network_config(network: Network) -> dict[str, Any]:
    """The configuration of a network between inputs and outputs."""
    numbers = _call_numbers(network)
    layers = []
    for layer in network.layers:
        calls = [_call(node, numbers) for node in layer._inbound_nodes if node in numbers and not node.is_input]
        layers.append(
            {
                "name": layer.name,
                "class_name": type(layer).__name__,
                "config": layer.get_config(),
                "inbound_nodes": calls,
            }
        )

    def place(tensor: Any) -> list[Any]:
        return _place(tensor, numbers)

    return {
        "name": network.name,
        "layers": layers,
        "input_layers": _ends(network._nested_inputs, place),
        "output_layers": _ends(network._nested_outputs, place),
    }


def _ends(tensors: Any, place: Any) -> Any:
    if isinstance(tensors, Mapping):
        return {key: place(tensor) for key, tensor in tensors.items()}
    return [place(tensor) for tensor in flatten(tensors)]


def _is_network_with_ends(layer: Any) -> bool:
    """Whether the first call of a layer is that of its own inputs, which no configuration tells."""
    return bool(getattr(layer, "_is_graph_network", False))


def _call_numbers(network: Any) -> dict[Node, int]:
    """The numbers of the calls that belong to a network: those of each layer are counted anew."""
    known = set(network._nodes)
    numbers: dict[Node, int] = {}
    for layer in network.layers:
        first = 1 if _is_network_with_ends(layer) else 0
        for at, node in enumerate(node for node in layer._inbound_nodes if node in known):
            numbers[node] = first + at
    return numbers


def _place(tensor: Any, numbers: dict[Node, int]) -> list[Any]:
    history = history_of(tensor)
    assert history is not None
    node = history.layer._inbound_nodes[history.node_index]
    return [history.layer.name, numbers.get(node, 0), history.tensor_index]


def _call(node: Node, numbers: dict[Node, int]) -> Any:
    arguments = {key: _described_argument(value, numbers) for key, value in node.arguments.items()}
    if isinstance(node.inputs, Mapping):
        return {key: [*_place(tensor, numbers), arguments] for key, tensor in node.inputs.items()}
    return [[*_place(tensor, numbers), arguments] for tensor in flatten(node.inputs)]


def _described_argument(value: Any, numbers: dict[Node, int]) -> Any:
    """An argument as JSON can have it: a tensor of another layer by its place."""
    if history_of(value) is not None:
        return _place(value, numbers)
    if isinstance(value, list | tuple):
        return [_described_argument(item, numbers) for item in value]
    if isinstance(value, dict):
        return {key: _described_argument(item, numbers) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, DType):
        return value.name
    return value


# ---------------------------------------------------------------------------------------------------- Making anew


def rebuilt_ends(
    config: Mapping[str, Any], custom_objects: Mapping[str, Any] | None
) -> tuple[Any, Any, dict[str, Any]]:
    """The inputs and outputs of the network that a configuration tells of, and its layers by name."""
    layers: dict[str, Any] = {}
    waiting: list[tuple[Any, Any]] = []
    for told in config["layers"]:
        layer = serialization.deserialize({"class_name": told["class_name"], "config": told["config"]}, custom_objects)
        layers[told["name"]] = layer
        calls = told["inbound_nodes"]
        waiting.extend((layer, call) for call in calls)
    while waiting:
        left = []
        done_before = set[int]()
        for layer, call in waiting:
            if id(layer) in done_before or not _make_call(layer, call, layers):
                left.append((layer, call))
                done_before.add(id(layer))  # the calls of a layer are made in their order
        if len(left) == len(waiting):
            names = sorted({layer.name for layer, _ in left})
            raise InvalidArgumentError(f"The configuration of model {config.get('name')} is circular at {names}")
        waiting = left
    inputs = _tensors(config["input_layers"], layers)
    outputs = _tensors(config["output_layers"], layers)
    return inputs, outputs, layers


def _tensor(place: Any, layers: Mapping[str, Any]) -> Any:
    """The tensor at a place; None if it is not made yet."""
    layer = layers.get(place[0])
    if layer is None:
        raise InvalidArgumentError(f"The configuration names a layer that it does not have: {place[0]}")
    if place[1] >= len(layer._inbound_nodes):
        return None
    return flatten(layer._inbound_nodes[place[1]].outputs)[place[2]]


def _tensors(places: Any, layers: Mapping[str, Any]) -> Any:
    if isinstance(places, Mapping):
        return {key: _tensor(place, layers) for key, place in places.items()}
    if places and isinstance(places[0], str):  # of a single one, as later versions of Keras write it
        return _tensor(places, layers)
    found = [_tensor(place, layers) for place in places]
    return found[0] if len(found) == 1 else found


def _make_call(layer: Any, call: Any, layers: Mapping[str, Any]) -> bool:
    """Calls a layer, if the tensors are there that it is called with."""
    places = call
    if isinstance(call, list) and call and isinstance(call[0], str):
        places = [call]
    flat: list[Any] = list(places.values()) if isinstance(places, Mapping) else list(places)
    arguments: dict[str, Any] = {}
    for place in flat:
        if len(place) > 3:
            arguments.update(place[3])
    inputs = [_tensor(place, layers) for place in flat]
    given = {key: _argument(value, layers) for key, value in arguments.items()}
    if any(item is None for item in inputs) or any(_is_waiting(item) for item in given.values()):
        return False
    if isinstance(places, Mapping):
        layer(dict(zip(places, inputs, strict=True)), **given)
    else:
        layer(inputs[0] if len(inputs) == 1 else inputs, **given)
    return True


_WAITING = object()


def _is_waiting(value: Any) -> bool:
    return any(item is _WAITING for item in flatten(value))


def _argument(value: Any, layers: Mapping[str, Any]) -> Any:
    is_place = isinstance(value, list) and len(value) == 3 and isinstance(value[0], str) and value[0] in layers
    if is_place and isinstance(value[1], int):
        found = _tensor(value, layers)
        return _WAITING if found is None else found
    if isinstance(value, list):
        return [_argument(item, layers) for item in value]
    return value
