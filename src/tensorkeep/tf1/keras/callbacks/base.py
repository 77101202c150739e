"""What a callback may override, those that every training has, and lists of them, which training loops call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine.model import Model

Logs = Mapping[str, Any]


class Callback:
    """Called before and after epochs and batches. It finds the model as `model` and what is done as `params`."""

    def __init__(self) -> None:
        self.validation_data: Any = None
        self.model: Any = None
        self.params: dict[str, Any] = {}

    def set_params(self, params: dict[str, Any]) -> None:
        self.params = params

    def set_model(self, model: Model) -> None:
        self.model = model

    def on_batch_begin(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        """An older name of `on_train_batch_begin`."""

    def on_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        """An older name of `on_train_batch_end`."""

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None: ...

    def on_epoch_end(self, epoch: int, logs: MutableMapping[str, Any] | None = None) -> None: ...

    def on_train_batch_begin(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        self.on_batch_begin(batch, logs)

    def on_train_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        self.on_batch_end(batch, logs)

    def on_test_batch_begin(self, batch: int, logs: Mapping[str, Any] | None = None) -> None: ...

    def on_test_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None: ...

    def on_predict_batch_begin(self, batch: int, logs: Mapping[str, Any] | None = None) -> None: ...

    def on_predict_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None: ...

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None: ...

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None: ...

    def on_test_begin(self, logs: Mapping[str, Any] | None = None) -> None: ...

    def on_test_end(self, logs: Mapping[str, Any] | None = None) -> None: ...

    def on_predict_begin(self, logs: Mapping[str, Any] | None = None) -> None: ...

    def on_predict_end(self, logs: Mapping[str, Any] | None = None) -> None: ...


class LambdaCallback(Callback):
    """A callback made of functions."""

    def __init__(
        self,
        on_epoch_begin: Callable[..., Any] | None = None,
        on_epoch_end: Callable[..., Any] | None = None,
        on_batch_begin: Callable[..., Any] | None = None,
        on_batch_end: Callable[..., Any] | None = None,
        on_train_begin: Callable[..., Any] | None = None,
        on_train_end: Callable[..., Any] | None = None,
        **kwargs: Callable[..., Any] | None,
    ) -> None:
        super().__init__()
        given = {
            "on_epoch_begin": on_epoch_begin,
            "on_epoch_end": on_epoch_end,
            "on_batch_begin": on_batch_begin,
            "on_batch_end": on_batch_end,
            "on_train_begin": on_train_begin,
            "on_train_end": on_train_end,
            **kwargs,
        }
        vars(self).update({name: function for name, function in given.items() if function is not None})


class BaseLogger(Callback):
    """Averages measures over the batches of an epoch, but for those that are averages already."""

    def __init__(self, stateful_metrics: Iterable[str] | None = None) -> None:
        super().__init__()
        self.stateful_metrics = set(stateful_metrics or ())
        self.seen = 0
        self.totals: dict[str, Any] = {}

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        self.seen = 0
        self.totals = {}

    def on_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        told = logs or {}
        size = told.get("size", 0) * told.get("num_steps", 1)
        self.seen += size
        for name, value in told.items():
            if name in self.stateful_metrics:
                self.totals[name] = value
            else:
                self.totals[name] = self.totals.get(name, 0) + value * size

    def on_epoch_end(self, epoch: int, logs: MutableMapping[str, Any] | None = None) -> None:
        if logs is None:
            return
        for name in self.params.get("metrics", ()):
            if name in self.totals:
                is_mean = name in self.stateful_metrics or not self.seen
                logs[name] = self.totals[name] if is_mean else self.totals[name] / self.seen


class History(Callback):
    """Keeps the measures of each epoch; `fit` gives it back."""

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[Any]] = {}

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        self.epoch.append(epoch)
        for name, value in (logs or {}).items():
            self.history.setdefault(name, []).append(value)


class CallbackList:
    """Callbacks that are called one after the other."""

    def __init__(self, callbacks: Iterable[Any] | None = None, queue_length: int = 10) -> None:
        self.callbacks = list(callbacks or ())
        self.params: dict[str, Any] = {}
        self.model: Any = None

    def append(self, callback: Callback) -> None:
        self.callbacks.append(callback)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.callbacks)

    def set_params(self, params: dict[str, Any]) -> None:
        self.params = params
        for callback in self.callbacks:
            callback.set_params(params)

    def set_model(self, model: Model) -> None:
        self.model = model
        for callback in self.callbacks:
            callback.set_model(model)

    def _call(self, method: str, *arguments: Any) -> None:
        for callback in self.callbacks:
            getattr(callback, method)(*arguments)

    def _call_batch_hook(self, mode: str, hook: str, batch: int, logs: Any = None) -> None:
        self._call(f"on_{mode}_batch_{hook}", batch, logs or {})

    def _call_begin_hook(self, mode: str) -> None:
        self._call(f"on_{mode}_begin", {})

    def _call_end_hook(self, mode: str) -> None:
        self._call(f"on_{mode}_end", {})

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, Any] | None = None, mode: str = "train") -> None:
        if mode == "train":
            self._call("on_epoch_begin", epoch, logs or {})

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None, mode: str = "train") -> None:
        if mode == "train":
            self._call("on_epoch_end", epoch, logs or {})

    def on_batch_begin(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        self._call_batch_hook("train", "begin", batch, logs)

    def on_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        self._call_batch_hook("train", "end", batch, logs)

    on_train_batch_begin = on_batch_begin
    on_train_batch_end = on_batch_end

    def on_test_batch_begin(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        self._call_batch_hook("test", "begin", batch, logs)

    def on_test_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        self._call_batch_hook("test", "end", batch, logs)

    def on_predict_batch_begin(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        self._call_batch_hook("predict", "begin", batch, logs)

    def on_predict_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        self._call_batch_hook("predict", "end", batch, logs)

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        self._call_begin_hook("train")

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        self._call_end_hook("train")

    def on_test_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        self._call_begin_hook("test")

    def on_test_end(self, logs: Mapping[str, Any] | None = None) -> None:
        self._call_end_hook("test")

    def on_predict_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        self._call_begin_hook("predict")

    def on_predict_end(self, logs: Mapping[str, Any] | None = None) -> None:
        self._call_end_hook("predict")
