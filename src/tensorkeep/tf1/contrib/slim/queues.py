"""Queues that are filled ahead, and threads around a session."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import FailedPreconditionError
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Tensor
from tensorkeep.tf1.functions.data.queues import FIFOQueue, PaddingFIFOQueue, QueueBase
from tensorkeep.tf1.functions.data.summaries import scalar
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.training.inputs.queue_runner import QueueRunner, add_queue_runner
from tensorkeep.tf1.training.loops.coordinator import Coordinator
from tensorkeep.tf1.training.loops.roles import TrainingSession

_one_at_a_time = threading.Lock()


class NestedQueueRunnerError(FailedPreconditionError):
    """Raised where threads of queues are to be started while others of the same kind run."""


@contextmanager
def QueueRunners(session: TrainingSession) -> Iterator[None]:  # noqa: N802 - TensorFlow's name
    """Runs the threads of all queues of the graph while it is open."""
    if not _one_at_a_time.acquire(blocking=False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    try:
        coord = Coordinator()
        threads: list[Any] = []
        for runner in get_collection(session.graph, GraphKeys.QUEUE_RUNNERS):
            threads += runner.create_threads(session, coord=coord, daemon=True, start=True)
        try:
            yield
        finally:
            coord.request_stop()
            coord.join(threads, stop_grace_period_secs=120)
    finally:
        _one_at_a_time.release()


def prefetch_queue(
    tensors: Sequence[Tensor] | Mapping[str, Tensor],
    capacity: int = 8,
    num_threads: int = 1,
    dynamic_pad: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> QueueBase:
    """A queue of such tensors, which threads fill while a session runs."""
    names = sorted(tensors) if isinstance(tensors, Mapping) else None
    parts: list[Any] = [tensors[key] for key in sorted(tensors)] if isinstance(tensors, Mapping) else list(tensors)
    with name_scope(name or "prefetch_queue"):
        kind: Any = PaddingFIFOQueue if dynamic_pad else FIFOQueue
        queue: QueueBase = kind(
            capacity=capacity,
            dtypes=[part.dtype for part in parts],
            shapes=[part.get_shape() for part in parts],
            names=names,
            shared_name=shared_name,
        )
        filled = queue.enqueue(tensors)
        add_queue_runner(QueueRunner(queue, [filled] * num_threads))
        scalar(f"fraction_of_{capacity}_full", cast(queue.size(), FLOAT32) * (1.0 / capacity))
        return queue
