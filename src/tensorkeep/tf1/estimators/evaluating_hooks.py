"""Hooks that evaluate while a model trains, or end training by the step of checkpoints; exports by mode."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.building import building, current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.tf1.estimators.estimator import Estimator, InputFunction
from tensorkeep.tf1.estimators.evaluating import Evaluation, StopAfterHook
from tensorkeep.tf1.estimators.keys import ModeKeys
from tensorkeep.tf1.estimators.surroundings import surroundings
from tensorkeep.tf1.functions.control.grouping import group
from tensorkeep.tf1.training.loops.coordinator import Coordinator
from tensorkeep.tf1.training.loops.hooks import (
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    StopAtStepHook,
    required_step,
)
from tensorkeep.tf1.training.loops.roles import TrainingSession
from tensorkeep.tf1.variables.assignments import assign

LOG: Final = logging.getLogger("tensorkeep")


class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates the variables that are being trained: at the beginning, every so many steps, and at the end.

    The graph of the evaluation is built once; the values of variables are handed over in memory, by their names.
    """

    def __init__(
        self,
        estimator: Estimator,
        input_fn: InputFunction,
        steps: int | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        name: str | None = None,
        every_n_iter: int = 100,
    ) -> None:
        if every_n_iter is None or every_n_iter <= 0:
            raise InvalidArgumentError(f"invalid every_n_iter={every_n_iter}.")
        config = estimator.config
        if config.num_ps_replicas > 0 or config.num_worker_replicas > 1:
            raise InvalidArgumentError("InMemoryEvaluatorHook works in one process, without parameter servers")
        self._estimator, self._input_fn, self._steps = estimator, input_fn, steps
        self._hooks, self._name = list(hooks or []), name
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self) -> None:
        self._timer.reset()
        self._count = 0
        trained = {item.op.name: item for item in get_collection(current_graph(), GraphKeys.GLOBAL_VARIABLES)}
        self._graph = surroundings().graph()
        with building(self._graph):
            self._build(trained)

    def _build(self, trained: dict[str, Any]) -> None:
        estimator = self._estimator
        estimator._begin(self._graph)
        features, labels, self._input_hooks = estimator._features_and_labels(self._input_fn, ModeKeys.EVAL)
        spec = estimator._call_model_fn(features, labels, ModeKeys.EVAL, estimator.config)
        wanted = {item.op.name: item for item in get_collection(self._graph, GraphKeys.GLOBAL_VARIABLES)}
        if missing := sorted(set(wanted) - set(trained)):
            raise FailedPreconditionError(f"the evaluation has variables that are not trained: {', '.join(missing)}")
        self._trained = {name: trained[name] for name in wanted}
        self._fed = {
            name: placeholder(dtype=item.dtype.base_dtype, shape=plain_shape(item.get_shape()))
            for name, item in wanted.items()
        }
        updates = group(*(assign(item, self._fed[name]) for name, item in wanted.items()))
        self._values: dict[str, Any] = {}

        def hand_over(_: Any, session: TrainingSession) -> None:
            session.run(updates, {self._fed[name]: value for name, value in self._values.items()})

        own = surroundings().scaffold(init_fn=hand_over, copy_from_scaffold=spec.scaffold)
        self._evaluation = Evaluation(spec._replace(scaffold=own), None)
        self._spec_hooks = list(spec.evaluation_hooks)

    def after_create_session(self, session: TrainingSession, coord: Coordinator) -> None:
        if get_collection(current_graph(), GraphKeys.SAVEABLE_OBJECTS):
            raise InvalidArgumentError("InMemoryEvaluator does not support saveables other than variables")
        self._evaluate(session)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        self._count += 1
        if self._timer.should_trigger_for_step(self._count):
            self._evaluate(run_context.session)

    def end(self, session: TrainingSession) -> None:
        self._evaluate(session)

    def _evaluate(self, session: TrainingSession) -> None:
        self._values = session.run(self._trained)
        stops = [] if self._steps is None else [StopAfterHook(self._steps)]
        hooks = [*self._input_hooks, *self._hooks, *stops, *self._spec_hooks]
        estimator = self._estimator
        with building(self._graph):
            self._evaluation.run(hooks, estimator._session_config(), estimator.eval_dir(self._name))
        self._timer.update_last_triggered_step(self._count)


class _StopAtCheckpointStep(SessionRunHook):
    """Ends training when a checkpoint has a step, which another process saves."""

    sleep: Callable[[float], None] = staticmethod(time.sleep)

    def __init__(self, estimator: Estimator, last_step: int, wait_secs: float) -> None:
        self._estimator, self._last_step, self._wait_secs = estimator, last_step, wait_secs

    def begin(self) -> None:
        self._step = required_step("StopAtCheckpointStepHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if int(run_values.results) + 1 < self._last_step:
            return
        if self._estimator._saved_step() >= self._last_step:
            run_context.request_stop()
        else:
            self.sleep(self._wait_secs)


def make_stop_at_checkpoint_step_hook(
    estimator: Estimator, last_step: int, wait_after_file_check_secs: float = 30
) -> SessionRunHook:
    """A hook that ends training at a step; where this is not the chief, once a checkpoint has it."""
    if estimator.config.is_chief:
        return StopAtStepHook(last_step=last_step)
    return _StopAtCheckpointStep(estimator, last_step, wait_after_file_check_secs)


# ---------------------------------------------------------------------------------------------------- Exports


def export_saved_model_for_mode(
    estimator: Estimator,
    export_dir_base: PathLike,
    input_receiver_fn: Callable[[], Any],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: PathLike | None = None,
    strip_default_attrs: bool = False,
    mode: str = ModeKeys.PREDICT,
) -> bytes:
    """Writes a SavedModel of an estimator with the graph of one mode."""
    receivers = {mode: input_receiver_fn}
    return estimator._export(export_dir_base, receivers, assets_extra, as_text, checkpoint_path, strip_default_attrs)


def export_all_saved_models(
    estimator: Estimator,
    export_dir_base: PathLike,
    input_receiver_fn_map: Mapping[str, Callable[[], Any]],
    assets_extra: Mapping[str, str] | None = None,
    as_text: bool = False,
    checkpoint_path: PathLike | None = None,
    strip_default_attrs: bool = False,
) -> bytes:
    """Writes a SavedModel of an estimator with a graph for each mode."""
    return estimator._export(
        export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path, strip_default_attrs
    )
