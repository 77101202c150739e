"""Special functions: of the error, gamma, beta, zeta and Bessel families."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit, emit_tensors
from tensorkeep.graph.building import control_dependencies, name_scope
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import OpSpec, op
from tensorkeep.ops.numbers import _special_functions as numbers
from tensorkeep.ops.shared.expressions import (
    conj,
    constant,
    minus,
    negative,
    number,
    ones_like,
    over,
    plus,
    reduce_sum,
    reshape,
    shape_of,
    times,
)
from tensorkeep.ops.shared.families import Gradient, binary, unary
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import merge_shapes
from tensorkeep.shapes import Shape

_FLOATS = "{bfloat16, half, float, double}"


def in_float64(function: Callable[..., Any], name: str = "") -> Callable[..., Any]:
    """A kernel that computes in float64 and rounds once."""

    def kernel(*inputs: Any) -> Array:
        wide = [np.atleast_1d(np.asarray(x, np.float64)) for x in inputs]
        shape = np.broadcast_shapes(*(np.shape(x) for x in inputs))
        result: Array = function(*wide).reshape(shape).astype(inputs[0].dtype)
        return result

    kernel.__name__ = f"{name or function.__name__}_kernel"
    return kernel


def special(name: str, function: Callable[..., Any], gradient: Gradient) -> OpSpec:
    """A special function of one number."""
    return unary(name, in_float64(function, name), gradient, _FLOATS)


def _chain_rule(derivative: Callable[[Tensor, Tensor], Any]) -> Callable[..., Any]:
    """The gradient of a function whose derivative is told by its input and its result."""

    def gradient(op: Operation, dy: Tensor) -> Gradients:
        with control_dependencies([dy]):
            return times(dy, derivative(op.inputs[0], op.outputs[0]))

    return gradient


# ---------------------------------------------------------------------------------------------------- Error functions


def _by_precision(double: Callable[[Any], Any], single: Callable[[Any], Any], name: str) -> Callable[[Any], Any]:
    """A kernel that computes float64 in float64, and all other types in float32."""

    def kernel(x: Array) -> Array:
        if x.dtype == np.float64:
            result: Array = double(np.atleast_1d(x)).reshape(np.shape(x))
            return result
        result = single(np.asarray(x, np.float32)).astype(x.dtype, copy=False)
        return result

    kernel.__name__ = f"{name}_kernel"
    return kernel


erf_kernel = _by_precision(numbers.erf, numbers.erf_single, "erf")
erfc_kernel = _by_precision(numbers.erfc, numbers.erfc_single, "erfc")


def _bell(factor: float) -> Callable[..., Any]:
    """The gradient of an error function: a factor times exp(-x²)."""

    def gradient(op: Operation, dy: Tensor) -> Gradients:
        scale = constant(factor, dy.dtype.base_dtype)
        with control_dependencies([dy]):
            x = conj(op.inputs[0])
            scaled = times(dy, scale)
            return times(scaled, emit("Exp", negative(emit("Square", x))))

    return gradient


erf = unary("Erf", erf_kernel, _bell(2 / np.sqrt(np.pi)), _FLOATS)
erfc = unary("Erfc", erfc_kernel, _bell(-2 / np.sqrt(np.pi)), _FLOATS)


def erfinv_gradient(op: Operation, dy: Tensor) -> Gradients:
    scale = constant(np.sqrt(np.pi) / 2, dy.dtype.base_dtype)
    with control_dependencies([dy]):
        scaled = times(dy, scale)
        return times(scaled, emit("Exp", emit("Square", op.outputs[0])))


erfinv = special("Erfinv", numbers.erfinv, erfinv_gradient)


def ndtri_gradient(op: Operation, dy: Tensor) -> Gradients:
    scale = constant(np.sqrt(2 * np.pi), dy.dtype.base_dtype)
    with control_dependencies([dy]):
        scaled = times(dy, scale)
        return times(scaled, emit("Exp", over(emit("Square", op.outputs[0]), 2.0)))


ndtri = special("Ndtri", numbers.ndtri, ndtri_gradient)
dawsn = special("Dawsn", numbers.dawson, _chain_rule(lambda x, y: minus(1.0, times(times(2, x), y))))


def expint_gradient(op: Operation, dy: Tensor) -> Gradients:
    x = op.inputs[0]
    with control_dependencies([dy]):
        return over(times(dy, emit("Exp", x)), x)


expint = special("Expint", numbers.expint, expint_gradient)


def _fresnel_sine(x: Any) -> Any:
    return numbers.fresnel(x)[0]


def _fresnel_cosine(x: Any) -> Any:
    return numbers.fresnel(x)[1]


def _fresnel_gradient(wave: str) -> Callable[..., Any]:
    def derivative(x: Tensor, y: Tensor) -> Any:
        return emit(wave, times(float(np.pi / 2), emit("Square", x)))

    return _chain_rule(derivative)


fresnel_sin = special("FresnelSin", _fresnel_sine, _fresnel_gradient("Sin"))
fresnel_cos = special("FresnelCos", _fresnel_cosine, _fresnel_gradient("Cos"))


def spence_gradient(op: Operation, dy: Tensor) -> Gradients:
    x = op.inputs[0]
    with control_dependencies([dy]):
        partial = over(emit("Log", x), minus(1, x))
        is_one = emit("Equal", x, 1.0)
        limit = negative(ones_like(x))
        return times(dy, emit("Select", is_one, limit, partial))


spence = special("Spence", numbers.spence, spence_gradient)


# ---------------------------------------------------------------------------------------------------- Gamma functions


def lgamma_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        return times(dy, digamma(conj(op.inputs[0])))


def digamma_gradient(op: Operation, dy: Tensor) -> Gradients:
    with control_dependencies([dy]):
        x = conj(op.inputs[0])
        one = constant(1, x.dtype.base_dtype)
        return times(dy, polygamma(one, x))


lgamma = special("Lgamma", numbers.lgamma, lgamma_gradient)
digamma = special("Digamma", numbers.digamma, digamma_gradient)


def _second_only(op: Operation, dy: Tensor, partial: Callable[[Tensor, Tensor], Tensor]) -> Gradients:
    """The gradient of the second input, summed to its shape; the first has none."""
    first, second = op.inputs
    first_shape, second_shape = shape_of(first), shape_of(second)
    _, axes = emit_tensors("BroadcastGradientArgs", first_shape, second_shape)
    with control_dependencies([dy]):
        slope = partial(conj(first), conj(second))
        return None, reshape(reduce_sum(times(slope, dy), axes), second_shape)


def zeta_gradient(op: Operation, dy: Tensor) -> Gradients:
    def partial(x: Tensor, q: Tensor) -> Tensor:
        minus_x = negative(x)
        return times(minus_x, zeta(plus(x, 1), q))

    return _second_only(op, dy, partial)


def polygamma_gradient(op: Operation, dy: Tensor) -> Gradients:
    return _second_only(op, dy, lambda n, x: polygamma(plus(n, 1), x))


zeta = binary("Zeta", in_float64(numbers.zeta), zeta_gradient, types="{float, double}", inputs=("x", "q"))
polygamma = binary(
    "Polygamma", in_float64(numbers.polygamma), polygamma_gradient, types="{float, double}", inputs=("a", "x")
)


def igamma_gradient(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor]:
    a, x = op.inputs
    a_shape, x_shape = shape_of(a), shape_of(x)
    a_axes, x_axes = emit_tensors("BroadcastGradientArgs", a_shape, x_shape)
    with control_dependencies([dy]):
        of_a = igamma_grad_a(a, x)
        minus_x = negative(x)
        exponent = plus(minus_x, times(minus(a, 1), emit("Log", x)))
        of_x = emit("Exp", minus(exponent, lgamma(a)))
        ga = reshape(reduce_sum(times(of_a, dy), a_axes), a_shape)
        return ga, reshape(reduce_sum(times(of_x, dy), x_axes), x_shape)


def igammac_gradient(op: Operation, dy: Tensor) -> tuple[Tensor, Tensor]:
    ga, gx = igamma_gradient(op, dy)
    return negative(ga), negative(gx)


igamma = binary("Igamma", in_float64(numbers.igamma), igamma_gradient, types=_FLOATS, inputs=("a", "x"))
igammac = binary("Igammac", in_float64(numbers.igammac), igammac_gradient, types=_FLOATS, inputs=("a", "x"))
igamma_grad_a = binary("IgammaGradA", in_float64(numbers.igamma_slope), ..., types="{float, double}", inputs=("a", "x"))

betainc = op("Betainc(a: T, b: T, x: T) -> z: T", "T: {float, double}")


@betainc.shape
def betainc_shape(a: Tensor, b: Tensor, x: Tensor) -> Shape:
    """Scalars go with anything; the others must have one shape."""
    shapes = [tensor.static_shape for tensor in (a, b, x)]
    if any(shape.dims is None for shape in shapes):
        return _known_shape(shapes)
    merged = Shape(())
    for shape in shapes:
        if shape.dims:
            merged = merge_shapes(merged, shape) if merged.dims else shape
    return merged


def _known_shape(shapes: list[Shape]) -> Shape:
    """What is known of the result while some ranks are not."""
    found = Shape(None)
    for shape in shapes:
        if shape.dims:
            found = merge_shapes(found, shape)
    return found


@betainc.kernel
def betainc_kernel(a: Array, b: Array, x: Array) -> Array:
    shapes = {np.shape(item) for item in (a, b, x) if np.ndim(item)}
    if len(shapes) > 1:
        raise InvalidArgumentError(
            "Shapes of a, b and x are inconsistent: " + " vs. ".join(str(list(shape)) for shape in sorted(shapes))
        )
    result: Array = _betainc(a, b, x)
    return result


_betainc = in_float64(numbers.betainc)


@betainc.gradient
def betainc_gradient(op: Operation, dy: Tensor) -> Gradients:
    a, b, x = op.inputs
    a_shape, x_shape = shape_of(a), shape_of(x)
    _, axes = emit_tensors("BroadcastGradientArgs", a_shape, x_shape)
    both = plus(lgamma(a), lgamma(b))
    log_beta = minus(both, lgamma(plus(a, b)))
    first = _emit_in_scope("xlog1py", "Xlog1py", minus(b, 1), negative(x))
    exponent = minus(plus(first, emit("Xlogy", minus(a, 1), x)), log_beta)
    partial = emit("Exp", exponent)
    return None, None, reshape(reduce_sum(times(partial, dy), axes), x_shape)


def _emit_in_scope(scope: str, name: str, x: Tensor, y: Tensor) -> Tensor:
    with name_scope(scope):
        return emit(name, x, y)


# ---------------------------------------------------------------------------------------------------- Bessel functions


def _scoped_function(name: str, scope: str) -> Callable[[Tensor], Tensor]:
    """A Bessel function as TensorFlow's Python calls it: within a scope of its name."""

    def function(x: Tensor) -> Tensor:
        with name_scope(scope):
            return emit(name, x)

    return function


