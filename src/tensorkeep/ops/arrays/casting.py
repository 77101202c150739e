"""Conversions between element types."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import UnimplementedError
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.shared.expressions import cast as cast_to
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import same

_DIFFERENTIABLE: Final = frozenset(
    map(DType.of, ("float16", "float32", "float64", "bfloat16", "complex64", "complex128"))
)

cast = op("Cast(x: SrcT) -> y: DstT", "SrcT: type", "DstT: type", "Truncate: bool = false")
cast.shape(same)

_FRACTION_BITS: Final = {"float64": 52, "float32": 23, "float16": 10, "bfloat16": 7}
_BLOCKS: Final = {"float64": 16, "float32": 32, "float16": 16, "bfloat16": 8}


@cast.kernel
def cast_kernel(x: Array, *, DstT: DType, Truncate: bool) -> Array:  # noqa: N803
    target = DstT.array_dtype
    if DstT.is_object or x.dtype == object:
        raise UnimplementedError(f"Cast {STRING if x.dtype == object else x.dtype} to {DstT} is not supported")
    if Truncate:
        x = _clear_excess_bits(x, target)
    if x.dtype.kind == "c" and target.kind != "c":
        return x.real.astype(target)
    return _whole(x, target) if target.kind in "iu" and x.dtype.name in _FRACTION_BITS else x.astype(target)


def _whole(x: Any, target: np.dtype[Any]) -> Any:
    """Numbers as whole ones; those that the target cannot hold are what TensorFlow's packages for x86-64 give.

    There, whole blocks of vector registers end at the ends of small types, and what remains after the last block turns
    round. Beyond int32, or for uint32 and uint64 beyond themselves, it is what the processor gives for "no number".
    """
    if target.name == "uint64":
        return np.where(x < 2.0**64, x.astype(np.float64), 2.0**63).astype(target)
    if target.itemsize == 8 or target.name == "int32":
        return x.astype(target)
    whole: Any = np.ascontiguousarray(x).reshape(-1).astype(np.int64 if target.itemsize == 4 else np.int32)
    block = whole[: whole.size - whole.size % (8 if target.itemsize == 4 else _BLOCKS[x.dtype.name])]
    if target.itemsize == 4:
        block[(block < -(2**31)) | (block >= 2**32)] = 2**31
    else:
        if target.name == "uint8" and x.dtype.name in ("float16", "float64"):
            block[block > 2**15 - 1] = 0
        limits = np.iinfo(target)
        np.clip(block, limits.min, limits.max, out=block)
    return whole.astype(target).reshape(x.shape)


@cast.gradient
def cast_gradient(op: Operation, dy: Tensor) -> Gradients:
    source = op.inputs[0].dtype.base_dtype
    both = source in _DIFFERENTIABLE and dy.dtype.base_dtype in _DIFFERENTIABLE
    return cast_to(dy, source) if both else None


def _clear_excess_bits(x: Any, target: np.dtype[Any]) -> Any:
    """The value with the bits cleared that the target has no room for, so that rounding cuts them off."""
    if x.dtype.kind == "c":
        return x
    have, want = _FRACTION_BITS.get(x.dtype.name, 0), _FRACTION_BITS.get(target.name, 0)
    if want == 0 or have <= want:
        return x
    kind: Any = np.uint64 if x.dtype.itemsize == 8 else np.uint32 if x.dtype.itemsize == 4 else np.uint16
    mask = kind(~((1 << (have - want)) - 1) & ((1 << (8 * x.dtype.itemsize)) - 1))
    return (np.asarray(x).view(kind) & mask).view(x.dtype)
