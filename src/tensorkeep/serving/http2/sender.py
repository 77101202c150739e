"""What a connection sends: frames, within the windows that the client has opened and no faster than it reads."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from tensorkeep.serving.http2 import frames
from tensorkeep.serving.http2.frames import (
    DATA,
    GOAWAY,
    HEAD,
    LARGEST_WINDOW,
    NUMBER,
    RST_STREAM,
    USUAL_FRAME,
    USUAL_WINDOW,
    WINDOW_UPDATE,
    ConnectionFaultError,
    ErrorCode,
    frame,
    header_frames,
)
from tensorkeep.serving.http2.hpack import Fields, HeaderEncoder
from tensorkeep.serving.http2.limits import WORTH, Allowance, Limits
from tensorkeep.serving.http2.streams import Stream

_MOST_PIECE: Final = 1 << 16  # bytes of a frame of ours, so that answers take turns
_MOST_GATHERED: Final = 1 << 16  # bytes that are gathered before they are written
_MOST_TEXT: Final = 256  # bytes of what a client is told when a connection ends


class Output(Protocol):
    """Where bytes go: a transport of asyncio's."""

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...


class Sender:
    """The sending side of a connection."""

    def __init__(self, output: Output, limits: Limits, idle: Allowance, ended: Callable[[Stream], None]) -> None:
        """Each frame of an answer earns the client some of `idle`. `ended` is told of streams on which all is sent."""
        self._output = output
        self._idle = idle
        self._ended = ended
        self._limits = limits
        self._encoder = HeaderEncoder()
        self._gathered: list[bytes] = []
        self._gathered_size = 0
        self._pressed = 0  # bytes that were written although the client does not read
        self._relieved: deque[Callable[[], None]] = deque()
        self._unsent = 0
        self._frame = USUAL_FRAME
        self.first_window = USUAL_WINDOW
        self.window = USUAL_WINDOW
        self.waiting: dict[int, Stream] = {}
        """Streams whose data waits for a window, in the order in which it is their turn."""
        self.is_paused = False
        self.is_gathering = False
        """Whether somebody flushes in a moment."""

    @property
    def is_congested(self) -> bool:
        """Whether the client does not take the answers that there are for it."""
        return self._unsent > self._limits.unsent

    def when_relieved(self, work: Callable[[], None]) -> None:
        """Has something done when the client has taken answers."""
        self._relieved.append(work)

    # ------------------------------------------------------------------------------------------------------ Bytes

    def write(self, data: bytes) -> None:
        """Sends bytes at the next `flush`, or sooner; ConnectionFaultError if they are too many that nobody reads."""
        if self.is_paused:
            self._pressed += len(data)
            if self._pressed > self._limits.queued_control:
                raise ConnectionFaultError(ErrorCode.ENHANCE_YOUR_CALM, "answers are not being read")
        self._gathered.append(data)
        self._gathered_size += len(data)
        if self._gathered_size > _MOST_GATHERED:
            self.flush()

    def flush(self) -> None:
        """Has everything on its way that was written."""
        gathered = self._gathered
        if gathered:
            data = gathered[0] if len(gathered) == 1 else b"".join(gathered)
            gathered.clear()
            self._gathered_size = 0
            self._output.write(data)

    def flush_soon(self) -> None:
        """The same, unless somebody does it in a moment."""
        if not self.is_gathering:
            self.flush()

    def pause(self) -> None:
        """The client does not read."""
        self.is_paused = True

    def resume(self) -> None:
        """The client reads again."""
        self.is_paused = False
        self._pressed = 0
        self.pump()

    def close(self) -> None:
        """Closes the connection when all is sent."""
        self.flush()
        self._output.close()

    def abort(self) -> None:
        """Closes the connection at once."""
        self._output.abort()

    # ----------------------------------------------------------------------------------------------------- Frames

    def update_window(self, stream: int, size: int) -> None:
        """Tells the client that there is room for more."""
        self.write(frame(WINDOW_UPDATE, 0, stream, NUMBER.pack(size)))

    def reset(self, stream: int, code: ErrorCode) -> None:
        """Tells the client that a stream has ended."""
        self.write(frame(RST_STREAM, 0, stream, NUMBER.pack(code)))

    def say_goodbye(self, last: int, code: ErrorCode, text: str = "") -> None:
        """Tells the client which was the last stream that is answered, and why."""
        payload = NUMBER.pack(last) + NUMBER.pack(code) + text.encode("utf-8", "replace")[:_MOST_TEXT]
        self.write(frame(GOAWAY, 0, 0, payload))

    def send(self, stream: Stream, head: Fields | None, body: bytes, tail: Fields | None) -> None:
        """Sends headers, data and trailers, or what there is of them."""
        if head is not None:
            self._headers(stream.number, head, ends=False)
        if body:
            size = len(body)
            is_free = not (stream.unsent or self.is_paused)
            if is_free and size <= self.window and size <= stream.window and size <= self._frame:
                self.window -= size
                stream.window -= size
                self._idle.give(WORTH)
                self.write(HEAD.pack(size >> 16, size & 0xFFFF, DATA, 0, stream.number) + body)
            else:
                stream.unsent.append(memoryview(body))
                self._unsent += size
                self.waiting[stream.number] = stream
                stream.tail = tail
                self.pump()
                return
        if tail is None:
            return
        if stream.unsent:
            stream.tail = tail
        else:
            self._end(stream, tail)

    def _end(self, stream: Stream, tail: Fields) -> None:
        self._headers(stream.number, tail, ends=True)
        stream.is_open_here = False
        self._ended(stream)

    def _headers(self, number: int, fields: Fields, *, ends: bool) -> None:
        self.write(header_frames(number, self._encoder.encode(fields), self._frame, ends=ends))

    # ---------------------------------------------------------------------------------------------------- Windows

    def pump(self) -> None:
        """Sends what waits, each stream in its turn, for as long as there is room for it."""
        is_going = bool(self.waiting)
        while is_going:
            is_going = False
            for stream in list(self.waiting.values()):
                if self.is_paused or self.window <= 0:
                    break
                is_going |= self._sent_piece(stream)
        while self._relieved and not self.is_congested:
            self._relieved.popleft()()

    def _sent_piece(self, stream: Stream) -> bool:
        """Whether a piece of what a stream has to send could be sent."""
        first = stream.unsent[0]
        size = min(len(first), self._frame, _MOST_PIECE, self.window, stream.window)
        if size <= 0:
            return False
        self.window -= size
        stream.window -= size
        self._unsent -= size
        stream.is_moved = True
        self._idle.give(WORTH)
        self._gathered.append(HEAD.pack(size >> 16, size & 0xFFFF, DATA, 0, stream.number))
        self._gathered.append(bytes(first[:size]))
        self._gathered_size += size
        if size == len(first):
            stream.unsent.popleft()
        else:
            stream.unsent[0] = first[size:]
        if not stream.unsent:
            self._all_sent(stream)
        if self._gathered_size > _MOST_GATHERED:
            self.flush()
        return True

    def _all_sent(self, stream: Stream) -> None:
        del self.waiting[stream.number]
        if stream.tail is not None:
            self._end(stream, stream.tail)
        stream.release()

    def forget(self, stream: Stream) -> None:
        """Does not send what is left of a stream that has ended."""
        self.waiting.pop(stream.number, None)
        self._unsent -= sum(map(len, stream.unsent))
        stream.unsent.clear()

    def widen(self, size: int) -> None:
        """The client has room for more on all streams together."""
        self.window += size
        if self.window > LARGEST_WINDOW:
            raise ConnectionFaultError(
                ErrorCode.FLOW_CONTROL_ERROR, "the window of the connection is larger than any can be"
            )
        self.pump()

    def allow(self, name: int, value: int, streams: dict[int, Stream]) -> None:
        """Does what a setting of the client says; ConnectionFaultError for a value that it cannot have."""
        if name == frames.HEADER_TABLE_SIZE:
            self._encoder.allow(value)
        elif name == frames.ENABLE_PUSH and value > 1:
            raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, f"ENABLE_PUSH is {value}, expected 0 or 1")
        elif name == frames.MAX_FRAME_SIZE:
            if not USUAL_FRAME <= value <= frames.LARGEST_FRAME:
                raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, f"MAX_FRAME_SIZE is {value}")
            self._frame = value
        elif name == frames.INITIAL_WINDOW_SIZE:
            self._change_windows(value, streams)

    def _change_windows(self, value: int, streams: dict[int, Stream]) -> None:
        more = value - self.first_window
        self.first_window = value
        for stream in streams.values():
            stream.window += more
        if value > LARGEST_WINDOW or any(stream.window > LARGEST_WINDOW for stream in streams.values()):
            raise ConnectionFaultError(
                ErrorCode.FLOW_CONTROL_ERROR, f"INITIAL_WINDOW_SIZE is {value}, which is too large"
            )
