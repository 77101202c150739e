"""Frames, of which everything on a connection consists (RFC 9113, section 4), and the errors they tell of (section 7).

frame = length (3 bytes)  type (1)  flags (1)  0 (1 bit) stream (31)  payload (length)
"""

from __future__ import annotations

from enum import IntEnum
from struct import Struct
from typing import Final

PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEAD_SIZE: Final = 9
HEAD: Final = Struct(">BHBBI")  # the length in two parts
NUMBER: Final = Struct(">I")
SETTING: Final = Struct(">HI")

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
END_STREAM: Final = 0x1
ACK: Final = 0x1
END_HEADERS: Final = 0x4
PADDED: Final = 0x8
HAS_PRIORITY: Final = 0x20

HEADER_TABLE_SIZE: Final = 1  # settings
ENABLE_PUSH: Final = 2
MAX_CONCURRENT_STREAMS: Final = 3
INITIAL_WINDOW_SIZE: Final = 4
MAX_FRAME_SIZE: Final = 5
MAX_HEADER_LIST_SIZE: Final = 6

LARGEST_STREAM: Final = (1 << 31) - 1
LARGEST_WINDOW: Final = (1 << 31) - 1
USUAL_WINDOW: Final = (1 << 16) - 1
USUAL_FRAME: Final = 1 << 14  # bytes of payload that everybody takes
LARGEST_FRAME: Final = (1 << 24) - 1


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    """A frame as bytes."""
    size = len(payload)
    return HEAD.pack(size >> 16, size & 0xFFFF, kind, flags, stream) + payload


def settings_payload(values: dict[int, int]) -> bytes:
    """The payload of SETTINGS."""
    return b"".join(SETTING.pack(*item) for item in values.items())


def header_frames(stream: int, block: bytes, most: int, *, ends: bool) -> bytes:
    """A block of headers as frames of at most so many bytes."""
    flags = END_STREAM if ends else 0
    if len(block) <= most:
        return frame(HEADERS, flags | END_HEADERS, stream, block)
    pieces = [block[at : at + most] for at in range(0, len(block), most)]
    frames = [frame(HEADERS, flags, stream, pieces[0])]
    frames += [frame(CONTINUATION, 0, stream, piece) for piece in pieces[1:-1]]
    return b"".join([*frames, frame(CONTINUATION, END_HEADERS, stream, pieces[-1])])


def unpadded_payload(flags: int, payload: bytes) -> bytes:
    """What a frame of DATA or HEADERS contains, without the padding that it may have."""
    if not flags & PADDED:
        return payload
    if not payload:
        raise ConnectionFaultError(ErrorCode.FRAME_SIZE_ERROR, "a padded frame does not say how much padding it has")
    padding = payload[0]
    if padding >= len(payload):
        raise ConnectionFaultError(ErrorCode.PROTOCOL_ERROR, "a frame has more padding than it has bytes")
    return payload[1 : len(payload) - padding]


class ErrorCode(IntEnum):
    """Why a stream or a connection ends."""

    NO_ERROR = 0
    PROTOCOL_ERROR = 1
    INTERNAL_ERROR = 2
    FLOW_CONTROL_ERROR = 3
    SETTINGS_TIMEOUT = 4
    STREAM_CLOSED = 5
    FRAME_SIZE_ERROR = 6
    REFUSED_STREAM = 7
    CANCEL = 8
    COMPRESSION_ERROR = 9
    CONNECT_ERROR = 10
    ENHANCE_YOUR_CALM = 11
    INADEQUATE_SECURITY = 12
    HTTP_1_1_REQUIRED = 13


class ConnectionFaultError(Exception):
    """Something after which a connection cannot go on. The peer is told, and it is closed."""

    def __init__(self, code: ErrorCode, text: str) -> None:
        super().__init__(text)
        self.code = code


class StreamFaultError(Exception):
    """Something after which one stream cannot go on. The peer is told, and the connection stays."""

    def __init__(self, stream: int, code: ErrorCode, text: str) -> None:
        super().__init__(text)
        self.stream = stream
        self.code = code
