"""What of a graph is needed, and what of it only training needs: pure functions of GraphDef messages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from tensorkeep.dtypes import INT32, STRING
from tensorkeep.errors import InvalidArgumentError, NotFoundError, WrongTypeError
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.proto.messages import GraphDef, NodeDef

_COLOCATED: Final = "loc:@"
_CHECKS: Final = frozenset(("CheckNumerics",))
_COPIES: Final = frozenset(("Identity", "StopGradient"))
_VARIABLE_OPS: Final = frozenset(
    (
        "Assign",
        "AssignAdd",
        "AssignSub",
        "Queue",
        "ScatterAdd",
        "ScatterSub",
        "ScatterUpdate",
        "TruncatedNormal",
        "Variable",
        "VariableV2",
    )
)
_TYPE_OF_CPU_OP: Final = {"DynamicStitch": "T", "ParallelDynamicStitch": "T", "Cast": "SrcT"}


class MissingNodeError(NotFoundError, AssertionError):
    """A node was asked for that the graph does not have. TensorFlow asserts that it has it."""


def source_of(edge: str) -> str:
    """The node that an input of a node comes from: "a" for "a", "a:1" and "^a"."""
    return edge[1:] if edge.startswith("^") else edge.partition(":")[0]


def colocated_with(node: NodeDef) -> list[str]:
    """The nodes whose device a node wants to share."""
    if "_class" not in node.attr:
        return []
    return [group.decode("utf-8", "replace").removeprefix(_COLOCATED) for group in node.attr["_class"].list.s]


def extract_sub_graph(graph_def: GraphDef, dest_nodes: Iterable[str]) -> GraphDef:
    """The part of a graph that some of its nodes need, in the order it had, with the whole library and the versions.

    Data, control edges and colocation are followed; a node colocated with one that is not there is not held up by it.
    """
    if not isinstance(graph_def, GraphDef):
        raise WrongTypeError(f"graph_def must be a graph_pb2.GraphDef proto, but got type {type(graph_def)}.")
    if isinstance(dest_nodes, str):
        raise WrongTypeError(
            f"dest_nodes must be an iterable of strings, but got type {type(dest_nodes)}. Write [{dest_nodes!r}]"
        )
    kept = needed_nodes(graph_def, dest_nodes)
    found = GraphDef()
    for name, node in _nodes_by_name(graph_def).items():
        if name in kept:
            found.node.add().CopyFrom(node)
    found.library.CopyFrom(graph_def.library)
    found.versions.CopyFrom(graph_def.versions)
    return found


def needed_nodes(graph_def: GraphDef, dest_nodes: Iterable[str]) -> set[str]:
    """The names of all nodes that some need, themselves among them; MissingNodeError if one of these is not there."""
    nodes = _nodes_by_name(graph_def)
    wanted = list(dest_nodes)
    if missing := [name for name in wanted if name not in nodes]:
        raise MissingNodeError(f"{', '.join(map(str, missing))} {'are' if missing[1:] else 'is'} not in graph")
    return _reached_nodes(nodes, wanted)


def _nodes_by_name(graph_def: GraphDef) -> dict[str, NodeDef]:
    return {source_of(node.name): node for node in graph_def.node}


def _reached_nodes(nodes: Mapping[str, NodeDef], wanted: list[str]) -> set[str]:
    kept: set[str] = set()
    dangling: list[str] = []
    while wanted:
        name = wanted.pop()
        if name in kept:
            continue
        kept.add(name)
        node = nodes[name]
        for edge in node.input:
            source = source_of(edge)
            if source in nodes:
                wanted.append(source)
            else:
                dangling.append(f"Node '{name}': Unknown input node '{edge}'")
        wanted.extend(other for other in colocated_with(node) if other in nodes)
    if dangling:
        raise InvalidArgumentError("; ".join(sorted(dangling)))
    return kept


# --------------------------------------------------------------------------------------------- what only training needs


def remove_training_nodes(graph_def: GraphDef, protected_nodes: Collection[str] = ()) -> GraphDef:
    """The graph without nodes that pass a value on as it is: CheckNumerics, Identity and StopGradient.

    What took the value of such a node takes what the node took, and nobody waits for a CheckNumerics any more. A node
    stays if it is protected, is part of a control edge, or if others want its device. The library and the versions are
    kept.
    """
    waits = {f"^{name}" for name in _checks(graph_def, protected_nodes)}
    left = [_with_inputs(node, (edge for edge in node.input if edge not in waits)) for node in graph_def.node]
    removed = GraphDef()
    removed.library.CopyFrom(graph_def.library)
    removed.versions.CopyFrom(graph_def.versions)
    _add_spliced(removed, left, _COPIES | _CHECKS, protected_nodes)
    return removed


def remove_training_nodes_as_tensorflow(graph_def: GraphDef, protected_nodes: Collection[str] = ()) -> GraphDef:
    """The same as TensorFlow does it, node for node: CheckNumerics is not bridged but cut out.

    What took the value of a CheckNumerics is left with one input fewer, the library is lost, and so are the versions.
    """
    checks = _checks(graph_def, protected_nodes)
    left = [
        _with_inputs(node, (edge for edge in node.input if edge.removeprefix("^") not in checks))
        for node in graph_def.node
        if node.name not in checks
    ]
    removed = GraphDef()
    _add_spliced(removed, left, _COPIES, protected_nodes)
    return removed


def _checks(graph_def: GraphDef, protected: Collection[str]) -> set[str]:
    return {node.name for node in graph_def.node if node.op in _CHECKS and node.name not in protected}


def _add_spliced(graph_def: GraphDef, nodes: list[NodeDef], ops: frozenset[str], protected: Collection[str]) -> None:
    """Adds the nodes to a message, those that only pass on a value left out and bridged."""
    held = {other for node in nodes for other in colocated_with(node)} | set(protected)
    for node in nodes:
        controls = [edge[1:] for edge in node.input if edge.startswith("^")]
        held.update(controls, [node.name] if controls else ())
    bridges = {node.name: node.input[0] for node in nodes if node.op in ops and node.name not in held and node.input}
    bridged = _bridged_edge(bridges)
    for node in nodes:
        if node.name not in bridges:
            graph_def.node.append(_with_inputs(node, map(bridged, node.input)))


def _bridged_edge(bridges: Mapping[str, str]) -> Callable[[str], str]:
    """What an edge becomes when the nodes that have bridges are gone."""

    def bridged(edge: str) -> str:
        passed = set()
        while (name := edge.removesuffix(":0")) in bridges:
            if name in passed:
                raise InvalidArgumentError(f"nodes pass on each other's value in a circle, among them '{name}'")
            passed.add(name)
            edge = bridges[name]
        return edge

    return bridged


def _with_inputs(node: NodeDef, inputs: Iterable[str]) -> NodeDef:
    changed = NodeDef()
    changed.CopyFrom(node)
    found = list(inputs)
    del changed.input[:]
    changed.input.extend(found)
    return changed


# ----------------------------------------------------------------------------------------------------------- questions


def must_run_on_cpu(node: Operation | NodeDef, pin_variables_on_cpu: bool = False) -> bool:
    """Whether TensorFlow has no kernel on a GPU for this node, or, if so wished, whether it concerns a variable."""
    node_def: NodeDef = node.node_def if isinstance(node, Operation) else node
    if not isinstance(node_def, NodeDef):
        raise WrongTypeError(f"a node is an Operation or a NodeDef, got {type(node).__name__}")
    if pin_variables_on_cpu and node_def.op in _VARIABLE_OPS:
        return True
    if node_def.op == "Const":
        return _type(node_def, "dtype") in (STRING.number, INT32.number)
    attr = _TYPE_OF_CPU_OP.get(node_def.op)
    return attr is not None and _type(node_def, attr) == INT32.number


def _type(node: NodeDef, attr: str) -> int:
    return int(node.attr[attr].type) if attr in node.attr else 0


def tensor_of_edge(graph: Graph, edge: str) -> Tensor:
    """The tensor that an input of a node names: "a" is "a:0"."""
    return graph.tensor(edge if ":" in edge else f"{edge}:0")
