"""Hooks: when they act, and what they say."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorkeep.v1 as tf
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph
from tensorkeep.tf1.functions.arrays.shapes import split
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.training.loops.events import FileWriterCache
from tensorkeep.tf1.training.loops.hooks import GlobalStepWaiterHook, LoggingTensorHook, SessionRunHook, StopAtStepHook
from tensorkeep.tf1.training.loops.monitored import MonitoredSession
from tensorkeep.tf1.training.loops.recording_hooks import (
    CheckpointSaverHook,
    CheckpointSaverListener,
    StepCounterHook,
)
from tensorkeep.tf1.variables.global_step import global_step_read
from tests.tf1.training.programs import Counting
from tests.tf1.training.test_monitored import creator


def run(counting: Counting, hooks: list[SessionRunHook], times: int) -> None:
    with building(counting.graph), MonitoredSession(creator(counting), hooks) as session:
        for _ in range(times):
            session.run(counting.count)


def test_values_are_logged_every_so_many_runs(caplog: pytest.LogCaptureFixture) -> None:
    counting = Counting()
    with building(counting.graph):
        constant([0.5, 1e-9], name="pair")
        constant(np.float32(0.1), name="tenth")
        hook = LoggingTensorHook({"b": "pair", "a": "pair:0", "c": "tenth"}, every_n_iter=2)
    with caplog.at_level(logging.INFO, "tensorkeep"):
        run(counting, [hook], 4)
    told = [record.message for record in caplog.records if "pair" in record.message or record.message.startswith("a =")]
    assert len(told) == 2
    assert told[0] == "a = [0.5 0. ], b = [0.5 0. ], c = 0.1"
    assert told[1].startswith("a = [0.5 0. ], b = [0.5 0. ], c = 0.1 (")


def test_values_are_logged_at_the_end_in_the_programs_words(caplog: pytest.LogCaptureFixture) -> None:
    counting = Counting()
    hook = LoggingTensorHook(["global_step"], at_end=True, formatter=lambda values: f"<{values['global_step']}>")
    with caplog.at_level(logging.INFO, "tensorkeep"):
        run(counting, [hook], 3)
    assert [record.message for record in caplog.records if record.message.startswith("<")] == ["<3>"]


def test_a_name_that_several_tensors_have_is_refused() -> None:
    counting = Counting()
    with building(counting.graph):
        split(constant([1, 2]), 2, name="halves")
        with pytest.raises(InvalidArgumentError, match="halves is ambiguous"):
            LoggingTensorHook(["halves"], every_n_iter=1).begin()
        LoggingTensorHook(["halves:1"], every_n_iter=1).begin()
    with building(Graph()):
        other = constant(1)
    with building(counting.graph), pytest.raises(InvalidArgumentError, match="equal to current graph"):
        LoggingTensorHook([other], every_n_iter=1).begin()


def test_hooks_that_count_need_a_step() -> None:
    with building(Graph()):
        for hook in (StopAtStepHook(1), StepCounterHook(1), GlobalStepWaiterHook(1)):
            with pytest.raises(FailedPreconditionError, match="Global step should be created to use"):
                hook.begin()


def test_a_waiting_hook_lets_nothing_begin_too_early() -> None:
    counting = Counting()
    slept: list[float] = []

    class Waiting(GlobalStepWaiterHook):
        def before_run(self, run_context: Any) -> None:
            def sleep(seconds: float) -> None:
                slept.append(seconds)
                counting.step.load(len(slept) * 1500, run_context.session)

            self.sleep = sleep  # type: ignore[method-assign]
            super().before_run(run_context)

    run(counting, [Waiting(4000)], 2)
    assert slept == [0.5, 0.5, 0.5]


def test_a_step_that_stands_still_is_told_a_few_times(caplog: pytest.LogCaptureFixture) -> None:
    counting = Counting()
    with building(counting.graph):
        still = constant(1)
    with (
        caplog.at_level(logging.WARNING, "tensorkeep"),
        building(counting.graph),
        MonitoredSession(creator(counting), [StepCounterHook(1)]) as session,
    ):
        for _ in range(10):
            session.run(still)
    assert len([record for record in caplog.records if "has not been increased" in record.message]) == 5


def test_a_listener_may_stop_training(tmp_path: Path) -> None:
    counting = Counting()

    class Listener(CheckpointSaverListener):
        def after_save(self, session: Any, global_step_value: int) -> bool:
            return global_step_value >= 4

    hook = CheckpointSaverHook(str(tmp_path), save_steps=2, saver=counting.saver, listeners=[Listener()])
    with building(counting.graph), MonitoredSession(creator(counting), [hook]) as session:
        while not session.should_stop():
            session.run(counting.count)
    FileWriterCache.clear()
    assert list(counting.saver.checkpoints) == [f"{tmp_path}/model.ckpt-{step}" for step in (0, 2, 4)]


def test_a_hook_without_a_saver_takes_the_one_of_the_graph(tmp_path: Path) -> None:
    counting = Counting()
    with building(counting.graph):
        hook = CheckpointSaverHook(str(tmp_path), save_steps=1)
        with pytest.raises(FailedPreconditionError, match="No items in collection savers"):
            hook._get_saver()
        counting.graph.collections["savers"] = [counting.saver, counting.saver]
        with pytest.raises(FailedPreconditionError, match="More than one item in collection savers"):
            hook._get_saver()
        counting.graph.collections["savers"] = [counting.saver]
        assert hook._get_saver() is counting.saver


def test_numpy_prints_as_before(caplog: pytest.LogCaptureFixture) -> None:
    before = np.get_printoptions()
    run(Counting(), [LoggingTensorHook(["global_step"], every_n_iter=1)], 1)
    assert np.get_printoptions() == before


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("is_read_early", [False, True])
def test_summaries_and_profiles_come_every_so_many_steps(
    tmp_path: Path, use_resource: bool, is_read_early: bool
) -> None:
    """As in TensorFlow, where a hook is handed the step before it is counted; here it is one or the other."""
    with tf.Graph().as_default():
        with tf.variable_scope("", use_resource=use_resource):
            step = tf.train.get_or_create_global_step()
        if is_read_early:
            global_step_read()
        weight = tf.get_variable("w", [])
        tf.summary.scalar("weight", weight)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(weight), global_step=step)
        hooks = [
            tf.train.SummarySaverHook(save_steps=3, output_dir=str(tmp_path), summary_op=tf.summary.merge_all()),
            tf.train.ProfilerHook(save_steps=5, output_dir=str(tmp_path)),
            tf.train.StopAtStepHook(12),
        ]
        with tf.train.MonitoredSession(hooks=hooks) as session:
            while not session.should_stop():
                session.run(train)
    (events,) = tmp_path.glob("events*")
    assert [event.step for event in tf.train.summary_iterator(events) if event.summary.value] == [1, 4, 7, 10]
    assert sorted(path.name for path in tmp_path.glob("timeline*")) == ["timeline-10.json", "timeline-5.json"]
