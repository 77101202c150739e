"""What a connection may have and do, so that no stranger can keep a server busy or fill its memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from tensorkeep.serving.http2.frames import ConnectionFaultError, ErrorCode

WORTH: Final = 4
"""Frames that bring nothing, for each request and each frame of an answer: updates of windows, and pings."""
_FOREVER: Final = float("inf")


@dataclass(frozen=True, slots=True)
class Limits:
    """What is taken from one connection. Times are in seconds."""

    streams: int = 256
    """Requests that are open at a time."""
    frame: int = 1 << 16
    """Bytes of a frame's payload."""
    header_list: int = 1 << 14
    """Bytes of the headers of a request, unpacked, with 32 for each."""
    stream_window: int = 1 << 19
    """Bytes of a request that may be on their way before the server has said that it takes more."""
    connection_window: int = 1 << 22
    """The same for all requests together."""
    held: int = 64 << 20
    """Bytes of unfinished requests, from which on only the oldest may go on."""
    unsent: int = 16 << 20
    """Bytes of answers that the client does not take, from which on requests wait before they are answered."""
    queued_control: int = 1 << 20
    """Bytes that the server has to say beside answers, to a client that does not listen."""
    resets: int = 1000
    """Requests that may be given up, or be wrong, at once; `resets_a_second` more come back with time."""
    resets_a_second: float = 100.0
    idle_frames: int = 10_000
    """Frames that bring nothing forward, which may come at once; `idle_frames_a_second` more come back with time."""
    idle_frames_a_second: float = 1000.0
    handshake_seconds: float = 20.0
    """Until the client has said its first words, those of TLS included."""
    stall_seconds: float = 60.0
    """Between two bytes of a request, of a frame, or of an answer that a client takes."""
    idle_seconds: float = 3600.0
    """Without any request, until the connection is closed in good order."""
    age_seconds: float = _FOREVER
    """Of a connection, until it is closed in good order."""
    age_grace_seconds: float = _FOREVER
    """That requests have then to end."""
    ping_seconds: float = 7200.0
    """Without a word from the client, until it is asked whether it is there."""
    ping_answer_seconds: float = 20.0
    """That it has to answer that."""
    pings_without_calls: bool = False
    """Whether it is asked while it has no requests."""
    least_ping_seconds: float = 0.0
    """Between two pings of a client, as gRPC's servers ask for it; 0 where only floods of them are refused."""
    ping_strikes: int = 2
    """How many pings may come sooner before the connection is closed; 0 for any number."""


class Allowance:
    """How often a client may do something: a number of times, which grows again with time, up to a limit."""

    __slots__ = ("_at", "_clock", "_left", "_most", "_rate", "_what")

    def __init__(self, most: float, rate: float, what: str, clock: Callable[[], float]) -> None:
        self._most = self._left = most
        self._rate = rate
        self._what = what
        self._clock = clock
        self._at = clock()

    def take(self) -> None:
        """Uses the allowance once. ConnectionFaultError if nothing is left of it."""
        self._left -= 1
        if self._left >= 0:
            return
        now = self._clock()
        self._left = min(self._most, self._left + (now - self._at) * self._rate)
        self._at = now
        if self._left < 0:
            raise ConnectionFaultError(ErrorCode.ENHANCE_YOUR_CALM, f"too many {self._what}")

    def give(self, count: int) -> None:
        """Adds to the allowance, for work that was done for the client in the meantime."""
        self._left = min(self._most, self._left + count)
