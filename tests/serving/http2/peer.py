"""A client of raw bytes on a connection without a network, and a service that gives back what it gets."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import hpack

from tensorkeep.serving.http2.connection import Connection
from tensorkeep.serving.http2.heads import RequestHead
from tensorkeep.serving.http2.limits import Limits
from tensorkeep.serving.http2.streams import Receiver, Service, Stream

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
DATA, HEADERS, PRIORITY, RST, SETTINGS, PUSH, PING, GOAWAY, WINDOW, CONTINUATION = range(10)
ES, ACK, EH, PADDED, PRIO = 0x1, 0x1, 0x4, 0x8, 0x20
REQUEST = ((b":method", b"POST"), (b":scheme", b"http"), (b":path", b"/s/m"), (b":authority", b"x"))


def frame(kind: int, flags: int = 0, stream: int = 0, payload: bytes = b"", size: int | None = None) -> bytes:
    """A frame, which may lie about its size."""
    length = len(payload) if size is None else size
    return struct.pack(">BHBBI", length >> 16, length & 0xFFFF, kind, flags, stream) + payload


def plain(*fields: tuple[bytes, bytes]) -> bytes:
    """A block of headers that are written out and go into no table."""
    return hpack.Encoder().encode([hpack.NeverIndexedHeaderTuple(*field) for field in fields], huffman=False)


def headers(stream: int, flags: int = EH, *more: tuple[bytes, bytes]) -> bytes:
    """The headers of a request."""
    return frame(HEADERS, flags, stream, plain(*REQUEST, *more))


def window(stream: int, size: int) -> bytes:
    return frame(WINDOW, 0, stream, struct.pack(">I", size))


def settings(**values: int) -> bytes:
    """SETTINGS by their numbers: settings(_4=0)."""
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", int(name[1:]), value) for name, value in values.items()))


@dataclass(frozen=True)
class Frame:
    """A frame that the server sent."""

    kind: int
    flags: int
    stream: int
    payload: bytes
    fields: dict[str, str] = field(default_factory=dict)
    """Of a frame of headers."""

    @property
    def code(self) -> int:
        """The error code of RST_STREAM or GOAWAY."""
        return int(struct.unpack(">I", self.payload[:4] if self.kind == RST else self.payload[4:8])[0])


class Wire:
    """Where a connection writes to. It may be told that nobody reads."""

    def __init__(self) -> None:
        self.sent = bytearray()
        self.is_closed = False
        self.is_aborted = False

    def write(self, data: bytes) -> None:
        assert not self.is_closed, "something is written after the end"
        self.sent += data

    def close(self) -> None:
        self.is_closed = True

    def abort(self) -> None:
        self.is_aborted = True


@dataclass
class Echo:
    """What came on a stream, sent back at its end."""

    stream: Stream
    head: RequestHead
    body: bytearray = field(default_factory=bytearray)
    told: list[str] = field(default_factory=list)
    takes_at_once: bool = True
    may_rest: bool = False

    def data(self, piece: bytes) -> None:
        self.body += piece

    def ended(self) -> None:
        self.told.append("ended")
        if self.head.path != b"/silent":
            self.stream.send(((b":status", b"200"),), bytes(self.body), ((b"x-end", b"1"),))

    def gone(self) -> None:
        self.told.append("gone")

    def stalled(self) -> None:
        self.told.append("stalled")
        self.stream.send(tail=((b":status", b"408"),))

    def check(self, now: float) -> None: ...


class EchoService:
    """Keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Echo] = []
        self.refused: list[str] = []

    def accept(self, stream: Stream, head: RequestHead) -> Receiver:
        self.asked.append(Echo(stream, head))
        if head.path == b"/at-once":
            stream.send(tail=((b":status", b"404"),))
        if head.path == b"/slowly":
            self.asked[-1].takes_at_once = False
        return self.asked[-1]

    def refuse(self, stream: Stream, text: str) -> Receiver:
        self.refused.append(text)
        stream.send(tail=((b":status", b"431"),))
        return Echo(stream, RequestHead((), b"", b"", None))


class Clock:
    """A clock that stands until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Peer:
    """A client that speaks raw bytes to a connection."""

    def __init__(self, limits: Limits = Limits(), *, greets: bool = True, asks: Service | None = None) -> None:
        """It asks the service that gives back what it gets, or another one."""
        self.wire = Wire()
        self.clock = Clock()
        self.service = EchoService()
        self.connection = Connection(self.wire, asks or self.service, limits, self.clock)
        self.decoder = hpack.Decoder()
        self._seen = 0
        if greets:
            self.say(PREFACE, frame(SETTINGS))
            self.heard()

    def say(self, *pieces: bytes) -> None:
        self.connection.receive(b"".join(pieces))

    def heard(self) -> list[Frame]:
        """What the server sent since the last time."""
        found = []
        data = bytes(self.wire.sent)
        while self._seen < len(data):
            high, low, kind, flags, stream = struct.unpack_from(">BHBBI", data, self._seen)
            end = self._seen + 9 + (high << 16 | low)
            payload = data[self._seen + 9 : end]
            fields = dict(self.decoder.decode(payload)) if kind == HEADERS else {}
            found.append(Frame(kind, flags, stream, payload, fields))
            self._seen = end
        return found

    def pass_time(self, seconds: float) -> None:
        """Lets time pass, with a look at the connection every second."""
        for _ in range(int(seconds)):
            self.clock.now += 1
            self.connection.check(self.clock.now)

    def outcome(self) -> tuple[str, int] | None:
        """How the last thing that was said ended the connection or a stream, by which error; None if it did not."""
        found: tuple[str, int] | None = None
        for each in self.heard():
            if each.kind == GOAWAY:
                return "connection", each.code
            if each.kind == RST:
                found = ("stream", each.code)
        return found
