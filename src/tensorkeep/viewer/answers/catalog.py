"""All questions by name, and which of them take long."""

from __future__ import annotations

from typing import Final

from tensorkeep.viewer.answers.checks import checks
from tensorkeep.viewer.answers.graphs import graph, graph_costs, graph_difference, graph_search, graphs, node
from tensorkeep.viewer.answers.history import comparison, drifting, health, history
from tensorkeep.viewer.answers.overview import open_entry, sources
from tensorkeep.viewer.answers.running import node_value, run, signatures
from tensorkeep.viewer.answers.tables import table, table_keys, table_lookup, table_map, table_nearest, tables
from tensorkeep.viewer.answers.tensors import filters, tensor, tensor_slice, values
from tensorkeep.viewer.answers.weights import weights
from tensorkeep.viewer.asking import Answer

SHORT: Final[dict[str, Answer]] = {
    "sources": sources,
    "open": open_entry,
    "graphs": graphs,
    "graph": graph,
    "graph_search": graph_search,
    "node": node,
    "weights": weights,
    "slice": tensor_slice,
    "values": values,
    "filters": filters,
    "tables": tables,
    "table_lookup": table_lookup,
    "history": history,
    "signatures": signatures,
}
"""Questions that are answered at once."""

LONG: Final[dict[str, Answer]] = {
    "graph_costs": graph_costs,
    "graph_difference": graph_difference,
    "tensor": tensor,
    "table": table,
    "table_keys": table_keys,
    "table_nearest": table_nearest,
    "table_map": table_map,
    "health": health,
    "comparison": comparison,
    "drift": drifting,
    "run": run,
    "node_value": node_value,
    "checks": checks,
}
"""Questions that may take long: they are worked on in a thread, tell how far that is, and can be cancelled."""
