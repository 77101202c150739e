"""Predictors of SavedModels and of estimators."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf


def model(features: Any, labels: Any, mode: str) -> Any:
    y = tf.layers.dense(features["x"], 1, name="dense", kernel_initializer=tf.ones_initializer())
    if mode == tf.estimator.ModeKeys.PREDICT:
        output = tf.estimator.export.PredictOutput({"y": y})
        return tf.estimator.EstimatorSpec(mode, predictions={"y": y}, export_outputs={"serving_default": output})
    loss = tf.losses.mean_squared_error(labels, y)
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)


def examples() -> Any:
    x = np.ones((4, 2), np.float32)
    return tf.data.Dataset.from_tensors(({"x": x}, np.zeros((4, 1), np.float32))).repeat()


def test_both_kinds_predict_what_the_estimator_does(tmp_path: Path) -> None:
    estimator = tf.estimator.Estimator(model, str(tmp_path / "run"))

    def receive() -> Any:
        return tf.estimator.export.ServingInputReceiver(*[{"x": tf.placeholder(tf.float32, [None, 2], "x")}] * 2)

    predictor = tf.contrib.predictor
    with pytest.raises(tf.errors.FailedPreconditionError, match="Couldn't find trained model"):
        predictor.from_estimator(estimator, receive)
    estimator.train(examples, steps=2)
    [expected, *_] = estimator.predict(lambda: examples().take(1))
    folder = estimator.export_savedmodel(str(tmp_path / "export"), receive)
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as session:
        assert "serving_default" in tf.saved_model.loader.load(session, ["serve"], folder).signature_def
    for made in (
        predictor.from_estimator(estimator, receive),
        predictor.from_saved_model(folder),
        predictor.from_saved_model(folder, input_names={"x": "x:0"}, output_names={"y": "dense/BiasAdd:0"}),
    ):
        assert (sorted(made.feed_tensors), sorted(made.fetch_tensors)) == (["x"], ["y"])
        np.testing.assert_array_equal(made({"x": np.ones((1, 2), np.float32)})["y"], [expected["y"]])
        assert made.session.graph is made.graph
        with pytest.raises(ValueError, match=r"unexpected keys in input_dict: \['z'\]\nexpected: \['x'\]"):
            made({"z": 1})


def test_choices_that_are_none_are_told(tmp_path: Path) -> None:
    predictor = tf.contrib.predictor
    with pytest.raises(ValueError, match="at most one of"):
        predictor.from_saved_model(str(tmp_path), "a", input_names={}, output_names={})
    with pytest.raises(ValueError, match="must both be specified"):
        predictor.from_saved_model(str(tmp_path), input_names={})
    with pytest.raises(tf.errors.UnimplementedError, match="from_saved_model"):
        predictor.from_contrib_estimator(None, None)
