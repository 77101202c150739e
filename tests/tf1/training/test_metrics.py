"""Metrics count over batches, with local variables that no checkpoint holds."""

from __future__ import annotations

import numpy as np
import pytest

import tensorkeep.v1 as tf


def test_a_metric_counts_over_batches_until_it_is_begun_anew() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        labels, found = tf.placeholder(tf.int64, [None]), tf.placeholder(tf.int64, [None])
        value, update = tf.metrics.accuracy(labels, found)
        session.run(tf.local_variables_initializer())
        assert session.run(value) == 0
        assert session.run(update, {labels: [1, 2, 3], found: [1, 2, 0]}) == pytest.approx(2 / 3)
        assert session.run(update, {labels: [5], found: [5]}) == pytest.approx(3 / 4)
        assert session.run(value) == pytest.approx(3 / 4)
        session.run(tf.local_variables_initializer())
        assert session.run(value) == 0


def test_what_a_metric_counts_with_is_local() -> None:
    with tf.Graph().as_default():
        tf.metrics.auc(tf.constant([1.0, 0.0]), tf.constant([0.8, 0.3]))
        kinds = [tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES]
        assert [len(tf.get_collection(kind)) for kind in kinds] == [4, 4]
        assert not tf.global_variables()
        assert not tf.trainable_variables()


def test_precision_and_recall_of_a_known_case() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        labels, found = np.array([1, 1, 0, 0, 1]), np.array([1, 0, 1, 0, 1])
        updates = [metric(labels, found)[1] for metric in (tf.metrics.precision, tf.metrics.recall)]
        session.run(tf.local_variables_initializer())
        assert session.run(updates) == pytest.approx([2 / 3, 2 / 3])
