"""The threads that all queues of a server share, and the clock that says when the queues have work for them.

Queues live on the event loop; only the runs themselves happen in threads. Whoever has waited goes to the end of the
row, so that a busy model does not keep the others waiting.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from contextlib import suppress
from math import ceil
from typing import Final, Protocol

from tensorkeep.errors import InvalidArgumentError

_TICKS: Final = 1000  # in a second: an event loop may know no shorter times


class Timer(Protocol):
    """An action that will be done later, and can be called off."""

    def cancel(self) -> None: ...


class Clock(Protocol):
    """What time it is, and what is to happen when."""

    def now(self) -> float:
        """Seconds, as `time.monotonic()` counts them."""
        ...

    def call_at(self, when: float, action: Callable[[], None]) -> Timer:
        """Has an action done at a time, or at once if that has passed; gives the timer, to call it off."""
        ...


class LoopClock:
    """The time of the machine, and the timers of the event loop that is running."""

    def now(self) -> float:
        return time.monotonic()

    def call_at(self, when: float, action: Callable[[], None]) -> Timer:
        ticks = max(0, ceil((when - time.monotonic()) * _TICKS))  # never early, or it would have to be set again
        return asyncio.get_running_loop().call_later(ticks / _TICKS, action)


class Job(Protocol):
    """One run: work for a thread, and what is done with its result on the event loop."""

    def work(self) -> object: ...

    def finish(self, done: Future[object]) -> None: ...


class Source(Protocol):
    """Where work comes from: a queue of batches. Both methods are called on the event loop."""

    def take(self, now: float) -> Job | None:
        """The next run that is ready by now; None if there is none."""
        ...

    def ready_at(self) -> float | None:
        """When the next run will be ready; None if nothing waits."""
        ...


class BatchThreads:
    """A number of threads that run batches, and the sources that wait for a free one. A server has one of it; it is
    used from one event loop.
    """

    def __init__(
        self, count: int, name: str = "batch_threads", *, clock: Clock | None = None, pool: Executor | None = None
    ) -> None:
        if count <= 0:
            raise InvalidArgumentError(f"num_batch_threads must be positive; was {count}")
        self.clock: Clock = clock or LoopClock()
        self.count = count
        self._name = name
        self._pool = pool or ThreadPoolExecutor(count, thread_name_prefix=name)
        self._busy = 0
        self._waiting: dict[Source, None] = {}  # in the order in which they are asked
        self._timer: Timer | None = None
        self._is_woken = False

    @property
    def is_free(self) -> bool:
        """Whether a thread has nothing to do."""
        return self._busy < self.count

    def wake(self, source: Source) -> None:
        """Says that a source has work. It is asked for it in the next turn of the event loop, so that requests which
        arrive together are joined.
        """
        self._waiting.setdefault(source)
        if not self._is_woken:
            self._is_woken = True
            asyncio.get_running_loop().call_soon(self._give_work)

    def change(self, count: int) -> None:
        """Has another number of threads work; runs that have begun are not interrupted."""
        if count <= 0:
            raise InvalidArgumentError(f"num_batch_threads must be positive; was {count}")
        if count > self.count:
            old, self._pool = self._pool, ThreadPoolExecutor(count, thread_name_prefix=self._name)
            old.shutdown(wait=False)
        self.count = count
        if self._waiting:
            self.wake(next(iter(self._waiting)))

    def close(self) -> None:
        """Lets the threads end, when they have done what they have begun."""
        if self._timer is not None:
            self._timer.cancel()
        self._pool.shutdown(wait=False)

    def _give_work(self) -> None:
        self._is_woken = False
        now = self.clock.now()
        while self._busy < self.count and (job := self._next_job(now)) is not None:
            self._busy += 1
            self._start(job)
        self._set_timer()

    def _next_job(self, now: float) -> Job | None:
        for source in list(self._waiting):
            job = source.take(now)
            if job is None and source.ready_at() is not None:
                continue  # it is not time yet
            del self._waiting[source]
            if source.ready_at() is not None:
                self._waiting[source] = None  # behind all others
            if job is not None:
                return job
        return None

    def _start(self, job: Job) -> None:
        loop = asyncio.get_running_loop()

        def done(future: Future[object]) -> None:
            with suppress(RuntimeError):  # the loop has ended: nobody waits any more
                loop.call_soon_threadsafe(self._finish, job, future)

        try:
            future = self._pool.submit(job.work)
        except RuntimeError as error:  # the threads have ended
            future = Future()
            future.set_exception(error)
        future.add_done_callback(done)

    def _finish(self, job: Job, future: Future[object]) -> None:
        self._busy -= 1
        try:
            job.finish(future)
        finally:
            self._give_work()

    def _set_timer(self) -> None:
        """Looks again when a source will have something, unless a thread that becomes free looks anyway."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._busy < self.count and self._waiting:
            times = [time for source in self._waiting if (time := source.ready_at()) is not None]
            if times:
                self._timer = self.clock.call_at(min(times), self._give_work)
