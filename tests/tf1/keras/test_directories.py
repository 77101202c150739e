"""Models of Keras as SavedModels: they come back with their weights and their optimizer, and nothing is left behind."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep
import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError, UnimplementedError

keras = tf.keras
layers = tf.keras.layers

X = np.random.RandomState(2).rand(8, 4).astype("float32")
Y = X.sum(axis=1, keepdims=True)


@pytest.fixture(autouse=True)
def new_graph() -> Any:
    keras.backend.clear_session()
    yield
    keras.backend.clear_session()


def _line(optimizer: Any = "adam") -> Any:
    first = layers.Dense(3, activation="relu", input_shape=(4,), activity_regularizer=keras.regularizers.l2(0.1))
    model = keras.Sequential([first, layers.Dense(1, name="out")])
    model.compile(optimizer, "mse", metrics=["mae"])
    model.fit(X, Y, verbose=0)
    return model


def test_a_model_comes_back_and_goes_on_as_it_would_have(tmp_path: Path) -> None:
    model = _line()
    model.save(tmp_path / "model", save_format="tf")
    expected = [model.fit(X, Y, verbose=0, shuffle=False).history["loss"] for _ in range(2)]
    keras.backend.clear_session()
    again = keras.models.load_model(tmp_path / "model")
    found = [again.fit(X, Y, verbose=0, shuffle=False).history["loss"] for _ in range(2)]
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    assert type(again) is keras.Sequential


def test_saving_leaves_no_losses_behind(tmp_path: Path) -> None:
    model = _line()
    before = len(model.losses), len(model.layers[0]._inbound_nodes)
    model.save(tmp_path / "model", save_format="tf")
    assert (len(model.losses), len(model.layers[0]._inbound_nodes)) == before


def test_the_optimizer_can_be_left_out(tmp_path: Path) -> None:
    model = _line()
    model.save(tmp_path / "model", include_optimizer=False, save_format="tf")
    assert not keras.models.load_model(tmp_path / "model")._is_compiled
    stored = [name for name, _ in tf.train.list_variables(str(tmp_path / "model" / "variables" / "variables"))]
    assert not [name for name in stored if "optimizer" in name.lower()]
    model.save(tmp_path / "whole", save_format="tf")  # it is still the model's
    assert keras.models.load_model(tmp_path / "whole").optimizer.get_weights()[0] == 1


def test_an_exported_model_comes_back_and_is_served(tmp_path: Path) -> None:
    model = _line()
    keras.experimental.export_saved_model(model, tmp_path / "export")
    assert (tmp_path / "export" / "assets" / "saved_model.json").is_file()
    again = keras.experimental.load_from_saved_model(tmp_path / "export")
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-6)
    with tf.Graph().as_default(), tf.Session() as session:
        loaded = tf.saved_model.loader.load(session, ["serve"], str(tmp_path / "export"))
        signature = loaded.signature_def["serving_default"]
        fed = {signature.inputs["dense_input"].name: X}
        answer = session.run(signature.outputs["out"].name, fed)
    np.testing.assert_allclose(answer, model.predict(X), rtol=1e-5)
    with pytest.raises(InvalidArgumentError, match="exists already"):
        keras.experimental.export_saved_model(model, tmp_path / "export")


def test_what_is_no_model_of_keras_is_told_apart(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(tf.float32, [None], name="x")
        tf.saved_model.simple_save(session, str(tmp_path / "graph"), {"x": given}, {"y": given * 2})
    with pytest.raises(UnimplementedError, match=r"tensorkeep\.load_saved_model runs it"):
        keras.models.load_model(tmp_path / "graph")
    with pytest.raises(InvalidArgumentError, match=r"saved_model\.json"):
        keras.experimental.load_from_saved_model(tmp_path / "graph")


def test_a_model_with_a_call_of_its_own_is_saved_and_runs_but_does_not_come_back(tmp_path: Path) -> None:
    class Own(keras.Model):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.dense = layers.Dense(2)

        def call(self, inputs: Any) -> Any:
            return self.dense(inputs)

    model = Own()
    with pytest.raises(InvalidArgumentError, match="call it, or fit it, first"):
        model.save(tmp_path / "own", save_format="tf")
    expected = model.predict(X)
    model.save(tmp_path / "own", save_format="tf")
    answer = tensorkeep.load_saved_model(tmp_path / "own").signatures["serving_default"](input_1=X)
    np.testing.assert_allclose(next(iter(answer.values())), expected, rtol=1e-5)
    with pytest.raises(UnimplementedError, match=r"tensorkeep\.load_saved_model, which runs"):
        keras.models.load_model(tmp_path / "own")
