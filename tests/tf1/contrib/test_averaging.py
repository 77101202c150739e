"""Optimizers of `tf.contrib.opt` for workers that meet at centers, with one worker, as NumPy takes their steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

opt = tf.contrib.opt
BEGIN = np.array([4.0, -2.0])
CENTER = "global_center_variable/layer/x"


def variable(getter: Any, use_resource: bool = False) -> Any:
    with tf.variable_scope("layer", custom_getter=getter):
        start = tf.constant_initializer(BEGIN, dtype=tf.float32)
        return tf.get_variable("x", [2], initializer=start, use_resource=use_resource)


def named(name: str) -> Any:
    return next(item for item in tf.global_variables() + tf.local_variables() if item.op.name == name)


def trained(optimizer: Any, x: Any, steps: int) -> dict[str, Any]:
    """The variable, its center and the steps after training with the hook of the optimizer."""
    number = tf.train.create_global_step()
    train = optimizer.minimize(tf.reduce_sum(tf.square(x)), global_step=number)
    parts = () if isinstance(optimizer, opt.ModelAverageOptimizer) else (True, 0)
    hook = optimizer.make_session_run_hook(*parts)
    with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
        for _ in range(steps):
            session.run(train)
        return dict(zip(("x", "center", "step"), session.run([x, named(CENTER), number]), strict=True))


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_variable_and_its_center_attract_each_other(use_resource: bool) -> None:
    with tf.Graph().as_default():
        getter = opt.ElasticAverageCustomGetter("/cpu:0")
        x = variable(getter, use_resource)
        optimizer = opt.ElasticAverageOptimizer(
            tf.train.MomentumOptimizer(0.1, 0.5), 2, getter, communication_period=2, moving_rate=0.25, rho=0.3
        )
        found = trained(optimizer, x, 5)
        assert [item.op.name for item in tf.global_variables()] == [CENTER, "global_step"]
        assert "layer/x/Momentum" in [item.op.name for item in tf.local_variables()]
    value, center, seen, speed = BEGIN, BEGIN, BEGIN, np.zeros(2)
    for number in range(1, 6):
        speed = 0.5 * speed + 2 * value + 0.3 * (value - seen)
        value = value - 0.1 * speed
        if number % 2 == 0:
            seen = center
            move = 0.25 * (value - seen)
            value, center = value - move, center + move
    np.testing.assert_allclose(found["x"], value, rtol=1e-5)
    np.testing.assert_allclose(found["center"], center, rtol=1e-5)
    assert found["step"] == 2


def test_rates_follow_from_the_period_and_the_workers_where_none_are_given() -> None:
    with tf.Graph().as_default():
        getter = opt.ElasticAverageCustomGetter("")
        variable(getter)
        optimizer = opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(0.5), 3, getter)
        assert optimizer._moving_rate == pytest.approx(0.9 / 10 / 3)
        assert optimizer._rho == pytest.approx(0.9 / 10 / 3 / 0.5)


def test_centers_are_saved_under_the_names_of_their_variables(tmp_path: Path) -> None:
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        getter = opt.ElasticAverageCustomGetter("")
        x = variable(getter)
        optimizer = opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(0.5), 1, getter)
        saver = optimizer.swapping_saver()
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run([x.assign([1.0, 1.0]), named(CENTER).assign([7.0, 8.0])])
        saver.save(session, path)
    assert [name for name, _ in tf.train.list_variables(path)] == ["layer/x"]
    assert tf.train.load_variable(path, "layer/x").tolist() == [7.0, 8.0]


def test_a_synchronous_start_of_one_worker_waits_for_nobody() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        getter = opt.ElasticAverageCustomGetter("")
        x = variable(getter)
        optimizer = opt.ElasticAverageOptimizer(tf.train.GradientDescentOptimizer(0.5), 1, getter, synchronous=True)
        begin = optimizer.get_init_op(0)
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        session.run(named(CENTER).assign([7.0, 8.0]))
        session.run(begin)
        assert session.run(x).tolist() == [7.0, 8.0]


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_center_becomes_what_the_worker_found(use_resource: bool) -> None:
    with tf.Graph().as_default():
        getter = opt.ModelAverageCustomGetter("/cpu:0")
        x = variable(getter, use_resource)
        optimizer = opt.ModelAverageOptimizer(
            tf.train.GradientDescentOptimizer(0.1), 1, is_chief=True, ma_custom_getter=getter, interval_steps=3
        )
        found = trained(optimizer, x, 7)
    np.testing.assert_allclose(found["x"], BEGIN * 0.8**7, rtol=1e-5)
    np.testing.assert_allclose(found["center"], BEGIN * 0.8**6, rtol=1e-5)
    assert found["step"] == 2


def test_what_the_averages_of_models_need_is_said() -> None:
    with tf.Graph().as_default():
        getter = opt.ModelAverageCustomGetter("")
        x = variable(getter)
        optimizer = opt.ModelAverageOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, True, getter)
        with pytest.raises(ValueError, match="Global step is required"):
            optimizer.minimize(tf.reduce_sum(x))
        with pytest.raises(RuntimeError, match="comes after apply_gradients"):
            optimizer.make_session_run_hook()
    with tf.Graph().as_default():
        tf.get_variable("x", initializer=1.0)
        other = opt.ElasticAverageOptimizer(
            tf.train.GradientDescentOptimizer(0.1), 1, opt.ElasticAverageCustomGetter("")
        )
        with pytest.raises(RuntimeError, match="no trainable variable has a center"):
            other.get_init_op(0)


@pytest.mark.parametrize("use_resource", [False, True])
def test_a_center_takes_a_step_along_the_mean_of_gradients(use_resource: bool) -> None:
    with tf.Graph().as_default():
        getter = opt.AGNCustomGetter("/cpu:0")
        x = variable(getter, use_resource)
        optimizer = opt.AGNOptimizer(
            tf.train.GradientDescentOptimizer(0.1), 1, custom_getter=getter, communication_period=3
        )
        found = trained(optimizer, x, 4)
    value, total = BEGIN, 0.0
    for _ in range(3):
        total, value = total + 2 * value, value - 0.2 * value
    center = BEGIN - 0.1 * total / 3
    np.testing.assert_allclose(found["center"], center, rtol=1e-5)
    np.testing.assert_allclose(found["x"], 0.8 * center, rtol=1e-5)
    assert found["step"] == 1
