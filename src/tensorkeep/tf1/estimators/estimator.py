"""Estimators: a model as a function of features, labels and a mode, kept in a folder of checkpoints.

Each of `train`, `evaluate` and `predict` builds a graph of its own: the input function gives features and labels, the
model function makes a model of them, and a monitored session runs it from the latest checkpoint. How that is done is
TensorFlow's `python/estimator/estimator.py`.
"""

from __future__ import annotations

import copy
import inspect
import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, NamedTuple

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.latest import latest_checkpoint
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.errors import InvalidArgumentError, TensorKeepError, WrongTypeError
from tensorkeep.graph.building import building, current_graph, device
from tensorkeep.graph.collections import GraphKeys, add_to_collection, get_collection
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.io.files import gfile
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.io.machine.system import new_temporary_folder
from tensorkeep.proto.session_config import ConfigProto
from tensorkeep.tf1.datasets.dataset import Dataset
from tensorkeep.tf1.datasets.iterators import make_initializable_iterator
from tensorkeep.tf1.estimators.evaluating import Evaluation, StopAfterHook
from tensorkeep.tf1.estimators.exporting import Export, export_models
from tensorkeep.tf1.estimators.keys import ModeKeys
from tensorkeep.tf1.estimators.model_specs import EstimatorSpec, checked_hooks
from tensorkeep.tf1.estimators.run_config import RunConfig
from tensorkeep.tf1.estimators.surroundings import surroundings
from tensorkeep.tf1.functions.data.summaries import scalar
from tensorkeep.tf1.functions.structures import flatten
from tensorkeep.tf1.training.loops.coordinator import Coordinator
from tensorkeep.tf1.training.loops.hooks import LoggingTensorHook, NanTensorHook, SessionRunHook, StopAtStepHook
from tensorkeep.tf1.training.loops.recording_hooks import CheckpointSaverHook, CheckpointSaverListener
from tensorkeep.tf1.training.loops.roles import TrainingSession
from tensorkeep.tf1.training.savers.warm_starting import Choice, VocabInfo, warm_start
from tensorkeep.tf1.variables.global_step import create_global_step, get_global_step, global_step_read

LOG: Final = logging.getLogger("tensorkeep")
_MODEL_ARGUMENTS: Final = frozenset(("features", "labels", "mode", "params", "self", "config"))

InputFunction = Callable[..., Any]
ModelFunction = Callable[..., Any]


class _WarmStart(NamedTuple):
    ckpt_to_initialize_from: str
    vars_to_warm_start: Any
    var_name_to_vocab_info: dict[str, VocabInfo]
    var_name_to_prev_var_name: dict[str, str]


class WarmStartSettings(_WarmStart):
    """Which variables begin as those of another model, and under which names: see `tf.train.warm_start`."""

    def __new__(
        cls,
        ckpt_to_initialize_from: PathLike,
        vars_to_warm_start: Choice = ".*",
        var_name_to_vocab_info: Mapping[str, VocabInfo] | None = None,
        var_name_to_prev_var_name: Mapping[str, str] | None = None,
    ) -> WarmStartSettings:
        if not ckpt_to_initialize_from:
            raise InvalidArgumentError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(
            cls,
            path_text(ckpt_to_initialize_from),
            vars_to_warm_start,
            dict(var_name_to_vocab_info or {}),
            dict(var_name_to_prev_var_name or {}),
        )


