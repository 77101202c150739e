"""Branches and loops: ONNX's If and Loop, made of two or one pieces of a graph that others know how to write.

    choose      one of two pieces, by a predicate
    repeat      a piece again and again, as long as a condition holds

What both kinds of control flow of TensorFlow have in common is here; where the pieces come from, functions of the
library or Switch and Merge nodes, is not.

A loop's piece is written for variables whose shapes, and whose being changed at all, are at first taken from the values
that the loop starts with. Where the piece then says otherwise, it is written again, knowing better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

import numpy as np
import onnx_ir as ir

from tensorkeep.dtypes import BOOL, INT64, STRING, DType
from tensorkeep.graph.graph import Operation
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.recurrent.layers import LoopLength, as_layers
from tensorkeep.onnx.tensor_lists import (
    COMPUTED_SIZES,
    Filling,
    HeldList,
    LoopLists,
    Rows,
    Sequenced,
    Unset,
    WholeListNeededError,
    WrittenAgainError,
    as_rows,
    as_sequence,
    as_sequence_term,
    common,
    common_form,
    is_number,
    list_term,
    merged_dims,
    same_value,
    with_item,
    zeros,
)
from tensorkeep.onnx.terms import Dims, SizeOf, Term, axis_size, constant_term

Piece: TypeAlias = Callable[[OnnxGraph], list[Term]]
"""Writes nodes to a graph, and gives results."""

_CONDITIONS: Final = frozenset(("bool", "int8", "uint8", "int16", "int32", "int64", "float32", "float64", "string"))
_ATTEMPTS: Final = 12
_CAREFUL_DEPTH: Final = 4  # loops in each other; those further in are written for any shapes at once
_MOST_KNOWN: Final = 64  # elements; what is larger is not compared


# ----------------------------------------------------------------------------------------------------- branches


def truth(to: OnnxGraph, term: Term) -> Term:
    """A condition as TensorFlow takes it, a bool: of a scalar whether it is neither zero nor the empty string, of any
    other value whether it has elements.
    """
    if term.dtype is BOOL and term.rank == 0:
        return term
    if term.rank is None and term.dtype is not BOOL:
        to.refuse("it is not known whether its condition is a scalar")
    if term.rank:
        return to.cast(to.node("Size", term, dtype=INT64, dims=()), BOOL)
    if term.dtype.name not in _CONDITIONS:
        to.refuse(f"{term.dtype.name} cannot be converted to a boolean")
    if term.dtype is STRING:
        to.require_opset(19, "whether a string is empty")
        empty = to.node("Equal", term, constant_term(np.array(b"", object), STRING), dtype=BOOL, dims=())
        return to.node("Not", empty, dims=())
    return to.cast(term, BOOL)


def known_truth(term: Term) -> bool | None:
    """What a condition says, if that is known."""
    if term.rank and term.element_count is not None:
        return term.element_count > 0
    if term.array is None:
        return None
    return bool(term.array.item()) if term.array.ndim == 0 else term.array.size > 0


def choose(to: OnnxGraph, predicate: Term, then: Piece, otherwise: Piece) -> list[Term]:
    """The results of one of two pieces, by a predicate: of an If node, or of one piece if the predicate is known."""
    known = known_truth(predicate)
    if known is not None:
        return then(to) if known else otherwise(to)
    condition = truth(to, predicate)
    sides = [to.inner(), to.inner()]
    with nodes_kept(sides):
        results = [then(sides[0]), otherwise(sides[1])]
        if any(term.is_lost for side in results for term in side):
            raise LostError
        joints = [_joint(sides, pair) for pair in zip(*results, strict=True)]
        made = [joint for joint in joints if isinstance(joint, _Joint)]
        graphs = [
            side.finished([], [joint.values[number] for joint in made], name)
            for number, (side, name) in enumerate(zip(sides, ("then", "otherwise"), strict=True))
        ]
    outputs: Iterator[Term] = iter(())
    if made:
        branches = {"then_branch": graphs[0], "else_branch": graphs[1]}
        dtypes, dims = [joint.dtype for joint in made], [joint.dims for joint in made]
        outputs = iter(to.node_with_outputs("If", [condition], len(made), dtypes, dims, attrs=branches))
    return [joint.result(next(outputs)) if isinstance(joint, _Joint) else joint for joint in joints]


class LostError(Exception):
    """A piece has an operation that cannot be translated, which has been noted."""


def lost_like(terms: Sequence[tuple[DType, Dims | None]]) -> list[Term]:
    return [Term(dtype, dims, is_lost=True) for dtype, dims in terms]


def place_results(op: Operation, taken: Sequence[int], results: Sequence[Term]) -> list[Term]:
    """Terms for all outputs of an operation, given those of the outputs that are taken: nobody looks at the others."""
    found = dict(zip(taken, results, strict=True))
    others = lost_like([(tensor.dtype.base_dtype, tensor.static_shape.dims) for tensor in op.outputs])
    return [found.get(at, lost) for at, lost in enumerate(others)]


@dataclass(frozen=True, eq=False)
class _Joint:
    """A result of both branches, and the value of the file that it is in each."""

    dtype: DType
    dims: Dims | None
    values: tuple[Term, Term]
    held: HeldList | None = None
    like: Term | None = None

    def result(self, output: Term) -> Term:
        if self.held is None:
            return output
        if isinstance(self.held.form, Sequenced):
            return list_term(self.held.with_form(Sequenced(as_sequence_term(output))), self.like)
        return list_term(self.held.with_form(Rows(output)), self.like)


def _joint(sides: Sequence[OnnxGraph], pair: tuple[Term, Term]) -> Term | _Joint:
    """One result of both branches: the same value in both, which needs no If, or one that the If has to choose."""
    first, second = pair
    if first is second or (first.held is not None and first.held is second.held):
        return first
    if first.held is not None or second.held is not None:
        return _joined_lists(sides, first, second)
    if (
        first.array is not None
        and second.array is not None
        and first.array.shape == second.array.shape
        and first.array.size <= _MOST_KNOWN
        and first.array.tolist() == second.array.tolist()
    ):
        return first
    return _Joint(first.dtype, common(first.dims, second.dims), pair)


def _joined_lists(sides: Sequence[OnnxGraph], first: Term, second: Term) -> _Joint:
    one, other = first.held, second.held
    if not isinstance(one, HeldList) or not isinstance(other, HeldList):
        sides[0].refuse("its branches give different resources")
    for held in (one, other):
        if isinstance(held.form, Filling):
            raise WholeListNeededError(held.form)
    element = common(one.element, other.element) if one.element != other.element else one.element
    filled = [held for held in (one, other) if not isinstance(held.form, Unset)]
    if len(filled) == 1 and common_form((one, other)) is Sequenced and isinstance(filled[0].form, Rows):
        element = filled[0].element  # the other's elements, of which none is set, are like these
    both = [replace(held, element=element) for held in (one, other)]
    count = one.count if one.count is other.count else None
    if common_form(both) is Rows:
        rows = [as_rows(side, held) for side, held in zip(sides, both, strict=True)]
        dims = common(rows[0].dims, rows[1].dims)
        return _Joint(one.dtype, dims, (rows[0], rows[1]), HeldList(one.dtype, element, Rows(rows[0]), count), first)
    found = [as_sequence(side, held) for side, held in zip(sides, both, strict=True)]
    held = HeldList(one.dtype, element, Sequenced(found[0]), count)
    return _Joint(one.dtype, None, (found[0], found[1]), held, first)


# --------------------------------------------------------------------------------------- nodes that are given up


@contextmanager
def nodes_kept(graphs: Sequence[OnnxGraph]) -> Iterator[None]:
    """Takes the nodes of graphs out of the model again if what writes them gives up."""
    try:
        yield
    except BaseException:
        for graph in graphs:
            give_up(graph)
        raise


def give_up(graph: OnnxGraph, since: int = 0) -> None:
    """Takes nodes out of a graph, so that no value is used by them any more."""
    for node in reversed(graph.nodes[since:]):
        _detach(node)
    del graph.nodes[since:]


def _detach(node: ir.Node) -> None:
    for attr in node.attributes.values():
        if attr.type == ir.AttributeType.GRAPH:
            inner = attr.as_graph()
            inner.outputs.clear()
            for item in reversed(list(inner)):
                _detach(item)
    for number in range(len(node.inputs)):
        node.replace_input_with(number, None)


# -------------------------------------------------------------------------------------------------------- loops


@dataclass(frozen=True, eq=False)
class Rounds:
    """A loop: the values that its variables start with, whether it goes on, and one round of it."""

    starts: list[Term]
    goes_on: Callable[[OnnxGraph, list[Term]], Term]
    once: Callable[[OnnxGraph, list[Term]], list[Term]]
    fixed: frozenset[int] = frozenset()
    """The variables that are known never to change."""


@dataclass(eq=False)
class WrittenLoop:
    """A loop whose round has been written to a graph: what is known of it now."""

    inner: OnnxGraph
    inputs: list[Term]
    """The variables in a round: terms of the inner graph, or the values from outside of those that never change."""
    results: list[Term]
    """The variables after the round."""
    going_on: Term
    fixed: set[int]
    carried: list[int] = field(default_factory=list)
    filled: list[int] = field(default_factory=list)

    def filling(self, slot: int) -> Filling:
        """The element that each round adds to the list which is the loop's variable `slot`."""
        held = self.results[slot].held
        assert isinstance(held, HeldList)
        assert isinstance(held.form, Filling)
        return held.form

    def counter_starts(self, starts: Sequence[Term]) -> dict[int, int]:
        """The variables that each round adds one to, and the numbers that they start with."""
        found = {}
        for slot in self.carried:
            start, given, result = starts[slot], self.inputs[slot], self.results[slot]
            if start.array is None or start.array.ndim or not start.dtype.is_integer or result.value is None:
                continue
            source = result.value.producer()
            if source is not None and source.op_type == "Add" and len(source.inputs) == 2:
                first, second = source.inputs
                one = second if first is given.value else first if second is given.value else None
                if is_number(one, 1):
                    found[slot] = int(start.array)
        return found


