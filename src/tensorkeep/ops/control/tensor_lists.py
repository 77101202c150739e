"""Lists of tensors: the values of variant tensors that TensorFlow 2 writes its loops with.

A list is a value. What changes one makes another; elements are shared. An element that has never been set reads as
zeros, of the shape that the list or the reader tells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorkeep.dtypes import INT32, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.graph.arguments import emit
from tensorkeep.graph.constants import constant_shape
from tensorkeep.graph.conversion import convert
from tensorkeep.graph.graph import HandleShape, Operation, Tensor, held_behind, held_shape
from tensorkeep.graph.registry.opspec import not_differentiable, op
from tensorkeep.ops.control._tensor_list_values import (
    TensorList,
    check_fits,
    checked_count,
    common_shape,
    concat_items,
    join_lists,
    push_rows,
    read_item,
    rows,
    scatter_rows,
    stack_items,
    the_list,
    told_shape,
)
from tensorkeep.ops.shared.dimensions import at_least, of_rank
from tensorkeep.ops.shared.expressions import shape_of, zeros_like
from tensorkeep.ops.shared.kernel_types import Array, Gradients, Handle
from tensorkeep.ops.shared.shape_rules import SCALAR, scalar
from tensorkeep.shapes import UNKNOWN_SHAPE, Shape


def _element(handle: Tensor, dtype: DType | None = None) -> Shape:
    """What is known, before running, of the shape of a list's elements. They must be of the type."""
    held = held_behind(handle)
    if held is not None and dtype is not None and held.element_dtype is not dtype:
        raise InvalidArgumentError(
            f"Expected list with element dtype {dtype.label} but got list with element dtype {held.element_dtype.label}"
        )
    return held_shape(handle)


def _same_list(input_handle: Tensor, *_: Any) -> Shape:
    held = held_behind(input_handle)
    return SCALAR if held is None else held


# ---------------------------------------------------------------------------------------------------- Making

empty_tensor_list = op(
    "EmptyTensorList(element_shape: shape_type, max_num_elements: int32) -> "
    "handle: variant :: ARRAY[TENSOR[$element_dtype]]",
    "element_dtype: type",
    "shape_type: {int32, int64}",
)
not_differentiable(empty_tensor_list)


@empty_tensor_list.shape
def empty_tensor_list_shape(element_shape: Tensor, max_num_elements: Tensor, *, element_dtype: DType) -> Shape:
    return HandleShape((), element_dtype, constant_shape(element_shape))


@empty_tensor_list.kernel
def empty_tensor_list_kernel(element_shape: Array, max_num_elements: Array, *, element_dtype: DType) -> TensorList:
    if np.ndim(max_num_elements):
        raise InvalidArgumentError("max_num_elements expected to be a scalar")
    return TensorList(element_dtype, told_shape(element_shape), (), int(max_num_elements))


tensor_list_reserve = op(
    "TensorListReserve(element_shape: shape_type, num_elements: int32) -> "
    "handle: variant :: ARRAY[TENSOR[$element_dtype]]",
    "element_dtype: type",
    "shape_type: {int32, int64}",
)
not_differentiable(tensor_list_reserve)
tensor_list_reserve.shape(empty_tensor_list_shape)


@tensor_list_reserve.kernel
def tensor_list_reserve_kernel(element_shape: Array, num_elements: Array, *, element_dtype: DType) -> TensorList:
    count = checked_count(num_elements, "The num_elements to reserve")
    return TensorList(element_dtype, told_shape(element_shape), (None,) * count)


tensor_list_from_tensor = op(
    "TensorListFromTensor(tensor: element_dtype, element_shape: shape_type) -> "
    "output_handle: variant :: ARRAY[TENSOR[$element_dtype]]",
    "element_dtype: type",
    "shape_type: {int32, int64}",
)


@tensor_list_from_tensor.shape
def tensor_list_from_tensor_shape(tensor: Tensor, element_shape: Tensor, *, element_dtype: DType) -> Shape:
    shape = tensor.static_shape
    at_least(shape, 1)
    rest = UNKNOWN_SHAPE if shape.dims is None else Shape(shape.dims[1:])
    return HandleShape((), element_dtype, constant_shape(element_shape).merge(rest))


