"""Variables that a graph changes and reads then: a file has what is read in one run, and keeps nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.onnx.graphs import CannotTranslateError


def in_one_run(session: tf.Session, y: tf.Tensor, target: Path, **feeds: Any) -> Any:
    tk.export_onnx(session, target, outputs={"y": y})
    return ort.InferenceSession(str(target)).run(["y"], feeds)[0]


@pytest.mark.parametrize("change", ["assign", "assign_add", "assign_sub"])
def test_what_is_read_is_what_was_assigned_before(change: str, tmp_path: Path) -> None:
    x = np.array([1, 2], np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.float32, [2], name="x")
        total: Any = tf.get_variable("total", initializer=np.array([10, 20], np.float32), use_resource=True)
        before = total.read_value()
        with tf.control_dependencies([before]):
            changed = getattr(tf, change)(total, given).op
        with tf.control_dependencies([changed]):
            y = tf.concat([before, total.read_value()], 0)
        session.run(tf.global_variables_initializer())
        ours = in_one_run(session, y, tmp_path / "m.onnx", x=x)
        np.testing.assert_array_equal(ours, session.run(y, {given: x}))


def test_what_a_branch_assigns_is_not_known_behind_it(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.float32, [], name="x")
        total: Any = tf.get_variable("total", initializer=np.float32(10), use_resource=True)
        chosen = tf.cond(given > 0, lambda: total.assign_add(given).read_value(), lambda: given)
        with tf.control_dependencies([chosen]):
            y = chosen + total.read_value()
        session.run(tf.global_variables_initializer())
        with pytest.raises(CannotTranslateError, match="its variable is changed before, in a way that ONNX cannot"):
            in_one_run(session, y, tmp_path / "m.onnx", x=np.float32(1))


def test_numbers_that_are_drawn_by_a_state_that_changes_are_drawn_in_each_run(tmp_path: Path) -> None:
    """As Keras' layers do, whose seed is a variable that they add to."""
    with tf.Graph().as_default(), tf.Session() as session:
        state: Any = tf.get_variable("state", initializer=np.array([1, 2]), use_resource=True)
        seed = state.read_value()
        with tf.control_dependencies([seed]):
            changed = tf.assign_add(state, [0, 1]).op
        with tf.control_dependencies([changed]):
            y = tf.random.stateless_uniform([100], tf.identity(seed))
        session.run(tf.global_variables_initializer())
        done = tk.export_onnx(session, tmp_path / "m.onnx", outputs={"y": y}, verify=True)
    assert done.verification is not None
    assert done.verification.remarks == ["the model is random: only types and shapes were compared"]
    run = ort.InferenceSession(str(tmp_path / "m.onnx")).run
    assert np.any(run(["y"], {})[0] != run(["y"], {})[0])


def test_numbers_that_are_drawn_by_a_known_seed_are_those_of_the_model(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        calls: Any = tf.get_variable("calls", initializer=0.0, use_resource=True)
        with tf.control_dependencies([tf.assign_add(calls, 1.0).op]):
            y = tf.random.stateless_uniform([100], [1, 2])
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(in_one_run(session, y, tmp_path / "m.onnx"), session.run(y))
