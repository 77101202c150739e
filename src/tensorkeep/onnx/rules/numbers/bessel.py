"""Bessel functions: approximations by Chebyshev series, computed in float64.

The series are those that our own kernels take. ONNX computes every piece everywhere, and chooses; where a piece does
not apply it is given a number that it can take.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from tensorkeep.dtypes import BOOL
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.elementwise import Expression, in_double
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term
from tensorkeep.ops.numbers import special_tables as tables

_SMALL: Final = 8.0  # up to where the series of small numbers go
_NEAR: Final = 2.0


def chebyshev(coefficients: Sequence[float], x: Expression, low: float, high: float) -> Expression:
    """The sum of a Chebyshev series on an interval, by Clenshaw's recurrence."""
    t = (x - low) * (2.0 / (high - low)) - 1.0
    twice = t * 2.0
    last: Expression | float = 0.0
    total: Expression | float = coefficients[-1]
    for coefficient in reversed(coefficients[1:-1]):
        last, total = total, twice * total - last + coefficient
    return t * total - last + coefficients[0]


def _given(to: OnnxGraph, x: Term) -> Expression:
    return Expression(to, *in_double(to, x))


def _signed(value: Expression, x: Expression) -> Expression:
    """A value where a number is not below zero, and its negative where it is."""
    return value.unless(x < 0.0, -value)


def _is_nan(x: Expression) -> Term:
    return x.to.node("IsNaN", x.term, dtype=BOOL)


# ---------------------------------------------------------------------------------------------------- Modified


def _i(x: Expression, order: int) -> Expression:
    """exp(-|x|) times a modified function of the first kind."""
    size = x.apply("Abs")
    near, far = size.least(_SMALL), size.most(_SMALL)
    small = chebyshev((tables.I0_SMALL, tables.I1_SMALL)[order], near, 0.0, _SMALL)
    tail = chebyshev((tables.I0_TAIL, tables.I1_TAIL)[order], 1.0 / far, 0.0, 1 / _SMALL) / far.apply("Sqrt")
    found = (near * small if order else small).unless(size > _SMALL, tail)
    return _signed(found, x) if order else found


def _k(x: Expression, order: int, is_scaled: bool) -> Expression:
    """A modified function of the second kind, times exp(x) if it is scaled. Infinite for numbers that are not above
    zero.
    """
    near, far = x.least(_NEAR).most(np.finfo(np.float64).tiny), x.most(_NEAR)
    series = chebyshev((tables.K0_SMALL, tables.K1_SMALL)[order], near * near, 0.0, _NEAR**2)
    first = _i(near, order) * near.apply("Exp") * (near * 0.5).apply("Log")
    small = series / near + first if order else series - first
    tail = chebyshev((tables.K0_TAIL, tables.K1_TAIL)[order], 1.0 / far, 0.0, 1 / _NEAR) / far.apply("Sqrt")
    small, tail = (small * near.apply("Exp"), tail) if is_scaled else (small, tail * (-far).apply("Exp"))
    found = small.unless(x > _NEAR, tail).unless(x < np.finfo(np.float64).tiny, np.inf)
    return found.unless(_is_nan(x), np.nan)


_MODIFIED: Final[dict[str, Callable[[Expression], Expression]]] = {
    "BesselI0e": lambda x: _i(x, 0),
    "BesselI1e": lambda x: _i(x, 1),
    "BesselI0": lambda x: x.apply("Abs").apply("Exp") * _i(x, 0),
    "BesselI1": lambda x: x.apply("Abs").apply("Exp") * _i(x, 1),
    "BesselK0": lambda x: _k(x, 0, False),
    "BesselK1": lambda x: _k(x, 1, False),
    "BesselK0e": lambda x: _k(x, 0, True),
    "BesselK1e": lambda x: _k(x, 1, True),
}


@rule(*_MODIFIED)
def modified_bessel(to: OnnxGraph, x: Term) -> Term:
    assert to.operation is not None
    return to.cast(_MODIFIED[to.operation.type](_given(to, x)).term, x.dtype)


# ---------------------------------------------------------------------------------------------------- Of waves


def _waves(x: Expression, order: int) -> tuple[Expression, Expression]:
    """J and Y beyond 8: a wave that dies away, by its parts in and out of phase."""
    inverse = 1.0 / (x * x)
    p = chebyshev((tables.P0_TAIL, tables.P1_TAIL)[order], inverse, 0.0, 1 / 64)
    q = chebyshev((tables.Q0_TAIL, tables.Q1_TAIL)[order], inverse, 0.0, 1 / 64) / x
    sine, cosine = x.apply("Sin"), x.apply("Cos")
    in_phase, out_of_phase = (sine - cosine, -(sine + cosine)) if order else (cosine + sine, sine - cosine)
    height = 1.0 / (x * math.pi).apply("Sqrt")
    return height * (p * in_phase - q * out_of_phase), height * (p * out_of_phase + q * in_phase)


def _j(x: Expression, order: int) -> Expression:
    size = x.apply("Abs")
    near, far = size.least(_SMALL), size.most(_SMALL)
    series = chebyshev((tables.J0_SMALL, tables.J1_SMALL)[order], near * near, 0.0, _SMALL**2)
    found = (near * series if order else series).unless(size > _SMALL, _waves(far, order)[0])
    return _signed(found, x) if order else found


def _y(x: Expression, order: int) -> Expression:
    near, far = x.least(_SMALL).most(np.finfo(np.float64).tiny), x.most(_SMALL)
    series = chebyshev((tables.Y0_SMALL, tables.Y1_SMALL)[order], near * near, 0.0, _SMALL**2)
    wave = (near * 0.5).apply("Log") * _j(near, order) * (2 / math.pi)
    small = (series / near if order else series) + wave
    found = small.unless(x > _SMALL, _waves(far, order)[1]).unless(x < np.finfo(np.float64).tiny, -np.inf)
    return found.unless(_is_nan(x), np.nan)


_OF_WAVES: Final[dict[str, Callable[[Expression], Expression]]] = {
    "BesselJ0": lambda x: _j(x, 0),
    "BesselJ1": lambda x: _j(x, 1),
    "BesselY0": lambda x: _y(x, 0),
    "BesselY1": lambda x: _y(x, 1),
}


@rule(*_OF_WAVES)
def bessel(to: OnnxGraph, x: Term) -> Term:
    assert to.operation is not None
    return to.cast(_OF_WAVES[to.operation.type](_given(to, x)).term, x.dtype)
