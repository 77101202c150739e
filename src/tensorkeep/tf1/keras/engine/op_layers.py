"""Operations between layers as layers: what a program computes of tensors that come from `Input`, without a layer.

Each operation becomes a layer that has it as a NodeDef, and the values of those inputs that come from no `Input` as
constants.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import DTypeLike, Structure
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.creating import create_operation
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.proto.json_text import message_dict, message_of_dict
from tensorkeep.proto.messages import NodeDef, parse, serialize
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.keras.engine.base_layer import Layer, untracked_method
from tensorkeep.tf1.keras.engine.nodes import Node
from tensorkeep.tf1.keras.engine.session_values import initialized_session
from tensorkeep.tf1.keras.engine.tensor_notes import history_of


class TensorFlowOpLayer(Layer):
    """An operation as a layer."""

    @untracked_method
    def __init__(
        self,
        node_def: NodeDef | bytes | dict[str, Any],
        name: str,
        constants: Mapping[Any, Any] | None = None,
        trainable: bool = True,
        dtype: DTypeLike | None = None,
    ) -> None:
        super().__init__(name=f"tf_op_layer_{name}", trainable=trainable, dtype=dtype)
        self._plain_name = name
        if isinstance(node_def, dict):
            self.node_def = message_of_dict(node_def, NodeDef())
        else:
            self.node_def = (
                parse(NodeDef, node_def, "the operation of a layer") if isinstance(node_def, bytes) else node_def
            )
        self.constants = {int(at): value for at, value in (constants or {}).items()}
        self.built = True

    def call(self, inputs: Structure) -> Tensor | list[Tensor]:
        given = list(flatten(inputs))
        for at, value in sorted(self.constants.items()):
            kind = _input_type(self.node_def, at)
            given.insert(at, constant(np.asarray(value), dtype=kind, name=f"{self._plain_name}/input_{at}"))
        attrs = {key: value for key, value in self.node_def.attr.items() if not key.startswith("_")}
        made = create_operation(current_graph(), self.node_def.op, given, self.node_def.name, attrs)
        return made.outputs[0] if len(made.outputs) == 1 else list(made.outputs)

    def get_config(self) -> dict[str, Any]:
        values = {at: np.asarray(value).tolist() for at, value in self.constants.items()}
        return {
            "name": self._plain_name,
            "trainable": self.trainable,
            "dtype": self.dtype,
            "node_def": message_dict(self.node_def),
            "constants": values,
        }


class AddLoss(Layer):
    """Adds its input to the losses of the model that it is in, and gives it back."""

    def __init__(self, unconditional: bool = False, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.unconditional = unconditional

    def call(self, inputs: Tensor) -> Tensor:
        self.add_loss(inputs, inputs=None if self.unconditional else inputs)
        return inputs

    def get_config(self) -> dict[str, Any]:
        return {**Layer.get_config(self), "unconditional": self.unconditional}


class AddMetric(Layer):
    """Adds a metric of its input to those of the model that it is in, and gives it back."""

    def __init__(self, aggregation: str | None = None, metric_name: str | None = None, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.aggregation, self.metric_name = aggregation, metric_name

    def call(self, inputs: Tensor) -> Tensor:
        self.add_metric(inputs, self.aggregation, self.metric_name)
        return inputs

    def get_config(self) -> dict[str, Any]:
        return {**Layer.get_config(self), "aggregation": self.aggregation, "metric_name": self.metric_name}


def _input_type(node: Any, at: int) -> DType:
    """The type of an input of an operation, by its number: of values in configurations only the numbers are known."""
    before = 0
    for argument in get_op(node.op).schema.inputs:
        types = list(node.attr[argument.type_list_attr].list.type) if argument.type_list_attr else []
        count = len(types) if types else node.attr[argument.number_attr].i if argument.number_attr else 1
        if at < before + count:
            return argument.dtype or DType.of(types[at - before] if types else node.attr[argument.type_attr].type)
        before += count
    raise InvalidArgumentError(f"operation {node.name} ({node.op}) has {before} inputs, and no number {at}")


# ---------------------------------------------------------------------------------------------------- History


def comes_from_input(tensors: Iterable[Tensor]) -> bool:
    """Whether any of some tensors was computed of one that comes from `Input`."""
    seen: set[Any] = set()
    queue = list(tensors)
    while queue:
        tensor = queue.pop()
        if tensor in seen:
            continue
        seen.add(tensor)
        if history_of(tensor) is not None:
            return True
        queue.extend(tensor.op.inputs)
    return False


def create_history(tensors: Structure) -> list[Layer]:
    """Makes layers of the operations that lie between tensors and those that layers gave; the layers made."""
    made: list[Layer] = []
    seen: set[Operation] = set()
    for tensor in flatten(tensors):
        if isinstance(tensor, Tensor):
            _create(tensor, made, seen)
    return made


def _create(tensor: Tensor, made: list[Layer], seen: set[Operation]) -> None:
    """Makes layers of operations, each after those that it uses. Without recursion: chains are longer than Python lets
    functions call themselves.
    """
    pending = [tensor.op]
    while pending:
        op = pending[-1]
        if op in seen or not op.outputs or all(history_of(output) is not None for output in op.outputs):
            pending.pop()
            continue
        inputs = [item for item in op.inputs if comes_from_input([item])]
        before = [item.op for item in inputs if history_of(item) is None and item.op not in seen]
        if before:
            pending.extend(before)
            continue
        pending.pop()
        seen.add(op)
        if not op.inputs:
            continue
        made.append(_layer_of(op, inputs))


def _layer_of(op: Operation, inputs: list[Tensor]) -> Layer:
    others = {at: item for at, item in enumerate(op.inputs) if not any(item is one for one in inputs)}
    if wrong := [item for item in others.values() if item.dtype.base_dtype.name in ("resource", "variant")]:
        raise InvalidArgumentError(
            f"Operation {op.name} ({op.type}) uses {wrong[0].name}, a resource, on the way from Input to a model's "
            "outputs. Put the variable into a layer of your own"
        )
    values = initialized_session().run(others) if others else {}
    layer = TensorFlowOpLayer(serialize(op.node_def), op.name, values)
    Node(layer, inputs[0] if len(inputs) == 1 else inputs, list(op.outputs))
    return layer
