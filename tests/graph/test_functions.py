"""Functions as messages and as graphs."""

from __future__ import annotations

import pytest

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, NotFoundError
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.functions import find_function, function_body, function_def
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.messages.graph_def import import_graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.arrays.constants import identity, placeholder
from tensorkeep.ops.numbers import arithmetic
from tensorkeep.proto.messages import FunctionDef, GraphDef
from tensorkeep.proto.text import parse_text
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant

TWICE = """
  signature { name: "Twice" input_arg { name: "a" type_attr: "T" } output_arg { name: "b" type_attr: "T" }
              attr { name: "T" type: "type" allowed_values { list { type: DT_FLOAT type: DT_DOUBLE } } } }
  node_def { name: "sum" op: "AddV2" input: "a" input: "a" attr { key: "T" value { placeholder: "T" } } }
  ret { key: "b" value: "sum:z:0" }
"""
PARTS = """
  signature { name: "Parts" input_arg { name: "values" type_attr: "T" number_attr: "N" }
              output_arg { name: "last" type_attr: "T" }
              output_arg { name: "all" type_attr: "T" number_attr: "N" }
              attr { name: "T" type: "type" } attr { name: "N" type: "int" default_value { i: 2 } } }
  node_def { name: "packed" op: "Pack" input: "values"
             attr { key: "T" value { placeholder: "T" } } attr { key: "N" value { placeholder: "N" } }
             attr { key: "axis" value { i: 0 } } }
  node_def { name: "parts" op: "Unpack" input: "packed:output:0"
             attr { key: "T" value { placeholder: "T" } } attr { key: "num" value { placeholder: "N" } }
             attr { key: "axis" value { i: 0 } } }
  ret { key: "last" value: "parts:output:1" }
  ret { key: "all" value: "parts:output" }
"""


def message(text: str) -> FunctionDef:
    return parse_text(FunctionDef, text, "a function")


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_attributes_left_open_are_filled_in(name: str) -> None:
    body = function_body(message(TWICE), {}, {"T": DType.of(name)})
    assert [tensor.name for tensor in body.inputs] == ["a:0"]
    assert [tensor.name for tensor in body.outputs] == ["sum:0"]
    assert body.outputs[0].dtype is DType.of(name)
    assert Session(body.graph).run(body.outputs[0], {body.inputs[0]: 1.5}) == 3.0


def test_an_attribute_that_is_missing_is_named() -> None:
    with pytest.raises(InvalidArgumentError, match="without its attribute 'T'"):
        function_body(message(TWICE), {})


def test_arguments_and_results_that_are_lists() -> None:
    body = function_body(message(PARTS), {}, {"T": DType.of("float32")})
    assert [tensor.name for tensor in body.inputs] == ["values_0:0", "values_1:0"]
    assert [tensor.name for tensor in body.outputs] == ["parts:1", "parts:0", "parts:1"]
    feeds = dict(zip(body.inputs, (3.0, 4.0), strict=True))
    assert Session(body.graph).run(list(body.outputs), feeds) == [4.0, 3.0, 4.0]


def test_attributes_that_were_left_out_for_their_defaults_stay_out() -> None:
    body = """
      signature { name: "Lengths" input_arg { name: "data" type: DT_STRING } output_arg { name: "n" type: DT_INT64 } }
      node_def { name: "none" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
                 attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { dim { size: 0 } } } } } }
      node_def { name: "flags" op: "Const" attr { key: "dtype" value { type: DT_BOOL } }
                 attr { key: "value" value { tensor { dtype: DT_BOOL tensor_shape { dim { size: 1 } }
                        bool_val: true } } } }
      node_def { name: "key" op: "Const" attr { key: "dtype" value { type: DT_STRING } }
                 attr { key: "value" value { tensor { dtype: DT_STRING tensor_shape { dim { size: 1 } }
                        string_val: "v" } } } }
      node_def { name: "parsed" op: "ParseSequenceExampleV2" input: "data" input: "none:output:0" input: "none:output:0"
                 input: "none:output:0" input: "none:output:0" input: "none:output:0" input: "key:output:0"
                 input: "none:output:0" input: "flags:output:0"
                 attr { key: "Nfeature_list_dense" value { i: 1 } }
                 attr { key: "feature_list_dense_types" value { list { type: DT_FLOAT } } }
                 attr { key: "feature_list_dense_shapes" value { list { shape { dim { size: 2 } } } } } }
      ret { key: "n" value: "parsed:feature_list_dense_lengths:0" }
    """
    found = function_body(message(body), {})
    (node,) = [op for op in found.graph.operations if op.type == "ParseSequenceExampleV2"]
    assert found.outputs[0].name == "parsed:1"
    assert node.attr("Ncontext_sparse") == 0
    assert len(node.outputs) == 2


