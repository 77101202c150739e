"""A model is given some rows of a batch at a time only where each row is computed by itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import onnx_ir as ir
import onnxruntime
import pytest

from tensorkeep.onnx.engine.row_by_row import inputs_by_row

SIZE = 6  # rows
_NUMBERS = {
    "w": (6, 3), "v": (6,), "row": (1, 6), "table": (5, 6), "taps": (3, 6, 3, 3), "one_matrix": (1, 6, 6),
    "six": (6, 6),
}  # fmt: skip
_INTEGERS = {
    "zero": [0], "one": [1], "three": [3], "minus": [-1], "flat": [-1, 6], "apart": [-1, 2, 3], "kept": [0, -1],
    "halves": [2, -1], "sides": [0, 1, 0, 1], "below": [0, 0, 1, 0],
}  # fmt: skip

BY_ROW = [
    "float[n,6] x | y = Relu(x)",
    "float[n,6] x | y = Add(x, v)",
    "float[n,6] x | y = Mul(row, x)",
    "float[n,6] x, float[n,6] z | y = Sub(x, z)",
    "float[n,6] x | y = MatMul(x, w)",
    "float[n,2,6] x | y = MatMul(x, w)",
    "float[n,2,6] x | t = Transpose <perm=[0,2,1]> (x)  y = MatMul(x, t)",
    "float[n,2,6] x | y = MatMul(x, one_matrix)",
    "float[n,6] x | y = Gemm(x, w)",
    "float[n,6] x | s = Softmax <axis=-1> (x)  l = LayerNormalization(s, v)  y = Concat <axis=1> (l, x)",
    "float[n,2,6] x | m = ReduceMean <keepdims=0> (x, one)  y = Erf(m)",
    "float[n,2,6] x | t = Transpose <perm=[1,0,2]> (x)  r = ReduceSum <keepdims=0> (t, zero)  y = Relu(r)",
    "float[n,2,6] x | f = Reshape(x, flat)  m = MatMul(f, w)  y = Reshape(m, apart)",
    "float[n,2,6] x | y = Reshape(x, kept)",
    "float[n,2,6] x | f = Flatten(x)  y = Neg(f)",
    "float[n,2,6] x | u = Unsqueeze(x, zero)  r = ReduceMax <keepdims=1> (u, minus)  y = Squeeze(r, zero)",
    "float[n,6] x | s = Slice(x, zero, one, one)  y = Tanh(s)",
    "float[n,6] x | a, b = Split <axis=1, num_outputs=2> (x)  y = Max(a, b)",
    "float[n,6] x | p = Pad(x, sides)  y = Exp(p)",
    "float[n,6] x | c = Cast <to=7> (x)  z = Abs(c)  m = Mod(z, three)  y = Gather(table, m)",
    "float[n,2,6] x | y = Gather <axis=1> (x, zero)",
    "float[n,6,4,4] x | c = Conv <pads=[1,1,1,1]> (x, taps)  r = Relu(c)  y = GlobalAveragePool(r)",
    "float[n,6,4,4] x | p = MaxPool <kernel_shape=[2,2]> (x)  y = Resize(p, , scales)",
]
NOT_BY_ROW = [
    "float[n,6] x | y = CumSum(x, zero)",  # not known
    "float[n,6] x | r = ReduceMean <keepdims=1> (x, zero)  y = Sub(x, r)",
    "float[n,6] x | y = Softmax <axis=0> (x)",
    "float[n,2,6] x | y = LayerNormalization <axis=0> (x, v)",
    "float[n,6] x | y = Concat <axis=0> (x, row)",
    "float[n,6] x | y = Concat <axis=0> (x, x)",
    "float[n,6] x | t = Transpose(x)  y = MatMul(x, t)",
    "float[n,6] x | y = Transpose(x)",
    "float[n,6] x | y = Add(x, six)",  # a constant that has something else for each row
    "float[n,6] x, float[n] z | y = Add(x, z)",  # other axes meet
    "float[n,2,6] x | f = Reshape(x, halves)  y = Relu(f)",
    "float[n,6] x | s = Slice(x, one, minus, zero)  y = Relu(s)",
    "float[n,6] x | y = Pad(x, below)",
    "float[n,6] x | y = Gather(x, three)",
    "float[n,6,4,4] x | y, i = MaxPool <kernel_shape=[2,2]> (x)",  # places count all images
    "float[n,6] x | y = Shape(x)",
    "float[n,6] x | y = Identity(w)",
    "float[6,6] x | y = Relu(x)",  # six rows are no batch of any size
    "float[n,6] x | a = Relu(x)  y = RandomNormalLike(a)",
]


def model_of(text: str) -> onnx.ModelProto:
    """A model of inputs and nodes; what they take besides is a constant."""
    inputs, nodes = text.split(" | ")
    random = np.random.default_rng(1)
    constants: dict[str, Any] = {name: np.array(values) for name, values in _INTEGERS.items()}
    constants |= {name: random.normal(size=shape).astype(np.float32) for name, shape in _NUMBERS.items()}
    constants["scales"] = np.array([1, 1, 2, 2], np.float32)
    graph = onnx.parser.parse_graph(f"g ({inputs}) => (y) {{ {nodes} }}")
    graph.initializer.extend(onnx.numpy_helper.from_array(value, name) for name, value in constants.items())
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 20)], ir_version=9)
    return onnx.shape_inference.infer_shapes(model, strict_mode=True)


def names_of(proto: onnx.ModelProto) -> list[str]:
    return [value.name for value in proto.graph.input]


@pytest.mark.parametrize("text", BY_ROW)
def test_what_computes_each_row_by_itself_gives_the_same_for_some_at_a_time(text: str) -> None:
    proto = model_of(text)
    names = names_of(proto)
    assert inputs_by_row(ir.from_proto(proto), names) == frozenset(names)
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    feed = {}
    for value in proto.graph.input:
        sizes = [dim.dim_value or SIZE for dim in value.type.tensor_type.shape.dim]
        feed[value.name] = np.random.default_rng(len(feed)).normal(size=sizes).astype(np.float32)
    (whole,) = session.run(None, feed)
    for count in (1, 4):
        some = [{name: array[start : start + count] for name, array in feed.items()} for start in range(0, SIZE, count)]
        parts = [session.run(None, given)[0] for given in some]
        np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("text", NOT_BY_ROW)
def test_what_may_put_rows_together_is_given_all(text: str) -> None:
    proto = model_of(text)
    assert not inputs_by_row(ir.from_proto(proto), names_of(proto))


def test_what_is_no_input_of_the_batch_is_given_whole() -> None:
    nodes = "r = Gather(rows, at)  s = ReduceSum <keepdims=0> (r, zero)  y = Add(x, s)"
    proto = model_of(f"float[n,6] x, float[m,6] rows, int64[k] at | {nodes}")
    assert inputs_by_row(ir.from_proto(proto), ["x"]) == {"x"}
    assert not inputs_by_row(ir.from_proto(proto), ["x", "rows"])
