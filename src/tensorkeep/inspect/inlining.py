"""Graphs with the functions that they call written out, to be looked at and not to be run.

A model of TensorFlow 2 is a few calls: all that it computes is in functions. Each function is written out where it is
first called; a later call of it is a node. So no graph grows beyond the nodes that it has, however functions call each
other. What saves and restores variables stays a call, and a variable stands in the scope of what uses it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from tensorkeep.graph.functions import called_functions
from tensorkeep.proto.messages import FunctionDef, GraphDef

_SAVING: Final = ("SaveV2", "RestoreV2", "MergeV2Checkpoints")
_CALLS: Final = ("PartitionedCall", "StatefulPartitionedCall")
_KEEPING: Final = ("VarIsInitializedOp", "AssignVariableOp", "DisableCopyOnRead")
VARIABLES: Final = "variables"
"""The scope of what keeps variables, and of what saves them."""
_DEEPEST: Final = 100  # calls within calls that are written out


class ShownNode(NamedTuple):
    """A node, and the nodes that lead to it."""

    name: str
    op: str
    input: tuple[str, ...]


def shown_nodes(graph: GraphDef) -> list[ShownNode]:
    """The nodes of a graph, and of the functions that it calls, each under a name of its own."""
    functions = {item.signature.name: item for item in graph.library.function}
    if not functions:
        return [ShownNode(node.name, node.op, tuple(map(_source, node.input))) for node in graph.node]
    written = _Written(functions)
    nodes = written.nodes(graph.node)
    return _with_variables([node._replace(input=written.followed(node.input)) for node in nodes])


def _source(edge: str) -> str:
    return edge.lstrip("^").partition(":")[0]


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
        return [shown for node in nodes for shown in self._node(node, {}, 0)]

    def followed(self, edges: Sequence[str]) -> tuple[str, ...]:
        """The nodes that edges come from; through calls to what gives their results."""
        found: dict[str, None] = {}
        waiting = list(reversed(edges))
        seen: set[str] = set()
        while waiting:
            edge = waiting.pop()
            name, _, number = edge.lstrip("^").partition(":")
            results = self._results.get(name)
            if results is None:
                found[name] = None
            elif edge not in seen:
                seen.add(edge)
                at = int(number) if number.isdecimal() else 0
                waiting += results[at : at + 1] or results[:1]
        return tuple(found)

    def _node(self, node: Any, names: Mapping[str, str], depth: int) -> Iterator[ShownNode]:
        name = names.get(node.name, node.name)
        # In a function, a node that does nothing waits for all that has an effect: lines that would hide all others.
        waits = bool(names) and node.op == "NoOp"
        edges = tuple(_edge(edge, names) for edge in node.input if not waits)
        called = list(dict.fromkeys(called_functions(node, self._functions)))
        is_call = node.op in _CALLS or node.op in self._functions
        entered = [item for item in called if item not in self._done and not self._saves(item)]
        if not entered or depth > _DEEPEST:
            yield ShownNode(name, f"{node.op} of {called[0]}" if called and is_call else node.op, edges)
            return
        if not is_call:
            yield ShownNode(name, node.op, edges)
        for function in entered:
            self._done.add(function)
            yield from self._body(self._functions[function], name, edges, depth, is_call)

    def _body(
        self, function: FunctionDef, call: str, edges: Sequence[str], depth: int, is_call: bool
    ) -> Iterator[ShownNode]:
        """The nodes of a function: under their own names where these are free, else in a scope of the call."""
        scope = "" if is_call else f"{call}/{function.signature.name}/"
        names = {node.name: self._free(f"{scope}{node.name}", call) for node in function.node_def}
        inputs = [edge for edge in edges if not edge.startswith("^")]
        names |= {argument.name: source for argument, source in zip(function.signature.input_arg, inputs, strict=False)}
        if is_call:
            results = (function.ret.get(argument.name, "") for argument in function.signature.output_arg)
            self._results[call] = tuple(_edge(result, names) for result in results)
        for node in function.node_def:
            yield from self._node(node, names, depth + 1)

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


def _with_variables(nodes: Sequence[ShownNode]) -> list[ShownNode]:
    """Puts each variable into the scope of what uses it, and what only keeps variables into one scope.

    A variable leads to the first that uses it, and to nothing else: not to what saves it, nor to other calls.
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
    return [
        ShownNode(
            free[node.name],
            node.op,
            tuple(free.get(item, item) for item in node.input if users.get(item, node.name) == node.name),
        )
        for node in nodes
    ]


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
