"""Calls: what comes of a request for a method, from its first byte to its status."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Final

from tensorkeep.errors import (
    CancelledError,
    DeadlineExceededError,
    InternalError,
    ResourceExhaustedError,
    TensorKeepError,
)
from tensorkeep.serving.http2.hpack import Fields
from tensorkeep.serving.http2.streams import Stream
from tensorkeep.serving.rpc.methods import StreamingMethod, UnaryMethod, status_of
from tensorkeep.serving.rpc.wire import (
    IDENTITY,
    PREFIX,
    TAIL,
    heads_of,
    pack_message,
    refusal_of,
    tail_of,
    unpack_message,
)

_LARGE: Final = 1 << 16  # bytes that are packed, unpacked and copied with more care
_LATE: Final = "Deadline Exceeded"


@dataclass(frozen=True, slots=True)
class CallRules:
    """What holds for a call, as its headers and the server's options say."""

    timeout: float | None = None
    """Seconds that the client waits."""
    encoding: bytes = IDENTITY
    """Of the client's messages."""
    answer_encoding: bytes = IDENTITY
    most_received: int = (1 << 31) - 1
    """Bytes of a message."""
    most_sent: int = (1 << 31) - 1


class RefusedCall:
    """A call that was refused when its head came: what still comes on its stream is dropped."""

    takes_at_once = True
    may_rest = False

    def data(self, piece: bytes) -> None: ...

    def ended(self) -> None: ...

    def gone(self) -> None: ...

    def stalled(self) -> None: ...

    def check(self, now: float) -> None: ...


REFUSED: Final = RefusedCall()


class _Call:
    """What all calls have in common: a status at the end, a deadline, and that the client may give them up."""

    __slots__ = ("_deadline", "_is_over", "_over", "_rules", "_stream", "_task")

    def __init__(self, stream: Stream, rules: CallRules, over: Callable[[], None]) -> None:
        """`over` is called once, when the call has ended in whatever way."""
        self._stream = stream
        self._rules = rules
        self._over = over
        self._is_over = False
        self._task: asyncio.Task[None] | None = None
        self._deadline = None if rules.timeout is None else time.monotonic() + rules.timeout

    def _finish(self) -> bool:
        """Marks the call as ended; False if it had ended before."""
        if self._is_over:
            return False
        self._is_over = True
        self._over()
        return True

    def fail(self, error: BaseException) -> None:
        """Ends the call by an error."""
        if self._finish():
            self._send_status(*status_of(error))
            self._stop()

    def _send_status(self, code: int, text: str) -> None:
        self._stream.send(tail=refusal_of(code, text))

    def _stop(self) -> None:
        if self._task is not None and self._task is not asyncio.current_task():
            self._task.cancel()

    def gone(self) -> None:
        """Nobody waits for the answer any more."""
        if self._finish():
            self._stop()

    def stalled(self) -> None:
        """The client does not go on."""
        self.fail(DeadlineExceededError("the message of the call did not arrive in time"))

    def check(self, now: float) -> None:
        """Ends the call when its deadline has passed: the client waits no longer, and need not have said so."""
        if self._deadline is not None and now > self._deadline:
            self.fail(DeadlineExceededError(_LATE))

    async def _plain(self, data: bytes) -> bytes:
        """A message that came compressed."""
        rules = self._rules
        if len(data) < _LARGE:
            return unpack_message(data, rules.encoding, rules.most_received)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(None, unpack_message, data, rules.encoding, rules.most_received)

    async def _framed_message(self, data: bytes) -> tuple[bytes, bytes]:
        """A message to be sent: what goes before it, and itself."""
        rules = self._rules
        if len(data) > rules.most_sent:
            raise ResourceExhaustedError(f"Sent message larger than max ({len(data)} vs. {rules.most_sent})")
        if rules.answer_encoding == IDENTITY:
            return PREFIX.pack(0, len(data)), data
        if len(data) < _LARGE:
            data = pack_message(data, rules.answer_encoding)
        else:
            data = await asyncio.get_running_loop().run_in_executor(None, pack_message, data, rules.answer_encoding)
        return PREFIX.pack(1, len(data)), data

    def _check_size(self, size: int) -> None:
        if size > self._rules.most_received:
            raise ResourceExhaustedError(f"Received message larger than max ({size} vs. {self._rules.most_received})")


