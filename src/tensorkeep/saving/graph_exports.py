"""The graph as it is stored beside each checkpoint: made anew only when the graph has changed since the last one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tensorkeep.graph.graph import Graph
from tensorkeep.metagraph.exporting import export_meta_graph
from tensorkeep.proto.messages import SaverDef, serialize


@dataclass(frozen=True)
class ExportedGraph:
    """A graph's meta graph, and the state that the graph was in."""

    data: bytes
    state: tuple[Any, ...]
    collections: Mapping[Any, Sequence[Any]]


class GraphExports:
    """Remembers the last export."""

    def __init__(self) -> None:
        self._last: ExportedGraph | None = None

    def get(self, graph: Graph, saver_def: SaverDef, strip_default_attrs: bool) -> ExportedGraph:
        """The graph with a saver, as bytes."""
        state = (id(graph), len(graph.operations), graph.edits, len(graph.functions), strip_default_attrs)
        last = self._last
        if last is None or last.state != state or not _are_same(last.collections, graph.collections):
            proto = export_meta_graph(graph, saver_def=saver_def, strip_default_attrs=strip_default_attrs)
            kept = {key: list(items) for key, items in graph.collections.items()}
            last = self._last = ExportedGraph(serialize(proto), state, kept)
        return last


def _are_same(old: Mapping[Any, Sequence[Any]], new: Mapping[Any, Sequence[Any]]) -> bool:
    """Whether all collections hold the very same items as before."""
    if len(old) != len(new):
        return False
    return all(
        key in old and len(old[key]) == len(items) and all(map(_is, old[key], items)) for key, items in new.items()
    )


def _is(a: object, b: object) -> bool:
    return a is b
