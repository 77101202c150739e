"""Keras' recurrent layers, exported to ONNX: one LSTM, GRU or RNN each, which computes what TensorFlow computes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import keras
import numpy as np
import onnxruntime as ort
import pytest
import tensorflow as tf
from tensorflow.python.framework.convert_to_constants import convert_variables_to_constants_v2

from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.proto.messages import GraphDef
from tensorkeep.runtime.session import Session
from tests.onnx.whole_graphs import Exported, exported
from tests.support.depth import thinned

L = keras.layers
KINDS = {"LSTM": (L.LSTM, 2), "GRU": (L.GRU, 1), "RNN": (L.SimpleRNN, 1)}
LENGTHS = [7, None]
"""How many steps the model says that there are: so many, or any number."""


def assert_exports(model: Any, values: Sequence[Any], steps: int | None, opset: int = 24) -> Exported:
    """Exports a model for any number of sequences; compares ONNX Runtime with our session and with TensorFlow."""
    specs = [tf.TensorSpec(_any_number(value.shape, steps), value.dtype) for value in values]
    function = tf.function(lambda *inputs: model(list(inputs) if len(inputs) > 1 else inputs[0]))
    frozen = convert_variables_to_constants_v2(function.get_concrete_function(*specs), lower_control_flow=False)
    message, graph = GraphDef(), Graph()
    message.ParseFromString(frozen.graph.as_graph_def().SerializeToString())
    import_graph(message, graph, name="")
    inputs = [graph.tensor(tensor.name) for tensor in frozen.inputs]
    found = exported([graph.tensor(tensor.name) for tensor in frozen.outputs], inputs, opset)
    found.assert_equal(dict(zip(inputs, values, strict=True)), Session(graph))
    run = ort.InferenceSession(found.proto.SerializeToString(), providers=["CPUExecutionProvider"])
    ours = run.run(None, {tensor.op.name: value for tensor, value in zip(inputs, values, strict=True)})
    for mine, theirs in zip(ours, frozen(*map(tf.constant, values)), strict=True):
        np.testing.assert_allclose(mine, theirs.numpy(), rtol=1e-4, atol=1e-5)
    return found


def _any_number(shape: tuple[int, ...], steps: int | None) -> tuple[int | None, ...]:
    """The shape of values for any number of sequences, and for any number of steps if that is wanted."""
    return (None, *(steps if axis == 0 and size == 7 else size for axis, size in enumerate(shape[1:])))


def recurrent(found: Exported) -> set[str]:
    return found.ops.keys() & {"LSTM", "GRU", "RNN", "Loop"}


def sequences() -> Any:
    return np.random.default_rng(5).normal(size=(3, 7, 4)).astype(np.float32)


LAYERS: dict[str, tuple[Callable[[], Any], set[str]]] = {
    "lstm": (lambda: L.LSTM(3), {"LSTM"}),
    "lstm_sequences": (lambda: L.LSTM(3, return_sequences=True, return_state=True), {"LSTM"}),
    "lstm_backwards": (lambda: L.LSTM(3, return_sequences=True, go_backwards=True), {"LSTM"}),
    "lstm_relu": (lambda: L.LSTM(3, activation="relu", use_bias=False), {"LSTM"}),
    "lstm_linear": (lambda: L.LSTM(3, activation=None), {"LSTM"}),
    "lstm_elu": (lambda: L.LSTM(3, activation="elu"), {"LSTM"}),
    "lstm_softsign": (lambda: L.LSTM(3, activation="softsign"), {"LSTM"}),
    "lstm_tanh_gates": (lambda: L.LSTM(3, recurrent_activation="tanh"), {"LSTM"}),
    "lstm_hard_gates": (lambda: L.LSTM(3, recurrent_activation="hard_sigmoid"), {"LSTM"}),
    "gru": (lambda: L.GRU(3, return_sequences=True, return_state=True), {"GRU"}),
    "gru_reset_before": (lambda: L.GRU(3, reset_after=False), {"GRU"}),
    "gru_hard_gates": (lambda: L.GRU(3, reset_after=False, recurrent_activation="hard_sigmoid"), {"GRU"}),
    "simple": (lambda: L.SimpleRNN(3, return_sequences=True), {"RNN"}),
    "simple_relu": (lambda: L.SimpleRNN(3, activation="relu", go_backwards=True), {"RNN"}),
    "both": (lambda: L.Bidirectional(L.LSTM(3, return_sequences=True)), {"LSTM"}),
    "both_last": (lambda: L.Bidirectional(L.GRU(3), merge_mode="sum"), {"GRU"}),
    "stack": (lambda: L.RNN([L.LSTMCell(3), L.GRUCell(4), L.SimpleRNNCell(2)], return_sequences=True),
              {"LSTM", "GRU", "RNN"}),
}  # fmt: skip


@pytest.mark.parametrize("steps", LENGTHS)
@pytest.mark.parametrize("name", thinned([*LAYERS], 3))
def test_a_layer_is_one_node(name: str, steps: int | None) -> None:
    make, ops = LAYERS[name]
    x = keras.Input((steps, 4))
    found = assert_exports(keras.Model(x, make()(x)), [sequences()], steps)
    assert recurrent(found) == ops
    assert sum(found.ops[op] for op in ops) == len(ops)


@pytest.mark.parametrize("steps", LENGTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_layers_in_the_oldest_version_of_onnx(kind: str, steps: int | None) -> None:
    layer, _ = KINDS[kind]
    x = keras.Input((steps, 4))
    model = keras.Model(x, layer(3, return_sequences=True)(x))
    assert recurrent(assert_exports(model, [sequences()], steps, opset=13)) == {kind}


MASKED: dict[str, dict[str, Any]] = {
    "last": {},
    "sequences": {"return_sequences": True, "return_state": True},
    "zeros": {"return_sequences": True, "return_state": True, "zero_output_for_mask": True},
    "backwards": {"go_backwards": True},
}


@pytest.mark.parametrize("steps", LENGTHS)
@pytest.mark.parametrize("options", thinned([*MASKED], 3))
@pytest.mark.parametrize("kind", KINDS)
def test_steps_that_a_mask_leaves_out(kind: str, options: str, steps: int | None) -> None:
    layer, _ = KINDS[kind]
    x, mask = keras.Input((steps, 4)), keras.Input((steps,), dtype="bool")
    model = keras.Model([x, mask], layer(3, **MASKED[options])(x, mask=mask))
    kept = np.random.default_rng(6).random((3, 7)) < 0.6
    kept[0], kept[1] = False, [True] * 4 + [False] * 3
    assert recurrent(assert_exports(model, [sequences(), kept], steps)) == {kind}


@pytest.mark.parametrize("is_masked", [False, True])
@pytest.mark.parametrize("steps", LENGTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_states_that_are_given(kind: str, steps: int | None, is_masked: bool) -> None:
    layer, count = KINDS[kind]
    x, states = keras.Input((steps, 4)), [keras.Input((3,)) for _ in range(count)]
    mask = keras.Input((steps,), dtype="bool")
    given = states if count > 1 else states[0]
    y = layer(3, return_sequences=True, return_state=True)(x, initial_state=given, mask=mask if is_masked else None)
    kept = np.random.default_rng(7).random((3, 7)) < 0.5
    kept[2] = False
    values = [sequences(), *[np.full((3, 3), 0.3 + i, np.float32) for i in range(count)]]
    inputs = [x, *states]
    if is_masked:
        inputs, values = [*inputs, mask], [*values, kept]
    assert recurrent(assert_exports(keras.Model(inputs, y), values, steps)) == {kind}


def test_layers_one_after_the_other() -> None:
    words = keras.Input((7,), dtype="int32")
    y = L.Embedding(11, 4, mask_zero=True)(words)
    y = L.Bidirectional(L.LSTM(3, return_sequences=True))(y)
    y = L.Dense(2)(L.GRU(3)(y))
    found = assert_exports(keras.Model(words, y), [np.array([[1, 4, 0, 2, 0, 0, 0], [0] * 7], np.int32)], 7)
    assert recurrent(found) == {"LSTM", "GRU"}


def test_a_layer_that_onnx_does_not_have_stays_a_loop() -> None:
    x = keras.Input((3, 5, 6, 3))
    model = keras.Model(x, L.ConvLSTM2D(2, 2)(x))
    values = [np.random.default_rng(8).normal(size=(2, 3, 5, 6, 3)).astype(np.float32)]
    assert recurrent(assert_exports(model, values, 3)) == {"Loop"}
