"""Branches and loops that call functions, and lists of tensors, exported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
import pytest

from tensorkeep.graph.building import building
from tensorkeep.graph.functions import function_def
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.arrays.constants import placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tests.onnx.whole_graphs import assert_exports

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], np.float32)


@pytest.fixture
def graph() -> Any:
    made = Graph()
    with building(made):
        yield made


def define(
    graph: Graph, name: str, build: Callable[..., Sequence[Any]], *arguments: tuple[str, list[int]]
) -> FunctionRef:
    """Adds a function whose body `build` makes of arguments of some types and shapes."""
    body = Graph()
    body.functions.update(graph.functions)
    with building(body):
        inputs = [
            placeholder(dtype=dtype, shape=shape, name=f"argument_{i}") for i, (dtype, shape) in enumerate(arguments)
        ]
        outputs = [item if isinstance(item, Tensor) else item[0] for item in build(*inputs)]
    graph.functions[name] = function_def(name, body, inputs, outputs)
    return FunctionRef(name)


def op(name: str, *arguments: Any, **attrs: Any) -> Any:
    return get_op(name)(*arguments, **attrs)


MATRIX: tuple[str, list[int]] = ("float32", [2, 3])
Arguments: TypeAlias = tuple[tuple[str, list[int]], ...]


@pytest.mark.parametrize("kind", ["If", "StatelessIf"])
@pytest.mark.parametrize(
    "condition", [True, False, np.int32(3), np.float32(0), np.zeros((0, 2), np.float32), b"", b"a"]
)
def test_an_if_takes_conditions_of_any_type(graph: Graph, kind: str, condition: Any) -> None:
    then = define(graph, "then", lambda x: [op("Mul", x, constant(2.0))], MATRIX)
    otherwise = define(graph, "otherwise", lambda x: [op("Exp", x)], MATRIX)
    x = placeholder(dtype="float32", shape=[2, 3], name="x")
    array = np.array(condition, object) if isinstance(condition, bytes) else np.asarray(condition)
    dtype = "string" if array.dtype == object else array.dtype.name
    given = placeholder(dtype=dtype, shape=[None] * array.ndim, name="condition")
    (y,) = op(kind, given, [x], then_branch=then, else_branch=otherwise, Tout=["float32"])
    found = assert_exports([y], [{x: X, given: array}], opsets=(24,) if dtype == "string" else (13, 24))
    assert found.ops["If"] == 1


@pytest.mark.parametrize("kind", ["Case", "StatelessCase"])
def test_a_case_takes_its_last_branch_for_an_index_beyond_them(graph: Graph, kind: str) -> None:
    branches = [
        define(graph, f"branch_{number}", lambda x, n=number: [op("Add", x, constant(float(n)))], MATRIX)
        for number in range(3)
    ]
    x, index = placeholder(dtype="float32", shape=[2, 3], name="x"), placeholder(dtype="int32", shape=[], name="index")
    (y,) = op(kind, index, [x], branches=branches, Tout=["float32"])
    assert_exports([y], [{x: X, index: value} for value in (0, 1, 2, 7, -1)])
    (known,) = op(kind, constant(1), [x], branches=branches, Tout=["float32"])
    assert set(assert_exports([known], [{x: X}]).ops) == {"Add"}


def test_a_case_of_many_branches_is_found_by_halves(graph: Graph) -> None:
    branches = [
        define(graph, f"branch_{number}", lambda x, n=number: [op("Add", x, constant(float(n)))], MATRIX)
        for number in range(50)
    ]
    x, index = placeholder(dtype="float32", shape=[2, 3], name="x"), placeholder(dtype="int32", shape=[], name="index")
    (y,) = op("Case", index, [x], branches=branches, Tout=["float32"])
    assert_exports([y], [{x: X, index: value} for value in (0, 1, 24, 25, 48, 49, 50, -1)], opsets=(13, 24))


@pytest.mark.parametrize("kind", ["While", "StatelessWhile"])
def test_a_while_uses_what_does_not_change_from_outside(graph: Graph, kind: str) -> None:
    arguments: Arguments = (("int32", []), MATRIX, MATRIX)
    condition = define(graph, "condition", lambda i, x, w: [op("Less", i, constant(4))], *arguments)
    body = define(
        graph, "body", lambda i, x, w: [op("AddV2", i, constant(1)), op("Mul", x, w), op("Identity", w)], *arguments
    )
    x = placeholder(dtype="float32", shape=[2, 3], name="x")
    _, y, _ = op(kind, [constant(0), x, constant(X)], cond=condition, body=body)
    found = assert_exports([y], [{x: X}])
    (loop,) = [node for node in found.proto.graph.node if node.op_type == "Loop"]
    assert len(loop.input) == 4  # the count, no condition, the counter, and what changes


def test_a_for_counts(graph: Graph) -> None:
    body = define(graph, "body", lambda i, x: [op("Add", x, op("Cast", i, DstT="float32"))], ("int32", []), MATRIX)
    x, limit = placeholder(dtype="float32", shape=[2, 3], name="x"), placeholder(dtype="int32", shape=[], name="limit")
    (y,) = op("For", constant(1), limit, constant(2), [x], body=body)
    assert_exports([y], [{x: X, limit: value} for value in (1, 6)])


# --------------------------------------------------------------------------------------------------------- lists


def reserved(count: Any, shape: Any = (3,)) -> Any:
    return op("TensorListReserve", constant(list(shape)), count, element_dtype="float32")


def stacked(handle: Any, shape: Any = (3,)) -> Any:
    return op("TensorListStack", handle, constant(list(shape)), element_dtype="float32")


def test_lists_outside_of_loops(graph: Graph) -> None:
    x = placeholder(dtype="float32", shape=[None, 3], name="x")
    index = placeholder(dtype="int32", shape=[], name="index")
    rows = op("TensorListFromTensor", x, constant([3]))
    item = op("TensorListGetItem", rows, index, constant([3]), element_dtype="float32")
    changed = op("TensorListSetItem", rows, index, op("Mul", item, constant(2.0)))
    longer = op("TensorListPushBack", changed, item)
    shorter, last = op("TensorListPopBack", longer, constant([3]), element_dtype="float32")
    scattered = op("TensorListScatterIntoExistingList", longer, x, constant([1, 4]))
    results = [
        item, stacked(changed), stacked(longer), stacked(shorter), last, stacked(scattered),
        op("TensorListLength", longer), stacked(op("TensorListResize", changed, constant(4))),
        stacked(op("TensorListResize", changed, constant(1))),
        op("TensorListGather", longer, constant([2, 0]), constant([3]), element_dtype="float32"),
        op("TensorListGetItem", reserved(constant(2)), index, constant([3]), element_dtype="float32"),
        op("TensorListElementShape", rows, shape_type="int32"),
        stacked(op("TensorListConcatLists", rows, changed, element_dtype="float32")),
    ]  # fmt: skip
    assert_exports(results, [{x: X, index: value} for value in (0, 1)])


def test_elements_of_different_lengths_are_a_sequence(graph: Graph) -> None:
    x = placeholder(dtype="float32", shape=[None, 3], name="x")
    lengths = placeholder(dtype="int64", shape=[None], name="lengths")
    parts = op("TensorListSplit", x, constant([-1, 3]), lengths)
    item = op("TensorListGetItem", parts, constant(1), constant([-1, 3]), element_dtype="float32")
    changed = op("TensorListSetItem", parts, constant(0), item)
    whole = op("TensorListConcatV2", changed, constant([-1, 3]), op("Identity", lengths), element_dtype="float32")
    feeds = {x: np.arange(15, dtype=np.float32).reshape(5, 3), lengths: np.array([1, 3, 1])}
    found = assert_exports([item, *whole, op("TensorListLength", parts)], [feeds], opsets=(18, 24))
    assert found.ops["SplitToSequence"] == 1


def loop_over_list(graph: Graph, step: Callable[..., Any], start: Any, count: Any, x: Any) -> list[Any]:
    """A loop whose variables are a counter and a list, which each step gives anew."""
    arguments: Arguments = (("int32", []), ("variant", []), ("float32", [2, 3]), ("int32", []))
    condition = define(graph, "condition", lambda i, items, x, n: [op("Less", i, n)], *arguments)
    body = define(
        graph, "body", lambda i, items, x, n: [
            op("AddV2", i, constant(1)), step(i, items, x), op("Identity", x), op("Identity", n)
        ], *arguments
    )  # fmt: skip
    found: list[Any] = op("While", [constant(0), start, x, count], cond=condition, body=body)
    return found


def _row(x: Any, index: Any) -> Any:
    return op("GatherV2", x, index, constant(0))


@pytest.mark.parametrize("is_known", [True, False])
def test_a_list_that_a_loop_fills_is_a_scan_output(graph: Graph, is_known: bool) -> None:
    x = placeholder(dtype="float32", shape=[2, 3], name="x")
    number = placeholder(dtype="int32", shape=[], name="number")
    count = constant(3) if is_known else number
    step = lambda i, items, x: op("TensorListSetItem", items, i, _row(x, op("FloorMod", i, constant(2))))  # noqa: E731
    _, filled, _, _ = loop_over_list(graph, step, reserved(count), count, x)
    found = assert_exports([stacked(filled), op("TensorListLength", filled)], [{x: X, number: 3}])
    assert "ScatterND" not in found.ops
    assert "Concat" not in found.ops


def test_elements_of_different_lengths_that_a_loop_fills_a_list_with_are_a_sequence(graph: Graph) -> None:
    x, count = placeholder(dtype="float32", shape=[2, 3], name="x"), placeholder(dtype="int32", shape=[], name="number")

    def step(i: Any, items: Any, x: Any) -> Any:
        size = op("Pack", [op("Minimum", i, constant(2)), constant(3)])
        return op("TensorListSetItem", items, i, op("Slice", x, constant([0, 0]), size))

    start = op("TensorListReserve", constant([-1, 3]), count, element_dtype="float32")
    _, filled, _, _ = loop_over_list(graph, step, start, count, x)
    no_lengths = constant(np.zeros(0, np.int64))
    whole = op("TensorListConcatV2", filled, constant([-1, 3]), no_lengths, element_dtype="float32")
    found = assert_exports([*whole], [{x: X, count: value} for value in (1, 4)], opsets=(18, 24))
    assert found.ops["SequenceInsert"] == 1


@pytest.mark.parametrize("is_known", [True, False])
def test_elements_of_one_length_that_a_loop_fills_a_list_with_are_a_scan_output(graph: Graph, is_known: bool) -> None:
    x = placeholder(dtype="float32", shape=[2, 3] if is_known else [None, 3], name="x")
    count = placeholder(dtype="int32", shape=[], name="number")
    step = lambda i, items, x: op("TensorListSetItem", items, i, op("Exp", x))  # noqa: E731
    start = op("TensorListReserve", constant([-1, 3]), count, element_dtype="float32")
    _, filled, _, _ = loop_over_list(graph, step, start, count, x)
    no_lengths = constant(np.zeros(0, np.int64))
    whole = op("TensorListConcatV2", filled, constant([-1, 3]), no_lengths, element_dtype="float32")
    found = assert_exports([*whole], [{x: X, count: value} for value in (1, 4)], opsets=(18, 24))
    assert "SequenceInsert" not in found.ops


def test_a_list_that_a_loop_appends_to(graph: Graph) -> None:
    x, count = placeholder(dtype="float32", shape=[2, 3], name="x"), placeholder(dtype="int32", shape=[], name="number")
    empty = op("EmptyTensorList", constant([3]), constant(-1), element_dtype="float32")
    step = lambda i, items, x: op("TensorListPushBack", items, _row(x, op("FloorMod", i, constant(2))))  # noqa: E731
    _, filled, _, _ = loop_over_list(graph, step, empty, count, x)
    assert_exports([stacked(filled)], [{x: X, count: value} for value in (0, 3)])


def test_a_list_that_a_loop_reads_what_it_wrote(graph: Graph) -> None:
    x, count = placeholder(dtype="float32", shape=[2, 3], name="x"), placeholder(dtype="int32", shape=[], name="number")

    def step(i: Any, items: Any, x: Any) -> Any:
        before = op("Maximum", op("Sub", i, constant(1)), constant(0))
        old = op("TensorListGetItem", items, before, constant([3]), element_dtype="float32")
        return op("TensorListSetItem", items, i, op("Add", old, _row(x, constant(0))))

    _, filled, _, _ = loop_over_list(graph, step, reserved(constant(4)), count, x)
    assert_exports([stacked(filled)], [{x: X, count: value} for value in (0, 2, 4)])


def test_a_list_of_which_a_loop_sets_one_element(graph: Graph) -> None:
    x, count = placeholder(dtype="float32", shape=[2, 3], name="x"), placeholder(dtype="int32", shape=[], name="number")
    step = lambda i, items, x: op("TensorListSetItem", items, constant(1), _row(x, i))  # noqa: E731
    _, filled, _, _ = loop_over_list(graph, step, reserved(constant(3)), count, x)
    assert_exports([stacked(filled)], [{x: X, count: value} for value in (1, 2)])


def test_the_length_of_a_list_that_grows(graph: Graph) -> None:
    x, count = placeholder(dtype="float32", shape=[2, 3], name="x"), placeholder(dtype="int32", shape=[], name="number")

    def step(i: Any, items: Any, x: Any) -> Any:
        size = op("Cast", op("TensorListLength", items), DstT="float32")
        return op("TensorListPushBack", items, op("Mul", _row(x, constant(0)), size))

    empty = op("EmptyTensorList", constant([3]), constant(-1), element_dtype="float32")
    _, filled, _, _ = loop_over_list(graph, step, empty, count, x)
    assert_exports([stacked(filled)], [{x: X, count: value} for value in (0, 3)])


def test_a_variable_that_a_loop_reads(graph: Graph) -> None:
    arguments: Arguments = (("int32", []), MATRIX, ("resource", []))
    condition = define(graph, "condition", lambda i, x, handle: [op("Less", i, constant(3))], *arguments)
    body = define(
        graph, "body", lambda i, x, handle: [
            op("AddV2", i, constant(1)), op("Add", x, op("ReadVariableOp", handle, dtype="float32")), handle
        ], *arguments
    )  # fmt: skip
    x = placeholder(dtype="float32", shape=[2, 3], name="x")
    handle = op("VarHandleOp", dtype="float32", shape=[2, 3], shared_name="v")
    assign = op("AssignVariableOp", handle, constant(X))
    _, y, _ = op("While", [constant(0), x, handle], cond=condition, body=body)
    session = Session(graph)
    session.run(assign)
    assert_exports([y], [{x: X}], session=session)


@pytest.mark.parametrize("kind", ["If", "Case", "PartitionedCall"])
def test_what_nothing_takes_of_a_function_need_not_be_in_onnx(graph: Graph, kind: str) -> None:
    """As what branches keep for gradients: optionals, which a model that only answers has no use for."""

    def branch(x: Any) -> list[Any]:
        return [op("OptionalFromValue", [x]), op("Exp", x), op("StringLength", op("AsString", x))]

    function = define(graph, "branch", branch, MATRIX)
    x = placeholder(dtype="float32", shape=[2, 3], name="x")
    kinds = ["variant", "float32", "int32"]
    if kind == "If":
        condition = op("Less", op("Sum", x, constant([0, 1])), constant(3.0))
        found = op("If", condition, [x], then_branch=function, else_branch=function, Tout=kinds)
    elif kind == "Case":
        index = op("Cast", op("Sum", x, constant([0, 1])), DstT="int32")
        found = op("Case", index, [x], branches=[function, function], Tout=kinds)
    else:
        found = op("PartitionedCall", [x], f=function, Tout=kinds)
    assert_exports([op("Neg", found[1])], [{x: X}])
