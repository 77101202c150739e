"""The files that the examples in the help are about: a run with checkpoints, exported models, arrays."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.embedding.restore.incremental import table_delta_tensors
from tensorkeep.embedding.stored.writing import table_tensors
from tensorkeep.inspect.manifests import make_manifest, write_manifest


def make_world(folder: Path) -> None:
    """Makes run/, export/, train/, moving/, other/, objects/, signed/ and the arrays in a folder."""
    _make_run_and_export(folder)
    _make_many(folder / "export" / "many")
    _make_words(folder)
    _make_training(folder)
    _make_recommender(folder)
    _make_moving(folder)
    np.save(folder / "x.npy", np.arange(8, dtype=np.float32).reshape(2, 4))
    np.save(folder / "kernel.npy", np.ones((4, 3), np.float32))


def _network() -> dict[str, tf.Tensor]:
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    rate = tf.placeholder_with_default(np.float32(0), [], name="rate")
    keep = tf.placeholder_with_default(np.float32(1), [], name="keep_prob")
    with tf.variable_scope("dense"):
        kernel = tf.get_variable("kernel", initializer=np.arange(12, dtype=np.float32).reshape(4, 3))
        bias = tf.get_variable("bias", initializer=np.array([1, 0, -1], np.float32))
    logits = tf.add(tf.matmul(x, kernel), bias * keep, name="logits")
    prob = tf.nn.softmax(logits - 0 * rate, name="prob")
    return {"x": x, "rate": rate, "prob": prob, "cls": tf.argmax(logits, 1, name="cls")}


def _make_run_and_export(folder: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        ends = _network()
        tf.train.create_global_step()
        session.run(tf.global_variables_initializer())
        (folder / "run").mkdir()
        tf.train.Saver(save_relative_paths=True).save(session, str(folder / "run" / "model"), global_step=1000)
        outputs = {key: ends[key] for key in ("prob", "cls")}
        signatures = {
            "serving_default": tf.saved_model.predict_signature_def({"x": ends["x"]}, outputs),
            "with_rate": tf.saved_model.predict_signature_def({"x": ends["x"], "rate": ends["rate"]}, outputs),
        }
        builder = tf.saved_model.Builder(str(folder / "export" / "1"))
        builder.add_meta_graph_and_variables(session, ["serve"], signatures)
        builder.save()


def _make_many(folder: Path) -> None:
    builder = tf.saved_model.Builder(str(folder))
    with tf.Graph().as_default(), tf.Session() as session:
        _network()
        session.run(tf.global_variables_initializer())
        builder.add_meta_graph_and_variables(session, ["train"])
        builder.add_meta_graph(["serve"])
    builder.save()


def _make_words(folder: Path) -> None:
    (folder / "vocab.txt").write_text("a\nb\n")
    (folder / "new.txt").write_text("b\na\n")
    (folder / "train.py").write_text("import tensorflow as tf\nprint(tf.Session().run(tf.constant(1)))\n")
    with tf.Graph().as_default(), tf.Session() as session:
        name = tf.constant(str(folder / "vocab.txt"))
        tf.add_to_collection(tf.GraphKeys.ASSET_FILEPATHS, name)
        table = tf.lookup.StaticVocabularyTable(
            tf.lookup.TextFileInitializer(
                name, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64, tf.lookup.TextFileIndex.LINE_NUMBER
            ),
            1,
        )
        words = tf.placeholder(tf.string, [None], name="words")
        numbers = tf.identity(table.lookup(words), name="numbers")
        session.run(tf.tables_initializer())
        signature = tf.saved_model.predict_signature_def({"words": words}, {"numbers": numbers})
        builder = tf.saved_model.Builder(str(folder / "export" / "words"))
        builder.add_meta_graph_and_variables(
            session,
            ["serve"],
            {"serving_default": signature},
            assets_collection=tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS),
            main_op=tf.tables_initializer(),
        )
        builder.save()


def _make_training(folder: Path) -> None:
    """Checkpoints with an optimizer and moving averages, one of objects, and a manifest of a model."""
    for step in (1, 2):
        kernel = np.full((2, 2), step, np.float32)
        tensors = {
            "dense/kernel": kernel,
            "dense/kernel/Adam": kernel * 0,
            "dense/kernel/Adam_1": kernel * 0,
            "dense/kernel/ExponentialMovingAverage": kernel / 2,
            "beta1_power": np.float32(0.9),
            "table": np.arange(4, dtype=np.float32),
            "global_step": np.int64(step),
        }
        tk.save_checkpoint(str(folder / "train" / f"model-{step}"), tensors)
    tk.save_objects(str(folder / "objects" / "ckpt-1"), {"model": {"kernel": np.ones(2, np.float32)}})
    (folder / "signed").mkdir()
    write_manifest(make_manifest(str(folder / "export" / "1")), str(folder / "signed" / "export-1.json"))


def _make_moving(folder: Path) -> None:
    """Three checkpoints of a run, and one with a tensor of run/model-1000 under another name."""
    for step in (1, 2, 3):
        tensors = {"fast": np.full(4, 2.0**step, np.float32), "slow": np.full(4, 1 + step / 100, np.float32)}
        tk.save_checkpoint(str(folder / "moving" / f"model-{step}"), tensors)
    stored = tk.load_tensors(str(folder / "run" / "model-1000"))
    names = {"dense/kernel": "dense/weights"}
    tk.save_checkpoint(
        str(folder / "other" / "model"), {names.get(name, name): value for name, value in stored.items()}
    )


def _make_recommender(folder: Path) -> None:
    """A checkpoint with an embedding table that an optimizer has trained, and a table as a file."""
    table = tk.EmbeddingTable(2, keeps_frequencies=True)
    table.add_column("Adagrad", 2, 0.1)
    keys = np.array([7, 1003, -5])
    table.assign(keys, np.array([[1, 0], [0, 2], [0, 0]], np.float32), freqs=np.array([5, 1, 2]))
    tensors = table_tensors("users", table.snapshot())
    tk.save_checkpoint(str(folder / "recommender" / "model"), {**tensors, "bias": np.float32(1)})
    table.assign(keys[:1], np.array([[4, 4]], np.float32), freqs=np.array([6]))
    delta = table_delta_tensors("users", table.snapshot(), keys[:1])
    name = "incremental_model.ckpt-5"
    tk.save_checkpoint(str(folder / "recommender" / ".incremental_checkpoint" / name), delta)
    (folder / "users-table.csv").write_text('id,embedding\n1,"0.5,1.5"\n2,"2.0,3.0"\n')
