"""`tf.contrib.learn.monitors`: what looks on while an estimator is fitted, as it was before hooks.

A monitor is told of each step, says which tensors it wants of it, and may end training by returning True:

    begin   (step_begin -> tensors   step_end(values) -> stop?   post_step)*   end

Monitors of an estimator are one hook. Their steps are counted from 1 in a new model.
"""

from __future__ import annotations

import logging
import posixpath
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import deepcopy
from inspect import signature
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

import numpy as np

from tensorkeep.checkpoint.finding.latest import latest_checkpoint
from tensorkeep.dtypes import RESOURCE, VARIANT
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import Fetches, TensorLike
from tensorkeep.graph.building import building, current_graph
from tensorkeep.graph.collections import GraphKeys, get_collection
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.proto.messages import SessionLog, Summary
from tensorkeep.tf1.training.loops.events import FileWriterCache
from tensorkeep.tf1.training.loops.hooks import (
    NanLossDuringTrainingError,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    graph_element,
)
from tensorkeep.tf1.training.loops.roles import GraphSaver, SummaryWriter, TrainingSession
from tensorkeep.tf1.training.loops.scaffold import Scaffold
from tensorkeep.tf1.variables.global_step import get_global_step

if TYPE_CHECKING:
    from tensorkeep.tf1.contrib.learn import estimators as contrib
    from tensorkeep.tf1.estimators.estimator import Estimator

EitherEstimator: TypeAlias = "contrib.Estimator | Estimator"
"""An estimator of tf.contrib.learn, or of tf.estimator."""

LOG: Final = logging.getLogger("tensorkeep")


class BaseMonitor:
    """A monitor that does nothing: override what is to be done, and call what was overridden."""

    def __init__(self) -> None:
        self._begun = False
        self._current_epoch: int | None = None
        self._current_step: int | None = None
        self._max_steps: int | None = None
        self._estimator: Any = None

    @property
    def run_on_all_workers(self) -> bool:
        return False

    def set_estimator(self, estimator: EitherEstimator) -> None:
        """Tells the monitor whose training it looks at."""
        if estimator is None:
            raise InvalidArgumentError("Missing estimator.")
        self._estimator = estimator

    def begin(self, max_steps: int | None = None) -> None:
        """Training begins; the graph is there and can still be changed."""
        if self._begun:
            raise FailedPreconditionError("begin called twice without end.")
        self._max_steps = max_steps
        self._begun = True

    def end(self, session: TrainingSession | None = None) -> None:
        """Training has ended; the session can still run."""
        if not self._begun:
            raise FailedPreconditionError("end called without begin.")
        self._max_steps = None
        self._begun = False

    def epoch_begin(self, epoch: int) -> None:
        if self._current_epoch is not None:
            raise FailedPreconditionError("epoch_begin called twice without epoch_end.")
        if epoch < 0:
            raise InvalidArgumentError(f"Invalid epoch {epoch}.")
        self._current_epoch = epoch

    def epoch_end(self, epoch: int) -> None:
        if self._current_epoch != epoch:
            raise FailedPreconditionError(f"epoch_end expected {self._current_epoch} but got {epoch}.")
        self._current_epoch = None

    def step_begin(self, step: int) -> list[Any]:
        """Which tensors, or names of tensors, are wanted of a step."""
        if step < 0 or (self._max_steps is not None and step > self._max_steps):
            raise InvalidArgumentError(f"Invalid step {step}.")
        self._current_step = step
        return []

    def step_end(self, step: int, output: Mapping[Any, Any]) -> bool | None:
        """The values of what was wanted of a step. Training ends if it returns True."""
        if self._current_step != step:
            raise FailedPreconditionError(f"step_end expected {self._current_step} but got {step}.")
        self._current_step = None
        return False

    def post_step(self, step: int, session: TrainingSession | None) -> None:
        """A step has been done; the session can run something else."""


def _value_of(outputs: Mapping[Any, Any], request: Any) -> Any:
    return outputs[request] if request in outputs else outputs[request.name]


