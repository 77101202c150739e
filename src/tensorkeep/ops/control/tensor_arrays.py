"""Stacks, and arrays of tensors: what the rounds of a loop leave for each other and for the gradient.

The value of a handle is the stack or array itself. Each run makes its own, so nothing outlives a run. The first two
generations of the ops (handles that are references, and handles that are strings) do the same with the same values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.graph import HandleShape, Tensor, held_behind
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.control.tensor_array_values import StackResource, TensorArrayResource, zeros_of
from tensorkeep.ops.shared.kernel_types import Array
from tensorkeep.ops.shared.shape_rules import SCALAR, check_scalars, with_rank
from tensorkeep.runtime.context import KernelContext
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape

_PAIR = Shape((2,))  # handles were once a container and a name


# ---------------------------------------------------------------------------------------------------- Stacks

stack_v2 = op("StackV2(max_size: int32) -> handle: resource", "elem_type: type", "stack_name: string = ''", "stateful")


@stack_v2.shape
def stack_v2_shape(max_size: Tensor) -> Shape:
    return _PAIR


@stack_v2.stateful_kernel
def stack_v2_kernel(ctx: KernelContext, max_size: Array, *, elem_type: DType, stack_name: bytes) -> StackResource:
    return StackResource(stack_name.decode(errors="replace") or ctx.name, elem_type, int(max_size))


stack = op("Stack() -> handle: Ref(string)", "elem_type: type", "stack_name: string = ''", "stateful")


@stack.shape
def stack_shape() -> Shape:
    return _PAIR


@stack.stateful_kernel
def stack_kernel(ctx: KernelContext, *, elem_type: DType, stack_name: bytes) -> StackResource:
    return StackResource(stack_name.decode(errors="replace") or ctx.name, elem_type, -1)


def _pushed_shape(handle: Tensor, elem: Tensor) -> Shape:
    return elem.static_shape


def _push(handle: StackResource, elem: Array) -> Array:
    handle.push(elem)
    return elem


stack_push_v2 = op(
    "StackPushV2(handle: resource, elem: T) -> output: T",
    "T: type",
    "swap_memory: bool = false",
    "stateful",
)
stack_push_v2.shape(_pushed_shape)
stack_push_v2.kernel(_push)

stack_push = op("StackPush(handle: Ref(string), elem: T) -> output: T", "T: type", "swap_memory: bool = false")
stack_push.shape(_pushed_shape)
stack_push.kernel(_push)


def _pop(handle: StackResource, *, elem_type: DType) -> Array:
    return handle.pop(elem_type)


def _unknown(handle: Tensor) -> Shape:
    return UNKNOWN_SHAPE


stack_pop_v2 = op("StackPopV2(handle: resource) -> elem: elem_type", "elem_type: type", "stateful")
stack_pop_v2.shape(_unknown)
stack_pop_v2.kernel(_pop)

stack_pop = op("StackPop(handle: Ref(string)) -> elem: elem_type", "elem_type: type")
stack_pop.shape(_unknown)
stack_pop.kernel(_pop)


def _close(handle: Any) -> tuple[()]:
    handle.close()
    return ()


stack_close_v2 = op("StackCloseV2(handle: resource)", "stateful")
stack_close_v2.kernel(_close)

stack_close = op("StackClose(handle: Ref(string))")
stack_close.kernel(_close)

not_differentiable(stack_v2, stack, stack_push_v2, stack_push, stack_pop_v2, stack_pop, stack_close_v2, stack_close)


# ---------------------------------------------------------------------------------------------------- Tensor arrays


def _check_handle(handle: Tensor) -> None:
    """A handle once was a pair of strings, and still has the shape of one."""
    merged_dims = with_rank(handle, 1).dims
    if merged_dims is not None and merged_dims[0] not in (None, 2):
        raise InvalidArgumentError(f"Dimension must be 2 but is {merged_dims[0]}")


def _element_shape(handle: Tensor) -> Shape | None:
    """The shape of the array's elements as far as the handle tells."""
    held = held_behind(handle)
    return None if held is None else held.element_shape


tensor_array_v3 = op(
    "TensorArrayV3(size: int32) -> handle: resource, flow: float",
    "dtype: type",
    "element_shape: shape = shape",
    "dynamic_size: bool = false",
    "clear_after_read: bool = true",
    "identical_element_shapes: bool = false",
    "tensor_array_name: string = ''",
    "stateful",
)


