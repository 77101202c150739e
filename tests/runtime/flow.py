"""Branches and loops written node by node, and programs of them with what they compute."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.ops.arrays.constants import identity
from tensorkeep.ops.control import control_flow
from tensorkeep.ops.numbers import arithmetic

add, multiply = arithmetic.add_v2, arithmetic.mul
less, greater = get_op("Less"), get_op("Greater")


def branch(
    predicate: Any, values: Sequence[Any], then: Callable[..., Sequence[Any]], otherwise: Callable[..., Sequence[Any]]
) -> list[Any]:
    """What `then` makes of the values if the predicate holds, else what `otherwise` makes of them."""
    switches = [control_flow.switch(value, predicate) for value in values]
    yes = then(*(switch.output_true for switch in switches))
    no = otherwise(*(switch.output_false for switch in switches))
    return [control_flow.merge([b, a]).output for a, b in zip(yes, no, strict=True)]


def repeat(
    frame: str,
    condition: Callable[..., Any],
    body: Callable[..., Sequence[Any]],
    values: Sequence[Any],
    fixed: Sequence[Any] = (),
) -> list[Any]:
    """The values after as many rounds of `body` as `condition` asks for. Both also get the fixed values."""
    starts = [control_flow.enter(value, frame_name=frame) for value in values]
    inside = [control_flow.enter(value, frame_name=frame, is_constant=True) for value in fixed]
    merges = [control_flow.merge([start, start]).output for start in starts]
    again = control_flow.loop_cond(condition(*merges, *inside))
    switches = [control_flow.switch(value, again) for value in merges]
    following = body(*(switch.output_true for switch in switches), *inside)
    pivot = identity(switches[0].output_true)
    for merge, value in zip(merges, following, strict=True):
        with control_dependencies([pivot]):  # a value from outside would go round for ever
            merge.op.set_input(1, control_flow.next_iteration(value))
    return [control_flow.exit(switch.output_false) for switch in switches]


# ---------------------------------------------------------------------------------------------------- Programs

Program = tuple[Any, ...]


def random_program(chance: random.Random, known: int, depth: int) -> Program:
    """An expression over `known` values: sums, products, branches and loops in each other."""
    kinds = ["value", "add", "multiply"]
    if depth:
        kinds += ["branch", "loop", "loop"]
    kind = chance.choice(kinds)
    if kind == "value":
        return ("value", chance.randrange(known))
    if kind in ("add", "multiply"):
        if not depth:
            return (kind, ("value", chance.randrange(known)), ("value", chance.randrange(known)))
        return (kind, random_program(chance, known, depth - 1), random_program(chance, known, depth - 1))
    if kind == "branch":
        sides = [random_program(chance, known, depth - 1) for _ in range(3)]
        return ("branch", *sides)
    rounds = chance.randrange(4)
    first, second = random_program(chance, known, 0), random_program(chance, known, 0)
    bodies = [random_program(chance, known + 2, depth - 1) for _ in range(2)]
    return ("loop", rounds, first, second, *bodies)


def evaluate(program: Program, values: list[float]) -> float:
    """What a program computes, by Python alone."""
    kind = program[0]
    if kind == "value":
        return values[program[1]]
    if kind == "add":
        return evaluate(program[1], values) + evaluate(program[2], values)
    if kind == "multiply":
        return evaluate(program[1], values) * evaluate(program[2], values) * 0.25
    if kind == "branch":
        return evaluate(program[2] if evaluate(program[1], values) > 0 else program[3], values)
    _, rounds, first, second, *bodies = program
    a, b = evaluate(first, values), evaluate(second, values)
    for _ in range(rounds):
        a, b = (evaluate(body, [*values, a, b]) for body in bodies)
    return a + b


class Builder:
    """Writes programs as nodes. The constants they need are among the values, so that loops can bring them in."""

    def __init__(self, zero: Any, quarter: Any, one: Any, counts: Sequence[Any]) -> None:
        self._frames = 0
        self._constants = [zero, quarter, one, *counts]

    def build(self, program: Program, values: Sequence[Any]) -> Any:
        return self._build(program, list(values), self._constants)

    def _build(self, program: Program, values: list[Any], constants: list[Any]) -> Any:
        kind = program[0]
        if kind == "value":
            return values[program[1]]
        if kind == "add":
            return add(self._build(program[1], values, constants), self._build(program[2], values, constants))
        if kind == "multiply":
            product = multiply(self._build(program[1], values, constants), self._build(program[2], values, constants))
            return multiply(product, constants[1])
        if kind == "branch":
            return self._branch(program, values, constants)
        return self._loop(program, values, constants)

    def _branch(self, program: Program, values: list[Any], constants: list[Any]) -> Any:
        predicate = greater(self._build(program[1], values, constants), constants[0])
        count = len(values)

        def side(expression: Program) -> Callable[..., list[Any]]:
            return lambda *inside: [self._build(expression, list(inside[:count]), list(inside[count:]))]

        return branch(predicate, [*values, *constants], side(program[2]), side(program[3]))[0]

    def _loop(self, program: Program, values: list[Any], constants: list[Any]) -> Any:
        _, rounds, first, second, *bodies = program
        self._frames += 1
        count = len(values)

        def body(i: Any, a: Any, b: Any, *inside: Any) -> list[Any]:
            known, fixed = [*inside[:count], a, b], list(inside[count:])
            return [add(i, fixed[2]), *(self._build(expression, known, fixed) for expression in bodies)]

        starts = [self._build(first, values, constants), self._build(second, values, constants)]
        _, a, b = repeat(
            f"frame_{self._frames}",
            lambda i, a, b, *inside: less(i, inside[count + 3 + rounds]),
            body,
            [constants[0], *starts],
            [*values, *constants],
        )
        return add(a, b)
