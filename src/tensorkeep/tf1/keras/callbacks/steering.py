"""What a training changes as it goes on: checkpoints, early stopping, and learning rates."""

from __future__ import annotations

import posixpath
import re
import warnings
from collections.abc import Callable, Mapping, MutableMapping
from inspect import signature
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.tf1.keras.callbacks.base import Callback
from tensorkeep.tf1.keras.engine.session_values import batch_get_value, batch_set_value
from tensorkeep.tf1.keras.surroundings import surroundings
from tensorkeep.tf1.variables.variable import Variable

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine.model import Model


class _Monitor:
    """A measure that should become smaller, or larger."""

    def __init__(self, name: str, mode: str, larger: tuple[str, ...] = ("acc",)) -> None:
        if mode not in ("auto", "min", "max"):
            warnings.warn(f"mode {mode} is unknown, fallback to auto mode.", stacklevel=3)
            mode = "auto"
        is_larger = any(part in name for part in larger) or name.startswith("fmeasure")
        self.name = name
        self.grows = mode == "max" or (mode == "auto" and is_larger)

    @property
    def worst(self) -> float:
        return -np.inf if self.grows else np.inf

    def is_better(self, value: Any, best: Any, by: float = 0.0) -> bool:
        return bool(value - by > best if self.grows else value + by < best)

    def value(self, logs: Any, what: str) -> Any:
        """The measure, or None with a warning."""
        found = (logs or {}).get(self.name)
        if found is None:
            warnings.warn(
                f"{what} conditioned on metric `{self.name}` which is not available. Available metrics are: "
                f"{','.join(logs or ())}",
                stacklevel=3,
            )
        return found


def _say(text: str) -> None:
    surroundings().write_text(f"\n{text}\n")


class TerminateOnNaN(Callback):
    """Ends the training when the loss is not a number."""

    def on_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        loss = (logs or {}).get("loss")
        if loss is not None and not np.all(np.isfinite(loss)):
            _say(f"Batch {batch}: Invalid loss, terminating training")
            self.model.stop_training = True


class ModelCheckpoint(Callback):
    """Saves the model or its weights after epochs, or after so many samples; all, or those that are best."""

    def __init__(
        self,
        filepath: PathLike,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: str | int = "epoch",
        **kwargs: int,
    ) -> None:
        super().__init__()
        self.monitor = monitor
        self.verbose = verbose
        self.filepath = path_text(filepath)
        self.save_best_only = save_best_only
        self.save_weights_only = save_weights_only
        self.save_freq = save_freq
        self.load_weights_on_restart = kwargs.pop("load_weights_on_restart", False)
        self.period = kwargs.pop("period", 1)
        if kwargs:
            raise InvalidArgumentError(f"ModelCheckpoint has no argument {', '.join(sorted(kwargs))}")
        if save_freq != "epoch" and not isinstance(save_freq, int):
            raise InvalidArgumentError(f"Unrecognized save_freq: {save_freq}")
        self._monitor = _Monitor(monitor, mode)
        self.best: Any = self._monitor.worst
        self.epochs_since_last_save = 0
        self._current_epoch = 0
        self._samples_seen_since_last_saving = 0

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        if self.load_weights_on_restart and (found := latest_file(self.filepath)) is not None:
            self.model.load_weights(found)

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        self._current_epoch = epoch

    def on_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        if not isinstance(self.save_freq, int):
            return
        self._samples_seen_since_last_saving += (logs or {}).get("size", 1)
        if self._samples_seen_since_last_saving >= self.save_freq:
            self._save_model(self._current_epoch, logs)
            self._samples_seen_since_last_saving = 0

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        self.epochs_since_last_save += 1
        if self.save_freq == "epoch" and self.epochs_since_last_save >= self.period:
            self._save_model(epoch, logs)

    def _save_model(self, epoch: int, logs: Any) -> None:
        self.epochs_since_last_save = 0
        path = self._path(epoch, logs or {})
        shown = f"Epoch {epoch + 1:05d}: "
        if self.save_best_only:
            current = self._monitor.value(logs, "Can save best model only with a metric: saving")
            if current is None:
                return
            if not self._monitor.is_better(current, self.best):
                if self.verbose:
                    _say(f"{shown}{self.monitor} did not improve from {self.best:.5f}")
                return
            shown += f"{self.monitor} improved from {self.best:.5f} to {current:.5f}, "
            self.best = current
        if self.verbose:
            _say(f"{shown}saving model to {path}")
        if self.save_weights_only:
            self.model.save_weights(path, overwrite=True)
        else:
            self.model.save(path, overwrite=True)

    def _path(self, epoch: int, logs: Any) -> str:
        try:
            return self.filepath.format(epoch=epoch + 1, **logs)
        except KeyError as error:
            raise InvalidArgumentError(
                f'ModelCheckpoint: the path "{self.filepath}" names {error}, which is no measure of this training: '
                f"{', '.join(logs) or 'there are none'}"
            ) from None


