"""Which runs are so quick that handing them to a thread and back would take longer than they do.

A run is known by what is fed and fetched and by how much is fed, in powers of two. It counts as quick after a number of
runs in threads that all were, by the time of the thread. One that takes long in the event loop by its own doing has to
prove it again, and after some times is never taken for quick again. One that was kept waiting, by a busy machine, is
let be; if such runs take a good part of the time, as those do that wait for a disk, they have to prove it again, too.
Only models whose work follows from the sizes of what they are fed are looked at: those without loops, and only if they
are fed fractions, which say nothing about the sizes or numbers of anything.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from tensorkeep.arrays import Array
from tensorkeep.serving.servables import Ends, Servable

QUICK: Final = 0.0005  # seconds; a hop to a thread and back takes a good part of that
SLOW: Final = 0.005  # for longer the event loop may not stand still
PROOF: Final = 10  # quick runs in a row
DOUBTS: Final = 3  # times that a kind of runs may take long in the event loop by its own doing
WAITED: Final = 1.0  # seconds that the event loop may have stood still of late for runs that were kept waiting
_HALVED: Final = 1.0  # seconds after which half of that is forgotten
_NEVER: Final = -1
_MOST_KEPT: Final = 256

Kind: TypeAlias = tuple[Ends, int]


class QuickRuns:
    """What was learnt of the runs of one version. For one thread, that of the event loop."""

    def __init__(self, servable: Servable, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._is_even = not servable.model.has_loops
        self._proofs: OrderedDict[Kind, int] = OrderedDict()
        self._doubts: dict[Kind, int] = {}
        self._waited = 0.0  # seconds for which the event loop stood still of late
        self._waited_at = 0.0

    def kind(self, ends: Ends, arrays: Sequence[Array]) -> Kind | None:
        """What a run is known by; None for those that are never taken for quick."""
        if not self._is_even:
            return None
        size = 0
        for array in arrays:
            if array.dtype.kind != "f":
                return None
            size += array.size
        return ends, size.bit_length()

    def is_quick(self, kind: Kind | None) -> bool:
        """Whether runs of a kind are known to be quick."""
        return kind is not None and self._proofs.get(kind, 0) >= PROOF

    def learn(self, kind: Kind | None, seconds: float) -> None:
        """Takes note of how long a run in a thread took, of the time of that thread."""
        if kind is None:
            return
        proofs = self._proofs.get(kind, 0)
        if 0 <= proofs < PROOF:
            self._proofs[kind] = proofs + 1 if seconds < QUICK else 0
            while len(self._proofs) > _MOST_KEPT:
                self._doubts.pop(self._proofs.popitem(last=False)[0], None)

    def doubt(self, kind: Kind | None, seconds: float, own_seconds: float) -> None:
        """Takes note of a run that took long in the event loop, and of how much of that was its own time."""
        if kind is None or (own_seconds < SLOW and self._is_patient(seconds)):
            return
        self._waited = 0.0
        doubts = self._doubts[kind] = self._doubts.get(kind, 0) + (own_seconds >= SLOW)
        self._proofs[kind] = 0 if doubts < DOUBTS else _NEVER

    def _is_patient(self, seconds: float) -> bool:
        """Whether the event loop can bear that it had to wait so long once more."""
        now = self._clock()
        self._waited = self._waited * 0.5 ** ((now - self._waited_at) / _HALVED) + seconds
        self._waited_at = now
        return self._waited <= WAITED


def timed_here(servable: Servable, ends: Ends, arrays: Sequence[Array]) -> tuple[list[Array], float, float]:
    """What a version computes, how many seconds passed meanwhile, and how many of them were this thread's own."""
    started, own = time.monotonic(), time.thread_time()
    results = servable.compute(ends, arrays)
    return results, time.monotonic() - started, time.thread_time() - own


def timed_run(servable: Servable, ends: Ends, arrays: Sequence[Array]) -> tuple[list[Array], float]:
    """What a version computes, and how many seconds of this thread's own time that took: others do not count."""
    started = time.thread_time()
    results = servable.compute(ends, arrays)
    return results, time.thread_time() - started
