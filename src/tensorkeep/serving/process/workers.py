"""Several workers of one server, and the process that watches over them.

It starts as many processes as there shall be workers, each a whole server that listens on the same ports, and imports
nothing that they compute with. The workers open their ports when all of them have loaded their models. One that ends
is started anew, after a while that grows while it keeps ending. What one worker was asked to change, all of them
change: see `channel` for what is said.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import pickle
import signal
import socket
import sys
import time
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from tensorkeep.errors import InternalError, TensorKeepError, UnimplementedError
from tensorkeep.io.files.directories import shared_folder
from tensorkeep.io.machine.parallel import THREADS, thread_limit
from tensorkeep.io.machine.resources import environment, environment_variable
from tensorkeep.serving.process.channel import Channel, Message, carried_error
from tensorkeep.serving.process.options import ServerOptions

LOG: Final = logging.getLogger("tensorkeep.serving")
T = TypeVar("T")

RELOAD: Final = "reload"
_FIRST_PAUSE: Final = 0.5  # seconds before a worker that ended is started anew
_LONGEST_PAUSE: Final = 30.0
_STEADY: Final = 60.0  # one that ran for so long did not end at its start
_AFTER_STOP: Final = 5.0  # seconds that a worker may take to end beyond those that its requests may take
_UNAVAILABLE: Final = 14
# Where modules are found is told, not found out anew: the folder in which the server was started is no such place.
_PROGRAM: Final = (
    "import sys; sys.path[:] = {paths!r}; from tensorkeep.serving.process.worker import main; sys.exit(main({number}))"
)


@dataclass(slots=True)
class _Worker:
    """A worker, as long as its process lives."""

    index: int
    process: asyncio.subprocess.Process
    channel: Channel
    started: float
    is_open: bool = False
    loaded: asyncio.Future[None] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    opened: asyncio.Future[list[str]] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    running: dict[int, asyncio.Future[tuple[int, str, str]]] = field(default_factory=dict)


class Supervisor:
    """Starts the workers of a server, and keeps them running until it is told to stop."""

    def __init__(self, options: ServerOptions, counters: str) -> None:
        """The workers count what they do in files in the folder `counters`."""
        if sys.platform == "win32":
            raise UnimplementedError("several workers need a system where they can share ports, which Windows is not")
        self._options = options
        self._counters = counters
        self._config: str | None = None
        """The configuration that was put in force by a call, for workers that start later."""
        self._workers: dict[int, _Worker] = {}
        self._stopping = asyncio.Event()
        self._signals = 0
        self._number = 0
        self._changing = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._pauses: dict[int, float] = {}

    async def run(self) -> int:
        """Serves until a signal comes; gives the status of the process. Raises what keeps the server from starting."""
        self._listen_to_signals()
        try:
            await self._start()
            await self._stopping.wait()
        finally:
            self._stopping.set()
            await self._end()
        return 0

    # ------------------------------------------------------------------------------------------------------------ Start

    async def _start(self) -> None:
        workers = [await self._begin(index) for index in range(self._options.workers)]
        stopped = asyncio.ensure_future(self._stopping.wait())
        try:
            for worker in workers:
                await self._or_stop(stopped, worker.loaded)
            for worker in workers:
                worker.channel.send("open")
            for worker in workers:
                await self._or_stop(stopped, worker.opened)
        finally:
            stopped.cancel()
        if not self._stopping.is_set():
            for line in workers[0].opened.result():
                LOG.info("%s", line)
            LOG.info("%d workers are ready", len(workers))

    async def _or_stop(self, stopped: asyncio.Future[Any], wanted: asyncio.Future[Any]) -> None:
        await asyncio.wait([stopped, wanted], return_when=asyncio.FIRST_COMPLETED)
        if wanted.done():
            wanted.result()

    async def _begin(self, index: int) -> _Worker:
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-c",
                _PROGRAM.format(paths=sys.path, number=theirs.fileno()),
                pass_fds=[theirs.fileno()],
                env=self._environment(),
            )
        worker = _Worker(index, process, await Channel.over(ours), time.monotonic())
        options = base64.b64encode(pickle.dumps(self._options)).decode()
        worker.channel.send("start", options=options, config=self._config, index=index, counters=self._counters)
        self._workers[index] = worker
        self._spawn(self._hear(worker))
        return worker

    def _environment(self) -> Mapping[str, str]:
        """That of a worker, which computes with its share of the threads that there may be."""
        told = self._options.threads or environment_variable(THREADS)
        share = max(1, thread_limit() // self._options.workers)
        return {**environment(), THREADS: str(told or share)}

    # --------------------------------------------------------------------------------------------------------- Watching

    async def _hear(self, worker: _Worker) -> None:
        """Does what a worker says until its process has ended, and sees to what comes after that."""
        while (message := await worker.channel.receive()) is not None:
            self._take(worker, message)
        status = await worker.process.wait()
        worker.is_open = False
        worker.channel.close()
        self._settle(worker, status)
        if not self._stopping.is_set() and worker.opened.done() and not worker.opened.exception():
            LOG.warning("worker %d ended with status %d", worker.index, status)
            await self._begin_again(worker)

    def _settle(self, worker: _Worker, status: int) -> None:
        """Answers those who wait for something of a worker that has ended."""
        error = InternalError(f"worker {worker.index} ended with status {status} while it started")
        for waiting in (worker.loaded, worker.opened):
            if not waiting.done():
                waiting.set_exception(error)
            waiting.exception()  # nobody may be waiting
        for result in worker.running.values():
            if not result.done():
                result.set_result((_UNAVAILABLE, f"worker {worker.index} ended meanwhile", ""))

    def _take(self, worker: _Worker, message: Message) -> None:
        kind = message["kind"]
        if kind == "loaded":
            _fulfil(worker.loaded, None)
        elif kind == "opened":
            worker.is_open = True
            _fulfil(worker.opened, message["lines"])
        elif kind == "failed":
            error = carried_error(message["code"], message["message"], message["problem"])
            for waiting in (worker.loaded, worker.opened):
                if not waiting.done():
                    waiting.set_exception(error)
        elif kind == "done":
            result = message["code"], message["message"], message["data"]
            _fulfil(worker.running.pop(message["number"]), result)
        else:
            self._spawn(self._have_done(worker, message))

    async def _begin_again(self, ended: _Worker) -> None:
        """Starts a worker in the place of one that ended, until one stays or the server stops."""
        ran = time.monotonic() - ended.started
        pause = _FIRST_PAUSE if ran > _STEADY else self._pauses.get(ended.index, _FIRST_PAUSE)
        self._pauses[ended.index] = min(2 * pause, _LONGEST_PAUSE)
        try:
            await asyncio.wait_for(self._stopping.wait(), pause)
            return
        except asyncio.TimeoutError:
            pass
        worker = await self._begin(ended.index)
        try:
            await worker.loaded
            worker.channel.send("open")
            await worker.opened
        except TensorKeepError as error:
            if not self._stopping.is_set():
                LOG.error("worker %d could not be started anew: %s", worker.index, error)
                self._spawn(self._begin_again(worker))
            return
        LOG.info("worker %d is ready again", worker.index)

    # --------------------------------------------------------------------------------------------------- What all do

    async def _have_done(self, asker: _Worker, message: Message) -> None:
        """Has all workers that serve do something, and tells one of them how it went."""
        what, data = message["what"], message["data"]
        if what != RELOAD:
            results = await self._do(what, data)
        else:
            async with self._changing:  # one configuration after the other, in the same order everywhere
                results = await self._do(what, data)
                if all(code == 0 for code, _, _ in results):
                    self._config = data
        asker.channel.send("answer", number=message["number"], results=results)

    async def _do(self, what: str, data: str) -> list[tuple[int, str, str]]:
        results = []
        for worker in self._workers.values():
            if worker.is_open:
                self._number += 1
                result = worker.running[self._number] = asyncio.get_running_loop().create_future()
                worker.channel.send("do", number=self._number, what=what, data=data)
                results.append(result)
        return list(await asyncio.gather(*results))

    # -------------------------------------------------------------------------------------------------------------- End

    def _listen_to_signals(self) -> None:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._be_told_to_stop)
        loop.add_signal_handler(signal.SIGHUP, self._reread)

    def _be_told_to_stop(self) -> None:
        """Stops; told a second time, at once."""
        self._signals += 1
        if self._signals > 1:
            for worker in self._workers.values():
                _kill(worker)
        self._stopping.set()

    def _reread(self) -> None:
        for worker in self._workers.values():
            worker.channel.send("reread")

    async def _end(self) -> None:
        for worker in self._workers.values():
            worker.channel.send("stop")
        ends = [asyncio.ensure_future(worker.process.wait()) for worker in self._workers.values()]
        if ends:
            await asyncio.wait(ends, timeout=self._options.stop_delay + self._options.stop_seconds + _AFTER_STOP)
        for worker in self._workers.values():
            if worker.process.returncode is None:
                LOG.warning("worker %d did not end in time and is killed", worker.index)
                _kill(worker)
        await asyncio.gather(*ends)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _fulfil(waiting: asyncio.Future[T], value: T) -> None:
    if not waiting.done():
        waiting.set_result(value)


def _kill(worker: _Worker) -> None:
    if worker.process.returncode is None:
        worker.process.kill()


def supervise(options: ServerOptions) -> int:
    """Runs a server of several workers until it is told to stop; gives the status of the process."""
    return asyncio.run(_supervise(options))


async def _supervise(options: ServerOptions) -> int:
    with shared_folder() as counters:
        return await Supervisor(options, counters).run()
