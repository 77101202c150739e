"""Numbers in a row, and running totals: Range, LinSpace, Cumsum and its like."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT64, INT64
from tensorkeep.onnx.graphs import AttrValue, OnnxGraph
from tensorkeep.onnx.known_sizes import sizes_of
from tensorkeep.onnx.rules.arrays.joining import known_axis
from tensorkeep.onnx.rules.arrays.shapes import filled_array
from tensorkeep.onnx.rules.carriers import carried_node, carrier
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.size_vectors import axes_of, parts_of, vector
from tensorkeep.onnx.terms import SizeOf, Term

# ---------------------------------------------------------------------------------------------------- Sequences


@rule("Range")
def range_rule(to: OnnxGraph, start: Term, limit: Term, delta: Term) -> Term:
    """Of numbers with a fraction, each is computed by itself: ONNX Runtime adds them up, with all their roundings."""
    start, limit, delta = (to.reshape(term, []) if term.rank != 0 else term for term in (start, limit, delta))
    if to.model.is_for_engine and not _runs(start, limit, delta):
        to.refuse("it is not known whether it goes the right way")
    if start.dtype.is_integer:
        if start.dtype.name == "uint64":
            to.refuse("ONNX Runtime counts no numbers of 64 bits without a sign")
        return carried_node(to, "Range", start, limit, delta, data=(0, 1, 2))
    first, last, step = (to.cast(term, FLOAT64) for term in (start, limit, delta))
    ways = to.node("Div", to.node("Sub", last, first), step)
    size = to.cast(to.node("Ceil", to.node("Abs", ways)), INT64)
    numbers = to.cast(to.node("Range", to.constant(0), size, to.constant(1)), start.dtype)
    if delta.array is None or delta.array != 1:
        numbers = carried_node(to, "Mul", numbers, delta, data=(0, 1))
    if start.array is not None and start.array == 0:
        return numbers
    return carried_node(to, "Add", start, numbers, data=(0, 1))


def _runs(start: Term, limit: Term, delta: Term) -> bool:
    """Whether a range surely goes up: from zero or below, by a positive step, to the size of an axis."""
    if start.array is None or delta.array is None or delta.array <= 0:
        return False
    sizes = sizes_of(limit)
    return sizes is not None and len(sizes) == 1 and isinstance(sizes[0], SizeOf) and bool(start.array <= 0)


@rule("LinSpace")
def lin_space(to: OnnxGraph, start: Term, stop: Term, num: Term) -> Term:
    """The first and the last as they are given, and what is between them by equal steps."""
    if to.model.is_for_engine and num.array is None:
        to.refuse("it is not known whether there is any number")
    count = parts_of(to, num, 1)[0]
    ends = [to.unsqueeze(start, [0]), to.unsqueeze(stop, [0])]
    if isinstance(count, int) and count <= 2:
        return to.concat(ends[:count], 0)
    known = to.constant(count, start.dtype) if isinstance(count, int) else to.cast(num, start.dtype)
    gaps = carried_node(to, "Sub", known, to.like(start, 1), data=(0, 1))
    step = carried_node(to, "Div", carried_node(to, "Sub", stop, start, data=(0, 1)), gaps, data=(0, 1))
    if isinstance(count, int):
        to.require_listed(count)
        between = to.constant(np.arange(1, count - 1))
    else:
        last = to.node("Sub", to.cast(num, INT64), to.constant(1))
        between = to.node("Range", to.constant(1), last, to.constant(1))
    steps = carried_node(to, "Mul", step, to.cast(between, start.dtype), data=(0, 1))
    inner = carried_node(to, "Add", start, steps, data=(0, 1))
    whole = to.concat([ends[0], inner, ends[1]], 0)
    return whole if isinstance(count, int) else to.slice(whole, [0], vector(to, [count]), [0])


# ---------------------------------------------------------------------------------------------------- Running totals


@rule("Cumsum", takes_complex=True)
def cumsum(to: OnnxGraph, x: Term, axis: Term, *, exclusive: bool, reverse: bool) -> Term:
    if axis.array is not None:
        axis = to.constant(np.array(known_axis(to, axis, x), np.int64))
    elif x.is_complex:
        to.refuse("its axis is computed while the model runs")
    return carried_node(to, "CumSum", x, axis, exclusive=int(exclusive) or None, reverse=int(reverse) or None)


@rule("Cumprod")
def cumprod(to: OnnxGraph, x: Term, axis: Term, *, exclusive: bool, reverse: bool) -> Term:
    """ONNX has a CumProd since opset 26; before, a Scan multiplies step by step."""
    if to.opset >= 26 and x.dtype.name in ("float32", "float64", "int32", "int64", "uint32", "uint64"):
        flags = {"exclusive": int(exclusive) or None, "reverse": int(reverse) or None}
        return to.node("CumProd", x, axis, attrs=flags)
    return _scanned_totals(to, x, axis, exclusive, reverse, 1, _product)


@rule("CumulativeLogsumexp")
def cumulative_logsumexp(to: OnnxGraph, x: Term, axis: Term, *, exclusive: bool, reverse: bool) -> Term:
    return _scanned_totals(to, x, axis, exclusive, reverse, -np.inf, _log_of_sum)


_Step: TypeAlias = Callable[[OnnxGraph, Term, Term], Term]


def _product(to: OnnxGraph, total: Term, element: Term) -> Term:
    return to.node("Mul", total, element, dims=total.dims)


def _log_of_sum(to: OnnxGraph, total: Term, element: Term) -> Term:
    """log(exp(a) + exp(b)); of two equal values, infinite ones too, that value plus log 2."""
    most = to.node("Max", total, element)
    apart = to.node("Neg", to.node("Abs", to.node("Sub", total, element)))
    usual = to.node("Add", most, to.node("Log", to.node("Add", to.node("Exp", apart), to.like(total, 1))))
    is_same = to.node("Equal", total, element, dtype=BOOL)
    twice = to.node("Add", total, to.like(total, float(np.log(2))))
    return to.node("Where", is_same, twice, usual, dtype=total.dtype, dims=total.dims)


def _scanned_totals(
    to: OnnxGraph, x: Term, axis: Term, exclusive: bool, reverse: bool, nothing: float, joined: _Step
) -> Term:
    """Totals along an axis, step by step, as a Scan."""
    at = known_axis(to, axis, x)
    rank = to.known_rank(x)
    at %= rank
    own, wide = x.dtype, carrier("CumSum", x.dtype)
    x = to.cast(x, wide)
    sizes = axes_of(x)
    rest = [*sizes[:at], *sizes[at + 1 :]]
    dims = tuple(size if isinstance(size, int) else None for size in rest)
    inner = to.inner()
    total, element = (inner.input(wide, dims, to.own_name(name)) for name in ("total", "element"))
    new = joined(inner, total, element)
    outputs = [new, total if exclusive else new]
    body = inner.finished([total, element], outputs, to.own_name("step"))
    start = filled_array(to, vector(to, rest), to.constant(np.array(nothing, wide.array_dtype), wide))
    attrs: dict[str, AttrValue | None] = {
        "body": body,
        "num_scan_inputs": 1,
        "scan_input_axes": [at],
        "scan_output_axes": [at],
        "scan_input_directions": [int(reverse)],
        "scan_output_directions": [int(reverse)],
    }
    _, found = to.node_with_outputs("Scan", [start, x], 2, [wide, wide], attrs=attrs)
    return to.cast(found, own)
