"""Shapes of tensors and tensors of other shapes: Shape, Reshape, Transpose, Tile, Fill, Reverse, and their like."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from tensorkeep.dtypes import STRING, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit, emit_tensors
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.constants import constant_shape, constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Operation, Tensor
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.ops.arrays.constants import identity_gradient, identity_kernel, placeholder_kernel, placeholder_shape
from tensorkeep.ops.shared.dimensions import (
    UNKNOWN_VECTOR,
    at_least,
    at_most,
    constant_integer,
    divide,
    known_product,
    merge_sizes,
    multiply,
    normalized_axis,
    of_rank,
    size_at,
    with_size_at,
)
from tensorkeep.ops.shared.expressions import (
    cast,
    concat,
    constant,
    first_size,
    rank_of,
    reduce_sum,
    reshape,
    shape_of,
    size_of,
    span,
)
from tensorkeep.ops.shared.indexing import dense, item, stack
from tensorkeep.ops.shared.kernel_types import Array, Gradients, Variant
from tensorkeep.ops.shared.shape_rules import SCALAR, same, with_rank
from tensorkeep.runtime.limits import check_allocation
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

# ---------------------------------------------------------------------------------------------------- Sizes

shape = op(
    "Shape(input: T) -> output: out_type :: SHAPE_TENSOR[$out_type]", "T: type", "out_type: {int32, int64} = int32"
)


@shape.shape
def shape_shape(input: Tensor) -> Shape:
    return Shape((input.static_shape.rank,))


@shape.kernel
def shape_kernel(input: Array, *, out_type: DType) -> Array:
    return np.array(np.shape(input), out_type.array_dtype)


shape_n = op(
    "ShapeN(input: N * T) -> output: N * out_type", "N: int >= 1", "T: type", "out_type: {int32, int64} = int32"
)


@shape_n.shape
def shape_n_shape(input: list[Tensor]) -> list[Shape]:
    return [Shape((tensor.static_shape.rank,)) for tensor in input]


@shape_n.kernel
def shape_n_kernel(input: list[Array], *, out_type: DType) -> list[Array]:
    return [np.array(np.shape(value), out_type.array_dtype) for value in input]


size = op("Size(input: T) -> output: out_type", "T: type", "out_type: {int32, int64} = int32")


@size.shape
def size_shape(input: Tensor) -> Shape:
    return SCALAR


@size.kernel
def size_kernel(input: Array, *, out_type: DType) -> Array:
    return np.array(np.size(input), out_type.array_dtype)


rank = op("Rank(input: T) -> output: int32", "T: type")
rank.shape(size_shape)


@rank.kernel
def rank_kernel(input: Array) -> np.int32:
    return np.int32(np.ndim(input))


not_differentiable(shape, shape_n, size, rank)

# ---------------------------------------------------------------------------------------------------- Other shapes

reshape_op = op("Reshape(tensor: T, shape: Tshape) -> output: T", "T: type", "Tshape: {int32, int64} = int32")


@reshape_op.shape
def reshape_shape(tensor: Tensor, shape: Tensor) -> Shape:
    """The shape asked for, whose one open size follows from the count of elements where that is known."""
    wanted, given = constant_shape(shape), tensor.static_shape
    if wanted.dims is None or given.dims is None:
        return wanted
    open_in, open_out = given.dims.count(None), wanted.dims.count(None)
    if 0 in given.dims:
        open_in = 0
    if 0 in wanted.dims:
        open_out = 0
    if open_in > 1 or open_out > 1:
        return wanted
    known_in, known_out = known_product(given.dims), known_product(wanted.dims)
    if not open_in and not open_out:
        if known_in != known_out:
            raise InvalidArgumentError(
                f"Cannot reshape a tensor with {known_in} elements to shape {wanted} ({known_out} elements)"
            )
    elif not open_in and known_out > 0:
        return with_size_at(wanted, wanted.dims.index(None), divide(known_in, known_out))
    elif not open_out and known_in:
        divide(known_out, known_in)
    return wanted


@reshape_op.kernel
def reshape_kernel(tensor: Array, shape: Array) -> Array:
    sizes = shape.reshape(-1).tolist()
    if shape.ndim > 1 or (sizes and min(sizes) < -1):
        raise InvalidArgumentError(f"sizes input must be 1-D, and no size below -1, not {sizes}")
    try:
        return np.reshape(tensor, sizes)
    except ValueError:
        return _reshaped_awkwardly(tensor, sizes)


def _reshaped_awkwardly(tensor: Array, sizes: list[int]) -> Array:
    """A reshape that NumPy refuses and TensorFlow may allow: beside a zero, the open size is what the other sizes call
    for. Otherwise TensorFlow's error.
    """
    if sizes.count(-1) > 1:
        raise InvalidArgumentError("Only one input size may be -1")
    count = np.size(tensor)
    if -1 in sizes and 0 in sizes and count == 0:
        rest, over = divmod(_nonzero_product(np.shape(tensor)), _nonzero_product([s for s in sizes if s != -1]))
        if over == 0 or 0 in np.shape(tensor):
            return np.reshape(tensor, [rest if size == -1 else size for size in sizes])
    requested = int(np.prod([size for size in sizes if size != -1], dtype=np.float64))
    what = "requested shape requires a multiple of" if -1 in sizes else "requested shape has"
    raise InvalidArgumentError(f"Input to reshape is a tensor with {count} values, but the {what} {requested}")


def _nonzero_product(sizes: Sequence[int]) -> int:
    return prod(size for size in sizes if size)


@reshape_op.gradient
def reshape_gradient(op: Operation, dy: Tensor) -> Gradients:
    known = op.inputs[0].static_shape
    if known.dims is not None and known.dims.count(None) == 1 and 0 not in known.dims:
        sizes = [-1 if size is None else size for size in known.dims]
        return [reshape(dense(dy), sizes), None]
    return [reshape_to_input(op, dy), None]


def reshape_to_input(op: Operation, dy: Tensor) -> Tensor:
    """The gradient in the shape of the operation's input."""
    flat = dense(dy)
    return reshape(flat, shape_of(op.inputs[0]))


