"""Special functions of float64 arrays, good to about fourteen digits.

Functions take and give arrays of any shape. Where a function has several regimes, each is computed only where it
applies. What is outside of the domain is NaN; poles are infinities, as in TensorFlow.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from tensorkeep.ops.numbers import special_tables as tables
from tensorkeep.ops.shared.kernel_types import Array

_ROOT_PI: Final = 1.7724538509055160273
_EULER: Final = 0.57721566490153286061
_HALF_LOG_TAU: Final = 0.91893853320467274178  # log(2 pi) / 2
_BLOCK: Final = 16384  # elements that stay in the cache while a polynomial is evaluated

# B(2k) / (2k), and B(2k) / (2k (2k - 1)), of Stirling's series.
_BERNOULLI: Final = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510, 43867 / 798)


def chebyshev(coefficients: Sequence[float], x: Array, low: float, high: float) -> Array:
    """The sum of a Chebyshev series on an interval, by Clenshaw's recurrence."""
    t = (x - low) * (2.0 / (high - low)) - 1.0
    twice = 2.0 * t
    last = np.zeros_like(t)
    total = np.zeros_like(t)
    for coefficient in reversed(coefficients[1:]):
        last, total = total, twice * total - last + coefficient
    return np.asarray(t * total - last + coefficients[0])


def piecewise(x: Array, *pieces: tuple[Array, Callable[[Array], Array]]) -> Array:
    """A function given by pieces, each where its condition holds; NaN where none does."""
    result = np.full(x.shape, np.nan)
    for condition, function in pieces:
        if condition.any():
            result[condition] = function(x[condition])
    return result


# ---------------------------------------------------------------------------------------------------- Error functions


def erf(x: Array) -> Array:
    size = np.abs(x)
    return piecewise(
        x,
        (size <= 2.0, lambda v: v * chebyshev(tables.ERF_SMALL, v * v, 0.0, 4.0)),
        (size > 2.0, lambda v: np.copysign(1.0 - _erfc_tail(np.abs(v)), v)),
    )


def erfc(x: Array) -> Array:
    return piecewise(
        x,
        (np.abs(x) <= 2.0, lambda v: 1.0 - v * chebyshev(tables.ERF_SMALL, v * v, 0.0, 4.0)),
        (x > 2.0, _erfc_tail),
        (x < -2.0, lambda v: 2.0 - _erfc_tail(-v)),
    )


def _erfc_tail(x: Array) -> Array:
    """erfc of numbers above 2."""
    inverse = 1.0 / x
    value: Array = np.exp(-x * x) * inverse * chebyshev(tables.ERFC_TAIL, inverse * inverse, 0.0, 0.25)
    return value


def _by_blocks(x: Array, function: Callable[[Array], Array]) -> Array:
    """A function of each element of a float32 array, computed for as many at a time as stay in the cache."""
    flat = np.ravel(x)
    result = np.empty_like(flat)
    for start in range(0, flat.size, _BLOCK):
        result[start : start + _BLOCK] = function(flat[start : start + _BLOCK])
    return result.reshape(np.shape(x))


def _powers(coefficients: Sequence[float], x: Array) -> Array:
    """A polynomial of a float32 array, by Horner's rule; the coefficients begin with the constant one."""
    total = np.full_like(x, coefficients[-1])
    for coefficient in reversed(coefficients[:-1]):
        total *= x
        total += np.float32(coefficient)
    return total


def erf_single(x: Array) -> Array:
    """erf in float32."""
    return _by_blocks(x, _erf_of_block)


def _erf_of_block(x: Array) -> Array:
    inside = np.clip(x, -4.0, 4.0)
    t = inside * inside
    t *= np.float32(0.125)
    t -= np.float32(1.0)
    total = _powers(tables.ERF_SINGLE, t)
    total *= inside
    return np.clip(total, -1.0, 1.0, out=total)


