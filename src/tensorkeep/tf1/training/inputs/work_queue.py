"""Work queues, DeepRec's: names of files, of several epochs, that workers take one after the other.

    works = WorkQueue(["a.csv", "b.csv"], num_epochs=2)
    dataset = tf.data.TextLineDataset(works.input_dataset())

What is left in a queue is in checkpoints: <name>_works, with <name>_digest, the names that it was made of. A program
that is restored goes on with what nobody had taken; if it is given other files than it had, the queue is filled anew,
which is told. A work that was taken and not finished is not repeated, as in DeepRec.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorkeep.dtypes import STRING
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.arguments import emit, emit_operation
from tensorkeep.graph.building import control_dependencies, current_graph, name_scope, unique_name
from tensorkeep.graph.collections import GraphKeys, add_to_collection
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.saveable import SaveableObject, SaveSpec
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.functions.arrays.shapes import reshape
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.control_flow import cond
from tensorkeep.tf1.functions.control.logging import print_v2
from tensorkeep.tf1.functions.data.queues import FIFOQueue
from tensorkeep.tf1.functions.data.summaries import scalar
from tensorkeep.tf1.functions.numbers.elementwise import cast, equal
from tensorkeep.tf1.functions.parsing.strings import string_join
from tensorkeep.tf1.functions.random.numbers import random_shuffle
from tensorkeep.tf1.training.inputs.queue_runner import QueueRunner, add_queue_runner


class WorkQueue(SaveableObject):
    """A queue of works, which are names of files. Everyone who takes one takes another."""

    class Resource:
        """What initializes the queue with the variables of the graph, and says whether that was done."""

        def __init__(self, name: str, handle: Tensor, create: Operation, is_initialized: Tensor) -> None:
            self.name = name
            self.handle = handle
            self.create = create
            self.is_initialized = is_initialized

    def __init__(
        self,
        works: Sequence[str | bytes],
        num_epochs: int = 1,
        shuffle: bool = True,
        seed: int | None = None,
        prefix: str | None = None,
        num_slices: int | None = None,
        num_clients: int = 1,
        name: str | None = None,
        local_work_mgr: object = None,
    ) -> None:
        """A queue of `num_epochs` times these works, each time in another order if they are to be shuffled.

        `prefix` goes before each work that is taken. `num_slices` cuts tables of MaxCompute, and files stay whole, as
        in DeepRec. `num_clients` is how many wait at the queue, which needs no number here.
        """
        if not isinstance(works, list) or not works or not all(isinstance(work, str | bytes) for work in works):
            raise InvalidArgumentError(f"WorkQueue requires works as a list of strings, got {works!r}")
        if num_epochs <= 0:
            raise InvalidArgumentError(f"num_epochs must be > 0 not {num_epochs}.")
        if local_work_mgr is not None:
            raise UnimplementedError(
                "WorkQueue(local_work_mgr=...) keeps slices of tables that workers of a cluster have taken in files, "
                "and there is one process here: leave it out, for what is left in the queue is in checkpoints"
            )
        self._works = [(work.encode() if isinstance(work, str) else work).strip() for work in works]
        self._num_epochs, self._shuffle, self._seed = num_epochs, shuffle, seed
        self._prefix = prefix
        self._num_clients = num_clients
        own = unique_name(name or "work_queue")
        with name_scope(f"{own}/"):
            self._handle = emit("WorkQueueHandleOp", shared_name=own)
            specs = [
                SaveSpec(constant(self.digest, STRING, name="digest"), "", f"{own}_digest"),
                SaveSpec(emit("WorkQueueSave", self._handle), "", f"{own}_works"),
            ]
            made = WorkQueue.Resource(
                own, self._handle, self._filled(own), emit("WorkQueueIsInitialized", self._handle)
            )
        super().__init__(self, specs, own)
        graph = current_graph()
        add_to_collection(graph, GraphKeys.SAVEABLE_OBJECTS, self)
        add_to_collection(graph, GraphKeys.RESOURCES, made)

    def _filled(self, name: str) -> Operation:
        """An operation that makes the queue, with all works in it."""
        done = emit_operation("WorkQueueCreate", self._handle, shared_name=name)
        works = constant(self._works, STRING)
        for _ in range(self._num_epochs):
            with control_dependencies([done]):
                epoch = random_shuffle(works, seed=self._seed) if self._shuffle else works
                done = emit_operation("WorkQueuePut", self._handle, epoch)
        with control_dependencies([done]):
            return emit_operation("WorkQueueClose", self._handle)

    def __len__(self) -> int:
        """How many works an epoch has."""
        return len(self._works)

    @property
    def works(self) -> list[bytes]:
        return self._works

    @property
    def num_clients(self) -> int:
        return self._num_clients

    @property
    def digest(self) -> bytes:
        """The works that the queue was made of, in one text: what tells one queue from another."""
        return b",".join(self._works)

    def restore(self, restored_tensors: Sequence[Any], restored_shapes: Sequence[Any] | None) -> Operation:
        """An operation that takes over what was left; of other works than these, one that fills the queue anew."""
        digest, works = restored_tensors

        def filled_anew() -> Tensor:
            text = f"the work queue {self.name} of the checkpoint is of other works: it is filled anew"
            with control_dependencies([print_v2(text), self._filled(self.name)]):
                return constant(False)

        def taken_over() -> Tensor:
            with control_dependencies([emit_operation("WorkQueueRestore", self._handle, works)]):
                return constant(True)

        with name_scope(f"{self.name}_restore"):
            done: Tensor = cond(equal(convert(digest, STRING), self.digest), taken_over, filled_anew)
            return done.op

    def take(self) -> Tensor:
        """The next work. When run, it waits while more are to come."""
        with name_scope(f"{self.name}/"):
            taken = emit("WorkQueueTake", self._handle, num_clients=self._num_clients)
            return taken if self._prefix is None else string_join([self._prefix, taken])

    def input_producer(self) -> FIFOQueue:
        """A queue of works, of shape [1], that a queue runner keeps filled with one."""
        work = self.take()
        with name_scope(f"{self.name}/"):
            proxy = FIFOQueue(1, [STRING], shapes=[[1]], name="proxy")
            enqueue = proxy.enqueue(reshape(work, [1]))
            runner = QueueRunner(proxy, [enqueue], cancel_op=proxy.close(cancel_pending_enqueues=True))
            add_queue_runner(runner)
        return proxy

    def input_dataset(self) -> Dataset:
        """A dataset of works. One is taken when the dataset is asked for it, and not before.

        DeepRec's takes one ahead, through `input_producer`, which is then missing in checkpoints.
        """
        with name_scope(f"{self.name}/"):
            return Dataset.from_tensors(0).repeat().map(lambda _: self.take())

    def add_summary(self) -> None:
        """Adds a summary of how full the queue is."""
        with name_scope(f"{self.name}/"):
            size = emit("WorkQueueSize", self._handle)
        capacity = len(self._works)
        scalar(f"{self.name}/fraction_of_{capacity}_full", cast(size, "float32") * (1.0 / capacity))


__all__ = ["WorkQueue"]
