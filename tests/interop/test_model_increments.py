"""A model that can take incremental checkpoints is one that TensorFlow loads, where it has no embedding tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow

import tensorkeep.v1 as tf


def test_tensorflow_loads_a_model_with_operations_for_increments_and_can_run_them(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        w = tf.get_variable("w", initializer=2.0)
        y = tf.multiply(x, w, name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(tmp_path / "m"), {"x": x}, {"y": y}, save_incr_model=True)
        session.run(w.assign(3.0))
        changed = tf.train.Saver().save(session, tmp_path / "changed")
    v1 = tensorflow.compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        v1.saved_model.loader.load(session, ["serve"], str(tmp_path / "m"))
        np.testing.assert_array_equal(session.run("y:0", {"x:0": [1.0]}), [2.0])
        session.run("incr_save/restore_all", {"incr_save/Const:0": changed})
        np.testing.assert_array_equal(session.run("y:0", {"x:0": [1.0]}), [3.0])
