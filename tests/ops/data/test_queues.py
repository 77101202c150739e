"""Queues as nodes, of both generations, and threads that wait at them."""

from __future__ import annotations

from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import CancelledError, FailedPreconditionError, InvalidArgumentError, OutOfRangeError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.data.queues import FIFOQueue
from tests.ops.walking import import_all_ops

import_all_ops()

KINDS: dict[str, dict[str, Any]] = {
    "FIFOQueue": {},
    "PaddingFIFOQueue": {},
    "PriorityQueue": {},
    "RandomShuffleQueue": {"seed": 1, "seed2": 2},
}


@pytest.fixture
def graph() -> Any:
    made = Graph()
    with building(made):
        yield made


@pytest.mark.parametrize("version", ["", "V2"])
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_put_in_comes_out(graph: Graph, kind: str, version: str) -> None:
    def op(name: str, *inputs: Any, **attrs: Any) -> Any:
        return get_op(f"Queue{name}{version}")(handle, *inputs, **attrs)

    handle = get_op(f"{kind}{version}")(component_types=["float32"], shapes=[[]], **KINDS[kind])
    first = [np.array([1, 2, 3], np.int64)] if kind == "PriorityQueue" else []
    types = ["int64", "float32"] if first else ["float32"]
    session = Session(graph)
    session.run(op("EnqueueMany", [*first, np.array([1.0, 2.0, 3.0], np.float32)]))
    session.run(op("Enqueue", [*(np.int64(4) for _ in first), np.float32(4.0)]))
    assert session.run(op("Size")) == 4
    found = [session.run(op("Dequeue", component_types=types))[-1]]
    found.extend(session.run(op("DequeueMany", 2, component_types=types))[-1])
    assert not session.run(op("IsClosed"))
    session.run(op("Close"))
    assert session.run(op("IsClosed"))
    found.extend(session.run(op("DequeueUpTo", 9, component_types=types))[-1])
    assert (sorted(found) if "seed" in KINDS[kind] else found) == [1.0, 2.0, 3.0, 4.0]


def test_a_queue_is_shared_by_name(graph: Graph) -> None:
    one, other = (FIFOQueue(3, "int32", shared_name="shared") for _ in range(2))
    session = Session(graph)
    session.run(one.enqueue(5))
    assert session.run(other.dequeue()) == 5


def test_who_finds_a_queue_empty_waits_for_another_thread(graph: Graph) -> None:
    queue = FIFOQueue(1, "int32", shapes=[[]])
    fill, taken = queue.enqueue_many([[1, 2, 3]]), queue.dequeue_many(3)
    session = Session(graph)
    thread = Thread(target=session.run, args=(fill,), daemon=True)
    thread.start()
    assert session.run(taken).tolist() == [1, 2, 3]
    thread.join(60)
    assert not thread.is_alive()


def test_who_comes_first_is_served_in_full(graph: Graph) -> None:
    queue = FIFOQueue(10, "int32", shapes=[[]])
    x = get_op("Placeholder")(dtype="int32", shape=[])
    put, taken = queue.enqueue(x), queue.dequeue_many(3)
    session = Session(graph)
    served: list[Any] = []
    is_served = Event()

    def waiting() -> None:
        try:
            served.append(session.run(taken).tolist())
            is_served.set()
        except (CancelledError, FailedPreconditionError):
            pass

    threads = [Thread(target=waiting, daemon=True) for _ in range(2)]
    for thread in threads:
        thread.start()
    for i in range(4):
        session.run(put, {x: i})
    assert is_served.wait(60)
    session.close()
    for thread in threads:
        thread.join(60)
    assert served == [[0, 1, 2]]


def test_closing_wakes_those_who_wait(graph: Graph) -> None:
    queue = FIFOQueue(1, "int32")
    caught: list[Exception] = []
    session = Session(graph)
    session.run(queue.enqueue(0))

    def waiting() -> None:
        try:
            session.run(full)
        except CancelledError as error:
            caught.append(error)

    full, close = queue.enqueue(1), queue.close(cancel_pending_enqueues=True)
    thread = Thread(target=waiting, daemon=True)
    thread.start()
    session.run(close)
    thread.join(60)
    assert caught


def test_closing_the_session_wakes_those_who_wait(graph: Graph) -> None:
    empty, full = FIFOQueue(1, "int32").dequeue(), FIFOQueue(0, "int32").enqueue(1)
    caught: list[Exception] = []
    session = Session(graph)

    def waiting(target: Any) -> None:
        try:
            session.run(target)
        except (CancelledError, FailedPreconditionError) as error:
            caught.append(error)

    threads = [Thread(target=waiting, args=(target,), daemon=True) for target in (empty, full)]
    for thread in threads:
        thread.start()
    session.close()
    for thread in threads:
        thread.join(60)
    assert len(caught) == 2


def test_what_waits_is_not_changed_by_who_fed_it(graph: Graph) -> None:
    queue = FIFOQueue(5, "float32", shapes=[[2]])
    x = get_op("Placeholder")(dtype="float32", shape=[None, 2])
    row = get_op("Placeholder")(dtype="float32", shape=[2])
    many, one, taken = queue.enqueue_many(x), queue.enqueue(row), queue.dequeue_many(2)
    session = Session(graph)
    fed = np.ones((1, 2), np.float32)
    session.run(many, {x: fed})
    session.run(one, {row: fed[0]})
    fed[:] = 9
    assert session.run(taken).tolist() == [[1, 1], [1, 1]]


def test_what_a_failed_dequeue_took_is_put_back(graph: Graph) -> None:
    queue = FIFOQueue(5, "int32", shapes=[[]])
    session = Session(graph)
    session.run(queue.enqueue_many([[1, 2]]))
    session.run(queue.close())
    with pytest.raises(OutOfRangeError, match="insufficient"):
        session.run(queue.dequeue_many(3))
    assert session.run(queue.dequeue_up_to(3)).tolist() == [1, 2]


def test_what_does_not_fit_is_refused(graph: Graph) -> None:
    queue = FIFOQueue(5, ["int32", "float32"], shapes=[[], [2]])
    with pytest.raises(InvalidArgumentError, match="incompatible"):
        queue.enqueue([1, [1.0]])
    with pytest.raises(InvalidArgumentError):
        queue.enqueue([1])
    with pytest.raises(InvalidArgumentError, match="names"):
        queue.enqueue({"a": 1})
    with pytest.raises(InvalidArgumentError, match="fully defined"):
        FIFOQueue(5, "int32", shapes=[[None]])
    wrong = get_op("QueueEnqueueV2")(queue.queue_ref, [np.int32(1), np.float32(1)])
    with pytest.raises(InvalidArgumentError, match="Shape mismatch"):
        Session(graph).run(wrong)
    ragged = get_op("QueueEnqueueManyV2")(queue.queue_ref, [np.zeros(2, np.int32), np.zeros((3, 2), np.float32)])
    with pytest.raises(InvalidArgumentError, match="0th dimension"):
        Session(graph).run(ragged)
    fewer = get_op("QueueDequeueManyV2")(queue.queue_ref, -1, component_types=queue.dtypes)
    with pytest.raises(InvalidArgumentError, match="< 0"):
        Session(graph).run(fewer)
