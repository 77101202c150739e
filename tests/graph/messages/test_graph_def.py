"""GraphDefs in and out: without loss, under names, with inputs replaced."""

from __future__ import annotations

import pytest

from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph import building as build
from tensorkeep.graph.graph import PRODUCER, Graph
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.arrays.constants import identity, placeholder
from tensorkeep.proto.messages import GraphDef, NodeDef, OpList
from tensorkeep.proto.text import format_text, parse_text
from tensorkeep.proto.wire import encode_bytes_field
from tensorkeep.tf1.functions.constants import constant

start = op("TestStart() -> y: T", "T: type")
join = op("TestJoin(x: float, y: float) -> z: float", "scale: float = 2.0", "label: string = ''")


@pytest.fixture
def graph_def() -> GraphDef:
    graph = Graph()
    with build.building(graph):
        x = placeholder(dtype="float32", shape=[None, 2], name="x")
        with build.device("/cpu:1"):
            y = join(x, constant([[1.0, 2.0]], name="c"), name="y")
        with build.control_dependencies([y]):
            identity(y, name="z")
    return export_graph(graph)


def imported(proto: GraphDef, **options: object) -> Graph:
    graph = Graph()
    import_graph(proto, graph, **{"name": "", **options})  # type: ignore[arg-type]
    return graph


def test_what_is_exported_comes_back_the_same(graph_def: GraphDef) -> None:
    assert export_graph(imported(graph_def)) == graph_def


def test_the_text_form_says_the_same(graph_def: GraphDef) -> None:
    assert parse_text(GraphDef, format_text(graph_def), "graph") == graph_def


def test_fields_that_nobody_knows_survive(graph_def: GraphDef) -> None:
    mystery = encode_bytes_field(777, b"from the future")
    graph_def.node[0].MergeFromString(mystery)
    graph_def.node[0].attr["_unheard_of"].i = 5
    again = export_graph(imported(graph_def))
    assert mystery in again.node[0].SerializeToString()
    assert again.node[0].attr["_unheard_of"].i == 5


def test_the_message_given_is_not_changed(graph_def: GraphDef) -> None:
    before = graph_def.SerializeToString(deterministic=True)
    imported(graph_def, name="under")
    assert graph_def.SerializeToString(deterministic=True) == before


def test_names_get_a_prefix_that_is_made_unique(graph_def: GraphDef) -> None:
    graph = Graph()
    import_graph(graph_def, graph)
    import_graph(graph_def, graph)
    import_graph(graph_def, graph, name="a/b")
    names = [item.name for item in graph.operations]
    assert names[0] == "import/x"
    assert names[4] == "import_1/x"
    assert names[8] == "a/b/x"


def test_without_a_prefix_names_that_are_taken_get_a_number(graph_def: GraphDef) -> None:
    graph = Graph()
    import_graph(graph_def, graph, name="")
    import_graph(graph_def, graph, name="")
    assert "x_1" in graph
    assert graph.operation("z_1").inputs[0].op.name == "y_1"


def test_colocation_moves_with_the_names(graph_def: GraphDef) -> None:
    graph_def.node[2].attr["_class"].list.s.append(b"loc:@x")
    graph = imported(graph_def, name="p")
    assert graph.operation("p/y").colocation_groups() == [b"loc:@p/x"]


def test_a_node_without_a_device_is_where_the_one_is_that_it_is_to_be_with(graph_def: GraphDef) -> None:
    for node, other in ((graph_def.node[3], b"y"), (graph_def.node[0], b"nosuch"), (graph_def.node[1], b"x")):
        node.attr["_class"].list.s.append(b"loc:@" + other)
    devices = {op.name: op.device for op in imported(graph_def).operations}
    assert devices == {"x": "", "c": "/device:CPU:1", "y": "/device:CPU:1", "z": "/device:CPU:1"}