@tensor_list_from_tensor.kernel
def tensor_list_from_tensor_kernel(tensor: Array, element_shape: Array, *, element_dtype: DType) -> TensorList:
    if np.ndim(tensor) == 0:
        raise InvalidArgumentError("Tensor must be at least a vector, but saw shape: []")
    shape = told_shape(element_shape)
    if not shape.is_compatible(Shape(np.shape(tensor)[1:])):
        raise InvalidArgumentError(
            f"Specified a list with shape {shape} from a tensor with shape {list(np.shape(tensor)[1:])}"
        )
    return TensorList(element_dtype, shape, tuple(rows(tensor)))


@tensor_list_from_tensor.gradient
def tensor_list_from_tensor_gradient(op: Operation, dlist: Tensor) -> Gradients:
    t = op.inputs[0]
    dims = t.static_shape.dims
    if dlist is None:
        dlist = empty_tensor_list(
            tensor_list_element_shape(op.outputs[0], shape_type=INT32), -1, element_dtype=t.dtype.base_dtype
        )
    count = dims[0] if dims and dims[0] is not None else -1
    return tensor_list_stack(dlist, _without_first(t), element_dtype=t.dtype.base_dtype, num_elements=count), None


def _without_first(tensor: Tensor) -> Any:
    return emit("Slice", shape_of(tensor), [1], [-1], name="Slice")


tensor_list_split = op(
    "TensorListSplit(tensor: element_dtype, element_shape: shape_type, lengths: int64) -> "
    "output_handle: variant :: ARRAY[TENSOR[$element_dtype]]",
    "element_dtype: type",
    "shape_type: {int32, int64}",
)


@tensor_list_split.shape
def tensor_list_split_shape(tensor: Tensor, element_shape: Tensor, lengths: Tensor, *, element_dtype: DType) -> Shape:
    shape, sizes = tensor.static_shape, lengths.static_shape
    at_least(shape, 1)
    of_rank(sizes, 1)
    rest = UNKNOWN_SHAPE if shape.dims is None else Shape((None, *shape.dims[1:]))
    return HandleShape((), element_dtype, constant_shape(element_shape).merge(rest))


@tensor_list_split.kernel
def tensor_list_split_kernel(
    tensor: Array, element_shape: Array, lengths: Array, *, element_dtype: DType
) -> TensorList:
    shape = told_shape(element_shape)
    if np.ndim(tensor) == 0:
        raise InvalidArgumentError("Tensor must be at least a vector, but saw shape: []")
    if np.ndim(lengths) != 1:
        raise InvalidArgumentError(f"Expected lengths to be a vector, received shape: {list(np.shape(lengths))}")
    if shape.dims is not None and len(shape.dims) == 0:
        raise InvalidArgumentError("TensorListSplit requires element_shape to be at least of rank 1, but saw: []")
    rest = (None, *np.shape(tensor)[1:])
    if not shape.is_compatible(Shape(rest)):
        raise InvalidArgumentError(
            f"tensor shape {list(np.shape(tensor))} is not compatible with element_shape {shape}"
        )
    sizes = [int(length) for length in lengths]
    if any(size < 0 for size in sizes):
        raise InvalidArgumentError(f"Invalid value in lengths: {min(sizes)}")
    if sum(sizes) > len(tensor):
        raise InvalidArgumentError(
            f"Attempting to slice [{sum(sizes) - sizes[-1]}, {sum(sizes)}] from tensor with length {len(tensor)}"
        )
    if sum(sizes) != len(tensor):
        raise InvalidArgumentError(
            f"Unused values in tensor. Length of tensor: {len(tensor)} Values used: {sum(sizes)}"
        )
    ends = np.cumsum(sizes) if sizes else ()
    items = [tensor[end - size : end] for end, size in zip(ends, sizes, strict=True)]
    return TensorList(element_dtype, shape, items)


@tensor_list_split.gradient
def tensor_list_split_gradient(op: Operation, dlist: Tensor) -> Gradients:
    tensor, _, lengths = op.inputs
    rest = _without_first(tensor)
    shape = emit("ConcatV2", [[-1], rest], 0, name="concat")
    found = tensor_list_concat_v2(dlist, shape, lengths, element_dtype=tensor.dtype.base_dtype)
    return found.tensor, None, None


# ----------------------------------------------------------------------------------------------------- Asking