@tensor_array_v3.shape
def tensor_array_v3_shape(
    size: Tensor, *, dtype: DType, element_shape: Shape, identical_element_shapes: bool
) -> tuple[Shape, Shape]:
    check_scalars(size)
    if element_shape.is_fully_known or identical_element_shapes:
        return HandleShape((2,), dtype, element_shape), SCALAR
    return _PAIR, SCALAR


@tensor_array_v3.stateful_kernel
def tensor_array_v3_kernel(
    ctx: KernelContext,
    size: Array,
    *,
    dtype: DType,
    element_shape: Shape,
    dynamic_size: bool,
    clear_after_read: bool,
    identical_element_shapes: bool,
    tensor_array_name: bytes,
) -> tuple[TensorArrayResource, np.float32]:
    made = _make(ctx, size, dtype, element_shape, dynamic_size, clear_after_read, tensor_array_name)
    made.identical_element_shapes = identical_element_shapes
    return made, np.float32(0)


def _make(
    ctx: Any,
    size: Any,
    dtype: DType,
    element_shape: Shape,
    dynamic_size: bool,
    clear_after_read: bool,
    tensor_array_name: bytes,
) -> TensorArrayResource:
    if np.ndim(size) != 0:
        raise InvalidArgumentError(f"TensorArray size must be scalar, but had shape: {list(np.shape(size))}")
    if size < 0:
        raise InvalidArgumentError(f"Size should be >= 0, got {int(size)}")
    return TensorArrayResource(
        tensor_array_name.decode(errors="replace") or ctx.name,
        dtype,
        element_shape,
        int(size),
        dynamic_size=dynamic_size,
        clear_after_read=clear_after_read,
    )


tensor_array_v2 = op(
    "TensorArrayV2(size: int32) -> handle: string",
    "dtype: type",
    "element_shape: shape = shape",
    "dynamic_size: bool = false",
    "clear_after_read: bool = true",
    "tensor_array_name: string = ''",
    "stateful",
    "deprecated 26 'Use TensorArrayV3'",
)


@tensor_array_v2.shape
def tensor_array_v2_shape(size: Tensor) -> Shape:
    check_scalars(size)
    return _PAIR


tensor_array = op(
    "TensorArray(size: int32) -> handle: Ref(string)",
    "dtype: type",
    "dynamic_size: bool = false",
    "clear_after_read: bool = true",
    "tensor_array_name: string = ''",
    "element_shape: shape = shape",
    "stateful",
    "deprecated 16 'Use TensorArrayV3'",
)


@tensor_array.shape
def tensor_array_shape(size: Tensor) -> Shape:
    check_scalars(size)
    return _PAIR


@tensor_array_v2.stateful_kernel
@tensor_array.stateful_kernel
def tensor_array_kernel(
    ctx: KernelContext,
    size: Array,
    *,
    dtype: DType,
    element_shape: Shape,
    dynamic_size: bool,
    clear_after_read: bool,
    tensor_array_name: bytes,
) -> TensorArrayResource:
    return _make(ctx, size, dtype, element_shape, dynamic_size, clear_after_read, tensor_array_name)


tensor_array_grad_v3 = op(
    "TensorArrayGradV3(handle: resource, flow_in: float) -> grad_handle: resource, flow_out: float",
    "source: string",
    "stateful",
)


@tensor_array_grad_v3.shape
def tensor_array_grad_v3_shape(handle: Tensor, flow_in: Tensor) -> tuple[Shape, Shape]:
    _check_handle(handle)
    check_scalars(flow_in)
    shape = handle.static_shape
    return shape if isinstance(shape, HandleShape) else _PAIR, SCALAR


@tensor_array_grad_v3.kernel
def tensor_array_grad_v3_kernel(
    handle: TensorArrayResource, flow_in: Array, *, source: bytes
) -> tuple[TensorArrayResource, Array]:
    return handle.gradient(source), flow_in


tensor_array_grad_with_shape = op(
    "TensorArrayGradWithShape(handle: resource, flow_in: float, shape_to_prepend: int32) "
    "-> grad_handle: resource, flow_out: float",
    "source: string",
    "stateful",
)


@tensor_array_grad_with_shape.shape
def tensor_array_grad_with_shape_shape(
    handle: Tensor, flow_in: Tensor, shape_to_prepend: Tensor
) -> tuple[Shape, Shape]:
    _check_handle(handle)
    check_scalars(flow_in)
    return _PAIR, SCALAR


