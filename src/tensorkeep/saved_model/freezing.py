"""Freezing a SavedModel: restored as a loader does it, then with constants in the place of variables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import closing
from typing import Final

from tensorkeep.checkpoint.naming import index_path
from tensorkeep.errors import DataLossError
from tensorkeep.io.filesystem import FileSystem, PathLike
from tensorkeep.io.local import LOCAL
from tensorkeep.proto.messages import AssetFileDef, GraphDef, MetaGraphDef
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.layout import ASSETS, SERVING, VARIABLES, join, meta_graph_with_tags, read_saved_model
from tensorkeep.train.freezing import FreezeOptions, freeze, open_session, restore_with_saver

_INIT_SIGNATURE: Final = "__saved_model_init_op"
_INIT_COLLECTIONS: Final = ("saved_model_main_op", "legacy_init_op")
_ASSETS_COLLECTION: Final = "saved_model_assets"


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
    variables = join(directory, VARIABLES)
    if meta_graph.HasField("saver_def") and fs.exists(index_path(variables)):
        restore_with_saver(session, meta_graph.saver_def, variables)
    if init := _init_op(meta_graph):
        session.run(init, _asset_feeds(meta_graph, directory))
    return session


def _init_op(meta_graph: MetaGraphDef) -> str:
    """The name of the operation that initializes tables and the like; empty if there is none."""
    if _INIT_SIGNATURE in meta_graph.signature_def:
        return meta_graph.signature_def[_INIT_SIGNATURE].outputs[_INIT_SIGNATURE].name
    for key in _INIT_COLLECTIONS:
        names = meta_graph.collection_def[key].node_list.value if key in meta_graph.collection_def else ()
        if names:
            return names[0]
    return ""


def _asset_feeds(meta_graph: MetaGraphDef, directory: PathLike) -> dict[str, str]:
    """Where the files are that the graph has by constants."""
    assets = list(meta_graph.asset_file_def)
    if not assets and _ASSETS_COLLECTION in meta_graph.collection_def:
        for item in meta_graph.collection_def[_ASSETS_COLLECTION].any_list.value:
            asset = AssetFileDef()
            if not item.Unpack(asset):
                raise DataLossError(f"the collection {_ASSETS_COLLECTION} has a {item.type_url} instead of an asset")
            assets.append(asset)
    return {asset.tensor_info.name: join(directory, f"{ASSETS}/{asset.filename}") for asset in assets}


__all__ = ["freeze_saved_model", "load_session"]