class UnaryCall(_Call):
    """A call of a method that takes one message and gives one."""

    __slots__ = ("_method", "_needed", "_pieces", "_size")

    takes_at_once = True
    may_rest = False

    def __init__(self, stream: Stream, rules: CallRules, over: Callable[[], None], method: UnaryMethod) -> None:
        super().__init__(stream, rules, over)
        self._method = method
        self._pieces: list[bytes] = []
        self._size = 0
        self._needed = 0

    def data(self, piece: bytes) -> None:
        """A piece of the message."""
        self._pieces.append(piece)
        self._size += len(piece)
        if not self._needed and self._size >= PREFIX.size:
            if len(self._pieces) > 1:
                self._pieces = [b"".join(self._pieces)]
            size = PREFIX.unpack_from(self._pieces[0])[1]
            self._needed = PREFIX.size + size
            try:
                self._check_size(size)
            except TensorKeepError as error:
                self.fail(error)
        if self._needed and self._size > self._needed:
            self.fail(InternalError("the call has more than one message, and its method takes one"))

    def ended(self) -> None:
        """All has come."""
        if self._is_over:
            return
        if not self._needed or self._size != self._needed:
            self.fail(InternalError("the message of the call is not whole"))
        elif self._stream.is_congested:
            self._stream.when_relieved(self._start)
        else:
            self._start()

    def _start(self) -> None:
        if not self._is_over:
            self._task = asyncio.get_running_loop().create_task(self._answer())

    async def _answer(self) -> None:
        pieces, self._pieces = self._pieces, []
        is_packed = pieces[0][0]
        pieces[0] = pieces[0][PREFIX.size :]
        data = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        del pieces  # of a large message there need not be two
        try:
            if is_packed:
                data = await self._plain(data)
            found = await self._method.answer(data, self._deadline)
            prefix, found = await self._framed_message(found)
        except asyncio.CancelledError:
            if not self._is_over:
                self.fail(CancelledError("the call was cancelled by the server"))
            raise
        except Exception as error:
            self.fail(error)
            return
        if self._finish():
            self._send(prefix, found)

    def _send(self, prefix: bytes, found: bytes) -> None:
        head = heads_of(self._rules.answer_encoding)
        if len(found) < _LARGE:
            self._stream.send(head, prefix + found, TAIL)
        else:
            self._stream.send(head, prefix)
            self._stream.send(None, found, TAIL)


class StreamingCall(_Call):
    """A call of a method that takes messages and gives messages."""

    __slots__ = ("_buffer", "_came", "_has_begun", "_has_ended", "_messages", "_method", "_owed")

    may_rest = True

    def __init__(self, stream: Stream, rules: CallRules, over: Callable[[], None], method: StreamingMethod) -> None:
        super().__init__(stream, rules, over)
        self._method = method
        self._buffer = bytearray()
        self._messages: deque[tuple[bool, bytes]] = deque()
        self._owed = 0  # bytes that came and of which the client has not been told that they were taken
        self._came: asyncio.Future[None] | None = None
        self._has_ended = False
        self._has_begun = False
        self._task = asyncio.get_running_loop().create_task(self._converse())

    takes_at_once = False

    # ------------------------------------------------------------------------------------------------------- In

    def data(self, piece: bytes) -> None:
        """A piece of messages. The client is told to go on when all messages before it have been taken."""
        self._buffer += piece
        at = 0
        while len(self._buffer) - at >= PREFIX.size:
            is_packed, size = PREFIX.unpack_from(self._buffer, at)
            try:
                self._check_size(size)
            except TensorKeepError as error:
                self.fail(error)
                return
            end = at + PREFIX.size + size
            if end > len(self._buffer):
                break
            self._messages.append((bool(is_packed), bytes(self._buffer[at + PREFIX.size : end])))
            at = end
        del self._buffer[:at]
        self._owed += len(piece)
        if self._messages:
            self._wake()
        else:
            self._pay()

    def ended(self) -> None:
        """All has come."""
        self._has_ended = True
        if self._buffer:
            self.fail(InternalError("the last message of the call is not whole"))
        self._wake()

    def _wake(self) -> None:
        if self._came is not None and not self._came.done():
            self._came.set_result(None)

    def _pay(self) -> None:
        owed, self._owed = self._owed, 0
        self._stream.took(owed)

    async def _requests(self) -> AsyncIterator[bytes]:
        while True:
            while self._messages:
                is_packed, data = self._messages.popleft()
                if not self._messages:
                    self._pay()
                yield await self._plain(data) if is_packed else data
            if self._has_ended:
                return
            self._came = asyncio.get_running_loop().create_future()
            await self._came

    # ------------------------------------------------------------------------------------------------------ Out

    async def _converse(self) -> None:
        try:
            async for found in self._method.answer(self._requests()):
                prefix, data = await self._framed_message(found)
                self._stream.send(self._head(), prefix + data)
                await self._wait_until_drained()
                if self._is_over:
                    return
        except asyncio.CancelledError:
            if not self._is_over:
                self.fail(CancelledError("the call was cancelled by the server"))
            raise
        except Exception as error:
            self.fail(error)
            return
        if self._finish():
            self._stream.send(self._head(), tail=TAIL)

    def _head(self) -> Fields | None:
        """What has to be sent before the first message."""
        has_begun, self._has_begun = self._has_begun, True
        return None if has_begun else heads_of(self._rules.answer_encoding)

    def _send_status(self, code: int, text: str) -> None:
        self._stream.send(tail=tail_of(code, text) if self._has_begun else refusal_of(code, text))

    async def _wait_until_drained(self) -> None:
        """Waits until the client has taken what was sent."""
        if self._stream.unsent:
            sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._stream.drained = lambda: None if sent.done() else sent.set_result(None)
            await sent