def erfc_single(x: Array) -> Array:
    """erfc in float32, within ten units in the last place also where it is very small; TensorFlow is within seventy."""
    return _by_blocks(x, _erfc_of_block)


def _erfc_of_block(x: Array) -> Array:
    """exp(-x²) t P(t) with t = 1 / (1 + 0.3 x), of |x|.

    x² has more digits than fit, and what is lost of it would count as often as x² is large. So exp(-x²) is taken as
    exp(-z²) exp(-(x - z)(x + z)), where z has the upper half of the digits of x, and its square fits.
    """
    size = np.minimum(np.abs(x), np.float32(10.5))  # erfc(10.06) is the last above zero
    t = size * np.float32(0.3)
    t += np.float32(1.0)
    np.divide(np.float32(1.0), t, out=t)
    total = _powers(tables.ERFC_SINGLE, t)
    total *= t
    upper = (size.view(np.uint32) & np.uint32(0xFFFFF000)).view(np.float32)
    total *= np.exp(-upper * upper)
    total *= np.exp((upper - size) * (upper + size))
    return np.where(x < 0, np.float32(2.0) - total, total)


def erfcinv(q: Array) -> Array:
    """The x for which erfc(x) is q, for q in (0, 1]: a guess, made right by Halley's method."""
    log_rest = np.log(q * (2.0 - q))
    half = 2.0 / (np.pi * 0.147) + 0.5 * log_rest
    x = np.sqrt(np.maximum(np.sqrt(half * half - log_rest / 0.147) - half, 0.0))
    for _ in range(4):
        error = (erfc(x) - q) * (_ROOT_PI / 2.0) * np.exp(np.minimum(x * x, 700.0))
        step = error / (1.0 - x * error)
        x = np.where(np.isfinite(step), x + step, x)
    return x


def erfinv(y: Array) -> Array:
    size = np.abs(y)

    def small(v: Array) -> Array:
        x = v * (_ROOT_PI / 2.0)
        for _ in range(6):
            error = (erf(x) - v) * (_ROOT_PI / 2.0) * np.exp(x * x)
            x = x - error / (1.0 + x * error)
        return x

    result = piecewise(
        y,
        (size <= 0.5, small),
        ((size > 0.5) & (size < 1.0), lambda v: np.copysign(erfcinv(1.0 - np.abs(v)), v)),
        (size == 1.0, lambda v: np.copysign(np.inf, v)),
    )
    return result


def ndtri(p: Array) -> Array:
    """The inverse of the normal distribution."""
    return piecewise(
        p,
        ((p > 0.0) & (p < 0.25), lambda v: -np.sqrt(2.0) * erfcinv(2.0 * v)),
        ((p >= 0.25) & (p <= 0.75), lambda v: np.sqrt(2.0) * erfinv(2.0 * v - 1.0)),
        ((p > 0.75) & (p < 1.0), lambda v: np.sqrt(2.0) * erfcinv(2.0 * (1.0 - v))),
        (p == 0.0, lambda v: np.full(v.shape, -np.inf)),
        (p == 1.0, lambda v: np.full(v.shape, np.inf)),
    )


def dawson(x: Array) -> Array:
    size = np.abs(x)

    def beyond(coefficients: Sequence[float], low: float, high: float) -> Callable[[Array], Array]:
        return lambda v: chebyshev(coefficients, 1.0 / (v * v), low, high) / v

    return piecewise(
        x,
        (size <= 3.0, lambda v: v * chebyshev(tables.DAWSON_SMALL, v * v, 0.0, 9.0)),
        ((size > 3.0) & (size <= 6.0), beyond(tables.DAWSON_MIDDLE, 1 / 36, 1 / 9)),
        (size > 6.0, beyond(tables.DAWSON_TAIL, 0.0, 1 / 36)),
    )


