"""Which way of running a part is the fastest: found in its first calls, by the time that they take.

The ways are ONNX Runtime with all rows of a batch, ONNX Runtime with some rows at a time, where the part computes each
row by itself, and our kernels. Of images, some at a time stay in the caches of a processor from one operator to the
next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from threading import Lock
from time import perf_counter
from typing import Any, Final, TypeAlias

from tensorkeep.onnx.engine.parts import OnnxPart

_TIMED: Final = 3  # calls of each way by which the fastest is found, at least
_MOST_TIMED: Final = 12  # of short calls
_ENOUGH: Final = 0.1  # seconds that timed calls take together, for no more of them to be needed
_HOPELESS: Final = 1.25  # of the time of the best way: what takes longer in its first timed call is not called again
_SETTLED: Final = 0.05  # seconds of calls, before which no way is hopeless: what else happens may have disturbed it
_PAUSE: Final = 1.0  # seconds of calls, about, after which the two fastest are timed again
_LONGEST_PAUSE: Final = 2000  # calls
_LONG: Final = 0.003  # seconds of a call of all rows, below which there is nothing to gain by some at a time
_AT_A_TIME: Final = (4, 1)  # rows

_BY_OUR_KERNELS: Final = ContextVar("whether a part around this one is run by our kernels", default=False)

_Way: TypeAlias = int
"""So many rows at a time in ONNX Runtime, or one of these:"""
_ALL: Final[_Way] = 0
_OURS: Final[_Way] = -1


class FasterPart:
    """A part that is run in whichever way was the fastest in the first calls with about as much to do."""

    def __init__(self, part: OnnxPart, clock: Callable[[], float] | None = None) -> None:
        """`clock` gives seconds: those that pass, if nothing else is said."""
        self._part = part
        self._clock = clock or perf_counter
        self._chosen: dict[int, _Way] = {}
        """By how much there is to do: the fastest way."""
        self._contests: dict[int, _Contest] = {}

    def __call__(self, *values: Any) -> Sequence[Any]:
        if _BY_OUR_KERNELS.get():
            return self._part.own(*values)
        size = 0
        for value in values[: self._part.arrays]:
            size += value.size
        way = self._chosen.get(size.bit_length())
        if way is None:
            return self._run_timed(size.bit_length(), values)
        return self._part.results(values) if way == _ALL else self._run(way, values)

    def _run(self, way: _Way, values: Sequence[Any]) -> Sequence[Any]:
        if way != _OURS:
            return self._part.results(values, way)
        before = _BY_OUR_KERNELS.set(True)  # the parts of functions that it calls, too
        try:
            return self._part.own(*values)
        finally:
            _BY_OUR_KERNELS.reset(before)

    def _run_timed(self, size: int, values: Sequence[Any]) -> Sequence[Any]:
        contest = self._contests.setdefault(size, _Contest())
        way = contest.way
        if contest.pauses():
            return self._run(way, values)
        start = self._clock()
        results = self._run(way, values)
        seconds = self._clock() - start
        if contest.note(way, seconds, lambda: self._part.rows(values)):
            self._chosen[size] = contest.way
        return results


class _Contest:
    """The ways that are still to be timed, one after the other, and how long each takes.

    They do not take turns: threads of one wait for work for a while, in the way of others. The first call of each is
    not counted. What else happens in the first second may disturb all calls of one way, if calls are short: then the
    two fastest are timed once more, after a second of calls of the faster one.
    """

    def __init__(self) -> None:
        self.way = _ALL
        self._seconds: dict[_Way, float] = {}
        self._waiting: list[_Way] | None = None
        self._times: list[float] = []
        self._paused = 0
        self._is_last = False
        self._lock = Lock()

    def pauses(self) -> bool:
        """Whether a call is not to be timed, as what came so far is to be over first."""
        if self._paused:
            self._paused -= 1
            return True
        return False

    def note(self, way: _Way, seconds: float, rows: Callable[[], int]) -> bool:
        """Notes what a call took. Whether it is known now that `self.way` is the fastest. `rows` says how many rows
        there are that may be given some at a time.
        """
        with self._lock:
            if way != self.way:  # another thread has called meanwhile
                return False
            self._times.append(seconds)
            if not self._is_enough():
                return False
            taken = min(self._times[1:])
            self._seconds[way] = min(taken, self._seconds.get(way, taken))
            if self._waiting is None:
                self._waiting = self._other_ways(taken, rows)
            self._times = []
            if self._waiting:
                self.way = self._waiting.pop(0)
                return False
            self.way, second = sorted(self._seconds, key=self._seconds.__getitem__)[:2]
            pause = min(int(_PAUSE / max(self._seconds[self.way], 1e-9)), _LONGEST_PAUSE)
            if self._is_last or pause < _TIMED:
                return True
            self._paused, self._waiting, self._is_last = pause, [second], True
            return False

    def _is_enough(self) -> bool:
        counted = self._times[1:]
        if len(counted) >= _MOST_TIMED or (len(counted) >= _TIMED and sum(counted) >= _ENOUGH):
            return True
        best = min(self._seconds.values(), default=float("inf"))
        return bool(counted) and min(counted) > _HOPELESS * best and sum(self._times) >= _SETTLED

    def _other_ways(self, taken: float, rows: Callable[[], int]) -> list[_Way]:
        count = rows() if taken >= _LONG else 0
        return [*(some for some in _AT_A_TIME if 2 * some <= count), _OURS]
