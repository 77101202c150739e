"""One step of an LSTM, a GRU or a plain recurrence, found in what a round of a loop computes.

RNN     h' = f(x·W + h·R + b)
GRU     z, r = f(…), f(…)       h' = z ∘ h + (1 - z) ∘ g(x·W + (r ∘ h)·R + b)
                                or … g(x·W + b + r ∘ (h·R + rb)), with the reset after the product
LSTM    i, f, o = f(…), f(…), f(… + p ∘ c')        c' = f ∘ c + i ∘ g(…)        h' = o ∘ h(c')
        with peepholes, i and f also have p ∘ c before their activation
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import onnx_ir as ir

from tensorkeep.arrays import Array
from tensorkeep.onnx.recurrent.gates import Activation, Affine, Round, same_activations


@dataclass(frozen=True, eq=False)
class Cell:
    """One step, as ONNX's operator takes it: gates in the operator's order, one after the other."""

    op_type: str
    hidden: int
    """The variable that is h."""
    memory: int | None
    """The variable that is c, of an LSTM."""
    output: ir.Value
    """What h is after the step."""
    sources: tuple[ir.Value, ...]
    """What the step takes as x: several are put side by side."""
    weights: Array
    """A row per feature of a gate, a column per feature of x."""
    recurrence: Array
    bias: Array
    """Those of the gates for x, then those for h."""
    activations: tuple[Activation, ...]
    peepholes: Array | None = None
    attrs: Mapping[str, int] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return int(self.recurrence.shape[1])


@dataclass(frozen=True, eq=False)
class _Gate:
    """An activation of products, and of a vector times the cell's memory."""

    activation: Activation
    affine: Affine
    peephole: Array | None = None


@dataclass(frozen=True, eq=False)
class Variables:
    """A loop's variables: their values at the beginning of a round, and after it."""

    given: dict[int, ir.Value]
    results: dict[int, ir.Value]


def find_cell(step: Round, variables: Variables, slot: int) -> Cell | None:
    """The cell that a variable is the h of, if it is one of those that ONNX has."""
    for find in (_lstm, _gru, _plain):
        found = find(step, variables, slot)
        if found is not None:
            return found
    return None


def _gates_of(
    gates: list[_Gate | Affine], hidden: ir.Value, size: int
) -> tuple[tuple[ir.Value, ...], Array, Array, Array] | None:
    """The sources, weights, recurrent weights and biases of gates, one after the other."""
    parts = [gate.affine if isinstance(gate, _Gate) else gate for gate in gates]
    sources: dict[ir.Value, int] = {}
    for part in parts:
        for source, matrix in part.weights.items():
            if source is not hidden:
                if sources.setdefault(source, matrix.shape[0]) != matrix.shape[0]:
                    return None
            elif matrix.shape[0] != size:
                return None
        if part.width != size or part.bias.dtype != np.float32:
            return None
    if not sources or not any(hidden in part.weights for part in parts):
        return None
    rows = []
    for part in parts:
        blocks = [part.weights.get(source, np.zeros((width, size), np.float32)) for source, width in sources.items()]
        rows.append(np.concatenate(blocks).T)
    back = [part.weights.get(hidden, np.zeros((size, size), np.float32)).T for part in parts]
    return tuple(sources), np.concatenate(rows), np.concatenate(back), np.concatenate([part.bias for part in parts])


# ------------------------------------------------------------------------------------------------------- plain


def _plain(step: Round, variables: Variables, slot: int) -> Cell | None:
    output, hidden = variables.results[slot], variables.given[slot]
    activation, inner = step.activation(output)
    affine = step.affine(inner)
    if affine is None or hidden not in affine.weights:
        return None
    found = _gates_of([affine], hidden, affine.width)
    if found is None:
        return None
    sources, weights, recurrence, bias = found
    both = np.concatenate([bias, np.zeros_like(bias)])
    return Cell("RNN", slot, None, step.plain(output), sources, weights, recurrence, both, (activation,))


# --------------------------------------------------------------------------------------------------------- GRU


def _gru(step: Round, variables: Variables, slot: int) -> Cell | None:
    output, hidden = step.plain(variables.results[slot]), variables.given[slot]
    for kept, fresh in step.pairs(output, "Add"):
        for update, old in step.pairs(kept, "Mul"):
            if old is not hidden:
                continue
            for rest, candidate in step.pairs(fresh, "Mul"):
                if _is_one_less(step, rest, update):
                    found = _gru_of(step, slot, output, hidden, update, candidate)
                    if found is not None:
                        return found
    return None


def _is_one_less(step: Round, value: ir.Value, update: ir.Value) -> bool:
    """Whether a value is one minus another."""
    node = step.node(value, "Sub")
    if node is None or node.inputs[1] is None:
        return False
    return step.number(node.inputs[0]) == 1.0 and step.plain(node.inputs[1]) is update


