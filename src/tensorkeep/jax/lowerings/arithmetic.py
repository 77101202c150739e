"""Arithmetic on elements, and functions of one number."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.scipy import special

from tensorkeep.dtypes import DType
from tensorkeep.jax.registry import lowering, own_derivative, same_function
from tensorkeep.jax.values import CannotTraceError


def _is_real(x: Any) -> bool:
    return bool(jnp.issubdtype(x.dtype, jnp.floating))


def _is_whole(x: Any) -> bool:
    return bool(jnp.issubdtype(x.dtype, jnp.integer))


def _broadcast_pair(x: Any, y: Any) -> tuple[Any, Any]:
    shape = jnp.broadcast_shapes(x.shape, y.shape)
    return jnp.broadcast_to(x, shape), jnp.broadcast_to(y, shape)


def half_as_single(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """A function that computes numbers of 16 bits in float32 and rounds once, as TensorFlow does."""

    def compute(*inputs: Any) -> Any:
        own = inputs[0].dtype
        if own not in (jnp.float16, jnp.bfloat16):
            return function(*inputs)
        return function(*(item.astype(jnp.float32) for item in inputs)).astype(own)

    return compute


same_function(
    {
        "Add": jnp.add,
        "AddV2": jnp.add,
        "Sub": jnp.subtract,
        "Mul": jnp.multiply,
        "Neg": jnp.negative,
        "Square": jnp.square,
        "Sqrt": jnp.sqrt,
        "Rsqrt": lax.rsqrt,
        "Exp": jnp.exp,
        "Expm1": jnp.expm1,
        "Log": jnp.log,
        "Log1p": jnp.log1p,
        "Sin": jnp.sin,
        "Cos": jnp.cos,
        "Tan": jnp.tan,
        "Asin": jnp.arcsin,
        "Acos": jnp.arccos,
        "Atan": jnp.arctan,
        "Sinh": jnp.sinh,
        "Cosh": jnp.cosh,
        "Tanh": jnp.tanh,
        "Asinh": jnp.arcsinh,
        "Atanh": jnp.arctanh,
        "Atan2": jnp.arctan2,
        "Floor": jnp.floor,
        "Ceil": jnp.ceil,
        "Rint": jnp.rint,
        "Sign": jnp.sign,
        "IsFinite": jnp.isfinite,
        "IsInf": jnp.isinf,
        "IsNan": jnp.isnan,
        "Erf": half_as_single(lax.erf),
        "Erfc": half_as_single(lax.erfc),
        "Erfinv": half_as_single(lax.erf_inv),
        "Ndtri": half_as_single(special.ndtri),
        "Lgamma": half_as_single(lax.lgamma),
        "Digamma": half_as_single(lax.digamma),
        "BesselI0e": half_as_single(lax.bessel_i0e),
        "BesselI1e": half_as_single(lax.bessel_i1e),
        "BesselI0": half_as_single(special.i0),
        "BesselI1": half_as_single(special.i1),
        "Igamma": special.gammainc,
        "Igammac": special.gammaincc,
        "Zeta": special.zeta,
        "Sigmoid": jax.nn.sigmoid,
    }
)


@lowering("NextAfter")
def next_after(x1: jax.Array, x2: jax.Array) -> jax.Array:
    """The next number from `x1` towards `x2`. JAX has no derivative of it; here it is 1 in `x1`, as in TensorFlow's
    math_grad.py.
    """
    found = jnp.nextafter(lax.stop_gradient(x1), lax.stop_gradient(x2))
    passed = jnp.broadcast_to(x1, found.shape)
    return found + jnp.where(jnp.isfinite(passed), passed - lax.stop_gradient(passed), 0)


@lowering("Betainc")
def incomplete_beta(a: jax.Array, b: jax.Array, x: jax.Array) -> jax.Array:
    """The regularised incomplete beta function; NaN where a number is NaN or `a` or `b` is not positive, where JAX
    gives 0.
    """
    is_none = jnp.isnan(a) | jnp.isnan(b) | jnp.isnan(x) | (a <= 0) | (b <= 0)
    return jnp.where(is_none, jnp.nan, special.betainc(a, b, x))


@lowering("Abs")
def absolute(x: jax.Array) -> jax.Array:
    return _absolute(x) if _is_real(x) else jnp.abs(x)


@own_derivative
def _absolute(x: Any) -> Any:
    """The size of a number. At zero the derivative is 0, as TensorFlow has it, not JAX's 1; of NaN it is NaN."""
    return jnp.abs(x)


