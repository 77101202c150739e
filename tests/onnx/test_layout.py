"""Transposes are passed on until they meet their inverse, and what is left computes the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.onnx.passes.layout import order_axes, take_channels_first
from tests.onnx.small_graphs import Exported, emit, floats, numbers

LAST, FIRST = [0, 2, 3, 1], [0, 3, 1, 2]
ATTRS: dict[str, Any] = {"strides": [1, 1, 1, 1], "padding": "SAME"}


def model_of(nodes: list[Any], constants: dict[str, Any], shape: list[Any], out: Any = TensorProto.FLOAT) -> Any:
    """A model whose input x has such a shape, and whose output is y."""
    graph = helper.make_graph(
        nodes,
        "model",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [helper.make_value_info("y", helper.make_tensor_type_proto(out, None))],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)


def run(model: Any, x: Any) -> Any:
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, {session.get_inputs()[0].name: x})[0]


def ordered(model: Any) -> Any:
    changed = ir.from_proto(onnx.shape_inference.infer_shapes(model))
    order_axes(changed)
    return ir.to_proto(changed)


def kinds(model: Any) -> list[str]:
    return [node.op_type for node in model.graph.node]


def node(op_type: str, *inputs: str, to: str, **attrs: Any) -> Any:
    return helper.make_node(op_type, list(inputs), to.split(), **attrs)


VECTOR = np.arange(5, dtype=np.float32)
BETWEEN: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "Relu": ([node("Relu", "a", to="b")], {}),
    "Clip": ([node("Clip", "a", "low", "", to="b")], {"low": np.float32(0.5)}),
    "Add of a vector": ([node("Add", "a", "c", to="b")], {"c": VECTOR}),
    "Sub from a scalar": ([node("Sub", "c", "a", to="b")], {"c": np.float32(2)}),
    "Mul of an image": ([node("Mul", "a", "c", to="b")], {"c": numbers(3, 4, 5)}),
    "two that meet": ([node("Relu", "a", to="r"), node("Neg", "a", to="n"), node("Mul", "r", "n", to="b")], {}),
    "Where": ([node("Greater", "a", "c", to="g"), node("Where", "g", "a", "c", to="b")], {"c": VECTOR}),
    "Softmax": ([node("Softmax", "a", to="b", axis=-1)], {}),
    "LogSoftmax of rows": ([node("LogSoftmax", "a", to="b", axis=1)], {}),
    "Concat": ([node("Relu", "a", to="r"), node("Concat", "a", "r", "c", to="b", axis=3)], {"c": numbers(2, 3, 4, 1)}),
    "Split": (
        [node("Split", "a", "s", to="r t", axis=3), node("Concat", "t", "r", to="b", axis=-1)],
        {"s": np.array([2, 3])},
    ),
    "Slice": (
        [node("Slice", "a", "s", "e", "k", to="b")],
        {"s": np.array([1]), "e": np.array([9]), "k": np.array([2])},
    ),
    "Pad": ([node("Pad", "a", "p", to="b")], {"p": np.array([0, 1, 2, 0, 0, 3, 4, 1])}),
    "ReduceMax": ([node("ReduceMax", "a", "k", to="b", keepdims=1)], {"k": np.array([-1])}),
    "CumSum": ([node("CumSum", "a", "k", to="b")], {"k": np.array(1)}),
    "Tile": ([node("Tile", "a", "r", to="b")], {"r": np.array([1, 2, 1, 1])}),
    "Gather": ([node("Gather", "a", "i", to="b", axis=3)], {"i": np.array([4, 0])}),
    "Squeeze and Unsqueeze": (
        [node("ReduceMean", "a", "k", to="m", keepdims=1), node("Squeeze", "m", "k", to="q"),
         node("Unsqueeze", "q", "k", to="u"), node("Mul", "u", "a", to="b")],
        {"k": np.array([2])},
    ),
    "ArgMax": ([node("ArgMax", "a", to="i", axis=3, keepdims=1), node("Cast", "i", to="b")], {}),
}  # fmt: skip
BETWEEN["ArgMax"][0][1].attribute.append(helper.make_attribute("to", TensorProto.FLOAT))


@pytest.mark.parametrize("name", BETWEEN)
def test_a_node_between_two_inverse_transposes_is_computed_without_them(name: str) -> None:
    between, constants = BETWEEN[name]
    nodes = [node("Transpose", "x", to="a", perm=LAST), *between, node("Transpose", "b", to="y", perm=FIRST)]
    model = model_of(nodes, constants, [2, 5, 3, 4])
    changed = ordered(model)
    x = numbers(2, 5, 3, 4)
    assert "Transpose" not in kinds(changed)
    np.testing.assert_allclose(run(changed, x), run(model, x), rtol=1e-6, atol=1e-6)


def test_a_mean_over_rows_and_columns_takes_the_transpose_before_it_along() -> None:
    nodes = [node("Transpose", "x", to="a", perm=LAST), node("ReduceMean", "a", "axes", to="y", keepdims=0)]
    model = model_of(nodes, {"axes": np.array([1, 2])}, ["n", 5, 3, 4])
    changed = ordered(model)
    x = numbers(2, 5, 3, 4)
    assert kinds(changed) == ["ReduceMean"]
    np.testing.assert_allclose(run(changed, x), run(model, x), rtol=1e-6, atol=1e-6)


def test_two_transposes_in_a_row_become_one() -> None:
    nodes = [node("Transpose", "x", to="a", perm=[1, 0, 2, 3]), node("Transpose", "a", to="y", perm=FIRST)]
    model = model_of(nodes, {}, [2, 5, 3, 4])
    changed = ordered(model)
    x = numbers(2, 5, 3, 4)
    assert kinds(changed) == ["Transpose"]
    np.testing.assert_array_equal(run(changed, x), run(model, x))


def test_a_transpose_that_moves_axes_of_size_one_only_is_a_reshape() -> None:
    model = model_of([node("Transpose", "x", to="y", perm=LAST)], {}, ["n", 5, 1, 1])
    changed = ordered(model)
    x = numbers(2, 5, 1, 1)
    assert kinds(changed) == ["Reshape"]
    np.testing.assert_array_equal(run(changed, x), run(model, x))


def test_the_shape_of_a_transposed_value_is_that_before_it_in_another_order() -> None:
    nodes = [node("Transpose", "x", to="a", perm=LAST), node("Shape", "a", to="y")]
    model = model_of(nodes, {}, ["n", 5, 3, 4], TensorProto.INT64)
    changed = ordered(model)
    assert "Transpose" not in kinds(changed)
    assert run(changed, numbers(2, 5, 3, 4)).tolist() == [2, 3, 4, 5]


def test_a_transpose_stays_where_passing_it_on_leaves_no_fewer() -> None:
    nodes = [
        node("Transpose", "x", to="a", perm=[0, 2, 1, 3]),
        *(node(kind, "a", to=f"b{i}") for i, kind in enumerate(("Exp", "Neg", "Abs"))),
        *(node("Reshape", f"b{i}", "flat", to=f"c{i}") for i in range(3)),
        node("Concat", "c0", "c1", "c2", to="y", axis=0),
    ]
    model = model_of(nodes, {"flat": np.array([-1])}, [2, 5, 3, 4])
    assert kinds(ordered(model)).count("Transpose") == 1


def test_a_chain_of_convolutions_with_residuals_has_one_transpose_at_its_input() -> None:
    def build(x: Any) -> Any:
        for number in range(3):
            found = emit("Conv2D", x, numbers(3, 3, x.static_shape[3], 4, seed=number), **ATTRS)
            found = emit("BiasAdd", found, numbers(4, seed=number))
            gate = emit("Sigmoid", emit("AvgPool", found, ksize=[1, 6, 6, 1], strides=[1, 1, 1, 1], padding="VALID"))
            found = emit("Mul", emit("Relu", found), gate)
            x = emit("AddV2", x, found) if number else found
        return x

    exported = Exported(build, {"x": numbers(2, 6, 6, 3)}, {"x": (None, 6, 6, 3)})
    exported.assert_equal()
    assert exported.counts["Transpose"] == 2
    assert exported.order[0] == exported.order[-1] == "Transpose"


def test_a_model_may_take_its_channels_first() -> None:
    def build(x: Any) -> Any:
        scaled = emit("Mul", x, floats([0.5, 2, 3]))
        return emit("Conv2D", scaled, numbers(3, 3, 3, 4), **ATTRS)

    exported = Exported(build, {"x": numbers(2, 6, 5, 3)}, {"x": (None, None, None, 3)})
    model = exported.translated.model
    take_channels_first(model, "x")
    assert [node.op_type for node in model.graph].count("Transpose") == 1  # of the output
    assert model.graph.inputs[0].shape is not None
    assert model.graph.inputs[0].shape[1] == 3
    found = run(exported.translated.proto(), numbers(2, 6, 5, 3).transpose(FIRST))
    np.testing.assert_allclose(found, exported.kernels()[0], rtol=1e-5, atol=1e-5)


def test_channels_of_an_input_that_is_not_there_cannot_come_first() -> None:
    model = ir.from_proto(model_of([node("Relu", "x", to="y")], {}, [2, 3]))
    with pytest.raises(InvalidArgumentError, match='no input "z"'):
        take_channels_first(model, "z")
    with pytest.raises(InvalidArgumentError, match="no channels"):
        take_channels_first(model, "x")
