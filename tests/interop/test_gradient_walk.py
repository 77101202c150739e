"""The reverse walk beside TensorFlow's: starts, sums, gates, colocation, and what is not connected."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.interop.test_control_flow_functions import check

MATRIX = np.linspace(-1, 1, 6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"aggregation_method": 1},
        {"aggregation_method": 2},
        {"gate_gradients": True},
        {"colocate_gradients_with_ops": True},
        {"unconnected_gradients": "zero"},
        {"name": "backwards"},
    ],
)
@pytest.mark.parametrize("shape", [[2, 3], [None, 3], None])
def test_options(options: dict[str, Any], shape: Any) -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, shape, name="x")
        far = tf.placeholder(tf.float32, [2], name="far")
        with tf.device("/cpu:1"):
            a = tf.Tanh(x=x) * x
        y = a + x * x - x
        return tf.gradients([y, a], [x, a, far] if "unconnected_gradients" in options else [x, a], **options)

    check(program, {"x": MATRIX, "far": [1.0, 2.0]})


def test_gradients_that_are_given() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        y = tf.Tanh(x=x)
        z = y * x
        first = tf.gradients([z, y], [x, y], grad_ys=[None, tf.constant(1.0, shape=[2, 3])])
        second = tf.gradients([z, y], x, grad_ys=[2.0 * x, np.ones((2, 3), np.float32)], name="gradients_of_numbers")
        return first, second, tf.gradients(z, x, stop_gradients=[y])

    check(program, {"x": MATRIX})


def test_sums_of_slices() -> None:
    def program(tf: Any) -> Any:
        table = tf.placeholder(tf.float32, [5, 3], name="table")
        ids = tf.placeholder(tf.int32, [2], name="ids")
        wide = tf.placeholder(tf.int64, [2], name="wide")
        one, two = tf.GatherV2(table, ids, 0), tf.GatherV2(table, wide, 0)
        return tf.gradients(one * two, table), tf.gradients([one, table * table], table)

    check(program, {"table": np.arange(15, dtype=np.float32).reshape(5, 3), "ids": [0, 3], "wide": [4, 0]})


def test_gradients_of_gradients() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None], name="x")
        first = tf.gradients(tf.Tanh(x=x) * x, x)[0]
        return tf.gradients(first, x)

    check(program, {"x": MATRIX[0]})