@tensor_array_grad_with_shape.kernel
def tensor_array_grad_with_shape_kernel(
    handle: TensorArrayResource, flow_in: Array, shape_to_prepend: Array, *, source: bytes
) -> tuple[TensorArrayResource, Array]:
    return handle.gradient(source, tuple(int(size) for size in shape_to_prepend)), flow_in


tensor_array_grad_v2 = op(
    "TensorArrayGradV2(handle: string, flow_in: float) -> grad_handle: string",
    "source: string",
    "stateful",
    "deprecated 26 'Use TensorArrayGradV3'",
)

tensor_array_grad = op(
    "TensorArrayGrad(handle: string, flow_in: float) -> grad_handle: Ref(string)",
    "source: string",
    "stateful",
    "deprecated 16 'Use TensorArrayGradV3'",
)


@tensor_array_grad_v2.shape
@tensor_array_grad.shape
def tensor_array_grad_shape(handle: Tensor, flow_in: Tensor) -> Shape:
    _check_handle(handle)
    check_scalars(flow_in)
    return _PAIR


@tensor_array_grad_v2.kernel
@tensor_array_grad.kernel
def tensor_array_grad_kernel(handle: TensorArrayResource, flow_in: Array, *, source: bytes) -> TensorArrayResource:
    return handle.gradient(source)


tensor_array_write_v3 = op(
    "TensorArrayWriteV3(handle: resource, index: int32, value: T, flow_in: float) -> flow_out: float",
    "T: type",
    "stateful",
)

tensor_array_write_v2 = op(
    "TensorArrayWriteV2(handle: string, index: int32, value: T, flow_in: float) -> flow_out: float",
    "T: type",
    "deprecated 26 'Use TensorArrayWriteV3'",
)

tensor_array_write = op(
    "TensorArrayWrite(handle: Ref(string), index: int32, value: T, flow_in: float) -> flow_out: float",
    "T: type",
    "deprecated 16 'Use TensorArrayWriteV3'",
)


@tensor_array_write_v3.shape
@tensor_array_write_v2.shape
@tensor_array_write.shape
def tensor_array_write_shape(handle: Tensor, index: Tensor, value: Tensor, flow_in: Tensor) -> Shape:
    _check_handle(handle)
    check_scalars(index, flow_in)
    element = _element_shape(handle)
    if element is not None:
        element.merge(value.static_shape)
    return SCALAR


@tensor_array_write_v3.kernel
@tensor_array_write_v2.kernel
@tensor_array_write.kernel
def tensor_array_write_kernel(handle: TensorArrayResource, index: Array, value: Array, flow_in: Array) -> Array:
    handle.write(int(index), np.asarray(value))
    return flow_in


tensor_array_read_v3 = op(
    "TensorArrayReadV3(handle: resource, index: int32, flow_in: float) -> value: dtype",
    "dtype: type",
    "stateful",
)

tensor_array_read_v2 = op(
    "TensorArrayReadV2(handle: string, index: int32, flow_in: float) -> value: dtype",
    "dtype: type",
    "deprecated 26 'Use TensorArrayReadV3'",
)

tensor_array_read = op(
    "TensorArrayRead(handle: Ref(string), index: int32, flow_in: float) -> value: dtype",
    "dtype: type",
    "deprecated 16 'Use TensorArrayReadV3'",
)


@tensor_array_read_v3.shape
@tensor_array_read_v2.shape
@tensor_array_read.shape
def tensor_array_read_shape(handle: Tensor, index: Tensor, flow_in: Tensor) -> Shape:
    _check_handle(handle)
    check_scalars(index, flow_in)
    known = _element_shape(handle)
    return UNKNOWN_SHAPE if known is None else known


@tensor_array_read_v3.kernel
@tensor_array_read_v2.kernel
@tensor_array_read.kernel
def tensor_array_read_kernel(handle: TensorArrayResource, index: Array, flow_in: Array, *, dtype: DType) -> Array:
    _check_type(handle, dtype)
    return handle.take(int(index))


def _check_type(handle: TensorArrayResource, dtype: DType) -> None:
    if dtype is not handle.dtype:
        raise InvalidArgumentError(f"TensorArray dtype is {handle.dtype} but Op requested dtype {dtype}.")


