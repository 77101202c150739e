"""Many connections that ask, each one question at a time, in one thread that does little else.

The client shares the machine with the server. What it takes for each question is taken from the server's rate, so it
is as little as Python allows: sockets and a selector, no event loop, no objects for each question.
"""

from __future__ import annotations

import selectors
import socket
import time
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol

_PIECE: Final = 1 << 18  # bytes received at a time
_PATIENCE: Final = 60.0  # seconds without an answer on any connection


class Step(NamedTuple):
    """What follows from bytes that came."""

    reply: bytes
    """What is to be sent at once."""
    outcome: bool | None
    """None while the question is open; then whether it was answered well."""


class Answers(NamedTuple):
    """What came of asking for some time."""

    seconds: list[float]
    """Of each good answer."""
    errors: int
    elapsed: float
    """Seconds from the first question to the last answer."""


class Conversation(Protocol):
    """What is said on one connection."""

    def greeting(self) -> bytes: ...

    def question(self) -> bytes: ...

    def received(self, data: bytes) -> Step: ...


class Connection:
    """A socket, and what is said on it."""

    def __init__(self, target: str, conversation: Conversation, selector: selectors.BaseSelector) -> None:
        host, _, port = target.rpartition(":")
        self._socket = socket.create_connection((host, int(port)))
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.setblocking(False)
        self._conversation = conversation
        self._selector = selector
        self._unsent = b""
        self.started = 0.0
        selector.register(self._socket, selectors.EVENT_READ, self)
        self._send(conversation.greeting())

    def ask(self) -> None:
        """Sends the next question."""
        self.started = time.perf_counter()
        self._send(self._conversation.question())

    def proceed(self, events: int) -> bool | None:
        """Sends and receives what can be; whether the question was answered well, None if it is still open."""
        if events & selectors.EVENT_WRITE:
            unsent, self._unsent = self._unsent, b""
            self._selector.modify(self._socket, selectors.EVENT_READ, self)
            self._send(unsent)
        if not events & selectors.EVENT_READ:
            return None
        data = self._socket.recv(_PIECE)
        if not data:
            raise ConnectionError("the server has closed the connection")
        reply, outcome = self._conversation.received(data)
        if reply:
            self._send(reply)
        return outcome

    def _send(self, data: bytes) -> None:
        if self._unsent:
            self._unsent += data
            return
        try:
            sent = self._socket.send(data) if data else 0
        except BlockingIOError:
            sent = 0
        if sent < len(data):
            self._unsent = data[sent:]
            self._selector.modify(self._socket, selectors.EVENT_READ | selectors.EVENT_WRITE, self)

    def close(self) -> None:
        self._socket.close()


def keep_asking(target: str, converse: Callable[[], Conversation], connections: int, seconds: float) -> Answers:
    """Asks for some seconds, and waits for the answers to what is open then.

    Each connection asks once before the time begins. ConnectionError if the server closes a connection.
    """
    with selectors.DefaultSelector() as selector:
        opened = [Connection(target, converse(), selector) for _ in range(connections)]
        try:
            _all_answered(selector, opened)
            return _asked_for(seconds, selector, opened)
        finally:
            for connection in opened:
                connection.close()


def _all_answered(selector: selectors.BaseSelector, opened: list[Connection]) -> None:
    """Has every connection ask once."""
    for connection in opened:
        connection.ask()
    left = len(opened)
    while left:
        for connection, events in _ready(selector):
            left -= connection.proceed(events) is not None


def _asked_for(seconds: float, selector: selectors.BaseSelector, opened: list[Connection]) -> Answers:
    taken: list[float] = []
    errors = 0
    clock = time.perf_counter
    now = start = clock()
    end = start + seconds
    open_questions = len(opened)
    for connection in opened:
        connection.ask()
    while open_questions:
        for connection, events in _ready(selector):
            outcome = connection.proceed(events)
            if outcome is None:
                continue
            now = clock()
            if outcome:
                taken.append(now - connection.started)
            else:
                errors += 1
            if now < end:
                connection.ask()
            else:
                open_questions -= 1
    return Answers(taken, errors, now - start)


def _ready(selector: selectors.BaseSelector) -> list[tuple[Connection, int]]:
    found = [(key.data, events) for key, events in selector.select(_PATIENCE)]
    if not found:
        raise TimeoutError(f"the server has answered nothing for {_PATIENCE:g} seconds")
    return found