tensor_list_length = op("TensorListLength(input_handle: variant) -> length: int32")
tensor_list_length.shape(scalar)
not_differentiable(tensor_list_length)


@tensor_list_length.kernel
def tensor_list_length_kernel(input_handle: Handle) -> np.int32:
    return np.int32(len(the_list(input_handle).items))


tensor_list_element_shape = op(
    "TensorListElementShape(input_handle: variant) -> element_shape: shape_type", "shape_type: {int32, int64}"
)
not_differentiable(tensor_list_element_shape)


@tensor_list_element_shape.shape
def tensor_list_element_shape_shape(input_handle: Tensor) -> Shape:
    rank = _element(input_handle).rank
    return UNKNOWN_SHAPE if rank is None else Shape((rank,))


@tensor_list_element_shape.kernel
def tensor_list_element_shape_kernel(input_handle: Handle, *, shape_type: DType) -> Array:
    dims = the_list(input_handle).element_shape.dims
    sizes: Any = -1 if dims is None else [-1 if size is None else size for size in dims]
    return np.array(sizes, shape_type.array_dtype)


# ---------------------------------------------------------------------------------------------------- Reading


def _read_shape(input_handle: Tensor, element_shape: Tensor, element_dtype: DType) -> Shape:
    return _element(input_handle, element_dtype).merge(constant_shape(element_shape))


tensor_list_get_item = op(
    "TensorListGetItem(input_handle: variant, index: int32, element_shape: Tshape) -> item: element_dtype",
    "element_dtype: type",
    "Tshape: {int32, int64} = int32",
)


@tensor_list_get_item.shape
def tensor_list_get_item_shape(
    input_handle: Tensor, index: Tensor, element_shape: Tensor, *, element_dtype: DType
) -> Shape:
    return _read_shape(input_handle, element_shape, element_dtype)


@tensor_list_get_item.kernel
def tensor_list_get_item_kernel(
    input_handle: Handle, index: Array, element_shape: Array, *, element_dtype: DType
) -> Array:
    found = the_list(input_handle).checked(element_dtype)
    at = int(index)
    if not 0 <= at < len(found.items):
        raise InvalidArgumentError(f"Trying to access element {at} in a list with {len(found.items)} elements.")
    item = found.items[at]
    return item if item is not None else read_item(None, common_shape(found, element_shape), element_dtype)


@tensor_list_get_item.gradient
def tensor_list_get_item_gradient(op: Operation, ditem: Tensor) -> Gradients:
    size = tensor_list_length(op.inputs[0])
    shape = tensor_list_element_shape(op.inputs[0], shape_type=INT32)
    empty = tensor_list_reserve(shape, size, element_dtype=ditem.dtype)
    return tensor_list_set_item(empty, op.inputs[1], ditem), None, None


tensor_list_stack = op(
    "TensorListStack(input_handle: variant, element_shape: int32) -> tensor: element_dtype",
    "element_dtype: type",
    "num_elements: int = -1",
)


@tensor_list_stack.shape
def tensor_list_stack_shape(
    input_handle: Tensor, element_shape: Tensor, *, element_dtype: DType, num_elements: int
) -> Shape:
    count = Shape((None if num_elements == -1 else num_elements,))
    return count.concatenate(_read_shape(input_handle, element_shape, element_dtype))


@tensor_list_stack.kernel
def tensor_list_stack_kernel(
    input_handle: Handle, element_shape: Array, *, element_dtype: DType, num_elements: int
) -> Array:
    found = the_list(input_handle).checked(element_dtype)
    if num_elements not in (-1, len(found.items)):
        raise InvalidArgumentError(
            f"Operation expected a list with {num_elements} elements but got a list with {len(found.items)} elements."
        )
    return stack_items(found.items, common_shape(found, element_shape), element_dtype, "stack")


@tensor_list_stack.gradient
def tensor_list_stack_gradient(op: Operation, dtensor: Tensor) -> Gradients:
    return tensor_list_from_tensor(dtensor, _element_shape_of(dtensor)), None


def _element_shape_of(tensor: Tensor) -> Any:
    """What is known of the shape without its first dimension, as lists are told it."""
    dims = tensor.static_shape.dims
    if dims is None:
        return -1
    if len(dims) == 1:
        return convert(np.zeros(0, np.int32), INT32, "Const")
    return [-1 if size is None else size for size in dims[1:]]