expand_dims = op("ExpandDims(input: T, dim: Tdim) -> output: T", "T: type", "Tdim: {int32, int64} = int32")


@expand_dims.shape
def expand_dims_shape(input: Tensor, dim: Tensor) -> Shape:
    dims, axis = input.static_shape.dims, constant_integer(dim)
    if axis is None or dims is None:
        return UNKNOWN_SHAPE
    if not -len(dims) - 1 <= axis <= len(dims):
        raise InvalidArgumentError(f"dim {axis} not in the interval [{-len(dims) - 1}, {len(dims)}].")
    at = axis + len(dims) + 1 if axis < 0 else axis
    return Shape((*dims[:at], 1, *dims[at:]))


@expand_dims.kernel
def expand_dims_kernel(input: Array, dim: Array) -> Array:
    rank, axis = np.ndim(input), int(dim.item())
    if not -rank - 1 <= axis <= rank:
        raise InvalidArgumentError(f"Tried to expand dim index {axis} for tensor with {rank} dimensions.")
    sizes = np.shape(input)
    at = axis + rank + 1 if axis < 0 else axis
    return np.reshape(input, (*sizes[:at], 1, *sizes[at:]))


@expand_dims.gradient
def expand_dims_gradient(op: Operation, dy: Tensor) -> Gradients:
    return [reshape_to_input(op, dy), None]


squeeze = op("Squeeze(input: T) -> output: T", "T: type", "squeeze_dims: list(int) >= 0 = []")


@squeeze.shape
def squeeze_shape(input: Tensor, *, squeeze_dims: tuple[int, ...]) -> Shape:
    dims = input.static_shape.dims
    if dims is None:
        return UNKNOWN_SHAPE
    if not squeeze_dims:
        return UNKNOWN_SHAPE if None in dims else Shape(tuple(size for size in dims if size != 1))
    axes = {normalized_axis(axis, len(dims), "squeeze_dims") for axis in squeeze_dims}
    for axis in axes:
        if dims[axis] not in (1, None):
            raise InvalidArgumentError(f"Can not squeeze dim[{axis}], expected a dimension of 1, got {dims[axis]}")
    return Shape(tuple(size for axis, size in enumerate(dims) if axis not in axes))


