"""Arithmetic of two values, stretched to each other: sums, products, quotients, remainders, powers, extremes."""

from __future__ import annotations

import numpy as np

from tensorkeep.dtypes import INT64, STRING
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.complex_numbers import (
    pairs,
    product_of_pairs,
    quotient_of_pairs,
    square_of_size,
    sum_of_pairs,
)
from tensorkeep.onnx.rules.numbers.elementwise import (
    Expression,
    broadcast_dims,
    compared_values,
    elementwise,
    is_empty,
    where,
)
from tensorkeep.onnx.rules.numbers.functions import log1p
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term

# ---------------------------------------------------------------------------------------------------- Sums


@rule("Add", "AddV2", takes_complex=True)
def add(to: OnnxGraph, x: Term, y: Term) -> Term:
    """A sum; of strings, the first followed by the second."""
    if x.dtype is STRING:
        to.require_opset(20, "a sum of strings")
        return to.node("StringConcat", x, y, dims=broadcast_dims(x, y))
    return sum_of_pairs(to, "Add", x, y) if x.is_complex else elementwise(to, "Add", x, y)


@rule("Sub", takes_complex=True)
def sub(to: OnnxGraph, x: Term, y: Term) -> Term:
    return sum_of_pairs(to, "Sub", x, y) if x.is_complex else elementwise(to, "Sub", x, y)


@rule("AddN", "AccumulateNV2", takes_complex=True)
def add_n(to: OnnxGraph, inputs: list[Term]) -> Term:
    """A sum of many. ONNX stretches values that our kernel would refuse to add."""
    if to.model.is_for_engine and any(term.element_count is None or term.dims != inputs[0].dims for term in inputs):
        to.refuse("it is not known whether all that it adds is of one shape")
    if len(inputs) > 2 and inputs[0].dtype.name in ("float32", "float64", "float16"):
        return to.node("Sum", *inputs, dims=broadcast_dims(*inputs))
    total = inputs[0]
    for term in inputs[1:]:
        total = add(to, total, term)
    return total


@rule("SquaredDifference", takes_complex=True)
def squared_difference(to: OnnxGraph, x: Term, y: Term) -> Term:
    difference = sub(to, x, y)
    if x.is_complex:
        return square_of_size(to, difference)
    return elementwise(to, "Mul", difference, difference)


# ---------------------------------------------------------------------------------------------------- Products


@rule("Mul", takes_complex=True)
def mul(to: OnnxGraph, x: Term, y: Term) -> Term:
    return product_of_pairs(to, x, y) if x.is_complex else elementwise(to, "Mul", x, y)


def _unless_zero(to: OnnxGraph, test: Term, value: Term) -> Term:
    """A value, but zero where `test` is zero, even if the value there is infinite or no number."""
    return where(to, compared_values(to, "Equal", test, to.like(test, 0)), to.like(value, 0), value)


@rule("MulNoNan")
def mul_no_nan(to: OnnxGraph, x: Term, y: Term) -> Term:
    return _unless_zero(to, y, elementwise(to, "Mul", x, y))


@rule("Xlogy")
def xlogy(to: OnnxGraph, x: Term, y: Term) -> Term:
    return _unless_zero(to, x, elementwise(to, "Mul", x, elementwise(to, "Log", y)))


@rule("Xlog1py")
def xlog1py(to: OnnxGraph, x: Term, y: Term) -> Term:
    return _unless_zero(to, x, elementwise(to, "Mul", x, log1p(to, y)))


@rule("Xdivy")
def xdivy(to: OnnxGraph, x: Term, y: Term) -> Term:
    return _unless_zero(to, x, elementwise(to, "Div", x, y))


# ---------------------------------------------------------------------------------------------------- Quotients


@rule("RealDiv", takes_complex=True)
def real_div(to: OnnxGraph, x: Term, y: Term) -> Term:
    if x.is_complex:
        return quotient_of_pairs(to, x, y)
    if x.dtype.is_integer:
        to.refuse("TensorFlow divides whole numbers by Div, FloorDiv and TruncateDiv")
    return elementwise(to, "Div", x, y)


@rule("DivNoNan")
def div_no_nan(to: OnnxGraph, x: Term, y: Term) -> Term:
    return _unless_zero(to, y, elementwise(to, "Div", x, y))


def _checked_divisor(to: OnnxGraph, y: Term) -> None:
    """Refuses divisors that may be zero where our kernel would say so; ONNX Runtime's process ends."""
    if to.model.is_for_engine and (y.array is None or not np.all(y.array) or np.any(y.array == -1)):
        to.refuse("ONNX Runtime does not survive a division of whole numbers by zero, and the divisor is not known")
    if y.array is not None and not np.all(y.array):
        to.refuse("it divides whole numbers by zero")


def _safely(to: OnnxGraph, x: Term, y: Term) -> tuple[Term, Term]:
    """Dividend and divisor in a type in which the smallest number can be divided by -1."""
    if x.dtype.name == "int32" and (y.array is None or bool(np.any(y.array == -1))):
        return to.cast(x, INT64), to.cast(y, INT64)
    return x, y


def _truncated_quotient(to: OnnxGraph, x: Term, y: Term) -> Term:
    """The quotient of whole numbers, rounded towards zero: ONNX's Div."""
    _checked_divisor(to, y)
    wide_x, wide_y = _safely(to, x, y)
    return to.cast(elementwise(to, "Div", wide_x, wide_y), x.dtype)


@rule("Div", takes_complex=True)
def div(to: OnnxGraph, x: Term, y: Term) -> Term:
    return _truncated_quotient(to, x, y) if x.dtype.is_integer else real_div(to, x, y)


