"""Models made of a graph and of what a file holds: frozen graphs and SavedModels."""

from __future__ import annotations

from typing import Any

from tensorkeep.checkpoint.finding.file_names import meta_path, prefix_of_file
from tensorkeep.convert.hub import ModelOptions
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.messages.files import read_graph
from tensorkeep.io.files.filesystem import FileSystem
from tensorkeep.metagraph.files import read_meta_graph_file
from tensorkeep.proto.messages import GraphDef, MetaGraphDef
from tensorkeep.saved_model.edit.freezing import freeze_saved_model
from tensorkeep.saved_model.export.graph_exporting import from_checkpoint
from tensorkeep.saved_model.files.layout import contains_saved_model, meta_graph_with_tags, read_saved_model
from tensorkeep.saving.freezing import FreezeOptions, freeze, freeze_meta_graph


def export(source: str, directory: str, model: ModelOptions, fs: FileSystem, *, dry_run: bool) -> None:
    """Writes a checkpoint with its graph as a SavedModel."""
    graph = _graph(source, model, fs)
    signatures: dict[str, Any] = dict(model.signatures)
    if not signatures and isinstance(graph, MetaGraphDef):
        signatures = {key: graph.signature_def[key] for key in sorted(graph.signature_def)}
    if not signatures:
        raise InvalidArgumentError(
            f'"{source}" brings no signature along: say which tensors are inputs and outputs '
            '(signatures={"serving_default": ({"x": "x:0"}, {"y": "y:0"})})'
        )
    if not dry_run:
        from_checkpoint(graph, source, signatures, directory, tags=model.tags, fs=fs)


def _graph(source: str, model: ModelOptions, fs: FileSystem) -> MetaGraphDef | GraphDef:
    """The graph that goes with a checkpoint: the one that is named, or the one beside it."""
    path = model.graph or meta_path(prefix_of_file(source) or source)
    if not fs.exists(path):
        raise InvalidArgumentError(
            f'there is no graph for "{source}": "{path}" does not exist; name a .meta, .pb or .pbtxt file (graph=...)'
        )
    if path.endswith((".pb", ".pbtxt")):
        return read_graph(path, fs)
    return read_meta_graph_file(path, fs)


def frozen_model_graph(source: str, model: ModelOptions, fs: FileSystem) -> GraphDef:
    """A SavedModel, or a checkpoint with its graph, with constants in the place of variables."""
    options = FreezeOptions(run_initializers=model.run_initializers)
    if fs.is_directory(source) and contains_saved_model(source, fs):
        signatures = meta_graph_with_tags(read_saved_model(source, fs), model.tags)
        return freeze_saved_model(source, _outputs(model, signatures, source), model.tags, options, fs=fs)
    graph = _graph(source, model, fs)
    prefix = prefix_of_file(source) or source
    if isinstance(graph, MetaGraphDef):
        return freeze_meta_graph(graph, prefix, _outputs(model, graph, source), options, fs=fs)
    return freeze(graph, prefix, _outputs(model, None, source), options, fs=fs)


def _outputs(model: ModelOptions, graph: MetaGraphDef | None, source: str) -> list[str]:
    """The nodes to compute: those that are named, or the outputs of all signatures."""
    names = list(model.outputs)
    if not names and graph is not None:
        found = [graph.signature_def[key] for key in sorted(graph.signature_def) if not key.startswith("__")]
        names = [signature.outputs[key].name for signature in found for key in sorted(signature.outputs)]
    if not names:
        raise InvalidArgumentError(f'"{source}": name the nodes that the frozen graph shall compute (outputs=[...])')
    return list(dict.fromkeys(name.partition(":")[0] for name in names if name))
