"""Initial values that depend on other variables, which need not have been initialised yet.

Where an initial value reads a variable, it is made to read the variable's initial value while that is all there is. The
operations between are copied for that, under the name of the variable that asked.

Which operations are copied, and their names: `_try_guard_against_uninitialized_dependencies` in TensorFlow's
python/ops/variables.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.building import add
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import get_op

Sources: TypeAlias = Callable[[Operation], Iterator[Operation]]

_KEPT: Final = ("IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp", "If")
_PLACES: Final = ("Variable", "VariableV2")  # what reads a handle cannot do with a value


def guard_initial_value(name: str, initial_value: Tensor | None) -> Tensor:
    """The initial value, safe to compute before other variables are initialised. `name` is that of a scope: "w/"."""
    if not isinstance(initial_value, Tensor):
        raise WrongTypeError(f"initial_value needs to be a Tensor: {initial_value}")
    if _inputs_first(initial_value.op, _sources) is None:
        return initial_value
    order = _inputs_first(initial_value.op, _copied_sources) or []
    replaced: dict[Operation, Operation] = {}
    for op in order:
        replaced[op] = _safe(op, name, replaced)
    return replaced[initial_value.op].outputs[initial_value.index]


def _inputs_first(start: Operation, sources_of: Sources) -> list[Operation] | None:
    """The operations that one needs, each after its sources; None if they go round in a circle."""
    order: list[Operation] = []
    finished: set[Operation] = set()
    begun: set[Operation] = {start}
    stack: list[tuple[Operation, Iterator[Operation]]] = [(start, sources_of(start))]
    while stack:
        op, sources = stack[-1]
        following = next(sources, None)
        if following is None:
            stack.pop()
            finished.add(op)
            order.append(op)
        elif following in finished:
            continue
        elif following in begun:
            return None
        else:
            begun.add(following)
            stack.append((following, sources_of(following)))
    return order


def _sources(op: Operation) -> Iterator[Operation]:
    yield from (tensor.op for tensor in op.inputs)
    yield from op.control_inputs


def _copied_sources(op: Operation) -> Iterator[Operation]:
    if op.type not in (*_KEPT, *_PLACES):
        yield from (tensor.op for tensor in op.inputs)


def _safe(op: Operation, name: str, replaced: dict[Operation, Operation]) -> Operation:
    if op.type in _KEPT:
        return op
    if op.type in _PLACES:
        return _initialized_value_op(op) or op
    inputs = [replaced[tensor.op].outputs[tensor.index] for tensor in op.inputs]
    if inputs == op.inputs:
        return op
    spec = get_op("Switch") if op.type == "RefSwitch" else op.spec
    return add(spec, inputs, dict(op.attrs), f"{op.name}_{name}".replace(":", "_"), op.graph)


def _initialized_value_op(place: Operation) -> Operation | None:
    """The operation that gives a variable's value or initial value, if the variable is known."""
    names = (place.name, f"{place.name}:0")
    for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES):
        for variable in get_collection(place.graph, key):
            if getattr(variable, "name", None) in names and hasattr(variable, "initialized_value"):
                found: Operation = variable.initialized_value().op
                return found
    return None
