"""How much work something is, counted: a clock would tell of the machine as much as of the code."""

from __future__ import annotations

import gc
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest

_ENDLESS = 60.0


@contextmanager
def uncollected() -> Iterator[None]:
    """Looks for no garbage inside: what makes very many objects that stay is held up by that more than by its work."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@contextmanager
def at_most_lines(most: int) -> Iterator[None]:
    """Fails as soon as more lines of Python than that are run inside, by this thread or those that it starts."""
    left = most

    def count(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal left
        left -= event == "line"
        if left < 0:
            pytest.fail(f"it takes more than {most} lines, the last of them in {frame.f_code.co_name}")
        return count

    before = sys.gettrace(), threading.gettrace()
    threading.settrace(count)
    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before[0])
        threading.settrace(before[1])


@contextmanager
def ends() -> Iterator[None]:
    """Fails if it runs on and on: a minute on the processor, for what takes a small part of a second.

    In the main thread only.
    """

    def stop(number: int, frame: FrameType | None) -> None:
        pytest.fail(f"still running after {_ENDLESS:g} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, _ENDLESS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
