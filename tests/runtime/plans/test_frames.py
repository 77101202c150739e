"""Control flow by tokens, and the same as written code: both compute what the program says."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.arrays.constants import control_trigger, identity, placeholder
from tensorkeep.ops.control import control_flow
from tensorkeep.ops.numbers import elementwise
from tensorkeep.ops.state import variables
from tensorkeep.runtime.plans import compiler
from tensorkeep.runtime.plans.blocks import structure
from tensorkeep.runtime.plans.liveness import UnstructuredError
from tensorkeep.runtime.plans.plan import make_plan
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tests.runtime.flow import Builder, add, branch, evaluate, greater, less, multiply, random_program, repeat
from tests.support.depth import examples

assert elementwise
assert variables


@pytest.fixture
def by_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(plan: Any) -> Any:
        raise UnstructuredError("by request")

    monkeypatch.setattr(compiler, "structure", refuse)


def number(name: str) -> Tensor:
    found: Tensor = placeholder(dtype="float64", shape=[], name=name)
    return found


def built(seed: int) -> tuple[Any, Graph, list[Tensor]]:
    """A program, the graph of it, and its arguments and result."""
    program = random_program(random.Random(seed), 2, 3)
    graph = Graph()
    with building(graph):
        x, y = number("x"), number("y")
        counts = [constant(float(i), "float64") for i in range(4)]
        builder = Builder(constant(0.0, "float64"), constant(0.25, "float64"), constant(1.0, "float64"), counts)
        result = identity(builder.build(program, [x, y]))
    return program, graph, [x, y, result]


@examples(80)
@given(st.integers(0, 1 << 32), st.floats(-2, 2), st.floats(-2, 2))
def test_programs_give_the_same_as_written_code_and_by_tokens(seed: int, first: float, second: float) -> None:
    program, graph, (x, y, result) = built(seed)
    expected = evaluate(program, [first, second])
    feeds = {x: first, y: second}
    np.testing.assert_allclose(Session(graph).run(result, feeds), expected, rtol=1e-9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiler, "structure", _refuse)
        np.testing.assert_allclose(Session(graph).run(result, feeds), expected, rtol=1e-9)


def test_nearly_all_programs_are_written_out_as_code() -> None:
    """The rest have branches, in loops, of which one side only lives in all rounds."""
    written = 0
    for seed in range(50):
        _, _, (x, y, result) = built(seed)
        try:
            structure(make_plan([result], [], [x, y]))
            written += 1
        except UnstructuredError:
            pass
    assert written >= 45


def _refuse(plan: Any) -> Any:
    raise UnstructuredError("by request")


@pytest.mark.usefixtures("by_tokens")
@pytest.mark.parametrize(("given_x", "expected"), [(1.0, 3.0), (-1.0, -2.0)])
def test_a_merge_takes_the_side_that_lives(given_x: float, expected: float) -> None:
    graph = Graph()
    with building(graph):
        x = number("x")
        two, three = constant(2.0, "float64"), constant(3.0, "float64")
        (y,) = branch(
            greater(x, constant(0.0, "float64")),
            [x, two, three],
            lambda x, two, three: [multiply(x, three)],
            lambda x, two, three: [multiply(x, two)],
        )
    assert Session(graph).run(y, {x: given_x}) == expected


@pytest.mark.usefixtures("by_tokens")
def test_rounds_that_are_over_are_forgotten() -> None:
    graph = Graph()
    with building(graph):
        zero, one, many = (constant(value, "float64") for value in (0.0, 1.0, 3000.0))
        i, total = repeat(
            "frame",
            lambda i, total, one, many: less(i, many),
            lambda i, total, one, many: [add(i, one), add(total, i)],
            [zero, zero],
            [one, many],
        )
    assert Session(graph).run([i, total]) == [3000.0, 3000.0 * 2999.0 / 2]


@pytest.mark.usefixtures("by_tokens")
def test_a_loop_on_the_side_not_taken_does_not_run_and_what_leaves_it_is_dead() -> None:
    graph = Graph()
    with building(graph):
        x = number("x")
        zero, one, five = (constant(value, "float64") for value in (0.0, 1.0, 5.0))

        def count(x: Any, one: Any, five: Any) -> list[Any]:
            return repeat(
                "frame", lambda i, one, five: less(i, five), lambda i, one, five: [add(i, one)], [x], [one, five]
            )

        (y,) = branch(greater(x, zero), [x, one, five], count, lambda x, one, five: [multiply(x, five)])
    session = Session(graph)
    assert session.run(y, {x: 1.5}) == 5.5
    assert session.run(y, {x: -1.0}) == -5.0


@pytest.mark.usefixtures("by_tokens")
def test_a_switch_of_many_ways_takes_the_last_for_an_index_beyond_them() -> None:
    graph = Graph()
    with building(graph):
        index = placeholder(dtype="int32", shape=[], name="index")
        ways = control_flow.switch_n(constant(1.0), index, num_outs=3, name="switch")
        scaled = [multiply(way, way) if i == 0 else add(way, constant(float(i))) for i, way in enumerate(ways)]
        merged = control_flow.merge(scaled)
    session = Session(graph)
    for given_index, taken in ((0, 0), (1, 1), (2, 2), (7, 2), (-1, 2)):
        assert session.run(merged.value_index, {index: given_index}) == taken


def test_a_switch_of_many_ways_needs_no_request_to_be_run_by_tokens() -> None:
    graph = Graph()
    with building(graph):
        index = placeholder(dtype="int32", shape=[], name="index")
        merged = control_flow.merge(control_flow.switch_n(constant(1.0), index, num_outs=2, name="switch"))
    assert Session(graph).run(merged.value_index, {index: 1}) == 1


@pytest.mark.parametrize("tokens", [False, True])
def test_a_trigger_fires_whatever_it_waits_for(tokens: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if tokens:
        monkeypatch.setattr(compiler, "structure", _refuse)
    graph = Graph()
    with building(graph):
        p = placeholder(dtype="bool", shape=[], name="p")
        sides = control_flow.switch(constant(1.0), p)
        no, yes = identity(sides.output_false), identity(sides.output_true)
        with control_dependencies([no, yes]):
            trigger = control_trigger()
        with control_dependencies([trigger]):
            y = identity(constant(5.0))
        with control_dependencies([no]):
            z = constant(6.0)
    session = Session(graph)
    assert session.run(y, {p: True}) == session.run(y, {p: False}) == 5.0
    assert session.run(z, {p: False}) == 6.0
    with pytest.raises(InvalidArgumentError, match=r"Retval\[0\] does not have value"):
        session.run(z, {p: True})


@pytest.mark.usefixtures("by_tokens")
def test_a_tensor_inside_a_loop_cannot_be_fetched() -> None:
    graph = Graph()
    with building(graph):
        inside = identity(control_flow.enter(constant(1.0), frame_name="frame"))
    with pytest.raises(InvalidArgumentError, match="does not have value"):
        Session(graph).run(inside)


def test_a_fed_side_of_a_merge_is_the_one_it_takes() -> None:
    graph = Graph()
    with building(graph):
        p = placeholder(dtype="bool", shape=[], name="p")
        sides = control_flow.switch(constant(1.0), p)
        merged = control_flow.merge([sides.output_false, identity(sides.output_true)])
    session = Session(graph)
    assert session.run(merged.output, {p: False}) == 1.0
    assert session.run(merged.output, {merged.output: 9.0}) == 9.0


def test_a_reference_that_is_fed_is_a_value(by_tokens: None) -> None:
    with building(Graph()) as graph:
        w = get_op("VariableV2")(dtype="float32", shape=[2], name="w")
        start = get_op("Assign")(w, [1.0, 2.0])
        read, negative = identity(w), get_op("Neg")(w)
    session = Session(graph)
    session.run(start)
    assert [value.tolist() for value in session.run([w, read, negative])] == [[1, 2], [1, 2], [-1, -2]]
    fed = session.run([w, read, negative], {w: [5.0, 5.0]})
    assert [value.tolist() for value in fed] == [[5, 5], [5, 5], [-5, -5]]
