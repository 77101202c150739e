"""What leads to operations, and what they lead to: where `graph_editor` and `op_selector` of TensorFlow look."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.functions.gradients.reverse_walk import gradient_function

Seeds: TypeAlias = "Operation | Tensor | Iterable[Operation | Tensor]"


def get_backward_walk_ops(
    seed_ops: Seeds,
    inclusive: bool = True,
    within_ops: Iterable[Operation] | None = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    stop_at_ts: Iterable[Tensor] = (),
    control_inputs: bool = False,
    only_differentiable: bool = False,
) -> list[Operation]:
    """The operations that lead to some: these first, then what each waits for. `stop_at_ts` are not gone through."""
    stopped = set(_tensors(stop_at_ts))

    def before(op: Operation) -> Iterable[Operation]:
        if not only_differentiable or _is_differentiable(op):
            yield from (tensor.op for tensor in op.inputs if tensor not in stopped)
        if control_inputs:
            yield from op.control_inputs

    seeds = [item if isinstance(item, Operation) else item.op for item in _as_list(seed_ops) if item not in stopped]
    return _walk(seeds, before, inclusive, within_ops, within_ops_fn)


def get_forward_walk_ops(
    seed_ops: Seeds,
    inclusive: bool = True,
    within_ops: Iterable[Operation] | None = None,
    within_ops_fn: Callable[[Operation], bool] | None = None,
    stop_at_ts: Iterable[Tensor] = (),
    control_outputs: object = None,
) -> list[Operation]:
    """The operations that some lead to: these first, or those that take them, if they are tensors."""
    stopped = set(_tensors(stop_at_ts))

    def behind(op: Operation) -> Iterable[Operation]:
        for tensor in op.outputs:
            if tensor not in stopped:
                yield from tensor.consumers()
        if control_outputs is not None:
            yield from op.control_outputs

    seeds: list[Operation] = []
    for item in _as_list(seed_ops):
        if isinstance(item, Operation):
            seeds.append(item)
        elif item not in stopped:
            seeds.extend(item.consumers())
    return _walk(seeds, behind, inclusive, within_ops, within_ops_fn)


def _walk(
    seeds: list[Operation],
    following: Callable[[Operation], Iterable[Operation]],
    is_inclusive: bool,
    within: Iterable[Operation] | None,
    within_fn: Callable[[Operation], bool] | None,
) -> list[Operation]:
    allowed = None if within is None else set(within)

    def is_within(op: Operation) -> bool:
        return (allowed is None or op in allowed) and (within_fn is None or within_fn(op))

    found = dict.fromkeys(op for op in seeds if is_within(op))
    wave = list(found)
    while wave:
        reached = dict.fromkeys(op for one in wave for op in following(one) if op not in found and is_within(op))
        found.update(reached)
        wave = list(reached)
    beginning = set() if is_inclusive else set(seeds)
    return [op for op in found if op not in beginning]


def _as_list(items: Any) -> list[Any]:
    return [items] if isinstance(items, Operation | Tensor) else list(items)


def _tensors(items: Any) -> list[Tensor]:
    return [items] if isinstance(items, Tensor) else list(items)


def _is_differentiable(op: Operation) -> bool:
    try:
        return gradient_function(op) is not None
    except LookupError:
        return False
