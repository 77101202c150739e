"""Small pieces of graph that gradients are written with, named as TensorFlow's Python names them.

Names and constants are those of the calls and operators in TensorFlow's gradient functions: `a * b` is an operation
"mul", and a number beside a tensor is a constant "mul/y" or "mul/x".
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Final, TypeVar

import numpy as np

from tensorkeep.dtypes import BOOL, FLOAT32, INT32, STRING, VARIANT, DType, dtype_of_array
from tensorkeep.graph.arguments import TensorLike, emit, emit_tensors
from tensorkeep.graph.building import add as add_operation
from tensorkeep.graph.building import current_graph, name_scope
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.ops.arrays.constants import const
from tensorkeep.ops.shared.kernel_types import Array, Gradient
from tensorkeep.proto.tensors import tensor_of_array

Flow = TypeVar("Flow", Tensor, IndexedSlices)

_SMALL: Final = 1000  # elements; below it TensorFlow makes a constant, not a Fill: `_constant_if_small`, array_ops.py


# ---------------------------------------------------------------------------------------------------- Constants


def constant(
    value: TensorLike, dtype: DType | None = None, name: str = "Const", shape: Sequence[int] | None = None
) -> Tensor:
    """A constant; of all whole numbers int32 unless told otherwise. With `shape`, one value fills it."""
    array = np.asarray(value, None if dtype is None else dtype.array_dtype)
    if dtype is None:
        if array.dtype == np.int64:
            array = array.astype(np.int32)
        dtype = dtype_of_array(array.dtype)
    proto = tensor_of_array(array, dtype) if shape is None else tensor_of_array(array, dtype, tuple(shape))
    return add_operation(const, [], {"value": proto, "dtype": dtype}, name, current_graph()).outputs[0]


def zeros(shape: Tensor | Sequence[int | Tensor], dtype: DType, name: str = "zeros") -> Tensor:
    """Zeros of a shape that is a tensor, or a list of sizes some of which may be tensors."""
    return _filled_tensor(0, shape, dtype, name)


def ones(shape: Tensor | Sequence[int | Tensor], dtype: DType, name: str = "ones") -> Tensor:
    return _filled_tensor(1, shape, dtype, name)


def _filled_tensor(value: int, shape: Tensor | Sequence[int | Tensor], dtype: DType, name: str) -> Tensor:
    """A tensor of a shape filled with one value: a constant if it is small and its shape is known, else by Fill."""
    element: bytes | int = b"" if dtype is STRING else bool(value) if dtype is BOOL else value
    with name_scope(name) as scope:
        if not isinstance(shape, Tensor):
            known = [size for size in shape if not isinstance(size, Tensor)]
            if len(known) == len(shape):
                if prod(known) < _SMALL:
                    return constant(element, dtype, scope, known)
                shape = constant(np.array(known, np.int32), INT32, "shape_as_tensor")
            else:
                sizes = [
                    size if isinstance(size, Tensor) else constant(size, name=str(i)) for i, size in enumerate(shape)
                ]
                shape = emit("Pack", sizes, axis=0, name="packed")
        if shape.static_shape.rank in (0, None):
            shape = emit("Reshape", shape, [-1], name="Reshape")
        return emit("Fill", shape, constant(element, dtype), name=scope)


def zeros_like(x: TensorLike, name: str = "zeros_like") -> Tensor:
    with name_scope(name) as scope:
        if not isinstance(x, IndexedSlices):
            x = convert(x, name="tensor")
        shape = x.static_shape if isinstance(x, Tensor) else plain_shape(x.shape)
        if shape.is_fully_known and x.dtype.base_dtype is not VARIANT:
            return zeros(shape.as_tuple(), x.dtype.base_dtype, scope)
        return emit("ZerosLike", x, name=scope)


def ones_like(x: Tensor, dtype: DType | None = None, name: str = "ones_like") -> Tensor:
    with name_scope(name) as scope:
        if x.static_shape.is_fully_known:
            with name_scope("Shape"):
                known = np.array(x.static_shape.as_tuple(), np.int32)
                sizes = constant(known, INT32, "shape_as_tensor")
        else:
            sizes = shape_of(x)
        return ones(sizes, dtype or x.dtype.base_dtype, scope)


# ---------------------------------------------------------------------------------------------------- Shapes


def shape_of(x: Tensor | IndexedSlices, name: str = "Shape", out_type: DType = INT32) -> Tensor:
    """The sizes of a tensor: a constant if they are known."""
    if isinstance(x, IndexedSlices):
        assert x.dense_shape is not None
        return x.dense_shape
    known = x.static_shape
    with name_scope(name) as scope:
        if known.is_fully_known:
            return constant(np.array(known.as_tuple(), out_type.array_dtype), out_type, scope)
        return emit("Shape", x, out_type=out_type, name=scope)


def size_of(x: Tensor, name: str = "Size", out_type: DType = INT32) -> Tensor:
    known = x.static_shape
    with name_scope(name) as scope:
        if known.is_fully_known:
            return constant(prod(known.as_tuple()), out_type, scope)
        return emit("Size", x, out_type=out_type, name=scope)


def rank_of(x: Tensor, name: str = "Rank") -> Tensor:
    rank = x.static_shape.rank
    with name_scope(name) as scope:
        return emit("Rank", x, name=scope) if rank is None else constant(rank, INT32, scope)


def reshape(x: TensorLike, shape: TensorLike, name: str = "Reshape") -> Tensor:
    return emit("Reshape", x, shape, name=name)


def first_size(shape: Tensor) -> Tensor:
    """`shape[0]`."""
    with name_scope("strided_slice") as scope:
        ends = [constant(np.array([at], np.int32), INT32, "stack") for at in (0, 1, 1)]
        return emit("StridedSlice", shape, *ends, shrink_axis_mask=1, name=scope)


def gather(params: Tensor, indices: Tensor) -> Tensor:
    return emit("GatherV2", params, indices, 0)


def concat(values: Sequence[TensorLike], axis: int = 0) -> Tensor:
    return emit("ConcatV2", values, axis, name="concat")


def span(start: int, limit: Tensor | int, name: str = "range") -> Tensor:
    """`range(start, limit)`."""
    with name_scope(name) as scope:
        first = constant(start, name="start")
        last = limit if isinstance(limit, Tensor) else constant(limit, name="limit")
        step = constant(1, name="delta")
        dtype = last.dtype.base_dtype
        return emit("Range", cast(first, dtype), last, cast(step, dtype), name=scope)


def every_axis(x: Tensor) -> Tensor:
    """The axes of a reduction of all elements."""
    rank = x.static_shape.rank
    return constant(np.arange(rank, dtype=np.int32), INT32) if rank else span(0, rank_of(x))


def reduced_shape(input_shape: Tensor, axes: Tensor) -> Array | Tensor:
    """The sizes of a reduction's result that keeps its dimensions: an array if they are known, else a tensor.

    `reduced_shape` in math_ops.py.
    """
    known_shape = constant_value(input_shape)
    known_axes = constant_value(axes) if known_shape is not None else None
    if known_shape is not None and known_axes is not None:
        sizes = known_shape.astype(np.int32)
        sizes[known_axes.astype(np.int32)] = 1
        return sizes
    return stitched_shape(input_shape, axes)


def stitched_shape(input_shape: Tensor, axes: Tensor) -> Tensor:
    """The sizes of a reduction's result that keeps its dimensions, as operations find them."""
    rank = size_of(input_shape, out_type=axes.dtype.base_dtype)
    wrapped = plain("FloorMod", plain("AddV2", axes, rank, "add"), rank, "mod")
    axes_shape = shape_of(wrapped)
    whole = span(0, rank)
    sizes = [input_shape, ones(axes_shape, input_shape.dtype.base_dtype)]
    return emit("DynamicStitch", [whole, wrapped], sizes)


