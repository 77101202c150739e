"""Recurrent layers of TensorFlow 1, exported: one LSTM, GRU or RNN of ONNX in the place of a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.runtime.session import Session
from tests.onnx.whole_graphs import Exported, exported

CELLS: dict[str, tuple[Callable[[Any], Any], set[str]]] = {
    "basic": (lambda cells: cells.BasicRNNCell(3), {"RNN"}),
    "basic_relu": (lambda cells: cells.BasicRNNCell(3, activation="relu"), {"RNN"}),
    "gru": (lambda cells: cells.GRUCell(3), {"GRU"}),
    "gru_sigmoid": (lambda cells: cells.GRUCell(3, activation=tf.sigmoid), {"GRU"}),
    "basic_lstm": (lambda cells: cells.BasicLSTMCell(3, forget_bias=0.5), {"LSTM"}),
    "lstm": (lambda cells: cells.LSTMCell(3), {"LSTM"}),
    "peepholes": (lambda cells: cells.LSTMCell(3, use_peepholes=True), {"LSTM"}),
    "stack": (
        lambda cells: cells.MultiRNNCell([cells.LSTMCell(3), cells.GRUCell(2), cells.BasicRNNCell(3)]),
        {"LSTM", "GRU", "RNN"},
    ),
    "residual": (lambda cells: cells.ResidualWrapper(cells.GRUCell(2)), {"GRU"}),
}
OTHERS: dict[str, Callable[[Any], Any]] = {
    "joined": lambda cells: cells.BasicLSTMCell(3, state_is_tuple=False),
    "projected": lambda cells: cells.LSTMCell(3, num_proj=2),
    "clipped": lambda cells: cells.LSTMCell(3, cell_clip=0.2),
}
X = np.random.default_rng(1).normal(size=(4, 5, 2)).astype(np.float32)
LENGTHS = (np.array([5, 2, 0, 3], np.int32), np.array([1, 2, 0, 3], np.int32))


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as made:
        yield made


def sequence(*dims: int | None) -> Any:
    return tf.placeholder(tf.float32, list(dims), name="x")


def lengths() -> Any:
    return tf.placeholder(tf.int32, [None], name="lengths")


def assert_exports(results: Any, inputs: list[Any], *feeds: list[Any], opset: int = 24) -> Exported:
    """Exports a graph whose variables have become constants; compares ONNX Runtime with our session."""
    outputs = tf.nest.flatten(results) if hasattr(tf, "nest") else results
    random = np.random.default_rng(0)
    with tf.Session() as session:
        for variable in tf.global_variables():
            session.run(variable.assign(random.normal(size=variable.shape.as_list()).astype(np.float32) * 0.5))
        message = tf.graph_util.convert_variables_to_constants(
            session, outputs[0].graph.as_graph_def(), [tensor.op.name for tensor in outputs]
        )
    with tf.Graph().as_default() as frozen:
        tf.import_graph_def(message, name="")
        taken = [frozen.get_tensor_by_name(tensor.name) for tensor in inputs]
        found = exported([frozen.get_tensor_by_name(tensor.name) for tensor in outputs], taken, opset)
        for values in feeds:
            found.assert_equal(dict(zip(taken, values, strict=True)), Session(frozen))
    return found


def recurrent(found: Exported) -> set[str]:
    return found.ops.keys() & {"LSTM", "GRU", "RNN", "Loop"}


@pytest.mark.parametrize("opset", [13, 24])
@pytest.mark.parametrize("name", CELLS)
def test_a_dynamic_rnn_is_one_node_for_each_cell(name: str, opset: int) -> None:
    make, ops = CELLS[name]
    x = sequence(None, None, 2)
    found = assert_exports(
        tf.nn.dynamic_rnn(make(tf.nn.rnn_cell), x, dtype=tf.float32), [x], [X], [X[:1, :3]], opset=opset
    )
    assert recurrent(found) == ops


@pytest.mark.parametrize("name", CELLS)
def test_lengths_are_those_of_the_node(name: str) -> None:
    make, ops = CELLS[name]
    x, given = sequence(None, None, 2), lengths()
    results = tf.nn.dynamic_rnn(make(tf.nn.rnn_cell), x, given, dtype=tf.float32)
    found = assert_exports(results, [x, given], *([X, counts] for counts in LENGTHS))
    assert recurrent(found) == ops


@pytest.mark.parametrize("name", ["lstm", "gru"])
def test_lengths_may_be_beyond_the_end_and_below_zero(name: str) -> None:
    make, ops = CELLS[name]
    x, given = sequence(None, None, 2), lengths()
    state = make(tf.nn.rnn_cell).zero_state(tf.shape(x)[0], tf.float32)
    results = tf.nn.dynamic_rnn(make(tf.nn.rnn_cell), x, given, initial_state=state)
    found = assert_exports(results, [x, given], [X, np.array([99, -2, 3, 0], np.int32)])
    assert recurrent(found) == ops


@pytest.mark.parametrize("name", ["lstm", "gru", "basic"])
def test_states_that_are_given(name: str) -> None:
    make, ops = CELLS[name]
    x, given = sequence(None, None, 2), lengths()
    cell = make(tf.nn.rnn_cell)
    parts = [tf.placeholder(tf.float32, [None, 3], name=f"state_{i}") for i in range(2 if name == "lstm" else 1)]
    state = tf.nn.rnn_cell.LSTMStateTuple(*parts) if name == "lstm" else parts[0]
    values = [np.full((4, 3), 0.5 + i, np.float32) for i in range(len(parts))]
    results = [
        tf.nn.dynamic_rnn(cell, x, initial_state=state, scope="plain"),
        tf.nn.dynamic_rnn(make(tf.nn.rnn_cell), x, given, initial_state=state, scope="by_lengths"),
    ]
    found = assert_exports(results, [x, given, *parts], *([X, counts, *values] for counts in LENGTHS))
    assert recurrent(found) == ops


@pytest.mark.parametrize("has_lengths", [False, True])
def test_both_directions(has_lengths: bool) -> None:
    x, given = sequence(4, 5, 2), lengths()
    cells = tf.nn.rnn_cell
    results = tf.nn.bidirectional_dynamic_rnn(
        cells.LSTMCell(3), cells.GRUCell(2), x, given if has_lengths else None, dtype=tf.float32
    )
    inputs, feeds = ([x, given], [[X, counts] for counts in LENGTHS]) if has_lengths else ([x], [[X]])
    assert recurrent(assert_exports(results, inputs, *feeds)) == {"LSTM", "GRU"}


def test_a_sequence_whose_steps_come_first() -> None:
    x = sequence(None, None, 2)
    results = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), x, dtype=tf.float32, time_major=True)
    found = assert_exports(results, [x], [X])
    assert recurrent(found) == {"GRU"}
    assert "Transpose" not in found.ops


@pytest.mark.parametrize("name", OTHERS)
def test_a_cell_that_onnx_does_not_have_stays_a_loop(name: str) -> None:
    x, given = sequence(None, None, 2), lengths()
    results = tf.nn.dynamic_rnn(OTHERS[name](tf.nn.rnn_cell), x, given, dtype=tf.float32)
    found = assert_exports(results, [x, given], *([X, counts] for counts in LENGTHS))
    assert recurrent(found) == {"Loop"}


def test_a_loop_that_looks_like_a_cell_but_is_none() -> None:
    """The new state is that of the step before."""
    x = sequence(4, 5, 2)
    array = tf.TensorArray(tf.float32, 5).unstack(tf.transpose(x, [1, 0, 2]))
    w, r = tf.constant(np.ones((2, 3), np.float32) * 0.1), tf.constant(np.ones((3, 3), np.float32) * 0.2)

    def step(i: Any, older: Any, old: Any) -> Any:
        return i + 1, old, tf.tanh(tf.matmul(array.read(i), w) + tf.matmul(older, r))

    results = tf.while_loop(lambda i, *_: i < 5, step, (0, tf.zeros([4, 3]), tf.zeros([4, 3])))
    assert recurrent(assert_exports(list(results), [x], [X])) == {"Loop"}


@pytest.mark.parametrize("has_peepholes", [False, True])
def test_a_fused_sequence_of_which_only_the_outputs_are_used_is_an_lstm(has_peepholes: bool) -> None:
    x = sequence(None, 4, 2)
    random = np.random.default_rng(3)
    weights = [random.normal(size=size).astype(np.float32) for size in ((5, 12), 3, 3, 3, 12)]
    zeros = np.zeros((4, 3), np.float32)
    found = tf.raw_ops.BlockLSTMV2(
        seq_len_max=tf.cast(tf.shape(x)[0], tf.int64), x=x, cs_prev=zeros, h_prev=zeros, w=weights[0], wci=weights[1],
        wcf=weights[2], wco=weights[3], b=weights[4], cell_clip=0.0, use_peephole=has_peepholes,
    )  # fmt: skip
    assert recurrent(assert_exports([found.h], [x], [X.transpose(1, 0, 2)])) == {"LSTM"}


@pytest.mark.parametrize("has_lengths", [False, True])
@pytest.mark.parametrize("name", ["basic_relu", "gru", "lstm"])
def test_two_directions_of_one_kind_are_one_node(name: str, has_lengths: bool) -> None:
    make, ops = CELLS[name]
    x, given = sequence(None, None, 2), lengths()
    outputs, states = tf.nn.bidirectional_dynamic_rnn(
        make(tf.nn.rnn_cell), make(tf.nn.rnn_cell), x, given if has_lengths else None, dtype=tf.float32
    )
    inputs, feeds = ([x, given], [[X, counts] for counts in LENGTHS]) if has_lengths else ([x], [[X]])
    found = assert_exports([tf.concat(outputs, 2), states], inputs, *feeds)
    assert recurrent(found) == ops
    assert sum(found.ops[op] for op in ops) == 1
    assert not found.ops.keys() & {"Slice", "ReverseSequence", "Concat"}


def test_outputs_of_a_layer_that_runs_backwards_are_turned_where_they_are_used_so() -> None:
    x = sequence(None, None, 2)
    backwards, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(3), tf.reverse(x, [1]), dtype=tf.float32)
    found = assert_exports([backwards, tf.reverse(backwards, [1])], [x], [X])
    assert recurrent(found) == {"GRU"}


def test_the_engine_takes_layers_whose_lengths_are_their_inputs() -> None:
    x = sequence(None, None, 2)
    weights = tf.constant(np.ones((2, 3), np.float32) * 0.1), tf.constant(np.ones((3, 3), np.float32) * 0.2)
    steps = tf.transpose(x, [1, 0, 2])
    count = tf.shape(steps)[0]
    array = tf.TensorArray(tf.float32, count).unstack(steps)

    def step(i: Any, state: Any) -> Any:
        return i + 1, tf.tanh(tf.matmul(array.read(i), weights[0]) + tf.matmul(state, weights[1]))

    _, state = tf.while_loop(lambda i, _: i < count, step, (0, tf.zeros([tf.shape(x)[0], 3])))
    found = exported([state], [x], is_for_engine=True)
    found.assert_equal({x: X}, Session(x.graph))
    assert recurrent(found) == {"RNN"}