_i0, _i1 = _scoped_function("BesselI0", "bessel_i0"), _scoped_function("BesselI1", "bessel_i1")
_i0e, _i1e = _scoped_function("BesselI0e", "bessel_i0e"), _scoped_function("BesselI1e", "bessel_i1e")
_k0, _k1 = _scoped_function("BesselK0", "bessel_k0"), _scoped_function("BesselK1", "bessel_k1")
_k0e, _k1e = _scoped_function("BesselK0e", "bessel_k0e"), _scoped_function("BesselK1e", "bessel_k1e")
_j0, _j1 = _scoped_function("BesselJ0", "bessel_j0"), _scoped_function("BesselJ1", "bessel_j1")
_y0, _y1 = _scoped_function("BesselY0", "bessel_y0"), _scoped_function("BesselY1", "bessel_y1")


def _sign(x: Tensor) -> Any:
    return emit("Sign", x)


def _divide_tensors(y: Tensor, x: Tensor) -> Any:
    return emit("RealDiv", y, x, name="div")


def _unless_zero(x: Tensor, at_zero: float, otherwise: Callable[[], Tensor]) -> Any:
    is_zero = emit("Equal", x, 0.0)
    limit = number(at_zero, x.dtype.base_dtype)
    return emit("SelectV2", is_zero, limit, otherwise())


