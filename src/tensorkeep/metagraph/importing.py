"""Meta graphs into graphs, and parts of graphs into others by way of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building, current_graph, unique_name
from tensorkeep.graph.collections import GraphKeys, add_to_collection, get_collection, saveable_objects
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.scopes import strip_name_scope
from tensorkeep.metagraph.collections import LOG, UNBOUND_PREFIX, CollectionDecoder
from tensorkeep.metagraph.exporting import UNBOUND_INPUTS, export_meta_graph
from tensorkeep.metagraph.op_list import remember_foreign_ops
from tensorkeep.proto.messages import CollectionDef, GraphDef, MetaGraphDef

_FIRST_WITH_TRAINABLE: Final = (1, 9)  # the version of TensorFlow
_NUMBERS: Final = re.compile(r"\s*v?(\d{1,9})(?:\.(\d{1,9}))?")


@dataclass(frozen=True)
class Imported:
    """What an import gives: variables by the names that they have in the message, and the elements asked for."""

    variables: dict[str, Any]
    elements: list[Tensor | Operation] | None


def import_meta_graph(
    proto: MetaGraphDef,
    graph: Graph,
    *,
    clear_devices: bool = False,
    import_scope: str | None = None,
    input_map: Mapping[str, Any] | None = None,
    unbound_inputs_col_name: str | None = UNBOUND_INPUTS,
    restore_collections_predicate: Callable[[str], bool] = lambda key: True,
    return_elements: Sequence[str] | None = None,
) -> Imported:
    """Adds the nodes of a meta graph to a graph, below a scope if one is given, and makes its collections again.

    The scope is made unique: importing twice into "a" gives "a" and "a_1". Without a scope nodes keep their names, or
    get new ones where these are taken; what collections name is then looked up by the names in the message. The
    message is not changed.
    """
    check_unbound_inputs(proto, input_map or {}, unbound_inputs_col_name)
    with building(graph):
        scope = unique_name(import_scope or "", graph, mark_as_used=False)
        ops = proto.meta_info_def.stripped_op_list if proto.meta_info_def.HasField("stripped_op_list") else None
        elements = import_graph(
            _without_devices(proto.graph_def) if clear_devices else proto.graph_def,
            graph,
            input_map=input_map,
            return_elements=return_elements,
            name=import_scope or scope,
            producer_op_list=ops,
        )
        if ops is not None:
            remember_foreign_ops(graph, ops)
        marks = says_trainable(proto.meta_info_def.tensorflow_version)
        decoder = CollectionDecoder(graph, scope, marks_trainable=marks)
        for key, collection in _ordered_collections(proto.collection_def):
            if key != unbound_inputs_col_name and restore_collections_predicate(key):
                for item in decoder.decode(key, collection):
                    add_to_collection(graph, key, item)
        found = get_collection(graph, GraphKeys.GLOBAL_VARIABLES, scope)
    return Imported({strip_name_scope(variable.name, scope): variable for variable in found}, elements)


def check_unbound_inputs(proto: MetaGraphDef, input_map: Mapping[str, Any], collection: str | None) -> None:
    """Sees that all inputs from outside of the scope that was exported are given."""
    if not collection or collection not in proto.collection_def:
        return
    listed = [value.decode(errors="replace") for value in proto.collection_def[collection].bytes_list.value]
    missing = [name for name in dict.fromkeys(listed) if name not in input_map]
    if missing:
        raise InvalidArgumentError(
            f"Graph contains unbound inputs: {','.join(missing)}. Must provide these inputs through input_map."
        )
    surplus = [name for name in input_map if name not in listed and not name.startswith(f"^{UNBOUND_PREFIX}")]
    if listed and surplus:
        raise InvalidArgumentError(
            f"input_map names {','.join(surplus)}, but the unbound inputs of the graph are {','.join(listed)}"
        )


def _ordered_collections(collections: Mapping[str, CollectionDef]) -> Iterable[tuple[str, CollectionDef]]:
    """The trainable variables first, which tell what is trainable where files do not; the others by name."""
    return sorted(collections.items(), key=lambda item: (item[0] != GraphKeys.TRAINABLE_VARIABLES, item[0]))


def _without_devices(graph_def: GraphDef) -> GraphDef:
    copy = GraphDef()
    copy.CopyFrom(graph_def)
    for node in copy.node:
        node.ClearField("device")
    return copy


def saver_for(
    proto: MetaGraphDef, import_scope: str | None, variables: Mapping[str, Any], make: Callable[..., Any]
) -> Any | None:
    """The saver of a meta graph that has been imported: of its own, or of all that the graph has; None for nothing.

    `make` makes a saver: of a SaverDef and of the scope that its names are in now, or of nothing.
    """
    if proto.HasField("saver_def"):
        return make(saver_def=proto.saver_def, name=scope_of_import(import_scope, variables))
    if saveable_objects(current_graph(), import_scope):
        return make()
    LOG.info("Saver not created because there are no variables in the graph to restore")
    return None


def scope_of_import(import_scope: str | None, variables: Mapping[str, Any]) -> str | None:
    """The scope that variables were imported into, which may be another one than was asked for."""
    for name, variable in variables.items():
        full: str = variable.name
        return full[: len(full) - len(name)]
    return import_scope


def copy_scope(from_graph: Graph, from_scope: str, to_graph: Graph, to_scope: str) -> dict[str, Any]:
    """Copies all of a scope into another one, of this graph or another; gives the new variables by their names in it.

    The scope must take no inputs from outside.
    """
    if from_graph is to_graph and from_scope == to_scope:
        raise InvalidArgumentError(
            "'from_scope' and 'to_scope' need to be different when performing copy in the same graph. "
            f"Received: 'from_graph': {from_graph}, 'to_graph': {to_graph}, 'from_scope': {from_scope}, "
            f"'to_scope': {to_scope}."
        )
    proto = export_meta_graph(from_graph, export_scope=from_scope)
    return import_meta_graph(proto, to_graph, import_scope=to_scope).variables


def says_trainable(tensorflow_version: str) -> bool:
    """Whether files of that version say of each variable if it is trainable. One that says nothing does."""
    found = _NUMBERS.match(tensorflow_version)
    return found is None or (int(found[1]), int(found[2] or 0)) >= _FIRST_WITH_TRAINABLE
