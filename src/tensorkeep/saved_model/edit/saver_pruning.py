"""Savers that save and restore fewer variables: their nodes rewritten, a pure function of a graph.

names, slices -> SaveV2(prefix, names, slices, value of a, value of b)
names, slices -> RestoreV2(prefix, names, slices) -> Assign(a, :0), Assign(b, :1) -> NoOp that waits for both
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from typing import Final

import numpy as np

from tensorkeep.dtypes import STRING
from tensorkeep.graph.rewriting.pruning import source_of
from tensorkeep.proto.messages import GraphDef, NodeDef
from tensorkeep.proto.tensors import array_of_tensor, tensor_of_array

VARIABLE_OPS: Final = frozenset(("Variable", "VariableV2", "VarHandleOp", "AutoReloadVariable"))
_PASSING: Final = frozenset(("Identity", "ReadVariableOp", "Cast"))
_ASSIGNING: Final = frozenset(("Assign", "AssignVariableOp"))
_FIXED_INPUTS: Final = 3  # of SaveV2: prefix, names, slices; values follow


def without_variables(graph_def: GraphDef, is_kept: Container[str]) -> GraphDef:
    """The graph whose savers leave out the variables that are not kept. The variables themselves stay.

    A saver's part that would be left with nothing, or that is built in another way, stays as it is.
    """
    copy = GraphDef()
    copy.CopyFrom(graph_def)
    pruner = _SaverPruner(copy, is_kept)
    for node in copy.node:
        if node.op == "RestoreV2":
            pruner.prune_restore(node)
        elif node.op == "SaveV2":
            pruner.prune_save(node)
    pruner.forget_assignments()
    return copy


class _SaverPruner:
    def __init__(self, graph_def: GraphDef, is_kept: Container[str]) -> None:
        self._graph_def = graph_def
        self._is_kept = is_kept
        self._nodes = {node.name: node for node in graph_def.node}
        self._consumers: dict[str, list[NodeDef]] = {}
        for node in graph_def.node:
            for edge in node.input:
                self._consumers.setdefault(edge.removesuffix(":0"), []).append(node)
        self._doomed: set[str] = set()

    def prune_restore(self, node: NodeDef) -> None:
        sinks = [self._sink(_output(node.name, index)) for index in range(len(node.attr["dtypes"].list.type))]
        kept = [index for index, sink in enumerate(sinks) if sink is None or self._keeps(sink.input[0])]
        if not self._narrow(node, kept):
            return
        self._doomed.update(sink.name for index, sink in enumerate(sinks) if sink is not None and index not in kept)
        renamed = {_output(node.name, old): _output(node.name, new) for new, old in enumerate(kept)}
        taken = [self._consumers.get(edge, []) for edge in renamed]  # before any edge is renamed
        for (old, new), consumers in zip(renamed.items(), taken, strict=True):
            for consumer in consumers:
                for place, edge in enumerate(consumer.input):
                    if edge.removesuffix(":0") == old:
                        consumer.input[place] = new

    def prune_save(self, node: NodeDef) -> None:
        count = len(node.attr["dtypes"].list.type)
        values = node.input[_FIXED_INPUTS : _FIXED_INPUTS + count]
        kept = [index for index, edge in enumerate(values) if self._keeps(edge)]
        if self._narrow(node, kept):
            left = [*node.input[:_FIXED_INPUTS], *(values[index] for index in kept)]
            node.input[:] = [*left, *node.input[_FIXED_INPUTS + count :]]

    def forget_assignments(self) -> None:
        """Removes control inputs that wait for assignments which are no longer in the graph."""
        for node in self._graph_def.node:
            if any(edge.startswith("^") and edge[1:] in self._doomed for edge in node.input):
                node.input[:] = [edge for edge in node.input if edge.removeprefix("^") not in self._doomed]

    def _narrow(self, node: NodeDef, kept: Sequence[int]) -> bool:
        """Has the node name fewer tensors, and says whether that was possible and necessary."""
        types = node.attr["dtypes"].list.type
        lists = [self._nodes.get(source_of(edge)) for edge in node.input[1:_FIXED_INPUTS]]
        if not kept or len(kept) == len(types):
            return False
        found = [item for item in lists if item is not None and self._is_own_list(item, node, len(types))]
        if len(found) != 2:
            return False
        for item in found:
            values = array_of_tensor(item.attr["value"].tensor)[list(kept)]
            item.attr["value"].tensor.CopyFrom(tensor_of_array(np.asarray(values, object), STRING))
            item.attr.pop("_output_shapes", None)
        types[:] = [types[index] for index in kept]
        node.attr.pop("_output_shapes", None)
        return True

    def _is_own_list(self, item: NodeDef, node: NodeDef, count: int) -> bool:
        if item.op != "Const" or self._consumers.get(item.name) != [node]:
            return False
        return array_of_tensor(item.attr["value"].tensor).shape == (count,)

    def _sink(self, edge: str) -> NodeDef | None:
        """The assignment that a restored tensor goes to; None if it goes elsewhere, or nowhere."""
        taker = self._only(edge, lambda node: node.op in _PASSING or node.op in _ASSIGNING)
        while taker is not None and taker.op in _PASSING:
            taker = self._only(taker.name, lambda node: node.op in _PASSING or node.op in _ASSIGNING)
        return taker

    def _only(self, edge: str, is_wanted: Callable[[NodeDef], bool]) -> NodeDef | None:
        takers = self._consumers.get(edge, [])
        return takers[0] if len(takers) == 1 and is_wanted(takers[0]) else None

    def _keeps(self, edge: str) -> bool:
        """Whether an edge that comes from a variable comes from one that is kept; true for all other edges."""
        node = self._nodes.get(source_of(edge))
        passed = 0
        while node is not None and node.op in _PASSING and node.input and passed < len(self._nodes):
            node = self._nodes.get(source_of(node.input[0]))
            passed += 1
        return node is None or node.op not in VARIABLE_OPS or node.name in self._is_kept


def _output(name: str, index: int) -> str:
    return f"{name}:{index}" if index else name
