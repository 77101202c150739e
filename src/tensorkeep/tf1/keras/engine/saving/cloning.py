"""Models made anew of others: with layers of the same configuration, and variables of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import Structure
from tensorkeep.tf1.functions.structures import flatten, map_structure, pack_sequence_as
from tensorkeep.tf1.keras.engine.input_layer import Input, InputLayer
from tensorkeep.tf1.keras.engine.model import Model
from tensorkeep.tf1.keras.engine.nodes import node_of
from tensorkeep.tf1.keras.engine.sequential import Sequential


def _copy_layer(layer: Any) -> Any:
    return type(layer).from_config(layer.get_config())


def clone_model(
    model: Model, input_tensors: Structure = None, clone_function: Callable[[Any], Any] | None = None
) -> Model:
    """A model with the same layers, each made anew; `clone_function` may make other ones."""
    copy = clone_function or _copy_layer
    if isinstance(model, Sequential):
        return _cloned_sequence(model, input_tensors, copy)
    if not isinstance(model, Model) or not model._is_graph_network:
        raise InvalidArgumentError(
            "Expected `model` argument to be a functional `Model` instance or a Sequential one, got one with a `call` "
            "of its own instead"
        )
    given = [] if input_tensors is None else flatten(input_tensors)
    known: dict[int, Any] = {}
    for at, own in enumerate(model.inputs):
        layer = model._input_layers[at]
        tensor = (
            Input(tensor=given[at], name=layer.name)
            if given
            else Input(batch_shape=layer._batch_input_shape, dtype=layer.dtype, sparse=layer.sparse, name=layer.name)
        )
        known[id(own)] = tensor
    layers: dict[int, Any] = {}
    for node in model._nodes:
        if node.is_input:
            continue
        made = layers.get(id(node.layer))
        if made is None:
            is_inner = isinstance(node.layer, Model) and clone_function is None
            original: Any = node.layer
            made = layers[id(original)] = clone_model(original) if is_inner else copy(original)

        def instead(item: Any) -> Any:
            return known.get(id(item), item)

        arguments = {key: map_structure(instead, value) for key, value in node.arguments.items()}
        outputs = made(map_structure(instead, node.inputs), **arguments)
        known.update((id(own), new) for own, new in zip(flatten(node.outputs), flatten(outputs), strict=True))
    inputs = pack_sequence_as(model._nested_inputs, [known[id(tensor)] for tensor in model.inputs])
    outputs = pack_sequence_as(model._nested_outputs, [known[id(tensor)] for tensor in model.outputs])
    return Model(inputs, outputs, name=model.name)


def _cloned_sequence(model: Sequential, input_tensors: Any, copy: Callable[[Any], Any]) -> Sequential:
    layers = [
        clone_model(layer) if isinstance(layer, Model) and copy is _copy_layer else copy(layer)
        for layer in model.layers
    ]
    if input_tensors is not None:
        first = flatten(input_tensors)
        if len(first) != 1:
            raise InvalidArgumentError("To clone a `Sequential` model, we expect at most one tensor as `input_tensors`")
        tensor = Input(tensor=first[0], name=f"input_wrapper_for_{first[0].op.name.replace('/', '_')}")
        made = Sequential(name=model.name)
        made.add(node_of(tensor).layer)
        for layer in layers:
            made.add(layer)
        return made
    own = model._own_layers()
    if own and isinstance(own[0], InputLayer):
        return Sequential([_copy_layer(own[0]), *layers], name=model.name)
    return Sequential(layers, name=model.name)
