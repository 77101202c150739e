"""Orders in which the operations of a graph can be made or run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import Final

MERGES: Final = frozenset(("Merge", "RefMerge"))
LOOP_BACK: Final = frozenset(("NextIteration", "RefNextIteration"))  # what closes a loop, at a merge


def topological(wanted: Sequence[Iterable[int]]) -> list[int]:
    """The positions 0, 1, … sorted such that each `i` comes after all of `wanted[i]`; of several, the smallest is next.

    Those that are part of a cycle, or come after one, are left out.
    """
    sources = [set(before) for before in wanted]
    waiting = list(map(len, sources))
    followers: list[list[int]] = [[] for _ in sources]
    for i, before in enumerate(sources):
        for j in before:
            followers[j].append(i)
    ready = [i for i, count in enumerate(waiting) if count == 0]
    order: list[int] = []
    while ready:
        i = heappop(ready)
        order.append(i)
        for follower in followers[i]:
            waiting[follower] -= 1
            if waiting[follower] == 0:
                heappush(ready, follower)
    return order
