"""A process that computes gradients of its part of the data, against the variables of a server and shared tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from tensorkeep.arrays import Array
from tensorkeep.cluster.tables.links import PartitionLostError
from tensorkeep.cluster.training.batches import Batches, batches_of_worker
from tensorkeep.cluster.training.programs import BuiltProgram, Gradients, TrainingProgram
from tensorkeep.cluster.training.servers import Turn


class ServerLost(Exception):  # noqa: N818 - no error, but something to be waited for
    """The server died while it was asked; it comes back."""


class Server(Protocol):
    """What a worker asks of a server, wherever that is. ServerLost if it is gone for the moment."""

    def begin(self, worker: int) -> Turn: ...

    def pull(self, version: int) -> tuple[int, dict[str, Array]] | None: ...

    def push(self, epoch: str, worker: int, position: int, gradients: Gradients) -> bool: ...

    def finish(self, epoch: str, worker: int) -> bool: ...

    def report_loss(self, epoch: str) -> None: ...


class TrainingWorker:
    """Worker `number` of `count`."""

    def __init__(self, build: Callable[[], TrainingProgram], server: Server, number: int, count: int) -> None:
        self._built = BuiltProgram.of(build)
        self._built.initialize()
        self._server = server
        self._number = number
        self._count = count
        self._version = -1

    def work(self, batches: Batches) -> dict[str, Any]:
        """Goes through the worker's batches until all of them have been applied. Gives how often it began anew."""
        begun = 0
        while True:
            begun += 1
            epoch = ""
            try:
                turn = self._server.begin(self._number)
                epoch, self._version = turn.epoch, -1
                if self._work_from(turn, batches) and self._server.finish(epoch, self._number):
                    return {"worker": self._number, "begun": begun}
            except PartitionLostError:
                self._report(epoch)
            except ServerLost:
                continue

    def _work_from(self, turn: Turn, batches: Batches) -> bool:
        """Works off batches from a turn on; False if all went back meanwhile."""
        position = turn.position
        for batch in batches_of_worker(batches, self._number, self._count, position):
            gradients = self.gradients(batch)
            if not self._server.push(turn.epoch, self._number, position, gradients):
                return False
            position += 1
        return True

    def gradients(self, batch: Any) -> Gradients:
        """The gradients of a batch, of the newest variables."""
        news = self._server.pull(self._version)
        if news is not None:
            self._version = news[0]
            self._built.load(news[1])
        return self._built.gradients(batch)[0]

    def _report(self, epoch: str) -> None:
        try:
            self._server.report_loss(epoch)
        except ServerLost:
            return
