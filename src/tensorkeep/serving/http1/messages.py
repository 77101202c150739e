"""A request as HTTP has it, and what goes back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import parse_qs

JSON: Final = "application/json"


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
