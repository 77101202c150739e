"""The head of a request: what its header list says, once it is known to be well-formed (RFC 9113, section 8)."""

from __future__ import annotations

import re
from typing import Final

from tensorkeep.serving.http2.frames import ErrorCode, StreamFaultError
from tensorkeep.serving.http2.hpack import Fields

_NAME: Final = re.compile(rb"[!#$%&'*+\-.^_`|~0-9a-z]+")
_BAD_IN_VALUE: Final = re.compile(rb"[\0\r\n]|^[ \t]|[ \t]$")
_PSEUDO: Final = frozenset((b":method", b":scheme", b":path", b":authority"))
_NEEDED: Final = frozenset((b":method", b":scheme", b":path"))
_OF_CONNECTIONS: Final = frozenset(
    (b"connection", b"proxy-connection", b"keep-alive", b"transfer-encoding", b"upgrade")
)


class RequestHead:
    """What a request begins with. The same object may stand for several requests that begin alike."""

    __slots__ = ("content_length", "fields", "method", "note", "path")

    def __init__(self, fields: Fields, method: bytes, path: bytes, content_length: int | None) -> None:
        self.fields = fields
        """All but those whose name begins with a colon."""
        self.method = method
        self.path = path
        self.content_length = content_length
        self.note: object = None
        """What the reader of heads has found out about it, for the next time."""


def request_head(stream: int, fields: Fields) -> RequestHead:
    """The head that a header list makes. StreamFaultError for a list that is malformed."""
    pseudo: dict[bytes, bytes] = {}
    at = 0
    for at, (name, value) in enumerate(fields):  # noqa: B007
        if name[:1] != b":":
            break
        if name not in _PSEUDO or name in pseudo:
            raise _malformed_head(stream, f"{name!r} is not known, or is there twice")
        _check_value(stream, name, value)
        pseudo[name] = value
    else:
        at = len(fields)
    if not pseudo.keys() >= _NEEDED:
        raise _malformed_head(stream, "the method, the scheme or the path is missing")
    if not pseudo[b":path"] or not _NAME.fullmatch(pseudo[b":method"].lower()):
        raise _malformed_head(stream, "the method or the path is none")
    length = check_fields(stream, fields[at:])
    return RequestHead(fields[at:], pseudo[b":method"], pseudo[b":path"], length)


def check_fields(stream: int, fields: Fields) -> int | None:
    """The length that plain fields announce, if they do. StreamFaultError for what may not be among them."""
    length: int | None = None
    for name, value in fields:
        if not _NAME.fullmatch(name):  # nor those that begin with a colon, which come first, and not in trailers
            raise _malformed_head(stream, f"{name!r} is no name of a field, or stands where it may not")
        _check_value(stream, name, value)
        if name in _OF_CONNECTIONS or (name == b"te" and value.lower() != b"trailers"):
            raise _malformed_head(stream, f"{name!r} is about a connection, which is none of its business")
        if name == b"content-length":
            found = int(value) if value.isdigit() and len(value) < 20 else -1
            if found < 0 or length not in (None, found):
                raise _malformed_head(stream, f"the length of the content is {value!r}")
            length = found
    return length


def _check_value(stream: int, name: bytes, value: bytes) -> None:
    if value and _BAD_IN_VALUE.search(value):
        raise _malformed_head(stream, f"the value of {name!r} has characters that it may not have")


def _malformed_head(stream: int, text: str) -> StreamFaultError:
    return StreamFaultError(stream, ErrorCode.PROTOCOL_ERROR, f"malformed: {text}")
