"""Models of Keras as estimators: `tf.keras.estimator.model_to_estimator`.

The model function makes the model anew, of the features in the place of its inputs and the labels in the place of its
targets. The weights that the model has are written to `keras/keras_model.ckpt` below the estimator's folder, from which
it starts. How that is done is TensorFlow 1.15's `tensorflow_estimator/python/estimator/keras.py`.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from typing import Any, Final

from tensorkeep.checkpoint.finding.latest import latest_checkpoint
from tensorkeep.dtypes import BOOL, STRING
from tensorkeep.errors import InvalidArgumentError, UnimplementedError
from tensorkeep.graph.building import building, current_graph
from tensorkeep.graph.collections import GraphKeys, add_to_collection
from tensorkeep.graph.composites import SparseTensor
from tensorkeep.graph.conversion import convert
from tensorkeep.io.files import gfile
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.estimators.estimator import Estimator, WarmStartSettings, config_with_folder
from tensorkeep.tf1.estimators.export_outputs import PredictOutput
from tensorkeep.tf1.estimators.keys import ModeKeys
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec
from tensorkeep.tf1.estimators.run_config import RunConfig
from tensorkeep.tf1.estimators.surroundings import surroundings
from tensorkeep.tf1.functions.numbers.elementwise import cast
from tensorkeep.tf1.keras.backend.settings import floatx
from tensorkeep.tf1.keras.engine.endpoints import copied_metrics
from tensorkeep.tf1.keras.engine.model import Model
from tensorkeep.tf1.keras.engine.saving.cloning import clone_model
from tensorkeep.tf1.keras.engine.saving.model_files import load_model
from tensorkeep.tf1.keras.engine.sequential import Sequential
from tensorkeep.tf1.keras.engine.session_values import have_values, initialized_session
from tensorkeep.tf1.keras.named_objects import custom_object_scope
from tensorkeep.tf1.keras.optimizers.by_name import TFOptimizer
from tensorkeep.tf1.layers.base import set_learning_phase
from tensorkeep.tf1.variables.global_step import create_global_step, get_global_step

_SERVING: Final = "serving_default"
_WEIGHTED: Final = frozenset(("features", "sample_weights"))


def model_to_estimator(
    keras_model: Model | None = None,
    keras_model_path: PathLike | None = None,
    custom_objects: Mapping[str, Any] | None = None,
    model_dir: PathLike | None = None,
    config: RunConfig | None = None,
    checkpoint_format: str = "saver",
) -> Estimator:
    """An estimator of a compiled model, or of one in a file.

    It starts with the weights that the model has now. Those of a model that was not yet used have none: they are drawn
    by the seed of the configuration.
    """
    if keras_model is not None and keras_model_path is not None:
        raise InvalidArgumentError("Please specify either `keras_model` or `keras_model_path`, but not both.")
    if keras_model is None and keras_model_path is None:
        raise InvalidArgumentError("Either `keras_model` or `keras_model_path` needs to be provided.")
    if checkpoint_format != "saver":
        raise UnimplementedError(
            f"checkpoint_format={checkpoint_format!r}: estimators save variables by their names. Leave it out"
        )
    given = keras_model if keras_model_path is None else load_model(keras_model_path, custom_objects)
    assert given is not None
    source = KerasSource(given, dict(custom_objects or {}))
    whole = config_with_folder(config, model_dir)
    start: WarmStartSettings | None = None
    if given._is_graph_network:
        # A list is of all variables, a pattern would be of those that are trained: moving averages belong to the model.
        start = WarmStartSettings(_first_checkpoint(source, whole), [".*"])
    return Estimator(source.model_fn, config=whole, warm_start_from=start)


class KerasSource:
    """A compiled model, and what is needed to make it anew in other graphs."""

    def __init__(self, model: object, custom_objects: dict[str, Any]) -> None:
        if not isinstance(model, Model):
            raise InvalidArgumentError(f"`keras_model` must be a model of tf.keras, but is {model!r}")
        if not isinstance(model, Sequential) and not model._is_graph_network:
            raise UnimplementedError(
                f'the model "{model.name}" has a `call` of its own, and cannot be made anew in the graph of an '
                "estimator: make it of inputs and outputs, or write a model_fn for tf.estimator.Estimator"
            )
        if model._compile_arguments is None:
            raise InvalidArgumentError(
                "The given keras model has not been compiled yet. Please compile the model with `model.compile()` "
                "before calling `model_to_estimator()`."
            )
        self._model = model
        self._told = model._compile_arguments
        self._custom_objects = custom_objects
        self._optimizer = model.optimizer if getattr(model, "optimizer", None) is not None else model._ready().optimizer
        # Here, because numbers that a program has changed are in the session of the model.
        is_ours = isinstance(self._optimizer, TFOptimizer)
        self._optimizer_config: dict[str, Any] = {} if is_ours else self._optimizer.get_config()

    def weights(self) -> list[Any] | None:
        """The values of the model's variables; None if none has one yet."""
        return self._model.get_weights() if have_values(self._model.weights) else None

    def model_fn(self, features: object, labels: object, mode: str) -> EstimatorSpec:
        """The model of features and labels, as an estimator has it."""
        model = self.clone(mode, features, labels)
        predictions = dict(zip(model.output_names, model.outputs, strict=True))
        loss, train_op, metrics = None, None, None
        if mode != ModeKeys.PREDICT:
            loss, metrics = model.total_loss, _metric_ops(model)
        if mode == ModeKeys.TRAIN:
            train_op = model._ready().train_step().update
        return EstimatorSpec(
            mode=mode,
            predictions=predictions,
            loss=loss,
            train_op=train_op,
            eval_metric_ops=metrics,
            export_outputs={_SERVING: PredictOutput(predictions)},
        )

    def clone(self, mode: str, features: object = None, labels: object = None) -> Model:
        """The model in the graph being built; compiled, unless it is only asked."""
        set_learning_phase(int(mode == ModeKeys.TRAIN))
        weights = None
        if isinstance(features, Mapping) and set(features) == _WEIGHTED:
            weights, features = features["sample_weights"], features["features"]
        model = self._model
        inputs = _in_order(features, model.input_names if model._is_graph_network else None, "features", "inputs")
        with custom_object_scope(self._custom_objects):
            made: Model = clone_model(model, inputs)
            if mode != ModeKeys.PREDICT:
                self._compile(made, _in_order(labels, made.output_names, "labels", "outputs"))
        if weights is not None and mode != ModeKeys.PREDICT:
            made._ready().use_weights(_in_order(weights, made.output_names, "sample_weights", "outputs") or [])
        return made

    def _compile(self, made: Any, targets: list[Any] | None) -> None:
        told = self._told
        made.compile(
            optimizer=self._new_optimizer(),
            loss=told.loss,
            metrics=copied_metrics(told.metrics),
            loss_weights=told.loss_weights,
            sample_weight_mode=told.sample_weight_mode,
            weighted_metrics=copied_metrics(told.weighted_metrics),
            target_tensors=targets,
        )

    def _new_optimizer(self) -> Any:
        step = get_global_step(current_graph())
        if isinstance(self._optimizer, TFOptimizer):
            return TFOptimizer(self._optimizer.optimizer, step)
        made = type(self._optimizer).from_config(self._optimizer_config)
        made.iterations = step
        return made


