"""Parts of tensors: Slice, XLA's slices, and StridedSlice with its masks, its gradient and its assignments."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit, emit_tensors
from tensorkeep.graph.constants import constant_shape
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import op
from tensorkeep.ops.shared.dimensions import (
    at_most,
    constant_integers,
    merge_sizes,
    of_rank,
    size_at,
    subtract,
    unknown_of_rank,
)
from tensorkeep.ops.shared.expressions import concat, minus, rank_of, reduce_sum, reshape, shape_of, zeros_like
from tensorkeep.ops.shared.indexing import stack, static_value
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import with_rank
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.runtime.resources import VariableResource
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

slice_op = op("Slice(input: T, begin: Index, size: Index) -> output: T", "T: type", "Index: {int32, int64}")


@slice_op.shape
def slice_shape(input: Tensor, begin: Tensor, size: Tensor) -> Shape:
    found = input.static_shape
    count = size_at(with_rank(begin, 1).merge(with_rank(size, 1)), 0)
    if count is not None:
        found = of_rank(found, count)
    starts, sizes = constant_shape(begin), constant_integers(size)
    if sizes is None:
        partial = constant_shape(size)
        return partial if partial.dims is not None else unknown_of_rank(found.rank)
    starts, found = of_rank(starts, len(sizes)), of_rank(found, len(sizes))
    return Shape(
        tuple(
            subtract(whole, start) if wanted == -1 else wanted
            for wanted, start, whole in zip(sizes, starts, found, strict=True)
        )
    )


@slice_op.kernel
def slice_kernel(input: Array, begin: Array, size: Array) -> Array:
    dims = np.shape(input)
    if begin.shape != (len(dims),) or size.shape != begin.shape:
        raise InvalidArgumentError(
            f"Expected begin and size arguments to be 1-D tensors of size {len(dims)}, but got shapes "
            f"{list(begin.shape)} and {list(size.shape)} instead."
        )
    places = []
    for axis, (start, count, whole) in enumerate(zip(begin.tolist(), size.tolist(), dims, strict=True)):
        stop = whole if count == -1 else start + count
        if not 0 <= start <= whole:
            raise InvalidArgumentError(f"Expected begin[{axis}] in [0, {whole}], but got {start}")
        if not start <= stop <= whole:
            raise InvalidArgumentError(f"Expected size[{axis}] in [0, {whole - start}], but got {count}")
        places.append(slice(start, stop))
    return input[tuple(places)]


@slice_op.gradient
def slice_gradient(op: Operation, dy: Tensor) -> Gradients:
    whole, begin = op.inputs[0], op.inputs[1]
    index = begin.dtype.base_dtype
    rank = rank_of(whole)
    taken = shape_of(op.outputs[0], out_type=index)
    column = stack([rank, 1])
    before = reshape(begin, column)
    after = reshape(minus(minus(shape_of(whole, out_type=index), taken), begin), column)
    return emit("Pad", dy, concat([before, after], 1)), None, None


# ---------------------------------------------------------------------------------------------------- XLA's slices

# TensorFlow runs these in functions that XLA compiles only; `keras.ops.slice_update` makes such functions. A part that
# would end outside is moved inside: clamping as in XLA's "Operation Semantics", DynamicSlice and DynamicUpdateSlice.
xla_dynamic_slice = op(
    "XlaDynamicSlice(input: T, start_indices: Tindices, size_indices: Tindices) -> output: T",
    "T: type",
    "Tindices: {int32, int64}",
)


@xla_dynamic_slice.shape
def xla_dynamic_slice_shape(input: Tensor, start_indices: Tensor, size_indices: Tensor) -> Shape:
    sizes = constant_integers(size_indices)
    return unknown_of_rank(input.static_shape.rank) if sizes is None else Shape(tuple(sizes))


@xla_dynamic_slice.kernel
def xla_dynamic_slice_kernel(input: Array, start_indices: Array, size_indices: Array) -> Array:
    return input[_clamped_part(np.shape(input), start_indices, size_indices.tolist())]


xla_dynamic_update_slice = op(
    "XlaDynamicUpdateSlice(input: T, update: T, indices: Tindices) -> output: T", "T: type", "Tindices: {int32, int64}"
)


@xla_dynamic_update_slice.shape
def xla_dynamic_update_slice_shape(input: Tensor, update: Tensor, indices: Tensor) -> Shape:
    return input.static_shape


@xla_dynamic_update_slice.kernel
def xla_dynamic_update_slice_kernel(input: Array, update: Array, indices: Array) -> Array:
    part = _clamped_part(np.shape(input), indices, np.shape(update))
    updated = np.array(input)
    updated[part] = update
    return updated


def _clamped_part(dims: tuple[int, ...], starts: Any, sizes: Sequence[int]) -> tuple[slice, ...]:
    """The part of these sizes that begins at `starts`, or as near to them as it fits in."""
    if np.shape(starts) != (len(dims),) or len(sizes) != len(dims):
        raise InvalidArgumentError(
            f"a part needs a start and a size for each dimension: the input has shape {list(dims)}, the starts "
            f"{list(np.shape(starts))}, and the part has sizes {list(sizes)}"
        )
    for axis, (size, whole) in enumerate(zip(sizes, dims, strict=True)):
        if not 0 <= size <= whole:
            raise InvalidArgumentError(f"a part of size {size} does not fit dimension {axis}, of size {whole}")
    begins = [min(max(start, 0), whole - size) for start, size, whole in zip(starts.tolist(), sizes, dims, strict=True)]
    return tuple(slice(begin, begin + size) for begin, size in zip(begins, sizes, strict=True))


# ---------------------------------------------------------------------------------------------------- StridedSlice

_MASKS: Final = ("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask")
_MASK_CLAUSES: Final = tuple(f"{name}: int = 0" for name in _MASKS)


class Masks(NamedTuple):
    """What the bits of a strided slice's masks say of the entries of `begin`, `end` and `strides`."""

    begin: int
    end: int
    ellipsis: int
    new_axis: int
    shrink_axis: int


