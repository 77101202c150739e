"""Several tensors as one and one as several: Pack, Concat, Split, DynamicStitch, DynamicPartition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorkeep.dtypes import INT32, STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import TensorLike, emit, emit_tensors
from tensorkeep.graph.building import name_scope
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.io.machine.reused_memory import LARGE, result_array
from tensorkeep.native.moves import copy_into
from tensorkeep.ops.arrays.shapes import all_axes
from tensorkeep.ops.shared.dimensions import (
    add,
    at_least,
    constant_integer,
    constant_integers,
    divide,
    merge_sizes,
    normalized_axis,
    of_rank,
    part,
    size_at,
    starts_with,
    unknown_of_rank,
    with_size_at,
)
from tensorkeep.ops.shared.expressions import (
    cast,
    constant,
    first_size,
    gather,
    minus,
    plus,
    rank_of,
    reshape,
    shape_of,
    span,
    times,
    zeros,
)
from tensorkeep.ops.shared.indexing import stack
from tensorkeep.ops.shared.kernel_types import Array, Gradients
from tensorkeep.ops.shared.shape_rules import merged_shape, with_rank
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

# ---------------------------------------------------------------------------------------------------- Pack, Unpack

pack = op("Pack(values: N * T) -> output: T", "N: int >= 1", "T: type", "axis: int = 0")


@pack.shape
def pack_shape(values: list[Tensor], *, axis: int) -> Shape:
    found = merged_shape(*values)
    if found.dims is None:
        return UNKNOWN_SHAPE
    at = normalized_axis(axis, len(found.dims) + 1)
    return Shape((*found.dims[:at], len(values), *found.dims[at:]))


@pack.kernel
def pack_kernel(values: list[Array], *, axis: int) -> Array:
    first = values[0]
    if not isinstance(first, np.ndarray | np.generic):  # handles are the resources themselves
        handles = np.empty(len(values), object)
        handles[:] = values
        return handles
    if np.ndim(first) == 0 and axis in (0, -1) and first.dtype != object:
        packed = np.array(values, first.dtype)
        if packed.ndim != 1:
            raise InvalidArgumentError("Shapes of all inputs must match")
        return packed
    if any(np.shape(value) != np.shape(first) for value in values):
        shapes = sorted({str(list(np.shape(value))) for value in values})
        raise InvalidArgumentError(f"Shapes of all inputs must match, got {', '.join(shapes)}")
    return np.stack(values, axis)


@pack.gradient
def pack_gradient(op: Operation, dy: Tensor) -> Gradients:
    return list(emit_tensors("Unpack", dy, num=op.attr("N"), axis=op.attr("axis"), name="unstack"))


unpack = op("Unpack(value: T) -> output: num * T", "num: int >= 0", "T: type", "axis: int = 0")


@unpack.shape
def unpack_shape(value: Tensor, *, num: int, axis: int) -> list[Shape]:
    dims = value.static_shape.dims
    if dims is None:
        return [UNKNOWN_SHAPE] * num
    at = normalized_axis(axis, len(dims))
    merge_sizes(dims[at], num)
    return [Shape((*dims[:at], *dims[at + 1 :]))] * num


@unpack.kernel
def unpack_kernel(value: Array, *, num: int, axis: int) -> list[Array]:
    at = normalized_axis(axis, np.ndim(value))
    if value.shape[at] != num:
        raise InvalidArgumentError(f"Input shape axis {axis} must equal {num}, got shape {list(value.shape)}")
    before: tuple[slice | int, ...] = (slice(None),) * at
    return [value[(*before, i)] for i in range(num)]


@unpack.gradient
def unpack_gradient(op: Operation, *dys: Tensor) -> Gradients:
    return stack(dys, op.attr("axis"))


parallel_concat = op("ParallelConcat(values: N * T) -> output: T", "N: int >= 1", "T: type", "shape: shape")


@parallel_concat.shape
def parallel_concat_shape(values: list[Tensor], *, shape: Shape) -> Shape:
    found = merged_shape(*values)
    if not shape.is_fully_known:
        raise InvalidArgumentError("shape attr must be fully defined.")
    if not all(tensor.static_shape.is_fully_known for tensor in values):
        raise InvalidArgumentError("All input shapes must be fully defined.")
    part(found, 1).merge(part(shape, 1))
    merge_sizes(size_at(found, 0), 1)
    if shape[0] != len(values):
        raise InvalidArgumentError(f"the first size of shape {shape} must be the number of values, {len(values)}")
    return shape


@parallel_concat.kernel
def parallel_concat_kernel(values: list[Array]) -> Array:
    return np.concatenate(values)


# ---------------------------------------------------------------------------------------------------- Concat

concat = op("Concat(concat_dim: int32, values: N * T) -> output: T", "N: int >= 2", "T: type")
concat_v2 = op(
    "ConcatV2(values: N * T, axis: Tidx) -> output: T", "N: int >= 2", "T: type", "Tidx: {int32, int64} = int32"
)


@concat.shape
def concat_shape(concat_dim: Tensor, values: list[Tensor]) -> Shape:
    return concat_v2_shape(values, concat_dim)


@concat_v2.shape
def concat_v2_shape(values: list[Tensor], axis: Tensor) -> Shape:
    at = constant_integer(axis)
    shapes = [tensor.static_shape for tensor in values]
    if at is None:
        rank = next((shape.rank for shape in shapes if shape.rank is not None), None)
        if rank is None:
            return UNKNOWN_SHAPE
        if rank == 0:
            raise InvalidArgumentError("Can't concatenate scalars (use tf.stack instead)")
        for shape in shapes:
            of_rank(shape, rank)
        return unknown_of_rank(rank)
    before, middle, after = UNKNOWN_SHAPE, None, UNKNOWN_SHAPE
    for i, shape in enumerate(reversed(shapes)):
        at_least(shape, -at if at < 0 else at + 1)
        before = before.merge(part(shape, 0, at))
        after = after.merge(Shape(()) if at == -1 else part(shape, at + 1))
        size = size_at(shape, at)
        middle = size if i == 0 else add(middle, size)
    return before.concatenate(Shape((middle,))).concatenate(after)


@concat.kernel
def concat_kernel(concat_dim: Array, values: list[Array]) -> Array:
    return concat_v2_kernel(values, concat_dim)


@concat_v2.kernel
def concat_v2_kernel(values: list[Array], axis: Array) -> Array:
    try:
        return _join_arrays(values, axis.item())
    except ValueError as error:
        raise _unjoinable(values, axis.item(), error) from None


def _join_arrays(values: list[Array], axis: int) -> Array:
    """The arrays, concatenated; NumPy raises the error for those that do not fit."""
    if sum(value.nbytes for value in values) < LARGE or not -values[0].ndim <= axis < values[0].ndim:
        return np.concatenate(values, axis)
    first = values[0]
    if first.dtype.hasobject or any(value.ndim != first.ndim or value.dtype != first.dtype for value in values):
        return np.concatenate(values, axis)
    shape = list(first.shape)
    shape[axis] = sum(value.shape[axis] for value in values)
    out = result_array(shape, first.dtype)
    is_last = axis % first.ndim == first.ndim - 1
    if not is_last or any(value.shape[:-1] != first.shape[:-1] for value in values):
        return np.concatenate(values, axis, out=out)
    at = 0
    for value in values:
        copy_into(out[..., at : at + value.shape[-1]], value)
        at += value.shape[-1]
    return out


def _unjoinable(values: list[Array], axis: int, error: ValueError) -> InvalidArgumentError:
    """The error message for arrays that cannot be concatenated: TensorFlow's words where it has some, else NumPy's."""
    first = np.shape(values[0])
    for i, shape in enumerate(map(np.shape, values)):
        both = f"shape[0] = {list(first)} vs. shape[{i}] = {list(shape)}"
        if len(shape) != len(first):
            return InvalidArgumentError(f"ConcatOp : Ranks of all input tensors should match: {both}")
        for at, sizes in enumerate(zip(first, shape, strict=True)):
            if sizes[0] != sizes[1] and at != axis % len(first):
                return InvalidArgumentError(f"ConcatOp : Dimension {at} in both shapes must be equal: {both}")
    shapes = ", ".join(str(list(np.shape(value))) for value in values)
    return InvalidArgumentError(f"ConcatOp : cannot join shapes {shapes} along axis {axis}: {error}")


@concat.gradient
def concat_gradient(op: Operation, dy: Tensor) -> Gradients:
    return [None, *_concat_gradients(dy, op.inputs[1:], op.inputs[0])]


@concat_v2.gradient
def concat_v2_gradient(op: Operation, dy: Tensor) -> Gradients:
    return [*_concat_gradients(dy, op.inputs[:-1], op.inputs[-1]), None]


def _concat_gradients(dy: Any, values: list[Tensor], axis: Tensor) -> list[Any]:
    if len(values) == 1:
        return [dy]
    if isinstance(dy, IndexedSlices):
        return _concat_slices_gradients(dy, values, axis)
    at = _axis_from_front(dy, values, axis)
    sizes = _input_shapes(values)
    if len(sizes) > 16:
        rows = emit("Slice", stack(sizes, 1), [at, 0], [1, -1], name="Slice")
        counts = emit("Squeeze", rows, name="Squeeze")
        return list(emit_tensors("SplitV", dy, counts, at, num_split=len(sizes), name="split"))
    offsets = emit_tensors("ConcatOffset", at, sizes)
    return [emit("Slice", dy, begin, size) for begin, size in zip(offsets, sizes, strict=True)]


def _axis_from_front(dy: Any, values: list[Tensor], axis: Tensor) -> Tensor:
    """The axis of a concatenation, not negative."""
    if axis.op.type == "Const" and axis.op.control_flow_context is not _output_context(dy.op):
        value = constant_value(axis)
        assert value is not None
        axis = constant(value, axis.dtype.base_dtype)
    found: Tensor = emit("FloorMod", axis, rank_of(values[0]), name="mod")
    return found


def _output_context(op: Operation) -> Any:
    """The branch or loop that has an operation's results: what leaves a loop is outside of it."""
    context: Any = op.control_flow_context
    return context.outer_context if context is not None and op.type in ("Exit", "RefExit") else context


