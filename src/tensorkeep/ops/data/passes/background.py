"""Work that goes on while somebody else computes: threads, and passes that are ahead of those who ask them.

A thread works until there is nothing to do for it, and then leaves what it worked for: it holds on to nothing, so that
a session whose iterators were working ahead can go away like any other. Threads that nobody needs end after a moment.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from threading import Condition, Thread
from time import perf_counter
from typing import Final

import numpy as np

from tensorkeep.errors import CancelledError
from tensorkeep.io.machine.parallel import thread_limit
from tensorkeep.ops.data.passes.basics import Dataset, Pass, State
from tensorkeep.ops.data.passes.rows import Rows, joined_rows
from tensorkeep.runtime.context import note_outside_call, outside_calls
from tensorkeep.runtime.keeping import called_by, current_caller
from tensorkeep.runtime.limits import check_waiting, current_meter, watched

Job = Callable[[], None]

_LINGERING: Final = 0.5  # seconds in which a thread without work waits for some
_MOST_AT_ONCE: Final = 256  # rows that are asked for at a time
_LONG: Final = 0.005  # seconds in which rows are made: what takes longer is asked for in smaller parts
_BETWEEN_LOOKS: Final = 0.1  # seconds in which who waits for rows looks whether it still has to
_SOME: Final = 2  # times the threads: how far ahead a pass works if that is left to it


class Workers:
    """Threads that do jobs, as many as there are jobs at a time."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._jobs: deque[Job] = deque()
        self._idle = 0

    def do(self, job: Job) -> None:
        """Has a thread do a job, soon. The job raises nothing."""
        with self._changed:
            if self._idle > len(self._jobs):
                self._jobs.append(job)
                self._changed.notify()
                return
        Thread(target=self._work, args=(job,), name="tensorkeep input", daemon=True).start()

    def _work(self, job: Job | None) -> None:
        while job is not None:
            with np.errstate(all="ignore"):
                job()
            job = None  # what it worked for may go away
            job = self._next_job()

    def _next_job(self) -> Job | None:
        with self._changed:
            self._idle += 1
            try:
                if not self._jobs:
                    self._changed.wait(_LINGERING)
                return self._jobs.popleft() if self._jobs else None
            finally:
                self._idle -= 1


WORKERS: Final = Workers()


