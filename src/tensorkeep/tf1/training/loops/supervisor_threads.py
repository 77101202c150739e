"""What the threads of a supervisor do: summarize, count steps, save."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from tensorkeep.proto.messages import SessionLog, Summary
from tensorkeep.tf1.training.loops.coordinator import LooperThread
from tensorkeep.tf1.training.loops.roles import TrainingSession
from tensorkeep.tf1.variables.global_step import Step
from tensorkeep.tf1.variables.global_step import global_step as step_value

if TYPE_CHECKING:
    from tensorkeep.tf1.training.loops.supervisor import Supervisor

LOG: Final = logging.getLogger("tensorkeep")


class SVSummaryThread(LooperThread):
    """Writes summaries from time to time."""

    def __init__(self, sv: Supervisor, sess: TrainingSession) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        step = None
        if self._sv.global_step is None:
            summary = self._sess.run(self._sv.summary_op)
        else:
            summary, step = self._sess.run([self._sv.summary_op, self._sv.global_step])
        if self._sv.summary_writer:
            LOG.info("Recording summary at step %s.", step)
            self._sv.summary_writer.add_summary(summary, step)


class SVStepCounterThread(LooperThread):
    """Reports how many steps are done per second."""

    clock: Callable[[], float] = staticmethod(time.time)

    def __init__(self, sv: Supervisor, sess: TrainingSession, step_counter: Step | None = None) -> None:
        super().__init__(sv.coord, sv.save_summaries_secs)
        self._sv = sv
        self._sess = sess
        counter = sv.global_step if step_counter is None else step_counter
        assert counter is not None  # a supervisor without a step starts no such thread
        self._step_counter = counter
        self._summary_tag = f"{counter.op.name}/sec"
        self._last = (0.0, 0)

    def start_loop(self) -> None:
        self._last = (self.clock(), step_value(self._sess, self._step_counter))

    def run_loop(self) -> None:
        step = step_value(self._sess, self._step_counter)
        now = self.clock()
        (last_time, last_step), self._last = self._last, (now, step)
        per_second = (step - last_step) / (now - last_time) if now > last_time else float("inf")
        if self._sv.summary_writer:
            value = Summary.Value(tag=self._summary_tag, simple_value=per_second)
            self._sv.summary_writer.add_summary(Summary(value=[value]), step)
        LOG.info("%s: %g", self._summary_tag, per_second)


class SVTimerCheckpointThread(LooperThread):
    """Saves a checkpoint from time to time."""

    def __init__(self, sv: Supervisor, sess: TrainingSession) -> None:
        super().__init__(sv.coord, sv.save_model_secs)
        self._sv = sv
        self._sess = sess

    def run_loop(self) -> None:
        saver, path = self._sv.saver, self._sv.save_path
        assert saver is not None  # else no such thread is started
        assert path is not None
        LOG.info("Saving checkpoint to path %s", path)
        saver.save(self._sess, path, global_step=self._sv.global_step)
        if self._sv.summary_writer and self._sv.global_step is not None:
            step = step_value(self._sess, self._sv.global_step)
            log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=path)
            self._sv.summary_writer.add_session_log(log, step)