@squeeze.kernel
def squeeze_kernel(input: Array, *, squeeze_dims: tuple[int, ...]) -> Array:
    return np.squeeze(input, squeeze_dims or None) if len(squeeze_dims) < 2 else _squeeze_axes(input, squeeze_dims)


def _squeeze_axes(input: Any, axes: tuple[int, ...]) -> Any:
    rank = np.ndim(input)
    return np.squeeze(input, tuple({normalized_axis(axis, rank, "squeeze_dims") for axis in axes}))


@squeeze.gradient
def squeeze_gradient(op: Operation, dy: Tensor) -> Gradients:
    return reshape_to_input(op, dy)


# ---------------------------------------------------------------------------------------------------- Repeated values

fill = op("Fill(dims: index_type, value: T) -> output: T", "T: type", "index_type: {int32, int64} = int32")


@fill.shape
def fill_shape(dims: Tensor, value: Tensor) -> Shape:
    with_rank(dims, 1)
    with_rank(value, 0)
    sizes = constant_value(dims)
    if sizes is not None and sizes.size and sizes.min() < 0:
        raise InvalidArgumentError(f"Fill dimensions must be >= 0, got {sizes.min()}")
    return constant_shape(dims)


@fill.kernel
def fill_kernel(dims: Array, value: Array, *, T: DType) -> Array:  # noqa: N803
    if dims.ndim > 1:
        raise InvalidArgumentError(f"dims must represent a vector, got shape {list(dims.shape)}")
    if np.ndim(value):
        raise InvalidArgumentError(f"value must represent a scalar, got shape {list(np.shape(value))}")
    check_allocation(dims.reshape(-1).tolist(), T.array_dtype)
    if not T.is_object and not any(value.tobytes()):
        return np.zeros(dims.tolist(), T.array_dtype)  # which touches no memory
    return np.full(dims.tolist(), value, T.array_dtype)


@fill.gradient
def fill_gradient(op: Operation, dy: Tensor) -> Gradients:
    return None, reduce_sum(dy, all_axes(dy))


def all_axes(x: Tensor | IndexedSlices) -> Tensor:
    """All axes of a tensor or of rows, as TensorFlow's reductions state them."""
    found = x.static_shape.rank if isinstance(x, Tensor) else plain_shape(x.shape).rank
    return span(0, rank_of(convert(x))) if found is None else constant(np.arange(found, dtype=np.int32))


zeros_like = op("ZerosLike(x: T) -> y: T", "T: type")
zeros_like.shape(same)
not_differentiable(zeros_like)


@zeros_like.kernel
def zeros_like_kernel(x: Array | Variant, *, T: DType) -> Array | Variant:  # noqa: N803
    if isinstance(x, Variant):
        return x.zeros_like()
    return np.full(np.shape(x), b"", object) if T is STRING else np.zeros(np.shape(x), T.array_dtype)


ones_like = op(
    "OnesLike(x: T) -> y: T",
    "T: {bfloat16, half, float, double, int8, uint8, int16, uint16, int32, uint32, int64, uint64, complex64, "
    "complex128, bool}",
)
ones_like.shape(same)
not_differentiable(ones_like)


@ones_like.kernel
def ones_like_kernel(x: Array) -> Array:
    return np.ones(np.shape(x), x.dtype)


tile = op("Tile(input: T, multiples: Tmultiples) -> output: T", "T: type", "Tmultiples: {int32, int64} = int32")


@tile.shape
def tile_shape(input: Tensor, multiples: Tensor) -> Shape:
    factors = constant_shape(multiples)
    dims = input.static_shape.dims
    if dims is not None:
        with_rank(multiples, 1)
        factors = of_rank(factors, len(dims))
    if factors.dims is None:
        return UNKNOWN_SHAPE
    if dims is None:
        dims = (None,) * len(factors.dims)
    return Shape(tuple(multiply(a, b) for a, b in zip(dims, factors.dims, strict=True)))


