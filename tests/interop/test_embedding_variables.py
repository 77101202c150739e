"""Checkpoints with embedding variables, read by TensorFlow, which has none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tensorflow as tf

import tensorkeep.v1 as ours
from tensorkeep.embedding.stored.naming import NINE


@pytest.mark.parametrize("sharded", [False, True])
def test_tensorflow_reads_every_tensor_that_a_saver_wrote(
    sharded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TF_RECORD_FREQ", "1")
    monkeypatch.setenv("TF_RECORD_VERSION", "1")
    with ours.Graph().as_default(), ours.Session() as session:
        table = ours.get_embedding_variable(
            "user", 4, initializer=ours.ones_initializer(), partitioner=ours.fixed_size_partitioner(2)
        )
        small = ours.get_embedding_variable("item", 2, key_dtype=ours.int32)
        rows = ours.nn.embedding_lookup(table, ours.constant([1, 2, 1, -3, 2**62], ours.int64))
        others = ours.nn.embedding_lookup(small, ours.constant([5, 6]))
        dense = ours.get_variable("w", initializer=np.ones((4, 1), np.float32))
        step = ours.train.get_or_create_global_step()
        loss = ours.reduce_sum(ours.matmul(rows, dense)) + ours.reduce_sum(others)
        train = ours.train.AdagradOptimizer(0.1).minimize(loss, global_step=step)
        session.run(ours.global_variables_initializer())
        session.run(train)
        prefix = ours.train.Saver(sharded=sharded).save(session, tmp_path / "m", global_step=step)
        trained = session.run(rows)
    listed = dict(tf.train.list_variables(prefix))
    stems = [f"user/part_{number}{slot}" for number in range(2) for slot in ("", "/Adagrad")]
    for stem in [*stems, "item", "item/Adagrad"]:
        for suffix in NINE:
            value = tf.train.load_variable(prefix, stem + suffix)
            assert list(value.shape) == listed[stem + suffix]
    keys = [tf.train.load_variable(prefix, f"user/part_{number}-keys") for number in range(2)]
    assert [found.dtype for found in keys] == [np.int64, np.int64]
    assert [found.tolist() for found in keys] == [[2, 2**62], [1, -3]]
    assert tf.train.load_variable(prefix, "item-keys").dtype == np.int32
    assert tf.train.load_variable(prefix, "user/part_1-freqs").tolist() == [2, 1]
    assert tf.train.load_variable(prefix, "user/part_1-versions").tolist() == [0, 0]
    assert tf.train.load_variable(prefix, "user/part_1-values").tolist() == trained[[0, 3]].tolist()
    assert tf.train.load_variable(prefix, "global_step") == 1
