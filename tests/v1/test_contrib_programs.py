"""Programs as they were written for `tf.contrib`: a slim net trained and evaluated, translation, a tagger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

slim = tf.contrib.slim


def images_of_classes(count: int) -> tuple[Any, Any]:
    """Images that are bright on the left or on the right."""
    random = np.random.default_rng(0)
    labels = random.integers(0, 2, size=count)
    images = random.normal(0, 0.3, size=(count, 8, 8, 1)).astype(np.float32)
    for image, label in zip(images, labels, strict=True):
        image[:, 4 * label : 4 * label + 4] += 1.0
    return images, labels


def network(images: Any, is_training: bool) -> Any:
    with (
        slim.arg_scope(
            [slim.conv2d, slim.fully_connected],
            weights_regularizer=slim.l2_regularizer(0.0005),
            normalizer_fn=slim.batch_norm,
            normalizer_params={"is_training": is_training, "decay": 0.8},
        ),
        slim.arg_scope([slim.dropout], is_training=is_training),
        tf.variable_scope("Net"),
    ):
        net = slim.repeat(images, 2, slim.conv2d, 4, [3, 3], scope="conv")
        net = slim.max_pool2d(net, [2, 2], scope="pool")
        net = slim.dropout(slim.flatten(net), 0.9, scope="dropout")
        return slim.fully_connected(net, 2, activation_fn=None, normalizer_fn=None, scope="logits")


def test_a_slim_net_is_trained_saved_and_evaluated(tmp_path: Path) -> None:
    images, labels = images_of_classes(64)
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        tf.losses.sparse_softmax_cross_entropy(labels, network(tf.constant(images), True))
        total = tf.losses.get_total_loss()
        tf.summary.scalar("loss", total)
        train_op = slim.learning.create_train_op(
            total, tf.train.AdamOptimizer(0.01), clip_gradient_norm=5.0, summarize_gradients=True
        )
        loss = slim.learning.train(train_op, str(tmp_path), number_of_steps=40, log_every_n_steps=10)
    assert loss < 0.5
    checkpoint = tf.train.latest_checkpoint(str(tmp_path))
    assert checkpoint is not None
    assert checkpoint.endswith("-40")
    names = [name for name, _ in tf.train.list_variables(checkpoint)]
    assert {"Net/conv/conv_1/weights", "Net/conv/conv_2/BatchNorm/moving_mean", "Net/logits/biases"} <= set(names)
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        predictions = tf.argmax(network(tf.constant(images), False), 1)
        accuracy, update = tf.metrics.accuracy(labels, predictions)
        told = {"num_evals": 2, "eval_op": update, "final_op": accuracy}
        found = slim.evaluation.evaluate_once("", checkpoint, str(tmp_path / "eval"), **told)
        assert found > 0.9
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        predictions = tf.argmax(network(tf.constant(images), False), 1)
        accuracy, update = tf.metrics.accuracy(labels, predictions)
        again = slim.evaluation.evaluation_loop(
            "",
            str(tmp_path),
            str(tmp_path / "eval"),
            eval_op=update,
            final_op=accuracy,
            max_number_of_evaluations=1,
            eval_interval_secs=0,
        )
        assert again == pytest.approx(found)


def test_training_goes_on_from_a_checkpoint_and_refuses_what_makes_no_sense(tmp_path: Path) -> None:
    def train(steps: int) -> Any:
        with tf.Graph().as_default():
            x = tf.get_variable("x", initializer=4.0)
            train_op = slim.learning.create_train_op(tf.square(x), tf.train.GradientDescentOptimizer(0.25))
            return slim.learning.train(train_op, str(tmp_path), number_of_steps=steps, log_every_n_steps=0)

    assert train(1) == 16.0
    assert train(3) == 1.0  # the values of x are 4, 2 and 1
    with pytest.raises(ValueError, match="number_of_steps"):
        slim.learning.train(tf.constant(1.0), str(tmp_path), number_of_steps=0)
    with pytest.raises(ValueError, match="logdir=None"):
        slim.learning.train(tf.constant(1.0), None, saver=1)


WORDS, GO, END, LENGTH = 8, 1, 2, 3


def translated(is_training: bool, source: Any, target: Any) -> Any:
    """A network that reads a text and writes one: the loss, or what a beam search with three beams writes."""
    seq2seq, beams = tf.contrib.seq2seq, 3
    table = tf.get_variable("embedding", [WORDS, 8])
    memory, state = tf.nn.dynamic_rnn(
        tf.contrib.rnn.GRUCell(24), tf.nn.embedding_lookup(table, source), dtype=tf.float32, scope="encoder"
    )
    rows = len(source)
    if not is_training:
        memory, state = seq2seq.tile_batch(memory, beams), seq2seq.tile_batch(state, beams)
    mechanism = seq2seq.LuongAttention(24, memory)
    cell = seq2seq.AttentionWrapper(tf.contrib.rnn.GRUCell(24), mechanism, attention_layer_size=24)
    layer = tf.layers.Dense(WORDS, use_bias=False, name="words")
    count = rows if is_training else rows * beams
    first = cell.zero_state(count, tf.float32).clone(cell_state=state)
    if not is_training:
        decoder = seq2seq.BeamSearchDecoder(cell, table, tf.fill([rows], GO), END, first, beams, layer)
        outputs, _, _ = seq2seq.dynamic_decode(decoder, maximum_iterations=LENGTH + 1)
        return outputs.predicted_ids
    inputs = np.concatenate([np.full((rows, 1), GO), target[:, :-1]], 1)
    helper = seq2seq.TrainingHelper(tf.nn.embedding_lookup(table, inputs), np.full(rows, LENGTH + 1))
    outputs, _, _ = seq2seq.dynamic_decode(seq2seq.BasicDecoder(cell, helper, first, layer))
    return seq2seq.sequence_loss(outputs.rnn_output, target, np.ones(target.shape, np.float32))


def test_texts_are_turned_around_by_attention_and_beam_search(tmp_path: Path) -> None:
    source = np.random.default_rng(0).integers(3, WORDS, size=(40, LENGTH))
    target = np.concatenate([source[:, ::-1], np.full((40, 1), END)], 1)
    path = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        loss = translated(True, source, target)
        step = tf.contrib.layers.optimize_loss(
            loss, tf.train.get_or_create_global_step(), 0.02, "Adam", clip_gradients=5.0
        )
        session.run(tf.global_variables_initializer())
        for _ in range(120):
            last = session.run(step)
        tf.train.Saver(tf.trainable_variables()).save(session, path)
    assert last < 0.1
    with tf.Graph().as_default(), tf.Session() as session:
        tokens = translated(False, source[:10], target)
        tf.train.Saver(tf.trainable_variables()).restore(session, path)
        found = session.run(tokens)
    right = (found[:, : LENGTH + 1, 0] == target[:10]).all(1)
    assert right.mean() >= 0.9


def test_a_tagger_learns_which_tags_follow_each_other() -> None:
    random = np.random.default_rng(0)
    lengths = random.integers(2, 7, size=30)
    tags = np.zeros((30, 6), np.int64)
    for row in range(30):  # each tag is the one after the last, and words hint at it
        tags[row] = (random.integers(0, 3) + np.arange(6)) % 3
    words = np.where(random.uniform(size=tags.shape) < 0.7, tags, random.integers(0, 3, size=tags.shape))
    with tf.Graph().as_default(), tf.Session() as session:
        tf.set_random_seed(1)
        inputs = tf.contrib.layers.embed_sequence(words, vocab_size=3, embed_dim=4)
        outputs, _ = tf.nn.bidirectional_dynamic_rnn(
            tf.contrib.rnn.LSTMCell(6), tf.contrib.rnn.LSTMCell(6), inputs, lengths, dtype=tf.float32
        )
        scores = tf.contrib.layers.fully_connected(tf.concat(outputs, -1), 3, activation_fn=None)
        likelihood, transitions = tf.contrib.crf.crf_log_likelihood(scores, tags, lengths)
        step = tf.train.AdamOptimizer(0.05).minimize(tf.reduce_mean(-likelihood))
        best, _ = tf.contrib.crf.crf_decode(scores, transitions, lengths)
        session.run(tf.global_variables_initializer())
        for _ in range(60):
            session.run(step)
        found, learned = session.run([best, transitions])
    mask = np.arange(6)[None] < lengths[:, None]
    assert (found == tags)[mask].mean() > 0.95
    assert learned.argmax(1).tolist() == [1, 2, 0]
