"""Small pieces of graph that gradients are written with, named as TensorFlow's Python names them.

Names and constants are those of the calls and operators in TensorFlow's gradient functions: `a * b` is an operation
"mul", and a number beside a tensor is a constant "mul/y" or "mul/x".
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.dtypes import BOOL, FLOAT32, INT32, STRING, VARIANT, DType, dtype_of_array
from tensorkeep.graph.building import add as add_operation
from tensorkeep.graph.building import current_graph, name_scope
from tensorkeep.graph.composites import IndexedSlices
from tensorkeep.graph.constants import constant_value
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.registry.opspec import get_op
from tensorkeep.graph.tensor_shape import plain_shape
from tensorkeep.ops.arrays.constants import const
from tensorkeep.proto.tensors import tensor_of_array

Array = npt.NDArray[Any]

_SMALL: Final = 1000  # elements; what TensorFlow makes a constant rather than a Fill


# ---------------------------------------------------------------------------------------------------- Constants


def constant(value: Any, dtype: DType | None = None, name: str = "Const", shape: Sequence[int] | None = None) -> Tensor:
    """A constant; of all whole numbers int32 unless told otherwise. With `shape`, one value fills it."""
    array = np.asarray(value, None if dtype is None else dtype.array_dtype)
    if dtype is None:
        if array.dtype == np.int64:
            array = array.astype(np.int32)
        dtype = dtype_of_array(array.dtype)
    proto = tensor_of_array(array, dtype) if shape is None else tensor_of_array(array, dtype, tuple(shape))
    return add_operation(const, [], {"value": proto, "dtype": dtype}, name, current_graph()).outputs[0]


def zeros(shape: Any, dtype: DType, name: str = "zeros") -> Tensor:
    """Zeros of a shape that is a tensor, or a list of sizes some of which may be tensors."""
    return _filled(0, shape, dtype, name)


def ones(shape: Any, dtype: DType, name: str = "ones") -> Tensor:
    return _filled(1, shape, dtype, name)


def _filled(value: int, shape: Any, dtype: DType, name: str) -> Tensor:
    element: Any = b"" if dtype is STRING else bool(value) if dtype is BOOL else value
    with name_scope(name) as scope:
        if not isinstance(shape, Tensor):
            if not any(isinstance(size, Tensor) for size in shape):
                if prod(shape) < _SMALL:
                    return constant(element, dtype, scope, shape)
                shape = constant(np.array(shape, np.int32), INT32, "shape_as_tensor")
            else:
                sizes = [
                    size if isinstance(size, Tensor) else constant(size, name=str(i)) for i, size in enumerate(shape)
                ]
                shape = get_op("Pack")(sizes, axis=0, name="packed")
        if shape.static_shape.rank in (0, None):
            shape = get_op("Reshape")(shape, [-1], name="Reshape")
        return get_op("Fill")(shape, constant(element, dtype), name=scope)  # type: ignore[no-any-return]


def zeros_like(x: Any, name: str = "zeros_like") -> Tensor:
    with name_scope(name) as scope:
        if not isinstance(x, IndexedSlices):
            x = convert(x, name="tensor")
        shape = x.static_shape if isinstance(x, Tensor) else plain_shape(x.shape)
        if shape.is_fully_known and x.dtype.base_dtype is not VARIANT:
            return zeros(shape.as_tuple(), x.dtype.base_dtype, scope)
        return get_op("ZerosLike")(x, name=scope)  # type: ignore[no-any-return]


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


def shape_of(x: Any, name: str = "Shape", out_type: DType = INT32) -> Tensor:
    """The sizes of a tensor: a constant if they are known."""
    if isinstance(x, IndexedSlices):
        assert x.dense_shape is not None
        return x.dense_shape
    known = x.static_shape
    with name_scope(name) as scope:
        if known.is_fully_known:
            return constant(np.array(known.as_tuple(), out_type.array_dtype), out_type, scope)
        return get_op("Shape")(x, out_type=out_type, name=scope)  # type: ignore[no-any-return]


def size_of(x: Tensor, name: str = "Size", out_type: DType = INT32) -> Tensor:
    known = x.static_shape
    with name_scope(name) as scope:
        if known.is_fully_known:
            return constant(prod(known.as_tuple()), out_type, scope)
        return get_op("Size")(x, out_type=out_type, name=scope)  # type: ignore[no-any-return]


def rank_of(x: Tensor, name: str = "Rank") -> Tensor:
    rank = x.static_shape.rank
    with name_scope(name) as scope:
        return get_op("Rank")(x, name=scope) if rank is None else constant(rank, INT32, scope)


def reshape(x: Any, shape: Any, name: str = "Reshape") -> Tensor:
    return get_op("Reshape")(x, shape, name=name)  # type: ignore[no-any-return]


def first_size(shape: Tensor) -> Tensor:
    """`shape[0]`."""
    with name_scope("strided_slice") as scope:
        ends = [constant(np.array([at], np.int32), INT32, "stack") for at in (0, 1, 1)]
        return get_op("StridedSlice")(shape, *ends, shrink_axis_mask=1, name=scope)  # type: ignore[no-any-return]


def gather(params: Tensor, indices: Tensor) -> Tensor:
    return get_op("GatherV2")(params, indices, 0)  # type: ignore[no-any-return]


def concat(values: Sequence[Any], axis: int = 0) -> Tensor:
    return get_op("ConcatV2")(values, axis, name="concat")  # type: ignore[no-any-return]


def span(start: int, limit: Any, name: str = "range") -> Tensor:
    """`range(start, limit)`."""
    with name_scope(name) as scope:
        first = constant(start, name="start")
        last = limit if isinstance(limit, Tensor) else constant(limit, name="limit")
        step = constant(1, name="delta")
        dtype = last.dtype.base_dtype
        return get_op("Range")(cast(first, dtype), last, cast(step, dtype), name=scope)  # type: ignore[no-any-return]


def every_axis(x: Tensor) -> Tensor:
    """The axes of a reduction of all elements."""
    rank = x.static_shape.rank
    return constant(np.arange(rank, dtype=np.int32), INT32) if rank else span(0, rank_of(x))


def reduced_shape(input_shape: Any, axes: Tensor) -> Any:
    """The sizes of a reduction's result that keeps its dimensions: an array if they are known, else a tensor."""
    known_shape = constant_value(input_shape) if isinstance(input_shape, Tensor) else np.array(input_shape)
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
    return get_op("DynamicStitch")([whole, wrapped], sizes)  # type: ignore[no-any-return]


