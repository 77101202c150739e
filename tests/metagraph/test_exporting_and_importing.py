"""Graphs to meta graphs, and back."""

from __future__ import annotations

import contextlib
import logging
from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, TensorKeepError, WrongTypeError
from tensorkeep.graph.building import building, control_dependencies, device, name_scope
from tensorkeep.graph.collections import add_to_collection, get_collection
from tensorkeep.graph.graph import Graph
from tensorkeep.metagraph.exporting import (
    TENSORFLOW_GIT_VERSION,
    TENSORFLOW_VERSION,
    create_meta_graph_def,
    export_meta_graph,
    export_scoped_meta_graph,
)
from tensorkeep.metagraph.importing import copy_scope, import_meta_graph, saver_for, says_trainable, scope_of_import
from tensorkeep.ops.arrays.constants import identity, placeholder
from tensorkeep.proto.messages import GraphDef, MetaGraphDef, SaverDef, parse
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.variables.variable import Variable


@pytest.fixture
def graph() -> Graph:
    made = Graph()
    with building(made):
        x = placeholder(dtype="float", shape=[2], name="x")
        with name_scope("tower"), device("/cpu:0"):
            w = Variable(np.float32(3), name="w")
            y = identity(w * x, name="y")
            identity(y + x, name="z")
        add_to_collection(made, "outputs", y)
        add_to_collection(made, "notes", "hello")
        add_to_collection(made, 7, "no text for a name")
    return made


def names(proto: MetaGraphDef) -> list[str]:
    return [node.name for node in proto.graph_def.node]


# ------------------------------------------------------------------------------------------------------------- Out


def test_a_meta_graph_has_nodes_with_shapes_ops_versions_and_collections(graph: Graph) -> None:
    proto = export_meta_graph(graph)
    assert names(proto) == [op.name for op in graph.operations]
    assert proto.graph_def.node[0].attr["_output_shapes"].list.shape[0].dim[0].size == 2
    ops = [op.name for op in proto.meta_info_def.stripped_op_list.op]
    assert ops == sorted({op.type for op in graph.operations})
    assert proto.meta_info_def.tensorflow_version == TENSORFLOW_VERSION
    assert proto.meta_info_def.tensorflow_git_version == TENSORFLOW_GIT_VERSION
    assert sorted(proto.collection_def) == ["notes", "outputs", "trainable_variables", "variables"]
    assert not proto.HasField("saver_def")


def test_collections_can_be_chosen(graph: Graph, caplog: pytest.LogCaptureFixture) -> None:
    assert list(export_meta_graph(graph, collection_list=["notes", "nosuch"]).collection_def) == ["notes"]
    assert not export_meta_graph(graph, collection_list=[]).collection_def
    with caplog.at_level(logging.WARNING, "tensorkeep"):
        export_meta_graph(graph, collection_list=[7])  # type: ignore[list-item]
    assert "Only collections with string type keys" in caplog.text


def test_what_is_given_is_used_and_not_changed(graph: Graph) -> None:
    info = MetaGraphDef.MetaInfoDef(meta_graph_version="mine", tags=["serve"])
    saver = SaverDef(save_tensor_name="s:0", restore_op_name="r", filename_tensor_name="f:0")
    given = GraphDef()
    given.node.add(name="n", op="NoOp")
    proto = export_meta_graph(graph, meta_info_def=info, graph_def=given, saver_def=saver)
    assert names(proto) == ["n"]
    assert (proto.meta_info_def.meta_graph_version, list(proto.meta_info_def.tags)) == ("mine", ["serve"])
    assert proto.saver_def == saver
    assert info == MetaGraphDef.MetaInfoDef(meta_graph_version="mine", tags=["serve"])


def test_parts_of_another_type_are_refused(graph: Graph) -> None:
    with pytest.raises(WrongTypeError, match="graph_def must be of type GraphDef"):
        create_meta_graph_def(graph, graph_def=3)  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError, match="saver_def must be of type SaverDef"):
        create_meta_graph_def(graph, saver_def=GraphDef())  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError, match="meta_info_def must be of type MetaInfoDef"):
        create_meta_graph_def(graph, meta_info_def="x")  # type: ignore[arg-type]


def test_attributes_with_default_values_can_be_left_out(graph: Graph) -> None:
    proto = export_meta_graph(graph, strip_default_attrs=True)
    variable = next(node for node in proto.graph_def.node if node.op == "VariableV2")
    assert sorted(variable.attr) == ["_output_shapes", "dtype", "shape"]
    assert proto.meta_info_def.stripped_default_attrs
    again = Graph()
    import_meta_graph(proto, again)
    assert again.operation("tower/w").attr("container") == b""


