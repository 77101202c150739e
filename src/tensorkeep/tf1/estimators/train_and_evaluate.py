"""Training with evaluations in between, in one process: after checkpoints, and at the end."""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, WrongTypeError
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.tf1.estimators.estimator import Estimator
from tensorkeep.tf1.estimators.exporters import Exporter
from tensorkeep.tf1.estimators.model_specs import checked_hooks
from tensorkeep.tf1.training.loops.hooks import SecondOrStepTimer, SessionRunHook
from tensorkeep.tf1.training.loops.recording_hooks import CheckpointSaverListener
from tensorkeep.tf1.training.loops.roles import TrainingSession

LOG: Final = logging.getLogger("tensorkeep")


class _Train(NamedTuple):
    input_fn: Callable[..., Any]
    max_steps: int | None
    hooks: tuple[SessionRunHook, ...]
    saving_listeners: tuple[CheckpointSaverListener, ...]


class TrainSpec(_Train):
    """What is trained on, and for how many steps."""

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        max_steps: int | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
        saving_listeners: Iterable[CheckpointSaverListener] | None = None,
    ) -> TrainSpec:
        _check_input(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise InvalidArgumentError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, checked_hooks(hooks), tuple(saving_listeners or ()))


class _Eval(NamedTuple):
    input_fn: Callable[..., Any]
    steps: int | None
    name: str | None
    hooks: tuple[SessionRunHook, ...]
    exporters: tuple[Exporter, ...]
    start_delay_secs: float
    throttle_secs: float


class EvalSpec(_Eval):
    """What is evaluated on, how many batches, and what is exported afterwards.

    A checkpoint that comes less than `throttle_secs` after the last evaluation is passed over.
    """

    def __new__(
        cls,
        input_fn: Callable[..., Any],
        steps: int | None = 100,
        name: str | None = None,
        hooks: Iterable[SessionRunHook] | None = None,
        exporters: Exporter | Sequence[Exporter] | None = None,
        start_delay_secs: float = 120,
        throttle_secs: float = 600,
    ) -> EvalSpec:
        _check_input(input_fn)
        if steps is not None and steps <= 0:
            raise InvalidArgumentError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise WrongTypeError(f"`name` must be string, given: {name}")
        for word, seconds in (("start_delay_secs", start_delay_secs), ("throttle_secs", throttle_secs)):
            if seconds < 0:
                raise InvalidArgumentError(f"Must specify {word} >= 0, given: {seconds}")
        return super().__new__(
            cls, input_fn, steps, name, checked_hooks(hooks), _checked_exporters(exporters), start_delay_secs,
            throttle_secs,
        )  # fmt: skip


def _check_input(input_fn: object) -> None:
    if not callable(input_fn):
        raise WrongTypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_exporters(exporters: Any) -> tuple[Exporter, ...]:
    if not exporters:
        return ()
    found = (exporters,) if isinstance(exporters, Exporter) else tuple(exporters)
    for exporter in found:
        if not isinstance(exporter, Exporter):
            raise WrongTypeError(
                f"`exporters` must be an Exporter, an iterable of Exporter, or `None`, found {exporters}."
            )
    names = [exporter.name for exporter in found]
    if not all(names) or len(set(names)) != len(names):
        raise InvalidArgumentError(
            f"`exporters` must have unique names that are not empty. All exporter names: {names}"
        )
    return found


class _EvaluatingListener(CheckpointSaverListener):
    """Evaluates and exports when a checkpoint was saved; not the first, which is the beginning."""

    timer_type: Callable[..., SecondOrStepTimer] = SecondOrStepTimer

    def __init__(self, estimator: Estimator, spec: EvalSpec, max_steps: int | None) -> None:
        self._estimator, self._spec, self._max_steps = estimator, spec, max_steps
        self._timer = self.timer_type(every_secs=spec.throttle_secs)
        self._is_first = True
        self.metrics: dict[str, Any] | None = None
        self.exported: list[Any] | None = None
        self._exported_finally = False

    def begin(self) -> None:
        self._timer.reset()
        self._is_first = True

    def after_save(self, session: TrainingSession, global_step_value: int) -> bool | None:
        if self._is_first:
            self._is_first = False
            return None
        if self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)
        else:
            LOG.info("Skip the current checkpoint eval due to throttle secs (%s secs).", self._spec.throttle_secs)
        return None

    def end(self, session: TrainingSession, global_step_value: int) -> None:
        if global_step_value != self._timer.last_triggered_step():
            self._evaluate(global_step_value)

    def _evaluate(self, step: int) -> None:
        self._timer.update_last_triggered_step(step)
        path = self._estimator.latest_checkpoint()
        if not path:
            raise FailedPreconditionError(
                "There was no new checkpoint after the training. Eval status: missing checkpoint"
            )
        spec = self._spec
        self.metrics = self._estimator.evaluate(spec.input_fn, spec.steps, spec.hooks, path, spec.name)
        reached = self.metrics[GraphKeys.GLOBAL_STEP]
        is_final = bool(self._max_steps and reached >= self._max_steps)
        self.exported = self._export(path, is_final)

    def _export(self, checkpoint: str, is_final: bool) -> list[Any]:
        if is_final and self._exported_finally:
            LOG.warning("The model has been exported finally before, and is exported again.")
        self._exported_finally = self._exported_finally or is_final
        folder = posixpath.join(self._estimator.model_dir, "export")
        assert self.metrics is not None
        return [
            exporter.export(self._estimator, posixpath.join(folder, exporter.name), checkpoint, self.metrics, is_final)
            for exporter in self._spec.exporters
        ]


def train_and_evaluate(
    estimator: Estimator, train_spec: TrainSpec, eval_spec: EvalSpec
) -> tuple[dict[str, Any] | None, list[Any] | None]:
    """Trains, evaluates after checkpoints and at the end, and exports; the last metrics and exports."""
    for word, value, kind in (
        ("estimator", estimator, Estimator),
        ("train_spec", train_spec, TrainSpec),
        ("eval_spec", eval_spec, EvalSpec),
    ):
        if not isinstance(value, kind):
            raise WrongTypeError(f"`{word}` must have type `tf.estimator.{kind.__name__}`. Got: {type(value)}")
    config = estimator.config
    LOG.info("Running training and evaluation locally (non-distributed).")
    LOG.info(
        "Start train and evaluate loop. The evaluate will happen after every checkpoint. Checkpoint frequency is "
        "determined based on RunConfig arguments: save_checkpoints_steps %s or save_checkpoints_secs %s.",
        config.save_checkpoints_steps,
        config.save_checkpoints_secs,
    )
    listener = _EvaluatingListener(estimator, eval_spec, train_spec.max_steps)
    estimator.train(
        train_spec.input_fn,
        hooks=train_spec.hooks,
        max_steps=train_spec.max_steps,
        saving_listeners=[*train_spec.saving_listeners, listener],
    )
    return listener.metrics, listener.exported
