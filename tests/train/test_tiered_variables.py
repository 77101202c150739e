"""Embedding variables of which only some rows are in memory: which ones, as in DeepRec."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.embedding import EmbeddingTable, save_embeddings
from tensorkeep.errors import AlreadyExistsError
from tests.support.deeprec import unset_switches


@pytest.fixture(autouse=True)
def _recording(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    unset_switches(monkeypatch)
    monkeypatch.setenv("TF_RECORD_FREQ", "1")
    with tf.Graph().as_default():
        yield


def model(folder: Path, size: int) -> tuple[Any, Any, Any]:
    """A table of rows of 30 with an accumulator, the keys that it is trained on, and the step."""
    storage = tf.StorageOption(tf.StorageType.DRAM_SSDHASH, str(folder), [size])
    option = tf.EmbeddingVariableOption(storage_option=storage)
    table = tf.get_embedding_variable("v", 30, initializer=tf.ones_initializer(), ev_option=option)
    ids = tf.placeholder(tf.int64, [None])
    train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.nn.embedding_lookup(table, ids)))
    return table, ids, train


def test_the_least_recently_used_of_the_least_often_used_rows_leave_memory(tmp_path: Path) -> None:
    table, ids, train = model(tmp_path, 1024)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for keys in ([1, 2, 3], [1, 2, 4], [1, 2, 2], [1, 2, 5], [1, 2, 6], [1, 2, 7]):
            session.run(train, {ids: keys})
        tiers = session.run(tf.kv_variable_ops.lookup_tier(table, [1, 2, 3, 4, 5, 6, 7]))
    assert tiers.tolist() == [0, 0, 1, 1, 1, 0, 0]


def test_after_a_restore_the_rows_of_the_highest_frequencies_are_in_memory(tmp_path: Path) -> None:
    table, ids, train = model(tmp_path, 1024)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for keys in ([1, 2, 3], [1, 2, 4], [1]):
            session.run(train, {ids: keys})
        prefix = tf.train.Saver().save(session, str(tmp_path / "m"))
    with tf.Graph().as_default(), tf.Session() as session:
        table, ids, _ = model(tmp_path, 512)  # room for two rows
        tf.train.Saver().restore(session, prefix)
        assert session.run(tf.kv_variable_ops.lookup_tier(table, [1, 2, 3, 4])).tolist() == [0, 0, 1, 1]


@pytest.mark.parametrize("is_sharded", [False, True])
def test_a_save_over_a_checkpoint_with_records_of_an_ssd_tier_is_refused(is_sharded: bool, tmp_path: Path) -> None:
    """Their rows would be taken for rows of the new checkpoint, those among them that are gone by now."""
    table = EmbeddingTable(2)
    table.assign([1, 2], np.ones((2, 2)))
    prefix = str(tmp_path / "m")
    with table.snapshot() as snapshot:
        save_embeddings(prefix, {"v": snapshot}, {"global_step": np.int64(3)}, records={"v": [2]})
    variable = tf.get_embedding_variable("v", 2, initializer=tf.ones_initializer())
    saver = tf.train.Saver([variable, tf.train.get_or_create_global_step()], sharded=is_sharded)
    with tf.Session() as session:
        saver.restore(session, prefix)
        assert sorted(session.run(variable.export()).keys.tolist()) == [1, 2]
        with pytest.raises(AlreadyExistsError, match=r"m-v-ssd_record\" holds records .* or save under another name"):
            saver.save(session, prefix)
        saver.save(session, prefix, global_step=4)
