"""A stream: one request and its answer, and who takes the one and gives the other."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Protocol

from tensorkeep.serving.http2.frames import ErrorCode
from tensorkeep.serving.http2.heads import RequestHead
from tensorkeep.serving.http2.hpack import Fields


class Receiver(Protocol):
    """Who takes what comes on a stream, and answers it. It is called in the event loop."""

    @property
    def takes_at_once(self) -> bool:
        """Whether all that comes is taken as it comes; if not, `Stream.took` is told of it later."""
        ...

    @property
    def may_rest(self) -> bool:
        """Whether the client may be silent for long before its request ends."""
        ...

    def data(self, piece: bytes) -> None:
        """A piece of the request's body has come."""
        ...

    def ended(self) -> None:
        """All of the request has come."""
        ...

    def gone(self) -> None:
        """The client has given up, or is gone: nothing that is sent arrives any more."""
        ...

    def stalled(self) -> None:
        """The client has not gone on with its request for too long."""
        ...

    def check(self, now: float) -> None:
        """Some time has passed."""
        ...


class Service(Protocol):
    """Who takes requests."""

    def accept(self, stream: Stream, head: RequestHead) -> Receiver:
        """Who takes what comes of a new request."""
        ...

    def refuse(self, stream: Stream, text: str) -> Receiver:
        """The same for a request whose headers are too large."""
        ...


class Carrier(Protocol):
    """The connection that a stream is of."""

    @property
    def is_congested(self) -> bool:
        """Whether the client does not take the answers that there are for it."""
        ...

    def when_relieved(self, work: Callable[[], None]) -> None:
        """Has something done when the client has taken answers."""
        ...

    def send(self, stream: Stream, head: Fields | None, body: bytes, tail: Fields | None) -> None:
        """Sends what is given, in this order; a tail ends the stream."""
        ...

    def reset(self, stream: Stream, code: ErrorCode) -> None:
        """Ends the stream at once."""
        ...

    def took(self, stream: Stream, size: int) -> None:
        """So many bytes of the request have been taken, and there is room for others."""
        ...


class Stream:
    """One request and its answer, from the server's side."""

    __slots__ = (
        "_carrier",
        "drained",
        "expected",
        "is_moved",
        "is_open_here",
        "is_open_there",
        "moved_at",
        "number",
        "received",
        "receiver",
        "room",
        "tail",
        "taken",
        "unsent",
        "window",
    )

    receiver: Receiver

    def __init__(self, carrier: Carrier, number: int, *, window: int, room: int, expected: int | None) -> None:
        self._carrier = carrier
        self.number = number
        self.is_open_there = True
        """Whether the client may still send."""
        self.is_open_here = True
        """Whether the server may still send."""
        self.window = window
        """Bytes that the client takes."""
        self.room = room
        """Bytes that the server takes."""
        self.taken = 0
        """Bytes that came and of which the client has not been told that there is room for others."""
        self.expected = expected
        """Bytes that the request will have, if it said so."""
        self.received = 0
        self.unsent: deque[memoryview] = deque()
        self.tail: Fields | None = None
        """What ends the answer when all of it is sent."""
        self.drained: Callable[[], None] | None = None
        """What is called, once, when there is nothing unsent any more, or nothing can be sent."""
        self.is_moved = True
        self.moved_at = 0.0

    def send(self, head: Fields | None = None, body: bytes = b"", tail: Fields | None = None) -> None:
        """Sends headers, data and trailers, or what there is of them; trailers end the stream.

        Data that the client has no room for waits. On a stream that has ended nothing happens.
        """
        if self.is_open_here:
            self._carrier.send(self, head, body, tail)

    def reset(self, code: ErrorCode) -> None:
        """Ends the stream at once, whatever was to be sent."""
        if self.is_open_here or self.is_open_there:
            self._carrier.reset(self, code)

    def took(self, size: int) -> None:
        """So many bytes of the request have been taken, and there is room for others."""
        if self.is_open_there:
            self._carrier.took(self, size)

    @property
    def is_congested(self) -> bool:
        """Whether the client does not take the answers that there are for it on its connection."""
        return self._carrier.is_congested

    def when_relieved(self, work: Callable[[], None]) -> None:
        """Has something done when the client has taken answers."""
        self._carrier.when_relieved(work)

    def release(self) -> None:
        """Tells who waits for what is unsent that it has gone, whether or not it was sent."""
        drained, self.drained = self.drained, None
        if drained is not None:
            drained()
