"""A lock that many readers share, or one writer has."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import TypeAlias

_Action: TypeAlias = Callable[[], None]


class SharedLock:
    """Any number of threads read at a time, or one writes. A writer that waits lets no new reader in.

    Neither side may be taken by a thread that holds one already.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition(threading.Lock())
        self._readers = 0
        self._writers_waiting = 0
        self._is_writing = False
        self.reading = _Side(self._begin_reading, self._end_reading)
        """A context in which others may read, and none write."""
        self.writing = _Side(self._begin_writing, self._end_writing)
        """A context that one thread has alone."""

    def _begin_reading(self) -> None:
        with self._condition:
            while self._is_writing or self._writers_waiting:
                self._condition.wait()
            self._readers += 1

    def _end_reading(self) -> None:
        with self._condition:
            self._readers -= 1
            if not self._readers:
                self._condition.notify_all()

    def _begin_writing(self) -> None:
        with self._condition:
            self._writers_waiting += 1
            try:
                while self._is_writing or self._readers:
                    self._condition.wait()
            finally:
                self._writers_waiting -= 1
            self._is_writing = True

    def _end_writing(self) -> None:
        with self._condition:
            self._is_writing = False
            self._condition.notify_all()


class _Side:
    """A context manager for one way to hold the lock, reading or writing. It has no state of its own, so all threads
    share it.
    """

    __slots__ = ("_begin", "_end")

    def __init__(self, begin: _Action, end: _Action) -> None:
        self._begin = begin
        self._end = end

    def __enter__(self) -> None:
        self._begin()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()
