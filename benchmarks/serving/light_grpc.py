"""One connection of gRPC as raw HTTP/2: the bytes to send for what has come, without sockets.

A connection asks the same method with the same message, one call at a time. What is sent for a call is made once but
for the number of its stream: headers are literals that leave no trace in the server's table, so the same bytes do for
every call. The server is told to keep no table for what it sends either, and each of its blocks can be read by itself.

    frame = length (3 bytes)  type (1)  flags (1)  stream (4)  payload
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

from benchmarks.serving.asking import Step

_DATA, _HEADERS, _RESET, _SETTINGS, _PING, _GOAWAY, _WINDOW, _CONTINUATION = 0, 1, 3, 4, 6, 7, 8, 9
_END_STREAM, _ACK, _END_HEADERS, _PADDED, _PRIORITY = 0x1, 0x1, 0x4, 0x8, 0x20
_TABLE_SIZE, _PUSH, _FIRST_WINDOW, _MOST_FRAME = 1, 2, 4, 5  # settings
_LARGEST_WINDOW: Final = (1 << 31) - 1
_USUAL_WINDOW: Final = (1 << 16) - 1
_STATIC_NAMES: Final = 61  # entries of HPACK's own table, whose names say nothing about the status of a call
_STATUS: Final = b"grpc-status"


class GrpcConversation:
    """What is said on one connection."""

    def __init__(self, target: str, method: str, message: bytes) -> None:
        self._block = b"".join(
            _literal(name, value)
            for name, value in (
                (b":method", b"POST"),
                (b":scheme", b"http"),
                (b":path", method.encode()),
                (b":authority", target.encode()),
                (b"te", b"trailers"),
                (b"content-type", b"application/grpc"),
                (b"user-agent", b"light"),
            )
        )
        self._body = struct.pack(">BI", 0, len(message)) + message
        self._stream = -1
        self._sent = len(self._body)
        self._frame = 1 << 14  # the most bytes of a frame that the server takes
        self._first_window = self._stream_window = self._window = _USUAL_WINDOW
        self._unread = bytearray()
        self._header_block = bytearray()
        self._taken = 0  # bytes of data that the server has not been told of as taken
        self._is_last = False
        self.answer: list[bytes] = []
        """What came of the answer to the last question, before its status."""

    def greeting(self) -> bytes:
        """What opens the connection."""
        wanted = struct.pack(">HIHIHI", _TABLE_SIZE, 0, _PUSH, 0, _FIRST_WINDOW, _LARGEST_WINDOW)
        room = struct.pack(">I", _LARGEST_WINDOW - _USUAL_WINDOW)
        return b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + _framed(_SETTINGS, 0, 0, wanted) + _framed(_WINDOW, 0, 0, room)

    def question(self) -> bytes:
        """Begins the next call: its headers, and as much of its message as the server has room for."""
        self._stream += 2
        self._sent = 0
        self.answer.clear()
        self._stream_window = self._first_window
        return _framed(_HEADERS, _END_HEADERS, self._stream, self._block) + self._rest()

    def _rest(self) -> bytes:
        """As much of what is left of the message as the server has room for."""
        frames = []
        while self._sent < len(self._body):
            size = min(len(self._body) - self._sent, self._frame, self._window, self._stream_window)
            if size <= 0:
                break
            piece = self._body[self._sent : self._sent + size]
            self._sent += size
            self._window -= size
            self._stream_window -= size
            flags = _END_STREAM if self._sent == len(self._body) else 0
            frames.append(_framed(_DATA, flags, self._stream, piece))
        return b"".join(frames)

    def received(self, data: bytes) -> Step:
        """What is to be sent for bytes that came, and whether the call has ended: True if it was answered well."""
        self._unread += data
        replies: list[bytes] = []
        outcome: bool | None = None
        for kind, flags, stream, payload in self._frames():
            found = self._taken_note_of(kind, flags, stream, payload, replies)
            outcome = outcome if found is None else found
        if outcome is None and self._sent < len(self._body):
            replies.append(self._rest())
        return Step(b"".join(replies), outcome)

    def _frames(self) -> Iterator[tuple[int, int, int, bytes]]:
        unread, at = self._unread, 0
        while len(unread) - at >= 9:
            high, low, kind, flags, stream = struct.unpack_from(">BHBBI", unread, at)
            end = at + 9 + (high << 16 | low)
            if end > len(unread):
                break
            yield kind, flags, stream & _LARGEST_WINDOW, bytes(unread[at + 9 : end])
            at = end
        del unread[:at]

    def _taken_note_of(self, kind: int, flags: int, stream: int, payload: bytes, replies: list[bytes]) -> bool | None:
        """Takes note of a frame, and of what is to be said to it; how the call ended, if it did by this frame."""
        if kind == _DATA:
            self.answer.append(payload)
            self._taken += len(payload)
            if self._taken > _LARGEST_WINDOW // 2:
                replies.append(_framed(_WINDOW, 0, 0, struct.pack(">I", self._taken)))
                self._taken = 0
            return False if flags & _END_STREAM and stream == self._stream else None  # there was no status
        if kind in (_HEADERS, _CONTINUATION):
            return self._headers(kind, flags, stream, payload)
        if kind == _RESET:
            return False if stream == self._stream else None
        if kind == _GOAWAY:
            raise ConnectionError(f"the server closes the connection: {payload[8:]!r}")
        if kind == _SETTINGS and not flags & _ACK:
            self._settings(payload)
            replies.append(_framed(_SETTINGS, _ACK, 0, b""))
        elif kind == _PING and not flags & _ACK:
            replies.append(_framed(_PING, _ACK, 0, payload))
        elif kind == _WINDOW:
            (more,) = struct.unpack(">I", payload)
            if not stream:
                self._window += more
            elif stream == self._stream:
                self._stream_window += more
        return None

    def _settings(self, payload: bytes) -> None:
        for name, value in struct.iter_unpack(">HI", payload):
            if name == _FIRST_WINDOW:
                self._stream_window += value - self._first_window
                self._first_window = value
            elif name == _MOST_FRAME:
                self._frame = value

    def _headers(self, kind: int, flags: int, stream: int, payload: bytes) -> bool | None:
        if kind == _HEADERS:
            before = (1 if flags & _PADDED else 0) + (5 if flags & _PRIORITY else 0)
            payload = payload[before : len(payload) - (payload[0] if flags & _PADDED else 0)]
            self._header_block.clear()
            self._is_last = bool(flags & _END_STREAM)
        self._header_block += payload
        if not flags & _END_HEADERS or not self._is_last or stream != self._stream:
            return None
        return status_in(bytes(self._header_block)) == b"0"


def _framed(kind: int, flags: int, stream: int, payload: bytes) -> bytes:
    return struct.pack(">BHBBI", len(payload) >> 16, len(payload) & 0xFFFF, kind, flags, stream) + payload


def _literal(name: bytes, value: bytes) -> bytes:
    """A header that is written out and goes into no table."""
    assert max(len(name), len(value)) < 127, "a longer text has a longer length before it"
    return bytes((0, len(name))) + name + bytes((len(value),)) + value


# ------------------------------------------------------------------------------------------------- HPACK, as received


def status_in(block: bytes) -> bytes | None:
    """The status of a call in a block of headers; None if it has none.

    ValueError for a block that only a reader with a table, or with Huffman's code, could read: the server was told to
    keep no table, and gRPC's own writes texts as they are.
    """
    status: bytes | None = None
    at = 0
    while at < len(block):
        first = block[at]
        if first & 0x80:  # a whole header of the static table
            index, at = _number(block, at, 7)
            _require_static(index)
            continue
        if first & 0xE0 == 0x20:  # the size of the table
            _, at = _number(block, at, 5)
            continue
        index, at = _number(block, at, 6 if first & 0x40 else 4)
        _require_static(index)
        name, at = (b"", at) if index else _text(block, at)
        value, at = _text(block, at)
        if name == _STATUS:
            status = value
    return status


def _require_static(index: int) -> None:
    if index > _STATIC_NAMES:
        raise ValueError(f"header {index} is in a table that the server was told not to keep")


def _text(block: bytes, at: int) -> tuple[bytes, int]:
    if block[at] & 0x80:
        raise ValueError("a header is in Huffman's code, which this client does not read")
    size, at = _number(block, at, 7)
    return block[at : at + size], at + size


def _number(block: bytes, at: int, bits: int) -> tuple[int, int]:
    most = (1 << bits) - 1
    value = block[at] & most
    at += 1
    if value < most:
        return value, at
    shift = 0
    while True:
        byte = block[at]
        at += 1
        value += (byte & 0x7F) << shift
        shift += 7
        if not byte & 0x80:
            return value, at
