"""Hooks that end training early: when a metric of the evaluations has got far enough, or does not get better any more.

What evaluations found is read from the event files that they left, so training and evaluation can be two processes.
"""

from __future__ import annotations

import logging
import operator
import posixpath
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from tensorkeep.dtypes import BOOL
from tensorkeep.errors import DataLossError, InvalidArgumentError, NotFoundError, WrongTypeError
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.io.files import gfile
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.proto.messages import Event
from tensorkeep.tf1.estimators.estimator import Estimator
from tensorkeep.tf1.training.loops.events import summary_iterator
from tensorkeep.tf1.training.loops.hooks import (
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    required_step,
)
from tensorkeep.tf1.variables.assignments import assign
from tensorkeep.tf1.variables.initializers import Constant
from tensorkeep.tf1.variables.modes import AUTO_REUSE
from tensorkeep.tf1.variables.scopes import get_variable, variable_scope

LOG: Final = logging.getLogger("tensorkeep")

Metrics = Mapping[int, Mapping[str, float]]
"""By step, what an evaluation found."""


def make_early_stopping_hook(
    estimator: Estimator,
    should_stop_fn: Callable[[], bool],
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """A hook that asks a function every so often whether to stop; where this is not the chief, one that is told."""
    if not isinstance(estimator, Estimator):
        raise WrongTypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
    if run_every_secs is not None and run_every_steps is not None:
        raise InvalidArgumentError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if not callable(should_stop_fn):
        raise WrongTypeError("`should_stop_fn` must be callable.")
    if not estimator.config.is_chief:
        return _StopIfTold()
    return _StopIfAsked(should_stop_fn, SecondOrStepTimer(run_every_secs, run_every_steps))


def stop_if_higher_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: PathLike | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Stops once a metric has been above the threshold."""
    return make_early_stopping_hook(
        estimator,
        lambda: _is_across(_read_metric(estimator, eval_dir, metric_name, min_steps), threshold, operator.gt),
        run_every_secs,
        run_every_steps,
    )


def stop_if_lower_hook(
    estimator: Estimator,
    metric_name: str,
    threshold: float,
    eval_dir: PathLike | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Stops once a metric has been below the threshold."""
    return make_early_stopping_hook(
        estimator,
        lambda: _is_across(_read_metric(estimator, eval_dir, metric_name, min_steps), threshold, operator.lt),
        run_every_secs,
        run_every_steps,
    )


def stop_if_no_increase_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_increase: int,
    eval_dir: PathLike | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Stops once a metric has not risen above its best for so many steps."""
    return make_early_stopping_hook(
        estimator,
        lambda: _is_stuck(
            _read_metric(estimator, eval_dir, metric_name, min_steps), max_steps_without_increase, operator.gt
        ),
        run_every_secs,
        run_every_steps,
    )


def stop_if_no_decrease_hook(
    estimator: Estimator,
    metric_name: str,
    max_steps_without_decrease: int,
    eval_dir: PathLike | None = None,
    min_steps: int = 0,
    run_every_secs: float | None = 60,
    run_every_steps: int | None = None,
) -> SessionRunHook:
    """Stops once a metric has not fallen below its best for so many steps."""
    return make_early_stopping_hook(
        estimator,
        lambda: _is_stuck(
            _read_metric(estimator, eval_dir, metric_name, min_steps), max_steps_without_decrease, operator.lt
        ),
        run_every_secs,
        run_every_steps,
    )


def read_eval_metrics(eval_dir: PathLike) -> Metrics:
    """By step in order, the numbers that the event files of a folder have."""
    found: dict[int, dict[str, float]] = {}
    for event in _events(eval_dir):
        numbers = {value.tag: value.simple_value for value in event.summary.value if value.HasField("simple_value")}
        if numbers:
            found.setdefault(event.step, {}).update(numbers)
    return dict(sorted(found.items()))


def _events(folder: PathLike) -> Iterator[Event]:
    for path in gfile.glob(posixpath.join(path_text(folder), "events.out.tfevents.*")):
        try:
            yield from summary_iterator(path)
        except DataLossError as error:  # it may be being written
            LOG.warning("the rest of %s is left out: %s", path, error)


def _read_metric(estimator: Estimator, folder: PathLike | None, metric: str, min_steps: int) -> list[tuple[int, float]]:
    """A metric by step, from a step on."""
    where = estimator.eval_dir() if folder is None else path_text(folder)
    found = []
    for step, numbers in read_eval_metrics(where).items():
        if step < min_steps:
            continue
        if metric not in numbers:
            raise NotFoundError(
                f'the evaluation at step {step} in "{where}" has no metric "{metric}", but '
                f"{', '.join(sorted(numbers))}: name one of these, or the folder that has it by eval_dir"
            )
        found.append((step, numbers[metric]))
    return found


def _is_across(seen: list[tuple[int, float]], threshold: float, is_better: Callable[[Any, Any], bool]) -> bool:
    crossing = next(((step, value) for step, value in seen if is_better(value, threshold)), None)
    if crossing is not None:
        LOG.info("At step %s the metric is %s, beyond the threshold of %s: training stops", *crossing, threshold)
    return crossing is not None


def _is_stuck(seen: list[tuple[int, float]], patience: int, is_better: Callable[[Any, Any], bool]) -> bool:
    best: tuple[int, float] | None = None
    for step, value in seen:
        if best is None or is_better(value, best[1]):
            best = step, value
        if step - best[0] >= patience:
            LOG.info("The metric is no better since step %s than %s: training stops at %s", *best, step)
            return True
    return False


def _stop_variable() -> Any:
    """The variable by which the chief tells others; it is in the checkpoints, as TensorFlow's is."""
    with variable_scope("signal_early_stopping", reuse=AUTO_REUSE):
        return get_variable(
            "STOP", [], BOOL, Constant(False), collections=[GraphKeys.GLOBAL_VARIABLES], trainable=False
        )


class _StopIfAsked(SessionRunHook):
    """Asks every so often, and tells the others."""

    def __init__(self, should_stop: Callable[[], bool], timer: SecondOrStepTimer) -> None:
        self._should_stop, self._timer = should_stop, timer

    def begin(self) -> None:
        self._step = required_step("make_early_stopping_hook")
        self._tell = assign(_stop_variable(), True)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        step = run_values.results
        if not self._timer.should_trigger_for_step(step):
            return
        self._timer.update_last_triggered_step(step)
        if self._should_stop():
            LOG.info("Requesting early stopping at global step %d", step)
            run_context.session.run(self._tell)
            run_context.request_stop()


class _StopIfTold(SessionRunHook):
    """Stops when the chief says so."""

    def begin(self) -> None:
        self._told = _stop_variable()

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._told)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if run_values.results:
            LOG.info("Early stopping requested, suspending run.")
            run_context.request_stop()
