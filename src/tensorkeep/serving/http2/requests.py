"""The requests of a connection: opened, their data taken within windows, answered, ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from tensorkeep.serving.http2.frames import (
    END_STREAM,
    LARGEST_STREAM,
    ConnectionFaultError,
    ErrorCode,
    StreamFaultError,
    unpadded_payload,
)
from tensorkeep.serving.http2.heads import RequestHead, check_fields
from tensorkeep.serving.http2.hpack import Fields
from tensorkeep.serving.http2.limits import Allowance, Limits
from tensorkeep.serving.http2.sender import Sender
from tensorkeep.serving.http2.streams import Service, Stream

_REMEMBERED: Final = 512  # streams that were reset and on which more may come
_MOST_UNHEARD: Final = 1 << 16  # bytes of a request that may come after its answer was sent
_UNHEARD_SECONDS: Final = 5.0  # that a request may take to end after that


class Requests:
    """The streams of one connection. It is the carrier of them."""

    def __init__(
        self,
        service: Service,
        sender: Sender,
        limits: Limits,
        *,
        resets: Allowance,
        idle: Allowance,
        fail: Callable[[ConnectionFaultError], None],
        emptied: Callable[[], None],
    ) -> None:
        """`fail` is told what ends the connection outside of what came on it, `emptied` when no stream is left."""
        self._service = service
        self._sender = sender
        self._limits = limits
        self._resets = resets
        self._idle = idle
        self._fail = fail
        self._emptied = emptied
        self.open: dict[int, Stream] = {}
        """The streams that are open, oldest first."""
        self.last = 0
        """The newest stream."""
        self.last_taken = LARGEST_STREAM
        """The newest stream that is answered."""
        self._given_up: dict[int, None] = {}
        self._room = limits.connection_window
        self._taken = 0
        self._held = 0

    # -------------------------------------------------------------------------------------------------------- Opening

    def begin(self, number: int, flags: int, head: RequestHead | None, refusal: str = "") -> None:
        """A request has begun; without a head it is refused, for the reason given."""
        if number > self.last_taken:
            return  # the client was told that this one is not answered
        if len(self.open) >= self._limits.streams:
            raise StreamFaultError(number, ErrorCode.REFUSED_STREAM, "too many requests at a time")
        expected = None if head is None else head.content_length
        window, room = self._sender.first_window, self._limits.stream_window
        stream = self.open[number] = Stream(self, number, window=window, room=room, expected=expected)
        if head is None:
            stream.receiver = self._service.refuse(stream, refusal)
        else:
            stream.receiver = self._service.accept(stream, head)
        if flags & END_STREAM and stream.is_open_there:
            self._ended_there(stream)

    def go_on(self, number: int, flags: int, fields: Fields) -> None:
        """Headers on a stream that was opened before: trailers, if they are allowed."""
        stream = self.open.get(number)
        if stream is None:
            self._require_given_up(number, "headers")
            return
        if not stream.is_open_there:
            raise StreamFaultError(number, ErrorCode.STREAM_CLOSED, "headers after the end of a request")
        if not flags & END_STREAM:
            raise StreamFaultError(number, ErrorCode.PROTOCOL_ERROR, "malformed: headers in the middle of a request")
        check_fields(number, fields)
        self._ended_there(stream)

    def is_unopened(self, number: int) -> bool:
        """Whether a stream was never opened."""
        return not number or number > self.last or not number & 1

    def _require_given_up(self, number: int, what: str) -> None:
        """What comes on a stream that has ended is left alone if the server ended it: the client learns of it late."""
        if number not in self._given_up and number <= self.last_taken:
            raise ConnectionFaultError(ErrorCode.STREAM_CLOSED, f"{what} on stream {number}, which has ended")
        self._idle.take()

    # ----------------------------------------------------------------------------------------------------------- Data

    def data(self, flags: int, number: int, payload: bytes) -> None:
        """Data of a request."""
        size = len(payload)
        self._room -= size
        if self._room < 0:
            raise ConnectionFaultError(ErrorCode.FLOW_CONTROL_ERROR, "more data than the connection has room for")
        self._taken += size
        if self._taken > self._limits.connection_window >> 1:
            self._sender.update_window(0, self._taken)
            self._room += self._taken
            self._taken = 0
        stream = self.open.get(number)
        if stream is None:
            if self.is_unopened(number):
                raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, f"data on stream {number}, which was never opened")
            self._require_given_up(number, "data")
            return
        if not stream.is_open_there:
            raise StreamFaultError(number, ErrorCode.STREAM_CLOSED, "data after the end of a request")
        stream.room -= size
        if stream.room < 0:
            raise StreamFaultError(number, ErrorCode.FLOW_CONTROL_ERROR, "more data than the stream has room for")
        self._body(stream, flags, unpadded_payload(flags, payload), size)

    def _body(self, stream: Stream, flags: int, body: bytes, size: int) -> None:
        """Hands on what a frame of `size` bytes contained."""
        if not stream.is_open_here:
            self._unheard(stream, flags, size)
            return
        stream.received += len(body)
        self._held += len(body)
        if stream.expected is not None and stream.received > stream.expected:
            raise StreamFaultError(
                stream.number, ErrorCode.PROTOCOL_ERROR, "malformed: more content than was announced"
            )
        if body:
            stream.is_moved = True
            stream.receiver.data(body)
        elif not flags & END_STREAM:
            self._idle.take()
        if not stream.is_open_there:
            return
        if flags & END_STREAM:
            self._ended_there(stream)
        elif stream.receiver.takes_at_once:
            self.took(stream, size)
        else:
            self.took(stream, size - len(body))

    def _unheard(self, stream: Stream, flags: int, size: int) -> None:
        """Data of a request that has been answered, which nobody wants to have."""
        stream.taken += size
        if flags & END_STREAM:
            self._ended_there(stream)
        elif stream.taken > _MOST_UNHEARD:
            self.give_up(stream.number, ErrorCode.NO_ERROR)
        else:
            self._idle.take()

    def took(self, stream: Stream, size: int) -> None:
        """So many bytes of a request have been taken; the client is told when they are many."""
        stream.taken += size
        if stream.taken >= self._limits.stream_window >> 1 and (
            self._held <= self._limits.held or stream is self._oldest_unfinished()
        ):
            self._make_room(stream)

    def _make_room(self, stream: Stream) -> None:
        self._sender.update_window(stream.number, stream.taken)
        stream.room += stream.taken
        stream.taken = 0

    def _oldest_unfinished(self) -> Stream | None:
        return next((stream for stream in self.open.values() if stream.is_open_there), None)

    def _let_go(self, stream: Stream) -> None:
        """A request that came in part is whole or gone; others that had to wait for it may go on."""
        was_full = self._held > self._limits.held
        self._held -= stream.received
        stream.is_open_there = False
        if was_full:
            least = self._limits.stream_window >> 1
            unfinished = [other for other in self.open.values() if other.is_open_there]
            allowed = unfinished if self._held <= self._limits.held else unfinished[:1]
            for other in allowed:
                if other.taken >= least:
                    self._make_room(other)

    # ----------------------------------------------------------------------------------------------------------- Ends

    def _ended_there(self, stream: Stream) -> None:
        """All of a request has come."""
        self._let_go(stream)
        if not stream.is_open_here:
            self._forget(stream)
            return
        if stream.expected is not None and stream.received != stream.expected:
            raise StreamFaultError(
                stream.number, ErrorCode.PROTOCOL_ERROR, "malformed: less content than was announced"
            )
        stream.receiver.ended()

    def ended_here(self, stream: Stream) -> None:
        """All of an answer is sent. If the request has not ended, it may still, and nobody hears what comes of it."""
        if not stream.is_open_there:
            self._forget(stream)
        stream.taken, stream.is_moved = 0, True

    def reset_there(self, number: int) -> None:
        """The client has given a request up."""
        if self.is_unopened(number):
            raise ConnectionFaultError(
                ErrorCode.PROTOCOL_ERROR, f"RST_STREAM of stream {number}, which was never opened"
            )
        self._resets.take()
        if (stream := self.open.get(number)) is not None:
            self._drop(stream)

    def give_up(self, number: int, code: ErrorCode) -> None:
        """A stream cannot go on, by what the client did."""
        self._resets.take()
        self._reset(number, code)

    def _reset(self, number: int, code: ErrorCode) -> None:
        self._sender.reset(number, code)
        self._remember(number)
        if (stream := self.open.get(number)) is not None:
            self._drop(stream)

    def _drop(self, stream: Stream) -> None:
        """Ends a stream on both sides, whatever there was to be sent."""
        if stream.is_open_there:
            self._let_go(stream)
        stream.is_open_here = False
        self._sender.forget(stream)
        stream.receiver.gone()
        stream.release()
        self._forget(stream)

    def _forget(self, stream: Stream) -> None:
        if self.open.pop(stream.number, None) is not None and not self.open:
            self._emptied()

    def _remember(self, number: int) -> None:
        self._given_up[number] = None
        if len(self._given_up) > _REMEMBERED:
            del self._given_up[next(iter(self._given_up))]

    def drop_all(self) -> None:
        """Ends all streams, of a connection that is no more."""
        for stream in list(self.open.values()):
            self._drop(stream)

    def check(self, now: float) -> None:
        """Ends requests that do not come forward, and answers that are not taken."""
        for stream in list(self.open.values()):
            if stream.is_moved:
                stream.is_moved, stream.moved_at = False, now
            elif now - stream.moved_at > self._limits.stall_seconds:
                if stream.unsent:
                    self._reset(stream.number, ErrorCode.CANCEL)
                elif stream.is_open_there and not stream.receiver.may_rest:
                    stream.receiver.stalled()
            if stream.is_open_here:
                stream.receiver.check(now)
            elif stream.is_open_there and not stream.is_moved and now - stream.moved_at > _UNHEARD_SECONDS:
                self._reset(stream.number, ErrorCode.NO_ERROR)

    # --------------------------------------------------------------------------------------------- What streams ask for

    @property
    def is_congested(self) -> bool:
        """Whether the client does not take the answers that there are for it."""
        return self._sender.is_congested

    def when_relieved(self, work: Callable[[], None]) -> None:
        """Has something done when the client has taken answers."""
        self._sender.when_relieved(work)

    def send(self, stream: Stream, head: Fields | None, body: bytes, tail: Fields | None) -> None:
        """Sends what is given on a stream."""
        try:
            self._sender.send(stream, head, body, tail)
        except ConnectionFaultError as fault:
            self._fail(fault)
        self._sender.flush_soon()

    def reset(self, stream: Stream, code: ErrorCode) -> None:
        """Ends a stream at once."""
        try:
            self._reset(stream.number, code)
        except ConnectionFaultError as fault:
            self._fail(fault)
        self._sender.flush_soon()
