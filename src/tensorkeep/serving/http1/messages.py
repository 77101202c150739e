"""A request as HTTP has it, and what goes back: as a value, and as bytes.

answer = "HTTP/1.1" status reason CRLF  (name ":" value CRLF)*  CRLF  body
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import formatdate
from http import HTTPStatus
from typing import Final, Protocol
from urllib.parse import parse_qs

JSON: Final = "application/json"
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_CLOSES: Final = b"connection: close\r\n"
_KEEPS: Final = b"connection: keep-alive\r\n"
_LINES: Final = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n".encode() for status in HTTPStatus}


class GoneError(Exception):
    """The client went away before it had sent all."""


class Content(Protocol):
    """The body of a request, as it comes."""

    @property
    def whole(self) -> bytes | None:
        """All of it, if it has come and nothing was read of it before."""
        ...

    async def next(self) -> bytes:
        """What has come since the last time, at least a byte; nothing at its end. GoneError if the client went away."""
        ...


@dataclass(frozen=True, slots=True)
class Request:
    """One request."""

    method: str
    path: str
    """As sent, percent signs and all, without the query."""
    query: str
    headers: Mapping[str, str]
    """By names in lower case."""
    content: Content

    @property
    def target(self) -> str:
        """Path and query, as sent."""
        return f"{self.path}?{self.query}" if self.query else self.path

    def parameter(self, name: str) -> str:
        """A value of the query; empty if it is not there."""
        return parse_qs(self.query).get(name, [""])[0] if self.query else ""


@dataclass(frozen=True, slots=True)
class Answer:
    """What goes back."""

    body: bytes
    status: int = 200
    content_type: str = JSON
    headers: tuple[tuple[bytes, bytes], ...] = ()
    """Others than those that say the length and the type of the body."""
    closes: bool = False
    """Whether the connection ends with it."""


class Application(Protocol):
    """Who answers requests."""

    async def answer(self, request: Request) -> Answer:
        """The answer to a request. GoneError if nobody waits for it any more."""
        ...


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
