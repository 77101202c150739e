"""The ops that a graph uses, with their signatures: what tells a reader of another version how to read its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from typing import Final

from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import find_op
from tensorkeep.proto.messages import FunctionDef, GraphDef, NodeDef, OpDef, OpList

_CALLS: Final = ("PartitionedCall", "StatefulPartitionedCall")
_FOREIGN: Final = object()  # the key under which a graph remembers the signatures that it came with


def ops_used_by(graph_def: GraphDef) -> set[str]:
    """The names of the ops of a graph, and of the functions that it calls, directly or by `f` of a partitioned call.

    As for TensorFlow, functions that are branches or bodies of loops are not looked into.
    """
    functions = {function.signature.name: function for function in graph_def.library.function}
    used: set[str] = set()
    waiting: list[FunctionDef] = []
    _mark(graph_def.node, functions, used, waiting)
    while waiting:
        _mark(waiting.pop().node_def, functions, used, waiting)
    return used - set(functions)


def _mark(
    nodes: Iterable[NodeDef], functions: Mapping[str, FunctionDef], used: set[str], waiting: list[FunctionDef]
) -> None:
    for node in nodes:
        op = node.op
        names = (op, node.attr["f"].func.name) if op in _CALLS and "f" in node.attr else (op,)
        for name in names:
            if name not in used:
                used.add(name)
                if name in functions:
                    waiting.append(functions[name])


def stripped_op_list(graph_def: GraphDef, foreign: Mapping[str, OpDef] | None = None) -> OpList:
    """The signatures of the ops that a graph uses, by name. Ops that only `foreign` knows are taken from there."""
    found = OpList()
    for name in sorted(ops_used_by(graph_def)):
        op_def = known_op_def(name) or (foreign or {}).get(name)
        if op_def is not None:
            found.op.append(op_def)
    return found


@cache
def known_op_def(name: str) -> OpDef | None:
    """The signature of an op that this package knows. Shared: do not change it."""
    spec = find_op(name)
    return None if spec is None else spec.schema.to_op_def()


def foreign_ops(graph: Graph) -> Mapping[str, OpDef]:
    """The signatures of unknown ops that came with the meta graphs that were imported into a graph."""
    found: Mapping[str, OpDef] = graph.extras.get(_FOREIGN, {})
    return found


def remember_foreign_ops(graph: Graph, op_list: OpList) -> None:
    """Keeps the signatures of ops that only the meta graph being imported knows, for later exports."""
    unknown = {op_def.name: op_def for op_def in op_list.op if find_op(op_def.name) is None}
    if unknown:
        graph.extras[_FOREIGN] = {**foreign_ops(graph), **unknown}
