"""Cells of `tf.contrib.rnn`: one step of each as NumPy computes it of the variables that TensorFlow 1.15 names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tests.tf1.contrib.running import values

rnn = tf.contrib.rnn
UNITS = 3
DRAWN = np.random.default_rng(0)
X, H, C = (DRAWN.normal(size=(4, UNITS)).astype(np.float32) for _ in range(3))
Weights = dict[str, Any]


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def normalized(x: Any, gamma: Any, beta: Any) -> Any:
    return (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-12) * gamma + beta


def lstm(gates: Any, clip: float | None = None, peepholes: Any = None) -> Any:
    i, j, f, o = np.split(gates, 4, axis=1)
    f = f + 1
    if peepholes is not None:
        i, f = i + peepholes[0] * C, f + peepholes[1] * C
    c = C * sigmoid(f) + sigmoid(i) * np.tanh(j)
    c = c if clip is None else np.clip(c, -clip, clip)
    o = o if peepholes is None else o + peepholes[2] * c
    return np.tanh(c) * sigmoid(o), c


def layer_norm_lstm(w: Weights) -> Any:
    gates = np.split(np.concatenate([X, H], 1) @ w["kernel"], 4, axis=1)
    names = ("input", "transform", "forget", "output")
    i, j, f, o = (
        normalized(gate, w[f"{name}/gamma"], w[f"{name}/beta"]) for gate, name in zip(gates, names, strict=True)
    )
    c = normalized(C * sigmoid(f + 1) + sigmoid(i) * np.tanh(j), w["state/gamma"], w["state/beta"])
    return np.tanh(c) * sigmoid(o), c


def nas(w: Weights) -> Any:
    m, x = np.split(H @ w["recurrent_kernel"], 8, axis=1), np.split(X @ w["kernel"], 8, axis=1)
    one = [
        sigmoid(x[0] + m[0]), np.maximum(x[1] + m[1], 0), sigmoid(x[2] + m[2]), np.maximum(x[3] * m[3], 0),
        np.tanh(x[4] + m[4]), sigmoid(x[5] + m[5]), np.tanh(x[6] + m[6]), sigmoid(x[7] + m[7]),
    ]  # fmt: skip
    two = [np.tanh(one[0] * one[1]), np.tanh(one[2] + one[3]), np.tanh(one[4] * one[5]), sigmoid(one[6] + one[7])]
    c = np.tanh(two[0] + C) * two[1]
    return np.tanh(c * np.tanh(two[2] + two[3])), c


def gru(gates: Any, candidate: Callable[[Any], Any]) -> Any:
    reset, update = np.split(sigmoid(gates), 2, axis=1)
    new = update * H + (1 - update) * np.tanh(candidate(reset * H))
    return new, new


def ugrnn(w: Weights) -> Any:
    gate, new = np.split(np.concatenate([X, H], 1) @ w["kernel"] + w["bias"], 2, axis=1)
    kept = sigmoid(gate + 1)
    state = kept * H + (1 - kept) * np.tanh(new)
    return state, state


def intersection(w: Weights) -> Any:
    time, h, depth, y = np.split(np.concatenate([X, H], 1) @ w["kernel"] + w["bias"], 4, axis=1)
    time, depth = sigmoid(time + 1), sigmoid(depth + 1)
    return depth * X + (1 - depth) * np.maximum(y, 0), time * H + (1 - time) * np.tanh(h)


def minimal(w: Weights) -> Any:
    new = np.tanh(X @ w["kernel"][:UNITS])
    kept = sigmoid(np.concatenate([new, H], 1) @ w["kernel"][UNITS:] + w["bias"])
    return (kept * H + (1 - kept) * new,) * 2


def weight_norm(w: Weights) -> Any:
    """One step with peepholes, a clipped memory and a projection; each half of the kernel has directions."""

    def directed(part: Any, lengths: Any) -> Any:
        return part / np.sqrt((part**2).sum(0)) * lengths

    kernel = [directed(w["kernel"][:UNITS], w["norm_0"]), directed(w["kernel"][UNITS:], w["norm_1"])]
    gates = X @ kernel[0] + H @ kernel[1] + w["bias"]
    h, c = lstm(gates, 0.4, [w["w_i_diag"], w["w_f_diag"], w["w_o_diag"]])
    return np.clip(h @ directed(w["projection/kernel"], w["projection/norm_0"]), -0.1, 0.1), c


def coupled(w: Weights) -> Any:
    j, f, o = np.split(np.concatenate([X, H], 1) @ w["W_0"] + w["B"], 3, axis=1)
    kept = sigmoid(f + 1 + w["W_F_diag"] * C)
    c = kept * C + (1 - kept) * np.tanh(j)
    return sigmoid(o + w["W_O_diag"] * c) * np.tanh(c), c


def grouped(w: Weights) -> Any:
    parts = [
        np.split(np.concatenate([X[:, n : n + 1], H[:, n : n + 1]], 1) @ w[f"group{n}/kernel"], 4, axis=1)
        for n in range(3)
    ]
    gates = [np.concatenate([part[k] for part in parts], 1) + w[f"bias_{letter}"] for k, letter in enumerate("ijfo")]
    return lstm(np.concatenate(gates, 1))


def simple_unit(w: Weights) -> Any:
    new, f, r, through = np.split(X @ w["kernel"], 4, axis=1)
    f, r = np.split(sigmoid(np.concatenate([f, r], 1) + w["bias"]), 2, axis=1)
    c = f * H + (1 - f) * new
    return r * np.tanh(c) + (1 - r) * through, c


def independent(w: Weights, prefix: str, past: Any) -> Any:
    return X @ w[f"{prefix}kernel_w"] + past * w[f"{prefix}kernel_u"] + w[f"{prefix}bias"]


def joined(w: Weights, kernel: str, bias: str, past: Any = H) -> Any:
    return np.concatenate([X, past], 1) @ w[kernel] + w[bias]


# By name: the cell, the scope of its variables, and its output and state in NumPy.
CELLS: dict[str, tuple[Callable[[], Any], str, Callable[[Weights], Any]]] = {
    "layer_norm_basic_lstm": (lambda: rnn.LayerNormBasicLSTMCell(UNITS), "layer_norm_basic_lstm_cell", layer_norm_lstm),
    "layer_norm_lstm": (lambda: rnn.LayerNormLSTMCell(UNITS, layer_norm=True), "layer_norm_lstm_cell", layer_norm_lstm),
    "nas": (lambda: rnn.NASCell(UNITS), "nas_cell", nas),
    "ugrnn": (lambda: rnn.UGRNNCell(UNITS), "ugrnn_cell", ugrnn),
    "intersection": (lambda: rnn.IntersectionRNNCell(UNITS), "intersection_rnn_cell", intersection),
    "coupled": (
        lambda: rnn.CoupledInputForgetGateLSTMCell(UNITS, use_peepholes=True),
        "coupled_input_forget_gate_lstm_cell",
        coupled,
    ),
    "minimal": (lambda: rnn.MinimalRNNCell(UNITS), "minimal_rnn_cell", minimal),
    "weight_norm": (
        lambda: rnn.WeightNormLSTMCell(UNITS, use_peepholes=True, cell_clip=0.4, num_proj=UNITS, proj_clip=0.1),
        "wn_lstm_cell/wn_lstm_cell",
        weight_norm,
    ),
    "plain_weights": (
        lambda: rnn.WeightNormLSTMCell(UNITS, norm=False),
        "wn_lstm_cell/wn_lstm_cell",
        lambda w: lstm(joined(w, "kernel", "bias")),
    ),
    "grouped": (lambda: rnn.GLSTMCell(UNITS, number_of_groups=3), "glstm_cell", grouped),
    "simple_unit": (lambda: rnn.SRUCell(UNITS), "sru_cell", simple_unit),
    "block_lstm": (
        lambda: rnn.LSTMBlockCell(UNITS, use_peephole=True, cell_clip=0.3),
        "lstm_cell",
        lambda w: lstm(joined(w, "kernel", "bias"), 0.3, [w["w_i_diag"], w["w_f_diag"], w["w_o_diag"]]),
    ),
    "block_gru": (
        lambda: rnn.GRUBlockCell(UNITS),
        "gru_cell",
        lambda w: gru(joined(w, "w_ru", "b_ru"), lambda past: joined(w, "w_c", "b_c", past)),
    ),
    "block_gru_v2": (
        lambda: rnn.GRUBlockCellV2(UNITS),
        "gru_cell",
        lambda w: gru(
            joined(w, "gates/kernel", "gates/bias"),
            lambda past: joined(w, "candidate/kernel", "candidate/bias", past),
        ),
    ),
    "independent": (
        lambda: rnn.IndRNNCell(UNITS),
        "ind_rnn_cell",
        lambda w: (np.tanh(independent(w, "", H)),) * 2,
    ),
    "independent_gru": (
        lambda: rnn.IndyGRUCell(UNITS),
        "indy_gru_cell",
        lambda w: gru(independent(w, "gates/", np.tile(H, [1, 2])), lambda past: independent(w, "candidate/", past)),
    ),
    "independent_lstm": (
        lambda: rnn.IndyLSTMCell(UNITS),
        "indy_lstm_cell",
        lambda w: lstm(independent(w, "", np.tile(H, [1, 4]))),
    ),
}


@pytest.mark.parametrize("name", sorted(CELLS))
def test_a_step_is_what_numpy_computes_of_the_named_variables(name: str) -> None:
    make, scope, reference = CELLS[name]

    def build() -> Any:
        cell = make()
        state = tf.constant(H)
        if isinstance(cell.state_size, rnn.LSTMStateTuple):
            state = rnn.LSTMStateTuple(tf.constant(C), state)
        return cell(tf.constant(X), state)

    (output, state), variables = values(build)
    weights = {key.removeprefix(f"{scope}/"): value for key, value in variables.items()}
    expected_output, expected_state = reference(weights)
    np.testing.assert_allclose(output, expected_output, rtol=1e-4, atol=1e-5)
    memory = state.c if isinstance(state, rnn.LSTMStateTuple) else state
    np.testing.assert_allclose(memory, expected_state, rtol=1e-4, atol=1e-5)


SEQUENCES = DRAWN.normal(size=(5, 4, UNITS)).astype(np.float32)
LENGTHS = [5, 3, 2, 1]


def test_a_fused_cell_is_a_plain_one_over_sequences_of_several_lengths() -> None:
    def build() -> Any:
        with tf.variable_scope("a", initializer=tf.constant_initializer(0.1)):
            fused = rnn.LSTMBlockFusedCell(UNITS)(SEQUENCES, dtype=tf.float32, sequence_length=LENGTHS)
            cell, inputs = rnn.LSTMBlockCell(UNITS), tf.constant(SEQUENCES)
            plain = tf.nn.dynamic_rnn(cell, inputs, LENGTHS, dtype=tf.float32, time_major=True)
            turned = rnn.TimeReversedFusedRNN(rnn.LSTMBlockFusedCell(UNITS))(SEQUENCES, dtype=tf.float32)
            backwards = rnn.LSTMBlockFusedCell(UNITS)(SEQUENCES[::-1], dtype=tf.float32)
            return fused, plain, turned, backwards

    (fused, plain, turned, backwards), _ = values(build)
    for ours, theirs in ((fused[0], plain[0]), (fused[1].c, plain[1].c), (fused[1].h, plain[1].h)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(turned[0], backwards[0][::-1], rtol=1e-6)


def test_convolution_cells_are_lstms_of_convolutions() -> None:
    images = DRAWN.normal(size=(2, 4, 4, 1)).astype(np.float32)

    def build() -> Any:
        cell = rnn.Conv2DLSTMCell(input_shape=[4, 4, 1], output_channels=2, kernel_shape=[1, 1])
        return cell(tf.constant(images), cell.zero_state(2, tf.float32))

    (output, state), variables = values(build)
    gates = images @ variables["conv_2d_lstm_cell/kernel"][0, 0, :1]
    i, j, _, o = np.split(gates + variables["conv_2d_lstm_cell/biases"], 4, axis=-1)
    np.testing.assert_allclose(state.c, sigmoid(i) * np.tanh(j), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(output, np.tanh(state.c) * sigmoid(o), rtol=1e-4, atol=1e-6)


def test_a_phased_lstm_hardly_changes_where_it_is_closed() -> None:
    def build() -> Any:
        cell = rnn.PhasedLSTMCell(UNITS, leak=0.0, ratio_on=0.1)
        times = tf.constant([[0.0], [10.0], [200.0], [3000.0]])
        return cell((times, tf.constant(X)), rnn.LSTMStateTuple(tf.constant(C), tf.constant(H)))

    (output, state), variables = values(build)
    period, phase = (variables[f"phased_lstm_cell/{name}"] for name in ("period", "phase"))
    place = np.mod(np.array([[0.0], [10.0], [200.0], [3000.0]]) - phase, period) / period
    closed = place > 0.11
    assert closed.any()
    np.testing.assert_array_equal(np.asarray(output)[closed], H[closed])
    np.testing.assert_array_equal(np.asarray(state.c)[closed], C[closed])


def test_wrappers_project_embed_bypass_and_attend() -> None:
    def build() -> Any:
        inputs = tf.constant(SEQUENCES.transpose(1, 0, 2))
        made = {
            "in": rnn.InputProjectionWrapper(rnn.GRUCell(UNITS), 4),
            "out": rnn.OutputProjectionWrapper(rnn.GRUCell(UNITS), 6),
            "highway": rnn.HighwayWrapper(rnn.GRUCell(UNITS), couple_carry_transform_gates=False),
            "attention": rnn.AttentionCellWrapper(rnn.BasicLSTMCell(UNITS), 4),
        }
        return {key: tf.nn.dynamic_rnn(cell, inputs, dtype=tf.float32, scope=key)[0] for key, cell in made.items()}

    found, variables = values(build)
    assert {key: value.shape[-1] for key, value in found.items()} == {"in": 3, "out": 6, "highway": 3, "attention": 3}
    assert variables["in/input_projection_wrapper/kernel"].shape == (3, 4)
    assert variables["highway/carry_b"].tolist() == [1.0] * 3
    assert variables["highway/transform_b"].tolist() == [-1.0] * 3
    assert variables["attention/attention_cell_wrapper/attention/attn_w"].shape == (1, 1, 3, 3)
    assert variables["attention/attention_cell_wrapper/attn_output_projection/kernel"].shape == (6, 3)


def test_layers_of_both_directions_are_alike_unrolled_and_in_a_loop() -> None:
    def cells() -> Any:
        return [rnn.GRUCell(2), rnn.GRUCell(3)], [rnn.GRUCell(2), rnn.GRUCell(3)]

    def build() -> Any:
        with tf.variable_scope("a", initializer=tf.constant_initializer(0.1)):
            inputs = tf.constant(SEQUENCES.transpose(1, 0, 2))
            looped = rnn.stack_bidirectional_dynamic_rnn(*cells(), inputs, dtype=tf.float32, sequence_length=LENGTHS)
            steps = tf.unstack(inputs, axis=1)
            unrolled = rnn.stack_bidirectional_rnn(*cells(), steps, dtype=tf.float32, sequence_length=LENGTHS)
            return looped[0], tf.stack(unrolled[0], axis=1), looped[1], unrolled[1]

    (looped, unrolled, looped_states, unrolled_states), variables = values(build)
    np.testing.assert_allclose(looped, unrolled, rtol=1e-5, atol=1e-6)
    for ours, theirs in zip(looped_states, unrolled_states, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-6)
    assert "a/stack_bidirectional_rnn/cell_1/bidirectional_rnn/bw/gru_cell/gates/kernel" in variables
    with pytest.raises(ValueError, match="same depth"):
        rnn.stack_bidirectional_rnn([rnn.GRUCell(2)], [rnn.GRUCell(2)] * 2, [])