class Estimator:
    """A model that is trained in a folder, and evaluated, asked and exported from there.

    `model_fn(features, labels, mode, params, config)` returns an EstimatorSpec; it may leave out what it does not need,
    but for `features`.
    """

    def __init__(
        self,
        model_fn: ModelFunction,
        model_dir: PathLike | None = None,
        config: RunConfig | None = None,
        params: object = None,
        warm_start_from: PathLike | WarmStartSettings | None = None,
    ) -> None:
        if model_fn is None:
            raise InvalidArgumentError("model_fn must be provided to Estimator.")
        _check_model_function(model_fn, params)
        self._config = config_with_folder(config, model_dir)
        self._model_fn = model_fn
        self._params = copy.deepcopy(params or {})
        self._warm_start_settings = _warm_start_settings(warm_start_from)
        LOG.info("Using config: %s", self._config)

    @property
    def model_dir(self) -> str:
        found: str = self._config.model_dir
        return found

    @property
    def config(self) -> RunConfig:
        return self._config

    @property
    def params(self) -> Any:
        return copy.deepcopy(self._params)

    @property
    def model_fn(self) -> ModelFunction:
        """The model function, of features, labels, mode and config."""

        def public_model_fn(features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
            return self._call_model_fn(features, labels, mode, config)

        return public_model_fn

    # ------------------------------------------------------------------------------------------ what it has

    def latest_checkpoint(self) -> str | None:
        """The latest checkpoint of the folder; None if there is none."""
        return latest_checkpoint(self.model_dir)

    def _trained(self) -> str:
        found = self.latest_checkpoint()
        if not found:
            raise InvalidArgumentError(f"Could not find trained model in model_dir: {self.model_dir}.")
        return found

    def get_variable_names(self) -> list[str]:
        """The names of the variables in the latest checkpoint."""
        with open_checkpoint(self._trained()) as reader:
            return sorted(reader)

    def get_variable_value(self, name: str) -> Array:
        """The value of a variable in the latest checkpoint."""
        with open_checkpoint(self._trained()) as reader:
            return reader.read(name)

    def eval_dir(self, name: str | None = None) -> str:
        """The folder of the event files of evaluations of a name."""
        return str(gfile.join(self.model_dir, f"eval_{name}" if name else "eval"))

    # ------------------------------------------------------------------------------------------ training

    def train(
        self,
        input_fn: InputFunction,
        hooks: Sequence[SessionRunHook] | None = None,
        steps: int | None = None,
        max_steps: int | None = None,
        saving_listeners: Sequence[CheckpointSaverListener] | None = None,
    ) -> Estimator:
        """Trains `steps` more steps, or until there are `max_steps`, or until the input ends; saves at the end."""
        if steps is not None and max_steps is not None:
            raise InvalidArgumentError("Can not provide both steps and max_steps.")
        _check_positive("steps", steps)
        _check_positive("max_steps", max_steps)
        if max_steps is not None and max_steps <= self._saved_step():
            LOG.info("Skipping training since max_steps has already saved.")
            return self
        own = list(checked_hooks(hooks))
        if steps is not None or max_steps is not None:
            own.append(StopAtStepHook(steps, max_steps))
        listeners = _checked_listeners(saving_listeners)
        with building(surroundings().graph()) as graph, _place_operations(self._config.device_fn):
            self._begin(graph)
            global_step_read(graph)
            features, labels, input_hooks = self._features_and_labels(input_fn, ModeKeys.TRAIN)
            spec = self._call_model_fn(features, labels, ModeKeys.TRAIN, self.config)
            loss = self._train(spec, [*input_hooks, *own], listeners)
        LOG.info("Loss for final step: %s.", loss)
        return self

    def _train(self, spec: EstimatorSpec, hooks: list[SessionRunHook], listeners: list[CheckpointSaverListener]) -> Any:
        config, graph = self._config, current_graph()
        self._warm_start(self.latest_checkpoint())
        assert spec.loss is not None
        if not any(item.op.name == "loss" for item in get_collection(graph, GraphKeys.SUMMARIES)):
            scalar("loss", spec.loss)
        add_to_collection(graph, GraphKeys.LOSSES, spec.loss)
        hooks.append(NanTensorHook(spec.loss))
        if config.log_step_count_steps is not None:
            shown: dict[str, Any] = {"loss": spec.loss, "step": get_global_step(graph)}
            hooks.append(LoggingTensorHook(shown, every_n_iter=config.log_step_count_steps))
        hooks.extend(spec.training_hooks)
        self._add_saver(spec)
        chief_hooks = [*self._saving_hooks(spec, hooks, listeners), *spec.training_chief_hooks]
        with surroundings().training_session(
            checkpoint_dir=self.model_dir,
            scaffold=spec.scaffold,
            hooks=hooks,
            chief_only_hooks=chief_hooks,
            save_checkpoint_secs=0,
            save_summaries_steps=config.save_summary_steps,
            config=self._session_config(),
            max_wait_secs=config.session_creation_timeout_secs,
            log_step_count_steps=config.log_step_count_steps,
            save_graph_def=config.checkpoint_save_graph_def,
        ) as session:
            return _run_until_stopped(session, [spec.train_op, spec.loss])

    def _add_saver(self, spec: EstimatorSpec) -> None:
        """A saver that keeps as many checkpoints as the configuration says, unless the model has one."""
        if spec.scaffold.saver or get_collection(current_graph(), GraphKeys.SAVERS):
            return
        saver = surroundings().saver(
            sharded=True,
            max_to_keep=self._config.keep_checkpoint_max,
            keep_checkpoint_every_n_hours=self._config.keep_checkpoint_every_n_hours,
            defer_build=True,
            save_relative_paths=True,
        )
        add_to_collection(current_graph(), GraphKeys.SAVERS, saver)

    def _saving_hooks(
        self, spec: EstimatorSpec, hooks: Sequence[SessionRunHook], listeners: list[CheckpointSaverListener]
    ) -> list[SessionRunHook]:
        """The hook that saves, if the program has none of its own; listeners are added to whichever it is."""
        config = self._config
        saving = [hook for hook in (*hooks, *spec.training_chief_hooks) if isinstance(hook, CheckpointSaverHook)]
        made: list[SessionRunHook] = []
        if not saving and (config.save_checkpoints_secs or config.save_checkpoints_steps):
            hook = CheckpointSaverHook(
                self.model_dir,
                save_secs=config.save_checkpoints_secs,
                save_steps=config.save_checkpoints_steps,
                scaffold=spec.scaffold,
                save_graph_def=config.checkpoint_save_graph_def,
            )
            made, saving = [hook], [hook]
        if listeners and not saving:
            raise InvalidArgumentError(
                "There should be a CheckpointSaverHook to use saving_listeners. Please set one of the "
                "RunConfig.save_checkpoints_steps or RunConfig.save_checkpoints_secs."
            )
        for listener in listeners:
            saving[0].add_listener(listener)
        return made

    def _saved_step(self) -> int:
        """The step of the latest checkpoint; 0 if there is none, or no step in it."""
        path = self.latest_checkpoint()
        if path is None:
            return 0
        try:
            with open_checkpoint(path) as reader:
                return int(reader.read(GraphKeys.GLOBAL_STEP))
        except TensorKeepError:
            return 0

    # ------------------------------------------------------------------------------------------ evaluation

    def evaluate(
        self,
        input_fn: InputFunction,
        steps: int | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: PathLike | None = None,
        name: str | None = None,
    ) -> dict[str, Any]:
        """The metrics, the loss and the step of a checkpoint, by default the latest, over `steps` batches or all.

        They are written to an event file of the folder `eval_dir(name)`, too.
        """
        own = list(checked_hooks(hooks))
        _check_positive("steps", steps)
        if steps is not None:
            own.append(StopAfterHook(steps))
        path = self.latest_checkpoint() if checkpoint_path is None else path_text(checkpoint_path)
        if not path:
            LOG.info(
                "Could not find trained model in model_dir: %s, running initialization to evaluate.", self.model_dir
            )
        with building(surroundings().graph()) as graph:
            self._begin(graph)
            features, labels, input_hooks = self._features_and_labels(input_fn, ModeKeys.EVAL)
            spec = self._call_model_fn(features, labels, ModeKeys.EVAL, self.config)
            evaluation = Evaluation(spec, path)
            self._warm_start(path)
            all_hooks = [*input_hooks, *own, *spec.evaluation_hooks]
            return evaluation.run(all_hooks, self._session_config(), self.eval_dir(name))

    # ------------------------------------------------------------------------------------------ prediction

    def predict(
        self,
        input_fn: InputFunction,
        predict_keys: Sequence[str] | str | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        checkpoint_path: PathLike | None = None,
        yield_single_examples: bool = True,
    ) -> Iterator[Any]:
        """Yields predictions by a checkpoint, by default the latest: one example at a time, or whole batches."""
        own = checked_hooks(hooks)
        path = self.latest_checkpoint() if checkpoint_path is None else path_text(checkpoint_path)
        if not path:
            LOG.info(
                "Could not find trained model in model_dir: %s, running initialization to predict.", self.model_dir
            )
        graph = surroundings().graph()
        with building(graph):
            self._begin(graph)
            features, _, input_hooks = self._features_and_labels(input_fn, ModeKeys.PREDICT)
            _warn_of_endless_input(features, graph)
            spec = self._call_model_fn(features, None, ModeKeys.PREDICT, self.config)
            self._warm_start(path)
            wanted = _chosen_predictions(spec.predictions, predict_keys)
            all_hooks = [*input_hooks, *own, *spec.prediction_hooks]
            creator = surroundings().chief_creator(
                checkpoint_filename_with_path=path, scaffold=spec.scaffold, config=self._session_config()
            )
            session = surroundings().monitored_session(session_creator=creator, hooks=all_hooks)
        # The graph is in force only while it is built: what is yielded goes to a program that may build another.
        yield from _yield_predictions(session, graph, wanted, yield_single_examples)

    # ------------------------------------------------------------------------------------------ export

    def export_saved_model(
        self,
        export_dir_base: PathLike,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: PathLike | None = None,
        experimental_mode: str = ModeKeys.PREDICT,
    ) -> bytes:
        """Writes a SavedModel of a checkpoint, by default the latest, to a new folder named after the time."""
        if serving_input_receiver_fn is None:
            raise InvalidArgumentError("An input_receiver_fn must be defined.")
        receivers = {experimental_mode: serving_input_receiver_fn}
        return self._export(export_dir_base, receivers, assets_extra, as_text, checkpoint_path, True)

    def export_savedmodel(
        self,
        export_dir_base: PathLike,
        serving_input_receiver_fn: Callable[[], Any],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: PathLike | None = None,
        strip_default_attrs: bool = False,
    ) -> bytes:
        """The same under its older name; attributes that are so by default stay, unless told otherwise."""
        if serving_input_receiver_fn is None:
            raise InvalidArgumentError("An input_receiver_fn must be defined.")
        receivers = {ModeKeys.PREDICT: serving_input_receiver_fn}
        return self._export(export_dir_base, receivers, assets_extra, as_text, checkpoint_path, strip_default_attrs)

    def experimental_export_all_saved_models(
        self,
        export_dir_base: PathLike,
        input_receiver_fn_map: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, str] | None = None,
        as_text: bool = False,
        checkpoint_path: PathLike | None = None,
    ) -> bytes:
        """Writes a SavedModel with a graph for each mode."""
        return self._export(export_dir_base, input_receiver_fn_map, assets_extra, as_text, checkpoint_path, True)

    def _export(
        self,
        export_dir_base: PathLike,
        receivers: Mapping[str, Callable[[], Any]],
        assets_extra: Mapping[str, str] | None,
        as_text: bool,
        checkpoint_path: PathLike | None,
        strip_default_attrs: bool,
    ) -> bytes:
        path = self.latest_checkpoint() if checkpoint_path is None else path_text(checkpoint_path)
        if not path and self._warm_start_settings is not None:
            source = self._warm_start_settings.ckpt_to_initialize_from
            path = latest_checkpoint(source) if gfile.is_directory(source) else source
        if not path:
            raise InvalidArgumentError(f"Couldn't find trained model at {self.model_dir}.")
        export = Export(path, self._session_config(), dict(assets_extra or {}), as_text, strip_default_attrs)
        return export_models(path_text(export_dir_base), receivers, self._model_of, export)

    def _model_of(self, receiver_fn: Callable[[], Any], mode: str) -> tuple[Any, EstimatorSpec]:
        """What is fed, and the model of it, in the graph being built."""
        self._begin(current_graph())
        receiver = receiver_fn()
        labels = getattr(receiver, "labels", None)
        return receiver, self._call_model_fn(receiver.features, labels, mode, self.config)

    # ------------------------------------------------------------------------------------------ parts

    def _begin(self, graph: Graph) -> None:
        graph.seed = self._config.tf_random_seed
        create_global_step(graph)

    def _session_config(self) -> ConfigProto:
        given: ConfigProto | None = self._config.session_config
        return ConfigProto(allow_soft_placement=True) if given is None else given

    def _warm_start(self, checkpoint: str | None) -> None:
        """Lets variables begin as those of another model, if there is no checkpoint to go on from."""
        if checkpoint or self._warm_start_settings is None:
            return
        LOG.info("Warm-starting with WarmStartSettings: %s", self._warm_start_settings)
        warm_start(*self._warm_start_settings)

    def _call_input_fn(self, input_fn: InputFunction, mode: str) -> Any:
        available = {"mode": mode, "params": self.params, "config": self.config}
        with device("/cpu:0"):
            return input_fn(**{name: available[name] for name in arguments_of(input_fn) if name in available})

    def _features_and_labels(self, input_fn: InputFunction, mode: str) -> tuple[Any, Any, list[SessionRunHook]]:
        """Features, labels, and hooks that let their source begin."""
        result = self._call_input_fn(input_fn, mode)
        hooks: list[SessionRunHook] = []
        if isinstance(result, Dataset):
            iterator = make_initializable_iterator(result)
            hooks.append(_IteratorHook(iterator))
            result = iterator.get_next()
        if isinstance(result, list | tuple):
            if len(result) != 2:
                raise InvalidArgumentError(
                    f"input_fn should return (features, labels) as a len 2 tuple, and it returned {len(result)} items."
                )
            return result[0], result[1], hooks
        return result, None, hooks

    def _call_model_fn(self, features: Any, labels: Any, mode: str, config: RunConfig) -> EstimatorSpec:
        takes = arguments_of(self._model_fn)
        if labels is not None and "labels" not in takes:
            raise InvalidArgumentError("model_fn does not take labels, but input_fn returns labels.")
        available = {"labels": labels, "mode": mode, "params": self.params, "config": config}
        LOG.info("Calling model_fn.")
        spec = self._model_fn(features=features, **{name: available[name] for name in takes if name in available})
        LOG.info("Done calling model_fn.")
        if not isinstance(spec, EstimatorSpec):
            raise InvalidArgumentError(f"model_fn should return an EstimatorSpec, and it returned {spec!r}.")
        return spec


