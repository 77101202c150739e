"""Queue runners: threads that fill queues, until the input ends, something fails, or all stop."""

from __future__ import annotations

from typing import Any

import pytest

from tensorkeep.dtypes import INT32
from tensorkeep.errors import InvalidArgumentError, OutOfRangeError, WrongTypeError
from tensorkeep.graph.building import building, name_scope
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.graph import Graph
from tensorkeep.metagraph.collections import proto_functions
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.proto.messages import QueueRunnerDef
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.data.queues import FIFOQueue
from tensorkeep.tf1.training.inputs.queue_runner import QueueRunner, add_queue_runner, start_queue_runners
from tensorkeep.tf1.training.loops.coordinator import Coordinator
from tensorkeep.tf1.variables.assignments import count_up_to
from tensorkeep.tf1.variables.variable import Variable


class Filling:
    """A queue that is filled with 0, 1, … by some threads."""

    def __init__(self, limit: int = 5, threads: int = 1) -> None:
        self.graph = Graph()
        with building(self.graph), name_scope("input"):
            source = Variable(0, name="source")
            self.queue = FIFOQueue(2, [INT32], shapes=[[]])
            self.runner = QueueRunner(self.queue, [self.queue.enqueue([count_up_to(source, limit)])] * threads)
            self.item = self.queue.dequeue()
        self.session = Session(self.graph)
        self.session.run(source.initializer)

    def rest(self) -> list[int]:
        found = []
        while True:
            try:
                found.append(int(self.session.run(self.item)))
            except OutOfRangeError:
                return found


@pytest.mark.parametrize("threads", [1, 3])
def test_the_queue_is_closed_when_all_threads_are_through(threads: int) -> None:
    filling = Filling(threads=threads)
    made = filling.runner.create_threads(filling.session, start=True, daemon=True)
    assert len(made) == threads
    assert sorted(filling.rest()) == [0, 1, 2, 3, 4]
    for thread in made:
        thread.join()
    assert filling.runner.exceptions_raised == []


def test_threads_that_wait_for_room_are_released_by_a_stop() -> None:
    filling, coordinator = Filling(1000), Coordinator()
    made = filling.runner.create_threads(filling.session, coordinator, start=True)
    assert [thread.name for thread in made] == [
        "QueueRunnerThread-input/fifo_queue-input/fifo_queue_enqueue",
        "QueueRunnerThread-input/fifo_queue-close_on_stop",
    ]
    assert filling.session.run(filling.item) == 0
    coordinator.request_stop()
    coordinator.join(made, stop_grace_period_secs=60)


def test_threads_are_made_once_per_session() -> None:
    filling = Filling()
    first = filling.runner.create_threads(filling.session)
    assert len(first) == 1
    assert filling.runner.create_threads(filling.session) == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_an_error_without_a_coordinator_is_kept() -> None:
    graph = Graph()
    with building(graph):
        queue = FIFOQueue(2, [INT32], shapes=[[]])
        runner = QueueRunner(queue, [queue.enqueue([placeholder(dtype=INT32, shape=[], name="never_fed")])])
    (thread,) = runner.create_threads(Session(graph), start=True)
    thread.join()
    assert "never_fed" in str(runner.exceptions_raised[0])


def test_an_error_stops_all_who_are_coordinated() -> None:
    graph = Graph()
    with building(graph):
        queue = FIFOQueue(2, [INT32], shapes=[[]])
        missing = placeholder(dtype=INT32, shape=[], name="never_fed")
        add_queue_runner(QueueRunner(queue, [queue.enqueue([missing])]))
        coordinator = Coordinator()
        threads = start_queue_runners(Session(graph), coordinator)
    with pytest.raises(InvalidArgumentError, match="never_fed"):
        coordinator.join(threads)


def test_a_runner_is_a_message_and_comes_back() -> None:
    filling = Filling()
    proto = filling.runner.to_proto()
    assert proto == QueueRunnerDef(
        queue_name="input/fifo_queue",
        enqueue_op_name=["input/fifo_queue_enqueue"],
        close_op_name="input/fifo_queue_Close",
        cancel_op_name="input/fifo_queue_Close_1",
        queue_closed_exception_types=[11],  # type: ignore[list-item]
    )
    with building(filling.graph):
        again = QueueRunner.from_proto(proto)
    assert again.to_proto() == proto
    assert again.queue_closed_exception_types == (OutOfRangeError,)
    again.create_threads(filling.session, start=True, daemon=True)
    assert filling.rest() == [0, 1, 2, 3, 4]


def test_names_in_a_message_are_below_the_scope_that_is_exported() -> None:
    filling = Filling()
    proto = filling.runner.to_proto(export_scope="input")
    assert proto is not None
    assert proto.queue_name == "fifo_queue"
    assert filling.runner.to_proto(export_scope="other") is None
    with building(filling.graph):
        assert QueueRunner.from_proto(proto, import_scope="input").name == "input/fifo_queue"


def test_meta_graphs_know_of_queue_runners() -> None:
    assert proto_functions(GraphKeys.QUEUE_RUNNERS).proto_type is QueueRunnerDef


@pytest.mark.parametrize("types", [[OutOfRangeError], (), (ValueError,)])
def test_only_errors_of_runs_may_close_a_queue(types: Any) -> None:
    filling = Filling()
    with building(filling.graph), pytest.raises(WrongTypeError, match="must be a tuple of tf"):
        QueueRunner(filling.queue, [filling.item], queue_closed_exception_types=types)


def test_a_message_with_an_error_that_nobody_knows_is_refused() -> None:
    filling = Filling()
    proto = filling.runner.to_proto()
    assert proto is not None
    proto.queue_closed_exception_types[:] = [19]  # type: ignore[list-item]
    with building(filling.graph), pytest.raises(InvalidArgumentError, match="no error has the codes"):
        QueueRunner.from_proto(proto)
