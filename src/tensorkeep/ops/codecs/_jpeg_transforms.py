"""The arithmetic of JPEG, in whole numbers as libjpeg-turbo does it: cosine transforms, chroma sampling, colors.

Blocks are arrays [blocks, 8, 8] of coefficients or samples. Every function gives the very numbers of libjpeg-turbo:
products are of 13 or 8 fractional bits, and each shift rounds where and how it does there.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tensorkeep.ops.shared.kernel_types import Array

# ----------------------------------------------------------------------------------------------- Inverse, accurate

_FRACTION: Final = 13
_KEPT: Final = 2  # fractional bits between the passes


def _descale_values(values: Array, bits: int) -> Array:
    return (values + (1 << (bits - 1))) >> bits


def _inverse_line(lines: Array) -> tuple[list[Array], list[Array]]:
    """The even and the odd halves of one pass, over the second axis of [blocks, 8, lines]."""
    z1 = (lines[:, 2] + lines[:, 6]) * 4433
    low, high = z1 - lines[:, 6] * 15137, z1 + lines[:, 2] * 6270
    total, difference = (lines[:, 0] + lines[:, 4]) << _FRACTION, (lines[:, 0] - lines[:, 4]) << _FRACTION
    even = [total + high, difference + low, difference - low, total - high]
    t0, t1, t2, t3 = lines[:, 7], lines[:, 5], lines[:, 3], lines[:, 1]
    z5 = (t0 + t2 + t1 + t3) * 9633
    z1, z2 = (t0 + t3) * -7373, (t1 + t2) * -20995
    z3, z4 = (t0 + t2) * -16069 + z5, (t1 + t3) * -3196 + z5
    odd = [t3 * 12299 + z1 + z4, t2 * 25172 + z2 + z3, t1 * 16819 + z2 + z4, t0 * 2446 + z1 + z3]
    return even, odd


def inverse_accurate(coefficients: Array, quantization: Array) -> Array:
    """Samples of blocks by the accurate transform."""
    values = coefficients.astype(np.int64) * quantization
    even, odd = _inverse_line(values)
    shift = _FRACTION - _KEPT
    first = [_descale_values(a + b, shift) for a, b in zip(even, odd, strict=True)]
    last = [_descale_values(a - b, shift) for a, b in zip(even[::-1], odd[::-1], strict=True)]
    columns = np.stack(first + last, 1).swapaxes(1, 2)
    even, odd = _inverse_line(columns)
    shift = _FRACTION + _KEPT + 3
    first = [_descale_values(a + b, shift) for a, b in zip(even, odd, strict=True)]
    last = [_descale_values(a - b, shift) for a, b in zip(even[::-1], odd[::-1], strict=True)]
    return _bounded_samples(np.stack(first + last, 1).swapaxes(1, 2))


def _bounded_samples(samples: Array) -> Array:
    return np.clip(samples + 128, 0, 255).astype(np.uint8)  # type: ignore[no-any-return]


# --------------------------------------------------------------------------------------------------- Inverse, fast

# Those of Arai, Agui and Nakajima: 1, then sqrt(2) cos(k pi / 16); products are rounded once, to 14 fractional bits.
_SCALES: Final = np.sqrt(np.array([1, *[2] * 7])) * np.cos(np.arange(8) * np.pi / 16)
_PRODUCTS: Final = np.rint(np.outer(_SCALES, _SCALES) * 16384).astype(np.int64)


def _fast_quantization(quantization: Array) -> Array:
    """The table with the factors of the fast transform in it, two fractional bits."""
    return _descale_values(quantization.astype(np.int64) * _PRODUCTS, 12).astype(np.int16)


def _product(values: Array, factor: int) -> Array:
    """Values times a factor of eight fractional bits, rounded down."""
    return (((values << 2).astype(np.int16).astype(np.int32) * (factor << 6)) >> 16).astype(np.int16)


def _fast_line(lines: Array) -> list[Array]:
    t0, t1, t2, t3 = lines[:, 0], lines[:, 2], lines[:, 4], lines[:, 6]
    t10, t11, t13 = t0 + t2, t0 - t2, t1 + t3
    t12 = _product(t1 - t3, 362) - t13
    t0, t3, t1, t2 = t10 + t13, t10 - t13, t11 + t12, t11 - t12
    z13, z10 = lines[:, 5] + lines[:, 3], lines[:, 5] - lines[:, 3]
    z11, z12 = lines[:, 1] + lines[:, 7], lines[:, 1] - lines[:, 7]
    t7 = z11 + z13
    t11 = _product(z11 - z13, 362)
    z5 = _product(z10 + z12, 473)
    t10 = _product(z12, 277) - z5
    t12 = _product(z10, 256 - 669) - z10 + z5
    t6 = t12 - t7
    t5 = t11 - t6
    t4 = t10 + t5
    return [t0 + t7, t1 + t6, t2 + t5, t3 - t4, t3 + t4, t2 - t5, t1 - t6, t0 - t7]


def inverse_fast(coefficients: Array, quantization: Array) -> Array:
    """Samples of blocks by the fast transform, in 16 bits that wrap around."""
    values = coefficients.astype(np.int16) * _fast_quantization(quantization)
    columns = np.stack(_fast_line(values), 1).swapaxes(1, 2)
    rows = np.stack(_fast_line(columns), 1).swapaxes(1, 2) >> 5
    return _bounded_samples(np.clip(rows, -128, 127).astype(np.int64))


# ------------------------------------------------------------------------------------------------ Inverse, reduced


def inverse_reduced(coefficients: Array, quantization: Array, size: int) -> Array:
    """Samples of blocks made as small as 4, 2 or 1 on the way."""
    values = coefficients.astype(np.int64) * quantization
    if size == 1:
        return _bounded_samples(_descale_values(values[:, :1, :1], 3))
    line, extra = (_four_line, 1) if size == 4 else (_two_line, 2)
    columns = _descale_values(line(values), _FRACTION - _KEPT + extra).swapaxes(1, 2)
    return _bounded_samples(_descale_values(line(columns), _FRACTION + _KEPT + 3 + extra).swapaxes(1, 2))


def _four_line(lines: Array) -> Array:
    first = lines[:, 0] << (_FRACTION + 1)
    second = lines[:, 2] * 15137 - lines[:, 6] * 6270
    odd = lines[:, 7] * -1730 + lines[:, 5] * 11893 - lines[:, 3] * 17799 + lines[:, 1] * 8697
    outer = lines[:, 7] * -4176 - lines[:, 5] * 4926 + lines[:, 3] * 7373 + lines[:, 1] * 20995
    plus, minus = first + second, first - second
    return np.stack([plus + outer, minus + odd, minus - odd, plus - outer], 1)


def _two_line(lines: Array) -> Array:
    even = lines[:, 0] << (_FRACTION + 2)
    odd = lines[:, 7] * -5906 + lines[:, 5] * 6967 - lines[:, 3] * 10426 + lines[:, 1] * 29692
    return np.stack([even + odd, even - odd], 1)


# --------------------------------------------------------------------------------------------------------- Forward


def _forward_line(lines: Array, is_last: bool) -> Array:
    """One pass, over the second axis."""
    sums = [lines[:, k] + lines[:, 7 - k] for k in range(4)]
    t7, t6, t5, t4 = (lines[:, k] - lines[:, 7 - k] for k in range(4))
    t10, t13, t11, t12 = sums[0] + sums[3], sums[0] - sums[3], sums[1] + sums[2], sums[1] - sums[2]
    shift = _FRACTION + _KEPT if is_last else _FRACTION - _KEPT
    if is_last:
        first, fifth = _descale_values(t10 + t11, _KEPT), _descale_values(t10 - t11, _KEPT)
    else:
        first, fifth = (t10 + t11) << _KEPT, (t10 - t11) << _KEPT
    z1 = (t12 + t13) * 4433
    third, seventh = _descale_values(z1 + t13 * 6270, shift), _descale_values(z1 - t12 * 15137, shift)
    z1, z2, z3, z4 = t4 + t7, t5 + t6, t4 + t6, t5 + t7
    z5 = (z3 + z4) * 9633
    z1, z2, z3, z4 = z1 * -7373, z2 * -20995, z3 * -16069 + z5, z4 * -3196 + z5
    eighth = _descale_values(t4 * 2446 + z1 + z3, shift)
    sixth = _descale_values(t5 * 16819 + z2 + z4, shift)
    fourth = _descale_values(t6 * 25172 + z2 + z3, shift)
    second = _descale_values(t7 * 12299 + z1 + z4, shift)
    return np.stack([first, second, third, fourth, fifth, sixth, seventh, eighth], 1)


def forward(samples: Array, quantization: Array) -> Array:
    """The quantized coefficients of blocks of samples, by the accurate transform."""
    values = samples.astype(np.int64) - 128
    rows = _forward_line(values.swapaxes(1, 2), is_last=False).swapaxes(1, 2)
    found = _forward_line(rows, is_last=True)
    divisors = quantization.astype(np.int64) * 8
    sizes = (np.abs(found) + (divisors >> 1)) // divisors
    return np.where(found < 0, -sizes, sizes)  # type: ignore[no-any-return]


# ------------------------------------------------------------------------------------------------ Chroma sampling


def widened_smoothly(plane: Array) -> Array:
    """Twice as many columns; each is three parts the nearer old one and one part the other."""
    values = plane.astype(np.int32)
    result = np.empty((plane.shape[0], plane.shape[1] * 2), np.int32)
    result[:, 0::2][:, 1:] = (values[:, 1:] * 3 + values[:, :-1] + 1) >> 2
    result[:, 1::2][:, :-1] = (values[:, :-1] * 3 + values[:, 1:] + 2) >> 2
    result[:, 0], result[:, -1] = values[:, 0], values[:, -1]
    return result.astype(np.uint8)


def _neighbour_rows(values: Array) -> tuple[Array, Array]:
    """The rows above and below; beyond the border they are the first and the last."""
    return np.concatenate([values[:1], values[:-1]]), np.concatenate([values[1:], values[-1:]])


def heightened_smoothly(plane: Array) -> Array:
    """Twice as many rows; each is three parts the nearer old one and one part the other."""
    values = plane.astype(np.int32)
    above, below = _neighbour_rows(values)
    result = np.empty((plane.shape[0] * 2, plane.shape[1]), np.int32)
    result[0::2] = (values * 3 + above + 1) >> 2
    result[1::2] = (values * 3 + below + 2) >> 2
    return result.astype(np.uint8)


def doubled_smoothly(plane: Array) -> Array:
    """Twice as many rows and columns, smoothly in both directions, rounded once."""
    values = plane.astype(np.int32)
    result = np.empty((plane.shape[0] * 2, plane.shape[1] * 2), np.int32)
    for first, other in enumerate(_neighbour_rows(values)):
        sums = values * 3 + other
        lines = result[first::2]
        lines[:, 0::2][:, 1:] = (sums[:, 1:] * 3 + sums[:, :-1] + 8) >> 4
        lines[:, 1::2][:, :-1] = (sums[:, :-1] * 3 + sums[:, 1:] + 7) >> 4
        lines[:, 0] = (sums[:, 0] * 4 + 8) >> 4
        lines[:, -1] = (sums[:, -1] * 4 + 7) >> 4
    return result.astype(np.uint8)


def repeat_samples(plane: Array, down: int, across: int) -> Array:
    """Every sample several times."""
    return np.repeat(np.repeat(plane, down, 0), across, 1)


def halve_plane(plane: Array) -> Array:
    """Means of two by two samples; halves are rounded down and up in turn."""
    values = plane.astype(np.int32)
    total = values[0::2, 0::2] + values[0::2, 1::2] + values[1::2, 0::2] + values[1::2, 1::2]
    bias = 1 + np.arange(total.shape[1]) % 2
    return ((total + bias) >> 2).astype(np.uint8)


# ----------------------------------------------------------------------------------------------------------- Colors


def _fixed_point(value: float) -> int:
    return int(value * 65536 + 0.5)


_HALF: Final = 1 << 15


def rgb_of_ycc(luma: Array, blue: Array, red: Array) -> Array:
    """Colors from brightness and the two differences, [height, width, 3]."""
    y = luma.astype(np.int32)
    cb, cr = blue.astype(np.int32) - 128, red.astype(np.int32) - 128
    r = y + ((_fixed_point(1.402) * cr + _HALF) >> 16)
    g = y + ((-_fixed_point(0.34414) * cb + _HALF - _fixed_point(0.71414) * cr) >> 16)
    b = y + ((_fixed_point(1.772) * cb + _HALF) >> 16)
    return np.clip(np.stack([r, g, b], -1), 0, 255).astype(np.uint8)  # type: ignore[no-any-return]


def gray_of_rgb(red: Array, green: Array, blue: Array) -> Array:
    weights = (_fixed_point(0.299), _fixed_point(0.587), _fixed_point(0.114))
    parts = (weight * plane.astype(np.int32) for weight, plane in zip(weights, (red, green, blue), strict=True))
    return ((sum(parts, start=np.int32(_HALF))) >> 16).astype(np.uint8)  # type: ignore[return-value]


def ycc_of_rgb(image: Array) -> list[Array]:
    """Brightness and the two differences of colors, as planes."""
    r, g, b = (image[..., channel].astype(np.int32) for channel in range(3))
    offset = (128 << 16) + _HALF - 1
    y = (_fixed_point(0.299) * r + _fixed_point(0.587) * g + _fixed_point(0.114) * b + _HALF) >> 16
    cb = (-_fixed_point(0.16874) * r - _fixed_point(0.33126) * g + _fixed_point(0.5) * b + offset) >> 16
    cr = (_fixed_point(0.5) * r - _fixed_point(0.41869) * g - _fixed_point(0.08131) * b + offset) >> 16
    return [plane.astype(np.uint8) for plane in (y, cb, cr)]
