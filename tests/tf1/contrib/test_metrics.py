"""`tf.contrib.metrics`: the measures of `tf.metrics`, with predictions first."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tests.tf1.contrib.running import values

metrics = tf.contrib.metrics
PREDICTIONS, LABELS = np.array([1, 0, 1, 1]), np.array([1, 1, 0, 1])


def updated(build: Any) -> Any:
    return values(lambda: build()[1])[0]


def test_measures_take_predictions_first() -> None:
    found = {
        name: updated(lambda name=name: getattr(metrics, name)(PREDICTIONS, LABELS))
        for name in ("streaming_accuracy", "streaming_precision", "streaming_recall", "streaming_false_positives")
    }
    assert found == pytest.approx(
        {
            "streaming_accuracy": 0.5,
            "streaming_precision": 2 / 3,
            "streaming_recall": 2 / 3,
            "streaming_false_positives": 1.0,
        }
    )
    scores = np.array([0.9, 0.1, 0.8, 0.7], np.float32)
    at = updated(lambda: metrics.streaming_precision_at_thresholds(scores, LABELS.astype(bool), [0.75], name="p"))
    assert at.tolist() == pytest.approx([0.5])
    logits = np.eye(3, dtype=np.float32)
    assert updated(lambda: metrics.streaming_recall_at_k(logits, [0, 1, 0], 1)) == pytest.approx(2 / 3)
    assert updated(
        lambda: metrics.streaming_sparse_precision_at_k(logits, np.array([[0], [1], [0]]), 1)
    ) == pytest.approx(2 / 3)
    assert updated(lambda: metrics.streaming_mean_iou(PREDICTIONS, LABELS, 2)).shape == (2, 2)


def test_signatures_are_those_of_contrib() -> None:
    shown = list(inspect.signature(metrics.streaming_auc).parameters)
    assert shown[:4] == ["predictions", "labels", "weights", "num_thresholds"]
    shown = list(inspect.signature(metrics.streaming_mean_relative_error).parameters)
    assert shown[:4] == ["predictions", "labels", "normalizer", "weights"]


def test_measures_are_kept_by_name_and_accuracy_is_of_one_batch() -> None:
    def build() -> Any:
        both = {"accuracy": metrics.streaming_accuracy(PREDICTIONS, LABELS), "mean": metrics.streaming_mean([1.0, 3.0])}
        names_to_values, names_to_updates = metrics.aggregate_metric_map(both)
        assert list(names_to_values) == list(names_to_updates) == ["accuracy", "mean"]
        alone = metrics.accuracy(tf.constant(PREDICTIONS), tf.constant(LABELS), weights=[1.0, 0.0, 0.0, 1.0])
        return names_to_updates, alone, metrics.aggregate_metrics(*both.values())[1]

    (named, alone, listed), _ = values(build)
    assert named["accuracy"] == 0.5
    assert named["mean"] == 2.0
    assert alone == 1.0
    assert len(listed) == 2
    with pytest.raises(ValueError, match="at least one"):
        metrics.aggregate_metrics()