@pytest.mark.parametrize(
    ("there", "given", "named"),
    [
        (["foo/c"], ["foo"], ["foo_1"]),
        (["foo/c"], ["foo", "foo_1"], ["foo_2", "foo_1"]),
        (["foo/c"], ["foo", "foo_1/x"], ["foo_2", "foo_1/x"]),
        (["outer/inner/c"], ["outer/inner", "outer/x"], ["outer/inner_1", "outer/x"]),
        (["foo/c"], ["Foo"], ["Foo"]),
        (["foo/c"], ["fo"], ["fo"]),
        (["a"], ["p/x", "p"], ["p/x", "p"]),
    ],
)
def test_a_scope_that_has_operations_has_its_name(there: list[str], given: list[str], named: list[str]) -> None:
    graph = imported(GraphDef(node=[_node(name, "NoOp") for name in there]))
    found = import_graph(GraphDef(node=[_node(name, "NoOp") for name in given]), graph, None, given, name="")
    assert [element.name for element in found or ()] == named


def test_inputs_can_be_replaced(graph_def: GraphDef) -> None:
    graph = Graph()
    with build.building(graph):
        mine = constant([[5.0, 6.0]], name="mine")
    found = import_graph(graph_def, graph, {"x:0": mine}, ["y:0", "z"], name="in")
    assert found == [graph.tensor("in/y:0"), graph.operation("in/z")]
    assert graph.operation("in/y").inputs[0] is mine


def test_a_value_that_replaces_an_input_becomes_a_constant(graph_def: GraphDef) -> None:
    graph = imported(graph_def, input_map={"x": [[1.0, 1.0]]}, name="in")
    assert graph.operation("in/y").inputs[0].op.name.startswith("in/_inputs")
    with pytest.raises(InvalidArgumentError, match="requires a non-empty `name`"):
        imported(graph_def, input_map={"x": [[1.0, 1.0]]})


def test_a_replacement_for_nothing_is_an_error(graph_def: GraphDef) -> None:
    graph = Graph()
    with build.building(graph):
        mine = constant(1.0)
    with pytest.raises(InvalidArgumentError, match=r"not found in graph_def: \[nosuch:0\]"):
        import_graph(graph_def, graph, {"nosuch:0": mine})
    with pytest.raises(InvalidArgumentError, match=r"not found in graph_def: \[x:2, y:1\]"):
        import_graph(graph_def, graph, {"y:1": mine, "x:2": mine})


def test_an_output_that_nothing_takes_may_be_replaced(graph_def: GraphDef) -> None:
    graph = Graph()
    with build.building(graph):
        mine = constant([[5.0, 6.0]])
    assert import_graph(graph_def, graph, {"z": mine}, ["z:0"], name="in") == [mine]


def test_names_may_be_bytes_and_indices_written_at_length(graph_def: GraphDef) -> None:
    graph = Graph()
    with build.building(graph):
        mine = constant([[5.0, 6.0]])
    found = import_graph(graph_def, graph, {b"x:00": mine}, [b"y:0", b"z"], name="in")
    assert found == [graph.tensor("in/y:0"), graph.operation("in/z")]
    assert graph.operation("in/y").inputs[0] is mine
    with pytest.raises(InvalidArgumentError, match=r"input_map: .* is no name, for it is not UTF-8"):
        import_graph(graph_def, graph, {b"\xff": mine})


@pytest.mark.parametrize(
    ("element", "why"),
    [
        ("nosuch:0", "Requested return tensor 'nosuch:0' not found in graph def"),
        ("nosuch", "Requested return node 'nosuch' not found"),
        ("y:7", r"Invalid return output 7 of node 'y', which has 1 output\(s\)"),
        ("y:x", "Cannot convert 'y:x' to a tensor name. Second component of the name .* should be an int. Got x"),
        (
            "y:b:0",
            "Cannot convert 'y:b:0' to a tensor name. Tensor names should not contain more than 1 `:`. Obtained 2",
        ),
    ],
)
def test_an_element_that_is_not_there_cannot_be_returned(graph_def: GraphDef, element: str, why: str) -> None:
    with pytest.raises(InvalidArgumentError, match=why):
        imported(graph_def, return_elements=[element])


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"input_map": ["x"]}, "Argument `input_map` must be a dictionary. Obtained list"),
        ({"input_map": {1: 2}}, "All keys for argument `input_map` must be strings"),
        ({"return_elements": ["y", 3]}, "Argument `return_elements` must be a list of strings"),
    ],
)
def test_arguments_of_the_wrong_types_are_told(graph_def: GraphDef, options: dict[str, object], why: str) -> None:
    with pytest.raises(WrongTypeError, match=why):
        imported(graph_def, **options)


