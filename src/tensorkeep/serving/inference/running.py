"""Runs of a model in threads beside the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import TypeVar

from tensorkeep.arrays import Array
from tensorkeep.errors import DeadlineExceededError
from tensorkeep.serving.inference.quick_runs import SLOW, QuickRuns, timed_here, timed_run
from tensorkeep.serving.servables import Ends, Servable
from tensorkeep.serving.statuses import TIMED_OUT

Result = TypeVar("Result")


class ThreadRunner:
    """Each request by itself, in a thread of an executor. Several may run at a time."""

    def __init__(self, servable: Servable, executor: Executor | None = None, *, stays_outside: bool = False) -> None:
        """Without an executor, that of the event loop is used.

        Runs that are known to be quicker than a hop to a thread and back are done in the event loop itself, unless it
        `stays_outside`.
        """
        self._servable = servable
        self._executor = executor
        self._quick = None if stays_outside else QuickRuns(servable)

    async def run(self, ends: Ends, arrays: Sequence[Array], deadline: float | None) -> Sequence[Array]:
        """The fetched tensors. A run that has begun goes on after its deadline, but nobody waits for it any longer."""
        if deadline is not None and deadline <= time.monotonic():
            raise DeadlineExceededError(TIMED_OUT)
        quick = self._quick
        kind = None if quick is None else quick.kind(ends, arrays)
        if quick is not None and quick.is_quick(kind):
            results, seconds, own_seconds = timed_here(self._servable, ends, arrays)
            if seconds >= SLOW:
                quick.doubt(kind, seconds, own_seconds)
            return results
        loop = asyncio.get_running_loop()
        computing = loop.run_in_executor(self._executor, timed_run, self._servable, ends, arrays)
        results, seconds = await in_time(computing, deadline)
        if quick is not None:
            quick.learn(kind, seconds)
        return results


async def in_time(waited: asyncio.Future[Result], deadline: float | None) -> Result:
    """What a future brings; DeadlineExceededError, and the future is cancelled, if that is not there in time."""
    if deadline is None:
        return await waited
    is_late = False

    def give_up() -> None:
        nonlocal is_late
        is_late = waited.cancel()

    timer = asyncio.get_running_loop().call_later(deadline - time.monotonic(), give_up)
    try:
        return await waited
    except asyncio.CancelledError:
        if is_late:
            raise DeadlineExceededError(TIMED_OUT) from None
        raise
    finally:
        timer.cancel()
