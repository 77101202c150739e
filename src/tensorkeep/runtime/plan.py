"""What to run, and in which order, for some fetches and feeds. Pure.

Only operations that a fetch depends on are run, and nothing behind a fed tensor. They run in the order in which they
were added to the graph wherever inputs and control inputs leave a choice, so that a run can be repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Operation, Tensor

LOOP_BACK = frozenset(("NextIteration", "RefNextIteration"))
_FRAME_OPS = ("Switch", "Merge", "Enter", "Exit", "NextIteration")
CONTROL_FLOW = frozenset((*_FRAME_OPS, *(f"Ref{name}" for name in _FRAME_OPS), "LoopCond", "_SwitchN"))


@dataclass(frozen=True)
class Plan:
    """Operations in an order in which they can run."""

    feeds: tuple[Tensor, ...]
    fetches: tuple[Tensor, ...]
    ops: tuple[Operation, ...]

    @property
    def has_control_flow(self) -> bool:
        return any(op.type in CONTROL_FLOW for op in self.ops)


def make_plan(fetches: Sequence[Tensor], targets: Iterable[Operation], feeds: Sequence[Tensor]) -> Plan:
    """The plan to compute `fetches` and to run `targets`, given `feeds`."""
    fed = frozenset(feeds)
    needed = _needed(fetches, targets, fed)
    return Plan(tuple(feeds), tuple(fetches), tuple(_ordered(needed, fed)))


def _needed(fetches: Sequence[Tensor], targets: Iterable[Operation], fed: frozenset[Tensor]) -> set[Operation]:
    needed: set[Operation] = set()
    pending = [tensor.op for tensor in fetches if tensor not in fed]
    pending.extend(targets)
    while pending:
        op = pending.pop()
        if op in needed:
            continue
        needed.add(op)
        pending.extend(tensor.op for tensor in op.inputs if tensor not in fed)
        pending.extend(op.control_inputs)
    return needed


def sources(op: Operation, fed: frozenset[Tensor] = frozenset()) -> list[Operation]:
    """The operations that one must run after, without those behind the edges that close loops."""
    found = [tensor.op for tensor in op.inputs if tensor not in fed]
    if op.type in ("Merge", "RefMerge"):
        found = [source for source in found if source.type not in LOOP_BACK]
    return found + op.control_inputs if op.control_inputs else found


def _ordered(needed: set[Operation], fed: frozenset[Tensor]) -> list[Operation]:
    order = sorted(needed, key=lambda op: op.index)
    if all(source.index < op.index for op in order for source in sources(op, fed)):
        return order
    waiting = {op: len(set(sources(op, fed))) for op in order}
    followers: dict[Operation, list[Operation]] = {op: [] for op in order}
    for op in order:
        for source in set(sources(op, fed)):
            followers[source].append(op)
    ready = [(op.index, op) for op in order if waiting[op] == 0]
    heapify(ready)
    result: list[Operation] = []
    while ready:
        _, op = heappop(ready)
        result.append(op)
        for follower in followers[op]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                heappush(ready, (follower.index, follower))
    if len(result) < len(order):
        stuck = next(op for op in order if waiting[op])
        raise InvalidArgumentError(f'the graph has a cycle that no loop closes; "{stuck.name}" is part of it')
    return result
