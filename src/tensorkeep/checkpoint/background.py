"""Saves that go on in the background: what is left to do after a snapshot was taken, and how it went.

One save of a saver is under way at a time. The next one waits for it: a saver holds no more than one snapshot.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from threading import Event, Lock, Thread
from typing import Final

from tensorkeep.errors import AbortedError, InternalError

LOG: Final = logging.getLogger("tensorkeep")


class SaveHandle:
    """A save under way."""

    def __init__(self, path: str) -> None:
        self.path = path
        """The checkpoint, once the save is done."""
        self._done = Event()
        self._error: BaseException | None = None
        self._is_known = False

    def done(self) -> bool:
        """Whether the save has ended, well or not."""
        return self._done.is_set()

    def wait(self, timeout: float | None = None) -> None:
        """Waits for the end. Raises what went wrong, as `result` does; TimeoutError if the wait is over."""
        self.result(timeout)

    def result(self, timeout: float | None = None) -> str:
        """Waits for the end, and gives the checkpoint. Raises what went wrong; TimeoutError if the wait is over."""
        error = self.exception(timeout)
        if error is not None:
            raise error
        return self.path

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Waits for the end, and gives what went wrong, if anything did."""
        if not self._done.wait(timeout):
            raise TimeoutError(f'"{self.path}" is still being written after {timeout} seconds')
        self._is_known = True
        return self._error

    def raise_if_unknown(self) -> None:
        """After the end: raises what went wrong, unless somebody was told already."""
        if self._error is not None and not self._is_known:
            self._is_known = True
            raise AbortedError(
                f'the save to "{self.path}" that went on in the background failed: {self._error}'
            ) from self._error

    def _end(self, error: BaseException | None) -> None:
        self._error = error
        self._done.set()

    def __repr__(self) -> str:
        state = "under way" if not self.done() else "failed" if self._error else "done"
        return f'<SaveHandle "{self.path}": {state}>'


class Background:
    """Does one thing at a time in a thread of its own."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._current: SaveHandle | None = None

    def wait(self) -> None:
        """Waits for what is under way. What went wrong there is raised, unless somebody was told already."""
        with self._lock:
            self._wait()

    def _wait(self) -> None:
        handle = self._current
        if handle is not None:
            handle._done.wait()
            self._current = None
            handle.raise_if_unknown()

    def start(self, handle: SaveHandle, work: Callable[[], None]) -> None:
        """Begins with the work. Nothing else may be under way."""
        with self._lock:
            if self._current is not None and not self._current.done():
                raise InternalError("a save is under way already")
            self._current = handle

        def run() -> None:
            error: BaseException | None = None
            try:
                work()
            except BaseException as raised:  # whatever it is, it belongs to the one who asked for the save
                error = raised
                # The last save of a program may be one that nobody asks about.
                LOG.error('the save to "%s" in the background failed: %s', handle.path, raised)
            handle._end(error)

        # Not a daemon: a program that ends while a save is under way ends when the save is done.
        Thread(target=run, name=f"save {handle.path}").start()
