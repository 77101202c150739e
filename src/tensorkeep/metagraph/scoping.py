"""Parts of graphs to export: one scope without its prefix, no devices, no nodes of other savers. Pure functions."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from tensorkeep.graph.scopes import strip_name_scope
from tensorkeep.metagraph.collections import UNBOUND_PREFIX, is_included
from tensorkeep.proto.messages import GraphDef, NodeDef, SaverDef

_SAVER_OPS: Final = frozenset(
    (
        "SaveV2",
        "Save",
        "SaveSlice",
        "LegacySave",
        "LegacySaveSlice",
        "RestoreV2",
        "Restore",
        "RestoreSlice",
        "LegacyRestore",
        "LegacyRestoreSlice",
    )
)
_ENTERS: Final = ("Enter", "RefEnter")


def part_of_graph(
    graph_def: GraphDef, export_scope: str | None, excluded: Collection[str], clear_devices: bool
) -> tuple[GraphDef, list[str]]:
    """The nodes of a scope, without its name, and the names by which they take inputs from outside of it.

    Whether a node is in the scope is told by the beginning of its name alone, as TensorFlow does: "a" has "ab/c" too.
    """
    part = GraphDef()
    part.versions.CopyFrom(graph_def.versions)
    if graph_def.HasField("library"):
        part.library.CopyFrom(graph_def.library)
    unbound: dict[str, None] = {}
    for source in graph_def.node:
        if not is_included(source.name, export_scope, excluded):
            continue
        node = part.node.add()
        node.CopyFrom(source)
        if clear_devices:
            node.device = ""
        if export_scope:
            _strip_node(node, export_scope, unbound)
    return part, list(unbound)


def _strip_node(node: NodeDef, scope: str, unbound: dict[str, None]) -> None:
    edges = [_strip_edge(edge, scope, unbound) for edge in node.input]
    node.input[:] = edges
    node.name = strip_name_scope(node.name, scope)
    if "_class" in node.attr:
        groups = [group.decode() for group in node.attr["_class"].list.s]
        inside = [group for group in groups if group.partition("@")[2].startswith(scope)]
        node.attr["_class"].list.s[:] = [strip_name_scope(group, scope).encode() for group in inside]
    if node.op in _ENTERS and "frame_name" in node.attr:
        frame = node.attr["frame_name"].s.decode()
        node.attr["frame_name"].s = strip_name_scope(frame, scope).encode()


def _strip_edge(edge: str, scope: str, unbound: dict[str, None]) -> str:
    if edge.lstrip("^").startswith(scope):
        return strip_name_scope(edge, scope)
    mark = "^" if edge.startswith("^") else ""
    outside = f"{mark}{UNBOUND_PREFIX}{edge[len(mark) :]}"
    unbound[outside] = None
    return outside


def other_saver_nodes(graph_def: GraphDef, saver_def: SaverDef | None) -> set[str]:
    """The names of all nodes in scopes that save or restore, but for the scope of this saver."""
    kept = set()
    if saver_def is not None:
        kept = {_scope_of(name) for name in (saver_def.save_tensor_name, saver_def.restore_op_name)}
    savers = {node.name for node in graph_def.node if node.op in _SAVER_OPS}
    scopes = {_scope_of(name) for name in savers if _scope_of(name)[:-1] not in savers} - kept
    prefixes = tuple(sorted(scopes))
    return {node.name for node in graph_def.node if node.name.startswith(prefixes)} if prefixes else set()


def _scope_of(name: str) -> str:
    """The scope that a name is in, with a slash behind it: that of "a/b:0" is "a/"."""
    return f"{name.rpartition('/')[0]}/"