class _Ahead:
    """A pass whose next rows are made in the background, up to so many that nobody has asked for yet.

    Rows that are asked for together are there together. So many are asked for if they are quick; of rows for which the
    program's own Python is called `least`, since it may wait for what becomes of the rows before.

    One that another works ahead of, as where a parallel map is prefetched, makes nothing by itself: its room is the
    other's, and a row is handed from one thread to another but once.
    """

    def __init__(self, source: Pass, size: int, least: int) -> None:
        self._source = source
        self._size = size
        self._least = least
        self._caller = current_caller()
        self._is_passive = False
        if isinstance(source, _Ahead):
            source._is_passive = True
            self._size += source._size
            self._least = max(least, source._least)
        self._changed = Condition()
        self._ready: deque[Rows] = deque()
        self._count = 0
        self._error: BaseException | None = None
        self._is_over = False
        self._is_working = False
        self._is_closed = False
        self._calls_python = False
        self._at_once = 1

    def take(self, most: int) -> Rows:
        if self._is_passive:
            return self._take_here(most)
        found: list[Rows] = []
        count = 0
        with self._changed:
            while count < most:
                self._start()
                if self._count:
                    found.append(self._pop(most - count))
                    count += len(found[-1])
                elif self._error is not None:
                    if count:
                        break
                    error, self._error = self._error, None
                    self._start()
                    raise error
                elif self._is_closed:
                    raise CancelledError("the iterator was closed while an element was waited for")
                elif self._is_over:
                    break
                elif not self._changed.wait(_BETWEEN_LOOKS):
                    check_waiting()
            self._start()
        if self._calls_python:
            note_outside_call()
        return joined_rows(found)

    def _take_here(self, most: int) -> Rows:
        """Rows that a state held, and then those of the source, which this thread makes."""
        with self._changed:
            if self._error is not None:
                error, self._error = self._error, None
                raise error
            held = list[Rows]()
            while self._count and sum(map(len, held)) < most:
                held.append(self._pop(most - sum(map(len, held))))
        left = most - sum(map(len, held))
        if left and not self._is_over:
            try:
                rows = self._source.take(left)
            except Exception as error:
                if not held:
                    raise
                self._error = error
                rows = []
            held.append(rows)
        return joined_rows(held)

    def _pop(self, most: int) -> Rows:
        rows = self._ready.popleft()
        if len(rows) > most:
            self._ready.appendleft(rows[most:])
            rows = rows[:most]
        self._count -= len(rows)
        return rows

    def _start(self) -> None:
        """Has a thread make more, if there is room for it. The lock is held."""
        is_done = self._is_working or self._is_over or self._is_closed or self._error is not None
        if not is_done and self._count * 2 <= self._size and self._count < self._size:
            self._is_working = True
            WORKERS.do(self._work)

    def _work(self) -> None:
        while True:
            with self._changed:
                room = self._size - self._count
                if room <= 0 or self._is_closed or self._error is not None or self._is_over:
                    self._is_working = False
                    self._changed.notify_all()
                    break
                wanted = min(room, self._at_once)
            self._make(wanted)
        if self._is_closed:
            self._source.close()

    def _make(self, wanted: int) -> None:
        start, calls = perf_counter(), outside_calls()
        try:
            with watched(self._check_open), called_by(self._caller):
                rows = self._source.take(wanted)
        except BaseException as error:  # an interrupt too is for who asks: this thread has nobody to tell
            with self._changed:
                self._error = error
                self._changed.notify_all()
            return
        self._calls_python = self._calls_python or outside_calls() > calls
        self._set_pace(perf_counter() - start)
        with self._changed:
            self._is_over = not rows
            if rows:
                self._ready.append(rows)
                self._count += len(rows)
            self._changed.notify_all()

    def _set_pace(self, seconds: float) -> None:
        """How many rows are asked for next, after some that took so long."""
        if self._calls_python:
            self._at_once = self._least
        elif seconds > _LONG:
            self._at_once = max(self._at_once // 2, self._least)
        else:
            self._at_once = min(self._at_once * 2, _MOST_AT_ONCE)

    def _check_open(self) -> None:
        if self._is_closed:
            raise CancelledError("the iterator was closed while its elements were made")

    def _wait_until_idle(self) -> None:
        """Returns when no thread works for it. The lock is held; none begins while it is."""
        while self._is_working:
            self._changed.wait()

    def state(self) -> State:
        with self._changed:
            self._wait_until_idle()
            if self._error is not None:
                raise self._error
            ready = list(joined_rows(list(self._ready)))
            return {"source": self._source.state(), "ready": ready, "over": self._is_over}

    def restore(self, state: State) -> None:
        with self._changed:
            self._wait_until_idle()
            self._source.restore(state["source"])
            self._ready = deque([state["ready"]] if state["ready"] else [])
            self._count = len(state["ready"])
            self._is_over = state["over"]
            self._error = None

    def close(self) -> None:
        """Nothing is waited for: a thread that is at work closes the source when it comes back from it."""
        with self._changed:
            if self._is_closed:
                return
            self._is_closed = True
            self._changed.notify_all()
            if self._is_working:
                return
        self._source.close()


def ahead(source: Dataset, size: int, least: int = 1) -> Dataset:
    """The same dataset, whose passes make elements before they are asked for: so many, or some if that is negative.
    They are made one at a time where they may take long, or `least`, as where so many threads make them.

    Where runs are limited in time, memory or steps, nothing is made ahead: nobody would count it.
    """
    if not size:
        return source
    most = thread_limit() * _SOME if size < 0 else size

    def begin() -> Pass:
        current = source.begin()
        return current if current_meter() is not None else _Ahead(current, most, least)

    return Dataset(begin, source.cardinality)
