"""Who does the parts of a job: this process, one part after the other, or others (`ray_executor`).

A part is a value that says what is to be done; work is a function of a module that does it and gives a small result
back. Both travel, so they are plain data and names of files, never open files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from tensorkeep.io.machine.parallel import default_threads

P = TypeVar("P")
R = TypeVar("R")


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


def threads_of(executor: Executor) -> int:
    """How many threads a part may use: all, of a process that works alone; one, beside others on the machine."""
    return default_threads() if executor.workers == 1 and isinstance(executor, SerialExecutor) else 1


SERIAL = SerialExecutor()
