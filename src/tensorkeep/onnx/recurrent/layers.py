"""A loop whose variables are the states of cells, as nodes over whole sequences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np
import onnx_ir as ir

from tensorkeep.arrays import Array
from tensorkeep.dtypes import BOOL, FLOAT32
from tensorkeep.onnx.graphs import AttrValue, OnnxGraph
from tensorkeep.onnx.recurrent.cells import Cell, Variables, find_cell
from tensorkeep.onnx.recurrent.gates import Activation, Round
from tensorkeep.onnx.recurrent.lengths import counts_rows, is_longest, is_zero, is_zero_value, smallest_of
from tensorkeep.onnx.recurrent.steps import Counted, Masked, Steps, unmasked_value
from tensorkeep.onnx.tensor_lists import Filling, HeldList, Rows, is_number, list_term, merged_dims, of_dims
from tensorkeep.onnx.terms import Dims, Term, constant_term, dtype_of_element_type

if TYPE_CHECKING:
    from tensorkeep.onnx.branches_and_loops import WrittenLoop

_ELEMENTWISE: Final = frozenset(("Add", "Sub", "Mul", "Div", "Relu", "Tanh", "Sigmoid", "Identity", "Neg"))
_USUAL: Final = {
    "LSTM": (Activation("Sigmoid"), Activation("Tanh"), Activation("Tanh")),
    "GRU": (Activation("Sigmoid"), Activation("Tanh")),
    "RNN": (Activation("Tanh"),),
}


class _NotRecurrentError(Exception):
    """The loop is no recurrent layer."""


@dataclass(frozen=True, eq=False)
class LoopLength:
    """How often a loop goes round: as often as a counter from 0 stays below all of some limits."""

    limits: list[ir.Value]
    most: Callable[[], Term]
    """Writes the number of rounds, an int64."""
    filled: Callable[[Filling, Term, Term | None], HeldList]
    """A list after the loop, of what all rounds add to it, and the last of that if it is there."""


@dataclass(frozen=True, eq=False)
class _Layer:
    """The outputs of a cell's operator for whole sequences."""

    outputs: Term
    hidden: Term
    memory: Term | None


def as_layers(to: OnnxGraph, written: WrittenLoop, starts: Sequence[Term], length: LoopLength) -> list[Term] | None:
    """The values of a loop's variables after its last round, by recurrent layers; None if it is not made of them."""
    try:
        found = _Layers(to, written, starts, length)
    except _NotRecurrentError:
        return None
    before = len(to.nodes)
    try:
        return found.results()
    except _NotRecurrentError:
        for node in reversed(to.nodes[before:]):
            for number in range(len(node.inputs)):
                node.replace_input_with(number, None)
        del to.nodes[before:]
        return None


