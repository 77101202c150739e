"""Parts of graphs, and graphs without what only training needs."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import InvalidArgumentError, NotFoundError, WrongTypeError
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.files import read_graph
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.rewriting.pruning import (
    extract_sub_graph,
    must_run_on_cpu,
    remove_training_nodes,
    remove_training_nodes_as_tensorflow,
    source_of,
    tensor_of_edge,
)
from tensorkeep.proto.messages import GraphDef, NodeDef, serialize
from tests.support.golden import expected, golden

CASE = "g24_graph_tools"


def graph_of(*nodes: tuple[str, str, list[str]], colocated: dict[str, str] | None = None) -> GraphDef:
    proto = GraphDef()
    proto.versions.producer = 100
    proto.library.function.add().signature.name = "f"
    for name, op, inputs in nodes:
        proto.node.add(name=name, op=op, input=inputs)
    for node in proto.node:
        if node.name in (colocated or {}):
            node.attr["_class"].list.s.append(f"loc:@{(colocated or {})[node.name]}".encode())
    return proto


def inputs_of(proto: GraphDef) -> dict[str, list[str]]:
    return {node.name: list(node.input) for node in proto.node}


@pytest.mark.parametrize("kind", ["ref", "res"])
def test_a_part_of_a_graph_is_tensorflows_byte_for_byte(kind: str) -> None:
    folder = golden(CASE) / kind
    found = extract_sub_graph(read_graph(str(folder / "graph.pb")), ["prob"])
    assert [node.name for node in found.node] == expected(CASE)[kind]["sub_nodes"]
    assert serialize(found) == (folder / "sub_prob.pb").read_bytes()


@pytest.mark.parametrize("kind", ["ref", "res"])
def test_removing_training_nodes_as_tensorflow_is_tensorflows_byte_for_byte(kind: str) -> None:
    folder = golden(CASE) / kind
    found = remove_training_nodes_as_tensorflow(read_graph(str(folder / "frozen.pb")), ["out2"])
    nodes = [[node.name, node.op, list(node.input)] for node in found.node]
    assert nodes == expected(CASE)[kind]["notrain_nodes"]
    assert found.HasField("versions") == expected(CASE)[kind]["notrain_has_versions"]
    assert serialize(found) == (folder / "frozen_notrain.pb").read_bytes()


@pytest.mark.parametrize("kind", ["ref", "res"])
def test_removing_training_nodes_leaves_a_graph_that_can_be_imported(kind: str) -> None:
    frozen = read_graph(str(golden(CASE) / kind / "frozen.pb"))
    found = remove_training_nodes(frozen, ["out2"])
    assert inputs_of(remove_training_nodes_as_tensorflow(frozen, ["out2"]))["mul"] == ["mul/y"]
    assert len(inputs_of(found)["mul"]) == 2
    assert not {"CheckNumerics", "StopGradient"} & {node.op for node in found.node}
    assert found.versions == frozen.versions
    import_graph(found, Graph(), name="")


def test_a_part_follows_data_control_and_colocation_and_keeps_order_library_and_versions() -> None:
    proto = graph_of(
        ("a", "Const", []),
        ("b", "Const", []),
        ("c", "NoOp", []),
        ("d", "Add", ["a:0", "b:1", "^c"]),
        ("e", "Const", []),
        ("f", "Neg", ["d"]),
        colocated={"d": "e"},
    )
    found = extract_sub_graph(proto, ["d"])
    assert list(inputs_of(found)) == ["a", "b", "c", "d", "e"]
    assert found.library == proto.library
    assert found.versions == proto.versions


def test_colocation_with_a_node_that_is_not_there_is_no_obstacle() -> None:
    found = extract_sub_graph(graph_of(("a", "Const", []), colocated={"a": "gone"}), ["a"])
    assert list(inputs_of(found)) == ["a"]


def test_all_nodes_that_are_missing_are_named() -> None:
    proto = graph_of(("a", "Const", []))
    with pytest.raises(AssertionError, match=r"^x is not in graph$"):
        extract_sub_graph(proto, ["x"])
    with pytest.raises(NotFoundError, match=r"^x, y are not in graph$"):
        extract_sub_graph(proto, ["x", "a", "y"])
    with pytest.raises(InvalidArgumentError, match=r"Node 'b': Unknown input node 'z:1'"):
        extract_sub_graph(graph_of(("b", "Neg", ["z:1"])), ["b"])


def test_one_name_instead_of_a_list_and_something_else_than_a_graph_are_refused() -> None:
    with pytest.raises(TypeError, match="dest_nodes must be an iterable of strings"):
        extract_sub_graph(graph_of(), "a")
    with pytest.raises(WrongTypeError, match=r"graph_def must be a graph_pb2\.GraphDef proto"):
        extract_sub_graph(NodeDef(), ["a"])  # type: ignore[arg-type]


def test_what_passes_a_value_on_is_bridged_unless_something_holds_it() -> None:
    proto = graph_of(
        ("x", "Placeholder", []),
        ("copy", "Identity", ["x"]),
        ("stop", "StopGradient", ["copy:0"]),
        ("check", "CheckNumerics", ["stop"]),
        ("y", "Neg", ["check"]),
        ("waiting", "Identity", ["y", "^x"]),
        ("waited_for", "Identity", ["y"]),
        ("place", "Identity", ["y"]),
        ("kept", "Identity", ["y"]),
        ("z", "Pack", ["waiting", "waited_for", "place", "kept", "^waited_for", "^check"]),
        colocated={"z": "place"},
    )
    found = inputs_of(remove_training_nodes(proto, ["kept"]))
    assert found == {
        "x": [],
        "y": ["x"],
        "waiting": ["y", "^x"],
        "waited_for": ["y"],
        "place": ["y"],
        "kept": ["y"],
        "z": ["waiting", "waited_for", "place", "kept", "^waited_for"],
    }


def test_copies_in_a_circle_are_refused() -> None:
    proto = graph_of(("a", "Identity", ["b"]), ("b", "Identity", ["a"]), ("c", "Neg", ["a"]))
    with pytest.raises(InvalidArgumentError, match="in a circle"):
        remove_training_nodes(proto)


@given(st.lists(st.tuples(st.sampled_from(["Identity", "Neg", "CheckNumerics"]), st.integers(0, 20)), max_size=20))
def test_what_is_left_takes_what_is_left_and_leads_to_the_same_sources(steps: list[tuple[str, int]]) -> None:
    nodes: list[tuple[str, str, list[str]]] = [("n0", "Placeholder", [])]
    for i, (op, back) in enumerate(steps):
        nodes.append((f"n{i + 1}", op, [f"n{max(0, i - back)}"]))
    found = inputs_of(remove_training_nodes(graph_of(*nodes), [nodes[-1][0]]))
    before = {name: (op, inputs) for name, op, inputs in nodes}
    assert nodes[-1][0] in found
    for name, inputs in found.items():
        assert all(source_of(edge) in found for edge in inputs)
        assert [_effective(edge, before) for edge in inputs] == [_effective(edge, before) for edge in before[name][1]]


def _effective(name: str, nodes: dict[str, Any]) -> str:
    while nodes[name][0] in ("Identity", "CheckNumerics"):
        name = nodes[name][1][0]
    return name


@pytest.mark.parametrize(
    ("op", "attr", "dtype", "wanted"),
    [
        ("Const", "dtype", 3, True),
        ("Const", "dtype", 7, True),
        ("Const", "dtype", 1, False),
        ("DynamicStitch", "T", 3, True),
        ("ParallelDynamicStitch", "T", 1, False),
        ("Cast", "SrcT", 3, True),
        ("Cast", "SrcT", 9, False),
        ("MatMul", "T", 3, False),
    ],
)
def test_strings_and_integers_stay_on_the_processor(op: str, attr: str, dtype: int, wanted: bool) -> None:
    node = NodeDef(name="n", op=op)
    node.attr[attr].type = dtype
    assert must_run_on_cpu(node) is wanted


def test_variables_stay_on_the_processor_if_so_wished() -> None:
    node = NodeDef(name="v", op="VariableV2")
    assert not must_run_on_cpu(node)
    assert must_run_on_cpu(node, pin_variables_on_cpu=True)
    graph = Graph()
    import_graph(graph_of(("a", "NoOp", [])), graph, name="")
    assert not must_run_on_cpu(graph.operation("a"))
    with pytest.raises(WrongTypeError, match="got str"):
        must_run_on_cpu("a")  # type: ignore[arg-type]


def test_an_edge_without_a_number_is_the_first_output() -> None:
    graph = Graph()
    import_graph(read_graph(str(golden(CASE) / "ref" / "frozen.pb")), graph, name="")
    assert tensor_of_edge(graph, "prob") is graph.tensor("prob:0")
    assert tensor_of_edge(graph, "x:0") is graph.tensor("x:0")
