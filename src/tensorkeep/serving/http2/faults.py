"""What a peer does wrong, and what it is told: the error codes of HTTP/2 (RFC 9113, section 7)."""

from __future__ import annotations

from enum import IntEnum


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