def _input_shapes(values: list[Tensor]) -> list[Tensor]:
    sizes: list[Tensor] = []
    for value in values:
        found = shape_of(value)
        if found.op.type != "Const":
            return list(emit_tensors("ShapeN", values))
        sizes.append(found)
    return sizes


def _concat_slices_gradients(dy: IndexedSlices, values: list[Tensor], axis: Tensor) -> list[Any]:
    at = emit("FloorMod", axis, rank_of(values[0]), name="mod")
    known = constant_integer(axis)
    rank = values[0].static_shape.rank
    if known is None or (known < 0 and rank is None):
        raise InvalidArgumentError("Can only compute IndexedSlices gradient with statically-known concat_dim")
    if known < 0:
        rank_of(values[0])
        known %= rank or 1
    sizes = [shape_of(value) for value in values]
    return _columns_of_slices(dy, sizes, at) if known > 0 else _rows_of_slices(dy, sizes, at)


def _columns_of_slices(dy: IndexedSlices, sizes: list[Tensor], at: Tensor) -> list[Any]:
    """The gradients of inputs that were joined along another axis than the first, of a gradient that is rows: each
    input gets all rows, and of each row its own columns.
    """
    count = shape_of(sizes[0])
    ahead = zeros(emit("ExpandDims", at, 0), INT32)
    behind = zeros(minus(minus(count, at), 1), INT32)
    mask = emit("ConcatV2", [ahead, [1], behind], 0, name="concat")
    begin = zeros(count, INT32)
    grads = []
    for size in sizes:
        tail = emit("Slice", size, [1], [-1])
        width = emit("ConcatV2", [[-1], tail], 0, name="concat")
        grads.append(IndexedSlices(emit("Slice", dy.values, begin, width), dy.indices, size))
        begin = emit("AddV2", begin, times(size, mask), name="Add")
    return grads


