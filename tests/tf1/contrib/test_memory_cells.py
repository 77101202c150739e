"""The neural Turing machine: steps as NumPy computes them of the variables that TensorFlow 1.15 names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError

rnn: Any = tf.contrib.rnn
BATCH, STEPS, DEPTH, UNITS, SIZE, WIDTH = 3, 4, 2, 5, 6, 4
DRAWN = np.random.default_rng(4)
X = DRAWN.normal(size=(BATCH, STEPS, DEPTH)).astype("f")


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def softplus(x: Any) -> Any:
    return np.log1p(np.exp(x))


def pointed(head: Any, memory: Any, before: Any, shift: int) -> Any:
    """Sections 3.3.1 and 3.3.2 of "Neural Turing Machines", for one example."""
    key, beta, gate = np.tanh(head[:WIDTH]), softplus(head[WIDTH]), sigmoid(head[WIDTH + 1])
    shifts, gamma = softmax(head[WIDTH + 2 : WIDTH + 3 + 2 * shift]), softplus(head[-1]) + 1
    alike = memory @ key / (np.linalg.norm(memory, axis=1) * np.linalg.norm(key) + 1e-8)
    mixed = gate * softmax(beta * alike) + (1 - gate) * before
    turned = np.zeros(SIZE)
    for place in range(-shift, shift + 1):
        for i in range(SIZE):
            turned[i] += shifts[place] * mixed[(i - place) % SIZE]
    return turned**gamma / (turned**gamma).sum()


def machine(w: dict[str, Any], reads: int, writes: int, shift: int) -> tuple[Any, Any]:
    """The outputs of all steps and the last memory, each example by itself, with a plain network as the controller."""
    outputs = np.zeros((BATCH, STEPS, DEPTH))
    memories = []
    heads = reads + writes
    for example in range(BATCH):
        memory = w["memory"].astype(float)
        read = [np.tanh(w[f"initial_read_vector_{i}"][0]) for i in range(reads)]
        where = [softmax(w[f"initial_address_weights_{i}"][0]) for i in range(heads)]
        h = np.zeros(UNITS)
        for step in range(STEPS):
            joined = np.concatenate([X[example, step], *read, h])
            h = np.tanh(joined @ w["basic_rnn_cell/kernel"] + w["basic_rnn_cell/bias"])
            told = np.clip(h @ w["parameters_kernel"] + w["parameters_bias"], -20, 20)
            parts = told[: heads * (WIDTH + 2 * shift + 4)].reshape(heads, -1)
            where = [pointed(part, memory, old, shift) for part, old in zip(parts, where, strict=True)]
            read = [place @ memory for place in where[:reads]]
            changes = told[heads * (WIDTH + 2 * shift + 4) :].reshape(writes, 2, WIDTH)
            for place, (erased, added) in zip(where[reads:], changes, strict=True):
                memory = memory * (1 - np.outer(place, sigmoid(erased))) + np.outer(place, np.tanh(added))
            outputs[example, step] = np.concatenate([h, *read]) @ w["output_kernel"] + w["output_bias"]
        memories.append(memory)
    return outputs, np.stack(memories)


@pytest.mark.parametrize(("reads", "writes", "shift", "batch"), [(1, 1, 1, BATCH), (2, 1, 2, None), (1, 0, 1, None)])
def test_steps_of_a_machine_are_those_of_the_paper(reads: int, writes: int, shift: int, batch: int | None) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        cell = rnn.NTMCell(rnn.BasicRNNCell(UNITS), SIZE, WIDTH, reads, writes, shift_range=shift, output_dim=DEPTH)
        fed = tf.placeholder(tf.float32, [batch, STEPS, DEPTH])
        start = cell.zero_state(tf.shape(fed)[0] if batch is None else batch, tf.float32)
        outputs, last = tf.nn.dynamic_rnn(cell, fed, initial_state=start, dtype=tf.float32)
        state: Any = last
        gradients = tf.gradients(tf.reduce_sum(tf.square(outputs)), tf.trainable_variables())
        session.run(tf.global_variables_initializer())
        for variable in tf.trainable_variables():
            drawn = DRAWN.normal(size=variable.shape.as_list(), scale=0.7).astype("f")
            variable.load(drawn, session)
        weights = {item.op.name.removeprefix("rnn/ntm_cell/"): session.run(item) for item in tf.trainable_variables()}
        found, memory, time = session.run([outputs, state.M, state.time], {fed: X})
        slopes = session.run([gradient for gradient in gradients if gradient is not None], {fed: X})
    expected, expected_memory = machine(weights, reads, writes, shift)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(memory, expected_memory, rtol=1e-4, atol=1e-5)
    assert time == STEPS
    assert len(slopes) == len(weights)
    assert all(np.isfinite(slope).all() for slope in slopes)


def test_a_machine_without_a_size_of_outputs_has_that_of_its_inputs() -> None:
    with tf.Graph().as_default():
        cell = rnn.NTMCell(rnn.LSTMCell(UNITS), SIZE, WIDTH, 1, 1)
        output, _ = cell(tf.zeros([1, 7]), cell.zero_state(1, tf.float32))
        assert output.shape.as_list() == [1, 7]
        assert cell.output_size == 7


def test_a_memory_that_is_too_small_for_its_shifts_is_refused() -> None:
    with tf.Graph().as_default(), pytest.raises(InvalidArgumentError, match="at least 5"):
        rnn.NTMCell(rnn.BasicRNNCell(UNITS), 4, WIDTH, 1, 1, shift_range=2)


def test_normalized_weights_train_in_a_loop() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        outputs, _ = tf.nn.dynamic_rnn(rnn.WeightNormLSTMCell(UNITS), X, dtype=tf.float32)
        loss = tf.reduce_mean(tf.square(outputs - 0.5))
        train = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
        session.run(tf.global_variables_initializer())
        before = session.run(loss)
        for _ in range(20):
            session.run(train)
        assert session.run(loss) < before / 2
        assert [variable.op.name for variable in tf.trainable_variables()] == [
            f"rnn/wn_lstm_cell/wn_lstm_cell/{name}" for name in ("kernel", "norm_0", "norm_1", "bias")
        ]