# ---------------------------------------------------------------------------------------------------- Parts


class _IteratorHook(SessionRunHook):
    """Lets an iterator over a dataset begin in each new session."""

    def __init__(self, iterator: Any) -> None:
        self._initializer = iterator.initializer

    def after_create_session(self, session: TrainingSession, coord: Coordinator) -> None:
        session.run(self._initializer)


def _place_operations(device_fn: Any) -> AbstractContextManager[None]:
    """Operations made inside are placed by a function, if there is one."""
    return nullcontext() if device_fn is None else device(device_fn)


def arguments_of(function: Callable[..., Any]) -> list[str]:
    """The names of a function's arguments, of partial functions and methods too."""
    kinds = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    return [name for name, item in inspect.signature(function).parameters.items() if item.kind in kinds]


def _check_model_function(model_fn: ModelFunction, params: Any) -> None:
    takes = set(arguments_of(model_fn))
    if "features" not in takes:
        raise InvalidArgumentError(f"model_fn ({model_fn}) must include features argument.")
    if params is not None and "params" not in takes:
        raise InvalidArgumentError(
            f"model_fn ({model_fn}) does not include params argument, but params ({params}) is passed to Estimator."
        )
    if params is None and "params" in takes:
        LOG.warning(
            "Estimator's model_fn (%s) includes params argument, but params are not passed to Estimator.", model_fn
        )
    unknown = sorted(takes - _MODEL_ARGUMENTS)
    if unknown:
        raise InvalidArgumentError(f"model_fn ({model_fn}) has following not expected args: {unknown}")