def test_devices_can_be_cleared_on_both_ways(graph: Graph) -> None:
    proto = export_meta_graph(graph)
    assert any(node.device for node in proto.graph_def.node)
    assert not any(node.device for node in export_meta_graph(graph, clear_devices=True).graph_def.node)
    before = proto.SerializeToString(deterministic=True)
    cleared = Graph()
    import_meta_graph(proto, cleared, clear_devices=True)
    assert not any(op.device for op in cleared.operations)
    assert proto.SerializeToString(deterministic=True) == before


def test_exporting_a_scope_changes_nothing_in_the_graph_and_lists_its_inputs(graph: Graph) -> None:
    keys = set(graph.collections)
    proto, variables = export_scoped_meta_graph(graph, export_scope="tower")
    assert set(graph.collections) == keys
    assert list(proto.collection_def["unbound_inputs"].bytes_list.value) == [b"$unbound_inputs_x"]
    assert list(variables) == ["w:0"]
    assert list(proto.collection_def["outputs"].node_list.value) == ["y:0"]
    assert "notes" not in proto.collection_def  # text counts as a name, and this one is not of the scope


def test_the_list_of_inputs_can_have_another_name_or_none(graph: Graph) -> None:
    other = export_meta_graph(graph, export_scope="tower", unbound_inputs_col_name="open")
    assert "open" in other.collection_def
    assert "unbound_inputs" not in other.collection_def
    none = export_meta_graph(graph, export_scope="tower", unbound_inputs_col_name=None)
    assert not {"open", "unbound_inputs"} & set(none.collection_def)


# -------------------------------------------------------------------------------------------------------------- In


def test_an_imported_graph_computes_the_same(graph: Graph) -> None:
    again = Graph()
    imported = import_meta_graph(export_meta_graph(graph), again, return_elements=["tower/y:0", "x"])
    session = Session(again)
    assert imported.elements == [again.tensor("tower/y:0"), again.operation("x")]
    session.run(imported.variables["tower/w:0"].initializer)
    np.testing.assert_array_equal(session.run(again.tensor("tower/z:0"), {again.tensor("x:0"): [1, 2]}), [4, 8])
    assert get_collection(again, "notes") == [b"hello"]


def test_importing_and_exporting_gives_the_same_message(graph: Graph) -> None:
    proto = export_meta_graph(graph)
    again = Graph()
    import_meta_graph(proto, again)
    assert export_meta_graph(again) == proto


def test_shapes_that_a_program_told_come_back() -> None:
    graph = Graph()
    with building(graph):
        placeholder(dtype="float", name="x").set_shape([None, 3])
    again = Graph()
    import_meta_graph(export_meta_graph(graph), again)
    assert again.tensor("x:0").shape.as_list() == [None, 3]
    assert again.operation("x").attr("_output_shapes") is None


def test_a_stored_shape_that_contradicts_the_graph_is_not_believed(graph: Graph) -> None:
    proto = export_meta_graph(graph)
    proto.graph_def.node[0].attr["_output_shapes"].list.shape[0].dim[0].size = 5
    again = Graph()
    import_meta_graph(proto, again)
    assert again.tensor("x:0").shape.as_list() == [2]


def test_a_scope_is_made_unique(graph: Graph) -> None:
    proto, again = export_meta_graph(graph), Graph()
    first, second = (import_meta_graph(proto, again, import_scope="imp").variables for _ in range(2))
    assert first["tower/w:0"].name == "imp/tower/w:0"
    assert second["tower/w:0"].name == "imp_1/tower/w:0"
    assert scope_of_import("imp", second) == "imp_1/"
    assert get_collection(again, "notes") == ["imp/hello", "imp_1/hello"]
    assert [tensor.name for tensor in get_collection(again, "outputs")] == ["imp/tower/y:0", "imp_1/tower/y:0"]


def test_without_a_scope_a_second_import_gets_new_names_and_collections_the_old_ones(graph: Graph) -> None:
    proto, again = export_meta_graph(graph), Graph()
    for _ in range(2):
        import_meta_graph(proto, again)
    assert "x_1" in again
    assert [tensor.name for tensor in get_collection(again, "outputs")] == ["tower/y:0", "tower/y:0"]


def test_a_scope_is_bound_to_other_inputs(graph: Graph) -> None:
    proto, again = export_meta_graph(graph, export_scope="tower"), Graph()
    with building(again):
        v = constant([1.0, 2.0], name="v")
    bound = {"$unbound_inputs_x": v}
    imported = import_meta_graph(proto, again, import_scope="copy", input_map=bound)
    session = Session(again)
    session.run(imported.variables["w:0"].initializer)
    np.testing.assert_array_equal(session.run(again.tensor("copy/z:0")), [4, 8])
    assert not get_collection(again, "unbound_inputs")


