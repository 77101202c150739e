"""Indices that count from the end where they are below zero."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest
from onnx import helper, numpy_helper

from tensorkeep.onnx.passes.wrapped_indices import take_wrapped_indices

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
