"""Variables on parameter servers, everything else on workers: the devices of graphs that were made to be distributed.

A session runs in one process, so such a graph runs with `allow_soft_placement`; its files are those of the original.

Which operation goes where: `_ReplicaDeviceChooser` in TensorFlow's python/training/device_setter.py.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import md5
from typing import Any, Final, TypeAlias

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.devices import DeviceSpec
from tensorkeep.graph.graph import Operation
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.proto.session_config import ClusterDef, JobDef

STANDARD_PS_OPS: Final = (
    "Variable",
    "VariableV2",
    "AutoReloadVariable",
    "MutableHashTable",
    "MutableHashTableV2",
    "MutableHashTableOfTensors",
    "MutableHashTableOfTensorsV2",
    "MutableDenseHashTable",
    "MutableDenseHashTableV2",
    "VarHandleOp",
    "BoostedTreesEnsembleResourceHandleOp",
    "BoostedTreesQuantileStreamResourceHandleOp",
    "ResourceConditionalAccumulator",
    "DecisionTreeResource",
)


Cluster: TypeAlias = "ClusterSpec | ClusterDef | Mapping[str, Sequence[str] | Mapping[int, str]]"
"""Of each job the addresses of its tasks, in order or by number."""


class ClusterSpec:
    """The machines of a cluster: jobs by name, each with the addresses of its tasks."""

    def __init__(self, cluster: Cluster) -> None:
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_dict()
        if isinstance(cluster, ClusterDef):
            cluster = {job.name: dict(job.tasks) for job in cluster.job}
        if not isinstance(cluster, Mapping):
            raise WrongTypeError(
                "`cluster` must be a dictionary mapping one or more job names to lists of network addresses, or a "
                f"`ClusterDef` protocol buffer. Received: {cluster!r}."
            )
        self._tasks = {name: _tasks_by_number(name, tasks) for name, tasks in cluster.items()}

    @property
    def jobs(self) -> list[str]:
        return list(self._tasks)

    def as_dict(self) -> dict[str, Any]:
        """Jobs with lists of addresses; with dictionaries where tasks are not numbered from 0 without a gap."""
        found: dict[str, Any] = {}
        for name, tasks in self._tasks.items():
            is_list = sorted(tasks) == list(range(len(tasks)))
            found[name] = [tasks[number] for number in sorted(tasks)] if is_list else dict(tasks)
        return found

    def as_cluster_def(self) -> ClusterDef:
        """The cluster as a message."""
        jobs = [JobDef(name=name, tasks=tasks) for name, tasks in sorted(self._tasks.items())]
        return ClusterDef(job=jobs)

    def num_tasks(self, job_name: str) -> int:
        return len(self._job(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        return sorted(self._job(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        tasks = self._job(job_name)
        if task_index not in tasks:
            raise InvalidArgumentError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job's tasks by number; None where there is no such task."""
        tasks = self._job(job_name)
        return [tasks.get(number) for number in range(max(tasks, default=-1) + 1)]

    def _job(self, name: str) -> dict[int, str]:
        if name not in self._tasks:
            raise InvalidArgumentError(f"No such job in cluster: {name!r}")
        return self._tasks[name]

    def __bool__(self) -> bool:
        return bool(self._tasks)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ClusterSpec) and self._tasks == other._tasks

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        jobs = ", ".join(f"{name!r}: {tasks!r}" for name, tasks in sorted(self.as_dict().items()))
        return f"ClusterSpec({{{jobs}}})"


def _tasks_by_number(name: str, tasks: Sequence[str] | Mapping[int, str]) -> dict[int, str]:
    if isinstance(tasks, Mapping):
        return {int(number): str(address) for number, address in sorted(tasks.items())}
    if isinstance(tasks, list | tuple):
        return {number: str(address) for number, address in enumerate(tasks)}
    raise WrongTypeError(
        f"The tasks for job {name!r} must be a list or a dictionary from integers to strings. Received: {tasks!r}."
    )


