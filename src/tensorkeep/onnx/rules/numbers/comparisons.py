"""Comparisons, and logic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from tensorkeep.dtypes import STRING
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.complex_numbers import equality_of_pairs
from tensorkeep.onnx.rules.numbers.elementwise import Expression, compared_values, elementwise
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term

_SAME: Final[Mapping[str, str]] = {
    "Less": "Less",
    "LessEqual": "LessOrEqual",
    "Greater": "Greater",
    "GreaterEqual": "GreaterOrEqual",
    "LogicalAnd": "And",
    "LogicalOr": "Or",
}


def _comparison(op: str, node: str) -> None:
    @rule(op)
    def comparison(to: OnnxGraph, x: Term, y: Term) -> Term:
        return compared_values(to, node, x, y)

    comparison.__name__ = comparison.__qualname__ = op.lower()


for _op, _node in _SAME.items():
    _comparison(_op, _node)


@rule("LogicalNot")
def logical_not(to: OnnxGraph, x: Term) -> Term:
    return elementwise(to, "Not", x)


@rule("Equal", takes_complex=True)
def equal(to: OnnxGraph, x: Term, y: Term, *, incompatible_shape_error: bool) -> Term:
    """Where both are equal; False if their shapes do not fit and that is no error."""
    if not incompatible_shape_error:
        fit = _do_fit(x, y)
        if fit is False:
            return to.constant(False)
        if fit is None and to.model.is_for_engine:
            to.refuse("it is not known whether the shapes fit, and ONNX Runtime fails if they do not")
    if x.dtype is STRING:
        to.require_opset(19, "a comparison of strings")
    return equality_of_pairs(to, x, y) if x.is_complex else compared_values(to, "Equal", x, y)


def _do_fit(x: Term, y: Term) -> bool | None:
    """Whether two shapes can be stretched to each other; None if that is not known."""
    if x.dims == () or y.dims == ():
        return True
    if x.dims is None or y.dims is None:
        return None
    sizes = list(zip(reversed(x.dims), reversed(y.dims), strict=False))
    if any(a is not None and b is not None and a != b and 1 not in (a, b) for a, b in sizes):
        return False
    return True if all(a == 1 or b == 1 or (a is not None and a == b) for a, b in sizes) else None


@rule("NotEqual", takes_complex=True)
def not_equal(to: OnnxGraph, x: Term, y: Term, *, incompatible_shape_error: bool) -> Term:
    """Where they differ; True if their shapes do not fit and that is no error."""
    found = equal(to, x, y, incompatible_shape_error=incompatible_shape_error)
    return elementwise(to, "Not", found)


@rule("ApproximateEqual")
def approximate_equal(to: OnnxGraph, x: Term, y: Term, *, tolerance: float) -> Term:
    """Where they differ by less than a tolerance. ONNX stretches values that our kernel would refuse to compare."""
    if to.model.is_for_engine and (x.dims is None or None in x.dims or x.dims != y.dims):
        to.refuse("it is not known whether both are of one shape")
    allowed = np.float32(tolerance)
    distance = Expression(to, elementwise(to, "Abs", elementwise(to, "Sub", x, y)))
    return distance < to.constant(allowed.astype(x.dtype.array_dtype), x.dtype)
