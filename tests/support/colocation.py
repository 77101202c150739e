"""What an import adds to a graph: a node without a device gets that of the one it is to be with."""

from __future__ import annotations

from tensorkeep.proto.messages import GraphDef, NodeDef


def placed_nodes(graph_def: GraphDef) -> dict[str, NodeDef]:
    """The nodes of a graph by name, as they are once they are imported."""
    placed: dict[str, NodeDef] = {}
    for node in graph_def.node:
        placed[node.name] = NodeDef()
        placed[node.name].CopyFrom(node)
    for node in placed.values():
        if not node.device and "_class" in node.attr:
            others = [placed[group.decode().removeprefix("loc:@")] for group in node.attr["_class"].list.s]
            node.device = next((other.device for other in others if other.device), "")
    return placed