# ---------------------------------------------------------------------------------------------------- Operators


def plain(op: str, x: Any, y: Any, name: str) -> Tensor:
    """A binary operator whose left side is a tensor."""
    return get_op(op)(x, y, name=name)  # type: ignore[no-any-return]


def reflected(op: str, x: Any, y: Tensor, name: str) -> Tensor:
    """A binary operator whose left side is a number: it takes the type of the right one."""
    with name_scope(name) as scope:
        return get_op(op)(constant(x, y.dtype.base_dtype, "x"), y, name=scope)  # type: ignore[no-any-return]


def times(x: Any, y: Any) -> Tensor:
    """`x * y`"""
    return plain("Mul", x, y, "mul") if not isinstance(x, int | float) else reflected("Mul", x, y, "mul")


def plus(x: Any, y: Any) -> Tensor:
    """`x + y`"""
    return plain("AddV2", x, y, "add") if not isinstance(x, int | float) else reflected("AddV2", x, y, "add")


def minus(x: Any, y: Any) -> Tensor:
    """`x - y`"""
    return plain("Sub", x, y, "sub") if not isinstance(x, int | float) else reflected("Sub", x, y, "sub")


def over(x: Any, y: Any) -> Tensor:
    """`x / y` of numbers with a fraction"""
    return plain("RealDiv", x, y, "truediv")


def negated(x: Any) -> Any:
    """`-x`"""
    if isinstance(x, IndexedSlices):
        return IndexedSlices(get_op("Neg")(x.values), x.indices, x.dense_shape)
    return get_op("Neg")(x)


def conj(x: Any) -> Any:
    """The complex conjugate; the tensor itself if it is real."""
    if isinstance(x, Tensor) and (x.dtype.is_complex or x.dtype.base_dtype is VARIANT):
        return get_op("Conj")(x)
    return x


def cast(x: Tensor, dtype: DType, name: str = "Cast") -> Tensor:
    """The tensor as another type; itself if it is of that type."""
    return x if x.dtype.base_dtype is dtype else get_op("Cast")(x, DstT=dtype, name=name)


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


def reduce_sum(x: Any, axes: Any, keep_dims: bool = False) -> Tensor:
    return get_op("Sum")(x, axes, keep_dims=keep_dims)  # type: ignore[no-any-return]


def unbroadcast(x: Tensor, y: Tensor, gx: Any, gy: Any) -> tuple[Any, Any]:
    """Gradients of the inputs of an op that broadcast them, summed to the inputs' shapes."""
    if gx is None and gy is None:
        return gx, gy
    x_shape, y_shape = shape_of(x), shape_of(y)
    found = _broadcast_axes(x, y)
    if found is None:
        x_axes, y_axes = get_op("BroadcastGradientArgs")(x_shape, y_shape)
        return _summed(gx, x_axes, x_shape), _summed(gy, y_axes, y_shape)
    x_rank, y_rank = x.static_shape.rank or 0, y.static_shape.rank or 0
    if found[0] or x_rank < y_rank:
        gx = _summed(gx, found[0], x_shape)
    if found[1] or y_rank < x_rank:
        gy = _summed(gy, found[1], y_shape)
    return gx, gy


def _summed(grad: Any, axes: Any, shape: Tensor) -> Any:
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


def all_known_and_equal(*tensors: Any) -> bool:
    """Whether the tensors have the same shape, and all of it is known."""
    if not all(isinstance(tensor, Tensor) for tensor in tensors):
        return False
    shapes = [tensor.static_shape for tensor in tensors]
    return shapes[0].is_fully_known and all(shape.dims == shapes[0].dims for shape in shapes)
