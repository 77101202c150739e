"""Requests that wait, and the batches that they are in."""

from __future__ import annotations

import asyncio
from typing import Final

from tensorkeep.arrays import Array
from tensorkeep.errors import DeadlineExceededError, ResourceExhaustedError
from tensorkeep.serving.batching.joining import Kind
from tensorkeep.serving.batching.threads import Timer
from tensorkeep.serving.statuses import TIMED_OUT

TIMED_OUT_IN_QUEUE: Final = "Run() timeout exceeded while waiting in batching queue"


class Task:
    """A request, or a piece of one, in a queue."""

    __slots__ = ("arrays", "batch", "deadline", "future", "rows", "since", "timer")

    def __init__(self, arrays: list[Array], since: float, deadline: float | None) -> None:
        self.arrays = arrays
        self.rows: int = arrays[0].shape[0]
        self.since = since
        self.deadline = deadline
        self.future: asyncio.Future[list[Array]] = asyncio.get_running_loop().create_future()
        self.timer: Timer | None = None
        self.batch: Batch | None = None

    @property
    def load(self) -> int:
        """How many rows of a batch it counts for: a request without rows counts for one."""
        return max(1, self.rows)

    def expire(self) -> None:
        """Answers that its deadline has passed, in the queue or during its run, unless it was answered before."""
        if not self.future.done():
            late = (
                ResourceExhaustedError(TIMED_OUT_IN_QUEUE)
                if self.batch is not None
                else DeadlineExceededError(TIMED_OUT)
            )
            self.future.set_exception(late)


class Batch:
    """Requests of one kind that are to be run together."""

    __slots__ = ("is_full", "kind", "load", "since", "tasks")

    def __init__(self, kind: Kind, since: float) -> None:
        self.kind = kind
        self.since = since
        self.tasks: list[Task] = []
        self.load = 0
        self.is_full = False

    def add(self, task: Task) -> None:
        self.tasks.append(task)
        self.load += task.load
        task.batch = self

    def remove(self, task: Task) -> None:
        self.tasks.remove(task)
        self.load -= task.load
        task.batch = None
