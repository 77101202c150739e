"""Models of TensorFlow 2 that we have changed, in TensorFlow: by their objects, and as servers see them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep as tk
from tensorkeep.graph.rewriting.freezing import Selection
from tensorkeep.proto.messages import SavedModel
from tensorkeep.saved_model.edit.directory_edits import freeze_model, rewrite_model
from tensorkeep.saved_model.edit.message_edits import (
    add_output,
    add_signature,
    drop_input,
    drop_objects,
    drop_output,
    rename_input,
    rename_output,
    rename_signature,
)
from tensorkeep.saved_model.edit.meta_graph_pruning import prune_to_signature, prune_to_signatures
from tensorkeep.saved_model.files.layout import read_saved_model
from tests.interop.programs import tensorflow_1
from tests.support.golden import golden

v1 = tf.compat.v1
X = np.arange(8, dtype=np.float32).reshape(2, 4)
WORDS = np.array([b"red", b"?", b"blue"], object)


class Program(tf.Module):  # type: ignore[misc]
    """Variables, a captured constant, a loop, a table with a file, and an input with a default."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        (folder / "colours.txt").write_text("red\nblue\n")
        self.w = tf.Variable(np.linspace(-1, 1, 12, dtype=np.float32).reshape(4, 3))
        self.parts = {"b": tf.Variable([0.5, 1.0, 2.0]), "unused": tf.Variable(3.0)}
        rows = tf.lookup.TextFileInitializer(
            str(folder / "colours.txt"),
            tf.string,
            tf.lookup.TextFileIndex.WHOLE_LINE,
            tf.int64,
            tf.lookup.TextFileIndex.LINE_NUMBER,
        )
        self.table = tf.lookup.StaticHashTable(rows, -1)
        self.captured = tf.constant([1.0, 10.0, 100.0])

    @tf.function  # type: ignore[untyped-decorator]
    def score(self, x: Any, scale: Any) -> Any:
        y = x @ self.w * scale + self.parts["b"]
        total = tf.zeros_like(y)
        for _ in tf.range(3):
            total += y * self.captured
        return {"plain": y, "total": total}

    @tf.function  # type: ignore[untyped-decorator]
    def look(self, word: Any) -> Any:
        return {"place": self.table.lookup(word)}

    @tf.function  # type: ignore[untyped-decorator]
    def train(self, x: Any) -> Any:
        self.w.assign_sub(tf.reduce_mean(x) * tf.ones_like(self.w))
        return self.w


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("objects")
    module = Program(folder)
    rows = tf.TensorSpec([None, 4], tf.float32, name="x")
    signatures = {
        "score": module.score.get_concrete_function(rows, tf.TensorSpec([], tf.float32, name="scale")),
        "look": module.look.get_concrete_function(tf.TensorSpec([None], tf.string, name="word")),
        "train": module.train.get_concrete_function(rows),
    }
    tf.saved_model.save(module, str(folder / "m"), signatures=signatures)
    return folder / "m"


def results(folder: Path, key: str, **given: Any) -> list[dict[str, Any]]:
    """What a signature gives by the objects, by the graph, and here."""
    loaded = tf.saved_model.load(str(folder))
    by_objects = loaded.signatures[key](**{name: tf.constant(value) for name, value in given.items()})
    with tensorflow_1(), v1.Session(graph=v1.Graph()) as session:
        signature = v1.saved_model.load(session, ["serve"], str(folder)).signature_def[key]
        feeds = {signature.inputs[name].name: value for name, value in given.items()}
        by_graph = session.run({name: info.name for name, info in signature.outputs.items()}, feeds)
    with tk.load_saved_model(folder) as model:
        here = model.signatures[key](**given)
    return [{name: value.numpy() for name, value in by_objects.items()}, by_graph, here]


def wanted(source: Path, scale: float = 2.0) -> dict[str, Any]:
    with tk.load_saved_model(source) as model:
        found: dict[str, Any] = model.signatures["score"](x=X, scale=scale)
        return found


