"""The list of the ops that a graph uses."""

from __future__ import annotations

from tensorkeep.graph.graph import Graph
from tensorkeep.metagraph.op_list import (
    foreign_ops,
    known_op_def,
    ops_used_by,
    remember_foreign_ops,
    stripped_op_list,
)
from tensorkeep.proto.messages import GraphDef, OpDef, OpList


def graph_with(*ops: str) -> GraphDef:
    graph = GraphDef()
    for i, op in enumerate(ops):
        graph.node.add(name=f"n{i}", op=op)
    return graph


def add_function(graph: GraphDef, name: str, *ops: str) -> None:
    function = graph.library.function.add()
    function.signature.name = name
    for i, op in enumerate(ops):
        function.node_def.add(name=f"n{i}", op=op)


def test_ops_are_listed_once_by_name() -> None:
    found = stripped_op_list(graph_with("MatMul", "Add", "MatMul", "Const"))
    assert [op.name for op in found.op] == ["Add", "Const", "MatMul"]


def test_functions_are_looked_into_where_they_are_called_by_name_or_by_a_partitioned_call() -> None:
    graph = graph_with("outer", "PartitionedCall")
    graph.node[1].attr["f"].func.name = "called"
    add_function(graph, "outer", "inner", "Mul")
    add_function(graph, "inner", "Sub", "outer")
    add_function(graph, "called", "Exp")
    add_function(graph, "uncalled", "Log")
    assert ops_used_by(graph) == {"PartitionedCall", "Mul", "Sub", "Exp"}


def test_branches_are_not_looked_into() -> None:
    graph = graph_with("StatelessIf")
    graph.node[0].attr["then_branch"].func.name = "then"
    add_function(graph, "then", "Tanh")
    assert ops_used_by(graph) == {"StatelessIf"}


def test_an_unknown_op_is_left_out_unless_the_graph_came_with_its_signature() -> None:
    graph = graph_with("Acme", "Add")
    assert [op.name for op in stripped_op_list(graph).op] == ["Add"]
    signature = OpDef(name="Acme", is_stateful=True)
    assert stripped_op_list(graph, {"Acme": signature}).op[0] == signature


def test_a_graph_remembers_signatures_that_only_its_meta_graphs_know() -> None:
    graph = Graph()
    remember_foreign_ops(graph, OpList(op=[OpDef(name="Acme"), OpDef(name="Add")]))
    remember_foreign_ops(graph, OpList(op=[OpDef(name="Other")]))
    assert sorted(foreign_ops(graph)) == ["Acme", "Other"]


def test_signatures_have_no_prose() -> None:
    found = known_op_def("MatMul")
    assert found is not None
    assert [arg.name for arg in found.input_arg] == ["a", "b"]
    assert not found.summary
    assert not found.description
    assert known_op_def("Acme") is None