def repeat(to: OnnxGraph, rounds: Rounds) -> list[Term]:
    """The values of a loop's variables after its last round."""
    starts = rounds.starts
    before = len(to.nodes)
    first = rounds.goes_on(to, starts)
    if first.is_lost or any(term.is_lost for term in starts):
        raise LostError
    known = known_truth(first)
    if known is False:
        return starts
    first = truth(to, first)
    outer = to.translator.loops
    to.translator.loops = outer + 1
    try:
        written = _write_rounds(to, rounds)
    except BaseException:
        give_up(to, before)
        raise
    finally:
        to.translator.loops = outer
    emitting = _Emitting(to, rounds, written, first)
    layers = emitting.as_layers()
    return emitting.results() if layers is None else layers


def _write_rounds(to: OnnxGraph, rounds: Rounds) -> WrittenLoop:
    """Writes a round, again and again until what was assumed of the variables holds."""
    assumed = _Assumed(to, rounds)
    for _ in range(_ATTEMPTS):
        mark = to.translator.outcome.mark()
        unproven = len(to.model.unproven_indices)
        inner = to.inner()
        lists = LoopLists()
        try:
            with nodes_kept([inner]):
                inputs = assumed.inputs(inner, lists)
                results = rounds.once(inner, list(inputs))
                if any(term.is_lost for term in results):
                    raise LostError
                found = assumed.refined(inputs, results, lists)
                if found is None:
                    raise _AgainError
                following = to.translator.quietly(rounds.goes_on, inner, assumed.as_next(inner, results))
                if following.is_lost:
                    raise LostError
                following = truth(inner, following)
        except (WholeListNeededError, _AgainError) as error:
            to.translator.outcome.reset(mark)
            del to.model.unproven_indices[unproven:]
            if isinstance(error, WholeListNeededError) and not assumed.takes_whole(error.filling, lists):
                raise
            continue
        written = WrittenLoop(inner, inputs, results, following, assumed.fixed)
        written.carried = [slot for slot in range(len(results)) if slot not in assumed.fixed | assumed.filling()]
        written.filled = sorted(assumed.filling())
        misplaced = assumed.misplaced(written)
        if misplaced:
            to.translator.outcome.reset(mark)
            del to.model.unproven_indices[unproven:]
            give_up(inner)
            assumed.whole |= misplaced
            continue
        _prove_indices(to, written, unproven, rounds.starts)
        _move_out(to, written)
        return written
    to.refuse("what its loop does to the shapes of its variables cannot be told")