@pytest.mark.parametrize("fault", ["element", "map", "edge", "function"])
def test_a_graph_is_added_as_a_whole_or_not_at_all(graph_def: GraphDef, fault: str) -> None:
    graph = Graph()
    with build.building(graph):
        mine = constant([[1.0, 1.0]], name="mine")
    before = export_graph(graph)
    wrong = GraphDef()
    wrong.CopyFrom(graph_def)
    wrong.library.function.add().signature.name = "f"
    wrong.versions.min_consumer = 12
    options: dict[str, object] = {"input_map": {"x": mine}}
    if fault == "element":
        options["return_elements"] = ["z:0", "z:7"]
    elif fault == "map":
        options["input_map"] = {"x": mine, "nosuch:0": mine}
    elif fault == "edge":
        wrong.node[-1].input[0] = "y:5"
    else:
        wrong.library.function.add().signature.name = "TestStart"
    with pytest.raises(InvalidArgumentError):
        import_graph(wrong, graph, name="", **options)  # type: ignore[arg-type]
    assert export_graph(graph) == before
    assert mine.consumers() == []
    import_graph(graph_def, graph, {"x": mine}, name="")
    assert [item.name for item in mine.consumers()] == ["y"]
    with build.building(graph):
        assert identity(mine, name="f").op.name == "f"


def test_missing_attributes_get_their_defaults(graph_def: GraphDef) -> None:
    del graph_def.node[2].attr["scale"]
    assert imported(graph_def).operation("y").attrs["scale"] == 2.0
    del graph_def.node[0].attr["dtype"]
    with pytest.raises(InvalidArgumentError, match="missing attr 'dtype'"):
        imported(graph_def)


def test_what_a_later_op_says_by_default_is_dropped(graph_def: GraphDef) -> None:
    producer = OpList()
    producer.op.add().CopyFrom(join.schema.to_op_def())
    attr = producer.op[0].attr.add(name="novel", type="int")
    attr.default_value.i = 3
    graph_def.node[2].attr["novel"].i = 3
    assert "novel" not in imported(graph_def, producer_op_list=producer).operation("y").attrs
    graph_def.node[2].attr["novel"].i = 4
    assert imported(graph_def, producer_op_list=producer).operation("y").attrs["novel"] == 4


def test_nodes_may_come_in_any_order(graph_def: GraphDef) -> None:
    shuffled = GraphDef(versions=graph_def.versions)
    shuffled.node.extend(reversed(graph_def.node))
    graph = imported(shuffled)
    assert [item.name for item in graph.operations] == ["c", "x", "y", "z"]


def _node(name: str, kind: str, *inputs: str) -> NodeDef:
    return NodeDef(name=name, op=kind, input=inputs)


def test_a_cycle_that_no_loop_closes_is_an_error() -> None:
    proto = GraphDef(node=[_node("a", "NoOp", "^b"), _node("b", "NoOp", "^a")])
    with pytest.raises(InvalidArgumentError, match="cycle"):
        imported(proto)


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ([_node("c", "NoOp", "zz")], "Node 'c': Unknown input node 'zz'"),
        ([_node("c", "NoOp"), _node("c", "NoOp")], "Node 'c' is not unique"),
        ([_node("c", "NoOp"), _node("d", "NoOp", "c:3")], "invalid output 3"),
        ([_node("c", "NoOp"), _node("d", "NoOp", "c:x")], "invalid output x"),
    ],
)
def test_broken_edges_are_errors_that_name_the_node(nodes: list[NodeDef], why: str) -> None:
    with pytest.raises(InvalidArgumentError, match=why):
        imported(GraphDef(node=nodes))