def test_inputs_that_are_not_bound_are_all_named(graph: Graph) -> None:
    proto = export_meta_graph(graph, export_scope="tower")
    with pytest.raises(InvalidArgumentError, match=r"unbound inputs: \$unbound_inputs_x\. Must provide"):
        import_meta_graph(proto, Graph())
    again = Graph()
    with building(again):
        v = constant([1.0, 2.0])
    with pytest.raises(InvalidArgumentError, match="input_map names other"):
        import_meta_graph(proto, again, input_map={"$unbound_inputs_x": v, "other:0": v})


def test_what_a_scope_waits_for_can_be_bound_too() -> None:
    graph, again = Graph(), Graph()
    with building(graph):
        done = constant(1.0, name="done").op
        with name_scope("s"), control_dependencies([done]):
            constant(2.0, name="c")
    proto = export_meta_graph(graph, export_scope="s")
    with building(again):
        other = constant(3.0, name="other").op
    import_meta_graph(proto, again, input_map={"^$unbound_inputs_done": other})
    assert again.operation("c").control_inputs == [other]


def test_collections_can_be_left_out(graph: Graph) -> None:
    again = Graph()
    import_meta_graph(export_meta_graph(graph), again, restore_collections_predicate=lambda key: key == "notes")
    assert list(again.collections) == ["notes"]


def test_ops_that_only_the_file_knows_stay_with_their_signatures() -> None:
    proto = MetaGraphDef()
    op = proto.meta_info_def.stripped_op_list.op.add(name="Acme", is_stateful=True)
    op.output_arg.add(name="y", type_attr="T")
    op.attr.add(name="T", type="type")
    node = proto.graph_def.node.add(name="acme", op="Acme")
    node.attr["T"].type = 1
    graph = Graph()
    import_meta_graph(proto, graph)
    exported = export_meta_graph(graph)
    assert exported.meta_info_def.stripped_op_list == proto.meta_info_def.stripped_op_list
    assert graph.tensor("acme:0").dtype.name == "float32"


@pytest.mark.parametrize("at", range(0, 400, 7))
def test_a_damaged_meta_graph_is_imported_or_refused(graph: Graph, at: int) -> None:
    data = bytearray(export_meta_graph(graph).SerializeToString(deterministic=True))
    data[at * len(data) // 400] ^= 0x41
    with contextlib.suppress(TensorKeepError):
        import_meta_graph(parse(MetaGraphDef, bytes(data), "damaged"), Graph())


# ----------------------------------------------------------------------------------------------------------- Savers


def test_the_saver_of_a_meta_graph_is_made_of_what_there_is(graph: Graph) -> None:
    made: list[dict[str, Any]] = []

    def make(**arguments: Any) -> str:
        made.append(arguments)
        return "saver"

    saver_def = SaverDef(save_tensor_name="s:0", restore_op_name="r", filename_tensor_name="f:0")
    proto, again = export_meta_graph(graph, saver_def=saver_def), Graph()
    variables = import_meta_graph(proto, again, import_scope="imp").variables
    with building(again):
        assert saver_for(proto, "imp", variables, make) == "saver"
        assert saver_for(export_meta_graph(graph), "imp", variables, make) == "saver"
        assert saver_for(MetaGraphDef(), "elsewhere", {}, make) is None
    assert made == [{"saver_def": saver_def, "name": "imp/"}, {}]


def test_a_scope_is_copied() -> None:
    graph, other = Graph(), Graph()
    with building(graph), name_scope("a"):
        Variable(np.float32(1), name="v")
    assert copy_scope(graph, "a", graph, "b")["v:0"].name == "b/v:0"
    assert copy_scope(graph, "a", other, "a")["v:0"].graph is other
    with pytest.raises(InvalidArgumentError, match="need to be different"):
        copy_scope(graph, "a", graph, "a")


@pytest.mark.parametrize(
    ("version", "says"),
    [
        ("1.8.0", False),
        ("1.9.0", True),
        ("1.15.5", True),
        ("2.21.0", True),
        ("1.9.0-rc1", True),
        ("0.12", False),
        ("", True),
        ("unknown", True),
        ("1", False),
        (TENSORFLOW_VERSION, True),
    ],
)
def test_variables_say_whether_they_are_trainable_since_1_9(version: str, says: bool) -> None:
    assert says_trainable(version) is says
