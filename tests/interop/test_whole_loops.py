"""Loops of Keras' recurrent layers, run as a whole by the compiled library: they agree with TensorFlow and NumPy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf

from tensorkeep.errors import ResourceExhaustedError
from tensorkeep.ops.control._round_running import WholeLoop
from tensorkeep.runtime.limits import Limits
from tensorkeep.saved_model.load.model_loading import load_saved_model
from tests.native.implementations import implementation, is_turned_off

L = keras.layers
LAYERS: dict[str, tuple[Callable[[], Any], bool]] = {
    "lstm": (lambda: L.LSTM(5), False),
    "lstm_of_a_mask": (lambda: L.LSTM(5), True),
    "all_steps_of_a_mask": (lambda: L.LSTM(5, return_sequences=True), True),
    "zero_where_masked": (lambda: L.LSTM(5, return_sequences=True, zero_output_for_mask=True), True),
    "backwards": (lambda: L.LSTM(5, go_backwards=True, return_sequences=True), True),
    "without_bias": (lambda: L.LSTM(5, use_bias=False, recurrent_activation="hard_sigmoid"), False),
    "gru": (lambda: L.GRU(5, return_sequences=True), True),
    "gru_reset_before": (lambda: L.GRU(5, reset_after=False), True),
    "plain": (lambda: L.SimpleRNN(5, activation="relu", return_sequences=True), True),
    "both_directions": (lambda: L.Bidirectional(L.LSTM(5, return_sequences=True)), True),
    "stacked_cells": (lambda: L.RNN([L.LSTMCell(4), L.GRUCell(3)], return_sequences=True), True),
}


def _with_softplus(folder: Path) -> None:
    """Chains have no softplus."""
    _exported(folder, L.LSTM(5, activation="softplus"), False)


def _of_pictures(folder: Path) -> None:
    tokens = keras.Input((6,), dtype="int32", name="tokens")
    x = L.Reshape((6, 4, 4, 1))(L.Embedding(50, 16)(tokens))
    keras.Model(tokens, L.ConvLSTM2D(2, 3)(x)).export(str(folder), verbose=False)


@pytest.fixture
def whole(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each loop that runs, whether it ran as a whole."""
    ran: list[bool] = []
    run = WholeLoop.__call__

    def watched(self: WholeLoop, values: Any) -> Any:
        found = run(self, values)
        ran.append(found is not None)
        return found

    monkeypatch.setattr(WholeLoop, "__call__", watched)
    return ran


def _exported(folder: Path, layer: Any, is_masked: bool) -> None:
    keras.utils.set_random_seed(3)
    tokens = keras.Input((None,), dtype="int32", name="tokens")
    x = L.Embedding(50, 6, mask_zero=is_masked)(tokens)
    keras.Model(tokens, layer(x)).export(str(folder), verbose=False)


def _tokens(rows: int, steps: int) -> Any:
    random = np.random.default_rng(rows)
    tokens = random.integers(0, 50, size=(rows, steps)).astype(np.int32)
    tokens[random.random((rows, steps)) < 0.3] = 0
    return tokens


def _answers(folder: Path, tokens: Any) -> dict[str, Any]:
    return dict(load_saved_model(str(folder), engine="numpy").signatures["serving_default"](tokens=tokens))


@pytest.mark.skipif(is_turned_off(), reason="TENSORKEEP_NATIVE=0")
@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_runs_as_a_whole_and_agrees(name: str, tmp_path: Path, whole: list[bool]) -> None:
    make, is_masked = LAYERS[name]
    _exported(tmp_path, make(), is_masked)
    theirs = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    for rows, steps in ((1, 7), (5, 9)):
        tokens = _tokens(rows, steps)
        expected = theirs(tokens=tf.constant(tokens))
        with implementation("native"):
            found = _answers(tmp_path, tokens)
        assert whole
        assert all(whole)
        whole.clear()
        with implementation("NumPy"):
            by_numpy = _answers(tmp_path, tokens)
        assert not any(whole)
        whole.clear()
        for key, value in expected.items():
            np.testing.assert_allclose(found[key], value.numpy(), rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(found[key], by_numpy[key], rtol=1e-5, atol=1e-6)


@pytest.mark.skipif(is_turned_off(), reason="TENSORKEEP_NATIVE=0")
@pytest.mark.parametrize("name", ["all_steps_of_a_mask", "backwards", "both_directions", "stacked_cells"])
def test_threads_share_the_rows(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, whole: list[bool]) -> None:
    make, is_masked = LAYERS[name]
    _exported(tmp_path, make(), is_masked)
    tokens = _tokens(7, 40)
    with implementation("native"):
        by_one = _answers(tmp_path, tokens)
        monkeypatch.setenv("TENSORKEEP_THREADS", "3")
        monkeypatch.setattr("tensorkeep.native.layers.SMALL", 0)
        monkeypatch.setattr("tensorkeep.native.layers._WORTH_A_THREAD", 1)
        monkeypatch.setattr("tensorkeep.ops.control._round_running._MOST_AT_ONCE", 100)
        by_three = _answers(tmp_path, tokens)
    assert whole
    assert all(whole)
    for key, value in by_one.items():
        np.testing.assert_allclose(by_three[key], value, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("export", [_with_softplus, _of_pictures])
def test_other_loops_run_round_by_round(export: Callable[[Path], None], tmp_path: Path, whole: list[bool]) -> None:
    export(tmp_path)
    theirs = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    tokens = _tokens(2, 6)
    expected = theirs(tokens=tf.constant(tokens))
    found = _answers(tmp_path, tokens)
    assert not any(whole)
    for key, value in expected.items():
        np.testing.assert_allclose(found[key], value.numpy(), rtol=1e-5, atol=1e-6)


def test_runs_that_are_limited_count_their_rounds(tmp_path: Path, whole: list[bool]) -> None:
    """A loop that runs as a whole would not be counted."""
    _exported(tmp_path, L.LSTM(5), False)
    model = load_saved_model(str(tmp_path), limits=Limits(steps=20), engine="numpy")
    with pytest.raises(ResourceExhaustedError):
        model.signatures["serving_default"](tokens=_tokens(1, 60))
    assert not any(whole)
