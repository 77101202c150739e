"""A worker among others, as the server in it sees them: what is done in all of them, and in which order they start."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from tensorkeep.errors import TensorKeepError, UnavailableError
from tensorkeep.serving.process.channel import Channel, Message
from tensorkeep.serving.statuses import INTERNAL, OK, code_of

LOG: Final = logging.getLogger("tensorkeep.serving")

Work = Callable[[str, str], Awaitable[str]]
"""Does something in this worker: what, and with which data; gives what came of it."""


@dataclass(frozen=True, slots=True)
class Done:
    """How something went in a worker."""

    code: int
    message: str
    data: str


@dataclass(frozen=True, slots=True)
class Place:
    """Which of the workers one is, and where all of them count; nowhere where there is but one."""

    index: int = 0
    counters: str = ""


ALONE: Final = Place()


class Orders(Protocol):
    """What a server can be told while it runs."""

    async def do(self, what: str, data: str) -> str:
        """Does something in this worker."""
        ...

    def reread(self) -> None:
        """Looks at the configuration file now."""
        ...

    def stop(self) -> None:
        """Finishes what is running, and ends."""
        ...


class Peers(Protocol):
    """The workers of a server, of which this is one."""

    async def all_loaded(self) -> None:
        """Says that this one has loaded its models, and waits until all have."""
        ...

    def opened(self, lines: Sequence[str]) -> None:
        """Says that this one listens, and what there is to say of it."""
        ...

    async def ask_all(self, what: str, data: str) -> Sequence[Done]:
        """Has every worker do something, this one too."""
        ...


async def carry_out(orders: Orders, what: str, data: str) -> Done:
    """Carries an order out in this worker, and says how it went: a code, the text of an error, a result."""
    try:
        return Done(OK, "", await orders.do(what, data))
    except TensorKeepError as error:
        return Done(code_of(error), str(error), "")
    except Exception as error:
        LOG.exception("%s failed", what)
        return Done(INTERNAL, str(error), "")


class Alone:
    """There is one worker, this one."""

    def __init__(self) -> None:
        self.orders: Orders | None = None

    async def all_loaded(self) -> None:
        pass

    def opened(self, lines: Sequence[str]) -> None:
        for line in lines:
            LOG.info("%s", line)

    async def ask_all(self, what: str, data: str) -> Sequence[Done]:
        assert self.orders is not None
        return [await carry_out(self.orders, what, data)]


class Among:
    """There are several workers, which are reached through the process that watches over them."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._may_open = asyncio.Event()
        self._asked: dict[int, asyncio.Future[Sequence[Done]]] = {}
        self._number = 0
        self._tasks: set[asyncio.Task[None]] = set()

    async def all_loaded(self) -> None:
        self._channel.send("loaded")
        await self._may_open.wait()

    def opened(self, lines: Sequence[str]) -> None:
        self._channel.send("opened", lines=list(lines))

    async def ask_all(self, what: str, data: str) -> Sequence[Done]:
        self._number += 1
        answer: asyncio.Future[Sequence[Done]] = asyncio.get_running_loop().create_future()
        self._asked[self._number] = answer
        self._channel.send("ask", number=self._number, what=what, data=data)
        return await answer

    async def follow(self, orders: Orders) -> None:
        """Does what the other side says until it is gone; then the server has to stop."""
        while (message := await self._channel.receive()) is not None:
            self._obey(message, orders)
        for answer in self._asked.values():
            if not answer.done():
                answer.set_exception(UnavailableError("the process that watches over the workers has gone"))
        orders.stop()

    def _obey(self, message: Message, orders: Orders) -> None:
        kind = message["kind"]
        if kind == "open":
            self._may_open.set()
        elif kind == "stop":
            orders.stop()
        elif kind == "reread":
            orders.reread()
        elif kind == "answer":
            answer = self._asked.pop(message["number"])
            if not answer.done():
                answer.set_result([Done(*result) for result in message["results"]])
        else:
            task = asyncio.ensure_future(self._do(message, orders))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _do(self, message: Message, orders: Orders) -> None:
        result = await carry_out(orders, message["what"], message["data"])
        number = message["number"]
        self._channel.send("done", number=number, code=result.code, message=result.message, data=result.data)