class Axis(NamedTuple):
    """How one axis of the input is cut: by which entry of the spec (-1: whole), and what the masks say of it."""

    entry: int
    takes_begin: bool
    takes_end: bool
    shrinks: bool


@lru_cache(maxsize=4096)
def slice_layout(count: int, rank: int, masks: Masks) -> tuple[tuple[Axis, ...], tuple[int, ...]]:
    """How each axis of the input is cut, and where each axis of the result comes from (-1: it is new).

    `count` is the number of entries; an ellipsis stands for as many whole axes as are left, and is understood at the
    end if there is none.
    """
    ellipses = [i for i in range(count) if masks.ellipsis >> i & 1]
    if len(ellipses) > 1:
        raise InvalidArgumentError("Multiple ellipses in slice spec not allowed")
    spot = ellipses[0] if ellipses else count
    entries = [i for i in range(count) if i != spot and not masks.new_axis >> i & 1]
    whole = rank - len(entries)
    if whole < 0:
        raise InvalidArgumentError(f"Index out of range using input dim {rank}; input has only {rank} dims")
    axes: list[Axis] = []
    origins: list[int] = []
    for i in range(count + (not ellipses)):
        if i == spot:
            origins.extend(range(len(axes), len(axes) + whole))
            axes.extend([Axis(-1, True, True, False)] * whole)
        elif masks.new_axis >> i & 1:
            origins.append(-1)
        else:
            shrinks = bool(masks.shrink_axis >> i & 1)
            if not shrinks:
                origins.append(len(axes))
            axes.append(Axis(i, bool(masks.begin >> i & 1), bool(masks.end >> i & 1), shrinks))
    return tuple(axes), tuple(origins)


