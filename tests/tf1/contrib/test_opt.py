"""Optimizers of `tf.contrib.opt`, as NumPy takes their steps."""

from __future__ import annotations

import importlib
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


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize(
    ("kind", "weigh"),
    [
        (opt.PowerSignOptimizer, lambda agreement, decay: np.exp(decay * agreement)),
        (opt.AddSignOptimizer, lambda agreement, decay: 1 + decay * agreement),
    ],
)
def test_gradients_count_by_their_signs(kind: Any, weigh: Any, use_resource: bool) -> None:
    """By the formulas of Bello et al. (2017), with a decay of the signs in a line; whole and by rows."""
    decay_fn = importlib.import_module("tensorkeep.tf1.contrib.opt.signs").get_linear_decay_fn(4)
    for is_sparse in (False, True):
        x, m = ROWS.astype(np.float64), np.zeros(ROWS.shape)
        with tf.Graph().as_default(), tf.Session() as session:
            table = tf.get_variable("table", initializer=ROWS, use_resource=use_resource)
            number = tf.train.create_global_step()
            loss = tf.reduce_sum(tf.square((tf.gather(table, [1]) if is_sparse else table) - 3.5))
            step = kind(0.1, sign_decay_fn=decay_fn).minimize(loss, global_step=number)
            session.run(tf.global_variables_initializer())
            for count in range(3):
                session.run(step)
                g = 2 * (x - 3.5) * (np.array([[0.0], [1.0], [0.0]]) if is_sparse else 1.0)
                m = 0.9 * m + 0.1 * g
                x = x - 0.1 * weigh(np.sign(g) * np.sign(m), 1 - count / 4) * g
            np.testing.assert_allclose(session.run(table), x, rtol=1e-5)


def test_signs_count_along_a_cosine_that_begins_again() -> None:
    decays = importlib.import_module("tensorkeep.tf1.contrib.opt.signs")
    with tf.Graph().as_default(), tf.Session() as session:
        found = [
            session.run([decays.get_cosine_decay_fn(8)(n), decays.get_restart_decay_fn(8, 2, 1)(n)]) for n in (0, 2, 6)
        ]
        with pytest.raises(ValueError, match="global_step is required"):
            decays.get_linear_decay_fn(8)(None)
    half = 0.5 * (1 + np.cos(np.pi * np.array([0, 2, 6]) / 8))
    np.testing.assert_allclose(found, [[half[0], 1.0], [half[1], 0.5], [half[2], 0.0]], atol=1e-6)


def test_a_rate_by_the_lengths_of_variable_and_gradient() -> None:
    """You et al. (2017): eeta |w| / (|g| + decay |w|) times the rate, with momentum; bare where a name is skipped."""
    x, m = ROWS.astype(np.float64), np.zeros(ROWS.shape)
    for _ in range(2):
        g = 2 * x
        size, slope = np.linalg.norm(x), np.linalg.norm(g)
        m = 0.9 * m + g
        x = x - 0.1 * 0.5 * size / (slope + 0.01 * size) * m
    told = {"weight_decay": 0.01, "eeta": 0.5}
    np.testing.assert_allclose(stepped(lambda: opt.LARSOptimizer(0.1, **told), is_sparse=False), x, rtol=1e-5)
    bare = stepped(lambda: opt.LARSOptimizer(0.1, skip_list=["tab"], **told), is_sparse=False, steps=1)
    np.testing.assert_allclose(bare, ROWS - 0.1 * 2 * ROWS, rtol=1e-5)


def ggt(x: Any, steps: int, window: int) -> Any:
    """Agarwal et al. (2018), with the whole matrix (M M' + eps)^(-1/2) where the paper has its short way."""
    x = x.astype(np.float64).ravel()
    m, kept = np.zeros_like(x), np.zeros((window, x.size))
    for number in range(1, steps + 1):
        m = 0.9 * m + 0.1 * 2 * x
        kept[(number - 1) % window] = m
        matrix = kept.T / np.sqrt(min(number, window))
        u, sigma, _ = np.linalg.svd(matrix.T @ matrix + 1e-6 * np.eye(window))
        inner = u.T @ matrix.T @ m
        step = matrix @ u @ (inner / (np.sqrt(sigma) + 1e-2) ** 3)
        smallest = np.sqrt(sigma).min()
        if smallest > 1e-4:
            step = step + (m - matrix @ u @ (inner / sigma)) / smallest
        x = x - 0.01 * step
    return x.reshape(3, 2)