tensor_array_gather_v3 = op(
    "TensorArrayGatherV3(handle: resource, indices: int32, flow_in: float) -> value: dtype",
    "dtype: type",
    "element_shape: shape = shape",
    "stateful",
)

tensor_array_gather_v2 = op(
    "TensorArrayGatherV2(handle: string, indices: int32, flow_in: float) -> value: dtype",
    "dtype: type",
    "element_shape: shape = shape",
    "deprecated 26 'Use TensorArrayGatherV3'",
)

tensor_array_gather = op(
    "TensorArrayGather(handle: Ref(string), indices: int32, flow_in: float) -> value: dtype",
    "dtype: type",
    "element_shape: shape = shape",
    "deprecated 16 'Use TensorArrayGatherV3'",
)


@tensor_array_gather_v3.shape
@tensor_array_gather_v2.shape
@tensor_array_gather.shape
def tensor_array_gather_shape(handle: Tensor, indices: Tensor, flow_in: Tensor, *, element_shape: Shape) -> Shape:
    _check_handle(handle)
    check_scalars(flow_in)
    known = _element_shape(handle)
    return with_rank(indices, 1).concatenate(element_shape if known is None else known)


@tensor_array_gather_v3.kernel
@tensor_array_gather_v2.kernel
@tensor_array_gather.kernel
def tensor_array_gather_kernel(
    handle: TensorArrayResource, indices: Array, flow_in: Array, *, dtype: DType, element_shape: Shape
) -> Array:
    _check_type(handle, dtype)
    if np.ndim(indices) != 1:
        raise InvalidArgumentError(f"Expected indices to be a vector, but received shape: {list(np.shape(indices))}")
    return _pack_elements(handle, handle.take_all(indices, element_shape))


def _pack_elements(handle: TensorArrayResource, values: list[Any]) -> Array:
    if not values:
        return zeros_of((0, *_static(handle, "packing")), handle.dtype)
    for index, value in enumerate(values):
        if value.shape != values[0].shape:
            raise InvalidArgumentError(
                f"TensorArray has inconsistent shapes. Index 0 has shape: {list(values[0].shape)} but index {index} "
                f"has shape: {list(value.shape)}"
            )
    return np.stack(values)


def _static(handle: TensorArrayResource, doing: str) -> tuple[int, ...]:
    if not handle.element_shape.is_fully_known:
        raise InvalidArgumentError(
            f"TensorArray has size zero, but element shape {handle.element_shape} is not fully defined. Currently only "
            f"static shapes are supported when {doing} zero-size TensorArrays."
        )
    return handle.element_shape.as_tuple()


tensor_array_pack = op(
    "TensorArrayPack(handle: Ref(string), flow_in: float) -> value: dtype",
    "dtype: type",
    "element_shape: shape = shape",
    "deprecated 16 'Use TensorArrayGatherV3 with RangeOp'",
)


@tensor_array_pack.shape
def tensor_array_pack_shape(handle: Tensor, flow_in: Tensor) -> Shape:
    _check_handle(handle)
    check_scalars(flow_in)
    return UNKNOWN_SHAPE


@tensor_array_pack.kernel
def tensor_array_pack_kernel(
    handle: TensorArrayResource, flow_in: Array, *, dtype: DType, element_shape: Shape
) -> Array:
    _check_type(handle, dtype)
    return _pack_elements(handle, handle.take_all(range(len(handle)), element_shape))


tensor_array_scatter_v3 = op(
    "TensorArrayScatterV3(handle: resource, indices: int32, value: T, flow_in: float) -> flow_out: float",
    "T: type",
    "stateful",
)

tensor_array_scatter_v2 = op(
    "TensorArrayScatterV2(handle: string, indices: int32, value: T, flow_in: float) -> flow_out: float",
    "T: type",
    "deprecated 26 'Use TensorArrayScatterV3'",
)

tensor_array_scatter = op(
    "TensorArrayScatter(handle: Ref(string), indices: int32, value: T, flow_in: float) -> flow_out: float",
    "T: type",
    "deprecated 19 'Use TensorArrayGradV3'",
)


@tensor_array_scatter_v3.shape
@tensor_array_scatter_v2.shape
@tensor_array_scatter.shape
def tensor_array_scatter_shape(handle: Tensor, indices: Tensor, value: Tensor, flow_in: Tensor) -> Shape:
    _check_handle(handle)
    check_scalars(flow_in)
    with_rank(indices, 1)
    dims = value.static_shape.dims
    if dims is not None:
        element = _element_shape(handle)
        if element is not None and dims:
            element.merge(Shape(dims[1:]))
    return SCALAR