def _check_positive(name: str, value: int | None) -> None:
    if value is not None and value <= 0:
        raise InvalidArgumentError(f"Must specify {name} > 0, given: {value}")


def _checked_listeners(listeners: Sequence[Any] | None) -> list[CheckpointSaverListener]:
    found = list(listeners or ())
    for listener in found:
        if not isinstance(listener, CheckpointSaverListener):
            raise WrongTypeError(f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}")
    return found


def config_with_folder(config: RunConfig | None, model_dir: PathLike | None) -> RunConfig:
    """A configuration that has a folder: its own, the given one, or a new temporary one."""
    if config is None:
        config = RunConfig()
        LOG.info("Using default config.")
    if not isinstance(config, RunConfig):
        raise InvalidArgumentError(f"config must be an instance of `RunConfig`, but provided {config}.")
    given = None if model_dir is None else path_text(model_dir)
    if given and config.model_dir is not None and config.model_dir != given:
        raise InvalidArgumentError(
            "`model_dir` are set both in constructor and `RunConfig`, but with different values. In constructor: "
            f"'{given}', in `RunConfig`: '{config.model_dir}' "
        )
    if given:
        return config.replace(model_dir=given)
    if config.model_dir is None:
        folder = new_temporary_folder()
        LOG.warning("Using temporary folder as model directory: %s", folder)
        return config.replace(model_dir=folder)
    return config


