"""How many requests of a model run and wait at a time, and for how long.

Limits hold in a worker: of a server with several, each has its share (`ModelLimits.share`).
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from time import monotonic
from typing import Final, Protocol

from tensorkeep.errors import (
    DeadlineExceededError,
    InvalidArgumentError,
    ResourceExhaustedError,
    UnavailableError,
)
from tensorkeep.serving.models import Call, ModelAsked
from tensorkeep.serving.statuses import TIMED_OUT

EVERY_MODEL: Final = ""
"""The name under which limits are for all models that have none of their own."""


@dataclass(frozen=True, slots=True)
class ModelLimits:
    """What a model may use; None for as much as there is."""

    concurrency: int | None = None
    """Requests that are being answered at a time."""
    queue: int = 0
    """Requests that wait for one of those to end; one more is refused at once."""
    deadline_seconds: float | None = None
    """How long a request may take; a client that gives less time has less."""
    memory_bytes: int | None = None
    """What a loaded version may take of memory; `require_memory` sees to it."""

    def __post_init__(self) -> None:
        for name in ("concurrency", "deadline_seconds", "memory_bytes"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise InvalidArgumentError(f"the limit {name} must be positive, got {value}")
        if self.queue < 0:
            raise InvalidArgumentError(f"the limit queue must not be negative, got {self.queue}")
        if self.queue and self.concurrency is None:
            raise InvalidArgumentError("the limit queue is of those who wait for concurrency, which has no limit")

    @classmethod
    def of(cls, text: str) -> ModelLimits:
        """The limits of a text such as "concurrency:8,queue:64,deadline_seconds:0.5"."""
        known = {field.name for field in fields(cls)}
        values: dict[str, float] = {}
        for part in text.split(","):
            name, colon, number = part.partition(":")
            if name not in known or not colon:
                raise InvalidArgumentError(
                    f'"{part}" is no limit; there are {", ".join(sorted(known))}, each as NAME:NUMBER'
                )
            try:
                values[name] = float(number) if name == "deadline_seconds" else int(number)
            except ValueError:
                raise InvalidArgumentError(f'the limit {name} is a number, got "{number}"') from None
        return cls(**values)  # type: ignore[arg-type]  # numbers of the right kind, by their names

    def share(self, workers: int) -> ModelLimits:
        """The limits of one of so many workers."""
        if self.concurrency is None:
            return self
        return replace(self, concurrency=-(-self.concurrency // workers), queue=-(-self.queue // workers))

    def require_memory(self, model: str, version: int, taken: int) -> None:
        """ResourceExhaustedError if a version takes more than the model may."""
        if self.memory_bytes is not None and taken > self.memory_bytes:
            raise ResourceExhaustedError(
                f'version {version} of model "{model}" takes {taken} bytes of memory, more than its limit memory_bytes '
                f"of {self.memory_bytes}"
            )


_UNLIMITED: Final = ModelLimits()


class LimitNotes(Protocol):
    """Something that counts requests that run, wait and are refused. Called on the event loop."""

    def began(self, model: str) -> None: ...

    def ended(self, model: str) -> None: ...

    def waits(self, model: str, count: int) -> None: ...

    def rejected(self, model: str, reason: str) -> None: ...


class _Gate:
    """The places of a model: those that are taken, and those who wait for one, first come first served."""

    __slots__ = ("limits", "running", "waiting")

    def __init__(self, limits: ModelLimits) -> None:
        self.limits = limits
        self.running = 0
        self.waiting: deque[asyncio.Future[None]] = deque()


class Limits:
    """Holds places for requests by the limits of their models. Used from one event loop."""

    def __init__(self, limits: Mapping[str, ModelLimits], notes: LimitNotes) -> None:
        self._limits = dict(limits)
        self._notes = notes
        self._gates: dict[str, _Gate] = {}

    def of(self, model: str) -> ModelLimits:
        """The limits of a model."""
        return self._limits.get(model) or self._limits.get(EVERY_MODEL) or _UNLIMITED

    def change(self, limits: Mapping[str, ModelLimits]) -> None:
        """Puts other limits in force. Those who run go on; those who wait take the places that are new."""
        self._limits = dict(limits)
        for model, gate in self._gates.items():
            gate.limits = self.of(model)
            self._let_in(model, gate)

    def timed(self, asked: ModelAsked, call: Call) -> Call:
        """The call with the time that its model leaves it."""
        seconds = self.of(asked.name).deadline_seconds
        if seconds is None:
            return call
        latest = monotonic() + seconds
        return call if call.deadline is not None and call.deadline <= latest else replace(call, deadline=latest)

    def admitted(self, asked: ModelAsked, call: Call) -> Admission:
        """A place for a request, to be held with `async with`, which gives the call with its time."""
        return Admission(self, asked, call)

    async def enter(self, model: str, call: Call) -> None:
        """Takes a place, or waits for one."""
        gate = self._gates.get(model)
        if gate is None:
            gate = self._gates[model] = _Gate(self.of(model))
        most = gate.limits.concurrency
        if most is not None and gate.running >= most:
            await self._wait(model, gate, call)  # whoever leaves hands the place over
        else:
            gate.running += 1
        self._notes.began(model)

    def leave(self, model: str) -> None:
        """Gives a place back."""
        gate = self._gates[model]
        gate.running -= 1
        self._notes.ended(model)
        self._let_in(model, gate)
        self._tidy(model, gate)

    def _tidy(self, model: str, gate: _Gate) -> None:
        """Forgets a gate that nobody is at: clients may ask for models that there are not."""
        if not gate.running and not gate.waiting and self._gates.get(model) is gate:
            del self._gates[model]

    async def _wait(self, model: str, gate: _Gate, call: Call) -> None:
        limits = gate.limits
        if len(gate.waiting) >= limits.queue:
            self._notes.rejected(model, "queue")
            raise UnavailableError(
                f'model "{model}" is at its limits: {gate.running} requests run (concurrency {limits.concurrency}) and '
                f"{len(gate.waiting)} wait (queue {limits.queue}); try again later"
            )
        loop = asyncio.get_running_loop()
        place: asyncio.Future[None] = loop.create_future()
        gate.waiting.append(place)
        self._notes.waits(model, len(gate.waiting))
        timer = None
        if call.deadline is not None:
            timer = loop.call_later(max(0.0, call.deadline - monotonic()), self._expire, model, place)
        try:
            await place
        except BaseException:
            self._give_up(model, gate, place)
            raise
        finally:
            if timer is not None:
                timer.cancel()

    def _expire(self, model: str, place: asyncio.Future[None]) -> None:
        if not place.done():
            self._notes.rejected(model, "deadline")
            place.set_exception(DeadlineExceededError(TIMED_OUT))

    def _give_up(self, model: str, gate: _Gate, place: asyncio.Future[None]) -> None:
        if place in gate.waiting:
            gate.waiting.remove(place)
        elif not place.cancelled() and place.exception() is None:  # it was let in at the last moment
            gate.running -= 1
            self._let_in(model, gate)
            self._tidy(model, gate)
        self._notes.waits(model, len(gate.waiting))

    def _let_in(self, model: str, gate: _Gate) -> None:
        most = gate.limits.concurrency
        before = len(gate.waiting)
        while gate.waiting and (most is None or gate.running < most):
            place = gate.waiting.popleft()
            if not place.done():
                gate.running += 1
                place.set_result(None)
        if len(gate.waiting) != before:
            self._notes.waits(model, len(gate.waiting))


class Admission:
    """A place that a request has while it is answered."""

    __slots__ = ("_asked", "_call", "_limits")

    def __init__(self, limits: Limits, asked: ModelAsked, call: Call) -> None:
        self._limits = limits
        self._asked = asked
        self._call = call

    async def __aenter__(self) -> Call:
        call = self._limits.timed(self._asked, self._call)
        await self._limits.enter(self._asked.name, call)
        return call

    async def __aexit__(self, *_: object) -> None:
        self._limits.leave(self._asked.name)
