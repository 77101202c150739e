"""Collections: lists of things of a graph under names, through which programs and tools find them again."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from typing import Any

from tensorkeep.graph.graph import Graph


class GraphKeys:
    """The names that TensorFlow gives to collections, and DeepRec to those of embedding variables.

    Nothing is put into the two for initializers, as in DeepRec: programs run them before the initializer of all
    variables, which does the work.
    """

    ACTIVATIONS = "activations"
    ASSET_FILEPATHS = "asset_filepaths"
    BIASES = "biases"
    CONCATENATED_VARIABLES = "concatenated_variables"
    COND_CONTEXT = "cond_context"
    EMBEDDING_VARIABLES = "embedding_variables"
    EVAL_STEP = "eval_step"
    EV_INIT_SLOT_OPS = "ev_init_slot_ops"
    EV_INIT_VAR_OPS = "ev_init_var_ops"
    GLOBAL_STEP = "global_step"
    GLOBAL_VARIABLES = "variables"
    INIT_OP = "init_op"
    LOCAL_INIT_OP = "local_init_op"
    LOCAL_RESOURCES = "local_resources"
    LOCAL_VARIABLES = "local_variables"
    LOSSES = "losses"
    METRIC_VARIABLES = "metric_variables"
    MODEL_VARIABLES = "model_variables"
    MOVING_AVERAGE_VARIABLES = "moving_average_variables"
    QUEUE_RUNNERS = "queue_runners"
    READY_FOR_LOCAL_INIT_OP = "ready_for_local_init_op"
    READY_OP = "ready_op"
    REGULARIZATION_LOSSES = "regularization_losses"
    RESOURCES = "resources"
    SAVEABLE_OBJECTS = "saveable_objects"
    SAVERS = "savers"
    SUMMARIES = "summaries"
    SUMMARY_OP = "summary_op"
    TABLE_INITIALIZERS = "table_initializer"
    TRAIN_OP = "train_op"
    TRAINABLE_RESOURCE_VARIABLES = "trainable_resource_variables"
    TRAINABLE_VARIABLES = "trainable_variables"
    UPDATE_OPS = "update_ops"
    VARIABLES = "variables"
    WEIGHTS = "weights"
    WHILE_CONTEXT = "while_context"


def add_to_collection(graph: Graph, name: Hashable, value: object) -> None:
    """Appends a value; the same one may be there several times."""
    graph.check_not_finalized()
    graph.collections.setdefault(name, []).append(value)


def add_to_collections(graph: Graph, names: Hashable | Iterable[Hashable], value: object) -> None:
    """Appends a value to each collection, once to each."""
    listed = (names,) if isinstance(names, str) or not isinstance(names, Iterable) else names
    for name in dict.fromkeys(listed):
        add_to_collection(graph, name, value)


def get_collection(graph: Graph, name: Hashable, scope: str | None = None) -> list[Any]:
    """A copy of a collection; with `scope`, of the items whose name begins with what the regular expression matches."""
    found = graph.collections.get(name, [])
    if scope is None:
        return list(found)
    pattern = re.compile(scope)
    return [item for item in found if hasattr(item, "name") and pattern.match(item.name)]


def saveable_objects(graph: Graph, scope: str | None = None) -> list[Any]:
    """What a saver saves if it is not told what: variables, and whatever else is in the collection for that."""
    keys = (GraphKeys.GLOBAL_VARIABLES, GraphKeys.SAVEABLE_OBJECTS)
    return [item for key in keys for item in get_collection(graph, key, scope)]


def get_collection_ref(graph: Graph, name: Hashable) -> list[Any]:
    """The collection itself: changing it changes the graph's."""
    return graph.collections.setdefault(name, [])


def collection_keys(graph: Graph) -> list[str]:
    """The names of all collections that have text for a name."""
    return [name for name in graph.collections if isinstance(name, str)]


def clear_collection(graph: Graph, name: Hashable) -> None:
    graph.check_not_finalized()
    graph.collections.pop(name, None)
