"""Recurrent networks without TensorFlow."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.functions.constants import constant
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.layers import recurrent, recurrent_cells
from tensorkeep.runtime.session import Session
from tensorkeep.variables.listing import global_variables_initializer, trainable_variables
from tests.ops.walking import import_all_ops

import_all_ops()
SEQUENCES = np.linspace(-1, 1, 2 * 4 * 3, dtype=np.float32).reshape(2, 4, 3)


def computed(program: Any) -> Any:
    graph = Graph()
    graph.seed = 1
    with building(graph):
        fetches = program()
        init = global_variables_initializer()
    session = Session(graph)
    session.run(init)
    return session.run(fetches)


def test_a_loop_and_written_out_steps_give_the_same() -> None:
    def program() -> Any:
        cell = recurrent_cells.LSTMCell(5)
        dynamic = recurrent.dynamic_rnn(cell, constant(SEQUENCES), dtype="float32")
        steps = [constant(SEQUENCES[:, step]) for step in range(4)]
        return dynamic, recurrent.static_rnn(cell, steps, dtype="float32")

    (outputs, state), (steps, last) = computed(program)
    np.testing.assert_allclose(outputs, np.stack(steps, 1), rtol=1e-6)
    np.testing.assert_allclose(state.c, last.c, rtol=1e-6)
    np.testing.assert_allclose(outputs[:, -1], state.h, rtol=1e-6)


def test_a_basic_cell_is_its_formula() -> None:
    def program() -> Any:
        cell = recurrent_cells.BasicRNNCell(2)
        return recurrent.dynamic_rnn(cell, constant(SEQUENCES), dtype="float32")[0], trainable_variables()

    outputs, (kernel, bias) = computed(program)
    state = np.zeros((2, 2), np.float32)
    for step in range(4):
        state = np.tanh(np.concatenate((SEQUENCES[:, step], state), 1) @ kernel + bias)
        np.testing.assert_allclose(outputs[:, step], state, rtol=1e-5)


def test_beyond_its_end_a_sequence_gives_zeros_and_keeps_its_state() -> None:
    outputs, state = computed(
        lambda: recurrent.dynamic_rnn(recurrent_cells.GRUCell(3), constant(SEQUENCES), [2, 4], dtype="float32")
    )
    assert not outputs[0, 2:].any()
    np.testing.assert_array_equal(state[0], outputs[0, 1])


def test_variables_are_named_as_tensorflow_names_them() -> None:
    graph = Graph()
    with building(graph):
        cell = recurrent_cells.MultiRNNCell([recurrent_cells.BasicLSTMCell(2), recurrent_cells.GRUCell(2)])
        recurrent.dynamic_rnn(cell, constant(SEQUENCES), dtype="float32")
        names = [variable.name for variable in trainable_variables()]
    assert names == [
        "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/kernel:0",
        "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/bias:0",
        "rnn/multi_rnn_cell/cell_1/gru_cell/gates/kernel:0",
        "rnn/multi_rnn_cell/cell_1/gru_cell/gates/bias:0",
        "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/kernel:0",
        "rnn/multi_rnn_cell/cell_1/gru_cell/candidate/bias:0",
    ]


def test_without_a_state_a_type_is_needed() -> None:
    with pytest.raises(InvalidArgumentError, match="argument `dtype` must be specified"):
        computed(lambda: recurrent.dynamic_rnn(recurrent_cells.GRUCell(3), constant(SEQUENCES)))


def test_what_is_not_a_cell_is_refused() -> None:
    with pytest.raises(WrongTypeError, match="is not an RNNCell"):
        computed(lambda: recurrent.static_rnn(object(), [constant(SEQUENCES[:, 0])], dtype="float32"))