def fresnel(x: Array) -> tuple[Array, Array]:
    """The integrals of sin and of cos of pi t² / 2 from 0 to x."""
    size = np.abs(x)
    sine, cosine = np.full(x.shape, np.nan), np.full(x.shape, np.nan)
    near, far = size <= 1.5, (size > 1.5) & (size < 1e100)
    if near.any():
        sine[near], cosine[near] = _fresnel_series(size[near])
    if far.any():
        v = size[far]
        u = 1.0 / (v * v)
        f = chebyshev(tables.FRESNEL_F, u, 0.0, 4 / 9) / (np.pi * v)
        g = chebyshev(tables.FRESNEL_G, u, 0.0, 4 / 9) * u / (np.pi * np.pi * v)
        angle = np.pi / 2 * np.remainder(v * v, 4.0)
        sine[far] = 0.5 - f * np.cos(angle) - g * np.sin(angle)
        cosine[far] = 0.5 + f * np.sin(angle) - g * np.cos(angle)
    endless = size >= 1e100  # where squares may overflow, and waves are long gone
    sine[endless] = cosine[endless] = 0.5
    return np.copysign(sine, x), np.copysign(cosine, x)


def _fresnel_series(x: Array) -> tuple[Array, Array]:
    """The power series of both integrals, for numbers up to 1.5."""
    a = np.pi / 2 * x * x
    term = x.copy()
    sine, cosine = np.zeros_like(x), x.copy()
    for k in range(1, 34):
        term = term * a / k
        part = term / (2 * k + 1) * (1.0 if k % 4 in (0, 1) else -1.0)
        if k % 2:
            sine += part
        else:
            cosine += part
    return sine, cosine


def expint(x: Array) -> Array:
    """The exponential integral Ei."""

    def series(v: Array) -> Array:
        total, term = np.zeros_like(v), np.ones_like(v)
        for k in range(1, 140):
            term = term * v / k
            total += term / k
        return _EULER + np.log(np.abs(v)) + total

    def asymptotic(v: Array) -> Array:
        total, term = np.ones_like(v), np.ones_like(v)
        for k in range(1, 38):
            term = term * k / v
            total += term
        return np.exp(v) / v * total

    return piecewise(
        x,
        ((x > 0.0) & (x <= 40.0), series),
        ((x > 40.0) & np.isfinite(x), asymptotic),
        (np.isposinf(x), lambda v: v),
        (x == 0.0, lambda v: np.full(v.shape, -np.inf)),
        ((x < 0.0) & (x >= -1.0), series),
        ((x < -1.0) & np.isfinite(x), _negative_expint),
        (np.isneginf(x), lambda v: np.zeros(v.shape)),
    )


def _negative_expint(x: Array) -> Array:
    """Ei below -1, by a continued fraction evaluated from its end."""
    z = -x
    fraction = np.zeros_like(z)
    for k in range(120, 0, -1):
        fraction = k * k / (z + 2 * k + 1 - fraction)
    return -np.exp(-z) / (z + 1.0 - fraction)


def spence(x: Array) -> Array:
    """The dilogarithm of 1 - x."""

    def middle(v: Array) -> Array:
        return _dilogarithm(1.0 - v)

    return piecewise(
        x,
        (x == 0.0, lambda v: np.full(v.shape, np.pi * np.pi / 6)),
        ((x > 0.0) & (x < 0.5), lambda v: np.pi * np.pi / 6 - np.log(v) * np.log1p(-v) - _dilogarithm(v)),
        ((x >= 0.5) & (x <= 2.0), middle),
        (x > 2.0, lambda v: -np.pi * np.pi / 6 - 0.5 * np.log(v - 1.0) ** 2 - _dilogarithm(1.0 / (1.0 - v))),
    )