@tensor_array_scatter_v3.kernel
@tensor_array_scatter_v2.kernel
@tensor_array_scatter.kernel
def tensor_array_scatter_kernel(handle: TensorArrayResource, indices: Array, value: Array, flow_in: Array) -> Array:
    if np.ndim(indices) != 1:
        raise InvalidArgumentError(f"Expected indices to be a vector, but received shape: {list(np.shape(indices))}")
    _check_rows(value)
    if len(indices) != len(value):
        raise InvalidArgumentError(
            f"Expected len(indices) == values.shape[0], but saw: {len(indices)} vs. {len(value)}"
        )
    for index, row in zip(indices.tolist(), value, strict=True):
        handle.write(index, np.asarray(row, value.dtype))
    return flow_in


def _check_rows(value: Any) -> None:
    if np.ndim(value) < 1:
        raise InvalidArgumentError(
            f"Input value for unpack must be at least a vector but received shape: {list(np.shape(value))}"
        )


tensor_array_unpack = op(
    "TensorArrayUnpack(handle: Ref(string), value: T, flow_in: float) -> flow_out: float",
    "T: type",
    "deprecated 20 'Use TensorArrayScatterV3 with RangeOp'",
)


@tensor_array_unpack.shape
def tensor_array_unpack_shape(handle: Tensor, value: Tensor, flow_in: Tensor) -> Shape:
    _check_handle(handle)
    check_scalars(flow_in)
    return SCALAR


@tensor_array_unpack.kernel
def tensor_array_unpack_kernel(handle: TensorArrayResource, value: Array, flow_in: Array) -> Array:
    _check_rows(value)
    _check_count(handle, len(value))
    for index, row in enumerate(value):
        handle.write(index, np.asarray(row, value.dtype))
    return flow_in


def _check_count(handle: TensorArrayResource, count: int) -> None:
    if count != len(handle) and not handle.dynamic_size:
        raise InvalidArgumentError(
            f"TensorArray's size is not equal to the size of lengths ({len(handle)} vs. {count}), and the TensorArray "
            "is not marked as dynamically resizeable"
        )


tensor_array_concat_v3 = op(
    "TensorArrayConcatV3(handle: resource, flow_in: float) -> value: dtype, lengths: int64",
    "dtype: type",
    "element_shape_except0: shape = shape",
    "stateful",
)

tensor_array_concat_v2 = op(
    "TensorArrayConcatV2(handle: string, flow_in: float) -> value: dtype, lengths: int64",
    "dtype: type",
    "element_shape_except0: shape = shape",
)

tensor_array_concat = op(
    "TensorArrayConcat(handle: Ref(string), flow_in: float) -> value: dtype, lengths: int64",
    "dtype: type",
    "element_shape_except0: shape = shape",
    "deprecated 16 'Use TensorArrayGradV3'",
)


@tensor_array_concat_v3.shape
@tensor_array_concat_v2.shape
@tensor_array_concat.shape
def tensor_array_concat_shape(handle: Tensor, flow_in: Tensor) -> tuple[Shape, Shape]:
    _check_handle(handle)
    check_scalars(flow_in)
    return UNKNOWN_SHAPE, Shape((None,))


@tensor_array_concat_v3.kernel
@tensor_array_concat_v2.kernel
@tensor_array_concat.kernel
def tensor_array_concat_kernel(
    handle: TensorArrayResource, flow_in: Array, *, dtype: DType, element_shape_except0: Shape
) -> tuple[Array, Array]:
    _check_type(handle, dtype)
    values = handle.take_all(range(len(handle)), UNKNOWN_SHAPE)
    if not values:
        if not element_shape_except0.is_fully_known:
            raise InvalidArgumentError(
                f"TensorArray has size zero, but element_shape_except0 {element_shape_except0} is not fully defined. "
                "Currently only static shapes are supported when concatenating zero-size TensorArrays."
            )
        return zeros_of((0, *element_shape_except0.as_tuple()), dtype), np.zeros(0, np.int64)
    for index, value in enumerate(values):
        if value.ndim == 0:
            raise InvalidArgumentError(
                f"Concat saw a scalar shape at index {index} but requires at least vectors. Did you mean to call pack?"
            )
        if value.shape[1:] != values[0].shape[1:]:
            raise InvalidArgumentError(
                f"TensorArray has inconsistent shapes. Index 0 has (excepting dimension 0) shape: "
                f"{list(values[0].shape[1:])} but index {index} has (excepting dimension 0) shape: "
                f"{list(value.shape[1:])}"
            )
    return np.concatenate(values), np.array([len(value) for value in values], np.int64)


