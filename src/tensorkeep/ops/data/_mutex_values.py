"""Locks as values of their handles: one run at a time holds one."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Condition, get_ident

import numpy as np

from tensorkeep.errors import CancelledError, FailedPreconditionError
from tensorkeep.ops.data._queue_values import wait_for_change


@dataclass(frozen=True, eq=False, slots=True)
class Ticket:
    """What somebody has taken a lock by."""

    thread: int


class Mutex:
    """A lock that threads wait for. Who waits is told when the session is closed, and by interrupts."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._changed = Condition()
        self._ticket: Ticket | None = None  # of who holds it
        self._is_gone = False

    def acquire(self) -> HeldMutex:
        """Takes the lock as soon as nobody holds it."""
        ticket = Ticket(get_ident())
        with self._changed:
            while self._ticket is not None:
                if self._ticket.thread == ticket.thread:
                    raise FailedPreconditionError(
                        f'the lock "{self.name}" is held by the run that wants to take it: it would wait for itself. '
                        "Take the lock once, around all that it is for"
                    )
                wait_for_change(self._changed, self._is_gone, f"MutexLock '{self.name}'")
            if self._is_gone:
                raise CancelledError(f"MutexLock '{self.name}' operation was cancelled")
            self._ticket = ticket
        return HeldMutex(self, ticket)

    def give_back(self, ticket: Ticket) -> None:
        """Lets the next one take the lock, if it is held by that ticket."""
        with self._changed:
            if self._ticket is ticket:
                self._ticket = None
                self._changed.notify()

    def cancel(self) -> None:
        """Makes all that wait fail: the session that they belong to has been closed."""
        with self._changed:
            self._is_gone = True
            self._changed.notify_all()


class HeldMutex:
    """A lock that is held: until it is released, or nobody has this value any more."""

    # To NumPy it is one element of an array of objects.
    dtype = np.dtype(object)
    __slots__ = ("__weakref__", "_mutex", "_ticket")

    def __init__(self, mutex: Mutex, ticket: Ticket) -> None:
        self._mutex = mutex
        self._ticket = ticket

    def release(self) -> None:
        self._mutex.give_back(self._ticket)

    def __del__(self) -> None:
        self.release()
