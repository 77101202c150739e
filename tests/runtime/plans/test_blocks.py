"""Branches and loops found again in nodes."""

from __future__ import annotations

from typing import Any

import pytest

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.building import building, control_dependencies
from tensorkeep.graph.graph import Graph, Tensor
from tensorkeep.ops.arrays.constants import identity, placeholder
from tensorkeep.ops.control import control_flow
from tensorkeep.runtime.plans.blocks import Arm, Block, Choice, Item, Loop, Step, structure
from tensorkeep.runtime.plans.liveness import ALWAYS, UnstructuredError, condition_of_all, condition_of_any
from tensorkeep.runtime.plans.plan import make_plan
from tensorkeep.tf1.functions.constants import constant
from tests.runtime.flow import add, branch, greater, less, multiply, repeat


def outline(block: Block) -> list[Any]:
    """A block as nested lists of words, without what only passes values on."""
    silent = ("Const", "Placeholder", "Switch", "Enter", "Exit", "NextIteration", "LoopCond", "Identity")
    found: list[Any] = []
    for item in block.items:
        if not (isinstance(item, Step) and item.op.type in silent):
            found.append(_outlined(item))
    return found


def _outlined(item: Item) -> Any:
    if isinstance(item, Step):
        return item.op.type
    if isinstance(item, Arm):
        return f"arm {item.index}"
    if isinstance(item, Choice):
        return ("if", outline(item.then), outline(item.otherwise))
    return ("while", outline(item.header), outline(item.body), outline(item.after))


def number(name: str) -> Tensor:
    found: Tensor = placeholder(dtype="float32", shape=[], name=name)
    return found


def test_straight_code_is_one_block_of_steps() -> None:
    with building(Graph()):
        x = number("x")
        y = multiply(add(x, x), x)
    assert outline(structure(make_plan([y], [], [x])).block) == ["AddV2", "Mul"]


def test_a_branch_is_a_choice_whose_sides_end_in_the_arms_of_its_merges() -> None:
    with building(Graph()):
        x = number("x")
        (y,) = branch(greater(x, constant(0.0)), [x], lambda x: [multiply(x, x)], lambda x: [add(x, x)])
        z = add(y, y)
    found = structure(make_plan([z], [], [x]))
    assert outline(found.block) == ["Greater", ("if", ["Mul", "arm 1"], ["AddV2", "arm 0"]), "AddV2"]
    assert found.fetches == ((),)


def test_branches_on_one_predicate_share_a_choice() -> None:
    with building(Graph()):
        x = number("x")
        p = greater(x, constant(0.0))
        (a,) = branch(p, [x], lambda x: [multiply(x, x)], lambda x: [add(x, x)])
        (b,) = branch(identity(p), [x], lambda x: [add(x, x)], lambda x: [multiply(x, x)])
    block = structure(make_plan([a, b], [], [x])).block
    (choice,) = [item for item in block.items if isinstance(item, Choice)]
    assert sorted(outline(choice.then)) == ["AddV2", "Mul", "arm 1", "arm 1"]


def test_what_a_predicate_excludes_is_not_there() -> None:
    with building(Graph()):
        x = number("x")
        p = greater(x, constant(0.0))

        def again(x: Any, p: Any) -> list[Any]:
            return branch(p, [x], lambda x: [multiply(x, x)], lambda x: [add(x, x)])

        (y,) = branch(p, [x, p], again, lambda x, p: [x])
    assert outline(structure(make_plan([y], [], [x])).block) == [
        "Greater",
        ("if", ["Mul", "arm 1", "arm 1"], ["arm 0"]),
    ]


def test_a_loop_has_a_header_and_a_body() -> None:
    with building(Graph()):
        x, n = number("x"), number("n")
        one = constant(1.0)
        i, a = repeat(
            "frame",
            lambda i, a, one, n: less(i, n),
            lambda i, a, one, n: [add(i, one), multiply(a, a)],
            [constant(0.0), x],
            [one, n],
        )
        y = add(i, a)
    block = structure(make_plan([y], [], [x, n])).block
    assert outline(block) == [("while", ["Less"], ["AddV2", "Mul"], []), "AddV2"]
    (loop,) = [item for item in block.items if isinstance(item, Loop)]
    assert [variable.following.op.type for variable in loop.variables] == ["AddV2", "Mul"]


def test_what_does_not_wait_for_the_condition_runs_in_every_round_and_once_more() -> None:
    with building(Graph()):
        n, one = number("n"), constant(1.0)
        (i,) = repeat(
            "frame", lambda i, one, n: less(i, n), lambda i, one, n: [add(i, multiply(one, one))], [n], [one, n]
        )
    # The product needs only what comes from outside.
    assert outline(structure(make_plan([i], [], [n])).block) == [("while", ["Less", "Mul"], ["AddV2"], [])]


