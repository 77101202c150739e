"""A server in one process: from its start to its end.

    parts are made → models load → all workers have loaded → ports open → requests → told to stop → the server says that
    it is not ready → ports close → running requests end, within a limit → models are unloaded

One event loop answers by gRPC and by HTTP; models are found and loaded by threads, and computing happens in threads.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import logging
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from threading import Thread
from typing import Any, Final, TypeVar

from tensorkeep.errors import InternalError
from tensorkeep.io.machine.resources import end_at_once
from tensorkeep.proto.messages import parse
from tensorkeep.proto.serving import ModelServerConfig
from tensorkeep.serving.process.channel import carried_error
from tensorkeep.serving.process.composition import Parts
from tensorkeep.serving.process.listeners import Listeners
from tensorkeep.serving.process.loading import wait_for
from tensorkeep.serving.process.options import ServerOptions
from tensorkeep.serving.process.peers import ALONE, Alone, Peers, Place
from tensorkeep.serving.process.workers import RELOAD
from tensorkeep.serving.statuses import OK

LOG: Final = logging.getLogger("tensorkeep.serving")
T = TypeVar("T")
_LEAST_TO_UNLOAD: Final = 1.0  # seconds
_KILLED: Final = 128  # and the number of the signal: the status of a process that a signal ended


class Server:
    """A server, or a worker of one."""

    def __init__(self, options: ServerOptions, peers: Peers, place: Place = ALONE, config: bytes | None = None) -> None:
        """A configuration that was put in force by a call takes the place of the one that the options name."""
        self._options = options
        self._place = place
        self._peers = peers
        self._config = config
        self._stopping = asyncio.Event()
        self._parts: Parts | None = None

    async def run(self) -> int:
        """Serves until it is told to stop; gives the status of the process. Raises what keeps it from starting."""
        parts = self._parts = Parts(self._options, self._place, self._reload_everywhere, self._config)
        gc.collect()
        gc.freeze()  # what was imported stays; looking through it for garbage takes long
        listeners = Listeners(self._options, parts, is_first=self._place.index == 0)
        try:
            parts.models.start()
            if not await self._unless_stopped(in_own_thread(partial(wait_for, parts.models, self._options))):
                return 0
            if self._place.index == 0:
                parts.tell_absent()
            if not await self._unless_stopped(self._peers.all_loaded()):
                return 0
            self._peers.opened(await listeners.open())
            parts.readiness.open()
            following = asyncio.ensure_future(parts.keep_following())
            await self._stopping.wait()
            following.cancel()
            LOG.info("The server stops: running requests may take %g more seconds", self._options.stop_seconds)
            parts.readiness.close()
            await asyncio.sleep(self._options.stop_delay)
        finally:
            await self._end(parts, listeners)
        return 0

    async def _end(self, parts: Parts, listeners: Listeners) -> None:
        """Lets running requests end, and unloads the models, both within the time that there is for it."""
        parts.readiness.close()
        end = time.monotonic() + self._options.stop_seconds
        await listeners.close()
        await parts.finish()
        left = max(_LEAST_TO_UNLOAD, end - time.monotonic())
        if await in_own_thread(partial(parts.close, left)):
            LOG.info("The server has stopped")
        else:
            LOG.warning("The server stops while something is being computed that nobody waits for any more")
            end_at_once(0)

    async def _unless_stopped(self, work: Awaitable[object]) -> bool:
        """Waits for something; False if the server is told to stop before."""
        working, stopped = asyncio.ensure_future(work), asyncio.ensure_future(self._stopping.wait())
        await asyncio.wait([working, stopped], return_when=asyncio.FIRST_COMPLETED)
        stopped.cancel()
        if working.done():
            working.result()
            return True
        working.cancel()
        return False

    # ------------------------------------------------------------------------------------- What it can be told

    def stop(self) -> None:
        """Finishes what is running, and ends."""
        self._stopping.set()

    def reread(self) -> None:
        """Looks at the configuration file and at the tokens now."""
        if self._parts is not None:
            self._parts.reread()

    async def do(self, what: str, data: str) -> str:
        """Carries out an order that all workers were given, and gives its result as text."""
        if self._parts is None:
            raise InternalError(f"{what}: the server has not started yet")
        assert what == RELOAD
        await self._parts.reload(parse(ModelServerConfig, base64.b64decode(data), "the configuration"))
        return ""

    # ----------------------------------------------------------------------------------------- What all workers do

    async def _reload_everywhere(self, config: ModelServerConfig) -> None:
        """Puts a configuration in force in all workers; the first error of one is the answer."""
        data = base64.b64encode(config.SerializeToString()).decode()
        for done in await self._peers.ask_all(RELOAD, data):
            if done.code != OK:
                raise carried_error(done.code, done.message)


def serve_alone(options: ServerOptions) -> int:
    """Runs a server in this process until it is told to stop; gives the status of the process."""
    return run_in_loop(_serve_alone(options))


async def _serve_alone(options: ServerOptions) -> int:
    peers = Alone()
    server = Server(options, peers)
    peers.orders = server
    obey_signals(server, (signal.SIGTERM, signal.SIGINT))
    return await server.run()


def obey_signals(server: Server, stopping: tuple[signal.Signals, ...]) -> None:
    """Has signals stop the server, a second one at once; SIGHUP has it look at its files."""
    loop = asyncio.get_running_loop()
    told: list[signal.Signals] = []

    def stop(number: signal.Signals) -> None:
        if told:
            end_at_once(_KILLED + number)
        told.append(number)
        server.stop()

    for number in stopping:
        _on_signal(loop, number, partial(stop, number))
    if sys.platform != "win32":
        _on_signal(loop, signal.SIGHUP, server.reread)


def _on_signal(loop: asyncio.AbstractEventLoop, number: signal.Signals, action: Callable[[], None]) -> None:
    try:
        loop.add_signal_handler(number, action)
    except NotImplementedError:  # Windows
        signal.signal(number, lambda *_: loop.call_soon_threadsafe(action))


def in_own_thread(work: Callable[[], T]) -> asyncio.Future[T]:
    """A future of what `work` returns, done in a daemon thread: the end of the process does not wait for it."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[T] = loop.create_future()

    def settle(outcome: Callable[[], None]) -> None:
        if not result.done():
            outcome()

    def do() -> None:
        try:
            value = work()
        except BaseException as error:
            told = partial(settle, partial(result.set_exception, error))
        else:
            told = partial(settle, partial(result.set_result, value))
        if not loop.is_closed():
            loop.call_soon_threadsafe(told)

    Thread(target=do, daemon=True, name="tensorkeep-serving").start()
    return result


def run_in_loop(work: Coroutine[Any, Any, T]) -> T:
    """Runs a coroutine in a new event loop, uvloop's where it is installed, and gives its result."""
    loop = _new_loop()
    try:
        asyncio.set_event_loop(loop)
        return loop.run_until_complete(work)
    finally:
        loop.run_until_complete(loop.shutdown_asyncgens())
        asyncio.set_event_loop(None)
        loop.close()


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    return uvloop.new_event_loop()