tensor_list_gather = op(
    "TensorListGather(input_handle: variant, indices: int32, element_shape: int32) -> values: element_dtype",
    "element_dtype: type",
)


@tensor_list_gather.shape
def tensor_list_gather_shape(
    input_handle: Tensor, indices: Tensor, element_shape: Tensor, *, element_dtype: DType
) -> Shape:
    return indices.static_shape.concatenate(_read_shape(input_handle, element_shape, element_dtype))


@tensor_list_gather.kernel
def tensor_list_gather_kernel(
    input_handle: Handle, indices: Array, element_shape: Array, *, element_dtype: DType
) -> Array:
    found = the_list(input_handle).checked(element_dtype)
    shape = common_shape(found, element_shape)
    places = [int(index) for index in np.ravel(indices)]
    for at in places:
        if not 0 <= at < len(found.items):
            raise InvalidArgumentError(f"Trying to gather element {at} in a list with {len(found.items)} elements.")
    return stack_items([found.items[at] for at in places], shape, element_dtype, "gather")


@tensor_list_gather.gradient
def tensor_list_gather_gradient(op: Operation, dtensor: Tensor) -> Gradients:
    shape = tensor_list_element_shape(op.inputs[0], shape_type=INT32)
    empty = tensor_list_reserve(shape, tensor_list_length(op.inputs[0]), element_dtype=dtensor.dtype)
    return tensor_list_scatter_into_existing_list(empty, dtensor, op.inputs[1]), None, None


def _concat_shapes(shape: Shape) -> tuple[Shape, Shape]:
    at_least(shape, 1)
    rest = UNKNOWN_SHAPE if shape.dims is None else Shape((None, *shape.dims[1:]))
    return rest, Shape((None,))


tensor_list_concat = op(
    "TensorListConcat(input_handle: variant) -> tensor: element_dtype, lengths: int64",
    "element_dtype: type",
    "element_shape: shape = shape",
)


@tensor_list_concat.shape
def tensor_list_concat_shape(
    input_handle: Tensor, *, element_dtype: DType, element_shape: Shape
) -> tuple[Shape, Shape]:
    return _concat_shapes(_element(input_handle, element_dtype).merge(element_shape))


@tensor_list_concat.kernel
def tensor_list_concat_kernel(
    input_handle: Handle, *, element_dtype: DType, element_shape: Shape
) -> tuple[Array, Array]:
    found = the_list(input_handle).checked(element_dtype)
    if any(item is None for item in found.items):
        raise InvalidArgumentError(
            "Concating lists with uninitialized tensors is not supported in this version of TensorListConcat. "
            "Consider updating your GraphDef to run the newer version."
        )
    return concat_items(found, found.element_shape.merge(element_shape), ())


def _concat_gradient(op: Operation, dtensor: Tensor) -> Tensor:
    shape = tensor_list_element_shape(op.inputs[0], shape_type=INT32)
    return emit(tensor_list_split, dtensor, shape, op.outputs[1])


@tensor_list_concat.gradient
def tensor_list_concat_gradient(op: Operation, dtensor: Tensor, dlengths: Tensor) -> Gradients:
    return _concat_gradient(op, dtensor)


tensor_list_concat_v2 = op(
    "TensorListConcatV2(input_handle: variant, element_shape: shape_type, leading_dims: int64) -> "
    "tensor: element_dtype, lengths: int64",
    "element_dtype: type",
    "shape_type: {int32, int64}",
)


@tensor_list_concat_v2.shape
def tensor_list_concat_v2_shape(
    input_handle: Tensor, element_shape: Tensor, leading_dims: Tensor, *, element_dtype: DType
) -> tuple[Shape, Shape]:
    return _concat_shapes(_read_shape(input_handle, element_shape, element_dtype))


@tensor_list_concat_v2.kernel
def tensor_list_concat_v2_kernel(
    input_handle: Handle, element_shape: Array, leading_dims: Array, *, element_dtype: DType
) -> tuple[Array, Array]:
    found = the_list(input_handle).checked(element_dtype)
    return concat_items(found, found.element_shape.merge(told_shape(element_shape)), np.ravel(leading_dims).tolist())


