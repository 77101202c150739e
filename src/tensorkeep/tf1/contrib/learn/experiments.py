"""`tf.contrib.learn.Experiment` and `learn_runner`: an estimator with its inputs, run by the name of a schedule."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.io.machine.resources import environment_variable
from tensorkeep.tf1.contrib.learn.monitors import BaseMonitor, EitherEstimator, replace_monitors_with_hooks
from tensorkeep.tf1.estimators.run_config import RunConfig
from tensorkeep.tf1.training.loops.hooks import SessionRunHook

_SCHEDULES = "train evaluate train_and_evaluate continuous_train_and_eval test local_run"


class Experiment:
    """An estimator, of `tf.estimator` or of `tf.contrib.learn`, with what it is trained and evaluated on."""

    def __init__(
        self,
        estimator: EitherEstimator,
        train_input_fn: Callable[[], Any],
        eval_input_fn: Callable[[], Any],
        eval_metrics: Mapping[str, Any] | None = None,
        train_steps: int | None = None,
        eval_steps: int | None = 100,
        train_monitors: Sequence[BaseMonitor | SessionRunHook] | None = None,
        eval_hooks: Sequence[SessionRunHook] | None = None,
        local_eval_frequency: int | None = None,
        eval_delay_secs: float = 120,
        continuous_eval_throttle_secs: float = 60,
        min_eval_frequency: int | None = None,
        delay_workers_by_global_step: bool = False,
        export_strategies: object = None,
        train_steps_per_iteration: int | None = None,
        checkpoint_and_export: bool = False,
        saving_listeners: Sequence[Any] | None = None,
        check_interval_secs: float = 5,
    ) -> None:
        if export_strategies:
            raise UnimplementedError(
                "export_strategies are not here: give exporters to tf.estimator.EvalSpec, or call export_savedmodel"
            )
        if saving_listeners and hasattr(estimator, "fit"):
            raise InvalidArgumentError("saving_listeners need an estimator of tf.estimator")
        self._estimator: Any = estimator
        self._train_input_fn, self._eval_input_fn = train_input_fn, eval_input_fn
        self._eval_metrics, self._eval_steps = eval_metrics, eval_steps
        self.train_steps = train_steps
        self._monitors, self._eval_hooks = list(train_monitors or ()), list(eval_hooks or ())
        self._listeners = saving_listeners
        self._every = min_eval_frequency or local_eval_frequency or train_steps_per_iteration

    @property
    def estimator(self) -> EitherEstimator:
        estimator: EitherEstimator = self._estimator
        return estimator

    @property
    def eval_metrics(self) -> Mapping[str, Any] | None:
        return self._eval_metrics

    @property
    def eval_steps(self) -> int | None:
        return self._eval_steps

    def extend_train_hooks(self, additional_hooks: Sequence[BaseMonitor | SessionRunHook]) -> None:
        """Adds hooks to training."""
        self._monitors.extend(additional_hooks)

    def train(self, delay_secs: float | None = None) -> EitherEstimator:
        """Trains until there are `train_steps`."""
        return self._train_until(self.train_steps)

    def evaluate(self, delay_secs: float | None = None, name: str | None = None) -> dict[str, Any]:
        """What the latest checkpoint is worth."""
        told: dict[str, Any] = {"input_fn": self._eval_input_fn, "steps": self._eval_steps, "name": name}
        if self._eval_metrics:
            if not hasattr(self._estimator, "fit"):
                raise InvalidArgumentError(
                    "eval_metrics need an estimator of tf.contrib.learn; a model function of tf.estimator returns its "
                    "metrics as eval_metric_ops"
                )
            told["metrics"] = self._eval_metrics
        found: dict[str, Any] = self._estimator.evaluate(hooks=self._eval_hooks, **told)
        return found

    def train_and_evaluate(self) -> tuple[Any, list[Any]]:
        """Trains, and evaluates after each `min_eval_frequency` steps and at the end: the last evaluation."""
        return self.continuous_train_and_eval(), []

    def continuous_train_and_eval(
        self, continuous_eval_predicate_fn: Callable[[Any], bool] | None = None
    ) -> dict[str, Any]:
        """The same, for as long as a function of the last evaluation says so."""
        if not self._every:
            self._train_until(self.train_steps)
            return self.evaluate()
        step, found = self._step(), None
        while self.train_steps is None or step < self.train_steps:
            if continuous_eval_predicate_fn is not None and not continuous_eval_predicate_fn(found):
                break
            following = step + self._every
            self._train_until(following if self.train_steps is None else min(following, self.train_steps))
            found, before, step = self.evaluate(), step, self._step()
            if step == before:  # the input has ended
                break
        return self.evaluate() if found is None else found

    def local_run(self) -> tuple[Any, list[Any]]:
        """The older name of it."""
        return self.train_and_evaluate()

    def test(self) -> tuple[Any, list[Any]]:
        """One step, and one batch evaluated: whether all of it runs."""
        kept, self._eval_steps = self._eval_steps, 1
        try:
            self._train_until(self._step() + 1)
            return self.evaluate(name="one_pass"), []
        finally:
            self._eval_steps = kept

    def _train_until(self, steps: int | None) -> EitherEstimator:
        if hasattr(self._estimator, "fit"):
            fitted: EitherEstimator = self._estimator.fit(
                input_fn=self._train_input_fn, max_steps=steps, monitors=self._monitors
            )
            return fitted
        hooks = replace_monitors_with_hooks(self._monitors, self._estimator)
        trained: EitherEstimator = self._estimator.train(
            self._train_input_fn, hooks=hooks, max_steps=steps, saving_listeners=self._listeners
        )
        return trained

    def _step(self) -> int:
        inside = getattr(self._estimator, "_inside", self._estimator)
        return int(inside._saved_step())


def run(
    experiment_fn: Callable[..., Experiment],
    output_dir: PathLike | None = None,
    schedule: str | None = None,
    run_config: RunConfig | None = None,
    hparams: object = None,
) -> object:
    """Makes an experiment by a function of a folder, or of a configuration and hyperparameters, and runs a schedule."""
    if (output_dir is None) == (run_config is None):
        raise InvalidArgumentError("Must set either output_dir or run_config, not both.")
    if run_config is not None and not run_config.model_dir:
        raise InvalidArgumentError("Must specify a model directory `model_dir` in `run_config`.")
    experiment = experiment_fn(output_dir) if run_config is None else experiment_fn(run_config, hparams)
    if not isinstance(experiment, Experiment):
        raise InvalidArgumentError(f"experiment_fn should return an Experiment, and returned {experiment!r}")
    wanted = schedule or _usual_schedule()
    if wanted not in _SCHEDULES.split():
        raise InvalidArgumentError(f"Schedule references non-existent task {wanted}; there are {_SCHEDULES}")
    return getattr(experiment, wanted)()


class Tuner(Protocol):
    """What tries sets of hyperparameters one after another."""

    def next_trial(self) -> bool: ...

    def run_experiment(self, experiment_fn: Callable[..., Experiment], /) -> object: ...


def tune(experiment_fn: Callable[..., Experiment], tuner: Tuner) -> None:
    """Runs an experiment for each set of hyperparameters that a tuner gives."""
    while tuner.next_trial():
        tuner.run_experiment(experiment_fn)


def _usual_schedule() -> str:
    """What the environment says, or that it is trained and evaluated here."""
    told = json.loads(environment_variable("TF_CONFIG") or "{}")
    if told.get("cluster"):
        raise UnimplementedError("TF_CONFIG names a cluster, and experiments run in this process: unset it")
    return str(told.get("task", {}).get("schedule", "train_and_evaluate"))
