"""Bits of whole numbers: logic, shifts, and how many are set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tensorkeep.dtypes import INT32, INT64, UINT8, UINT32, UINT64, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.elementwise import Expression, broadcast_dims, elementwise, is_empty, nothing
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term

_SAME: Final[Mapping[str, str]] = {"BitwiseAnd": "BitwiseAnd", "BitwiseOr": "BitwiseOr", "BitwiseXor": "BitwiseXor"}


def _logic(op: str, node: str) -> None:
    @rule(op, opset=18)
    def logic(to: OnnxGraph, x: Term, y: Term) -> Term:
        return elementwise(to, node, x, y)

    logic.__name__ = logic.__qualname__ = op.lower()


for _op, _node in _SAME.items():
    _logic(_op, _node)


@rule("Invert")
def invert(to: OnnxGraph, x: Term) -> Term:
    """Every bit flipped: the number of which all bits are set, less x."""
    if to.opset >= 18:
        return elementwise(to, "BitwiseNot", x)
    return elementwise(to, "Sub", to.like(x, int(np.iinfo(x.dtype.array_dtype).max) if x.dtype.is_unsigned else -1), x)


# ---------------------------------------------------------------------------------------------------- Shifts


def _widths(x: Term) -> tuple[DType, DType]:
    """The type without sign that ONNX Runtime shifts, and that with a sign, for values of a type."""
    return (UINT64, INT64) if x.dtype.itemsize == 8 else (UINT32, INT32)


def _count(to: OnnxGraph, x: Term, y: Term, unsigned: DType) -> Term:
    """How far to shift: y, cut off at 0 and at one less than the number of bits."""
    count = Expression(to, y).least(8 * x.dtype.itemsize - 1)
    return to.cast((count if y.dtype.is_unsigned else count.most(0)).term, unsigned)


def _shifted_bits(to: OnnxGraph, x: Term, y: Term, direction: str) -> Term:
    return to.node("BitShift", x, y, dims=broadcast_dims(x, y), direction=direction)


@rule("LeftShift")
def left_shift(to: OnnxGraph, x: Term, y: Term) -> Term:
    unsigned, _ = _widths(x)
    return to.cast(_shifted_bits(to, to.cast(x, unsigned), _count(to, x, y, unsigned), "LEFT"), x.dtype)


@rule("RightShift")
def right_shift(to: OnnxGraph, x: Term, y: Term) -> Term:
    """A shift that keeps the sign: a negative number is inverted, shifted, and inverted back."""
    unsigned, signed = _widths(x)
    count = _count(to, x, y, unsigned)
    if x.dtype.is_unsigned:
        return to.cast(_shifted_bits(to, to.cast(x, unsigned), count, "RIGHT"), x.dtype)
    value = Expression(to, to.cast(x, signed))
    is_negative = value < 0
    bits = to.cast(value.unless(is_negative, -1 - value).term, unsigned)
    found = Expression(to, to.cast(_shifted_bits(to, bits, count, "RIGHT"), signed))
    return to.cast(found.unless(is_negative, -1 - found).term, x.dtype)


@rule("PopulationCount")
def population_count(to: OnnxGraph, x: Term) -> Term:
    """How many bits are set: each is shifted to the end, and they are added."""
    if is_empty(x.dims):
        return nothing(UINT8, x.dims)
    unsigned, _ = _widths(x)
    places = to.constant(np.arange(8 * x.dtype.itemsize), unsigned)
    spread = to.unsqueeze(to.cast(x, unsigned), [-1])
    last = elementwise(to, "Mod", _shifted_bits(to, spread, places, "RIGHT"), to.constant(2, unsigned))
    return to.cast(to.reduce("ReduceSum", to.cast(last, INT32), [-1]), UINT8)