def _warm_start_settings(source: PathLike | WarmStartSettings | None) -> WarmStartSettings | None:
    if source is None or isinstance(source, WarmStartSettings):
        return source
    if isinstance(source, bytes):
        source = source.decode()
    try:
        path = path_text(source)
    except TensorKeepError as error:
        raise InvalidArgumentError(
            f"warm_start_from must be a string or a WarmStartSettings, instead got {type(source)}"
        ) from error
    variables = str(gfile.join(path, "variables", "variables"))
    if gfile.exists(f"{variables}.index"):
        LOG.info("Warm-starting from a SavedModel")
        return WarmStartSettings(variables)
    return WarmStartSettings(path)


def _run_until_stopped(session: Any, fetches: list[Any]) -> Any:
    """Runs steps until the session says stop; the last value of the last fetch."""
    last, count = None, 0
    while not session.should_stop():
        count += 1
        *_, last = session.run(fetches)
    if not count:
        LOG.warning("Training with estimator made no steps. Perhaps input is empty or misspecified.")
    return last


def _warn_of_endless_input(features: Any, graph: Graph) -> None:
    tensors = [item for item in flatten(features) if isinstance(item, Tensor)]
    if not any(item.op.type == "IteratorGetNext" for item in tensors) and not get_collection(
        graph, GraphKeys.QUEUE_RUNNERS
    ):
        LOG.warning(
            "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict yields forever. "
            "This is probably a mistake."
        )


