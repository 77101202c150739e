"""Runs that a hook traces while a model is trained."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import tensorkeep.v1 as tf


def test_runs_are_traced_every_so_many_steps_but_the_first(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        count = tf.assign_add(tf.train.create_global_step(), 1, name="counted")
        hook = tf.train.ProfilerHook(save_steps=2, output_dir=str(tmp_path))
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            for _ in range(6):
                session.run(count)
    tf.summary.FileWriterCache.clear()
    traces = {path.name: json.loads(path.read_text()) for path in tmp_path.glob("*.json")}
    assert sorted(traces) == ["timeline-2.json", "timeline-4.json", "timeline-6.json"]
    for trace in traces.values():
        assert "counted" in {event.get("args", {}).get("name") for event in trace["traceEvents"]}


def test_a_traced_run_reports_to_the_program_too(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        count = tf.assign_add(tf.train.create_global_step(), 1, name="counted")
        hook = tf.train.ProfilerHook(save_steps=1, output_dir=str(tmp_path))
        metadata = tf.RunMetadata()
        with tf.train.MonitoredSession(hooks=[hook]) as session:
            session.run(count)
            session.run(count, options=tf.RunOptions(), run_metadata=metadata)
    tf.summary.FileWriterCache.clear()
    assert [node.node_name for node in metadata.step_stats.dev_stats[0].node_stats].count("counted") == 1


def test_a_hook_that_traces_needs_a_step_to_count_by(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        hook = tf.train.ProfilerHook(save_steps=1, output_dir=str(tmp_path))
        with pytest.raises(tf.errors.FailedPreconditionError, match="Global step should be created"):
            hook.begin()
    tf.summary.FileWriterCache.clear()
