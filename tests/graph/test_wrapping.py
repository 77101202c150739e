"""Functions that only call another one give way to it."""

from __future__ import annotations

import pytest
from google.protobuf import text_format

from tensorkeep.graph.functions import FunctionBody, function_body
from tensorkeep.graph.wrapping import unwrapped_body
from tensorkeep.proto.messages import FunctionDef

T = 'attr { key: "T" value { type: DT_FLOAT } }'
SUBTRACTION = f"""
  signature {{ name: "less" input_arg {{ name: "a" type: DT_FLOAT }} input_arg {{ name: "b" type: DT_FLOAT }}
    output_arg {{ name: "c" type: DT_FLOAT }} output_arg {{ name: "d" type: DT_FLOAT }} }}
  node_def {{ name: "c" op: "Sub" input: "a" input: "b" {T} }}
  node_def {{ name: "d" op: "Sub" input: "b" input: "a" {T} }}
  ret {{ key: "c" value: "c:z:0" }} ret {{ key: "d" value: "d:z:0" }}
"""
TYPES = (
    'attr { key: "Tin" value { list { type: DT_FLOAT type: DT_FLOAT } } } '
    'attr { key: "Tout" value { list { type: DT_FLOAT type: DT_FLOAT } } }'
)
CALL = f"""op: "StatefulPartitionedCall" {TYPES} attr {{ key: "f" value {{ func {{ name: "less" }} }} }}"""
CONSTANT = """node_def { name: "one" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } }
  attr { key: "value" value { tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1 } } } }"""


def wrapper(nodes: str, result: str = "passed:output:0", inputs: str = "xy") -> FunctionBody:
    arguments = " ".join(f'input_arg {{ name: "{name}" type: DT_FLOAT }}' for name in inputs)
    text = f"""signature {{ name: "wrapper" {arguments} output_arg {{ name: "r" type: DT_FLOAT }} }} {nodes}
      node_def {{ name: "passed" op: "Identity" input: "call:output:1" input: "^call" {T} }}
      ret {{ key: "r" value: "{result}" }}"""
    library = {"less": text_format.Parse(SUBTRACTION, FunctionDef())}
    return function_body(text_format.Parse(text, FunctionDef()), library)


def test_inputs_and_outputs_keep_the_order_of_the_caller() -> None:
    found = unwrapped_body(wrapper(f'node_def {{ name: "call" input: "y" input: "x" {CALL} }}'))
    assert found.name == "less"
    assert [tensor.op.name for tensor in found.inputs] == ["b", "a"]
    assert [tensor.op.name for tensor in found.outputs] == ["d"]


def test_constants_of_the_caller_are_those_of_the_body() -> None:
    found = unwrapped_body(
        wrapper(f'{CONSTANT} node_def {{ name: "call" input: "one:output:0" input: "x" {CALL} }}', inputs="x")
    )
    assert [tensor.op.name for tensor in found.inputs] == ["b"]
    assert found.graph.operation("a").type == "Const"


@pytest.mark.parametrize(
    ("nodes", "result", "inputs"),
    [
        (f'node_def {{ name: "call" input: "x" input: "x" {CALL} }}', "passed:output:0", "x"),
        (f'{CONSTANT} node_def {{ name: "call" input: "x" input: "one:output:0" {CALL} }}', "passed:output:0", "xy"),
        (f'node_def {{ name: "call" input: "x" input: "y" {CALL} }}', "x", "xy"),
        (
            f'node_def {{ name: "call" input: "x" input: "y" {CALL} }} '
            f'node_def {{ name: "more" op: "Neg" input: "passed:output:0" {T} }}',
            "more:y:0",
            "xy",
        ),
    ],
    ids=["an input twice", "an input that is not used", "an input as a result", "more than a call"],
)
def test_what_does_anything_else_stays(nodes: str, result: str, inputs: str) -> None:
    body = wrapper(nodes, result, inputs)
    assert unwrapped_body(body) is body


def test_a_function_that_calls_itself_ends() -> None:
    text = f"""signature {{ name: "less"
        input_arg {{ name: "x" type: DT_FLOAT }} input_arg {{ name: "y" type: DT_FLOAT }}
        output_arg {{ name: "r" type: DT_FLOAT }} output_arg {{ name: "s" type: DT_FLOAT }} }}
      node_def {{ name: "call" input: "x" input: "y" {CALL} }}
      ret {{ key: "r" value: "call:output:0" }} ret {{ key: "s" value: "call:output:1" }}"""
    proto = text_format.Parse(text, FunctionDef())
    assert unwrapped_body(function_body(proto, {"less": proto})).name == "less"
