"""Hooks: what is done before and after each run of a monitored session, and when training stops.

A hook that asks for tensors in `before_run` finds their values in `after_run`. One that needs operations of its own
adds them in `begin`, before the graph is finalized.

When each is called, and what it logs: TensorFlow's python/training/basic_session_run_hooks.py.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, OutOfRangeError
from tensorkeep.graph.arguments import Feeds, Fetches, TensorSource
from tensorkeep.graph.building import current_graph
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.tf1.training.loops.coordinator import Coordinator
from tensorkeep.tf1.training.loops.roles import Metadata, Options, TrainingSession
from tensorkeep.tf1.variables.global_step import global_step_read

LOG: Final = logging.getLogger("tensorkeep")


Named: TypeAlias = Tensor | Operation | TensorSource | str
"""A tensor, by itself or by name."""


class SessionRunArgs(NamedTuple):
    """What a run is to compute, and with what."""

    fetches: Fetches
    feed_dict: Feeds | None = None
    options: Options = None


class SessionRunValues(NamedTuple):
    """What a run computed of what a hook asked for."""

    results: Any
    options: Options
    run_metadata: Metadata


class SessionRunContext:
    """A run as hooks see it."""

    def __init__(self, original_args: SessionRunArgs, session: TrainingSession) -> None:
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self) -> SessionRunArgs:
        """What the program asked for, without what hooks have added."""
        return self._original_args

    @property
    def session(self) -> TrainingSession:
        return self._session

    @property
    def stop_requested(self) -> bool:
        return self._stop_requested

    def request_stop(self) -> None:
        """No run shall follow this one."""
        self._stop_requested = True


class SessionRunHook:
    """Does nothing at each of the points where a hook may do something."""

    def begin(self) -> None:
        """Called once, while operations can still be added to the graph."""

    def after_create_session(self, session: TrainingSession, coord: Coordinator) -> None:
        """Called when a session was made, which may be several times if one is lost."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Called before each run; gives what the run is to compute besides."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Called after each run that did not fail."""

    def end(self, session: TrainingSession) -> None:
        """Called once, at the end, unless an error ended it."""


def required_step(hook: str) -> Tensor:
    """The graph's global step, as a tensor that all hooks share."""
    found = global_step_read()
    if found is None:
        raise FailedPreconditionError(f"Global step should be created to use {hook}.")
    return found


# ---------------------------------------------------------------------------------------------------- Timers


class Timer(Protocol):
    """Says when the time has come."""

    def reset(self) -> None: ...

    def should_trigger_for_step(self, step: int) -> bool: ...

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]: ...

    def last_triggered_step(self) -> int | None: ...


class SecondOrStepTimer:
    """Triggers at the first step, and then after every so many steps, or seconds."""

    clock: Callable[[], float] = staticmethod(time.time)

    def __init__(self, every_secs: float | None = None, every_steps: int | None = None) -> None:
        if every_secs is None and every_steps is None:
            raise InvalidArgumentError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise InvalidArgumentError("Can not provide both every_secs and every_steps.")
        self._every_secs = every_secs
        self._every_steps = every_steps
        self._last: tuple[int, float] | None = None

    def reset(self) -> None:
        self._last = None

    def should_trigger_for_step(self, step: int) -> bool:
        """Whether the time has come. Never twice for one step."""
        if self._last is None:
            return True
        last_step, last_time = self._last
        if last_step == step:
            return False
        if self._every_secs is not None and self.clock() >= last_time + self._every_secs:
            return True
        return self._every_steps is not None and step >= last_step + self._every_steps

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        """Notes that it was done; gives how many seconds and steps have passed since the last time."""
        now = self.clock()
        before, self._last = self._last, (step, now)
        return (None, None) if before is None else (now - before[1], step - before[0])

    def last_triggered_step(self) -> int | None:
        return None if self._last is None else self._last[0]


def is_due(timer: Timer, expected: int, session: TrainingSession, step: Tensor) -> bool:
    """Whether the run that comes next is one that a timer waits for.

    `expected`: the step that it leads to, where the run before was handed its step before that was counted. It may have
    been handed the next one, as where the step is read by an operation made later than the one that counts it.
    """
    return timer.should_trigger_for_step(expected) and timer.should_trigger_for_step(int(session.run(step)) + 1)


class _Never:
    """A timer whose time does not come."""

    def reset(self) -> None: ...

    def should_trigger_for_step(self, step: int) -> bool:
        return False

    def update_last_triggered_step(self, step: int) -> tuple[float | None, int | None]:
        return None, None

    def last_triggered_step(self) -> int | None:
        return None


# ---------------------------------------------------------------------------------------------------- Hooks


class StopAtStepHook(SessionRunHook):
    """Stops after `num_steps` steps, or at the step `last_step`."""

    def __init__(self, num_steps: int | None = None, last_step: int | None = None) -> None:
        if num_steps is None and last_step is None:
            raise InvalidArgumentError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise InvalidArgumentError("Only one of num_steps or last_step can be specified.")
        self._num_steps = num_steps
        self._last_step = last_step

    def begin(self) -> None:
        self._global_step_tensor = required_step("StopAtStepHook")

    def after_create_session(self, session: TrainingSession, coord: Coordinator) -> None:
        if self._last_step is None:
            self._last_step = session.run(self._global_step_tensor) + self._num_steps

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._global_step_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        # The step was read during the run, before or after it was counted: only if it may have come, it is read again.
        may_be_last = run_values.results + 1 >= self._last_step
        if may_be_last and run_context.session.run(self._global_step_tensor) >= self._last_step:
            run_context.request_stop()


