"""Who does the parts of a job: this process, one part after the other, or a Ray cluster, as tasks.

A part is a value that says what is to be done; work is a function of a module that does it and gives a small result
back. Both travel, so they are plain data and names of files, never open files. A task is done again if its worker or
its machine dies.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Final, Protocol, TypeVar

from tensorkeep import errors
from tensorkeep.cluster.ray_start import connect, disconnect
from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError, TensorKeepError, UnavailableError
from tensorkeep.io.machine.resources import memory_limit
from tensorkeep.io.showing.amounts import size_text

P = TypeVar("P")
R = TypeVar("R")

_LEAST_MEMORY: Final = 64 << 20


class Executor(Protocol):
    """Does the parts of jobs."""

    @property
    def workers(self) -> int:
        """How many parts are done at a time."""
        ...

    def run(self, work: Callable[[P], R], parts: Sequence[P]) -> Iterator[tuple[int, R]]:
        """The result of each part with its number, in the order in which they are done.

        A part whose worker dies is done again. An error of ours in a part ends the job, and is raised.
        """
        ...


class SerialExecutor:
    """Does one part after the other, in this process, with as many threads as help."""

    workers = 1

    def run(self, work: Callable[[P], R], parts: Sequence[P]) -> Iterator[tuple[int, R]]:
        for number, part in enumerate(parts):
            yield number, work(part)


SERIAL = SerialExecutor()


class RayExecutor:
    """Does parts of jobs as tasks of a Ray cluster. Use it in a `with` block, or close it.

    `address` is that of the cluster (see `tensorkeep.cluster.connect`), `workers` how many parts are done at a time,
    all processors of the cluster by default. `memory` bounds the memory that each part may take, in bytes: tasks are
    put where so much is free, and one that wants more fails with a ResourceExhaustedError. A part is done `retries`
    times again if its worker dies.
    """

    def __init__(
        self, address: str | None = None, *, workers: int | None = None, memory: int | None = None, retries: int = 3
    ) -> None:
        if workers is not None and workers < 1:
            raise InvalidArgumentError(f"{workers} workers: expected at least 1")
        if memory is not None and memory < _LEAST_MEMORY:
            raise InvalidArgumentError(
                f"{memory} bytes of memory for a worker: expected at least {size_text(_LEAST_MEMORY)}"
            )
        self._ray = connect(address, processors=workers)
        found = int(self._ray.cluster_resources().get("CPU", 1))
        self.workers = workers or max(1, found)
        self.memory = memory
        self._retries = retries

    def run(self, work: Callable[[P], R], parts: Sequence[P]) -> Iterator[tuple[int, R]]:
        """The result of each part with its number, in the order in which they are done."""
        options: dict[str, Any] = {"num_cpus": 1, "max_retries": self._retries}
        if self.memory is not None:
            options["memory"] = self.memory
        task = self._ray.remote(_done).options(**options)
        named = (work.__module__, work.__qualname__)
        waiting = list(enumerate(parts))[::-1]
        running: dict[Any, int] = {}
        try:
            while waiting or running:
                while waiting and len(running) < self.workers:
                    number, part = waiting.pop()
                    running[task.remote(named, part, self.memory)] = number
                [ready], _ = self._ray.wait(list(running), num_returns=1)
                yield running.pop(ready), self._result(ready)
        finally:
            for left in running:
                self._ray.cancel(left, force=True)

    def _result(self, ready: Any) -> Any:
        try:
            outcome = self._ray.get(ready)
        except self._ray.exceptions.RayError as error:
            first = str(error).strip().splitlines()[0]
            raise UnavailableError(
                f"a part of the job failed {self._retries + 1} times on the cluster: {first}; see the logs of Ray, "
                "give each worker more memory, or run fewer at a time"
            ) from error
        return outcome.value()

    def close(self) -> None:
        """Leaves the cluster."""
        disconnect()

    def __enter__(self) -> RayExecutor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True)
class Outcome:
    """What became of work in another process: its result, or an error of ours in words."""

    result: Any = None
    error: str = ""
    message: str = ""

    def value(self) -> Any:
        """The result; or the error is raised, as the class that it was there, or the nearest with a message alone."""
        if not self.error:
            return self.result
        kind = getattr(errors, self.error, TensorKeepError)
        raise kind(self.message)

    @classmethod
    def of(cls, work: Callable[[], Any]) -> Outcome:
        """What becomes of work that is done now."""
        try:
            return cls(work())
        except TensorKeepError as error:
            known = next(kind for kind in type(error).__mro__ if getattr(errors, kind.__name__, None) is kind)
            return cls(None, known.__name__, str(error))
        except MemoryError:
            return cls(
                None,
                ResourceExhaustedError.__name__,
                "a worker wanted more memory than it may have: allow it more (memory), or cut the work smaller",
            )


def _done(named: tuple[str, str], part: Any, memory: int | None) -> Outcome:
    """What a task does: a part, by the function of that name, in so much memory."""
    work: Any = importlib.import_module(named[0])
    for step in named[1].split("."):
        work = getattr(work, step)
    with memory_limit(memory):
        return Outcome.of(lambda: work(part))