Edit = Callable[[SavedModel], SavedModel]
SCORE = {"x": X, "scale": np.float32(2)}
EDITS: dict[str, tuple[list[Edit], str, dict[str, Any], dict[str, str]]] = {
    "names that keep the order": (
        [
            partial(rename_input, key="score", old="x", new="xx"),
            partial(rename_output, key="score", old="total", new="x"),
        ],
        "score",
        {"xx": X, "scale": np.float32(2)},
        {"plain": "plain", "x": "total"},
    ),
    "names that change the order": (
        [
            partial(rename_input, key="score", old="x", new="a"),
            partial(rename_output, key="score", old="total", new="b"),
        ],
        "score",
        {"a": X, "scale": np.float32(2)},
        {"plain": "plain", "b": "total"},
    ),
    "fewer outputs": ([partial(drop_output, key="score", name="plain")], "score", SCORE, {"total": "total"}),
    "an output twice": (
        [partial(add_output, key="score", name="a", tensor="StatefulPartitionedCall_1:1")],
        "score",
        SCORE,
        {"plain": "plain", "total": "total", "a": "total"},
    ),
    "another signature": (
        [
            partial(
                add_signature,
                key="all",
                inputs={"rows": "score_x:0", "by": "score_scale:0", "word": "look_word:0"},
                outputs={"z": "StatefulPartitionedCall_1:0", "a": "StatefulPartitionedCall_1:1"},
            )
        ],
        "all",
        {"rows": X, "by": np.float32(2), "word": WORDS},
        {"z": "plain", "a": "total"},
    ),
    "renamed, then pruned": (
        [
            partial(rename_signature, old="score", new="serving_default"),
            partial(rename_input, key="serving_default", old="scale", new="zoom"),
            partial(prune_to_signature, key="serving_default"),
        ],
        "serving_default",
        {"x": X, "zoom": np.float32(2)},
        {"plain": "plain", "total": "total"},
    ),
    "without objects": ([drop_objects], "score", SCORE, {"plain": "plain", "total": "total"}),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_changed_model_computes_the_same_by_its_objects_and_by_its_graph(
    name: str, source: Path, tmp_path: Path
) -> None:
    edits, key, given, names = EDITS[name]
    rewrite_model(source, tmp_path / "n", *edits)
    before = wanted(source)
    for found in results(tmp_path / "n", key, **given):
        assert found.keys() == names.keys()
        for new, old in names.items():
            np.testing.assert_allclose(found[new], before[old], rtol=1e-5)


def test_a_changed_model_is_still_one_of_objects(source: Path, tmp_path: Path) -> None:
    rewrite_model(source, tmp_path / "n", partial(rename_input, key="score", old="x", new="a"))
    loaded = tf.saved_model.load(str(tmp_path / "n"))
    assert set(loaded.signatures) == {"look", "score", "train"}
    assert loaded.parts["unused"].numpy() == 3.0
    plain = loaded.score(tf.constant(X), tf.constant(2.0))["plain"]
    np.testing.assert_allclose(plain, wanted(source)["plain"], rtol=1e-5)
    before = loaded.w.numpy()
    loaded.signatures["train"](x=tf.ones((1, 4)))
    np.testing.assert_allclose(loaded.w.numpy(), before - 1)
    again = loaded.signatures["score"](a=tf.constant(X), scale=tf.constant(2.0))  # sees the new value
    assert not np.allclose(again["plain"], wanted(source)["plain"])


def test_what_tensorflow_saves_of_a_changed_model_runs(source: Path, tmp_path: Path) -> None:
    rewrite_model(source, tmp_path / "n", partial(rename_input, key="score", old="x", new="a"))
    loaded = tf.saved_model.load(str(tmp_path / "n"))
    tf.saved_model.save(loaded, str(tmp_path / "again"), signatures=loaded.signatures)
    for found in results(tmp_path / "again", "score", a=X, scale=np.float32(2)):
        np.testing.assert_allclose(found["total"], wanted(source)["total"], rtol=1e-5)


def test_a_pruned_model_has_its_variables_and_files_but_no_functions_that_it_does_not_need(
    source: Path, tmp_path: Path
) -> None:
    before = read_saved_model(source).meta_graphs[0]
    after = rewrite_model(source, tmp_path / "n", partial(prune_to_signatures, keys=["look", "score"])).meta_graphs[0]
    assert len(after.graph_def.library.function) < len(before.graph_def.library.function)
    assert not any("train" in item.signature.name for item in after.graph_def.library.function)
    loaded = tf.saved_model.load(str(tmp_path / "n"))
    assert set(loaded.signatures) == {"look", "score"}
    assert loaded.parts["unused"].numpy() == 3.0
    for found in results(tmp_path / "n", "look", word=WORDS):
        assert found["place"].tolist() == [0, -1, 1]


def test_a_frozen_model_with_a_table_and_its_file_runs_by_both_loaders(source: Path, tmp_path: Path) -> None:
    rewrite_model(source, tmp_path / "m", partial(prune_to_signatures, keys=["look", "score"]))
    frozen = freeze_model(tmp_path / "m", tmp_path / "n")
    ops = [node.op for node in frozen.meta_graphs[0].graph_def.node]
    assert ops.count("VarHandleOp") == 1  # the path of the file
    for found in results(tmp_path / "n", "score", **SCORE):
        np.testing.assert_allclose(found["total"], wanted(source)["total"], rtol=1e-5)
    for found in results(tmp_path / "n", "look", word=WORDS):
        assert found["place"].tolist() == [0, -1, 1]


def test_a_variable_kept_out_of_a_frozen_model_has_its_value(source: Path, tmp_path: Path) -> None:
    names = [node.name for node in read_saved_model(source).meta_graphs[0].graph_def.node if node.op == "VarHandleOp"]
    sizes = {name: name for name in names}
    freeze_model(source, tmp_path / "n", selection=Selection(only=[], keep=sizes))
    for found in results(tmp_path / "n", "score", **SCORE):
        np.testing.assert_allclose(found["total"], wanted(source)["total"], rtol=1e-5)
    for found in results(tmp_path / "n", "train", x=np.ones((1, 4), np.float32)):
        np.testing.assert_allclose(found["output_0"], np.linspace(-1, 1, 12).reshape(4, 3) - 1, atol=1e-6)


def test_a_part_of_a_sparse_input_gets_another_name(tmp_path: Path) -> None:
    folder = golden("g33_tf2_composite") / "model"
    rewrite_model(folder, tmp_path / "n", partial(rename_input, key="sparse", old="s_1", new="values"))
    given = {"s": np.array([[0, 1], [2, 3]]), "s_2": np.array([3, 4])}
    values = np.array([2, 5], np.float32)
    (wanted, *_) = results(folder, "sparse", s_1=values, **given)
    for found in results(tmp_path / "n", "sparse", values=values, **given):
        np.testing.assert_allclose(found["output_0"], wanted["output_0"], rtol=1e-6)


def test_an_input_with_a_default_may_go(tmp_path: Path) -> None:
    module = tf.Module()
    module.v = tf.Variable(2.0)

    specs = [tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.float32)]

    @tf.function(input_signature=specs)  # type: ignore[untyped-decorator]
    def scaled(x: Any, by: Any = tf.constant(5.0)) -> Any:
        return {"y": x * by * module.v}

    module.scaled = scaled
    tf.saved_model.save(module, str(tmp_path / "m"), signatures={"scaled": scaled})
    assert "by" in read_saved_model(tmp_path / "m").meta_graphs[0].signature_def["scaled"].defaults
    rewrite_model(tmp_path / "m", tmp_path / "n", partial(drop_input, key="scaled", name="by"))
    for found in results(tmp_path / "n", "scaled", x=np.array([1, 2], np.float32)):
        assert found["y"].tolist() == [10.0, 20.0]


def test_a_model_of_keras_gets_other_names(tmp_path: Path) -> None:
    tf.keras.utils.set_random_seed(1)
    model = tf.keras.Sequential([tf.keras.layers.Input((4,), name="rows"), tf.keras.layers.Dense(3, activation="relu")])
    model.export(str(tmp_path / "m"), verbose=False)
    signature = read_saved_model(tmp_path / "m").meta_graphs[0].signature_def["serving_default"]
    (old,) = signature.inputs
    (given,) = signature.outputs
    rewrite_model(
        tmp_path / "m",
        tmp_path / "n",
        partial(rename_input, key="serving_default", old=old, new="features"),
        partial(rename_output, key="serving_default", old=given, new="scores"),
        partial(prune_to_signature, key="serving_default"),
    )
    for found in results(tmp_path / "n", "serving_default", features=X):
        np.testing.assert_allclose(found["scores"], model(X).numpy(), rtol=1e-5, atol=1e-6)