def latest_file(pattern: str) -> str | None:
    """The file that was changed last of those that a path with `{names}` in it may stand for; None if there is none.

    Of weights in TensorFlow's format that is the path without its endings.
    """
    folder, base = posixpath.split(path_text(pattern))
    wanted = re.compile("".join(".*" if part.startswith("{") else re.escape(part) for part in _parts(base)) + r"\Z")
    found: dict[str, float] = {}
    for name in FILES.list(folder or ".") if FILES.is_directory(folder or ".") else ():
        stem = name.removesuffix(".index")
        if wanted.match(stem):
            path = posixpath.join(folder, stem)
            found[path] = max(found.get(path, 0.0), FILES.modified(posixpath.join(folder, name)))
    return max(found, key=lambda path: (found[path], path)) if found else None


def _parts(base: str) -> list[str]:
    """A pattern in pieces: text, and names in braces."""
    return [part for part in re.split(r"({[^}]*})", base) if part]


class EarlyStopping(Callback):
    """Ends the training when a measure has not become better for some epochs."""

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: int = 0,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ) -> None:
        super().__init__()
        self.monitor = monitor
        self.patience = patience
        self.verbose = verbose
        self.baseline = baseline
        self.min_delta = abs(min_delta)
        self.restore_best_weights = restore_best_weights
        self._monitor = _Monitor(monitor, mode)
        self.on_train_begin()

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        self.wait = 0
        self.stopped_epoch = 0
        self.best: Any = self._monitor.worst if self.baseline is None else self.baseline
        self.best_weights: Any = None

    def on_epoch_end(self, epoch: int, logs: MutableMapping[str, Any] | None = None) -> None:
        current = self.get_monitor_value(logs)
        if current is None:
            return
        if self._monitor.is_better(current, self.best, self.min_delta):
            self.best = current
            self.wait = 0
            if self.restore_best_weights:
                self.best_weights = self.model.get_weights()
            return
        self.wait += 1
        if self.wait >= self.patience:
            self.stopped_epoch = epoch
            self.model.stop_training = True
            if self.best_weights is not None:
                if self.verbose:
                    _say("Restoring model weights from the end of the best epoch.")
                self.model.set_weights(self.best_weights)

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        if self.stopped_epoch > 0 and self.verbose:
            _say(f"Epoch {self.stopped_epoch + 1:05d}: early stopping")

    def get_monitor_value(self, logs: Mapping[str, Any] | None) -> float | None:
        found: float | None = self._monitor.value(logs, "Early stopping")
        return found


