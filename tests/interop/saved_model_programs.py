"""Programs that save models: the same text for TensorFlow 1 and for us. Each gets `tf` and the directory to save to.

`FEEDS` says what each signature of a model is run with.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tensorkeep.proto.messages import SavedModel

START = "__saved_model_init_op"


def regression(tf: Any, directory: Path) -> None:
    """The shortest way: one signature, all defaults."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        with tf.variable_scope("layer"), tf.device("/device:CPU:0"):
            w = tf.get_variable("w", initializer=np.arange(6, dtype=np.float32).reshape(3, 2))
            b = tf.get_variable("b", initializer=np.float32([0.5, -1]))
        y = tf.nn.relu(tf.matmul(x, w) + b, name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, str(directory), {"x": x}, {"y": y, "top": tf.argmax(y, axis=1)})


def resources(tf: Any, directory: Path) -> None:
    """Resource variables, an optimizer, stripped default attributes, cleared devices."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        with tf.device("/device:CPU:0"):
            w = tf.get_variable("w", initializer=np.ones((2, 1), np.float32), use_resource=True)
        y = tf.squeeze(tf.matmul(x, w), axis=1, name="y")
        train = tf.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(tf.square(y - 3.0)), name="train")
        session.run(tf.global_variables_initializer())
        session.run(train, {x: [[1, 2], [3, 4]]})
        builder = tf.saved_model.Builder(str(directory))
        signature = tf.saved_model.predict_signature_def({"x": x}, {"y": y})
        builder.add_meta_graph_and_variables(
            session, ["serve"], {"score": signature}, strip_default_attrs=True, clear_devices=True
        )
        builder.save()


def several_graphs(tf: Any, directory: Path) -> None:
    """Two meta graphs with their own tags and signatures, tables with files, a main op, bytes and text."""
    words = directory.parent / "words"
    for name, lines in {"a": "red\ngreen\n", "b": "red\ngreen\n", "c": "blue\n"}.items():
        (words / name).mkdir(parents=True, exist_ok=True)
        (words / name / "vocab.txt").write_text(lines)
    builder = tf.saved_model.builder.SavedModelBuilder(str(directory))
    for index, tags in enumerate((["serve"], ["serve", "gpu"])):
        with tf.Graph().as_default(), tf.Session() as session:
            paths = [tf.constant(str(words / name / "vocab.txt"), name=f"path_{name}") for name in "abc"]
            table = tf.lookup.StaticHashTable(
                tf.lookup.TextFileInitializer(
                    str(words / "c" / "vocab.txt"),
                    tf.string,
                    tf.lookup.TextFileIndex.WHOLE_LINE,
                    tf.int64,
                    tf.lookup.TextFileIndex.LINE_NUMBER,
                ),
                default_value=-1,
            )
            word = tf.placeholder(tf.string, [None], name="word")
            scale = tf.get_variable("scale", initializer=np.float32(2 + index))
            place = table.lookup(word)
            score = tf.multiply(tf.cast(place, tf.float32), scale, name="score")
            utils = tf.saved_model.signature_def_utils
            signatures = {
                "serving_default": utils.predict_signature_def({"word": word}, {"place": place, "score": score}),
                "regress": utils.regression_signature_def(word, score),
                "classify": utils.classification_signature_def(word, word, score),
            }
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            assets = [*paths, paths[0], paths[2], *tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)]
            main_op = tf.group(tf.tables_initializer())
            if index == 0:
                builder.add_meta_graph_and_variables(
                    session, tags, signatures, assets_collection=assets, main_op=main_op
                )
            else:
                builder.add_meta_graph(tags, signatures, assets_collection=assets, legacy_init_op=main_op)
    builder.save()
    builder.save(as_text=True)


def no_variables(tf: Any, directory: Path) -> None:
    """Nothing to restore; sparse values; a composite as input."""
    with tf.Graph().as_default(), tf.Session() as session:
        sparse = tf.sparse_placeholder(tf.float32, [None, 4], name="sparse")
        dense = tf.sparse_tensor_to_dense(sparse, name="dense")
        doubled = tf.SparseTensor(sparse.indices, sparse.values * 2.0, sparse.dense_shape)
        builder = tf.saved_model.Builder(str(directory))
        signature = tf.saved_model.predict_signature_def({"sparse": sparse}, {"dense": dense, "doubled": doubled})
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature})
        builder.save()


def own_saver(tf: Any, directory: Path) -> None:
    """A saver of the program's, which saves only some variables, under other names; partitioned variables."""
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.placeholder(tf.int32, [None], name="rows")
        parts = tf.get_variable(
            "table",
            [6, 2],
            initializer=tf.constant_initializer(np.arange(4, 10).reshape(3, 2)),
            partitioner=tf.fixed_size_partitioner(2),
        )
        tf.get_variable("step", initializer=np.int64(7), trainable=False)
        found = tf.nn.embedding_lookup(parts, rows, partition_strategy="div", name="found")
        saver = tf.train.Saver({"renamed": parts}, name="mine")
        session.run(tf.global_variables_initializer())
        builder = tf.saved_model.Builder(str(directory))
        signature = tf.saved_model.predict_signature_def({"rows": rows}, {"found": found})
        builder.add_meta_graph_and_variables(session, ["serve", "eval"], {"rows": signature}, saver=saver)
        builder.save(as_text=True)


def with_start_signature(tf: Any, directory: Path) -> None:
    """As TensorFlow 1.15 saves models of Keras: no objects, and what runs first is named by a signature."""
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.string, [None], name="x")
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [3.0]), -1.0)
        signature = tf.saved_model.predict_signature_def({"x": x}, {"y": tf.identity(table.lookup(x), "y")})
        builder = tf.saved_model.Builder(str(directory))
        start = tf.tables_initializer()
        builder.add_meta_graph_and_variables(session, ["serve"], {"serving_default": signature}, main_op=start)
        builder.save()
    model = SavedModel.FromString((directory / "saved_model.pb").read_bytes())
    meta_graph = model.meta_graphs[0]
    del meta_graph.collection_def["saved_model_main_op"]
    meta_graph.signature_def[START].outputs[START].name = start.name
    meta_graph.signature_def[START].outputs[START].tensor_shape.unknown_rank = True
    (directory / "saved_model.pb").write_bytes(model.SerializeToString())


PROGRAMS = {item.__name__: item for item in (regression, resources, several_graphs, no_variables, own_saver)}

FEEDS: dict[str, dict[tuple[tuple[str, ...], str], dict[str, Any]]] = {
    "regression": {(("serve",), "serving_default"): {"x": np.float32([[1, 2, 3], [-4, 5, 6]])}},
    "resources": {(("serve",), "score"): {"x": np.float32([[1, 2], [3, 4]])}},
    "several_graphs": {
        (("serve",), "serving_default"): {"word": np.array([b"blue", b"red"], object)},
        (("serve",), "regress"): {"inputs": np.array([b"blue", b"red"], object)},
        (("serve", "gpu"), "classify"): {"inputs": np.array([b"blue", b"red"], object)},
    },
    "own_saver": {(("serve", "eval"), "rows"): {"rows": np.int32([0, 3, 5])}},
}