def test_gradients_are_conditioned_by_the_matrix_of_the_last_ones() -> None:
    found = stepped(lambda: opt.GGTOptimizer(0.01, window=3), is_sparse=False, steps=4)
    np.testing.assert_allclose(found, ggt(ROWS, 4, 3), rtol=1e-2)
    with pytest.raises(NotImplementedError, match="sparse"):
        stepped(lambda: opt.GGTOptimizer(0.01), is_sparse=True)


@pytest.mark.parametrize(("largest", "is_sparse"), [(768, False), (2, False), (768, True)])
def test_gradients_are_conditioned_along_each_axis(largest: int, is_sparse: bool) -> None:
    """Gupta et al. (2018): L^(-1/4) G R^(-1/4), with a diagonal where an axis is long."""

    def root(matrix: Any) -> Any:
        values, vectors = np.linalg.eigh(matrix + 0.1 * np.eye(len(matrix)))
        return vectors @ np.diag(values**-0.25) @ vectors.T

    x, left, right = ROWS.astype(np.float64), np.zeros((3, 3)), np.zeros((2, 2))
    for _ in range(2):
        g = 2 * x * (np.array([[0.0], [1.0], [0.0]]) if is_sparse else 1.0)
        left, right = left + g @ g.T, right + g.T @ g
        shown = left if largest > 2 else np.diag(np.diag(left))
        x = x - 0.1 * root(shown) @ g @ root(right)
    found = stepped(lambda: opt.ShampooOptimizer(learning_rate=0.1, max_matrix_size=largest), is_sparse=is_sparse)
    np.testing.assert_allclose(found, x, rtol=1e-4)