def _slice_of_axis(axis: Axis, at: int, whole: int, begin: int, end: int, stride: int) -> slice:
    """The part of one axis, as a slice whose bounds are inside."""
    if stride == 0:
        raise InvalidArgumentError(f"strides[{axis.entry}] must be non-zero")
    if axis.shrinks:
        if stride < 0:
            raise InvalidArgumentError("only stride 1 allowed on non-range indexing.")
        place = begin + whole if begin < 0 else begin
        if not 0 <= place < whole:
            raise InvalidArgumentError(f"slice index {begin} of dimension {at} out of bounds.")
        return slice(place, place + 1, 1)
    low, high = (0, whole) if stride > 0 else (-1, whole - 1)
    first = (low if stride > 0 else high) if axis.takes_begin else _clamped_place(begin, whole, low, high)
    last = (high if stride > 0 else low) if axis.takes_end else _clamped_place(end, whole, low, high)
    if (last - first) * stride <= 0:
        return slice(0, 0, stride)
    return slice(first, None if last < 0 else last, stride)


def _clamped_place(place: int, whole: int, low: int, high: int) -> int:
    return min(max(place + whole if place < 0 else place, low), high)


@lru_cache(maxsize=4096)
def _places(
    dims: tuple[int, ...], begin: tuple[int, ...], end: tuple[int, ...], strides: tuple[int, ...], masks: Masks
) -> tuple[tuple[slice, ...], tuple[int, ...], tuple[Any, ...]]:
    """Where to cut an array of these sizes, the shape of the cut, and the index that also drops and adds axes."""
    axes, origins = slice_layout(len(begin), len(dims), masks)
    cuts = tuple(
        slice(0, whole)
        if axis.entry < 0
        else _slice_of_axis(axis, at, whole, begin[axis.entry], end[axis.entry], strides[axis.entry])
        for at, (axis, whole) in enumerate(zip(axes, dims, strict=True))
    )
    index: list[Any] = []
    taken = 0
    for origin in origins:
        if origin < 0:
            index.append(None)
            continue
        index.extend(cut.start for cut in cuts[taken:origin])
        index.append(cuts[origin])
        taken = origin + 1
    index.extend(cut.start for cut in cuts[taken:])
    sizes = tuple(len(range(*cut.indices(whole))) for cut, whole in zip(cuts, dims, strict=True))
    return cuts, sizes, tuple(index)


def slice_spec(
    dims: tuple[int, ...], begin: Array, end: Array, strides: Array, masks: Masks
) -> tuple[tuple[slice, ...], tuple[int, ...], tuple[Any, ...]]:
    """Where a strided slice cuts an array of these sizes: the cuts, their sizes, and an index that makes the slice."""
    if begin.ndim != 1 or begin.shape != end.shape or begin.shape != strides.shape or len(begin) > 32:
        raise InvalidArgumentError(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"{list(begin.shape)}, {list(end.shape)}, and {list(strides.shape)} instead."
        )
    return _places(dims, tuple(begin.tolist()), tuple(end.tolist()), tuple(strides.tolist()), masks)


strided_slice = op(
    "StridedSlice(input: T, begin: Index, end: Index, strides: Index) -> output: T",
    "T: type",
    "Index: {int16, int32, int64}",
    *_MASK_CLAUSES,
)


