"""Functions in pictures: what a model of TensorFlow 2 computes is drawn, and not only that it calls something."""

from __future__ import annotations

import pytest

from tensorkeep.inspect.drawing import picture
from tensorkeep.inspect.inlining import shown_graph, shown_nodes
from tensorkeep.proto.messages import GraphDef
from tensorkeep.saved_model.files.layout import read_saved_model
from tests.inspect.models import graph_of
from tests.support.golden import golden


def calling(functions: dict[str, list[tuple[str, str, list[str]]]], calls: list[str]) -> GraphDef:
    """A graph that calls functions of one argument `x` and one result, which is the last of their nodes."""
    graph = graph_of({"in": ("Placeholder", ())})
    for name, nodes in functions.items():
        function = graph.library.function.add()
        function.signature.name = name
        function.signature.input_arg.add(name="x")
        function.signature.output_arg.add(name="y")
        for node, op, inputs in nodes:
            added = function.node_def.add(name=node, op="PartitionedCall" if op in functions else op, input=inputs)
            if op in functions:
                added.attr["f"].func.name = op
        function.ret["y"] = f"{nodes[-1][0]}:output:0"
    for at, name in enumerate(calls):
        node = graph.node.add(name=f"call_{at}", op="PartitionedCall", input=["in"])
        node.attr["f"].func.name = name
    graph.node.add(name="out", op="Identity", input=[f"call_{at}:0" for at in range(len(calls))])
    return graph


def test_a_call_is_drawn_as_what_it_calls() -> None:
    nodes = shown_nodes(calling({"f": [("a", "Exp", ["x"]), ("b", "Log", ["a:y:0"])]}, ["f"]))
    assert [node[:3] for node in nodes] == [
        ("in", "Placeholder", ()),
        ("a", "Exp", ("in",)),
        ("b", "Log", ("a",)),
        ("out", "Identity", ("b",)),
    ]
    assert [node.place for node in nodes] == [("", "in", ()), ("f", "a", ("call_0",)), ("f", "b", ("call_0",)),
                                              ("", "out", ())]  # fmt: skip
    assert [node.slots for node in nodes] == [(), (0,), (0,), (0,)]


def test_a_tensor_comes_from_the_node_in_the_function_that_gives_it() -> None:
    graph = shown_graph(calling({"f": [("a", "Exp", ["x"]), ("b", "Log", ["a:y:0"])]}, ["f"]))
    assert graph.source("call_0:0") == "b"
    assert graph.source("in:0") == "in"
    assert graph.source("nothing:0") == "nothing"


def test_what_only_waits_is_told_from_what_takes_a_tensor() -> None:
    graph = GraphDef()
    for name, inputs in (("a", []), ("b", ["a:1", "^a"])):
        graph.node.add(name=name, op="Split", input=inputs)
    (_, second) = shown_nodes(graph)
    assert (second.input, second.slots) == (("a", "a"), (1, -1))


def test_a_function_is_drawn_once_and_a_later_call_is_a_node() -> None:
    nodes = {node.name: node for node in shown_nodes(calling({"f": [("a", "Exp", ["x"])]}, ["f", "f"]))}
    assert nodes["call_1"].op == "PartitionedCall of f"
    assert nodes["out"].input == ("a", "call_1")


def test_names_that_are_taken_stand_in_the_scope_of_the_call() -> None:
    functions = {"f": [("in", "Exp", ["x"])], "g": [("in", "Log", ["x"])]}
    nodes = {node.name: node for node in shown_nodes(calling(functions, ["f", "g"]))}
    assert nodes["call_0/in"].op == "Exp"
    assert nodes["out"].input == ("call_0/in", "call_1/in")


def test_functions_that_call_others_twice_do_not_grow_without_end() -> None:
    chain = {f"f{at}": [("a", f"f{at + 1}", ["x"]), ("b", f"f{at + 1}", ["a:output:0"])] for at in range(60)}
    assert len(shown_nodes(calling({**chain, "f60": [("z", "Exp", ["x"])]}, ["f0"]))) < 200


def test_a_function_that_calls_itself_is_drawn_once() -> None:
    assert len(shown_nodes(calling({"f": [("a", "f", ["x"])]}, ["f"]))) == 3


@pytest.mark.parametrize(
    "case", ["g28_tf2_module", "g29_keras_dense", "g30_keras_conv_bn", "g31_keras_lstm", "g32_keras_strings"]
)
def test_every_edge_of_a_model_comes_from_a_node(case: str) -> None:
    nodes = shown_nodes(read_saved_model(golden(case) / "model").meta_graphs[0].graph_def)
    names = {node.name for node in nodes}
    assert len(names) == len(nodes)
    assert {source for node in nodes for source in node.input} <= names


def test_layers_of_a_model_of_keras_are_drawn_with_their_variables_in_a_line() -> None:
    graph = read_saved_model(golden("g30_keras_conv_bn") / "model").meta_graphs[0].graph_def
    found = picture(graph, 20)
    labels = [box.label for box in found.boxes.values()]
    assert any("Conv2D" in label for label in labels)
    assert any("DepthwiseConv2dNative" in label for label in labels)
    assert not [label for label in labels if label.startswith("VarHandleOp")]
    assert not [edge for edge in found.edges if edge[1] == "variables"]


def test_a_scope_of_many_layers_is_drawn_by_those_whose_names_begin_alike() -> None:
    names = [
        f"net/block_{block}_{part}/op" for block in range(20) for part in ("expand", "depthwise", "project", "add")
    ]
    found = picture(graph_of(dict.fromkeys(names, ("Conv2D", ()))), 30)
    assert list(found.boxes) == [f"net/block_{block}" for block in range(20)]
    assert found.boxes["net/block_7"].label == "net/block_7/ (4 ops, 4 Conv2D)"
