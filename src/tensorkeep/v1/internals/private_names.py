"""Names of tensors and operations that TensorFlow means for itself, and programs use all the same."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tensorkeep.graph.devices import canonical_device
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.messages.attrs import decode_attr


def _shape_tuple(tensor: Tensor) -> tuple[int | None, ...] | None:
    return tensor.static_shape.dims


def _rank(tensor: Tensor) -> int | None:
    return tensor.static_shape.rank


def _add_control_input(op: Operation, other: Operation) -> None:
    op.add_control_inputs([other])


def _set_attr(op: Operation, name: str, value: Any) -> None:
    op.set_attr(name, decode_attr(value))


def _set_device(op: Operation, device: Any) -> None:
    op.device = canonical_device(device)


def _set_context(op: Operation, context: Any) -> None:
    op.control_flow_context = context


_OF_TENSORS: Final[dict[str, Any]] = {
    "_dtype": property(lambda tensor: tensor.dtype),
    "_id": property(id),
    "_op": property(lambda tensor: tensor.op),
    "_rank": _rank,
    "_shape_tuple": _shape_tuple,
    "_value_index": property(lambda tensor: tensor.index),
}
_OF_OPERATIONS: Final[dict[str, Any]] = {
    "_add_control_input": _add_control_input,
    "_add_control_inputs": Operation.add_control_inputs,
    "_control_flow_context": property(lambda op: op.control_flow_context),
    "_control_inputs": property(lambda op: op.control_inputs),
    "_get_control_flow_context": lambda op: op.control_flow_context,
    "_graph": property(lambda op: op.graph),
    "_id": property(lambda op: op.index),
    "_inputs": property(lambda op: op.inputs),
    "_node_def": property(lambda op: op.node_def),
    "_outputs": property(lambda op: op.outputs),
    "_set_attr": _set_attr,
    "_set_control_flow_context": _set_context,
    "_set_device": _set_device,
    "_update_input": Operation.set_input,
}


def _add_names(kind: type, names: Iterable[tuple[str, Any]]) -> None:
    for name, value in names:
        setattr(kind, name, value)


_add_names(Tensor, _OF_TENSORS.items())
_add_names(Operation, _OF_OPERATIONS.items())
