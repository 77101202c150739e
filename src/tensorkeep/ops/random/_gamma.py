"""How a sample of a gamma distribution moves with its parameter: implicit differentiation of the incomplete gamma
function, by its power series where the sample is small and by its continued fraction where it is large.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorkeep.ops.shared.kernel_types import Array

Doubles = npt.NDArray[np.float64]

_EPSILON: Final = 2.0**-53
_BIG: Final = 2.0**52
_SERIES_STEPS: Final = 20_000
_FRACTION_STEPS: Final = 20_000


def gamma_sample_derivative(alpha: Array, sample: Array) -> Array:
    """RandomGammaGrad: d sample / d alpha, element by element."""
    dtype = np.result_type(alpha, sample)
    a, x = np.broadcast_arrays(np.asarray(alpha, np.float64), np.asarray(sample, np.float64))
    shape = a.shape
    a, x = a.reshape(-1), x.reshape(-1)
    result = np.full(a.size, np.nan)
    with np.errstate(all="ignore"):
        usable = (x >= 0) & (a > 0)
        result[(x == 0) & ~np.isnan(a)] = 0.0
        large = usable & (x > 1) & (x > a)
        small = usable & ~large & (x > 0)
        result[small] = _by_series(a[small], x[small])
        result[large] = _by_fraction(a[large], x[large])
    return result.reshape(shape).astype(dtype)


def digamma(x: Doubles) -> Doubles:
    """The derivative of the logarithm of the gamma function, for positive numbers."""
    shift = np.zeros_like(x)
    x = x.copy()
    while (low := x < 10).any():
        shift[low] -= 1 / x[low]
        x[low] += 1
    square = 1 / (x * x)
    tail = square * (1 / 12 - square * (1 / 120 - square * (1 / 252 - square * (1 / 240 - square * (1 / 132)))))
    return np.asarray(shift + np.log(x) - 0.5 / x - tail)


def _vanishes(a: Doubles, x: Doubles) -> npt.NDArray[np.bool_]:
    """Where x^a e^-x / Γ(a) is below all numbers: the derivative is taken to be zero there."""
    logarithm = a * np.log(x) - x - np.array([math.lgamma(value) if value < 1e305 else np.inf for value in a.tolist()])
    return np.asarray(~(logarithm >= -709.78271289338399))


def _by_series(a: Doubles, x: Doubles) -> Doubles:
    r, c, total = a.copy(), np.ones_like(a), np.ones_like(a)
    dc, dtotal = np.zeros_like(a), np.zeros_like(a)
    for _ in range(_SERIES_STEPS):
        r += 1
        term = x / r
        dc = term * dc - x / (r * r) * c
        dtotal += dc
        c = c * term
        total += c
        if not (np.abs(dc) > _EPSILON * np.abs(dtotal)).any():
            break
    slope = np.log(x) - digamma(a + 1)
    result = -(dtotal + total * slope) * x / a
    result[_vanishes(a, x)] = 0.0
    return np.asarray(result)


def _by_fraction(a: Doubles, x: Doubles) -> Doubles:
    """Numerators p, denominators q and their derivatives by a, two steps of each at a time."""
    y = 1 - a
    z = x + y + 1
    c = 0.0
    before = np.stack([np.ones_like(x), x, np.zeros_like(x), np.zeros_like(x)])
    last = np.stack([x + 1, z * x, np.zeros_like(x), -x])
    value = last[0] / last[1]
    slope = (last[2] - value * last[3]) / last[1]
    moving = np.ones(x.shape, np.bool_)
    for _ in range(_FRACTION_STEPS):
        c, y, z = c + 1, y + 1, z + 2
        yc = y * c
        now = last * z - before * yc
        now[2:] += c * before[:2] - last[:2]
        found = now[0] / now[1]
        change = (now[2] - found * now[3]) / now[1]
        usable = moving & (now[1] != 0)
        settled = usable & (np.abs(change - slope) <= _EPSILON)
        value, slope = np.where(usable, found, value), np.where(usable, change, slope)
        moving &= ~settled
        if not moving.any():
            break
        before, last = last, now
        scale = np.where(np.abs(now[0]) > _BIG, 1 / _BIG, 1.0)
        before, last = before * scale, last * scale
    result = (slope + value * (np.log(x) - digamma(a))) * x
    result[np.isinf(x) | _vanishes(a, x)] = 0.0
    return np.asarray(result)
