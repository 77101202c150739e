"""Incremental checkpoints with the rows of plain variables that changed (incremental_include_normal_var)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.embedding.stored.naming import DELTA_KEYS, DELTA_VALUES
from tensorkeep.ops.embedding._recording import RowChanges
from tests.tf1.training.increments import assert_made_one


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


class Model:
    """A dense table that is trained by rows, a dense variable, and an embedding variable if one is wanted."""

    def __init__(self, use_resource: bool = True, has_table: bool = False, sharded: bool = False) -> None:
        rows = np.arange(40, dtype=np.float32).reshape(20, 2)
        self.table = tf.get_variable("t", initializer=rows, use_resource=use_resource)
        self.weight = tf.get_variable("w", initializer=np.ones((2, 1), np.float32), use_resource=use_resource)
        self.bias = tf.get_variable("b", initializer=np.float32(1), use_resource=use_resource)
        self.ids = tf.placeholder(tf.int64, [None], name="ids")
        found = tf.nn.embedding_lookup(self.table, self.ids)
        if has_table:
            keyed = tf.get_embedding_variable("e", 2, initializer=tf.ones_initializer())
            found += tf.nn.embedding_lookup(keyed, self.ids)
        self.step = tf.train.get_or_create_global_step()
        loss = tf.reduce_sum(tf.square(tf.matmul(found, self.weight))) + self.bias
        self.train = tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=self.step)
        self.reset = self.table.assign(rows)
        self.saver = tf.train.Saver(incremental_save_restore=True, incremental_include_normal_var=True, sharded=sharded)

    def run(self, session: Any, *batches: list[int]) -> None:
        for batch in batches:
            session.run(self.train, {self.ids: batch})

    def state(self, session: Any) -> list[Any]:
        return [value.tolist() for value in session.run(tf.global_variables())]


KINDS = [(use_resource, has_table) for use_resource in (True, False) for has_table in (False, True)]


@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize(("use_resource", "has_table"), KINDS)
def test_a_delta_holds_the_rows_that_changed_and_restores_them(
    use_resource: bool, has_table: bool, sharded: bool, tmp_path: Path
) -> None:
    model = Model(use_resource, has_table, sharded)
    plain = [variable for variable in tf.global_variables() if not variable.name.startswith("e")]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2, 3])
        full = model.saver.save(session, tmp_path / "m", global_step=model.step)
        model.run(session, [5, 2, 5])
        model.saver.incremental_save(session, tmp_path / "m", global_step=model.step)
        model.run(session, [19])
        delta = model.saver.incremental_save(session, tmp_path / "m", global_step=model.step)
        wanted = session.run(plain)
    names = [name for name, _ in tf.train.list_variables(delta)]
    for stem in ("t", "t/Adagrad"):
        assert tf.train.load_variable(delta, stem + DELTA_KEYS).tolist() == [2, 5, 19]
        assert tf.train.load_variable(delta, stem + DELTA_VALUES).shape == (3, 2)
        assert stem not in names
    assert {"w", "b", "w/Adagrad", "global_step"} <= set(names)
    with tf.Graph().as_default(), tf.Session() as session:
        again = Model(use_resource, has_table)
        again.saver.restore(session, full)
        plain = [variable for variable in tf.global_variables() if not variable.name.startswith("e")]
        for mine, theirs in zip(session.run(plain), wanted, strict=True):
            assert np.array_equal(mine, theirs)


@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize("use_resource", [True, False])
def test_full_and_delta_made_one_are_the_bytes_of_a_full_save(
    use_resource: bool, sharded: bool, tmp_path: Path
) -> None:
    model = Model(use_resource, True, sharded)
    assert_made_one(model, [1, 2, 3], [5, 2], tmp_path)


def test_a_variable_that_was_changed_as_a_whole_is_saved_whole_until_the_next_full_save(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.saver.save(session, tmp_path / "m", global_step=1)
        model.run(session, [4])
        session.run(model.reset)
        model.run(session, [4])
        delta = model.saver.incremental_save(session, tmp_path / "m", global_step=2)
        model.saver.save(session, tmp_path / "m", global_step=3)
        model.run(session, [7])
        later = model.saver.incremental_save(session, tmp_path / "m", global_step=4)
    assert tf.train.load_variable(delta, "t").shape == (20, 2)
    assert tf.train.load_variable(delta, f"t/Adagrad{DELTA_KEYS}").tolist() == [4]
    assert tf.train.load_variable(later, f"t{DELTA_KEYS}").tolist() == [7]


@pytest.mark.parametrize("change", ["update", "add", "nd", "slice"])
def test_rows_that_a_program_writes_itself_are_changes(change: str, tmp_path: Path) -> None:
    model = Model(use_resource=change != "slice")
    slices = tf.IndexedSlices(np.ones((2, 2), np.float32), np.array([3, 8]))
    write = {
        "update": lambda: model.table.scatter_update(slices),
        "add": lambda: model.table.scatter_add(slices),
        "nd": lambda: model.table.scatter_nd_update([[3, 1], [8, 0]], [5.0, 6.0]),
        "slice": lambda: model.table[3:9:5].assign(np.ones((2, 2), np.float32)),
    }[change]()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        full = model.saver.save(session, tmp_path / "m", global_step=1)
        session.run(write)
        delta = model.saver.incremental_save(session, tmp_path / "m", global_step=2)
        wanted = session.run(model.table)
    if change == "slice":  # it does not say which rows
        assert np.array_equal(tf.train.load_variable(delta, "t"), wanted)
    else:
        assert tf.train.load_variable(delta, f"t{DELTA_KEYS}").tolist() == [3, 8]
    with tf.Graph().as_default(), tf.Session() as session:
        again = Model(use_resource=change != "slice")
        again.saver.restore(session, full)
        assert np.array_equal(session.run(again.table), wanted)


def test_after_a_restore_deltas_go_on(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2])
        full = model.saver.save(session, tmp_path / "m", global_step=model.step)
        model.run(session, [3])
        model.saver.incremental_save(session, tmp_path / "m", global_step=model.step)
    for number in (4, 5):
        with tf.Graph().as_default(), tf.Session() as session:
            again = Model()
            again.saver.restore(session, full)
            again.run(session, [number])
            delta = again.saver.incremental_save(session, tmp_path / "m", global_step=again.step)
            wanted = again.state(session)
        assert tf.train.load_variable(delta, f"t{DELTA_KEYS}").tolist() == list(range(3, number + 1))
    with tf.Graph().as_default(), tf.Session() as session:
        third = Model()
        third.saver.restore(session, full)
        assert third.state(session) == wanted


def test_what_was_not_restored_as_it_is_stored_is_saved_whole(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2])
        full = model.saver.save(session, tmp_path / "m", global_step=model.step)
        session.run(tf.global_variables_initializer())
        model.saver.restore(session, full, mapping={"t": "t/Adagrad"})
        model.run(session, [4])
        delta = model.saver.incremental_save(session, tmp_path / "m", global_step=9)
    assert tf.train.load_variable(delta, "t").shape == (20, 2)


def test_an_imported_graph_saves_and_restores_rows(tmp_path: Path) -> None:
    model = Model(use_resource=False)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        full = model.saver.save(session, tmp_path / "m", global_step=1)
        model.run(session, [1])
        model.saver.incremental_save(session, tmp_path / "m", global_step=2)
        wanted = session.run(model.table)
    for scope in (None, "below"):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            saver = tf.train.import_meta_graph(f"{full}.meta", import_scope=scope)
            saver.restore(session, full)
            assert np.array_equal(session.run(graph.get_tensor_by_name(f"{scope}/t:0" if scope else "t:0")), wanted)


@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize(("use_resource", "has_table"), KINDS)
def test_a_step_that_ends_just_before_rows_are_recorded_anew_is_in_the_full_checkpoint(
    use_resource: bool, has_table: bool, sharded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model(use_resource, has_table, sharded)
    plain = [variable for variable in tf.global_variables() if not variable.name.startswith("e")]
    begin = RowChanges.begin

    def overtaken(self: RowChanges) -> None:
        monkeypatch.undo()
        model.run(session, [6, 7])
        begin(self)

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.saver.save(session, tmp_path / "m", global_step=1)
        monkeypatch.setattr(RowChanges, "begin", overtaken)
        full = model.saver.save(session, tmp_path / "m", global_step=2)
        assert RowChanges.begin is begin
        model.saver.incremental_save(session, tmp_path / "m", global_step=3)
        wanted = [value.tolist() for value in session.run(plain)]
    with tf.Graph().as_default(), tf.Session() as session:
        again = Model(use_resource, has_table, sharded)
        again.saver.restore(session, full)
        names = [variable.name for variable in plain]
        found = [variable for variable in tf.global_variables() if variable.name in names]
        assert [value.tolist() for value in session.run(found)] == wanted


def test_nothing_is_lost_between_full_saves_and_deltas_while_others_train(tmp_path: Path) -> None:
    model = Model()
    stop = Event()

    def work(session: Any, seed: int) -> None:
        numbers = np.random.RandomState(seed)
        while not stop.is_set():
            session.run(model.train, {model.ids: numbers.randint(0, 20, 2)})

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        threads = [Thread(target=work, args=(session, seed)) for seed in range(3)]
        for thread in threads:
            thread.start()
        try:
            for number in range(1, 12):
                full = model.saver.save(session, tmp_path / "m", global_step=10 * number)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        model.saver.incremental_save(session, tmp_path / "m", global_step=10 * number + 1)
        wanted = model.state(session)
    with tf.Graph().as_default(), tf.Session() as session:
        again = Model()
        again.saver.restore(session, full)
        assert again.state(session) == wanted
