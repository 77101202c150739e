"""Long work in threads, which tells how far it is and can be cancelled.

A page asks again and again how far its work is. Work for which nobody asks any more is cancelled: its page is gone.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Event, Lock
from time import monotonic
from typing import Any, Final, TypeAlias

from tensorkeep.errors import CancelledError, NotFoundError
from tensorkeep.io.showing.progress import Progress

Work: TypeAlias = Callable[[Progress], Mapping[str, Any]]

_MOST_KEPT: Final = 64  # jobs that are over, whose results nobody has fetched
_THREADS: Final = 2
_PATIENCE: Final = 30.0  # seconds without a question after which nobody waits for work any more


@dataclass
class Job:
    """A piece of work on its way."""

    future: Future[Mapping[str, Any]] = field(init=False)
    done: int = 0
    total: int = 0
    cancelled: Event = field(default_factory=Event)
    clock: Callable[[], float] = monotonic
    asked_at: float = field(init=False)

    def __post_init__(self) -> None:
        self.asked_at = self.clock()

    def progress(self, done: int, total: int) -> None:
        """Told by the work how far it is; ends it if it was cancelled, or if nobody asks for it."""
        self.done, self.total = done, total
        if self.cancelled.is_set() or self.clock() - self.asked_at > _PATIENCE:
            raise CancelledError("cancelled: nobody waits for it any more")


class Jobs:
    """All work of a viewer. Some of it runs at a time; the rest waits."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="tensorkeep-viewer")
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._lock = Lock()

    def start(self, work: Work) -> tuple[str, Job]:
        """Starts a piece of work; gives the name by which it is asked for."""
        job, name = Job(clock=self._clock), secrets.token_hex(8)

        def run() -> Mapping[str, Any]:
            job.progress(0, 0)
            return work(job.progress)

        job.future = self._threads.submit(run)
        with self._lock:
            self._jobs[name] = job
            over = [key for key, item in self._jobs.items() if item.future.done()]
            for key in over[: max(len(over) - _MOST_KEPT, 0)]:
                del self._jobs[key]
        return name, job

    def find(self, name: str) -> Job:
        """A piece of work by its name."""
        with self._lock:
            job = self._jobs.get(name)
        if job is None:
            raise NotFoundError(f'there is no work "{name}": it was cancelled, or its result was fetched')
        job.asked_at = self._clock()
        return job

    def forget(self, name: str) -> None:
        """Lets go of work whose result was fetched."""
        with self._lock:
            self._jobs.pop(name, None)

    def cancel(self, name: str) -> None:
        """Ends a piece of work, at the latest when it next tells how far it is. Its result is gone."""
        with self._lock:
            job = self._jobs.pop(name, None)
        if job is not None:
            job.cancelled.set()
            job.future.cancel()

    def close(self) -> None:
        """Cancels everything."""
        with self._lock:
            names = list(self._jobs)
        for name in names:
            self.cancel(name)
        self._threads.shutdown(wait=False, cancel_futures=True)
