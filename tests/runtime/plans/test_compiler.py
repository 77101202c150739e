"""Plans as Python functions."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, ResourceExhaustedError
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.graph import Graph, Operation, Tensor
from tensorkeep.graph.registry.opspec import get_op, op
from tensorkeep.ops.arrays.constants import identity, placeholder
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tests.runtime.flow import add, branch, greater, less, multiply, repeat

tanh, negative = get_op("Tanh"), get_op("Neg")

fail = op("TestFail(x: T, n: float) -> y: T", "T: type")


@fail.kernel
def fail_kernel(x: Any, n: Any) -> Any:
    if n > 2:
        raise ValueError("too many")
    return x


greedy = op("TestGreedy(x: float) -> y: float")


@greedy.kernel
def greedy_kernel(x: Any) -> Any:
    raise MemoryError


def text_of(session: Session, fetches: Any, feeds: Any = None) -> str:
    """The code that was written for a run."""
    session.run(fetches, feeds)
    return session._programs.compiled[-1].text


def vector(name: str, size: int | None = 100) -> Tensor:
    found: Tensor = placeholder(dtype="float32", shape=[size], name=name)
    return found


def counted(rounds: float, body: Any, start: Any) -> Any:
    """A value after some rounds of `body(i, value)`."""
    zero, one, many = constant(0.0), constant(1.0), constant(rounds)
    _, value = repeat(
        "frame",
        lambda i, value, one, many: less(i, many),
        lambda i, value, one, many: [add(i, one), body(i, value)],
        [zero, start],
        [one, many],
    )
    return value


def test_kernels_that_are_operators_are_written_as_such() -> None:
    graph = Graph()
    with building(graph):
        x = vector("x", 4)
        y = less(add(multiply(x, x), x), x)
    text = text_of(Session(graph), y, {x: np.zeros(4)})
    assert "f0 * f0" in text
    assert "< f0" in text


def test_nodes_that_pass_on_a_value_are_not_written() -> None:
    graph = Graph()
    with building(graph):
        x = vector("x", 4)
        y = identity(identity(x))
    assert text_of(Session(graph), y, {x: np.zeros(4)}).splitlines() == ["def run(f0):", "    return (f0, )"]


def test_constants_are_folded() -> None:
    graph = Graph()
    with building(graph):
        y = multiply(add(constant(1.0), constant(2.0)), constant(3.0))
    session = Session(graph)
    assert len(text_of(session, y).splitlines()) == 2
    assert session.run(y) == 9.0


def test_large_values_are_dropped_after_their_last_use() -> None:
    graph = Graph()
    with building(graph):
        x = vector("x", None)
        y = tanh(x)
        z = add(multiply(y, x), y)
    lines = text_of(Session(graph), z, {x: np.zeros(100)}).splitlines()
    last = next(i for i, line in enumerate(lines) if line.strip().startswith("v") and "+" in line)
    assert lines[last + 1].strip().startswith("del v")


def test_what_a_loop_reads_lives_until_the_loop_is_done() -> None:
    graph = Graph()
    with building(graph):
        x = vector("x", None)
        y = tanh(x)
        start = constant(np.zeros(100, np.float32))
        one, many, zero = constant(1.0), constant(3.0), constant(0.0)
        _, total = repeat(
            "frame",
            lambda i, total, one, many, y: less(i, many),
            lambda i, total, one, many, y: [add(i, one), add(total, y)],
            [zero, start],
            [one, many, y],
        )
    values = np.linspace(-1, 1, 100, dtype=np.float32)
    np.testing.assert_allclose(Session(graph).run(total, {x: values}), 3 * np.tanh(values), rtol=1e-6)


def test_an_elementwise_result_takes_the_place_of_an_input_that_ends() -> None:
    graph = Graph()
    with building(graph):
        x = vector("x", None)
        y = tanh(multiply(x, x))
    session = Session(graph)
    text = text_of(session, y, {x: np.ones(100)})
    call = next(line for line in text.splitlines() if "(v" in line)
    argument, out = call.partition("(")[2].rstrip(")").split(", ")
    assert argument == out
    given = np.full(100, 0.5, np.float32)
    np.testing.assert_allclose(session.run(y, {x: given}), np.tanh(given * given), rtol=1e-6)
    assert (given == 0.5).all()


@pytest.mark.parametrize(
    "make",
    [
        lambda x: [tanh(identity(x))],  # what is fed is the caller's
        lambda x: (lambda y: [tanh(y), y])(multiply(x, x)),  # fetched
        lambda x: (lambda y: [add(tanh(y), negative(y))])(multiply(x, x)),  # used twice
        lambda x: (lambda y: [tanh(y), get_op("Reshape")(y, [10, 10])])(multiply(x, x)),  # seen as a view
        lambda x: [add(multiply(x, x), get_op("Reshape")(x, [100, 1]))],  # grows by broadcasting
        lambda x: [add(get_op("Reshape")(x, [100, 1]), multiply(x, x))],
        lambda x: [tanh(multiply(get_op("Sum")(x, [0]), constant(2.0)))],  # a scalar
    ],
    ids=["fed", "fetched", "used twice", "viewed", "broadcast", "broadcast back", "scalar"],
)
@pytest.mark.parametrize("size", [100, None])
def test_writing_in_place_changes_no_result(make: Any, size: int | None) -> None:
    graph = Graph()
    with building(graph):
        x = vector("x", size)
        results = make(x)
    given = np.linspace(-1, 1, 100, dtype=np.float32)
    before = given.copy()
    session = Session(graph)
    together = session.run(results, {x: given})
    every = [tensor for op in graph.operations for tensor in op.outputs]
    apart = session.run(every, {x: given})  # fetched values are not written over
    for result, value in zip(results, together, strict=True):
        np.testing.assert_array_equal(value, apart[every.index(result)])
    np.testing.assert_array_equal(given, before)


def test_nothing_is_written_in_place_where_a_feed_may_belie_the_shapes() -> None:
    with building(Graph()) as graph:
        x, other = placeholder(dtype="float32", shape=[None]), placeholder(dtype="float32", shape=[2, 3])
        sizes = constant([2, 3])
        result = add(tanh(get_op("Reshape")(x, sizes)), other)
    session = Session(graph)
    rows = np.zeros((2, 3), np.float32)
    assert session.run(result, {x: np.zeros(6), other: rows}).shape == (2, 3)
    assert session.run(result, {x: np.zeros(3), other: rows, sizes: [1, 3]}).shape == (2, 3)


def test_a_value_from_outside_a_loop_is_not_written_over_inside() -> None:
    graph = Graph()
    with building(graph):
        x = vector("x")
        y = multiply(x, x)
        one, many, zero = constant(1.0), constant(3.0), constant(0.0)
        _, total = repeat(
            "frame",
            lambda i, total, one, many, y: less(i, many),
            lambda i, total, one, many, y: [add(i, one), add(total, negative(y))],
            [zero, constant(np.zeros(100, np.float32))],
            [one, many, y],
        )
    given = np.full(100, 2.0, np.float32)
    np.testing.assert_array_equal(Session(graph).run(total, {x: given}), np.full(100, -12.0))


def test_what_is_fed_is_not_read_from_its_variable() -> None:
    with building(Graph()) as graph:
        w = get_op("VariableV2")(dtype="float32", shape=[2], name="w")
        start = get_op("Assign")(w, [1.0, 2.0])
        read = identity(w)
        with control_dependencies([read]):
            result = add(read, [10.0, 10.0])
    session = Session(graph)
    session.run(start)
    assert session.run(result).tolist() == [11.0, 12.0]
    assert session.run(result, {read: [5.0, 5.0]}).tolist() == [15.0, 15.0]


def test_what_an_update_gives_is_read_after_that() -> None:
    with building(Graph()) as graph:
        w = get_op("VariableV2")(dtype="float32", shape=[2], name="w")
        start = get_op("Assign")(w, [1.0, 2.0])
        more = get_op("AssignAdd")(w, [1.0, 1.0])
        less_again = identity(get_op("AssignSub")(more, [0.5, 0.5]))
        with control_dependencies([less_again]):
            other = identity(get_op("Assign")(w, [7.0, 7.0]))
    session = Session(graph)
    session.run(start)
    assert session.run([less_again, other])[1].tolist() == [7.0, 7.0]
    session.run(start)
    assert session.run(less_again).tolist() == [1.5, 2.5]


def test_loops_count_with_scalars() -> None:
    graph = Graph()
    with building(graph):
        x = placeholder(dtype="float32", shape=[], name="x")
        value = counted(1000.0, lambda i, value: add(value, value), x)
    session = Session(graph)
    text = text_of(session, value, {x: 1.0})
    assert "while True:" in text
    assert "[()]" in text
    assert np.isinf(session.run(value, {x: 1.0}))


def test_variables_of_a_loop_change_all_at_once() -> None:
    graph = Graph()
    with building(graph):
        a, b = (placeholder(dtype="float32", shape=[], name=name) for name in "ab")
        _, x, y = repeat(
            "frame",
            lambda i, x, y, one, many: less(i, many),
            lambda i, x, y, one, many: [add(i, one), y, add(x, y)],
            [constant(0.0), a, b],
            [constant(1.0), constant(10.0)],
        )
    assert Session(graph).run([x, y], {a: 0.0, b: 1.0}) == [55.0, 89.0]


def test_the_operation_that_fails_in_a_loop_is_named() -> None:
    graph = Graph()
    with building(graph):
        value = counted(5.0, lambda i, value: fail(value, i, name="culprit"), constant(1.0))
    with pytest.raises(InvalidArgumentError, match="too many") as caught:
        Session(graph).run(value)
    assert "node culprit (TestFail)" in str(caught.value)
    assert isinstance(caught.value.op, Operation)  # type: ignore[attr-defined]


def test_the_operation_that_fails_in_a_branch_is_named() -> None:
    graph = Graph()
    with building(graph):
        x = placeholder(dtype="float32", shape=[], name="x")
        (y,) = branch(greater(x, constant(0.0)), [x], lambda x: [fail(x, x, name="culprit")], lambda x: [x])
    session = Session(graph)
    assert session.run(y, {x: -5.0}) == -5.0
    with pytest.raises(InvalidArgumentError, match="node culprit"):
        session.run(y, {x: 5.0})


def test_want_of_memory_is_an_error_of_its_own() -> None:
    graph = Graph()
    with building(graph):
        y = greedy(placeholder(dtype="float32", shape=[], name="x"))
    with pytest.raises(ResourceExhaustedError, match="MemoryError"):
        Session(graph).run(y, {"x:0": 1.0})


def test_a_failed_run_leaves_the_session_usable() -> None:
    graph = Graph()
    with building(graph):
        x = placeholder(dtype="float32", shape=[], name="x")
        y = fail(x, x)
    session = Session(graph)
    for _ in range(3):
        with pytest.raises(InvalidArgumentError):
            session.run(y, {x: 9.0})
        assert session.run(y, {x: 1.0}) == 1.0


def test_results_are_the_callers_own() -> None:
    graph = Graph()
    with building(graph):
        fixed = identity(constant(np.zeros(3, np.float32)))
        x = vector("x", 3)
        y = identity(x)
    session = Session(graph)
    session.run(fixed)[:] = 7
    assert (session.run(fixed) == 0).all()
    given = np.zeros(3, np.float32)
    session.run(y, {x: given})[:] = 7
    assert (given == 0).all()