@tile.kernel
def tile_kernel(input: Array, multiples: Array) -> Array:
    if multiples.shape != (np.ndim(input),):
        raise InvalidArgumentError(
            f"Expected multiples argument to be a vector of length {np.ndim(input)} but got shape "
            f"{list(multiples.shape)}"
        )
    factors = multiples.tolist()
    if factors and min(factors) < 0:
        raise InvalidArgumentError(f"Expected multiples >= 0, but got {factors}")
    sizes = [size * factor for size, factor in zip(np.shape(input), factors, strict=True)]
    check_allocation(sizes, input.dtype)
    if all(size == 1 or factor == 1 for size, factor in zip(np.shape(input), factors, strict=True)):
        result = np.empty(sizes, input.dtype)
        result[...] = input
        return result
    return np.tile(input, factors)


@tile.gradient
def tile_gradient(op: Operation, dy: Tensor) -> Gradients:
    multiples = op.inputs[1]
    input_shape = shape_of(op.inputs[0], out_type=multiples.dtype.base_dtype)
    pairs = stack([multiples, input_shape])
    turned = emit("Transpose", pairs, np.array([1, 0], np.int32), name="transpose")
    split_shape = reshape(turned, [-1])
    axes = emit("Range", 0, size_of(split_shape), 2, name="range")
    if not isinstance(dy, Tensor):
        rows = cast(first_size(input_shape), dy.indices.dtype)
        inside = emit("FloorMod", dy.indices, rows, name="mod")
        dy = emit("UnsortedSegmentSum", dy.values, inside, rows)
        split_shape = concat([[1], item(split_shape, slice(1, None))], 0)
    grad = reduce_sum(reshape(dy, split_shape), axes)
    grad.set_shape(op.inputs[0].static_shape)
    return [grad, None]


broadcast_to = op("BroadcastTo(input: T, shape: Tidx) -> output: T", "T: type", "Tidx: {int32, int64} = int32")


@broadcast_to.shape
def broadcast_to_shape(input: Tensor, shape: Tensor) -> Shape:
    with_rank(shape, 1)
    wanted, dims = constant_shape(shape), input.static_shape.dims
    if wanted.dims is None or dims is None:
        return wanted
    at_most(input.static_shape, len(wanted.dims))
    sizes = list(wanted.dims)
    for back, given in enumerate(reversed(dims), 1):
        if given is not None and given > 1:
            sizes[-back] = merge_sizes(given, sizes[-back])
    return Shape(tuple(sizes))


@broadcast_to.kernel
def broadcast_to_kernel(input: Array, shape: Array) -> Array:
    if shape.ndim != 1:
        raise InvalidArgumentError(f"shape must be a vector, got shape {list(shape.shape)}")
    sizes = shape.tolist()
    check_allocation(sizes, input.dtype)
    try:
        return np.broadcast_to(input, sizes)
    except ValueError:
        raise InvalidArgumentError(
            f"Incompatible shapes: {list(np.shape(input))} vs. {sizes}: the first does not broadcast to the second"
        ) from None


@broadcast_to.gradient
def broadcast_to_gradient(op: Operation, dy: Tensor) -> Gradients:
    shape = op.inputs[1]
    input_shape = shape_of(op.inputs[0], out_type=shape.dtype.base_dtype)
    known = constant_value(shape)
    if known is not None:
        shape = constant(known, shape.dtype.base_dtype)
    _, axes = emit_tensors("BroadcastGradientArgs", shape, input_shape)
    return [reshape(reduce_sum(dy, axes, keep_dims=True), input_shape), None]


broadcast_args = op("BroadcastArgs(s0: T, s1: T) -> r0: T", "T: {int32, int64} = int32")


@broadcast_args.shape
def broadcast_args_shape(s0: Tensor, s1: Tensor) -> Shape:
    first, second = size_at(with_rank(s0, 1), 0), size_at(with_rank(s1, 1), 0)
    return UNKNOWN_VECTOR if first is None or second is None else Shape((max(first, second),))


@broadcast_args.kernel
def broadcast_args_kernel(s0: Array, s1: Array) -> Array:
    if s0.ndim != 1 or s1.ndim != 1:
        raise InvalidArgumentError(f"In[0] and In[1] must be vectors, got {list(s0.shape)} and {list(s1.shape)}")
    if min(s0.min(initial=0), s1.min(initial=0)) < 0:
        raise InvalidArgumentError(f"Incompatible shapes: {s0.tolist()} vs. {s1.tolist()}")
    try:
        return np.array(np.broadcast_shapes(tuple(s0.tolist()), tuple(s1.tolist())), s0.dtype)
    except ValueError:
        raise InvalidArgumentError(f"Incompatible shapes: {s0.tolist()} vs. {s1.tolist()}") from None


