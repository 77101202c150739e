"""Models of plain arrays run in TensorFlow, by the loaders of both versions, as the same layers of Keras do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep as tk
import tensorkeep.v1 as ours
from tensorkeep.arrays import Array
from tensorkeep.saved_model import Input, from_function, from_layers
from tensorkeep.saved_model.layers import (
    ACTIVATIONS,
    GRU,
    LSTM,
    Activation,
    ArgMax,
    AveragePool2D,
    BatchNorm,
    Cast,
    Concat,
    Conv1D,
    Conv2D,
    Conv2DTranspose,
    Dense,
    DepthwiseConv2D,
    Embedding,
    Flatten,
    GlobalAveragePool,
    GlobalMaxPool,
    Labels,
    Layer,
    LayerNorm,
    Lookup,
    MaxPool2D,
    Normalize,
    Reshape,
    Residual,
    SelfAttention,
    Transpose,
)
from tests.interop.test_exported_models import by_version_1, by_version_2

keras = tf.keras


def numbers(*shape: int, seed: int = 1) -> Array:
    return np.random.default_rng([seed, *shape]).normal(0, 0.5, shape)


def floats(*shape: int, seed: int = 2) -> Array:
    return numbers(*shape, seed=seed).astype(np.float32)


def by_keras(*layers: Any) -> Callable[[Array], Array]:
    """Runs layers of Keras, given as pairs of a layer and its weights."""

    def run(x: Array) -> Array:
        value = tf.constant(x)
        for layer, *weights in layers:
            layer.build(value.shape)
            layer.set_weights(weights)
            value = layer(value)
        found: Array = value.numpy()
        return found

    return run


@dataclass(frozen=True)
class Case:
    layers: Sequence[Layer]
    x: Array
    expect: Callable[[Array], Array]
    shape: tuple[int | None, ...] | None = None


KERNEL, BIAS = numbers(4, 3), numbers(3)
IMAGES = floats(2, 7, 6, 3)
STEPS = floats(2, 5, 4)
FILTERS = numbers(3, 2, 3, 4)


def attention(x: Array, causal: bool) -> Array:
    kernels = [numbers(4, 6, seed=seed) for seed in (1, 2, 3)]
    biases = [numbers(6, seed=seed) for seed in (1, 2, 3)]
    layer = keras.layers.MultiHeadAttention(2, 3)
    layer.build(x.shape, x.shape)
    weights: list[Any] = []
    for kernel, bias in zip(kernels, biases, strict=True):
        weights += [kernel.reshape(4, 2, 3), bias.reshape(2, 3)]
    layer.set_weights([*weights, numbers(6, 4).reshape(2, 3, 4), numbers(4)])
    found: Array = layer(x, x, use_causal_mask=causal).numpy()
    return found


def self_attention(causal: bool) -> SelfAttention:
    query, key, value = (numbers(4, 6, seed=seed) for seed in (1, 2, 3))
    biases = (*(numbers(6, seed=seed) for seed in (1, 2, 3)), numbers(4))
    return SelfAttention(query, key, value, numbers(6, 4), heads=2, biases=biases, causal=causal)  # type: ignore[arg-type]


L = keras.layers
LSTM_WEIGHTS = (numbers(4, 12), numbers(3, 12), numbers(12))
GRU_WEIGHTS = (numbers(4, 9), numbers(3, 9))
CASES = {
    "dense": Case([Dense(KERNEL, BIAS, "tanh")], floats(5, 4), by_keras((L.Dense(3, "tanh"), KERNEL, BIAS))),
    "dense of sequences": Case(
        [Dense(KERNEL)], STEPS, by_keras((L.Dense(3, use_bias=False), KERNEL)), shape=(None, None, 4)
    ),
    "embedding": Case([Embedding(numbers(9, 4))], np.array([[1, 8], [0, 3]], np.int64), lambda x: numbers(9, 4)[x]),
    "batch norm": Case(
        [BatchNorm(numbers(3), abs(numbers(3)), numbers(3, seed=3), numbers(3, seed=4))],
        IMAGES,
        by_keras((L.BatchNormalization(), numbers(3, seed=3), numbers(3, seed=4), numbers(3), abs(numbers(3)))),
    ),
    "layer norm": Case(
        [LayerNorm(numbers(4), numbers(4, seed=3))],
        STEPS,
        by_keras((L.LayerNormalization(epsilon=1e-5), numbers(4), numbers(4, seed=3))),
    ),
    "normalize": Case([Normalize(numbers(4), 3.0)], floats(5, 4), lambda x: (x - numbers(4)) / 3),
    "conv2d": Case(
        [Conv2D(FILTERS, numbers(4), (2, 1), "SAME", activation="relu")],
        IMAGES,
        by_keras((L.Conv2D(4, (3, 2), (2, 1), "same", activation="relu"), FILTERS, numbers(4))),
    ),
    "dilated conv2d": Case(
        [Conv2D(FILTERS, dilations=2)],
        IMAGES,
        by_keras((L.Conv2D(4, (3, 2), dilation_rate=2, use_bias=False), FILTERS)),
    ),
    "conv2d with a border": Case(
        [Conv2D(FILTERS, None, 2, padding=1)],
        IMAGES,
        by_keras((L.ZeroPadding2D(1),), (L.Conv2D(4, (3, 2), 2, use_bias=False), FILTERS)),
    ),
    "depthwise": Case(
        [DepthwiseConv2D(numbers(3, 3, 3, 2), numbers(6), 2, "SAME")],
        IMAGES,
        by_keras((L.DepthwiseConv2D(3, 2, "same", depth_multiplier=2), numbers(3, 3, 3, 2), numbers(6))),
    ),
    "transposed, valid": Case(
        [Conv2DTranspose(numbers(3, 3, 2, 3), numbers(2), 2)],
        IMAGES,
        by_keras((L.Conv2DTranspose(2, 3, 2), numbers(3, 3, 2, 3), numbers(2))),
    ),
    "transposed, same": Case(
        [Conv2DTranspose(numbers(3, 3, 2, 3), None, (2, 3), "same", "relu")],
        IMAGES,
        by_keras((L.Conv2DTranspose(2, 3, (2, 3), "same", use_bias=False, activation="relu"), numbers(3, 3, 2, 3))),
    ),
    "conv1d": Case(
        [Conv1D(numbers(2, 4, 3), numbers(3), padding="SAME", activation="relu")],
        STEPS,
        by_keras((L.Conv1D(3, 2, padding="same", activation="relu"), numbers(2, 4, 3), numbers(3))),
    ),
    "causal conv1d": Case(
        [Conv1D(numbers(2, 4, 3), numbers(3), padding="causal", dilation=2)],
        STEPS,
        by_keras((L.Conv1D(3, 2, padding="causal", dilation_rate=2), numbers(2, 4, 3), numbers(3))),
    ),
    "max pool": Case([MaxPool2D(2, padding="SAME")], IMAGES, by_keras((L.MaxPooling2D(2, padding="same"),))),
    "max pool with a border": Case(
        [MaxPool2D(3, 2, padding=1)],
        -abs(IMAGES),
        lambda x: tf.nn.max_pool2d(x, 3, 2, [(0, 0), (1, 1), (1, 1), (0, 0)]).numpy(),
    ),
    "average pool": Case([AveragePool2D((2, 3), 1)], IMAGES, by_keras((L.AveragePooling2D((2, 3), 1),))),
    "global average": Case([GlobalAveragePool()], IMAGES, lambda x: x.mean((1, 2))),
    "global max": Case([GlobalMaxPool()], STEPS, lambda x: x.max(1)),
    "lstm": Case([LSTM(*LSTM_WEIGHTS)], STEPS, by_keras((L.LSTM(3), *LSTM_WEIGHTS))),
    "lstm of unknown length": Case(
        [LSTM(*LSTM_WEIGHTS, sequences=True)],
        STEPS,
        by_keras((L.LSTM(3, return_sequences=True), *LSTM_WEIGHTS)),
        shape=(None, None, 4),
    ),
    "both directions": Case(
        [Concat([[LSTM(*LSTM_WEIGHTS, sequences=True)], [LSTM(*LSTM_WEIGHTS, sequences=True, backwards=True)]])],
        STEPS,
        by_keras((L.Bidirectional(L.LSTM(3, return_sequences=True)), *LSTM_WEIGHTS, *LSTM_WEIGHTS)),
    ),
    "gru": Case(
        [GRU(*GRU_WEIGHTS, numbers(2, 9), sequences=True)],
        STEPS,
        by_keras((L.GRU(3, return_sequences=True), *GRU_WEIGHTS, numbers(2, 9))),
    ),
    "gru that resets before": Case(
        [GRU(*GRU_WEIGHTS, numbers(9), reset_after=False)],
        STEPS,
        by_keras((L.GRU(3, reset_after=False), *GRU_WEIGHTS, numbers(9))),
    ),
    "attention": Case([self_attention(False)], STEPS, lambda x: attention(x, False)),
    "causal attention": Case([self_attention(True)], STEPS, lambda x: attention(x, True), shape=(None, None, 4)),
    "residual": Case(
        [Residual([Dense(numbers(4, 4))], [Dense(numbers(4, 4, seed=3))])],
        floats(2, 4),
        lambda x: x @ numbers(4, 4) + x @ numbers(4, 4, seed=3),
    ),
    "shapes": Case(
        [Transpose((0, 2, 3, 1)), Reshape((-1, 9)), Reshape((21, 3)), Flatten()],
        floats(2, 3, 7, 3),
        lambda x: x.transpose(0, 2, 3, 1).reshape(2, 63),
    ),
}


def check(folder: Path, x: Array, wanted: Array) -> None:
    with tk.load_saved_model(folder) as model:
        here = model.signatures["serving_default"](inputs=x)["outputs"]
    assert here.dtype == (object if wanted.dtype.kind in "OS" else wanted.dtype)
    for found in (here, by_version_1(folder, "outputs", inputs=x), by_version_2(folder, "outputs", inputs=x)):
        if wanted.dtype.kind in "OS":
            assert found.tolist() == wanted.tolist()
        else:
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_a_layer_is_that_of_keras_here_and_in_tensorflow(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    shape = case.shape or (None, *case.x.shape[1:])
    from_layers(case.layers, tmp_path / "model", input=Input(shape, case.x.dtype))
    wanted = case.expect(case.x)
    check(tmp_path / "model", case.x, wanted.astype(np.float32) if name != "embedding" else wanted)


def test_activations_are_those_of_tensorflow(tmp_path: Path) -> None:
    x = floats(3, 5) * 4
    known = {"gelu_tanh": lambda x: tf.nn.gelu(x, approximate=True), "linear": lambda x: x, "exp": tf.exp}
    heads: dict[str, list[Layer]] = {name: [Activation(name)] for name in ACTIVATIONS}
    from_layers([], tmp_path / "model", input=Input((None, 5)), outputs=heads)
    loaded = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"](inputs=tf.constant(x))
    with tk.load_saved_model(tmp_path / "model") as model:
        here = model.signatures["serving_default"](inputs=x)
    for name in ACTIVATIONS:
        function = known.get(name) or getattr(tf.nn, name, None) or getattr(tf, name)
        wanted = function(tf.constant(x)).numpy()
        np.testing.assert_allclose(here[name], wanted, rtol=1e-5, atol=1e-6, err_msg=name)
        np.testing.assert_allclose(loaded[name].numpy(), wanted, rtol=1e-5, atol=1e-6, err_msg=name)


def test_strings_go_in_and_come_out(tmp_path: Path) -> None:
    layers: list[Layer] = [
        Lookup(["good", "bad"], unknown=2),
        Embedding(np.array([[1, 0], [-1, 0], [0, 0]], np.float32)),
        GlobalAveragePool(),
        Dense(np.eye(2)),
        ArgMax(),
        Labels(["yes", "no"]),
    ]
    from_layers(layers, tmp_path / "model", input=Input((None, None), tk.DType.of("string")))
    words = np.array([[b"good", b"?"], [b"bad", b"bad"]], object)
    check(tmp_path / "model", words, np.array([b"yes", b"no"], object))


def test_integers_become_numbers_and_doubles_stay_doubles(tmp_path: Path) -> None:
    pixels = np.array([[0, 51, 255]], np.uint8)
    from_layers([Cast(np.float32), Normalize(0, 255)], tmp_path / "pixels", input=Input((None, 3), np.uint8))
    check(tmp_path / "pixels", pixels, np.array([[0, 0.2, 1]], np.float32))
    from_layers([Dense(KERNEL, BIAS)], tmp_path / "doubles", input=Input(dtype=np.float64))
    check(tmp_path / "doubles", numbers(2, 4), numbers(2, 4) @ KERNEL + BIAS)


def test_layers_are_functions_for_models_of_any_form(tmp_path: Path) -> None:
    left, right = Dense(numbers(2, 3), activation="relu"), Dense(numbers(4, 3))

    def towers(user: Any, item: Any) -> Any:
        return {"score": ours.reduce_sum(left(user) * right(item), axis=1)}

    inputs = {"user": (ours.float32, [None, 2]), "item": (ours.float32, [None, 4])}
    from_function(towers, inputs, tmp_path / "model")
    given = {"user": floats(3, 2), "item": floats(3, 4)}
    wanted = (np.maximum(given["user"] @ numbers(2, 3), 0) * (given["item"] @ numbers(4, 3))).sum(1)
    for load in (by_version_1, by_version_2):
        np.testing.assert_allclose(load(tmp_path / "model", "score", **given), wanted, rtol=1e-5)


def test_a_model_of_layers_has_its_variables_in_tensorflow(tmp_path: Path) -> None:
    from_layers([Dense(KERNEL, BIAS), Dense(KERNEL.T)], tmp_path / "model")
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    assert [variable.name for variable in loaded.variables] == ["dense/kernel:0", "dense/bias:0", "dense_1/kernel:0"]
    np.testing.assert_array_equal(loaded.variables[0].numpy(), KERNEL.astype(np.float32))
