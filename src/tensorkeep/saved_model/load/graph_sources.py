"""Graphs that somebody else wrote, found in whatever they are in: a file, a checkpoint, a SavedModel, a message."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from tensorkeep.checkpoint.finding.file_names import META_SUFFIX, meta_path, prefix_of_file
from tensorkeep.checkpoint.finding.files import checkpoint_exists, what_else_is_there
from tensorkeep.checkpoint.finding.latest import latest_checkpoint
from tensorkeep.errors import MissingFileError, WrongTypeError
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.files import read_graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.metagraph.files import read_meta_graph_file
from tensorkeep.proto.identification import FileKind, kind_of_file
from tensorkeep.proto.messages import GraphDef, Message, MetaGraphDef, parse
from tensorkeep.saved_model.files.layout import contains_saved_model, read_saved_model, variables_path
from tensorkeep.saved_model.load.model_loading import chosen_meta_graph

GraphSource: TypeAlias = PathLike | Graph | Message


@dataclass(frozen=True)
class FoundGraph:
    """A graph as a message, with all that was stored along with it."""

    meta_graph: MetaGraphDef
    where: str
    """For messages: the path, or what was given."""
    checkpoint: str | None = None
    """The prefix of the checkpoint that goes with it, if there is one."""
    directory: str | None = None
    """The folder whose files it may read; None if it has none of its own."""
    graph: Graph | None = None
    """The graph itself, if that was given."""


def find_graph(source: GraphSource, tags: Iterable[str] | str | None, fs: FileSystem) -> FoundGraph:
    """The graph that a path leads to, or that is given. `tags` say which one of a SavedModel with several."""
    if isinstance(source, Graph):
        return FoundGraph(MetaGraphDef(graph_def=export_graph(source)), "the graph", graph=source)
    if isinstance(source, Message):
        return FoundGraph(_of_message(source), f"the {type(source).__name__}")
    path = path_text(source)
    if fs.is_directory(path):
        return _in_folder(path, tags, fs)
    prefix = prefix_of_file(path) or path
    if path != meta_path(prefix) and fs.exists(meta_path(prefix)):
        return _of_checkpoint(prefix, fs)
    if not fs.exists(path):
        raise MissingFileError(
            f'"{path}" is neither a file with a graph, nor a SavedModel, nor a checkpoint with a graph beside it '
            f'("{meta_path(path)}"){what_else_is_there(path, fs)}'
        )
    if kind_of_file(path, fs) is not FileKind.META_GRAPH:
        return FoundGraph(MetaGraphDef(graph_def=read_graph(path, fs)), f'"{path}"')
    beside = path.removesuffix(META_SUFFIX)
    has_checkpoint = path.endswith(META_SUFFIX) and checkpoint_exists(beside, fs=fs)
    return FoundGraph(read_meta_graph_file(path, fs), f'"{path}"', beside if has_checkpoint else None)


def _in_folder(folder: str, tags: Iterable[str] | str | None, fs: FileSystem) -> FoundGraph:
    if contains_saved_model(folder, fs):
        meta_graph = chosen_meta_graph(read_saved_model(folder, fs), tags, folder)
        prefix = variables_path(folder)
        stored = prefix if checkpoint_exists(prefix, fs=fs) else None
        return FoundGraph(meta_graph, f'"{folder}"', stored, folder)
    latest = latest_checkpoint(folder, fs=fs)
    if latest is None:
        raise MissingFileError(f'"{folder}" holds neither a SavedModel nor a checkpoint')
    if not fs.exists(meta_path(latest)):
        raise MissingFileError(
            f'the latest checkpoint in "{folder}" is "{posixpath.basename(latest)}", and no graph lies beside it '
            f'("{meta_path(latest)}")'
        )
    return _of_checkpoint(latest, fs)


def _of_checkpoint(prefix: str, fs: FileSystem) -> FoundGraph:
    path = meta_path(prefix)
    stored = prefix if checkpoint_exists(prefix, fs=fs) else None
    return FoundGraph(read_meta_graph_file(path, fs), f'"{path}"', stored)


def _of_message(message: Message) -> MetaGraphDef:
    """A message as one of ours: it may be TensorFlow's own."""
    kind: str = message.DESCRIPTOR.full_name
    if kind == "tensorflow.GraphDef":
        return MetaGraphDef(graph_def=parse(GraphDef, message.SerializeToString(), "the GraphDef"))
    if kind == "tensorflow.MetaGraphDef":
        return parse(MetaGraphDef, message.SerializeToString(), "the MetaGraphDef")
    raise WrongTypeError(f"a graph is opened from a path, a Graph, a GraphDef or a MetaGraphDef; got a {kind}")
