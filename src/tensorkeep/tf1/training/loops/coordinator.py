"""Stopping threads together: one asks, all see it, and what went wrong in one is raised where they are joined."""

from __future__ import annotations

import logging
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, TypeAlias

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, OutOfRangeError

LOG: Final = logging.getLogger("tensorkeep")

ExceptionInfo: TypeAlias = tuple[type[BaseException] | None, BaseException | None, TracebackType | None]

_LONGEST_LOOK: Final = 1.0  # how many seconds a thread that waits for others to stop sleeps at most


class Coordinator:
    """Tells threads when to stop, and collects the first error of any of them.

    Errors of the types `clean_stop_exception_types`, by default those that say that the input is at its end, stop the
    threads without being raised.
    """

    clock: Callable[[], float] = staticmethod(time.monotonic)

    def __init__(self, clean_stop_exception_types: Iterable[type[BaseException]] | None = None) -> None:
        clean = (OutOfRangeError,) if clean_stop_exception_types is None else clean_stop_exception_types
        self._clean_stop_exception_types = tuple(clean)
        self._lock = threading.Lock()
        self._stop_event = threading.Event()
        self._failure: BaseException | None = None
        self._joined = False
        self._registered_threads: set[threading.Thread] = set()

    @property
    def joined(self) -> bool:
        return self._joined

    def request_stop(self, ex: BaseException | ExceptionInfo | None = None) -> None:
        """Asks all threads to stop; `ex`, an error or what `sys.exc_info()` gives, is raised where they are joined.

        Only the first error counts. After `join` there is nobody left to raise it, so it is raised here.
        """
        failure = _exception(ex)
        if isinstance(failure, self._clean_stop_exception_types):
            failure = None
        with self._lock:
            if self._joined and failure is not None:
                raise failure
            if not self._stop_event.is_set():
                if failure is not None and self._failure is None:
                    LOG.info("Error reported to Coordinator: %s, %s", type(failure), failure)
                    self._failure = failure
                self._stop_event.set()

    def clear_stop(self) -> None:
        """Starts over: no stop has been requested, no error was reported."""
        with self._lock:
            self._joined = False
            self._failure = None
            self._stop_event.clear()

    def should_stop(self) -> bool:
        return self._stop_event.is_set()

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """An error inside becomes a request to stop."""
        try:
            yield
        except BaseException:
            self.request_stop(ex=sys.exc_info())

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Waits until a stop is requested, or for some seconds; says whether one was."""
        return self._stop_event.wait(timeout)

    def register_thread(self, thread: threading.Thread) -> None:
        """A thread that `join` is to wait for."""
        with self._lock:
            self._registered_threads.add(thread)

    def join(
        self,
        threads: Iterable[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Waits for all threads: for as long as it takes while no stop is requested, for the grace period after that.

        Raises the error that was reported; if there is none, an error if threads are still alive.
        """
        with self._lock:
            waited_for = list(self._registered_threads.union(threads or ()))
        while any(thread.is_alive() for thread in waited_for) and not self.wait_for_stop(_LONGEST_LOOK):
            pass
        self._wait_in_grace(waited_for, stop_grace_period_secs)
        stragglers = " ".join(thread.name for thread in waited_for if thread.is_alive())
        with self._lock:
            self._joined = True
            self._registered_threads = set()
            if self._failure is not None:
                raise self._failure
        if stragglers:
            message = f"Coordinator stopped with threads still running: {stragglers}"
            if not ignore_live_threads:
                raise FailedPreconditionError(message)
            LOG.info(message)

    def _wait_in_grace(self, threads: Sequence[threading.Thread], seconds: float) -> None:
        deadline = self.clock() + seconds
        for thread in threads:
            while thread.is_alive() and (remaining := deadline - self.clock()) > 0:
                if thread is threading.current_thread():
                    return
                thread.join(min(remaining, _LONGEST_LOOK))

    def raise_requested_exception(self) -> None:
        """Raises the error that was reported, if any was."""
        with self._lock:
            if self._failure is not None:
                raise self._failure


def _exception(ex: BaseException | ExceptionInfo | None) -> BaseException | None:
    """The error itself. What is none becomes one that says so."""
    found = ex[1] if isinstance(ex, tuple) and len(ex) == 3 else ex
    if found is None and ex is None:
        return None
    if isinstance(found, BaseException):
        return found
    return InvalidArgumentError(f"ex must be a tuple or sys.exc_info must return the current exception: {ex}")


class LooperThread(threading.Thread):
    """A thread that does the same again and again until its coordinator says stop: `target`, or its `run_loop`.

    With `timer_interval_secs` it does so once per interval; with None, as soon as it is through.
    """

    clock: Callable[[], float] = staticmethod(time.time)

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any] | None = None,
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> None:
        if not isinstance(coord, Coordinator):
            raise InvalidArgumentError(f"'coord' argument must be a Coordinator: {coord}")
        if not target and (args or kwargs):
            raise InvalidArgumentError("'args' and 'kwargs' argument require that you also pass 'target'")
        super().__init__(daemon=True)
        self._coord = coord
        self._timer_interval_secs = timer_interval_secs
        self._work = None if target is None else (target, tuple(args or ()), dict(kwargs or {}))
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., Any],
        args: Sequence[Any] | None = None,
        kwargs: Mapping[str, Any] | None = None,
    ) -> LooperThread:
        """Starts a thread that calls `target`."""
        looper = LooperThread(coord, timer_interval_secs, target=target, args=args, kwargs=kwargs)
        looper.start()
        return looper

    def run(self) -> None:
        with self._coord.stop_on_exception():
            self.start_loop()
            if self._timer_interval_secs is None:
                while not self._coord.should_stop():
                    self.run_loop()
            else:
                following = self.clock()
                while not self._coord.wait_for_stop(following - self.clock()):
                    following += self._timer_interval_secs
                    self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Called once, before the first round."""

    def stop_loop(self) -> None:
        """Called once, after the last round."""

    def run_loop(self) -> None:
        """Does the work of one round: calls the function that the thread was made with, if there is one."""
        if self._work is not None:
            target, args, kwargs = self._work
            target(*args, **kwargs)


__all__ = ["Coordinator", "LooperThread"]
