"""Models that we have changed, in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep as tk
import tensorkeep.v1 as ours
from tensorkeep.proto.messages import SavedModel
from tensorkeep.saved_model.edit.directory_edits import change_variables, freeze_model, replace_asset, rewrite_model
from tensorkeep.saved_model.edit.message_edits import (
    add_output,
    add_signature,
    drop_input,
    drop_output,
    drop_signature,
    rename_input,
    rename_output,
    rename_signature,
    replace_tags,
    strip_default_attrs,
    strip_devices,
)
from tensorkeep.saved_model.edit.meta_graph_pruning import prune_to_signature
from tensorkeep.saved_model.files.layout import read_saved_model
from tensorkeep.saved_model.files.warmup import write_warmup_requests
from tests.interop.programs import tensorflow_1
from tests.support.golden import golden

v1 = tf.compat.v1

WORDS = np.array([b"red", b"green", b"blue"], object)


def program(tf: Any, directory: Path) -> None:
    """A model with training, a table, an input with a default, and a loop."""
    words = directory.parent / "vocab.txt"
    words.write_text("red\ngreen\n")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        scale = tf.placeholder_with_default(np.float32(2), [], name="scale")
        with tf.device("/device:CPU:0"):
            w = tf.get_variable("w", initializer=np.float32([[1, 2], [3, 4]]))
        y = tf.multiply(tf.matmul(x, w), scale, name="y")
        doubled = tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * 2.0), [tf.constant(0), y])[1]
        doubled = tf.identity(doubled, name="doubled")
        train = tf.train.MomentumOptimizer(0.01, 0.9).minimize(tf.reduce_sum(tf.square(doubled)), name="train")
        table = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                str(words),
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            default_value=-1,
        )
        word = tf.placeholder(tf.string, [None], name="word")
        place = tf.identity(table.lookup(word), name="place")
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        session.run(train, {x: [[0.1, 0.2]]})
        signature = tf.saved_model.predict_signature_def
        builder = tf.saved_model.Builder(str(directory))
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            {
                "serving_default": signature({"x": x, "scale": scale}, {"y": y, "doubled": doubled}),
                "word": signature({"word": word}, {"place": place}),
            },
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.group(tf.tables_initializer()),
        )
        builder.save()


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """TensorFlow's model."""
    place = tmp_path_factory.mktemp("edited") / "m"
    with tensorflow_1():
        program(v1, place)
    return place


def run(library: Any, directory: Path, key: str, tags: list[str], **feeds: Any) -> dict[str, Any]:
    with library.Session(graph=library.Graph()) as session:
        signature = library.saved_model.load(session, tags, str(directory)).signature_def[key]
        given = {signature.inputs[name].name: value for name, value in feeds.items()}
        return session.run({name: info.name for name, info in signature.outputs.items()}, given)


ROWS = np.float32([[1, 2], [3, 4]])

EDITS: dict[str, tuple[tuple[Callable[[SavedModel], SavedModel], ...], str, dict[str, Any], dict[str, str]]] = {
    "add": (
        (partial(add_signature, key="raw", inputs={"rows": "x:0"}, outputs={"product": "y:0"}),),
        "raw",
        {"rows": ROWS},
        {"product": "y"},
    ),
    "rename": ((partial(rename_signature, old="serving_default", new="score"),), "score", {"x": ROWS}, {}),
    "drop": ((partial(drop_signature, key="word"),), "serving_default", {"x": ROWS}, {}),
    "names": (
        (
            partial(rename_input, key="serving_default", old="x", new="rows"),
            partial(rename_output, key="serving_default", old="y", new="a"),
        ),
        "serving_default",
        {"rows": ROWS},
        {"a": "y"},
    ),
    "fewer inputs": ((partial(drop_input, key="serving_default", name="scale"),), "serving_default", {"x": ROWS}, {}),
    "more outputs": (
        (partial(add_output, key="serving_default", name="again", tensor="y:0"),),
        "serving_default",
        {"x": ROWS},
        {"again": "y"},
    ),
    "bare": ((strip_devices, strip_default_attrs), "serving_default", {"x": ROWS}, {}),
    "pruned": ((partial(prune_to_signature, key="serving_default"),), "serving_default", {"x": ROWS}, {}),
}


