"""Arrays as the values of tensors that have a type and a shape: which fit, and which can be made to fit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.dtypes import RESOURCE, STRING, VARIANT, DType
from tensorkeep.errors import InvalidArgumentError
from tensorkeep.shapes import Shape


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """What is known of a tensor before there is a value."""

    dtype: DType
    shape: Shape
    name: str = ""

    def __str__(self) -> str:
        return f"{self.dtype} {shape_text(self.shape)}"


def shape_text(shape: Shape) -> str:
    """A shape for readers: "[?, 3]", "of any shape"."""
    if shape.dims is None:
        return "of any shape"
    return f"[{', '.join('?' if size is None else str(size) for size in shape.dims)}]"


def fits_exactly(spec: TensorSpec, value: object) -> bool:
    """Whether the value is a plain array (no subclass, which may compute otherwise) of the spec's type and shape."""
    dtype = spec.dtype
    if dtype is RESOURCE or dtype is VARIANT:
        return True
    if type(value) is not np.ndarray or value.dtype != dtype.array_dtype or dtype is STRING:
        return False
    return _has_shape(value.shape, spec.shape.dims)


def exact_arrays(specs: Mapping[str, object]) -> list[tuple[str, Any, int, tuple[tuple[int, int], ...]]] | None:
    """For each input its type, rank, and axes with their sizes, if all are numbers or strings of a known rank."""
    found = []
    for name, spec in specs.items():
        if not isinstance(spec, TensorSpec) or spec.dtype in (RESOURCE, VARIANT) or spec.shape.dims is None:
            return None
        sizes = tuple((axis, size) for axis, size in enumerate(spec.shape.dims) if size is not None)
        found.append((name, spec.dtype.array_dtype, len(spec.shape.dims), sizes))
    return found


def _has_shape(shape: tuple[int, ...], dims: tuple[int | None, ...] | None) -> bool:
    if dims is None:
        return True
    if len(shape) != len(dims):
        return False
    for size, known in zip(shape, dims, strict=True):  # noqa: SIM110 (of every argument, and faster than `all`)
        if known is not None and size != known:
            return False
    return True


def fitted_array(spec: TensorSpec, value: Any) -> Any:
    """The value as an array of the spec's type; InvalidArgumentError if it has another shape, or would change."""
    dtype = spec.dtype
    if dtype is RESOURCE or dtype is VARIANT:
        return value
    array = string_array(value) if dtype is STRING else _converted_value(value, dtype)
    if not _has_shape(array.shape, spec.shape.dims):
        raise InvalidArgumentError(f"expected {spec}, got {dtype} {list(array.shape)}")
    return array


def _converted_value(value: Any, dtype: DType) -> Any:
    wanted = dtype.array_dtype
    try:
        array = np.asarray(value)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"expected {dtype}, got {type(value).__name__}: {error}") from None
    if array.dtype == wanted:
        return array
    if not array.size and not isinstance(value, np.ndarray):
        return array.astype(wanted)  # [] has no type of its own
    if array.dtype.kind in "OSUV" or not np.can_cast(array.dtype, wanted, "same_kind"):
        raise InvalidArgumentError(f"expected {dtype}, got {array.dtype} {list(array.shape)}")
    with np.errstate(all="ignore"):
        made = array.astype(wanted)
    if array.dtype.kind in "iu" and wanted.kind in "iu" and not np.array_equal(made, array):
        raise InvalidArgumentError(f"expected {dtype}, got {array.dtype} with values that {dtype} cannot hold")
    return made


def string_array(value: object) -> Array:
    """Texts and bytes, in any nesting of lists, as an array of bytes objects."""
    try:
        array = np.asarray(value, None if isinstance(value, np.ndarray) else object)
    except ValueError as error:
        raise InvalidArgumentError(f"expected strings, got {type(value).__name__}: {error}") from None
    items = array.reshape(-1).tolist()
    if items and type(items[0]) is bytes and set(map(type, items)) == {bytes}:
        if type(array) is np.ndarray and array.dtype == object:
            return array
    else:
        try:
            items = _encoded_texts(items)
        except UnicodeEncodeError as error:
            raise InvalidArgumentError(f"expected a string, got {error.object!r}: {error}") from None
    return np.fromiter(items, object, len(items)).reshape(array.shape)


def _encoded_texts(items: list[Any]) -> list[bytes]:
    try:
        return list(map(str.encode, items))  # mostly all of them are texts
    except TypeError:
        pass
    made = []
    for item in items:
        made.append(item.encode() if isinstance(item, str) else item)
        if not isinstance(made[-1], bytes):
            raise InvalidArgumentError(f"expected a string, got {item!r} of type {type(item).__name__}")
    return made
