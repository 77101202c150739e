"""Names of TensorFlow before 1.0, under the paths that programs of 2016 import."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.v1.programs.finding import module_at

LOGITS = [np.array([[2.0, 0.0, 1.0], [0.0, 1.0, 0.5]], np.float32), np.array([[0.0, 3.0, 1.0]] * 2, np.float32)]
TARGETS = [np.array([0, 2]), np.array([1, 1])]
WEIGHTS = [np.array([1.0, 1.0], np.float32), np.array([1.0, 0.0], np.float32)]


def module(path: str) -> Any:
    found = module_at(path)
    assert found is not None
    return found


def test_paths_of_2016_lead_to_the_names_of_later_ones() -> None:
    for path in ("models.rnn.seq2seq", "python.ops.seq2seq"):
        assert module(path).embedding_attention_seq2seq is tf.contrib.legacy_seq2seq.embedding_attention_seq2seq
        assert module(path).sequence_loss_by_example is tf.nn.seq2seq.sequence_loss_by_example
    rnn = module("models.rnn")
    assert rnn.rnn.rnn is tf.nn.static_rnn
    assert rnn.rnn.bidirectional_rnn is tf.nn.static_bidirectional_rnn
    assert rnn.rnn_cell.BasicLSTMCell is tf.nn.rnn_cell.BasicLSTMCell
    assert rnn.rnn_cell.EmbeddingWrapper is tf.nn.rnn_cell.EmbeddingWrapper is tf.contrib.rnn.EmbeddingWrapper
    assert callable(rnn.ptb.reader.ptb_raw_data)
    assert callable(rnn.ptb.reader._read_words)


@pytest.mark.parametrize(
    ("path", "instead"),
    [
        ("models.rnn.translate.data_utils", "put a copy beside the program"),
        ("models.image.cifar10.cifar10_input", "put a copy beside the program"),
        ("python.summary.event_accumulator", r"tf\.train\.summary_iterator reads files of events"),
        ("tensorboard.backend.event_processing.event_accumulator", r"tf\.train\.summary_iterator reads"),
    ],
)
def test_what_is_not_there_any_more_says_what_to_use(path: str, instead: str) -> None:
    with pytest.raises(AttributeError, match=instead):
        _ = module(path).Something


def test_losses_of_the_first_versions_take_logits_before_labels() -> None:
    def loss(logits: Any, labels: Any) -> Any:
        return tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=labels)

    def decoded(read: Any, written: Any) -> Any:
        return [logit + 0.0 for logit in LOGITS[: len(written)]], None

    with tf.Graph().as_default(), tf.Session() as session:
        old, new = tf.nn.seq2seq, tf.contrib.legacy_seq2seq
        for name in ("sequence_loss_by_example", "sequence_loss"):
            plain = getattr(old, name)(LOGITS, TARGETS, WEIGHTS)
            own = getattr(old, name)(LOGITS, TARGETS, WEIGHTS, softmax_loss_function=loss)
            expected = getattr(new, name)(LOGITS, TARGETS, WEIGHTS)
            for found in (plain, own):
                np.testing.assert_allclose(*session.run([found, expected]), rtol=1e-6)
        buckets = [(1, 1), (2, 2)]
        inputs = [tf.constant(item) for item in TARGETS]
        _, found = old.model_with_buckets(inputs, inputs, TARGETS, WEIGHTS, buckets, decoded, loss)
        _, expected = new.model_with_buckets(inputs, inputs, TARGETS, WEIGHTS, buckets, decoded)
        np.testing.assert_allclose(*session.run([found, expected]), rtol=1e-6)


def test_linear_maps_have_the_variables_of_the_first_versions() -> None:
    linear = module("models.rnn.linear").linear
    with tf.Graph().as_default(), tf.Session() as session:
        left, right = tf.constant([[1.0, 2.0]]), tf.constant([[3.0]])
        made = linear([left, right], 2, True, 0.5)
        linear(left, 2, False, scope="other")
        assert [(item.op.name, item.shape.as_list()) for item in tf.global_variables()] == [
            ("Linear/Matrix", [3, 2]), ("Linear/Bias", [2]), ("other/Matrix", [2, 2]),
        ]  # fmt: skip
        session.run(tf.global_variables_initializer())
        matrix, found = session.run(["Linear/Matrix:0", made])
        np.testing.assert_allclose(found, np.array([[1.0, 2.0, 3.0]]) @ matrix + 0.5, rtol=1e-6)
