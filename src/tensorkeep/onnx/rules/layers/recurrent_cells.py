"""Fused recurrent cells: a step of an LSTM or GRU as one op, and a whole sequence of LSTM steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT32, INT32
from tensorkeep.onnx.branches_and_loops import Rounds, repeat
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.tensor_lists import HeldList, Unset, as_rows, held_list, item_at, list_term, told_list, with_item
from tensorkeep.onnx.terms import Term

_FIRST_ORDER: Final = (0, 1, 2, 3)  # where the input, cell, forget and output gates are
_SECOND_ORDER: Final = (0, 2, 1, 3)
_HIDDEN: Final = 6  # which of the results of a step is h


@dataclass(frozen=True, eq=False)
class _Weights:
    """The weights of an LSTM, and how they are meant."""

    matrix: Term
    peepholes: tuple[Term, Term, Term] | None
    bias: Term
    order: tuple[int, ...]
    forget_bias: float = 0.0
    cell_clip: float = 0.0

    def size(self, to: OnnxGraph) -> int:
        """The size of the state."""
        gates = self.bias.size(0) or self.matrix.size(1)
        if gates is None:
            to.refuse("the size of its state is not known before the model runs")
        return gates // 4


def _lstm_step(to: OnnxGraph, x: Term, memory: Term, hidden: Term, weights: _Weights) -> list[Term]:
    """One step: i, cs, f, o, ci, co and h."""
    size = weights.size(to)
    dims = (x.size(0), size)
    joined = to.node("Concat", x, hidden, dims=(x.size(0), weights.matrix.size(0)), axis=1)
    product = to.node("MatMul", joined, weights.matrix, dims=(x.size(0), 4 * size))
    parts = to.split(to.node("Add", product, weights.bias, dims=product.dims), [size] * 4, 1)
    entered, news, forget, opened = (parts[place] for place in weights.order)
    if weights.forget_bias:
        forget = to.node("Add", forget, to.like(x, weights.forget_bias), dims=dims)
    if weights.peepholes is not None:
        entered = to.node("Add", entered, to.node("Mul", memory, weights.peepholes[0], dims=dims), dims=dims)
        forget = to.node("Add", forget, to.node("Mul", memory, weights.peepholes[1], dims=dims), dims=dims)
    entered, forget = (to.node("Sigmoid", gate, dims=dims) for gate in (entered, forget))
    news = to.node("Tanh", news, dims=dims)
    kept = to.node("Mul", forget, memory, dims=dims)
    after = to.node("Add", kept, to.node("Mul", entered, news, dims=dims), dims=dims)
    if weights.cell_clip > 0:
        after = to.node("Clip", after, to.like(x, -weights.cell_clip), to.like(x, weights.cell_clip), dims=dims)
    if weights.peepholes is not None:
        opened = to.node("Add", opened, to.node("Mul", after, weights.peepholes[2], dims=dims), dims=dims)
    opened = to.node("Sigmoid", opened, dims=dims)
    seen = to.node("Tanh", after, dims=dims)
    return [entered, after, forget, opened, news, seen, to.node("Mul", opened, seen, dims=dims)]


def _check_type(to: OnnxGraph, x: Term) -> None:
    if x.dtype is not FLOAT32:
        to.refuse(f"steps of {x.dtype.name} are rounded after each operation, which ONNX Runtime does not do")


@rule("LSTMBlockCell")
def lstm_block_cell(
    to: OnnxGraph, x: Term, cs_prev: Term, h_prev: Term, w: Term, wci: Term, wcf: Term, wco: Term, b: Term, *,
    forget_bias: float, cell_clip: float, use_peephole: bool,
) -> tuple[Term, ...]:  # fmt: skip
    """One step of an LSTM."""
    _check_type(to, x)
    peepholes = (wci, wcf, wco) if use_peephole else None
    weights = _Weights(w, peepholes, b, _FIRST_ORDER, forget_bias, cell_clip)
    return tuple(_lstm_step(to, x, cs_prev, h_prev, weights))


@rule("BlockLSTM")
def block_lstm(
    to: OnnxGraph, seq_len_max: Term, x: Term, cs_prev: Term, h_prev: Term, w: Term, wci: Term, wcf: Term, wco: Term,
    b: Term, *, forget_bias: float, cell_clip: float, use_peephole: bool,
) -> tuple[Term, ...]:  # fmt: skip
    """Steps of an LSTM up to the longest sequence, and zeros from there on."""
    peepholes = (wci, wcf, wco) if use_peephole else None
    weights = _Weights(w, peepholes, b, _FIRST_ORDER, forget_bias, cell_clip)
    return _sequence(to, seq_len_max, x, cs_prev, h_prev, weights)


@rule("BlockLSTMV2")
def block_lstm_v2(
    to: OnnxGraph, seq_len_max: Term, x: Term, cs_prev: Term, h_prev: Term, w: Term, wci: Term, wcf: Term, wco: Term,
    b: Term, *, cell_clip: float, use_peephole: bool,
) -> tuple[Term, ...]:  # fmt: skip
    """As BlockLSTM, with the gates in another order."""
    peepholes = (wci, wcf, wco) if use_peephole else None
    return _sequence(to, seq_len_max, x, cs_prev, h_prev, _Weights(w, peepholes, b, _SECOND_ORDER, 0.0, cell_clip))


def _sequence(
    to: OnnxGraph, seq_len_max: Term, x: Term, memory: Term, hidden: Term, weights: _Weights
) -> tuple[Term, ...]:
    """A loop over the steps. Where only h of them is used, which is nearly always, that is found to be an LSTM."""
    _check_type(to, x)
    limit, known = to.cast(seq_len_max, INT32), x.size(0)
    if known is None or limit.array is None or int(limit.array) > known:
        count = to.cast(to.squeeze(to.shape(x, 0, 1), [0]), INT32)
        if to.model.is_for_engine:
            to.refuse("whether its longest sequence is longer than its inputs is not known")
    else:
        count = limit if int(limit.array) == known else to.constant(known, INT32)
    operation = to.operation
    assert operation is not None
    others = [tensor for tensor in operation.outputs if tensor.index != _HIDDEN and tensor.consumers()]
    every = _steps(to, (limit, count), x, (memory, hidden), weights, tuple(range(7)))
    if others:
        return tuple(every)
    (alone,) = _steps(to, (limit, count), x, (memory, hidden), weights, (_HIDDEN,))
    return (*every[:_HIDDEN], alone)


def _steps(
    to: OnnxGraph,
    counts: tuple[Term, Term],
    x: Term,
    states: tuple[Term, Term],
    weights: _Weights,
    wanted: tuple[int, ...],
) -> list[Term]:
    """Some of the results of each step, by a loop."""
    limit, count = counts
    rows = told_list(FLOAT32, None, x)
    element = (x.size(1), weights.size(to))
    lists = [list_term(HeldList(FLOAT32, element, Unset(count), count)) for _ in wanted]

    def goes_on(inner: OnnxGraph, values: list[Term]) -> Term:
        return inner.node("Less", values[0], limit, dtype=BOOL, dims=())

    def once(inner: OnnxGraph, values: list[Term]) -> list[Term]:
        number, memory, hidden, *held = values
        found = _lstm_step(inner, item_at(inner, rows, number), memory, hidden, weights)
        filled = [
            list_term(with_item(inner, held_list(inner, term), number, found[place]))
            for term, place in zip(held, wanted, strict=True)
        ]
        following = inner.node("Add", number, inner.constant(np.int32(1)), dims=())
        return [following, found[1], found[_HIDDEN], *filled]

    start = to.constant(np.int32(0))
    _, _, _, *held = repeat(to, Rounds([start, *states, *lists], goes_on, once))
    return [as_rows(to, held_list(to, term)) for term in held]


@rule("GRUBlockCell")
def gru_block_cell(
    to: OnnxGraph, x: Term, h_prev: Term, w_ru: Term, w_c: Term, b_ru: Term, b_c: Term
) -> tuple[Term, Term, Term, Term]:
    """One step of a GRU: r, u, c and h."""
    size = h_prev.size(1)
    if size is None:
        to.refuse("the size of its state is not known before the model runs")
    dims = (x.size(0), size)
    joined = to.node("Concat", x, h_prev, axis=1)
    gates = to.node("Sigmoid", to.node("Add", to.node("MatMul", joined, w_ru), b_ru), dims=(x.size(0), 2 * size))
    reset, update = to.split(gates, [size] * 2, 1)
    again = to.node("Concat", x, to.node("Mul", reset, h_prev, dims=dims), axis=1)
    news = to.node("Tanh", to.node("Add", to.node("MatMul", again, w_c), b_c), dims=dims)
    rest = to.node("Mul", to.node("Sub", to.like(x, 1), update, dims=dims), news, dims=dims)
    return reset, update, news, to.node("Add", to.node("Mul", update, h_prev, dims=dims), rest, dims=dims)
