"""A connection of HTTP/1.1: requests that come on it one after the other, and their answers in the same order."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Protocol

import httptools

from tensorkeep.serving.http1.content import IncomingContent
from tensorkeep.serving.http1.messages import CONTINUE, Answer, Application, GoneError, Request, head_of

_LOG: Final = logging.getLogger("tensorkeep.serving")
_LARGE: Final = 1 << 16  # bytes of a body that is not copied behind its head
_PLAIN: Final = "text/plain; charset=utf-8"
_TOO_LARGE: Final = "What goes before the body of the request, or around its chunks, is too large"
_FEW: Final = 16  # bytes that chunks may have around each byte of a body, on the whole


@dataclass(frozen=True, slots=True)
class Limits:
    """What is taken from one connection. Times are in seconds."""

    head: int = 1 << 16
    """Bytes of what goes before a body, and of what goes between and behind its chunks."""
    head_seconds: float = 20.0
    """From the first byte of a request to the end of its head."""
    idle_seconds: float = 75.0
    """Without a request, until the connection is closed."""
    stall_seconds: float = 60.0
    """That a client may take none of its answers."""


class Output(Protocol):
    """Where bytes go: a transport of asyncio's."""

    def write(self, data: bytes) -> None: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...

    def pause_reading(self) -> None: ...

    def resume_reading(self) -> None: ...


class _Exchange:
    """A request, and what is to be known for its answer."""

    __slots__ = ("content", "expects", "is_old", "keeps", "request")

    def __init__(self, request: Request, content: IncomingContent, *, keeps: bool, is_old: bool, expects: bool) -> None:
        self.request = request
        self.content = content
        self.keeps = keeps
        self.is_old = is_old
        self.expects = expects
        """Whether the client waits to be told that it may send the body."""