def test_inputs_of_another_type_are_an_error(graph_def: GraphDef) -> None:
    graph_def.node[0].attr["dtype"].type = 3
    with pytest.raises(
        InvalidArgumentError, match=r"Input 0 of node y was passed int32 from x:0 incompatible .* float"
    ):
        imported(graph_def)


def test_too_few_or_too_many_inputs_are_an_error(graph_def: GraphDef) -> None:
    graph_def.node[2].input.append("x")
    with pytest.raises(InvalidArgumentError, match="NodeDef expected inputs 'float, float' do not match 3 inputs spec"):
        imported(graph_def)
    del graph_def.node[2].input[1:]
    with pytest.raises(InvalidArgumentError, match=r"do not match 1 inputs specified; Op<TestJoin\(.*{{node y}}"):
        imported(graph_def)


def test_an_op_that_nobody_knows_is_opaque_and_goes_out_as_it_came() -> None:
    proto = GraphDef()
    proto.versions.producer = PRODUCER
    node = proto.node.add(name="m", op="MyCustomOp", device="/device:GPU:0")
    node.attr["T"].type = 1
    node.attr["blob"].s = b"\xff\0"
    proto.node.add(name="n", op="AnotherCustomOp", input=["m:1", "m", "^m"])
    graph = imported(proto)
    assert len(graph.operation("m").outputs) == 2
    assert graph.operation("m").spec.is_opaque
    assert export_graph(graph) == proto


def test_a_custom_op_takes_its_schema_from_the_producers_list() -> None:
    producer = OpList()
    schema = producer.op.add(name="MyCustomOp")
    schema.output_arg.add(name="y", type=9)
    schema.output_arg.add(name="z", type=7)
    graph = imported(GraphDef(node=[_node("m", "MyCustomOp")]), producer_op_list=producer)
    assert [tensor.dtype.name for tensor in graph.operation("m").outputs] == ["int64", "string"]


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("producer", -1, "GraphDef producer version -1 below min producer 0 supported by TensorFlow 2.21.0"),
        ("min_consumer", 99999, "min consumer version 99999 above current"),
        ("bad_consumers", [PRODUCER], "disallows"),
    ],
)
def test_versions_that_exclude_us_are_respected(field: str, value: object, why: str) -> None:
    proto = GraphDef()
    if isinstance(value, list):
        proto.versions.bad_consumers.extend(value)
    else:
        setattr(proto.versions, field, value)
    with pytest.raises(InvalidArgumentError, match=why):
        imported(proto)


def test_versions_travel(graph_def: GraphDef) -> None:
    graph_def.versions.producer = 1087
    graph_def.versions.min_consumer = 12
    again = export_graph(imported(graph_def))
    assert (again.versions.producer, again.versions.min_consumer) == (1087, 12)


def test_a_graph_without_versions_is_of_producer_0_and_stays_so(graph_def: GraphDef) -> None:
    graph_def.ClearField("versions")
    again = export_graph(imported(graph_def))
    assert (again.HasField("versions"), again.versions.producer) == (True, 0)


def test_a_graph_is_as_old_as_the_oldest_of_its_nodes_and_as_particular_as_all_of_them() -> None:
    graph = Graph()
    for producer, min_consumer, bad in ((21, 3, [7, 5, 7]), (5, 12, []), (27, 4, [6, 5])):
        proto = GraphDef()
        proto.versions.producer, proto.versions.min_consumer = producer, min_consumer
        proto.versions.bad_consumers.extend(bad)
        import_graph(proto, graph)
    versions = export_graph(graph).versions
    assert (versions.producer, versions.min_consumer, list(versions.bad_consumers)) == (5, 12, [5, 6, 7])


def test_functions_travel_and_may_not_change_under_one_name(graph_def: GraphDef) -> None:
    function = graph_def.library.function.add()
    function.signature.name = "f"
    graph = imported(graph_def)
    assert export_graph(graph).library == graph_def.library
    function.signature.is_stateful = True
    with pytest.raises(InvalidArgumentError, match="different function with the same name"):
        import_graph(graph_def, graph)


