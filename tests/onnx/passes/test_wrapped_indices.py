"""Indices that count from the end where they are below zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest
from onnx import helper, numpy_helper
from onnx_ir.passes import common as tidying

from tensorkeep.onnx.passes.wrapped_indices import check_indices_once, take_wrapped_indices

ROWS = np.arange(10, dtype=np.float32).reshape(5, 2)


def model_of(*nodes: Any, last: str, size: int = 5, beyond: int = 2**31 - 1) -> onnx.ModelProto:
    """A model that looks rows up by `last`, which some nodes make of the input `i`."""
    constants = {"rows": ROWS, "zero": np.int32(0), "size": np.int32(size), "beyond": np.int32(beyond)}
    graph = helper.make_graph(
        [*nodes, helper.make_node("Gather", ["rows", last], ["y"])],
        "model",
        [helper.make_tensor_value_info("i", onnx.TensorProto.INT32, ["n"])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["n", 2])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


def below(index: str, what: str, result: str) -> list[Any]:
    """What is chosen where an index is below zero."""
    return [
        helper.make_node("Less", [index, "zero"], [f"{result}_below"]),
        helper.make_node("Where", [f"{result}_below", what, index], [result]),
    ]


def wrapped() -> list[Any]:
    return [helper.make_node("Add", ["i", "size"], ["sum"]), *below("i", "sum", "w")]


def passed(proto: onnx.ModelProto) -> onnx.ModelProto:
    model = ir.from_proto(proto)
    take_wrapped_indices(model)
    return ir.to_proto(model)


def index_of(proto: onnx.ModelProto) -> str:
    return str(next(node for node in proto.graph.node if node.op_type == "Gather").input[1])


def answer(proto: onnx.ModelProto, *indices: int) -> Any:
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"i": np.array(indices, np.int32)})[0]


@pytest.mark.parametrize("guarded", [False, True])
def test_counting_from_the_end_is_left_to_gather(guarded: bool) -> None:
    guard = below("w", "beyond", "g") if guarded else []
    before = model_of(*wrapped(), *guard, last="g" if guarded else "w")
    after = passed(before)
    assert index_of(after) == "i"
    np.testing.assert_array_equal(answer(after, 0, -1, 4, -5), answer(before, 0, -1, 4, -5))
    for beyond in (5, -6):
        with pytest.raises(Exception, match="out of data bounds"):
            answer(after, beyond)


def test_a_guard_by_itself_stays() -> None:
    after = passed(model_of(*below("i", "beyond", "g"), last="g"))
    assert index_of(after) == "g"
    with pytest.raises(Exception, match="out of data bounds"):
        answer(after, -1)


def test_counting_from_another_end_stays() -> None:
    assert index_of(passed(model_of(*wrapped(), last="w", size=4))) == "w"


def test_a_choice_of_another_row_stays() -> None:
    assert index_of(passed(model_of(*below("i", "beyond", "g"), last="g", beyond=3))) == "g"


def columns_of(*more: str, outputs: str = "float[N, 2] y", instead: str = "") -> ir.Model:
    """Rows looked up by two columns of a table of keys, each of which is looked at for itself.

    `instead` names the constant that takes the place of what is below zero in the second; in the first it is row 1.
    """
    first, second = ("known", instead) if instead else ("beyond", "beyond")
    lines = [
        "a = Slice(i, zeros, ones, ones)",
        "a_below = Less(a, zero)",
        f"a_checked = Where(a_below, {first}, a)",
        "b = Gather <axis = 1> (i, one)",
        "b_below = Less(b, zero)",
        f"b_checked = Where(b_below, {second}, b)",
        "c = Squeeze(a_checked, ones)",
        "first = Gather(rows, c)",
        "second = Gather(rows, b_checked)",
        "y = Add(first, second)",
        *more,
    ]
    text = f"""<ir_version: 8, opset_import: ["": 18]> g (int32[N, 2] i) => ({outputs})
        <float[5, 2] rows = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}}, int32 zero = {{0}}, int32 beyond = {{{2**31 - 1}}},
         int64[1] zeros = {{0}}, int64[1] ones = {{1}}, int64 one = {{1}}, int32 known = {{1}},
         int32 other = {{3}}, int32[1, 1] in_a_matrix = {{1}}, int32[3] three = {{2, 1, 0}}> {{ {" ".join(lines)} }}"""
    return ir.from_onnx_text(text)


def once(model: ir.Model) -> onnx.ModelProto:
    check_indices_once(model)
    tidying.TopologicalSortPass()(model)
    return ir.to_proto(model)


def found_in(proto: onnx.ModelProto, *keys: list[int]) -> Any:
    onnx.checker.check_model(proto, full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {"i": np.array(keys, np.int32)})[0]


def test_columns_of_one_array_are_looked_at_once() -> None:
    proto = once(columns_of())
    assert sum(node.op_type == "Less" for node in proto.graph.node) == 1
    np.testing.assert_array_equal(found_in(proto, [0, 4], [2, 2]), ROWS[[0, 2]] + ROWS[[4, 2]])
    for keys in ([0, -1], [-1, 0]):
        with pytest.raises(Exception, match="indices element out of data bounds"):
            found_in(proto, keys)


def test_a_column_that_something_else_takes_is_looked_at_for_itself() -> None:
    """What takes it wants the numbers below zero as they are."""
    proto = once(columns_of("z = Neg(b)", outputs="float[N, 2] y, int32[N] z"))
    assert sum(node.op_type == "Less" for node in proto.graph.node) == 2
    np.testing.assert_array_equal(found_in(proto, [0, 4]), ROWS[[0]] + ROWS[[4]])


@pytest.mark.parametrize("instead", ["other", "in_a_matrix", "three"])
def test_columns_that_become_different_numbers_are_looked_at_for_themselves(instead: str) -> None:
    """Each column has its own number for those below zero, or one with axes that the other does not have."""
    outputs = "float[1, N, 2] y" if instead == "in_a_matrix" else "float[N, 2] y"
    before = ir.to_proto(columns_of(instead=instead, outputs=outputs))
    proto = once(columns_of(instead=instead, outputs=outputs))
    keys = ([0, -1], [-1, 3], [-1, -1])
    np.testing.assert_array_equal(found_in(proto, *keys), found_in(before, *keys))
    assert sum(node.op_type == "Less" for node in proto.graph.node) == 2