@tensor_list_concat_v2.gradient
def tensor_list_concat_v2_gradient(op: Operation, dtensor: Tensor, dlengths: Tensor) -> Gradients:
    return _concat_gradient(op, dtensor), None, None


# --------------------------------------------------------------------------------------------------- Changing

tensor_list_push_back = op(
    "TensorListPushBack(input_handle: variant, tensor: element_dtype) -> "
    "output_handle: variant :: ARRAY[TENSOR[$element_dtype]]",
    "element_dtype: type",
)


@tensor_list_push_back.shape
def tensor_list_push_back_shape(input_handle: Tensor, tensor: Tensor, *, element_dtype: DType) -> Shape:
    _element(input_handle, element_dtype).merge(tensor.static_shape)
    return _same_list(input_handle)


@tensor_list_push_back.kernel
def tensor_list_push_back_kernel(input_handle: Handle, tensor: Array, *, element_dtype: DType) -> TensorList:
    return push_rows(the_list(input_handle).checked(element_dtype), tensor)


@tensor_list_push_back.gradient
def tensor_list_push_back_gradient(op: Operation, dresult: Tensor) -> Gradients:
    shape = shape_of(op.inputs[1])
    return list(tensor_list_pop_back(dresult, shape, element_dtype=op.get_attr("element_dtype")))


tensor_list_pop_back = op(
    "TensorListPopBack(input_handle: variant, element_shape: int32) -> output_handle: variant, tensor: element_dtype",
    "element_dtype: type",
)


@tensor_list_pop_back.shape
def tensor_list_pop_back_shape(
    input_handle: Tensor, element_shape: Tensor, *, element_dtype: DType
) -> tuple[Shape, Shape]:
    return _same_list(input_handle), _read_shape(input_handle, element_shape, element_dtype)


@tensor_list_pop_back.kernel
def tensor_list_pop_back_kernel(
    input_handle: Handle, element_shape: Array, *, element_dtype: DType
) -> tuple[TensorList, Array]:
    found = the_list(input_handle).checked(element_dtype)
    if not found.items:
        raise InvalidArgumentError("Trying to pop from an empty list.")
    last = read_item(found.items[-1], found.element_shape.merge(told_shape(element_shape)), element_dtype)
    return found.without_last(), last


@tensor_list_pop_back.gradient
def tensor_list_pop_back_gradient(op: Operation, dlist: Tensor, delement: Tensor) -> Gradients:
    if dlist is None:
        shape = tensor_list_element_shape(op.outputs[0], shape_type=INT32)
        dlist = empty_tensor_list(shape, -1, element_dtype=delement.dtype)
    if delement is None:
        delement = zeros_like(op.outputs[1])
    return tensor_list_push_back(dlist, delement), None


tensor_list_set_item = op(
    "TensorListSetItem(input_handle: variant, index: int32, item: element_dtype) -> "
    "output_handle: variant :: ARRAY[TENSOR[$element_dtype]]",
    "element_dtype: type",
    "resize_if_index_out_of_bounds: bool = false",
)


@tensor_list_set_item.shape
def tensor_list_set_item_shape(input_handle: Tensor, index: Tensor, item: Tensor, *, element_dtype: DType) -> Shape:
    of_rank(index.static_shape, 0)
    _element(input_handle, element_dtype).merge(item.static_shape)
    return _same_list(input_handle)


@tensor_list_set_item.kernel
def tensor_list_set_item_kernel(
    input_handle: Handle, index: Array, item: Array, *, element_dtype: DType, resize_if_index_out_of_bounds: bool
) -> TensorList:
    found = the_list(input_handle).checked(element_dtype)
    check_fits(found.element_shape, np.shape(item), "set")
    at = int(index)
    count = len(found.items)
    if at >= count and resize_if_index_out_of_bounds:
        checked_count(at + 1, "The size of the list")
    elif not 0 <= at < count:
        raise InvalidArgumentError(f"Trying to modify element {at} in a list with {count} elements.")
    return found.with_item(at, item)


@tensor_list_set_item.gradient
def tensor_list_set_item_gradient(op: Operation, dlist: Tensor) -> Gradients:
    input_list, index, item = op.inputs
    list_grad = tensor_list_set_item(dlist, index, zeros_like(item))
    element_grad = tensor_list_get_item(dlist, index, shape_of(item), element_dtype=item.dtype.base_dtype)
    if op.get_attr("resize_if_index_out_of_bounds"):
        list_grad = tensor_list_resize(list_grad, tensor_list_length(input_list))
    return list_grad, None, element_grad