def _dilogarithm(z: Array) -> Array:
    """Li2 of numbers in [-1, 1/2], by Debye's series."""
    u = -np.log1p(-z)
    squared = u * u
    total = np.zeros_like(u)
    factorial = 1.0
    power = u * squared
    for k, number in enumerate(_BERNOULLI, 1):
        factorial *= (2 * k) * (2 * k + 1)
        total += number / factorial * power
        power = power * squared
    return u - squared / 4.0 + total


# ---------------------------------------------------------------------------------------------------- Gamma functions


def lgamma(x: Array) -> Array:
    """log |gamma(x)|"""

    def reflected(v: Array) -> Array:
        return np.log(np.pi / np.abs(np.sin(np.pi * (v - np.rint(v))))) - _lgamma_positive(1.0 - v)

    is_pole = (x <= 0.0) & (np.floor(x) == x)
    return piecewise(
        x,
        ((x > 0.0) & np.isfinite(x), _lgamma_positive),
        ((x < 0.0) & ~is_pole & np.isfinite(x), reflected),
        (is_pole | np.isinf(x), lambda v: np.full(v.shape, np.inf)),
    )


def _lgamma_positive(x: Array) -> Array:
    shift = np.ones_like(x)
    moved = x.copy()
    for _ in range(10):
        low = moved < 10.0
        shift = np.where(low, shift * moved, shift)
        moved = np.where(low, moved + 1.0, moved)
    inverse = 1.0 / moved
    squared = inverse * inverse
    total = np.zeros_like(x)
    for k in range(len(_BERNOULLI), 0, -1):
        total = total * squared + _BERNOULLI[k - 1] / (2 * k * (2 * k - 1))
    stirling = (moved - 0.5) * np.log(moved) - moved + _HALF_LOG_TAU + total * inverse
    return stirling - np.log(shift)


def digamma(x: Array) -> Array:
    def positive(v: Array) -> Array:
        total = np.zeros_like(v)
        moved = v.copy()
        for _ in range(10):
            low = moved < 10.0
            total = np.where(low, total - 1.0 / moved, total)
            moved = np.where(low, moved + 1.0, moved)
        squared = 1.0 / (moved * moved)
        series = np.zeros_like(v)
        for k in range(len(_BERNOULLI), 0, -1):
            series = (series + _BERNOULLI[k - 1] / (2 * k)) * squared
        return total + np.log(moved) - 0.5 / moved - series

    def reflected(v: Array) -> Array:
        return positive(1.0 - v) - np.pi / np.tan(np.pi * (v - np.rint(v)))

    is_pole = (x <= 0.0) & (np.floor(x) == x)
    return piecewise(
        x,
        ((x > 0.0) & np.isfinite(x), positive),
        ((x < 0.0) & ~is_pole & np.isfinite(x), reflected),
        (np.isposinf(x), lambda v: v),
    )


_ZETA_STEPS: Final = 12
_ZETA_LIMIT: Final = 100_000  # steps through negative numbers before giving up


def zeta(x: Array, q: Array) -> Array:
    """The sum of (q + k) ** -x over all k from 0, by the formula of Euler and Maclaurin."""
    x, q = np.broadcast_arrays(x, q)
    result = np.full(x.shape, np.nan)
    result[(x == 1.0) & ~np.isnan(q)] = np.inf
    is_pole = (q <= 0.0) & (np.floor(q) == q)
    result[(x > 1.0) & is_pole & (np.remainder(x, 2.0) == 0.0)] = np.inf
    fine = (x > 1.0) & ~is_pole & ((q > 0.0) | (np.floor(x) == x)) & np.isfinite(q)
    if fine.any():
        result[fine] = _euler_maclaurin(x[fine], q[fine])
    result[(x > 1.0) & np.isposinf(q)] = 0.0
    return result