@strided_slice.shape
def strided_slice_shape(
    input: Tensor,
    begin: Tensor,
    end: Tensor,
    strides: Tensor,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Shape:
    entries = size_at(with_rank(begin, 1).merge(with_rank(end, 1)).merge(with_rank(strides, 1)), 0)
    dims, steps = input.static_shape.dims, constant_integers(strides)
    if dims is None or entries is None or steps is None:
        return UNKNOWN_SHAPE
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    axes, origins = slice_layout(entries, len(dims), masks)
    starts, stops = constant_integers(begin), constant_integers(end)
    sizes = [_cut_size(axis, at, dims[at], starts, stops, steps) for at, axis in enumerate(axes)]
    return Shape(tuple(1 if origin < 0 else sizes[origin] for origin in origins))


def _cut_size(
    axis: Axis, at: int, whole: int | None, begin: list[int] | None, end: list[int] | None, strides: list[int]
) -> int | None:
    """The size of one axis of a slice, as far as it is known."""
    if axis.entry < 0:
        return whole
    stride = strides[axis.entry]
    if stride == 0:
        raise InvalidArgumentError(f"strides[{axis.entry}] must be non-zero")
    if whole is None:
        return None
    if axis.shrinks and stride < 0:
        raise InvalidArgumentError("only stride 1 allowed on non-range indexing.")
    if begin is not None and end is not None:
        cut = _slice_of_axis(axis, at, whole, begin[axis.entry], end[axis.entry], stride)
        return len(range(*cut.indices(whole)))
    if axis.takes_begin and axis.takes_end:
        return -(-whole // abs(stride))
    return None


@strided_slice.kernel
def strided_slice_kernel(
    input: Array,
    begin: Array,
    end: Array,
    strides: Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Array:
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    result: Array = input[slice_spec(np.shape(input), begin, end, strides, masks)[2]]
    return result


@strided_slice.gradient
def strided_slice_gradient(op: Operation, dy: Tensor) -> Gradients:
    bounds = op.inputs[1:]
    shape = shape_of(op.inputs[0], out_type=bounds[0].dtype.base_dtype)
    known = [static_value(tensor) for tensor in (shape, *bounds)]
    arguments = [given if value is None else value for value, given in zip(known, (shape, *bounds), strict=True)]
    return emit("StridedSliceGrad", *arguments, dy, **_masks_of(op)), None, None, None


def _masks_of(op: Operation) -> dict[str, Any]:
    return {name: op.attr(name) for name in _MASKS}


strided_slice_grad = op(
    "StridedSliceGrad(shape: Index, begin: Index, end: Index, strides: Index, dy: T) -> output: T",
    "T: type",
    "Index: {int32, int64}",
    *_MASK_CLAUSES,
)


@strided_slice_grad.shape
def strided_slice_grad_shape(shape: Tensor, begin: Tensor, end: Tensor, strides: Tensor, dy: Tensor) -> Shape:
    return constant_shape(shape)


@strided_slice_grad.kernel
def strided_slice_grad_kernel(
    shape: Array,
    begin: Array,
    end: Array,
    strides: Array,
    dy: Array,
    *,
    T: DType,  # noqa: N803
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Array:
    if shape.ndim != 1:
        raise InvalidArgumentError(f"shape must be 1-D, got shape.shape = {list(shape.shape)}")
    dims = tuple(shape.tolist())
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    _, _, index = slice_spec(dims, begin, end, strides, masks)
    check_allocation(dims, T.array_dtype)
    whole = np.full(dims, b"", object) if T is STRING else np.zeros(dims, T.array_dtype)
    if np.shape(whole[index]) != np.shape(dy):
        raise InvalidArgumentError(f"shape of dy was {list(np.shape(dy))} instead of {list(np.shape(whole[index]))}")
    whole[index] = dy
    return whole


@strided_slice_grad.gradient
def strided_slice_grad_gradient(op: Operation, dy: Tensor) -> Gradients:
    return None, None, None, None, emit("StridedSlice", dy, *op.inputs[1:4], **_masks_of(op))


tensor_strided_slice_update = op(
    "TensorStridedSliceUpdate(input: T, begin: Index, end: Index, strides: Index, value: T) -> output: T",
    "T: type",
    "Index: {int32, int64}",
    *_MASK_CLAUSES,
)


@tensor_strided_slice_update.shape
def tensor_strided_slice_update_shape(
    input: Tensor,
    begin: Tensor,
    end: Tensor,
    strides: Tensor,
    value: Tensor,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Shape:
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    target = strided_slice_shape(
        input, begin, end, strides, **{f"{name}_mask": bits for name, bits in masks._asdict().items()}
    )
    _check_fits(value.static_shape, target)
    return input.static_shape


def _check_fits(value: Shape, target: Shape) -> None:
    """An error if a value cannot be stretched to the shape of the part it is to replace."""
    if value.dims is None or target.dims is None:
        return
    at_most(value, len(target.dims))
    for given, wanted in zip(reversed(value.dims), reversed(target.dims), strict=False):
        if given != 1:
            merge_sizes(given, wanted)


@tensor_strided_slice_update.kernel
def tensor_strided_slice_update_kernel(
    input: Array,
    begin: Array,
    end: Array,
    strides: Array,
    value: Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> Array:
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    _, _, index = slice_spec(np.shape(input), begin, end, strides, masks)
    out = np.array(input)
    _replace(out, index, value)
    return out


def _replace(whole: Any, index: tuple[Any, ...], value: Any) -> None:
    target = np.shape(whole[index])
    if 0 in target:
        return  # TensorFlow does not look at the value then
    if np.ndim(value) > len(target):
        raise InvalidArgumentError(f"cannot assign a value of shape {list(np.shape(value))} to {list(target)}")
    whole[index] = value


@tensor_strided_slice_update.gradient
def tensor_strided_slice_update_gradient(op: Operation, dy: Tensor) -> Gradients:
    bounds, masks = op.inputs[1:4], _masks_of(op)
    part = emit("StridedSlice", dy, *bounds, **masks)
    rest = emit("TensorStridedSliceUpdate", dy, *bounds, zeros_like(part), **masks)
    part_shape = shape_of(part, out_type=bounds[0].dtype.base_dtype)
    value_shape = shape_of(op.inputs[4], out_type=part_shape.dtype.base_dtype)
    _, axes = emit_tensors("BroadcastGradientArgs", part_shape, value_shape)
    return rest, None, None, None, reshape(reduce_sum(part, axes, keep_dims=True), value_shape)


strided_slice_assign = op(
    "StridedSliceAssign(ref: Ref(T), begin: Index, end: Index, strides: Index, value: T) -> output_ref: Ref(T)",
    "T: type",
    "Index: {int32, int64}",
    *_MASK_CLAUSES,
)
strided_slice_assign.shape(tensor_strided_slice_update_shape)


@strided_slice_assign.kernel
def strided_slice_assign_kernel(
    ref: VariableResource,
    begin: Array,
    end: Array,
    strides: Array,
    value: Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> VariableResource:
    masks = Masks(begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask)
    with ref.lock:
        _, _, index = slice_spec(ref.read().shape, begin, end, strides, masks)
        _replace(ref.writable(), index, value)
    return ref


resource_strided_slice_assign = op(
    "ResourceStridedSliceAssign(ref: resource, begin: Index, end: Index, strides: Index, value: T)",
    "T: type",
    "Index: {int32, int64}",
    *_MASK_CLAUSES,
    "stateful",
)


@resource_strided_slice_assign.shape
def resource_strided_slice_assign_shape(
    ref: Tensor, begin: Tensor, end: Tensor, strides: Tensor, value: Tensor
) -> tuple[()]:
    with_rank(begin, 1)
    with_rank(end, 1)
    with_rank(strides, 1)
    return ()


@resource_strided_slice_assign.kernel
def resource_strided_slice_assign_kernel(
    ref: VariableResource,
    begin: Array,
    end: Array,
    strides: Array,
    value: Array,
    *,
    begin_mask: int,
    end_mask: int,
    ellipsis_mask: int,
    new_axis_mask: int,
    shrink_axis_mask: int,
) -> tuple[()]:
    masks = {
        "begin_mask": begin_mask,
        "end_mask": end_mask,
        "ellipsis_mask": ellipsis_mask,
        "new_axis_mask": new_axis_mask,
        "shrink_axis_mask": shrink_axis_mask,
    }
    strided_slice_assign_kernel(ref, begin, end, strides, value, **masks)
    return ()