class LoggingTensorHook(SessionRunHook):
    """Logs the values of tensors every so many runs or seconds, or at the end."""

    def __init__(
        self,
        tensors: Mapping[str, Named] | Sequence[Named],
        every_n_iter: int | None = None,
        every_n_secs: float | None = None,
        at_end: bool = False,
        formatter: Callable[[dict[Any, Any]], str] | None = None,
    ) -> None:
        only_at_end = at_end and every_n_iter is None and every_n_secs is None
        if not only_at_end and (every_n_iter is None) == (every_n_secs is None):
            raise InvalidArgumentError(
                "either at_end and/or exactly one of every_n_iter and every_n_secs must be provided."
            )
        if every_n_iter is not None and every_n_iter <= 0:
            raise InvalidArgumentError(f"invalid every_n_iter={every_n_iter}.")
        self._tag_order: list[Any] = sorted(tensors) if isinstance(tensors, Mapping) else list(tensors)
        self._tensors: dict[Any, Named] = (
            dict(tensors) if isinstance(tensors, Mapping) else {item: item for item in tensors}
        )
        self._formatter = formatter
        self._timer: Timer = _Never() if only_at_end else SecondOrStepTimer(every_n_secs, every_n_iter)
        self._log_at_end = at_end

    def begin(self) -> None:
        self._timer.reset()
        self._iter_count = 0
        self._current_tensors = {tag: graph_element(tensor) for tag, tensor in self._tensors.items()}

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        self._should_trigger = self._timer.should_trigger_for_step(self._iter_count)
        return SessionRunArgs(self._current_tensors) if self._should_trigger else None

    def _log_tensors(self, values: dict[Any, Any]) -> None:
        elapsed, _ = self._timer.update_last_triggered_step(self._iter_count)
        with np.printoptions(suppress=True):
            if self._formatter:
                LOG.info(self._formatter(values))
                return
            listed = ", ".join(f"{tag} = {values[tag]!s}" for tag in self._tag_order)
        if elapsed is None:
            LOG.info("%s", listed)
        else:
            LOG.info("%s (%.3f sec)", listed, elapsed)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if self._should_trigger:
            self._log_tensors(run_values.results)
        self._iter_count += 1

    def end(self, session: TrainingSession) -> None:
        if self._log_at_end:
            self._log_tensors(session.run(self._current_tensors))


class NanLossDuringTrainingError(RuntimeError):
    """The loss is not a number any more."""

    def __str__(self) -> str:
        return "NaN loss during training."


class NanTensorHook(SessionRunHook):
    """Stops when the loss is not a number, by an error unless `fail_on_nan_loss` is false."""

    def __init__(self, loss_tensor: Tensor | TensorSource, fail_on_nan_loss: bool = True) -> None:
        self._loss_tensor = loss_tensor
        self._fail_on_nan_loss = fail_on_nan_loss

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(self._loss_tensor)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        if not np.isnan(run_values.results):
            return
        message = "Model diverged with loss = NaN."
        if self._fail_on_nan_loss:
            LOG.error(message)
            raise NanLossDuringTrainingError
        LOG.warning(message)
        run_context.request_stop()


class GlobalStepWaiterHook(SessionRunHook):
    """Lets no run begin before others have brought the global step to `wait_until_step`."""

    sleep: Callable[[float], None] = staticmethod(time.sleep)

    def __init__(self, wait_until_step: int) -> None:
        self._wait_until_step = wait_until_step

    def begin(self) -> None:
        self._worker_is_started = self._wait_until_step <= 0
        self._global_step_tensor = required_step("_GlobalStepWaiterHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        if self._worker_is_started:
            return None
        LOG.info("Waiting for global step %d before starting training.", self._wait_until_step)
        last_logged = 0
        while (step := run_context.session.run(self._global_step_tensor)) < self._wait_until_step:
            if step - last_logged > 1000:
                LOG.info(
                    "Waiting for global step %d before starting training. Current step is %d.",
                    self._wait_until_step,
                    step,
                )
                last_logged = step
            self.sleep(0.5)
        self._worker_is_started = True
        return None


class FinalOpsHook(SessionRunHook):
    """Computes something at the end, and keeps its value."""

    def __init__(self, final_ops: Fetches, final_ops_feed_dict: Mapping[Any, Any] | None = None) -> None:
        self._final_ops = final_ops
        self._final_ops_feed_dict = final_ops_feed_dict
        self._final_ops_values: Any = None

    @property
    def final_ops_values(self) -> Any:
        return self._final_ops_values

    def end(self, session: TrainingSession) -> None:
        if self._final_ops is None:
            return
        try:
            self._final_ops_values = session.run(self._final_ops, self._final_ops_feed_dict)
        except (OutOfRangeError, StopIteration):
            LOG.warning(
                "An OutOfRangeError or StopIteration exception is raised by the code in FinalOpsHook. This typically "
                "means that what it computes takes another batch from an input that is at its end. Let it read "
                "variables only."
            )
            raise


class FeedFnHook(SessionRunHook):
    """Feeds what a function gives, anew for each run."""

    def __init__(self, feed_fn: Callable[[], Feeds]) -> None:
        self.feed_fn = feed_fn

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


def graph_element(item: Named) -> Tensor | Operation | TensorSource:
    """A tensor of the graph being built, by itself or by name, which may be that of an operation with one output."""
    graph = current_graph()
    if not isinstance(item, str):
        if getattr(item, "graph", None) is not graph:
            raise InvalidArgumentError(
                f"Passed {item} should have graph attribute that is equal to current graph {graph}."
            )
        return item
    if ":" in item:
        return graph.element(item)
    found = graph.element(f"{item}:0")
    try:
        graph.element(f"{item}:1")
    except (NotFoundError, InvalidArgumentError):
        return found
    raise InvalidArgumentError(f"Name {item} is ambiguous, as this `Operation` has multiple outputs (at least 2).")