def _gru_of(
    step: Round, slot: int, output: ir.Value, hidden: ir.Value, update: ir.Value, candidate: ir.Value
) -> Cell | None:
    update_gate = _gate(step, update)
    activation, inner = step.activation(candidate)
    if update_gate is None:
        return None
    size = update_gate.affine.width
    for reset, of_x, of_h in _candidates(step, inner, hidden):
        reset_gate = _gate(step, reset)
        if reset_gate is None or not same_activations((update_gate.activation, reset_gate.activation)):
            continue
        is_after = of_h is not None
        if of_h is not None:
            whole = Affine({**of_x.weights, **of_h.weights}, of_x.bias)
            after = of_h.bias
        else:
            product = next(source for source in of_x.weights if _is_product(step, source, reset, hidden))
            weights = {hidden if source is product else source: matrix for source, matrix in of_x.weights.items()}
            whole, after = Affine(weights, of_x.bias), np.zeros_like(of_x.bias)
        found = _gates_of([update_gate, reset_gate, whole], hidden, size)
        if found is None or after.shape != (size,):
            continue
        sources, weights_of_x, recurrence, bias = found
        both = np.concatenate([bias, np.zeros(2 * size, np.float32), after])
        used = (update_gate.activation, activation)
        attrs = {"linear_before_reset": int(is_after)}
        return Cell("GRU", slot, None, output, sources, weights_of_x, recurrence, both, used, attrs=attrs)
    return None


def _candidates(step: Round, inner: ir.Value, hidden: ir.Value) -> Iterator[tuple[ir.Value, Affine, Affine | None]]:
    """The reset gate of a GRU, the products with x, and those with h if the reset comes after them."""
    for of_x, of_h in step.pairs(inner, "Add"):
        for reset, product in step.pairs(of_h, "Mul"):
            first, second = step.affine(of_x), step.affine(product)
            if first is None or second is None or first.width != second.width:
                continue
            if set(second.weights) == {hidden} and hidden not in first.weights:
                yield reset, first, second
    whole = step.affine(inner)
    if whole is None or hidden in whole.weights:
        return
    for source in whole.weights:
        for reset, old in step.pairs(source, "Mul"):
            if old is hidden:
                yield reset, whole, None


def _is_product(step: Round, value: ir.Value, reset: ir.Value, hidden: ir.Value) -> bool:
    return any(first is reset and second is hidden for first, second in step.pairs(value, "Mul"))


# -------------------------------------------------------------------------------------------------------- LSTM


def _gate(step: Round, value: ir.Value, memory: ir.Value | None = None) -> _Gate | None:
    """A value as an activation of products, and of a peephole at the memory."""
    found = step.activated(value)
    if found is not None:
        return _Gate(*found)
    activation, inner = step.activation(value)
    for products, seen in step.pairs(inner, "Add"):
        affine = step.affine(products)
        if affine is None or memory is None:
            continue
        for first, second in step.pairs(seen, "Mul"):
            vector = step.constant(second)
            if first is memory and vector is not None and vector.size == affine.width:
                return _Gate(activation, affine, vector.reshape(-1))
    return None


def _lstm(step: Round, variables: Variables, slot: int) -> Cell | None:
    output, hidden = step.plain(variables.results[slot]), variables.given[slot]
    for opened, seen in step.pairs(output, "Mul"):
        outer, memory_after = step.activation(seen)
        for memory_slot, value in variables.results.items():
            if memory_slot != slot and step.plain(value) is memory_after:
                found = _lstm_of(step, variables, (slot, memory_slot), (output, hidden), opened, outer)
                if found is not None:
                    return found
    return None


def _lstm_of(
    step: Round,
    variables: Variables,
    slots: tuple[int, int],
    values: tuple[ir.Value, ir.Value],
    opened: ir.Value,
    outer: Activation,
) -> Cell | None:
    slot, memory_slot = slots
    output, hidden = values
    memory, memory_after = variables.given[memory_slot], step.plain(variables.results[memory_slot])
    output_gate = _gate(step, opened, memory_after)
    if output_gate is None:
        return None
    for kept, fresh in step.pairs(memory_after, "Add"):
        for forget, old in step.pairs(kept, "Mul"):
            if old is not memory:
                continue
            for entered, candidate in step.pairs(fresh, "Mul"):
                gates = [_gate(step, value, memory) for value in (entered, forget)]
                news = _gate(step, candidate)
                if gates[0] is None or gates[1] is None or news is None:
                    continue
                used = (gates[0], output_gate, gates[1])
                if same_activations([gate.activation for gate in used]):
                    return _lstm_cell((slot, memory_slot), output, hidden, used, news, outer)
    return None


def _lstm_cell(
    slots: tuple[int, int],
    output: ir.Value,
    hidden: ir.Value,
    used: tuple[_Gate, _Gate, _Gate],
    news: _Gate,
    outer: Activation,
) -> Cell | None:
    size = used[0].affine.width
    found = _gates_of([*used, news], hidden, size)
    if found is None:
        return None
    sources, weights, recurrence, bias = found
    peepholes = None
    if any(gate.peephole is not None for gate in used):
        zero = np.zeros(size, np.float32)
        peepholes = np.concatenate([zero if gate.peephole is None else gate.peephole for gate in used])
    both = np.concatenate([bias, np.zeros_like(bias)])
    activations = (used[0].activation, news.activation, outer)
    return Cell("LSTM", slots[0], slots[1], output, sources, weights, recurrence, both, activations, peepholes)
