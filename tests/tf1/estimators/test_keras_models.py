"""Models of Keras as estimators: they go on with the model's weights, and learn what the model would."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, UnimplementedError

keras = tf.keras
layers = tf.keras.layers

_DRAW = np.random.RandomState(3)
A, B = _DRAW.rand(24, 4).astype("float32"), _DRAW.rand(24, 2)
U, V = _DRAW.rand(24, 1), _DRAW.randint(0, 3, 24)
WEIGHTS = _DRAW.rand(24)


@pytest.fixture(autouse=True)
def new_graph() -> Any:
    keras.backend.clear_session()
    yield
    keras.backend.clear_session()


def _two_ended(optimizer: Any) -> Any:
    a, b = keras.Input((4,), name="a"), keras.Input((2,), name="b")
    x = layers.BatchNormalization()(layers.Dense(5, activation="relu")(layers.concatenate([a, b])))
    model = keras.Model([a, b], [layers.Dense(1, name="u")(x), layers.Dense(3, activation="softmax", name="v")(x)])
    losses = {"u": "mse", "v": "sparse_categorical_crossentropy"}
    metrics = {"u": [keras.metrics.MeanAbsoluteError()], "v": ["accuracy"]}
    model.compile(optimizer, losses, metrics=metrics, loss_weights=[1.0, 0.5])
    return model


def _line(**told: Any) -> Any:
    model = keras.Sequential([layers.Dense(3, input_shape=(4,), name="one"), layers.Dense(1)])
    model.compile("sgd", "mse", **told)
    return model


def _batches() -> Any:
    return tf.data.Dataset.from_tensor_slices(({"a": A, "b": B}, {"u": U, "v": V})).batch(8)


@pytest.mark.parametrize("optimizer", ["keras", "tf.train"])
def test_an_estimator_learns_what_the_model_learns(optimizer: str, tmp_path: Path) -> None:
    model = _two_ended(keras.optimizers.Adam(0.01) if optimizer == "keras" else tf.train.AdamOptimizer(0.01))
    data = ({"a": A, "b": B}, {"u": U, "v": V})
    before = dict(zip(model.metrics_names, model.evaluate(*data, batch_size=8, verbose=0), strict=True))
    estimator = tf.keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))
    found = estimator.evaluate(_batches)
    assert set(found) == {"loss", "u_mean_absolute_error", "v_acc", "global_step"}
    names = ["loss", "u_mean_absolute_error", "v_acc"]
    np.testing.assert_allclose([found[name] for name in names], [before[name] for name in names], rtol=1e-5)
    model.fit(*data, batch_size=8, epochs=2, shuffle=False, verbose=0)
    estimator.train(lambda: _batches().repeat(2))
    for weight, value in zip(model.weights, model.get_weights(), strict=True):
        np.testing.assert_allclose(estimator.get_variable_value(weight.op.name), value, rtol=1e-4, atol=1e-6)
    assert estimator.get_variable_value("global_step") == 6
    ours = list(estimator.predict(_batches))
    for at, expected in enumerate(model.predict(data[0])):
        np.testing.assert_allclose([item["uv"[at]] for item in ours], expected, rtol=1e-4, atol=1e-5)


def test_the_model_keeps_its_session_and_its_weights(tmp_path: Path) -> None:
    model = _line()
    model.fit(A, U, verbose=0)
    before = model.get_weights()
    estimator = tf.keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))
    estimator.train(lambda: tf.data.Dataset.from_tensors((A, U)), steps=1)
    for one, other in zip(model.get_weights(), before, strict=True):
        np.testing.assert_array_equal(one, other)
    stored = tf.train.load_checkpoint(str(tmp_path / "keras" / "keras_model.ckpt"))
    np.testing.assert_array_equal(stored.get_tensor("one/kernel"), before[0])
    assert not np.allclose(estimator.get_variable_value("one/kernel"), before[0])


def test_weights_that_have_no_value_yet_are_drawn_by_the_seed_of_the_configuration() -> None:
    def loss() -> float:
        keras.backend.clear_session()
        config = tf.estimator.RunConfig(tf_random_seed=5)
        estimator = tf.keras.estimator.model_to_estimator(_line(), config=config)
        return float(estimator.evaluate(lambda: tf.data.Dataset.from_tensors((A, U)))["loss"])

    assert loss() == loss()


def test_a_model_in_a_file_becomes_an_estimator(tmp_path: Path) -> None:
    model = _line()
    model.save(tmp_path / "model.h5")
    expected = model.predict(A)
    keras.backend.clear_session()
    estimator = tf.keras.estimator.model_to_estimator(keras_model_path=str(tmp_path / "model.h5"))
    found = [item for answer in estimator.predict(lambda: tf.data.Dataset.from_tensors(A)) for item in answer.values()]
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_items_are_weighed_by_sample_weights(tmp_path: Path) -> None:
    model = _line(weighted_metrics=["mae"])
    model.set_weights([np.full(weight.get_shape().as_list(), 0.3) for weight in model.weights])
    estimator = tf.keras.estimator.model_to_estimator(model, model_dir=str(tmp_path))
    model.train_on_batch(A, U, sample_weight=WEIGHTS)
    features = {"features": A, "sample_weights": WEIGHTS}
    estimator.train(lambda: tf.data.Dataset.from_tensors((features, U)), steps=1)
    np.testing.assert_allclose(estimator.get_variable_value("one/kernel"), model.get_weights()[0], rtol=1e-5)
    found = estimator.evaluate(lambda: tf.data.Dataset.from_tensors((features, U)))
    expected = model.test_on_batch(A, U, sample_weight=WEIGHTS)
    np.testing.assert_allclose([found["loss"], found["weighted_mean_absolute_error"]], expected, rtol=1e-5)


def test_features_by_other_names_are_refused(tmp_path: Path) -> None:
    estimator = tf.keras.estimator.model_to_estimator(_two_ended("sgd"), model_dir=str(tmp_path))
    wrong = tf.data.Dataset.from_tensors
    with pytest.raises(InvalidArgumentError, match="features does not have the expected inputs keys"):
        estimator.train(lambda: wrong(({"a": A, "c": B}, {"u": U, "v": V})), steps=1)


def test_what_cannot_be_an_estimator_is_refused() -> None:
    class Own(keras.Model):  # type: ignore[misc, name-defined]
        def call(self, inputs: Any) -> Any:
            return inputs

    made: Any = tf.keras.estimator.model_to_estimator
    with pytest.raises(InvalidArgumentError, match="needs to be provided"):
        made()
    with pytest.raises(InvalidArgumentError, match="not both"):
        made(_line(), "model.h5")
    with pytest.raises(InvalidArgumentError, match="not been compiled"):
        made(keras.Sequential([layers.Dense(1, input_shape=(4,))]))
    with pytest.raises(UnimplementedError, match="`call` of its own"):
        made(Own())
    with pytest.raises(UnimplementedError, match="checkpoint_format"):
        made(_line(), checkpoint_format="checkpoint")
