"""Accumulators: equal graphs, equal results, and the same refusals."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.errors import TensorKeepError
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.data import accumulators
from tests.interop.programs import build, our_names, tensorflow_1

v1 = tf.compat.v1
OURS = our_names(accumulators)

Program = Callable[[Any], list[Any]]


def f32(*values: Any) -> Any:
    return np.array(values, np.float32)


def _dense(reduction: str) -> Program:
    def program(tf: Any) -> list[Any]:
        a = tf.ConditionalAccumulator(tf.float32, shape=(2,), name="Q", reduction_type=reduction)
        return [
            *(a.apply_grad(f32(1, 2)), a.apply_grad(f32(2, 4)), a.apply_grad(f32(9, 9), local_step=5)),
            *(a.num_accumulated(), a.take_grad(1), a.num_accumulated(), a.apply_grad(f32(7, 7))),
            *(a.num_accumulated(), a.apply_grad(f32(3, 5), local_step=1), a.take_grad(1), a.set_global_step(8)),
            *(a.apply_grad(f32(1, 1), local_step=7), a.apply_grad(f32(1, 2), local_step=8), a.num_accumulated()),
            *(a.take_grad(0), a.take_grad(-1), a.take_grad(1)),
        ]

    return program


def without_a_shape(tf: Any) -> list[Any]:
    a = tf.ConditionalAccumulator(tf.float32)
    return [
        *(a.apply_grad(f32(1, 2)), a.apply_grad(f32(1)), a.apply_grad(f32(4, 5))),
        *(a.num_accumulated(), a.take_grad(2), a.apply_grad(f32([3]), local_step=1), a.take_grad(1)),
    ]


def _sparse(reduction: str) -> Program:
    def program(tf: Any) -> list[Any]:
        a = tf.SparseConditionalAccumulator(tf.float32, shape=(6, 2), name="S", reduction_type=reduction)
        return [
            *(a.apply_grad([0, 2], f32([1, 2], [3, 4])), a.apply_grad([2, 4], f32([5, 6], [7, 8]), [6, 2])),
            *(a.apply_grad([2], f32([1, 1])), a.num_accumulated(), a.take_grad(2), a.num_accumulated()),
            *(a.apply_grad([1], f32([1, 1])), a.num_accumulated(), a.apply_grad([5], f32([2, 3]), local_step=1)),
            *(a.take_grad(1), a.set_global_step(9), a.apply_grad([1], f32([1, 1]), local_step=8)),
            *(a.num_accumulated(), a.apply_grad([1, 2], f32([1, 1]), local_step=9)),
            *(
                a.apply_grad([1], f32([1, 1, 1]), local_step=9),
                a.apply_grad([1], f32([1, 1]), [7, 2], 9),
                a.take_grad(0),
            ),
        ]

    return program


def sparse_without_a_shape(tf: Any) -> list[Any]:
    a = tf.SparseConditionalAccumulator(tf.float64)
    rows = np.array([[1.0, 2.0], [3.0, 4.0]])
    return [
        *(a.apply_grad([3, 7], rows), a.apply_grad([3], rows[:1]), a.num_accumulated(), a.take_grad(1)),
        *(a.apply_grad([3, 7], rows, [9, 2], 1), a.apply_grad([3, 7], rows, [8, 2], 1), a.take_grad(1)),
    ]


PROGRAMS = [
    *(_dense("MEAN"), _dense("SUM"), without_a_shape, _sparse("MEAN"), _sparse("SUM"), sparse_without_a_shape),
]


def outcome(run: Callable[[Any], Any], fetched: Any, failure: type[Exception]) -> Any:
    """What a run gives, as lists; the name of its error if it fails."""
    try:
        found = run(fetched)
    except failure as error:
        return type(error).__name__
    if isinstance(found, tuple):
        return [np.asarray(part).tolist() for part in found]
    return None if found is None else np.asarray(found).tolist()


@pytest.mark.parametrize("program", PROGRAMS)
def test_each_step_has_the_outcome_that_it_has_there(program: Program) -> None:
    both = build(program, OURS)
    ours = Session(both.graph)
    with tensorflow_1(), v1.Session(graph=both.their_graph) as theirs:
        for step, (mine, other) in enumerate(zip(both.result, both.their_result, strict=True)):
            expected = outcome(theirs.run, other, tf.errors.OpError)
            assert outcome(ours.run, mine, TensorKeepError) == expected, step
