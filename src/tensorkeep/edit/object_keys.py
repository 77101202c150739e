"""The object graph of a checkpoint, kept in step with the keys of its tensors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.finding.file_names import OBJECT_GRAPH_KEY
from tensorkeep.checkpoint.objects.graph import parse_object_graph
from tensorkeep.checkpoint.objects.reader import stored_objects
from tensorkeep.checkpoint.objects.variable_names import variable_names
from tensorkeep.checkpoint.reader import CheckpointReader
from tensorkeep.dtypes import DType
from tensorkeep.edit.names import Selection
from tensorkeep.edit.plan import Made, Origin, Stored
from tensorkeep.proto.messages import TrackableObjectGraph, serialize


def stored_object_graph(reader: CheckpointReader) -> TrackableObjectGraph | None:
    """The object graph of a checkpoint; None if it was not saved from objects."""
    if OBJECT_GRAPH_KEY not in reader:
        return None
    return parse_object_graph(*stored_objects(reader))


def chosen_keys(reader: CheckpointReader, selection: Selection) -> list[str]:
    """The tensors that a selection means, by key or by the name of their variable; NotFoundError if some fit none.

    Of a variable that is stored twice, both are meant.
    """
    names = variable_names(reader)
    if names is None:
        return selection.of(reader)
    by_key = names.by_key()
    known = dict.fromkeys((*reader, *by_key.values()))
    included = set(Selection(selection.globs, selection.patterns).of(known))
    excluded = set() if selection.unless is None else set(selection.unless.of(known))
    return [
        key
        for key in reader
        if included.intersection((key, by_key.get(key))) and not excluded.intersection((key, by_key.get(key)))
    ]


def object_graph_origin(graph: TrackableObjectGraph) -> Made:
    """An object graph as the tensor that a checkpoint holds."""
    data = serialize(graph)

    def chunks() -> Iterator[Array]:
        array = np.empty((), object)
        array[()] = data
        yield array

    return Made(DType.of("string"), (), chunks)


def updated_object_graph(reader: CheckpointReader, names: Mapping[str, str]) -> Origin | None:
    """The object graph for tensors that have other keys now, or are gone; None if there is none.

    `names` has the new key by the old one of all that are kept. An object whose tensor is gone stays, without it; slot
    variables of optimizers that have lost theirs are forgotten.
    """
    graph = stored_object_graph(reader)
    if graph is None:
        return None
    if all(names.get(item.checkpoint_key) == item.checkpoint_key for node in graph.nodes for item in node.attributes):
        return Stored(reader, OBJECT_GRAPH_KEY)
    emptied: set[int] = set()
    for number, node in enumerate(graph.nodes):
        kept = [item for item in node.attributes if item.checkpoint_key in names]
        if len(kept) < len(node.attributes) and not kept:
            emptied.add(number)
        for item in kept:
            item.checkpoint_key = names[item.checkpoint_key]
        copies = [type(item).FromString(serialize(item)) for item in kept]
        del node.attributes[:]
        node.attributes.extend(copies)
    _forget_slots(graph, emptied)
    return object_graph_origin(graph)


def _forget_slots(graph: TrackableObjectGraph, emptied: Collection[int]) -> None:
    for node in graph.nodes:
        for at in reversed(range(len(node.slot_variables))):
            if node.slot_variables[at].slot_variable_node_id in emptied:
                del node.slot_variables[at]