tensor_list_resize = op("TensorListResize(input_handle: variant, size: int32) -> output_handle: variant")
tensor_list_resize.shape(_same_list)


@tensor_list_resize.kernel
def tensor_list_resize_kernel(input_handle: Handle, size: Array) -> TensorList:
    found = the_list(input_handle)
    count = checked_count(size, "TensorListSlice expects size to be non-negative: it")
    return found.with_items((*found.items[:count], *((None,) * (count - len(found.items)))))


@tensor_list_resize.gradient
def tensor_list_resize_gradient(op: Operation, dlist: Tensor) -> Gradients:
    return tensor_list_resize(dlist, tensor_list_length(op.inputs[0])), None


def _scatter_shape(tensor: Tensor, indices: Tensor, element_shape: Tensor, *_: Any, element_dtype: DType) -> Shape:
    return HandleShape((), element_dtype, constant_shape(element_shape))


tensor_list_scatter = op(
    "TensorListScatter(tensor: element_dtype, indices: int32, element_shape: shape_type) -> "
    "output_handle: variant :: ARRAY[TENSOR[$element_dtype]]",
    "element_dtype: type",
    "shape_type: {int32, int64}",
)
tensor_list_scatter.shape(_scatter_shape)


@tensor_list_scatter.kernel
def tensor_list_scatter_kernel(
    tensor: Array, indices: Array, element_shape: Array, *, element_dtype: DType
) -> TensorList:
    return _scattered_list(tensor, indices, element_shape, -1, element_dtype)


def _scattered_list(tensor: Any, indices: Any, element_shape: Any, count: int, dtype: DType) -> TensorList:
    shape = told_shape(element_shape)
    if not shape.is_compatible(Shape(np.shape(tensor)[1:])):
        raise InvalidArgumentError(
            f"Specified a list with shape {shape} from a tensor with shape {list(np.shape(tensor)[1:])}"
        )
    if count < -1:
        raise InvalidArgumentError(f"TensorListScatter expects num_elements >= -1, found: {count}")
    items: list[Array | None] = [None] * checked_count(max(count, 0), "num_elements")
    return TensorList(dtype, shape, scatter_rows(tensor, indices, items, count == -1))


def _scatter_gradient(dlist: Any, tensor: Tensor, indices: Tensor) -> Any:
    return tensor_list_gather(dlist, indices, _without_first(tensor), element_dtype=tensor.dtype.base_dtype)


@tensor_list_scatter.gradient
def tensor_list_scatter_gradient(op: Operation, dlist: Tensor) -> Gradients:
    return _scatter_gradient(dlist, op.inputs[0], op.inputs[1]), None, None


tensor_list_scatter_v2 = op(
    "TensorListScatterV2(tensor: element_dtype, indices: int32, element_shape: shape_type, num_elements: int32) -> "
    "output_handle: variant :: ARRAY[TENSOR[$element_dtype]]",
    "element_dtype: type",
    "shape_type: {int32, int64}",
)
tensor_list_scatter_v2.shape(_scatter_shape)


@tensor_list_scatter_v2.kernel
def tensor_list_scatter_v2_kernel(
    tensor: Array, indices: Array, element_shape: Array, num_elements: Array, *, element_dtype: DType
) -> TensorList:
    return _scattered_list(tensor, indices, element_shape, int(num_elements), element_dtype)


@tensor_list_scatter_v2.gradient
def tensor_list_scatter_v2_gradient(op: Operation, dlist: Tensor) -> Gradients:
    return _scatter_gradient(dlist, op.inputs[0], op.inputs[1]), None, None, None


tensor_list_scatter_into_existing_list = op(
    "TensorListScatterIntoExistingList(input_handle: variant, tensor: element_dtype, indices: int32) -> "
    "output_handle: variant :: ARRAY[TENSOR[$element_dtype]]",
    "element_dtype: type",
)