class ReduceLROnPlateau(Callback):
    """Makes the learning rate smaller when a measure has not become better for some epochs."""

    def __init__(
        self,
        monitor: str = "val_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: int = 0,
        mode: str = "auto",
        min_delta: float = 1e-4,
        cooldown: int = 0,
        min_lr: float = 0,
        **kwargs: float,
    ) -> None:
        super().__init__()
        if factor >= 1.0:
            raise InvalidArgumentError("ReduceLROnPlateau does not support a factor >= 1.0.")
        self.monitor = monitor
        self.factor = factor
        self.patience = patience
        self.verbose = verbose
        self.min_delta = kwargs.pop("epsilon", min_delta)
        if kwargs:
            raise InvalidArgumentError(f"ReduceLROnPlateau has no argument {', '.join(sorted(kwargs))}")
        self.cooldown = cooldown
        self.min_lr = min_lr
        self._monitor = _Monitor(monitor, mode)
        self.on_train_begin()

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        self.cooldown_counter = 0
        self.wait = 0
        self.best: Any = self._monitor.worst

    def in_cooldown(self) -> bool:
        return self.cooldown_counter > 0

    def on_epoch_end(self, epoch: int, logs: MutableMapping[str, Any] | None = None) -> None:
        if logs is not None:
            logs["lr"] = learning_rate_of(self.model)
        current = self._monitor.value(logs, "Reduce LR on plateau")
        if current is None:
            return
        if self.in_cooldown():
            self.cooldown_counter -= 1
            self.wait = 0
        if self._monitor.is_better(current, self.best, self.min_delta):
            self.best = current
            self.wait = 0
        elif not self.in_cooldown():
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce(epoch)

    def _reduce(self, epoch: int) -> None:
        before = float(learning_rate_of(self.model))
        if before > self.min_lr:
            rate = max(before * self.factor, self.min_lr)
            set_learning_rate(self.model, rate)
            if self.verbose:
                _say(f"Epoch {epoch + 1:05d}: ReduceLROnPlateau reducing learning rate to {rate}.")
            self.cooldown_counter = self.cooldown
            self.wait = 0


class LearningRateScheduler(Callback):
    """Sets the learning rate of each epoch: by a function of its number and, if it takes two, the rate before."""

    def __init__(self, schedule: Callable[..., Any], verbose: int = 0) -> None:
        super().__init__()
        self.schedule = schedule
        self.verbose = verbose

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        before = float(learning_rate_of(self.model))
        rate = self.schedule(*[epoch, before][: _arguments_taken(self.schedule)])
        if not isinstance(rate, float | np.float32 | np.float64):
            raise InvalidArgumentError(
                f'The output of the "schedule" function should be float. Got {rate!r} for epoch {epoch}'
            )
        set_learning_rate(self.model, float(rate))
        if self.verbose:
            _say(f"Epoch {epoch + 1:05d}: LearningRateScheduler reducing learning rate to {rate}.")

    def on_epoch_end(self, epoch: int, logs: MutableMapping[str, Any] | None = None) -> None:
        if logs is not None:
            logs["lr"] = learning_rate_of(self.model)


def _arguments_taken(schedule: Callable[..., Any]) -> int:
    """Whether a schedule takes the number of the epoch, or the rate before as well."""
    try:
        signature(schedule).bind(0, 0.0)
    except TypeError:
        return 1
    return 2


def _rate(model: Any) -> Any:
    optimizer = model.optimizer
    if not hasattr(optimizer, "lr"):
        raise InvalidArgumentError(f'Optimizer must have a "lr" attribute; {type(optimizer).__name__} has none')
    return optimizer.lr


def learning_rate_of(model: Model) -> Any:
    """The learning rate of a model's optimizer, in the session in force."""
    rate = _rate(model)
    return batch_get_value([rate])[0] if isinstance(rate, Variable) else rate


def set_learning_rate(model: Model, value: float) -> None:
    """Sets the learning rate of a model's optimizer, in the session in force."""
    rate = _rate(model)
    if not isinstance(rate, Variable):
        raise InvalidArgumentError(
            f"the learning rate is {rate!r}, which cannot be set: give the optimizer a number in place of a schedule"
        )
    batch_set_value([(rate, value)])
