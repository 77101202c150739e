"""Conversions beside live TensorFlow and Keras: it restores what comes back, and what it writes is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import keras
import numpy as np
import pytest
import tensorflow as tf
import tf_keras

from tensorkeep.convert import ConvertOptions, ModelOptions, convert, open_tensors
from tensorkeep.edit import Selection
from tests.convert.test_presets import torch_cell

v1 = tf.compat.v1

VALUES: dict[str, Any] = {
    "net/kernel": np.arange(12, dtype=np.float32).reshape(3, 4),
    "net/half": np.float32([1.0, 2.5]).astype(tf.bfloat16.as_numpy_dtype),
    "net/flags": np.array([True, False]),
    "step": np.int64(7),
}


def _saved(folder: Path, version: int = v1.train.SaverDef.V2) -> str:
    """A model as TensorFlow saves it; V1 knows no bfloat16."""
    with v1.Graph().as_default(), v1.Session() as session:
        for name, value in VALUES.items():
            if version == v1.train.SaverDef.V2 or name != "net/half":
                v1.get_variable(name, initializer=value, use_resource=True)
        with v1.variable_scope("parts", partitioner=v1.fixed_size_partitioner(2)):
            v1.get_variable("table", initializer=v1.ones_initializer(), shape=[6, 2], use_resource=True)
        x = v1.placeholder(tf.float32, [None, 3], name="x")
        tf.identity(tf.matmul(x, v1.global_variables()[0]), name="y")
        session.run(v1.global_variables_initializer())
        return str(v1.train.Saver(write_version=version).save(session, str(folder / "m")))


def _read(path: Path | str) -> dict[str, np.ndarray]:
    reader = tf.train.load_checkpoint(str(path))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


@pytest.mark.parametrize("ending", ["safetensors", "pt"])
@pytest.mark.parametrize("version", [v1.train.SaverDef.V1, v1.train.SaverDef.V2])
def test_tensorflow_reads_what_comes_back_from_another_format(tmp_path: Path, ending: str, version: int) -> None:
    source = _saved(tmp_path, version)
    convert(source, tmp_path / f"x.{ending}", options=ConvertOptions(prove=True))
    convert(tmp_path / f"x.{ending}", tmp_path / "back", options=ConvertOptions(prove=True))
    found, expected = _read(tmp_path / "back"), {**VALUES, "parts/table": np.ones((6, 2), np.float32)}
    if version == v1.train.SaverDef.V1:
        del expected["net/half"]
    assert sorted(found) == sorted(expected)
    for name, value in expected.items():
        assert found[name].dtype == value.dtype
        np.testing.assert_array_equal(found[name], value)


def test_tensorflow_restores_a_checkpoint_of_either_format_that_was_a_safetensors_file(tmp_path: Path) -> None:
    source = _saved(tmp_path)
    convert(source, tmp_path / "x.safetensors")
    options = ConvertOptions(only=Selection(unless=Selection(["net/half"])))
    convert(tmp_path / "x.safetensors", tmp_path / "two", options=options)
    convert(
        tmp_path / "x.safetensors",
        tmp_path / "one",
        options=ConvertOptions(to="checkpoint-v1", only=Selection(unless=Selection(["net/half"]))),
    )
    for name in ("one", "two"):
        with v1.Graph().as_default(), v1.Session() as session:
            kernel = v1.get_variable("net/kernel", [3, 4], use_resource=True)
            table = v1.get_variable("parts/table", [6, 2], use_resource=True)
            v1.train.Saver().restore(session, str(tmp_path / name))
            np.testing.assert_array_equal(session.run(kernel), VALUES["net/kernel"])
            np.testing.assert_array_equal(session.run(table), np.ones((6, 2)))


def test_tensorflow_runs_a_frozen_graph_and_a_saved_model_that_were_a_checkpoint(tmp_path: Path) -> None:
    source = _saved(tmp_path)
    x = np.ones((1, 3), np.float32)
    convert(source, tmp_path / "x.pb", options=ConvertOptions(model=ModelOptions(outputs=["y"])))
    graph_def = v1.GraphDef.FromString((tmp_path / "x.pb").read_bytes())
    with v1.Graph().as_default(), v1.Session() as session:
        v1.import_graph_def(graph_def, name="")
        np.testing.assert_array_equal(session.run("y:0", {"x:0": x}), x @ VALUES["net/kernel"])
    signatures = {"serving_default": ({"x": "x:0"}, {"y": "y:0"})}
    convert(source, f"{tmp_path}/model/", options=ConvertOptions(model=ModelOptions(signatures=signatures)))
    model = tf.saved_model.load(str(tmp_path / "model"))
    np.testing.assert_array_equal(model.signatures["serving_default"](x=tf.constant(x))["y"], x @ VALUES["net/kernel"])
    convert(tmp_path / "model", tmp_path / "again.npz", options=ConvertOptions(only=Selection(["net/kernel"])))
    with np.load(tmp_path / "again.npz") as arrays:
        np.testing.assert_array_equal(arrays["net/kernel"], VALUES["net/kernel"])


def test_objects_of_tensorflow_2_go_by_their_paths(tmp_path: Path) -> None:
    module = tf.Module()
    module.kernel = tf.Variable(VALUES["net/kernel"])
    module.layers = [tf.Variable(1.0), tf.Variable(2.0)]
    source = tf.train.Checkpoint(model=module).save(str(tmp_path / "objects"))
    convert(source, tmp_path / "x.safetensors", options=ConvertOptions(prove=True))
    with open_tensors(tmp_path / "x.safetensors") as found:
        assert sorted(found) == ["model/kernel", "model/layers/0", "model/layers/1", "save_counter"]
        np.testing.assert_array_equal(found.read("model/kernel"), VALUES["net/kernel"])


def _model() -> Any:
    return keras.Sequential([keras.Input((5, 3)), keras.layers.LSTM(4, name="lstm"), keras.layers.Dense(2, name="out")])


def test_weights_that_keras_3_saves_are_read(tmp_path: Path) -> None:
    model = _model()
    model.save_weights(str(tmp_path / "m.weights.h5"))
    with open_tensors(tmp_path / "m.weights.h5") as found:
        _check_weights(found, model)


def test_weights_that_keras_3_saves_in_several_files_are_read(tmp_path: Path) -> None:
    model = _model()
    model.save_weights(str(tmp_path / "m.weights.json"), max_shard_size=300 / 1024**3)
    assert len(list(tmp_path.glob("m_*.weights.h5"))) > 1
    with open_tensors(tmp_path / "m.weights.json") as found:
        _check_weights(found, model)


def _check_weights(found: Any, model: Any) -> None:
    """Layers by their names, what they have by number."""
    expected = {f"lstm/lstm_cell/{at}": value for at, value in enumerate(model.layers[0].get_weights())}
    expected |= {f"out/{at}": value for at, value in enumerate(model.layers[1].get_weights())}
    assert sorted(found) == sorted(expected)
    for name, value in expected.items():
        np.testing.assert_array_equal(found.read(name), value)


def test_weights_that_keras_2_saves_are_read_by_the_names_of_variables(tmp_path: Path) -> None:
    layers = [tf_keras.Input((5, 3)), tf_keras.layers.LSTM(4, name="lstm"), tf_keras.layers.Dense(2, name="out")]
    model = tf_keras.Sequential(layers)
    model.save_weights(str(tmp_path / "weights.h5"))
    expected = {variable.name.removesuffix(":0"): variable.numpy() for variable in model.weights}
    with open_tensors(tmp_path / "weights.h5") as found:
        assert sorted(found) == sorted(expected)
        for name, value in expected.items():
            np.testing.assert_array_equal(found.read(name), value)


def test_an_lstm_layer_of_keras_computes_the_same_by_the_formulas_of_pytorch(tmp_path: Path) -> None:
    layer = keras.layers.LSTM(4, return_state=True, bias_initializer="random_normal")
    x = np.random.default_rng(3).normal(size=(2, 1, 3)).astype(np.float32)
    h, c = (np.random.default_rng(seed).normal(size=(2, 4)).astype(np.float32) for seed in (4, 5))
    _, last_h, last_c = layer(x, initial_state=[tf.constant(h), tf.constant(c)])
    names = ("kernel", "recurrent_kernel", "bias")
    np.savez(
        tmp_path / "x.npz", **{f"lstm/{name}": value for name, value in zip(names, layer.get_weights(), strict=True)}
    )
    convert(tmp_path / "x.npz", tmp_path / "y.npz", ["keras-lstm-to-torch"])
    with np.load(tmp_path / "y.npz") as found:
        ours = torch_cell(found, "lstm/", x[:, 0], h, c)
    np.testing.assert_allclose(ours, (last_h, last_c), rtol=1e-5, atol=1e-6)


def test_an_lstm_cell_of_tensorflow_1_computes_the_same_by_the_formulas_of_pytorch(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    x, h, c = random.normal(size=(2, 3)), random.normal(size=(2, 4)), random.normal(size=(2, 4))
    kernel, bias = random.normal(size=(7, 16)), random.normal(size=16)
    x, h, c, kernel, bias = (value.astype(np.float32) for value in (x, h, c, kernel, bias))
    # The kernel of TensorFlow's own LSTM block cell: gates i c f o, to the third of which it adds the forget bias.
    peepholes = np.zeros(4, np.float32)
    _, last_c, _, _, _, _, last_h = tf.raw_ops.LSTMBlockCell(
        x=x, cs_prev=c, h_prev=h, w=kernel, wci=peepholes, wcf=peepholes, wco=peepholes, b=bias, forget_bias=1.0
    )
    np.savez(tmp_path / "x.npz", **{"rnn/lstm_cell/kernel": kernel, "rnn/lstm_cell/bias": bias})
    convert(tmp_path / "x.npz", tmp_path / "y.npz", ["lstm-to-torch"])
    with np.load(tmp_path / "y.npz") as found:
        ours = torch_cell(found, "rnn/lstm_cell/", x, h, c)
    np.testing.assert_allclose(ours, (last_h, last_c), rtol=1e-4, atol=1e-5)