def _first_checkpoint(source: KerasSource, config: RunConfig) -> str:
    """Writes the weights that the model has, unless that was done before; the path of the checkpoint."""
    folder = posixpath.join(config.model_dir, "keras")
    found = latest_checkpoint(folder)
    if found:
        return found
    weights = source.weights()
    gfile.make_directories(folder)
    with building(surroundings().graph()) as graph:
        graph.seed = config.tf_random_seed
        create_global_step(graph)
        model = source.clone(ModeKeys.TRAIN)
        model._make_train_function()
        with surroundings().session(graph=graph, config=config.session_config) as session:
            initialized_session()
            if weights is not None:
                model.set_weights(weights)
            return str(surroundings().saver().save(session, posixpath.join(folder, "keras_model.ckpt")))


def _metric_ops(model: Any) -> dict[str, Any]:
    """The metrics of a model as pairs of a value and what updates it; their variables begin anew in each session."""
    found: dict[str, Any] = {}
    for metric in model.metrics:
        update = metric._call_result  # waits for the batch to be added
        found[metric.name] = (metric.result(), update)
        for variable in metric.weights:
            add_to_collection(current_graph(), GraphKeys.LOCAL_VARIABLES, variable)
            add_to_collection(current_graph(), GraphKeys.METRIC_VARIABLES, variable)
    for metric in model._ready().loss_metrics:
        for variable in metric.weights:
            add_to_collection(current_graph(), GraphKeys.LOCAL_VARIABLES, variable)
    return found


def _in_order(given: Any, names: Sequence[str] | None, what: str, side: str) -> list[Any] | None:
    """What an input function gave as tensors in the order of the model's names; None if there is nothing."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        wanted = [f"input_{at + 1}" for at in range(len(given))] if names is None else list(names)
        if set(given) != set(wanted):
            raise InvalidArgumentError(
                f"The dictionary passed into {what} does not have the expected {side} keys defined in the keras model."
                f"\n\tExpected keys: {set(wanted)}\n\t{what} keys: {set(given)}\n\t"
                f"Difference: {set(given) ^ set(wanted)}"
            )
        return [_as_input(given[name]) for name in wanted]
    items = given if isinstance(given, list | tuple) and not isinstance(given, SparseTensor) else [given]
    return [_as_input(item) for item in items]


def _as_input(item: Any) -> Any:
    """A tensor; of numbers, in the type that Keras computes in."""
    if isinstance(item, SparseTensor):
        return item
    tensor = convert(item)
    if tensor.dtype.base_dtype in (BOOL, STRING) or tensor.dtype.base_dtype.name == floatx():
        return tensor
    return cast(tensor, floatx())
