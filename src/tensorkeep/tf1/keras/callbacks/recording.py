"""What is written of a training: CSV files, and events for TensorBoard."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.building import building
from tensorkeep.io.files.filesystem import PathLike, path_text
from tensorkeep.io.files.gfile import exists
from tensorkeep.io.files.gfile_object import GFile
from tensorkeep.proto.messages import Summary
from tensorkeep.tf1.functions.data.summaries import histogram, merge
from tensorkeep.tf1.keras.callbacks.base import Callback
from tensorkeep.tf1.keras.engine.session_values import initialized_session
from tensorkeep.tf1.training.loops.events import FileWriter

if TYPE_CHECKING:
    from tensorkeep.tf1.keras.engine.model import Model


class CSVLogger(Callback):
    """Writes the measures of each epoch to a file, a line for each."""

    def __init__(self, filename: PathLike, separator: str = ",", append: bool = False) -> None:
        super().__init__()
        self.filename = path_text(filename)
        self.sep = separator
        self.append = append
        self.keys: list[str] | None = None

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        goes_on = self.append and exists(self.filename)
        self.append_header = not goes_on or not GFile(self.filename).read(1)
        self._file = GFile(self.filename, "a" if goes_on else "w")

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        told = logs or {}
        if self.keys is None:
            self.keys = sorted(told)
        writer = csv.DictWriter(self._file, ["epoch", *self.keys], delimiter=self.sep)
        if self.append_header:
            writer.writeheader()
            self.append_header = False
        writer.writerow({"epoch": epoch, **{key: _plain(told.get(key, "NA")) for key in self.keys}})
        self._file.flush()

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        self._file.close()


def _plain(value: Any) -> Any:
    """A value as a cell: numbers as they are, several in quotes."""
    if isinstance(value, str) or np.ndim(value) == 0:
        return value
    return f'"[{", ".join(map(str, value))}]"'


class TensorBoard(Callback):
    """Writes measures, the graph, and histograms of weights to event files, which TensorBoard shows.

    Gradients, images of weights, embeddings and profiles are not written: they are refused.
    """

    def __init__(
        self,
        log_dir: PathLike = "./logs",
        histogram_freq: int = 0,
        batch_size: int = 32,
        write_graph: bool = True,
        write_grads: bool = False,
        write_images: bool = False,
        embeddings_freq: int = 0,
        embeddings_layer_names: Sequence[str] | None = None,
        embeddings_metadata: Mapping[str, str] | str | None = None,
        embeddings_data: Array | Sequence[Array] | None = None,
        update_freq: str | int = "epoch",
        profile_batch: int = 0,
    ) -> None:
        super().__init__()
        refused = {"write_grads": write_grads, "write_images": write_images, "embeddings_freq": embeddings_freq}
        if wrong := [name for name, value in refused.items() if value]:
            raise UnimplementedError(
                f"TensorBoard({', '.join(wrong)}): measures, the graph and histograms of weights are written; write "
                "others with tf.summary"
            )
        self.log_dir = path_text(log_dir)
        self.histogram_freq = histogram_freq
        self.batch_size = batch_size
        self.write_graph = write_graph
        self.update_freq: Any = 1 if update_freq == "batch" else update_freq
        self._samples_seen = 0
        self._samples_written = 0
        self._merged: Any = None

    def set_model(self, model: Model) -> None:
        super().set_model(model)
        session = initialized_session()
        self.writer = FileWriter(self.log_dir, session.graph if self.write_graph else None)
        if self.histogram_freq and self._merged is None:
            with building(session.graph):
                names = {weight.name.replace(":", "_"): weight for layer in model.layers for weight in layer.weights}
                made = [histogram(name, weight) for name, weight in names.items()]
                self._merged = merge(made) if made else None

    def _write_custom_summaries(self, step: int, logs: Mapping[str, Any]) -> None:
        for name, value in logs.items():
            summary = Summary()
            summary.value.add(tag=name, simple_value=float(np.mean(value)))
            self.writer.add_summary(summary, step)
        self.writer.flush()

    def on_batch_end(self, batch: int, logs: Mapping[str, Any] | None = None) -> None:
        told = dict(logs or {})
        self._samples_seen += told.get("size", 1)
        if self.update_freq == "epoch" or self._samples_seen - self._samples_written < self.update_freq:
            return
        measures = {f"batch_{name}": value for name, value in told.items() if name not in _COUNTS}
        self._write_custom_summaries(self._samples_seen, measures)
        self._samples_written = self._samples_seen

    def on_epoch_end(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        step = epoch if self.update_freq == "epoch" else self._samples_seen
        measures = {f"epoch_{name}": value for name, value in (logs or {}).items() if name not in _COUNTS}
        self._write_custom_summaries(step, measures)
        if self._merged is not None and epoch % self.histogram_freq == 0:
            self.writer.add_summary(initialized_session().run(self._merged), epoch)

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        self.writer.close()


_COUNTS = ("batch", "size", "num_steps")


class RemoteMonitor(Callback):
    """Sends measures to a server in TensorFlow; here it is refused."""

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise UnimplementedError(
            "RemoteMonitor sends to a server, which this package does not: write a Callback whose on_epoch_end does"
        )
