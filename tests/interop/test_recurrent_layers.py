"""Recurrent cells and networks: the same program text builds TensorFlow's nodes, and gives its values."""

from __future__ import annotations

import warnings
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import tensorflow as tf
from tensorflow.python.keras.layers.legacy_rnn import rnn_cell_impl
from tensorflow.python.ops import rnn

from tensorkeep.errors import TensorKeepError
from tensorkeep.tf1.layers import recurrent
from tensorkeep.tf1.variables.listing import global_variables_initializer, trainable_variables
from tensorkeep.v1.nn import rnn_cell
from tests.interop.nn_programs import OURS, expect_close, namespace
from tests.interop.programs import Built, build

v1 = tf.compat.v1
LOOPS = ("bidirectional_dynamic_rnn", "dynamic_rnn", "static_bidirectional_rnn", "static_rnn")
OUR_NN = SimpleNamespace(**vars(namespace(recurrent)), rnn_cell=rnn_cell, relu=OURS.nn.relu)
THEIR_NN = SimpleNamespace(**{name: getattr(rnn, name) for name in LOOPS}, rnn_cell=rnn_cell_impl, relu=tf.nn.relu)
COMMON = {"global_variables_initializer": global_variables_initializer, "trainable_variables": trainable_variables}
TF = SimpleNamespace(**{**vars(OURS), **COMMON, "nn": OUR_NN})
THEIRS = SimpleNamespace(
    nn=THEIR_NN,
    constant=tf.constant,
    placeholder=v1.placeholder,
    float32=tf.float32,
    int32=tf.int32,
    gradients=v1.gradients,
    reduce_sum=v1.reduce_sum,
    global_variables_initializer=v1.global_variables_initializer,
    trainable_variables=v1.trainable_variables,
)
SEQUENCES = (np.arange(2 * 4 * 3, dtype=np.float32).reshape(2, 4, 3) % 7 - 3) / 4
STEPS = [SEQUENCES[:, step] for step in range(4)]


def same(program: Any, feeds: dict[str, Any] | None = None, *, runs: bool = True) -> Built:
    def whole(tf: Any) -> Any:
        result = program(tf)
        tf.global_variables_initializer()
        return result

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        built = build(whole, TF, THEIRS, seed=11)
    if runs:
        expect_close(built, feeds, prepare="init")
    return built


CELLS = {
    "basic": lambda cells: cells.BasicRNNCell(4),
    "gru": lambda cells: cells.GRUCell(4),
    "basic_lstm": lambda cells: cells.BasicLSTMCell(4),
    "lstm": lambda cells: cells.LSTMCell(4),
    "joined_state": lambda cells: cells.BasicLSTMCell(4, state_is_tuple=False),
    "rich_lstm": lambda cells: cells.LSTMCell(
        4, use_peepholes=True, cell_clip=0.5, num_proj=2, proj_clip=0.3, forget_bias=0.5
    ),
    "stacked": lambda cells: cells.MultiRNNCell([cells.BasicLSTMCell(4), cells.GRUCell(3)]),
    "residual": lambda cells: cells.ResidualWrapper(cells.BasicRNNCell(3)),
    "dropped": lambda cells: cells.DropoutWrapper(
        cells.BasicLSTMCell(4), input_keep_prob=0.8, output_keep_prob=0.5, state_keep_prob=0.9, seed=3
    ),
    "placed": lambda cells: cells.DeviceWrapper(cells.GRUCell(2), "/cpu:0"),
}


@pytest.mark.parametrize("name", sorted(CELLS))
def test_one_step_of_a_cell(name: str) -> None:
    def program(tf: Any) -> Any:
        cell = CELLS[name](tf.nn.rnn_cell)
        x = tf.constant(STEPS[0])
        return cell(x, cell.zero_state(2, tf.float32))

    same(program)


@pytest.mark.parametrize("name", sorted(CELLS))
def test_a_network_by_a_loop(name: str) -> None:
    def program(tf: Any) -> Any:
        cell = CELLS[name](tf.nn.rnn_cell)
        return tf.nn.dynamic_rnn(cell, tf.constant(SEQUENCES), dtype=tf.float32)

    same(program, runs=name != "dropped")  # TensorFlow draws for several steps at once, in any order


@pytest.mark.parametrize("name", ["basic", "basic_lstm", "stacked"])
def test_sequences_of_several_lengths(name: str) -> None:
    def program(tf: Any) -> Any:
        cell = CELLS[name](tf.nn.rnn_cell)
        outputs, state = tf.nn.dynamic_rnn(cell, tf.constant(SEQUENCES), sequence_length=[2, 4], dtype=tf.float32)
        static = tf.nn.static_rnn(
            CELLS[name](tf.nn.rnn_cell),
            [tf.constant(step) for step in STEPS],
            dtype=tf.float32,
            sequence_length=[2, 4],
            scope="static",
        )
        return [outputs, state, static]

    same(program)


def test_shapes_that_are_not_known() -> None:
    def program(tf: Any) -> Any:
        x = tf.placeholder(tf.float32, [None, None, 3], name="x")
        lengths = tf.placeholder(tf.int32, [None], name="lengths")
        return tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(4), x, lengths, dtype=tf.float32)

    same(program, {"x:0": SEQUENCES, "lengths:0": np.array([1, 3], np.int32)})


def test_time_first_and_a_given_state() -> None:
    def program(tf: Any) -> Any:
        state = tf.constant(np.ones((4, 5), np.float32))
        cell = tf.nn.rnn_cell.BasicRNNCell(5, activation=tf.nn.relu)
        return tf.nn.dynamic_rnn(cell, tf.constant(SEQUENCES), initial_state=state, time_major=True, scope="mine")

    same(program)


def test_both_directions() -> None:
    def program(tf: Any) -> Any:
        cells = tf.nn.rnn_cell
        x, steps = tf.constant(SEQUENCES), [tf.constant(step) for step in STEPS]
        both = tf.nn.bidirectional_dynamic_rnn
        return [
            both(cells.GRUCell(2), cells.GRUCell(3), x, dtype=tf.float32),
            both(cells.GRUCell(2), cells.GRUCell(3), x, [2, 4], dtype=tf.float32, scope="lengths"),
            tf.nn.static_bidirectional_rnn(
                cells.BasicRNNCell(2), cells.BasicRNNCell(3), steps, dtype=tf.float32, scope="static"
            ),
        ]

    same(program)


@pytest.mark.parametrize("name", ["basic", "basic_lstm", "stacked"])
def test_gradients_through_time(name: str) -> None:
    def program(tf: Any) -> Any:
        x = tf.constant(SEQUENCES)
        outputs, _ = tf.nn.dynamic_rnn(CELLS[name](tf.nn.rnn_cell), x, dtype=tf.float32)
        return tf.gradients(tf.reduce_sum(outputs), [x, *tf.trainable_variables()])

    same(program)


def test_what_is_not_a_cell_is_refused() -> None:
    def program(tf: Any) -> Any:
        return tf.nn.dynamic_rnn(object(), tf.constant(SEQUENCES), dtype=tf.float32)

    with pytest.raises(TensorKeepError, match="is not an RNNCell"):
        build(program, TF, THEIRS)