@_absolute.defjvp
def _absolute_derived(given: tuple[Any], moved: tuple[Any]) -> tuple[Any, Any]:
    return jnp.abs(given[0]), moved[0] * jnp.sign(given[0])


@lowering("Acosh")
def area_cosine(x: jax.Array) -> jax.Array:
    return _area_cosine(x)


@own_derivative
def _area_cosine(x: Any) -> Any:
    """JAX derives by a root, and for complex numbers takes the wrong one."""
    return jnp.arccosh(x)


@_area_cosine.defjvp
def _area_cosine_derived(given: tuple[Any], moved: tuple[Any]) -> tuple[Any, Any]:
    found = _area_cosine(*given)
    return found, moved[0] / jnp.sinh(found)


@lowering("Round")
def round_numbers(x: jax.Array) -> jax.Array:
    return x if _is_whole(x) else jnp.round(x)


@lowering("Inv", "Reciprocal")
def reciprocal(x: jax.Array) -> jax.Array:
    return lax.div(jnp.ones_like(x), x)


@lowering("RealDiv", "Div")
def quotient(x: jax.Array, y: jax.Array) -> jax.Array:
    return lax.div(*_broadcast_pair(x, y))


@lowering("FloorDiv")
def quotient_downwards(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.floor(lax.div(*_broadcast_pair(x, y))) if _is_real(x) else jnp.floor_divide(x, y)


@lowering("TruncateDiv")
def quotient_towards_zero(x: jax.Array, y: jax.Array) -> jax.Array:
    found = lax.div(*_broadcast_pair(x, y))
    return jnp.trunc(found) if _is_real(found) else found


@lowering("FloorMod")
def floor_remainder(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mod(x, y)


@lowering("Mod", "TruncateMod")
def remainder(x: jax.Array, y: jax.Array) -> jax.Array:
    return lax.rem(*_broadcast_pair(x, y))


@lowering("Pow")
def power(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.power(x, y)


@lowering("Maximum")
def maximum(x: jax.Array, y: jax.Array) -> jax.Array:
    """The larger one; where both are equal, the gradient is that of the first."""
    return jnp.where(jnp.isnan(y) | (x < y), y, x) if _is_real(x) else jnp.maximum(x, y)


@lowering("Minimum")
def minimum(x: jax.Array, y: jax.Array) -> jax.Array:
    """The smaller one; where both are equal, the gradient is that of the first."""
    return jnp.where(jnp.isnan(y) | (x > y), y, x) if _is_real(x) else jnp.minimum(x, y)


@lowering("SquaredDifference")
def squared_difference(x: jax.Array, y: jax.Array) -> jax.Array:
    difference = x - y
    return jnp.conj(difference) * difference if jnp.iscomplexobj(difference) else jnp.square(difference)


@lowering("DivNoNan")
def quotient_or_zero(x: jax.Array, y: jax.Array) -> jax.Array:
    is_zero = y == 0
    return jnp.where(is_zero, jnp.zeros_like(y), x / jnp.where(is_zero, jnp.ones_like(y), y))


@lowering("MulNoNan")
def product_or_zero(x: jax.Array, y: jax.Array) -> jax.Array:
    is_zero = y == 0
    return jnp.where(is_zero, jnp.zeros_like(y), jnp.where(is_zero, jnp.zeros_like(x), x) * y)


def _nothing_times(function: Any) -> Any:
    """`function(x, y)`, but 0 wherever x is 0, even where the function has no value: x times log(y), and the like."""

    def product(x: Any, y: Any) -> Any:
        is_zero = x == 0
        safe = jnp.where(is_zero, jnp.ones_like(y), y)
        return jnp.where(is_zero, jnp.zeros_like(x * y), function(x, safe))

    return product


same_function(
    {
        "Xdivy": _nothing_times(lambda x, y: x / y),
        "Xlogy": _nothing_times(lambda x, y: x * jnp.log(y)),
        "Xlog1py": _nothing_times(lambda x, y: x * jnp.log1p(y)),
    }
)


@lowering("Polygamma")
def polygamma(a: jax.Array, x: jax.Array) -> jax.Array:
    return _polygamma(*_broadcast_pair(lax.stop_gradient(a), x))


@own_derivative
def _polygamma(a: Any, x: Any) -> Any:
    """A derivative of the digamma function; its own, by `x`, is the next one. By `a` there is none."""
    whole = jnp.round(a)
    size = special.zeta(whole + 1, x) * jnp.exp(lax.lgamma(whole + 1))
    signed = jnp.where(jnp.mod(whole, 2) == 0, -size, size)
    found = jnp.where(whole == 0, lax.digamma(jnp.broadcast_to(x, signed.shape)), signed)
    return jnp.where((a < 0) | (a != whole), jnp.nan, found)


@_polygamma.defjvp
def _polygamma_derived(given: tuple[Any, Any], moved: tuple[Any, Any]) -> tuple[Any, Any]:
    a, x = given
    return _polygamma(a, x), moved[1] * _polygamma(a + 1, x)


@lowering("AddN", "AccumulateNV2")
def add_n(inputs: list[Any]) -> jax.Array:
    return reduce(jnp.add, inputs)


@lowering("ClipByValue")
def clip_by_value(t: jax.Array, clip_value_min: jax.Array, clip_value_max: jax.Array) -> jax.Array:
    below = jnp.where(t > clip_value_max, clip_value_max, t)
    return jnp.where(below < clip_value_min, clip_value_min, below)


@lowering("ApproximateEqual")
def nearly_equal(x: jax.Array, y: jax.Array, *, tolerance: float) -> jax.Array:
    return jnp.abs(x - y) < jnp.asarray(tolerance, x.dtype)


@lowering("Cross")
def cross_product(a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.cross(a, b)


# --------------------------------------------------------------------------------------------------- comparisons, bits

same_function(
    {
        "Greater": jnp.greater,
        "GreaterEqual": jnp.greater_equal,
        "Less": jnp.less,
        "LessEqual": jnp.less_equal,
        "LogicalAnd": jnp.logical_and,
        "LogicalOr": jnp.logical_or,
        "LogicalNot": jnp.logical_not,
        "BitwiseAnd": jnp.bitwise_and,
        "BitwiseOr": jnp.bitwise_or,
        "BitwiseXor": jnp.bitwise_xor,
        "Invert": jnp.bitwise_not,
        "PopulationCount": lax.population_count,
    }
)


@lowering("Equal")
def equal(x: jax.Array, y: jax.Array, *, incompatible_shape_error: bool) -> jax.Array:
    return jnp.asarray(False) if _do_not_fit(x, y, incompatible_shape_error) else jnp.equal(x, y)


@lowering("NotEqual")
def not_equal(x: jax.Array, y: jax.Array, *, incompatible_shape_error: bool) -> jax.Array:
    return jnp.asarray(True) if _do_not_fit(x, y, incompatible_shape_error) else jnp.not_equal(x, y)


def _do_not_fit(x: Any, y: Any, is_error: bool) -> bool:
    try:
        jnp.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        if is_error:
            raise
        return True
    return False


def _bits_of(x: Any) -> int:
    return int(x.dtype.itemsize) * 8


@lowering("LeftShift")
def left_shift(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.left_shift(x, jnp.clip(y, 0, _bits_of(x) - 1))


@lowering("RightShift")
def right_shift(x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.right_shift(x, jnp.clip(y, 0, _bits_of(x) - 1))


# ------------------------------------------------------------------------------------------------------ types, complex


@lowering("Cast")
def cast(x: jax.Array, *, DstT: DType, Truncate: bool) -> jax.Array:  # noqa: N803 - TensorFlow's names
    wanted = DstT.array_dtype
    if Truncate and _is_real(x) and wanted in (jnp.float32, jnp.float16, jnp.bfloat16):
        lost = jnp.finfo(x.dtype).nmant - jnp.finfo(wanted).nmant
        if lost > 0:
            bits = lax.bitcast_convert_type(x, f"uint{_bits_of(x)}")
            x = lax.bitcast_convert_type(bits >> lost << lost, x.dtype)
    if jnp.iscomplexobj(x) and not DstT.is_complex:
        x = jnp.real(x)
    if DstT.is_bool:
        return x != 0
    if _is_real(x) and DstT.is_integer and wanted.itemsize < 4:
        x = x.astype(jnp.int32)
    return x


@lowering("Complex")
def complex_of(real: jax.Array, imag: jax.Array) -> jax.Array:
    return lax.complex(*_broadcast_pair(real, imag))


@lowering("Bitcast")
def bitcast(input: jax.Array, *, type: DType) -> jax.Array:
    if jnp.iscomplexobj(input) or type.is_complex or input.dtype == bool or type.is_bool:
        raise CannotTraceError("JAX does not give the bits of complex numbers and truth values another type")
    return lax.bitcast_convert_type(input, type.array_dtype)


same_function(
    {
        "Real": jnp.real,
        "Imag": jnp.imag,
        "Conj": jnp.conj,
        "Angle": jnp.angle,
        "ComplexAbs": jnp.abs,
    }
)
