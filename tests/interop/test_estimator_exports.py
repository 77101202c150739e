"""Models exported as `tf.estimator.Estimator.export_saved_model` did it, beside TensorFlow.

`tf.estimator` itself is gone. What it did is written out here in calls of TensorFlow 1: a model function for each mode,
training to a checkpoint, and an export of fresh graphs that restore it, with `tf.Example`s as inputs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep as tk
import tensorkeep.v1 as ours
from tensorkeep.proto.messages import SavedModel
from tests.interop.meta_graphs import differences
from tests.interop.programs import tensorflow_1

v1 = tf.compat.v1
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

CITIES = ["oslo", "rome", "lima"]


def example(age: float | None, city: list[str], words: list[str]) -> bytes:
    """A serialized tf.Example; made by TensorFlow, used by both."""
    features = {
        "city": tf.train.Feature(bytes_list=tf.train.BytesList(value=[item.encode() for item in city])),
        "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[item.encode() for item in words])),
    }
    if age is not None:
        features["age"] = tf.train.Feature(float_list=tf.train.FloatList(value=[age]))
    made: bytes = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    return made


EXAMPLES = np.array(
    [example(0.5, ["rome"], ["a", "b"]), example(None, [], []), example(-2.0, ["oslo", "paris"], ["b", "b", "?"])],
    object,
)


def feature_spec(tf: Any) -> dict[str, Any]:
    return {
        "age": tf.FixedLenFeature([1], tf.float32, default_value=[1.0]),
        "city": tf.VarLenFeature(tf.string),
        "words": tf.VarLenFeature(tf.string),
    }


def serving_input_receiver(tf: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Features, and what is fed for them, as `build_parsing_serving_input_receiver_fn` made them."""
    serialized = tf.placeholder(tf.string, [None], name="input_example_tensor")
    return tf.parse_example(serialized, feature_spec(tf)), {"examples": serialized}


