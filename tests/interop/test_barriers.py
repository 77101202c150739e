"""Barriers: equal graphs, equal results, and the same refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.ops import data_flow_ops

from tensorkeep.errors import TensorKeepError
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.data import barriers
from tests.interop.programs import build, our_names, tensorflow_1

v1 = tf.compat.v1
OURS = our_names(barriers)

Program = Callable[[Any], list[Any]]


def first(b: Any, *keys: str) -> Any:
    return b.insert_many(0, list(keys), np.arange(len(keys), dtype=np.float32))


def second(b: Any, *keys: str) -> Any:
    return b.insert_many(1, list(keys), np.array([[i, -i] for i in range(len(keys))], np.int32))


def made(tf: Any) -> Any:
    kind = getattr(tf, "Barrier", None) or data_flow_ops.Barrier
    return kind((tf.float32, tf.int32), shapes=((), (2,)), name="B")


def completed(tf: Any) -> list[Any]:
    b = made(tf)
    return [
        *(first(b, "a", "b"), b.ready_size(), b.incomplete_size(), second(b, "b"), b.ready_size()),
        *(second(b, "c", "a"), b.take_many(2), first(b, "c"), b.take_many(1), b.take_many(0)),
    ]


def taken_up_again(tf: Any) -> list[Any]:
    b = made(tf)
    return [first(b, "a"), second(b, "a"), first(b, "a"), b.ready_size(), b.incomplete_size()]


def of_one_insertion(tf: Any) -> list[Any]:
    b = made(tf)
    return [first(b, "x"), second(b, "y", "z"), first(b, "z", "y"), second(b, "x"), b.take_many(1), b.ready_size()]


def twice(tf: Any) -> list[Any]:
    b = made(tf)
    return [first(b, "a"), first(b, "x", "a"), b.incomplete_size(), first(b, "q", "q"), b.incomplete_size()]


def closed_for_small_batches(tf: Any) -> list[Any]:
    b = made(tf)
    return [
        *(first(b, "a", "b", "c"), second(b, "a"), b.close(), b.take_many(2, allow_small_batch=True)),
        *(b.take_many(2, allow_small_batch=True), second(b, "b", "c"), b.take_many(3, allow_small_batch=True)),
        *(b.take_many(1, allow_small_batch=True), b.take_many(1)),
    ]


def closed_for_whole_batches(tf: Any) -> list[Any]:
    b = made(tf)
    return [
        *(first(b, "a", "b", "c"), second(b, "a"), b.close(), b.take_many(4), b.take_many(1), first(b, "new")),
        *(
            second(b, "new", "b"),
            second(b, "b"),
            b.take_many(1),
            b.close(),
            b.close(True),
            second(b, "c"),
            b.close(True),
        ),
    ]


def cancelled(tf: Any) -> list[Any]:
    b = made(tf)
    return [
        *(first(b, "a", "b"), second(b, "a"), b.close(True), b.ready_size(), b.incomplete_size(), second(b, "b")),
        *(b.take_many(1), b.take_many(1, allow_small_batch=True)),
    ]


def of_no_component(tf: Any) -> list[Any]:
    b = made(tf)
    return [b.insert_many(2, ["a"], [1.0]), b.insert_many(0, ["a"], [1])]


PROGRAMS: list[Program] = [
    *(completed, taken_up_again, of_one_insertion, twice, closed_for_small_batches, closed_for_whole_batches),
    *(cancelled, of_no_component),
]


def outcome(run: Callable[[Any], Any], fetched: Any, failure: type[Exception]) -> Any:
    """What a run gives, as lists; the name of its error if it fails."""
    try:
        found = run(fetched)
    except failure as error:
        return type(error).__name__
    if isinstance(found, tuple):
        return [np.asarray(part).tolist() for part in (found[0], found[1], *found[2])]
    return None if found is None else np.asarray(found).tolist()


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_step_has_the_outcome_that_it_has_there(program: Program) -> None:
    both = build(program, OURS)
    ours = Session(both.graph)
    with tensorflow_1(), v1.Session(graph=both.their_graph) as theirs:
        for step, (mine, other) in enumerate(zip(both.result, both.their_result, strict=True)):
            expected = outcome(theirs.run, other, tf.errors.OpError)
            assert outcome(ours.run, mine, TensorKeepError) == expected, step
