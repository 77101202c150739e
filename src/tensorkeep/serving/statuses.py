"""Errors as the codes of gRPC and of HTTP, and their texts as clients get them."""

from __future__ import annotations

import asyncio
from typing import Final

from tensorkeep.errors import TensorKeepError
from tensorkeep.proto.messages import Code

OK: Final = 0
INTERNAL: Final = 13
MOST_TEXT: Final = 1024  # bytes of an error's text over gRPC; TensorFlow Serving cuts there
TIMED_OUT: Final = "Timed out waiting for notification"  # what TensorFlow's session says when a deadline passes
_CUT: Final = "...TRUNCATED"

# TensorFlow Serving's table, of its HTTP server's status codes.
_HTTP: Final = {
    0: 200, 1: 499, 2: 500, 3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 11: 400, 12: 501, 13: 500,
    14: 503, 15: 500, 16: 401,
}  # fmt: skip


def code_of(error: BaseException) -> int:
    """The number that gRPC has for an error; what was not raised on purpose is INTERNAL."""
    if isinstance(error, TensorKeepError):
        return error.error_code
    if isinstance(error, asyncio.TimeoutError | TimeoutError):
        return int(Code.DEADLINE_EXCEEDED)
    if isinstance(error, asyncio.CancelledError):  # the client has gone
        return int(Code.CANCELLED)
    return INTERNAL


def code_name(code: int) -> str:
    """The name of a code: OK, NOT_FOUND."""
    return Code.Name(code)


def http_status(code: int) -> int:
    """The status that HTTP answers with for a code of gRPC."""
    return _HTTP.get(code, 500)


def cut_text(text: str) -> str:
    """The text of an error as gRPC clients get it: at most 1024 bytes, and a mark where it was cut."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= MOST_TEXT else data[:MOST_TEXT].decode("utf-8", "ignore") + _CUT