def _euler_maclaurin(s: Array, q: Array) -> Array:
    total = np.zeros_like(s)
    at = q.copy()
    for step in range(_ZETA_LIMIT):
        needed = (at <= 9.0) | (step < _ZETA_STEPS)
        if not needed.any():
            break
        total = np.where(needed, total + np.power(at, -s), total)
        at = np.where(needed, at + 1.0, at)
    power = np.power(at, -s)
    total = total + power * at / (s - 1.0) + 0.5 * power
    factor = s * power / at
    factorial = 2.0
    for k, number in enumerate(_BERNOULLI, 1):
        total = total + number / factorial * factor
        factor = factor * (s + 2 * k - 1) * (s + 2 * k) / (at * at)
        factorial *= (2 * k + 1) * (2 * k + 2)
    return total


def polygamma(n: Array, x: Array) -> Array:
    """The derivatives of digamma, of whole order."""
    n, x = np.broadcast_arrays(n, x)
    result = np.full(x.shape, np.nan)
    zeroth = n == 0.0
    if zeroth.any():
        result[zeroth] = digamma(x[zeroth])
    higher = (n > 0.0) & (np.floor(n) == n)
    if higher.any():
        order, at = n[higher], x[higher]
        sign = np.where(np.remainder(order, 2.0) == 0.0, -1.0, 1.0)
        result[higher] = sign * np.exp(lgamma(order + 1.0)) * zeta(order + 1.0, at)
    return result


_ITERATIONS: Final = 5000
_TINY: Final = 1e-300


def _prefactor(a: Array, x: Array) -> Array:
    """x ** a * exp(-x) / gamma(a)"""
    value: Array = np.exp(a * np.log(x) - x - lgamma(a))
    return value


def igamma(a: Array, x: Array) -> Array:
    """The lower regularised incomplete gamma function."""
    return _incomplete(a, x, upper=False)


def igammac(a: Array, x: Array) -> Array:
    """The upper regularised incomplete gamma function."""
    return _incomplete(a, x, upper=True)


def _incomplete(a: Array, x: Array, upper: bool) -> Array:
    a, x = np.broadcast_arrays(a, x)
    result = np.full(x.shape, np.nan)
    fine = (a > 0.0) & (x > 0.0) & np.isfinite(a) & np.isfinite(x)
    low = fine & ((x <= 1.0) | (x <= a))
    high = fine & ~low
    if low.any():
        value = _gamma_series(a[low], x[low])[0]
        result[low] = 1.0 - value if upper else value
    if high.any():
        value = _gamma_fraction(a[high], x[high])
        result[high] = value if upper else 1.0 - value
    result[(a > 0.0) & (x == 0.0)] = 1.0 if upper else 0.0
    result[(a > 0.0) & np.isfinite(a) & np.isposinf(x)] = 0.0 if upper else 1.0
    return result


def _gamma_series(a: Array, x: Array) -> tuple[Array, Array]:
    """The lower function by its series, and that series' derivative in `a`."""
    term = 1.0 / a
    total = term.copy()
    slope = -term / a
    slopes = slope.copy()
    for n in range(1, _ITERATIONS):
        slope = (slope - term / (a + n)) * x / (a + n)
        term = term * x / (a + n)
        total = total + term
        slopes = slopes + slope
        if np.all(np.abs(term) <= 1e-17 * total) and np.all(np.abs(slope) <= 1e-17 * np.abs(slopes)):
            break
    factor = _prefactor(a, x)
    return factor * total, factor * (total * (np.log(x) - digamma(a)) + slopes)


def _gamma_fraction(a: Array, x: Array) -> Array:
    """The upper function by its continued fraction."""
    b = x + 1.0 - a
    c = np.full_like(x, 1.0 / _TINY)
    d = 1.0 / np.where(b == 0.0, _TINY, b)
    total = d
    for n in range(1, _ITERATIONS):
        weight = -n * (n - a)
        b = b + 2.0
        d = weight * d + b
        c = b + weight / c
        d = 1.0 / np.where(np.abs(d) < _TINY, _TINY, d)
        c = np.where(np.abs(c) < _TINY, _TINY, c)
        change = d * c
        total = total * change
        if np.all(np.abs(change - 1.0) <= 1e-15):
            break
    return _prefactor(a, x) * total