class EveryN(BaseMonitor):
    """A monitor of the first steps, of every so many steps, and after the last one."""

    def __init__(self, every_n_steps: int = 100, first_n_steps: int = 1) -> None:
        super().__init__()
        self._every_n_steps, self._first_n_steps = every_n_steps, first_n_steps
        self._last_successful_step: int | None = None
        self._last_active_step = 0
        self._every_n_step_begin_called = False

    def every_n_step_begin(self, step: int) -> list[Any]:
        """Which tensors are wanted of such a step."""
        return []

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool | None:
        """The values of what was wanted. Training ends if it returns True."""
        return False

    def every_n_post_step(self, step: int | None, session: TrainingSession | None) -> None:
        """Such a step has been done, or the last one."""

    def step_begin(self, step: int) -> list[Any]:
        super().step_begin(step)
        self._every_n_step_begin_called = (
            step <= self._first_n_steps
            or step >= self._every_n_steps + self._last_active_step
            or step == self._max_steps
        )
        return self.every_n_step_begin(step) if self._every_n_step_begin_called else []

    def step_end(self, step: int, output: Mapping[Any, Any]) -> bool | None:
        super().step_end(step, output)
        return self.every_n_step_end(step, output) if self._every_n_step_begin_called else False

    def post_step(self, step: int, session: TrainingSession | None) -> None:
        super().post_step(step, session)
        if self._every_n_step_begin_called:
            self.every_n_post_step(step, session)
            self._last_active_step = step
        self._last_successful_step = step

    def end(self, session: TrainingSession | None = None) -> None:
        super().end(session=session)
        if self._last_successful_step != self._last_active_step:
            self.every_n_post_step(self._last_successful_step, session)