def _rows_of_slices(dy: IndexedSlices, sizes: list[Tensor], at: Tensor) -> list[Any]:
    """The gradients of inputs that were joined along the first axis, of a gradient that is rows: each input gets the
    rows that are its own.
    """
    start: Tensor = constant(0, dy.indices.dtype)
    grads = []
    for size in sizes:
        end = plus(start, cast(gather(size, at), dy.indices.dtype))
        inside = emit("LogicalAnd", emit("GreaterEqual", dy.indices, start), emit("Less", dy.indices, end))
        chosen = emit("Squeeze", emit("Where", inside), squeeze_dims=[1])
        rows = minus(gather(dy.indices, chosen), start)
        grads.append(IndexedSlices(gather(dy.values, chosen), rows, size))
        start = end
    return grads


concat_offset = op(
    "ConcatOffset(concat_dim: int32, shape: N * shape_type) -> offset: N * shape_type",
    "N: int >= 2",
    "shape_type: {int32, int64} = int32",
)
not_differentiable(concat_offset)


@concat_offset.shape
def concat_offset_shape(concat_dim: Tensor, shape: list[Tensor]) -> list[Shape]:
    return [tensor.static_shape for tensor in shape]


@concat_offset.kernel
def concat_offset_kernel(concat_dim: Array, shape: list[Array]) -> list[Array]:
    first = shape[0]
    if np.ndim(concat_dim):
        raise InvalidArgumentError(f"Concat dim tensor should be a scalar, but got shape {list(concat_dim.shape)}")
    at = normalized_axis(int(concat_dim), len(first), "concat_dim")
    offsets = []
    total = 0
    for i, sizes in enumerate(shape):
        if sizes.shape != first.shape or any(j != at and sizes[j] != first[j] for j in range(len(first))):
            raise InvalidArgumentError(
                f"input {i} should contain {len(first)} elements equal to {first.tolist()} but for dimension {at}, "
                f"got {sizes.tolist()}"
            )
        offset = np.zeros(len(first), first.dtype)
        offset[at] = total
        total += int(sizes[at])
        offsets.append(offset)
    return offsets