@tensor_list_scatter_into_existing_list.shape
def tensor_list_scatter_into_existing_list_shape(
    input_handle: Tensor, tensor: Tensor, indices: Tensor, *, element_dtype: DType
) -> Shape:
    shape, places = tensor.static_shape, indices.static_shape
    at_least(shape, 1)
    of_rank(places, 1)
    if shape.dims is not None:
        _element(input_handle, element_dtype).merge(Shape(shape.dims[1:]))
    return _same_list(input_handle)


@tensor_list_scatter_into_existing_list.kernel
def tensor_list_scatter_into_existing_list_kernel(
    input_handle: Handle, tensor: Array, indices: Array, *, element_dtype: DType
) -> TensorList:
    found = the_list(input_handle).checked(element_dtype)
    check_fits(found.element_shape, np.shape(tensor)[1:], "scatter")
    return found.with_items(scatter_rows(tensor, indices, list(found.items), True))


@tensor_list_scatter_into_existing_list.gradient
def tensor_list_scatter_into_existing_list_gradient(op: Operation, dlist: Tensor) -> Gradients:
    _, tensor, indices = op.inputs
    dtensor = _scatter_gradient(dlist, tensor, indices)
    rest = tensor_list_scatter_into_existing_list(dlist, zeros_like(tensor), indices)
    return rest, dtensor, None


# -------------------------------------------------------------------------------------------- Many lists at once

tensor_list_push_back_batch = op(
    "TensorListPushBackBatch(input_handles: variant, tensor: element_dtype) -> "
    "output_handles: variant :: ARRAY[TENSOR[$element_dtype]]",
    "element_dtype: type",
)
not_differentiable(tensor_list_push_back_batch)


@tensor_list_push_back_batch.shape
def tensor_list_push_back_batch_shape(input_handles: Tensor, tensor: Tensor) -> Shape:
    lists, shape = input_handles.static_shape, tensor.static_shape
    if shape.dims is None or lists.dims is None:
        return lists
    at_least(shape, len(lists.dims))
    return lists.merge(Shape(shape.dims[: len(lists.dims)]))


@tensor_list_push_back_batch.kernel
def tensor_list_push_back_batch_kernel(
    input_handles: TensorList | Array, tensor: Array, *, element_dtype: DType
) -> TensorList | Array:
    if isinstance(input_handles, TensorList):
        return push_rows(input_handles.checked(element_dtype), tensor)
    shape = input_handles.shape
    if np.shape(tensor)[: len(shape)] != shape:
        raise InvalidArgumentError(
            f"Shape was not a prefix of the shape of the second argument: {list(shape)} vs. {list(np.shape(tensor))}"
        )
    result: Array = np.empty(shape, object)
    for place in np.ndindex(shape):
        result[place] = push_rows(the_list(input_handles[place]).checked(element_dtype), tensor[place])
    return result


tensor_list_concat_lists = op(
    "TensorListConcatLists(input_a: variant, input_b: variant) -> output: variant :: ARRAY[TENSOR[$element_dtype]]",
    "element_dtype: type",
)
not_differentiable(tensor_list_concat_lists)


@tensor_list_concat_lists.shape
def tensor_list_concat_lists_shape(input_a: Tensor, input_b: Tensor, *, element_dtype: DType) -> Shape:
    a, b = input_a.static_shape, input_b.static_shape
    shape = Shape(a.dims).merge(Shape(b.dims))
    if not isinstance(a, HandleShape) and not isinstance(b, HandleShape):
        return shape
    element = _element(input_a, element_dtype).merge(_element(input_b, element_dtype))
    return HandleShape(shape.dims, element_dtype, element)


@tensor_list_concat_lists.kernel
def tensor_list_concat_lists_kernel(
    input_a: TensorList | Array, input_b: TensorList | Array, *, element_dtype: DType
) -> TensorList | Array:
    if isinstance(input_a, TensorList) and isinstance(input_b, TensorList):
        return join_lists(input_a.checked(element_dtype), input_b.checked(element_dtype))
    a, b = np.asarray(input_a, object), np.asarray(input_b, object)
    if a.shape != b.shape:
        raise InvalidArgumentError(f"Incompatible input TensorList tensor shapes: {list(a.shape)} vs. {list(b.shape)}")
    result: Array = np.empty(a.shape, object)
    for place in np.ndindex(result.shape):
        first, second = (the_list(lists[place]).checked(element_dtype) for lists in (a, b))
        result[place] = join_lists(first, second)
    return result