def raw_input_receiver(tf: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The alternative: features as they are."""
    given = {
        "age": tf.placeholder(tf.float32, [None, 1], name="age"),
        "city": tf.placeholder(tf.string, [None, None], name="city"),
        "words": tf.placeholder(tf.string, [None, None], name="words"),
    }

    def sparse(values: Any) -> Any:
        places = tf.where(tf.not_equal(values, ""))
        return tf.SparseTensor(places, tf.gather_nd(values, places), tf.shape(values, out_type=tf.int64))

    return {"age": given["age"], "city": sparse(given["city"]), "words": sparse(given["words"])}, given


def model(tf: Any, features: dict[str, Any], vocabulary: Path, is_training: bool) -> dict[str, Any]:
    """A wide and deep classifier: embeddings of a column of words, crossed with a linear part."""
    with tf.variable_scope("linear"):
        cities = tf.lookup.StaticVocabularyTable(
            tf.lookup.KeyValueTensorInitializer(CITIES, list(range(len(CITIES))), tf.string, tf.int64), 2
        )
        ids = tf.SparseTensor(
            features["city"].indices, cities.lookup(features["city"].values), features["city"].dense_shape
        )
        weights = tf.get_variable("city", [len(CITIES) + 2, 1], initializer=tf.constant_initializer([1, -2, 3, 4, 5]))
        wide = tf.nn.safe_embedding_lookup_sparse([weights], ids, combiner="sum")
    with tf.variable_scope("dnn"):
        lookup = tf.lookup.StaticHashTable(
            tf.lookup.TextFileInitializer(
                str(vocabulary),
                tf.string,
                tf.lookup.TextFileIndex.WHOLE_LINE,
                tf.int64,
                tf.lookup.TextFileIndex.LINE_NUMBER,
            ),
            default_value=2,
        )
        words = features["words"]
        ids = tf.SparseTensor(words.indices, lookup.lookup(words.values), words.dense_shape)
        embeddings = tf.get_variable(
            "embeddings", [3, 4], initializer=tf.constant_initializer(np.linspace(-1, 1, 12)), partitioner=None
        )
        embedded = tf.nn.safe_embedding_lookup_sparse([embeddings], ids, combiner="mean")
        net = tf.concat([features["age"], embedded], axis=1)
        kernel = tf.get_variable("kernel", [5, 3], initializer=tf.constant_initializer(np.linspace(1, -1, 15)))
        net = tf.nn.relu(tf.matmul(net, kernel) + tf.get_variable("bias", [3], initializer=tf.zeros_initializer()))
        if is_training:
            net = tf.nn.dropout(net, rate=0.0)
        deep = tf.reduce_sum(net, axis=1, keepdims=True)
    logits = tf.add(wide, deep, name="logits")
    logistic = tf.sigmoid(logits, name="logistic")
    both = tf.concat([1 - logistic, logistic], axis=1, name="probabilities")
    names = tf.constant(["no", "yes"])
    classes = tf.tile(tf.expand_dims(names, 0), [tf.shape(both)[0], 1], name="classes")
    return {"logits": logits, "logistic": logistic, "probabilities": both, "classes": classes}


def signatures(tf: Any, receivers: dict[str, Any], outputs: dict[str, Any]) -> dict[str, Any]:
    """As `build_all_signature_defs` made them of ClassificationOutput, RegressionOutput and PredictOutput."""
    utils = tf.saved_model.signature_def_utils
    (examples,) = receivers.values()
    return {
        "serving_default": utils.classification_signature_def(examples, outputs["classes"], outputs["probabilities"]),
        "classification": utils.classification_signature_def(examples, outputs["classes"], outputs["probabilities"]),
        "regression": utils.regression_signature_def(examples, outputs["logistic"]),
        "predict": utils.predict_signature_def(
            receivers, {name: outputs[name] for name in ("logits", "logistic", "probabilities")}
        ),
    }


def train(tf: Any, folder: Path, vocabulary: Path) -> str:
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.train.get_or_create_global_step()
        features = tf.parse_example(tf.constant(EXAMPLES.tolist()), feature_spec(tf))
        outputs = model(tf, features, vocabulary, is_training=True)
        loss = tf.losses.sigmoid_cross_entropy([[1], [0], [1]], outputs["logits"])
        train_op = tf.train.FtrlOptimizer(0.2).minimize(loss, global_step=step)
        saver = tf.train.Saver(sharded=True, save_relative_paths=True)
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for _ in range(3):
            session.run(train_op)
        path: str = saver.save(session, str(folder / "model.ckpt"), global_step=step)
        return path


def export(tf: Any, directory: Path, checkpoint: str, vocabulary: Path) -> None:
    """One meta graph for serving and one for evaluation, of one set of variables, as `export_all_saved_models` did."""
    builder = tf.saved_model.Builder(str(directory))
    with tf.Graph().as_default() as graph:
        tf.train.create_global_step(graph)
        tf.set_random_seed(7)
        features, receivers = serving_input_receiver(tf)
        outputs = model(tf, features, vocabulary, is_training=False)
        defs = signatures(tf, receivers, outputs)
        with tf.Session() as session:
            saver = tf.train.Saver(sharded=True)
            saver.restore(session, checkpoint)
            local = tf.group(tf.local_variables_initializer(), tf.tables_initializer(), name="local_init")
            builder.add_meta_graph_and_variables(
                session,
                [tf.saved_model.tag_constants.SERVING],
                signature_def_map=defs,
                assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
                main_op=local,
                saver=saver,
                strip_default_attrs=True,
            )
    with tf.Graph().as_default() as graph:
        tf.train.create_global_step(graph)
        features, receivers = raw_input_receiver(tf)
        outputs = model(tf, features, vocabulary, is_training=False)
        with tf.Session():
            saver = tf.train.Saver(sharded=True)
            utils = tf.saved_model.signature_def_utils
            builder.add_meta_graph(
                ["eval"],
                signature_def_map={"eval": utils.predict_signature_def(receivers, {"logits": outputs["logits"]})},
                assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
                main_op=tf.group(tf.local_variables_initializer(), tf.tables_initializer(), name="local_init"),
                saver=saver,
                strip_default_attrs=True,
            )
    builder.save()


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The model as exported by us and by TensorFlow, from one checkpoint, which TensorFlow trained."""
    place = tmp_path_factory.mktemp("estimator")
    vocabulary = place / "words.txt"
    vocabulary.write_text("a\nb\n")
    with tensorflow_1():
        checkpoint = train(v1, place, vocabulary)
        export(v1, place / "theirs", checkpoint, vocabulary)
    export(ours, place / "ours", checkpoint, vocabulary)
    vocabulary.unlink()  # a model has its own
    return place / "ours", place / "theirs"


def test_what_is_trained_here_is_what_tensorflow_trains(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("a\nb\n")
    (tmp_path / "ours").mkdir()
    (tmp_path / "theirs").mkdir()
    mine = train(ours, tmp_path / "ours", tmp_path / "words.txt")
    with tensorflow_1():
        their = train(v1, tmp_path / "theirs", tmp_path / "words.txt")
    found, wanted = tk.load_tensors(mine), tk.load_tensors(their)
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6, err_msg=name)


def without_random_names(folder: Path) -> SavedModel:
    """The model, in which tables that are named at random have no name of their own."""
    model = SavedModel.FromString((folder / "saved_model.pb").read_bytes())
    for node in (node for meta_graph in model.meta_graphs for node in meta_graph.graph_def.node):
        if re.fullmatch(
            rb"hash_table_[-0-9a-f]{36}", node.attr["shared_name"].s if "shared_name" in node.attr else b""
        ):
            node.attr["shared_name"].s = b"hash_table"
    return model


def test_the_same_program_exports_the_same_model(exported: tuple[Path, Path]) -> None:
    mine, their = map(without_random_names, exported)
    pairs = zip(mine.meta_graphs, their.meta_graphs, strict=True)
    assert [line for pair in pairs for line in differences(*pair)] == []
    for file in ("variables/variables.index", "variables/variables.data-00000-of-00001", "assets/words.txt"):
        assert (exported[0] / file).read_bytes() == (exported[1] / file).read_bytes()


def by_version_1(library: Any, folder: Path, tags: list[str], key: str, feeds: dict[str, Any]) -> dict[str, Any]:
    with library.Session(graph=library.Graph()) as session:
        signature = library.saved_model.load(session, tags, str(folder)).signature_def[key]
        given = {signature.inputs[name].name: value for name, value in feeds.items()}
        found: dict[str, Any] = session.run({name: info.name for name, info in signature.outputs.items()}, given)
        return found


def by_version_2(folder: Path, tags: list[str], key: str, feeds: dict[str, Any]) -> dict[str, Any]:
    loaded = tf.saved_model.load(str(folder), tags=tags)
    given = {name: tf.constant(value.tolist() if value.dtype == object else value) for name, value in feeds.items()}
    return {name: value.numpy() for name, value in loaded.signatures[key](**given).items()}


def natively(folder: Path, tags: list[str], key: str, feeds: dict[str, Any]) -> dict[str, Any]:
    with tk.load_saved_model(folder, tags) as model:
        found: dict[str, Any] = model.signatures[key](**feeds)
        return found


RAW = {
    "age": np.array([[0.5], [1.0], [-2.0]], np.float32),
    "city": np.array([[b"rome", b""], [b"", b""], [b"oslo", b"paris"]], object),
    "words": np.array([[b"a", b"b", b""], [b"", b"", b""], [b"b", b"b", b"?"]], object),
}
CASES: dict[str, tuple[list[str], dict[str, Any]]] = {
    "serving_default": (["serve"], {"inputs": EXAMPLES}),
    "classification": (["serve"], {"inputs": EXAMPLES}),
    "regression": (["serve"], {"inputs": EXAMPLES}),
    "predict": (["serve"], {"examples": EXAMPLES}),
    "eval": (["eval"], RAW),
}


@pytest.mark.parametrize("key", CASES)
def test_examples_give_the_same_by_all_loaders_whoever_exported_the_model(
    key: str, exported: tuple[Path, Path]
) -> None:
    tags, feeds = CASES[key]
    mine, their = exported
    with tensorflow_1():
        wanted = by_version_1(v1, their, tags, key, feeds)
        crossed = by_version_1(v1, mine, tags, key, feeds)
    loads: list[Callable[..., dict[str, Any]]] = [natively, by_version_2]
    results = [crossed, by_version_1(ours, their, tags, key, feeds)]
    results += [load(folder, tags, key, feeds) for load in loads for folder in exported]
    for found in results:
        assert found.keys() == wanted.keys()
        for name, value in wanted.items():
            if value.dtype == object:
                assert found[name].tolist() == value.tolist()
            else:
                np.testing.assert_allclose(found[name], value, rtol=1e-5, atol=1e-6)


def test_raw_features_and_examples_are_the_same(exported: tuple[Path, Path]) -> None:
    with (
        tk.load_saved_model(exported[1], ["serve"]) as serving,
        tk.load_saved_model(exported[1], ["eval"]) as evaluating,
    ):
        by_examples = serving.signatures["predict"](examples=EXAMPLES)["logits"]
        np.testing.assert_allclose(evaluating.signatures["eval"](**RAW)["logits"], by_examples, rtol=1e-6)