def _move_out(to: OnnxGraph, written: WrittenLoop) -> None:
    """Moves out of a loop what computes sizes of values from outside, which are the same in every round."""
    inner = written.inner
    inside = {term.value for slot, term in enumerate(written.inputs) if slot not in written.fixed}
    inside |= {_in_file(written.inputs[slot]).value for slot in written.carried}
    kept = []
    for node in inner.nodes:
        if _computes_sizes(node) and not any(value in inside for value in node.inputs if value is not None):
            to.nodes.append(node)
        else:
            kept.append(node)
            inside.update(node.outputs)
    inner.nodes[:] = kept


def _computes_sizes(node: ir.Node) -> bool:
    """Whether a node computes sizes of values, or with them, and cannot fail."""
    if node.domain or node.op_type not in COMPUTED_SIZES or not node.inputs or node.inputs[0] is None:
        return False
    kind, source = node.outputs[0].dtype, node.inputs[0].producer()
    if kind not in (ir.DataType.INT64, ir.DataType.INT32):
        return False
    return node.op_type != "Gather" or (source is not None and source.op_type in ("Shape", "Cast"))


class _AgainError(WrittenAgainError):
    """A loop's round has to be written again."""


def _prove_indices(to: OnnxGraph, written: WrittenLoop, since: int, starts: Sequence[Term]) -> None:
    """Drops from the indices that may be negative those that this loop counts with, from 0 or more."""
    counters = written.counter_starts(starts)
    safe = {id(written.inputs[slot].value) for slot, start in counters.items() if start >= 0}
    kept = [value for value in to.model.unproven_indices[since:] if id(value) not in safe]
    to.model.unproven_indices[since:] = kept


