"""`tf.losses`: the same program text builds TensorFlow's nodes, gives its values, fills its collections."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.errors import TensorKeepError
from tensorkeep.tf1.functions.nn import losses
from tests.interop.nn_programs import OURS, expect_close, namespace, same
from tests.interop.programs import build

LOSSES = namespace(losses)
TF = SimpleNamespace(**{**vars(OURS), "losses": LOSSES})
LABELS = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 1.0]], np.float32)
GUESSES = np.array([[0.9, 0.2, 0.4], [0.6, 0.7, 0.1]], np.float32)
PAIRS = [
    "absolute_difference",
    "hinge_loss",
    "huber_loss",
    "log_loss",
    "mean_pairwise_squared_error",
    "mean_squared_error",
    "sigmoid_cross_entropy",
    "softmax_cross_entropy",
]
FUNCTIONS = [name for name in sorted(vars(LOSSES)) if name != "Reduction"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_signatures_are_those_of_compat_v1(name: str) -> None:
    ours, theirs = inspect.signature(getattr(LOSSES, name)), inspect.signature(getattr(tf.compat.v1.losses, name))
    assert [(key, p.default) for key, p in ours.parameters.items()] == [
        (key, p.default) for key, p in theirs.parameters.items()
    ]


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("weights", [1.0, 0.0, 2, [[1.0], [0.0]], [[1.0, 0, 2], [0, 3, 1]]])
def test_losses_of_known_shapes(name: str, weights: Any) -> None:
    def program(tf: Any) -> Any:
        guesses = tf.constant(GUESSES)
        function = getattr(tf.losses, name)
        loss = function(LABELS, guesses, weights=_fitting(name, weights))
        return [loss, function(tf.constant(LABELS), guesses, scope="named"), tf.gradients(loss, guesses)]

    same(program, ours=TF)


def _fitting(name: str, weights: Any) -> Any:
    """Weights of the rank of what they weigh: rows, for the softmax."""
    if name == "softmax_cross_entropy" and isinstance(weights, list):
        return [row[0] for row in weights]
    if name == "mean_pairwise_squared_error" and isinstance(weights, list) and len(weights[0]) == 3:
        return [[row[0]] for row in weights]
    return weights


@pytest.mark.parametrize("reduction", losses.Reduction.all())
def test_reductions(reduction: str) -> None:
    def program(tf: Any) -> Any:
        weights = tf.constant([[1.0], [0.0]])
        return [
            tf.losses.mean_squared_error(LABELS, GUESSES, weights, reduction=reduction),
            tf.losses.compute_weighted_loss(tf.constant(GUESSES), 2.0, reduction=reduction, loss_collection=None),
        ]

    same(program, ours=TF)


def test_losses_with_arguments() -> None:
    def program(tf: Any) -> Any:
        return [
            tf.losses.huber_loss(LABELS, GUESSES, delta=0.5),
            tf.losses.log_loss(LABELS, GUESSES, epsilon=1e-3),
            tf.losses.cosine_distance(LABELS, GUESSES, axis=1),
            tf.losses.cosine_distance(LABELS, GUESSES, dim=0, scope="cosine"),
            tf.losses.sigmoid_cross_entropy(LABELS, GUESSES, label_smoothing=0.1),
            tf.losses.softmax_cross_entropy(LABELS, GUESSES, label_smoothing=0.1),
            tf.losses.sparse_softmax_cross_entropy([0, 2], tf.constant(GUESSES)),
            tf.losses.sparse_softmax_cross_entropy([[0], [2]], tf.constant(GUESSES), weights=[[1.0], [0.5]]),
        ]

    same(program, ours=TF)


def test_the_collection_of_losses_and_their_sum() -> None:
    def program(tf: Any) -> Any:
        tf.losses.mean_squared_error(LABELS, GUESSES)
        tf.losses.add_loss(tf.constant(3.0, name="more"))
        tf.losses.absolute_difference(LABELS, GUESSES, loss_collection="others")
        names = [loss.name for loss in tf.losses.get_losses()]
        assert names == ["mean_squared_error/value:0", "more:0"]
        assert [loss.name for loss in tf.losses.get_losses(scope="mo")] == ["more:0"]
        assert len(tf.losses.get_losses(loss_collection="others")) == 1
        assert tf.losses.get_regularization_losses() == []
        return [tf.losses.get_total_loss(), tf.losses.get_regularization_loss()]

    same(program, ours=TF)


def test_losses_of_shapes_that_are_not_known() -> None:
    def program(tf: Any) -> Any:
        labels = tf.placeholder(tf.float32, [None, 3], name="labels")
        guesses = tf.placeholder(tf.float32, [None, 3], name="guesses")
        return [
            tf.losses.mean_squared_error(labels, guesses),
            tf.losses.softmax_cross_entropy(labels, guesses),
            tf.losses.sparse_softmax_cross_entropy(tf.placeholder(tf.int32, [None], name="classes"), guesses),
        ]

    feeds = {"labels:0": LABELS, "guesses:0": GUESSES, "classes:0": np.array([0, 2], np.int32)}
    expect_close(build(program, TF), feeds)


def test_weights_are_checked_when_the_graph_runs() -> None:
    def program(tf: Any) -> Any:
        guesses = tf.placeholder(tf.float32, [None, 3], name="guesses")
        weights = tf.placeholder(tf.float32, [None, None], name="weights")
        return tf.losses.mean_squared_error(guesses * 2, guesses, weights)

    build(program, TF)


def test_weights_that_do_not_fit_are_refused() -> None:
    def program(tf: Any) -> Any:
        return tf.losses.mean_squared_error(LABELS, GUESSES, weights=[1.0, 2.0])

    with pytest.raises(TensorKeepError, match="weights can not be broadcast"):
        build(program, TF)