def igamma_slope(a: Array, x: Array) -> Array:
    """The derivative of the lower regularised incomplete gamma function in its first argument."""
    a, x = np.broadcast_arrays(a, x)
    result = np.full(x.shape, np.nan)
    result[(a > 0.0) & (x == 0.0)] = 0.0
    fine = (a > 0.0) & (x > 0.0) & np.isfinite(a) & np.isfinite(x)
    if fine.any():
        slope = _gamma_series(a[fine], x[fine])[1]
        result[fine] = np.where(np.isfinite(slope), slope, 0.0)  # far beyond `a`, where the function is 1
    return result


def betainc(a: Array, b: Array, x: Array) -> Array:
    """The regularised incomplete beta function."""
    a, b, x = np.broadcast_arrays(a, b, x)
    result = np.full(x.shape, np.nan)
    valid = (a > 0.0) & (b > 0.0)
    result[valid & (x == 0.0)] = 0.0
    result[valid & (x == 1.0)] = 1.0
    inside = valid & (x > 0.0) & (x < 1.0) & np.isfinite(a) & np.isfinite(b)
    straight = inside & (x < (a + 1.0) / (a + b + 2.0))
    mirrored = inside & ~straight
    if straight.any():
        result[straight] = _beta_fraction(a[straight], b[straight], x[straight], 1.0 - x[straight])
    if mirrored.any():
        result[mirrored] = 1.0 - _beta_fraction(b[mirrored], a[mirrored], 1.0 - x[mirrored], x[mirrored])
    return result


def _beta_fraction(a: Array, b: Array, x: Array, rest: Array) -> Array:
    factor: Array = np.exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * np.log(x) + b * np.log(rest)) / a
    c = np.ones_like(x)
    d = 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / np.where(np.abs(d) < _TINY, _TINY, d)
    total = change = d
    for m in range(1, _ITERATIONS):
        for weight in (
            m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0)),
        ):
            d = 1.0 + weight * d
            c = 1.0 + weight / c
            d = 1.0 / np.where(np.abs(d) < _TINY, _TINY, d)
            c = np.where(np.abs(c) < _TINY, _TINY, c)
            change = d * c
            total = total * change
        if np.all(np.abs(change - 1.0) <= 1e-15):
            break
    return factor * total


# ---------------------------------------------------------------------------------------------------- Bessel functions


def i0e(x: Array) -> Array:
    size = np.abs(x)
    return piecewise(
        size,
        (size <= 8.0, lambda v: chebyshev(tables.I0_SMALL, v, 0.0, 8.0)),
        (size > 8.0, lambda v: chebyshev(tables.I0_TAIL, 1.0 / v, 0.0, 0.125) / np.sqrt(v)),
    )


def i1e(x: Array) -> Array:
    size = np.abs(x)
    value = piecewise(
        size,
        (size <= 8.0, lambda v: v * chebyshev(tables.I1_SMALL, v, 0.0, 8.0)),
        (size > 8.0, lambda v: chebyshev(tables.I1_TAIL, 1.0 / v, 0.0, 0.125) / np.sqrt(v)),
    )
    return np.copysign(value, x)


def i0(x: Array) -> Array:
    value: Array = np.exp(np.abs(x)) * i0e(x)
    return value


def i1(x: Array) -> Array:
    value: Array = np.exp(np.abs(x)) * i1e(x)
    return value


def k0(x: Array) -> Array:
    return _second_kind(x, _k0_small, lambda v: np.exp(-v) * _k_tail(tables.K0_TAIL, v))


def k0e(x: Array) -> Array:
    return _second_kind(x, lambda v: np.exp(v) * _k0_small(v), lambda v: _k_tail(tables.K0_TAIL, v))


