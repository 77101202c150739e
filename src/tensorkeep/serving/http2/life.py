"""How long a connection lasts: what is to be done about it as time passes, decided from what is known of it."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, auto
from typing import Final

from tensorkeep.serving.http2.frames import ConnectionFaultError, ErrorCode
from tensorkeep.serving.http2.limits import Limits

_FAREWELL_SECONDS: Final = 1.0  # that a client has to answer, when it is told that the connection will be closed
_LINGER_SECONDS: Final = 5.0  # that a client has to read the last words


class Verdict(Enum):
    """What is to be done with a connection now."""

    KEEP = auto()
    ASK = auto()
    """Ask the client whether it is there."""
    DRAIN = auto()
    """Close it when its requests have been answered."""
    LEAVE = auto()
    """Take no more requests, on one that is to be closed."""
    ABORT = auto()
    """Close it at once."""


class Life:
    """The times of one connection."""

    def __init__(self, limits: Limits, clock: Callable[[], float]) -> None:
        self._limits = limits
        self._clock = clock
        now = clock()
        self._born = self._heard = self._used = now
        self._asked: float | None = None
        self._paused: float | None = None
        self._drained: float | None = None
        self._closed: float | None = None
        self._pinged = float("-inf")
        self._strikes = 0
        self.is_heard = False
        """Whether something came since the last look."""

    def paused(self, is_paused: bool) -> None:
        """The client does not read, or reads again."""
        self._paused = self._clock() if is_paused else None

    def drained(self) -> None:
        """The client was told that the connection will be closed."""
        self._drained = self._clock()

    def closed(self) -> None:
        """The last frame is sent: the client gets a moment to read it."""
        self._closed = self._clock()

    def pinged(self) -> None:
        """The client asked whether the server is there. ConnectionFaultError if it asks too often."""
        least = self._limits.least_ping_seconds
        if not least:
            return
        now = self._clock()
        self._strikes += now - self._pinged < least
        self._pinged = now
        if 0 < self._limits.ping_strikes < self._strikes:
            raise ConnectionFaultError(ErrorCode.ENHANCE_YOUR_CALM, "too_many_pings")

    def answered(self) -> None:
        """The client has said that it is there."""
        self._asked = None

    def worked(self) -> None:
        """Something was answered: pings that came before are forgiven."""
        self._strikes = 0
        self._pinged = float("-inf")

    def verdict(self, now: float, *, is_begun: bool, is_within: bool, has_calls: bool) -> Verdict:
        """What is to be done with the connection now.

        `is_begun`: the preface and the first SETTINGS have come; `is_within`: a frame has come in part; `has_calls`: a
        request is open.
        """
        limits = self._limits
        if self.is_heard:
            self._heard, self.is_heard = now, False
        if has_calls:
            self._used = now
        if self._closed is not None:
            return Verdict.ABORT if now - self._closed > _LINGER_SECONDS else Verdict.KEEP
        silent = now - self._heard
        if (
            (not is_begun and now - self._born > limits.handshake_seconds)
            or (is_within and silent > limits.stall_seconds)
            or (self._paused is not None and now - self._paused > limits.stall_seconds)
            or (self._asked is not None and now - self._asked > limits.ping_answer_seconds)
            or now - self._born > limits.age_seconds + limits.age_grace_seconds
        ):
            return Verdict.ABORT
        if self._drained is not None:
            return Verdict.LEAVE if now - self._drained > _FAREWELL_SECONDS else Verdict.KEEP
        if now - self._born > limits.age_seconds or now - self._used > limits.idle_seconds:
            return Verdict.DRAIN
        if self._asked is None and silent > limits.ping_seconds and (has_calls or limits.pings_without_calls):
            self._asked = now
            return Verdict.ASK
        return Verdict.KEEP
