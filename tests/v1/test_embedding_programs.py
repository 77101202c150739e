"""Classic programs with embedding variables: two partitioned ones, saved, restored, changed in width, verified."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.embedding.stored.naming import NINE
from tensorkeep.errors import FailedPreconditionError, NotFoundError
from tensorkeep.v1.programs.finding import module_at
from tests.support.deeprec import unset_switches

IDS = [0, 1, 2, 5, 6, 7]


@pytest.fixture(autouse=True)
def _no_switches(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    unset_switches(monkeypatch)
    with tf.Graph().as_default():
        yield


class Program:
    """Two partitioned tables, of 5 and 3 numbers a row, of which six ids are looked up and trained."""

    def __init__(self, dims: tuple[int, int] = (5, 3), shards: int = 4, fill: float = 1.0) -> None:
        partitioner = tf.fixed_size_partitioner(num_shards=shards)
        self.tables = [
            tf.get_embedding_variable(
                f"var_{number}", embedding_dim=dim, initializer=tf.constant_initializer(fill), partitioner=partitioner
            )
            for number, dim in enumerate(dims)
        ]
        ids = tf.cast(IDS, tf.int64)
        self.rows = [tf.nn.embedding_lookup(table, ids) for table in self.tables]
        fun = tf.multiply(tf.concat(self.rows, axis=1), 2.0, name="multiply")
        self.loss = tf.reduce_sum(fun, name="reduce_sum")
        self.step = tf.train.get_or_create_global_step()
        optimizer = tf.train.AdagradOptimizer(0.1)
        gradients = optimizer.compute_gradients(self.loss)
        self.train = optimizer.apply_gradients(gradients, global_step=self.step)
        self.init = tf.global_variables_initializer()
        self.saver = tf.train.Saver(max_to_keep=2)


def trained_checkpoint(folder: Path, steps: int = 3) -> tuple[str, list[Any]]:
    """What the first program leaves, and the rows that it had."""
    with tf.Graph().as_default():
        program = Program()
        with tf.Session() as session:
            session.run(program.init)
            for _ in range(steps):
                session.run([program.train, program.loss])
                prefix = program.saver.save(session, folder / "model.ckpt", global_step=program.step)
            rows = session.run(program.rows)
    return prefix, rows


def test_a_second_program_has_the_rows_that_the_first_saved(tmp_path: Path) -> None:
    prefix, rows = trained_checkpoint(tmp_path)
    assert tf.train.latest_checkpoint(tmp_path) == prefix == str(tmp_path / "model.ckpt-3")
    kept = sorted(path.name for path in tmp_path.glob("*.index"))
    assert kept == ["model.ckpt-2.index", "model.ckpt-3.index"]
    program = Program()
    with tf.Session() as session:
        program.saver.restore(session, prefix)
        for found, wanted in zip(session.run(program.rows), rows, strict=True):
            assert found.tolist() == wanted.tolist()
        session.run(program.train)
        assert session.run(program.step) == 4


def test_a_save_before_initializing_is_an_error_that_names_the_tables(tmp_path: Path) -> None:
    program = Program()
    with tf.Session() as session, pytest.raises(NotFoundError, match='"var_0/part_0"'):
        program.saver.save(session, tmp_path / "model.ckpt")


def test_a_save_after_initializing_has_all_tensors_of_empty_tables(tmp_path: Path) -> None:
    program = Program()
    with tf.Session() as session:
        session.run(program.init)
        prefix = program.saver.save(session, tmp_path / "model.ckpt")
    shapes = dict(tf.train.list_variables(prefix))
    for stem in (f"var_1/part_{number}{slot}" for number in range(4) for slot in ("", "/Adagrad")):
        assert {name.removeprefix(stem) for name in shapes if name.startswith(f"{stem}-")} == set(NINE)
        assert shapes[f"{stem}-keys"] == [0]
        assert shapes[f"{stem}-values"] == [0, 3]


def test_a_save_after_a_lookup_has_the_six_keys(tmp_path: Path) -> None:
    program = Program()
    with tf.Session() as session:
        session.run(program.init)
        session.run(program.rows)
        prefix = program.saver.save(session, tmp_path / "model.ckpt")
    keys = [tf.train.load_variable(prefix, f"var_0/part_{number}-keys").tolist() for number in range(4)]
    assert keys == [[0], [1, 5], [2, 6], [7]]
    assert tf.train.load_variable(prefix, "var_0/part_1-values").tolist() == [[1.0] * 5] * 2


@pytest.mark.parametrize("is_initialized", [True, False])
@pytest.mark.parametrize("restores_all", [True, False])
@pytest.mark.parametrize("dims", [(8, 2), (2, 8)])
def test_tables_of_another_width_are_cut_or_extended(
    is_initialized: bool, restores_all: bool, dims: tuple[int, int], tmp_path: Path
) -> None:
    prefix, rows = trained_checkpoint(tmp_path)
    program = Program(dims, shards=3, fill=7.0)
    tables = [part for table in program.tables for part in table]
    saver = program.saver if restores_all else tf.train.Saver(tables)
    with tf.Session() as session:
        if is_initialized:
            session.run(program.init)
        saver.restore(session, prefix)
        found = session.run(program.rows)
    for mine, stored, dim in zip(found, rows, dims, strict=True):
        common = min(dim, stored.shape[1])
        assert mine[:, :common].tolist() == stored[:, :common].tolist()
        assert set(np.unique(mine[:, common:])) <= {7.0 if is_initialized else 0.0}


def test_some_of_the_tables_are_restored_and_the_others_stay(tmp_path: Path) -> None:
    prefix, rows = trained_checkpoint(tmp_path)
    program = Program(fill=7.0)
    with tf.Session() as session:
        session.run(program.init)
        tf.train.Saver(list(program.tables[0])).restore(session, prefix)
        found = session.run(program.rows)
        assert found[0].tolist() == rows[0].tolist()
        assert found[1].tolist() == [[7.0] * 3] * 6
        session.run(program.train)  # the slots of the restored table have begun anew


def test_a_script_verifies_a_checkpoint_by_its_graph(tmp_path: Path) -> None:
    prefix, rows = trained_checkpoint(tmp_path)
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(f"{prefix}.meta")
        handles = [node.name for node in graph.as_graph_def().node if node.op == "KvVarHandleOp"]
    stems = [name for name in handles if name.split("/")[-1] not in ("Adagrad", "Adam", "Adam_1")]
    assert sorted(stems) == [f"var_{table}/part_{part}" for table in range(2) for part in range(4)]
    found: dict[int, Any] = {}
    for stem in (stem for stem in stems if stem.startswith("var_0")):
        keys, values, freqs, versions = (
            tf.train.load_variable(prefix, stem + suffix) for suffix in ("-keys", "-values", "-freqs", "-versions")
        )
        assert (freqs.shape, versions.shape) == ((0,), (0,))
        found.update(zip(keys.tolist(), values.tolist(), strict=True))
    assert found == dict(zip(IDS, rows[0].tolist(), strict=True))


def test_an_imported_graph_is_restored_and_trained_on(tmp_path: Path) -> None:
    prefix, _ = trained_checkpoint(tmp_path)
    program = Program()
    with tf.Session() as session:
        program.saver.restore(session, prefix)
        session.run(program.train)
        wanted = session.run(program.rows)
    for scope in ("", "imported"):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            saver = tf.train.import_meta_graph(f"{prefix}.meta", import_scope=scope)
            saver.restore(session, prefix)
            names = [name for name in (op.name for op in graph.get_operations()) if name.endswith("Adagrad")]
            session.run(tf.get_collection(tf.GraphKeys.TRAIN_OP)[0])
            tables = [part for part in tf.trainable_variables() if "var_0" in part.name]
            assert [type(part) for part in tables] == [tf.EmbeddingVariable] * 4
            found = session.run(tf.nn.embedding_lookup(tables, tf.constant(IDS, tf.int64)))
            assert found.tolist() == wanted[0].tolist()
            assert names
            again = saver.save(session, tmp_path / f"again_{scope or 'root'}")
            assert tf.train.load_variable(again, "var_0/part_0-keys").tolist() == [0]


def test_the_tier_of_a_key_is_that_of_its_shard() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        table = tf.get_embedding_variable("t", 2, partitioner=tf.fixed_size_partitioner(3))
        rows = tf.nn.embedding_lookup(table, tf.constant([5, 6], tf.int64))
        tiers = tf.kv_variable_ops.lookup_tier(table, tf.constant([5, 6, 7], tf.int64))
        session.run(tf.global_variables_initializer())
        session.run(rows)
        assert session.run(tiers).tolist() == [0, 0, -1]


@pytest.mark.parametrize("is_dense", [True, False])
def test_tiled_rows_stand_side_by_side_in_the_columns_of_their_ids(is_dense: bool) -> None:
    values = np.arange(1, 13, dtype=np.float32).reshape(6, 2)
    with tf.Graph().as_default(), tf.Session() as session:
        option = tf.EmbeddingVariableOption(init_option=tf.InitializerOption(initializer=values, default_value_dim=6))
        made = tf.get_variable("t", initializer=values) if is_dense else None
        table = made if is_dense else tf.get_embedding_variable("t", 2, ev_option=option)
        places = [[0, 1], [0, 2], [2, 0]]
        ids = tf.SparseTensor(places, tf.constant([4, 1, 4], tf.int64), [3, 3])
        weights = tf.SparseTensor(places, tf.constant([1.0, 2.0, 3.0]), [3, 3])
        plain, weighted = (tf.nn.embedding_lookup_sparse(table, ids, w, combiner="tile") for w in (None, weights))
        safe = tf.nn.safe_embedding_lookup_sparse(table, ids, combiner="tile")
        (gradient,) = tf.gradients(weighted, [table if is_dense else table.handle])
        session.run(tf.global_variables_initializer())
        wanted = [[0, 0, 9, 10, 3, 4], [0] * 6, [9, 10, 0, 0, 0, 0]]
        assert session.run(plain).tolist() == wanted
        assert session.run(safe).tolist() == wanted
        assert session.run(weighted).tolist() == [[0, 0, 9, 10, 6, 8], [0] * 6, [27, 30, 0, 0, 0, 0]]
        by_id = dict(zip(*(x.tolist() for x in session.run([gradient.indices, gradient.values])), strict=True))
        assert by_id == {4: [4.0, 4.0], 1: [2.0, 2.0]}


@pytest.mark.parametrize("is_reset", [True, False])
def test_versions_can_be_reset_where_a_table_is_initialized_from_a_checkpoint(
    is_reset: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("TF_RECORD_VERSION", "1")

    def program() -> tuple[Any, Any]:
        table = tf.get_embedding_variable("t", 2)
        rows = tf.nn.embedding_lookup(table, tf.constant([5, 6], tf.int64))
        step = tf.train.get_or_create_global_step()
        return table, tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(rows), global_step=step)

    with tf.Graph().as_default(), tf.Session() as session:
        _, train = program()
        session.run(tf.global_variables_initializer())
        for _ in range(4):
            session.run(train)
        path = tf.train.Saver().save(session, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as session:
        table, _ = program()
        tf.train.init_from_checkpoint(path, {"/": "/"}, reset_version=is_reset)
        session.run(tf.global_variables_initializer())
        assert session.run(table.export()).versions.tolist() == ([0, 0] if is_reset else [3, 3])


def test_deeprecs_incremental_saver_saves_where_it_is_told_to(tmp_path: Path) -> None:
    """As its wide and deep program has it: full checkpoints by one saver, increments by another, under other names."""
    saver_module: Any = module_at("python.training.incremental_saver")
    table = tf.get_embedding_variable("user", 2, initializer=tf.ones_initializer())
    ids = tf.placeholder(tf.int64, [None])
    rows = tf.nn.embedding_lookup(table, ids)
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(rows), tf.train.get_or_create_global_step())
    full_saver = tf.train.Saver(incremental_save_restore=True)
    increments = saver_module._get_incremental_saver(True, full_saver)
    assert saver_module._get_incremental_saver(False, full_saver) is None
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(train, {ids: [1, 2]})
        full = full_saver.save(session, tmp_path / "wdl", global_step=1)
        session.run(train, {ids: [2, 3]})
        delta = increments.incremental_save(session, tmp_path / ".incremental_checkpoint" / "incr-wdl", global_step=2)
        assert delta == f"{tmp_path}/.incremental_checkpoint/incr-wdl-2"
        assert increments.last_incr_checkpoints == [delta]
        trained = session.run(rows, {ids: [1, 2, 3]})
        for restore in (
            lambda: increments.incremental_restore(session, full, delta),
            lambda: full_saver.restore(session, full),  # which finds it
        ):
            session.run(train, {ids: [1, 2, 3, 4]})
            restore()
            np.testing.assert_array_equal(session.run(rows, {ids: [1, 2, 3]}), trained)
        assert session.run(table.total_count()).tolist() == [3, 2]
    with pytest.raises(FailedPreconditionError, match="incremental_save_restore=True"):
        saver_module._get_incremental_saver(True, tf.train.Saver())
