"""Archives that Keras writes: every variable by the name that Keras gives it, with its value."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest

from tensorkeep.convert import open_tensors

layers = keras.layers


def variables_of(layer: Any, scopes: tuple[str, ...] = ()) -> Iterator[tuple[str, Any]]:
    """What Keras stores of a layer and of those in it, by their names in one another."""
    for variable in layer._trainable_variables + layer._non_trainable_variables:
        yield "/".join((*scopes, variable.name)), variable
    for inner in layer._layers:
        yield from variables_of(inner, (*scopes, inner.name))


def filled(model: Any) -> Any:
    """The model with other numbers in every variable."""
    generator = np.random.default_rng(1)
    for variable in model.variables:
        if "float" in variable.dtype:
            variable.assign(generator.uniform(0.5, 1.5, variable.shape))
    return model


def recurrent() -> Any:
    given = keras.Input((8, 6))
    x = layers.Bidirectional(layers.LSTM(3, return_sequences=True))(given)
    x = layers.Bidirectional(
        layers.GRU(3, return_sequences=True), backward_layer=layers.LSTM(3, return_sequences=True, go_backwards=True)
    )(x)
    x = layers.GRU(4, return_sequences=True, use_bias=False, name="gates")(x)
    x = layers.SimpleRNN(4, return_sequences=True)(x)
    x = layers.RNN([layers.SimpleRNNCell(3), layers.LSTMCell(2)], return_sequences=True)(x)
    return keras.Model(given, layers.TimeDistributed(layers.Dense(3))(x))


def convolutional() -> Any:
    given = keras.Input((12, 12, 3))
    x = layers.Conv2D(4, 3, name="stem")(given)
    x = layers.BatchNormalization()(x)
    x = layers.BatchNormalization(center=False, scale=False)(x)
    x = layers.DepthwiseConv2D(2, use_bias=False)(x)
    x = layers.SeparableConv2D(4, 2)(x)
    x = layers.GroupNormalization(2)(x)
    x = layers.Conv2DTranspose(3, 2)(x)
    x = layers.PReLU(shared_axes=[1, 2])(x)
    x = layers.SpectralNormalization(layers.Conv2D(2, 2))(x)
    x = layers.LayerNormalization(center=False)(x)
    x = layers.ConvLSTM1D(2, 2)(x)
    return keras.Model(given, layers.EinsumDense("abc,cd->abd", (None, 5), bias_axes="d")(x))


def attentive() -> Any:
    given = keras.Input((8,), dtype="int32")
    x = layers.Embedding(10, 8, name="words")(given)
    x = layers.MultiHeadAttention(2, 4)(x, x)
    x = layers.MultiHeadAttention(2, 4, use_bias=False, dropout=0.5, name="second")(x, x)
    x = layers.GroupQueryAttention(4, 4, 2)(x, x)
    x = layers.Attention(use_scale=True, score_mode="concat")([x, x])
    x = layers.AdditiveAttention()([x, x])
    x = layers.RMSNormalization()(x)
    x = layers.Normalization()(x)
    return keras.Model(given, layers.LayerNormalization()(layers.Dropout(0.5)(x)))


def nested() -> Any:
    inner = keras.Sequential([layers.Dense(4), layers.BatchNormalization(), layers.Dense(2, use_bias=False)], name="in")
    given = keras.Input((6,))
    middle = keras.Model(given, layers.Dense(3)(inner(layers.Dense(5)(given))), name="middle")
    outer = keras.Input((6,))
    return keras.Model(outer, layers.Dense(1, name="dense")(middle(outer)), name="outer")


def single_layers() -> Any:
    """Layers of other ranks and settings, side by side."""
    line, volume = keras.Input((8, 4)), keras.Input((4, 4, 4, 2))
    on_line = [
        layers.Conv1D(2, 2),
        layers.Conv1DTranspose(2, 2, use_bias=False),
        layers.DepthwiseConv1D(2),
        layers.SeparableConv1D(2, 2, use_bias=False),
        layers.LayerNormalization(rms_scaling=True),
        layers.LayerNormalization(scale=False),
        layers.GroupNormalization(2, center=False),
        layers.SpectralNormalization(layers.Dense(2)),
        layers.EinsumDense("abc,cd->abd", (None, 5)),
        layers.LSTM(2, use_bias=False),
        layers.Attention(),
    ]
    on_volume = [layers.Conv3D(2, 2), layers.Conv3DTranspose(2, 2), layers.ConvLSTM2D(2, 2, use_bias=False)]
    outputs = [layer([line, line] if isinstance(layer, layers.Attention) else line) for layer in on_line]
    return keras.Model([line, volume], outputs + [layer(volume) for layer in on_volume])


@pytest.mark.filterwarnings("ignore:You passed `rms_scaling")
@pytest.mark.parametrize("make", [recurrent, convolutional, attentive, nested, single_layers])
def test_every_variable_has_the_name_and_the_value_that_it_has_in_keras(tmp_path: Path, make: Any) -> None:
    keras.utils.clear_session(free_memory=False)
    model = filled(make())
    model.save(tmp_path / "m.keras")
    expected = dict(variables_of(model))
    with open_tensors(tmp_path / "m.keras") as tensors:
        assert sorted(tensors) == sorted(expected)
        for name, variable in expected.items():
            np.testing.assert_array_equal(tensors.read(name), variable.numpy(), err_msg=name)
            assert variable.path.endswith(name) or name.endswith(variable.path) or "spectral" in name


def test_what_a_compiled_model_has_of_its_optimizer_is_there(tmp_path: Path) -> None:
    model = keras.Sequential([keras.Input((3,)), layers.Dense(2, name="only")])
    model.compile("adam", "mse")
    model.fit(np.ones((4, 3)), np.ones((4, 2)), verbose=0)
    model.save(tmp_path / "m.keras")
    with open_tensors(tmp_path / "m.keras") as tensors:
        slots = [f"optimizer/adam/{number}" for number in range(2, 6)]
        scalars = ["optimizer/adam/iteration", "optimizer/adam/learning_rate"]
        assert sorted(tensors) == sorted(["only/kernel", "only/bias", *scalars, *slots])
        for number, variable in enumerate(model.optimizer.variables):
            name = (scalars + slots)[number]
            np.testing.assert_array_equal(tensors.read(name), variable.numpy(), err_msg=name)


def test_layers_of_ones_own_number_their_variables(tmp_path: Path) -> None:
    class Dense(layers.Dense):  # called like one of Keras's
        pass

    model = keras.Sequential([keras.Input((3,)), Dense(2, name="own")])
    model.save(tmp_path / "m.keras")
    with open_tensors(tmp_path / "m.keras") as tensors:
        assert sorted(tensors) == ["own/0", "own/1"]
