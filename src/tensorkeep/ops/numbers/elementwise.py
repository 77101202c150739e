"""Element-wise functions of one input: signs, powers, exponentials, trigonometry, rounding, complex numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.building import control_dependencies
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.shared.expressions import (
    conj,
    constant,
    minus,
    negative,
    over,
    plus,
    real_dtype,
    times,
    unbroadcast,
    zeros_like,
)
from tensorkeep.ops.shared.families import of_equal_sizes, unary, with_gradient
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import broadcast, same

_SIGNED = "{bfloat16, half, float, double, int8, int16, int32, int64, complex64, complex128}"
_FLOATS = "{bfloat16, half, float, double}"


def of_input(derivative: Callable[[Tensor], Tensor]) -> Callable[..., Any]:
    """The gradient of a function whose derivative is known as a function of its input."""

    def gradient(op: Operation, dy: Tensor) -> Gradients:
        with control_dependencies([dy]):
            return times(dy, derivative(conj(op.inputs[0])))

    return gradient


def in_float32(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function, computed in float32 for types of 16 bits and rounded once."""

    def kernel(x: Array) -> Array:
        result: Array = function(x.astype(np.float32)).astype(x.dtype) if x.dtype.itemsize == 2 else function(x)
        return result

    kernel.__name__ = function.__name__
    return kernel


# ---------------------------------------------------------------------------------------------------- Signs


def neg_gradient(op: Operation, dy: Tensor) -> Gradients:
    return negative(dy)


neg = unary("Neg", np.negative, neg_gradient, _SIGNED)


def abs_gradient(op: Operation, dy: Tensor) -> Gradients:
    return times(dy, sign(op.inputs[0]))


absolute = unary("Abs", np.absolute, abs_gradient, "{bfloat16, half, float, double, int8, int16, int32, int64}")


def sign_gradient(op: Operation, dy: Tensor) -> Gradients:
    return zeros_like(op.inputs[0])


sign = unary("Sign", np.sign, sign_gradient, _SIGNED)


# ---------------------------------------------------------------------------------------------------- Powers


def square_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        x = conj(op.inputs[0])
        two = constant(2.0, x.dtype.base_dtype)
        return emit("Mul", dy, emit("Mul", x, two))


square = unary(
    "Square",
    np.square,
    square_gradient,
    "{bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, complex128}",
)


def sqrt_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit(sqrt_grad, op.outputs[0], dy)


sqrt = unary("Sqrt", np.sqrt, sqrt_gradient)


def rsqrt_kernel(x: Array) -> Array:
    return np.reciprocal(np.sqrt(x))


def rsqrt_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit(rsqrt_grad, op.outputs[0], dy)


rsqrt = unary("Rsqrt", in_float32(rsqrt_kernel), rsqrt_gradient)


def reciprocal_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit(reciprocal_grad, op.outputs[0], dy)


reciprocal = unary("Reciprocal", np.reciprocal, reciprocal_gradient, _SIGNED)
inv = unary("Inv", np.reciprocal, reciprocal_gradient, _SIGNED)


# ---------------------------------------------------------------------------------------------------- Exponentials


def exp_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        return times(dy, conj(op.outputs[0]))


exp = unary("Exp", np.exp, exp_gradient)
expm1 = unary("Expm1", np.expm1, of_input(lambda x: exp(x)))
log = unary("Log", np.log, of_input(lambda x: reciprocal(x)))
log1p = unary("Log1p", np.log1p, of_input(lambda x: reciprocal(plus(1, x))))


def sigmoid_kernel(x: Array) -> Array:
    if x.dtype.itemsize == 2:
        return _sigmoid_of_halves(x)
    result: Array = np.reciprocal(np.exp(np.negative(x)) + x.dtype.type(1))
    return result


def _sigmoid_of_halves(x: Array) -> Array:
    """The sigmoid of types of 16 bits, every step rounded to the type as in TensorFlow:
    tests/interop/test_half_types.py compares it for all numbers.
    """
    powers = np.exp(x.astype(np.float32)).astype(x.dtype)
    shares = powers / (powers + x.dtype.type(1))
    result: Array = np.where(np.isinf(powers), x.dtype.type(1), shares)
    return result


def sigmoid_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        return emit(sigmoid_grad, conj(op.outputs[0]), dy)


sigmoid = unary("Sigmoid", sigmoid_kernel, sigmoid_gradient)


# ---------------------------------------------------------------------------------------------------- Trigonometry


def cos_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        x = conj(op.inputs[0])
        return times(negative(dy), sin(x))


def tan_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        x = conj(op.inputs[0])
        return times(square(reciprocal(cos(x))), dy)


def _root_of_rest(op: Operation, dy: Tensor) -> Any:
    """1 / sqrt(1 - x²) of an operation's input x."""
    squared = square(conj(op.inputs[0]))
    one = constant(1, dy.dtype.base_dtype)
    return reciprocal(sqrt(emit("Sub", one, squared)))


