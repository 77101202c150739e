"""Branches and loops: those that call functions of the library, the nodes of TensorFlow 1's, and loops of rules' own.

What other rules write is so many rounds, each of which is told its number.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final

import numpy as np

from tensorkeep.dtypes import BOOL, INT64, DType
from tensorkeep.graph.functions import FunctionBody
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.messages.attrs import FunctionRef
from tensorkeep.onnx.branches_and_loops import Piece, Rounds, choose, known_truth, place_results, repeat, truth
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import Part, scalar
from tensorkeep.onnx.terms import Term, constant_term
from tensorkeep.shapes import Shape

_MOST_IN_ROW: Final = 8  # branches of a case that are tried one after the other


# -------------------------------------------------------------------------------------- functions of the library


def _operation(to: OnnxGraph) -> Operation:
    assert to.operation is not None
    return to.operation


def _calling(op: Operation, function: FunctionRef, arguments: Sequence[Term], taken: Sequence[int]) -> Piece:
    return lambda inner: inner.translator.call(inner, op, function, arguments, taken)


@rule("If", "StatelessIf", takes_complex=True)
def if_(
    to: OnnxGraph, cond: Term, input: list[Term], *, then_branch: FunctionRef, else_branch: FunctionRef
) -> list[list[Term]]:
    """One of two functions. Conditions of other types than bool are what TensorFlow takes them for."""
    op = _operation(to)
    taken = to.translator.taken_outputs(op)
    sides = [_calling(op, branch, input, taken) for branch in (then_branch, else_branch)]
    return [place_results(op, taken, choose(to, cond, *sides))]


@rule("Case", "StatelessCase", takes_complex=True)
def case(to: OnnxGraph, branch_index: Term, input: list[Term], *, branches: Sequence[FunctionRef]) -> list[list[Term]]:
    """One of several functions; the last one for an index that there is none for."""
    op = _operation(to)
    taken = to.translator.taken_outputs(op)
    pieces = [_calling(op, branch, input, taken) for branch in branches]
    if branch_index.array is not None:
        index = int(branch_index.array)
        return [place_results(op, taken, pieces[index if 0 <= index < len(branches) else -1](to))]

    def from_number(number: int) -> Piece:
        if number == len(branches) - 1:
            return pieces[number]

        def piece(inner: OnnxGraph) -> list[Term]:
            here = inner.node("Equal", branch_index, inner.like(branch_index, number), dtype=BOOL, dims=())
            return choose(inner, here, pieces[number], from_number(number + 1))

        return piece

    chosen = from_number(0)(to) if len(branches) <= _MOST_IN_ROW else _choose_by_halves(to, branch_index, pieces)
    return [place_results(op, taken, chosen)]


def _choose_by_halves(to: OnnxGraph, index: Term, pieces: Sequence[Piece]) -> list[Term]:
    """The results of one of many pieces, chosen by nested Ifs that halve them: an If for each would nest too deep."""
    wide, last = to.cast(index, INT64), to.constant(len(pieces) - 1)
    is_there = to.node("And", to.node("GreaterOrEqual", wide, to.constant(0), dtype=BOOL, dims=()),
                       to.node("Less", wide, last, dtype=BOOL, dims=()), dims=())  # fmt: skip
    number = to.node("Where", is_there, wide, last, dtype=INT64, dims=())

    def among(first: int, end: int) -> Piece:
        if end - first == 1:
            return pieces[first]
        middle = (first + end) // 2

        def piece(inner: OnnxGraph) -> list[Term]:
            is_before = inner.node("Less", number, inner.constant(middle), dtype=BOOL, dims=())
            return choose(inner, is_before, among(first, middle), among(middle, end))

        return piece

    return among(0, len(pieces))(to)


@rule("While", "StatelessWhile", takes_complex=True)
def while_(to: OnnxGraph, input: list[Term], *, cond: FunctionRef, body: FunctionRef) -> list[list[Term]]:
    """A function again and again, as long as another says so."""
    op = _operation(to)

    def goes_on(inner: OnnxGraph, values: list[Term]) -> Term:
        return inner.translator.call(inner, op, cond, values)[0]

    def once(inner: OnnxGraph, values: list[Term]) -> list[Term]:
        return inner.translator.call(inner, op, body, values)

    fixed = unchanged_arguments(to.translator.body(op, body, input))
    return [repeat(to, Rounds(list(input), goes_on, once, fixed))]


def unchanged_arguments(body: FunctionBody) -> frozenset[int]:
    """The arguments of a loop's body that it gives back as they are."""
    return frozenset(
        number
        for number, (given, result) in enumerate(zip(body.inputs, body.outputs, strict=True))
        if _passed_on(result) is given
    )