# ---------------------------------------------------------------------------------------------------- Split

split = op("Split(split_dim: int32, value: T) -> output: num_split * T", "num_split: int >= 1", "T: type")


@split.shape
def split_shape(split_dim: Tensor, value: Tensor, *, num_split: int) -> list[Shape]:
    with_rank(split_dim, 0)
    axis, found = constant_integer(split_dim), value.static_shape
    if axis is None or (found.rank is None and axis < 0):
        return [unknown_of_rank(found.rank)] * num_split
    if found.dims is None:
        return [UNKNOWN_SHAPE] * num_split
    at = normalized_axis(axis, len(found.dims), "split_dim")
    return [with_size_at(found, at, divide(found.dims[at], num_split))] * num_split


@split.kernel
def split_kernel(split_dim: Array, value: Array, *, num_split: int) -> list[Array]:
    if np.ndim(split_dim):
        raise InvalidArgumentError(f"split_dim_tensor must have exactly one element, got {list(split_dim.shape)}")
    at = normalized_axis(int(split_dim), np.ndim(value), "-input rank(-value) <= split_dim < input rank: split_dim")
    length, rest = divmod(value.shape[at], num_split)
    if rest:
        raise InvalidArgumentError(
            f"Number of ways to split should evenly divide the split dimension, but got split_dim {at} (size = "
            f"{value.shape[at]}) and num_split {num_split}"
        )
    return _parts(value, at, [length] * num_split)


