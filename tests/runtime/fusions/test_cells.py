"""Recurrent cells of small batches, as one call: forwards, as gradients, in loops; and what has to stay as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.native import layers
from tensorkeep.runtime.fusions.cell_calls import CellCall
from tensorkeep.runtime.plans import compiler

pytestmark = pytest.mark.skipif(layers.functions() is None, reason="cells are computed together by the library only")

BATCH, STEPS, UNITS = 5, 6, 24
RANDOM = np.random.default_rng(1)
INPUT = RANDOM.standard_normal((BATCH, STEPS, UNITS)).astype(np.float32)

Build = Callable[[], tuple[Any, dict[Any, Any]]]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """For each call of cells, whether it computed them."""
    found: list[bool] = []
    call = CellCall.__call__

    def watched(self: CellCall, packs: Any, *values: Any) -> Any:
        result = call(self, packs, *values)
        found.append(result is not None)
        return result

    monkeypatch.setattr(CellCall, "__call__", watched)
    return found


def _values(build: Build, runs: int = 1) -> Any:
    """What is fetched in the last of some runs, in a graph of its own."""
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        fetches, feeds = build()
        session.run(tf.global_variables_initializer())
        for _ in range(runs):
            result = session.run(fetches, feeds)
    return result


def _same_one_by_one(build: Build, monkeypatch: pytest.MonkeyPatch, runs: int = 1) -> None:
    """Compares with the operations one by one."""
    together = _values(build, runs)
    monkeypatch.setattr(compiler, "arrange_cells", lambda block, fed: [])
    for one, other in zip(tf.nest.flatten(_values(build, runs)), tf.nest.flatten(together), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-5)


def _network(kind: str, batch: int | None, *, is_dynamic: bool) -> tuple[Any, dict[Any, Any]]:
    """A loss of two layers of cells, the gradients of all variables, and the last states."""
    given = tf.placeholder(tf.float32, [batch, STEPS, UNITS])
    make = {
        "lstm": lambda: tf.nn.rnn_cell.BasicLSTMCell(UNITS),
        "peepholes": lambda: tf.nn.rnn_cell.LSTMCell(UNITS, use_peepholes=True, cell_clip=3.0, num_proj=UNITS),
        "gru": lambda: tf.nn.rnn_cell.GRUCell(UNITS),
        "plain": lambda: tf.nn.rnn_cell.BasicRNNCell(UNITS),
    }[kind]
    cell = tf.nn.rnn_cell.MultiRNNCell([make(), make()])
    with tf.variable_scope("rnn", initializer=tf.random_uniform_initializer(-0.5, 0.5, seed=3)):
        if is_dynamic:
            outputs, state = tf.nn.dynamic_rnn(cell, given, dtype=tf.float32)
        else:
            outputs, state = tf.nn.static_rnn(cell, tf.unstack(given, STEPS, 1), dtype=tf.float32)
            outputs = tf.stack(outputs, 1)
    loss = tf.reduce_sum(tf.square(outputs)) + tf.add_n([tf.reduce_sum(part) for part in tf.nest.flatten(state)])
    return [loss, state, *tf.gradients(loss, [*tf.trainable_variables(), given])], {given: INPUT}


@pytest.mark.parametrize("kind", ["lstm", "peepholes", "gru", "plain"])
@pytest.mark.parametrize("batch", [BATCH, None])
@pytest.mark.parametrize("is_dynamic", [False, True])
def test_cells_are_computed_together(
    kind: str, batch: int | None, is_dynamic: bool, calls: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    _same_one_by_one(lambda: _network(kind, batch, is_dynamic=is_dynamic), monkeypatch, runs=2)
    assert calls
    assert all(calls)


def test_threads_share_the_rows(monkeypatch: pytest.MonkeyPatch, calls: list[bool]) -> None:
    monkeypatch.setenv("TENSORKEEP_THREADS", "3")
    monkeypatch.setattr(layers, "SMALL", 0)
    monkeypatch.setattr(layers, "_WORTH_A_THREAD", 1 << 12)
    _same_one_by_one(lambda: _network("lstm", BATCH, is_dynamic=False), monkeypatch)
    assert all(calls)


def _chain(matrix: Any, x: Any, steps: int = STEPS) -> Any:
    for _ in range(steps):
        x = tf.tanh(tf.matmul(x, matrix) + 0.5) * 1.25
    return x


def test_a_variable_is_read_where_it_was(calls: list[bool]) -> None:
    """An update between the steps divides them: those before it see the old value, those behind it the new one."""

    def build() -> tuple[Any, dict[Any, Any]]:
        matrix = tf.get_variable("matrix", [3, 3], initializer=tf.zeros_initializer(), use_resource=True)
        first = _chain(matrix.read_value(), tf.ones([2, 3]), 4)
        with tf.control_dependencies([first]):
            update = matrix.assign_add(tf.eye(3))
        with tf.control_dependencies([update]):
            second = _chain(matrix.read_value(), first, 4)
        return [first, second], {}

    first, second = _values(build)
    expected = np.full((2, 3), np.tanh(0.5) * 1.25)
    np.testing.assert_allclose(first, expected, rtol=1e-6)
    for _ in range(4):
        expected = np.tanh(expected + 0.5) * 1.25
    np.testing.assert_allclose(second, expected, rtol=1e-5)
    assert calls == [True, True]


def test_a_matrix_that_changes_in_a_loop_is_not_kept() -> None:
    def build() -> tuple[Any, dict[Any, Any]]:
        matrix = tf.get_variable("matrix", [3, 3], initializer=tf.zeros_initializer(), use_resource=True)

        def body(number: Any, x: Any) -> Any:
            with tf.control_dependencies([x]):
                update = matrix.assign_add(tf.eye(3))
            with tf.control_dependencies([update]):
                return number + 1, _chain(matrix.read_value(), x, 4)

        return tf.while_loop(lambda number, x: number < 3, body, [tf.constant(0), tf.ones([2, 3])])[1], {}

    expected = np.ones((2, 3))
    for number in range(3):
        for _ in range(4):
            expected = np.tanh(expected * (number + 1) + 0.5) * 1.25
    np.testing.assert_allclose(_values(build), expected, rtol=1e-5)


def test_a_matrix_that_a_loop_carries_is_not_kept() -> None:
    def build() -> tuple[Any, dict[Any, Any]]:
        def body(number: Any, x: Any, matrix: Any) -> Any:
            return number + 1, _chain(matrix, x, 4), matrix + tf.eye(3)

        start = [tf.constant(0), tf.ones([2, 3]), tf.eye(3)]
        return tf.while_loop(lambda number, *_: number < 3, body, start)[1], {}

    expected = np.ones((2, 3))
    for number in range(3):
        for _ in range(4):
            expected = np.tanh(expected * (number + 1) + 0.5) * 1.25
    np.testing.assert_allclose(_values(build), expected, rtol=1e-5)


def test_what_is_computed_between_can_be_fetched_and_fed(calls: list[bool]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        matrix = tf.constant(RANDOM.standard_normal((3, 3)).astype(np.float32))
        x = tf.placeholder(tf.float32, [2, 3])
        middle = _chain(matrix, x, 5)
        last = _chain(matrix, middle, 5)
        start = np.ones((2, 3), np.float32)
        between, end = session.run([middle, last], {x: start})
        again = session.run(last, {middle: between})
    np.testing.assert_allclose(again, end, rtol=1e-6)
    assert calls
    assert all(calls)


@pytest.mark.parametrize("rows", [1, 4, 400])
def test_any_number_of_rows_will_do(rows: int) -> None:
    """Many rows are computed one operation after the other."""
    matrix = RANDOM.standard_normal((3, 3)).astype(np.float32)
    start = RANDOM.standard_normal((rows, 3)).astype(np.float32)
    expected = start.astype(np.float64)
    for _ in range(STEPS):
        expected = np.tanh(expected @ matrix + 0.5) * 1.25

    def build() -> tuple[Any, dict[Any, Any]]:
        x = tf.placeholder(tf.float32, [None, 3])
        return _chain(tf.constant(matrix), x), {x: start}

    np.testing.assert_allclose(_values(build), expected, rtol=1e-4, atol=1e-5)


def test_shapes_that_do_not_fit_are_told_by_their_operation() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, other = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 3])
        result = _chain(tf.ones([3, 3]), x) * other
        with pytest.raises(InvalidArgumentError, match=r"\[2,3\] vs. \[4,3\][\s\S]*Mul"):
            session.run(result, {x: np.ones((2, 3)), other: np.ones((4, 3))})