def _slope_i0e(x: Tensor, y: Tensor) -> Any:
    first = _i1e(x)
    return minus(first, times(_sign(x), y))


def _slope_i1(x: Tensor, y: Tensor) -> Any:
    def otherwise() -> Tensor:
        first = _i0(x)
        return minus(first, _divide_tensors(y, x))

    return _unless_zero(x, 1.0, otherwise)


def _slope_i1e(x: Tensor, y: Tensor) -> Any:
    def otherwise() -> Tensor:
        first = _i0e(x)
        both = plus(_sign(x), emit("Reciprocal", x))
        return minus(first, times(y, both))

    return _unless_zero(x, 0.5, otherwise)


def _slope_k1(x: Tensor, y: Tensor) -> Any:
    first = negative(_k0(x))
    return minus(first, _divide_tensors(y, x))


def _slope_k1e(x: Tensor, y: Tensor) -> Any:
    first = times(y, minus(1.0, emit("Reciprocal", x)))
    return minus(first, _k0e(x))


def _slope_j1(x: Tensor, y: Tensor) -> Any:
    def otherwise() -> Tensor:
        first = _j0(x)
        return minus(first, _divide_tensors(y, x))

    return _unless_zero(x, 0.5, otherwise)


def _slope_y1(x: Tensor, y: Tensor) -> Any:
    first = _y0(x)
    return minus(first, _divide_tensors(y, x))


bessel_i0 = special("BesselI0", numbers.i0, _chain_rule(lambda x, y: _i1(x)))
bessel_i0e = special("BesselI0e", numbers.i0e, _chain_rule(_slope_i0e))
bessel_i1 = special("BesselI1", numbers.i1, _chain_rule(_slope_i1))
bessel_i1e = special("BesselI1e", numbers.i1e, _chain_rule(_slope_i1e))
bessel_k0 = special("BesselK0", numbers.k0, _chain_rule(lambda x, y: negative(_k1(x))))
bessel_k0e = special("BesselK0e", numbers.k0e, _chain_rule(lambda x, y: minus(y, _k1e(x))))
bessel_k1 = special("BesselK1", numbers.k1, _chain_rule(_slope_k1))
bessel_k1e = special("BesselK1e", numbers.k1e, _chain_rule(_slope_k1e))
bessel_j0 = special("BesselJ0", numbers.j0, _chain_rule(lambda x, y: negative(_j1(x))))
bessel_j1 = special("BesselJ1", numbers.j1, _chain_rule(_slope_j1))
bessel_y0 = special("BesselY0", numbers.y0, _chain_rule(lambda x, y: negative(_y1(x))))
bessel_y1 = special("BesselY1", numbers.y1, _chain_rule(_slope_y1))
