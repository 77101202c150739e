"""Parts of graphs."""

from __future__ import annotations

from tensorkeep.metagraph.scoping import other_saver_nodes, part_of_graph
from tensorkeep.proto.messages import GraphDef, SaverDef


def graph() -> GraphDef:
    made = GraphDef()
    made.versions.producer = 7
    made.node.add(name="x", op="Placeholder", device="/device:CPU:0")
    made.node.add(name="a/w", op="VariableV2", device="/device:CPU:0")
    read = made.node.add(name="a/read", op="Identity", input=["a/w", "^done"])
    read.attr["_class"].list.s.extend([b"loc:@a/w", b"loc:@x"])
    made.node.add(name="a/sum", op="Add", input=["a/read", "x:1"])
    made.node.add(name="a/twice", op="Add", input=["a/sum", "x:1"])
    made.node.add(name="a/enter", op="Enter", input=["a/sum"]).attr["frame_name"].s = b"a/while"
    made.node.add(name="done", op="NoOp")
    return made


def test_a_scope_loses_its_name_everywhere() -> None:
    part, unbound = part_of_graph(graph(), "a", (), False)
    assert [node.name for node in part.node] == ["w", "read", "sum", "twice", "enter"]
    nodes = {node.name: node for node in part.node}
    assert list(nodes["read"].input) == ["w", "^$unbound_inputs_done"]
    assert list(nodes["read"].attr["_class"].list.s) == [b"loc:@w"]
    assert nodes["enter"].attr["frame_name"].s == b"while"
    assert part.versions.producer == 7
    assert unbound == ["^$unbound_inputs_done", "$unbound_inputs_x:1"]


def test_an_input_from_outside_is_listed_once_however_many_take_it() -> None:
    part, unbound = part_of_graph(graph(), "a", (), False)
    takers = [node.name for node in part.node if "$unbound_inputs_x:1" in node.input]
    assert takers == ["sum", "twice"]
    assert unbound.count("$unbound_inputs_x:1") == 1


def test_devices_are_cleared_and_the_graph_that_was_given_stays_as_it_was() -> None:
    whole, before = graph(), graph()
    part, unbound = part_of_graph(whole, None, (), True)
    assert not any(node.device for node in part.node)
    assert unbound == []
    assert whole == before


def test_nodes_can_be_left_out() -> None:
    part, _ = part_of_graph(graph(), None, {"done", "x"}, False)
    assert part.node[0].name == "a/w"


def test_all_nodes_of_other_savers_are_found_by_their_scopes() -> None:
    made = graph()
    for scope in ("save", "save_1", "m/save"):
        for op in ("Const", "SaveV2", "RestoreV2"):
            made.node.add(name=f"{scope}/{op}", op=op)
    kept = SaverDef(save_tensor_name="save_1/control_dependency:0", restore_op_name="save_1/restore_all")
    names = {f"{scope}/{op}" for scope in ("save", "m/save") for op in ("Const", "SaveV2", "RestoreV2")}
    assert other_saver_nodes(made, kept) == names
    assert other_saver_nodes(made, None) == names | {"save_1/Const", "save_1/SaveV2", "save_1/RestoreV2"}
    assert other_saver_nodes(graph(), None) == set()