class RoundRobin:
    """Gives the parameter servers variables in turn."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._next = 0

    def __call__(self, op: Operation) -> int:
        number = self._next
        self._next = (number + 1) % self._count
        return number


class RandomStrategy:
    """Gives a variable the parameter server that its name and a seed lead to, in each process the same."""

    def __init__(self, num_ps_tasks: int, seed: int = 0) -> None:
        self._count = num_ps_tasks
        self._seed = seed

    def __call__(self, op: Operation) -> int:
        digest = md5(f"{op.name}_{self._seed}".encode(), usedforsecurity=False).digest()
        return int.from_bytes(digest, "big") % self._count


class GreedyLoadBalancingStrategy:
    """Gives each variable to the parameter server that has the least until then, by what `load_fn` says of each."""

    def __init__(self, num_tasks: int, load_fn: Callable[[Operation], float]) -> None:
        self._load_of = load_fn
        self._loads = [0.0] * num_tasks

    def __call__(self, op: Operation) -> int:
        number = self._loads.index(min(self._loads))
        self._loads[number] += self._load_of(op)
        return number


def byte_size_load_fn(op: Operation) -> int:
    """How many bytes a variable has, for `GreedyLoadBalancingStrategy`."""
    if len(op.outputs) != 1:
        raise InvalidArgumentError(f"Op {op.name!r} must have a single output to be weighed, got {len(op.outputs)}")
    shape = op.outputs[0].static_shape
    if not shape.is_fully_known:  # a variable that is being made has its shape as an attribute first
        shape = plain_shape(op.get_attr("shape"))
    if not shape.is_fully_known:
        raise InvalidArgumentError(f"Op {op.name!r} must have a known shape to be weighed, got {shape}")
    return math.prod(shape.as_tuple()) * op.outputs[0].dtype.size


def replica_device_setter(
    ps_tasks: int = 0,
    ps_device: str = "/job:ps",
    worker_device: str = "/job:worker",
    merge_devices: bool = True,
    cluster: Cluster | None = None,
    ps_ops: Sequence[str] | None = None,
    ps_strategy: Callable[[Operation], int] | None = None,
) -> Callable[[Operation], str] | None:
    """A function for `tf.device` that puts variables on parameter servers in turn; None if there are none."""
    if cluster is not None:
        jobs = (cluster if isinstance(cluster, ClusterSpec) else ClusterSpec(cluster)).as_dict()
        job = DeviceSpec.from_string(ps_device).job
        if not jobs.get(job or "ps"):
            return None
        ps_tasks = len(jobs[job or "ps"])
    if ps_tasks == 0:
        return None
    if ps_strategy is not None and not callable(ps_strategy):
        raise WrongTypeError("ps_strategy must be callable")
    return _Chooser(ps_tasks, ps_device, worker_device, ps_ops or STANDARD_PS_OPS, ps_strategy or RoundRobin(ps_tasks))


class _Chooser:
    """The device of an operation, by its type."""

    def __init__(
        self,
        ps_tasks: int,
        ps_device: str,
        worker_device: str,
        ps_ops: Iterable[str],
        strategy: Callable[[Operation], int],
    ) -> None:
        self._ps_tasks = ps_tasks
        self._ps = DeviceSpec.from_string(ps_device or "")
        self._worker = DeviceSpec.from_string(worker_device or "")
        self._ps_ops = frozenset(ps_ops)
        self._strategy = strategy

    def __call__(self, op: Operation) -> str:
        current = DeviceSpec.from_string(op.device or "")
        if self._ps_tasks and self._ps != DeviceSpec() and op.type in self._ps_ops:
            server = self._ps
            if current.job is None or current.job == server.job:
                server = server.replace(task=self._strategy(op))
            return server.overridden_by(current).to_string()
        return self._worker.overridden_by(current).to_string()