class _Layers:
    def __init__(self, to: OnnxGraph, written: WrittenLoop, starts: Sequence[Term], length: LoopLength) -> None:
        self.to = to
        self.written = written
        self.starts = starts
        self.length = length
        counters = written.counter_starts(starts)
        self.counters = dict(counters)
        given = {slot: written.inputs[slot].value for slot in written.carried}
        self.from_zero = {value for slot, value in given.items() if value is not None and counters.get(slot) == 0}
        self.step = Round(written.inner.nodes, [value for value in given.values() if value is not None])
        self.states = self._states()
        self.masked = {slot: self._unmasked_value(written.results[slot]) for slot in self.states}
        self.items = {slot: self._unmasked_value(_item(written.filling(slot))) for slot in written.filled}
        self.steps = self._common_steps()
        variables = Variables(
            {slot: given[slot] for slot in self.states},  # type: ignore[misc]
            {slot: self.masked[slot].new for slot in self.states},
        )
        self.cells: dict[ir.Value, Cell] = {}
        self.of_cell: dict[int, Cell] = {}
        for slot in self.states:
            cell = find_cell(self.step, variables, slot)
            if cell is not None:
                self.cells[cell.output] = cell
                self.of_cell[cell.hidden] = cell
                if cell.memory is not None:
                    self.of_cell[cell.memory] = cell
        if not self.cells or not all(map(self._is_kept, self.of_cell)):
            raise _NotRecurrentError
        self.sequences: dict[ir.Value, Term] = {}
        self.made: dict[Cell, _Layer] = {}
        self.counted: Counted | None = None
        self.has_exact_rows = False
        """Whether sequences have just the steps that the loop comes to."""
        self.has_more_rows = False
        """Whether sequences have steps that the loop does not come to, because none of them counts."""

    def _is_kept(self, slot: int) -> bool:
        """Whether a variable stays as it is where a step does not count."""
        masked = self.masked[slot]
        return masked.steps is None or masked.old is self.written.inputs[slot].value

    def _states(self) -> list[int]:
        """The variables that are no counters: matrices of a row per sequence."""
        found = []
        for slot in self.written.carried:
            if slot in self.counters:
                continue
            given = self.written.inputs[slot]
            if given.held is not None or given.dtype is not FLOAT32 or given.rank != 2 or given.size(1) is None:
                raise _NotRecurrentError
            found.append(slot)
        return found

    def _unmasked_value(self, term: Term) -> Masked:
        if term.value is None:
            raise _NotRecurrentError
        return unmasked_value(self.step, term.value, self.from_zero)

    def _common_steps(self) -> Steps | None:
        """The steps that count: those of one mask for all variables and results, or all."""
        found = {masked.steps for masked in (*self.masked.values(), *self.items.values())} - {None}
        if len(found) > 1:
            raise _NotRecurrentError
        if not found:
            return None
        if any(masked.steps is None for masked in (*self.masked.values(), *self.items.values())):
            raise _NotRecurrentError
        return found.pop()

    # ---------------------------------------------------------------------------------------- sequences

    def sequence(self, value: ir.Value) -> Term:
        """What a value of a round is for all rounds: a tensor with one axis more in front."""
        value = self.step.plain(value)
        if value not in self.sequences:
            self.sequences[value] = self._sequence(value)
        return self.sequences[value]

    def _sequence(self, value: ir.Value) -> Term:
        cell = self.cells.get(value)
        if cell is not None:
            return self.layer(cell).outputs
        node = self.step.node(value, "Gather", "MatMul", "Concat", *_ELEMENTWISE)
        if node is None or any(given is None for given in node.inputs):
            raise _NotRecurrentError
        inputs = [self.step.plain(given) for given in node.inputs if given is not None]
        if node.op_type == "Gather":
            return self._rows_read(node, inputs[0], inputs[1])
        dims = _dims(value)
        if dims is None or len(dims) != 2:
            raise _NotRecurrentError
        attrs: dict[str, AttrValue | None] = {}
        if node.op_type == "Concat":
            if node.attributes["axis"].as_int() not in (1, -1) or not all(map(self.step.is_inside, inputs)):
                raise _NotRecurrentError
            attrs["axis"] = 2
        if node.op_type == "MatMul" and (self.step.is_inside(inputs[1]) or len(_dims(inputs[1]) or ()) != 2):
            raise _NotRecurrentError
        terms = [self.sequence(item) if self.step.is_inside(item) else self._outside(item) for item in inputs]
        lead = next((term.dims[0] for term in terms if term.dims is not None and len(term.dims) == 3), None)
        return self.to.node(node.op_type, *terms, dims=(lead, *dims), attrs=attrs)

    def _outside(self, value: ir.Value) -> Term:
        """A value that is the same in all rounds."""
        dims = _dims(value)
        if dims is None or len(dims) > 2:
            raise _NotRecurrentError
        return term_of(value)

    def _rows_read(self, node: ir.Node, rows: ir.Value, index: ir.Value) -> Term:
        """The sequence of which each round reads its own row."""
        axis = node.attributes["axis"].as_int() if "axis" in node.attributes else 0
        if axis or self.step.is_inside(rows) or index not in self.from_zero:
            raise _NotRecurrentError
        whole = self._cut_rows(term_of(rows))
        if self.steps is None:
            return whole
        if self.counted is None:
            source = term_of(self.steps.source)
            if not self.steps.is_mask and source.rank != 1:
                raise _NotRecurrentError
            if self.steps.is_mask and (source.rank is None or source.rank not in (2, 3)):
                raise _NotRecurrentError
            steps = self._cut_rows(source) if self.steps.is_mask else source
            self.counted = Counted(self.to, steps, self.steps.is_mask, whole)
        return self.counted.to_front(whole)

    def _cut_rows(self, rows: Term) -> Term:
        """The rows that the loop comes to; or all, where lengths say that no further one counts."""
        if all(self._is_length_of(limit, rows) for limit in self.length.limits):
            if self.has_more_rows:
                raise _NotRecurrentError
            self.has_exact_rows = True
            return rows
        if not self.has_exact_rows and self._covers_lengths(rows):
            self.has_more_rows = True
            return rows
        if self.has_more_rows or self.to.model.is_for_engine:  # more rounds than rows would not be noticed
            raise _NotRecurrentError
        self.has_exact_rows = True
        end = self.to.reshape(self.length.most(), [1])
        dims = None if rows.dims is None else (None, *rows.dims[1:])
        return of_dims(self.to.slice(rows, [0], end, [0]), dims)

    def _is_length_of(self, limit: ir.Value, rows: Term) -> bool:
        """Whether a limit is the number of rows."""
        known = rows.size(0)
        if known is not None and is_number(limit, known):
            return True
        return rows.value is not None and counts_rows(limit, rows.value)

    def _covers_lengths(self, rows: Term) -> bool:
        """Whether a loop by lengths goes on to the longest one, or to the last row: further rounds change nothing."""
        if self.steps is None or self.steps.is_mask:
            return False
        for limit in self.length.limits:
            parts = smallest_of(limit)
            if not all(self._is_length_of(part, rows) or is_longest(part, self.steps.source) for part in parts):
                return False
        return True

    # ------------------------------------------------------------------------------------------- layers

    def layer(self, cell: Cell) -> _Layer:
        """The node of a cell, over the whole sequence."""
        if cell not in self.made:
            self.made[cell] = self._layer(cell)
        return self.made[cell]

    def _layer(self, cell: Cell) -> _Layer:
        to = self.to
        parts = [self.sequence(source) for source in cell.sources]
        widths = [part.size(2) for part in parts]
        if any(width is None for width in widths) or sum(width or 0 for width in widths) != cell.weights.shape[1]:
            raise _NotRecurrentError
        dims = None if parts[0].dims is None else (*parts[0].dims[:2], int(cell.weights.shape[1]))
        x = parts[0] if len(parts) == 1 else to.node("Concat", *parts, dims=dims, axis=2)
        size, batch = cell.size, x.size(1)
        lengths = None if self.counted is None else self.counted.lengths
        slots = [cell.hidden] if cell.memory is None else [cell.hidden, cell.memory]
        states = [self._start(slot) for slot in slots]
        bias = cell.bias if cell.bias.any() else None
        inputs = [
            x, _stored_term(cell.weights), _stored_term(cell.recurrence),
            None if bias is None else _stored_term(bias), lengths, *states,
        ]  # fmt: skip
        if cell.peepholes is not None:
            inputs.append(_stored_term(cell.peepholes))
        outputs = to.node_with_outputs(
            cell.op_type,
            inputs,
            1 + len(slots),
            [FLOAT32] * (1 + len(slots)),
            [(x.size(0), 1, batch, size), *[(1, batch, size)] * len(slots)],
            attrs={"hidden_size": size, **cell.attrs, **_activation_attrs(cell)},
        )
        last = [self._last(slot, to.squeeze(state, [0])) for slot, state in zip(slots, outputs[1:], strict=True)]
        return _Layer(to.squeeze(outputs[0], [1]), last[0], last[1] if len(last) > 1 else None)

    def _start(self, slot: int) -> Term | None:
        """The state that a variable starts with; None if that is zero, as the operators have it."""
        start = self.starts[slot]
        return None if is_zero(start) else self.to.unsqueeze(start, [0])

    def _last(self, slot: int, state: Term) -> Term:
        """A state after the last step: where no step counts, that at the start, of which ONNX Runtime makes zero."""
        to, start = self.to, self.starts[slot]
        if is_zero(start):
            return state
        if self.counted is not None:
            some = to.node("Greater", self.counted.lengths, to.like(self.counted.lengths, 0), dtype=BOOL, dims=(None,))
            return to.node("Where", to.unsqueeze(some, [1]), state, start, dtype=state.dtype, dims=state.dims)
        if self._least_rounds() > 0:
            return state
        some = to.node("Greater", self.length.most(), to.constant(0), dtype=BOOL, dims=())
        return to.node("Where", some, state, start, dtype=state.dtype, dims=state.dims)

    def _least_rounds(self) -> int:
        """How often the loop goes round at least."""
        numbers = [value.const_value for value in self.length.limits]
        return min((int(found.numpy().reshape(())) if found is not None else 0) for found in numbers)

    # ------------------------------------------------------------------------------------------ results

    def results(self) -> list[Term]:
        to, written = self.to, self.written
        found = list(self.starts)
        filled = {slot: self._item_rows(slot) for slot in written.filled}
        for slot in self.states:
            found[slot] = self._state_after(slot)
        for slot, (rows, last) in filled.items():
            found[slot] = list_term(self._list_after(slot, rows, last), self.starts[slot])
        for slot, start in self.counters.items():
            rounds = to.node("Max", self.length.most(), to.constant(0), dims=())
            number = to.node("Add", rounds, to.constant(start), dims=()) if start else rounds
            found[slot] = to.cast(number, self.starts[slot].dtype)
        return found

    def _state_after(self, slot: int) -> Term:
        """A variable after the last round."""
        cell = self.of_cell.get(slot)
        if cell is not None:
            layer = self.layer(cell)
            state = layer.hidden if slot == cell.hidden else layer.memory
            assert state is not None
            return state
        return self._last_of(self._for_all_rounds(self.masked[slot]), self.starts[slot])

    def _for_all_rounds(self, masked: Masked) -> Term:
        """A masked value for all rounds: where a step does not count, it is zero, or what a variable held before."""
        rows = self.sequence(masked.new)
        if masked.steps is None:
            return rows
        if self.counted is None or masked.old is None:
            raise _NotRecurrentError
        if is_zero_value(masked.old):
            return self.counted.zeroed(rows, is_layer=any(rows is layer.outputs for layer in self.made.values()))
        for slot in self.states:
            keeper = self.masked[slot]
            is_kept = masked.old is self.written.inputs[slot].value and keeper.old is masked.old
            if is_kept and self.step.plain(keeper.new) is self.step.plain(masked.new):
                start = self.starts[slot]
                return self.counted.held(rows, None if is_zero(start) else start)
        raise _NotRecurrentError

    def _last_of(self, rows: Term, start: Term) -> Term:
        """The last row of a sequence; the start if it has none."""
        to = self.to
        dims = None if rows.dims is None else rows.dims[1:]
        if self._least_rounds() < 1:
            rows = to.node(
                "Concat", to.unsqueeze(start, [0]), rows, dims=None if dims is None else (None, *dims), axis=0
            )
        return to.node("Gather", rows, to.constant(-1), dims=dims, axis=0)

    def _item_rows(self, slot: int) -> tuple[Term, Term | None]:
        """The elements that all rounds add to a list, as rows; and the last of them, where a state equals it."""
        masked = self.items[slot]
        rows = self._for_all_rounds(masked)
        for state in self.states:
            if state not in self.of_cell or self.of_cell[state].hidden != state:
                continue
            same = self.step.plain(self.masked[state].new) is self.step.plain(masked.new)
            if same and (masked.steps is None or self._is_held_like(masked, state)):
                return rows, self.layer(self.of_cell[state]).hidden
        return rows, None

    def _is_held_like(self, masked: Masked, state: int) -> bool:
        """Whether what holds a result where steps do not count starts as a cell's h does: as it, or both as zero."""
        for slot in self.states:
            if masked.old is self.written.inputs[slot].value and self.masked[slot].old is masked.old:
                return slot == state or (is_zero(self.starts[slot]) and is_zero(self.starts[state]))
        return False

    def _list_after(self, slot: int, rows: Term, last: Term | None) -> HeldList:
        form = self.written.filling(slot)
        is_each = form.index is not None and form.index.array is None
        if self.has_more_rows and is_each and self._list_is_covered(form, rows):
            element = merged_dims(form.start.element, None if rows.dims is None else rows.dims[1:])
            return replace(form.start, element=element, form=Rows(rows))
        if self.has_more_rows:
            raise _NotRecurrentError
        return self.length.filled(form, rows, last)

    def _list_is_covered(self, form: Filling, rows: Term) -> bool:
        """Whether a list has as many elements as the sequence has steps, so that none is left out or over."""
        count = form.start.count
        if count is None:
            return False
        known = rows.size(0)
        if count.array is not None:
            return known is not None and int(count.array) == known
        value = self.to.value(count)
        return any(counts_rows(value, source) for source in self._sources_read())

    def _sources_read(self) -> list[ir.Value]:
        """The sequences whose rows the loop reads."""
        found = []
        for node in self.written.inner.nodes:
            if node.op_type == "Gather" and node.inputs[1] in self.from_zero and node.inputs[0] is not None:
                found.append(node.inputs[0])
        return found