tensor_array_split_v3 = op(
    "TensorArraySplitV3(handle: resource, value: T, lengths: int64, flow_in: float) -> flow_out: float",
    "T: type",
    "stateful",
)

tensor_array_split_v2 = op(
    "TensorArraySplitV2(handle: string, value: T, lengths: int64, flow_in: float) -> flow_out: float",
    "T: type",
    "deprecated 26 'Use TensorArraySplitV3'",
)

tensor_array_split = op(
    "TensorArraySplit(handle: Ref(string), value: T, lengths: int64, flow_in: float) -> flow_out: float",
    "T: type",
    "deprecated 16 'Use TensorArraySplitV3'",
)


@tensor_array_split_v3.shape
@tensor_array_split_v2.shape
@tensor_array_split.shape
def tensor_array_split_shape(handle: Tensor, value: Tensor, lengths: Tensor, flow_in: Tensor) -> Shape:
    _check_handle(handle)
    check_scalars(flow_in)
    with_rank(lengths, 1)
    return SCALAR


@tensor_array_split_v3.kernel
@tensor_array_split_v2.kernel
@tensor_array_split.kernel
def tensor_array_split_kernel(handle: TensorArrayResource, value: Array, lengths: Array, flow_in: Array) -> Array:
    if np.ndim(lengths) != 1:
        raise InvalidArgumentError(f"Expected lengths to be a vector, received shape: {list(np.shape(lengths))}")
    if np.ndim(value) < 1:
        raise InvalidArgumentError(
            f"Expected value to be at least a vector, but received shape: {list(np.shape(value))}"
        )
    _check_count(handle, len(lengths))
    total = sum(lengths.tolist())
    if total != len(value) or (lengths < 0).any():
        raise InvalidArgumentError(
            f"Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {total} and value's shape "
            f"is: {list(np.shape(value))}"
        )
    at = 0
    for index, length in enumerate(lengths.tolist()):
        handle.write(index, value[at : at + length])
        at += length
    return flow_in


tensor_array_size_v3 = op("TensorArraySizeV3(handle: resource, flow_in: float) -> size: int32", "stateful")

tensor_array_size_v2 = op(
    "TensorArraySizeV2(handle: string, flow_in: float) -> size: int32",
    "deprecated 26 'Use TensorArraySizeV3'",
)

tensor_array_size = op(
    "TensorArraySize(handle: Ref(string), flow_in: float) -> size: int32",
    "deprecated 16 'Use TensorArraySizeV3'",
)


@tensor_array_size_v3.shape
@tensor_array_size_v2.shape
@tensor_array_size.shape
def tensor_array_size_shape(handle: Tensor, flow_in: Tensor) -> Shape:
    _check_handle(handle)
    return SCALAR


@tensor_array_size_v3.kernel
@tensor_array_size_v2.kernel
@tensor_array_size.kernel
def tensor_array_size_kernel(handle: TensorArrayResource, flow_in: Array) -> np.int32:
    return np.int32(len(handle))


tensor_array_close_v3 = op("TensorArrayCloseV3(handle: resource)", "stateful")
tensor_array_close_v3.kernel(_close)

tensor_array_close_v2 = op("TensorArrayCloseV2(handle: string)", "deprecated 26 'Use TensorArrayCloseV3'")
tensor_array_close_v2.kernel(_close)

tensor_array_close = op("TensorArrayClose(handle: Ref(string))", "deprecated 16 'Use TensorArrayCloseV3'")
tensor_array_close.kernel(_close)

for _spec in (
    *(tensor_array_v3, tensor_array_v2, tensor_array),
    *(tensor_array_grad_v3, tensor_array_grad_with_shape, tensor_array_grad_v2, tensor_array_grad),
    *(tensor_array_size_v3, tensor_array_size_v2, tensor_array_size),
    *(tensor_array_close_v3, tensor_array_close_v2, tensor_array_close),
):
    not_differentiable(_spec)
