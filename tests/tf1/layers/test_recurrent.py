"""Recurrent cells and networks, and templates, without TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
import pytest

from tensorkeep.dtypes import FLOAT32, INT32
from tensorkeep.errors import InvalidArgumentError, TensorKeepError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.arrays.shapes import stack, unstack, zeros
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.layers import cell_wrappers, cells, recurrent
from tensorkeep.tf1.variables.listing import global_variables_initializer
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope
from tensorkeep.tf1.variables.template import make_template
from tensorkeep.tf1.variables.variable import Variable

SEQUENCES = np.random.default_rng(1).normal(size=(4, 5, 2)).astype(np.float32)


@pytest.fixture(autouse=True)
def graph() -> Iterator[Graph]:
    made = Graph()
    with building(made):
        yield made


def run(graph: Graph, fetches: Any) -> Any:
    with Session(graph=graph) as session:
        session.run(global_variables_initializer())
        return session.run(fetches)


def lstm(x: Any, c: Any, h: Any, kernel: Any, bias: Any) -> tuple[Any, Any]:
    """One step of an LSTM, by the book."""
    i, j, f, o = np.split(np.concatenate([x, h], 1) @ kernel + bias, 4, axis=1)

    def sigmoid(z: Any) -> Any:
        return 1 / (1 + np.exp(-z))

    c = sigmoid(f + 1) * c + sigmoid(i) * np.tanh(j)
    return c, sigmoid(o) * np.tanh(c)


def test_an_lstm_computes_what_the_book_says(graph: Graph) -> None:
    cell = cells.LSTMCell(3)
    outputs, state = recurrent.dynamic_rnn(cell, constant(SEQUENCES), dtype=FLOAT32)
    ours, final, weights = run(graph, [outputs, state, cell.weights])
    c, h = np.zeros((4, 3)), np.zeros((4, 3))
    for step in range(5):
        c, h = lstm(SEQUENCES[:, step], c, h, *weights)
        np.testing.assert_allclose(ours[:, step], h, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(final.c, c, rtol=1e-5, atol=1e-6)


def test_a_loop_and_an_unrolled_network_agree(graph: Graph) -> None:
    lengths = constant([5, 3, 0, 1])
    x = constant(SEQUENCES)
    cell = cells.GRUCell(3)
    looped, last = recurrent.dynamic_rnn(cell, x, lengths, dtype=FLOAT32)
    unrolled, other = recurrent.static_rnn(cell, unstack(x, axis=1), dtype=FLOAT32, sequence_length=lengths)
    a, b, c, d = run(graph, [looped, stack(unrolled, 1), last, other])
    np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(c, d, rtol=1e-5, atol=1e-6)
    assert (a[2] == 0).all()
    assert (a[1, 3:] == 0).all()


def test_the_outputs_of_a_bidirectional_network_are_in_the_order_of_the_inputs(graph: Graph) -> None:
    x = constant(SEQUENCES)
    forward, backward = cells.BasicRNNCell(2), cells.BasicRNNCell(2)
    (_, output), (_, state) = recurrent.bidirectional_dynamic_rnn(forward, backward, x, dtype=FLOAT32)
    found, last = run(graph, [output, state])
    np.testing.assert_array_equal(found[:, 0], last)


def test_variables_of_stacked_cells_are_in_scopes_of_their_own(graph: Graph) -> None:
    stack = cells.MultiRNNCell([cells.GRUCell(2), cells.BasicLSTMCell(3)])
    recurrent.dynamic_rnn(stack, constant(SEQUENCES), dtype=FLOAT32)
    assert [variable.name for variable in stack.weights] == [
        "rnn/multi_rnn_cell/cell_0/gru_cell/gates/kernel:0",
        "rnn/multi_rnn_cell/cell_0/gru_cell/gates/bias:0",
        "rnn/multi_rnn_cell/cell_0/gru_cell/candidate/kernel:0",
        "rnn/multi_rnn_cell/cell_0/gru_cell/candidate/bias:0",
        "rnn/multi_rnn_cell/cell_1/basic_lstm_cell/kernel:0",
        "rnn/multi_rnn_cell/cell_1/basic_lstm_cell/bias:0",
    ]


def test_a_residual_cell_adds_its_inputs(graph: Graph) -> None:
    inner = cells.BasicRNNCell(2)
    x, state = constant(SEQUENCES[:, 0]), zeros([4, 2])
    with_shortcut, _ = cell_wrappers.ResidualWrapper(inner)(x, state)
    without, _ = inner(x, state)
    a, b = run(graph, [with_shortcut, without])
    np.testing.assert_allclose(a, b + SEQUENCES[:, 0], rtol=1e-6)


def test_dropout_around_a_cell_leaves_the_memory_of_an_lstm_alone(graph: Graph) -> None:
    cell = cell_wrappers.DropoutWrapper(cells.LSTMCell(50), state_keep_prob=0.5, seed=1)
    _, state = cell(constant(SEQUENCES[:, 0]), cell.zero_state(4, FLOAT32))
    found = run(graph, state)
    assert (found.c != 0).all()
    assert 40 < (found.h == 0).sum() < 160


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: recurrent.dynamic_rnn(3, zeros([1, 2, 3])), "is not an RNNCell"),
        (lambda: recurrent.dynamic_rnn(cells.GRUCell(2), zeros([1, 2, 3])), "`dtype` must be specified"),
        (lambda: recurrent.static_rnn(cells.GRUCell(2), zeros([1, 2])), "must be a sequence"),
        (lambda: recurrent.static_rnn(cells.GRUCell(2), []), "must not be empty"),
        (lambda: cells.MultiRNNCell([]), "at least one cell"),
        (lambda: cells.MultiRNNCell([cells.LSTMCell(2)], state_is_tuple=False), "state_is_tuple is not set"),
        (lambda: cells.GRUCell(2, dtype=INT32), "only supports floating point"),
        (lambda: cell_wrappers.DropoutWrapper(cells.GRUCell(2), 1.5), "must be between 0 and 1"),
        (lambda: cell_wrappers.DropoutWrapper(cells.GRUCell(2), variational_recurrent=True), "dtype must be provided"),
    ],
)
def test_what_makes_no_sense_is_refused(call: Any, message: str) -> None:
    with pytest.raises(TensorKeepError, match=message):
        call()


def test_a_template_makes_its_variables_once() -> None:
    def scaled(x: Any) -> Any:
        return x * get_variable("w", [3])

    template = make_template("scaled", scaled)
    assert template.variables == []
    y = template(template(zeros([3])))
    assert y.name == "scaled_1/mul:0"
    assert [variable.name for variable in template.variables] == ["scaled/w:0"]
    assert make_template("scaled", scaled)(y).name == "scaled_2/mul:0"


def test_a_template_that_makes_new_variables_later_is_refused() -> None:
    template = make_template("fresh", lambda: Variable(1.0))
    template()
    with pytest.raises(InvalidArgumentError, match=r"perhaps you used tf.Variable when you meant tf.get_variable"):
        template()


def test_a_copy_of_a_cell_that_was_called_has_the_variables_of_its_own_scope(graph: Graph) -> None:
    cell = cells.MultiRNNCell([cells.GRUCell(3), cell_wrappers.ResidualWrapper(cells.LSTMCell(3))])
    inputs = [constant(SEQUENCES[:, 0, :1].repeat(3, 1))]
    for reuse in (None, True):  # as buckets of sequences are built, one after the other
        with variable_scope("encoder", reuse=reuse):
            recurrent.static_rnn(deepcopy(cell), inputs, dtype=FLOAT32)
        with variable_scope("decoder", reuse=reuse):
            recurrent.static_rnn(cell, inputs, dtype=FLOAT32)
    named = [item.name for item in graph.collections["trainable_variables"]]
    assert len(named) == 12
    assert {name.split("/")[0] for name in named} == {"encoder", "decoder"}


def test_a_cell_need_not_call_our_constructor(graph: Graph) -> None:
    class Halved(cells.RNNCell):
        def __init__(self, cell: cells.RNNCell) -> None:
            self._cell = cell

        @property
        def state_size(self) -> Any:
            return self._cell.state_size

        @property
        def output_size(self) -> Any:
            return self._cell.output_size

        def __call__(self, inputs: Any, state: Any, scope: Any = None) -> Any:
            output, new = self._cell(inputs, state, scope)
            return output * 0.5, new

    plain = [cells.LSTMCell(3, name=f"cell_{number}") for number in range(2)]
    both = cells.MultiRNNCell([Halved(plain[0]), Halved(plain[1])])
    outputs, _ = recurrent.dynamic_rnn(both, constant(SEQUENCES), dtype=FLOAT32)
    again, _ = recurrent.dynamic_rnn(plain[0], constant(SEQUENCES), dtype=FLOAT32)
    assert [weight.name for weight in both.trainable_weights] == []
    found, alone = run(graph, [outputs, again])
    assert found.shape == (4, 5, 3)
    assert np.abs(found).max() < 0.5 * np.abs(alone).max()