class _Assumed:
    """What is assumed of a loop's variables while its round is written."""

    def __init__(self, to: OnnxGraph, rounds: Rounds) -> None:
        self.to = to
        self.starts = rounds.starts
        self.fixed = set(rounds.fixed)
        self.whole: set[int] = set()
        is_deep = to.translator.loops > _CAREFUL_DEPTH
        self.dims: list[Dims | None] = [None if is_deep else term.dims for term in self.starts]
        self.elements: list[Dims | None] = [
            term.held.element if isinstance(term.held, HeldList) else None for term in self.starts
        ]
        self.forms: dict[int, type[Rows] | type[Sequenced]] = {}
        for slot, term in enumerate(self.starts):
            if term.held is not None and not isinstance(term.held, HeldList):
                self.fixed.add(slot)
            elif isinstance(term.held, HeldList) and slot not in self.fixed:
                if isinstance(term.held.form, Filling):
                    raise WholeListNeededError(term.held.form)
                self.forms[slot] = common_form([term.held])
                if isinstance(term.held.form, Sequenced):
                    self.whole.add(slot)
                elif _loop_name(to) in to.model.uneven_loops:
                    self.forms[slot] = Sequenced
                    self.whole.add(slot)

    def filling(self) -> set[int]:
        return {slot for slot in self.forms if slot not in self.whole and slot not in self.fixed}

    def takes_whole(self, filling: Filling, lists: LoopLists) -> bool:
        """Notes that a list has to be carried whole through the loop; False if it is no list of this loop."""
        if filling.loop is not lists:
            return False
        self.whole.add(filling.slot)
        return True

    def inputs(self, inner: OnnxGraph, lists: LoopLists) -> list[Term]:
        """The variables of a round."""
        found = []
        for slot, start in enumerate(self.starts):
            if slot in self.fixed:
                found.append(start)
            elif isinstance(start.held, HeldList):
                found.append(self._list_input(inner, slot, start.held, lists))
            else:
                found.append(inner.input(start.dtype, self.dims[slot], inner.own_name(f"variable_{slot}")))
        return found

    def _list_input(self, inner: OnnxGraph, slot: int, start: HeldList, lists: LoopLists) -> Term:
        held = replace(start, element=self.elements[slot])
        if slot not in self.whole:
            return list_term(held.with_form(Filling(lists, slot, start)), self.starts[slot])
        name = inner.own_name(f"list_{slot}")
        if self.forms[slot] is Rows:
            dims = None if held.element is None else (None, *held.element)
            return list_term(replace(held, form=Rows(inner.input(held.dtype, dims, name))), self.starts[slot])
        given = as_sequence_term(inner.input(held.dtype, None, name))
        return list_term(held.with_form(Sequenced(given)), self.starts[slot])

    def refined(self, inputs: Sequence[Term], results: list[Term], lists: LoopLists) -> bool | None:
        """Compares what a round gives with what was assumed; None if it has to be written again."""
        is_right = True
        for slot, (given, result) in enumerate(zip(inputs, results, strict=True)):
            start = self.starts[slot]
            if slot in self.fixed:
                if start.held is not None and result.held is not start.held:
                    self.to.refuse("its loop changes which resource a variable leads to")
            elif result is given:
                self.fixed.add(slot)
                is_right = False
            elif isinstance(start.held, HeldList):
                is_right &= self._list_is_right(slot, result, lists)
            else:
                known = common(self.dims[slot], result.dims)
                if known != self.dims[slot]:
                    self.dims[slot] = known
                    is_right = False
        return True if is_right else None

    def _list_is_right(self, slot: int, result: Term, lists: LoopLists) -> bool:
        held = result.held
        if not isinstance(held, HeldList):
            self.to.refuse("its loop gives something else in the place of a list of tensors")
        form = held.form
        if slot not in self.whole:
            if (
                not isinstance(form, Filling)
                or form.loop is not lists
                or form.slot != slot
                or form.item is None
                or (form.grows and slot in lists.lengths_asked)
            ):
                self.whole.add(slot)
            return slot not in self.whole
        wanted = common_form([held])
        if wanted is Sequenced and self.forms[slot] is Rows:
            self.forms[slot] = Sequenced
            return False
        if self.forms[slot] is Rows:
            element = common(self.elements[slot], held.element)
            if element != self.elements[slot]:
                self.elements[slot] = element
                return False
        return True

    def as_next(self, inner: OnnxGraph, results: list[Term]) -> list[Term]:
        """The results of a round as the next round takes them; a list that the loop carries whole stays in its form."""
        for slot in self.fixed:
            results[slot] = self.starts[slot]
        for slot in self.whole:
            held = results[slot].held
            assert isinstance(held, HeldList)
            if self.forms[slot] is Rows:
                form: Rows | Sequenced = Rows(as_rows(inner, held))
            else:
                form = Sequenced(as_sequence(inner, held))
            results[slot] = list_term(held.with_form(form), self.starts[slot])
        return results

    def misplaced(self, written: WrittenLoop) -> set[int]:
        """The lists that a round sets an element of, but not one after the other from the first."""
        counters = written.counter_starts(self.starts)
        from_zero = {id(written.inputs[slot].value) for slot, start in counters.items() if start == 0}
        found = set()
        for slot in written.filled:
            index = written.filling(slot).index
            if index is not None and index.array is None and id(index.value) not in from_zero:
                found.add(slot)
        return found


