"""Clipping, learning rates, gradients of one's own: the same graphs and values as TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import tensorflow

import tensorkeep.v1 as ours
from tests.interop.programs import build

PROGRAMS: list[Callable[[Any], Any]] = []
X = np.array([[3.0, -4.0], [0.5, 12.0]], np.float32)


def program(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    PROGRAMS.append(function)
    return function


def inputs(tf: Any) -> Any:
    return tf.placeholder(tf.float32, [None, 2], name="x")


@program
def clip_by_value(tf: Any) -> Any:
    return [tf.clip_by_value(inputs(tf), -1.0, 5.0), tf.clip_by_value(tf.constant([1, 9]), 2, 3)]


@program
def clip_by_norm(tf: Any) -> Any:
    x = inputs(tf)
    return [tf.clip_by_norm(x, 2.0), tf.clip_by_norm(x, 2.0, axes=[1]), tf.clip_by_norm(x, tf.constant(3.0))]


@program
def clip_by_global_norm(tf: Any) -> Any:
    x = inputs(tf)
    clipped, norm = tf.clip_by_global_norm([x, None, x * 2.0], 1.5)
    return [clipped[0], clipped[2], norm, tf.global_norm([x, x])]


@program
def clip_by_average_norm(tf: Any) -> Any:
    return [tf.clip_by_average_norm(inputs(tf), 0.3)]


@program
def gradients_of_clipping(tf: Any) -> Any:
    x = inputs(tf)
    return tf.gradients([tf.clip_by_value(x, -1.0, 5.0), tf.clip_by_norm(x, 2.0)], x)


def _steps(tf: Any) -> list[Any]:
    return [tf.constant(step, tf.int64) for step in (0, 3, 10, 47)]


@program
def exponential_decays(tf: Any) -> Any:
    found = [tf.train.exponential_decay(0.1, step, 10, 0.5) for step in _steps(tf)]
    found += [tf.train.exponential_decay(0.1, step, 10, 0.5, staircase=True, name="stairs") for step in _steps(tf)]
    return found + [tf.train.natural_exp_decay(0.1, step, 10, 0.5) for step in _steps(tf)]


@program
def inverse_time_decays(tf: Any) -> Any:
    return [
        tf.train.inverse_time_decay(0.1, step, 10, 0.5, staircase=flag) for step in _steps(tf) for flag in (False, True)
    ]


@program
def polynomial_decays(tf: Any) -> Any:
    return [
        tf.train.polynomial_decay(0.1, step, 20, 0.01, power=2.0, cycle=flag)
        for step in _steps(tf)
        for flag in (False, True)
    ]


@program
def piecewise_constants(tf: Any) -> Any:
    return [tf.train.piecewise_constant(step, [5, 20], [0.1, 0.05, 0.01]) for step in _steps(tf)]


@program
def cosine_decays(tf: Any) -> Any:
    found = [tf.train.cosine_decay(0.1, step, 20, alpha=0.1) for step in _steps(tf)]
    found += [tf.train.cosine_decay_restarts(0.1, step, 5, t_mul=rate) for step in _steps(tf) for rate in (1.0, 2.0)]
    return found + [tf.train.linear_cosine_decay(0.1, step, 20) for step in _steps(tf)]


@program
def noisy_decay(tf: Any) -> Any:
    return [tf.train.noisy_linear_cosine_decay(0.1, step, 20) for step in _steps(tf)]


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda function: function.__name__)
def test_graphs_and_values_equal_tensorflows(function: Callable[[Any], Any]) -> None:
    built = build(function, ours, seed=5)
    uses_x = "x" in built.graph
    for mine, other in built.run(feeds={"x:0": X} if uses_x else None):
        for a, b in zip(mine, other, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-7)


def custom(tf: Any) -> Any:
    @tf.custom_gradient
    def log1pexp(x: Any) -> Any:
        e = tf.exp(x)

        def grad(dy: Any) -> Any:
            return dy * (1 - 1 / (1 + e)) * 3.0

        return tf.log(1 + e), grad

    x = inputs(tf)
    y = log1pexp(x)
    return [y, *tf.gradients(y, x)]


def overridden(tf: Any) -> Any:
    x = inputs(tf)
    with tf.get_default_graph().gradient_override_map({"Square": "TripledSquare"}):
        y = tf.square(x)
    return tf.gradients(y + tf.square(x), x)


def test_a_gradient_of_ones_own_is_used() -> None:
    with ours.Graph().as_default() as graph:
        y, dx = custom(ours)
        value, gradient = ours.Session(graph=graph).run([y, dx], {"x:0": X / 10})
    np.testing.assert_allclose(value, np.log1p(np.exp(X / 10)), rtol=1e-5)
    np.testing.assert_allclose(gradient, 3 / (1 + np.exp(-X / 10)), rtol=1e-5)


def test_a_registered_gradient_takes_the_place_of_an_ops_own() -> None:
    @ours.RegisterGradient("TripledSquare")
    def tripled(op: Any, dy: Any) -> Any:
        return dy * 6.0 * op.inputs[0]

    with ours.Graph().as_default() as graph:
        (dx,) = overridden(ours)
        gradient = ours.Session(graph=graph).run(dx, {"x:0": X})
    np.testing.assert_allclose(gradient, 8 * X, rtol=1e-6)


def rounded_as_it_passes(tf: Any) -> Any:
    x = inputs(tf)
    with tf.get_default_graph().gradient_override_map({"Round": "Identity", "Sign": "Square"}):
        y = tf.round(x) + tf.sign(x)
    return tf.gradients(y, x)


def test_an_op_takes_the_gradient_of_another() -> None:
    found = []
    for tf in (ours, tensorflow.compat.v1):
        with tf.Graph().as_default() as graph:
            (dx,) = rounded_as_it_passes(tf)
            found.append(tf.Session(graph=graph).run(dx, {"x:0": X}))
    np.testing.assert_array_equal(*found)
    np.testing.assert_allclose(found[0], 1 + 2 * X)


def test_second_derivatives() -> None:
    def twice(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [2], name="x")
        return tf.hessians(tf.reduce_sum(x**3) + x[0] * x[1], x)

    built = build(twice, ours)
    ((mine, other),) = built.run(feeds={"x:0": np.array([1.0, 2.0], np.float32)})
    np.testing.assert_allclose(mine[0], [[6, 1], [1, 12]], rtol=1e-6)
    np.testing.assert_allclose(mine[0], other[0], rtol=1e-6)