@pytest.mark.parametrize("name", EDITS)
def test_a_changed_model_computes_the_same_in_tensorflow(name: str, source: Path, tmp_path: Path) -> None:
    edits, key, feeds, aliases = EDITS[name]
    rewrite_model(source, tmp_path / "n", *edits)
    with tensorflow_1():
        wanted = run(v1, source, "serving_default", ["serve"], x=ROWS)
        found = run(v1, tmp_path / "n", key, ["serve"], **feeds)
    mine = run(ours, tmp_path / "n", key, ["serve"], **feeds)
    assert found.keys() == mine.keys()
    for output, value in found.items():
        np.testing.assert_array_equal(value, wanted[aliases.get(output, output)])
        np.testing.assert_allclose(mine[output], value, rtol=1e-6)
    loaded = tf.saved_model.load(str(tmp_path / "n"), tags=["serve"])
    function = loaded.signatures[key]
    defaults = {"scale": tf.constant(2.0)} if "scale" in function.structured_input_signature[1] else {}
    results = function(**{argument: tf.constant(value) for argument, value in feeds.items()}, **defaults)
    for output, value in found.items():
        np.testing.assert_array_equal(results[output].numpy(), value)


def test_a_pruned_model_has_no_training_and_restores_only_what_it_needs(source: Path, tmp_path: Path) -> None:
    rewrite_model(source, tmp_path / "n", partial(prune_to_signature, key="serving_default"))
    (meta_graph,) = read_saved_model(tmp_path / "n").meta_graphs
    assert {node.op for node in meta_graph.graph_def.node}.isdisjoint({"ApplyMomentum", "StackPushV2"})
    assert [node.name for node in meta_graph.graph_def.node if node.op == "VariableV2"] == ["w"]
    assert len(meta_graph.collection_def["variables"].bytes_list.value) == 1
    assert "train_op" not in meta_graph.collection_def
    with tensorflow_1(), v1.Session(graph=v1.Graph()) as session:
        v1.saved_model.load(session, ["serve"], str(tmp_path / "n"))
        saver = v1.train.Saver(saver_def=v1.train.SaverDef.FromString(meta_graph.saver_def.SerializeToString()))
        saver.save(session, str(tmp_path / "again"), write_meta_graph=False)
    assert [name for name, _ in tf.train.list_variables(str(tmp_path / "again"))] == ["w"]


def test_a_model_pruned_to_what_needs_no_variables_has_none(source: Path, tmp_path: Path) -> None:
    pruned = rewrite_model(source, tmp_path / "n", partial(prune_to_signature, key="word"))
    assert not pruned.meta_graphs[0].HasField("saver_def")
    assert {node.op for node in pruned.meta_graphs[0].graph_def.node}.isdisjoint({"VariableV2", "MatMul", "RestoreV2"})
    with tensorflow_1():
        found = run(v1, tmp_path / "n", "word", ["serve"], word=WORDS)
    assert found["place"].tolist() == [0, 1, -1]


def test_a_frozen_model_computes_the_same_in_tensorflow(source: Path, tmp_path: Path) -> None:
    freeze_model(source, tmp_path / "n")
    with tensorflow_1():
        wanted = run(v1, source, "serving_default", ["serve"], x=ROWS)
        found = run(v1, tmp_path / "n", "serving_default", ["serve"], x=ROWS)
        places = run(v1, tmp_path / "n", "word", ["serve"], word=WORDS)
    np.testing.assert_array_equal(found["doubled"], wanted["doubled"])
    assert places["place"].tolist() == [0, 1, -1]


