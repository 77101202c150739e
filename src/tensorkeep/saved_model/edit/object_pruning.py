"""The objects of a model of TensorFlow 2, cut down to what some of its signatures need.

What holds values stays: variables, tables and files, and the plain objects on the way to them, by which a checkpoint
finds its values. Functions go, but for those of the signatures, and those that make, fill, save and restore what stays.
Objects that are left are numbered anew.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, MutableSequence
from typing import Any, Final

from tensorkeep.graph.functions import called_functions
from tensorkeep.proto.messages import MetaGraphDef, SavedObject, SavedObjectGraph
from tensorkeep.saved_model.edit.object_signatures import functions_of, object_signatures
from tensorkeep.saved_model.load.function_library import FunctionLibrary

_FUNCTIONS: Final = ("function", "bare_concrete_function")


def prune_objects(meta_graph: MetaGraphDef, keys: Collection[str]) -> None:
    """Takes out what the signatures do not need of the objects. The graph and its library are not changed."""
    objects = meta_graph.object_graph_def
    signatures = object_signatures(meta_graph)
    _keep_where(signatures, [child.local_name in keys for child in signatures])
    kept = _kept_objects(objects, {child.node_id for child in signatures})
    for node in (objects.nodes[number] for number in kept):
        _keep_where(node.children, [child.node_id in kept for child in node.children])
        _keep_where(node.dependencies, [child.node_id in kept for child in node.dependencies])
    left = [objects.nodes[number] for number in sorted(kept)]
    names = {name for node in left for name in functions_of(node)}
    for name in [name for name in objects.concrete_functions if name not in names]:
        del objects.concrete_functions[name]
    _renumber(objects, sorted(kept))


def prune_library(meta_graph: MetaGraphDef) -> None:
    """Takes out the functions that neither nodes of the graph nor objects call."""
    library = FunctionLibrary(meta_graph.graph_def)
    called = {name for node in meta_graph.graph_def.node for name in called_functions(node, library.functions)} | set(
        meta_graph.object_graph_def.concrete_functions
    )
    used = _with_gradients(meta_graph, library, called)
    functions = meta_graph.graph_def.library.function
    _keep_where(functions, [item.signature.name in used for item in functions])
    gradients = meta_graph.graph_def.library.gradient
    _keep_where(gradients, [item.function_name in used for item in gradients])


def constants_of(meta_graph: MetaGraphDef) -> set[str]:
    """The nodes of the graph that constants among the objects take their values from."""
    nodes = meta_graph.object_graph_def.nodes
    return {node.constant.operation for node in nodes if node.WhichOneof("kind") == "constant"}


def _with_gradients(meta_graph: MetaGraphDef, library: FunctionLibrary, called: set[str]) -> set[str]:
    """Functions and all that they call, and the gradients that are told for these."""
    used = set(library.reachable(called))
    while True:
        told = {item.gradient_func for item in meta_graph.graph_def.library.gradient if item.function_name in used}
        more = set(library.reachable(used | told))
        if more <= used:
            return used
        used |= more


def _kept_objects(objects: SavedObjectGraph, signatures: set[int]) -> set[int]:
    """The numbers of the objects that stay: all that the root or a signature leads to, directly or through others."""
    found: set[int] = set()
    waiting = [0, *signatures]
    while waiting:
        number = waiting.pop()
        if number in found or number >= len(objects.nodes):
            continue
        found.add(number)
        node = objects.nodes[number]
        waiting.extend(_needed_by(objects, node))
    return found


def _needed_by(objects: SavedObjectGraph, node: SavedObject) -> Iterator[int]:
    is_plain = node.WhichOneof("kind") == "user_object"
    for child in node.children:
        if not (is_plain and child.node_id < len(objects.nodes) and _is_function(objects.nodes[child.node_id])):
            yield child.node_id
    for saveable in node.saveable_objects.values():
        yield from (saveable.save_function, saveable.restore_function)
    for slot in node.slot_variables:
        yield from (slot.original_variable_node_id, slot.slot_variable_node_id)
    for name in functions_of(node):
        if name in objects.concrete_functions:
            yield from objects.concrete_functions[name].bound_inputs


def _is_function(node: SavedObject) -> bool:
    return node.WhichOneof("kind") in _FUNCTIONS


def _renumber(objects: SavedObjectGraph, kept: list[int]) -> None:
    new = {old: number for number, old in enumerate(kept)}
    _keep_where(objects.nodes, [number in new for number in range(len(objects.nodes))])
    for node in objects.nodes:
        for child in (*node.children, *node.dependencies):
            child.node_id = new[child.node_id]
        for saveable in node.saveable_objects.values():
            saveable.save_function = new[saveable.save_function]
            saveable.restore_function = new[saveable.restore_function]
        for slot in node.slot_variables:
            slot.original_variable_node_id = new[slot.original_variable_node_id]
            slot.slot_variable_node_id = new[slot.slot_variable_node_id]
    for function in objects.concrete_functions.values():
        function.bound_inputs[:] = [new[number] for number in function.bound_inputs]


def _keep_where(items: MutableSequence[Any], is_kept: list[bool]) -> None:
    for index in reversed([index for index, kept in enumerate(is_kept) if not kept]):
        del items[index]
