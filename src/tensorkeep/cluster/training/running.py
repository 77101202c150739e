"""A training by several workers: as actors of a Ray cluster, or one after the other in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.arrays import Array
from tensorkeep.cluster.executors import Outcome
from tensorkeep.cluster.ray_start import connect, ray_module
from tensorkeep.cluster.training.batches import Batch, Batches, batches_of_worker, split_for_workers
from tensorkeep.cluster.training.programs import BuiltProgram, Gradients, TrainingProgram
from tensorkeep.cluster.training.servers import TrainingOptions, TrainingServer, Turn, begin_run
from tensorkeep.cluster.training.workers import ServerLost, TrainingWorker
from tensorkeep.errors import UnavailableError

_THREADS: Final = 4  # calls of the server that wait beside those of workers at a barrier
_PATIENCE: Final = 120  # seconds that a server may take to come back


@dataclass(frozen=True)
class Trained:
    """What a training has come to."""

    checkpoint: str
    """The last checkpoint, with everything in it."""
    steps: int
    losses: dict[int, int]
    """How often all went back to a checkpoint because something was lost, by its step."""


class ServerActor:
    """A server as an actor: answers, with errors of ours in words."""

    def __init__(self, build: Callable[[], TrainingProgram], options: TrainingOptions, run: str) -> None:
        self._server = TrainingServer(build, options, run)

    def call(self, method: str, arguments: tuple[Any, ...]) -> Outcome:
        return Outcome.of(lambda: getattr(self._server, method)(*arguments))

    def losses(self) -> dict[int, int]:
        return self._server.losses


class RemoteServer:
    """A server on the cluster, as a worker sees it."""

    def __init__(self, actor: Any) -> None:
        self._actor = actor

    def begin(self, worker: int) -> Turn:
        found: Turn = self.ask("begin", worker)
        return found

    def pull(self, version: int) -> tuple[int, dict[str, Array]] | None:
        found: tuple[int, dict[str, Array]] | None = self.ask("pull", version)
        return found

    def push(self, epoch: str, worker: int, position: int, gradients: Gradients) -> bool:
        return bool(self.ask("push", epoch, worker, position, gradients))

    def finish(self, epoch: str, worker: int) -> bool:
        return bool(self.ask("finish", epoch, worker))

    def report_loss(self, epoch: str) -> None:
        self.ask("report_loss", epoch)

    def ask(self, method: str, *arguments: Any) -> Any:
        """What the server answers. ServerLost when it is back after it died."""
        ray = ray_module()
        try:
            return ray.get(self._actor.call.remote(method, arguments)).value()
        except ray.exceptions.RayActorError:
            self._wait(ray)
            raise ServerLost from None

    def _wait(self, ray: Any) -> None:
        """Waits until the server answers again."""
        for _ in range(_PATIENCE):
            answer = self._actor.call.remote("steps", ())
            ray.wait([answer], timeout=_PATIENCE)
            try:
                ray.get(answer, timeout=1)
                return
            except ray.exceptions.ActorUnavailableError:
                ray.wait([self._actor.call.remote("steps", ())], timeout=1)
            except (ray.exceptions.RayActorError, ray.exceptions.GetTimeoutError) as error:
                raise UnavailableError(
                    f"the server of the training is gone, and does not come back: {error}"
                ) from error
        raise UnavailableError(f"the server of the training did not come back within {_PATIENCE} seconds")


class WorkerActor:
    """A worker as an actor."""

    def __init__(self, build: Callable[[], TrainingProgram], server: Any, number: int, count: int) -> None:
        self._worker = TrainingWorker(build, RemoteServer(server), number, count)

    def work(self, batches: Batches) -> Outcome:
        return Outcome.of(lambda: self._worker.work(batches))


class Training:
    """A training that runs on a Ray cluster. Close it when it is over; `with` does."""

    def __init__(
        self,
        build: Callable[[], TrainingProgram],
        batches: Batches,
        options: TrainingOptions,
        *,
        address: str | None = None,
        processors: float = 1,
    ) -> None:
        """Starts the server and the workers, each of which is given so many processors.

        The tables are made by this process, and end with it.
        """
        self._ray = connect(address)
        self._own = BuiltProgram.of(build)
        self._own.initialize()
        lasting: dict[str, Any] = {"max_restarts": -1, "num_cpus": processors, "scheduling_strategy": "SPREAD"}
        server = self._ray.remote(ServerActor)
        self.server = server.options(**lasting, max_task_retries=0, max_concurrency=options.workers + _THREADS).remote(
            build, options, begin_run(options)
        )
        worker = self._ray.remote(WorkerActor).options(**lasting, max_task_retries=-1)
        self.workers = [worker.remote(build, self.server, number, options.workers) for number in range(options.workers)]
        parts = split_for_workers(batches, options.workers)
        self._results = [actor.work.remote(part) for actor, part in zip(self.workers, parts, strict=True)]

    def wait(self) -> Trained:
        """Waits until all workers are done."""
        try:
            left = list(self._results)
            while left:  # the first that fails is told at once: the others may wait for it at a barrier
                [ready], left = self._ray.wait(left, num_returns=1)
                self._ray.get(ready).value()
            server = RemoteServer(self.server)
            latest, steps = server.ask("latest"), server.ask("steps")
            losses = self._ray.get(self.server.losses.remote())
        except self._ray.exceptions.RayActorError as error:
            raise UnavailableError(
                f"a process of the training is gone, and does not come back: {error}; what was saved last is whole, "
                "and the next run goes on from there"
            ) from error
        return Trained(latest, steps, losses)

    def close(self) -> None:
        """Ends the server, the workers, and the tables."""
        for actor in (*self.workers, self.server):
            self._ray.kill(actor)
        for variable in self._own.tables.values():
            table = self._own.session.run(variable.handle).table
            table.close()

    def __enter__(self) -> Training:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def train(
    build: Callable[[], TrainingProgram],
    batches: Batches,
    options: TrainingOptions,
    *,
    address: str | None = None,
    processors: float = 1,
) -> Trained:
    """Trains a model by several workers on a Ray cluster, until all batches have been applied.

    A training that was ended before goes on from its last checkpoint.
    """
    with Training(build, batches, options, address=address, processors=processors) as training:
        return training.wait()


def train_serially(build: Callable[[], TrainingProgram], batches: Batches, options: TrainingOptions) -> Trained:
    """The same training in this process, one worker after the other: what it comes to is what the cluster comes to."""
    server = TrainingServer(build, options, begin_run(options))
    workers = [TrainingWorker(build, server, number, options.workers) for number in range(options.workers)]
    turns = [server.begin(number) for number in range(options.workers)]
    given = split_for_workers(batches, options.workers)
    parts = [
        batches_of_worker(given[number], number, options.workers, turn.position) for number, turn in enumerate(turns)
    ]
    while any(_one_round(server, workers, parts, turns)):
        continue
    latest = server.latest()
    assert latest is not None
    return Trained(latest, server.steps(), server.losses)


def _one_round(
    server: TrainingServer, workers: list[TrainingWorker], parts: list[Iterator[Batch]], turns: list[Turn]
) -> list[bool]:
    """One batch of each worker that has one. Says of each whether it had."""
    computed: list[Gradients | None] = []
    for worker, part in zip(workers, parts, strict=True):
        batch = next(part, None)
        computed.append(None if batch is None else worker.gradients(batch))
    epoch = turns[0].epoch
    for number, gradients in enumerate(computed):
        if gradients is None:
            server.finish(epoch, number)
    server.push_all(epoch, {number: found for number, found in enumerate(computed) if found is not None})
    return [gradients is not None for gradients in computed]
