"""A connection: what comes on it, in frames, and what follows from that (RFC 9113, sections 3 to 6).

    preface SETTINGS frame*        from the client

It knows no sockets: bytes are handed to it, and it writes to an output. What a client does wrong ends the stream or
the connection, as the RFC says for each; the tests have a table of that.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

from tensorkeep.serving.http2 import frames
from tensorkeep.serving.http2.blocks import HeaderBlocks
from tensorkeep.serving.http2.frames import (
    ACK,
    END_HEADERS,
    HAS_PRIORITY,
    LARGEST_STREAM,
    LARGEST_WINDOW,
    NUMBER,
    SETTING,
    USUAL_WINDOW,
    ConnectionFaultError,
    ErrorCode,
    StreamFaultError,
    frame,
    unpadded_payload,
)
from tensorkeep.serving.http2.hpack import HeaderListTooLargeError
from tensorkeep.serving.http2.life import Life, Verdict
from tensorkeep.serving.http2.limits import WORTH, Allowance, Limits
from tensorkeep.serving.http2.reading import FrameReader
from tensorkeep.serving.http2.requests import Requests
from tensorkeep.serving.http2.sender import Output, Sender
from tensorkeep.serving.http2.streams import Service, Stream

_FAREWELL: Final = b"farewell"  # by whose echo it is known that the client has heard it
_ASKING: Final = b"presence"
_MOST_SETTINGS: Final = 64  # of one frame


class Connection:
    """One connection, from the server's side."""

    def __init__(
        self, output: Output, service: Service, limits: Limits = Limits(), clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Greets the client."""
        self._limits = limits
        self._life = Life(limits, clock)
        self._idle = Allowance(limits.idle_frames, limits.idle_frames_a_second, "frames that say nothing", clock)
        resets = Allowance(limits.resets, limits.resets_a_second, "requests that are given up or wrong", clock)
        self._sender = Sender(output, limits, self._idle, self._answered)
        self._requests = Requests(
            service,
            self._sender,
            limits,
            resets=resets,
            idle=self._idle,
            fail=self._fail,
            emptied=self._close_if_done,
        )
        self._reader = FrameReader(limits.frame, self._take)
        self._blocks = HeaderBlocks(limits.header_list, max(limits.frame, limits.header_list))
        self._has_settings = False
        self._is_draining = False
        self._is_leaving = False
        self.is_closed = False
        self._greet()

    def _greet(self) -> None:
        limits = self._limits
        values = {
            frames.MAX_CONCURRENT_STREAMS: limits.streams,
            frames.INITIAL_WINDOW_SIZE: limits.stream_window,
            frames.MAX_FRAME_SIZE: limits.frame,
            frames.MAX_HEADER_LIST_SIZE: limits.header_list,
        }
        self._sender.write(frame(frames.SETTINGS, 0, 0, frames.settings_payload(values)))
        if limits.connection_window > USUAL_WINDOW:
            self._sender.update_window(0, limits.connection_window - USUAL_WINDOW)
        self._sender.flush()

    # --------------------------------------------------------------------------------------------- What happens to it

    @property
    def calls(self) -> int:
        """How many requests are open."""
        return len(self._requests.open)

    def receive(self, data: bytes) -> None:
        """Takes bytes that came."""
        if self.is_closed:
            return
        self._life.is_heard = True
        self._sender.is_gathering = True
        try:
            self._reader.read(data)
            self._sender.pump()
        except ConnectionFaultError as fault:
            self._fail(fault)
        self._sender.is_gathering = False
        self._sender.flush()

    def lost(self) -> None:
        """The client is gone."""
        self.is_closed = True
        self._requests.drop_all()

    def pause(self) -> None:
        """The client does not read what is sent."""
        self._life.paused(True)
        self._sender.pause()

    def resume(self) -> None:
        """The client reads again."""
        self._life.paused(False)
        self._do_guarded(self._sender.resume)

    def drain(self) -> None:
        """Closes the connection when the requests have been answered that are on their way (RFC 9113, section 6.8)."""
        if not (self._is_draining or self.is_closed):
            self._is_draining = True
            self._life.drained()
            self._do_guarded(self._announce_end)

    def _announce_end(self) -> None:
        self._sender.say_goodbye(LARGEST_STREAM, ErrorCode.NO_ERROR)
        self._sender.write(frame(frames.PING, 0, 0, _FAREWELL))

    def abort(self) -> None:
        """Closes the connection at once."""
        self.is_closed = True
        self._sender.abort()
        self._requests.drop_all()

    def check(self, now: float) -> None:
        """Does what is to be done as time passes; to be called about every second."""
        verdict = self._life.verdict(
            now,
            is_begun=self._has_settings,
            is_within=self._reader.is_within or bool(self._blocks.stream),
            has_calls=bool(self._requests.open),
        )
        if verdict is Verdict.ABORT:
            self.abort()
        elif verdict is Verdict.DRAIN:
            self.drain()
        elif verdict is Verdict.LEAVE:
            self._do_guarded(self._leave)
        elif verdict is Verdict.ASK:
            self._do_guarded(lambda: self._sender.write(frame(frames.PING, 0, 0, _ASKING)))
        if not self.is_closed:
            self._do_guarded(lambda: self._requests.check(now))

    def _do_guarded(self, work: Callable[[], None]) -> None:
        """Does something that may end the connection."""
        try:
            work()
        except ConnectionFaultError as fault:
            self._fail(fault)
        self._sender.flush()

    # ------------------------------------------------------------------------------------------------- How it ends

    def _fail(self, fault: ConnectionFaultError) -> None:
        """Tells the client why the connection cannot go on, and closes it."""
        if self.is_closed:
            return
        self._sender.is_paused = False  # the last words are said in any case
        self._sender.say_goodbye(self._requests.last, fault.code, str(fault))
        self._close()
        self._requests.drop_all()

    def _leave(self) -> None:
        """Takes no more requests, and closes the connection when those are answered that there are."""
        if not self._is_leaving:
            self._is_leaving = True
            self._requests.last_taken = self._requests.last
            self._sender.say_goodbye(self._requests.last, ErrorCode.NO_ERROR)
            self._close_if_done()

    def _close_if_done(self) -> None:
        if self._is_leaving and not self._requests.open and not self.is_closed:
            self._close()

    def _close(self) -> None:
        self.is_closed = True
        self._life.closed()
        self._sender.close()

    def _answered(self, stream: Stream) -> None:
        if self._limits.least_ping_seconds:
            self._life.worked()
        self._requests.ended_here(stream)

    # ------------------------------------------------------------------------------------------------------- Frames

    def _take(self, kind: int, flags: int, number: int, payload: bytes) -> bool:
        """Takes a frame; whether it takes another."""
        if self._blocks.stream and (kind != frames.CONTINUATION or number != self._blocks.stream):
            raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, "another frame comes within the headers of a stream")
        try:
            if kind == frames.DATA:
                self._require_settings()
                self._requests.data(flags, number, payload)
            elif kind == frames.HEADERS:
                self._require_settings()
                self._headers(flags, number, payload)
            else:
                self._other(kind, flags, number, payload)
        except StreamFaultError as fault:
            self._requests.give_up(fault.stream, fault.code)
        return not self.is_closed

    def _require_settings(self) -> None:
        if not self._has_settings:
            raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, "the first frame is not SETTINGS")

    def _headers(self, flags: int, number: int, payload: bytes) -> None:
        _require_stream(number, "HEADERS")
        block = unpadded_payload(flags, payload)
        if flags & HAS_PRIORITY:
            if len(block) < 5:
                raise ConnectionFaultError(ErrorCode.FRAME_SIZE_ERROR, "HEADERS are too short for their priority")
            _check_dependency(number, block)
            block = block[5:]
        if flags & END_HEADERS:
            self._whole_block(number, flags, block)
        else:
            self._blocks.begin(number, flags, block)

    def _continuation(self, flags: int, payload: bytes) -> None:
        number = self._blocks.stream
        if not number:
            raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, "CONTINUATION of nothing")
        self._blocks.go_on(payload)
        if flags & END_HEADERS:
            self._whole_block(number, self._blocks.flags, self._blocks.end())

    def _whole_block(self, number: int, flags: int, block: bytes) -> None:
        requests = self._requests
        if number <= requests.last:
            try:
                fields = self._blocks.fields(block)
            except HeaderListTooLargeError as error:
                raise StreamFaultError(number, ErrorCode.ENHANCE_YOUR_CALM, str(error)) from error
            if requests.is_unopened(number):
                raise ConnectionFaultError(
                    ErrorCode.PROTOCOL_ERROR, f"headers on stream {number}, which is not a client's"
                )
            requests.go_on(number, flags, fields)
            return
        if not number & 1:
            raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, f"a client cannot open stream {number}")
        requests.last = number
        self._idle.give(WORTH)
        try:
            head = self._blocks.head(number, block)
        except HeaderListTooLargeError as error:
            requests.begin(number, flags, None, str(error))
        else:
            requests.begin(number, flags, head)

    def _other(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        if kind == frames.SETTINGS:
            self._settings(flags, number, payload)
            return
        self._require_settings()
        if kind == frames.WINDOW_UPDATE:
            self._window_update(number, payload)
        elif kind == frames.CONTINUATION:
            self._continuation(flags, payload)
        elif kind == frames.RST_STREAM:
            _check_size("RST_STREAM", payload, 4)
            self._requests.reset_there(number)
        elif kind == frames.PING:
            self._ping(flags, number, payload)
        elif kind == frames.GOAWAY:
            self._goaway(number, payload)
        elif kind == frames.PRIORITY:
            _check_size("PRIORITY", payload, 5)
            _require_stream(number, "PRIORITY")
            _check_dependency(number, payload)
            self._idle.take()
        elif kind == frames.PUSH_PROMISE:
            raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, "a client cannot push")
        else:  # what is not known is left alone
            self._idle.take()

    def _settings(self, flags: int, number: int, payload: bytes) -> None:
        if number:
            raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, "SETTINGS on a stream")
        if flags & ACK:
            self._require_settings()
            _check_size("the answer to SETTINGS", payload, 0)
            self._idle.take()
            return
        if len(payload) % SETTING.size or len(payload) > _MOST_SETTINGS * SETTING.size:
            raise ConnectionFaultError(ErrorCode.FRAME_SIZE_ERROR, f"SETTINGS have {len(payload)} bytes")
        self._has_settings = True
        self._idle.take()
        for name, value in SETTING.iter_unpack(payload):
            self._sender.allow(name, value, self._requests.open)
        self._sender.write(frame(frames.SETTINGS, ACK, 0))

    def _window_update(self, number: int, payload: bytes) -> None:
        _check_size("WINDOW_UPDATE", payload, 4)
        self._idle.take()
        more = NUMBER.unpack(payload)[0] & LARGEST_WINDOW
        if not number:
            if not more:
                raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, "a window opens by nothing")
            self._sender.widen(more)
            return
        if self._requests.is_unopened(number):
            raise ConnectionFaultError(
                ErrorCode.PROTOCOL_ERROR, f"WINDOW_UPDATE of stream {number}, which was never opened"
            )
        stream = self._requests.open.get(number)
        if stream is None:
            return
        if not more:
            raise StreamFaultError(number, ErrorCode.PROTOCOL_ERROR, "a window opens by nothing")
        stream.window += more
        if stream.window > LARGEST_WINDOW:
            raise StreamFaultError(number, ErrorCode.FLOW_CONTROL_ERROR, "a window is larger than any can be")

    def _ping(self, flags: int, number: int, payload: bytes) -> None:
        if number:
            raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, "PING on a stream")
        _check_size("PING", payload, 8)
        self._idle.take()
        if not flags & ACK:
            self._life.pinged()
            self._sender.write(frame(frames.PING, ACK, 0, payload))
        elif payload == _FAREWELL and self._is_draining:
            self._leave()
        else:
            self._life.answered()

    def _goaway(self, number: int, payload: bytes) -> None:
        if number:
            raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, "GOAWAY on a stream")
        if len(payload) < 8:
            raise ConnectionFaultError(ErrorCode.FRAME_SIZE_ERROR, "GOAWAY has less than 8 bytes")
        self._is_draining = True
        self._leave()


def _check_size(what: str, payload: bytes, size: int) -> None:
    if len(payload) != size:
        raise ConnectionFaultError(ErrorCode.FRAME_SIZE_ERROR, f"{what} has {len(payload)} bytes, expected {size}")


def _require_stream(number: int, what: str) -> None:
    if not number:
        raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, f"{what} without a stream")


def _check_dependency(number: int, payload: bytes) -> None:
    if NUMBER.unpack_from(payload)[0] & LARGEST_STREAM == number:
        raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, f"stream {number} depends on itself")
