"""The versions of a graph: which program made it, and which may read it.

A VersionDef has three parts: the producer, the version of the program that made the graph, 0 if it says nothing;
the first consumer that may read it; and single consumers that may not. TensorFlow decides by the producer which ops
a graph may still have, so that a graph which is exported must not claim to be younger than its oldest nodes.
"""

from __future__ import annotations

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import PRODUCER, Graph
from tensorkeep.proto.messages import VersionDef


def versions_of(graph: Graph) -> VersionDef:
    """What a graph says of the programs that made it and that may read it."""
    return VersionDef(producer=graph.producer, min_consumer=graph.min_consumer, bad_consumers=graph.bad_consumers)


def merge_versions(graph: Graph, versions: VersionDef) -> None:
    """Merges the versions of imported nodes into a graph's: the older producer, the stricter demands on readers.

    As UpdateVersionDef in TensorFlow's graph_constructor.cc.
    """
    graph.producer = min(graph.producer, versions.producer)
    graph.min_consumer = max(graph.min_consumer, versions.min_consumer)
    if versions.bad_consumers:
        graph.bad_consumers = tuple(sorted({*graph.bad_consumers, *versions.bad_consumers}))


def check_versions(versions: VersionDef) -> None:
    """Sees that TensorFlow 2.21 may read a graph, in the words and the order of its CheckVersions."""
    if versions.producer < 0:
        raise InvalidArgumentError(
            f"GraphDef producer version {versions.producer} below min producer 0 supported by TensorFlow 2.21.0.  "
            "Please regenerate your graph."
        )
    if versions.min_consumer > PRODUCER:
        raise InvalidArgumentError(
            f"GraphDef min consumer version {versions.min_consumer} above current version {PRODUCER} for TensorFlow "
            "2.21.0.  Please upgrade TensorFlow."
        )
    if PRODUCER in versions.bad_consumers:
        raise InvalidArgumentError(
            f"GraphDef disallows consumer version {PRODUCER}.  Please upgrade TensorFlow: this version is likely buggy."
        )
