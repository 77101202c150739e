"""Graphs of a few bytes that stand for a great deal: an export takes what the model takes, or refuses."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import onnx
import pytest

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import ResourceExhaustedError
from tensorkeep.graph.building import building
from tensorkeep.graph.functions import function_def
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.onnx import following_shapes, limits
from tensorkeep.onnx.graphs import CannotTranslateError
from tensorkeep.onnx.models import TranslateOptions, translate_graph
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.proto.messages import TensorProto
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.shapes import Shape
from tensorkeep.tf1.functions.constants import constant

MOST_MEMORY = 96 << 20
SCALAR: tuple[str, list[int]] = ("float32", [])


@pytest.fixture
def graph() -> Iterator[Graph]:
    made = Graph()
    with building(made):
        yield made


def op(name: str, *arguments: Any, **attrs: Any) -> Any:
    return get_op(name)(*arguments, **attrs)


def define(graph: Graph, name: str, build: Callable[..., Sequence[Any]], *arguments: tuple[str, list[int]]) -> None:
    """Adds a function whose body `build` makes of arguments of some types and shapes."""
    body = Graph()
    body.functions.update(graph.functions)
    with building(body):
        inputs = [placeholder(dtype=dtype, shape=shape, name=f"x_{i}") for i, (dtype, shape) in enumerate(arguments)]
        outputs = list(build(*inputs))
    graph.functions[name] = function_def(name, body, inputs, outputs)


def call(name: str, *arguments: Tensor) -> Tensor:
    (found,) = op("PartitionedCall", list(arguments), f=FunctionRef(name), Tout=["float32"])
    return found  # type: ignore[no-any-return]


def splat(number: float | bytes, *shape: int) -> Tensor:
    """A constant that states one element for all of a shape, as a few bytes."""
    proto = TensorProto(dtype=7 if isinstance(number, bytes) else 1)
    for size in shape:
        proto.tensor_shape.dim.add().size = size
    if isinstance(number, bytes):
        proto.string_val.append(number)
    else:
        proto.float_val.append(number)
    return op("Const", value=proto, dtype="string" if isinstance(number, bytes) else "float32")  # type: ignore[no-any-return]


def export(outputs: Sequence[Tensor], *inputs: Tensor, folds: bool = True) -> onnx.ModelProto:
    """Exports a graph, with an eye on memory."""
    tracemalloc.start()
    try:
        taken = {tensor.op.name: tensor for tensor in inputs}
        given = {f"result_{number}": tensor for number, tensor in enumerate(outputs)}
        proto = translate_graph(taken, given, lambda op: None, TranslateOptions(20, folds=folds)).proto()
        onnx.checker.check_model(proto, full_check=True)
        assert proto.ByteSize() < MOST_MEMORY
        return proto
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < MOST_MEMORY


# ------------------------------------------------------------------------------------------------------- functions


def test_functions_that_call_each_other_twice_are_refused_before_they_are_written_out(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "MOST_OPERATIONS", 300)
    define(graph, "f0", lambda x: [op("Exp", x)], SCALAR)
    for depth in range(1, 41):
        below = f"f{depth - 1}"
        define(graph, f"f{depth}", lambda x, below=below: [op("Add", call(below, x), call(below, x))], SCALAR)
    x = placeholder(dtype="float32", shape=[], name="x")
    with pytest.raises(
        ResourceExhaustedError, match=r"more than 300 operations and nodes would have to be written.*--inputs"
    ):
        export([call("f40", x)], x)


@pytest.mark.parametrize("kind", ["PartitionedCall", "If", "While"])
def test_a_function_that_calls_itself_is_refused(graph: Graph, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    monkeypatch.setattr(limits, "MOST_OPERATIONS", 2000)
    self_ = FunctionRef("endless")
    define(graph, "less", lambda x: [op("Less", x, constant(3.0))], SCALAR)

    def body(x: Tensor) -> list[Tensor]:
        if kind == "PartitionedCall":
            return [call("endless", x)]
        if kind == "If":
            less = op("Less", x, constant(3.0))
            return list(op("If", less, [x], then_branch=self_, else_branch=self_, Tout=["float32"]))
        return list(op("While", [op("Exp", x)], cond=FunctionRef("less"), body=self_))

    define(graph, "endless", lambda x: [op("Exp", x)], SCALAR)  # so that there is one to call
    define(graph, "endless", body, SCALAR)
    x = placeholder(dtype="float32", shape=[], name="x")
    with pytest.raises((CannotTranslateError, ResourceExhaustedError), match=r"deep|more than 2,000 operations"):
        export([call("endless", x)], x)


def test_loops_in_loops_are_not_written_again_without_end(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each changes the shapes of its variables, and is written again for that."""
    monkeypatch.setattr(limits, "MOST_OPERATIONS", 50_000)
    define(graph, "less", lambda x: [op("Less", op("Sum", x, constant([0])), constant(3.0))], ("float32", [1]))
    define(graph, "f0", lambda x: [op("ConcatV2", [x, x], constant(0))], ("float32", [1]))
    for depth in range(1, 9):
        inner = FunctionRef(f"f{depth - 1}")
        define(
            graph, f"f{depth}", lambda x, inner=inner: [
                op("ConcatV2", [*op("While", [x], cond=FunctionRef("less"), body=inner), x], constant(0))
            ], ("float32", [1]),
        )  # fmt: skip
    x = placeholder(dtype="float32", shape=[1], name="x")
    (y,) = op("While", [x], cond=FunctionRef("less"), body=FunctionRef("f8"))
    assert export([y], x).graph.node


