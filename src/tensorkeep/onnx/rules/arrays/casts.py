"""Conversions between element types."""

from __future__ import annotations

from typing import Final

from tensorkeep.dtypes import DType
from tensorkeep.onnx.graphs import OnnxGraph
from tensorkeep.onnx.rules.numbers.complex_numbers import complex_of_parts, part
from tensorkeep.onnx.rules.registry import rule
from tensorkeep.onnx.terms import Term, element_type

_FRACTION_BITS: Final = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}
_ENDS_TOLD: Final = frozenset(("int32", "int64"))
"""Whole types for which numbers beyond their ends become the same in ONNX Runtime as in TensorFlow."""


@rule("Cast", takes_complex=True)
def cast(to: OnnxGraph, x: Term, *, DstT: DType, Truncate: bool) -> Term:  # noqa: N803
    """The value as another type.

    Floats that a whole type cannot hold are undefined in ONNX, and in TensorFlow depend on where in the array they are.
    """
    source, target = x.dtype, DstT.base_dtype
    if source.is_object or target.is_object:
        to.refuse(f"TensorFlow casts no {source.name} to {target.name}")
    if source is target:
        return x
    if Truncate and _FRACTION_BITS.get(source.name, 0) > _FRACTION_BITS.get(target.name, 99):
        to.refuse(f"ONNX rounds {source.name} to {target.name}, and it is to be cut off")
    if to.model.is_for_engine and source.is_floating and target.is_integer and target.name not in _ENDS_TOLD:
        to.refuse(f"ONNX leaves open what numbers beyond the ends of {target.name} become")
    if source.is_complex and not target.is_complex:
        return _real_cast(to, part(to, x, 0), target)
    if target.is_complex and not source.is_complex:
        real = _real_cast(to, x, target.real_dtype)
        return complex_of_parts(to, real, to.like(real, 0), target)
    return _real_cast(to, x, target)


def _real_cast(to: OnnxGraph, x: Term, target: DType) -> Term:
    kind = target.real_dtype if target.is_complex else target
    if not to.takes("Cast", kind):
        to.refuse(f"Cast of ONNX gives no {target.name} in opset {to.opset}")
    if not x.is_complex and element_type(x.dtype) is element_type(target):  # a quantised type is its whole type
        return to.node("Identity", x, dtype=target, dims=x.dims)
    return to.cast(x, target)
