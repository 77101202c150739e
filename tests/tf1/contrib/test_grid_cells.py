"""Cells over frequencies: steps as NumPy computes them of the variables that TensorFlow 1.15 names."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

rnn = tf.contrib.rnn
UNITS, SIZE, SKIP = 2, 3, 1
DRAWN = np.random.default_rng(1)
X = DRAWN.normal(size=(2, 5)).astype("f")


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def run(cell: Any, state: Any) -> tuple[Any, Any, dict[str, Any]]:
    """The output and the new state of a step, and the variables by name, which are drawn anew."""
    with tf.Session() as session, tf.variable_scope("cell"):
        output, new = cell(tf.constant(X), state)
        variables = tf.trainable_variables()
        session.run(tf.global_variables_initializer())
        for variable in variables:
            variable.load(DRAWN.normal(size=variable.shape.as_list()).astype("f"), session)
        found = session.run([output, new, variables])
    names = [variable.op.name.split("/", 2)[2] for variable in variables]
    return found[0], found[1], dict(zip(names, found[2], strict=True))


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default():
        yield


def test_a_time_frequency_cell_goes_over_windows_with_the_output_of_the_one_before() -> None:
    state = DRAWN.normal(size=(2, 3 * 2 * UNITS)).astype("f")
    cell = rnn.TimeFreqLSTMCell(UNITS, use_peepholes=True, cell_clip=0.9, feature_size=SIZE, frequency_skip=SKIP)
    output, new, w = run(cell, state)
    before, outputs, states = np.zeros((2, UNITS)), [], []
    for number in range(3):
        c, m = np.split(state[:, 4 * number : 4 * number + 4], 2, axis=1)
        i, j, f, o = np.split(np.concatenate([X[:, number : number + 3], m, before], 1) @ w["W_0"] + w["B"], 4, axis=1)
        c = sigmoid(f + 1 + w["W_F_diag"] * c) * c + sigmoid(i + w["W_I_diag"] * c) * np.tanh(j)
        c = np.clip(c, -0.9, 0.9)
        before = sigmoid(o + w["W_O_diag"] * c) * np.tanh(c)
        outputs.append(before)
        states += [c, before]
    np.testing.assert_allclose(output, np.concatenate(outputs, 1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(new, np.concatenate(states, 1), rtol=1e-5, atol=1e-6)


def grid(w: dict[str, Any], windows: Any, states: Any, *, coupled: bool, shared: bool, block: int = 0) -> Any:
    """The outputs and states of a block, by the equations of Kalchbrenner and others with peepholes."""

    def peek(kind: str, gate: str, f: Any, t: Any) -> Any:
        names = [f"W_{gate}_diag_{kind}{way}_{block}" for way in "ft"]
        return w[names[0]] * f + w[names[1]] * t if names[0] in w else 0.0

    cf = mf = np.zeros((2, UNITS))
    outputs, new = [], []
    for window, (ct, mt) in zip(windows, states, strict=True):
        joined = np.concatenate([window, mt, mf], 1)
        fresh: dict[str, Any] = {}
        for kind, letter, old in (("freq", "f", cf), ("time", "t", ct)):
            if shared:
                letter, of = "f", "freq"
            else:
                of = kind
            parts = np.split(
                joined @ w[f"W_{letter}_{block}_0"] + w[f"B_{letter}_{block}"], 3 if coupled else 4, axis=1
            )
            i = sigmoid(parts[0] + peek(of, "I", cf, ct))
            f = 1 - i if coupled else sigmoid(parts[2] + 1 + peek(of, "F", cf, ct))
            fresh[kind] = (f * old + i * np.tanh(parts[1]), parts[-1], of)
        cf, ct = fresh["freq"][0], fresh["time"][0]
        mf = sigmoid(fresh["freq"][1] + peek(fresh["freq"][2], "O", cf, ct)) * np.tanh(cf)
        mt = sigmoid(fresh["time"][1] + peek(fresh["time"][2], "O", cf, ct)) * np.tanh(ct)
        outputs += [mt, mf]
        new += [ct, mt]
    return outputs, new


@pytest.mark.parametrize(
    ("peepholes", "shared", "coupled"), [(False, False, False), (True, False, False), (True, True, True)]
)
def test_a_grid_cell_crosses_frequencies_and_time(peepholes: bool, shared: bool, coupled: bool) -> None:
    cell = rnn.GridLSTMCell(
        UNITS,
        peepholes,
        shared,
        feature_size=SIZE,
        frequency_skip=SKIP,
        num_frequency_blocks=[3],
        couple_input_forget_gates=coupled,
    )
    state = [DRAWN.normal(size=(2, UNITS)).astype("f") for _ in range(6)]
    assert cell.state_size == cell.state_tuple_type(*[UNITS] * 6)
    output, new, w = run(cell, cell.state_tuple_type(*state))
    windows = [X[:, start : start + SIZE] for start in range(3)]
    wanted, states = grid(w, windows, list(zip(state[::2], state[1::2], strict=True)), coupled=coupled, shared=shared)
    np.testing.assert_allclose(output, np.concatenate(wanted, 1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.stack(new), np.stack(states), rtol=1e-5, atol=1e-6)
    assert output.shape[1] == cell.output_size
    assert new._fields[:2] == ("state_f00_b00_c", "state_f00_b00_m")


def test_a_grid_cell_of_two_ways_sees_the_windows_from_both_ends() -> None:
    cell = rnn.BidirectionalGridLSTMCell(
        UNITS,
        feature_size=SIZE,
        frequency_skip=SKIP,
        num_frequency_blocks=[1, 2],
        start_freqindex_list=[0, 1],
        end_freqindex_list=[3, 5],
        backward_slice_offset=1,
    )
    state = [DRAWN.normal(size=(2, UNITS)).astype("f") for _ in range(12)]
    output, new, w = run(cell, cell.state_tuple_type(*state))
    assert new._fields[2] == "fwd_state_f00_b01_c"
    padded = np.pad(X, [[0, 0], [0, 1]])
    pairs = list(zip(state[::2], state[1::2], strict=True))
    wanted, states = [], []
    for way, source, starts, given in (
        ("fwd", X, ([0], [1, 2]), pairs[:3]),
        ("bwd", padded, ([1], [3, 2]), pairs[3:]),
    ):
        own = {name.removeprefix(f"{way}/"): value for name, value in w.items() if name.startswith(way)}
        for block, places in enumerate(starts):
            windows = [source[:, start : start + SIZE] for start in places]
            more, after = grid(
                own, windows, given[:1] if block == 0 else given[1:], coupled=False, shared=False, block=block
            )
            wanted += more
            states += after
    np.testing.assert_allclose(output, np.concatenate(wanted, 1), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.stack(new), np.stack(states), rtol=1e-5, atol=1e-6)


def test_a_grid_cell_says_what_does_not_fit() -> None:
    cell = rnn.GridLSTMCell(UNITS, feature_size=SIZE, frequency_skip=SKIP, num_frequency_blocks=[2])
    state = cell.zero_state(2, tf.float32)
    with pytest.raises(ValueError, match="requires 3 but gets 2"):
        cell(tf.constant(X), state)
    with pytest.raises(ValueError, match="num_frequency_blocks"):
        rnn.GridLSTMCell(UNITS, feature_size=SIZE, frequency_skip=SKIP)


def test_a_grid_cell_runs_in_a_loop_and_has_gradients() -> None:
    cell = rnn.GridLSTMCell(UNITS, feature_size=SIZE, frequency_skip=SKIP, num_frequency_blocks=[3])
    outputs, _ = tf.nn.dynamic_rnn(cell, tf.constant(np.stack([X] * 4, 1)), dtype=tf.float32)
    gradients = tf.gradients(outputs, tf.trainable_variables())
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(outputs).shape == (2, 4, 12)
        assert all(np.abs(gradient).sum() > 0 for gradient in session.run(gradients))
