"""A request and what became of it, for whatever counts, limits, logs or redirects requests."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Protocol

from tensorkeep.proto.serving import PredictionLog
from tensorkeep.serving.models import Call, ModelAsked


@dataclass(slots=True)
class Exchange:
    """One request for inference, from its arrival to its answer. It is filled in on the way, and told of at the end."""

    asked: ModelAsked
    call: Call
    started: float
    """By `time.monotonic()`."""
    version: int | None = None
    """Which version answered; None when it did not come to that."""
    signature: str = ""
    """Which signature answered."""
    rows: int = 0
    """How many rows, or examples, were in the request; 0 where that is not known."""
    code: int = 0
    """The code of gRPC; 0 for an answer."""
    error: str = ""
    seconds: float = 0.0
    """From its arrival to its answer."""
    model_seconds: float = 0.0
    """Of it, those in the model and in the queue before it."""
    log: Callable[[], PredictionLog] | None = None
    """Makes the record of the request and its answer; None when there was no answer."""


class Traffic(Protocol):
    """What is done with requests for inference besides answering them. None of it waits, but for `admitted`."""

    def routed(self, asked: ModelAsked) -> ModelAsked:
        """The model and version that a request is answered by: as asked, or for some of the requests that name no
        version, one that is being tried.
        """
        ...

    def admitted(self, asked: ModelAsked, call: Call) -> AbstractAsyncContextManager[Call | None]:
        """Holds a place for a request while it is answered; UnavailableError at once where there is none.

        It gives the call with the time that is left to it, if that is less than the client's.
        """
        ...

    def finished(self, exchange: Exchange) -> None:
        """Takes note of a request, answered or not. Never raises."""
        ...


class PlainTraffic:
    """Requests go where they ask to go, all at once, and nothing is noted."""

    def routed(self, asked: ModelAsked) -> ModelAsked:
        return asked

    @asynccontextmanager
    async def admitted(self, asked: ModelAsked, call: Call) -> AsyncIterator[None]:
        yield

    def finished(self, exchange: Exchange) -> None:
        pass