# --------------------------------------------------------------------------------------------------------- values


def _item(form: Filling) -> Term:
    assert form.item is not None
    return form.item


def _stored_term(array: Array) -> Term:
    """An array as the operators have it: with an axis for directions, of which there is one."""
    return constant_term(np.ascontiguousarray(array[None]), FLOAT32)


def _dims(value: ir.Value) -> Dims | None:
    if value.shape is None:
        return None
    return tuple(size if isinstance(size, int) else None for size in value.shape)


def term_of(value: ir.Value) -> Term:
    """A term for a value of the file."""
    if value.type is None:
        raise _NotRecurrentError
    known = value.const_value
    dtype = dtype_of_element_type(value.type.dtype)
    return Term(dtype, _dims(value), None if known is None or dtype.is_object else known.numpy(), value=value)


def _activation_attrs(cell: Cell) -> dict[str, AttrValue | None]:
    """The attributes that say which activations a cell has, where they are not the usual ones."""
    if cell.activations == _USUAL[cell.op_type]:
        return {}
    with_alpha = [item.alpha for item in cell.activations if item.alpha is not None]
    with_beta = [item.beta for item in cell.activations if item.beta is not None]
    found: dict[str, AttrValue | None] = {"activations": [item.name for item in cell.activations]}
    if with_alpha:
        found["activation_alpha"] = with_alpha
    if with_beta:
        found["activation_beta"] = with_beta
    return found
