"""`tf.metrics`: the same program text builds TensorFlow's nodes, and counts as they do, batch after batch."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as tk
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.v1 import metrics
from tests.interop.graph_comparison import assert_same_nodes, our_nodes, their_nodes
from tests.interop.programs import tensorflow_1

LABELS = np.array([[1, 0, 1], [0, 1, 1]], np.float32)
GUESSES = np.array([[0.9, 0.2, 0.4], [0.6, 0.7, 0.1]], np.float32)
WEIGHTS = np.array([[1.0, 0.5, 2.0], [0.0, 3.0, 1.0]], np.float32)
SCORES = np.array([[0.1, 0.6, 0.2, 0.7], [0.9, 0.3, 0.4, 0.2]], np.float32)
CLASSES = np.array([[3, 0], [2, 9]], np.int64)

PAIRS = [
    "accuracy",
    "false_negatives",
    "false_positives",
    "mean_absolute_error",
    "mean_squared_error",
    "precision",
    "recall",
    "root_mean_squared_error",
    "true_negatives",
    "true_positives",
]
AT_THRESHOLDS = [name for name in metrics.__all__ if name.endswith("_at_thresholds")]
COLLECTIONS = ["local_variables", "metric_variables", "variables", "trainable_variables", "a", "b", "values", "updates"]
Program = Callable[[Any], Any]


def same(program: Program, feeds: dict[str, Any] | None = None, times: int = 2) -> None:
    """Nodes, collections, and the values of `times` updates and of the metric after each are TensorFlow's."""
    results = []
    with tk.Graph().as_default() as graph:
        made = program(tk)
        ours = our_nodes(graph)
        with tk.Session() as session:
            session.run(tk.local_variables_initializer())
            results.append([[session.run(made[i], feeds) for i in (1, 0)] for _ in range(times)])
        names = {key: [item.name for item in tk.get_collection(key)] for key in COLLECTIONS}
    v1 = tf.compat.v1
    with tensorflow_1(), tf.Graph().as_default() as their_graph:
        made = program(v1)
        theirs = their_nodes(their_graph)
        with v1.Session() as session:
            session.run(v1.local_variables_initializer())
            results.append([[session.run(made[i], feeds) for i in (1, 0)] for _ in range(times)])
        their_names = {key: [item.name for item in v1.get_collection(key)] for key in COLLECTIONS}
    assert_same_nodes(ours, theirs)
    assert list(ours) == list(theirs)
    assert names == their_names
    for mine, other in zip(*results, strict=True):
        for found, expected in zip(mine, other, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("name", metrics.__all__)
def test_signatures_are_those_of_compat_v1(name: str) -> None:
    ours, theirs = inspect.signature(getattr(metrics, name)), inspect.signature(getattr(tf.compat.v1.metrics, name))
    assert [(key, p.default) for key, p in ours.parameters.items()] == [
        (key, p.default) for key, p in theirs.parameters.items()
    ]


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("weights", [None, 2.0, WEIGHTS, WEIGHTS[:, :1]], ids=["none", "number", "full", "column"])
def test_metrics_of_known_shapes(name: str, weights: Any) -> None:
    given = weights if weights is None or name not in PAIRS[-3:] or np.size(weights) != 2 else WEIGHTS
    same(lambda tf: getattr(tf.metrics, name)(tf.constant(LABELS), tf.constant(GUESSES), given))


@pytest.mark.parametrize("name", ["accuracy", "precision", "mean_squared_error"])
def test_metrics_of_shapes_that_only_a_run_tells(name: str) -> None:
    def program(tf: Any) -> Any:
        labels = tf.placeholder(tf.float32, name="labels")
        guesses = tf.placeholder(tf.float32, [None, 3], name="guesses")
        weights = tf.placeholder(tf.float32, name="weights")
        return getattr(tf.metrics, name)(
            labels, guesses, weights, metrics_collections=["values"], updates_collections=["updates"], name="told"
        )

    same(program, {"labels:0": LABELS, "guesses:0": GUESSES, "weights:0": WEIGHTS})


def test_labels_of_one_more_dimension_are_squeezed() -> None:
    def program(tf: Any) -> Any:
        labels = tf.constant(LABELS[:, :, None])
        return tf.metrics.accuracy(labels, tf.constant(GUESSES > 0.5), tf.constant(WEIGHTS[:, :, None]))

    same(program)


def test_means() -> None:
    same(lambda tf: tf.metrics.mean(GUESSES))
    same(lambda tf: tf.metrics.mean(tf.constant(GUESSES), tf.constant(WEIGHTS), ["a", "b"], ["c"]))
    same(lambda tf: tf.metrics.mean_tensor(tf.constant(GUESSES)))
    same(lambda tf: tf.metrics.mean_tensor(tf.constant(GUESSES), WEIGHTS, ["a"], ["c"], "named"))
    same(lambda tf: tf.metrics.percentage_below(tf.constant(GUESSES), 0.5, WEIGHTS))
    same(lambda tf: tf.metrics.mean_cosine_distance(tf.constant(LABELS), GUESSES, 1, [[1.0], [2.0]], ["a"], ["b"]))
    same(lambda tf: tf.metrics.mean_relative_error(tf.constant(LABELS), GUESSES, tf.constant(LABELS)))


def test_metrics_of_classes() -> None:
    labels, found = np.array([[0, 1, 2], [2, 1, 0]]), np.array([[0, 2, 2], [2, 1, 1]])
    for weights in (None, WEIGHTS):

        def program(tf: Any, name: str = "mean_iou", weights: Any = weights) -> Any:
            given = None if weights is None else tf.constant(weights)
            return getattr(tf.metrics, name)(tf.constant(labels), tf.constant(found), 3, given, ["a"], ["b"])

        same(program)
        same(partial(program, name="mean_per_class_accuracy"))


@pytest.mark.parametrize("name", AT_THRESHOLDS)
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_metrics_at_thresholds(name: str, weights: Any) -> None:
    same(lambda tf: getattr(tf.metrics, name)(tf.constant(LABELS), tf.constant(GUESSES), [0.2, 0.5, 0.65], weights))


@pytest.mark.parametrize("curve", ["ROC", "PR"])
@pytest.mark.parametrize("summation", ["trapezoidal", "careful_interpolation", "minoring", "majoring"])
def test_areas_under_curves(curve: str, summation: str) -> None:
    def program(tf: Any) -> Any:
        guesses = tf.placeholder(tf.float32, [None, 3], name="guesses")
        return tf.metrics.auc(
            tf.constant(LABELS), guesses, WEIGHTS, 7, ["a"], ["b"], curve=curve, summation_method=summation
        )

    same(program, {"guesses:0": GUESSES})


def test_points_of_curves() -> None:
    same(lambda tf: tf.metrics.auc(tf.constant(LABELS), tf.constant(GUESSES), thresholds=[0.7, 0.3]))
    for name in ("sensitivity_at_specificity", "specificity_at_sensitivity"):
        same(partial(_point, name=name))


def _point(tf: Any, name: str) -> Any:
    return getattr(tf.metrics, name)(tf.constant(LABELS), tf.constant(GUESSES), 0.6)


@pytest.mark.parametrize("name", ["recall_at_k", "precision_at_k", "sparse_precision_at_k"])
@pytest.mark.parametrize("class_id", [None, 2])
def test_the_best_of_a_ranking(name: str, class_id: int | None) -> None:
    def program(tf: Any, weights: Any = None) -> Any:
        return getattr(tf.metrics, name)(tf.constant(CLASSES), tf.constant(SCORES), 2, class_id, weights, ["a"], ["b"])

    same(program)
    same(lambda tf: program(tf, tf.constant([1.0, 0.5])))


@pytest.mark.parametrize("name", ["recall_at_top_k", "precision_at_top_k"])
def test_the_best_of_a_ranking_that_is_given(name: str) -> None:
    best = np.array([[3, 1], [0, 2]])
    same(lambda tf: getattr(tf.metrics, name)(tf.constant(CLASSES), tf.constant(best)))
    same(lambda tf: getattr(tf.metrics, name)(tf.constant(CLASSES[:, 0]), tf.constant(best), 2))


@pytest.mark.parametrize("name", ["recall_at_k", "precision_at_k", "average_precision_at_k"])
def test_sparse_labels(name: str) -> None:
    def program(tf: Any) -> Any:
        labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([3, 1, 2], tf.int64), [2, 2])
        return getattr(tf.metrics, name)(labels, tf.constant(SCORES), 3)

    same(program)


