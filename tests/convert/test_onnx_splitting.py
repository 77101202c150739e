"""Models that are split: SavedModels before and after, the file between them, and the same answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tests.support.golden import golden

pytest.importorskip("tensorkeep.onnx.splitting")
pytest.importorskip("tensorkeep.onnx.passes.layout")


def run_split(done: tk.OnnxExport, values: dict[str, Any]) -> dict[str, Any]:
    """What the three parts give, one after the other."""
    found = dict(values)
    _run_part(done, "before", found)
    session = ort.InferenceSession(done.target, providers=["CPUExecutionProvider"])
    names = [item.name for item in session.get_outputs()]
    given = {item.name: found[item.name] for item in session.get_inputs()}
    found.update(zip(names, session.run(names, given), strict=True))
    _run_part(done, "after", found)
    return found


def _run_part(done: tk.OnnxExport, word: str, found: dict[str, Any]) -> None:
    if word in done.parts:
        with tk.load_saved_model(done.parts[word]) as part:
            signature = part.signatures["serving_default"]
            found.update(signature(**{name: found[name] for name in signature.inputs}))


def test_text_before_the_numbers_stays_a_saved_model(tmp_path: Path) -> None:
    source = str(golden("g32_keras_strings") / "model")
    done = tk.export_onnx(source, tmp_path / "m.onnx", tk.OnnxOptions(split=True, verify=True))
    assert done.parts == {"before": str(tmp_path / "m.before")}
    values = {
        "color": np.array([[b"red"], [b"blue"]], object),
        "text": np.array([[b"the cat"], [b"a dog"]], object),
        "num": np.ones((2, 2), np.float32),
    }
    with tk.load_saved_model(source) as model:
        expected = model.signatures["serving_default"](**values)
    found = run_split(done, values)
    for name, array in expected.items():
        np.testing.assert_allclose(found[name], array, rtol=1e-5, atol=1e-6)


def test_names_after_the_numbers_do_too(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        scores = tf.tanh(tf.matmul(x, tf.constant(np.eye(3, dtype=np.float32))), name="scores")
        texts = tf.strings.as_string(scores, precision=1, name="texts")
        joined = tf.strings.reduce_join(texts, axis=1, separator=",", name="joined")
        ends = {"scores": scores, "joined": joined}
        values = {"x": np.zeros((2, 3), np.float32)}
        options = tk.OnnxOptions(split=True)
        done = tk.export_onnx(session, tmp_path / "m.onnx", options, outputs=ends)
        assert list(done.parts) == ["after"]
        assert list(run_split(done, values)["joined"]) == [b"0.0,0.0,0.0"] * 2
        with pytest.raises(tk.AlreadyExistsError):
            tk.export_onnx(session, tmp_path / "m.onnx", options, outputs=ends)
        tk.export_onnx(session, tmp_path / "m.onnx", options, outputs=ends, overwrite=True)
    assert list(run_split(done, values)["joined"]) == [b"0.0,0.0,0.0"] * 2


def test_a_model_without_numbers_cannot_be_split(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.string, [None], name="x")
        y = tf.io.decode_base64(x, name="y")
        with pytest.raises(tk.UnimplementedError, match="there is nothing in the model that ONNX could do"):
            tk.export_onnx(session, tmp_path / "m.onnx", tk.OnnxOptions(split=True), outputs=[y])
    assert not list(tmp_path.iterdir())


def test_an_image_can_have_its_channels_first(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 4, 5, 3], name="x")
        y = tf.tanh(tf.nn.bias_add(x, tf.constant([1.0, 2.0, 3.0])), name="y")
        options = tk.OnnxOptions(channels_first=["x"], verify=True)
        done = tk.export_onnx(session, tmp_path / "m.onnx", options, outputs=[y])
        value = np.random.default_rng(1).standard_normal((2, 4, 5, 3)).astype(np.float32)
        expected = session.run(y, {x: value})
    assert dict(done.inputs) == {"x": "float [x_0, 3, 4, 5]"}
    runtime = ort.InferenceSession(done.target, providers=["CPUExecutionProvider"])
    (found,) = runtime.run(["y"], {"x": np.moveaxis(value, -1, 1).copy()})
    np.testing.assert_allclose(found, expected, rtol=1e-6)
