"""Meta graphs in files: MetaGraphDef as bytes (`.meta`) or as text."""

from __future__ import annotations

import posixpath

from tensorkeep.errors import DataLossError, MissingFileError
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import Durability, FileSystem, PathLike, atomic_write, path_text, prepare_directory
from tensorkeep.proto.identification import FileKind, wrong_file
from tensorkeep.proto.messages import GraphDebugInfo, MetaGraphDef, parse, serialize
from tensorkeep.proto.text import format_text, parse_text


class MetaGraphFileError(DataLossError, OSError):
    """A file is no meta graph. Programs catch the OSError of TensorFlow's `meta_graph.read_meta_graph_file`."""


def read_meta_graph_file(path: PathLike, fs: FileSystem = FILES) -> MetaGraphDef:
    """The meta graph in a file, bytes or text, whatever its name says; else MetaGraphFileError with both reasons."""
    name = path_text(path)
    if not fs.exists(name) and fs.exists(f"{name}.meta"):
        raise MissingFileError(f'"{name}" does not exist; the graph of that checkpoint is in "{name}.meta"')
    file = fs.open(name)
    try:
        data = bytes(file.read(0, file.size))
    finally:
        file.close()
    proto = _parse_meta_graph(data, name)
    if data and not proto.graph_def.node and (problem := wrong_file(name, data, FileKind.META_GRAPH)):
        raise MetaGraphFileError(problem)
    return proto


def _parse_meta_graph(data: bytes, name: str) -> MetaGraphDef:
    try:
        return parse(MetaGraphDef, data, name)
    except DataLossError as as_bytes:
        try:
            return parse_text(MetaGraphDef, data, name)
        except DataLossError as as_text:
            problem = wrong_file(name, data, FileKind.META_GRAPH)
            problem = f" ({problem})" if problem else ""
            raise MetaGraphFileError(f"Cannot parse file {as_bytes}; nor as text: {as_text}{problem}") from None


def write_meta_graph_file(
    proto: MetaGraphDef,
    path: PathLike,
    *,
    as_text: bool = False,
    durability: Durability = Durability.CACHE,
    fs: FileSystem = FILES,
) -> None:
    """Puts a meta graph into a file in one step. The folder is made if it is missing."""
    name = path_text(path)
    data = format_text(proto).encode() if as_text else serialize(proto)
    prepare_directory(fs, posixpath.dirname(name) or ".", durability)
    atomic_write(fs, name, data, durability)


def write_exported(
    proto: MetaGraphDef,
    path: PathLike | None,
    *,
    as_text: bool = False,
    save_debug_info: bool = False,
    fs: FileSystem = FILES,
) -> None:
    """Puts an exported meta graph into a file if one is named, and beside it the debug information if asked for."""
    if not path:
        return
    write_meta_graph_file(proto, path, as_text=as_text, fs=fs)
    if save_debug_info:
        write_debug_info(path, as_text=as_text, fs=fs)


def write_debug_info(path: PathLike, *, as_text: bool = False, fs: FileSystem = FILES) -> None:
    """Puts the debug information of a meta graph beside its file.

    That is `name.debug`, a GraphDebugInfo without entries: graphs here keep no stack traces.
    """
    info = GraphDebugInfo()
    name = posixpath.splitext(path_text(path))[0] + ".debug"
    atomic_write(fs, name, format_text(info).encode() if as_text else serialize(info), Durability.CACHE)


def loaded_meta_graph(meta_graph_or_path: MetaGraphDef | PathLike, fs: FileSystem = FILES) -> MetaGraphDef:
    """A meta graph that is given as such or as the path of its file."""
    if isinstance(meta_graph_or_path, MetaGraphDef):
        return meta_graph_or_path
    return read_meta_graph_file(meta_graph_or_path, fs)


__all__ = ["loaded_meta_graph", "read_meta_graph_file", "write_debug_info", "write_exported", "write_meta_graph_file"]
