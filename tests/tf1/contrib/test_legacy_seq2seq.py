"""`tf.contrib.legacy_seq2seq`: variables under TensorFlow 1's names, and outputs that are fed back."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tests.tf1.contrib.running import values

legacy, rnn = tf.contrib.legacy_seq2seq, tf.contrib.rnn
READ = [np.array([1, 2]), np.array([3, 4])]
WRITTEN = [np.array([0, 0]), np.array([1, 2]), np.array([3, 4])]


def model(kind: str, feeds: Any = False) -> Any:
    cell = rnn.GRUCell(4)
    build = getattr(legacy, kind)
    read, written = [tf.constant(item) for item in READ], [tf.constant(item) for item in WRITTEN]
    return build(read, written, cell, 5, 6, 3, feed_previous=feeds, dtype=tf.float32)


@pytest.mark.parametrize("kind", ["embedding_rnn_seq2seq", "embedding_attention_seq2seq"])
def test_what_is_fed_back_is_the_row_of_the_likeliest_symbol(kind: str) -> None:
    def build() -> Any:
        with tf.variable_scope("a") as scope:
            fed, _ = model(kind, True)
            scope.reuse_variables()
            # What was written by itself is read again as given: the outputs must be the same.
            cell = rnn.GRUCell(4)
            symbols = [tf.constant(WRITTEN[0]), *(tf.argmax(item, 1) for item in fed[:-1])]
            given, _ = getattr(legacy, kind)(
                [tf.constant(item) for item in READ], symbols, cell, 5, 6, 3, dtype=tf.float32
            )
            chosen, _ = model(kind, tf.constant(True))
            return fed, given, chosen

    (fed, given, chosen), variables = values(build)
    np.testing.assert_allclose(fed, given, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(fed, chosen, rtol=1e-5, atol=1e-6)
    assert fed[0].shape == (2, 6)
    if kind == "embedding_rnn_seq2seq":
        prefix = "a/embedding_rnn_seq2seq"
        assert f"{prefix}/rnn/embedding_wrapper/embedding" in variables
        assert f"{prefix}/embedding_rnn_decoder/rnn_decoder/output_projection_wrapper/kernel" in variables
    else:
        prefix = "a/embedding_attention_seq2seq/embedding_attention_decoder"
        assert variables[f"{prefix}/attention_decoder/AttnW_0"].shape == (1, 1, 4, 4)
        assert variables[f"{prefix}/attention_decoder/AttnOutputProjection/kernel"].shape == (10, 6)


def test_cells_can_be_two_or_one() -> None:
    def build() -> Any:
        steps = [tf.constant(np.eye(2, 3, dtype=np.float32))] * 2
        with tf.variable_scope("two"):
            two, _ = legacy.basic_rnn_seq2seq(steps, steps, rnn.BasicRNNCell(3))
        with tf.variable_scope("one"):
            one, _ = legacy.tied_rnn_seq2seq(steps, steps, rnn.BasicRNNCell(3))
        return two, one

    _, variables = values(build)
    assert len([name for name in variables if name.startswith("two/") and name.endswith("kernel")]) == 2
    assert len([name for name in variables if name.startswith("one/") and name.endswith("kernel")]) == 1


def test_losses_of_lists_of_steps_and_of_buckets() -> None:
    logits = np.random.default_rng(0).normal(size=(3, 2, 6)).astype(np.float32)
    weights = np.array([[1, 1], [1, 0], [1, 0]], np.float32)

    def build() -> Any:
        parts = [list(map(tf.constant, values)) for values in (logits, WRITTEN, weights)]
        buckets = [(1, 2), (2, 3)]
        read = [tf.constant(item) for item in READ]

        def network(x: Any, y: Any) -> Any:
            return legacy.embedding_rnn_seq2seq(x, y, rnn.GRUCell(4), 5, 6, 3, dtype=tf.float32)

        _, losses = legacy.model_with_buckets(read, parts[1], parts[1], parts[2], buckets, network)
        return legacy.sequence_loss_by_example(*parts), legacy.sequence_loss(*parts), losses

    (by_example, whole, losses), _ = values(build)
    entropy = np.log(np.exp(logits).sum(-1)) - np.take_along_axis(logits, np.array(WRITTEN)[..., None], -1)[..., 0]
    expected = (entropy * weights).sum(0) / weights.sum(0)
    np.testing.assert_allclose(by_example, expected, rtol=1e-5)
    np.testing.assert_allclose(whole, expected.sum() / 2, rtol=1e-5)
    assert len(losses) == 2
    with pytest.raises(ValueError, match="must be the same"):
        legacy.sequence_loss_by_example([1], [1, 2], [1])
