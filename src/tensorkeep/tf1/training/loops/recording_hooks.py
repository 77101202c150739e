"""Hooks that write files while a model is trained: checkpoints, summaries, the speed of training."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.arguments import Fetches
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.messages.files import write_graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.metagraph.exporting import create_meta_graph_def
from tensorkeep.proto.messages import SessionLog, Summary
from tensorkeep.tf1.training.loops.coordinator import Coordinator
from tensorkeep.tf1.training.loops.events import FileWriterCache
from tensorkeep.tf1.training.loops.hooks import (
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    is_due,
    required_step,
)
from tensorkeep.tf1.training.loops.roles import GraphSaver, SummaryWriter, TrainingSession
from tensorkeep.tf1.training.loops.scaffold import Scaffold
from tensorkeep.tf1.variables.global_step import get_global_step

LOG: Final = logging.getLogger("tensorkeep")

_STALLED_WARNINGS: Final = 5


class CheckpointSaverListener:
    """Is told of each checkpoint that a hook saves. Does nothing then."""

    def begin(self) -> None:
        """Called once, while operations can still be added to the graph."""

    def before_save(self, session: TrainingSession, global_step_value: int) -> None:
        """Called before a checkpoint is saved."""

    def after_save(self, session: TrainingSession, global_step_value: int) -> bool | None:
        """Called after a checkpoint was saved. True stops training."""

    def end(self, session: TrainingSession, global_step_value: int) -> None:
        """Called at the end, after the last checkpoint was saved."""


Metrics: TypeAlias = Mapping[str, Fetches] | Callable[[TrainingSession, int], Mapping[str, float]]
"""Tensors of one number by name; or a function that is given the session and the step, and returns the numbers."""


def _measure_metrics(metrics: Metrics, session: TrainingSession, step: int) -> Mapping[str, float]:
    """The metrics of the values that are saved now: tensors by a run of their own, which feeds nothing."""
    if callable(metrics):
        return metrics(session, step)
    try:
        values: Mapping[str, float] = session.run(dict(metrics))
    except InvalidArgumentError as error:
        raise InvalidArgumentError(
            f"cannot work out the metrics {', '.join(metrics)} of a checkpoint: {error}. They are worked out when it "
            "is saved, and nothing is fed; give a function of the session and the step that feeds them, or tensors "
            "that need nothing"
        ) from error
    return values


class CheckpointSaverHook(SessionRunHook):
    """Saves a checkpoint at the beginning, every so many steps or seconds, and at the end.

    `metrics` are worked out at each save and handed to the saver, whose policy may choose by them.
    """

    timer_type: Callable[..., SecondOrStepTimer] = SecondOrStepTimer

    def __init__(
        self,
        checkpoint_dir: PathLike,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: GraphSaver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
        save_graph_def: bool = True,
        *,
        incremental_save_secs: float | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        LOG.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise InvalidArgumentError("You cannot provide both saver and scaffold.")
        self._saver = saver
        self._checkpoint_dir = path_text(checkpoint_dir)
        self._save_path = posixpath.join(self._checkpoint_dir, checkpoint_basename)
        self._scaffold = scaffold
        self._timer = self.timer_type(every_secs=save_secs, every_steps=save_steps)
        self._incremental = self.timer_type(every_secs=incremental_save_secs) if incremental_save_secs else None
        self._listeners: list[CheckpointSaverListener] = list(listeners or ())
        self._steps_per_run = 1000000
        self._save_graph_def = save_graph_def
        self._metrics = metrics

    def add_listener(self, listener: CheckpointSaverListener) -> None:
        """Lets one more be told of saves, once."""
        if listener not in self._listeners:
            self._listeners.append(listener)

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        self._summary_writer = FileWriterCache.get(self._checkpoint_dir)
        self._global_step_tensor = required_step("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: TrainingSession, coord: Coordinator) -> None:
        step = session.run(self._global_step_tensor)
        graph = current_graph()
        graph_def = export_graph(graph, True)
        if self._save_graph_def:
            write_graph(graph_def, self._checkpoint_dir, "graph.pbtxt")
        saver_def = self._get_saver().saver_def
        self._summary_writer.add_graph(graph)
        self._summary_writer.add_meta_graph(create_meta_graph_def(graph, graph_def=graph_def, saver_def=saver_def))
        self._save(session, step)
        self._timer.update_last_triggered_step(step)
        if self._incremental is not None:
            self._incremental.update_last_triggered_step(step)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        # The step was read during the run, before or after it was counted.
        if self._timer.should_trigger_for_step(run_values.results + self._steps_per_run):
            step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(step):
                self._timer.update_last_triggered_step(step)
                if self._save(run_context.session, step):
                    run_context.request_stop()
                return  # a full checkpoint has all that an incremental one would
        if self._incremental is not None:
            self._save_incrementally(self._incremental, run_context.session, run_values.results)

    def _save_incrementally(self, timer: SecondOrStepTimer, session: TrainingSession, about: int) -> None:
        """Saves what changed since the last full checkpoint, if it is time to."""
        if timer.should_trigger_for_step(about + self._steps_per_run):
            step = session.run(self._global_step_tensor)
            if timer.should_trigger_for_step(step):
                timer.update_last_triggered_step(step)
                LOG.info("Saving what changed until %d beside %s.", step, self._save_path)
                self._get_saver().incremental_save(session, self._save_path, global_step=step)

    def end(self, session: TrainingSession) -> None:
        last_step = session.run(self._global_step_tensor)
        if last_step != self._timer.last_triggered_step():
            self._save(session, last_step)
        for listener in self._listeners:
            listener.end(session, last_step)

    def _save(self, session: TrainingSession, step: int) -> bool:
        """Saves a checkpoint; says whether one of the listeners wants training to stop."""
        LOG.info("Calling checkpoint listeners before saving checkpoint %d...", step)
        for listener in self._listeners:
            listener.before_save(session, step)
        LOG.info("Saving checkpoints for %d into %s.", step, self._save_path)
        measured = {} if self._metrics is None else {"metrics": _measure_metrics(self._metrics, session, step)}
        self._get_saver().save(
            session, self._save_path, global_step=step, write_meta_graph=self._save_graph_def, **measured
        )
        log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(log, step)
        LOG.info("Calling checkpoint listeners after saving checkpoint %d...", step)
        stopping = [listener for listener in self._listeners if listener.after_save(session, step)]
        for listener in stopping:
            LOG.info("A CheckpointSaverListener requested that training be stopped. listener: %s", listener)
        return bool(stopping)

    def _get_saver(self) -> GraphSaver:
        if self._saver is None and self._scaffold is not None:
            assert self._scaffold.saver is not None  # a monitored session has finalized the scaffold
            return self._scaffold.saver
        if self._saver is None:
            savers = get_collection(current_graph(), GraphKeys.SAVERS)
            if not savers:
                raise FailedPreconditionError(
                    f"No items in collection {GraphKeys.SAVERS}. Please add a saver to the collection or provide a "
                    "saver or scaffold."
                )
            if len(savers) > 1:
                raise FailedPreconditionError(
                    f"More than one item in collection {GraphKeys.SAVERS}. Please indicate which one to use by "
                    "passing it to the constructor."
                )
            self._saver = savers[0]
        return self._saver


class StepCounterHook(SessionRunHook):
    """Reports how many steps are done per second."""

    timer_type: Callable[..., SecondOrStepTimer] = SecondOrStepTimer

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: PathLike | None = None,
        summary_writer: SummaryWriter | None = None,
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise InvalidArgumentError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = self.timer_type(every_steps=every_n_steps, every_secs=every_n_secs)
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._last_global_step: int | None = None
        self._stalled = 0
        self._steps_per_run = 1

    def _set_steps_per_run(self, steps_per_run: int) -> None:
        self._steps_per_run = steps_per_run

    def begin(self) -> None:
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._global_step_tensor = required_step("StepCounterHook")
        step = get_global_step()
        assert step is not None  # `required_step` has refused a graph without one
        self._summary_tag = f"{step.op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        read = run_values.results
        if self._timer.should_trigger_for_step(read + self._steps_per_run):
            step = run_context.session.run(self._global_step_tensor)
            if self._timer.should_trigger_for_step(step):
                seconds, steps = self._timer.update_last_triggered_step(step)
                if seconds is not None and steps is not None:
                    self._log_and_record(steps, seconds, step)
        if read == self._last_global_step and self._stalled < _STALLED_WARNINGS:
            self._stalled += 1
            LOG.warning(
                "It seems that global step (tf.train.get_global_step) has not been increased. Current value (could be "
                "stable): %s vs previous value: %s. You could increase the global step by passing "
                "tf.train.get_global_step() to Optimizer.apply_gradients or Optimizer.minimize.",
                read,
                self._last_global_step,
            )
        self._last_global_step = read

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        per_second = elapsed_steps / elapsed_time if elapsed_time > 0 else float("inf")
        if self._summary_writer is not None:
            value = Summary.Value(tag=self._summary_tag, simple_value=per_second)
            self._summary_writer.add_summary(Summary(value=[value]), global_step)
        LOG.info("%s: %g", self._summary_tag, per_second)


class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds."""

    timer_type: Callable[..., SecondOrStepTimer] = SecondOrStepTimer

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: PathLike | None = None,
        summary_writer: SummaryWriter | None = None,
        scaffold: Scaffold | None = None,
        summary_op: Fetches = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise InvalidArgumentError("Exactly one of scaffold or summary_op must be provided.")
        self._summary_op = summary_op
        self._summary_writer = summary_writer
        self._output_dir = output_dir
        self._scaffold = scaffold
        self._timer = self.timer_type(every_secs=save_secs, every_steps=save_steps)

    def begin(self) -> None:
        if self._summary_writer is None and self._output_dir:
            self._summary_writer = FileWriterCache.get(self._output_dir)
        self._next_step: int | None = None
        self._global_step_tensor = required_step("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        self._is_requested = self._next_step is None or is_due(
            self._timer, self._next_step, run_context.session, self._global_step_tensor
        )
        requests: dict[str, Any] = {"global_step": self._global_step_tensor}
        summaries = self._get_summary_op() if self._is_requested else None
        if summaries is not None:
            requests["summary"] = summaries
        return SessionRunArgs(requests)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not self._summary_writer:
            return
        step = run_values.results["global_step"] + 1
        if self._is_requested:
            step = run_context.session.run(self._global_step_tensor)
        if self._next_step is None:
            self._summary_writer.add_session_log(SessionLog(status=SessionLog.START), step)
        if self._is_requested:
            self._timer.update_last_triggered_step(step)
            for summary in run_values.results.get("summary", ()):
                self._summary_writer.add_summary(summary, step)
        self._next_step = step + 1

    def end(self, session: TrainingSession | None = None) -> None:
        if self._summary_writer:
            self._summary_writer.flush()

    def _get_summary_op(self) -> Sequence[Fetches] | None:
        found = self._scaffold.summary_op if self._scaffold is not None else self._summary_op
        return found if found is None or isinstance(found, list) else [found]
