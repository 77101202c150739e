"""Optimizers of `tf.contrib.opt`, as NumPy takes their steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

opt = tf.contrib.opt
ROWS = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)


def stepped(optimizer: Any, *, is_sparse: bool, steps: int = 2, use_resource: bool = False) -> Any:
    """A table after steps along the gradients of its second row, or of all."""
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_variable("table", initializer=ROWS, use_resource=use_resource)
        loss = tf.reduce_sum(tf.square(tf.gather(table, [1]) if is_sparse else table))
        step = optimizer().minimize(loss)
        session.run(tf.global_variables_initializer())
        for _ in range(steps):
            session.run(step)
        return session.run(table)


def adam(rows: Any, kind: str, steps: int = 2) -> Any:
    """Rows that all have gradients, after steps."""
    x = rows.astype(np.float64)
    m, v = np.zeros_like(x), np.zeros_like(x)
    for number in range(1, steps + 1):
        g = 2 * x
        m = 0.9 * m + 0.1 * g
        if kind == "max":
            v = np.maximum(0.999 * v, np.abs(g))
            x = x - 0.1 / (1 - 0.9**number) * m / (v + 1e-8)
            continue
        v = 0.999 * v + 0.001 * g * g
        rate = 0.1 * np.sqrt(1 - 0.999**number) / (1 - 0.9**number)
        ahead = 0.9 * m + 0.1 * g if kind == "nesterov" else m
        x = x - rate * ahead / (np.sqrt(v) + 1e-8)
    return x


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    ("optimizer", "kind"),
    [(opt.LazyAdamOptimizer, "plain"), (opt.NadamOptimizer, "nesterov"), (opt.AdaMaxOptimizer, "max")],
)
def test_steps_of_dense_and_sparse_gradients(optimizer: Any, kind: str, use_resource: bool) -> None:
    told = {"use_resource": use_resource}
    whole = stepped(lambda: optimizer(0.1), is_sparse=False, **told)
    np.testing.assert_allclose(whole, adam(ROWS, kind), rtol=1e-5)
    some = stepped(lambda: optimizer(0.1), is_sparse=True, **told)
    np.testing.assert_allclose(some[1], adam(ROWS, kind)[1], rtol=1e-5)
    np.testing.assert_array_equal(some[[0, 2]], ROWS[[0, 2]])


def test_weights_shrink_before_the_step_and_only_those_that_are_named() -> None:
    momentum = stepped(lambda: opt.MomentumWOptimizer(0.5, 0.1, 0.9), is_sparse=False, steps=1)
    np.testing.assert_allclose(momentum, ROWS * 0.5 - 0.1 * 2 * ROWS, rtol=1e-6)
    kind = opt.extend_with_decoupled_weight_decay(tf.train.GradientDescentOptimizer)
    sparse = stepped(lambda: opt.MomentumWOptimizer(0.5, 0.1, 0.9), is_sparse=True, steps=1)
    np.testing.assert_allclose(sparse, [ROWS[0], ROWS[1] * 0.5 - 0.1 * 2 * ROWS[1], ROWS[2]], rtol=1e-6)
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.get_variable("a", initializer=1.0), tf.get_variable("b", initializer=1.0)
        step = kind(0.5, 0.0).minimize(a + b, decay_var_list=[a])
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run([a, b]) == [0.5, 1.0]


def test_averages_are_saved_under_the_names_of_their_variables(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.get_variable("x", initializer=4.0)
        optimizer = opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(0.25), average_decay=0.5)
        with pytest.raises(RuntimeError, match="before creating"):
            optimizer.swapping_saver()
        step = optimizer.minimize(tf.square(x))
        saver = optimizer.swapping_saver()
        session.run(tf.global_variables_initializer())
        session.run(step)
        saver.save(session, path)
        assert session.run(x) == 2.0
    assert tf.train.load_variable(path, "x") == 3.0
    assert tf.train.load_variable(path, "x/ExponentialMovingAverage") == 2.0


def test_a_task_without_gradients_leaves_variables_and_their_slots_alone() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        a, b = tf.get_variable("a", initializer=1.0), tf.get_variable("b", initializer=1.0)
        is_first = tf.placeholder(tf.float32, [])
        loss = is_first * a + (1 - is_first) * b
        step = opt.MultitaskOptimizerWrapper(tf.train.MomentumOptimizer(0.25, 0.5)).minimize(loss)
        session.run(tf.global_variables_initializer())
        for value in (1.0, 0.0, 1.0):
            session.run(step, {is_first: value})
        assert session.run([a, b]) == [1.0 - 0.25 - 0.25 * 1.5, 0.75]


def test_gradients_are_clipped_together() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        pairs = opt.clip_gradients_by_global_norm([(tf.constant([3.0]), "a"), (tf.constant([4.0]), "b")], 1.0)
        assert [name for _, name in pairs] == ["a", "b"]
        np.testing.assert_allclose(session.run([gradient for gradient, _ in pairs]), [[0.6], [0.8]], rtol=1e-6)
