"""Constants, and how Python's values become tensors."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import prod
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import BOOL, FLOAT32, INT32, STRING, DType, dtype_of_array, dtype_of_number
from tensorkeep.errors import InvalidArgumentError, WrongTypeError
from tensorkeep.graph.arguments import DTypeLike, ShapeLike, TensorLike, emit
from tensorkeep.graph.building import add, current_graph, graph_of, name_scope
from tensorkeep.graph.conversion import register_conversion
from tensorkeep.graph.graph import Tensor
from tensorkeep.graph.tensor_shape import Dimension, TensorShape, plain_shape
from tensorkeep.ops.arrays.constants import const
from tensorkeep.proto.messages import TensorProto
from tensorkeep.proto.tensors import tensor_of_array
from tensorkeep.shapes import Shape

_PLAIN_NUMBERS: Final = (bool, int, float, complex)


def constant(
    value: TensorLike,
    dtype: DTypeLike | None = None,
    shape: ShapeLike = None,
    name: str = "Const",
    verify_shape: bool = False,
) -> Tensor:
    """A tensor of a fixed value. With `shape`, fewer elements are filled up with the last one, unless verified."""
    # The type may be one of a reference, as that of `tf.assign` of a variable: the value is of the type itself.
    kind = None if dtype is None else DType.of(dtype).base_dtype
    proto = make_tensor_proto(value, kind, shape, verify_shape)
    attrs = {"value": proto, "dtype": dtype_of_number(proto.dtype)}
    return add(const, [], attrs, name, current_graph()).outputs[0]


def make_tensor_proto(
    value: TensorLike, dtype: DType | None = None, shape: ShapeLike = None, verify_shape: bool = False
) -> TensorProto:
    """The value as a TensorProto: the elements of a constant."""
    if isinstance(value, TensorProto):
        return value
    if shape is not None and not isinstance(value, np.ndarray | np.generic) and 0 in plain_shape(shape).as_tuple():
        value = np.empty(0, as_array(value, dtype).dtype)
    array = as_array(value, dtype)
    found = dtype or dtype_of_array(array.dtype)
    if shape is None:
        return tensor_of_array(array, found)
    sizes = plain_shape(shape).as_tuple()
    if verify_shape and sizes != array.shape:
        raise WrongTypeError(f"Expected Tensor's shape: {sizes}, got {array.shape}.")
    if array.size > prod(sizes):
        raise InvalidArgumentError(
            f"Too many elements provided. Needed at most {prod(sizes)}, but received {array.size}"
        )
    return tensor_of_array(array, found, sizes)


def as_array(value: TensorLike, dtype: DType | None = None) -> Array:
    """The array that a Python value stands for, with TensorFlow's defaults: float32 and int32 where they will do."""
    if value is None:
        raise InvalidArgumentError("None values not supported.")
    if isinstance(value, np.ndarray | np.generic):
        return _of_numpy(np.asarray(value), dtype)
    if isinstance(value, TensorShape | Shape):
        value = value.as_tuple()
    if isinstance(value, Dimension):
        value = int(value)
    if isinstance(value, DType):
        raise WrongTypeError(f"expected a value, got the data type {value}")
    if dtype is STRING or _holds_text(value):
        return _of_text(value, dtype)
    _check_elements(value, dtype)
    try:
        array = np.array(_plain(value), None if dtype is None else dtype.array_dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidArgumentError(
            f"cannot make a tensor{f' of {dtype}' if dtype else ''} of {value!r}: {error}"
        ) from None
    if array.dtype == object:
        raise WrongTypeError(f"cannot make a tensor of {value!r}, which holds {_odd_element(value)!r}")
    if dtype is None:
        array = _narrowed_array(array)
    return array


def _of_numpy(array: Array, dtype: DType | None) -> Array:
    if dtype is None:
        found = dtype_of_array(array.dtype)
        return _of_text(array, None) if found is STRING else array.astype(found.array_dtype, copy=False)
    if dtype is STRING:
        return _of_text(array, dtype)
    if array.dtype.kind in "OSU" and array.size:
        raise WrongTypeError(f"Expected {dtype}, but got {array.dtype} in {array!r}.")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        # NumPy's numbers are cast whatever is lost: `make_tensor_proto` of TensorFlow's framework/tensor_util.py.
        warnings.simplefilter("ignore")
        return array.astype(dtype.array_dtype, copy=False)


def _of_text(value: Any, dtype: DType | None) -> Array:
    array = value if isinstance(value, np.ndarray) else np.array(value, object)
    flat = np.empty(array.size, object)
    for i, item in enumerate(array.reshape(-1).tolist()):
        if dtype is not None and dtype is not STRING:
            raise WrongTypeError(f"Expected {dtype}, but got {item!r} of type '{type(item).__name__}'.")
        if isinstance(item, str):
            flat[i] = item.encode()
        elif isinstance(item, bytes):
            flat[i] = item
        else:
            raise WrongTypeError(f"Expected string, but got {item!r} of type '{type(item).__name__}'.")
    return flat.reshape(array.shape)


def _plain(value: Any) -> Any:
    """Nested sequences as lists, with dimensions as their numbers."""
    if isinstance(value, Dimension):
        return int(value)
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value


def _leaves(value: Any) -> Any:
    if isinstance(value, list | tuple):
        for item in value:
            yield from _leaves(item)
    else:
        yield value


def _holds_text(value: Any) -> bool:
    return isinstance(next(iter(_leaves(value)), None), str | bytes)


def _odd_element(value: Any) -> Any:
    return next((item for item in _leaves(value) if not isinstance(item, _PLAIN_NUMBERS)), value)


def _check_elements(value: Any, dtype: DType | None) -> None:
    """Refuses what NumPy would convert in silence: fractions to whole numbers, numbers to truth values."""
    if dtype is None:
        return
    for item in _leaves(value):
        kind = type(item)
        if isinstance(item, Tensor):
            raise WrongTypeError(f"expected a value, got the tensor {item}")
        fine = (
            (kind is bool and dtype is BOOL)
            or (kind is int and dtype is not BOOL)
            or (kind is float and (dtype.is_floating or dtype.is_complex))
            or (kind is complex and dtype.is_complex)
            or (kind not in (*_PLAIN_NUMBERS, str, bytes, type(None)))
        )
        if not fine:
            raise WrongTypeError(f"Expected {dtype}, but got {item!r} of type '{kind.__name__}'.")


def _narrowed_array(array: Array) -> Array:
    """Python's numbers are wider than what TensorFlow makes of them."""
    if array.dtype == np.float64:
        return array.astype(FLOAT32.array_dtype)
    if array.dtype == np.int64:
        narrow = array.astype(INT32.array_dtype)
        return narrow if np.array_equal(narrow, array) else array
    return array


def dtype_text(dtype: DType) -> str:
    """A type as TensorFlow's Python shows it."""
    return f"<dtype: '{dtype.name}'>"


# ---------------------------------------------------------------------------------------------------- Conversions


def _convert_value(value: Any, dtype: DType | None, name: str | None, as_ref: bool) -> Any:
    return constant(value, dtype, name=name or "Const")


def _convert_list(value: Sequence[Any], dtype: DType | None, name: str | None, as_ref: bool) -> Any:
    """A list with tensors in it becomes one tensor by packing."""
    symbolic = [item for item in _leaves(value) if _is_symbolic(item)]
    if as_ref or not symbolic:
        return NotImplemented
    found = symbolic[0].dtype.base_dtype
    if dtype is not None and dtype is not found:
        value = _cast_leaves(value, dtype)
    return _pack(value, dtype or found, name or "packed")


def _is_symbolic(item: Any) -> bool:
    return isinstance(item, Tensor) or (hasattr(item, "graph") and isinstance(getattr(item, "dtype", None), DType))


def _cast_leaves(value: Any, dtype: DType) -> Any:
    if isinstance(value, list | tuple):
        return [_cast_leaves(item, dtype) for item in value]
    if isinstance(value, Tensor) and value.dtype.base_dtype is not dtype:
        return emit("Cast", value, DstT=dtype)
    return value


def _pack(value: Any, dtype: DType, name: str) -> Any:
    """One tensor of a list in which there are tensors at some depth; a list without any stays as it is.

    Numbers beside tensors become constants. Every list takes a name, even if nothing comes of it.
    """
    with name_scope(name, graph_of(_leaves(value))) as scope:
        items = [_pack(item, dtype, str(i)) if isinstance(item, list | tuple) else item for i, item in enumerate(value)]
        for item in items:
            if _is_symbolic(item) and item.dtype.base_dtype is not dtype:
                raise WrongTypeError(
                    f"Cannot convert a list containing a tensor of dtype {item.dtype} to {dtype} (Tensor is: {item!r})"
                )
        if not any(map(_is_symbolic, items)):
            return items
        tensors = [item if _is_symbolic(item) else constant(item, dtype, name=str(i)) for i, item in enumerate(items)]
        return emit("Pack", tensors, axis=0, name=scope)


def _convert_shape(value: TensorShape | Shape, dtype: DType | None, name: str | None, as_ref: bool) -> Any:
    shape = plain_shape(value)
    if not shape.is_fully_known:
        raise InvalidArgumentError(f"Cannot convert a partially known TensorShape {value} to a Tensor.")
    sizes = shape.as_tuple()
    wide = any(size > 2**31 - 1 for size in sizes)
    return constant(np.array(sizes, np.int64 if wide else np.int32), dtype or None, name=name or "shape_as_tensor")


def _convert_dimension(value: Dimension, dtype: DType | None, name: str | None, as_ref: bool) -> Any:
    return constant(int(value), dtype or INT32, name=name or "shape_as_tensor")


register_conversion((Shape, TensorShape), _convert_shape, 100)
register_conversion(Dimension, _convert_dimension, 100)
register_conversion((list, tuple), _convert_list, 99)
register_conversion(object, _convert_value, 200)
