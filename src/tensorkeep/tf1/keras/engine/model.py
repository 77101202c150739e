"""`tf.keras.Model`: networks that are trained, tested, asked and saved."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building, current_graph
from tensorkeep.graph.graph import Tensor
from tensorkeep.io.files.filesystem import PathLike
from tensorkeep.tf1.functions.arrays.shapes import placeholder
from tensorkeep.tf1.keras.backend.settings import floatx
from tensorkeep.tf1.keras.callbacks.base import History
from tensorkeep.tf1.keras.engine import loops
from tensorkeep.tf1.keras.engine.base_layer import untracked_method
from tensorkeep.tf1.keras.engine.compiled import CompileArguments, Compiled, Step
from tensorkeep.tf1.keras.engine.data import (
    Batch,
    as_arrays,
    check_lengths,
    in_order,
    item_weights,
    split_for_validation,
    weights_by_output,
)
from tensorkeep.tf1.keras.engine.loops import Callbacks
from tensorkeep.tf1.keras.engine.network import Network
from tensorkeep.tf1.keras.engine.nodes import node_of
from tensorkeep.tf1.keras.engine.saving import model_configs, model_files, weight_files
from tensorkeep.tf1.keras.engine.sources import (
    ArraySource,
    DatasetSource,
    GeneratorSource,
    Source,
    TensorSource,
    is_dataset,
    is_generator,
)
from tensorkeep.tf1.keras.engine.summaries import print_summary
from tensorkeep.tf1.keras.engine.tensor_notes import history_of
from tensorkeep.tf1.saved_model.object_exporting import Signatures
from tensorkeep.tf1.saved_model.save_options import SaveOptions
from tensorkeep.tf1.training.objects.load_status import CheckpointLoadStatus, NameBasedSaverStatus

ClassWeights: TypeAlias = "_OfClasses | Sequence[_OfClasses | None] | Mapping[str, _OfClasses] | None"
"""How much the items of a class count; for several outputs in a list, or by their names."""
_OfClasses: TypeAlias = "Mapping[int, float]"


class Model(Network):
    """A network between `inputs` and `outputs`, or one with a `call` of the program's own."""

    _collected_trainable_weights: list[Any]

    @untracked_method
    def __init__(self, *args: object, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._compile_arguments: CompileArguments | None = None
        self._compiled: Compiled | None = None
        self._predict_step: Step | None = None
        self.history: Any = None
        self.stop_training = False

    # ------------------------------------------------------------------------------------------ compiling

    def compile(
        self,
        optimizer: object = "rmsprop",
        loss: object = None,
        metrics: object = None,
        loss_weights: object = None,
        sample_weight_mode: object = None,
        weighted_metrics: object = None,
        target_tensors: object = None,
        distribute: object = None,
        **kwargs: object,
    ) -> None:
        """Says how the model is trained. One that has no inputs yet is compiled when it sees data."""
        if distribute is not None:
            raise InvalidArgumentError("models are trained in this process: leave `distribute` out")
        if kwargs.pop("run_eagerly", None):
            raise InvalidArgumentError("Models run in graph mode: eager mode is not there. Leave `run_eagerly` out")
        if unknown := sorted(set(kwargs) - {"cloning", "options", "run_metadata", "fetches", "feed_dict"}):
            raise TypeError(f"Invalid keyword arguments of compile: {unknown}")
        told = CompileArguments(
            optimizer, loss, metrics, loss_weights, sample_weight_mode, weighted_metrics, target_tensors, kwargs
        )
        vars(self).update(_compile_arguments=told, _compiled=None, _predict_step=None)
        if self.outputs is not None:
            self._compile_now()

    def _compile_now(self) -> None:
        assert self._compile_arguments is not None
        self._check_trainable_later()
        made = Compiled(self, self._compile_arguments)
        vars(self)["_compiled"] = made
        self.optimizer = made.optimizer  # saved with the model

    def _check_trainable_later(self) -> None:
        """Notes what is trained now: what a program freezes after `compile` is trained until it compiles again."""
        vars(self)["_collected_trainable_weights"] = self.trainable_weights

    @property
    def _is_compiled(self) -> bool:
        return self._compile_arguments is not None

    def _ready(self) -> Compiled:
        """What `compile` made; an error if it was not called."""
        if self._compile_arguments is None:
            raise RuntimeError(
                "You must compile a model before training/testing. Use `model.compile(optimizer, loss)`."
            )
        if self._compiled is None:
            self._compile_now()
        assert self._compiled is not None
        return self._compiled

    @property
    def total_loss(self) -> Tensor | None:
        found: Tensor | None = self._ready().total_loss
        return found

    @property
    def targets(self) -> list[Any]:
        return [endpoint.target for endpoint in self._ready().endpoints if endpoint.has_target]

    @property
    def sample_weights(self) -> list[Any]:
        return [endpoint.sample_weight for endpoint in self._ready().endpoints]

    @property
    def loss(self) -> Any:
        return None if self._compile_arguments is None else self._compile_arguments.loss

    @property
    def metrics(self) -> list[Any]:
        compiled = vars(self).get("_compiled")
        return [*(() if compiled is None else compiled.metrics), *super().metrics]

    @property
    def metrics_names(self) -> list[str]:
        """What the numbers are that training and testing give."""
        if self._compile_arguments is None:
            raise RuntimeError("You must compile a model before it has names of metrics. Use `model.compile`.")
        return ["loss"] if self._compiled is None else self._compiled.metrics_names

    def reset_metrics(self) -> None:
        """Lets all metrics start over."""
        self._ready().reset_metrics()

    @property
    def _fed_inputs(self) -> list[Any]:
        """The inputs that are fed: those that are no tensors of the program's own."""
        return [tensor for tensor in self.inputs or () if _is_fed(tensor)]

    @property
    def _fed_input_names(self) -> list[str]:
        pairs = zip(self.inputs or (), self.input_names, strict=True)
        return [name for tensor, name in pairs if _is_fed(tensor)]

    # ------------------------------------------------------------------------------------------ data

    @untracked_method
    def _ensure_inputs(self, x: Any) -> None:
        """Makes placeholders for the first data that a model of the program's own sees, and calls it with them."""
        if self.inputs is not None:
            return
        made = _placeholders_for(as_arrays(x))
        graph = current_graph()
        with building(graph):
            self(made)

    def _arranged(
        self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None, *, with_targets: bool = True
    ) -> Batch:
        """What a program gave, as arrays in the order of inputs and targets."""
        self._ensure_inputs(x)
        fed, names = self._fed_inputs, self._fed_input_names
        inputs = in_order(x, names, [_shape_of(tensor) for tensor in fed], "input")
        if not with_targets:
            batch = Batch(inputs, [], [])
            check_lengths(batch)
            return batch
        compiled = self._ready()
        ends = compiled.fed_targets
        targets = in_order(y, [end.name for end in ends], [end.target_shape for end in ends], "target")
        if y is None and ends:
            raise InvalidArgumentError(
                f"The model has targets for {[end.name for end in ends]}, but none were given: pass `y`"
            )
        with_target = [end for end in compiled.endpoints if end.has_target]
        own = weights_by_output(sample_weight, [end.name for end in with_target], "sample_weight")
        by_class = _class_weights_by_output(class_weight, [end.name for end in with_target])
        known = iter(targets)
        weights = [
            item_weights(next(known) if end.is_fed else None, weight, classes, mode)
            for end, weight, classes, mode in zip(
                with_target, own, by_class, self._weight_modes(with_target), strict=True
            )
        ]
        batch = Batch(inputs, targets, weights)
        check_lengths(batch)
        compiled.take_targets(targets)
        compiled.take_weights(weights)
        return batch

    def _weight_modes(self, ends: Sequence[Any]) -> list[Any]:
        compiled = self._ready()
        modes = dict(zip((end.name for end in compiled.endpoints), compiled._modes, strict=True))
        return [modes[end.name] for end in ends]

    def _understood(self, item: Any, class_weight: Any = None, *, with_targets: bool = True) -> Batch:
        """A batch of a generator or a dataset: inputs, or a tuple of inputs, targets and perhaps weights."""
        parts = item if isinstance(item, tuple) else (item,)
        if not 1 <= len(parts) <= 3:
            raise InvalidArgumentError(
                "Output of generator should be a tuple `(x, y, sample_weight)` or `(x, y)`. Found: " + str(item)
            )
        if not with_targets:
            return self._arranged(parts[0], with_targets=False)
        if len(parts) == 1:
            return self._arranged(parts[0], class_weight=class_weight)
        return self._arranged(parts[0], parts[1], parts[2] if len(parts) == 3 else None, class_weight)

    def _source(
        self,
        x: Any,
        y: Any,
        sample_weight: Any = None,
        class_weight: Any = None,
        *,
        batch_size: int | None = None,
        steps: int | None = None,
        shuffle: Any = False,
        with_targets: bool = True,
    ) -> Source:
        if is_dataset(x):
            if y is not None or sample_weight is not None:
                raise InvalidArgumentError(
                    "You passed a dataset or dataset iterator as input `x` to your model. In that case, you should not "
                    "specify a target (`y`) argument, nor weights, since the dataset gives them."
                )
            if batch_size is not None:
                raise InvalidArgumentError(
                    "The `batch_size` argument must not be specified when using dataset as an input."
                )
            graph = self._graph_of(x)
            return DatasetSource(
                x, steps, lambda item: self._understood(item, class_weight, with_targets=with_targets), graph
            )
        if is_generator(x):
            if y is not None:
                raise InvalidArgumentError("`y` argument is not supported when using a generator as input.")
            return GeneratorSource(
                x, steps, lambda item: self._understood(item, class_weight, with_targets=with_targets), bool(shuffle)
            )
        batch = self._arranged(x, y, sample_weight, class_weight, with_targets=with_targets)
        if any(isinstance(item, Tensor) for item in [*batch.inputs, *batch.targets]):
            raise InvalidArgumentError(
                "tensors were given as data: make the model of them by `Input(tensor=...)` and `target_tensors=`, or "
                "give a dataset or arrays"
            )
        if batch.size is None or (steps is not None and batch_size is None):
            if steps is None:
                raise InvalidArgumentError(
                    "If the model is fed nothing, or predicting from data tensors, you should specify the number of "
                    "steps: `steps_per_epoch` or `steps`."
                )
            if batch.size is not None:
                return ArraySource(batch, -(-batch.size // steps), shuffle)
            return TensorSource(batch, steps)
        size = (self._static_batch() or 32) if batch_size is None else int(batch_size)
        if self.stateful and batch.size % size:
            raise InvalidArgumentError(
                "In a stateful network, you should only pass inputs with a number of samples that can be divided by "
                f"the batch size. Found: {batch.size} samples, batch size {size}"
            )
        return ArraySource(batch, size, shuffle)

    def _static_batch(self) -> int | None:
        """The size of batches that the inputs were told, which is the one to use then."""
        shape = _shape_of(self.inputs[0]) if self.inputs else None
        found: int | None = shape[0] if shape else None
        return found

    def _graph_of(self, dataset: Any) -> Any:
        if self.outputs:
            return self.outputs[0].graph
        return getattr(dataset, "graph", None) or current_graph()

    def _validation(self, data: Any, batch_size: int | None, steps: int | None) -> Source:
        if is_dataset(data) or is_generator(data):
            return self._source(data, None, steps=steps)
        if not isinstance(data, list | tuple) or len(data) not in (2, 3):
            raise InvalidArgumentError(
                "When passing a `validation_data` argument, it must contain either 2 items (x_val, y_val), or 3 items "
                f"(x_val, y_val, val_sample_weights), or be a dataset. Received: {data!r}"
            )
        weights = data[2] if len(data) == 3 else None
        return self._source(data[0], data[1], weights, batch_size=batch_size, steps=steps, shuffle=True)

    # ------------------------------------------------------------------------------------------ steps

    def _train_on(self, batch: Batch) -> list[Any]:
        compiled = self._ready()
        with building(compiled.graph):
            return compiled.train_step()(compiled.values_of(batch))

    def _test_on(self, batch: Batch) -> list[Any]:
        compiled = self._ready()
        with building(compiled.graph):
            return compiled.test_step()(compiled.values_of(batch))

    def _predict_on(self, batch: Batch) -> list[Any]:
        with building(self.outputs[0].graph):
            if self._predict_step is None:
                updates = list(dict.fromkeys(self.state_updates))
                vars(self)["_predict_step"] = Step(self._fed_inputs, self.outputs, updates, phase=False)
            assert self._predict_step is not None
            return self._predict_step(batch.inputs)

    def _make_train_function(self) -> None:
        """Builds the step that trains, and with it the variables of the optimizer."""
        self._ready().train_step()

    # ------------------------------------------------------------------------------------------ training

    def fit(
        self,
        x: object = None,
        y: object = None,
        batch_size: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Callbacks = None,
        validation_split: float = 0.0,
        validation_data: object = None,
        shuffle: bool | str = True,
        class_weight: ClassWeights = None,
        sample_weight: object = None,
        initial_epoch: int = 0,
        steps_per_epoch: int | None = None,
        validation_steps: int | None = None,
        validation_freq: int | Sequence[int] = 1,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        **kwargs: int,
    ) -> History:
        """Trains for some epochs; a History of losses and metrics.

        Batches of generators and sequences are made between the steps, in this thread, however many `workers` are
        asked for.
        """
        if "nb_epoch" in kwargs:
            epochs = kwargs.pop("nb_epoch")
        if kwargs:
            raise TypeError(f"Unrecognized keyword arguments: {sorted(kwargs)}")
        validation: Source | None = None
        if validation_split and validation_data is None:
            if is_dataset(x) or is_generator(x):
                raise InvalidArgumentError(
                    "`validation_split` is only supported for arrays, not for datasets or generators."
                )
            whole = self._arranged(x, y, sample_weight, class_weight)
            kept, held = split_for_validation(whole, validation_split)
            size = (self._static_batch() or 32) if batch_size is None else batch_size
            source: Source = ArraySource(kept, size, shuffle)
            validation = ArraySource(held, size, shuffle=True)  # drawn there as well, which numbers drawn later feel
        else:
            source = self._source(
                x, y, sample_weight, class_weight, batch_size=batch_size, steps=steps_per_epoch, shuffle=shuffle
            )
            if validation_data is not None:
                validation = self._validation(validation_data, batch_size, validation_steps)
        return loops.train(
            self,
            source,
            epochs=epochs,
            initial_epoch=initial_epoch,
            callbacks=callbacks,
            verbose=verbose,
            validation=validation,
            validation_freq=validation_freq,
        )

    def evaluate(
        self,
        x: Any = None,
        y: Any = None,
        batch_size: int | None = None,
        verbose: int = 1,
        sample_weight: Any = None,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The loss, and with metrics a list of the loss and the metrics."""
        source = self._source(x, y, sample_weight, batch_size=batch_size, steps=steps)
        return _single_or_list(loops.test(self, source, callbacks=callbacks, verbose=verbose))

    def predict(
        self,
        x: Any = None,
        batch_size: int | None = None,
        verbose: int = 0,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
    ) -> Any:
        """The outputs for inputs; a list of arrays if there are several."""
        source = self._source(x, None, batch_size=batch_size, steps=steps, with_targets=False)
        return _single_or_list(loops.predict(self, source, callbacks=callbacks, verbose=verbose))

    def train_on_batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None, reset_metrics: bool = True
    ) -> Any:
        """Trains by one step; its loss, and with metrics a list."""
        found = self._train_on(self._batch(x, y, sample_weight, class_weight))
        if reset_metrics:
            self.reset_metrics()
        return _single_or_list(found)

    def test_on_batch(self, x: Any, y: Any = None, sample_weight: Any = None, reset_metrics: bool = True) -> Any:
        """The loss of one batch, and with metrics a list."""
        found = self._test_on(self._batch(x, y, sample_weight))
        if reset_metrics:
            self.reset_metrics()
        return _single_or_list(found)

    def predict_on_batch(self, x: Any) -> Any:
        """The outputs for one batch."""
        return _single_or_list(self._predict_on(self._batch(x, with_targets=False)))

    def _batch(
        self, x: Any, y: Any = None, sample_weight: Any = None, class_weight: Any = None, *, with_targets: bool = True
    ) -> Batch:
        if is_dataset(x):
            source = self._source(x, y, sample_weight, class_weight, steps=1, with_targets=with_targets)
            return next(source.epoch())
        return self._arranged(x, y, sample_weight, class_weight, with_targets=with_targets)

    def fit_generator(
        self,
        generator: object,
        steps_per_epoch: int | None = None,
        epochs: int = 1,
        verbose: int = 1,
        callbacks: Callbacks = None,
        validation_data: object = None,
        validation_steps: int | None = None,
        validation_freq: int | Sequence[int] = 1,
        class_weight: ClassWeights = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        shuffle: bool = True,
        initial_epoch: int = 0,
    ) -> History:
        """Trains with the batches of a generator."""
        return self.fit(
            generator,
            epochs=epochs,
            verbose=verbose,
            callbacks=callbacks,
            validation_data=validation_data,
            shuffle=shuffle,
            class_weight=class_weight,
            initial_epoch=initial_epoch,
            steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps,
            validation_freq=validation_freq,
        )

    def evaluate_generator(
        self,
        generator: Any,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """The loss and metrics over the batches of a generator."""
        return self.evaluate(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    def predict_generator(
        self,
        generator: Any,
        steps: int | None = None,
        callbacks: Any = None,
        max_queue_size: int = 10,
        workers: int = 1,
        use_multiprocessing: bool = False,
        verbose: int = 0,
    ) -> Any:
        """The outputs for the batches of a generator."""
        return self.predict(generator, steps=steps, callbacks=callbacks, verbose=verbose)

    # ------------------------------------------------------------------------------------------ saving

    def save_weights(self, filepath: PathLike, overwrite: bool = True, save_format: str | None = None) -> None:
        """Writes the values of the variables: as HDF5 if the name ends in .h5 or .hdf5, else as a checkpoint."""
        self._check_built("save the weights of")
        weight_files.save_weights(self, filepath, overwrite, save_format)

    def load_weights(
        self, filepath: PathLike, by_name: bool = False, skip_mismatch: bool = False
    ) -> CheckpointLoadStatus | NameBasedSaverStatus | None:
        """Reads them; of a checkpoint the status, which tells what was found."""
        return weight_files.load_weights(self, filepath, by_name, skip_mismatch)

    def save(
        self,
        filepath: PathLike,
        overwrite: bool = True,
        include_optimizer: bool = True,
        save_format: str | None = None,
        signatures: Signatures = None,
        options: SaveOptions | None = None,
    ) -> None:
        """Writes the model, with its layers, weights, and what `compile` was told, as HDF5 or a SavedModel."""
        model_files.save_model(self, filepath, overwrite, include_optimizer, save_format, signatures, options)

    def _check_built(self, what: str) -> None:
        if not self.weights and not self.built:
            raise InvalidArgumentError(
                f"Unable to {what} model {self.name}: weights for the model have not yet been created. Weights are "
                "created when the Model is first called on inputs or `build()` is called with an `input_shape`."
            )

    def to_json(self, **kwargs: Any) -> str:
        """The layers of the model as JSON, to be read by `model_from_json`."""
        return json.dumps(model_configs.described_model(self), default=model_configs.json_value, **kwargs)

    def summary(
        self,
        line_length: int | None = None,
        positions: Sequence[float] | None = None,
        print_fn: Callable[[str], object] | None = None,
    ) -> None:
        """Prints the layers of the model, their outputs and the number of their parameters."""
        if not self.built:
            raise InvalidArgumentError(
                "This model has not yet been built. Build the model first by calling `build()` or calling `fit()` with "
                "some data, or specify an `input_shape` argument in the first layer(s) for automatic build."
            )
        print_summary(self, line_length, positions, print_fn)


# ---------------------------------------------------------------------------------------------------- Parts


def _is_fed(tensor: Any) -> bool:
    if history_of(tensor) is not None:
        return bool(getattr(node_of(tensor).layer, "is_placeholder", True))
    op = getattr(tensor, "op", None)
    return op is None or op.type in ("Placeholder", "PlaceholderWithDefault")


def _shape_of(tensor: Any) -> tuple[Any, ...] | None:
    if not isinstance(tensor, Tensor):
        return None
    shape = tensor.get_shape()
    return None if shape.rank is None else tuple(shape.as_list())


def _single_or_list(found: list[Any]) -> Any:
    return found[0] if len(found) == 1 else found


def _class_weights_by_output(given: Any, names: Sequence[str]) -> list[Any]:
    if isinstance(given, Mapping) and given and not any(name in given for name in names):
        return [given] * len(names) if len(names) == 1 else [given for _ in names]
    return weights_by_output(given, names, "class_weight")


def _placeholders_for(data: Any) -> Any:
    """Placeholders like some arrays, with batches of any size."""
    if isinstance(data, Tensor) or hasattr(data, "get_shape"):
        return data
    if isinstance(data, Mapping):
        return {key: _placeholder(value, key) for key, value in data.items()}
    if isinstance(data, list | tuple) and all(hasattr(item, "shape") for item in data):
        return [_placeholder(item, f"input_{at + 1}") for at, item in enumerate(data)]
    if data is None:
        raise InvalidArgumentError("The model has not been called yet, and there is no data to call it with")
    return _placeholder(data, "input_1")


def _placeholder(value: Any, name: str) -> Any:
    if hasattr(value, "get_shape"):
        return value
    array = np.asarray(value)
    if array.ndim == 1:
        array = array[:, None]
    kind = floatx() if array.dtype.kind == "f" else array.dtype
    return placeholder(kind, shape=(None, *array.shape[1:]), name=name)
