"""Tables that signatures need are filled, though nobody said by what; others are let alone."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

import tensorkeep as tk
import tensorkeep.v1 as tf
from tensorkeep.proto.messages import MetaGraphDef, SignatureDef
from tensorkeep.saved_model.edit.directory_edits import freeze_model, rewrite_model
from tensorkeep.saved_model.edit.meta_graph_pruning import prune_to_signature
from tensorkeep.saved_model.export.graph_exporting import from_checkpoint
from tensorkeep.saved_model.load.table_fills import needed_fills

SIGNATURES = {"serving_default": ({"word": "word:0"}, {"place": "place:0", "score": "score:0"})}


def trained(folder: Path) -> str:
    """The checkpoint of a graph with three tables, one of a file, and the last of a file that is gone."""
    words, gone = folder / "words.txt", folder / "gone.txt"
    words.write_text("red\ngreen\n")
    gone.write_text("x\n")
    with tf.Graph().as_default() as graph, tf.Session() as session:
        word = tf.placeholder(tf.string, [None], name="word")
        tf.identity(table_of(str(words)).lookup(word), name="place")
        scores = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["red"], [7.0]), 0.0)
        tf.multiply(scores.lookup(word), tf.get_variable("scale", initializer=10.0), name="score")
        tf.identity(table_of(str(gone)).lookup(word), name="unused")
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        prefix = tf.train.Saver().save(session, str(folder / "model"))
        tf.train.write_graph(graph.as_graph_def(), str(folder), "graph.pb", as_text=False)
        tf.train.write_graph(graph.as_graph_def(), str(folder), "graph.pbtxt")
    gone.unlink()
    return prefix


def table_of(path: str):
    index = tf.lookup.TextFileIndex
    lines = tf.lookup.TextFileInitializer(path, tf.string, index.WHOLE_LINE, tf.int64, index.LINE_NUMBER)
    return tf.lookup.StaticHashTable(lines, -1)


@pytest.mark.parametrize("graph", ["model.meta", "graph.pb", "graph.pbtxt"])
def test_a_model_of_a_checkpoint_has_its_tables_and_the_files_of_them(graph: str, tmp_path: Path):
    prefix = trained(tmp_path)
    from_checkpoint(tmp_path / graph, prefix, SIGNATURES, tmp_path / "export")
    (tmp_path / "words.txt").unlink()
    shutil.move(tmp_path / "export", tmp_path / "moved")
    with tk.load_saved_model(tmp_path / "moved") as model:
        assert sorted(model.assets) == ["words.txt"]
        found = model.signatures["serving_default"](word=["green", "red"])
        assert (found["place"].tolist(), found["score"].tolist()) == ([1, 0], [0.0, 70.0])


def test_a_model_that_names_no_initialization_has_its_tables_filled(tmp_path: Path):
    with tf.Graph().as_default(), tf.Session() as session:
        word = tf.placeholder(tf.string, [None], name="word")
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["red"], [7]), 0)
        seen = tf.Variable(5, collections=[tf.GraphKeys.LOCAL_VARIABLES], trainable=False)
        place = table.lookup(word) + seen
        session.run([tf.local_variables_initializer(), tf.tables_initializer()])
        tf.saved_model.simple_save(session, str(tmp_path / "export"), {"word": word}, {"place": place})
    with tk.load_saved_model(tmp_path / "export") as model:
        assert model.signatures["serving_default"](word=["red", "blue"])["place"].tolist() == [12, 5]


def test_a_graph_without_tables_is_not_searched_and_not_changed():
    meta_graph, signature = MetaGraphDef(), SignatureDef()
    meta_graph.graph_def.node.add(name="x", op="Placeholder")
    signature.outputs["x"].name = "x:0"
    before = meta_graph.SerializeToString()
    assert needed_fills(meta_graph, [signature]) == []
    assert meta_graph.SerializeToString() == before


@pytest.mark.parametrize("change", ["prune", "freeze"])
def test_such_a_model_is_filled_when_it_has_been_changed_too(change: str, tmp_path: Path):
    with tf.Graph().as_default(), tf.Session() as session:
        word = tf.placeholder(tf.string, [None], name="word")
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["red"], [7.0]), 0.0)
        place = table.lookup(word) * tf.get_variable("w", initializer=2.0)
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        tf.saved_model.simple_save(session, str(tmp_path / "1"), {"word": word}, {"place": place})
    if change == "freeze":
        freeze_model(tmp_path / "1", tmp_path / "2")
    else:
        rewrite_model(tmp_path / "1", tmp_path / "2", partial(prune_to_signature, key="serving_default"))
    with tk.load_saved_model(tmp_path / "2") as model:
        assert model.signatures["serving_default"](word=["red", "blue"])["place"].tolist() == [14.0, 0.0]