def test_shapes_of_an_imported_graph_are_found_when_asked_for(graph_def: GraphDef) -> None:
    graph = imported(graph_def)
    assert graph.tensor("x:0").static_shape.dims == (None, 2)


def test_shapes_can_be_exported(graph_def: GraphDef) -> None:
    node = export_graph(imported(graph_def), add_shapes=True).node[0]
    assert [dim.size for dim in node.attr["_output_shapes"].list.shape[0].dim] == [-1, 2]


def test_imported_operations_stand_under_what_is_in_force(graph_def: GraphDef) -> None:
    graph = Graph()
    with build.building(graph):
        first = constant(0, name="first")
        with build.device("/gpu:3"), build.control_dependencies([first]):
            import_graph(graph_def, graph, name="")
    assert graph.operation("x").device == "/device:GPU:3"
    assert graph.operation("y").device == "/device:CPU:1"
    assert graph.operation("x").control_inputs == [first.op]


def attr_node(name: str, op: str, *inputs: str, **attrs: int | bytes) -> NodeDef:
    node = NodeDef(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        if isinstance(value, bytes):
            node.attr[key].s = value
        elif key == "T":
            node.attr[key].type = value
        else:
            node.attr[key].i = value
    return node


@pytest.mark.parametrize(
    ("node", "why"),
    [
        (attr_node("s", "Split", "z", "z", T=1, num_split=1 << 40), "cannot be 1099511627776"),
        (attr_node("s", "Split", "z", "z", T=1, num_split=-1), "cannot be -1"),
        (attr_node("s", "Pack", "z", T=1, N=1 << 62), "it counts tensors"),
        (attr_node("s", "Pack", "z", T=1, N=b"one"), "has type 's', expected 'int'"),
        (attr_node("s", "Identity", f"z:{'9' * 5000}", T=1), "invalid output 999"),
        (attr_node("s", "Identity", "unknown:4000000", T=1), "invalid output 4000000"),
    ],
)
def test_a_strangers_graph_cannot_ask_for_more_memory_than_it_has(graph_def: GraphDef, node: NodeDef, why: str) -> None:
    graph_def.node.add(name="unknown", op="NobodyKnowsThis")
    graph_def.node.append(node)
    with pytest.raises(InvalidArgumentError, match=why):
        imported(graph_def)


def test_attributes_are_of_the_kind_that_their_op_says(graph_def: GraphDef) -> None:
    node = next(node for node in graph_def.node if node.name == "x")
    node.attr["shape"].i = 3
    with pytest.raises(
        InvalidArgumentError, match="'x' has type 'i', expected 'shape' for attr 'shape' of Placeholder"
    ):
        imported(graph_def)


def test_a_function_cannot_take_the_name_of_an_op(graph_def: GraphDef) -> None:
    graph_def.library.function.add().signature.name = "MatMul"
    with pytest.raises(InvalidArgumentError, match="an op with the same name already exists"):
        imported(graph_def)


def loop_head(*inputs: str, following: int) -> GraphDef:
    """The head of a loop, which takes what NextIteration gives it."""
    proto = GraphDef()
    for number in (1, 3):
        proto.node.append(attr_node(f"start{number}", "TestStart", T=number))
    proto.node.append(attr_node("enter", "Enter", "start1", T=1, frame_name=b"loop"))
    proto.node.append(attr_node("head", "Merge", *inputs, T=1, N=2))
    proto.node.append(attr_node("next", "NextIteration", "head" if following == 1 else "start3", T=following))
    return proto


def test_the_head_of_a_loop_keeps_its_control_inputs() -> None:
    proto = loop_head("enter", "next", "^start1", following=1)
    graph = imported(proto)
    assert [op.name for op in graph.operation("head").control_inputs] == ["start1"]
    exported = export_graph(graph)
    assert next(node for node in exported.node if node.name == "head").input == ["enter", "next", "^start1"]


def test_what_closes_a_loop_is_checked_too() -> None:
    with pytest.raises(InvalidArgumentError, match="Input 1 of node head was passed int32"):
        imported(loop_head("enter", "next", following=3))
