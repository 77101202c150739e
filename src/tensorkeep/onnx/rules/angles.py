"""The angle of a point, which ONNX has no operator for."""

from __future__ import annotations

import math

from tensorkeep.dtypes import BOOL
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.elementwise import Expression, elementwise
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term


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
    """Whether a number is below zero, or the zero that is."""
    to = value.to
    return elementwise(to, "Or", value < 0.0, (1.0 / value) < 0.0, dtype=BOOL)
