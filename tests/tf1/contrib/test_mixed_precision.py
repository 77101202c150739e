"""`tf.contrib.mixed_precision` beside a model of it in plain Python."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError

scaling: Any = tf.contrib.mixed_precision
LARGEST = np.float32(np.finfo(np.float32).max)


@dataclass
class Model:
    """What the documentation of TensorFlow 1.15 says of the manager."""

    scale: Any
    good_every: int
    bad_every: int
    up: float
    down: float
    good: int = 0
    bad: int = 0

    def step(self, is_finite: bool) -> list[Any]:
        if is_finite and self.good + 1 < self.good_every:
            self.good += 1
        elif is_finite:
            with np.errstate(over="ignore"):
                larger = np.float32(self.scale * np.float32(self.up))
            self.scale = larger if np.isfinite(larger) else self.scale
            self.good = self.bad = 0
        elif self.bad + 1 < self.bad_every:
            self.bad, self.good = self.bad + 1, 0
        else:
            self.scale = max(np.float32(1), np.float32(self.scale * np.float32(self.down)))
            self.good = self.bad = 0
        return [self.scale, self.good, self.bad]


@pytest.mark.parametrize("start", [8.0, 1.1, float(LARGEST / 2)])
@pytest.mark.parametrize("use_resource", [False, True])
def test_the_scale_follows_the_gradients(start: float, use_resource: bool) -> None:
    model = Model(np.float32(start), 3, 2, 2.0, 0.5)
    rng = np.random.default_rng(3)
    with tf.Graph().as_default(), tf.variable_scope("", use_resource=use_resource), tf.Session() as session:
        factor = tf.placeholder(tf.float32, [])
        w = tf.get_variable("w", initializer=np.ones(2, np.float32))
        manager = scaling.ExponentialUpdateLossScaleManager(start, 3, 2, 2, 0.5)
        assert isinstance(manager, scaling.LossScaleManager)
        names = ["w:0", "loss_scale:0", "good_steps:0", "bad_steps:0"]
        assert [variable.name for variable in tf.global_variables()] == names
        assert [variable.name for variable in tf.trainable_variables()] == ["w:0"]
        optimizer = scaling.LossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), manager)
        step = tf.train.get_or_create_global_step()
        train = optimizer.minimize(tf.reduce_sum(w) * factor, step)
        kept = tf.global_variables()[1:4]
        session.run(tf.global_variables_initializer())
        value, steps = np.ones(2, np.float32), 0
        for is_finite in (rng.random(40) < 0.7).tolist():
            session.run(train, {factor: 2**-20 if is_finite else np.nan})
            value, steps = value - 2**-20 * is_finite, steps + is_finite
            assert session.run(kept) == model.step(is_finite)
            np.testing.assert_array_equal(session.run(w), value)
            assert session.run(step) == steps


def test_gradients_are_those_of_the_loss_itself() -> None:
    """The scale keeps what is computed in float16 from being lost; gradients have the types of their variables."""
    with tf.Graph().as_default(), tf.Session() as session:
        w = tf.get_variable("w", initializer=np.float32(1))
        rows = tf.get_variable("rows", initializer=np.ones((3, 2), np.float32))
        unused = tf.get_variable("unused", initializer=np.float32(1))
        small = tf.cast(w, tf.float16) * tf.constant(2.0**-14, tf.float16) * tf.constant(2.0**-14, tf.float16)
        loss = tf.cast(small, tf.float32) * 2.0**-3 + tf.reduce_sum(tf.nn.embedding_lookup(rows, [1, 1])) * 3
        found = []
        for scale in (1, 2**15):
            optimizer = scaling.LossScaleOptimizer(tf.train.AdamOptimizer(0.1), scaling.FixedLossScaleManager(scale))
            pairs = optimizer.compute_gradients(loss, [w, rows, unused])
            assert pairs[2] == (None, unused)
            train = optimizer.apply_gradients(pairs)
            session.run(tf.global_variables_initializer())
            found.append(session.run([pairs[0][0], pairs[1][0].values]))
            session.run(train)
            assert optimizer.get_slot_names() == ["m", "v"]
            assert optimizer.get_slot(w, "m") in optimizer.variables()
        assert found[0][0] == 0
        assert found[1][0] == np.float32(2.0**-31)
        np.testing.assert_array_equal(found[1][1], np.full((2, 2), 3, np.float32))


def test_a_step_that_is_not_finite_is_left_out_of_slots_too() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        factor = tf.placeholder(tf.float32, [])
        w = tf.get_variable("w", initializer=np.float32(1))
        optimizer = scaling.LossScaleOptimizer(tf.train.MomentumOptimizer(0.1, 0.9), scaling.FixedLossScaleManager(2))
        train = optimizer.minimize(w * factor)
        session.run(tf.global_variables_initializer())
        for value in (np.inf, 1.0, np.nan):
            session.run(train, {factor: value})
        np.testing.assert_allclose(session.run([w, optimizer.get_slot(w, "momentum")]), [0.9, 1.0])


def test_a_scale_below_one_is_refused() -> None:
    with tf.Graph().as_default(), pytest.raises(InvalidArgumentError, match="at least 1"):
        scaling.FixedLossScaleManager(0.5)
