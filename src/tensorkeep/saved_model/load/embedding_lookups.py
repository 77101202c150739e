"""Lookups of embedding variables in a model that is served: they insert nothing, or the tables would grow by use."""

from __future__ import annotations

from typing import Final

from tensorkeep.proto.messages import MetaGraphDef
from tensorkeep.saved_model.files.constants import SERVING, TRAINING

_LOOKUPS: Final = frozenset(("KvResourceGather", "KvResourceGatherV1"))


def only_read_when_served(meta_graph: MetaGraphDef) -> None:
    """Marks the lookups of a graph for inference, if its tags say that it is to be served and not trained."""
    tags = set(meta_graph.meta_info_def.tags)
    if SERVING not in tags or TRAINING in tags:
        return
    bodies = [meta_graph.graph_def.node, *(body.node_def for body in meta_graph.graph_def.library.function)]
    for body in bodies:
        for node in body:
            if node.op in _LOOKUPS:
                node.attr["is_inference"].b = True
