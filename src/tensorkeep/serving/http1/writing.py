"""Answers as bytes.

answer = "HTTP/1.1" status reason CRLF  (name ":" value CRLF)*  CRLF  body
"""

from __future__ import annotations

import time
from email.utils import formatdate
from http import HTTPStatus
from typing import Final

from tensorkeep.serving.http1.messages import Answer

CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_CLOSES: Final = b"connection: close\r\n"
_KEEPS: Final = b"connection: keep-alive\r\n"
_LINES: Final = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


class _Date:
    """The line that says when an answer was written, made once a second."""

    def __init__(self) -> None:
        self._second = 0
        self._line = b""

    def line(self) -> bytes:
        now = int(time.time())
        if now != self._second:
            self._second = now
            self._line = f"date: {formatdate(now, usegmt=True)}\r\n".encode()
        return self._line


_DATE: Final = _Date()


def head_of(answer: Answer, *, keeps: bool, is_old: bool) -> bytes:
    """What goes before the body. An old client (HTTP/1.0) has to be told that a connection is kept."""
    line = _LINES.get(answer.status) or b"HTTP/1.1 %d \r\n" % answer.status
    rest = b"content-type: %b\r\ncontent-length: %d\r\n" % (answer.content_type.encode("latin-1"), len(answer.body))
    for name, value in answer.headers:
        rest += b"%b: %b\r\n" % (name, value)
    state = b"" if keeps and not is_old else _KEEPS if keeps else _CLOSES
    return b"%b%b%b%b\r\n" % (line, _DATE.line(), rest, state)
