"""Parts of graphs copied, with their variables and all else that collections hold."""

from __future__ import annotations

from typing import Any

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import Graph
from tensorkeep.metagraph.exporting import export_meta_graph
from tensorkeep.metagraph.importing import import_meta_graph


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
