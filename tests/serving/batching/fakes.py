"""A clock that is set by hand, threads that work when they are told to, and a model that is a function."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future
from typing import Any

import numpy as np

from tensorkeep.serving.batching.notes import BatchNote
from tensorkeep.serving.batching.parameters import BatchSettings
from tensorkeep.serving.batching.queues import BatchingRunner
from tensorkeep.serving.batching.threads import BatchThreads
from tensorkeep.serving.servables import Array, Ends

ENDS = Ends(("x:0",), ("y:0",))


class HandTimer:
    def __init__(self, when: float, action: Callable[[], None]) -> None:
        self.when = when
        self.action = action
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class HandClock:
    """It is 100 until somebody says otherwise."""

    def __init__(self) -> None:
        self.time = 100.0
        self.timers: list[HandTimer] = []

    def now(self) -> float:
        return self.time

    def call_at(self, when: float, action: Callable[[], None]) -> HandTimer:
        self.timers.append(HandTimer(when, action))
        return self.timers[-1]

    async def advance(self, seconds: float) -> None:
        self.time += seconds
        due = [timer for timer in self.timers if timer.when <= self.time]
        self.timers = [timer for timer in self.timers if timer.when > self.time]
        for timer in due:
            if not timer.is_cancelled:
                timer.action()
        await settled()


class HandPool(Executor):
    """Work that is begun, and done when somebody says so."""

    def __init__(self) -> None:
        self.begun: list[tuple[Future[Any], Callable[[], Any]]] = []

    def submit(self, work: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.begun.append((future, work))
        return future

    async def do(self) -> None:
        """Does what was begun first."""
        future, work = self.begun.pop(0)
        future.set_result(work())
        await settled()

    async def do_all(self) -> None:
        while self.begun:
            await self.do()


class FunctionModel:
    """A version whose graph is a function of arrays; it keeps the shapes that it was called with."""

    def __init__(self, function: Callable[..., Array | Sequence[Array]] = lambda x: x * 2) -> None:
        self.name = "m"
        self.version = 7
        self.calls: list[tuple[int, ...]] = []
        self._function = function

    def compute(self, ends: Ends, arrays: Sequence[Array]) -> list[Array]:
        self.calls.append(arrays[0].shape)
        result = self._function(*arrays)
        return [result] if isinstance(result, np.ndarray) else list(result)


class Notes:
    def __init__(self) -> None:
        self.all: list[BatchNote] = []

    def batched(self, note: BatchNote) -> None:
        self.all.append(note)


class Stage:
    """A runner with everything about it in the test's hands."""

    def __init__(self, model: FunctionModel | None = None, threads: int = 1, **settings: Any) -> None:
        self.clock = HandClock()
        self.pool = HandPool()
        self.model = model or FunctionModel()
        self.notes = Notes()
        self.threads = BatchThreads(threads, clock=self.clock, pool=self.pool)
        chosen = BatchSettings(num_batch_threads=threads, **{"learns_sizes": False, **settings})
        self.runner = BatchingRunner(self.model, chosen, self.threads, self.notes)

    def ask(self, array: Any, ends: Ends = ENDS, deadline: float | None = None) -> asyncio.Task[Sequence[Array]]:
        arrays = array if isinstance(array, list) else [np.asarray(array)]
        return asyncio.ensure_future(self.runner.run(ends, arrays, deadline))


async def settled() -> None:
    """Everything that can happen now has happened."""
    for _ in range(8):
        await asyncio.sleep(0)
