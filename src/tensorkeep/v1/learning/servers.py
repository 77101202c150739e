"""`tf.train.Server` of one task: this process, under the name that the task has in its cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tensorkeep.runtime.placement import LocalTask
from tensorkeep.tf1.training.loops.device_setter import Cluster, ClusterSpec

if TYPE_CHECKING:
    from tensorkeep.proto.messages import Message
    from tensorkeep.proto.session_config import ConfigProto


class LocalTarget(str):
    """What sessions are told to reach a server by: the address of this process."""

    task: LocalTask

    def __new__(cls, address: str, task: LocalTask) -> LocalTarget:
        """The target of a task, whose devices sessions have then."""
        made = super().__new__(cls, f"grpc://{address}")
        made.task = task
        return made


class Server:
    """A server of a cluster of one task, which is this process. Nothing listens: sessions run here."""

    def __init__(
        self,
        server_or_cluster_def: Cluster | Message,
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: ConfigProto | None = None,
        start: bool = True,
    ) -> None:
        cluster = _cluster(server_or_cluster_def)
        tasks = [(job, number) for job in cluster.jobs for number in cluster.task_indices(job)]
        if len(tasks) > 1:
            raise UnimplementedError(
                f"the cluster has {len(tasks)} tasks, and sessions run in one process here: give it one task, or train "
                "in several processes by tensorkeep.cluster"
            )
        job, number = tasks[0]
        if job_name not in (None, job) or task_index not in (None, number):
            raise InvalidArgumentError(
                f"the cluster has the task {number} of {job!r}, not {task_index} of {job_name!r}"
            )
        self._target = LocalTarget(cluster.task_address(job, number), LocalTask(job, number))

    @staticmethod
    def create_local_server(config: ConfigProto | None = None, start: bool = True) -> Server:
        """A server of a cluster of its own."""
        return Server({"local": ["localhost:0"]}, config=config, start=start)

    @property
    def target(self) -> LocalTarget:
        """What sessions are made with: `tf.Session(server.target)`."""
        return self._target

    def start(self) -> None:
        """Nothing to do: nothing listens."""

    def join(self) -> None:
        """Raises: there is no other task that this one could wait for."""
        raise FailedPreconditionError("this server is the only task of its cluster: there is nobody to wait for")


def _cluster(given: Any) -> ClusterSpec:
    """The cluster of a specification, a dictionary, or a message of a cluster or of a server."""
    message = getattr(given, "cluster", given)
    if not hasattr(message, "job"):
        return ClusterSpec(given)
    return ClusterSpec({job.name: dict(job.tasks) for job in message.job})