def k1(x: Array) -> Array:
    return _second_kind(x, _k1_small, lambda v: np.exp(-v) * _k_tail(tables.K1_TAIL, v))


def k1e(x: Array) -> Array:
    return _second_kind(x, lambda v: np.exp(v) * _k1_small(v), lambda v: _k_tail(tables.K1_TAIL, v))


def _second_kind(x: Array, small: Callable[[Array], Array], large: Callable[[Array], Array]) -> Array:
    """A modified Bessel function of the second kind, of what it is up to two, and beyond."""
    return piecewise(
        x,
        (x <= 0.0, lambda v: np.full(v.shape, np.inf)),
        ((x > 0.0) & (x <= 2.0), small),
        (x > 2.0, large),
    )


def _k0_small(x: Array) -> Array:
    return np.asarray(chebyshev(tables.K0_SMALL, x * x, 0.0, 4.0) - np.log(0.5 * x) * i0(x))


def _k1_small(x: Array) -> Array:
    return np.asarray(chebyshev(tables.K1_SMALL, x * x, 0.0, 4.0) / x + np.log(0.5 * x) * i1(x))


def _k_tail(coefficients: Sequence[float], x: Array) -> Array:
    return chebyshev(coefficients, 1.0 / x, 0.0, 0.5) / np.sqrt(x)


def j0(x: Array) -> Array:
    size = np.abs(x)
    return piecewise(
        size,
        (size <= 8.0, lambda v: chebyshev(tables.J0_SMALL, v * v, 0.0, 64.0)),
        (size > 8.0, lambda v: _waves(v, 0)[0]),
    )


def j1(x: Array) -> Array:
    size = np.abs(x)
    value = piecewise(
        size,
        (size <= 8.0, lambda v: v * chebyshev(tables.J1_SMALL, v * v, 0.0, 64.0)),
        (size > 8.0, lambda v: _waves(v, 1)[0]),
    )
    return np.where(x < 0.0, -value, value)


def y0(x: Array) -> Array:
    return piecewise(
        x,
        (x <= 0.0, lambda v: np.full(v.shape, -np.inf)),
        ((x > 0.0) & (x <= 8.0), _y0_small),
        (x > 8.0, lambda v: _waves(v, 0)[1]),
    )


def y1(x: Array) -> Array:
    return piecewise(
        x,
        (x <= 0.0, lambda v: np.full(v.shape, -np.inf)),
        ((x > 0.0) & (x <= 8.0), _y1_small),
        (x > 8.0, lambda v: _waves(v, 1)[1]),
    )


def _y0_small(x: Array) -> Array:
    return chebyshev(tables.Y0_SMALL, x * x, 0.0, 64.0) + 2 / np.pi * np.log(0.5 * x) * j0(x)


def _y1_small(x: Array) -> Array:
    return chebyshev(tables.Y1_SMALL, x * x, 0.0, 64.0) / x + 2 / np.pi * np.log(0.5 * x) * j1(x)


def _waves(x: Array, order: int) -> tuple[Array, Array]:
    """J and Y beyond 8: a wave that dies away, by its parts in and out of phase."""
    inverse = 1.0 / (x * x)
    p = chebyshev((tables.P0_TAIL, tables.P1_TAIL)[order], inverse, 0.0, 1 / 64)
    q = chebyshev((tables.Q0_TAIL, tables.Q1_TAIL)[order], inverse, 0.0, 1 / 64) / x
    # sin and cos of x - pi / 4 or x - 3 pi / 4, from those of x: the difference would lose digits
    sine, cosine = np.sin(x), np.cos(x)
    if order == 0:
        phase_cosine, phase_sine = (cosine + sine), (sine - cosine)
    else:
        phase_cosine, phase_sine = (sine - cosine), -(sine + cosine)
    height: Array = 1.0 / np.sqrt(np.pi * x)
    return height * (p * phase_cosine - q * phase_sine), height * (p * phase_sine + q * phase_cosine)