@pytest.mark.parametrize("k", [1, 3])
def test_average_precision(k: int) -> None:
    same(lambda tf: tf.metrics.average_precision_at_k(tf.constant(CLASSES), tf.constant(SCORES), k))
    same(lambda tf: tf.metrics.sparse_average_precision_at_k(tf.constant(CLASSES), SCORES, k, [1.0, 2.0], ["a"], ["b"]))


def test_resource_variables_count_as_well() -> None:
    def program(tf: Any) -> Any:
        tf.enable_resource_variables()
        try:
            return tf.metrics.precision(tf.constant(LABELS), tf.constant(GUESSES > 0.5))
        finally:
            tf.disable_resource_variables()

    same(program)


def test_what_cannot_be_measured_is_refused() -> None:
    with tk.Graph().as_default():
        labels, guesses = tk.constant(LABELS), tk.constant(GUESSES)
        wrongs: list[Callable[[], Any]] = [
            lambda: metrics.auc(labels, guesses, curve="XY"),
            lambda: metrics.auc(labels, guesses, summation_method="no"),
            lambda: metrics.sensitivity_at_specificity(labels, guesses, 1.5),
            lambda: metrics.specificity_at_sensitivity(labels, guesses, -1),
            lambda: metrics.average_precision_at_k(labels, guesses, 0),
            lambda: metrics.accuracy(labels, guesses[:, :2]),
        ]
        for wrong in wrongs:
            with pytest.raises(InvalidArgumentError):
                wrong()
