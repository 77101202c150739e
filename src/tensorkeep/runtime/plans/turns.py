"""In which order a run takes a lock that it takes several times. Pure.

A run executes its operations one by one, so it can take a lock only when it has given it back: what ends one turn comes
before what begins the next. Turns are in the order of their making, unless one needs what another gives.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import pairwise
from typing import TypeAlias

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Operation
from tensorkeep.graph.ordering import topological
from tensorkeep.runtime.locks import LOCKING, UNLOCKING

Sources: TypeAlias = Callable[[Operation], Iterable[Operation]]
"""Gives the operations that one must run after."""


def turns_to_wait_for(order: Collection[Operation], sources: Sources) -> dict[Operation, list[Operation]]:
    """For operations that take a lock: those that give it back and must run before."""
    by_lock: dict[object, list[Operation]] = {}
    for op in order:
        if op.type == LOCKING:
            by_lock.setdefault(_lock_of(op), []).append(op)
    found: dict[Operation, list[Operation]] = {}
    among = frozenset(order)
    for taking in by_lock.values():
        if len(taking) > 1:
            found.update(_turns(taking, among, sources))
    return found


def _lock_of(op: Operation) -> object:
    """What tells one lock from another: its name, where that is known, else the tensor that it comes by."""
    mutex = op.inputs[0]
    if mutex.op.type != "MutexV2":
        return mutex
    return mutex.op.attr("container"), mutex.op.attr("shared_name") or mutex.op.name


def _turns(taking: list[Operation], among: frozenset[Operation], sources: Sources) -> dict[Operation, list[Operation]]:
    ends = [_ends(op, among) for op in taking]
    behind = [_behind([op, *giving], sources) for op, giving in zip(taking, ends, strict=True)]
    before = [
        [i for i, other in enumerate(taking) if other is not op and other in behind[at]] for at, op in enumerate(taking)
    ]
    order = topological(before)
    if len(order) < len(taking):
        stuck = taking[min(set(range(len(taking))) - set(order))]
        raise InvalidArgumentError(
            f'"{stuck.name}" takes a lock that the run holds and gives back only afterwards: it would wait for itself. '
            "Take the lock once, around all of it"
        )
    return {taking[later]: ends[earlier] for earlier, later in pairwise(order)}


def _ends(op: Operation, among: frozenset[Operation]) -> list[Operation]:
    return [user for user in op.outputs[0].consumers() if user.type == UNLOCKING and user in among]


def _behind(goals: Iterable[Operation], sources: Sources) -> set[Operation]:
    """Operations, with all that must run before them."""
    found: set[Operation] = set()
    pending = list(goals)
    while pending:
        op = pending.pop()
        if op not in found:
            found.add(op)
            pending.extend(sources(op))
    return found