def test_a_node_may_have_a_function_as_its_op() -> None:
    proto = GraphDef()
    node = proto.node.add(name="x", op="Placeholder")
    node.attr["dtype"].type = DType.of("float64").number
    node = proto.node.add(name="y", op="Twice", input=["x"])
    node.attr["T"].type = DType.of("float64").number
    proto.library.function.append(message(TWICE))
    graph = Graph()
    import_graph(proto, graph, name="")
    assert Session(graph).run("y:0", {"x:0": 2.25}) == 4.5


def test_a_node_may_call_a_function_of_lists_by_name() -> None:
    proto = GraphDef()
    for name in ("x", "y"):
        proto.node.add(name=name, op="Placeholder").attr["dtype"].type = DType.of("float32").number
    node = proto.node.add(name="z", op="Parts", input=["x", "y"])
    node.attr["T"].type = DType.of("float32").number
    node.attr["N"].i = 2
    proto.library.function.append(message(PARTS))
    graph = Graph()
    import_graph(proto, graph, name="")
    assert Session(graph).run(["z:0", "z:1", "z:2"], {"x:0": 1.0, "y:0": 2.0}) == [2.0, 1.0, 2.0]


def test_nodes_may_stand_in_any_order_and_wait_for_arguments() -> None:
    body = function_body(
        message(
            """
            signature { name: "f" input_arg { name: "x" type: DT_FLOAT } output_arg { name: "y" type: DT_FLOAT } }
            node_def { name: "b" op: "Identity" input: "a:output:0" input: "^x"
                       attr { key: "T" value { type: DT_FLOAT } } }
            node_def { name: "a" op: "Identity" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
            ret { key: "y" value: "b:output:0" }
            control_ret { key: "done" value: "a" }
            """
        ),
        {},
    )
    assert [op.name for op in body.controls] == ["a"]
    assert [op.name for op in body.graph.operation("b").control_inputs] == ["x"]
    assert Session(body.graph).run(body.outputs[0], {body.inputs[0]: 5.0}) == 5.0


def test_shapes_of_arguments_are_those_the_message_tells() -> None:
    graph = Graph()
    with building(graph):
        x = placeholder(dtype="float32", shape=[None, 3], name="x")
        proto = function_def("f", graph, [x], [identity(x)])
    body = function_body(proto, {})
    assert body.inputs[0].static_shape.dims == (None, 3)
    assert body.outputs[0].static_shape.dims == (None, 3)


@pytest.mark.parametrize("edge", ["nobody", "a:nothing:0", "a:output:1"])
def test_an_input_that_does_not_exist_is_named(edge: str) -> None:
    proto = message(
        f"""
        signature {{ name: "f" input_arg {{ name: "x" type: DT_FLOAT }} output_arg {{ name: "y" type: DT_FLOAT }} }}
        node_def {{ name: "a" op: "Identity" input: "x" attr {{ key: "T" value {{ type: DT_FLOAT }} }} }}
        ret {{ key: "y" value: "{edge}" }}
        """
    )
    with pytest.raises(InvalidArgumentError, match=f"function 'f', result 'y': .*{edge}"):
        function_body(proto, {})


def test_a_result_without_a_source_is_an_error() -> None:
    proto = message('signature { name: "f" output_arg { name: "y" type: DT_FLOAT } }')
    with pytest.raises(InvalidArgumentError, match="result 'y'"):
        function_body(proto, {})


def test_a_function_that_does_not_exist_is_named() -> None:
    with pytest.raises(NotFoundError, match="Function f is not defined"):
        find_function("f", {"g": FunctionDef()})


def test_a_graph_becomes_a_function_and_comes_back() -> None:
    graph = Graph()
    with building(graph):
        x = placeholder(dtype="float32", shape=[], name="X/in")
        with control_dependencies([identity(x, name="before")]):
            y = arithmetic.add_v2(x, constant(2.0), name="y")
        parts = get_op("Unpack")(get_op("Pack")([x, y]), num=2, name="parts")
    proto = function_def("f", graph, [x], [parts[1], x], output_names=["sum", "same"], controls=[y.op])
    assert [arg.name for arg in proto.signature.input_arg] == ["x_in"]
    assert dict(proto.ret) == {"sum": "parts:output:1", "same": "x_in"}
    assert dict(proto.control_ret) == {"y": "y"}
    body = function_body(proto, {})
    assert Session(body.graph).run(list(body.outputs), {body.inputs[0]: 3.0}) == [5.0, 3.0]
    assert [op.name for op in body.controls] == ["y"]


def test_a_function_is_stateful_if_its_body_is() -> None:
    graph = Graph()
    with building(graph):
        x = placeholder(dtype="float32", shape=[], name="x")
        plain = function_def("f", graph, [x], [x])
        get_op("DeviceIndex")(device_names=["CPU"])
    assert not plain.signature.is_stateful
    assert function_def("f", graph, [x], [x]).signature.is_stateful