class Connection:
    """One connection, from the server's side. It belongs to the event loop that it is made in."""

    def __init__(
        self,
        output: Output,
        application: Application,
        limits: Limits = Limits(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._output = output
        self._application = application
        self._limits = limits
        self._clock = clock
        self._loop = asyncio.get_running_loop()
        self._parser = httptools.HttpRequestParser(self)
        self._url = b""
        self._headers: dict[str, str] = {}
        self._content: IncomingContent | None = None  # of the request that is coming
        self._is_in_head = False
        self._head_since = 0.0
        self._is_new = False  # whether a request has begun with what came last
        self._head_size = 0
        self._around = 0  # bytes that came of a request beside its body, after those that it began with
        self._bodied = 0  # bytes that came of its body
        self._current: _Exchange | None = None
        self._waiting: deque[_Exchange] = deque()
        self._task: asyncio.Task[None] | None = None
        self._idle_since = clock()
        self._paused_since: float | None = None
        self._holds = 0
        self._is_draining = False
        self._is_deaf = False
        self.is_closed = False

    # --------------------------------------------------------------------------------------------- What happens to it

    def receive(self, data: bytes) -> None:
        """Takes bytes that came."""
        if self._is_deaf:
            return
        self._is_new, before = False, self._bodied
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:  # to what is not spoken here: it goes on as a request like others
            self._is_deaf = True
        except httptools.HttpParserCallbackError as error:
            if not isinstance(error.__context__, httptools.HttpParserInvalidURLError):
                raise
            self._refuse(400, "The request has no valid URL")
        except httptools.HttpParserError:
            self._refuse(400, "This is no valid request of HTTP/1.1")
        if not self._is_new:
            self._around += len(data) - (self._bodied - before)
            if self._around > self._limits.head + self._bodied * _FEW:
                self._refuse(431, _TOO_LARGE)

    def lost(self) -> None:
        """The client is gone."""
        self.is_closed = self._is_deaf = True
        self._waiting.clear()
        if self._current is not None:
            self._current.content.lose()

    def pause(self) -> None:
        """The client does not read what is sent."""
        self._paused_since = self._clock()

    def resume(self) -> None:
        """The client reads again."""
        self._paused_since = None
        self._go_on()

    def drain(self) -> None:
        """Closes the connection when the requests have been answered that are on their way."""
        self._is_draining = True
        if self._current is None and not (self._is_in_head or self._waiting):
            self._close()

    def abort(self) -> None:
        """Closes the connection at once, and gives up what is being done for it."""
        if self._task is not None:
            self._task.cancel()
        self._output.abort()

    def check(self, now: float) -> None:
        """Does what is to be done as time passes; to be called about every second."""
        limits = self._limits
        if self._paused_since is not None and now - self._paused_since > limits.stall_seconds:
            self.abort()
        elif self._is_in_head and now - self._head_since > limits.head_seconds:
            self._refuse(408, f"The head of the request did not arrive within {limits.head_seconds:g} seconds")
        elif (
            self._current is None
            and not (self._is_in_head or self._waiting)
            and now - self._idle_since > limits.idle_seconds
        ):
            self._close()

    # ----------------------------------------------------------------------------------------- What the parser finds

    def on_message_begin(self) -> None:
        """A request begins."""
        self._url = b""
        self._headers = {}
        self._is_in_head = True
        self._head_since = self._clock()
        self._head_size = self._around = self._bodied = 0
        self._is_new = True

    def on_url(self, url: bytes) -> None:
        """A piece of its URL."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """One of its headers; those behind a body in chunks are left alone."""
        if self._is_in_head:
            self._head_size += len(name) + len(value)
            self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """Its head has come: it can be answered, when those before it have been."""
        parser = self._parser
        self._is_in_head = False
        if self._head_size > self._limits.head:
            self._content = None
            self._refuse(431, _TOO_LARGE)
            return
        path, query = _parts(self._url)
        headers = self._headers
        content = self._content = IncomingContent(self._want, self._hold)
        request = Request(parser.get_method().decode("latin-1"), path, query, headers, content)
        exchange = _Exchange(
            request,
            content,
            keeps=parser.should_keep_alive(),
            is_old=parser.get_http_version() == "1.0",
            expects=headers.get("expect", "").lower() == "100-continue",
        )
        if self._current is None and self._paused_since is None:
            self._begin(exchange)
        else:
            if not self._waiting:
                self._hold(True)
            self._waiting.append(exchange)

    def on_body(self, piece: bytes) -> None:
        """A piece of its body."""
        self._bodied += len(piece)
        if self._content is not None:
            self._content.add(piece)

    def on_message_complete(self) -> None:
        """All of it has come."""
        if self._content is not None:
            self._content.end()

    # -------------------------------------------------------------------------------------------------------- Answers

    def _begin(self, exchange: _Exchange) -> None:
        self._current = exchange
        self._task = self._loop.create_task(self._answer(exchange))

    async def _answer(self, exchange: _Exchange) -> None:
        try:
            answer = await self._application.answer(exchange.request)
        except GoneError:
            self._close()
            return
        except Exception:
            _LOG.exception("a request failed in an unforeseen way")
            answer = Answer(b"", 500, _PLAIN, closes=True)
        if not self.is_closed:
            self._send(exchange, answer)

    def _send(self, exchange: _Exchange, answer: Answer) -> None:
        keeps = exchange.keeps and not (answer.closes or self._is_deaf or (self._is_draining and not self._waiting))
        if exchange.expects and not exchange.content.is_whole:
            keeps = False  # nobody can know whether the body still comes
        head = head_of(answer, keeps=keeps, is_old=exchange.is_old)
        body = b"" if exchange.request.method == "HEAD" else answer.body
        if len(body) < _LARGE:
            self._output.write(head + body)
        else:
            self._output.write(head)
            self._output.write(body)
        self._current, self._task = None, None
        self._idle_since = self._clock()
        if not keeps:
            self._close()
            return
        if not exchange.content.is_whole:
            exchange.content.drop()
        self._go_on()

    def _go_on(self) -> None:
        """Begins with the next request, if one has come and answers are being read."""
        if self._waiting and self._current is None and self._paused_since is None and not self.is_closed:
            waiting = self._waiting.popleft()
            if not self._waiting:
                self._hold(False)
            self._begin(waiting)

    def _want(self) -> None:
        """Somebody waits for the body of the current request."""
        exchange = self._current
        if exchange is not None and exchange.expects:
            exchange.expects = False
            self._output.write(CONTINUE)

    def _hold(self, is_held: bool) -> None:
        """Has the client wait, or go on when nothing holds it any more."""
        before, self._holds = self._holds, self._holds + (1 if is_held else -1)
        if is_held and not before:
            self._output.pause_reading()
        elif not self._holds and not self.is_closed:
            self._output.resume_reading()

    def _refuse(self, status: int, text: str) -> None:
        """Says why the connection ends, unless answers are still to be sent, and ends it."""
        self._is_deaf = True
        if self._current is None and not self.is_closed:
            answer = Answer(text.encode(), status, _PLAIN)
            self._output.write(head_of(answer, keeps=False, is_old=False) + answer.body)
            self._close()
        elif self._content is not None:
            self._content.lose()

    def _close(self) -> None:
        if not self.is_closed:
            self.is_closed = self._is_deaf = True
            self._output.close()


def _parts(url: bytes) -> tuple[str, str]:
    """The path and the query of what was asked for, which may be written with a server's name."""
    if not url.startswith(b"/"):
        found = httptools.parse_url(url)
        return (found.path or b"/").decode("latin-1"), (found.query or b"").decode("latin-1")
    path, _, query = url.partition(b"#")[0].decode("latin-1").partition("?")
    return path, query
