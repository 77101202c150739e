"""A frozen graph keeps the rows of embedding variables, and looks keys up as the variable did."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.cli.main import main
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, UnimplementedError
from tensorkeep.graph.rewriting.freezing import Selection
from tensorkeep.graph.rewriting.frozen_tables import tables_of
from tensorkeep.metagraph.files import read_meta_graph_file
from tensorkeep.proto.messages import GraphDef
from tensorkeep.saved_model.edit.directory_edits import freeze_model
from tensorkeep.saved_model.edit.freezing import freeze_saved_model
from tensorkeep.saving.freezing import FreezeOptions, freeze, freeze_meta_graph
from tensorkeep.tools.freeze_graph import run_main

KEYS = [5, -7, 9, 2**60]
ASKED = [5, 6, -7, -8, 9, 2**60, 2**60 + 1, 5]


class World:
    """A session with an embedding variable of some rows, and files of it."""

    def __init__(self, folder: Path, key_dtype: Any = tf.int64, **options: Any) -> None:
        self.folder = folder
        self.keys = [key for key in KEYS if key_dtype == tf.int64 or abs(key) < 2**31]
        self.asked = [key for key in ASKED if key_dtype == tf.int64 or abs(key) < 2**31]
        self.graph = tf.Graph()
        with self.graph.as_default():
            matrix = np.arange(12, dtype=np.float32).reshape(4, 3)
            ev_option = options.pop("ev_option", None)
            self.table = tf.get_embedding_variable(
                "e", embedding_dim=3, key_dtype=key_dtype, initializer=tf.constant(matrix),
                **({"ev_option": ev_option} if ev_option else {}), **options,
            )  # fmt: skip
            ids = tf.placeholder(key_dtype, [None, None], name="ids")
            rows = tf.identity(tf.nn.embedding_lookup(self.table, ids), name="rows")
            step = tf.train.get_or_create_global_step()
            train = tf.train.GradientDescentOptimizer(0.5).minimize(tf.reduce_sum(rows), global_step=step)
            self.session = tf.Session(graph=self.graph)
            self.session.run([tf.global_variables_initializer(), step.initializer])
            for _ in range(3):
                self.session.run(train, {ids: [self.keys]})
            saver = tf.train.Saver()
            saver.save(self.session, str(folder / "model"))
            signature = tf.saved_model.predict_signature_def({"ids": ids}, {"rows": rows})
            builder = tf.saved_model.Builder(str(folder / "export"))
            builder.add_meta_graph_and_variables(self.session, ["serve"], {"serving_default": signature})
            builder.save()

    def expected(self) -> list[Any]:
        found: list[Any] = self.session.run("rows:0", {"ids:0": [self.asked]}).tolist()
        return found


def looked_up(frozen: GraphDef, keys: Any) -> list[Any]:
    assert {node.op for node in frozen.node if "Kv" in node.op} == set()
    with tf.Graph().as_default(), tf.Session(allow_io=False) as session:
        tf.import_graph_def(frozen, name="")
        found: list[Any] = session.run("rows:0", {"ids:0": keys}).tolist()
        return found


@pytest.mark.parametrize("key_dtype", [tf.int64, tf.int32])
def test_every_way_of_freezing_keeps_the_rows(tmp_path: Path, key_dtype: Any) -> None:
    world = World(tmp_path, key_dtype)
    saved = freeze_saved_model(tmp_path / "export", ["rows"])
    meta_graph = read_meta_graph_file(str(tmp_path / "model.meta"))
    by_saver = freeze_meta_graph(meta_graph, str(tmp_path / "model"), ["rows"])
    by_session = tf.graph_util.convert_variables_to_constants(world.session, world.graph.as_graph_def(), ["rows"])
    expected = world.expected()
    for frozen in (by_session, saved, by_saver):
        assert looked_up(frozen, [world.asked]) == expected
        assert looked_up(frozen, np.zeros((2, 0))) == [[], []]


def test_the_tools_keep_the_rows(tmp_path: Path) -> None:
    world = World(tmp_path)
    expected = world.expected()
    arguments = [f"--input_saved_model_dir={tmp_path / 'export'}", "--output_node_names=rows"]
    assert run_main([*arguments, f"--output_graph={tmp_path / 'a.pb'}"]) == 0
    assert main(["convert", str(tmp_path / "export"), str(tmp_path / "b.pb")]) == 0
    for name in ("a.pb", "b.pb"):
        assert looked_up(GraphDef.FromString((tmp_path / name).read_bytes()), [world.asked]) == expected
    assert main(["saved-model", "freeze", str(tmp_path / "export"), "--output", str(tmp_path / "frozen")]) == 0
    with tf.Session(graph=tf.Graph()) as session:
        tf.saved_model.load(session, ["serve"], str(tmp_path / "frozen"))
        assert session.run("rows:0", {"ids:0": [world.asked]}).tolist() == expected


def test_keys_that_a_filter_holds_back_have_what_the_filter_gives_them(tmp_path: Path) -> None:
    option = tf.EmbeddingVariableOption(
        filter_option=tf.CounterFilter(filter_freq=3), init_option=tf.InitializerOption(default_value_no_permission=7.5)
    )
    world = World(tmp_path, ev_option=option)
    frozen = freeze_saved_model(tmp_path / "export", ["rows"])
    expected = world.expected()
    assert [7.5, 7.5, 7.5] in expected[0]
    assert looked_up(frozen, [world.asked]) == expected


def test_a_table_without_keys_gives_default_rows(tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        table = tf.get_embedding_variable("e", embedding_dim=2, initializer=tf.constant_initializer(0.25))
        tf.identity(tf.nn.embedding_lookup(table, tf.placeholder(tf.int64, [None, None], name="ids")), name="rows")
        session.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["rows"])
    assert looked_up(frozen, [[0, 1]]) == [[[0.25, 0.25], [0.25, 0.25]]]


def test_random_default_rows_are_made_as_a_loader_makes_them(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_embedding_variable("e", embedding_dim=2, initializer=tf.truncated_normal_initializer(seed=3))
        ids = tf.placeholder(tf.int64, [None, None], name="ids")
        rows = tf.identity(tf.nn.embedding_lookup(table, ids), name="rows")
        session.run(tf.global_variables_initializer())
        expected = session.run(rows, {ids: [[1, 2]]}).tolist()
        tf.saved_model.simple_save(session, str(tmp_path / "export"), {"ids": ids}, {"rows": rows})
    assert looked_up(freeze_saved_model(tmp_path / "export", ["rows"]), [[1, 2]]) == expected


def test_a_table_that_is_kept_stays_as_it_is(tmp_path: Path) -> None:
    world = World(tmp_path)
    options = FreezeOptions(Selection(keep=["e"]))
    frozen = freeze(world.graph.as_graph_def(), world.session.core, ["rows"], options)
    assert [table.name for table in tables_of(frozen)] == ["e"]
    with pytest.raises(InvalidArgumentError, match="embedding variables e cannot stay variables"):
        freeze_model(tmp_path / "export", tmp_path / "frozen", selection=Selection(keep=["e"]))
    assert not (tmp_path / "frozen").exists()


def test_what_changes_a_table_is_refused_by_name(tmp_path: Path) -> None:
    world = World(tmp_path)
    update = next(op.name for op in world.graph.get_operations() if "SparseApply" in op.type)
    with pytest.raises(InvalidArgumentError, match=rf"'{update}' \(KvResourceSparseApply.* takes 'e'"):
        freeze(world.graph.as_graph_def(), world.session.core, ["rows", update])


def test_a_table_that_is_too_large_is_refused_by_name(tmp_path: Path) -> None:
    world = World(tmp_path)
    size = world.graph.as_graph_def().ByteSize()
    with pytest.raises(InvalidArgumentError, match=r"embedding variables are e \(4 keys"):
        freeze(world.graph.as_graph_def(), world.session.core, ["rows"], FreezeOptions(most_bytes=min(700, size)))


def test_names_alone_do_not_say_how_a_table_is_restored(tmp_path: Path) -> None:
    world = World(tmp_path)
    with pytest.raises(FailedPreconditionError, match=r"embedding variables e cannot be frozen by their names"):
        freeze(world.graph.as_graph_def(), str(tmp_path / "model"), ["rows"])


def test_a_table_without_rows_and_a_foreign_session_are_refused(tmp_path: Path) -> None:
    world = World(tmp_path)
    with tf.Session(graph=world.graph) as empty, pytest.raises(FailedPreconditionError, match="uninitialized value e"):
        freeze(world.graph.as_graph_def(), empty.core, ["rows"])

    class Foreign:
        def run(self, fetches: Any) -> Any:
            return fetches

    with pytest.raises(UnimplementedError, match="embedding variables e can be frozen from a session of tensorkeep"):
        freeze(world.graph.as_graph_def(), Foreign(), ["rows"])
