"""Indexing of tensors as programs write it, `x[1:, ..., 0]`: the StridedSlice that it stands for."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import Any, Final

import numpy as np

from tensorkeep.dtypes import INT16, INT32, INT64, DType
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import IndexLike, emit
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import Dimension
from tensorkeep.ops.shared.expressions import cast, constant, first_size
from tensorkeep.ops.shared.kernel_types import Array

_LARGE: Final = 1 << 31
_WIDTHS: Final = {INT16: 1, INT32: 2, INT64: 3}


def stack(values: Sequence[Any], axis: int = 0, name: str = "stack") -> Tensor:
    """Values as one tensor, one rank higher: a constant if they are all numbers."""
    if axis == 0:
        try:
            return convert(values, name=name)
        except (TypeError, ValueError):
            pass
    packed: Tensor = emit("Pack", values, axis=axis, name=name)
    return packed


def dense(gradient: Any) -> Any:
    """A gradient as one tensor. Slices are added up into the rows that their indices name (indexed_slices.py)."""
    if not isinstance(gradient, IndexedSlices):
        return gradient
    if gradient.dense_shape is None:
        raise InvalidArgumentError(f"Tensor conversion requested for IndexedSlices without dense_shape: {gradient!r}")
    rows = first_size(gradient.dense_shape)
    return emit("UnsortedSegmentSum", gradient.values, gradient.indices, rows)


class _Bounds:
    """What an index collects: where each axis begins and ends, in which steps, and what the masks say."""

    def __init__(self) -> None:
        self.begin: list[Any] = []
        self.end: list[Any] = []
        self.strides: list[Any] = []
        self.masks = dict.fromkeys(("begin_mask", "end_mask", "shrink_axis_mask", "new_axis_mask", "ellipsis_mask"), 0)

    def mark(self, mask: str) -> None:
        self.masks[mask] |= 1 << len(self.begin)

    def append(self, begin: Any, end: Any, stride: Any) -> None:
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(stride)

    def add(self, key: Any) -> None:
        if isinstance(key, slice):
            self._add_slice(key)
        elif key is Ellipsis:
            self.mark("ellipsis_mask")
            self.append(0, 0, 1)
        elif key is None:
            self.mark("new_axis_mask")
            self.append(0, 0, 1)
        else:
            _check_index(key)
            self.mark("shrink_axis_mask")
            wide = isinstance(key, Tensor) and key.dtype.base_dtype in (INT16, INT64)
            end = emit("AddV2", key, 1, name="add") if isinstance(key, Tensor) else key + 1
            self.append(key, end, constant(1, key.dtype.base_dtype) if wide else 1)

    def _add_slice(self, key: slice) -> None:
        dtype = _widest(part.dtype.base_dtype for part in (key.start, key.stop, key.step) if isinstance(part, Tensor))
        start, stop, step = (_given_bound(part) for part in (key.start, key.stop, key.step))
        if start is None:
            self.mark("begin_mask")
            start = 0 if dtype is None else constant(0, dtype)
        if stop is None:
            self.mark("end_mask")
            stop = 0 if dtype is None else constant(0, dtype)
        if step is None:
            step = 1 if dtype is None else constant(1, dtype)
        self.append(start, stop, step)


def _widest(dtypes: Any) -> DType | None:
    return max((dtype for dtype in dtypes if dtype in _WIDTHS), key=_WIDTHS.__getitem__, default=None)


def _given_bound(part: Any) -> Any:
    """One bound of a slice; None if it is left open."""
    if part is None or (isinstance(part, Dimension) and part.value is None):
        return None
    _check_index(part)
    return part


def _check_index(key: Any) -> None:
    if isinstance(key, Integral | Dimension):
        return
    dtype = getattr(key, "dtype", None)
    if isinstance(dtype, np.dtype):
        dtype = DType.of(dtype)
    if dtype is None or dtype.base_dtype not in _WIDTHS or len(getattr(key, "shape", ()) or ()) == 1:
        raise WrongTypeError(
            "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors "
            f"are valid indices, got {key!r}"
        )


def _packed_bounds(parts: list[Any]) -> Tensor:
    """Bounds as a vector: a constant if they are numbers."""
    if all(type(part) is int and abs(part) < _LARGE for part in parts):
        return constant(np.array(parts, np.int32), INT32, "stack")
    return stack(parts)


def item(tensor: Tensor, key: IndexLike) -> Tensor:
    """`tensor[key]`, where the key is no mask."""
    bounds = _Bounds()
    for part in key if isinstance(key, list | tuple) else [key]:
        bounds.add(part)
    with name_scope("strided_slice", tensor.graph) as scope:
        if bounds.begin:
            packed = [_packed_bounds(parts) for parts in (bounds.begin, bounds.end, bounds.strides)]
            if any(part.dtype.base_dtype is INT64 for part in packed):
                packed = [cast(part, INT64) for part in packed]
        else:
            packed = [constant(np.zeros(0, np.int32), INT32)] * 3
        found: Tensor = emit("StridedSlice", tensor, *packed, name=scope, **bounds.masks)
        return found


_EVALUATED: Final = {
    *("Const", "Shape", "Size", "Rank", "Range", "Cast", "Concat", "ConcatV2", "Pack", "Unpack", "Split", "Fill"),
    *("Equal", "NotEqual", "StopGradient", "CheckNumericsV2", "DebugIdentityV2", "Identity"),
}


def static_value(tensor: Tensor) -> Array | None:
    """The value that TensorFlow's Python knows before running, or None: fewer ops are evaluated than for shapes."""
    pending, seen = [tensor], {tensor}
    while pending:
        op = pending.pop().op
        if op.type not in _EVALUATED:
            return None
        if op.type in ("Shape", "Size", "Rank"):
            continue
        for source in op.inputs:
            if source not in seen:
                seen.add(source)
                pending.append(source)
    return constant_value(tensor)