@pytest.mark.parametrize("kind", ["If", "While"])
def test_branches_and_loops_that_are_too_deep_for_a_file_are_refused(graph: Graph, kind: str) -> None:
    define(graph, "less", lambda x: [op("Less", x, constant(3.0))], SCALAR)
    define(graph, "f0", lambda x: [op("Exp", x)], SCALAR)

    def deeper(x: Tensor, below: str) -> list[Tensor]:
        inner = FunctionRef(below)
        if kind == "While":
            return [op("Exp", op("While", [x], cond=FunctionRef("less"), body=inner)[0])]
        less = op("Less", x, constant(3.0))
        return list(op("If", less, [x], then_branch=inner, else_branch=FunctionRef("f0"), Tout=["float32"]))

    for depth in range(1, 41):
        define(graph, f"f{depth}", lambda x, depth=depth: deeper(x, f"f{depth - 1}"), SCALAR)
    x = placeholder(dtype="float32", shape=[], name="x")
    assert export([call("f30", x)], x).graph.node
    with pytest.raises(CannotTranslateError, match="branches and loops are more than 30 deep in each other"):
        export([call("f40", x)], x)


def test_a_constant_of_a_function_is_in_the_file_once_however_often_that_is_called(graph: Graph) -> None:
    weights = np.arange(250_000, dtype=np.float32)
    define(graph, "scaled", lambda x: [op("Mul", x, constant(weights))], ("float32", [250_000]))
    x = placeholder(dtype="float32", shape=[250_000], name="x")
    y = x
    for _ in range(40):
        y = call("scaled", y)
    assert export([y], x).ByteSize() < 2 * weights.nbytes


# ------------------------------------------------------------------------------------------------------- constants


DOUBLINGS: dict[str, Callable[[Tensor], Tensor]] = {
    "ConcatV2": lambda x: op("ConcatV2", [x, x], constant(0)),
    "Pack": lambda x: op("Reshape", op("Pack", [x, x], axis=0), constant([-1])),
    "Tile": lambda x: op("Tile", x, constant([2])),
    "BroadcastTo": lambda x: op("Reshape", op("BroadcastTo", x, op("ConcatV2", [
        constant([2]), op("Shape", x)], constant(0))), constant([-1])),
    "Pad": lambda x: op("Pad", x, op("Reshape", op("Pack", [constant(0), op("Size", x)], axis=0), constant([1, 2]))),
}  # fmt: skip


@pytest.mark.parametrize("folds", [True, False])
@pytest.mark.parametrize("kind", DOUBLINGS)
def test_what_doubles_again_and_again_is_not_computed(graph: Graph, kind: str, folds: bool) -> None:
    y = constant(np.arange(1024, dtype=np.float32))
    for _ in range(20 if kind in ("BroadcastTo", "Pad") else 40):  # whose sizes are int32
        y = DOUBLINGS[kind](y)
    assert export([op("Sum", y, constant([0]))], folds=folds).graph.node


@pytest.mark.parametrize("folds", [True, False])
def test_the_same_large_constant_taken_often_is_not_joined(graph: Graph, folds: bool) -> None:
    large = constant(np.arange(1 << 20, dtype=np.float32))
    y = op("ConcatV2", [large] * 1000, constant(0))
    assert export([op("Sum", y, constant([0]))], folds=folds).ByteSize() < 8 << 20


