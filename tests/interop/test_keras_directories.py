"""Models of Keras as SavedModels that cross over: ours are answered by TensorFlow, those of Keras 2 come back here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow
import tf_keras

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError

X = np.random.RandomState(0).rand(6, 8, 8, 2).astype("float32")
Y = [np.ones((6, 2)), np.zeros((6, 1))]


def _model(keras: Any, optimizer: Any) -> Any:
    layers = keras.layers
    inputs = keras.Input((8, 8, 2), name="image")
    x = layers.BatchNormalization()(layers.Conv2D(3, 3, activation="relu")(inputs))
    x = layers.Dropout(0.5)(layers.GlobalAveragePooling2D()(x))
    model = keras.Model(inputs, [layers.Dense(2, name="o")(x), layers.Dense(1, name="p")(x)])
    model.compile(optimizer, "mse", metrics={"o": ["mae"]})
    model.fit(X, Y, verbose=0)
    return model


def test_tensorflow_answers_as_the_model_that_was_saved(tmp_path: Path) -> None:
    tf.keras.backend.clear_session()
    model = _model(tf.keras, "adam")
    model.save(tmp_path / "model", save_format="tf")
    expected = model.predict(X)
    loaded = tensorflow.saved_model.load(str(tmp_path / "model"))
    answers = loaded.signatures["serving_default"](image=tensorflow.constant(X))
    assert sorted(answers) == ["o", "p"]
    called = loaded(tensorflow.constant(X))
    for name, value, other in zip("op", expected, called, strict=True):
        np.testing.assert_allclose(answers[name].numpy(), value, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(other.numpy(), value, rtol=1e-5, atol=1e-6)


def test_models_of_keras_2_come_back(tmp_path: Path) -> None:
    theirs = _model(tf_keras, tf_keras.optimizers.legacy.Adam(0.01))
    theirs.save(tmp_path / "functional", save_format="tf")
    parts = tf_keras.layers
    listed = tf_keras.Sequential([parts.Embedding(9, 4, input_length=5), parts.LSTM(3), parts.Dense(1)])
    listed.compile("adam", "mse", metrics=["mae"])
    listed.save(tmp_path / "listed", save_format="tf")
    tf.keras.backend.clear_session()
    ours = tf.keras.models.load_model(tmp_path / "functional")
    for mine, other in zip(ours.predict(X), theirs.predict(X, verbose=0), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)
    for mine, other in zip(ours.optimizer.get_weights(), theirs.optimizer.get_weights(), strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-6)
    numbers = np.arange(10).reshape(2, 5) % 9
    again = tf.keras.models.load_model(tmp_path / "listed")
    np.testing.assert_allclose(again.predict(numbers), listed.predict(numbers, verbose=0), rtol=1e-4, atol=1e-6)


def test_a_model_of_parts_that_are_not_known_here_is_refused(tmp_path: Path) -> None:
    inputs = tf_keras.Input((3,))
    theirs = tf_keras.Model(inputs, tensorflow.nn.relu(inputs))
    theirs.save(tmp_path / "model", save_format="tf")
    with pytest.raises(InvalidArgumentError, match=r"TFOpLambda.*tensorkeep\.load_saved_model runs"):
        tf.keras.models.load_model(tmp_path / "model")
