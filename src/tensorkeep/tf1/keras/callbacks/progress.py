"""The progress bar of a training, of a test or of a prediction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tensorkeep.tf1.keras.callbacks.base import Callback
from tensorkeep.tf1.keras.surroundings import surroundings
from tensorkeep.tf1.keras.utils.progress import Progbar


class ProgbarLogger(Callback):
    """Shows how far an epoch is; a test or a prediction, if it is not part of a training."""

    def __init__(self, count_mode: str = "samples", stateful_metrics: Iterable[str] | None = None) -> None:
        super().__init__()
        self.use_steps = count_mode == "steps"
        self.stateful_metrics = set(stateful_metrics or ())
        self._is_training = False

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        self._is_training = True
        self.epochs = self.params.get("epochs", 1)

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        self._is_training = False

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        if self.params.get("verbose", 1) and self.epochs > 1:
            surroundings().write_text(f"Epoch {epoch + 1}/{self.epochs}\n")
        self._start()

    def on_test_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        if not self._is_training:
            self._start()

    def on_test_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        if not self._is_training:
            self.on_batch_end(batch, logs)

    def on_test_end(self, logs: Mapping[str, Any] | None = None) -> None:
        if not self._is_training:
            self.on_epoch_end(0, dict(self.log_values))

    on_predict_begin = on_test_begin
    on_predict_batch_end = on_test_batch_end
    on_predict_end = on_test_end

    def _start(self) -> None:
        self.seen = 0
        self.log_values: list[tuple[str, Any]] = []
        self.verbose = self.params.get("verbose", 1)
        self.target = self.params.get("steps" if self.use_steps else "samples")
        self.progbar = Progbar(
            self.target,
            verbose=self.verbose,
            stateful_metrics=self.stateful_metrics,
            unit_name="step" if self.use_steps else "sample",
        )

    def on_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        told = logs or {}
        self.seen += told.get("num_steps", 1) * (1 if self.use_steps else told.get("size", 0))
        self.log_values = self._values(told)
        if self.verbose and (self.target is None or self.seen < self.target):
            self.progbar.update(self.seen, self.log_values)

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        self.log_values = self._values(logs or {})
        if self.target is None:  # the end of the data was the first to be told
            self.progbar.target = self.target = self.seen
        if self.verbose:
            self.progbar.update(self.seen, self.log_values)

    def _values(self, logs: Mapping[str, Any]) -> list[tuple[str, Any]]:
        return [(name, logs[name]) for name in self.params.get("metrics", ()) if name in logs]
