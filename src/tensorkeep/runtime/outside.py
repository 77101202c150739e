"""Calls of what is outside of graphs, the Python functions of a program: nobody knows how long one takes, or what it
waits for. Who has work done ahead asks for little of it at a time then.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

_CALLS: Final[ContextVar[int]] = ContextVar("how many calls of what is outside this thread has made", default=0)


def note_outside_call() -> None:
    """Says that this thread calls, or waits for, what is outside."""
    _CALLS.set(_CALLS.get() + 1)


def outside_calls() -> int:
    """How many such calls this thread has made."""
    return _CALLS.get()
