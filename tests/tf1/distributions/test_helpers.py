"""Functions of `tf.contrib.distributions`: triangles, logarithms, statistics of samples, averages that move, seeds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

spaces = tf.contrib.distributions
RNG = np.random.default_rng(8)


@pytest.fixture
def session() -> Any:
    with tf.Graph().as_default(), tf.Session() as made:
        yield made


def test_triangles_are_filled_from_the_middle(session: Any) -> None:
    x = np.arange(1, 7)
    lower, upper = session.run([spaces.fill_triangular(x), spaces.fill_triangular(x, upper=True)])
    assert lower.tolist() == [[4, 0, 0], [6, 5, 0], [3, 2, 1]]
    assert upper.tolist() == [[1, 2, 3], [0, 5, 6], [0, 0, 4]]
    known = tf.placeholder(tf.float64, [None, 10])
    assert spaces.fill_triangular(known).shape.as_list() == [None, 4, 4]
    for rows in range(1, 7):
        values = RNG.normal(size=[2, rows * (rows + 1) // 2])
        for is_upper in (False, True):
            there = spaces.fill_triangular(values, is_upper)
            np.testing.assert_array_equal(session.run(spaces.fill_triangular_inverse(there, is_upper)), values)
        given = tf.placeholder(tf.float64, None)
        vectors = tf.ensure_shape(given, [None, None])
        found = session.run(spaces.fill_triangular_inverse(spaces.fill_triangular(vectors)), {given: values})
        np.testing.assert_array_equal(found, values)
    with pytest.raises(ValueError, match="triangular"):
        spaces.fill_triangular([1.0] * 5)


def test_three_diagonals_and_a_changed_one(session: Any) -> None:
    below, diagonal, above = [1.0, 2.0], [3.0, 4.0, 5.0], [6.0, 7.0]
    wanted = np.diag(below, -1) + np.diag(diagonal) + np.diag(above, 1)
    np.testing.assert_array_equal(session.run(spaces.tridiag(below, diagonal, above)), wanted)
    np.testing.assert_array_equal(session.run(spaces.tridiag([below] * 2))[1], np.diag(below, -1))
    with pytest.raises(ValueError, match="at least one"):
        spaces.tridiag()
    softened = session.run(spaces.matrix_diag_transform(wanted, tf.nn.softplus))
    np.testing.assert_allclose(softened, wanted + np.diag(np.log1p(np.exp(diagonal)) - diagonal))
    np.testing.assert_array_equal(session.run(spaces.matrix_diag_transform(wanted)), wanted)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_softplus_is_undone_at_both_ends(kind: Any, session: Any) -> None:
    y = np.array([-80, -20, -1, 0, 2, 30, 300], kind)
    x = tf.constant(np.log1p(np.exp(-np.abs(y.astype(np.float64)))) + np.maximum(y, 0), tf.as_dtype(kind))
    found = spaces.softplus_inverse(x)
    values, slopes = session.run([found, tf.gradients(found, x)[0]])
    np.testing.assert_allclose(values, y, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(slopes, 1 + np.exp(-y.astype(np.float64)), rtol=1e-4)


def test_weighted_sums_of_exponentials(session: Any) -> None:
    logs, weights = RNG.normal(size=[3, 4]) + 500, RNG.normal(size=[3, 4])
    for axis in (None, 0, -1):
        total = (weights * np.exp(logs - 500)).sum(axis)
        found = session.run(spaces.reduce_weighted_logsumexp(logs, weights, axis, return_sign=True))
        np.testing.assert_allclose(found[0], np.log(np.abs(total)) + 500)
        np.testing.assert_array_equal(found[1], np.sign(total))
    kept = session.run(spaces.reduce_weighted_logsumexp(logs, axis=1, keep_dims=True))
    np.testing.assert_allclose(kept, np.logaddexp.reduce(logs, 1, keepdims=True))
    assert session.run(spaces.reduce_weighted_logsumexp([-np.inf, -np.inf], [1.0, 2.0])) == -np.inf


def test_how_numbers_go_with_later_ones(session: Any) -> None:
    x = RNG.normal(size=[3, 20]).cumsum(-1)
    centered = x - x.mean(-1, keepdims=True)
    means = np.stack([(centered[:, : 20 - lag] * centered[:, lag:]).mean(-1) for lag in range(20)], -1)
    np.testing.assert_allclose(session.run(spaces.auto_correlation(x)), means / means[:, :1], atol=1e-9)
    found = session.run(spaces.auto_correlation(x.T, axis=0, max_lags=5, normalize=False))
    np.testing.assert_allclose(found, means[:, :6].T, atol=1e-9)
    plain = session.run(spaces.auto_correlation(x, center=False, normalize=False, max_lags=1))
    np.testing.assert_allclose(plain[:, 1], (x[:, :-1] * x[:, 1:]).mean(-1), atol=1e-9)
    single = session.run(spaces.auto_correlation(x.astype("f")))
    assert single.dtype == np.float32


@pytest.mark.parametrize("kind", ["nearest", "lower", "higher", "linear", "midpoint"])
def test_percentiles_are_numpys(kind: str, session: Any) -> None:
    x = RNG.normal(size=[3, 4, 5])
    for q in (0.0, 12.5, 37.0, 100.0):
        for axis in (None, -1, [0, 2]):
            axes = tuple(axis) if isinstance(axis, list) else axis
            wanted = np.percentile(x, q, axis=axes, method=kind)
            np.testing.assert_allclose(session.run(spaces.percentile(x, q, axis, kind)), wanted, err_msg=f"{q} {axis}")
    kept = session.run(spaces.percentile(x, 30.0, [0, 2], kind, keep_dims=True))
    np.testing.assert_allclose(kept, np.percentile(x, 30.0, axis=(0, 2), method=kind, keepdims=True))


def test_percentiles_that_cannot_be(session: Any) -> None:
    for build, said in (
        (lambda: spaces.percentile([1.0], 101.0), "0, 100"),
        (lambda: spaces.percentile([1.0], [1.0, 2.0]), "single number"),
        (lambda: spaces.percentile([1.0], 50.0, interpolation="cubic"), "interpolation"),
        (lambda: spaces.percentile([1.0], 50.0, axis=1), "out of"),
    ):
        with pytest.raises(ValueError, match=said):
            build()


@pytest.mark.parametrize("resource", [False, True])
def test_averages_move_from_run_to_run(resource: bool, session: Any) -> None:
    with tf.variable_scope("", use_resource=resource):
        value = tf.placeholder(tf.float64, [2])
        moved = spaces.moving_mean_variance(value, decay=0.9)
        total = tf.get_variable("total", [], tf.float64, tf.constant_initializer(-np.inf))
        logs = spaces.assign_log_moving_mean_exp(total, value[0], 0.5)
    session.run(tf.global_variables_initializer())
    names = [item.op.name for item in tf.global_variables()]
    assert names == ["moving_mean_variance/mean", "moving_mean_variance/variance", "total"]
    mean, variance, sum_of_exp = np.zeros(2), np.zeros(2), 0.0
    for step in range(5):
        x = np.array([step + 1.0, -step])
        away = x - mean
        mean, variance = mean + 0.1 * away, 0.9 * (variance + 0.1 * away**2)
        sum_of_exp = 0.5 * sum_of_exp + 0.5 * np.exp(x[0])
        found = session.run([*moved, logs], {value: x})
        np.testing.assert_allclose(found[:2], [mean, variance])
        np.testing.assert_allclose(found[2], np.log(sum_of_exp))
    assert [item.op.name for item in tf.trainable_variables()] == ["total"]


def test_seeds_of_a_stream_differ_and_come_again() -> None:
    first, again, other = (spaces.SeedStream(seed, salt) for seed, salt in ((5, "a"), (5, "a"), (5, "b")))
    drawn = [first() for _ in range(4)]
    assert len(set(drawn)) == 4
    assert drawn == [again() for _ in range(4)]
    assert set(drawn).isdisjoint(other() for _ in range(4))
    assert spaces.SeedStream(None, "a")() is None
    assert spaces.SeedStream(other, "c").original_seed == 5
    assert all(0 <= seed < 2**31 for seed in drawn)