@dataclass(frozen=True)
class _TripCount:
    """How often a loop goes round at most, by one of its conditions: as often as a counter is below a limit."""

    limit: ir.Value
    start: int
    is_included: bool


def _simplified_limit(limit: ir.Value) -> ir.Value:
    """A limit of rounds without what never changes it: min(n, max(1, n)) is n."""
    node = limit.producer()
    if node is None or node.op_type != "Min" or len(node.inputs) != 2:
        return limit
    for number, other in (tuple(node.inputs), tuple(reversed(node.inputs))):
        inner = None if other is None else other.producer()
        if number is None or inner is None or inner.op_type != "Max" or len(inner.inputs) != 2:
            continue
        first, second = inner.inputs
        if (is_number(first, 1) and same_value(second, number)) or (is_number(second, 1) and same_value(first, number)):
            return number
    return limit


class _Emitting:
    """Writes the node of a loop."""

    def __init__(self, to: OnnxGraph, rounds: Rounds, written: WrittenLoop, first: Term) -> None:
        self.to = to
        self.starts = rounds.starts
        self.written = written
        self.first = first
        self.inside = {id(value) for node in written.inner.nodes for value in node.outputs}
        self.inside |= {id(term.value) for term in written.inputs if term.value is not None and term.array is None}
        self.inside -= {id(written.inputs[slot].value) for slot in written.fixed}
        self.counts = self._trip_counts()

    # -------------------------------------------------------------------------------------- how often

    def _trip_counts(self) -> list[_TripCount] | None:
        """The limits of the loop's counters, if they alone decide how often it goes round."""
        counters = self.written.counter_starts(self.starts)
        by_value = {id(self.written.results[slot].value): start for slot, start in counters.items()}
        found: list[_TripCount] = []
        waiting = [self.written.going_on.value]
        while waiting:
            value = waiting.pop()
            source = None if value is None else value.producer()
            if source is None or id(value) not in self.inside:
                return None
            if source.op_type == "And":
                waiting.extend(source.inputs)
                continue
            first, second = (*source.inputs, None, None)[:2]
            if source.op_type in ("Greater", "GreaterOrEqual"):
                first, second = second, first
            elif source.op_type not in ("Less", "LessOrEqual"):
                return None
            if id(first) not in by_value or second is None or id(second) in self.inside:
                return None
            found.append(_TripCount(_simplified_limit(second), by_value[id(first)], "OrEqual" in source.op_type))
        return found

    def _most_rounds(self) -> Term | None:
        """How often the loop goes round, if only its counters decide."""
        numbers = []
        for count in self._different_counts():
            limit = self.to.cast(_term_of(count.limit), INT64)
            away = int(count.is_included) - count.start
            numbers.append(self.to.node("Add", limit, self.to.constant(away), dims=()) if away else limit)
        if not numbers:
            return None
        return numbers[0] if len(numbers) == 1 else self.to.node("Min", *numbers, dims=())

    def _different_counts(self) -> list[_TripCount]:
        found: list[_TripCount] = []
        for count in self.counts or ():
            if not any(
                count.start == other.start
                and count.is_included == other.is_included
                and same_value(count.limit, other.limit)
                for other in found
            ):
                found.append(count)
        return found

    # ------------------------------------------------------------------------------------------ nodes

    def as_layers(self) -> list[Term] | None:
        """The results by recurrent layers, if the loop is made of them."""
        counts = self._different_counts()
        if not counts or any(count.start or count.is_included for count in counts):
            return None

        def most() -> Term:
            found = self._most_rounds()
            assert found is not None
            return found

        length = LoopLength([count.limit for count in counts], most, self._filled_list)
        found = as_layers(self.to, self.written, self.starts, length)
        if found is not None:
            give_up(self.written.inner)
        return found

    def results(self) -> list[Term]:
        to, written = self.to, self.written
        inner = written.inner
        number, going = (
            inner.input(dtype, (), to.own_name(name)) for dtype, name in ((INT64, "number"), (BOOL, "going_on"))
        )
        carried = [_in_file(written.inputs[slot]) for slot in written.carried]
        following = [_in_file(written.results[slot]) for slot in written.carried]
        filled = [written.filling(slot) for slot in written.filled]
        most = self._most_rounds()
        goes_on = going if most is not None else written.going_on
        items = [form.item for form in filled if form.item is not None]
        body = inner.finished([number, going, *carried], [goes_on, *following, *items], "round")
        starts = [self._start(slot) for slot in written.carried]
        dtypes = [term.dtype for term in (*following, *items)]
        dims = [term.dims for term in carried]
        dims += [None if item.dims is None else (self._known_rounds(most), *item.dims) for item in items]
        outputs = list(
            to.node_with_outputs(
                "Loop", [most, None if most is not None else self.first, *starts], len(dtypes), dtypes, dims,
                attrs={"body": body},
            )
        )  # fmt: skip
        found = list(self.starts)
        for slot in written.carried:
            found[slot] = self._after(slot, outputs.pop(0))
        for slot, form, rows in zip(written.filled, filled, outputs, strict=True):
            found[slot] = list_term(self._filled_list(form, rows), self.starts[slot])
        return found

    def _known_rounds(self, most: Term | None) -> int | None:
        return None if most is None or most.array is None else max(int(most.array), 0)

    def _start(self, slot: int) -> Term:
        """The value in the file that a variable starts with."""
        held, given = self.starts[slot].held, self.written.inputs[slot].held
        if not isinstance(held, HeldList) or not isinstance(given, HeldList):
            return self.starts[slot]
        if isinstance(given.form, Sequenced):
            return as_sequence(self.to, held)
        return as_rows(self.to, replace(held, element=merged_dims(given.element, held.element)))

    def _after(self, slot: int, output: Term) -> Term:
        """A variable after the last round."""
        given = self.written.inputs[slot].held
        if not isinstance(given, HeldList):
            return output
        if isinstance(given.form, Sequenced):
            return list_term(replace(given, form=Sequenced(as_sequence_term(output)), count=None), self.starts[slot])
        return list_term(replace(given, form=Rows(output), count=None), self.starts[slot])

    def _filled_list(self, form: Filling, rows: Term, last: Term | None = None) -> HeldList:
        """A list after the loop has filled it: the elements of all rounds, and what it had beyond or before them."""
        to, start = self.to, form.start
        element = merged_dims(start.element, None if form.item is None else form.item.dims)
        if form.index is None:
            old = start.form
            is_empty = isinstance(old, Unset) and old.count.array is not None and not int(old.count.array)
            if not is_empty:
                if isinstance(old, Unset):
                    before = zeros(to, old.count, to.shape(rows, 1), start.dtype)
                else:
                    before = as_rows(to, start)
                rows = to.node("Concat", before, rows, dims=_any_count(rows.dims), axis=0)
            return HeldList(start.dtype, element, self._filled_rows(form, rows))
        if form.index.array is not None:  # each round sets the same element: that of the last one stays
            if last is None:
                dims = None if rows.dims is None else rows.dims[1:]
                last = to.node("Gather", rows, to.constant(-1), dims=dims, axis=0)
            return with_item(to, start, form.index, last, grows=form.grows)
        if not self._fills_all(start, rows, form.grows):
            rows = self._with_rest(start, rows)
        return HeldList(start.dtype, element, self._filled_rows(form, rows), None if form.grows else start.count)

    def _filled_rows(self, form: Filling, rows: Term) -> Rows:
        """The elements of all rounds, noting whether they may be of different lengths."""
        item = form.item
        assert item is not None
        if item.dims == () or item.size(0) is not None:
            return Rows(rows)
        size = None if item.dims is None else axis_size(item, 0)
        is_even = isinstance(size, SizeOf) and id(size.term.value) not in self.inside
        return Rows(rows, "" if is_even else _loop_name(self.to))

    def _fills_all(self, start: HeldList, rows: Term, grows: bool) -> bool:
        """Whether the loop goes round exactly as often as the list has elements."""
        if isinstance(start.form, Unset):
            count: Term | None = start.form.count
        else:
            count = start.count
        different = self._different_counts()
        if count is None or len(different) != 1 or different[0].start or different[0].is_included:
            known = None if count is None or count.array is None else int(count.array)
            return known is not None and (known == rows.size(0) or (grows and not known))
        if count.array is not None and grows and not int(count.array):
            return True
        return same_value(different[0].limit, self.to.value(count))

    def _with_rest(self, start: HeldList, rows: Term) -> Term:
        """The rows, and after them those elements of the list that the loop did not come to."""
        to = self.to
        if to.model.is_for_engine:
            to.refuse("its loop may go round more often than its list has elements")
        rounds = to.shape(rows, 0, 1)
        if isinstance(start.form, Unset):
            count = to.reshape(to.cast(start.form.count, INT64), [1])
            left = to.node("Max", to.node("Sub", count, rounds, dims=(1,)), to.constant([0]), dims=(1,))
            rest = zeros(to, left, to.shape(rows, 1), start.dtype)
        else:
            rest = to.slice(as_rows(to, start), rounds, [np.iinfo(np.int64).max], [0])
        return to.node("Concat", rows, rest, dims=_any_count(rows.dims), axis=0)


def _loop_name(to: OnnxGraph) -> str:
    """What the loop that is being written is known by."""
    return to.own_name("")


def _any_count(dims: Dims | None) -> Dims | None:
    return None if dims is None else (None, *dims[1:])


def _in_file(term: Term) -> Term:
    """The term that stands in the file for a variable of a loop: itself, or the tensor or sequence that its list is
    kept in.
    """
    if not isinstance(term.held, HeldList):
        return term
    form = term.held.form
    assert isinstance(form, Rows | Sequenced)
    return form.tensor if isinstance(form, Rows) else form.sequence


def _term_of(value: ir.Value) -> Term:
    """A term for an integer in the file."""
    known = value.const_value
    if known is not None:
        array = known.numpy()
        return constant_term(array, INT64 if array.dtype == np.int64 else DType.of(array.dtype.name))
    assert value.type is not None
    term = Term(DType.of({"INT32": "int32", "INT64": "int64"}.get(value.type.dtype.name, "int32")), ())
    term.value = value
    return term
