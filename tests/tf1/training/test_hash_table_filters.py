"""Keys of hash tables that are dropped: DeepRec's hash_filter_test.py, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep import open_checkpoint
from tensorkeep.errors import UnimplementedError

filters = tf.hash_table.hash_filter


@pytest.fixture(autouse=True)
def _own_graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def table_of(name: str = "t", width: int = 4) -> Any:
    return tf.hash_table.DistributedHashTable(
        [width],
        tf.float32,
        partitioner=tf.hash_table.FixedSizeHashTablePartitioner(2),
        initializer=tf.ones_initializer(),
        name=name,
    )


class Steps:
    """A table of which ids are looked up and trained, and a filter by steps."""

    def __init__(self, interval: int, width: int = 4) -> None:
        self.table, self.ids = table_of(width=width), tf.placeholder(tf.int64, [None])
        with filters.GlobalStepFilter(interval):
            rows = tf.nn.embedding_lookup(self.table, self.ids)
        step = tf.train.get_or_create_global_step()
        self.train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(rows), step)
        self.snapshot = self.table.snapshot

    def kept(self, session: Any) -> list[int]:
        return sorted(session._tf_sess().run(self.snapshot)[0].tolist())


def test_keys_that_were_not_looked_up_for_long_are_dropped() -> None:
    program = Steps(2)
    hook = filters.HashFilterHook(is_chief=True)
    with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
        for batch in ([0, 1], [2, 40000], [3, 4], [3, 5]):
            session.run(program.train, {program.ids: batch})
        assert program.kept(session) == [0, 1, 2, 3, 4, 5, 40000]
        assert not filters.check(session)
        filters.filter_once(session)
        assert program.kept(session) == [3, 4, 5]
        assert filters.check(session)


@pytest.mark.parametrize(("is_chief", "kept"), [(True, [5]), (False, [1, 2, 5])])
def test_the_chief_drops_keys_every_few_steps(is_chief: bool, kept: list[int]) -> None:
    program = Steps(1)
    hook = filters.HashFilterHook(is_chief, interval=3)
    with tf.train.MonitoredTrainingSession(is_chief=True, hooks=[hook]) as session:
        for key in (1, 2, 5):
            session.run(program.train, {program.ids: [key]})
        session.run(program.train, {program.ids: [5]})
        assert program.kept(session) == kept


def test_keys_are_dropped_at_the_end(tmp_path: Path) -> None:
    table = table_of()
    with filters.L2WeightFilter(1.0):
        tf.nn.embedding_lookup(table, [1, 2])
    fill = table.scatter_update([1, 2], [[0.1] * 4, [2.0] * 4])
    tf.train.get_or_create_global_step()
    snapshot, left = table.snapshot, []

    class Last(tf.train.SessionRunHook):
        def end(self, session: Any) -> None:
            left.extend(session.run(snapshot)[0].tolist())

    hooks = [filters.HashFilterHook(is_chief=True, run_at_session_close=True), Last()]
    with tf.train.MonitoredTrainingSession(hooks=hooks) as session:
        session.run(fill)
    assert left == [2]


def test_small_rows_are_dropped() -> None:
    table = table_of()
    with filters.L2WeightFilter(1.0):
        rows = tf.nn.embedding_lookup(table, [1, 2, 3, 40000])
    change = table.scatter_update([1, 2], [[0.0] * 4, [2.0] * 4])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([rows, change])
        filters.filter_once(session)
        assert sorted(session.run(table.snapshot)[0].tolist()) == [2, 3, 40000]
        assert session.run(table.lookup([1])).tolist() == [[1.0] * 4]


def test_a_table_is_filtered_once_however_often_it_is_looked_up() -> None:
    table = table_of()
    with filters.L2WeightFilter(1.0):
        tf.nn.embedding_lookup(table, [1])
        tf.nn.embedding_lookup(table, [2])
    kinds = [op.type for op in tf.get_default_graph().get_operations()]
    assert kinds.count("HashTableFilterOp") == 2


def test_when_keys_were_looked_up_is_stored_for_each_table(tmp_path: Path) -> None:
    tables = [table_of(name) for name in ("a", "b")]
    with filters.GlobalStepFilter(5):
        rows = [tf.nn.embedding_lookup(table, [1, 2]) for table in tables]
    saver = tf.train.Saver(sharded=True)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run([rows, filters.update_op()])
        prefix = saver.save(session, str(tmp_path / "model"))
    with open_checkpoint(prefix) as reader:
        assert {"update_step", "b/slots/update_step"} <= set(reader)
        assert reader["update_step"].shape == (2, 1)


def test_keys_on_lists_are_not_let_in() -> None:
    table, hook = table_of(), filters.BlackListAdmit()
    with hook:
        rows = tf.nn.embedding_lookup(table, [1, 40000])
    assert len(hook.admit) == 2
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(rows), np.ones((2, 4)))


def test_a_filter_says_what_it_does() -> None:
    with filters.HashFilterBase(), pytest.raises(UnimplementedError, match="has no method `update`"):
        tf.nn.embedding_lookup(table_of(), [1])
