"""Metrics of Keras: over batches, started over, of a program's own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError

keras = tf.keras


@pytest.fixture
def session() -> Iterator[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


class _Distinct(keras.metrics.Metric):  # type: ignore[misc]
    """A metric as programs write them: what update_state changes is not all returned."""

    def __init__(self, name: str = "distinct", **kwargs: Any) -> None:
        super().__init__(name=name, **kwargs)
        self.highest = self.add_weight("highest", initializer="zeros")
        self.seen = self.add_weight("seen", initializer="zeros")

    def update_state(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> None:
        self.highest.assign(tf.maximum(self.highest, tf.reduce_max(y_pred)))
        self.seen.assign_add(tf.cast(tf.size(y_pred), "float32"))

    def result(self) -> Any:
        return self.highest + self.seen


def test_a_metric_of_the_programs_own_makes_all_its_changes(session: Any) -> None:
    metric = _Distinct()
    values = tf.placeholder("float32", [3])
    result = metric(values, values)
    keras.backend.get_session()
    assert session.run(result, {values: [1.0, 5.0, 2.0]}) == 8.0
    assert session.run(result, {values: [1.0, 1.0, 2.0]}) == 11.0
    assert len(metric.updates) == 1


def test_a_metric_starts_over(session: Any) -> None:
    metric = keras.metrics.Mean()
    values = tf.placeholder("float32", [None])
    result = metric(values)
    keras.backend.get_session()
    session.run(result, {values: [1.0, 3.0]})
    assert session.run(metric.result()) == 2.0
    metric.reset_states()
    assert session.run(metric.result()) == 0.0


def test_variables_of_metrics_are_in_no_collection(session: Any) -> None:
    metric = keras.metrics.AUC()
    assert not tf.global_variables()
    assert not tf.local_variables()
    assert [item.name for item in metric.weights] == [
        "true_positives:0",
        "true_negatives:0",
        "false_positives:0",
        "false_negatives:0",
    ]


def test_weights_of_batches_reduce_values_of_more_axes(session: Any) -> None:
    mean, total = keras.metrics.Mean(), keras.metrics.Sum()
    values, weights = tf.ones([2, 3, 4, 5]), tf.constant([1.0, 3.0])
    results = [mean(values, sample_weight=weights), total(values, sample_weight=weights)]
    keras.backend.get_session()
    assert session.run(results) == [1.0, 240.0]


def test_a_ratio_at_the_nearest_threshold(session: Any) -> None:
    labels, predictions = tf.constant([0, 0, 0, 1, 1, 1]), tf.constant([0.1, 0.4, 0.6, 0.35, 0.7, 0.9])
    first = keras.metrics.SensitivityAtSpecificity(0.6, num_thresholds=11)
    second = keras.metrics.SpecificityAtSensitivity(1.0, num_thresholds=11)
    results = [first(labels, predictions), second(labels, predictions)]
    keras.backend.get_session()
    np.testing.assert_allclose(session.run(results), [2 / 3, 0.0], atol=0.34)


def test_predictions_that_are_no_probabilities_are_an_error(session: Any) -> None:
    predictions = tf.placeholder("float32", [2])
    metric = keras.metrics.AUC()
    result = metric(tf.constant([0.0, 1.0]), predictions)
    keras.backend.get_session()
    with pytest.raises(InvalidArgumentError, match="predictions must be >= 0"):
        session.run(result, {predictions: [-0.5, 0.5]})


def test_wrong_arguments_are_told(session: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=r"Threshold values must be in \[0, 1\]"):
        keras.metrics.Precision(thresholds=[0.5, 2.0])
    with pytest.raises(InvalidArgumentError, match="Invalid curve"):
        keras.metrics.AUC(curve="QR")
    with pytest.raises(InvalidArgumentError, match="num_thresholds"):
        keras.metrics.AUC(num_thresholds=1)
    with pytest.raises(FailedPreconditionError, match="MeanTensor does not have any result yet"):
        keras.metrics.MeanTensor().result()
    mean = keras.metrics.MeanTensor()
    mean(tf.ones([2]))
    with pytest.raises(InvalidArgumentError, match="always have the same shape"):
        mean(tf.ones([3]))
