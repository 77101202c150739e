"""What runs, and in which order."""

from __future__ import annotations

import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.graph import Graph
from tensorkeep.graph.registry.opspec import get_op, op
from tensorkeep.ops.arrays import shapes
from tensorkeep.ops.arrays.constants import identity, no_op, placeholder
from tensorkeep.ops.control import control_flow
from tensorkeep.runtime.plans.plan import make_plan
from tensorkeep.tf1.functions.constants import constant
from tests.runtime.flow import add, less, repeat

assert shapes
assert control_flow
check_numerics = get_op("CheckNumerics")
counted = op("TestCounted() -> n: float", "stateful")


def names(plan: object) -> list[str]:
    return [op.name for op in plan.ops]  # type: ignore[attr-defined]


def test_only_what_a_fetch_needs_runs() -> None:
    with building(Graph()):
        a, b = constant(1.0, name="a"), constant(2.0, name="b")
        c = add(a, a, name="c")
        add(c, b, name="d")
    assert names(make_plan([c], [], [])) == ["a", "c"]


def test_nothing_behind_a_fed_tensor_runs() -> None:
    with building(Graph()):
        x = placeholder(dtype="float32", shape=[], name="x")
        y = add(x, x, name="y")
        z = add(y, y, name="z")
    plan = make_plan([z], [], [y])
    assert names(plan) == ["z"]
    assert plan.feeds == (y,)


def test_targets_and_what_they_wait_for_run() -> None:
    with building(Graph()):
        a = counted(name="a")
        with control_dependencies([a]):
            target = no_op(name="target")
    assert names(make_plan([], [target], [])) == ["a", "target"]


def test_a_value_that_is_only_waited_for_is_not_computed_but_what_it_waits_for_runs() -> None:
    with building(Graph()):
        state = counted(name="state")
        value = identity(identity(state, name="value"), name="again")
        with control_dependencies([value]):
            target = no_op(name="target")
        with control_dependencies([check_numerics(value, message="", name="check")]):
            checked = no_op(name="checked")
    assert names(make_plan([], [target], [])) == ["state", "target"]
    assert names(make_plan([], [checked], [])) == ["state", "value", "again", "check", "checked"]
    assert names(make_plan([value], [target], [])) == ["state", "value", "again", "target"]


def test_what_is_there_to_fail_runs_though_nobody_takes_its_value() -> None:
    with building(Graph()):
        stop = get_op("Abort")(error_msg="stop", name="stop")
        with control_dependencies([stop]):
            y = identity(constant(1.0, name="one"), name="y")
    assert names(make_plan([y], [], [])) == ["stop", "one", "y"]


def test_operations_run_in_the_order_in_which_they_were_added() -> None:
    with building(Graph()):
        a, b = constant(1.0, name="a"), constant(2.0, name="b")
        c, d = identity(b, name="c"), identity(a, name="d")
        waited = counted(name="waited")
        c.op.add_control_inputs([waited.op])
    assert names(make_plan([c, d], [], [])) == ["a", "b", "d", "waited", "c"]


def test_a_loop_is_no_cycle() -> None:
    with building(Graph()):
        zero, one, ten = (constant(value) for value in (0.0, 1.0, 10.0))
        (i,) = repeat("frame", lambda i, one, ten: less(i, ten), lambda i, one, ten: [add(i, one)], [zero], [one, ten])
    plan = make_plan([i], [], [])
    assert plan.has_control_flow
    order = names(plan)
    assert order.index("Merge") < order.index("NextIteration")


def test_a_cycle_is_an_error() -> None:
    with building(Graph()):
        a = identity(constant(1.0), name="a")
        b = identity(a, name="b")
        a.op.set_input(0, b)
    with pytest.raises(InvalidArgumentError, match="cycle"):
        make_plan([b], [], [])
