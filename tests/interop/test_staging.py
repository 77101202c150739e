"""Staging areas: equal graphs, equal results, and the same refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.ops import data_flow_ops

from tensorkeep.errors import TensorKeepError
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.data import staging_areas
from tests.interop.programs import build, our_names, tensorflow_1

v1 = tf.compat.v1
OURS = our_names(staging_areas)

Program = Callable[[Any], list[Any]]


def area(tf: Any, kind: str, *arguments: Any, **keywords: Any) -> Any:
    return (getattr(tf, kind, None) or getattr(data_flow_ops, kind))(*arguments, **keywords)


def in_order(tf: Any) -> list[Any]:
    a = area(tf, "StagingArea", [tf.float32, tf.int32], shapes=[[2], []], capacity=4, memory_limit=60)
    puts = [a.put([tf.constant([float(i), 1.0]), tf.constant(i)]) for i in range(3)]
    return [*puts, a.size(), a.peek(0), a.peek(2), a.get(), a.size(), a.get(), a.clear(), a.size(), puts[1], a.get()]


def by_name(tf: Any) -> list[Any]:
    a = area(tf, "StagingArea", [tf.float32, tf.string], names=["x", "y"], shared_name="shared")
    with tf.name_scope("outer"):
        put = a.put({"y": tf.constant("text"), "x": tf.constant(2.0)})
        return [put, a.peek(0, name="seen"), a.get(name="taken"), a.size()]


def of_two_that_share(tf: Any) -> list[Any]:
    one, other = (area(tf, "StagingArea", [tf.float32], shared_name="same") for _ in range(2))
    return [one.put(tf.constant(1.0)), other.size(), other.get(), one.size()]


def too_large(tf: Any) -> list[Any]:
    a = area(tf, "StagingArea", [tf.float32], memory_limit=8)
    strings = area(tf, "StagingArea", [tf.string], memory_limit=30)
    return [
        *(a.put(tf.constant([1.0, 2.0, 3.0])), a.size(), a.put(tf.constant([1.0, 2.0])), a.size()),
        *(strings.put(tf.constant("d" * 10)), strings.put(tf.constant("d" * 3)), strings.size()),
    ]


def on_a_device(tf: Any) -> list[Any]:
    with tf.device("/cpu:0"):
        a = area(tf, "StagingArea", [tf.float32])
        put = a.put(tf.constant(1.0))
    return [put, a.get()]


def by_key(tf: Any, **kind: Any) -> list[Any]:
    a = area(tf, "MapStagingArea", [tf.float32, tf.int32], names=["x", "y"], **kind)
    five, six = (tf.constant(i, tf.int64) for i in (5, 6))
    x, y = {"x": tf.constant(1.0)}, {"y": tf.constant(7)}
    begun = a.put(five, x)
    return [
        *(begun, a.size(), a.incomplete_size(), begun, a.put(five, y), a.size(), a.incomplete_size()),
        *(a.peek(five), a.peek(five, ["y"]), a.get(five, ["x"]), a.size(), a.get(five, ["x"]), a.peek(five, ["x"])),
        *(a.get(five, ["y"]), a.size(), a.put(six, {**x, **y}), a.get(), a.size(), begun, a.clear()),
        a.incomplete_size(),
    ]


def by_ordered_key(tf: Any) -> list[Any]:
    return by_key(tf, ordered=True, capacity=3)


def smallest_first(tf: Any) -> list[Any]:
    a = area(tf, "MapStagingArea", [tf.float32], ordered=True, shapes=[[]])
    puts = [a.put(tf.constant(key, tf.int64), [tf.constant(float(key))], [0]) for key in (9, 1, 4)]
    return [*puts, a.get(), a.get(), a.size(), a.get()]


def parts_too_large(tf: Any) -> list[Any]:
    a = area(tf, "MapStagingArea", [tf.float32, tf.int32], memory_limit=4)
    key = tf.constant(1, tf.int64)
    return [a.put(key, [tf.constant([1.0, 2.0])], [0]), a.put(key, [tf.constant(1.0)], [0]), a.incomplete_size()]


PROGRAMS: list[Program] = [
    *(in_order, by_name, of_two_that_share, too_large, on_a_device),
    *(by_key, by_ordered_key, smallest_first, parts_too_large),
]


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return None if value is None else np.asarray(value).tolist()


def outcome_of(run: Callable[[Any], Any], fetched: Any, failure: type[Exception]) -> Any:
    """What a run gives, as lists; the name of its error if it fails."""
    try:
        return plain(run(fetched))
    except failure as error:
        return type(error).__name__


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_step_has_the_outcome_that_it_has_there(program: Program) -> None:
    both = build(program, OURS)
    ours = Session(both.graph)
    with tensorflow_1(), v1.Session(graph=both.their_graph) as theirs:
        for step, (mine, other) in enumerate(zip(both.result, both.their_result, strict=True)):
            expected = outcome_of(theirs.run, other, tf.errors.OpError)
            assert outcome_of(ours.run, mine, TensorKeepError) == expected, step