# ---------------------------------------------------------------------------------------------------- Operators


def plain(op: str, x: TensorLike, y: TensorLike, name: str) -> Tensor:
    """A binary operator whose left side is a tensor."""
    return emit(op, x, y, name=name)


def reflected_operator(op: str, x: TensorLike, y: Tensor | IndexedSlices, name: str) -> Tensor:
    """A binary operator whose left side is a number: it takes the type of the right one."""
    with name_scope(name) as scope:
        return emit(op, constant(x, y.dtype.base_dtype, "x"), y, name=scope)


def _apply_operator(op: str, x: TensorLike, y: TensorLike, name: str) -> Tensor:
    if isinstance(x, int | float):
        return reflected_operator(op, x, y if isinstance(y, Tensor | IndexedSlices) else convert(y), name)
    return plain(op, x, y, name)


def times(x: TensorLike, y: TensorLike) -> Tensor:
    """`x * y`"""
    return _apply_operator("Mul", x, y, "mul")


def plus(x: TensorLike, y: TensorLike) -> Tensor:
    """`x + y`"""
    return _apply_operator("AddV2", x, y, "add")


def minus(x: TensorLike, y: TensorLike) -> Tensor:
    """`x - y`"""
    return _apply_operator("Sub", x, y, "sub")


def over(x: TensorLike, y: TensorLike) -> Tensor:
    """`x / y` of numbers with a fraction"""
    return plain("RealDiv", x, y, "truediv")


