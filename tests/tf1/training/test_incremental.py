"""Incremental checkpoints: full, then what changed, restored together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from threading import Event, Thread
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.embedding.stored.naming import DELTA_KEYS, DELTA_OFFSETS, DELTA_REMOVED, DELTA_VALUES
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.embedding.session_tables import EmbeddingResource
from tensorkeep.v1.sessions import core_session
from tests.support.deeprec import unset_switches
from tests.tf1.training.increments import assert_made_one


@pytest.fixture(autouse=True)
def _own_graph(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    unset_switches(monkeypatch)
    with tf.Graph().as_default():
        yield


class Model:
    """A table and a dense variable, trained by ids that are fed, with a saver that saves incrementally."""

    def __init__(self, shards: int | None = None, option: Any = None, sharded: bool = False) -> None:
        partitioner = None if shards is None else tf.fixed_size_partitioner(shards)
        self.table = tf.get_embedding_variable(
            "t", 2, initializer=tf.ones_initializer(), partitioner=partitioner, ev_option=option
        )
        self.parts = [self.table] if shards is None else list(self.table)
        self.weight = tf.get_variable("w", initializer=np.ones((2, 1), np.float32))
        self.ids = tf.placeholder(tf.int64, [None], name="ids")
        self.rows = tf.nn.embedding_lookup(self.table, self.ids)
        self.step = tf.train.get_or_create_global_step()
        loss = tf.reduce_sum(tf.square(tf.matmul(self.rows, self.weight)))
        self.train = tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=self.step)
        self.saver = tf.train.Saver(incremental_save_restore=True, sharded=sharded)

    def run(self, session: Any, *batches: list[int]) -> None:
        for batch in batches:
            session.run(self.train, {self.ids: batch})

    def state(self, session: Any) -> Any:
        """All keys with their rows, the dense variable and the step."""
        exported = [session.run(part.export()) for part in self.parts]
        rows = {int(key): row.tolist() for one in exported for key, row in zip(one.keys, one.values, strict=True)}
        return rows, session.run(self.weight).tolist(), int(session.run(self.step))


@pytest.mark.parametrize("sharded", [False, True])
@pytest.mark.parametrize(("before", "after"), [(None, None), (2, 2), (2, 3), (None, 2), (3, None)])
def test_the_full_and_the_newest_delta_are_the_table_of_that_step(
    sharded: bool, before: int | None, after: int | None, tmp_path: Path
) -> None:
    model = Model(before, sharded=sharded)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2, 3])
        full = model.saver.save(session, tmp_path / "m", global_step=model.step)
        model.run(session, [2, 4, -5])
        model.saver.incremental_save(session, tmp_path / "m", global_step=model.step)
        model.run(session, [3, 10**12])
        delta = model.saver.incremental_save(session, tmp_path / "m", global_step=model.step)
        wanted = model.state(session)
        model.run(session, [2])
        later = model.state(session)
    assert delta == str(tmp_path / ".incremental_checkpoint" / "incremental_model.ckpt-3")
    assert tf.train.latest_checkpoint(tmp_path) == full
    with tf.Graph().as_default(), tf.Session() as session:
        again = Model(after)
        again.saver.restore(session, full)
        assert again.state(session) == wanted
        again.run(session, [2])
        assert again.state(session) == later


def test_a_delta_holds_only_what_was_touched_since_the_full_save(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2, 3])
        model.saver.save(session, tmp_path / "m", global_step=model.step)
        model.run(session, [2])
        session.run(model.rows, {model.ids: [1, 7]})
        delta = model.saver.incremental_save(session, tmp_path / "m", global_step=model.step)
        model.saver.save(session, tmp_path / "m", global_step=model.step)
        later = model.saver.incremental_save(session, tmp_path / "m", global_step=9)
    for stem in ("t", "t/Adagrad"):
        assert tf.train.load_variable(delta, stem + DELTA_KEYS).tolist() == [2, 7]
        assert tf.train.load_variable(delta, stem + DELTA_VALUES).shape == (2, 2)
        assert tf.train.load_variable(delta, stem + DELTA_OFFSETS).tolist()[2:9] == [0, 1, 1, 1, 1, 1, 2]
        assert tf.train.load_variable(later, stem + DELTA_KEYS).tolist() == []
    assert tf.train.load_variable(delta, "global_step") == 2
    assert tf.train.load_variable(delta, "w").shape == (2, 1)
    assert not list((tmp_path / ".incremental_checkpoint").glob("*.meta"))


def test_keys_that_are_gone_are_gone_after_the_restore(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2, 3])
        full = model.saver.save(session, tmp_path / "m", global_step=model.step)
        resource = core_session(session).resources.find("", "t")
        assert isinstance(resource, EmbeddingResource)
        resource.table.remove(np.array([2]))
        resource.touch(np.array([2]))
        model.run(session, [3])
        delta = model.saver.incremental_save(session, tmp_path / "m", global_step=model.step)
        wanted = model.state(session)
    assert tf.train.load_variable(delta, f"t{DELTA_REMOVED}").tolist() == [2]
    with tf.Graph().as_default(), tf.Session() as session:
        again = Model()
        again.saver.restore(session, full)
        assert again.state(session) == wanted


def test_counts_of_filtered_keys_are_in_a_delta(tmp_path: Path) -> None:
    option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(3))
    model = Model(option=option)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 1, 1, 2])
        full = model.saver.save(session, tmp_path / "m", global_step=model.step)
        model.run(session, [2, 9])
        model.saver.incremental_save(session, tmp_path / "m", global_step=model.step)
    with tf.Graph().as_default(), tf.Session() as session:
        again = Model(option=option)
        again.saver.restore(session, full)
        assert session.run(again.table.get_frequency([1, 2, 9])).tolist() == [3, 2, 1]
        again.run(session, [2])
        assert session.run(again.table.export().keys).tolist() == [1, 2]


def test_after_a_restore_deltas_go_on(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2])
        full = model.saver.save(session, tmp_path / "m", global_step=model.step)
        model.run(session, [3])
        model.saver.incremental_save(session, tmp_path / "m", global_step=model.step)
    with tf.Graph().as_default(), tf.Session() as session:
        again = Model()
        again.saver.restore(session, full)
        again.run(session, [4])
        delta = again.saver.incremental_save(session, tmp_path / "m", global_step=again.step)
        wanted = again.state(session)
    assert tf.train.load_variable(delta, f"t{DELTA_KEYS}").tolist() == [3, 4]
    with tf.Graph().as_default(), tf.Session() as session:
        third = Model()
        third.saver.restore(session, full)
        assert third.state(session) == wanted


@pytest.mark.parametrize("arguments", [{}, {"shards": 2}, {"shards": 2, "sharded": True}, {"filter": 2}])
def test_full_and_delta_made_one_are_the_bytes_of_a_full_save(arguments: dict[str, Any], tmp_path: Path) -> None:
    given = dict(arguments)
    threshold = given.pop("filter", None)
    if threshold is not None:
        given["option"] = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(threshold))
    model = Model(**given)
    assert_made_one(model, [1, 2, 3, 3], [2, 4, -5, 7, 7], tmp_path)


def test_a_delta_of_a_later_full_checkpoint_is_not_put_over_an_earlier_one(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1])
        first = model.saver.save(session, tmp_path / "m", global_step=model.step)
        wanted = model.state(session)
        model.run(session, [2])
        model.saver.save(session, tmp_path / "m", global_step=model.step)
        model.run(session, [3])
        model.saver.incremental_save(session, tmp_path / "m", global_step=model.step)
    with tf.Graph().as_default(), tf.Session() as session:
        again = Model()
        again.saver.restore(session, first)
        assert again.state(session) == wanted


def test_there_is_no_delta_before_a_full_save(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(FailedPreconditionError, match="has not been saved whole yet"):
            model.saver.incremental_save(session, tmp_path / "m", global_step=1)
        model.saver.save(session, tmp_path / "m", global_step=1)
        session.run(tf.global_variables_initializer())
        with pytest.raises(FailedPreconditionError, match="has not been saved whole yet"):
            model.saver.incremental_save(session, tmp_path / "m", global_step=1)


def test_a_saver_of_whole_checkpoints_says_that_it_is_one(tmp_path: Path) -> None:
    tf.get_embedding_variable("t", 2)
    with tf.Session() as session, pytest.raises(FailedPreconditionError, match="incremental_save_restore"):
        tf.train.Saver().incremental_save(session, tmp_path / "m")
    with pytest.raises(InvalidArgumentError, match="incremental_save_restore=True"):
        tf.train.Saver(incremental_include_normal_var=True)


def test_an_imported_graph_restores_its_deltas(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1])
        full = model.saver.save(session, tmp_path / "m", global_step=model.step)
        model.run(session, [1])
        model.saver.incremental_save(session, tmp_path / "m", global_step=model.step)
        (wanted,) = session.run(model.rows, {model.ids: [1]})
    with tf.Graph().as_default(), tf.Session() as session:
        saver = tf.train.import_meta_graph(f"{full}.meta")
        saver.restore(session, full)
        table, *_ = tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)
        (found,) = session.run(tf.nn.embedding_lookup(table, [1]))
    assert found.tolist() == wanted.tolist()


def test_a_monitored_session_saves_incrementally_and_resumes(tmp_path: Path) -> None:
    def program() -> tuple[Any, Any, Any]:
        table = tf.get_embedding_variable("t", 2, initializer=tf.ones_initializer())
        ids = tf.placeholder(tf.int64, [None])
        rows = tf.nn.embedding_lookup(table, ids)
        step = tf.train.get_or_create_global_step()
        train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(rows), global_step=step)
        return ids, rows, train

    ids, rows, train = program()
    session = tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path), save_checkpoint_secs=3600, save_incremental_checkpoint_secs=1e-9,
        log_step_count_steps=None, save_summaries_steps=None, save_summaries_secs=None,
    )  # fmt: skip
    for batch in ([1, 2], [3], [1]):
        session.run(train, {ids: batch})
    wanted = session.run(rows, {ids: [1, 2, 3]})
    # It is not closed: as if the process had ended here.
    found = sorted(path.name for path in (tmp_path / ".incremental_checkpoint").glob("*.index"))
    assert found[-1] == "incremental_model.ckpt-3.index"
    assert [path.name for path in tmp_path.glob("*.index")] == ["model.ckpt-0.index"]
    with tf.Graph().as_default():
        ids, rows, train = program()
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=str(tmp_path), save_incremental_checkpoint_secs=3600, log_step_count_steps=None
        ) as session:
            assert session.run(rows, {ids: [1, 2, 3]}).tolist() == wanted.tolist()


def increments_after(folder: Path) -> tuple[Any, str, Any]:
    """A full checkpoint and two increments: the state then, and what the full one is."""
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1, 2, 3])
        full = model.saver.save(session, folder / "m", global_step=model.step)
        at_full = model.state(session)
        for batch in ([2, 4], [3, 10**12]):
            model.run(session, batch)
            model.saver.incremental_save(session, folder / "m", global_step=model.step)
        return model.state(session), full, at_full


def test_a_session_manager_has_another_saver_put_increments_over_the_full_checkpoint(tmp_path: Path) -> None:
    wanted, _, _ = increments_after(tmp_path)
    with tf.Graph().as_default():
        again = Model()
        plain = tf.train.Saver()
        manager = tf.train.SessionManager()
        with manager.prepare_session("", saver=plain, checkpoint_dir=tmp_path, incr_saver=again.saver) as session:
            assert again.state(session) == wanted


def test_a_session_manager_takes_one_saver_for_both(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    wanted, _, _ = increments_after(tmp_path)
    with tf.Graph().as_default():
        again = Model()
        arguments = {"saver": again.saver, "checkpoint_dir": tmp_path, "incr_saver": again.saver}
        with (
            caplog.at_level("INFO", "tensorkeep"),
            tf.train.SessionManager().prepare_session("", **arguments) as session,
        ):
            assert again.state(session) == wanted
    assert caplog.text.count("Restoring what changed since from") == 1


def test_a_session_manager_tells_that_nothing_is_put_over_a_checkpoint_that_is_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    _, full, at_full = increments_after(tmp_path)
    with tf.Graph().as_default():
        again = Model()
        arguments = {"saver": tf.train.Saver(), "incr_saver": again.saver}
        manager = tf.train.SessionManager()
        with manager.prepare_session("", checkpoint_filename_with_path=full, **arguments) as session:
            assert again.state(session) == at_full
    assert f"{full} was named, not found by checkpoint_dir: incr_saver restores nothing over it" in caplog.text


def test_a_session_manager_without_increments_restores_the_full_checkpoint(tmp_path: Path) -> None:
    model = Model()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        model.run(session, [1])
        model.saver.save(session, tmp_path / "m", global_step=model.step)
        wanted = model.state(session)
    with tf.Graph().as_default():
        again = Model()
        plain = tf.train.Saver()
        manager = tf.train.SessionManager()
        with manager.prepare_session("", saver=plain, checkpoint_dir=tmp_path, incr_saver=again.saver) as session:
            assert again.state(session) == wanted
        with pytest.raises(FailedPreconditionError, match="whole checkpoints only"):
            manager.prepare_session("", saver=again.saver, checkpoint_dir=tmp_path, incr_saver=plain)


def test_recorded_indices_are_those_of_the_variable_of_that_name() -> None:
    model = Model()
    record = get_op("RecordSparseIndices")(model.ids, var_name="t")
    elsewhere = get_op("RecordSparseIndices")(model.ids, var_name="w")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([record, elsewhere], {model.ids: [5, 6]})
        resource = core_session(session).resources.find("", "t")
        assert isinstance(resource, EmbeddingResource)
        assert resource.record_touched().touched.keys().tolist() == [5, 6]


def test_nothing_is_lost_between_full_saves_and_deltas_while_others_train(tmp_path: Path) -> None:
    model = Model()
    stop = Event()

    def work(session: Any, seed: int) -> None:
        numbers = np.random.RandomState(seed)
        while not stop.is_set():
            ids = numbers.randint(-(2**40), 2**40, 20)
            session.run(model.train if numbers.rand() < 0.5 else model.rows, {model.ids: ids})

    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        threads = [Thread(target=work, args=(session, seed)) for seed in range(3)]
        for thread in threads:
            thread.start()
        try:
            for number in range(1, 6):
                full = model.saver.save(session, tmp_path / "m", global_step=10 * number)
                model.saver.incremental_save(session, tmp_path / "m", global_step=10 * number + 1)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        model.saver.incremental_save(session, tmp_path / "m", global_step=59)
        wanted = model.state(session)
    with tf.Graph().as_default(), tf.Session() as session:
        again = Model()
        again.saver.restore(session, full)
        assert again.state(session) == wanted
