"""`tf.contrib.summary`: what stands in the event file after steps of training."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf

summary = tf.contrib.summary


def written(folder: Path) -> list[tuple[int, str, str]]:
    """By event, its step, tag and kind."""
    (file,) = folder.iterdir()
    events = list(tf.train.summary_iterator(str(file)))
    return [
        (event.step, value.tag, str(value.WhichOneof("value"))) for event in events for value in event.summary.value
    ]


def test_summaries_are_written_at_the_steps_that_a_condition_chooses(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.train.create_global_step()
        writer = summary.create_file_writer(str(tmp_path / "run"), flush_millis=10000)
        with writer.as_default(), summary.record_summaries_every_n_global_steps(2):
            summary.scalar("loss", tf.cast(step, tf.float32) * 2, family="train")
            summary.histogram("weights", [1.0, 2.0])
        with writer.as_default(), summary.always_record_summaries():
            summary.image("picture", tf.zeros([1, 2, 2, 3]), max_images=1)
            summary.generic("tensor", tf.constant([1, 2]))
            summary.audio("sound", tf.zeros([1, 8]), 8000, 1, step=7)
        with writer.as_default():
            with summary.never_record_summaries():
                summary.scalar("never", 1.0)
            assert not session.run(summary.should_record_summaries())
        summary.scalar("nowhere", 1.0)
        advance = tf.assign_add(step, 1)
        session.run([tf.global_variables_initializer(), summary.summary_writer_initializer_op()])
        for _ in range(3):
            session.run(summary.all_summary_ops())
            session.run(advance)
        session.run([writer.flush(), writer.close()])
    found = written(tmp_path / "run")
    assert [row for row in found if row[1] in ("train/loss", "weights")] == [
        (0, "train/loss", "simple_value"), (0, "weights", "histo"),
        (2, "train/loss", "simple_value"), (2, "weights", "histo"),
    ]  # fmt: skip
    assert {row for row in found if row[0] == 7} == {(7, "sound/audio", "audio")}
    assert {row[1:] for row in found if row[0] == 1} == {("picture/image", "image"), ("tensor", "tensor")}
    assert not any("never" in tag or "nowhere" in tag for _, tag, _ in found)


def test_a_writer_is_begun_in_the_session_in_force_and_one_without_folder_does_nothing(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.create_global_step().initializer.run()
        with summary.create_file_writer(None).as_default(), summary.always_record_summaries():
            assert summary.scalar("a", 1.0).type == "NoOp"
            with pytest.raises(RuntimeError, match="needs a writer"):
                summary.initialize()
        with summary.create_file_writer(str(tmp_path / "run")).as_default(), summary.always_record_summaries():
            one = summary.scalar("a", np.float32(1.5))
            with pytest.raises(KeyError, match="has no file"):
                session.run(one)
            summary.initialize()
            session.run(one)
    assert written(tmp_path / "run") == [(0, "a", "simple_value")]
    with pytest.raises(NotImplementedError, match="create_file_writer"):
        summary.create_db_writer("db")


def test_wrong_values_are_told(tmp_path: Path) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.create_global_step().initializer.run()
        with summary.create_file_writer(str(tmp_path)).as_default(), summary.always_record_summaries():
            nan: Any = summary.histogram("h", [np.nan])
            summary.initialize()
            with pytest.raises(tf.errors.InvalidArgumentError, match="Nan in summary histogram for: h"):
                session.run(nan)
