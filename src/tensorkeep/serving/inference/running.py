"""Runs of a model in threads beside the event loop."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Final

from tensorkeep.errors import DeadlineExceededError
from tensorkeep.serving.servables import Array, Ends, Servable

LATE: Final = "Timed out waiting for notification"  # what TensorFlow's session says


class ThreadRunner:
    """Each request by itself, in a thread of an executor. Several may run at a time."""

    def __init__(self, servable: Servable, executor: Executor | None = None) -> None:
        """Without an executor, that of the event loop is used."""
        self._servable = servable
        self._executor = executor

    async def run(self, ends: Ends, arrays: Sequence[Array], deadline: float | None) -> Sequence[Array]:
        """The fetched tensors. A run that has begun goes on after its deadline, but nobody waits for it any longer."""
        loop = asyncio.get_running_loop()
        if deadline is None:
            return await loop.run_in_executor(self._executor, self._servable.compute, ends, arrays)
        left = deadline - time.monotonic()
        if left <= 0:
            raise DeadlineExceededError(LATE)
        computing = loop.run_in_executor(self._executor, self._servable.compute, ends, arrays)
        is_late = False

        def give_up() -> None:
            nonlocal is_late
            is_late = computing.cancel()

        timer = loop.call_later(left, give_up)
        try:
            return await computing
        except asyncio.CancelledError:
            if is_late:
                raise DeadlineExceededError(LATE) from None
            raise
        finally:
            timer.cancel()