def asin_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        return times(dy, _root_of_rest(op, dy))


def acos_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        inverse = _root_of_rest(op, dy)
        return times(negative(dy), inverse)


def atan_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        squared = square(conj(op.inputs[0]))
        one = constant(1, dy.dtype.base_dtype)
        return times(dy, reciprocal(emit("AddV2", one, squared, name="Add")))


sin = unary("Sin", np.sin, of_input(lambda x: emit("Cos", x)))
cos = unary("Cos", np.cos, cos_gradient)
tan = unary("Tan", np.tan, tan_gradient)
asin = unary("Asin", np.arcsin, asin_gradient)
acos = unary("Acos", np.arccos, acos_gradient)
atan = unary("Atan", np.arctan, atan_gradient)


# ---------------------------------------------------------------------------------------------------- Hyperbolic


def tanh_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        return emit(tanh_grad, conj(op.outputs[0]), dy)


def asinh_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        return over(dy, cosh(conj(op.outputs[0])))


def acosh_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        return over(dy, sinh(conj(op.outputs[0])))


def atanh_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        squared = square(conj(op.inputs[0]))
        one = constant(1, dy.dtype.base_dtype)
        return times(dy, reciprocal(emit("Sub", one, squared)))


sinh = unary("Sinh", np.sinh, of_input(lambda x: emit("Cosh", x)))
cosh = unary("Cosh", np.cosh, of_input(lambda x: emit("Sinh", x)))
tanh = unary("Tanh", np.tanh, tanh_gradient)
asinh = unary("Asinh", np.arcsinh, asinh_gradient)
acosh = unary("Acosh", np.arccosh, acosh_gradient)
atanh = unary("Atanh", np.arctanh, atanh_gradient)


# ---------------------------------------------------------------------------------------------------- Rounding


def round_kernel(x: Array) -> Array:
    return x if x.dtype.kind in "iu" else np.rint(x)


floor = unary("Floor", np.floor, None, _FLOATS)
ceil = unary("Ceil", np.ceil, None, _FLOATS)
rint = unary("Rint", np.rint, None, _FLOATS)
round_half_even = unary("Round", round_kernel, None, _SIGNED)
is_nan = unary("IsNan", np.isnan, ..., _FLOATS, "bool")
is_inf = unary("IsInf", np.isinf, ..., _FLOATS, "bool")
is_finite = unary("IsFinite", np.isfinite, ..., _FLOATS, "bool")


# ---------------------------------------------------------------------------------------------------- Gradients as ops


def gradient_op(name: str, kernel: Callable[..., Any], gradient: Callable[..., Any]) -> OpSpec:
    """An op that computes the gradient of another from that one's result and the gradient of it."""
    spec = op(f"{name}(y: T, dy: T) -> z: T", "T: {bfloat16, half, float, double, complex64, complex128}")
    spec.shape(same)
    spec.kernel(of_equal_sizes(kernel))
    return with_gradient(spec, gradient)


def _where_needed(dy: Array, value: Any) -> Array:
    """The value, but zero where the gradient that comes in is zero, so that an infinity there does not make it NaN."""
    result: Array = np.where(dy == 0, dy.dtype.type(0), value)
    return result


def sqrt_grad_kernel(y: Array, dy: Array) -> Array:
    return _where_needed(dy, (dy * dy.dtype.type(0.5)) / np.conj(y))


def sqrt_grad_gradient(op: Operation, grad: Tensor) -> Gradients:
    a, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        ga = over(grad, a)
        return times(negative(conj(ga)), y), times(0.5, ga)


def rsqrt_grad_kernel(y: Array, dy: Array) -> Array:
    y = np.conj(y)
    return _where_needed(dy, (dy * y) * dy.dtype.type(-0.5) * (y * y))


def rsqrt_grad_gradient(op: Operation, grad: Tensor) -> Gradients:
    a, b = op.inputs
    with control_dependencies([grad]):
        ca, cg = conj(a), conj(grad)
        ga = times(times(times(-1.5, cg), b), square(ca))
        return ga, rsqrt_grad(ca, grad)


def reciprocal_grad_kernel(y: Array, dy: Array) -> Array:
    y = np.conj(y)
    return _where_needed(dy, -y * y * dy)


def reciprocal_grad_gradient(op: Operation, grad: Tensor) -> Gradients:
    a, b = op.inputs
    with control_dependencies([grad]):
        ca, cg = conj(a), conj(grad)
        ga = times(times(times(cg, -2.0), b), ca)
        return ga, reciprocal_grad(ca, grad)


def tanh_grad_kernel(y: Array, dy: Array) -> Array:
    result: Array = dy * (dy.dtype.type(1) - y * y)
    return result


