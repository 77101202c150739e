"""Branches and loops: what they compute, what they refuse, and what they leave in the graph."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorkeep.errors import InvalidArgumentError, TensorKeepError, WrongTypeError
from tensorkeep.graph.building import building, control_dependencies, device
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.graph.messages.graph_def import export_graph, import_graph
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.graph.tensor_shape import TensorShape
from tensorkeep.ops.arrays.constants import identity, placeholder
from tensorkeep.proto.messages import CondContextDef, WhileContextDef
from tensorkeep.runtime.session import Session
from tensorkeep.tf1.functions.constants import constant
from tensorkeep.tf1.functions.control.cases import case, smart_case, switch_case
from tensorkeep.tf1.functions.control.context_messages import (
    cond_context_from_proto,
    context_to_proto,
    while_context_from_proto,
)
from tensorkeep.tf1.functions.control.control_flow import Assert, cond, group, no_op, smart_cond, tuple_, while_loop
from tensorkeep.tf1.functions.control.tensor_array import TensorArray
from tensorkeep.tf1.functions.gradients.reverse_walk import gradients
from tests.ops.walking import import_all_ops

import_all_ops()


@pytest.fixture
def graph() -> Any:
    made = Graph()
    with building(made):
        yield made


def fed(dtype: str, name: str, shape: Any = ()) -> Tensor:
    tensor: Tensor = placeholder(dtype=dtype, shape=shape, name=name)
    return tensor


def names(graph: Graph) -> list[str]:
    return [op.name for op in graph.operations]


# ---------------------------------------------------------------------------------------------------- Grouping


def test_a_group_waits_for_its_members(graph: Graph) -> None:
    a, b = constant(1.0), constant(2.0)
    assert [op.name for op in group(a, b).control_inputs] == ["Const", "Const_1"]


def test_a_group_over_devices_has_one_node_for_each(graph: Graph) -> None:
    a = constant(1.0)
    with device("/cpu:1"):
        b = constant(2.0)
    made = group(a, b)
    assert [op.device for op in made.control_inputs] == ["", "/device:CPU:1"]


def test_a_tuple_is_ready_when_all_of_it_is(graph: Graph) -> None:
    a, b = constant(1.0), constant(2.0)
    gated = tuple_([a, None, b])
    assert gated[1] is None
    assert gated[0].op.control_inputs == gated[2].op.control_inputs
    assert Session(graph).run([gated[0], gated[2]]) == [1.0, 2.0]


def test_grouping_refuses_what_is_no_operation(graph: Graph) -> None:
    with pytest.raises(WrongTypeError):
        group(1)
    with pytest.raises(InvalidArgumentError, match="Unknown keyword"):
        group(nome="x")
    with pytest.raises(InvalidArgumentError, match="at least one"):
        tuple_([None])


# ---------------------------------------------------------------------------------------------------- Branches


def test_only_the_branch_taken_runs(graph: Graph) -> None:
    x = fed("float32", "x")
    y = cond(x < 0.0, lambda: identity(x), lambda: get_op("CheckNumerics")(x / 0.0, message="ran"))
    session = Session(graph)
    assert session.run(y, {x: -1.0}) == -1.0
    with pytest.raises(TensorKeepError):
        session.run(y, {x: 1.0})


def test_what_is_inside_a_branch_cannot_be_fetched(graph: Graph) -> None:
    x = fed("float32", "x")
    cond(x < 0.0, lambda: x * 2.0, lambda: x)
    with pytest.raises(InvalidArgumentError, match="not fetchable"):
        Session(graph).run("cond/mul:0", {x: 1.0})


def test_a_list_of_one_is_the_one_unless_strict(graph: Graph) -> None:
    x = fed("float32", "x")
    assert isinstance(cond(x < 0.0, lambda: [x], lambda: x + 1.0), Tensor)
    assert isinstance(cond(x < 0.0, lambda: [x], lambda: [x + 1.0], strict=True), list)


def test_the_old_names_of_the_functions_still_work(graph: Graph) -> None:
    x = fed("float32", "x")
    y = cond(x < 0.0, fn1=lambda: x, fn2=lambda: -x)
    assert Session(graph).run(y, {x: 2.0}) == -2.0
    with pytest.raises(WrongTypeError, match="simultaneously"):
        cond(x < 0.0, lambda: x, lambda: x, fn1=lambda: x)
    with pytest.raises(WrongTypeError, match="required"):
        cond(x < 0.0, lambda: x)
    with pytest.raises(WrongTypeError, match="callable"):
        cond(x < 0.0, x, lambda: x)  # type: ignore[arg-type]


def test_a_known_predicate_builds_one_branch(graph: Graph) -> None:
    assert smart_cond(True, lambda: "yes", lambda: "no") == "yes"
    assert smart_cond(constant(False), lambda: "yes", lambda: "no") == "no"
    assert smart_case([(False, lambda: 1), (constant(True), lambda: 2)], default=lambda: 3) == 2
    with pytest.raises(WrongTypeError):
        smart_cond("perhaps", lambda: 1, lambda: 2)
    x = fed("bool", "x")
    assert Session(graph).run(smart_cond(x, lambda: constant(1), lambda: constant(2)), {x: False}) == 2


@pytest.mark.parametrize(("index", "expected"), [(0, 10), (1, 20), (2, 30), (7, 30), (-1, 30)])
def test_switch_case_runs_one_of_several(graph: Graph, index: int, expected: int) -> None:
    i = fed("int32", "i")
    y = switch_case(i, [lambda: constant(10), lambda: constant(20)], default=lambda: constant(30))
    assert Session(graph).run(y, {i: index}) == expected


def test_switch_case_wants_all_indices(graph: Graph) -> None:
    i = fed("int32", "i")
    with pytest.raises(InvalidArgumentError, match="contiguous"):
        switch_case(i, {0: lambda: constant(1), 2: lambda: constant(2)})
    with pytest.raises(WrongTypeError):
        switch_case(1, [lambda: constant(1)])


def test_a_case_without_default_fails_if_nothing_holds(graph: Graph) -> None:
    a = fed("int32", "a")
    y = case([(a < 1, lambda: constant(1)), (a > 5, lambda: constant(2))])
    session = Session(graph)
    assert session.run(y, {a: 9}) == 2
    with pytest.raises(InvalidArgumentError, match="None of conditions"):
        session.run(y, {a: 3})


def test_an_exclusive_case_fails_if_several_hold(graph: Graph) -> None:
    a = fed("int32", "a")
    y = case([(a < 5, lambda: constant(1)), (a < 9, lambda: constant(2))], default=lambda: constant(3), exclusive=True)
    session = Session(graph)
    assert session.run(y, {a: 7}) == 2
    with pytest.raises(InvalidArgumentError, match="exclusive"):
        session.run(y, {a: 1})


def test_an_assertion_shows_its_data(graph: Graph) -> None:
    x = fed("float32", "x")
    check = Assert(x < 1.0, ["too large:", x])
    session = Session(graph)
    session.run(check, {x: 0.0})
    with pytest.raises(InvalidArgumentError, match="too large"):
        session.run(check, {x: 2.0})


# ---------------------------------------------------------------------------------------------------- Loops


def test_a_loop_runs_until_its_condition_fails(graph: Graph) -> None:
    n = fed("int32", "n")
    i, total = while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), [0, 0])
    session = Session(graph)
    assert session.run([i, total], {n: 5}) == [5, 10]
    assert session.run([i, total], {n: 0}) == [0, 0]


def test_a_loop_stops_at_the_maximum(graph: Graph) -> None:
    total = while_loop(lambda s: s < 100, lambda s: s + 1, [0], maximum_iterations=7)
    assert Session(graph).run(total) == 7
    with pytest.raises(InvalidArgumentError, match="scalar"):
        while_loop(lambda s: s < 100, lambda s: s + 1, [0], maximum_iterations=[1, 2])


def test_a_shape_may_change_if_the_invariant_says_so(graph: Graph) -> None:
    x = constant([1.0])
    concat = get_op("ConcatV2")

    def doubled(i: Any, v: Any) -> Any:
        return i + 1, concat([v, v], 0)

    with pytest.raises(InvalidArgumentError, match="shape_invariants"):
        while_loop(lambda i, v: i < 3, doubled, [0, x])
    shapes = [TensorShape([]), TensorShape([None])]
    grown = while_loop(lambda i, v: i < 3, doubled, [0, x], shape_invariants=shapes)[1]
    assert grown.static_shape.dims == (None,)
    assert Session(graph).run(grown).shape == (8,)


def test_a_loop_variable_keeps_its_type(graph: Graph) -> None:
    with pytest.raises(InvalidArgumentError, match="incompatible with expected float"):
        while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, constant(1)), [0, constant(1.0)])


def test_loops_need_variables_and_functions(graph: Graph) -> None:
    with pytest.raises(InvalidArgumentError, match="must be provided"):
        while_loop(lambda: True, lambda: (), [])
    with pytest.raises(WrongTypeError):
        while_loop(1, lambda x: x, [0])  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError):
        while_loop(lambda x: x < 1, lambda x: x, [0], parallel_iterations=0)


def test_after_a_mistake_in_a_body_the_builder_is_outside_the_loop(graph: Graph) -> None:
    with pytest.raises(ZeroDivisionError):
        while_loop(lambda i: i < 3, lambda i: 1 / 0, [0])
    assert graph.scopes.control_flow is None
    assert graph.scopes.name == ""


def test_what_a_loop_waits_for_outside_runs_before_it(graph: Graph) -> None:
    x = fed("float32", "x")
    check = Assert(x < 1.0, ["too large"])
    with control_dependencies([check]):
        y = while_loop(lambda v: v < 1.0, lambda v: v + x, [x])
    session = Session(graph)
    assert session.run(y, {x: 0.5}) == 1.0
    with pytest.raises(InvalidArgumentError, match="too large"):
        session.run(y, {x: 1.5})


def test_an_array_of_tensors_goes_through_a_loop(graph: Graph) -> None:
    def body(i: Any, array: TensorArray) -> Any:
        return i + 1, array.write(i, i * i)

    _, array = while_loop(lambda i, _: i < 4, body, (0, TensorArray("int32", 4)))
    assert Session(graph).run(array.stack()).tolist() == [0, 1, 4, 9]


# ---------------------------------------------------------------------------------------------------- Gradients


def test_gradients_of_a_loop_are_those_of_its_rounds(graph: Graph) -> None:
    x = fed("float32", "x")
    n = fed("int32", "n")
    y = while_loop(lambda i, v: i < n, lambda i, v: (i + 1, v * x), [0, constant(1.0)])[1]
    (dx,) = gradients(y, x)
    session = Session(graph)
    assert session.run(dx, {x: 2.0, n: 5}) == pytest.approx(5 * 2.0**4)
    assert session.run(dx, {x: 2.0, n: 0}) == 0.0


def test_gradients_of_a_branch_in_a_loop_follow_the_branches_taken(graph: Graph) -> None:
    x = fed("float32", "x", [None])

    def body(i: Any, v: Any) -> Any:
        return i + 1, cond(i < 2, lambda: v * x, lambda: v + x)

    y = while_loop(lambda i, v: i < 3, body, [0, x])[1]
    (dx,) = gradients(y, x)  # x ** 3 + x
    value = np.array([2.0, -1.0], np.float32)
    np.testing.assert_allclose(Session(graph).run(dx, {x: value}), 3 * value**2 + 1)


def test_a_loop_without_back_prop_has_no_gradients(graph: Graph) -> None:
    x = fed("float32", "x")
    y = while_loop(lambda v: v < 5.0, lambda v: v * 2.0, [x], back_prop=False)
    assert gradients(y, x) == [None]


# ---------------------------------------------------------------------------------------------------- Meta graphs


def test_contexts_survive_an_import(graph: Graph) -> None:
    x = fed("float32", "x")
    looped = while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, cond(i < 1, lambda: v * x, lambda: v)), [0, x])
    y = identity(cond(x < 5.0, lambda: looped[1] * x, lambda: x), name="y")
    (expected,) = gradients(y, x)
    protos = {key: list(map(context_to_proto, graph.collections[key])) for key in ("cond_context", "while_context")}
    source = export_graph(graph)
    other = Graph()
    import_graph(source, other, name="inside")
    for proto in protos["cond_context"]:
        assert isinstance(proto, CondContextDef)
        made = cond_context_from_proto(proto, "inside", other)
        assert made.name == f"inside/{proto.context_name}"
    for proto in protos["while_context"]:
        assert isinstance(proto, WhileContextDef)
        loop = while_context_from_proto(proto, "inside", other)
        assert loop.loop_enters[0].op.attr("frame_name") == loop.name.encode()
    with building(other):
        (found,) = gradients(other.tensor("inside/y:0"), other.tensor("inside/x:0"))
    assert Session(other).run(found, {"inside/x:0": 2.0}) == Session(graph).run(expected, {x: 2.0})


def test_a_context_outside_the_exported_scope_is_left_out(graph: Graph) -> None:
    x = fed("float32", "x")
    cond(x < 0.0, lambda: x, lambda: x, name="here")
    (first, _) = graph.collections["cond_context"]
    assert context_to_proto(first, "elsewhere") is None
    proto = context_to_proto(first, "here")
    assert proto is not None
    assert proto.context_name == "cond_text"


def test_no_op_is_an_operation(graph: Graph) -> None:
    assert no_op().type == "NoOp"
    assert names(graph) == ["NoOp"]
