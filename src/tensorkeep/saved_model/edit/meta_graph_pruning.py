"""Meta graphs cut down to what some of their signatures need."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, MutableSequence, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Final

from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.graph.collections import GraphKeys
from tensorkeep.graph.rewriting.freezing import variables_of
from tensorkeep.graph.rewriting.frozen_tables import check_no_hash_tables, tables_of
from tensorkeep.graph.rewriting.pruning import extract_sub_graph, source_of
from tensorkeep.metagraph.op_list import stripped_op_list
from tensorkeep.proto.messages import (
    CollectionDef,
    CondContextDef,
    GraphDef,
    Message,
    MetaGraphDef,
    OpDef,
    QueueRunnerDef,
    SavedModel,
    SaverDef,
    SignatureDef,
    VariableDef,
    WhileContextDef,
    parse,
    serialize,
)
from tensorkeep.runtime.session import Session
from tensorkeep.saved_model.edit.message_edits import Tags, edited_model
from tensorkeep.saved_model.edit.object_pruning import constants_of, prune_library, prune_objects
from tensorkeep.saved_model.edit.object_signatures import forget_objects
from tensorkeep.saved_model.edit.saver_pruning import VARIABLE_OPS, without_variables
from tensorkeep.saved_model.files.constants import INIT_OP_SIGNATURE_KEY
from tensorkeep.saved_model.files.layout import init_op_name, signature_keys, signature_with_key
from tensorkeep.saved_model.files.tensor_info import tensor_names
from tensorkeep.saved_model.load.kept_values import set_values_first, table_contents
from tensorkeep.saved_model.load.table_fills import needed_fills
from tensorkeep.saving.freezing import FreezeOptions, freeze, session_values
from tensorkeep.saving.loaded_values import LoadedValues

_ABOUT: Final[dict[str, tuple[type[Message], str]]] = {
    GraphKeys.COND_CONTEXT: (CondContextDef, "pivot_name"),
    GraphKeys.WHILE_CONTEXT: (WhileContextDef, "pivot_name"),
    GraphKeys.QUEUE_RUNNERS: (QueueRunnerDef, "queue_name"),
    GraphKeys.SAVERS: (SaverDef, "restore_op_name"),
}
_EDGES: Final = ("loop_enter_names", "loop_exit_names")


def prune_to_signatures(model: SavedModel, keys: Iterable[str], tags: Tags = None) -> SavedModel:
    """The model with only some signatures, and only the nodes that these, the saver and initialization need.

    Variables that none of these needs are neither saved nor restored any more; the checkpoint stays as it is.
    Collections lose what they name of the nodes that are gone. A model that has objects keeps all its variables, and
    loses the functions that nothing needs any more.
    """
    wanted = list(keys)
    return edited_model(model, tags, partial(_prune, wanted))


def prune_to_signature(model: SavedModel, key: str, tags: Tags = None) -> SavedModel:
    """The model with one signature, and only the nodes that it, the saver and initialization need."""
    return prune_to_signatures(model, [key], tags)


def _prune(keys: Collection[str], meta_graph: MetaGraphDef) -> None:
    signatures = [signature_with_key(meta_graph, key) for key in keys]
    init_op = init_op_name(meta_graph)
    nodes = _nodes_of(signatures) | {*map(source_of, [init_op] if init_op else needed_fills(meta_graph, signatures))}
    if meta_graph.object_graph_def.nodes:
        prune_objects(meta_graph, keys)
        pruned = _of_objects(meta_graph, nodes)
    else:
        pruned = _narrowed_graph(meta_graph, nodes)
    for key in [key for key in meta_graph.signature_def if key not in keys and key != INIT_OP_SIGNATURE_KEY]:
        del meta_graph.signature_def[key]
    replace_graph(meta_graph, pruned)
    left = {node.name for node in meta_graph.graph_def.node}
    for key in list(meta_graph.collection_def):
        _prune_collection(meta_graph, key, left)
    if meta_graph.object_graph_def.nodes:
        prune_library(meta_graph)


def _narrowed_graph(meta_graph: MetaGraphDef, nodes: set[str]) -> GraphDef:
    """The graph that some nodes need, with a saver that saves and restores the variables in it."""
    pruned = _with_variables(meta_graph, meta_graph.graph_def, nodes)
    if not any(node.op in (*VARIABLE_OPS, "KvVarHandleOp", "HashTableOp") for node in pruned.node):
        meta_graph.ClearField("saver_def")
        meta_graph.ClearField("incr_saver_def")
        return pruned
    narrowed = without_variables(meta_graph.graph_def, {node.name for node in pruned.node})
    return _with_variables(meta_graph, narrowed, nodes | _nodes_of_saver(meta_graph))


def _of_objects(meta_graph: MetaGraphDef, nodes: set[str]) -> GraphDef:
    """The graph that some nodes, the saver, assets and the objects need, with all functions."""
    assets = {source_of(item.tensor_info.name) for item in meta_graph.asset_file_def}
    wanted = nodes | _nodes_of_saver(meta_graph) | constants_of(meta_graph) | assets
    pruned = extract_sub_graph(meta_graph.graph_def, sorted(wanted))
    pruned.library.CopyFrom(meta_graph.graph_def.library)
    return pruned


def _nodes_of_saver(meta_graph: MetaGraphDef) -> set[str]:
    savers = (meta_graph.saver_def, meta_graph.incr_saver_def)
    names = [name for saver in savers for name in (saver.filename_tensor_name, saver.save_tensor_name)]
    names += [saver.restore_op_name for saver in savers]
    return {source_of(name) for name in names if name}


def _with_variables(meta_graph: MetaGraphDef, graph_def: GraphDef, nodes: set[str]) -> GraphDef:
    """The part of the graph that some nodes need, with what initializes and reads the variables in it."""
    variables = [
        variable for collection in meta_graph.collection_def.values() for variable in _variables(collection) or ()
    ]
    while True:
        pruned = extract_sub_graph(graph_def, sorted(nodes))
        left = {node.name for node in pruned.node}
        more = {
            source_of(name)
            for variable in variables
            if source_of(variable.variable_name) in left
            for name in (variable.initializer_name, variable.snapshot_name, variable.initial_value_name)
            if name
        }
        if more <= left:
            return pruned
        nodes = nodes | more


def _variables(collection: CollectionDef) -> list[VariableDef] | None:
    """The items of a collection of variables; None if they are something else."""
    if collection.WhichOneof("kind") != "bytes_list":
        return None
    try:
        found = [parse(VariableDef, value, "a variable") for value in collection.bytes_list.value]
    except DataLossError:
        return None
    return found if all(item.variable_name and item.initializer_name for item in found) else None


def _nodes_of(signatures: Iterable[SignatureDef]) -> set[str]:
    """The nodes that inputs and outputs of signatures are of."""
    infos = [info for item in signatures for info in (*item.inputs.values(), *item.outputs.values())]
    return {source_of(name) for info in infos for name in tensor_names(info)}


def replace_graph(meta_graph: MetaGraphDef, graph_def: GraphDef) -> None:
    """Puts another graph into a meta graph, with the ops that it uses."""
    foreign: dict[str, OpDef] = {op.name: op for op in meta_graph.meta_info_def.stripped_op_list.op}
    meta_graph.graph_def.CopyFrom(graph_def)
    meta_graph.meta_info_def.stripped_op_list.CopyFrom(stripped_op_list(graph_def, foreign))


def _prune_collection(meta_graph: MetaGraphDef, key: str, left: Container[str]) -> None:
    """Takes out of a collection what is not in the graph any more; one of which nothing is left goes."""
    collection = meta_graph.collection_def[key]
    kind = collection.WhichOneof("kind")
    if kind == "node_list":
        _keep(collection.node_list.value, [source_of(name) in left for name in collection.node_list.value])
        is_empty = not collection.node_list.value
    elif kind == "bytes_list" and (names := _nodes_named_by(key, collection)) is not None:
        _keep(collection.bytes_list.value, [source_of(name) in left for name in names])
        if key in (GraphKeys.COND_CONTEXT, GraphKeys.WHILE_CONTEXT):
            pruned = [_pruned_context(key, value, left) for value in collection.bytes_list.value]
            collection.bytes_list.value[:] = pruned
        is_empty = not collection.bytes_list.value
    else:
        return
    if is_empty:
        del meta_graph.collection_def[key]


def _pruned_context(key: str, value: bytes, left: Container[str]) -> bytes:
    context: Any = parse(_ABOUT[key][0], value, key)
    before = serialize(context)
    _prune_context(context, left)
    after = serialize(context)
    return value if after == before else after


def _prune_context(context: Any, left: Container[str]) -> None:
    """Takes out of a control flow context what is not in the graph any more."""
    for names in (context.values_def.values, *(getattr(context, name, []) for name in _EDGES)):
        _keep(names, [source_of(name) in left for name in names])
    outside = context.values_def.external_values
    for name in [name for name in outside if source_of(name) not in left or source_of(outside[name]) not in left]:
        del outside[name]
    inner = [getattr(item, item.WhichOneof("ctxt")) for item in context.nested_contexts if item.WhichOneof("ctxt")]
    _keep(context.nested_contexts, [source_of(item.pivot_name) in left for item in inner])
    for item in inner:
        _prune_context(item, left)


def _keep(items: MutableSequence[Any], is_kept: Sequence[bool]) -> None:
    for index in reversed([index for index, kept in enumerate(is_kept) if not kept]):
        del items[index]


def _nodes_named_by(key: str, collection: CollectionDef) -> list[str] | None:
    """The node that each item of a collection of messages is about; None if they are about none."""
    if key not in _ABOUT:
        variables = _variables(collection)
        return None if variables is None else [variable.variable_name for variable in variables]
    message_type, attribute = _ABOUT[key]
    return [getattr(parse(message_type, value, key), attribute) for value in collection.bytes_list.value]


def frozen_meta_graph(meta_graph: MetaGraphDef, loaded: Session | LoadedValues, options: FreezeOptions) -> MetaGraphDef:
    """A meta graph with constants in the place of variables, for all signatures that it has.

    A variable that initialization sets, the path of a file for one, stays; so does one that the options keep, which
    initialization then sets to the value that it has now. Tables that can be changed are filled with what they hold.
    """
    signatures = [meta_graph.signature_def[key] for key in signature_keys(meta_graph)]
    init_op = init_op_name(meta_graph)
    nodes = _nodes_of(signatures) | {*map(source_of, [init_op] if init_op else needed_fills(meta_graph, signatures))}
    frozen = MetaGraphDef()
    frozen.CopyFrom(meta_graph)
    frozen.ClearField("saver_def")
    frozen.ClearField("incr_saver_def")
    forget_objects(frozen)
    set_first = _set_by(meta_graph.graph_def, init_op)
    selection = replace(options.selection, keep={*(options.selection.keep or ()), *set_first})
    graph_def = freeze(meta_graph.graph_def, loaded, sorted(nodes), replace(options, selection=selection))
    replace_graph(frozen, graph_def)
    left = {node.name for node in frozen.graph_def.node}
    for key in list(frozen.collection_def):
        if frozen.collection_def[key].WhichOneof("kind") == "bytes_list":
            del frozen.collection_def[key]  # variables, savers and the like
        else:
            _prune_collection(frozen, key, left)
    _refuse_kept_tables(frozen.graph_def)
    kept = [item for item in variables_of(frozen.graph_def) if item.name not in set_first]
    set_values_first(frozen, kept, session_values(loaded, kept), table_contents(loaded, frozen.graph_def))
    return frozen


def _refuse_kept_tables(graph_def: GraphDef) -> None:
    check_no_hash_tables(graph_def)
    if tables := tables_of(graph_def):
        raise InvalidArgumentError(
            f"the embedding variables {', '.join(node.name for node in tables)} cannot stay variables: a frozen model "
            "has no checkpoint to restore their rows from. Freeze them too, or leave the model as it is"
        )


def _set_by(graph_def: GraphDef, init_op: str) -> frozenset[str]:
    """The variables that the operation that initializes a graph assigns values to, by nodes of the graph."""
    if not init_op:
        return frozenset()
    needed = extract_sub_graph(graph_def, [source_of(init_op)]).node
    return frozenset(source_of(node.input[0]) for node in needed if node.op in ("Assign", "AssignVariableOp"))
