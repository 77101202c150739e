"""Freezing a SavedModel: constants in the place of variables, with the values that a loader would give these."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager

from tensorkeep.checkpoint.finding.files import checkpoint_exists
from tensorkeep.io.files.everywhere import FILES
from tensorkeep.io.files.filesystem import FileSystem, PathLike, path_text
from tensorkeep.proto.messages import GraphDef, MetaGraphDef
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.files.constants import SERVING
from tensorkeep.saved_model.files.layout import (
    get_asset_tensors,
    init_op_name,
    meta_graph_with_tags,
    read_saved_model,
    variables_path,
)
from tensorkeep.saved_model.load.permissions import ModelFiles
from tensorkeep.saved_model.load.table_fills import local_initializers
from tensorkeep.saving.freezing import (
    MAY_READ,
    FreezeOptions,
    freeze,
    open_session,
    opened_to_restore,
    restore_with_saver,
)
from tensorkeep.saving.loaded_values import LoadedValues


def freeze_saved_model(
    directory: PathLike,
    outputs: Sequence[str],
    tags: Iterable[str] = (SERVING,),
    options: FreezeOptions = FreezeOptions(),
    *,
    fs: FileSystem = FILES,
) -> GraphDef:
    """The part of a SavedModel's graph that some nodes need, with constants in the place of variables.

    Values are those that a loader gives, by restoring variables and then by the model's initialization. Both are
    followed and not run, unless the options say otherwise.
    """
    meta_graph = meta_graph_with_tags(read_saved_model(directory, fs), tags)
    with loaded_model(meta_graph, directory, options, fs=fs) as loaded:
        return freeze(meta_graph.graph_def, loaded, outputs, options)


@contextmanager
def loaded_model(
    meta_graph: MetaGraphDef, directory: PathLike, options: FreezeOptions, *, fs: FileSystem = FILES
) -> Iterator[Session | LoadedValues]:
    """The values that loading gives the variables and tables of a SavedModel, while this lasts."""
    if options.run_initializers:
        with closing(_loaded_session(meta_graph, directory, fs)) as session:
            yield session
        return
    loaded = LoadedValues(meta_graph.graph_def, meta_graph.meta_info_def.stripped_op_list)
    with ExitStack() as stack:
        variables = variables_path(directory)
        if _has_stored_variables(meta_graph, variables, fs):
            loaded.restore(meta_graph.saver_def, stack.enter_context(opened_to_restore(variables, fs)))
        loaded.initialize(_initial_operations(meta_graph), get_asset_tensors(directory, meta_graph))
        yield loaded


def _loaded_session(meta_graph: MetaGraphDef, directory: PathLike, fs: FileSystem) -> Session:
    """A session with the graph, restored and initialized. It may read the files of the model, and nothing else."""
    files = ModelFiles(fs, path_text(directory))
    session = open_session(meta_graph.graph_def, meta_graph.meta_info_def.stripped_op_list, files, MAY_READ)
    variables = variables_path(directory)
    if _has_stored_variables(meta_graph, variables, fs):
        restore_with_saver(session, meta_graph.saver_def, variables)
    feeds = get_asset_tensors(directory, meta_graph) if init_op_name(meta_graph) else {}
    session.run(_initial_operations(meta_graph), feeds)
    return session


def _has_stored_variables(meta_graph: MetaGraphDef, variables: str, fs: FileSystem) -> bool:
    return meta_graph.HasField("saver_def") and checkpoint_exists(variables, fs=fs)


def _initial_operations(meta_graph: MetaGraphDef) -> list[str]:
    """What a loader runs after it has restored variables."""
    init = init_op_name(meta_graph)
    return [init] if init else local_initializers(meta_graph, meta_graph.signature_def.values())