def _passed_on(tensor: Tensor) -> Tensor:
    while tensor.op.type in ("Identity", "IdentityN"):
        tensor = tensor.op.inputs[tensor.index]
    return tensor


@rule("For", takes_complex=True)
def for_(
    to: OnnxGraph, start: Term, limit: Term, delta: Term, input: list[Term], *, body: FunctionRef
) -> list[list[Term]]:
    """A function for each number from a start to a limit, by a known step."""
    op = _operation(to)
    step = int(to.known_array(delta, "the step of its numbers"))
    if to.model.is_for_engine:
        to.refuse("whether its limit can be reached from its start is not known")
    compare = "Less" if step >= 0 else "Greater"

    def goes_on(inner: OnnxGraph, values: list[Term]) -> Term:
        return inner.node(compare, values[0], limit, dtype=BOOL, dims=())

    def once(inner: OnnxGraph, values: list[Term]) -> list[Term]:
        following = inner.node("Add", values[0], inner.like(values[0], step or 1), dims=())
        return [following, *inner.translator.call(inner, op, body, values)]

    return [repeat(to, Rounds([start, *input], goes_on, once))[1:]]


@rule("ToBool")
def to_bool(to: OnnxGraph, input: Term) -> Term:
    known = known_truth(input)
    return truth(to, input) if known is None else to.constant(np.bool_(known))


@rule("FakeParam", takes_complex=True)
def fake_param(to: OnnxGraph, *, dtype: DType, shape: Shape) -> Term:
    """What a branch gives in the place of a value that only the other branch has: nobody looks at it."""
    sizes = tuple(size or 0 for size in shape.dims or ())
    to.require_listed(prod(sizes))
    empty = np.full(sizes, b"", object) if dtype.is_object else np.zeros(sizes, dtype.array_dtype)
    return constant_term(empty, dtype)


@rule("DeviceIndex")
def device_index(to: OnnxGraph, *, device_names: Sequence[bytes]) -> Term:
    """The model is taken to run on the CPU, for which functions are written that suit every device."""
    return to.constant(np.int32(device_names.index(b"CPU") if b"CPU" in device_names else len(device_names)))


# ------------------------------------------------------------------------------------------------ TensorFlow 1's


@rule("Switch", "RefSwitch", takes_complex=True)
def switch(to: OnnxGraph, data: Term, pred: Term) -> tuple[Term, Term]:
    """The value, as both outputs: the translation knows by where operations stand which side they belong to."""
    return data, data


@rule(
    "Enter", "RefEnter", "Exit", "RefExit", "NextIteration", "RefNextIteration", "LoopCond", "RefIdentity",
    takes_complex=True,
)  # fmt: skip
def led_through(to: OnnxGraph, data: Term) -> Term:
    """The same value: entering and leaving loops is the translation's business."""
    return data


# ---------------------------------------------------------------------------------------- loops that rules write


Round = Callable[[OnnxGraph, Term, list[Term]], list[Term]]
"""Writes a round to a graph, given its number and the values before it; gives the values after it, and what is kept of
every round.
"""


def counted_rounds(to: OnnxGraph, count: Part, starts: Sequence[Term], once: Round) -> list[Term]:
    """The values after so many rounds, then what each round gave beyond them, one after the other along a new axis."""
    inner = to.inner()
    number, going = inner.input(INT64, (), to.own_name("number")), inner.input(BOOL, (), to.own_name("going"))
    given = [inner.input(term.dtype, term.dims, to.own_name("value")) for term in starts]
    results = once(inner, number, list(given))
    body = inner.finished([number, going, *given], [going, *results], "round")
    dims = [term.dims for term in starts]
    dims += [None if term.dims is None else (None, *term.dims) for term in results[len(starts) :]]
    inputs = [scalar(to, count), to.constant(np.bool_(True)), *starts]
    dtypes = [term.dtype for term in results]
    return list(to.node_with_outputs("Loop", inputs, len(results), dtypes, dims, attrs={"body": body}))