def _parts(value: Any, axis: int, sizes: list[int]) -> list[Any]:
    before = (slice(None),) * axis
    found = []
    start = 0
    for size in sizes:
        found.append(value[(*before, slice(start, start + size))])
        start += size
    return found


@split.gradient
def split_gradient(op: Operation, *dys: Tensor) -> Gradients:
    return None, concat_values(dys, op.inputs[0])


def concat_values(values: Sequence[Tensor], axis: TensorLike) -> Tensor:
    """`concat(values, axis)`, which of one value is itself."""
    if len(values) > 1:
        return emit("ConcatV2", list(values), axis, name="concat")
    with name_scope("concat"):
        return emit("Identity", values[0], name="concat")


split_v = op(
    "SplitV(value: T, size_splits: Tlen, split_dim: int32) -> output: num_split * T",
    "num_split: int >= 1",
    "T: type",
    "Tlen: {int8, int32, int64} = int64",
)


@split_v.shape
def split_v_shape(value: Tensor, size_splits: Tensor, split_dim: Tensor, *, num_split: int) -> list[Shape]:
    with_rank(split_dim, 0)
    axis, sizes, found = constant_integer(split_dim), constant_integers(size_splits), value.static_shape
    if found.dims is None:
        return [UNKNOWN_SHAPE] * num_split
    if not found.dims:
        raise InvalidArgumentError("Can't split scalars")
    if axis is None:
        return [unknown_of_rank(len(found.dims))] * num_split
    at = normalized_axis(axis, len(found.dims), "split_dim")
    if sizes is None:
        return [with_size_at(found, at, None)] * num_split
    whole = found.dims[at]
    resolved: list[int | None] = list(sizes) if whole is None else list(_resolved_sizes(sizes, whole, num_split))
    return [with_size_at(found, at, None if size is None or size < 0 else size) for size in resolved]


def _resolved_sizes(sizes: list[int], whole: int, count: int) -> list[int]:
    """The sizes of the parts, the one that is -1 being what is left."""
    if len(sizes) != count:
        raise InvalidArgumentError(f"size_splits has {len(sizes)} elements for {count} parts")
    if sizes.count(-1) > 1:
        raise InvalidArgumentError("There can only be one -1 in the input.")
    total = sum(size for size in sizes if size != -1)
    found = [whole - total if size == -1 else size for size in sizes]
    if any(size < 0 for size in found) or sum(found) != whole:
        raise InvalidArgumentError(f"Determined shape must match the input shape along split_dim: {sizes} of {whole}")
    return found


@split_v.kernel
def split_v_kernel(value: Array, size_splits: Array, split_dim: Array, *, num_split: int) -> list[Array]:
    if np.ndim(split_dim):
        raise InvalidArgumentError(f"split_dim_tensor must have exactly one element, got {list(split_dim.shape)}")
    if size_splits.ndim != 1:
        raise InvalidArgumentError(f"size_splits must be a vector, got shape {list(size_splits.shape)}")
    at = normalized_axis(int(split_dim), np.ndim(value), "split_dim")
    return _parts(value, at, _resolved_sizes(size_splits.tolist(), value.shape[at], num_split))


@split_v.gradient
def split_v_gradient(op: Operation, *dys: Tensor) -> Gradients:
    return [concat_values(dys, op.inputs[2]), None, None]


# ---------------------------------------------------------------------------------------------------- By index

dynamic_stitch = op("DynamicStitch(indices: N * int32, data: N * T) -> merged: T", "N: int >= 1", "T: type")
parallel_dynamic_stitch = op(
    "ParallelDynamicStitch(indices: N * int32, data: N * T) -> merged: T", "N: int >= 1", "T: type"
)