def test_other_values_and_files_are_seen_by_tensorflow(source: Path, tmp_path: Path) -> None:
    change_variables(source, tmp_path / "n", {"w": np.zeros((2, 2), np.float32)})
    (tmp_path / "new.txt").write_text("blue\n")
    replace_asset(tmp_path / "n", "vocab.txt", tmp_path / "new.txt")
    rewrite_model(tmp_path / "n", None, partial(replace_tags, old="serve", new=["serve", "cpu"]))
    with tensorflow_1():
        found = run(v1, tmp_path / "n", "serving_default", ["cpu", "serve"], x=ROWS)
        places = run(v1, tmp_path / "n", "word", ["serve", "cpu"], word=WORDS)
    assert found["y"].tolist() == [[0, 0], [0, 0]]
    assert places["place"].tolist() == [-1, -1, 0]


def test_signatures_of_a_model_with_objects_are_renamed_and_dropped_for_both_loaders(tmp_path: Path) -> None:
    folder = golden("g28_tf2_module") / "model"
    before = tf.saved_model.load(str(folder))
    old, *_ = sorted(before.signatures)
    rewrite_model(folder, tmp_path / "n", partial(rename_signature, old=old, new="renamed"))
    renamed = tf.saved_model.load(str(tmp_path / "n"))
    assert set(renamed.signatures) == set(before.signatures) - {old} | {"renamed"}
    assert renamed.signatures["renamed"].structured_outputs.keys() == before.signatures[old].structured_outputs.keys()
    rewrite_model(tmp_path / "n", None, partial(drop_signature, key="renamed"))
    assert set(tf.saved_model.load(str(tmp_path / "n")).signatures) == set(before.signatures) - {old}
    assert "renamed" not in read_saved_model(tmp_path / "n").meta_graphs[0].signature_def


def test_warm_up_records_are_tfrecords_that_tensorflow_reads(source: Path, tmp_path: Path) -> None:
    rewrite_model(source, tmp_path / "n")
    path = write_warmup_requests(tmp_path / "n", [{"x": ROWS, "scale": 1.0}, {"x": ROWS[:1], "scale": 2.0}])
    records = [record.numpy() for record in tf.data.TFRecordDataset(path)]
    assert len(records) == 2
    assert b"serving_default" in records[0]
    # PredictionLog.predict_log.request.inputs["x"] is TensorFlow's TensorProto, as it stands there.
    proto = tf.make_tensor_proto(ROWS).SerializeToString()
    assert proto in records[0]


def test_method_names_are_updated_as_by_tensorflow(source: Path, tmp_path: Path) -> None:
    files = []
    for name, library in (("ours", ours), ("theirs", v1)):
        updater = library.saved_model.signature_def_utils.MethodNameUpdater(str(source))
        updater.replace_method_name("word", "tensorflow/serving/regress", tags="serve")
        (tmp_path / name).mkdir()
        updater.save(str(tmp_path / name))
        files.append((tmp_path / name / "saved_model.pb").read_bytes())
    assert files[0] == files[1]


def test_a_frozen_model_keeps_what_its_tables_hold(tmp_path: Path) -> None:
    module = tf.Module()
    module.words = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, 0.5)
    module.words.insert(["red", "green"], [1.0, 2.0])
    module.pairs = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, [-7, -8], -1, -2)
    module.pairs.insert(tf.constant([3, 4], tf.int64), tf.constant([[30, 31], [40, 41]], tf.int64))
    module.pairs.erase(tf.constant([4], tf.int64))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string), tf.TensorSpec([None], tf.int64)])
    def look(word: Any, number: Any) -> Any:
        return {"score": module.words.lookup(word), "pair": module.pairs.lookup(number)}

    tf.saved_model.save(module, str(tmp_path / "1"), look)
    freeze_model(tmp_path / "1", tmp_path / "2")
    with tk.load_saved_model(tmp_path / "2") as model:
        found = model.signatures["serving_default"](word=WORDS, number=[3, 4])
    theirs = tf.saved_model.load(str(tmp_path / "2")).signatures["serving_default"](
        word=tf.constant(WORDS), number=tf.constant([3, 4], tf.int64)
    )
    for given in (found, {key: item.numpy() for key, item in theirs.items()}):
        assert given["score"].tolist() == [1.0, 2.0, 0.5]
        assert given["pair"].tolist() == [[30, 31], [-7, -8]]


