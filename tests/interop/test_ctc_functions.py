"""`tf.nn.ctc_*` beside TensorFlow: equal graphs, equal results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as ours
from tests.interop.programs import build, tensorflow_1

LOGITS = np.random.default_rng(4).standard_normal((7, 2, 5)).astype(np.float32)
LENGTHS = np.array([7, 3], np.int32)


def loss(tf: Any) -> Any:
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 3, 2]), [2, 2])
    return tf.nn.ctc_loss(labels, tf.constant(LOGITS), LENGTHS)


@pytest.mark.parametrize(
    "program",
    [
        loss,
        lambda tf: tf.nn.ctc_greedy_decoder(tf.constant(LOGITS), LENGTHS),
        lambda tf: tf.nn.ctc_beam_search_decoder(tf.constant(LOGITS), LENGTHS, beam_width=20, top_paths=2),
        lambda tf: tf.nn.ctc_beam_search_decoder_v2(tf.constant(LOGITS), LENGTHS, top_paths=3),
    ],
    ids=["loss", "greedy", "beams", "beams that keep repeated labels"],
)
def test_the_graph_and_the_values_are_tensorflows(program: Any) -> None:
    build(program, ours).expect_same_values(tolerance=1e-5)


def sparse_loss(tf: Any, blank: int) -> Any:
    labels = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([1, 3, 2]), [2, 2])
    return tf.nn.ctc_loss_v2(labels, tf.constant(LOGITS), None, LENGTHS, blank_index=blank)


LABELS = np.array([[3, 3, 1, 0], [2, 0, 0, 0]], np.int32)


@pytest.mark.parametrize(
    "program",
    [
        lambda tf: sparse_loss(tf, -1),
        lambda tf: sparse_loss(tf, 0),
        lambda tf: tf.nn.collapse_repeated(tf.constant(LABELS), tf.constant([4, 2])),
        lambda tf: tf.nn.ctc_unique_labels(tf.constant(LABELS)),
    ],
    ids=["last", "first", "collapsed", "unique"],
)
def test_the_second_version_has_tensorflows_graph(program: Any) -> None:
    build(program, ours).expect_same_values(tolerance=1e-5)


@pytest.mark.parametrize("blank", [None, 0, 4, -1, 2])
@pytest.mark.parametrize("time_major", [True, False])
def test_the_loss_of_dense_labels_is_tensorflows(blank: int | None, time_major: bool) -> None:
    """TensorFlow adds a loop of its own to the graph, where here labels become sparse."""
    labels = np.where((blank or 0) % 5 == LABELS, 1, LABELS) if blank else LABELS
    logits = LOGITS if time_major else LOGITS.swapaxes(0, 1)

    def outcome(tf: Any) -> Any:
        with tf.Graph().as_default(), tf.Session() as session:
            given = tf.constant(logits)
            loss = tf.nn.ctc_loss_v2(
                tf.constant(labels), given, tf.constant([3, 1]), LENGTHS, time_major, blank_index=blank
            )
            return session.run([loss, tf.gradients(loss, given)[0]])

    with tensorflow_1():
        theirs = outcome(tf.compat.v1)
    for mine, other in zip(outcome(ours), theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-6)