class StopAtStep(BaseMonitor):
    """Ends training after so many steps, or after a step."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        super().__init__()
        if num_steps is None and last_step is None:
            raise InvalidArgumentError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise InvalidArgumentError("Only one of num_steps or last_step can be specified.")
        self._num_steps, self._last_step = num_steps, last_step

    @property
    def run_on_all_workers(self) -> bool:
        return True

    def step_begin(self, step: int) -> list[Any]:
        super().step_begin(step)
        if self._last_step is None:
            assert self._num_steps is not None  # one of the two is there
            self._last_step = step + self._num_steps - 1
        return []

    def step_end(self, step: int, output: Mapping[Any, Any]) -> bool:
        super().step_end(step, output)
        assert self._last_step is not None  # the step has begun
        return step >= self._last_step


# ---------------------------------------------------------------------------------------------------- Values


class PrintTensor(EveryN):
    """Logs the values of tensors: of names, of a dictionary with what to call them, or of tensors."""

    def __init__(self, tensor_names: Mapping[Any, Any] | Iterable[Any], every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        names = tensor_names if isinstance(tensor_names, Mapping) else {item: item for item in tensor_names}
        self._tensor_names = dict(names)

    def every_n_step_begin(self, step: int) -> list[Any]:
        super().every_n_step_begin(step)
        return list(self._tensor_names.values())

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> None:
        super().every_n_step_end(step, outputs)
        LOG.info("Step %d: %s", step, _listed_values(self._tensor_names, outputs))


class LoggingTrainable(EveryN):
    """Logs the values of the variables that are trained, of all or of those in a scope."""

    def __init__(self, scope: str | None = None, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._scope = scope

    def every_n_step_begin(self, step: int) -> list[Any]:
        super().every_n_step_begin(step)
        trained = get_collection(current_graph(), GraphKeys.TRAINABLE_VARIABLES, self._scope)
        self._variables = {variable.name: variable for variable in trained}
        return list(self._variables.values())

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> None:
        super().every_n_step_end(step, outputs)
        LOG.info("Logging Trainable: Step %d: %s", step, _listed_values(self._variables, outputs))


def _listed_values(names: Mapping[Any, Any], outputs: Mapping[Any, Any]) -> str:
    return ", ".join(f"{tag} = {_value_of(outputs, item)}" for tag, item in names.items())


class CaptureVariable(EveryN):
    """Keeps the values that a tensor has had."""

    def __init__(self, var_name: str, every_n: int = 100, first_n: int = 1) -> None:
        super().__init__(every_n, first_n)
        self._var_name = var_name
        self._var_values: dict[int, Any] = {}

    @property
    def values(self) -> dict[int, Any]:
        """The values by the steps in which they were seen."""
        return self._var_values

    def every_n_step_begin(self, step: int) -> list[Any]:
        super().every_n_step_begin(step)
        return [self._var_name]

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> None:
        super().every_n_step_end(step, outputs)
        self._var_values[step] = _value_of(outputs, self._var_name)


class GraphDump(BaseMonitor):
    """Keeps almost all tensors of all steps, by their names: for small models, and for comparing two."""

    IGNORE_OPS: ClassVar[list[str]] = [
        "Const", "Assign", "Identity", "Placeholder", "RandomUniform", "Cast", "RestoreSlice",
    ]  # fmt: skip

    def __init__(self, ignore_ops: Sequence[str] | None = None) -> None:
        super().__init__()
        self._ignore_ops = ignore_ops or GraphDump.IGNORE_OPS
        self._data: dict[int, Mapping[Any, Any]] = {}

    @property
    def data(self) -> dict[int, Mapping[Any, Any]]:
        """The values of the tensors of each step, by name."""
        return self._data

    def begin(self, max_steps: int | None = None) -> None:
        super().begin(max_steps=max_steps)
        graph = current_graph()
        self._names = [
            op.outputs[0].name
            for op in graph.operations
            if op.outputs
            and op.type not in self._ignore_ops
            and op not in graph.unfetchable
            and op.outputs[0].dtype.base_dtype not in (RESOURCE, VARIANT)
        ]

    def step_begin(self, step: int) -> list[Any]:
        super().step_begin(step)
        return self._names

    def step_end(self, step: int, output: Mapping[Any, Any]) -> None:
        super().step_end(step, output)
        self._data[step] = output

    def compare(self, other_dump: GraphDump, step: int, atol: float = 1e-06) -> tuple[list[str], dict[str, Any]]:
        """The names of tensors that were alike in a step, and those that were not: with differences, or both values."""
        matched: list[str] = []
        others: dict[str, Any] = {}
        theirs = other_dump.data.get(step, {})
        for name, value in self.data.get(step, {}).items():
            if name not in theirs:
                raise InvalidArgumentError(f"{name} missing at step {step}.")
            ours, other = np.asarray(value), np.asarray(theirs[name])
            if ours.dtype.kind in "OSU":
                continue
            if ours.shape == other.shape and np.allclose(ours, other, atol=atol):
                matched.append(name)
            else:
                others[name] = value - theirs[name] if ours.shape == other.shape else (value, theirs[name])
        return matched, others


class NanLoss(EveryN):
    """Ends training when the loss is not a number, by an error or without one."""

    def __init__(self, loss_tensor: Tensor | str, every_n_steps: int = 100, fail_on_nan_loss: bool = True) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._loss_tensor, self._fail_on_nan_loss = loss_tensor, fail_on_nan_loss

    def every_n_step_begin(self, step: int) -> list[Any]:
        super().every_n_step_begin(step)
        return [self._loss_tensor]

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool:
        super().every_n_step_end(step, outputs)
        if not np.isnan(_value_of(outputs, self._loss_tensor)).any():
            return False
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            LOG.error(message)
            raise NanLossDuringTrainingError
        LOG.warning(message)
        return True


# ---------------------------------------------------------------------------------------------------- Files


class _Writing(EveryN):
    """What writes reports: to a writer, to a folder, or to that of the estimator."""

    def __init__(
        self, every_n_steps: int, output_dir: PathLike | None = None, summary_writer: SummaryWriter | None = None
    ) -> None:
        super().__init__(every_n_steps=every_n_steps)
        self._summary_writer: SummaryWriter | None = summary_writer
        if summary_writer is None and output_dir:
            self._summary_writer = FileWriterCache.get(output_dir)

    def set_estimator(self, estimator: EitherEstimator) -> None:
        super().set_estimator(estimator)
        if self._summary_writer is None:
            self._summary_writer = FileWriterCache.get(estimator.model_dir)


class SummarySaver(_Writing):
    """Writes a summary every so many steps."""

    def __init__(
        self,
        summary_op: Fetches,
        save_steps: int = 100,
        output_dir: PathLike | None = None,
        summary_writer: SummaryWriter | None = None,
        scaffold: Scaffold | None = None,
    ) -> None:
        super().__init__(save_steps, output_dir, summary_writer)
        self._summary_op, self._scaffold = summary_op, scaffold

    def every_n_step_begin(self, step: int) -> list[Any]:
        super().every_n_step_begin(step)
        if self._summary_op is None and self._scaffold is not None:
            self._summary_op = self._scaffold.summary_op
        return [] if self._summary_op is None else [self._summary_op]

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool:
        super().every_n_step_end(step, outputs)
        if self._summary_op is not None and self._summary_writer is not None:
            self._summary_writer.add_summary(_value_of(outputs, self._summary_op), step)
        return False

    def end(self, session: TrainingSession | None = None) -> None:
        super().end(session=session)
        if self._summary_writer is not None:
            self._summary_writer.flush()


class StepCounter(_Writing):
    """Writes how many steps are done per second."""

    def __init__(
        self,
        every_n_steps: int = 100,
        output_dir: PathLike | None = None,
        summary_writer: SummaryWriter | None = None,
    ) -> None:
        super().__init__(every_n_steps, output_dir, summary_writer)
        self._last_reported: tuple[int, float] | None = None

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> None:
        super().every_n_step_end(step, outputs)
        now = time.time()
        if self._last_reported is not None and self._summary_writer is not None:
            steps, seconds = step - self._last_reported[0], now - self._last_reported[1]
            rate = steps / seconds if seconds > 0 else float("inf")
            value = Summary.Value(tag="global_step/sec", simple_value=rate)
            self._summary_writer.add_summary(Summary(value=[value]), step)
        self._last_reported = (step, now)


class CheckpointSaver(BaseMonitor):
    """Saves a checkpoint after the first step, every so many steps or seconds, and at the end."""

    def __init__(
        self,
        checkpoint_dir: PathLike,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: GraphSaver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
    ) -> None:
        super().__init__()
        if (save_steps is None) == (save_secs is None):
            raise InvalidArgumentError("exactly one of save_steps and save_secs should be provided")
        self._saver, self._scaffold = saver, scaffold
        self._summary_writer = FileWriterCache.get(checkpoint_dir)
        self._save_path = posixpath.join(path_text(checkpoint_dir), checkpoint_basename)
        self._save_secs, self._save_steps = save_secs, save_steps
        self._last_begin_step: int | None = None
        self._last_saved: tuple[int, float] | None = None

    def begin(self, max_steps: int | None = None) -> None:
        super().begin(max_steps)
        self._last_begin_step = self._last_saved = None

    def step_begin(self, step: int) -> list[Any]:
        self._last_begin_step = step
        return super().step_begin(step)

    def post_step(self, step: int, session: TrainingSession | None) -> None:
        super().post_step(step, session)
        if self._last_saved is None:
            self._save(step, session)
            return
        saved_step, saved_time = self._last_saved
        is_due = (
            step >= saved_step + self._save_steps
            if self._save_steps is not None
            else time.time() >= saved_time + (self._save_secs or 0)
        )
        if is_due:
            self._save(step, session)

    def end(self, session: TrainingSession | None = None) -> None:
        super().end(session)
        if self._last_begin_step is not None:
            self._save(self._last_begin_step, session)

    def _save(self, step: int, session: TrainingSession | None) -> None:
        if self._last_saved is not None and self._last_saved[0] == step:
            return
        saver = self._saver or (None if self._scaffold is None else self._scaffold.saver)
        if saver is None or session is None:
            raise FailedPreconditionError(
                f'CheckpointSaver cannot save "{self._save_path}": it needs a saver or a scaffold that has one, and a '
                f"session"
            )
        LOG.info("Saving checkpoints for %d into %s.", step, self._save_path)
        self._last_saved = (step, time.time())
        saver.save(session, self._save_path, global_step=step)
        log = SessionLog(status=SessionLog.CHECKPOINT, checkpoint_path=self._save_path)
        self._summary_writer.add_session_log(log, step)


# ---------------------------------------------------------------------------------------------------- Validation


class ValidationMonitor(EveryN):
    """Evaluates the estimator's latest checkpoint every so many steps, and ends training when it gets no better.

    Training ends if a metric has not been better than its best for `early_stopping_rounds` steps. It is not looked for
    a new checkpoint before `check_interval_secs` have passed.
    """

    def __init__(
        self,
        x: TensorLike | None = None,
        y: TensorLike | None = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        eval_steps: int | None = None,
        every_n_steps: int = 100,
        metrics: Mapping[str, Any] | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        early_stopping_rounds: int | None = None,
        early_stopping_metric: str = "loss",
        early_stopping_metric_minimize: bool = True,
        check_interval_secs: float | None = 60,
        name: str | None = None,
    ) -> None:
        super().__init__(every_n_steps=every_n_steps, first_n_steps=-1)
        if x is None and input_fn is None:
            raise InvalidArgumentError("Either x or input_fn should be provided.")
        self.x, self.y, self.input_fn, self.batch_size = x, y, input_fn, batch_size
        self.eval_steps, self.metrics, self.hooks, self.name = eval_steps, metrics, hooks, name
        self.early_stopping_rounds = early_stopping_rounds
        self.early_stopping_metric = early_stopping_metric
        self.early_stopping_metric_minimize = early_stopping_metric_minimize
        self.check_interval_secs = check_interval_secs
        self._best_value_step: int | None = None
        self._best_value: Any = None
        self._best_metrics: dict[str, Any] | None = None
        self._early_stopped = False
        self._latest: tuple[str, int] | None = None
        self._last_checked: float | None = None

    @property
    def early_stopped(self) -> bool:
        """Whether it has ended training."""
        return self._early_stopped

    @property
    def best_step(self) -> int | None:
        """The step in which the metric was best."""
        return self._best_value_step

    @property
    def best_value(self) -> Any:
        """What the metric was then."""
        return self._best_value

    @property
    def best_metrics(self) -> dict[str, Any] | None:
        """All metrics of then."""
        return self._best_metrics

    def every_n_step_end(self, step: int, outputs: Mapping[Any, Any]) -> bool:
        super().every_n_step_end(step, outputs)
        if self._estimator is None:
            raise FailedPreconditionError("Missing call to set_estimator.")
        if not self._has_new_checkpoint(step):
            return False
        found: dict[str, Any] = self._estimator.evaluate(
            x=self.x, y=self.y, input_fn=self.input_fn, batch_size=self.batch_size, steps=self.eval_steps,
            metrics=self.metrics, hooks=self.hooks, name=self.name,
        )  # fmt: skip
        LOG.info("Validation (step %d): %s", step, ", ".join(f"{name} = {value}" for name, value in found.items()))
        return self.early_stopping_rounds is not None and self._gets_no_better(step, found, self.early_stopping_rounds)

    def _has_new_checkpoint(self, step: int) -> bool:
        now, interval = time.time(), self.check_interval_secs
        if interval is not None and self._last_checked is not None and now - self._last_checked <= interval:
            LOG.debug("Skipping evaluation: less than %s seconds since the last look for a checkpoint.", interval)
            return False
        self._last_checked = now
        latest = latest_checkpoint(self._estimator.model_dir)
        if latest is None:
            LOG.debug("Skipping evaluation since model has not been saved yet at step %d.", step)
            return False
        if self._latest is not None and self._latest[0] == latest:
            LOG.debug("Skipping evaluation: checkpoint %s has been evaluated in step %d.", *self._latest)
            return False
        self._latest = (latest, step)
        return True

    def _gets_no_better(self, step: int, found: dict[str, Any], rounds: int) -> bool:
        metric = self.early_stopping_metric
        if metric not in found:
            raise InvalidArgumentError(f"Metric {metric} missing from outputs {sorted(found)}.")
        value, best = found[metric], self._best_value
        if best is None or (value < best if self.early_stopping_metric_minimize else value > best):
            self._best_value, self._best_value_step = value, step
            self._best_metrics = deepcopy(found)
        assert self._best_value_step is not None  # there has been a value
        if step - self._best_value_step < rounds:
            return False
        LOG.info("Stopping. Best step: %d with %s = %s.", self._best_value_step, metric, self._best_value)
        self._early_stopped = True
        return True


# ---------------------------------------------------------------------------------------------------- As hooks


class RunHookAdapterForMonitors(SessionRunHook):
    """Monitors as one hook."""

    def __init__(self, monitors: Sequence[BaseMonitor]) -> None:
        self._monitors = list(monitors)
        self._last_step: int | None = None

    def begin(self) -> None:
        self._last_step = None
        step = get_global_step()
        if step is None:
            raise FailedPreconditionError("Global step should be created to use monitors.")
        self._global_step_tensor = step
        for monitor in self._monitors:
            monitor.begin(max_steps=None)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        if self._last_step is None:
            self._last_step = self._next_step(run_context)
        wanted: dict[Any, Any] = {}
        with building(run_context.session.graph):
            for monitor in self._monitors:
                requests = monitor.step_begin(self._last_step)
                if not isinstance(requests, list | None):
                    raise WrongTypeError(
                        f"Monitor.step_begin should return a list. {type(monitor).__name__} returned {requests!r}"
                    )
                wanted.update({item: _element(item) for item in requests or ()})
        return SessionRunArgs(wanted or None)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        assert self._last_step is not None  # the run has begun
        found = run_values.results or {}
        # All are told, also after one has ended training.
        ends = [monitor.step_end(self._last_step, found) for monitor in self._monitors]
        if any(ends):
            run_context.request_stop()
        for monitor in self._monitors:
            monitor.post_step(self._last_step, run_context.session)
        self._last_step = self._next_step(run_context)

    def end(self, session: TrainingSession) -> None:
        self._last_step = None
        for monitor in self._monitors:
            if "session" in signature(monitor.end).parameters:
                monitor.end(session=session)
            else:
                monitor.end()

    def _next_step(self, run_context: SessionRunContext) -> int:
        return int(run_context.session.run(self._global_step_tensor)) + 1


def _element(item: Any) -> Any:
    return item if not isinstance(item, str | Tensor) else graph_element(item)


def replace_monitors_with_hooks(
    monitors_or_hooks: Sequence[BaseMonitor | SessionRunHook] | None, estimator: EitherEstimator
) -> list[SessionRunHook]:
    """The hooks, and one for the monitors, which are told of the estimator."""
    given = list(monitors_or_hooks or ())
    hooks = [item for item in given if isinstance(item, SessionRunHook)]
    monitors: list[Any] = [item for item in given if not isinstance(item, SessionRunHook)]
    for monitor in monitors:
        if not all(hasattr(monitor, name) for name in ("set_estimator", "step_begin", "step_end")):
            raise WrongTypeError(
                f"monitors should be monitors of tf.contrib.learn.monitors or hooks of tf.train, and one is {monitor!r}"
            )
        monitor.set_estimator(estimator)
    return [*hooks, RunHookAdapterForMonitors(monitors)] if monitors else hooks


def get_default_monitors(
    loss_op: Tensor | None = None,
    summary_op: Tensor | None = None,
    save_summary_steps: int = 100,
    output_dir: PathLike | None = None,
    summary_writer: SummaryWriter | None = None,
) -> list[BaseMonitor]:
    """A monitor that logs a loss and one that writes summaries, for what is given."""
    monitors: list[BaseMonitor] = []
    if loss_op is not None:
        monitors.append(PrintTensor(tensor_names={"loss": loss_op.name}))
    if summary_op is not None:
        monitors.append(SummarySaver(summary_op, save_summary_steps, output_dir, summary_writer))
    return monitors
