"""Graphs to meta graphs; the one that is stored beside each checkpoint is made anew only when the graph has changed."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.errors import WrongTypeError
from tensorkeep.graph.collections import GraphKeys, collection_keys, get_collection
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import export_graph
from tensorkeep.graph.rewriting.default_attrs import strip_defaults_in_place
from tensorkeep.graph.scopes import strip_name_scope
from tensorkeep.metagraph.collections import LOG, encode_collection, is_included, proto_functions
from tensorkeep.metagraph.op_list import foreign_ops, stripped_op_list
from tensorkeep.metagraph.scoping import other_saver_nodes, part_of_graph
from tensorkeep.proto.messages import GraphDef, Message, MetaGraphDef, SaverDef, serialize

TENSORFLOW_VERSION: Final = "2.21.0"
TENSORFLOW_GIT_VERSION: Final = "v2.21.0-rc1-5-ga481b10260d"
"""The TensorFlow that meta graphs say they come from: readers decide by it what a file may leave out."""

UNBOUND_INPUTS = "unbound_inputs"  # the collection that names the inputs from outside of an exported scope


def export_meta_graph(
    graph: Graph,
    *,
    graph_def: GraphDef | None = None,
    saver_def: SaverDef | None = None,
    meta_info_def: MetaGraphDef.MetaInfoDef | None = None,
    collection_list: Sequence[str] | None = None,
    export_scope: str | None = None,
    clear_devices: bool = False,
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    unbound_inputs_col_name: str | None = UNBOUND_INPUTS,
) -> MetaGraphDef:
    """The graph, or the nodes of one scope without its name, with collections, ops and saver.

    Nodes are the graph's, and say what is known of their shapes; with `graph_def` they are those of the message.
    The graph itself is not changed.
    """
    excluded: Collection[str] = ()
    unbound: dict[str, Sequence[Any]] = {}
    if export_scope or clear_devices or clear_extraneous_savers:
        whole = export_graph(graph, add_shapes=True) if graph_def is None else graph_def
        excluded = other_saver_nodes(whole, saver_def) if clear_extraneous_savers else ()
        part, names = part_of_graph(whole, export_scope, excluded, clear_devices)
        if graph_def is not None:
            part.library.SetInParent()  # as TensorFlow has it, even if there are no functions
        graph_def = part
        if unbound_inputs_col_name:
            unbound[unbound_inputs_col_name] = names
    return create_meta_graph_def(
        graph,
        meta_info_def=meta_info_def,
        graph_def=graph_def,
        saver_def=saver_def,
        collection_list=collection_list,
        export_scope=export_scope,
        excluded=excluded,
        clear_extraneous_savers=clear_extraneous_savers,
        strip_default_attrs=strip_default_attrs,
        replaced=unbound,
    )


def export_scoped_meta_graph(
    graph: Graph,
    *,
    export_scope: str | None = None,
    graph_def: GraphDef | None = None,
    saver_def: SaverDef | None = None,
    clear_extraneous_savers: bool = False,
    **options: Any,
) -> tuple[MetaGraphDef, dict[str, Any]]:
    """As `export_meta_graph`, with the variables of the scope by the names that they have in the message."""
    proto = export_meta_graph(
        graph,
        export_scope=export_scope,
        graph_def=graph_def,
        saver_def=saver_def,
        clear_extraneous_savers=clear_extraneous_savers,
        **options,
    )
    found = get_collection(graph, GraphKeys.GLOBAL_VARIABLES, export_scope)
    inside = [variable for variable in found if is_included(variable, export_scope)]
    return proto, {strip_name_scope(variable.name, export_scope): variable for variable in inside}


def create_meta_graph_def(
    graph: Graph,
    *,
    meta_info_def: MetaGraphDef.MetaInfoDef | None = None,
    graph_def: GraphDef | None = None,
    saver_def: SaverDef | None = None,
    collection_list: Sequence[str] | None = None,
    export_scope: str | None = None,
    excluded: Collection[str] = (),
    clear_extraneous_savers: bool = False,
    strip_default_attrs: bool = False,
    replaced: dict[str, Sequence[Any]] | None = None,
) -> MetaGraphDef:
    """A meta graph of these parts, with those collections of the graph: by default all that have text for a name.

    `excluded` are names to leave out of collections, `replaced` collections to write in the place of the graph's.
    """
    _check_type(meta_info_def, MetaGraphDef.MetaInfoDef, "meta_info_def")
    _check_type(graph_def, GraphDef, "graph_def")
    _check_type(saver_def, SaverDef, "saver_def")
    proto = MetaGraphDef()
    if meta_info_def is not None:
        proto.meta_info_def.CopyFrom(meta_info_def)
    if graph_def is None:
        export_graph(graph, add_shapes=True, into=proto.graph_def)
    else:
        proto.graph_def.CopyFrom(graph_def)
    _write_info(graph, proto, strip_default_attrs)
    if saver_def is not None:
        proto.saver_def.CopyFrom(saver_def)
    contents = dict(replaced or {})
    if clear_extraneous_savers:
        contents[GraphKeys.SAVERS] = _only_saver(saver_def)
    known = collection_keys(graph)
    for key in collection_list if collection_list is not None else dict.fromkeys([*known, *(replaced or ())]):
        items = contents[key] if key in contents and (key in known or key in (replaced or ())) else None
        _write_collection(graph, key, items, proto, export_scope, excluded)
    return proto


def _write_info(graph: Graph, proto: MetaGraphDef, strip_default_attrs: bool) -> None:
    info = proto.meta_info_def
    info.tensorflow_version = TENSORFLOW_VERSION
    info.tensorflow_git_version = TENSORFLOW_GIT_VERSION
    if not info.stripped_op_list.op:
        info.stripped_op_list.CopyFrom(stripped_op_list(proto.graph_def, foreign_ops(graph)))
    if strip_default_attrs:
        strip_defaults_in_place(proto.graph_def)
        info.stripped_default_attrs = True


def _only_saver(saver_def: SaverDef | None) -> list[Any]:
    """What the collection of savers holds when all but one are left out."""
    make = proto_functions(GraphKeys.SAVERS).from_proto
    return [] if saver_def is None or make is None else [make(saver_def)]


def _write_collection(
    graph: Graph,
    key: object,
    items: Sequence[Any] | None,
    proto: MetaGraphDef,
    export_scope: str | None,
    excluded: Collection[str],
) -> None:
    if isinstance(key, bytes):
        key = key.decode()
    if not isinstance(key, str):
        LOG.warning("Only collections with string type keys will be serialized. This key has %s", type(key))
        return
    found = get_collection(graph, key) if items is None else items
    included = [item for item in found if is_included(item, export_scope, excluded)]
    encoded = encode_collection(key, included, export_scope) if included else None
    if encoded is not None:
        proto.collection_def[key].CopyFrom(encoded)


def _check_type(value: object, wanted: type[Message], what: str) -> None:
    if value is not None and not isinstance(value, wanted):
        raise WrongTypeError(f"{what} must be of type {wanted.__name__}. Received type: {type(value)}.")


@dataclass(frozen=True)
class ExportedGraph:
    """A graph's meta graph, and the state that the graph was in."""

    data: bytes
    state: tuple[Any, ...]
    collections: Mapping[Any, Sequence[Any]]


class GraphExports:
    """Remembers the last export."""

    def __init__(self) -> None:
        self._last: ExportedGraph | None = None

    def get(self, graph: Graph, saver_def: SaverDef, strip_default_attrs: bool) -> ExportedGraph:
        """The graph with a saver, as bytes."""
        state = (id(graph), len(graph.operations), graph.edits, len(graph.functions), strip_default_attrs)
        last = self._last
        if last is None or last.state != state or not _are_same(last.collections, graph.collections):
            proto = export_meta_graph(graph, saver_def=saver_def, strip_default_attrs=strip_default_attrs)
            kept = {key: list(items) for key, items in graph.collections.items()}
            last = self._last = ExportedGraph(serialize(proto), state, kept)
        return last


def _are_same(old: Mapping[Any, Sequence[Any]], new: Mapping[Any, Sequence[Any]]) -> bool:
    """Whether all collections hold the very same items as before."""
    if len(old) != len(new):
        return False
    return all(
        key in old and len(old[key]) == len(items) and all(map(_is, old[key], items)) for key, items in new.items()
    )


def _is(a: object, b: object) -> bool:
    return a is b
