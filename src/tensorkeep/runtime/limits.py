"""How much a run may take: seconds, bytes and steps.

A step is a round of a loop, a call of a function, or an element of a dataset that is repeated. At every step the clock
is looked at and, where bytes are limited, the memory of the process; so is the size of what an op is told to make,
before it is made. A graph without loops and calls ends by itself, and only the last holds for it. Who waits for a run
can be asked at the steps whether they still do; so can who waits for what is made ahead, in threads without a run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from math import prod
from time import monotonic
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorkeep.errors import DeadlineExceededError, InvalidArgumentError, ResourceExhaustedError
from tensorkeep.io.machine.resources import available_memory, resident_memory
from tensorkeep.shapes import MAX_RANK

_REMEDY: Final = "If you trust the model, raise it (limits=tk.Limits({0}=...), {1}), or None for no limit"
_BETWEEN_LOOKS: Final = 0.001  # seconds in which no step could allocate much
_BETWEEN_QUESTIONS: Final = 0.05  # seconds after which those who wait are asked again
_UNQUESTIONED: Final = 1 << 28  # bytes
_SMALL: Final = 1 << 10  # bytes; nobody's limit is below that


@dataclass(frozen=True)
class Limits:
    """What one run, or one call of a signature, may take; None is no limit.

    `seconds` is wall time, `bytes` how large a tensor may be and by how much the process may grow, `steps` how many
    rounds of loops and calls of functions there may be.
    """

    seconds: float | None = None
    bytes: int | None = None
    steps: int | None = None

    def __post_init__(self) -> None:
        for name in ("seconds", "bytes", "steps"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise InvalidArgumentError(f"a limit of {name} is a positive number or None, got {value!r}")

    @property
    def is_none(self) -> bool:
        """Whether nothing is limited."""
        return self.seconds is None and self.bytes is None and self.steps is None


NO_LIMITS: Final = Limits()


class Meter:
    """What one run has taken so far."""

    def __init__(
        self,
        limits: Limits,
        clock: Callable[[], float] = monotonic,
        memory: Callable[[], int] = resident_memory,
        watch: Callable[[], None] | None = None,
    ) -> None:
        self._limits = limits
        self._watch = watch
        self._clock = clock
        self._memory = memory
        self._start = clock()
        self._steps = 0
        self._first_bytes = memory() if limits.bytes is not None else 0
        self._next_look = self._start
        self._next_question = self._start

    def step(self) -> None:
        """Counts a step; an error if that, the time or the memory is too much, or nobody waits for the run."""
        limits = self._limits
        self._steps += 1
        if limits.steps is not None and self._steps > limits.steps:
            raise ResourceExhaustedError(
                f"the run took more than {limits.steps} steps (rounds of loops and calls of functions), which is its "
                f"limit. {_REMEDY.format('steps', '--max-steps')}"
            )
        self.look()

    def look(self) -> None:
        """The same without a step: the time, the memory, and whether somebody waits."""
        limits = self._limits
        now = self._clock()
        if limits.seconds is not None and now - self._start > limits.seconds:
            raise DeadlineExceededError(
                f"the run took longer than {limits.seconds} seconds, which is its limit, and was ended after "
                f"{self._steps} steps. {_REMEDY.format('seconds', '--max-seconds')}"
            )
        if limits.bytes is not None and now >= self._next_look:
            self._next_look = now + _BETWEEN_LOOKS
            self._look_at_memory(limits.bytes)
        if self._watch is not None and now >= self._next_question:
            self._next_question = now + _BETWEEN_QUESTIONS
            self._watch()

    def _look_at_memory(self, most: int) -> None:
        grown = self._memory() - self._first_bytes
        if grown > most:
            raise ResourceExhaustedError(
                f"the run has let the process grow by {grown} bytes, and its limit is {most}. "
                f"{_REMEDY.format('bytes', '--max-memory')}"
            )

    def check_bytes(self, wanted: int, what: str) -> None:
        """ResourceExhaustedError if the run may not make `what`, which takes `wanted` bytes."""
        most = self._limits.bytes
        if most is not None and wanted > most:
            raise ResourceExhaustedError(
                f"{what} would take {wanted} bytes, and the limit of the run is {most}. "
                f"{_REMEDY.format('bytes', '--max-memory')}"
            )

    @property
    def seconds_left(self) -> float | None:
        """How long something may still be waited for; None if that is not limited."""
        most = self._limits.seconds
        return None if most is None else max(0.0, self._start + most - self._clock())


_METER: Final[ContextVar[Meter | None]] = ContextVar("what the run in this thread has taken", default=None)
_WATCH: Final[ContextVar[Callable[[], None] | None]] = ContextVar("who waits for this thread's work", default=None)


@contextmanager
def within_limits(limits: Limits, watch: Callable[[], None] | None = None) -> Iterator[None]:
    """While the block runs, this thread keeps within limits: those of the outermost such block.

    `watch` is called at steps, some twenty times a second at most; an error that it raises ends the run. Steps are
    counted by sessions that have limits themselves.
    """
    if (limits.is_none and watch is None) or _METER.get() is not None:
        yield
        return
    token = _METER.set(Meter(limits, watch=watch))
    try:
        yield
    finally:
        _METER.reset(token)


@contextmanager
def watched(watch: Callable[[], None]) -> Iterator[None]:
    """While the block runs, `watch` is called at the steps of this thread; it raises if nobody waits for them any more.

    Nothing is limited or counted by it.
    """
    token = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(token)


def check_waiting() -> None:
    """An error if the time of the run that this thread is in is up, or if nobody waits for what this thread does."""
    meter, watch = _METER.get(), _WATCH.get()
    if meter is not None:
        meter.look()
    if watch is not None:
        watch()


def current_meter() -> Meter | None:
    """What measures the run that this thread is in, if anything does."""
    return _METER.get()


def count_step() -> None:
    """Counts a step of the run that this thread is in, if it is limited, and asks who watches."""
    count_steps(1)


def count_steps(count: int) -> None:
    """Counts some steps of the run that this thread is in, if it is limited, and asks who watches."""
    meter, watch = _METER.get(), _WATCH.get()
    if meter is not None:
        for _ in range(count):
            meter.step()
    if watch is not None:
        watch()


def check_allocation(shape: Sequence[int], dtype: npt.DTypeLike, copies: int = 1) -> None:
    """Raises unless an array of this shape, and what making it takes besides, fits into the memory that is there.

    A negative size is an InvalidArgumentError, too large a size a ResourceExhaustedError. To be called before
    anything is allocated.
    """
    if shape and min(shape) < 0:
        raise InvalidArgumentError(f"Dimension {min(shape)} must be >= 0")
    if len(shape) > MAX_RANK:
        raise InvalidArgumentError(f"a tensor has at most {MAX_RANK} dimensions, got {len(shape)}")
    wanted = prod(shape) * np.dtype(dtype).itemsize * copies
    if wanted > _SMALL and (meter := current_meter()) is not None:
        meter.check_bytes(wanted, f"a tensor with shape{list(shape)} and type {np.dtype(dtype).name}")
    if wanted > _UNQUESTIONED and wanted > available_memory():
        raise ResourceExhaustedError(
            f"OOM when allocating tensor with shape{list(shape)} and type {np.dtype(dtype).name}: there is no memory "
            f"for {wanted / 2**30:,.1f} GiB"
        )
