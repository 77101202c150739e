"""ONNX as a format: a model as a whole to write, and its weights to read (the extra `onnx`)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from tensorkeep._lazy import later
from tensorkeep.convert.hub import ModelOptions, SinkOptions, TensorSource, head_of
from tensorkeep.io.files.filesystem import FileSystem

if TYPE_CHECKING:
    from tensorkeep.convert.onnx import exporting, options, reading
else:  # what exports takes all of the operations, and what reads the package `onnx`
    exporting = later("tensorkeep.convert.onnx.exporting")
    options = later("tensorkeep.convert.onnx.options")
    reading = later("tensorkeep.convert.onnx.reading")

_START: Final = b"\x08"  # the version of the format is the first field


class OnnxFormat:
    """ONNX files. As a source: their weights. As a target: a model that is translated."""

    name = "onnx"
    endings = (".onnx",)

    def holds(self, path: str, fs: FileSystem) -> bool:
        return path.lower().endswith(self.endings) and head_of(path, fs).startswith(_START)

    def open_source(self, path: str, fs: FileSystem) -> TensorSource:
        exporting.require_packages(verifies=False)
        return reading.opened_weights(path, fs)

    def make(
        self, source: str, path: str, model: ModelOptions, sink: SinkOptions, fs: FileSystem, *, dry_run: bool
    ) -> list[str]:
        """Exports a model as an ONNX file. Whether an old file may be replaced has been checked before."""
        how = model.onnx if model.onnx is not None else options.DEFAULT
        how = replace(how, overwrite=True, dry_run=dry_run, durability=sink.durability)
        if model.outputs and how.outputs is None:
            how = replace(how, outputs=tuple(model.outputs))
        if model.graph is not None:
            source, how = model.graph, replace(how, checkpoint=source)
        return list(exporting.export_onnx(source, path, how, fs=fs).files)


ONNX: Final = OnnxFormat()
