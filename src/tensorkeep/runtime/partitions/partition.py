"""Which of the steps that could run elsewhere do so together, so that no part waits for itself. Pure.

    a -> B -> c          a and c could run elsewhere, B could not: two parts, {a} and {c}
    a -> c, a -> B -> c  the same: c waits for B, which waits for a

Every step gets a level: one more than that of a step that has to stay and that it waits for, else the same as that of
the steps it waits for. Steps of one level that could run elsewhere never wait for each other by way of a step that
stays, so they can be one part; levels only grow along what waits for what, so no part waits for itself. A step whose
value is wanted only later takes the later level: it is a part with the steps that want it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence


def partition(
    sources: Sequence[Iterable[int]], movable: Sequence[bool], is_worthwhile: Callable[[list[int]], bool] = bool
) -> list[list[int]]:
    """Parts of the steps 0, 1, …, of which each waits for some with lower numbers, its `sources`.

    Only steps that are `movable` are in parts. Those that hang together and that are worth it become one part with
    others of their level. Taken as one step each, parts and the remaining steps still wait for no circle.
    """
    levels = _levels(sources, movable)
    pieces = [piece for piece in _pieces(sources, movable, levels) if is_worthwhile(piece)]
    by_level: dict[int, list[int]] = {}
    for piece in pieces:
        by_level.setdefault(levels[piece[0]], []).extend(piece)
    return [sorted(by_level[level]) for level in sorted(by_level)]


def _levels(sources: Sequence[Iterable[int]], movable: Sequence[bool]) -> list[int]:
    levels: list[int] = []
    for step, before in enumerate(sources):
        levels.append(max((levels[source] + (movable[step] and not movable[source]) for source in before), default=0))
    latest: list[int | None] = [None] * len(levels)
    for step in reversed(range(len(levels))):
        bound = latest[step]
        if movable[step] and bound is not None:
            levels[step] = bound
        for source in sources[step]:
            known = latest[source]
            latest[source] = levels[step] if known is None else min(known, levels[step])
    return levels


def _pieces(sources: Sequence[Iterable[int]], movable: Sequence[bool], levels: Sequence[int]) -> list[list[int]]:
    """Groups of movable steps of one level that are connected: one waits for another, or both wait for one step."""
    leaders = list(range(len(levels)))

    def leader(step: int) -> int:
        while leaders[step] != step:
            leaders[step] = leaders[leaders[step]]
            step = leaders[step]
        return step

    for step, before in enumerate(sources):
        if movable[step]:
            for source in before:
                if movable[source] and levels[source] == levels[step]:
                    leaders[leader(step)] = leader(source)
    pieces: dict[int, list[int]] = {}
    for step in range(len(levels)):
        if movable[step]:
            pieces.setdefault(leader(step), []).append(step)
    return list(pieces.values())
