"""Metrics that a training loop hands to its saver, and what becomes of checkpoints without them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.saving.folder import scan
from tensorkeep.saving.retention import KeepBest, KeepLatest

LOSSES = np.array([5.0, 3.0, 1.0, 4.0, 2.0, 6.0], np.float32)


def train(folder: Path, **arguments: Any) -> None:
    """Five steps, a checkpoint at each; the loss of step n is LOSSES[n]."""
    step = tf.train.get_or_create_global_step()
    count = tf.assign_add(step, 1)
    scaffold = tf.train.Scaffold(saver=tf.train.Saver(retention=KeepLatest(1) | KeepBest("loss", 2)))
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=folder, scaffold=scaffold, save_checkpoint_steps=1, log_step_count_steps=None, **arguments
    ) as session:
        for _ in range(5):
            session.run(count)


def steps_kept(folder: Path) -> list[int | None]:
    return [item.record.step for item in scan(folder)]


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield
    tf.summary.FileWriterCache.clear()


def test_tensors_are_worked_out_at_each_save(tmp_path: Path) -> None:
    loss = tf.gather(tf.constant(LOSSES), tf.train.get_or_create_global_step())
    train(tmp_path, save_checkpoint_metrics={"loss": loss})
    assert steps_kept(tmp_path) == [2, 4, 5]
    assert [item.record.metrics for item in scan(tmp_path)] == [{"loss": 1.0}, {"loss": 2.0}, {"loss": 6.0}]


def test_a_function_may_feed_what_the_metrics_need(tmp_path: Path) -> None:
    fed = tf.placeholder(tf.float32, [])
    loss = fed * 2
    train(tmp_path, save_checkpoint_metrics=lambda session, step: {"loss": session.run(loss, {fed: -LOSSES[step]})})
    assert steps_kept(tmp_path) == [0, 5]
    assert [item.record.metrics for item in scan(tmp_path)] == [{"loss": -10.0}, {"loss": -12.0}]


def test_without_metrics_every_checkpoint_is_kept_and_that_is_told_once(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match='saved without the metric "loss", by which the policy chooses') as told:
        train(tmp_path)
    assert steps_kept(tmp_path) == [0, 1, 2, 3, 4, 5]
    assert len(told) == 1


def test_metrics_that_need_a_feed_are_refused_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match="give a function of the session and the step that feeds them"):
        train(tmp_path, save_checkpoint_metrics={"loss": tf.placeholder(tf.float32, [])})


def test_a_hook_of_ones_own_takes_metrics_too(tmp_path: Path) -> None:
    step = tf.train.create_global_step()
    saver = tf.train.Saver(retention=KeepBest("loss"))
    hook = tf.train.CheckpointSaverHook(tmp_path, save_steps=1, saver=saver, metrics={"loss": tf.negative(step)})
    with tf.train.MonitoredSession(hooks=[hook]):
        pass
    assert [item.record.metrics for item in scan(tmp_path)] == [{"loss": 0.0}]
