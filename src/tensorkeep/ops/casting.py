"""Conversions between element types."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.graph import Operation
from tensorkeep.graph.opspec import op
from tensorkeep.ops._expressions import cast as cast_to
from tensorkeep.ops._shapes import same

_DIFFERENTIABLE: Final = frozenset(
    map(DType.of, ("float16", "float32", "float64", "bfloat16", "complex64", "complex128"))
)

cast = op("Cast(x: SrcT) -> y: DstT", "SrcT: type", "DstT: type", "Truncate: bool = false")
cast.shape(same)


@cast.kernel
def cast_kernel(x: Any, *, DstT: DType, Truncate: bool) -> Any:  # noqa: N803
    target = DstT.array_dtype
    if DstT.is_object or x.dtype == object:
        raise UnimplementedError(f"Cast {STRING if x.dtype == object else x.dtype} to {DstT} is not supported")
    if Truncate:
        x = _cut(x, target)
    if x.dtype.kind == "c" and target.kind != "c":
        x = x.real
    return x.astype(target)


@cast.gradient
def cast_gradient(op: Operation, dy: Any) -> Any:
    source = op.inputs[0].dtype.base_dtype
    both = source in _DIFFERENTIABLE and dy.dtype.base_dtype in _DIFFERENTIABLE
    return cast_to(dy, source) if both else None


_FRACTION_BITS: Final = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}


def _cut(x: Any, target: np.dtype[Any]) -> Any:
    """The value with the bits cleared that the target has no room for, so that rounding cuts them off."""
    if x.dtype.kind == "c":
        return x
    have, want = _FRACTION_BITS.get(x.dtype.name, 0), _FRACTION_BITS.get(target.name, 0)
    if want == 0 or have <= want:
        return x
    kind: Any = np.uint64 if x.dtype.itemsize == 8 else np.uint32 if x.dtype.itemsize == 4 else np.uint16
    mask = kind(~((1 << (have - want)) - 1) & ((1 << (8 * x.dtype.itemsize)) - 1))
    return (np.asarray(x).view(kind) & mask).view(x.dtype)
