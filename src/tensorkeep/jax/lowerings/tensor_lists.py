"""TensorFlow 2's lists of tensors and TensorFlow 1's arrays of tensors: rows of one array, of known number.

The contents of an array of TensorFlow 1 travel with its flow, so that loops carry them; its handle stands for nothing
but its type.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from tensorkeep.dtypes import DType
from tensorkeep.jax.registry import lowering, traced_lowering
from tensorkeep.jax.values import (
    CannotTraceError,
    ListValue,
    NotKnownError,
    Value,
    device_type,
    full_element,
    is_known,
    on_device,
    sizes,
)
from tensorkeep.shapes import Shape

if TYPE_CHECKING:
    from tensorkeep.jax.tracing import Tracing


def _stated_shape(element_shape: Value) -> tuple[int | None, ...] | None:
    """The shape of tensors that an input states: None for an unknown number of axes, or for an unknown size."""
    if not is_known(element_shape):
        raise NotKnownError("the shape of the tensors of its list is computed by the function")
    if np.ndim(element_shape) == 0:
        return None
    return tuple(None if size < 0 else size for size in sizes(element_shape))


def _count(value: Value, what: str) -> int:
    if not is_known(value):
        raise NotKnownError(f"{what} is computed by the function")
    return int(value)


def _new(dtype: DType, element: Any, count: int) -> ListValue:
    found = ListValue(dtype, element, None, count)
    shape = full_element(element)
    return found if shape is None else found.with_rows(shape)


def _list(value: Value) -> ListValue:
    if not isinstance(value, ListValue):
        raise CannotTraceError("its list is not one that the function makes")
    return value


def _shaped_list(held: ListValue, element: Any = None) -> ListValue:
    """A list whose tensors have a known shape."""
    if held.rows is not None:
        return held
    shape = full_element(held.element) or full_element(element)
    if shape is None and held.element != () and element != ():
        raise NotKnownError("nothing has been written to its list, so that the shape of its tensors is not known")
    return held.with_rows(shape or ())


def _write_item(held: ListValue, index: Any, item: Any) -> ListValue:
    """A list with one tensor set; or added to, where gradients are collected."""
    held = held.with_rows(item.shape)
    rows = jnp.asarray(held.rows)
    if rows.shape[1:] != item.shape:
        raise CannotTraceError(
            f"its list has tensors of the shape {list(rows.shape[1:])}, and one of {list(item.shape)} is written: "
            "JAX needs one shape for all"
        )
    place = rows.at[index]
    return held.replaced(place.add(item) if held.adds else place.set(item))


def _scatter_items(held: ListValue, indices: Any, values: Any) -> ListValue:
    held = held.with_rows(values.shape[1:])
    place = jnp.asarray(held.rows).at[indices]
    return held.replaced(place.add(values) if held.adds else place.set(values))


def _stack_items(held: ListValue, element: Any = None) -> Any:
    count = held.known_length
    return jnp.asarray(_shaped_list(held, element).rows)[:count]


# -------------------------------------------------------------------------------------------------------------- lists


@lowering("EmptyTensorList", known=("element_shape",), raw=True)
def empty_list(element_shape: Value, max_num_elements: Value, *, element_dtype: DType) -> Value:
    return _new(element_dtype, _stated_shape(element_shape), 0)


@lowering("TensorListReserve", known=("element_shape", "num_elements"), raw=True)
def reserved_list(element_shape: Value, num_elements: Value, *, element_dtype: DType) -> Value:
    return _new(element_dtype, _stated_shape(element_shape), _count(num_elements, "the length of its list"))


@lowering("TensorListFromTensor", raw=True)
def list_of_rows(tensor: Value, element_shape: Value, *, element_dtype: DType) -> Value:
    rows = on_device(tensor)
    return ListValue(element_dtype, tuple(rows.shape[1:]), rows, rows.shape[0])


@lowering("TensorListStack", raw=True)
def stacked_list(input_handle: Value, element_shape: Value) -> Value:
    return _stack_items(_list(input_handle), _stated_shape(element_shape))


@lowering("TensorListGetItem", raw=True)
def list_item(input_handle: Value, index: Value, element_shape: Value) -> Value:
    held = _shaped_list(_list(input_handle), _stated_shape(element_shape))
    return lax.dynamic_index_in_dim(jnp.asarray(held.rows), on_device(index), 0, keepdims=False)


@lowering("TensorListSetItem", raw=True)
def list_with_item(input_handle: Value, index: Value, item: Value, *, resize_if_index_out_of_bounds: bool) -> Value:
    held = _list(input_handle)
    if resize_if_index_out_of_bounds:
        held = _grow_list(held, index, on_device(item).shape)
    return _write_item(held, on_device(index), on_device(item))


def _grow_list(held: ListValue, index: Value, shape: Any) -> ListValue:
    """A list that is written to, and grows if that is beyond its end."""
    if not is_known(index):
        raise NotKnownError("its list grows if it is written to beyond its end, and where is computed by the function")
    count = int(index) + 1
    return _resize_list(held.with_rows(shape), count) if count > held.known_length else held


@lowering("TensorListLength", raw=True)
def list_length(input_handle: Value) -> Value:
    held = _list(input_handle)
    return np.int32(held.length) if isinstance(held.length, int) else held.length


@lowering("TensorListPushBack", raw=True)
def push_back(input_handle: Value, tensor: Value) -> Value:
    return push(_list(input_handle), on_device(tensor))


def push(held: ListValue, item: jax.Array) -> ListValue:
    """A list with a tensor behind the last."""
    if isinstance(held.length, int):
        before = held.with_rows(item.shape)
        rows = jnp.asarray(before.rows)[: held.length]
        return before.replaced(jnp.concatenate([rows, item[None]]), held.length + 1)
    rows = jnp.asarray(held.rows)
    return held.replaced(rows.at[held.length].set(item), held.length + 1)


@lowering("TensorListPopBack", raw=True)
def pop_back(input_handle: Value, element_shape: Value) -> tuple[Any, Any]:
    return pop(_shaped_list(_list(input_handle), _stated_shape(element_shape)))


def pop(held: ListValue) -> tuple[ListValue, Any]:
    """A list without its last tensor, and that."""
    last = held.length - 1
    if isinstance(last, int) and last < 0:
        raise CannotTraceError("its list is empty")
    rows = jnp.asarray(held.rows)
    return held.replaced(rows, last), lax.dynamic_index_in_dim(rows, jnp.asarray(last), 0, keepdims=False)


def _resize_list(held: ListValue, count: int) -> ListValue:
    if held.rows is None:
        return replace(held, length=count)
    rows = jnp.asarray(held.rows)[: min(count, held.known_length)]
    return held.replaced(jnp.pad(rows, [(0, count - rows.shape[0])] + [(0, 0)] * (rows.ndim - 1)), count)


@lowering("TensorListResize", known=("size",), raw=True)
def resized_list(input_handle: Value, size: Value) -> Value:
    return _resize_list(_list(input_handle), _count(size, "the length of its list"))


@lowering("TensorListGather", raw=True)
def gathered_list(input_handle: Value, indices: Value, element_shape: Value) -> Value:
    held = _shaped_list(_list(input_handle), _stated_shape(element_shape))
    return jnp.take(jnp.asarray(held.rows), on_device(indices), 0)


@lowering("TensorListScatterV2", known=("num_elements",), raw=True)
def scattered_list(
    tensor: Value, indices: Value, element_shape: Value, num_elements: Value, *, element_dtype: DType
) -> Value:
    count = _count(num_elements, "the length of its list")
    if count < 0:
        count = int(np.max(indices)) + 1 if is_known(indices) and np.size(indices) else -1
    if count < 0:
        raise NotKnownError("the length of its list depends on indices that are computed by the function")
    values = on_device(tensor)
    return _scatter_items(_new(element_dtype, tuple(values.shape[1:]), count), on_device(indices), values)


@lowering("TensorListScatterIntoExistingList", raw=True)
def scattered_into(input_handle: Value, tensor: Value, indices: Value) -> Value:
    return _scatter_items(_list(input_handle), on_device(indices), on_device(tensor))


@lowering("TensorListElementShape", raw=True)
def element_shape(input_handle: Value, *, shape_type: DType) -> Value:
    held = _list(input_handle)
    dims = held.element
    if dims is None:
        return np.array(-1, shape_type.array_dtype)
    return np.array([-1 if size is None else size for size in dims], shape_type.array_dtype)


@lowering("TensorListConcatV2", raw=True)
def concatenated_list(input_handle: Value, element_shape: Value, leading_dims: Value) -> tuple[Any, Any]:
    rows = _stack_items(_list(input_handle), _stated_shape(element_shape))
    lengths = np.full(rows.shape[0], rows.shape[1], np.int64)
    return rows.reshape(-1, *rows.shape[2:]), lengths


# -------------------------------------------------------------------------------------------------- arrays of tensors


@dataclass(frozen=True)
class ArrayHandle:
    """What stands for an array of tensors; its contents are with its flow."""

    dtype: DType
    grows: bool


def _declared_shape(element_shape: Shape) -> tuple[int | None, ...] | None:
    return element_shape.dims


@lowering("TensorArrayV3", known=("size",), raw=True)
def tensor_array(size: Value, *, dtype: DType, element_shape: Shape, dynamic_size: bool) -> tuple[Any, Any]:
    held = _new(dtype, _declared_shape(element_shape), _count(size, "the size of its array"))
    return ArrayHandle(dtype, dynamic_size), held


@lowering("TensorArrayWriteV3", raw=True)
def array_written(handle: Value, index: Value, value: Value, flow_in: Value) -> Value:
    held = _list(flow_in)
    if isinstance(handle, ArrayHandle) and handle.grows:
        held = _grow_list(held, index, on_device(value).shape)
    return _write_item(held, on_device(index), on_device(value))


@lowering("TensorArrayReadV3", raw=True)
def array_read(handle: Value, index: Value, flow_in: Value) -> Value:
    held = _shaped_list(_list(flow_in))
    return lax.dynamic_index_in_dim(jnp.asarray(held.rows), on_device(index), 0, keepdims=False)


@lowering("TensorArrayGatherV3", raw=True)
def array_gathered(handle: Value, indices: Value, flow_in: Value, *, element_shape: Shape) -> Value:
    held = _shaped_list(_list(flow_in), _declared_shape(element_shape))
    return jnp.take(jnp.asarray(held.rows), on_device(indices), 0)


@lowering("TensorArrayScatterV3", raw=True)
def array_scattered(handle: Value, indices: Value, value: Value, flow_in: Value) -> Value:
    held, values = _list(flow_in), on_device(value)
    if is_known(indices) and isinstance(held.length, int) and np.size(indices):
        most = int(np.max(indices)) + 1
        held = _resize_list(held.with_rows(values.shape[1:]), most) if most > held.length else held
    return _scatter_items(held, on_device(indices), values)


@lowering("TensorArraySizeV3", raw=True)
def array_size(handle: Value, flow_in: Value) -> Value:
    return np.int32(_list(flow_in).known_length)


@lowering("TensorArrayConcatV3", raw=True)
def array_concatenated(handle: Value, flow_in: Value, *, element_shape_except0: Shape) -> tuple[Any, Any]:
    rows = _stack_items(_list(flow_in))
    return rows.reshape(-1, *rows.shape[2:]), np.full(rows.shape[0], rows.shape[1], np.int64)


@lowering("TensorArraySplitV3", raw=True)
def array_split(handle: Value, value: Value, lengths: Value, flow_in: Value) -> Value:
    if not is_known(lengths) or len(set(sizes(lengths))) > 1:
        raise CannotTraceError("its parts are of different lengths, and JAX needs one shape for all")
    rows = on_device(value)
    count = np.size(lengths)
    return replace(
        _list(flow_in), rows=rows.reshape(count, -1, *rows.shape[1:]), length=count,
        element=(rows.shape[0] // max(count, 1), *rows.shape[1:]),
    )  # fmt: skip


@lowering("TensorArrayGradV3", raw=True)
def array_gradient(handle: Value, flow_in: Value) -> tuple[Any, Any]:
    """The array of gradients: what is written to it is added up. The flow of gradients has it already."""
    held = _list(flow_in)
    if held.adds:
        return handle, held
    rows = None if held.rows is None else jnp.zeros(np.shape(held.rows), device_type(held.dtype))
    return handle, replace(held, rows=rows, adds=True)


@lowering("TensorArrayCloseV3", raw=True)
def array_closed(handle: Value) -> tuple[Any, ...]:
    return ()


# ------------------------------------------------------------------------------------------------------------- stacks


class StackHandle:
    """What stands for a stack of TensorFlow 1, whose contents are part of the state of a trace."""


@traced_lowering("StackV2")
def stack(tracing: Tracing, max_size: Value, *, elem_type: DType) -> Value:
    handle = StackHandle()
    if tracing.only_known:
        return handle
    tracing.assign(handle, ListValue(elem_type, None, None, 0))
    return handle


@traced_lowering("StackPushV2")
def stack_push(tracing: Tracing, handle: Value, elem: Value) -> Value:
    if not tracing.only_known:
        tracing.assign(handle, push(_list(tracing.read(handle)), on_device(elem)))
    return elem


@traced_lowering("StackPopV2")
def stack_pop(tracing: Tracing, handle: Value) -> Value:
    held, item = pop(_shaped_list(_list(tracing.read(handle))))
    tracing.assign(handle, held)
    return item


@traced_lowering("StackCloseV2")
def stack_closed(tracing: Tracing, handle: Value) -> tuple[Any, ...]:
    return ()