one_hot = op(
    "OneHot(indices: TI, depth: int32, on_value: T, off_value: T) -> output: T",
    "axis: int = -1",
    "T: type",
    "TI: {uint8, int8, int32, int64} = int64",
)
not_differentiable(one_hot)


@one_hot.shape
def one_hot_shape(indices: Tensor, depth: Tensor, on_value: Tensor, off_value: Tensor, *, axis: int) -> Shape:
    if axis < -1:
        raise InvalidArgumentError("axis must be >= -1")
    count, dims = constant_integer(depth), indices.static_shape.dims
    if count is not None and count < 0:
        raise InvalidArgumentError(f"Dimension size, given by scalar input 1, must be non-negative but is {count}")
    if dims is None:
        return UNKNOWN_SHAPE
    at = len(dims) if axis == -1 else axis
    if at > len(dims):
        raise InvalidArgumentError(f"axis {axis} is beyond the {len(dims) + 1} dimensions of the result")
    return Shape((*dims[:at], count, *dims[at:]))


@one_hot.kernel
def one_hot_kernel(indices: Array, depth: Array, on_value: Array, off_value: Array, *, axis: int, T: DType) -> Array:  # noqa: N803
    if np.ndim(depth) or np.ndim(on_value) or np.ndim(off_value):
        raise InvalidArgumentError("depth, on_value and off_value must be scalars")
    count, rank = int(depth), np.ndim(indices)
    if count < 0:
        raise InvalidArgumentError(f"depth must be non-negative, got: {count}")
    if not -1 <= axis <= rank:
        raise InvalidArgumentError(f"Expected axis to be -1 or between [0, {rank}]. But received: {axis}")
    flat = np.asarray(indices).reshape(-1).astype(np.int64)
    check_allocation((flat.size, count), T.array_dtype)
    hot = np.full((flat.size, count), off_value, T.array_dtype)
    rows = np.flatnonzero((flat >= 0) & (flat < count))
    hot[rows, flat[rows]] = on_value
    found = hot.reshape((*np.shape(indices), count))
    return found if axis in (-1, rank) else np.moveaxis(found, -1, axis)


# ---------------------------------------------------------------------------------------------------- Passed on

ensure_shape = op("EnsureShape(input: T) -> output: T", "shape: shape", "T: type")


@ensure_shape.shape
def ensure_shape_shape(input: Tensor, *, shape: Shape) -> Shape:
    return input.static_shape.merge(shape)


@ensure_shape.kernel
def ensure_shape_kernel(input: Array, *, shape: Shape) -> Array:
    if not shape.is_compatible(Shape(np.shape(input))):
        raise InvalidArgumentError(
            f"Shape of tensor {list(np.shape(input))} is not compatible with expected shape {shape}."
        )
    return input


ensure_shape.gradient(identity_gradient)

check_numerics = op(
    "CheckNumerics(tensor: T) -> output: T", "T: {bfloat16, half, float, double}", "message: string", "stateful"
)
check_numerics.shape(same)


@check_numerics.kernel
def check_numerics_kernel(tensor: Array, *, message: bytes) -> Array:
    return _checked_numerics(tensor, message, signed=False)


def _checked_numerics(tensor: Array, message: bytes, signed: bool) -> Array:
    if np.isfinite(tensor).all():
        return tensor
    wide = np.asarray(tensor, np.float64)
    infinities = ["-Inf"] * bool(np.isneginf(wide).any()) + ["+Inf"] * bool(np.isposinf(wide).any())
    if infinities and not signed:
        infinities = ["Inf"]
    found = infinities + ["NaN"] * bool(np.isnan(wide).any())
    words = f"{', '.join(found[:-1])} and {found[-1]}" if len(found) > 1 else found[0]
    raise InvalidArgumentError(f"{message.decode(errors='replace')} : Tensor had {words} values")


@check_numerics.gradient
def check_numerics_gradient(op: Operation, dy: Tensor) -> Gradients:
    return emit(op.type, dy, message=_gradient_message(op))