class Composites(tf.Module):  # type: ignore[misc]
    """A signature with ragged and sparse tensors that it takes and gives, and one without any."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = tf.Variable([2.0, 3.0, 4.0])

    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None, None]), tf.SparseTensorSpec([None, 3])])  # type: ignore[untyped-decorator]
    def both(self, ragged: Any, sparse: Any) -> Any:
        return {
            "ragged": ragged * self.weight[0],
            "sparse": sparse * self.weight,
            "sums": tf.sparse.reduce_sum(sparse, 1),
        }

    @tf.function(input_signature=[tf.TensorSpec([None])])  # type: ignore[untyped-decorator]
    def plain(self, x: Any) -> Any:
        return {"y": x * self.weight[1]}


COMPOSITES = {
    "ragged": np.float32([1, 2, 3]),
    "ragged_1": np.int64([0, 1, 2]),
    "ragged_2": np.int64([0, 1, 3]),
    "sparse": np.int64([[0, 1], [1, 2]]),
    "sparse_1": np.float32([5, 6]),
    "sparse_2": np.int64([2, 3]),
}
COMPOSITE_EDITS: dict[str, tuple[Callable[[SavedModel], SavedModel], ...]] = {
    "outputs": (
        partial(rename_output, key="both", old="ragged", new="rows"),
        partial(rename_output, key="both", old="sparse", new="a_matrix"),
        partial(drop_output, key="both", name="sums"),
    ),
    "signatures": (partial(rename_signature, old="both", new="all"), partial(drop_signature, key="plain")),
    "prune": (partial(prune_to_signature, key="both"),),
    "prune and rename": (
        partial(prune_to_signature, key="both"),
        partial(rename_output, key="both", old="sparse", new="a_matrix"),
    ),
}
NEW_NAMES = {"rows": "ragged", "a_matrix": "sparse"}


@pytest.fixture(scope="module")
def composites(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("composites") / "m"
    module = Composites()
    tf.saved_model.save(module, str(place), signatures={"both": module.both, "plain": module.plain})
    return place


def as_lists(value: Any) -> Any:
    """A tensor or value of either library, whole or of several parts."""
    if hasattr(value, "to_list"):
        return value.to_list()
    if hasattr(value, "indices"):
        return [np.asarray(part).tolist() for part in (value.indices, value.values, value.dense_shape)]
    return np.asarray(value).tolist()


def composite_results(directory: Path, key: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What TensorFlow gives, and what we give."""
    theirs = tf.saved_model.load(str(directory)).signatures[key](
        **{name: tf.constant(value) for name, value in COMPOSITES.items()}
    )
    with tk.load_saved_model(directory) as model:
        own = model.signatures[key](**COMPOSITES)
    return {k: as_lists(v) for k, v in theirs.items()}, {k: as_lists(v) for k, v in own.items()}


@pytest.mark.parametrize("edit", COMPOSITE_EDITS)
def test_signatures_that_give_ragged_and_sparse_tensors_are_edited(composites: Path, edit: str, tmp_path: Path) -> None:
    rewrite_model(composites, tmp_path / "n", *COMPOSITE_EDITS[edit])
    wanted, _ = composite_results(composites, "both")
    theirs, own = composite_results(tmp_path / "n", "all" if edit == "signatures" else "both")
    assert theirs == own == {name: wanted[NEW_NAMES.get(name, name)] for name in theirs}
    assert len(own) == (2 if edit == "outputs" else 3)


def test_a_frozen_model_gives_ragged_and_sparse_tensors(composites: Path, tmp_path: Path) -> None:
    freeze_model(composites, tmp_path / "n")
    wanted, _ = composite_results(composites, "both")
    with tk.load_saved_model(tmp_path / "n") as model:
        assert not model.variables
        assert {k: as_lists(v) for k, v in model.signatures["both"](**COMPOSITES).items()} == wanted
    signature = tf.saved_model.load(str(tmp_path / "n")).signatures["both"]
    found = signature(**{name: tf.constant(value) for name, value in COMPOSITES.items()})
    assert {name: as_lists(value) for name, value in found.items()} == wanted