def tanh_grad_gradient(op: Operation, grad: Tensor) -> Gradients:
    with control_dependencies([grad]):
        a, b = conj(op.inputs[0]), conj(op.inputs[1])
        ga = times(times(times(grad, -2.0), b), a)
        return ga, tanh_grad(a, grad)


def sigmoid_grad_kernel(y: Array, dy: Array) -> Array:
    result: Array = dy * y * (dy.dtype.type(1) - y)
    return result


def sigmoid_grad_gradient(op: Operation, grad: Tensor) -> Gradients:
    with control_dependencies([grad]):
        a, b = conj(op.inputs[0]), conj(op.inputs[1])
        gb = times(grad, b)
        twice = times(times(2.0, gb), a)
        return minus(gb, twice), sigmoid_grad(a, grad)


sqrt_grad = gradient_op("SqrtGrad", sqrt_grad_kernel, sqrt_grad_gradient)
rsqrt_grad = gradient_op("RsqrtGrad", rsqrt_grad_kernel, rsqrt_grad_gradient)
reciprocal_grad = gradient_op("ReciprocalGrad", reciprocal_grad_kernel, reciprocal_grad_gradient)
inv_grad = gradient_op("InvGrad", reciprocal_grad_kernel, reciprocal_grad_gradient)
tanh_grad = gradient_op("TanhGrad", tanh_grad_kernel, tanh_grad_gradient)
sigmoid_grad = gradient_op("SigmoidGrad", sigmoid_grad_kernel, sigmoid_grad_gradient)


# ---------------------------------------------------------------------------------------------------- Complex numbers


def _part(name: str, output: str = "output", given: str = "input") -> OpSpec:
    spec = op(
        f"{name}({given}: T) -> {output}: Tout",
        "T: {complex64, complex128} = complex64",
        "Tout: {float, double} = float",
    )
    spec.shape(same)
    return spec


def _join_complex_parts(real: Any, imag: Any) -> Tensor:
    wide = real.dtype.base_dtype.name == "float64"
    return emit(complex_number, real, imag, Tout="complex128" if wide else "complex64")


complex_abs = _part("ComplexAbs", "y", "x")


@complex_abs.kernel
def complex_abs_kernel(x: Array, *, Tout: DType) -> Array:  # noqa: N803
    if x.real.dtype != Tout.array_dtype:
        raise InvalidArgumentError(f"Signature mismatch: parts of {x.real.dtype} in, {Tout.name} out")
    return np.absolute(x)


@complex_abs.gradient
def complex_abs_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs[0], op.outputs[0]
    above = times(_join_complex_parts(dy, zeros_like(dy)), x)
    return emit("DivNoNan", above, _join_complex_parts(y, zeros_like(y)), name="div_no_nan")


real = _part("Real")


@real.kernel
def real_kernel(input: Array) -> Array:
    return input.real


@real.gradient
def real_gradient(op: Operation, dy: Tensor) -> Gradients:
    return _join_complex_parts(dy, constant(0, dy.dtype.base_dtype))


imag = _part("Imag")


@imag.kernel
def imag_kernel(input: Array) -> Array:
    return input.imag


@imag.gradient
def imag_gradient(op: Operation, dy: Tensor) -> Gradients:
    return _join_complex_parts(constant(0, dy.dtype.base_dtype), dy)


angle = _part("Angle")


@angle.kernel
def angle_kernel(input: Array) -> Array:
    result: Array = np.arctan2(input.imag, input.real)
    return result


@angle.gradient
def angle_gradient(op: Operation, dy: Tensor) -> Gradients:
    x = op.inputs[0]
    part = real_dtype(x.dtype)
    with control_dependencies([dy]):
        re = real(x, Tout=part)
        im = imag(x, Tout=part)
        z = reciprocal(_join_complex_parts(im, re))
        complex_dy = _join_complex_parts(dy, constant(0, dy.dtype.base_dtype))
        return times(negative(complex_dy), z)


conjugate = op("Conj(input: T) -> output: T", "T: {complex64, complex128, variant} = complex64")
conjugate.shape(same)
conjugate.kernel(np.conjugate)


@conjugate.gradient
def conj_gradient(op: Operation, dy: Tensor) -> Gradients:
    return conj(dy)


complex_number = op(
    "Complex(real: T, imag: T) -> out: Tout",
    "T: {float, double} = float",
    "Tout: {complex64, complex128} = complex64",
)
complex_number.shape(broadcast)


@complex_number.kernel
def complex_kernel(real: Array, imag: Array, *, Tout: DType) -> Array:  # noqa: N803
    joined = np.empty(np.broadcast_shapes(np.shape(real), np.shape(imag)), Tout.array_dtype)
    joined.real = real
    joined.imag = imag
    return joined


@complex_number.gradient
def complex_gradient(op: Operation, dy: Tensor) -> Gradients:
    x, y = op.inputs
    part = real_dtype(dy.dtype)
    gx = real(dy, Tout=part)
    return unbroadcast(x, y, gx, imag(dy, Tout=part))