def test_what_follows_the_last_round_comes_after_the_loop() -> None:
    with building(Graph()):
        n = number("n")
        start, limit = (control_flow.enter(value, frame_name="frame") for value in (constant(0.0), n))
        merge = control_flow.merge([start, start]).output
        bound = control_flow.merge([limit, limit]).output
        again = control_flow.loop_cond(less(merge, bound))
        counter, other = control_flow.switch(merge, again), control_flow.switch(bound, again)
        merge.op.set_input(1, control_flow.next_iteration(add(counter.output_true, counter.output_true)))
        bound.op.set_input(1, control_flow.next_iteration(other.output_true))
        left = control_flow.exit(multiply(counter.output_false, other.output_false))
    assert outline(structure(make_plan([left], [], [n])).block) == [("while", ["Less"], ["AddV2"], ["Mul"])]


def test_a_fetch_on_one_side_has_a_condition() -> None:
    with building(Graph()):
        p = placeholder(dtype="bool", shape=[], name="p")
        sides = control_flow.switch(constant(1.0), p)
        y, n = add(sides.output_true, sides.output_true), add(sides.output_true, sides.output_false)
    found = structure(make_plan([y, n], [], [p]))
    assert found.fetches == (((p, True),), None)


def test_a_control_input_carries_life_and_a_merge_does_not_mind_it() -> None:
    with building(Graph()):
        p = placeholder(dtype="bool", shape=[], name="p")
        sides = control_flow.switch(constant(1.0), p)
        with control_dependencies([identity(sides.output_true)]):
            a = constant(2.0)
        with control_dependencies([identity(sides.output_false)]):
            b = constant(3.0)
        with control_dependencies([a]):
            merged = control_flow.merge([a, b]).output
    found = structure(make_plan([a, merged], [], [p]))
    assert found.fetches == (((p, True),), ())


def test_conditions_join_and_part() -> None:
    with building(Graph()):
        p, q = (placeholder(dtype="bool", shape=[], name=name) for name in "pq")
    yes, no = frozenset(((p, True),)), frozenset(((p, False),))
    also, neither = frozenset(((q, True),)), frozenset(((q, False),))
    assert condition_of_all((yes, also)) == yes | also
    assert condition_of_all((yes, no)) is None
    assert condition_of_all((yes, None)) is None
    assert condition_of_any([yes, no]) == ALWAYS
    assert condition_of_any([yes | also, no, yes | neither]) == ALWAYS
    with pytest.raises(UnstructuredError):
        condition_of_any([yes, also])


def test_a_loop_without_a_condition_of_its_own_is_not_one() -> None:
    with building(Graph()):
        left = control_flow.exit(control_flow.enter(constant(1.0), frame_name="frame"))
    with pytest.raises(UnstructuredError):
        structure(make_plan([left], [], []))


def test_a_tensor_inside_a_loop_cannot_be_fetched() -> None:
    with building(Graph()):
        inside = control_flow.enter(constant(1.0), frame_name="frame")
    with pytest.raises(UnstructuredError):
        structure(make_plan([inside], [], []))


def test_inputs_from_different_frames_are_an_error() -> None:
    with building(Graph()):
        inside = control_flow.enter(constant(1.0), frame_name="frame")
        mixed = control_flow.exit(add(inside, constant(1.0)))
    with pytest.raises(InvalidArgumentError, match="has inputs from different frames"):
        structure(make_plan([mixed], [], []))


def test_leaving_a_loop_that_was_never_entered_is_an_error() -> None:
    with building(Graph()):
        left = control_flow.exit(constant(1.0))
    with pytest.raises(InvalidArgumentError, match="nothing has entered"):
        structure(make_plan([left], [], []))


def test_branches_nest_no_deeper_than_python_allows() -> None:
    with building(Graph()):
        x = number("x")
        zero = constant(0.0)

        def deeper(depth: int, x: Any, zero: Any) -> list[Any]:
            if depth == 0:
                return [multiply(x, x)]
            lower = add(x, x)
            return branch(
                greater(lower, zero), [lower, zero], lambda x, zero: deeper(depth - 1, x, zero), lambda x, zero: [x]
            )

        (shallow,), (deep,) = deeper(60, x, zero), deeper(90, x, zero)
    assert structure(make_plan([shallow], [], [x])).block.items
    with pytest.raises(UnstructuredError):
        structure(make_plan([deep], [], [x]))
