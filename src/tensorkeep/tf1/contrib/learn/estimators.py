"""`tf.contrib.learn.Estimator`: `fit` in the place of `train`, models as tuples, metrics from outside.

They are estimators of `tf.estimator`, whose graphs, checkpoints and event files they have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from inspect import signature
from typing import Any, Final, NamedTuple, TypeAlias

from tensorkeep.arrays import Array
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import TensorLike
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.proto.session_config import ConfigProto, GPUOptions
from tensorkeep.tf1.contrib.learn.monitors import BaseMonitor, replace_monitors_with_hooks
from tensorkeep.tf1.contrib.learn.small_parts import receiver_of
from tensorkeep.tf1.estimators import estimator as core
from tensorkeep.tf1.estimators import run_config
from tensorkeep.tf1.estimators.export_outputs import PredictOutput
from tensorkeep.tf1.estimators.inputs import numpy_input_fn
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec
from tensorkeep.tf1.training.loops.hooks import SessionRunHook
from tensorkeep.tf1.training.loops.monitored_training import USE_DEFAULT, Interval

_BATCH: Final = 128

Engineering: TypeAlias = Callable[[Any, Any], tuple[Any, Any]]
"""Makes other features and labels of those of the input."""


class ModeKeys:
    """What a model function is called for."""

    TRAIN: Final = "train"
    EVAL: Final = "eval"
    INFER: Final = "infer"


class RunConfig(run_config.RunConfig):
    """How an estimator runs, in the words of `tf.contrib.learn`."""

    def __init__(
        self,
        master: str | None = None,
        num_cores: int = 0,
        log_device_placement: bool = False,
        gpu_memory_fraction: float = 1,
        tf_random_seed: int | None = None,
        save_summary_steps: int = 100,
        save_checkpoints_secs: Interval = USE_DEFAULT,
        save_checkpoints_steps: int | None = None,
        keep_checkpoint_max: int = 5,
        keep_checkpoint_every_n_hours: float = 10000,
        log_step_count_steps: int = 100,
        protocol: str | None = None,
        evaluation_master: str = "",
        model_dir: PathLike | None = None,
        session_config: ConfigProto | None = None,
        session_creation_timeout_secs: int = 7200,
    ) -> None:
        if master or evaluation_master:
            raise InvalidArgumentError(
                f"master is {master or evaluation_master!r}, and sessions run in this process: leave it out"
            )
        self.tf_config = session_config or ConfigProto(
            log_device_placement=log_device_placement,
            inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction),
        )
        seconds = save_checkpoints_secs
        if seconds is USE_DEFAULT:
            seconds = 600 if save_checkpoints_steps is None else None
        super().__init__(
            model_dir=model_dir,
            tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps,
            save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=seconds,
            session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps,
            protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs,
        )


class ModelFnOps(NamedTuple):
    """What a model function returns: predictions, a loss, what trains it."""

    mode: str
    predictions: Any = None
    loss: Any = None
    train_op: Any = None
    eval_metric_ops: Mapping[str, Any] | None = None
    output_alternatives: Any = None
    training_chief_hooks: Sequence[SessionRunHook] | None = None
    training_hooks: Sequence[SessionRunHook] | None = None
    scaffold: Any = None


class MetricSpec:
    """A metric, and to which predictions, labels and weights it is applied."""

    def __init__(
        self,
        metric_fn: Callable[..., Any],
        prediction_key: str | None = None,
        label_key: str | None = None,
        weight_key: str | None = None,
    ) -> None:
        self.metric_fn, self.prediction_key = metric_fn, prediction_key
        self.label_key, self.weight_key = label_key, weight_key

    def create_metric_ops(self, inputs: Any, labels: Any, predictions: Any) -> Any:
        """The value and the operation that updates it."""
        told = {
            "predictions": _choose_tensor(predictions, self.prediction_key, "prediction"),
            "labels": _choose_tensor(labels, self.label_key, "label"),
        }
        if self.weight_key is not None:
            told["weights"] = _choose_tensor(inputs, self.weight_key, "weight")
        return self.metric_fn(**told)


def _choose_tensor(found: Any, key: str | None, word: str) -> Any:
    """The one that is meant."""
    if not isinstance(found, Mapping):
        if key is not None:
            raise InvalidArgumentError(f"MetricSpec with {word}_key={key!r} requires a dict, and there is one tensor")
        return found
    if key is not None:
        if key not in found:
            raise InvalidArgumentError(f"MetricSpec: no {word} {key!r}; there are {', '.join(sorted(found))}")
        return found[key]
    if len(found) != 1:
        raise InvalidArgumentError(
            f"MetricSpec without {word}_key requires one {word}, and there are {', '.join(sorted(found))}"
        )
    return next(iter(found.values()))


class Estimator:
    """A model that is fitted in a folder, and evaluated, asked and exported from there.

    `model_fn(features, labels, mode, params, config)` returns a ModelFnOps, or predictions, loss and what
    trains it; it may leave out what it does not need, from `mode` on.
    """

    def __init__(
        self,
        model_fn: Callable[..., Any],
        model_dir: PathLike | None = None,
        config: run_config.RunConfig | None = None,
        params: object = None,
        feature_engineering_fn: Engineering | None = None,
    ) -> None:
        if model_fn is None:
            raise InvalidArgumentError("model_fn must be provided to Estimator.")
        self._function, self._engineered = model_fn, feature_engineering_fn
        self._metrics: Mapping[str, Any] | None = None
        self._inside = core.Estimator(self._called, model_dir, config or RunConfig(), params)

    def _called(self, features: Any, labels: Any, mode: str, params: Any, config: Any) -> EstimatorSpec:
        if self._engineered is not None:
            features, labels = self._engineered(features, labels)
        offered = {"mode": mode, "params": params, "config": config, "model_dir": self.model_dir}
        takes = signature(self._function).parameters
        made = self._function(features, labels, **{name: value for name, value in offered.items() if name in takes})
        if isinstance(made, EstimatorSpec):
            return made._replace(eval_metric_ops=self._all_metrics(made, mode, features, labels))
        if not isinstance(made, ModelFnOps):
            if not isinstance(made, tuple) or len(made) != 3:
                raise WrongTypeError(f"model_fn should return a ModelFnOps or three values, and returned {made!r}")
            made = ModelFnOps(mode, *made)
        metrics = self._all_metrics(made, mode, features, labels)
        outputs = None
        if mode == ModeKeys.INFER:
            named = made.predictions if isinstance(made.predictions, Mapping) else {"output": made.predictions}
            outputs = {"serving_default": PredictOutput(named)}
        return EstimatorSpec(
            mode,
            predictions=made.predictions,
            loss=made.loss,
            train_op=made.train_op,
            eval_metric_ops=metrics,
            export_outputs=outputs,
            training_chief_hooks=made.training_chief_hooks,
            training_hooks=made.training_hooks,
            scaffold=made.scaffold,
        )

    def _all_metrics(self, made: Any, mode: str, features: Any, labels: Any) -> dict[str, Any]:
        """The metrics of the model, and those that an evaluation was given."""
        metrics = dict(made.eval_metric_ops or {})
        if mode == ModeKeys.EVAL:
            for name, spec in (self._metrics or {}).items():
                if not isinstance(spec, MetricSpec):
                    raise WrongTypeError(f"metrics[{name!r}] should be a MetricSpec, and is {spec!r}")
                metrics[name] = spec.create_metric_ops(features, labels, made.predictions)
        return metrics

    @property
    def model_dir(self) -> str:
        return self._inside.model_dir

    @property
    def config(self) -> run_config.RunConfig:
        return self._inside.config

    @property
    def params(self) -> Any:
        return self._inside.params

    def get_variable_names(self) -> list[str]:
        return self._inside.get_variable_names()

    def get_variable_value(self, name: str) -> Array:
        value: Array = self._inside.get_variable_value(name)
        return value

    def fit(
        self,
        x: TensorLike | None = None,
        y: TensorLike | None = None,
        input_fn: Callable[[], Any] | None = None,
        steps: int | None = None,
        batch_size: int | None = None,
        monitors: Sequence[BaseMonitor | SessionRunHook] | None = None,
        max_steps: int | None = None,
    ) -> Estimator:
        """Trains on arrays, which it goes through again and again, or on what an input function gives."""
        given = _input_of(x, y, input_fn, batch_size, is_training=True)
        hooks = replace_monitors_with_hooks(monitors, self)
        self._inside.train(given, hooks=hooks, steps=steps, max_steps=max_steps)
        return self

    def partial_fit(self, *args: Any, **kwargs: Any) -> Estimator:
        """The same: training goes on where it was."""
        return self.fit(*args, **kwargs)

    def evaluate(
        self,
        x: TensorLike | None = None,
        y: TensorLike | None = None,
        input_fn: Callable[[], Any] | None = None,
        feed_fn: object = None,
        batch_size: int | None = None,
        steps: int | None = None,
        metrics: Mapping[str, Any] | None = None,
        name: str | None = None,
        checkpoint_path: PathLike | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        log_progress: bool = True,
    ) -> dict[str, Any]:
        """The metrics of the model and those given."""
        if feed_fn is not None:
            raise InvalidArgumentError("feed_fn is not here: give an input_fn, which may be a dataset")
        given = _input_of(x, y, input_fn, batch_size, is_training=False)
        self._metrics = metrics
        try:
            return self._inside.evaluate(given, steps, hooks, checkpoint_path, name)
        finally:
            self._metrics = None

    def predict(
        self,
        x: TensorLike | None = None,
        input_fn: Callable[[], Any] | None = None,
        batch_size: int | None = None,
        outputs: Sequence[str] | None = None,
        as_iterable: bool = True,
        iterate_batches: bool = False,
    ) -> Iterator[Any] | list[Any]:
        """Predictions: one example at a time, batches of them, or all as a list."""
        given = _input_of(x, None, input_fn, batch_size, is_training=False)
        found = self._inside.predict(given, predict_keys=outputs, yield_single_examples=not iterate_batches)
        return found if as_iterable else list(found)

    def export_savedmodel(
        self,
        export_dir_base: PathLike,
        serving_input_fn: Callable[[], Any],
        default_output_alternative_key: str | None = None,
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: PathLike | None = None,
    ) -> bytes:
        """The folder of a SavedModel, whose signature has the predictions."""
        receiver_fn = receiver_of(serving_input_fn)
        return self._inside.export_savedmodel(export_dir_base, receiver_fn, assets_extra, as_text, checkpoint_path)


class SKCompat:
    """An estimator of arrays alone, as scikit-learn has them."""

    def __init__(self, estimator: Estimator) -> None:
        self._estimator = estimator

    def fit(
        self,
        x: TensorLike,
        y: TensorLike,
        batch_size: int = 128,
        steps: int | None = None,
        max_steps: int | None = None,
        monitors: Sequence[BaseMonitor | SessionRunHook] | None = None,
    ) -> SKCompat:
        self._estimator.fit(x, y, batch_size=batch_size, steps=steps, max_steps=max_steps, monitors=monitors)
        return self

    def score(
        self, x: TensorLike, y: TensorLike, batch_size: int = 128, steps: int | None = None,
        metrics: Mapping[str, Any] | None = None, name: str | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        return self._estimator.evaluate(x, y, batch_size=batch_size, steps=steps, metrics=metrics, name=name)

    def predict(
        self, x: TensorLike, batch_size: int = 128, outputs: Sequence[str] | None = None
    ) -> Iterator[Any] | list[Any]:
        return self._estimator.predict(x, batch_size=batch_size, outputs=outputs, as_iterable=False)


def _input_of(x: Any, y: Any, input_fn: Any, batch_size: int | None, *, is_training: bool) -> Callable[[], Any]:
    if input_fn is not None:
        if x is not None or y is not None or batch_size is not None:
            raise InvalidArgumentError("Can not provide both input_fn and x, y or batch_size.")
        return input_fn  # type: ignore[no-any-return]
    if x is None:
        raise InvalidArgumentError("Either x or input_fn must be provided.")
    return numpy_input_fn(x, y, batch_size or _BATCH, num_epochs=None if is_training else 1, shuffle=is_training)
