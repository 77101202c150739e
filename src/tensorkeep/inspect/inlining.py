"""Graphs with the functions that they call written out, to be looked at and not to be run.

A model of TensorFlow 2 is a few calls: all that it computes is in functions. Each function is written out where it is
first called; a later call of it is a node. So no graph grows beyond the nodes that it has, however functions call each
other. What saves and restores variables stays a call, and a variable stands in the scope of what uses it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tensorkeep.graph.functions import called_functions
from tensorkeep.proto.messages import FunctionDef, GraphDef

_SAVING: Final = ("SaveV2", "RestoreV2", "MergeV2Checkpoints")
_CALLS: Final = ("PartitionedCall", "StatefulPartitionedCall")
_KEEPING: Final = ("VarIsInitializedOp", "AssignVariableOp", "DisableCopyOnRead")
VARIABLES: Final = "variables"
"""The scope of what keeps variables, and of what saves them."""
_DEEPEST: Final = 100  # calls within calls that are written out


class NodePlace(NamedTuple):
    """Where a node is written down."""

    function: str
    """The function that has it; empty for a node of the graph itself."""
    node: str
    """Its name there."""
    calls: tuple[str, ...] = ()
    """The nodes that call functions on the way to it, the outermost first, each by its name where it is written."""


class ShownNode(NamedTuple):
    """A node, and the nodes that lead to it."""

    name: str
    op: str
    input: tuple[str, ...]
    place: NodePlace
    slots: tuple[int, ...] = ()
    """Of each input the number of the output that is taken, and -1 where one only waits for the other."""


@dataclass(frozen=True)
class ShownGraph:
    """A graph with its functions written out."""

    nodes: Sequence[ShownNode]
    source: Callable[[str], str]
    """Tells which node a tensor of the graph, such as "call:0", comes from: that in a function, if it is a call."""


def shown_nodes(graph: GraphDef) -> Sequence[ShownNode]:
    """The nodes of a graph, and of the functions that it calls, each under a name of its own."""
    return shown_graph(graph).nodes


def shown_graph(graph: GraphDef) -> ShownGraph:
    """The same, with a way to find where a tensor comes from."""
    functions = {item.signature.name: item for item in graph.library.function}
    if not functions:
        return ShownGraph([_plain(node) for node in graph.node], _source)
    written = _Written(functions)
    nodes = [_followed_node(node, written) for node in written.nodes(graph.node)]
    shown, names = _with_variables(nodes)

    def source(tensor: str) -> str:
        found = next(iter(written.followed((tensor,))), _source(tensor))
        return names.get(found, found)

    return ShownGraph(shown, source)


def _plain(node: Any) -> ShownNode:
    sources, slots = tuple(map(_source, node.input)), tuple(map(_slot, node.input))
    return ShownNode(node.name, node.op, sources, NodePlace("", node.name), slots)


def _followed_node(node: ShownNode, written: _Written) -> ShownNode:
    found = written.followed(node.input)
    return node._replace(input=tuple(found), slots=tuple(found.values()))


def _source(edge: str) -> str:
    return edge.lstrip("^").partition(":")[0]


def _slot(edge: str) -> int:
    if edge.startswith("^"):
        return -1
    number = edge.rpartition(":")[2] if ":" in edge else ""
    return int(number) if number.isdecimal() else 0


class _Written:
    """Writes functions out, each once."""

    def __init__(self, functions: Mapping[str, FunctionDef]) -> None:
        self._functions = functions
        self._done: set[str] = set()
        self._names: set[str] = set()
        self._results: dict[str, tuple[str, ...]] = {}
        """By call, the nodes that give its results."""

    def nodes(self, nodes: Sequence[Any]) -> list[ShownNode]:
        self._names.update(node.name for node in nodes)
        return [shown for node in nodes for shown in self._node(node, {}, NodePlace("", node.name))]

    def followed(self, edges: Sequence[str]) -> dict[str, int]:
        """The nodes that edges come from, with which output of each; through calls to what gives their results."""
        found: dict[str, int] = {}
        waiting = list(reversed(edges))
        seen: set[str] = set()
        while waiting:
            edge = waiting.pop()
            name, _, number = edge.lstrip("^").partition(":")
            results = self._results.get(name)
            if results is None:
                found.setdefault(name, _slot(edge))
            elif edge not in seen:
                seen.add(edge)
                at = int(number) if number.isdecimal() else 0
                waiting += results[at : at + 1] or results[:1]
        return found

    def _node(self, node: Any, names: Mapping[str, str], place: NodePlace) -> Iterator[ShownNode]:
        name = names.get(node.name, node.name)
        # In a function, a node that does nothing waits for all that has an effect: lines that would hide all others.
        waits = bool(names) and node.op == "NoOp"
        edges = tuple(_edge(edge, names) for edge in node.input if not waits)
        called = list(dict.fromkeys(called_functions(node, self._functions)))
        is_call = node.op in _CALLS or node.op in self._functions
        entered = [item for item in called if item not in self._done and not self._saves(item)]
        if not entered or len(place.calls) > _DEEPEST:
            yield ShownNode(name, f"{node.op} of {called[0]}" if called and is_call else node.op, edges, place)
            return
        if not is_call:
            yield ShownNode(name, node.op, edges, place)
        for function in entered:
            self._done.add(function)
            yield from self._body(self._functions[function], name, edges, place, is_call)

    def _body(
        self, function: FunctionDef, call: str, edges: Sequence[str], place: NodePlace, is_call: bool
    ) -> Iterator[ShownNode]:
        """The nodes of a function: under their own names where these are free, else in a scope of the call."""
        calls = (*place.calls, place.node)
        scope = "" if is_call else f"{call}/{function.signature.name}/"
        names = {node.name: self._free(f"{scope}{node.name}", call) for node in function.node_def}
        inputs = [edge for edge in edges if not edge.startswith("^")]
        names |= {argument.name: source for argument, source in zip(function.signature.input_arg, inputs, strict=False)}
        if is_call:
            results = (function.ret.get(argument.name, "") for argument in function.signature.output_arg)
            self._results[call] = tuple(_edge(result, names) for result in results)
        for node in function.node_def:
            yield from self._node(node, names, NodePlace(function.signature.name, node.name, calls))

    def _free(self, name: str, call: str) -> str:
        found, number = name, 0
        while found in self._names:
            found, number = f"{call}/{name}" if not number else f"{call}/{name}_{number}", number + 1
        self._names.add(found)
        return found

    def _saves(self, name: str) -> bool:
        return any(node.op in _SAVING for node in self._functions[name].node_def)


def _edge(edge: str, names: Mapping[str, str]) -> str:
    """An edge of a function's body as one of the graph: `node:output:number` becomes `node:number`."""
    sign = "^" if edge.startswith("^") else ""
    name, _, rest = edge.lstrip("^").partition(":")
    number = rest.rpartition(":")[2]
    source = names.get(name, name)
    return f"{sign}{source}:{number}" if number.isdecimal() and ":" not in source else f"{sign}{source}"