def _chosen_predictions(predictions: Any, keys: Sequence[str] | str | None) -> Any:
    if not keys:
        return predictions
    if not isinstance(predictions, dict):
        raise InvalidArgumentError("predict_keys argument is not valid in case of non-dict predictions.")
    wanted = [keys] if isinstance(keys, str) else list(keys)
    found = {key: value for key, value in predictions.items() if key in wanted}
    if not found:
        raise InvalidArgumentError(f"Expected to run at least one output from {list(predictions)}, provided {wanted}.")
    return found


def _yield_predictions(session: Any, graph: Graph, predictions: Any, one_by_one: bool) -> Iterator[Any]:
    """Batches of predictions, or examples of them, until the input ends or the program has enough."""
    with session:
        while True:
            with building(graph):
                if session.should_stop():
                    return
                batch = session.run(predictions)
            if not one_by_one:
                yield batch
            elif isinstance(batch, dict):
                yield from ({key: value[i] for key, value in batch.items()} for i in range(_batch_length(batch)))
            else:
                yield from batch


def _batch_length(batch: Mapping[str, Any]) -> int:
    lengths: dict[str, int] = {key: int(np.shape(value)[0]) for key, value in batch.items()}
    first = next(iter(lengths.values()))
    for key, length in lengths.items():
        if length != first:
            raise InvalidArgumentError(
                f"Batch length of predictions should be same. {key} has different batch length than others."
            )
    return first