@dynamic_stitch.shape
@parallel_dynamic_stitch.shape
def dynamic_stitch_shape(indices: list[Tensor], data: list[Tensor]) -> Shape:
    rest = UNKNOWN_SHAPE
    known = [constant_integers(tensor) for tensor in indices]
    for index, values in zip(indices, data, strict=True):
        prefix = index.static_shape
        if prefix.dims is None:
            continue
        starts_with(values.static_shape, prefix)
        rest = rest.merge(part(values.static_shape, len(prefix.dims)))
    rows = None if None in known else max((place for places in known for place in places or ()), default=-1) + 1
    return Shape((rows,)).concatenate(rest)


@dynamic_stitch.kernel
@parallel_dynamic_stitch.kernel
def dynamic_stitch_kernel(indices: list[Array], data: list[Array], *, T: DType) -> Array:  # noqa: N803
    rest = np.shape(data[0])[np.ndim(indices[0]) :]
    for i, (index, values) in enumerate(zip(indices, data, strict=True)):
        if np.shape(values) != (*np.shape(index), *rest):
            raise InvalidArgumentError(
                f"data[{i}].shape = {list(np.shape(values))} must be indices[{i}].shape = {list(np.shape(index))} "
                f"followed by {list(rest)}"
            )
    rows = max((int(np.max(index)) for index in indices if np.size(index)), default=-1) + 1
    if any(np.size(index) and np.min(index) < 0 for index in indices):
        raise InvalidArgumentError("indices must not be negative")
    check_allocation((rows, *rest), T.array_dtype)
    out = np.full((rows, *rest), b"", object) if T is STRING else np.zeros((rows, *rest), T.array_dtype)
    for index, values in zip(indices, data, strict=True):
        out[index] = values
    return out


@dynamic_stitch.gradient
@parallel_dynamic_stitch.gradient
def dynamic_stitch_gradient(op: Operation, dy: Tensor) -> Gradients:
    count = len(op.inputs) // 2
    if isinstance(dy, IndexedSlices):
        rows = first_size(shape_of(op.outputs[0]))
        dy = emit("UnsortedSegmentSum", dy.values, dy.indices, rows)
    return [None] * count + [gather(dy, index) for index in op.inputs[:count]]


dynamic_partition = op(
    "DynamicPartition(data: T, partitions: int32) -> outputs: num_partitions * T", "num_partitions: int >= 1", "T: type"
)


@dynamic_partition.shape
def dynamic_partition_shape(data: Tensor, partitions: Tensor, *, num_partitions: int) -> list[Shape]:
    prefix = partitions.static_shape
    if prefix.dims is None:
        return [UNKNOWN_SHAPE] * num_partitions
    starts_with(data.static_shape, prefix)
    return [Shape((None,)).concatenate(part(data.static_shape, len(prefix.dims)))] * num_partitions


@dynamic_partition.kernel
def dynamic_partition_kernel(data: Array, partitions: Array, *, num_partitions: int) -> list[Array]:
    rank = np.ndim(partitions)
    if np.shape(data)[:rank] != np.shape(partitions):
        raise InvalidArgumentError(
            f"data.shape must start with partitions.shape, got data.shape = {list(np.shape(data))}, partitions.shape = "
            f"{list(np.shape(partitions))}"
        )
    places = np.asarray(partitions).reshape(-1)
    if places.size and not 0 <= places.min() <= places.max() < num_partitions:
        wrong = places.min() if places.min() < 0 else places.max()
        raise InvalidArgumentError(f"partitions = {wrong} is not in [0, {num_partitions})")
    rows = np.reshape(data, (places.size, *np.shape(data)[rank:]))
    return [rows[places == i] for i in range(num_partitions)]


@dynamic_partition.gradient
def dynamic_partition_gradient(op: Operation, *dys: Tensor) -> Gradients:
    data, partitions = op.inputs
    prefix = shape_of(partitions)
    count = emit("Prod", prefix, all_axes(prefix), name="Prod")
    places = reshape(span(0, count), prefix)
    parts = emit_tensors("DynamicPartition", places, partitions, num_partitions=op.attr("num_partitions"))
    rebuilt = emit("ParallelDynamicStitch", parts, list(dys))
    return [reshape(rebuilt, shape_of(data)), None]
