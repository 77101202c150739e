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


def streamed(build: Any, rows: Any) -> tuple[list[Any], Any]:
    """The updates of a measure batch by batch, and its value after them."""
    with tf.Graph().as_default(), tf.Session() as session:
        feeds = [tf.placeholder(tf.float32, [None]) for _ in rows[0]]
        value, update = build(*feeds)
        session.run(tf.local_variables_initializer())
        found = [session.run(update, dict(zip(feeds, row, strict=True))) for row in rows]
        return found, session.run(value)


def test_covariance_and_correlation_are_those_of_all_values_together() -> None:
    random = np.random.default_rng(3)
    x, y, w = random.normal(size=(3, 12)).astype(np.float32)
    y, w = y + x, np.abs(w)
    batches = [(slice(0, 1)), slice(1, 5), slice(5, 12)]
    for weights in (None, w):
        rows = [[part[at] for part in ((x, y) if weights is None else (x, y, w))] for at in batches]
        updates, value = streamed(metrics.streaming_covariance, rows)
        used = np.ones(12) if weights is None else w
        means = np.average(x, weights=used), np.average(y, weights=used)
        expected = np.sum(used * (x - means[0]) * (y - means[1])) / (used.sum() - 1)
        assert value == pytest.approx(expected, rel=1e-4)
        assert updates[-1] == pytest.approx(value)
        if weights is None:
            assert np.isnan(updates[0])
            correlation = streamed(metrics.streaming_pearson_correlation, rows)[1]
            assert correlation == pytest.approx(np.corrcoef(x, y)[0, 1], rel=1e-4)


def test_agreement_beyond_chance() -> None:
    labels, found = np.array([0, 0, 1, 1, 2, 2, 2]), np.array([0, 1, 1, 1, 2, 0, 2])
    rows = [[part[at].astype(np.float32) for part in (labels, found)] for at in (slice(0, 3), slice(3, 7))]
    value = streamed(lambda a, b: metrics.cohen_kappa(tf.cast(a, tf.int64), tf.cast(b, tf.int64), 3), rows)[1]
    expected = sum(np.mean(labels == k) * np.mean(found == k) for k in range(3))
    assert value == pytest.approx((np.mean(labels == found) - expected) / (1 - expected))
    with pytest.raises(ValueError, match="num_classes"):
        metrics.cohen_kappa([0], [0], 1)
    assert streamed(metrics.count, [[np.zeros(3)], [np.zeros(2)]])[1] == 5
    assert streamed(lambda x: metrics.count(x, 0.5), [[np.zeros(3)]])[1] == 1.5


def test_rates_of_what_is_taken_for_the_other() -> None:
    predictions, labels = np.array([1, 0, 1, 1, 0], np.float32), np.array([1, 1, 0, 1, 0], np.float32)
    rows = [[part[at] for part in (predictions, labels)] for at in (slice(0, 2), slice(2, 5))]
    assert streamed(metrics.streaming_false_positive_rate, rows)[1] == 0.5
    found, value = streamed(metrics.streaming_false_negative_rate, rows)
    assert (value, found) == (pytest.approx(1 / 3), [0.5, pytest.approx(1 / 3)])


@pytest.mark.parametrize(("axis", "most"), [(0, None), (0, 3), (1, None), (-1, 2)])
def test_batches_are_joined_as_they_come(axis: int, most: int | None) -> None:
    batches = [np.full([count, 2], count, np.float32) for count in (1, 2, 3)]
    given = [batch if axis == 0 else batch.T for batch in batches]
    with tf.Graph().as_default():
        batch = tf.placeholder(tf.float32, [None, 2] if axis == 0 else [2, None])
        value, update = metrics.streaming_concat(batch, axis=axis, max_size=most)
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            last = [session.run(update, {batch: item}) for item in given][-1]
            found = session.run(value)
    whole = np.concatenate(given, axis)
    expected = whole if most is None else whole[:most] if axis == 0 else whole[:, :most]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(last, expected)
    assert value.shape.as_list() == batch.shape.as_list()


def test_batches_to_be_joined_have_a_known_rank_and_axis() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"axis = 2 not in \[0, 2\)"):
        metrics.streaming_concat(np.zeros([1, 2]), axis=2)
    with tf.Graph().as_default(), pytest.raises(tf.errors.InvalidArgumentError, match="other than 0 must be known"):
        metrics.streaming_concat(tf.placeholder(tf.float32, [None, None]))
