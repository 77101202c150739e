"""Runs that would take for ever, or all memory, end at their limits with an error that says which and what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.errors import DeadlineExceededError, InvalidArgumentError, ResourceExhaustedError
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.io.machine.resources import available_memory
from tensorkeep.proto.messages import GraphDef
from tensorkeep.runtime.limits import Limits, Meter, check_allocation, count_step, within_limits
from tensorkeep.runtime.session import Session
from tests.support.hostile_graphs import doubling_functions

pytestmark = pytest.mark.slow  # all of them together

Build = Callable[[], Any]


def run(build: Build, limits: Limits, feeds: dict[str, Any] | None = None) -> Any:
    with tf.Graph().as_default() as graph:
        fetched = build()
    with Session(getattr(graph, "core", graph), limits=limits) as session:
        return session.run(fetched, feeds)


def loop_without_end() -> Any:
    return tf.while_loop(lambda i: tf.constant(True), lambda i: i + 1, [tf.constant(0)])


def mapped() -> Any:
    return tf.map_fn(lambda x: x * 2, tf.range(10**5))


@pytest.mark.parametrize("build", [loop_without_end, mapped])
def test_loops_end_at_the_limit_of_steps(build: Build) -> None:
    with pytest.raises(ResourceExhaustedError, match=r"more than 1000 steps.*limits=tk\.Limits\(steps="):
        run(build, Limits(steps=1000))


def test_a_loop_ends_at_the_limit_of_time() -> None:
    with pytest.raises(DeadlineExceededError, match=r"longer than 0\.05 seconds.*--max-seconds"):
        run(loop_without_end, Limits(seconds=0.05))


def test_a_loop_that_grows_ends_at_the_limit_of_memory() -> None:
    def build() -> Any:
        return tf.while_loop(
            lambda x: tf.constant(True), lambda x: tf.concat([x, x], 0), [tf.ones([1024])],
            shape_invariants=[tf.TensorShape([None])],
        )  # fmt: skip

    with pytest.raises(ResourceExhaustedError, match="limit"):
        run(build, Limits(bytes=64 << 20, seconds=60))


@pytest.mark.parametrize(
    "build",
    [
        lambda: tf.fill([1 << 20], 1.0),
        lambda: tf.range(1 << 20),
        lambda: tf.tile(tf.placeholder_with_default([1.0], [None]), [1 << 20]),
        lambda: tf.pad(tf.placeholder_with_default([1.0], [None]), [[0, 1 << 20]]),
        lambda: tf.random_uniform([1 << 20]),
        lambda: tf.broadcast_to(tf.placeholder_with_default([1.0], [None]), [1 << 20]) + 1,
        lambda: tf.one_hot(tf.placeholder_with_default([1], [None]), 1 << 20),
        lambda: tf.zeros(tf.placeholder_with_default([1 << 20], [None])),
    ],
    ids=["fill", "range", "tile", "pad", "random", "broadcast", "one_hot", "zeros"],
)
def test_what_is_as_large_as_a_model_says_is_refused_before_it_is_made(build: Build) -> None:
    with pytest.raises(ResourceExhaustedError, match=r"the limit of the run is 1048576"):
        run(build, Limits(bytes=1 << 20))
    assert run(build, Limits(bytes=1 << 28)).size >= 1 << 20


def test_functions_that_call_each_other_twice_end_at_the_limit_of_steps() -> None:
    graph = tk_graph(doubling_functions(40))
    session = Session(graph, limits=Limits(steps=5000))
    with session, pytest.raises(ResourceExhaustedError, match="5000 steps"):
        session.run("y:0", {"x:0": 1.0})


def tk_graph(graph_def: GraphDef) -> Any:
    graph = Graph()
    import_graph(graph_def, graph, name="")
    return graph


def test_a_run_within_its_limits_gives_what_it_gives() -> None:
    def build() -> Any:
        return tf.while_loop(lambda i: tf.less(i, 100), lambda i: i + 1, [tf.constant(0)])

    assert run(build, Limits(seconds=60, bytes=1 << 30, steps=1000)) == 100
    assert run(build, Limits()) == 100


def test_every_run_has_the_whole_budget() -> None:
    with tf.Graph().as_default() as graph:
        fetched = tf.while_loop(lambda i: tf.less(i, 80), lambda i: i + 1, [tf.constant(0)])
    with Session(getattr(graph, "core", graph), limits=Limits(steps=100)) as session:
        assert [session.run(fetched) for _ in range(3)] == [80, 80, 80]


def test_a_queue_that_stays_empty_is_not_waited_for_beyond_the_limit() -> None:
    def build() -> Any:
        return tf.FIFOQueue(1, [tf.float32]).dequeue()

    with pytest.raises(DeadlineExceededError, match="longer than"):
        run(build, Limits(seconds=0.05))


def test_steps_time_and_memory_are_counted_from_the_start() -> None:
    clock, memory = iter([0.0, 1.0, 2.0, 3.5]), iter([100, 150, 400])
    meter = Meter(Limits(seconds=3, bytes=200), lambda: next(clock), lambda: next(memory))
    meter.step()
    with pytest.raises(ResourceExhaustedError, match="grow by 300 bytes, and its limit is 200"):
        meter.step()
    with pytest.raises(DeadlineExceededError):
        meter.step()


def test_limits_do_not_nest_but_hold_for_all_that_runs_within() -> None:
    with within_limits(Limits(steps=1)):
        count_step()
        with within_limits(Limits(steps=100)), pytest.raises(ResourceExhaustedError):
            count_step()
    count_step()


@pytest.mark.parametrize("values", [{"seconds": 0}, {"bytes": -1}, {"steps": 0}])
def test_a_limit_is_a_positive_number(values: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgumentError, match="positive number or None"):
        tk.Limits(**values)


def test_numbers_are_those_of_numpy_still() -> None:
    assert np.array_equal(run(lambda: tf.range(3), Limits(seconds=1)), [0, 1, 2])


def test_small_arrays_and_empty_ones_may_be_made() -> None:
    check_allocation((), np.float32)
    check_allocation((1000, 1000), np.float64)
    check_allocation((1 << 62, 0), np.float64)


def test_what_exceeds_the_memory_that_is_there_may_not() -> None:
    with pytest.raises(ResourceExhaustedError, match=r"OOM when allocating tensor with shape\[1099511627776, 4\]"):
        check_allocation((1 << 40, 4), np.float32)
    with pytest.raises(ResourceExhaustedError):
        check_allocation((available_memory() // 2,), np.int8, copies=4)


def test_a_negative_size_is_no_size() -> None:
    with pytest.raises(InvalidArgumentError, match="-1"):
        check_allocation((2, -1), np.float32)
