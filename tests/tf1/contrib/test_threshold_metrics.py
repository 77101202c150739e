"""Measures of `tf.contrib.metrics` at thresholds, and areas under curves, beside what NumPy counts of all values."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tests.tf1.contrib.running import values

metrics = tf.contrib.metrics
RANDOM = np.random.default_rng(5)
LABELS = RANDOM.integers(0, 2, 24)
SCORES = np.clip(0.25 + 0.35 * LABELS + RANDOM.normal(size=24) * 0.25, 0, 1).round(2).astype(np.float32)
WEIGHTS = RANDOM.uniform(0.5, 2.0, 24).astype(np.float32)


def streamed(build: Any, cuts: tuple[int, ...] = (9, 16), data: Any = None) -> tuple[Any, Any]:
    """The last update of a measure that is shown labels, scores and weights in batches, and its value then."""
    rows = [np.split(item, cuts) for item in (data or (LABELS, SCORES, WEIGHTS))]
    with tf.Graph().as_default(), tf.Session() as session:
        feeds = [tf.placeholder(kind, [None]) for kind in (tf.int64, tf.float32, tf.float32)]
        value, update = build(*feeds)
        session.run(tf.local_variables_initializer())
        last = [session.run(update, dict(zip(feeds, row, strict=True))) for row in zip(*rows, strict=True)][-1]
        return last, session.run(value, dict(zip(feeds, [row[-1] for row in rows], strict=True)))


def thresholds(count: int = 200) -> np.ndarray[Any, Any]:
    return np.array([-1e-7, *(np.arange(1, count - 1) / (count - 1)), 1 + 1e-7])


def counts(weights: Any = 1.0) -> Any:
    above = thresholds()[:, None] < SCORES
    of = [((above == p) & (y == LABELS)) * weights for y, p in ((1, True), (0, True), (0, False), (1, False))]
    return [item.sum(1) for item in of]


def test_the_best_f1_over_thresholds() -> None:
    for weights in (1.0, WEIGHTS):
        tp, fp, _, fn = counts(weights)
        last, value = streamed(
            lambda y, p, w, weights=weights: metrics.f1_score(y, p, None if isinstance(weights, float) else w)
        )
        assert value == pytest.approx((2 * tp / np.maximum(2 * tp + fp + fn, 1e-9)).max(), rel=1e-5)
        assert last == value


@pytest.mark.parametrize("target", [0.0, 0.55, 0.8, 1.0])
def test_one_rate_where_the_other_is_so_much(target: float) -> None:
    tp, fp, _, fn = counts()
    precisions, recalls = tp / (tp + fp + 1e-7), tp / (tp + fn + 1e-7)
    found = streamed(lambda y, p, _: metrics.precision_at_recall(y, p, target))[1]
    assert found == pytest.approx(precisions[np.argmin(abs(recalls - np.float32(target)))], rel=1e-5)
    found = streamed(lambda y, p, _: metrics.recall_at_precision(y, p, target))[1]
    assert found == pytest.approx(recalls[np.argmin(abs(precisions - np.float32(target)))], rel=1e-5)


def test_strictly_no_less_than_a_precision() -> None:
    tp, fp, _, fn = counts()
    precisions, recalls = tp / (tp + fp + 1e-7), tp / (tp + fn + 1e-7)
    strict = streamed(lambda y, p, _: metrics.recall_at_precision(y, p, 0.62, strict_mode=True))[1]
    at = np.argmin(np.where(precisions >= 0.62, precisions, np.inf))
    assert precisions[at] >= 0.62
    assert strict == pytest.approx(recalls[at], rel=1e-5)
    none = (np.zeros(4, np.int64), np.full(4, 0.5, np.float32), np.ones(4, np.float32))
    build = lambda y, p, _: metrics.recall_at_precision(y, p, 0.5, strict_mode=True)  # noqa: E731
    assert streamed(build, (2, 3), none)[1] == 0
    with pytest.raises(ValueError, match=r"in the range \[0, 1\], got 1.5"):
        metrics.recall_at_precision([1], np.array([0.5], np.float32), 1.5)


def test_points_of_curves_and_rates_at_thresholds() -> None:
    tp, fp, tn, fn = counts()
    _, points = streamed(lambda y, p, _: metrics.streaming_curve_points(y, p))
    np.testing.assert_allclose(points, np.stack([fp / (fp + tn), tp / (tp + fn)], 1), atol=1e-5)
    _, points = streamed(lambda y, p, _: metrics.streaming_curve_points(y, p, curve="PR", num_thresholds=200))
    np.testing.assert_allclose(points[:-1, 0], (tp / (tp + fn))[:-1], atol=1e-5)
    np.testing.assert_allclose(points[:, 1], (tp + 1e-6) / (tp + fp + 1e-6), rtol=1e-5)
    limits = [0.2, 0.45]
    above = np.array(limits)[:, None] < SCORES
    rate = streamed(lambda y, p, _: metrics.streaming_false_positive_rate_at_thresholds(p, y, limits))[1]
    np.testing.assert_allclose(rate, (above & (LABELS == 0)).sum(1) / (LABELS == 0).sum(), rtol=1e-5)
    rate = streamed(lambda y, p, w: metrics.streaming_false_negative_rate_at_thresholds(p, y, limits, w))[1]
    missed = (~above & (LABELS == 1)) @ WEIGHTS
    np.testing.assert_allclose(rate, missed / WEIGHTS[LABELS == 1].sum(), rtol=1e-5)
    with pytest.raises(ValueError, match="ROC or PR, no unknown"):
        metrics.streaming_curve_points([1], np.array([0.5], np.float32), curve="no")


def test_bins_between_equal_thresholds() -> None:
    def build(y: Any, p: Any, w: Any) -> Any:
        return metrics.precision_recall_at_equal_thresholds(tf.cast(y, tf.bool), p, w, num_thresholds=5)

    _, data = streamed(build)
    above = np.linspace(0, 1, 5)[:, None] <= SCORES
    tp, fp = (above & (LABELS == 1)) @ WEIGHTS, (above & (LABELS == 0)) @ WEIGHTS
    np.testing.assert_allclose(data.thresholds, np.linspace(0, 1, 5))
    np.testing.assert_allclose(data.tp, tp, rtol=1e-5)
    np.testing.assert_allclose(data.fp, fp, rtol=1e-5)
    np.testing.assert_allclose(data.fn, tp[0] - tp, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(data.tn, fp[0] - fp, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(data.precision, tp / np.maximum(tp + fp, 1e-7), rtol=1e-5)
    np.testing.assert_allclose(data.recall, tp / tp[0], rtol=1e-5)
    assert data.tp.dtype == np.float32


def exact_area(labels: Any, scores: Any, weights: Any) -> float:
    """How likely a positive has a higher score than a negative, ties by half."""
    wins = (scores[:, None] > scores) + 0.5 * (scores[:, None] == scores)
    pairs = np.outer(labels * weights, (1 - labels) * weights)
    return float((wins * pairs).sum() / pairs.sum())


def test_areas_with_every_prediction_as_a_threshold() -> None:
    exact = exact_area(LABELS, SCORES, np.ones(24))
    assert streamed(lambda y, p, _: metrics.streaming_dynamic_auc(y, p))[1] == pytest.approx(exact)
    weighted = streamed(lambda y, p, w: metrics.streaming_dynamic_auc(y, p, weights=w))[1]
    assert weighted == pytest.approx(exact_area(LABELS, SCORES, WEIGHTS), rel=1e-6)
    cuts = sorted(set(SCORES.tolist()), reverse=True)
    hits = np.array([0, *(LABELS[cut <= SCORES].sum() for cut in cuts)])
    precision = np.array([1, *(LABELS[cut <= SCORES].mean() for cut in cuts)])
    recall = hits / LABELS.sum()
    expected = (np.diff(recall) * (precision[1:] + precision[:-1]) / 2).sum()
    assert streamed(lambda y, p, _: metrics.streaming_dynamic_auc(y, p, curve="PR"))[1] == pytest.approx(expected)
    same = (np.ones(4, np.int64), SCORES[:4], np.ones(4, np.float32))
    assert streamed(lambda y, p, _: metrics.streaming_dynamic_auc(y, p), (2, 3), same)[1] == 0
    with pytest.raises(tf.errors.InvalidArgumentError, match="labels must be 0 or 1, at least one is >1"):
        values(lambda: metrics.streaming_dynamic_auc(tf.constant([2]), tf.constant([0.5]))[1])


@pytest.mark.parametrize("logit", [True, False])
def test_an_area_and_the_interval_that_it_is_in(logit: bool) -> None:
    """The deviation is that of DeLong: of how often each score is above those of the other class."""
    _, data = streamed(
        lambda y, p, _: metrics.auc_with_confidence_intervals(y, p, alpha=0.9, logit_transformation=logit)
    )
    positive, negative = SCORES[LABELS == 1], SCORES[LABELS == 0]
    wins = (positive[:, None] > negative) + 0.5 * (positive[:, None] == negative)
    area = wins.mean()
    deviation = np.sqrt(wins.mean(1).var(ddof=1) / len(positive) + wins.mean(0).var(ddof=1) / len(negative))
    z = NormalDist().inv_cdf(0.95)
    ends = area + z * deviation * np.array([-1, 1])
    if logit:
        odds = np.log(area / (1 - area)) + z * deviation / (area * (1 - area)) * np.array([-1, 1])
        ends = 1 / (1 + np.exp(-odds))
    assert data.auc == pytest.approx(area, rel=1e-5)
    np.testing.assert_allclose([data.lower, data.upper], ends, rtol=1e-4)
    with pytest.raises(ValueError, match="alpha must be between 0 and 1"):
        metrics.auc_with_confidence_intervals([1], [0.5], alpha=2.0)


def test_an_interval_of_a_batch_of_one_class_is_nothing() -> None:
    data = (np.array([0, 1, 1, 1]), np.array([0.1, 0.9, 0.8, 0.7], np.float32), np.ones(4, np.float32))
    assert tuple(streamed(lambda y, p, _: metrics.auc_with_confidence_intervals(y, p), (2, 3), data)[1]) == (0, 0, 0)


def test_an_area_by_histograms_approaches_the_exact_one() -> None:
    def build(y: Any, p: Any, _: Any) -> Any:
        return metrics.auc_using_histogram(tf.cast(y, tf.bool), p, [0.0, 1.0], nbins=1000)

    assert streamed(build)[1] == pytest.approx(exact_area(LABELS, SCORES, np.ones(24)), abs=1e-3)
    with tf.Graph().as_default():
        metrics.auc_using_histogram(tf.constant([True]), tf.constant([0.5]), [0.0, 1.0])
        assert [item.op.name for item in tf.local_variables()] == [
            "auc_using_histogram/hist_accumulate/hist_true_acc",
            "auc_using_histogram/hist_accumulate/hist_false_acc",
        ]
        with pytest.raises(ValueError, match="dtype bool"):
            metrics.auc_using_histogram([1], [0.5], [0.0, 1.0])


def test_predicted_classes_are_measured_as_those_of_the_greatest_scores() -> None:
    logits = RANDOM.normal(size=(4, 6)).astype(np.float32)
    labels = np.array([[0, 1], [2, 3], [4, 5], [1, 2]])

    def build() -> Any:
        best = tf.nn.top_k(logits, 3).indices
        wanted = tf.constant(labels, tf.int64)
        return [
            metrics.sparse_recall_at_top_k(wanted, best)[1],
            tf.metrics.recall_at_k(wanted, logits, 3)[1],
            metrics.streaming_sparse_precision_at_top_k(best, wanted)[1],
            tf.metrics.precision_at_k(wanted, logits, 3)[1],
            metrics.streaming_sparse_precision_at_top_k(best, wanted, class_id=2)[1],
            tf.metrics.precision_at_k(wanted, logits, 3, class_id=2)[1],
            metrics.streaming_sparse_average_precision_at_top_k(best, wanted)[1],
            tf.metrics.average_precision_at_k(wanted, logits, 3)[1],
        ]

    found = values(build)[0]
    np.testing.assert_allclose(found[::2], found[1::2])
