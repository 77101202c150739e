"""The error function and its inverses, and gamma functions: approximations by polynomials, computed in float64.

ONNX has the error function alone. The others are computed by published approximations that are as exact as the type of
the result: Wichura's quantiles of the normal distribution (AS 241), Lanczos' approximation of the gamma function, and
an approximation of the complementary error function by Chebyshev polynomials, which is good for float32 and below.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.elementwise import Expression, in_double
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term

# ---------------------------------------------------------------------------------------------------- Error functions

_COMPLEMENT: Final = (
    0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368,
    -1.26551223,
)  # fmt: skip


@rule("Erfc")
def erfc(to: OnnxGraph, x: Term) -> Term:
    """1 - erf(x), computed so that it is exact where it is small, too."""
    if x.dtype.name == "float64":
        to.refuse("ONNX has no complementary error function that is as exact as float64")
    value = Expression(to, *in_double(to, x))
    size = value.apply("Abs")
    share = 1 / (size * 0.5 + 1)
    tail = share * (share.polynomial(_COMPLEMENT) - size * size).apply("Exp")
    tail = tail.unless(size.equals(np.inf), 0.0)
    return to.cast(tail.unless(value < 0, 2 - tail).term, x.dtype)


_CENTRE: Final = (
    (2.5090809287301226727e3, 3.3430575583588128105e4, 6.7265770927008700853e4, 4.5921953931549871457e4,
     1.3731693765509461125e4, 1.9715909503065514427e3, 1.3314166789178437745e2, 3.3871328727963666080e0),
    (5.2264952788528545610e3, 2.8729085735721942674e4, 3.9307895800092710610e4, 2.1213794301586595867e4,
     5.3941960214247511077e3, 6.8718700749205790830e2, 4.2313330701600911252e1, 1.0),
)  # fmt: skip
_SLOPE: Final = (
    (7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258e0,
     3.64784832476320460504e0, 5.76949722146069140550e0, 4.63033784615654529590e0, 1.42343711074968357734e0),
    (1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
     6.89767334985100004550e-1, 1.67638483018380384940e0, 2.05319162663775882187e0, 1.0),
)  # fmt: skip
_TAIL: Final = (
    (2.01033439929228813265e-7, 2.71155556874348757815e-5, 1.24266094738807843860e-3, 2.65321895265761230930e-2,
     2.96560571828504891230e-1, 1.78482653991729133580e0, 5.46378491116411436990e0, 6.65790464350110377720e0),
    (2.04426310338993978564e-15, 1.42151175831644588870e-7, 1.84631831751005468180e-5, 7.86869131145613259100e-4,
     1.48753612908506148525e-2, 1.36929880922735805310e-1, 5.99832206555887937690e-1, 1.0),
)  # fmt: skip
_Ratio = tuple[tuple[float, ...], tuple[float, ...]]


def _ratio(x: Expression, polynomials: _Ratio) -> Expression:
    above, below = polynomials
    return x.polynomial(above) / x.polynomial(below)


def normal_quantile(middle: Expression, rest: Expression) -> Expression:
    """The quantile of the normal distribution for a probability, given as its distance from one half (`middle`) and as
    what is left to 0 or 1 (`rest`).

    AS 241: one approximation near the middle, one on the slopes, one in the tails. NaN beyond 0 and 1.
    """
    centre = middle * _ratio(0.180625 - middle * middle, _CENTRE)
    depth = (-rest.apply("Log")).apply("Sqrt")
    outside = _ratio(depth - 1.6, _SLOPE).unless(depth > 5, _ratio(depth - 5, _TAIL))
    outside = outside.unless(rest.equals(0.0), np.inf) * middle.apply("Sign")
    return outside.unless(middle.apply("Abs") < 0.425, centre)


@rule("Ndtri")
def ndtri(to: OnnxGraph, x: Term) -> Term:
    """The quantile of the normal distribution: the inverse of its distribution function."""
    probability = Expression(to, *in_double(to, x))
    middle = probability - 0.5
    found = normal_quantile(middle, probability.least(1 - probability))
    return to.cast(found.term, x.dtype)


@rule("Erfinv")
def erfinv(to: OnnxGraph, x: Term) -> Term:
    """The inverse of the error function."""
    value = Expression(to, *in_double(to, x))
    found = normal_quantile(value * 0.5, 0.5 - value.apply("Abs") * 0.5)
    return to.cast((found * math.sqrt(0.5)).term, x.dtype)


# ---------------------------------------------------------------------------------------------------- Gamma functions

_LANCZOS: Final = (
    676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
    -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
)  # fmt: skip
_LANCZOS_FIRST: Final = 0.99999999999980993


def _fraction(x: Expression) -> Expression:
    """π times the fraction of a number: x - floor(x)."""
    return (x - x.apply("Floor")) * math.pi


@rule("Lgamma")
def lgamma(to: OnnxGraph, x: Term) -> Term:
    """The logarithm of |gamma(x)|; below one half by the reflection formula."""
    value = Expression(to, *in_double(to, x))
    is_left = value < 0.5
    z = value.unless(is_left, 1 - value) - 1
    total = Expression(to, to.like(z.term, _LANCZOS_FIRST))
    for number, coefficient in enumerate(_LANCZOS, 1):
        total = coefficient / (z + number) + total
    right = (z + 0.5) * ((z + 7.5).apply("Log") - 1) + (0.5 * math.log(2 * math.pi) - 7) + total.apply("Log")
    left = math.log(math.pi) - _fraction(value).apply("Sin").apply("Abs").apply("Log") - right
    found = right.unless(is_left, left).unless(value.apply("Abs").equals(np.inf), np.inf)
    return to.cast(found.term, x.dtype)


_DIGAMMA: Final = (1 / 12, -691 / 32760, 1 / 132, -1 / 240, 1 / 252, -1 / 120, 1 / 12)
_STEPS: Final = 10  # by which numbers are moved to where the series is exact


@rule("Digamma")
def digamma(to: OnnxGraph, x: Term) -> Term:
    """The derivative of log gamma(x): a series for large numbers, to which the recurrence moves small ones."""
    value = Expression(to, *in_double(to, x))
    is_left = value < 0.5
    y = value.unless(is_left, 1 - value)
    moved = y + _STEPS
    inverse = 1 / moved
    squared = inverse * inverse
    right = moved.apply("Log") - inverse * 0.5 - squared * squared.polynomial(_DIGAMMA)
    for step in range(_STEPS):
        right = right - 1 / (y + step)
    turn = _fraction(value)
    left = (right - math.pi * (turn.apply("Cos") / turn.apply("Sin"))).unless(turn.equals(0.0), np.nan)
    return to.cast(right.unless(is_left, left).term, x.dtype)
