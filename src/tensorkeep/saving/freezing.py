"""Freezing a model: its graph and the values of its variables become one graph without variables.

freeze(graph, session, ["softmax"])              values of a session
freeze(graph_def, "run/model-7", ["softmax"])    values of a checkpoint, by the names of the variables
freeze_with_saver(graph_def, saver_def, ...)     values as the graph's own restore operation reads them
freeze_meta_graph(meta_graph, "run/model-7", ["softmax"])
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, Protocol, runtime_checkable

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.files import checkpoint_exists, what_else_is_there
from tensorkeep.checkpoint.finding.opening import open_checkpoint
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, UnimplementedError
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.graph.registry.capabilities import Allowed, Capability
from tensorkeep.graph.rewriting.freezing import (
    EVERYTHING,
    Selection,
    VariableNode,
    convert_variables_to_constants,
    variables_of,
)
from tensorkeep.graph.rewriting.frozen_tables import (
    TableNode,
    TableRows,
    check_no_hash_tables,
    freeze_tables,
    tables_of,
)
from tensorkeep.graph.rewriting.pruning import extract_sub_graph
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.ops.embedding.session_tables import EmbeddingResource
from tensorkeep.proto.messages import MOST_BYTES, GraphDef, MetaGraphDef, OpList, SaverDef
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.runtime.session import Session
from tensorkeep.saving.embedding_loads import rows_of
from tensorkeep.saving.loaded_values import LoadedValues, require_saver
from tensorkeep.saving.named_restoring import place_of
from tensorkeep.saving.saver import Saver
from tensorkeep.saving.stored_values import StoredValue, by_any_name, parts_of_meta_graph, read_stored, stored_values

LOG: Final = logging.getLogger("tensorkeep")


@runtime_checkable
class Runs(Protocol):
    """Anything that runs a graph."""

    def run(self, fetches: Any) -> Any: ...


@dataclass(frozen=True)
class FreezeOptions:
    """How a model is frozen."""

    selection: Selection = EVERYTHING
    clear_devices: bool = False
    initializers: Sequence[str] = ()
    """Operations to run before values are read, after a checkpoint was restored. They may do nothing but compute."""
    most_bytes: int = MOST_BYTES
    """Of the frozen graph; what would be larger is refused."""
    run_initializers: bool = False
    """Whether what a model has to restore and initialize itself runs, and may read files, where following it is not
    enough to know the values."""


def freeze(
    graph: Graph | GraphDef,
    source: Runs | LoadedValues | CheckpointReader | PathLike,
    outputs: Sequence[str],
    options: FreezeOptions = FreezeOptions(),
    *,
    fs: FileSystem = FILES,
) -> GraphDef:
    """The part of a graph that some nodes need, with constants in the place of variables.

    The values come from a session, an open checkpoint or the prefix of one. Parts of a partitioned variable take their
    parts of the stored tensor. Nothing is added to the graph. NotFoundError or FailedPreconditionError, with all names,
    if variables have no value; InvalidArgumentError if the result would not fit into a message.
    """
    graph_def = export_graph(graph) if isinstance(graph, Graph) else graph
    if isinstance(source, CheckpointReader):
        return _freeze_by_name(graph_def, source, outputs, options, {})
    if isinstance(source, LoadedValues):
        return _freeze_loaded(graph_def, source, outputs, options)
    if isinstance(source, Runs):
        return _freeze_from_session(graph_def, source, outputs, options)
    with _open_reader(source, fs) as reader:
        return _freeze_by_name(graph_def, reader, outputs, options, {})


def freeze_with_saver(
    graph_def: GraphDef,
    saver_def: SaverDef,
    checkpoint: PathLike,
    outputs: Sequence[str],
    options: FreezeOptions = FreezeOptions(),
    *,
    op_list: OpList | None = None,
    fs: FileSystem = FILES,
) -> GraphDef:
    """The part of a graph that some nodes need, with constants whose values the graph's restore operation reads from a
    checkpoint.
    """
    if options.run_initializers:
        with closing(open_session(graph_def, op_list, fs, MAY_READ)) as session:
            restore_with_saver(session, saver_def, path_text(checkpoint))
            return _freeze_from_session(graph_def, session, outputs, options)
    with opened_to_restore(checkpoint, fs) as reader:
        loaded = LoadedValues(graph_def, op_list)
        loaded.restore(saver_def, reader)
        return _freeze_loaded(graph_def, loaded, outputs, options)


def freeze_meta_graph(
    meta_graph: MetaGraphDef,
    checkpoint: PathLike,
    outputs: Sequence[str],
    options: FreezeOptions = FreezeOptions(),
    *,
    fs: FileSystem = FILES,
) -> GraphDef:
    """The part of a meta graph that some nodes need, with constants whose values its saver restores or, without a
    saver, that a checkpoint has under the variables' names.
    """
    if meta_graph.HasField("saver_def"):
        op_list = meta_graph.meta_info_def.stripped_op_list
        return freeze_with_saver(
            meta_graph.graph_def, meta_graph.saver_def, checkpoint, outputs, options, op_list=op_list, fs=fs
        )
    with _open_reader(checkpoint, fs) as reader:
        return _freeze_by_name(meta_graph.graph_def, reader, outputs, options, parts_of_meta_graph(meta_graph))


# ------------------------------------------------------------------------------------------------------- sessions


MAY_READ: Final = Allowed(frozenset((Capability.READS_FILES,)))


def open_session(
    graph_def: GraphDef, op_list: OpList | None = None, fs: FileSystem = FILES, allowed: Allowed = Allowed()
) -> Session:
    """A session with the graph, which may do what is allowed, and runs on whatever devices there are."""
    graph = Graph()
    import_graph(graph_def, graph, name="", producer_op_list=op_list)
    return Session(graph, filesystem=fs, allowed=allowed)


@contextmanager
def opened_to_restore(checkpoint: PathLike, fs: FileSystem) -> Iterator[CheckpointReader]:
    """A checkpoint that a saver is to restore, by all names that its tensors have."""
    text = path_text(checkpoint)
    if not checkpoint_exists(text, fs=fs):
        there = what_else_is_there(text, fs)
        raise InvalidArgumentError(f"The passed save_path is not a valid checkpoint: {text}{there}")
    LOG.info("Restoring parameters from %s", text)
    with _open_reader(checkpoint, fs) as reader:
        yield by_any_name(reader)


def restore_with_saver(session: Session, saver_def: SaverDef, checkpoint: str) -> None:
    """Restores the variables of a session by the operations that a saver has in its graph."""
    require_saver(session.graph, saver_def)
    Saver(session.graph, saver_def).restore(session, checkpoint)


def _restore_by_name(session: Session, values: Mapping[str, Array], variables: Sequence[VariableNode]) -> None:
    for variable in variables:
        if variable.name in values:
            place_of(session, variable).assign(values[variable.name])


def session_values(session: Runs | LoadedValues, variables: Sequence[VariableNode]) -> dict[str, Array]:
    """The values that variables have in a session, or will have once loaded. One of our own sessions runs nothing for
    it.
    """
    if isinstance(session, LoadedValues):
        return session.values(variables)
    if not isinstance(session, Session):
        fetches = [f"{item.name}/Read/ReadVariableOp:0" if item.is_resource else f"{item.name}:0" for item in variables]
        return dict(zip((item.name for item in variables), session.run(fetches), strict=True)) if variables else {}
    values: dict[str, Array] = {}
    lacking: list[str] = []
    for variable in variables:
        found = session.resources.find(variable.container, variable.resource_name)
        if isinstance(found, VariableResource) and found.is_initialized:
            values[variable.name] = found.read()
        else:
            lacking.append(variable.name)
    if lacking:
        raise FailedPreconditionError(
            f"Attempting to use uninitialized value {', '.join(lacking)}. Initialize or restore all variables that the "
            "outputs depend on, or keep those out of the frozen graph"
        )
    return values


def session_tables(session: Runs | LoadedValues, nodes: Sequence[TableNode]) -> dict[str, TableRows]:
    """The rows that embedding variables have in a session, or will have once loaded."""
    if isinstance(session, LoadedValues):
        return session.tables(nodes)
    if not nodes:
        return {}
    if not isinstance(session, Session):
        raise UnimplementedError(
            f"the rows of the embedding variables {', '.join(node.name for node in nodes)} can be frozen from a "
            f"session of tensorkeep only, not from a {type(session).__name__}"
        )
    held = {node.name: session.resources.find(node.container, node.resource_name) for node in nodes}
    if lacking := [name for name, found in held.items() if not _has_rows(found)]:
        raise FailedPreconditionError(
            f"Attempting to use uninitialized value {', '.join(lacking)}. Initialize or restore all embedding "
            "variables that the outputs depend on, or keep those out of the frozen graph"
        )
    return {name: rows_of(found) for name, found in held.items() if isinstance(found, EmbeddingResource)}


def _has_rows(found: object) -> bool:
    return isinstance(found, EmbeddingResource) and found.is_initialized and found.is_built


# ------------------------------------------------------------------------------------------------------------ freezing


def _open_reader(checkpoint: PathLike, fs: FileSystem) -> CheckpointReader:
    return open_checkpoint(checkpoint, fs=fs)


def _freeze_from_session(
    graph_def: GraphDef, session: Runs, outputs: Sequence[str], options: FreezeOptions
) -> GraphDef:
    if options.initializers:
        session.run(list(options.initializers))
    sub_graph = extract_sub_graph(graph_def, outputs)
    variables = variables_of(sub_graph, options.selection)
    tables = session_tables(session, tables_of(sub_graph, options.selection))
    return _frozen_graph(sub_graph, session_values(session, variables), options, tables)


def _freeze_loaded(
    graph_def: GraphDef, loaded: LoadedValues, outputs: Sequence[str], options: FreezeOptions
) -> GraphDef:
    """Freezes a graph with the values that loading gives. Initializers, if they are wanted, run in a session that only
    computes.
    """
    if options.initializers:
        everything = loaded.known(variables_of(graph_def))
        with closing(open_session(graph_def)) as session:
            _restore_by_name(session, loaded.values(everything), everything)
            return _freeze_from_session(graph_def, session, outputs, options)
    sub_graph = extract_sub_graph(graph_def, outputs)
    tables = loaded.tables(tables_of(sub_graph, options.selection))
    return _frozen_graph(sub_graph, loaded.values(variables_of(sub_graph, options.selection)), options, tables)


def _freeze_by_name(
    graph_def: GraphDef,
    reader: CheckpointReader,
    outputs: Sequence[str],
    options: FreezeOptions,
    parts: Mapping[str, StoredValue],
) -> GraphDef:
    everything = variables_of(graph_def)
    if tables := tables_of(extract_sub_graph(graph_def, outputs), options.selection):
        raise FailedPreconditionError(
            f"the embedding variables {', '.join(node.name for node in tables)} cannot be frozen by their names alone: "
            "freeze from a session, a SavedModel, or a meta graph or saver, which say how their rows are restored"
        )
    if not everything:
        raise InvalidArgumentError(
            "No variables were found in this model. It is likely the model was frozen previously. You cannot freeze a "
            "graph twice."
        )
    named = by_any_name(reader)
    if options.initializers:
        with closing(open_session(graph_def)) as session:
            stored = stored_values(everything, everything, named, parts)
            _restore_by_name(session, read_stored(named, stored), everything)
            return _freeze_from_session(graph_def, session, outputs, options)
    sub_graph = extract_sub_graph(graph_def, outputs)
    variables = variables_of(sub_graph, options.selection)
    stored = stored_values(variables, everything, named, parts)
    if lacking := [variable.name for variable in variables if variable.name not in stored]:
        raise NotFoundError(
            f'"{reader.path}" has no values for {", ".join(lacking)}; it has {", ".join(list(reader)[:10])}. Name '
            "operations that initialize the rest, or use a saver or a meta graph that says under which names they are"
        )
    return _frozen_graph(sub_graph, read_stored(named, stored), options)


def _frozen_graph(
    sub_graph: GraphDef,
    values: Mapping[str, Array],
    options: FreezeOptions,
    tables: Mapping[str, TableRows] = MappingProxyType({}),
) -> GraphDef:
    check_no_hash_tables(sub_graph, options.selection)
    LOG.info("Froze %d variables.", len(values) + len(tables))
    frozen = convert_variables_to_constants(sub_graph, values, most_bytes=options.most_bytes)
    frozen = freeze_tables(frozen, tables, most_bytes=options.most_bytes)
    if options.clear_devices:
        for node in frozen.node:
            node.device = ""
    LOG.info("Converted %d variables to const ops.", len(values) + len(tables))
    return frozen


__all__ = [
    "MAY_READ",
    "FreezeOptions",
    "freeze",
    "freeze_meta_graph",
    "freeze_with_saver",
    "open_session",
    "opened_to_restore",
    "restore_with_saver",
    "session_tables",
    "session_values",
]
