"""Colors of images: contrast, hue, saturation, and the other way of writing colors."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT32, DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term


class _Colors(NamedTuple):
    """Colors by hue, from 0 to 1, and by their highest level and how far the lowest is below it."""

    hue: Term
    value: Term
    spread: Term


@rule("AdjustContrastv2")
def adjust_contrast(to: OnnxGraph, images: Term, contrast_factor: Term) -> Term:
    return to.cast(_contrasted_images(to, images, contrast_factor), images.dtype)


@rule("AdjustContrast")
def adjust_contrast_within(
    to: OnnxGraph, images: Term, contrast_factor: Term, min_value: Term, max_value: Term
) -> Term:  # fmt: skip
    return to.node("Max", to.node("Min", _contrasted_images(to, images, contrast_factor), max_value), min_value)


def _contrasted_images(to: OnnxGraph, images: Term, factor: Term) -> Term:
    """The distance of every pixel from the mean of its channel, times the factor."""
    rank = to.known_rank(images)
    pixels = to.cast(images, FLOAT32)
    mean = to.reduce("ReduceMean", pixels, [rank - 3, rank - 2], keepdims=True)
    return to.node("Add", to.node("Mul", to.node("Sub", pixels, mean), factor), mean)


@rule("RGBToHSV")
def rgb_to_hsv(to: OnnxGraph, images: Term) -> Term:
    colors = _by_hue(to, _computed_in(to, images))
    return to.cast(to.concat([colors.hue, _saturation(to, colors), colors.value], -1), images.dtype)


@rule("HSVToRGB")
def hsv_to_rgb(to: OnnxGraph, images: Term) -> Term:
    hue, saturation, value = to.split(_computed_in(to, images), [1, 1, 1], -1)
    lowest = to.node("Sub", to.like(hue, 1), saturation)
    level = to.node("Add", lowest, to.node("Mul", saturation, _shares(to, to.node("Mul", hue, to.like(hue, 6)))))
    return to.cast(to.node("Mul", level, value), images.dtype)


@rule("AdjustHue")
def adjust_hue(to: OnnxGraph, images: Term, delta: Term) -> Term:
    """Colors turned by a part of the circle; their highest and lowest levels stay."""
    if to.model.is_for_engine and delta.array is None:
        to.refuse("ONNX does not fail for a hue that is no number")
    colors = _by_hue(to, to.cast(images, FLOAT32))
    six = to.constant(6, FLOAT32)
    sixths = to.node("Mul", to.node("Add", colors.hue, delta), six)
    turned = to.node("Sub", sixths, to.node("Mul", to.node("Floor", to.node("Div", sixths, six)), six))
    lowest = to.node("Sub", colors.value, colors.spread)
    return to.cast(to.node("Add", lowest, to.node("Mul", _shares(to, turned), colors.spread)), images.dtype)


@rule("AdjustSaturation")
def adjust_saturation(to: OnnxGraph, images: Term, scale: Term) -> Term:
    colors = _by_hue(to, to.cast(images, FLOAT32))
    zero, one, six = (to.constant(number, FLOAT32) for number in (0, 1, 6))
    saturation = to.node("Clip", to.node("Mul", _saturation(to, colors), scale), zero, one)
    chroma = to.node("Mul", saturation, colors.value)
    sixths = to.node("Mul", colors.hue, six)
    is_whole_turn = to.node("GreaterOrEqual", sixths, six, dtype=BOOL)
    shares = to.node("Where", is_whole_turn, zero, _shares(to, sixths), dtype=FLOAT32)
    lowest = to.node("Sub", colors.value, chroma)
    return to.cast(to.node("Add", to.node("Mul", shares, chroma), lowest), images.dtype)


def _computed_in(to: OnnxGraph, images: Term) -> Term:
    """Images in the type that they are computed with: halves as float32."""
    wide: DType = FLOAT32 if images.dtype.itemsize == 2 else images.dtype
    return to.cast(images, wide)


def _by_hue(to: OnnxGraph, images: Term) -> _Colors:
    red, green, blue = to.split(images, [1, 1, 1], -1)
    value = to.node("Max", red, green, blue)
    spread = to.node("Sub", value, to.node("Min", red, green, blue))
    zero, one = to.like(images, 0), to.like(images, 1)
    norm = to.node("Div", to.like(images, 1 / 6), spread)

    def part(first: Term, second: Term, start: float) -> Term:
        found = to.node("Mul", norm, to.node("Sub", first, second))
        return found if not start else to.node("Add", found, to.like(images, start))

    is_red, is_green = (to.node("Equal", color, value, dtype=BOOL) for color in (red, green))
    hue = to.node("Where", is_green, part(blue, red, 1 / 3), part(red, green, 2 / 3), dtype=images.dtype)
    hue = to.node("Where", is_red, part(green, blue, 0), hue, dtype=images.dtype)
    hue = to.node("Where", to.node("Greater", spread, zero, dtype=BOOL), hue, zero, dtype=images.dtype)
    is_below = to.node("Less", hue, zero, dtype=BOOL)
    hue = to.node("Where", is_below, to.node("Add", hue, one), hue, dtype=images.dtype)
    return _Colors(hue, value, spread)


def _saturation(to: OnnxGraph, colors: _Colors) -> Term:
    zero = to.like(colors.value, 0)
    is_light = to.node("Greater", colors.value, zero, dtype=BOOL)
    return to.node("Where", is_light, to.node("Div", colors.spread, colors.value), zero, dtype=colors.value.dtype)


def _shares(to: OnnxGraph, sixths: Term) -> Term:
    """How far red, green and blue are from the lowest to the highest level, by the hue in sixths of the circle."""
    kind = sixths.dtype.array_dtype
    middle, sign, start = (to.constant(np.array(item, kind)) for item in ([3, 2, 4], [1, -1, -1], [-1, 2, 2]))
    distance = to.node("Abs", to.node("Sub", sixths, middle))
    level = to.node("Add", to.node("Mul", distance, sign), start)
    return to.node("Clip", level, to.like(sixths, 0), to.like(sixths, 1))
