"""How images are sampled at other places: which pixels of a line each new pixel comes from, and with which weights.

Positions are computed in single precision, operation by operation as TensorFlow does, so that the same pixel is the
nearest one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorkeep.errors import InvalidArgumentError
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.runtime.limits import check_allocation

Singles = npt.NDArray[np.float32]

_ONE: Final = np.float32(1)
_HALF: Final = np.float32(0.5)
_SMALLEST_SUM: Final = np.float32(1000) * np.finfo(np.float32).tiny


@dataclass(frozen=True, slots=True)
class Taps:
    """For every new pixel of a line the old pixels that it is made of, and their weights: both [new pixels, taps]."""

    places: Array
    weights: Singles

    def gather(self, image: Singles, axis: int) -> Singles:
        """The weighted sums along an axis, added from the first tap to the last."""
        total = np.take(image, self.places[:, 0], axis) * self._along(0, image.ndim, axis)
        for tap in range(1, self.places.shape[1]):
            total += np.take(image, self.places[:, tap], axis) * self._along(tap, image.ndim, axis)
        return total

    def gather_weighted(self, image: Singles, axis: int) -> Singles:
        """As `gather`, but pixels with a weight of zero are left out, so that infinite ones do not matter there."""
        total = np.zeros((*image.shape[:axis], len(self.places), *image.shape[axis + 1 :]), np.float32)
        for tap in range(self.places.shape[1]):
            weights = self._along(tap, image.ndim, axis)
            values = np.take(image, self.places[:, tap], axis)
            np.add(total, values * weights, out=total, where=weights != 0)
        return total

    def scatter(self, grads: Array, size: int, axis: int) -> Array:
        """The opposite: every new pixel gives to the old ones that it was made of. `size` counts the old ones."""
        moved = np.moveaxis(grads, axis, 0)
        total = np.zeros((size, *moved.shape[1:]), grads.dtype)
        for new, (places, weights) in enumerate(zip(self.places.tolist(), self.weights, strict=True)):
            for place, weight in zip(places, weights, strict=True):
                if weight:
                    total[place] += moved[new] * weight
        return np.moveaxis(total, 0, axis)

    def tap(self, number: int) -> Taps:
        """One of the taps alone, with a weight of one."""
        places = self.places[:, number : number + 1]
        return Taps(places, np.ones(places.shape, np.float32))

    def _along(self, tap: int, rank: int, axis: int) -> Singles:
        shape = [1] * rank
        shape[axis] = -1
        return self.weights[:, tap].reshape(shape)


def line_scale(old: int, new: int, align_corners: bool) -> np.float32:
    """How many old pixels a new one is wide."""
    if align_corners and new > 1:
        return np.float32(np.float32(old - 1) / np.float32(new - 1))
    return np.float32(np.float32(old) / np.float32(new))


def positions(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Singles:
    """Where in the old line the new pixels lie."""
    scale = line_scale(old, new, align_corners)
    places = np.arange(new, dtype=np.float32)
    return (places + _HALF) * scale - _HALF if half_pixel_centers else places * scale


def nearest_places(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Array:
    """The one old pixel that each new one is."""
    scale = line_scale(old, new, align_corners)
    places = np.arange(new, dtype=np.float32)
    scaled = (places + _HALF) * scale if half_pixel_centers else places * scale
    found = round_half_away(scaled) if align_corners else np.floor(scaled)
    return np.clip(found.astype(np.int64), 0, old - 1)


def round_half_away(values: Singles) -> Singles:
    """To the nearest whole number; halves away from zero."""
    whole = np.trunc(values)
    return np.where(np.abs(values - whole) >= _HALF, whole + np.copysign(_ONE, values), whole)


def bilinear_taps(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    places = positions(old, new, align_corners, half_pixel_centers)
    floors = np.floor(places)
    lower = np.clip(floors.astype(np.int64), 0, old - 1)
    upper = np.clip(np.ceil(places).astype(np.int64), 0, old - 1)
    share = places - floors
    return Taps(np.stack([lower, upper], 1), np.stack([_ONE - share, share], 1))


@cache
def _cubic_table(a: float) -> Singles:
    """The weights at distances of 0..1 and 1..2, in 1024 steps each."""
    near = np.arange(1025, dtype=np.float64) / 1024
    far = near + 1
    weights = (((a + 2) * near - (a + 3)) * near * near + 1, ((a * far - 5 * a) * far + 8 * a) * far - 4 * a)
    return np.stack(weights, 1).astype(np.float32)


def bicubic_taps(old: int, new: int, align_corners: bool, half_pixel_centers: bool) -> Taps:
    """Four taps. With half pixel centers, those beyond the border count nothing; otherwise the border counts again."""
    places = positions(old, new, align_corners, half_pixel_centers)
    floors = np.floor(places).astype(np.int64)
    offset = np.rint((places - floors.astype(np.float32)) * np.float32(1024)).astype(np.int64)
    table = _cubic_table(-0.5 if half_pixel_centers else -0.75)
    weights = np.stack([table[offset, 1], table[offset, 0], table[1024 - offset, 0], table[1024 - offset, 1]], 1)
    wanted = floors[:, None] + np.arange(-1, 3)
    bounded = np.clip(wanted, 0, old - 1)
    if half_pixel_centers:
        weights = np.where(bounded == wanted, weights, np.float32(0))
        total = ((weights[:, 0] + weights[:, 1]) + weights[:, 2]) + weights[:, 3]
        usable = np.abs(total) >= _SMALLEST_SUM
        weights *= np.where(usable, _ONE / np.where(usable, total, _ONE), _ONE)[:, None]
    return Taps(bounded, weights)


def area_taps(old: int, new: int, align_corners: bool) -> tuple[Taps, np.float32]:
    """The old pixels that a new one covers, by how much of each, and the width of a new one."""
    scale = line_scale(old, new, align_corners)
    starts = np.arange(new, dtype=np.float32) * scale
    ends = np.arange(1, new + 1, dtype=np.float32) * scale
    first, limit = np.floor(starts).astype(np.int64), np.ceil(ends).astype(np.int64)
    wanted = first[:, None] + np.arange(max(1, int((limit - first).max())))
    left = wanted.astype(np.float32)
    begin, end = starts[:, None], ends[:, None]
    beyond = left + _ONE > end
    inside = np.where(beyond, end - left, _ONE)
    cut = np.where(beyond, scale, left + _ONE - begin)
    weights = np.where(left < begin, cut, inside)
    weights = np.where(wanted < limit[:, None], weights, np.float32(0)).astype(np.float32)
    return Taps(np.clip(wanted, 0, old - 1), weights), scale


# ------------------------------------------------------------------------------------------- Scaling, translating

_PI: Final = np.float32(3.14159265359)


def _lanczos(radius: float) -> Callable[[Singles], Singles]:
    wide = np.float32(radius)

    def weight(x: Singles) -> Singles:
        safe = np.where(x <= np.float32(1e-3), _ONE, x)
        value = wide * np.sin(_PI * safe) * np.sin(_PI * safe / wide) / (_PI * _PI * safe * safe)
        return np.where(x > wide, np.float32(0), np.where(x <= np.float32(1e-3), _ONE, value)).astype(np.float32)

    return weight


def _gaussian(x: Singles) -> Singles:
    value = np.exp(-(x * x).astype(np.float64) / (2.0 * 0.5 * 0.5)).astype(np.float32)
    return np.where(x >= np.float32(1.5), np.float32(0), value)


def _box(x: Singles) -> Singles:
    return np.where(x < _HALF, _ONE, np.where(x == _HALF, _HALF, np.float32(0)))


def _triangle(x: Singles) -> Singles:
    return np.where(x < _ONE, _ONE - x, np.float32(0))


def _cubic(inner: tuple[float, float, float], outer: tuple[float, float, float, float]) -> Callable[[Singles], Singles]:
    """A cubic of the distance up to one, and another from there to two; zero beyond."""
    a, b, c = (np.float32(value) for value in inner)
    d, e, f, g = (np.float32(value) for value in outer)

    def weight(x: Singles) -> Singles:
        near = ((a * x + b) * x) * x + c
        far = ((d * x + e) * x + f) * x + g
        return np.where(x >= np.float32(2), np.float32(0), np.where(x >= _ONE, far, near)).astype(np.float32)

    return weight


SAMPLING_KERNELS: Final[dict[bytes, tuple[float, Callable[[Singles], Singles]]]] = {
    b"lanczos1": (1.0, _lanczos(1.0)),
    b"lanczos3": (3.0, _lanczos(3.0)),
    b"lanczos5": (5.0, _lanczos(5.0)),
    b"gaussian": (1.5, _gaussian),
    b"box": (1.0, _box),
    b"triangle": (1.0, _triangle),
    b"keyscubic": (2.0, _cubic((1.5, -2.5, 1.0), (-0.5, 2.5, -4.0, 2.0))),
    b"mitchellcubic": (2.0, _cubic((7 / 6, -2.0, 8 / 9), (-7 / 18, 2.0, -10 / 3, 16 / 9))),
}
"""By name: how far a kernel reaches, and its weight at a distance."""


def span_taps(
    kernel_type: bytes, new: int, old: int, scale: np.float32, translate: np.float32, antialias: bool
) -> Taps:
    """The taps of a line that is scaled and moved. New pixels whose place is outside the old line have no weights."""
    reach, kernel = SAMPLING_KERNELS[kernel_type]
    inverse = np.float32(1.0 / np.float64(scale))
    moved = np.float32(-inverse * translate)
    wide = max(inverse, _ONE) if antialias else _ONE
    if not np.isfinite(wide) or not np.isfinite(moved):
        raise InvalidArgumentError(f"a scale of {scale} and a translation of {translate} reach too far")
    radius = np.float32(np.float32(reach) * wide)
    count = int(min(2 * int(np.ceil(radius)) + 1, old))
    check_allocation((new, count), np.float64, copies=4)
    samples = (np.arange(new, dtype=np.float32) + _HALF) * inverse + moved
    outside = (samples < 0) | (samples > old)
    held = np.where(outside, np.float32(0), samples)
    starts = np.clip(np.ceil(held - radius - _HALF), 0, old - 1).astype(np.int64)
    ends = np.clip(np.floor(held + radius - _HALF), 0, old - 1).astype(np.int64) + 1
    wanted = starts[:, None] + np.arange(count)
    distances = np.abs((wanted.astype(np.float32) + _HALF - held[:, None]) * (_ONE / wide))
    weights = np.where(wanted < ends[:, None], kernel(distances.astype(np.float32)), np.float32(0))
    total = np.zeros(new, np.float32)
    for tap in range(count):
        total += weights[:, tap]
    usable = (np.abs(total) >= _SMALLEST_SUM) & ~outside
    weights *= np.where(usable, _ONE / np.where(usable, total, _ONE), np.float32(0))[:, None]
    return Taps(np.clip(wanted, 0, old - 1), weights.astype(np.float32))
