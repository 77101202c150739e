"""Barriers as nodes, and threads that wait at them."""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.data.barriers import Barrier


@pytest.fixture
def graph() -> Any:
    made = Graph()
    with building(made):
        yield made


def test_an_element_is_taken_when_its_components_are_there(graph: Graph) -> None:
    barrier = Barrier(("float32", "string"), shapes=((), ()))
    session = Session(graph)
    session.run(barrier.insert_many(0, ["a", "b"], np.array([1.0, 2.0], np.float32)))
    session.run(barrier.insert_many(1, ["b"], ["two"]))
    assert (session.run(barrier.ready_size()), session.run(barrier.incomplete_size())) == (1, 1)
    indices, keys, (numbers, texts) = session.run(barrier.take_many(1))
    assert (indices.tolist(), keys.tolist(), numbers.tolist(), texts.tolist()) == ([-(2**63)], [b"b"], [2.0], [b"two"])
    session.run(barrier.close(cancel_pending_enqueues=True))
    with pytest.raises(OutOfRangeError, match="closed and has insufficient elements"):
        session.run(barrier.take_many(1))


def test_who_takes_waits_for_what_another_thread_brings(graph: Graph) -> None:
    barrier = Barrier(("int32", "int32"), shapes=((), ()))
    taken = barrier.take_many(2)
    inserts = [barrier.insert_many(i, ["a", "b"], np.array([i, i], np.int32)) for i in range(2)]
    session = Session(graph)
    found: list[Any] = []
    thread = Thread(target=lambda: found.append(session.run(taken.values)))
    thread.start()
    for insert in inserts:
        session.run(insert)
    thread.join(20)
    assert [values.tolist() for values in found[0]] == [[0, 0], [1, 1]]


@pytest.mark.parametrize(("end", "error"), [("close", OutOfRangeError), ("session", CancelledError)])
def test_nobody_waits_for_ever(graph: Graph, end: str, error: type[Exception]) -> None:
    barrier = Barrier(("int32", "int32"), shapes=((), ()))
    begun, taken, close = barrier.insert_many(0, ["a"], np.int32([1])), barrier.take_many(1), barrier.close(True)
    session = Session(graph)
    session.run(begun)
    failures: list[BaseException] = []

    def take() -> None:
        try:
            session.run(taken)
        except BaseException as failure:
            failures.append(failure)

    thread = Thread(target=take)
    thread.start()
    while not thread.is_alive():
        pass
    if end == "close":
        session.run(close)
    else:
        session.close()
    thread.join(20)
    assert [type(failure) for failure in failures] == [error]


def test_what_does_not_fit_is_refused(graph: Graph) -> None:
    barrier = Barrier(("int32",), shapes=((2,),))
    session = Session(graph)
    for keys, values, said in [
        (["a"], np.ones((1, 3), np.int32), r"component 0 has shape \(2\), got \(3\)|component 0 has shape .*2.*3"),
        (["a", "b"], np.ones((1, 2), np.int32), "2 keys need as many rows"),
        (["a"], np.ones((1, 2), np.float32), "component 0 is int32, got float32"),
    ]:
        with pytest.raises(InvalidArgumentError, match=said):
            session.run(barrier.insert_many(0, keys, values))
    with pytest.raises(InvalidArgumentError, match="fully defined"):
        Barrier(("int32",), shapes=((None,),))
    with pytest.raises(InvalidArgumentError, match="Empty tensors"):
        Barrier(("int32",), shapes=((0,),))
