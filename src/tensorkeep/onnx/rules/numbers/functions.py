"""Functions of one value, element by element: signs, roots, exponentials, trigonometry, rounding, activations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tensorkeep.dtypes import BOOL
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.complex_numbers import (
    exponential_of_pairs,
    pairs,
    product_of_pairs,
    reciprocal_of_pairs,
)
from tensorkeep.onnx.rules.numbers.elementwise import Expression, elementwise, where
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term

_SAME: Final[Mapping[str, str]] = {
    "Abs": "Abs",
    "Sqrt": "Sqrt",
    "Log": "Log",
    "Sigmoid": "Sigmoid",
    "Tanh": "Tanh",
    "Sin": "Sin",
    "Cos": "Cos",
    "Asin": "Asin",
    "Acos": "Acos",
    "Atan": "Atan",
    "Sinh": "Sinh",
    "Cosh": "Cosh",
    "Asinh": "Asinh",
    "Acosh": "Acosh",
    "Atanh": "Atanh",
    "Floor": "Floor",
    "Ceil": "Ceil",
    "Rint": "Round",
    "Erf": "Erf",
}


def _one_operator(op: str, node: str) -> None:
    @rule(op)
    def function(to: OnnxGraph, x: Term) -> Term:
        return elementwise(to, node, x)

    function.__name__ = function.__qualname__ = op.lower()


for _op, _node in _SAME.items():
    _one_operator(_op, _node)


# ---------------------------------------------------------------------------------------------------- Signs and powers


@rule("Neg", takes_complex=True)
def neg(to: OnnxGraph, x: Term) -> Term:
    return elementwise(to, "Neg", x)


@rule("Sign", takes_complex=True)
def sign(to: OnnxGraph, x: Term) -> Term:
    """-1, 0 or 1; of complex numbers, those of size 1 in the same direction, and 0."""
    if not x.is_complex:
        return elementwise(to, "Sign", x)
    size = to.reduce("ReduceL2", pairs(to, x), [-1], keepdims=True)
    is_zero = elementwise(to, "Equal", size, to.like(size, 0), dtype=BOOL)
    safe = where(to, is_zero, to.like(size, 1), size)
    return to.node("Div", x, safe, dtype=x.dtype, dims=x.dims)


@rule("Square", takes_complex=True)
def square(to: OnnxGraph, x: Term) -> Term:
    return product_of_pairs(to, x, x) if x.is_complex else elementwise(to, "Mul", x, x)


@rule("Rsqrt")
def rsqrt(to: OnnxGraph, x: Term) -> Term:
    return elementwise(to, "Reciprocal", elementwise(to, "Sqrt", x))


@rule("Reciprocal", "Inv", takes_complex=True)
def reciprocal(to: OnnxGraph, x: Term) -> Term:
    return reciprocal_of_pairs(to, x) if x.is_complex else elementwise(to, "Reciprocal", x)


# ---------------------------------------------------------------------------------------------------- Exponentials


@rule("Exp", takes_complex=True)
def exp(to: OnnxGraph, x: Term) -> Term:
    return exponential_of_pairs(to, x) if x.is_complex else elementwise(to, "Exp", x)


@rule("Expm1")
def expm1(to: OnnxGraph, x: Term) -> Term:
    """tanh(x/2) · (exp(x) + 1), which is exact near zero, where exp(x) - 1 is not."""
    value = Expression(to, x)
    return ((value * 0.5).apply("Tanh") * (value.apply("Exp") + 1)).term


@rule("Log1p")
def log1p(to: OnnxGraph, x: Term) -> Term:
    """log(1 + x), and near zero what was lost by the rounding of 1 + x."""
    value = Expression(to, x)
    small = value.least(0.5).most(-1)
    lost = small - ((small + 1) - 1)
    return ((value + 1).apply("Log") + lost).term


@rule("Softplus")
def softplus(to: OnnxGraph, features: Term) -> Term:
    """log(1 + exp(x)). ONNX Runtime has none of float64."""
    if features.dtype.name != "float64":
        return elementwise(to, "Softplus", features)
    x = Expression(to, features)
    rest = log1p(to, (-x.apply("Abs")).apply("Exp").term)
    return (x.most(0) + rest).term


@rule("Softsign")
def softsign(to: OnnxGraph, features: Term) -> Term:
    """x / (1 + |x|). ONNX Runtime has none of float64."""
    if features.dtype.name != "float64":
        return elementwise(to, "Softsign", features)
    x = Expression(to, features)
    return (x / (x.apply("Abs") + 1)).term


@rule("Tan")
def tan(to: OnnxGraph, x: Term) -> Term:
    """The tangent. ONNX Runtime has none of float64."""
    if x.dtype.name != "float64":
        return elementwise(to, "Tan", x)
    return elementwise(to, "Div", elementwise(to, "Sin", x), elementwise(to, "Cos", x))


# ---------------------------------------------------------------------------------------------------- Rounding


@rule("Round")
def round_half_even(to: OnnxGraph, x: Term) -> Term:
    """The nearest whole number, halves to the even one, as ONNX rounds."""
    return x if x.dtype.is_integer else elementwise(to, "Round", x)


@rule("IsNan")
def is_nan(to: OnnxGraph, x: Term) -> Term:
    return elementwise(to, "IsNaN", x, dtype=BOOL)


@rule("IsInf")
def is_inf(to: OnnxGraph, x: Term) -> Term:
    return elementwise(to, "IsInf", x, dtype=BOOL)


@rule("IsFinite")
def is_finite(to: OnnxGraph, x: Term) -> Term:
    """Whether a number is neither infinite nor NaN: its absolute value is less than infinity."""
    return Expression(to, x).apply("Abs") < np.inf
