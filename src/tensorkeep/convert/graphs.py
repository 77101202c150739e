"""Graphs as formats: a frozen graph, whose constants are tensors, and a SavedModel, whose variables are."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tensorkeep._lazy import later
from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.files import checkpoint_exists
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import Checksums, ReadOptions, TensorInfo
from tensorkeep.checkpoint.slices.tensor_slice import Box
from tensorkeep.convert.checkpoints import CheckpointTensors
from tensorkeep.convert.hub import ModelOptions, OpenTensors, SinkOptions, TensorSource
from tensorkeep.dtypes import dtype_of_number
from tensorkeep.errors import AlreadyExistsError
from tensorkeep.graph.messages.files import read_graph, write_graph
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.proto.identification import FileKind, is_file_of_kind
from tensorkeep.proto.messages import GraphDef
from tensorkeep.proto.tensors import array_of_tensor
from tensorkeep.saved_model.files.layout import contains_saved_model, read_saved_model, variables_path

if TYPE_CHECKING:
    from tensorkeep.convert import models
else:  # what makes models of graphs takes all of the operations
    models = later("tensorkeep.convert.models")

_ONCE: Final = ReadOptions(checksums=Checksums.ONCE)


class FrozenGraphFormat:
    """GraphDef files. As a source: their constants. As a target: a model with constants in the place of variables."""

    name = "frozen graph"
    endings = (".pb", ".pbtxt")

    def holds(self, path: str, fs: FileSystem) -> bool:
        return is_file_of_kind(path, FileKind.GRAPH, fs)

    def open_source(self, path: str, fs: FileSystem) -> TensorSource:
        return _constants(read_graph(path, fs), path, self.name)

    def make(
        self, source: str, path: str, model: ModelOptions, options: SinkOptions, fs: FileSystem, *, dry_run: bool
    ) -> list[str]:
        frozen = models.frozen_model_graph(source, model, fs)
        if not dry_run:
            folder, name = posixpath.split(path)
            write_graph(frozen, folder, name, path.endswith(".pbtxt"), fs)
        return [path]


class SavedModelFormat:
    """SavedModel directories. As a source: their variables. As a target: a graph with the variables of a checkpoint."""

    name = "saved_model"
    endings = ("/",)

    def holds(self, path: str, fs: FileSystem) -> bool:
        return fs.is_directory(path) and contains_saved_model(path, fs)

    def open_source(self, path: str, fs: FileSystem) -> TensorSource:
        variables = variables_path(path)
        if checkpoint_exists(variables, fs=fs):
            return CheckpointTensors(open_checkpoint(variables, _ONCE, fs=fs))
        graphs = read_saved_model(path, fs).meta_graphs
        return _constants(graphs[0].graph_def if graphs else GraphDef(), path, self.name)

    def make(
        self, source: str, path: str, model: ModelOptions, options: SinkOptions, fs: FileSystem, *, dry_run: bool
    ) -> list[str]:
        directory = path.rstrip("/")
        if fs.exists(directory) and (not fs.is_directory(directory) or fs.list(directory)):
            raise AlreadyExistsError(f'"{directory}" exists already; a SavedModel is written to a new directory only')
        models.export(source, directory, model, fs, dry_run=dry_run)
        return [directory]


@dataclass(frozen=True)
class _Constant:
    """A constant of a graph, unpacked when it is read."""

    proto: Any
    name: str

    @property
    def info(self) -> TensorInfo:
        sizes = tuple(dimension.size for dimension in self.proto.tensor_shape.dim)
        return TensorInfo(dtype_of_number(self.proto.dtype), sizes)

    def read(self, box: Box) -> Array:
        found: Array = array_of_tensor(self.proto, f'constant "{self.name}"')
        return found[tuple(slice(start, stop) for start, stop in box)]

    def chunks(self) -> Iterator[Array]:
        yield array_of_tensor(self.proto, f'constant "{self.name}"')


def _constants(graph: GraphDef, path: str, format: str) -> OpenTensors:
    found = {
        node.name: _Constant(node.attr["value"].tensor, node.name)
        for node in graph.node
        if node.op == "Const" and "value" in node.attr
    }
    return OpenTensors(path, format, found)


FROZEN_GRAPH: Final = FrozenGraphFormat()
SAVED_MODEL: Final = SavedModelFormat()
