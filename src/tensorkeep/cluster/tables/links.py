"""How the parts of a table are reached: in this process, or as actors of a Ray cluster.

    LocalLink    parts in this process, one after the other: for tests, and for tables that fit one machine after all
    RayLink      an actor for each part, on any machine; all are asked at the same time

A part that has died comes back by itself in another process, from what was saved last. Whoever asks it then is told,
once, by a PartitionLostError: what was changed since is gone, and only who asks can know what to do about it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol

from tensorkeep.cluster.executors import Outcome
from tensorkeep.cluster.ray_start import ray_module
from tensorkeep.cluster.tables.partitions import Partition, PartStatus
from tensorkeep.cluster.tables.specs import TableSpec
from tensorkeep.errors import AbortedError, AlreadyExistsError, NotFoundError, UnavailableError

_RETURN_SECONDS: Final = 60  # that a part may take to come back, before others give up
_NAMESPACE: Final = "tensorkeep"
_THREADS: Final = 4  # calls that a part works on at a time: a save must not keep lookups waiting


class Request(NamedTuple):
    """What a part is asked: a method, and its arguments."""

    method: str
    arguments: tuple[Any, ...] = ()
    named: Mapping[str, Any] = {}


class PartitionLostError(AbortedError):
    """A part of a table has died, and come back with what was saved last: what was changed since is gone."""

    def __init__(self, message: str, partition: int = -1, step: int | None = None) -> None:
        super().__init__(message)
        self.partition = partition
        self.step = step
        """The step that the part is back at; None if that is not known, or nothing was saved."""

    def __reduce__(self) -> tuple[Any, ...]:
        return PartitionLostError, (str(self), self.partition, self.step)


class PartitionLink(Protocol):
    """The parts of a table, wherever they are."""

    spec: TableSpec

    def ask(self, requests: Mapping[int, Request]) -> dict[int, Any]:
        """What parts, by number, answer; all are asked before any answer is waited for."""
        ...

    def close(self) -> None:
        """Ends the parts that this link has made."""
        ...


class LocalLink:
    """Parts in this process."""

    def __init__(self, spec: TableSpec) -> None:
        self.spec = spec
        self._parts = [Partition(spec, number) for number in range(spec.partitions)]

    def ask(self, requests: Mapping[int, Request]) -> dict[int, Any]:
        return {number: self._parts[number].call(*request) for number, request in requests.items()}

    def close(self) -> None:
        return None


class PartitionActor:
    """A part as an actor: answers, with errors of ours in words, and refuses those who know an earlier life of it."""

    def __init__(self, spec: TableSpec, number: int) -> None:
        self._spec = spec
        self._part = Partition(spec, number)

    def spec(self) -> TableSpec:
        return self._spec

    def status(self) -> PartStatus:
        return self._part.status()

    def call(self, life: str, method: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        status = self._part.status()
        if life != status.life:
            return status
        return Outcome.of(lambda: self._part.call(method, arguments, named))


class RayLink:
    """Parts as actors of the Ray cluster that this process is connected to."""

    def __init__(self, spec: TableSpec, actors: Sequence[Any], *, is_owner: bool) -> None:
        self._ray = ray_module()
        self._errors = self._ray.exceptions
        self.spec = spec
        self._actors = list(actors)
        self._is_owner = is_owner
        self._lives = [self._status(number).life for number in range(spec.partitions)]

    @classmethod
    def made(cls, spec: TableSpec, *, processors: float = 1, memory: int | None = None) -> RayLink:
        """Makes an actor for each part, spread over the machines. They end with the program that made them."""
        ray = ray_module()
        options: dict[str, Any] = {
            "num_cpus": processors,
            "max_restarts": -1,
            "max_task_retries": 0,  # an update that may have been done must not be done twice
            "max_concurrency": _THREADS,
            "scheduling_strategy": "SPREAD",
            "namespace": _NAMESPACE,
        }
        if memory is not None:
            options["memory"] = memory
        kind = ray.remote(PartitionActor)
        try:
            actors = [
                kind.options(name=_name(spec.name, number), **options).remote(spec, number)
                for number in range(spec.partitions)
            ]
        except ValueError as error:
            raise AlreadyExistsError(
                f'a table "{spec.name}" is on the cluster already: attach to it (ShardedEmbeddingTable.attached), or '
                "close it first"
            ) from error
        return cls(spec, actors, is_owner=True)

    @classmethod
    def found(cls, name: str) -> RayLink:
        """The parts of a table that another process has made."""
        ray = ray_module()
        try:
            first = ray.get_actor(_name(name, 0), namespace=_NAMESPACE)
            spec = ray.get(first.spec.remote())
            others = [ray.get_actor(_name(name, number), _NAMESPACE) for number in range(1, spec.partitions)]
        except ValueError as error:
            raise NotFoundError(
                f'no table "{name}" is on the cluster: make it first, or see whether it ended'
            ) from error
        return cls(spec, [first, *others], is_owner=False)

    def ask(self, requests: Mapping[int, Request]) -> dict[int, Any]:
        answers = {
            number: self._actors[number].call.remote(self._lives[number], *request)
            for number, request in requests.items()
        }
        results: dict[int, Any] = {}
        lost: list[PartStatus] = []
        for number, answer in answers.items():
            try:
                found = self._ray.get(answer)
            except self._errors.RayActorError:
                lost.append(self._status(number))
                continue
            if isinstance(found, PartStatus):
                lost.append(found)
            else:
                results[number] = found
        if lost:
            raise self._lost(lost)
        return {number: outcome.value() for number, outcome in results.items()}

    def _lost(self, lost: Sequence[PartStatus]) -> PartitionLostError:
        """The error for parts that have come back; from now on their new lives are known."""
        for status in lost:
            self._lives[status.number] = status.life
        first = lost[0]
        numbers = ", ".join(str(status.number) for status in lost)
        return PartitionLostError(
            f'part {numbers} of "{self.spec.name}" was lost, and is back {first.saved_text}: what was changed there '
            "since is gone, and in the other parts it is not; `rollback()` takes all parts back to what was saved",
            first.number,
            first.step,
        )

    def _status(self, number: int) -> PartStatus:
        """What a part says of itself, once it is there."""
        last: Exception | None = None
        for _ in range(_RETURN_SECONDS):
            try:
                status: PartStatus = self._ray.get(self._actors[number].status.remote(), timeout=_RETURN_SECONDS)
                return status
            except self._errors.ActorUnavailableError as error:
                last = error
                self._ray.wait([self._actors[number].status.remote()], timeout=1)
            except (self._errors.RayActorError, self._errors.GetTimeoutError) as error:
                last = error
                break
        raise UnavailableError(
            f'part {number} of "{self.spec.name}" is gone, and does not come back ({type(last).__name__}): see whether '
            "the cluster has room for it, and make the table anew from what was saved"
        ) from last

    def close(self) -> None:
        if self._is_owner:
            for actor in self._actors:
                self._ray.kill(actor)
            self._actors = []

    def kill(self, number: int) -> None:
        """Ends the process of a part, as a fault would, and waits until the part is back: to see what happens then."""
        life = self._status(number).life
        self._ray.kill(self._actors[number], no_restart=False)
        while self._status(number).life == life:  # it ends a moment later
            continue


def _name(table: str, number: int) -> str:
    return f"table {table} {number}"