def _gradient_message(op: Operation) -> str:
    message = op.get_attr("message")
    return f"Not a number (NaN) or infinity (Inf) values detected in gradient. {message}"


check_numerics_v2 = op(
    "CheckNumericsV2(tensor: T) -> output: T", "T: {bfloat16, half, float, double}", "message: string", "stateful"
)
check_numerics_v2.shape(same)
check_numerics_v2.gradient(check_numerics_gradient)


@check_numerics_v2.kernel
def check_numerics_v2_kernel(tensor: Array, *, message: bytes) -> Array:
    return _checked_numerics(tensor, message, signed=True)


_BITCAST = (
    "{bfloat16, half, float, double, int64, int32, uint8, uint16, uint32, uint64, int8, int16, complex64, complex128, "
    "qint8, quint8, qint16, quint16, qint32}"
)
bitcast = op("Bitcast(input: T) -> output: type", f"T: {_BITCAST}", f"type: {_BITCAST}")


@bitcast.shape
def bitcast_shape(input: Tensor, *, T: DType, type: DType) -> Shape:  # noqa: N803
    dims = input.static_shape.dims
    if dims is None:
        return UNKNOWN_SHAPE
    if T.itemsize < type.itemsize:
        at_least(input.static_shape, 1)
        count = type.itemsize // T.itemsize
        if dims[-1] not in (count, None):
            raise InvalidArgumentError(f"Cannot bitcast due to shape. {dims[-1]} does not match {count}")
        return Shape(dims[:-1])
    return Shape(dims) if T.itemsize == type.itemsize else Shape((*dims, T.itemsize // type.itemsize))


@bitcast.kernel
def bitcast_kernel(input: Array, *, T: DType, type: DType) -> Array:  # noqa: N803
    sizes = np.shape(input)
    if T.itemsize < type.itemsize:
        count = type.itemsize // T.itemsize
        if not sizes or sizes[-1] != count:
            raise InvalidArgumentError(
                f"Cannot bitcast from {T} to {type}: shape {list(sizes)} does not end in {count}"
            )
        sizes = sizes[:-1]
    elif T.itemsize > type.itemsize:
        sizes = (*sizes, T.itemsize // type.itemsize)
    flat = np.ascontiguousarray(input).reshape(-1)
    return flat.view(np.uint8).view(type.array_dtype).reshape(sizes)


guarantee_const = op("GuaranteeConst(input: T) -> output: T", "T: type", "stateful")
deep_copy = op("DeepCopy(x: T) -> y: T", "T: type", "stateful")
snapshot = op("Snapshot(input: T) -> output: T", "T: type")
copy, copy_host = (
    op(
        f"{name}(input: T) -> output: T",
        "T: type",
        "tensor_name: string = ''",
        "debug_ops_spec: list(string) = []",
        "allows_uninitialized_input",
    )
    for name in ("Copy", "CopyHost")
)
debug_identity = op(
    "DebugIdentity(input: T) -> output: T",
    "T: type",
    "device_name: string = ''",
    "tensor_name: string = ''",
    "debug_urls: list(string) = []",
    "gated_grpc: bool = false",
    "allows_uninitialized_input",
)
for passing in (guarantee_const, deep_copy, snapshot, copy, copy_host, debug_identity):
    passing.shape(same)
    passing.kernel(identity_kernel)

empty = op("Empty(shape: int32) -> output: dtype", "dtype: type", "init: bool = false", "stateful")


@empty.shape
def empty_shape(shape: Tensor) -> Shape:
    return constant_shape(shape)


@empty.kernel
def empty_kernel(shape: Array, *, dtype: DType) -> Array:
    if shape.ndim != 1:
        raise InvalidArgumentError(f"shape must be a vector of int32, got shape {list(shape.shape)}")
    check_allocation(shape.tolist(), dtype.array_dtype)
    return np.full(shape.tolist(), b"", object) if dtype is STRING else np.zeros(shape.tolist(), dtype.array_dtype)


placeholder_v2 = op(
    "PlaceholderV2() -> output: dtype",
    "dtype: type",
    "shape: shape",
    "deprecated 23 'Placeholder now behaves the same as PlaceholderV2.'",
)
placeholder_v2.shape(placeholder_shape)
placeholder_v2.stateful_kernel(placeholder_kernel)
