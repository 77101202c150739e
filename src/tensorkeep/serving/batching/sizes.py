"""How many rows a run had best have, learnt from how long runs take.

More rows are not always better: what the layers of a large model hand on must fit into the processor's caches. A batch
that is larger than what has been seen to be best is taken in pieces. What is not known begins small, as a run that is
too large keeps many waiting and one that is too small only a few, and doubles for as long as that is better. A size
that does not do as well as another is tried again now and then, as other programs on the machine come and go.
"""

from __future__ import annotations

from typing import Final

_BETTER: Final = 0.95  # another size has to take no more than this part of the time for a row
_FADES: Final = 1.02  # the best time is forgotten bit by bit, with each run of that size
_FIRST: Final = 4  # rows of the first run
_AGAIN: Final = 64  # runs, after which a neighbour of the best size is tried again


class RunSizes:
    """The time for a row by the size of the run, rounded down to a power of two."""

    def __init__(self) -> None:
        self._seconds: dict[int, float] = {}
        self._best = 0
        self._runs = 0

    @property
    def best(self) -> int:
        """The size that took the least time for a row so far; 0 before there was a run."""
        return self._best

    def ran(self, rows: int, seconds: float) -> None:
        """Learns from a run."""
        if rows <= 0:
            return
        size = 1 << (rows.bit_length() - 1)
        each = seconds / rows
        self._seconds[size] = min(each, self._seconds.get(size, each) * _FADES)
        times = self._seconds
        if self._best not in times:
            self._best = size
        quickest = min(times, key=times.__getitem__)
        if times[quickest] < times[self._best] * _BETTER:
            self._best = quickest

    def rows_for(self, waiting: int) -> int:
        """How many of the waiting rows the next run takes: the size that did best so far, or a neighbour of it."""
        best = self._best
        if not best:
            return min(waiting, _FIRST)
        self._runs += 1
        more, fewer = min(waiting, 2 * best), min(waiting, max(1, best // 2))
        if more == 2 * best and (more not in self._seconds or self._runs % _AGAIN == 0):
            return more
        if fewer not in self._seconds or self._runs % _AGAIN == _AGAIN // 2:
            return fewer
        return min(waiting, best)