def negative(x: Flow) -> Flow:
    """`-x`"""
    if isinstance(x, IndexedSlices):
        return IndexedSlices(emit("Neg", x.values), x.indices, x.dense_shape)
    return emit("Neg", x)


def conj(x: Flow) -> Flow:
    """The complex conjugate; the tensor itself if it is real."""
    if isinstance(x, Tensor) and (x.dtype.is_complex or x.dtype.base_dtype is VARIANT):
        return emit("Conj", x)
    return x


def cast(x: Tensor, dtype: DType, name: str = "Cast") -> Tensor:
    """The tensor as another type; itself if it is of that type."""
    return x if x.dtype.base_dtype is dtype else emit("Cast", x, DstT=dtype, name=name)


def number(value: float, dtype: DType) -> Tensor:
    """`cast(value, dtype)` of a Python number, which TensorFlow has go through float32: one that this holds exactly.

    TensorFlow's own gradients cast 0, 0.5 and 1 (math_grad.py). What float32 rounds is a `constant` of its type.
    """
    assert float(np.float32(value)) == value, f"{value!r} is no float32; make it a constant of {dtype}"
    with name_scope("Cast") as scope:
        return cast(constant(value, FLOAT32, "x"), dtype, scope)


def real_dtype(dtype: DType) -> DType:
    """The type of the parts of a complex number."""
    return DType.of("float32" if dtype.base_dtype.name == "complex64" else "float64")


# ---------------------------------------------------------------------------------------------------- Broadcasting


def reduce_sum(x: TensorLike, axes: Tensor | Sequence[int] | int, keep_dims: bool = False) -> Tensor:
    return emit("Sum", x, axes, keep_dims=keep_dims)


def unbroadcast(x: Tensor, y: Tensor, gx: Gradient, gy: Gradient) -> tuple[Gradient, Gradient]:
    """The gradients of two inputs that an op broadcast, each summed over the axes along which its input was stretched.

    As `SmartBroadcastGradientArgs` in math_grad.py: where the shapes are known, sums that change nothing are left out.
    """
    if gx is None and gy is None:
        return gx, gy
    x_shape, y_shape = shape_of(x), shape_of(y)
    found = _broadcast_axes(x, y)
    if found is None:
        x_axes, y_axes = emit_tensors("BroadcastGradientArgs", x_shape, y_shape)
        return _sum_gradient(gx, x_axes, x_shape), _sum_gradient(gy, y_axes, y_shape)
    x_rank, y_rank = x.static_shape.rank or 0, y.static_shape.rank or 0
    if found[0] or x_rank < y_rank:
        gx = _sum_gradient(gx, found[0], x_shape)
    if found[1] or y_rank < x_rank:
        gy = _sum_gradient(gy, found[1], y_shape)
    return gx, gy


def _sum_gradient(grad: Gradient, axes: Tensor | Sequence[int], shape: Tensor) -> Tensor | None:
    return None if grad is None else reshape(reduce_sum(grad, axes, keep_dims=True), shape)


def _broadcast_axes(x: Tensor, y: Tensor) -> tuple[list[int], list[int]] | None:
    """Which axes of each were stretched; None if that is not known before running."""
    a, b = x.static_shape.dims, y.static_shape.dims
    if a is None or b is None:
        return None
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    x_axes: list[int] = []
    y_axes: list[int] = []
    for axis, (m, n) in enumerate(zip(a, b, strict=True)):
        if m == 1 and n != 1:
            x_axes.append(axis)
        elif n == 1 and m != 1:
            y_axes.append(axis)
        elif m is None or n is None:
            return None
    return x_axes, y_axes


def all_known_and_equal(*tensors: Gradient) -> bool:
    """Whether the tensors have the same, fully known shape: `_ShapesFullySpecifiedAndEqual` in math_grad.py."""
    shapes = [tensor.static_shape for tensor in tensors if isinstance(tensor, Tensor)]
    return (
        len(shapes) == len(tensors)
        and shapes[0].is_fully_known
        and all(shape.dims == shapes[0].dims for shape in shapes)
    )
