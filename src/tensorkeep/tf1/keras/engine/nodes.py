"""Calls of layers as nodes: what went in, what came out, and with which further arguments; and by following them, the
inputs that a tensor was made of.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import Structure, TensorLike
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.keras.engine.tensor_notes import History, history_of, set_history

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine.base_layer import Layer


class Node:
    """One call of a layer.

    `inputs`, `outputs` and `arguments` are as the program gave and got them. The tensors among the arguments that come
    from other calls are further inputs.
    """

    def __init__(
        self,
        layer: Layer,
        inputs: Structure,
        outputs: Structure,
        arguments: Mapping[str, Any] | None = None,
        *,
        makes_outputs: bool = True,
    ) -> None:
        self.layer = layer
        self.inputs: Any = inputs
        self.outputs: Any = outputs
        self.arguments = dict(arguments or {})
        index = len(layer._inbound_nodes)
        layer._inbound_nodes.append(self)
        if not makes_outputs:  # from the inputs of a model to its outputs, which its layers have made
            return
        for parent in self.parents:
            if not any(node is self for node in parent.layer._outbound_nodes):
                parent.layer._outbound_nodes.append(self)
        for at, tensor in enumerate(flatten(outputs)):
            set_history(tensor, History(layer, index, at))

    @property
    def is_input(self) -> bool:
        """Whether it stands for what is fed."""
        found: Structure = self.inputs
        return found is self.outputs

    @property
    def tensors(self) -> list[Any]:
        """The inputs of the call that come from other calls, those among its arguments included."""
        if self.is_input:
            return []
        given = [*flatten(self.inputs), *flatten(list(self.arguments.values()))]
        return [tensor for tensor in given if history_of(tensor) is not None]

    @property
    def parents(self) -> list[Node]:
        """The calls that made its inputs, one for each input."""
        return [node_of(tensor) for tensor in self.tensors]

    # The names that TensorFlow has for these.

    @property
    def outbound_layer(self) -> Layer:
        return self.layer

    @property
    def inbound_layers(self) -> Layer | list[Layer]:
        layers = [node.layer for node in self.parents]
        return layers[0] if len(layers) == 1 else layers

    @property
    def input_tensors(self) -> Structure:
        found: Structure = self.inputs
        return found

    @property
    def output_tensors(self) -> Structure:
        found: Structure = self.outputs
        return found


def node_of(tensor: TensorLike) -> Node:
    """The call that made a tensor."""
    history = history_of(tensor)
    assert history is not None
    node: Node = history.layer._inbound_nodes[history.node_index]
    return node


def get_source_inputs(tensor: Tensor, layer: Layer | None = None, node_index: int | None = None) -> list[Any]:
    """The tensors of `Input` that a tensor was made of by layers, in the order in which they are met."""
    if layer is not None and node_index is not None:
        start = layer._inbound_nodes[node_index]
    elif history_of(tensor) is None:
        raise InvalidArgumentError(f"{tensor} was made by no layer of Keras: give a tensor that was")
    else:
        start = node_of(tensor)
    found: dict[int, Any] = {}
    seen: set[int] = set()
    waiting = [start]
    while waiting:
        node = waiting.pop(0)
        if id(node) in seen:
            continue
        seen.add(id(node))
        if node.is_input:
            found.update((id(item), item) for item in flatten(node.outputs))
        waiting[:0] = node.parents
    return list(found.values())