@pytest.mark.parametrize("is_sparse", [False, True])
def test_variables_are_clipped_after_the_step(is_sparse: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_variable("table", initializer=ROWS)
        loss = tf.reduce_sum(tf.gather(table, [1]) if is_sparse else table)
        inner = tf.train.GradientDescentOptimizer(1.0)
        step = opt.VariableClippingOptimizer(inner, {table: [1]}, 1.0).minimize(loss)
        session.run(tf.global_variables_initializer())
        session.run(step)
        found = session.run(table)
    moved = ROWS - (np.array([[0.0], [1.0], [0.0]]) if is_sparse else 1.0)
    norms = np.linalg.norm(moved, axis=1, keepdims=True)
    clipped = moved / np.maximum(norms, 1.0)
    np.testing.assert_allclose(found, np.where([[not is_sparse], [True], [not is_sparse]], clipped, moved), rtol=1e-6)


def test_late_gradients_are_dropped_and_counted() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.get_variable("x", initializer=4.0)
        number = tf.train.create_global_step()
        lateness = tf.placeholder_with_default(tf.constant(0, tf.int64), [])
        optimizer = opt.DropStaleGradientOptimizer(tf.train.GradientDescentOptimizer(0.25), 1)
        pairs = optimizer.compute_gradients(tf.square(x))
        optimizer._begun = optimizer._begun - lateness
        step = optimizer.apply_gradients(pairs, global_step=number)
        session.run(tf.global_variables_initializer())
        session.run(step)
        assert session.run([x, number]) == [2.0, 1]
        assert session.run(step, {lateness: 2}) == 1.0
        assert session.run([x, number]) == [2.0, 1]


def test_scipy_minimizes_a_loss_within_bounds_and_constraints() -> None:
    pytest.importorskip("scipy")
    told = []
    with tf.Graph().as_default(), tf.Session() as session:
        vector, other = tf.get_variable("v", initializer=[7.0, 7.0]), tf.get_variable("w", initializer=3.0)
        goal = tf.placeholder(tf.float32, [])
        loss = tf.reduce_sum(tf.square(vector)) + tf.square(other - goal)
        session.run(tf.global_variables_initializer())
        bounded = opt.ScipyOptimizerInterface(loss, var_to_bounds={vector: ([1, 2], np.inf)}, options={"maxiter": 50})
        bounded.minimize(feed_dict={goal: 5.0}, fetches=[loss], loss_callback=told.append)
        np.testing.assert_allclose(session.run(vector), [1, 2], atol=1e-4)
        np.testing.assert_allclose(session.run(other), 5.0, atol=1e-3)
        assert told[-1] < told[0]
        session.run(tf.global_variables_initializer())
        opt.ScipyOptimizerInterface(
            loss, [vector], equalities=[vector[1] - 1.0], inequalities=[vector[0] - 1.0], method="SLSQP"
        ).minimize(session, feed_dict={goal: 0.0})
        np.testing.assert_allclose(session.run(vector), [1, 1], atol=1e-4)
        with pytest.raises(ValueError, match="var_to_bounds"):
            opt.ScipyOptimizerInterface(loss, bounds=[]).minimize(session, {goal: 0.0})
    with tf.Graph().as_default():
        x = tf.get_variable("x", initializer=1.0)
        with pytest.raises(RuntimeError, match="no session"):
            opt.ScipyOptimizerInterface(x * x).minimize()


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("kind", ["AdamGSOptimizer", "LazyAdamGSOptimizer"])
def test_steps_of_adam_are_counted_by_the_global_step(kind: str, use_resource: bool) -> None:
    for is_sparse in (False, True):
        with tf.Graph().as_default(), tf.Session() as session:
            number = tf.train.create_global_step()
            table = tf.get_variable("table", initializer=ROWS, use_resource=use_resource)
            loss = tf.reduce_sum(tf.square(tf.gather(table, [1]) if is_sparse else table))
            step = getattr(opt, kind)(number, 0.1).minimize(loss, global_step=number)
            names = [item.op.name for item in tf.global_variables()]
            assert names == ["global_step", "table", "table/Adam", "table/Adam_1"]
            session.run(tf.global_variables_initializer())
            for _ in range(2):
                session.run(step)
            found = session.run(table)
        rows = adam(ROWS, "plain")
        np.testing.assert_allclose(found[1], rows[1], rtol=1e-5)
        np.testing.assert_allclose(found[0], ROWS[0] if is_sparse else rows[0], rtol=1e-5)


@pytest.mark.parametrize("use_resource", [False, True])
def test_gradients_of_losses_of_weights_do_not_shrink_later_steps(use_resource: bool) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.get_variable("x", initializer=[2.0, 3.0], use_resource=use_resource)
        optimizer = opt.RegAdagradOptimizer(0.1)
        with optimizer.avoid_updating_slots():
            shrink = optimizer.minimize(tf.reduce_sum(tf.square(x)))
        step = optimizer.minimize(tf.reduce_sum(x))
        session.run(tf.global_variables_initializer())
        session.run(shrink)
        expected = np.array([2.0, 3.0]) - 0.1 * np.array([4.0, 6.0]) / np.sqrt(0.1)
        np.testing.assert_allclose(session.run(x), expected, rtol=1e-6)
        slot = optimizer.get_slot(x, "accumulator")
        np.testing.assert_allclose(session.run(slot), [0.1, 0.1])
        session.run(step)
        np.testing.assert_allclose(session.run(x), expected - 0.1 / np.sqrt(1.1), rtol=1e-6)
        np.testing.assert_allclose(session.run(slot), [1.1, 1.1])


@pytest.mark.parametrize("use_resource", [False, True])
def test_late_gradients_are_moved_to_where_the_variable_is(use_resource: bool) -> None:
    """Zheng et al. (2017): two workers in turn, each with the variable as it was after its last step."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.get_variable("x", initializer=[1.0, -2.0], use_resource=use_resource)
        optimizer = opt.DelayCompensatedGradientDescentOptimizer(0.1, 0.5, num_workers=2)
        steps = [optimizer.minimize(tf.reduce_sum(tf.square(x)), worker_index=index) for index in (0, 1)]
        session.run(tf.global_variables_initializer())
        value = np.array([1.0, -2.0])
        shadows = [value, value]
        for index in (0, 1, 1, 0):
            session.run(steps[index])
            g = 2 * value
            value = value - 0.1 * (g + 0.5 * g * g * (value - shadows[index]))
            shadows[index] = value
        np.testing.assert_allclose(session.run(x), value, rtol=1e-6)
        with pytest.raises(ValueError, match="worker index must be in the range"):
            optimizer.minimize(tf.reduce_sum(x), worker_index=2)
    with pytest.raises(ValueError, match="num_workers must be positive"):
        opt.DelayCompensatedGradientDescentOptimizer(0.1, 0.5, num_workers=0)
