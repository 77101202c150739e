"""Models of Keras as estimators beside Keras 2, whose estimators are gone: it trains the model itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import tensorflow
import tf_keras

import tensorkeep.v1 as tf

_DRAW = np.random.RandomState(1)
X, Y = _DRAW.rand(40, 6).astype("float32"), _DRAW.randint(0, 3, 40)
FIRST = [_DRAW.randn(*shape).astype("float32") * 0.3 for shape in ((6, 8), (8,), (8, 3), (3,))]


def _batches() -> tf.data.Dataset:
    return tf.data.Dataset.from_tensor_slices((X, Y)).batch(8)


def _receiver() -> tf.estimator.export.ServingInputReceiver:
    fed = tf.placeholder(tf.float32, [None, 6], name="x")
    return tf.estimator.export.ServingInputReceiver({"dense_input": fed}, {"x": fed})


def test_an_estimator_of_a_model_ends_with_the_losses_and_weights_of_keras(tmp_path: Path) -> None:
    theirs = tf_keras.Sequential(
        [tf_keras.layers.Dense(8, "tanh", input_shape=(6,)), tf_keras.layers.Dense(3, "softmax", name="out")]
    )
    theirs.compile(tf_keras.optimizers.legacy.Adam(0.05), "sparse_categorical_crossentropy", metrics=["accuracy"])
    theirs.set_weights(FIRST)
    theirs.fit(X, Y, batch_size=8, epochs=3, shuffle=False, verbose=0)

    layers = tf.keras.layers
    tf.keras.backend.clear_session()
    ours = tf.keras.Sequential([layers.Dense(8, "tanh", input_shape=(6,)), layers.Dense(3, "softmax", name="out")])
    ours.compile(tf.keras.optimizers.Adam(0.05), "sparse_categorical_crossentropy", metrics=["accuracy"])
    ours.set_weights(FIRST)
    estimator = tf.keras.estimator.model_to_estimator(ours, model_dir=str(tmp_path / "run"))
    estimator.train(lambda: _batches().repeat(3))
    names = ["dense/kernel", "dense/bias", "out/kernel", "out/bias"]
    for name, expected in zip(names, theirs.get_weights(), strict=True):
        np.testing.assert_allclose(estimator.get_variable_value(name), expected, rtol=1e-4, atol=1e-5)
    found = estimator.evaluate(_batches)
    np.testing.assert_allclose([found["loss"], found["acc"]], theirs.evaluate(X, Y, 8, verbose=0), rtol=1e-4)

    folder = estimator.export_saved_model(str(tmp_path / "export"), _receiver)
    answers = tensorflow.saved_model.load(folder.decode()).signatures["serving_default"](x=tensorflow.constant(X))
    np.testing.assert_allclose(answers["out"].numpy(), theirs.predict(X, verbose=0), rtol=1e-4, atol=1e-5)
