"""Models that were made here load and run in TensorFlow, by the loaders of both versions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep as tk
import tensorkeep.v1 as ours
from tensorkeep.saved_model.export.graph_exporting import from_checkpoint, from_function
from tests.saved_model.export.test_graph_exporting import SIGNATURE, VALUES, affine_graph

X = np.array([[1.0, 1.0], [2.0, -1.0]], np.float32)


def by_version_1(folder: Path, outputs: str = "y", **inputs: Any) -> Any:
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        signature = v1.saved_model.loader.load(session, ["serve"], str(folder)).signature_def["serving_default"]
        feeds = {signature.inputs[key].name: value for key, value in inputs.items()}
        return session.run(signature.outputs[outputs].name, feeds)


def by_version_2(folder: Path, outputs: str = "y", **inputs: Any) -> Any:
    model = tf.saved_model.load(str(folder))
    given = {key: tf.constant(value) for key, value in inputs.items()}
    return model.signatures["serving_default"](**given)[outputs].numpy()


LOADERS = pytest.mark.parametrize("load", [by_version_1, by_version_2])


@LOADERS
def test_a_model_of_a_graph_and_a_checkpoint_runs_in_tensorflow(load: Any, tmp_path: Path) -> None:
    tk.save_checkpoint(tmp_path / "ckpt", VALUES)
    from_checkpoint(affine_graph(), tmp_path / "ckpt", SIGNATURE, tmp_path / "model")
    np.testing.assert_allclose(load(tmp_path / "model", x=X), [[3.5], [0.5]])


@LOADERS
def test_a_meta_graph_of_tensorflow_becomes_a_model_by_its_own_saver(load: Any, tmp_path: Path) -> None:
    v1 = tf.compat.v1
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [None, 2], name="x")
        w = v1.get_variable("w", initializer=VALUES["w"], use_resource=True)
        b = v1.get_variable("b", initializer=VALUES["b"], use_resource=False)
        tf.add(x @ w, b, name="y")
        session.run(v1.global_variables_initializer())
        prefix = v1.train.Saver({"renamed/w": w, "b": b}).save(session, str(tmp_path / "ckpt"))
    from_checkpoint(f"{prefix}.meta", prefix, SIGNATURE, tmp_path / "model")
    np.testing.assert_allclose(load(tmp_path / "model", x=X), [[3.5], [0.5]])
    with tk.load_saved_model(tmp_path / "model") as model:
        np.testing.assert_allclose(model.signatures["serving_default"](x=X)["y"], [[3.5], [0.5]])


@LOADERS
def test_a_function_of_ours_becomes_a_model_with_its_table_and_file(load: Any, tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("red\ngreen\n")

    def look(words: Any) -> Any:
        rows = ours.lookup.TextFileInitializer(
            str(tmp_path / "words.txt"),
            ours.string,
            ours.lookup.TextFileIndex.WHOLE_LINE,
            ours.int64,
            ours.lookup.TextFileIndex.LINE_NUMBER,
        )
        table = ours.lookup.StaticHashTable(rows, -1)
        weights = ours.get_variable("weights", initializer=ours.constant([1.0, 10.0]))
        return {"y": ours.gather(weights, ours.maximum(table.lookup(words), ours.constant(0, ours.int64)))}

    from_function(look, {"words": (ours.string, [None])}, tmp_path / "model")
    (tmp_path / "words.txt").unlink()
    words = np.array([b"green", b"red", b"?"], object)
    assert load(tmp_path / "model", words=words).tolist() == [10.0, 1.0, 1.0]
    with tk.load_saved_model(tmp_path / "model") as model:
        assert model.signatures["serving_default"](words=words)["y"].tolist() == [10.0, 1.0, 1.0]


@LOADERS
def test_tables_of_a_graph_of_tensorflow_are_filled_in_a_model_of_its_checkpoint(load: Any, tmp_path: Path) -> None:
    v1, index = tf.compat.v1, tf.lookup.TextFileIndex
    words = tmp_path / "words.txt"
    words.write_text("red\ngreen\n")
    with v1.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.string, [None], name="x")
        lines = tf.lookup.TextFileInitializer(str(words), tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
        place = v1.lookup.StaticHashTable(lines, -1).lookup(x)
        tf.multiply(tf.cast(place, tf.float32), v1.get_variable("w", initializer=10.0), name="y")
        session.run([v1.global_variables_initializer(), v1.tables_initializer()])
        prefix = v1.train.Saver().save(session, str(tmp_path / "ckpt"))
    from_checkpoint(f"{prefix}.meta", prefix, SIGNATURE, tmp_path / "model")
    words.unlink()
    assert load(tmp_path / "model", x=["green", "blue"]).tolist() == [10.0, -10.0]