def _with_variables(nodes: Sequence[ShownNode]) -> tuple[list[ShownNode], Mapping[str, str]]:
    """Puts each variable into the scope of what uses it, and what only keeps variables into one scope.

    Gives the nodes, and their new names by the old ones. A variable leads to the first that uses it, and to nothing
    else: not to what saves it, nor to other calls.
    """
    by_name = {node.name: node for node in nodes}
    handles = {node.name for node in nodes if node.op == "VarHandleOp"}
    users = {
        source: node.name for node in reversed(nodes) for source in node.input if source in handles and _uses(node)
    }
    scopes = {name: f"{user.rpartition('/')[0] or user}/{name.rpartition('/')[2]}" for name, user in users.items()}
    scopes |= {
        node.name: f"{VARIABLES}/{node.name}"
        for node in nodes
        if node.name not in scopes and _only_keeps(node, by_name, handles)
    }
    scopes |= {name: f"{VARIABLES}/{name}" for name in _only_for_kept(nodes, scopes)}
    free = _unique(nodes, scopes)
    return [_renamed_node(node, free, users) for node in nodes], free


def _renamed_node(node: ShownNode, free: Mapping[str, str], users: Mapping[str, str]) -> ShownNode:
    pairs = zip(node.input, node.slots, strict=True)
    kept = [(free.get(item, item), slot) for item, slot in pairs if users.get(item, node.name) == node.name]
    sources, slots = tuple(item for item, _ in kept), tuple(slot for _, slot in kept)
    return ShownNode(free[node.name], node.op, sources, node.place, slots)


def _only_for_kept(nodes: Sequence[ShownNode], scopes: Mapping[str, str]) -> set[str]:
    """What comes from nothing and leads to what keeps variables only: the names of files, lists of names."""
    kept = {name for name, scope in scopes.items() if scope.startswith(f"{VARIABLES}/")}
    leads_elsewhere = {item for node in nodes if node.name not in kept for item in node.input}
    leads_there = {item for node in nodes if node.name in kept for item in node.input}
    alone = {node.name for node in nodes if not node.input and node.name not in scopes}
    return (alone & leads_there) - leads_elsewhere


def _uses(node: ShownNode) -> bool:
    """Whether it is a node of the model that uses a variable, and not one that keeps it."""
    return node.op not in _KEEPING and not _is_kept_by_name(node) and not _is_saving(node)


def _is_saving(node: ShownNode) -> bool:
    return "_traced_save" in node.op or "_traced_restore" in node.op


def _is_kept_by_name(node: ShownNode) -> bool:
    """Whether it is one of the nodes that TensorFlow makes with each variable: `kernel/Read/ReadVariableOp`."""
    return any(part in f"{node.name}/" for part in ("/Read/", "/Initializer/", "/IsInitialized/", "/Assign/"))


def _only_keeps(node: ShownNode, by_name: Mapping[str, ShownNode], handles: set[str]) -> bool:
    if node.name in handles or _is_saving(node) or node.op in _KEEPING:
        return True
    comes_from_one = all(item in handles or by_name.get(item, node).op in _KEEPING for item in node.input)
    return _is_kept_by_name(node) and bool(node.input) and comes_from_one


def _unique(nodes: Sequence[ShownNode], scopes: Mapping[str, str]) -> dict[str, str]:
    """The new names of all nodes; one that is taken already gets a number."""
    taken: set[str] = {node.name for node in nodes if node.name not in scopes}
    found = {node.name: node.name for node in nodes}
    for old, new in scopes.items():
        name, number = new, 1
        while name in taken:
            name, number = f"{new}_{number}", number + 1
        taken.add(name)
        found[old] = name
    return found