@rule("TruncateDiv")
def truncate_div(to: OnnxGraph, x: Term, y: Term) -> Term:
    if x.dtype.is_integer:
        return _truncated_quotient(to, x, y)
    quotient = Expression(to, elementwise(to, "Div", x, y))
    return (quotient.apply("Sign") * quotient.apply("Abs").apply("Floor")).term


@rule("FloorDiv")
def floor_div(to: OnnxGraph, x: Term, y: Term) -> Term:
    """The quotient rounded down: of whole numbers one less than ONNX's where that was rounded up."""
    if not x.dtype.is_integer:
        return elementwise(to, "Floor", elementwise(to, "Div", x, y))
    if x.dtype.is_unsigned or (_is_size(x) and y.array is not None and bool(np.all(y.array > 0))):
        return _truncated_quotient(to, x, y)
    if is_empty(broadcast_dims(x, y)):
        return elementwise(to, "Div", x, y)
    _checked_divisor(to, y)
    wide_x, wide_y = _safely(to, x, y)
    quotient = Expression(to, elementwise(to, "Div", wide_x, wide_y))
    if y.array is not None and bool(np.all(y.array > 0)):
        is_above = quotient * wide_y > wide_x
    else:
        rest = Expression(to, wide_x) - quotient * wide_y
        is_above = rest.apply("Sign") * elementwise(to, "Sign", wide_y) < 0
    return to.cast((quotient - to.cast(is_above, wide_x.dtype)).term, x.dtype)


def _is_size(x: Term) -> bool:
    """Whether a value is made of sizes of axes, which are never negative."""
    return x.sizes is not None and all(
        size is not None and (not isinstance(size, int) or size >= 0) for size in x.sizes
    )


# ---------------------------------------------------------------------------------------------------- Remainders


@rule("Mod", "TruncateMod")
def truncate_mod(to: OnnxGraph, x: Term, y: Term) -> Term:
    """The remainder with the sign of the dividend. Of int64, ONNX Runtime computes it with too few bits."""
    if x.dtype.is_integer:
        _checked_divisor(to, y)
    if x.dtype.name == "int64":
        return (Expression(to, x) - Expression(to, elementwise(to, "Div", x, y)) * y).term
    return elementwise(to, "Mod", x, y, fmod=1)


@rule("FloorMod")
def floor_mod(to: OnnxGraph, x: Term, y: Term) -> Term:
    """The remainder with the sign of the divisor."""
    if x.dtype.is_integer:
        _checked_divisor(to, y)
        wide_x, wide_y = _safely(to, x, y)
        return to.cast(elementwise(to, "Mod", wide_x, wide_y), x.dtype)
    rest = Expression(to, elementwise(to, "Mod", x, y, fmod=1))
    is_positive = y.array is not None and bool(np.all(y.array > 0))
    is_other = (rest if is_positive else rest.apply("Sign") * y) < 0
    return rest.unless(is_other, rest + y).term


# -------------------------------------------------------------------------------------------------- Powers and extremes


@rule("Pow")
def power(to: OnnxGraph, x: Term, y: Term) -> Term:
    """A power. Of whole numbers, whose powers wrap round, a product, which needs to know the exponent."""
    if not x.dtype.is_integer:
        return elementwise(to, "Pow", x, y)
    exponents = set(to.known_array(y, "the exponent of whole numbers").reshape(-1).tolist())
    if len(exponents) != 1 or min(exponents) < 0:
        to.refuse("whole numbers are raised to one power that is not negative, or it is not known whether they wrap")
    if broadcast_dims(x, y) != x.dims or x.dims is None:
        to.refuse("an exponent that is larger than what is raised to it has no rule for whole numbers")
    return _whole_power(to, x, exponents.pop())


def _whole_power(to: OnnxGraph, x: Term, exponent: int) -> Term:
    if exponent == 0:
        return elementwise(to, "Add", elementwise(to, "Sub", x, x), to.like(x, 1))
    found: Term | None = None
    factor = x
    while exponent:
        if exponent & 1:
            found = factor if found is None else elementwise(to, "Mul", found, factor)
        exponent >>= 1
        factor = elementwise(to, "Mul", factor, factor) if exponent else factor
    assert found is not None
    return found


@rule("Maximum")
def maximum(to: OnnxGraph, x: Term, y: Term) -> Term:
    return elementwise(to, "Max", x, y)


@rule("Minimum")
def minimum(to: OnnxGraph, x: Term, y: Term) -> Term:
    return elementwise(to, "Min", x, y)


# ---------------------------------------------------------------------------------------------------- Geometry


@rule("Cross")
def cross(to: OnnxGraph, a: Term, b: Term) -> Term:
    """The cross product of vectors of three numbers."""
    if to.model.is_for_engine and (a.dims is None or a.dims != b.dims or a.size(-1) != 3):
        to.refuse("it is not known whether its inputs are vectors of three numbers, of one shape")
    order, other = np.array([1, 2, 0]), np.array([2, 0, 1])

    def chosen(x: Term, axes: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Term:
        return to.node("Gather", x, axes, dims=x.dims, axis=-1)

    first = elementwise(to, "Mul", chosen(a, order), chosen(b, other))
    second = elementwise(to, "Mul", chosen(a, other), chosen(b, order))
    return elementwise(to, "Sub", first, second)


@rule("L2Loss", takes_complex=True)
def l2_loss(to: OnnxGraph, t: Term) -> Term:
    """Half the sum of the squares."""
    if t.is_complex:
        t = pairs(to, t)
    total = to.reduce("ReduceSumSquare", t, None)
    return elementwise(to, "Mul", total, to.like(total, 0.5))