@pytest.mark.parametrize("folds", [True, False])
def test_a_large_constant_converted_often_stays_one(graph: Graph, folds: bool) -> None:
    y, total = constant(np.arange(1 << 20, dtype=np.float32)), []
    for number in range(100):
        y = op("Cast", op("Exp", y), DstT="float64" if number % 2 else "float32")
        total.append(op("Cast", op("Sum", y, constant([0])), DstT="float32"))
    export(total, folds=folds)


@pytest.mark.parametrize("sizes", [[1 << 40], [1 << 20, 1 << 20]])
@pytest.mark.parametrize("kind", ["Fill", "Range", "LinSpace", "splat"])
def test_numbers_that_a_few_bytes_state_are_not_listed(graph: Graph, kind: str, sizes: list[int]) -> None:
    count = int(np.prod(sizes))
    if kind == "Fill":
        y = op("Fill", constant(np.array(sizes)), constant(1.0))
    elif kind == "Range":
        y = op("Cast", op("Range", constant(np.int64(0)), constant(np.int64(count)), constant(np.int64(1))),
               DstT="float32")  # fmt: skip
    elif kind == "LinSpace":
        y = op("LinSpace", constant(0.0), constant(1.0), constant(np.int64(count)))
    else:
        y = op("Mul", splat(2.0, *sizes), constant(3.0))
    axes = constant(np.arange(len(sizes) if kind in ("Fill", "splat") else 1))
    try:
        export([op("Sum", y, axes)])
    except CannotTranslateError as error:
        assert "numbers would have to be in the file" in str(error)  # noqa: PT017


def test_equal_elements_are_written_out_where_they_are_few(graph: Graph) -> None:
    x = placeholder(dtype="float32", shape=[1, 1000], name="x")
    proto = export([op("MatMul", x, splat(0.5, 1000, 20))], x)
    assert [node.op_type for node in proto.graph.node] == ["MatMul"]


def test_equal_elements_that_are_many_are_repeated_where_the_model_runs(graph: Graph) -> None:
    x = placeholder(dtype="float32", shape=[1, 100_000], name="x")
    y = op("MatMul", x, splat(0.5, 100_000, 100_000))
    proto = export([y, op("MatMul", x, splat(0.25, 100_000, 100_000))], x)
    assert [node.op_type for node in proto.graph.node].count("ConstantOfShape") == 2
    assert proto.ByteSize() < 5000


# --------------------------------------------------------------------------------------------------------- strings


@pytest.mark.parametrize("folds", [True, False])
def test_strings_that_double_are_not_joined_now(graph: Graph, folds: bool) -> None:
    y = constant(np.array([b"ab"], object))
    for _ in range(40):
        y = op("StringJoin", [y, y], separator=b"")
    assert export([y], folds=folds).graph.node


def test_equal_strings_that_are_many_are_refused(graph: Graph) -> None:
    x = placeholder(dtype="string", shape=[1 << 30], name="x")
    with pytest.raises(CannotTranslateError, match="1,073,741,824 equal elements of string"):
        export([op("Equal", x, splat(b"abc", 1 << 30))], x)


def test_a_long_string_in_many_places_is_refused(graph: Graph) -> None:
    y = op("Fill", constant([100_000]), constant(np.array(b"a" * 100_000, object)))
    with pytest.raises((ResourceExhaustedError, CannotTranslateError)):
        export([op("Identity", y)])


@pytest.mark.parametrize("width", [1 << 30, 50])
def test_numbers_are_not_padded_to_any_width(graph: Graph, width: int) -> None:
    y = op("AsString", constant(np.array([1.5], np.float32)), width=width)
    try:
        export([y])
    except CannotTranslateError:
        assert width > 50


@pytest.mark.parametrize("width", [[1 << 20], [1] * (1 << 20)])
def test_words_are_not_joined_to_runs_of_any_length(graph: Graph, width: list[int]) -> None:
    words, splits = (placeholder(dtype=dtype, shape=[None], name=dtype) for dtype in ("string", "int64"))
    found = op(
        "StringNGrams", words, splits, separator=b"", ngram_widths=width, left_pad=b"", right_pad=b"", pad_width=0,
        preserve_short_sequences=False,
    )  # fmt: skip
    with pytest.raises(CannotTranslateError, match="ONNX joins pairs of strings"):
        export([found[0]], words, splits)


