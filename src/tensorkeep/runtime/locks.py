"""Locks that a run holds: whoever has taken one in a run gives it back when the run ends, however it does."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from typing import Any, Final, Protocol
from weakref import ref


class Held(Protocol):
    """A lock that is held."""

    def release(self) -> None:
        """Gives it back; once it is, nothing happens."""


LOCKING: Final = "MutexLock"
"""The op that takes a lock."""
UNLOCKING: Final = "ConsumeMutexLock"
"""The op up to which a lock is held."""

_HELD: Final[ContextVar[list[ref[Held]] | None]] = ContextVar(
    "locks that the run in this thread has taken", default=None
)


def note_held(lock: Held) -> None:
    """Says that the run in this thread has taken a lock. Nobody has to have it until the run ends."""
    held = _HELD.get()
    if held is not None:
        held.append(ref(lock))


def giving_back(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function; when it ends, the locks that were taken in it are given back."""

    @wraps(function)
    def call(*arguments: Any) -> Any:
        held: list[ref[Held]] = []
        token = _HELD.set(held)
        try:
            return function(*arguments)
        finally:
            _HELD.reset(token)
            for known in held:
                if (lock := known()) is not None:
                    lock.release()

    return call
