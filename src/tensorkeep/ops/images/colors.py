"""Colors of images: contrast, hue, saturation, and the other way of writing colors (hue, saturation, value)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import FLOAT32
from tensorkeep.errors import FailedPreconditionError, InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.shared.dimensions import at_least, merge_sizes, with_size_at
from tensorkeep.ops.shared.expressions import cast, constant, minus, over, plain, plus, times
from tensorkeep.ops.shared.indexing import dense, item, stack
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.shapes import Shape

_TYPES: Final = "T: {half, float} = float"
_COLOR_TYPES: Final = "T: {half, bfloat16, float, double} = float"


def _image_shape(images: Tensor, *numbers: Tensor) -> Shape:
    for number in numbers:
        with_rank(number, 0)
    return at_least(images.static_shape, 3)


def _check_image(images: Array, channels: int | None, **numbers: Any) -> None:
    if np.ndim(images) < 3:
        raise InvalidArgumentError(f"input must be at least 3-D, got shape {list(np.shape(images))}")
    if channels is not None and images.shape[-1] != channels:
        raise InvalidArgumentError(f"input must have {channels} channels but instead has {images.shape[-1]} channels.")
    for name, number in numbers.items():
        if np.ndim(number):
            raise InvalidArgumentError(f"{name} must be scalar: got shape {list(np.shape(number))}")


# --------------------------------------------------------------------------------------------------- Adjustments

adjust_contrast = op(
    "AdjustContrast(images: T, contrast_factor: float, min_value: float, max_value: float) -> output: float",
    "T: {uint8, int8, int16, int32, int64, float, double}",
    "deprecated 2 'Use AdjustContrastv2 instead'",
)
adjust_contrast_v2 = op("AdjustContrastv2(images: T, contrast_factor: float) -> output: T", _TYPES)
adjust_hue = op("AdjustHue(images: T, delta: float) -> output: T", _TYPES)
adjust_saturation = op("AdjustSaturation(images: T, scale: float) -> output: T", _TYPES)


for _spec in (adjust_contrast, adjust_contrast_v2, adjust_hue, adjust_saturation):
    _spec.shape(_image_shape)


def _contrasted_images(images: Array, factor: Any) -> Array:
    """The distance of every pixel from the mean of its channel, times the factor."""
    values = images.astype(np.float32)
    if not values.size:
        return values
    mean = values.mean((-3, -2), keepdims=True, dtype=np.float64).astype(np.float32)
    contrasted: Array = (values - mean) * np.float32(factor) + mean
    return contrasted


@adjust_contrast.kernel
def adjust_contrast_kernel(images: Array, contrast_factor: Array, min_value: Array, max_value: Array) -> Array:
    _check_image(images, None, contrast_factor=contrast_factor, min_value=min_value, max_value=max_value)
    bounded = np.minimum(_contrasted_images(images, contrast_factor), np.float32(max_value))
    return np.maximum(bounded, np.float32(min_value))  # which wins where they cross


@adjust_contrast_v2.kernel
def adjust_contrast_v2_kernel(images: Array, contrast_factor: Array) -> Array:
    _check_image(images, None, contrast_factor=contrast_factor)
    return _contrasted_images(images, contrast_factor).astype(images.dtype)


@adjust_hue.kernel
def adjust_hue_kernel(images: Array, delta: Array) -> Array:
    _check_image(images, 3, delta=delta)
    if not np.isfinite(delta):
        raise InvalidArgumentError(f"delta must be a number, got {delta}")
    colors = images.astype(np.float32)
    low, middle, high = np.moveaxis(np.sort(colors, -1), -1, 0)
    red, green, blue = np.moveaxis(colors, -1, 0)
    warm = np.where(blue < green, 0, np.where(blue > red, 4, 5))
    cold = np.where(blue < red, 1, np.where(blue > green, 3, 2))
    sector = np.where(red < green, cold, warm)
    spread = high - low
    ratio = (middle - low) / np.where(spread == 0, np.float32(1), spread)
    hue = np.where(sector % 2 == 0, ratio, np.float32(1) - ratio) + sector.astype(np.float32)
    hue = np.where(spread == 0, np.float32(0), hue) + np.float32(np.float32(delta) * np.float32(6))
    hue = _within(hue, 6)
    place = hue.astype(np.int64)
    ratio = hue - place.astype(np.float32)
    between = low + np.where(place % 2 == 0, ratio, np.float32(1) - ratio) * spread
    levels = np.stack([low, between, high], -1)
    return np.take_along_axis(levels, _HUE_ORDER[np.clip(place, 0, 5)], -1).astype(images.dtype)


_HUE_ORDER: Final = np.array([[2, 1, 0], [1, 2, 0], [0, 2, 1], [0, 1, 2], [1, 0, 2], [2, 0, 1]])
"""By sixths of the circle: which of the lowest, the middle and the highest level red, green and blue have."""


def _within(values: Array, period: int) -> Array:
    """Values moved by whole periods to [0, period)."""
    wide = np.float32(period)
    moved = values - np.floor(values / wide) * wide
    moved = np.where(moved < 0, moved + wide, moved)
    return np.where(moved >= wide, moved - wide, moved)


@adjust_saturation.kernel
def adjust_saturation_kernel(images: Array, scale: Array) -> Array:
    _check_image(images, 3, scale=scale)
    sixths, saturation, value = _sixths_saturation_value(images.astype(np.float32))
    saturation = np.minimum(np.float32(1), np.maximum(np.float32(0), saturation * np.float32(scale)))
    chroma = saturation * value
    rest = value - chroma
    second = chroma * (np.float32(1) - np.abs(_within(sixths, 2) - np.float32(1)))
    levels = np.stack([np.zeros_like(chroma), second, chroma], -1)
    place = sixths.astype(np.int64)
    shares = np.take_along_axis(levels, _HUE_ORDER[np.clip(place, 0, 5)], -1)
    shares[(place < 0) | (place > 5)] = 0  # a hue that was rounded to a whole turn has no color in TensorFlow
    result: Array = (shares + rest[..., None]).astype(images.dtype)
    return result


def _sixths_saturation_value(images: Array) -> tuple[Array, Array, Array]:
    """Hue in sixths of the circle, saturation and value as TensorFlow's AdjustSaturation rounds them.

    Unlike RGBToHSV it divides once for the hue, and adds thirds of the circle in double precision.
    """
    red, green, blue = np.moveaxis(images, -1, 0)
    value = images.max(-1)
    spread = value - images.min(-1)
    with np.errstate(all="ignore"):
        saturation = np.where(value > 0, spread / value, np.float32(0))
        norm = np.float32(1) / (np.float32(6) * spread)
        hue = np.where(
            green == value, norm * (blue - red) + np.float64(2 / 6), norm * (red - green) + np.float64(4 / 6)
        )
        hue = np.where(red == value, norm * (green - blue), hue).astype(np.float32)
    hue = np.where(spread > 0, hue, np.float32(0))
    hue = np.where(hue < 0, hue + np.float32(1), hue)
    return hue * np.float32(6), saturation, value


# ---------------------------------------------------------------------------------------- Hue, saturation, value

rgb_to_hsv = op("RGBToHSV(images: T) -> output: T", _COLOR_TYPES)
hsv_to_rgb = op("HSVToRGB(images: T) -> output: T", _COLOR_TYPES)
not_differentiable(hsv_to_rgb)


@rgb_to_hsv.shape
@hsv_to_rgb.shape
def color_shape(images: Tensor) -> Shape:
    shape = at_least(images.static_shape, 1)
    return shape if shape.dims is None else with_size_at(shape, -1, merge_sizes(shape.dims[-1], 3))


def _check_colors(images: Array) -> None:
    if not np.ndim(images):
        raise InvalidArgumentError("input must have at least one dimension, got a scalar")
    if images.shape[-1] != 3:
        raise FailedPreconditionError(f"input must have 3 channels in its last dimension, got {list(np.shape(images))}")


def _hue_saturation_value(images: Array) -> Array:
    """The colors written the other way, computed in the type of the images."""
    one = images.dtype.type(1)
    zero, sixth = images.dtype.type(0), one / images.dtype.type(6)
    red, green, blue = np.moveaxis(images, -1, 0)
    value = images.max(-1)
    spread = value - images.min(-1)
    with np.errstate(all="ignore"):
        saturation = np.where(value > 0, spread / value, zero)
        norm = (one / spread) * sixth
        third = images.dtype.type(2) / images.dtype.type(6)
        two_thirds = images.dtype.type(4) / images.dtype.type(6)
        hue = np.where(green == value, norm * (blue - red) + third, norm * (red - green) + two_thirds)
        hue = np.where(red == value, norm * (green - blue), hue)
    hue = np.where(spread > 0, hue, zero)
    hue = np.where(hue < 0, hue + one, hue)
    return np.stack([hue, saturation, value], -1).astype(images.dtype)


@rgb_to_hsv.kernel
def rgb_to_hsv_kernel(images: Array) -> Array:
    _check_colors(images)
    return _hue_saturation_value(images)


@hsv_to_rgb.kernel
def hsv_to_rgb_kernel(images: Array) -> Array:
    _check_colors(images)
    kind = images.dtype.type
    hue, saturation, value = np.moveaxis(images, -1, 0)
    sixths = hue * kind(6)
    shares = (
        np.abs(sixths - kind(3)) - kind(1),
        -np.abs(sixths - kind(2)) + kind(2),
        -np.abs(sixths - kind(4)) + kind(2),
    )
    rest = -saturation + kind(1)
    levels = [(rest + saturation * np.clip(share, kind(0), kind(1))) * value for share in shares]
    return np.stack(levels, -1).astype(images.dtype)


# The derivatives of the hue, by color: the two whose difference counts where the color is the largest, then for each
# other color, where it is the largest: the difference and the square that count where this color is the smallest; the
# sign and the difference that count where it is in between.
_HUE_TERMS: Final = (
    ((1, 2), (1, (2, 1), (0, 1), -1, (1, 2)), (2, (2, 1), (2, 0), 1, (2, 1))),
    ((2, 0), (0, (0, 2), (0, 1), 1, (0, 2)), (2, (0, 2), (2, 1), -1, (2, 0))),
    ((0, 1), (0, (1, 0), (0, 2), -1, (0, 1)), (1, (1, 0), (1, 2), 1, (1, 0))),
)


class _HsvGradient:
    """The derivatives of hue, saturation and value with respect to each color."""

    def __init__(self, image: Tensor, hsv: Tensor) -> None:
        self.dtype = image.dtype.base_dtype
        self.colors = [item(image, (Ellipsis, channel)) for channel in range(3)]
        self.saturation, self.value = (item(hsv, (Ellipsis, channel)) for channel in (1, 2))
        red, green, blue = self.colors
        most, more, less, least = ("GreaterEqual", "Greater", "Less", "LessEqual")
        self.largest = [
            self._both(most, red, blue, most, red, green),
            self._both(more, green, red, most, green, blue),
            self._both(more, blue, red, more, blue, green),
        ]
        self.smallest = [
            self._both(less, red, blue, less, red, green),
            self._both(least, green, red, less, green, blue),
            self._both(least, blue, red, least, blue, green),
        ]

    def _both(self, first: str, a: Tensor, b: Tensor, second: str, c: Tensor, d: Tensor) -> Tensor:
        left, right = emit(first, a, b), emit(second, c, d)
        return cast(plain("LogicalAnd", left, right, "and"), self.dtype)

    def _positive(self, color: int) -> Tensor:
        return cast(emit("Greater", self.colors[color], 0), self.dtype)

    def _reciprocal(self, x: Tensor) -> Tensor:
        with name_scope("Cast", x.graph) as scope:
            one = constant(1.0, FLOAT32, "x")
            one = one if self.dtype is FLOAT32 else emit("Cast", one, DstT=self.dtype, name=scope)
        return plain("DivNoNan", one, x, "div_no_nan")

    def _square(self, x: Tensor) -> Tensor:
        found: Tensor = emit("Square", x)
        return found

    def _difference(self, pair: tuple[int, int]) -> Tensor:
        return minus(self.colors[pair[0]], self.colors[pair[1]])

    def of_saturation(self, color: int, others: tuple[int, int]) -> Tensor:
        """`others` are the two other colors, in the order in which their terms are added."""
        positive = self._positive(color)
        parts = [times(self.smallest[other], self.colors[other]) for other in others]
        inside = times(self.largest[color], plain("AddV2", parts[0], parts[1], "Add"))
        inside = times(inside, self._reciprocal(self._square(self.colors[color])))
        outside = times(self.smallest[color], -1)
        sums = [times(self.largest[other], self.colors[other]) for other in others]
        outside = times(outside, self._reciprocal(plus(*sums)))
        return times(positive, plain("AddV2", inside, outside, "Add"))

    def of_hue(self, color: int) -> Tensor:
        pair, *cases = _HUE_TERMS[color]
        own = times(times(self._positive(color), self.largest[color]), -1)
        own = times(own, self._difference(pair))
        own = times(own, self._reciprocal(self._square(self.saturation)))
        terms = [times(60, times(own, self._reciprocal(self._square(self.value))))]
        for largest, difference, square, sign, between in cases:
            term = times(times(self._positive(largest), self.largest[largest]), self.smallest[color])
            term = times(term, self._difference(difference))
            term = times(term, self._reciprocal(self._square(self._difference(square))))
            terms.append(times(60, term))
            third = 3 - color - largest
            term = times(times(self._positive(largest), self.largest[largest]), self.smallest[third])
            term = times(term, -1) if sign < 0 else term
            terms.append(times(60, times(term, self._reciprocal(self._difference(between)))))
        total = terms[0]
        for term in terms[1:]:
            total = plus(total, term)
        return over(total, 360)


@rgb_to_hsv.gradient
def rgb_to_hsv_gradient(op: Operation, dy: Tensor) -> Gradients:
    dy = dense(dy)
    parts = _HsvGradient(op.inputs[0], op.outputs[0])
    of_saturation = [parts.of_saturation(*term) for term in ((0, (1, 2)), (1, (0, 2)), (2, (1, 0)))]
    of_hue = [parts.of_hue(color) for color in range(3)]

    def weighted(channel: int, derivatives: list[Tensor]) -> Tensor:
        return stack([times(item(dy, (Ellipsis, channel)), derivative) for derivative in derivatives], axis=-1)

    of_value, saturation, hue = weighted(2, parts.largest), weighted(1, of_saturation), weighted(0, of_hue)
    return plain("AddV2", plain("AddV2", of_value, saturation, "Add"), hue, "Add")
