"""Functions that only call another one, as the signatures of Keras do: what runs is the other one's body.

A call costs some microseconds, for each of two lists of all variables that the model has; a body by itself costs none.
"""

from __future__ import annotations

from itertools import starmap
from typing import Final

from tensorkeep.graph.functions import FunctionBody, function_body
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef

_CALLS: Final = frozenset(("PartitionedCall", "StatefulPartitionedCall"))
_BESIDE: Final = frozenset(("Placeholder", "Const", "Identity", "NoOp"))  # what a wrapper may have beside its call
_DEEPEST: Final = 100  # wrappers in each other


def unwrapped_body(body: FunctionBody) -> FunctionBody:
    """The body of the function that does the work: its inputs and outputs in the order of the one that calls it."""
    for _ in range(_DEEPEST):
        inner = _called_body(body)
        if inner is None:
            break
        body = inner
    return body


def _called_body(body: FunctionBody) -> FunctionBody | None:
    """The body of what a function only calls; None if it does anything else."""
    calls = [op for op in body.graph.operations if op.type not in _BESIDE]
    if len(calls) != 1 or calls[0].type not in _CALLS:
        return None
    (call,) = calls
    reference = call.attr("f")
    function = body.graph.functions.get(reference.name) if isinstance(reference, FunctionRef) else None
    picked = [_result_number(tensor, call) for tensor in body.outputs]
    constants = {at: tensor.op for at, tensor in enumerate(call.inputs) if tensor.op.type == "Const"}
    given = [tensor for at, tensor in enumerate(call.inputs) if at not in constants]
    if function is None or None in picked or len(set(picked)) < len(picked):
        return None
    if len(given) != len(body.inputs) or set(given) != set(body.inputs):
        return None
    values = {at: op.node_def.attr["value"].tensor for at, op in constants.items()}
    shapes = [tensor.static_shape for tensor in given]
    inner = function_body(function, body.graph.functions, reference.attrs, shapes, values)
    inputs = dict(zip(given, inner.inputs, strict=True))
    outputs = tuple(inner.outputs[number] for number in picked if number is not None)
    if any(tensor in inner.inputs for tensor in outputs) or not all(starmap(_takes_the_same, inputs.items())):
        return None
    return FunctionBody(
        inner.name, inner.graph, tuple(inputs[tensor] for tensor in body.inputs), outputs, inner.controls
    )


def _result_number(tensor: Tensor, call: Operation) -> int | None:
    """Which result of a call a tensor is, as it is or passed on."""
    while tensor.op.type == "Identity":
        tensor = tensor.op.inputs[0]
    return call.outputs.index(tensor) if tensor.op is call else None


def _takes_the_same(mine: Tensor, other: Tensor) -> bool:
    """Whether all that may be given to an input of a function may be given to that of the one that it calls."""
    return (mine.dtype, mine.static_shape) == (other.dtype, other.static_shape)
