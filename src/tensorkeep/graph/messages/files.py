"""Graphs in files: GraphDef as bytes (`.pb`) or as text (`.pbtxt`)."""

from __future__ import annotations

import posixpath

from tensorkeep.errors import DataLossError
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, atomic_write, path_text, prepare_directory
from tensorkeep.proto.identification import FileKind, wrong_file
from tensorkeep.proto.messages import GraphDef, parse, serialize
from tensorkeep.proto.text import format_text, parse_text


def write_graph(
    graph: Graph | GraphDef, directory: PathLike, name: PathLike, as_text: bool = True, fs: FileSystem = FILES
) -> str:
    """Writes a graph to a file of a folder, which is made if it is missing; gives the file's path."""
    proto = export_graph(graph) if isinstance(graph, Graph) else graph
    folder = path_text(directory) if directory else ""
    path = posixpath.join(folder, path_text(name))
    prepare_directory(fs, folder or ".", Durability.CACHE)
    atomic_write(fs, path, format_text(proto).encode() if as_text else serialize(proto), Durability.CACHE)
    return path


def read_graph(path: str, fs: FileSystem = FILES) -> GraphDef:
    """The graph in a file, bytes or text, whatever its name says; DataLossError says what the file is if it is none."""
    file = fs.open(path)
    try:
        data = bytes(file.read(0, file.size))
    finally:
        file.close()
    try:
        graph = _parse_graph(data, path)
    except DataLossError as error:
        raise DataLossError(wrong_file(path, data, FileKind.GRAPH) or str(error)) from error
    if data and not graph.node and (problem := wrong_file(path, data, FileKind.GRAPH)):
        raise DataLossError(problem)
    return graph


def _parse_graph(data: bytes, path: str) -> GraphDef:
    try:
        return parse(GraphDef, data, path)
    except DataLossError:
        return parse_text(GraphDef, data, path)
