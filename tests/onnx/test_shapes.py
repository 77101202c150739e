"""Shapes that a graph computes: what is known of them makes them constants of the file."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime as ort
import pytest

from tensorkeep.dtypes import FLOAT32, INT32
from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.building import building
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.onnx.models import TranslateOptions, translate_graph
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.constants import constant
from tests.ops.walking import import_all_ops

import_all_ops()
F = np.float32


def op(name: str, *inputs: Any, **attrs: Any) -> Any:
    return get_op(name)(*inputs, **attrs)


def first_size(x: Tensor) -> Any:
    """`tf.shape(x)[0]`."""
    bounds = [constant(np.array([at], np.int32)) for at in (0, 1, 1)]
    return op("StridedSlice", op("Shape", x), *bounds, shrink_axis_mask=1)


def exported(build: Callable[[Tensor], Any], dims: list[int | None], opset: int = 24, **options: Any) -> Any:
    """The ONNX model of what `build` makes of an input of these sizes."""
    graph = Graph()
    with building(graph):
        x = placeholder(dtype=FLOAT32, shape=dims, name="x")
        y = build(x)
    return translate_graph({"x": x}, {"y": y}, lambda op: None, TranslateOptions(opset, **options)).proto()


def ops_of(model: Any) -> list[str]:
    return [node.op_type for node in model.graph.node]


def run(model: Any, x: Any) -> Any:
    session = ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def weights(rows: int, columns: int) -> Any:
    return constant(np.arange(rows * columns, dtype=F).reshape(rows, columns) / 8)


def test_a_batch_of_any_size_is_reshaped_by_one_node() -> None:
    def heads(x: Tensor) -> Any:
        return op("Reshape", x, op("Pack", [first_size(x), constant(np.int32(2)), constant(np.int32(3))]))

    model = exported(heads, [None, 6])
    assert ops_of(model) == ["Reshape"]
    assert run(model, np.ones((5, 6), F)).shape == (5, 2, 3)


def test_an_empty_batch_is_cut_into_frames_by_a_number_that_is_computed() -> None:
    def frames(x: Tensor) -> Any:
        length = op("StridedSlice", op("Shape", x), *[constant(np.array([at], np.int32)) for at in (1, 2, 1)])
        count = op("FloorDiv", length, constant(np.array([4], np.int32)))
        return op("Reshape", x, op("ConcatV2", [op("Pack", [first_size(x)]), count, np.array([4], np.int32)], 0))

    for dims in ([None, None], [None, 12]):
        model = exported(frames, dims)
        assert run(model, np.ones((2, 12), F)).shape == (2, 3, 4)
        assert run(model, np.ones((0, 12), F)).shape == (0, 3, 4)
    assert ops_of(model) == ["Reshape"]


def test_a_sum_over_the_last_axis_is_one_of_an_empty_batch_too() -> None:
    model = exported(lambda x: op("Sum", x, constant(np.array([-1], np.int32))), [None, 3, 2])
    assert run(model, np.ones((0, 3, 2), F)).shape == (0, 3)
    assert run(model, np.ones((4, 3, 2), F)).shape == (4, 3)


def test_two_sizes_that_are_not_known_are_copied_though_other_values_had_them() -> None:
    def heads(x: Tensor) -> Any:
        wide = op("Tanh", op("Mul", x, constant(F(2))))
        batch, length, _ = op("Unpack", op("Shape", x), num=3)
        return op("Reshape", wide, op("Pack", [batch, length, constant(np.int32(2)), constant(np.int32(2))]))

    model = exported(heads, [None, None, 4])
    assert ops_of(model) == ["Mul", "Tanh", "Reshape"]
    assert run(model, np.ones((3, 5, 4), F)).shape == (3, 5, 2, 2)


def test_a_size_follows_that_is_left_open_beside_one_that_is_copied() -> None:
    def heads(x: Tensor) -> Any:
        made = op("MatMul", x, weights(4, 6))
        return op("Reshape", made, op("Pack", [first_size(x), constant(np.int32(-1)), constant(np.int32(2))]))

    model = exported(heads, [None, 4])
    assert ops_of(model) == ["MatMul", "Reshape"]
    assert run(model, np.ones((0, 4), F)).shape == (0, 3, 2)


def test_a_shape_that_a_graph_takes_apart_and_puts_together_is_known() -> None:
    def back(x: Tensor) -> Any:
        shape = op("Shape", x)
        head = op("Slice", shape, constant(np.array([0], np.int32)), constant(np.array([2], np.int32)))
        flat = op("Reshape", x, constant(np.array([-1, 4], np.int32)))
        return op("Reshape", flat, op("ConcatV2", [head, constant(np.array([4], np.int32))], constant(np.int32(0))))

    model = exported(back, [None, 3, 4])
    assert ops_of(model) == ["Identity"]
    np.testing.assert_array_equal(run(model, np.arange(24, dtype=F).reshape(2, 3, 4)).shape, (2, 3, 4))


def test_the_engine_lets_no_size_follow_that_may_be_another() -> None:
    graph = Graph()
    with building(graph):
        x = placeholder(dtype=FLOAT32, shape=[None, 2], name="x")
        n = placeholder(dtype=INT32, shape=[], name="n")
        y = op("Reshape", x, op("Pack", [n, constant(np.int32(2))]))
    for is_for_engine, wanted in ((False, ["Identity"]), (True, ["Cast", "Unsqueeze", "Concat", "Reshape"])):
        options = TranslateOptions(24, is_for_engine=is_for_engine)
        model = translate_graph({"x": x, "n": n}, {"y": y}, lambda op: None, options).proto()
        assert sorted(ops_of(model)) == sorted(wanted)


def test_a_part_whose_end_is_the_size_of_the_axis_is_the_whole_axis() -> None:
    def part(x: Tensor) -> Any:
        begin, step = constant(np.array([0, 1], np.int32)), constant(np.array([1, 1], np.int32))
        end = op("Pack", [first_size(x), constant(np.int32(3))])
        return op("StridedSlice", x, begin, end, step)

    model = exported(part, [None, 4])
    assert ops_of(model) == ["Slice"]
    np.testing.assert_array_equal(run(model, np.arange(8, dtype=F).reshape(2, 4)), [[1, 2], [5, 6]])


def test_many_values_that_go_to_few_places_are_all_summed() -> None:
    def summed(x: Tensor) -> Any:
        ids = constant((np.arange(100_000) % 3).astype(np.int32))
        return op("UnsortedSegmentSum", x, ids, constant(np.int32(3)))

    model = exported(summed, [100_000, 2])
    found = run(model, np.ones((100_000, 2), F))
    np.testing.assert_array_equal(found, np.array([[33334, 33334], [33333, 33333], [33333, 33333]], F))


def test_rows_of_a_variable_are_gathered_from_a_constant() -> None:
    table = VariableResource("table", FLOAT32, Shape((4, 3)))
    table.assign(np.arange(12, dtype=F).reshape(4, 3))
    graph = Graph()
    with building(graph):
        x = placeholder(dtype=INT32, shape=[None], name="x")
        handle = op("VarHandleOp", dtype=FLOAT32, shape=[4, 3])
        y = op("ResourceGather", handle, x, dtype=FLOAT32)
        z = op("ResourceGatherNd", handle, op("ExpandDims", x, constant(np.int32(1))), dtype=FLOAT32)
    for tensor in (y, z):
        model = translate_graph({"x": x}, {"y": tensor}, lambda op: table, TranslateOptions(24)).proto()
        np.testing.assert_array_equal(run(model, np.array([3, 0], np.int32)), [[9, 10, 11], [0, 1, 2]])


def test_for_the_engine_an_index_below_zero_fails_as_ours_does() -> None:
    graph = Graph()
    with building(graph):
        x = placeholder(dtype=INT32, shape=[None], name="x")
        y = op("GatherV2", weights(4, 3), x, constant(np.int32(0)))
    model = translate_graph({"x": x}, {"y": y}, lambda op: None, TranslateOptions(24, is_for_engine=True)).proto()
    assert run(model, np.array([3], np.int32)).shape == (1, 3)
    with pytest.raises(Exception, match="out of data bounds"):
        run(model, np.array([-1], np.int32))


def test_a_part_that_may_reach_outside_is_refused_to_the_engine() -> None:
    def part(x: Tensor) -> Any:
        return op("Slice", x, constant(np.array([0, 0], np.int32)), constant(np.array([2, 2], np.int32)))

    assert ops_of(exported(part, [None, 4])) == ["Slice"]
    with pytest.raises(UnimplementedError, match="whether its input has such a part"):
        exported(part, [None, 4], is_for_engine=True)


@pytest.mark.parametrize(
    ("name", "inputs"),
    [
        ("Select", lambda x: (constant(np.array([True, False])), x, x)),
        ("MatrixBandPart", lambda x: (x, constant(np.int64(1)), constant(np.int64(0)))),
        ("UnsortedSegmentSum", lambda x: (x, constant(np.array([0, 2], np.int32)), constant(np.int32(3)))),
        ("BroadcastTo", lambda x: (x, constant(np.array([4, 4], np.int32)))),
    ],
)
def test_what_may_fail_with_us_and_not_there_is_refused_to_the_engine(
    name: str, inputs: Callable[[Tensor], tuple[Any, ...]]
) -> None:
    def build(x: Tensor) -> Any:
        return op(name, *inputs(x))

    with pytest.raises(UnimplementedError, match=r"not found out|not known"):
        exported(build, [None, None], is_for_engine=True)
