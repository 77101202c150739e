"""Complex numbers, which are pairs of floats in the file: their parts and angles, and arithmetic with them."""

from __future__ import annotations

import math

import numpy as np

from tensorkeep.dtypes import BOOL, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.elementwise import Expression, broadcast_dims, elementwise, is_empty, nothing
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Dims, Term, constant_term

# ---------------------------------------------------------------------------------------------------- Parts


@rule("Atan2")
def angle_of(to: OnnxGraph, y: Term, x: Term) -> Term:
    """The angle in the first quarter, mirrored to where the point is. Zeros have signs, and infinities directions."""
    above, right = Expression(to, y), Expression(to, x)
    height, width = above.apply("Abs"), right.apply("Abs")
    slope = (height / width).unless(height.equals(width), height.apply("Sign"))  # 1, or 0 at the origin
    quarter = slope.apply("Atan")
    half = quarter.unless(_is_negative(right), math.pi - quarter)
    return half.unless(_is_negative(above), -half).term


def _is_negative(value: Expression) -> Term:
    """Where a number is below zero, or is a zero with a minus sign."""
    to = value.to
    return elementwise(to, "Or", value < 0.0, (1.0 / value) < 0.0, dtype=BOOL)


def pairs(to: OnnxGraph, z: Term) -> Term:
    """Complex numbers as the floats that they are in the file, with an axis of size 2 at the end."""
    return Term(z.dtype.real_dtype, None if z.dims is None else (*z.dims, 2), value=to.value(z))


def part(to: OnnxGraph, z: Term, which: int, keepdims: bool = False) -> Term:
    """The real (0) or imaginary (1) parts; with an axis of size 1 at the end if `keepdims`."""
    dtype = z.dtype.real_dtype
    if z.array is not None:
        numbers = np.ascontiguousarray(z.array.imag if which else z.array.real)
        return constant_term(numbers[..., None] if keepdims else numbers, dtype)
    dims = None if z.dims is None else (*z.dims, 1) if keepdims else z.dims
    index = np.array([which] if keepdims else which, np.int64)
    return to.node("Gather", z, index, dtype=dtype, dims=dims, axis=-1)


def complex_of_parts(to: OnnxGraph, real: Term, imaginary: Term, dtype: DType) -> Term:
    """Complex numbers of their parts, which are stretched to each other."""
    dims = broadcast_dims(real, imaginary)
    is_real = np.array([True, False])
    parts = [to.unsqueeze(term, [-1]) for term in (real, imaginary)]
    return to.node("Where", is_real, *parts, dtype=dtype, dims=dims)


@rule("Complex", takes_complex=True)
def complex_number(to: OnnxGraph, real: Term, imag: Term, *, Tout: DType) -> Term:  # noqa: N803
    return complex_of_parts(to, real, imag, Tout)


@rule("Real", takes_complex=True)
def real(to: OnnxGraph, input: Term, *, Tout: DType) -> Term:  # noqa: N803
    return to.cast(part(to, input, 0), Tout)


@rule("Imag", takes_complex=True)
def imag(to: OnnxGraph, input: Term, *, Tout: DType) -> Term:  # noqa: N803
    return to.cast(part(to, input, 1), Tout)


@rule("Conj", takes_complex=True)
def conj(to: OnnxGraph, input: Term) -> Term:
    """The conjugate: the imaginary part with the other sign."""
    return _scaled_parts(to, input, [1, -1]) if input.is_complex else input


@rule("ComplexAbs", takes_complex=True)
def complex_abs(to: OnnxGraph, x: Term) -> Term:
    if is_empty(x.dims):
        return nothing(x.dtype.real_dtype, x.dims)
    return to.reduce("ReduceL2", pairs(to, x), [-1])


@rule("Angle", takes_complex=True)
def angle(to: OnnxGraph, input: Term, *, Tout: DType) -> Term:  # noqa: N803
    return to.cast(angle_of(to, part(to, input, 1), part(to, input, 0)), Tout)


# ---------------------------------------------------------------------------------------------------- Arithmetic


def _scaled_parts(to: OnnxGraph, z: Term, factors: list[int]) -> Term:
    """Complex numbers with their parts multiplied by a number each."""
    if z.array is not None:
        return constant_term(
            (z.array.real * factors[0] + 1j * z.array.imag * factors[1]).astype(z.array.dtype), z.dtype
        )
    return to.node("Mul", z, to.constant(factors, z.dtype.real_dtype), dtype=z.dtype, dims=z.dims)


def sum_of_pairs(to: OnnxGraph, op_type: str, a: Term, b: Term) -> Term:
    """The sum or difference of complex numbers: part by part, which pairs broadcast to."""
    return to.node(op_type, a, b, dims=broadcast_dims(a, b))


def product_of_pairs(to: OnnxGraph, a: Term, b: Term) -> Term:
    """The product: a·re(b) + i·a·im(b)."""
    if a.array is not None:
        a, b = b, a
    dims = broadcast_dims(a, b)
    turned = _times_i(to, a)
    first = to.node("Mul", a, part(to, b, 0, keepdims=True), dtype=a.dtype, dims=dims)
    second = to.node("Mul", turned, part(to, b, 1, keepdims=True), dtype=a.dtype, dims=dims)
    return to.node("Add", first, second, dims=dims)


def _times_i(to: OnnxGraph, z: Term) -> Term:
    """i·z"""
    swapped = to.node("Gather", z, np.array([1, 0]), dtype=z.dtype, dims=z.dims, axis=-1)
    return _scaled_parts(to, swapped, [-1, 1])


def squared_size(to: OnnxGraph, z: Term) -> Term:
    """|z|², with an axis of size 1 at the end, so that pairs can be divided by it."""
    return to.reduce("ReduceSumSquare", pairs(to, z), [-1], keepdims=True)


def quotient_of_pairs(to: OnnxGraph, a: Term, b: Term) -> Term:
    """The quotient: a times the conjugate of b, divided by |b|²."""
    product = product_of_pairs(to, a, conj(to, b))
    return to.node("Div", product, squared_size(to, b), dtype=a.dtype, dims=product.dims)


def reciprocal_of_pairs(to: OnnxGraph, z: Term) -> Term:
    return to.node("Div", conj(to, z), squared_size(to, z), dtype=z.dtype, dims=z.dims)


def square_of_size(to: OnnxGraph, z: Term) -> Term:
    """|z|² as complex numbers."""
    total = to.reduce("ReduceSumSquare", pairs(to, z), [-1])
    return complex_of_parts(to, total, to.like(total, 0), z.dtype)


def exponential_of_pairs(to: OnnxGraph, z: Term) -> Term:
    """The cosine and the sine of the imaginary part, times the exponential of the real one."""
    turn = part(to, z, 1)
    wheel = complex_of_parts(to, to.node("Cos", turn, dims=turn.dims), to.node("Sin", turn, dims=turn.dims), z.dtype)
    size = part(to, z, 0, keepdims=True)
    return to.node("Mul", wheel, to.node("Exp", size, dims=size.dims), dtype=z.dtype, dims=z.dims)


def equality_of_pairs(to: OnnxGraph, a: Term, b: Term) -> Term:
    """Where both parts are equal."""
    dims: Dims | None = broadcast_dims(a, b)
    found = to.node("Equal", a, b, dtype=BOOL, dims=None if dims is None else (*dims, 2))
    parts = [to.node("Gather", found, np.array(at, np.int64), dims=dims, axis=-1) for at in (0, 1)]
    return to.node("And", *parts, dims=dims)