def test_sparse_tensors_are_not_cut_into_any_number_of_parts(graph: Graph) -> None:
    places = placeholder(dtype="int64", shape=[None, 2], name="places")
    values, size = placeholder(dtype="float32", shape=[None], name="values"), constant(np.array([1 << 20, 4]))
    found = op("SparseSplit", constant(np.int64(0)), places, values, size, num_split=1 << 12)
    with pytest.raises(CannotTranslateError, match="each of its 4,096 parts"):
        export([found[1][0]], places, values)


# ---------------------------------------------------------------------------------------------------------- shapes


@pytest.mark.parametrize("size", [1 << 20, 1 << 31])
def test_enormous_sizes_make_no_enormous_lists(graph: Graph, monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    """Rules that list places refuse them; those that need not, do not."""
    monkeypatch.setattr(limits, "MOST_OPERATIONS", 500)
    x = placeholder(dtype="float32", shape=[size], name="x")
    image = placeholder(dtype="float32", shape=[1, size, size, 1], name="image")
    matrix = placeholder(dtype="float32", shape=[size, size], name="matrix")
    filters = placeholder(dtype="float32", shape=[size, size, 1], name="filters")
    for y in (
        op("MatrixDiag", x),
        op("MatrixBandPart", matrix, constant(np.int64(2)), constant(np.int64(3))),
        op("MatrixSetDiag", matrix, x),
        op("MatrixDiagPart", matrix),
        op("MirrorPad", x, constant([[3, 3]]), mode=b"REFLECT"),
        op("Roll", x, constant(3), constant(0)),
        op("ExtractImagePatches", image, ksizes=[1, 3, 3, 1], strides=[1, 1, 1, 1], rates=[1, 1, 1, 1],
           padding=b"SAME"),
        op("ResizeNearestNeighbor", image, constant(np.array([7, 1 << 30], np.int32))),
        op("ResizeBilinear", image, constant(np.array([7, 1 << 30], np.int32))),
        op("FakeParam", dtype="float32", shape=[size, size]),
        op("DynamicStitch", [constant(np.array([0, size // 2 - 1], np.int32))], [constant(np.zeros(2, np.float32))]),
        op("Dilation2D", image, filters, strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding=b"SAME"),
        op("OneHot", constant(np.array([1, 2], np.int64)), constant(np.int32(1 << 30)), constant(1.0), constant(0.0)),
    ):  # fmt: skip
        try:
            export([y], x, image, matrix, filters)
        except (CannotTranslateError, ResourceExhaustedError) as error:
            reasons = ("in the file", "a file should have", "nodes would have to be written")
            assert any(reason in str(error) for reason in reasons), error  # noqa: PT017


def test_a_long_chain_of_values_of_unknown_rank_is_not_followed_from_its_start_for_each(
    graph: Graph, monkeypatch: pytest.MonkeyPatch
) -> None:
    inferred: list[Any] = []
    monkeypatch.setattr(following_shapes, "_infer", lambda node, opset: inferred.append(node))
    x = y = placeholder(dtype="float32", shape=None, name="x")
    for _ in range(2000):
        y = op("Neg", y)
    made = translate_graph({"x": x}, {"y": y}, lambda op: None, TranslateOptions(20)).model
    assert len(list(made.graph)) == 2000
    assert len(inferred) <= 2 * 2000


def test_the_values_of_variables_are_what_the_model_has(graph: Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are not made: of a model of any size, as much may be made as its variables are large."""
    monkeypatch.setattr(limits, "SPARE", 8192)
    x = y = placeholder(dtype="float32", shape=[2000], name="x")
    held: dict[str, VariableResource] = {}
    for number in range(8):
        handle = op("VarHandleOp", dtype="float32", shape=[2000])
        variable = held[handle.op.name] = VariableResource(handle.op.name, FLOAT32, Shape((2000,)))
        variable.assign(np.full(2000, number + 1, np.float32))
        y = op("Add", y, op("Rsqrt", op("ReadVariableOp", handle, dtype="float32")))
    model = translate_graph({"x": x}, {"y": y}, lambda op: held[op.name], TranslateOptions(20)).proto()
    assert {node.op_type for node in model.graph.node} == {"Add"}
