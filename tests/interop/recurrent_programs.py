"""Programs that use `tf.nn.rnn_cell`, the functions that unroll cells, and templates."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.interop.layer_programs import each, images, program, trained

CELLS: dict[str, Any] = {
    "basic": lambda cells: cells.BasicRNNCell(3),
    "basic_relu": lambda cells: cells.BasicRNNCell(3, activation="relu", name="mine"),
    "gru": lambda cells: cells.GRUCell(3),
    "basic_lstm": lambda cells: cells.BasicLSTMCell(3),
    "basic_lstm_joined": lambda cells: cells.BasicLSTMCell(3, forget_bias=0.5, state_is_tuple=False),
    "lstm": lambda cells: cells.LSTMCell(3),
    "lstm_joined": lambda cells: cells.LSTMCell(3, state_is_tuple=False, num_proj=2),
    "lstm_everything": lambda cells: cells.LSTMCell(3, True, 0.5, "glorot_normal", 2, 0.4, activation="sigmoid"),
    "stack": lambda cells: cells.MultiRNNCell([cells.LSTMCell(3), cells.GRUCell(2), cells.BasicRNNCell(3)]),
    "joined_stack": lambda cells: cells.MultiRNNCell([cells.GRUCell(3), cells.GRUCell(2)], state_is_tuple=False),
    "residual": lambda cells: cells.ResidualWrapper(cells.GRUCell(2)),
    "device": lambda cells: cells.DeviceWrapper(cells.GRUCell(3), "/cpu:0"),
    "dropout": lambda cells: cells.DropoutWrapper(cells.BasicLSTMCell(3), 0.9, 0.8, 0.7, seed=3),
    "variational": lambda cells: cells.DropoutWrapper(
        cells.LSTMCell(3), 0.9, 0.8, 0.7, variational_recurrent=True, input_size=2, dtype=np.float32, seed=3
    ),
}


@each(**CELLS)
def cell(tf: Any, make: Any) -> Any:
    made = make(tf.nn.rnn_cell)
    x = images(tf, 4, 2)
    output, state = made(x, made.zero_state(4, tf.float32))
    output, state = made(x, state)
    return trained(tf, output)


@each(**CELLS)
def dynamic_rnn(tf: Any, make: Any) -> Any:
    """One iteration at a time, since several at once draw the numbers for dropout in any order."""
    x = images(tf, 4, 5, 2)
    outputs, state = tf.nn.dynamic_rnn(make(tf.nn.rnn_cell), x, dtype=tf.float32, parallel_iterations=1)
    return [*trained(tf, outputs), outputs, state]


@each(lstm=CELLS["lstm"], stack=CELLS["stack"], gru=CELLS["gru"])
def dynamic_rnn_of_lengths(tf: Any, make: Any) -> Any:
    lengths = tf.placeholder(tf.int32, [None], name="lengths")
    outputs, state = tf.nn.dynamic_rnn(
        make(tf.nn.rnn_cell), images(tf, None, None, 2), lengths, dtype=tf.float32, scope="mine"
    )
    return [*trained(tf, outputs), outputs, state]


@program
def dynamic_rnn_time_major(tf: Any) -> Any:
    made = tf.nn.rnn_cell.GRUCell(3)
    x = images(tf, 5, None, 2)
    state = made.get_initial_state(batch_size=tf.shape(x)[1], dtype=tf.float32)
    with tf.variable_scope("net", use_resource=True):
        return list(tf.nn.dynamic_rnn(made, x, initial_state=state, time_major=True, swap_memory=True))


@each(plain=False, lengths=True)
def bidirectional_dynamic_rnn(tf: Any, has_lengths: Any) -> Any:
    lengths = tf.placeholder(tf.int32, [4], name="lengths") if has_lengths else None
    forward, backward = tf.nn.rnn_cell.LSTMCell(3), tf.nn.rnn_cell.GRUCell(2)
    outputs, states = tf.nn.bidirectional_dynamic_rnn(
        forward, backward, images(tf, 4, 5, 2), sequence_length=lengths, dtype=tf.float32
    )
    return [*trained(tf, tf.concat(outputs, 2)), outputs, states]


@each(plain=False, lengths=True)
def static_rnn(tf: Any, has_lengths: Any) -> Any:
    lengths = tf.placeholder(tf.int64, [4], name="lengths") if has_lengths else None
    inputs = tf.unstack(images(tf, 4, 3, 2), axis=1)
    made = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(3), tf.nn.rnn_cell.BasicRNNCell(2)])
    outputs, state = tf.nn.static_rnn(made, inputs, dtype=tf.float32, sequence_length=lengths)
    return [*trained(tf, outputs[-1]), outputs, state]


@each(plain=False, lengths=True)
def static_bidirectional_rnn(tf: Any, has_lengths: Any) -> Any:
    lengths = tf.placeholder(tf.int32, [None], name="lengths") if has_lengths else None
    inputs = tf.unstack(images(tf, None, 3, 2), axis=1)
    forward, backward = tf.nn.rnn_cell.GRUCell(3), tf.nn.rnn_cell.LSTMCell(2)
    outputs, *states = tf.nn.static_bidirectional_rnn(
        forward, backward, inputs, dtype=tf.float32, sequence_length=lengths
    )
    return [outputs, states]


@program
def raw_rnn(tf: Any) -> Any:
    made = tf.nn.rnn_cell.GRUCell(2)
    x = images(tf, 3, 4, 2)
    array = tf.TensorArray(tf.float32, 3).unstack(x)

    def step(time: Any, output: Any, state: Any, loop_state: Any) -> Any:
        next_state = made.zero_state(4, tf.float32) if output is None else state
        finished = time >= tf.constant([3, 2, 3, 1])
        all_finished = tf.reduce_all(finished)
        following = tf.cond(all_finished, lambda: tf.zeros([4, 2]), lambda: array.read(time))
        return finished, following, next_state, output, None

    outputs, state, _ = tf.nn.raw_rnn(made, step)
    return [outputs.stack(), state]


@program
def a_cell_of_ones_own(tf: Any) -> Any:
    class Cell(tf.nn.rnn_cell.RNNCell):
        state_size = property(lambda self: 3)
        output_size = property(lambda self: 3)

        def call(self, inputs: Any, state: Any) -> Any:
            w = tf.get_variable("w", [2, 3], initializer=tf.ones_initializer())
            state = tf.tanh(tf.matmul(inputs, w) + tf.layers.dense(state, 3, name="inner"))
            return state, state

    outputs, state = tf.nn.dynamic_rnn(Cell(), images(tf, 4, 5, 2), dtype=tf.float32)
    return [*trained(tf, outputs), state]


@each(plain={}, now={"create_scope_now_": True}, unique={"unique_name_": "only"})
def template(tf: Any, options: Any) -> Any:
    def scaled(x: Any, size: int) -> Any:
        w = tf.get_variable("w", [size], initializer=tf.ones_initializer())
        return tf.layers.dense(x * w, size, name="dense")

    made = tf.make_template("scaled", scaled, size=3, **options)
    with tf.variable_scope("outer"):
        y = made(images(tf, 2, 3))
    y = made(y)
    return [*trained(tf, made(y)), *made.trainable_variables]
