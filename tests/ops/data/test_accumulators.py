"""Accumulators as nodes, and threads that wait at them."""

from __future__ import annotations

from threading import Thread
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import CancelledError, InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.graph import Graph
from tensorkeep.ops.data import accumulators as ops
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.data.accumulators import ConditionalAccumulator, SparseConditionalAccumulator


@pytest.fixture
def graph() -> Any:
    made = Graph()
    with building(made):
        yield made


@pytest.mark.parametrize("prefix", ["", "resource_"])
def test_gradients_are_added_up_and_taken(graph: Graph, prefix: str) -> None:
    made = {
        name: getattr(ops, f"{prefix}{name}")
        for name in (
            *("conditional_accumulator", "accumulator_apply_gradient", "accumulator_num_accumulated"),
            *("accumulator_take_gradient", "accumulator_set_global_step"),
        )
    }
    handle = made["conditional_accumulator"](dtype="float32", shape=[2])
    step, gradient = constant(0, "int64"), constant([1.0, 3.0])
    session = Session(graph)
    for _ in range(2):
        session.run(made["accumulator_apply_gradient"](handle, step, gradient))
    assert session.run(made["accumulator_num_accumulated"](handle)) == 2
    taken = made["accumulator_take_gradient"](handle, 2, dtype="float32")
    assert session.run(taken).tolist() == [1.0, 3.0]
    session.run(made["accumulator_set_global_step"](handle, constant(4, "int64")))
    session.run(made["accumulator_apply_gradient"](handle, step, gradient))
    assert session.run(made["accumulator_num_accumulated"](handle)) == 0


def test_rows_are_added_up_by_index(graph: Graph) -> None:
    accumulator = SparseConditionalAccumulator("float32", shape=(None, 1))
    session = Session(graph)
    session.run(accumulator.apply_grad([1, 4], [[1.0], [2.0]]))
    slices = IndexedSlices(constant([[4.0]]), constant([4], "int64"), constant([5, 1], "int64"))
    session.run(accumulator.apply_indexed_slices_grad(slices))
    taken = accumulator.take_indexed_slices_grad(2)
    indices, values, shape = session.run([taken.indices, taken.values, taken.dense_shape])
    assert (indices.tolist(), values.tolist(), shape.tolist()) == ([1, 4], [[1.0], [3.0]], [-1, 1])


def test_who_takes_waits_for_what_another_thread_brings(graph: Graph) -> None:
    accumulator = ConditionalAccumulator("float32", shape=())
    taken, brought = accumulator.take_grad(2), accumulator.apply_grad(3.0)
    session = Session(graph)
    found: list[Any] = []
    thread = Thread(target=lambda: found.append(session.run(taken)))
    thread.start()
    for _ in range(2):
        session.run(brought)
    thread.join(20)
    assert found == [3.0]


def test_who_waits_fails_when_the_session_is_closed(graph: Graph) -> None:
    accumulator = ConditionalAccumulator("float32", shape=())
    taken, count = accumulator.take_grad(1), accumulator.num_accumulated()
    session = Session(graph)
    session.run(count)
    failures: list[BaseException] = []

    def take() -> None:
        try:
            session.run(taken)
        except BaseException as failure:
            failures.append(failure)

    thread = Thread(target=take)
    thread.start()
    session.close()
    thread.join(20)
    assert not thread.is_alive()
    assert all(isinstance(failure, CancelledError | RuntimeError) for failure in failures)
    assert len(failures) == 1


def test_gradients_of_another_kind_are_refused(graph: Graph) -> None:
    first = ConditionalAccumulator("float32", shape=(2,), shared_name="one")
    other = ConditionalAccumulator("float32", shape=(3,), shared_name="one")
    session = Session(graph)
    session.run(first.num_accumulated())
    with pytest.raises(InvalidArgumentError, match="give it a shared_name of its own"):
        session.run(other.num_accumulated())
    with pytest.raises(InvalidArgumentError, match="incompatible"):
        first.apply_grad(np.zeros(3, np.float32))
    with pytest.raises(InvalidArgumentError, match="float16, float32 or float64, got int32"):
        session.run(ConditionalAccumulator("int32", shape=()).num_accumulated())
    with pytest.raises(InvalidArgumentError, match="num_required must be positive, got 0"):
        session.run(first.take_grad(0))
