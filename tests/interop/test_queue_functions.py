"""Queues: equal graphs, equal results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.dtypes import FLOAT32, INT32
from tensorkeep.errors import TensorKeepError, WrongTypeError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.control import control_flow
from tensorkeep.tf1.functions.data import queues
from tests.interop.programs import build, our_names, tensorflow_1
from tests.interop.running import assert_all_close

v1 = tf.compat.v1

OURS = our_names(control_flow, queues)


def fifo(tf: Any) -> Any:
    q = tf.FIFOQueue(10, [tf.float32, tf.string], shapes=[[2], []])
    fill = q.enqueue_many([tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), ["a", "b", "c"]])
    more = q.enqueue(([7.0, 8.0], "d"))
    one, two = q.dequeue(), q.dequeue_many(2)
    return [fill, more, one, q.size(), two, q.is_closed(), q.close(), q.is_closed(name="again"), q.dequeue_up_to(5)]


def named(tf: Any) -> Any:
    q = tf.FIFOQueue(3, [tf.int32, tf.int32], names=["x", "y"], shared_name="shared", name="mine")
    return [q.enqueue({"x": 1, "y": 2}), q.dequeue(), q.close(cancel_pending_enqueues=True)]


def padded(tf: Any) -> Any:
    q = tf.PaddingFIFOQueue(9, [tf.int32, tf.string], shapes=[[None, 2], [None]])
    return [
        q.enqueue([[[1, 2]], ["a", "b"]]),
        q.enqueue([[[3, 4], [5, 6]], ["c"]]),
        q.dequeue_many(2),
    ]


def by_priority(tf: Any) -> Any:
    q = tf.PriorityQueue(9, [tf.string], shapes=[[]])
    fill = q.enqueue_many([tf.constant([3, 1, 2, 1], tf.int64), ["three", "one", "two", "uno"]])
    return [fill, q.dequeue(), q.size(), q.close(), q.dequeue_many(3)]


def shuffled(tf: Any) -> Any:
    q = tf.RandomShuffleQueue(20, 2, [tf.int32], shapes=[[]], seed=7)
    fill = q.enqueue_many(tf.constant(list(range(10))))
    return [fill, q.dequeue_many(5), q.dequeue(), q.close(), q.dequeue_up_to(7)]


def chosen_by_number(tf: Any) -> Any:
    """As programs do that train from one queue and test from another one."""
    both = [tf.FIFOQueue(4, [tf.int32, tf.float32], shapes=[[], [size]]) for size in (2, 2)]
    fill = [q.enqueue([number, [number, 0.5]]) for number, q in enumerate(both)]
    first, second = tf.QueueBase.from_list(tf.constant(0), both), tf.QueueBase.from_list(tf.constant(1), both)
    return [*fill, second.size(), second.dequeue_many(1), second.size(), first.size(), first.dequeue()]


def chosen_of_other_sizes(tf: Any) -> Any:
    queues = [tf.FIFOQueue(4, tf.int32, shapes=shape) for shape in ([[2, 3]], [[2, 4]], None)]
    return [tf.QueueBase.from_list(tf.constant(0), queues[:count]).dequeue() for count in (2, 3)]


def taken_from_nothing(tf: Any) -> Any:
    q = tf.FIFOQueue(3, tf.int32)
    return [q.close(), q.dequeue()]


def added_when_closed(tf: Any) -> Any:
    q = tf.FIFOQueue(3, tf.int32)
    return [q.close(), q.enqueue(1)]


def stacked_without_shapes(tf: Any) -> Any:
    q = tf.FIFOQueue(3, tf.int32)
    return [q.enqueue(1), q.dequeue_many(1)]


@pytest.mark.parametrize("program", [fifo, named, padded, by_priority, shuffled, chosen_by_number])
def test_queues_give_out_what_was_put_in(program: Any) -> None:
    both = build(program, OURS)
    ours = Session(both.graph)
    with tensorflow_1(), v1.Session(graph=both.their_graph) as theirs:
        for mine, other in zip(both.result, both.their_result, strict=True):
            found, expected = ours.run(mine), theirs.run(other)
            if expected is not None:
                assert_all_close(_flat(found), _flat(expected))


def _flat(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [value[key] for key in sorted(value)]
    return list(value) if isinstance(value, list | tuple) else [np.asarray(value)]


@pytest.mark.parametrize("program", [taken_from_nothing, added_when_closed, stacked_without_shapes])
def test_both_refuse(program: Any) -> None:
    both = build(program, OURS)
    ours = Session(both.graph)
    ours.run(both.result[0])
    with tensorflow_1(), v1.Session(graph=both.their_graph) as theirs:
        theirs.run(both.their_result[0])
        with pytest.raises(tf.errors.OpError) as expected:
            theirs.run(both.their_result[1])
    with pytest.raises(TensorKeepError) as found:
        ours.run(both.result[1])
    assert type(found.value).__name__ == type(expected.value).__name__


def test_of_queues_that_are_chosen_by_number_the_common_sizes_are_known() -> None:
    found = build(chosen_of_other_sizes, OURS)
    assert [tensor.shape.rank for tensor in found.result] == [2, None]
    with pytest.raises(WrongTypeError, match="do not have matching component dtypes"), building(Graph()):
        queues.QueueBase.from_list(0, [queues.FIFOQueue(1, FLOAT32), queues.FIFOQueue(1, INT32)])
    with pytest.raises(WrongTypeError, match="A list of queues expected, got 3"):
        queues.QueueBase.from_list(0, 3)  # type: ignore[arg-type]
