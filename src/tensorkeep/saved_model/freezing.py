"""Freezing a SavedModel: restored as a loader does it, then with constants in the place of variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing

from tensorkeep.checkpoint.finding import checkpoint_exists
from tensorkeep.io.filesystem import FileSystem, PathLike
from tensorkeep.io.local import LOCAL
from tensorkeep.proto.messages import GraphDef, MetaGraphDef
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.constants import SERVING
from tensorkeep.saved_model.layout import init_op_name, meta_graph_with_tags, read_saved_model, variables_path
from tensorkeep.saved_model.loader import get_asset_tensors
from tensorkeep.saved_model.table_fills import local_initializers
from tensorkeep.train.freezing import FreezeOptions, freeze, open_session, restore_with_saver


def freeze_saved_model(
    directory: PathLike,
    outputs: Sequence[str],
    tags: Iterable[str] = (SERVING,),
    options: FreezeOptions = FreezeOptions(),
    *,
    fs: FileSystem = LOCAL,
) -> GraphDef:
    """The part of a SavedModel's graph that some nodes need, with constants in the place of variables.

    Variables are restored and then the model's initialization runs, in this order, as a loader does it.
    """
    meta_graph = meta_graph_with_tags(read_saved_model(directory, fs), tags)
    with closing(load_session(meta_graph, directory, fs=fs)) as session:
        return freeze(meta_graph.graph_def, session, outputs, options)


def load_session(meta_graph: MetaGraphDef, directory: PathLike, *, fs: FileSystem = LOCAL) -> Session:
    """A session with the graph of a SavedModel, restored and initialized."""
    session = open_session(meta_graph.graph_def, meta_graph.meta_info_def.stripped_op_list, fs)
    variables = variables_path(directory)
    if meta_graph.HasField("saver_def") and checkpoint_exists(variables, fs=fs):
        restore_with_saver(session, meta_graph.saver_def, variables)
    if init := init_op_name(meta_graph):
        session.run(init, get_asset_tensors(directory, meta_graph))
    else:
        session.run(local_initializers(meta_graph, meta_graph.signature_def.values()))
    return session


__all__ = ["freeze_saved_model", "load_session"]
