"""Hooks of evaluations, and the step that counts them."""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any, Final

from tensorkeep.checkpoint.finding.waiting import Waiting, next_checkpoint
from tensorkeep.dtypes import INT64
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import Feeds, Fetches
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.functions.data.summaries import merge_all
from tensorkeep.tf1.training.loops.coordinator import Coordinator
from tensorkeep.tf1.training.loops.events import FileWriterCache
from tensorkeep.tf1.training.loops.hooks import SessionRunArgs, SessionRunContext, SessionRunHook, SessionRunValues
from tensorkeep.tf1.training.loops.roles import SummaryWriter, TrainingSession
from tensorkeep.tf1.variables.assignments import assign_add
from tensorkeep.tf1.variables.global_step import get_or_create_global_step, global_step
from tensorkeep.tf1.variables.initializers import Zeros
from tensorkeep.tf1.variables.scopes import get_variable

EVAL_STEP: Final = "eval_step"
_log = logging.getLogger(__name__)


def get_or_create_eval_step() -> Any:
    """The variable that counts the evaluations of a graph; it is local, so that each evaluation begins anew."""
    graph = current_graph()
    found = get_collection(graph, GraphKeys.EVAL_STEP)
    if len(found) > 1:
        raise InvalidArgumentError("Multiple tensors added to tf.GraphKeys.EVAL_STEP")
    if found:
        return found[0]
    return get_variable(
        EVAL_STEP,
        shape=[],
        dtype=INT64,
        initializer=Zeros(),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.EVAL_STEP],
    )


class StopAfterNEvalsHook(SessionRunHook):
    """Stops after so many evaluations; None: never."""

    def __init__(self, num_evals: int | None, log_progress: bool = True) -> None:
        self._num_evals = num_evals
        self._log_progress = log_progress
        self._evals_completed: Any = None
        every = 1 if num_evals is None or num_evals < 20 else math.floor(num_evals / 10.0)
        self._log_frequency = every

    def _set_evals_completed_tensor(self, updated_eval_step: Any) -> None:
        self._evals_completed = updated_eval_step

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs({"evals_completed": self._evals_completed})

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        done = run_values.results["evals_completed"]
        if self._log_progress:
            if self._num_evals is None:
                _log.info("Evaluation [%d]", done)
            elif done % self._log_frequency == 0 or self._num_evals == done:
                _log.info("Evaluation [%d/%d]", done, self._num_evals)
        if self._num_evals is not None and done >= self._num_evals:
            run_context.request_stop()


class SummaryAtEndHook(SessionRunHook):
    """Writes summaries when an evaluation has ended."""

    def __init__(
        self,
        log_dir: PathLike | None = None,
        summary_writer: SummaryWriter | None = None,
        summary_op: Fetches | None = None,
        feed_dict: Feeds | None = None,
    ) -> None:
        if log_dir is None and summary_writer is None:
            raise InvalidArgumentError("One of log_dir or summary_writer should be used.")
        self._summary_op = summary_op
        self._replace_summary_op = summary_op is None
        self._feed_dict = feed_dict
        self._summary_writer: Any = summary_writer
        self._log_dir = log_dir

    def begin(self) -> None:
        if self._replace_summary_op:
            self._summary_op = merge_all()
        self._global_step = get_or_create_global_step()

    def after_create_session(self, session: TrainingSession, coord: Coordinator) -> None:
        if self._summary_writer is None and self._log_dir:
            self._summary_writer = FileWriterCache.get(self._log_dir)

    def end(self, session: TrainingSession) -> None:
        if self._summary_op is not None:
            step = global_step(session, self._global_step)
            found = session.run(self._summary_op, self._feed_dict)
            if self._summary_writer:
                self._summary_writer.add_summary(found, step)
        if self._summary_writer:
            self._summary_writer.flush()


def counted_ops(eval_ops: Fetches, hooks: Sequence[SessionRunHook]) -> Fetches:
    """The operations of an evaluation, and one that counts it, which hooks are told of."""
    step = assign_add(get_or_create_eval_step(), 1)
    for hook in hooks:
        if isinstance(hook, StopAfterNEvalsHook):
            hook._set_evals_completed_tensor(step)
    if isinstance(eval_ops, dict):
        return {**eval_ops, "update_eval_step": step}
    return [*eval_ops, step] if isinstance(eval_ops, list | tuple) else [eval_ops, step]


def wait_for_new_checkpoint(
    checkpoint_dir: PathLike,
    last_checkpoint: str | None = None,
    seconds_to_sleep: float = 1,
    timeout: float | None = None,
) -> str | None:
    """The latest checkpoint of a folder once it is another than the last one; None if that takes too long."""
    return next_checkpoint(checkpoint_dir, last_checkpoint, Waiting(timeout=timeout, period=seconds_to_sleep))
