"""Training, testing and predicting over batches, with callbacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.tf1.keras.callbacks.base import BaseLogger, Callback, CallbackList, History
from tensorkeep.tf1.keras.callbacks.progress import ProgbarLogger
from tensorkeep.tf1.keras.engine.sources import Source

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine.model import Model


Callbacks: TypeAlias = "CallbackList | Callback | Sequence[Callback] | None"


class _Results:
    """The mean of losses over batches, and the last values of metrics."""

    def __init__(self) -> None:
        self._loss = 0.0
        self._seen = 0
        self._others: list[Any] = []

    def add(self, results: Sequence[Any], size: int) -> None:
        self._loss += float(results[0]) * size
        self._seen += size
        self._others = [_plain(value) for value in results[1:]]

    def values(self) -> list[Any]:
        return [self._loss / self._seen if self._seen else 0.0, *self._others]


def _plain(value: Any) -> Any:
    return (
        value.item() if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and not value.ndim) else value
    )


def callbacks_for(
    model: Model, given: Callbacks, mode: str, source: Source, *, verbose: int, epochs: int = 1, validates: bool = False
) -> CallbackList:
    """The callbacks of a run, those that Keras adds among them."""
    if isinstance(given, CallbackList):
        return given
    listed = list(given) if isinstance(given, list | tuple) else [] if given is None else [given]
    names = [] if mode == "predict" else list(model.metrics_names)
    if mode == "train":
        vars(model)["history"] = History()
        listed = [BaseLogger(stateful_metrics=names[1:]), *listed, model.history]
        if verbose:
            listed.append(ProgbarLogger("steps" if source.samples is None else "samples", stateful_metrics=names[1:]))
    callbacks = CallbackList(listed)
    callbacks.set_model(model)
    callbacks.set_params(
        {
            "batch_size": getattr(source, "_batch_size", None),
            "epochs": epochs,
            "steps": source.steps,
            "samples": source.samples,
            "verbose": verbose,
            "do_validation": validates,
            "metrics": [*names, *(f"val_{name}" for name in names)] if validates else names,
        }
    )
    vars(model)["stop_training"] = False
    return callbacks


def train(
    model: Model,
    source: Source,
    *,
    epochs: int,
    initial_epoch: int,
    callbacks: Callbacks,
    verbose: int,
    validation: Source | None,
    validation_freq: int | Sequence[int] = 1,
) -> History:
    """Trains a model for some epochs; returns its History: losses and metrics of each epoch."""
    run = callbacks_for(
        model, callbacks, "train", source, verbose=verbose, epochs=epochs, validates=validation is not None
    )
    names = model.metrics_names
    run.on_train_begin()
    for epoch in range(initial_epoch, epochs):
        if model.stop_training:
            break
        model.reset_metrics()
        run.on_epoch_begin(epoch, {})
        results = _Results()
        for at, batch in enumerate(source.epoch()):
            size = batch.size or 1
            logs: dict[str, Any] = {"batch": at, "size": size}
            run.on_train_batch_begin(at, logs)
            found = model._train_on(batch)
            results.add(found, size)
            logs.update(zip(names, map(_plain, found), strict=True))
            run.on_train_batch_end(at, logs)
            if model.stop_training:
                break
        epoch_logs = dict(zip(names, results.values(), strict=True))
        if validation is not None and _is_due(epoch, validation_freq):
            tested = test(model, validation, callbacks=run, verbose=0)
            epoch_logs.update((f"val_{name}", value) for name, value in zip(names, tested, strict=True))
        run.on_epoch_end(epoch, epoch_logs)
        if getattr(source, "is_exhausted", False):
            break
    run.on_train_end()
    history: History = model.history
    return history


def _is_due(epoch: int, frequency: Any) -> bool:
    if isinstance(frequency, int):
        if frequency < 1:
            raise InvalidArgumentError("`validation_freq` can not be less than 1.")
        return (epoch + 1) % frequency == 0
    return epoch + 1 in frequency


def test(model: Model, source: Source, *, callbacks: Callbacks, verbose: int) -> list[Any]:
    """Returns the loss and the metrics over all batches."""
    run = callbacks_for(model, callbacks, "test", source, verbose=verbose)
    model.reset_metrics()
    results = _Results()
    run.on_test_begin()
    for at, batch in enumerate(source.epoch()):
        size = batch.size or 1
        logs: dict[str, Any] = {"batch": at, "size": size}
        run.on_test_batch_begin(at, logs)
        found = model._test_on(batch)
        results.add(found, 1 if source.counts_steps else size)
        logs.update(zip(model.metrics_names, map(_plain, found), strict=True))
        run.on_test_batch_end(at, logs)
    run.on_test_end()
    return results.values()


def predict(model: Model, source: Source, *, callbacks: Callbacks, verbose: int) -> list[Any]:
    """Returns the outputs of all batches, one array for each output."""
    run = callbacks_for(model, callbacks, "predict", source, verbose=verbose)
    parts: list[list[Any]] = []
    run.on_predict_begin()
    for at, batch in enumerate(source.epoch()):
        logs: dict[str, Any] = {"batch": at, "size": batch.size or 1}
        run.on_predict_batch_begin(at, logs)
        parts.append([_stretched(output, batch.size) for output in model._predict_on(batch)])
        run.on_predict_batch_end(at, logs)
    run.on_predict_end()
    return [np.concatenate(outputs, axis=0) for outputs in zip(*parts, strict=True)]


def _stretched(output: Any, size: int | None) -> Any:
    """One number for a batch, such as a loss among the outputs, is that of each of its elements, as in TensorFlow."""
    return output if np.ndim(output) else np.full(size or 1, output)
