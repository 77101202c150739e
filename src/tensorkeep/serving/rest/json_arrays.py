"""Values of JSON as arrays, by the types that a signature has for them.

A value whose lists are regular is turned into an array without a look at its elements one by one. What is not regular
is an error, and it is then gone through in order, so that the first thing that is wrong is told.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import InvalidArgumentError, TensorKeepError, UnimplementedError
from tensorkeep.native.json_tape import AUX_SHIFT, FIRST_FLOAT_SHIFT, FLOATS, RANK_SHIFT, Kind
from tensorkeep.serving.rest.json_text import number_text
from tensorkeep.serving.rest.json_values import JsonDocument, base64_content

Nodes = npt.NDArray[np.int64]

_FLOATING: Final = ("float32", "float64")
_INT32: Final = (-(1 << 31), (1 << 31) - 1)
# Narrow types take what int32 takes, and wrap around, as by the original.
_RANGES: Final = {
    "int8": _INT32, "uint8": _INT32, "int16": _INT32, "int32": _INT32,
    "int64": (-(1 << 63), (1 << 63) - 1), "uint32": (0, (1 << 32) - 1), "uint64": (0, (1 << 64) - 1),
}  # fmt: skip
_STRINGS: Final = (Kind.STRING, Kind.UNESCAPED)
_NUMBERS: Final = (Kind.INT, Kind.UINT, Kind.FLOAT)


def array_of(document: JsonDocument, node: int, dtype: DType) -> Array:
    """The array that a value stands for; the error that tells what is wrong with it, if it stands for none."""
    found = regular_array(document, node, dtype)
    return found if found is not None else _one_by_one(document, node, dtype)


def regular_array(document: JsonDocument, node: int, dtype: DType) -> Array | None:
    """The array that a value stands for; None if its lists are not regular or what is in them does not fit."""
    if document.kind(node) == Kind.NUMBERS:  # which most are
        shape = document.shape(node)
        fitting = _fitting(document.flat_numbers(node), dtype) if 0 not in shape else np.empty(0, dtype.array_dtype)
        return None if fitting is None else _shaped_array(fitting, shape)
    found = rows_array(document, document.nodes(node)[np.newaxis], dtype)
    return None if found is None else np.asarray(found[0], found.dtype)


def rows_array(document: JsonDocument, rows: Nodes, dtype: DType) -> Array | None:
    """An array of values that are alike, one per row of nodes, stacked; None if they are not alike or do not fit.

    `rows` has the shape [number of values, nodes of each, 2].
    """
    heads = rows[:, 0, 0]
    kinds = heads & 0xFF
    first = int(kinds[0])
    if first == Kind.LIST:
        return _of_lists(document, rows, dtype)
    if first == Kind.NUMBERS:
        return _of_arrays(document, rows, dtype) if np.all(kinds == first) else None
    if first == Kind.OBJECT:
        return _of_base64(document, rows, dtype)
    if rows.shape[1] != 1:
        return None
    if first in _NUMBERS:
        return _of_numbers(kinds, rows[:, 0, 1], dtype)
    if first in _STRINGS and dtype.name == "string":
        return _of_strings(document, kinds, rows)
    if first in (Kind.FALSE, Kind.TRUE) and dtype.is_bool:
        return kinds == Kind.TRUE if np.all((kinds == Kind.FALSE) | (kinds == Kind.TRUE)) else None
    return None


def _of_lists(document: JsonDocument, rows: Nodes, dtype: DType) -> Array | None:
    if np.any(rows[:, 0] != rows[0, 0]):
        return None
    number, count, within = len(rows), int(rows[0, 0, 0]) >> AUX_SHIFT, rows.shape[1] - 1
    if int(rows[0, 0, 1]) != within or within % count:
        return None
    inner = rows_array(document, rows[:, 1:].reshape(number * count, within // count, 2), dtype)
    return None if inner is None else inner.reshape(number, count, *inner.shape[1:])


def _of_arrays(document: JsonDocument, rows: Nodes, dtype: DType) -> Array | None:
    ranks = rows[:, 0, 0] >> RANK_SHIFT & 0xFF
    if np.any(ranks != rows.shape[1] - 1) or np.any(rows[:, 1:, 1] != rows[0, 1:, 1]):
        return None
    shape = (len(rows), *rows[0, 1:, 1].tolist())
    size = prod(shape[1:])
    starts, numbers = rows[:, 0, 1], document.read.numbers
    is_real = (rows[:, 0, 0] & FLOATS) != 0
    if len(rows) == 1:
        whole = numbers[int(starts[0]) : int(starts[0]) + size][np.newaxis]
    else:
        whole = numbers[starts[:, np.newaxis] + np.arange(size)]
    if size == 0:
        return _shaped_array(np.empty(0, dtype.array_dtype), shape)
    if is_real.all():
        found = _fitting(whole.view(np.float64), dtype)
    elif is_real.any():
        found = _fitting(np.where(is_real[:, np.newaxis], whole.view(np.float64), whole.astype(np.float64)), dtype)
    else:
        found = _fitting(whole, dtype)
    return None if found is None else _shaped_array(found, shape)


def _shaped_array(array: Array, shape: tuple[int, ...]) -> Array:
    try:
        return array.reshape(shape)
    except ValueError:
        raise InvalidArgumentError(f"Lists are nested {len(shape)} deep, which is more than an array can be") from None


def _of_numbers(kinds: Nodes, values: Nodes, dtype: DType) -> Array | None:
    if not np.all((kinds >= Kind.INT) & (kinds <= Kind.FLOAT)):
        return None
    is_real, is_big = kinds == Kind.FLOAT, kinds == Kind.UINT
    if is_real.any():
        whole = np.where(is_big, values.view(np.uint64).astype(np.float64), values.astype(np.float64))
        return _fitting(np.where(is_real, values.view(np.float64), whole), dtype)
    if not is_big.any():
        return _fitting(values, dtype)
    if dtype.name in _FLOATING:
        return _fitting(np.where(is_big, values.view(np.uint64).astype(np.float64), values.astype(np.float64)), dtype)
    return _fitting(values.view(np.uint64), dtype) if np.all(is_big | (values >= 0)) else None


def _of_strings(document: JsonDocument, kinds: Nodes, rows: Nodes) -> Array | None:
    if not np.all((kinds == Kind.STRING) | (kinds == Kind.UNESCAPED)):
        return None
    text, strings = document.read.text, document.read.strings
    found = np.empty(len(rows), object)
    is_unescaped = (kinds == Kind.UNESCAPED).tolist()
    starts = rows[:, 0, 1].tolist()
    ends = (rows[:, 0, 1] + (rows[:, 0, 0] >> AUX_SHIFT)).tolist()
    found[:] = [
        strings[start:end] if aside else bytes(text[start:end])
        for start, end, aside in zip(starts, ends, is_unescaped, strict=True)
    ]
    return found


def _of_base64(document: JsonDocument, rows: Nodes, dtype: DType) -> Array | None:
    if dtype.name != "string" or rows.shape[1] != 3 or np.any(rows[:, :2] != rows[0, :2]):
        return None
    kinds = rows[:, 2, 0] & 0xFF
    if int(rows[0, 0, 0]) >> AUX_SHIFT != 1 or document.read.keys[int(rows[0, 1, 1])] != b"b64":
        return None
    texts = _of_strings(document, kinds, rows[:, 2:])
    if texts is None:
        return None
    found = np.empty(len(rows), object)
    try:
        found[:] = [base64_content(text) for text in texts]
    except InvalidArgumentError:
        return None
    return found


def _fitting(values: Array, dtype: DType) -> Array | None:
    """Numbers as those of a type; None if any of them is not one."""
    if dtype.name in _FLOATING:
        with np.errstate(over="ignore", under="ignore"):
            return values.astype(np.float64, copy=False).astype(dtype.array_dtype, copy=False)
    limits = _RANGES.get(dtype.name)
    if limits is None or values.dtype.kind == "f":
        return None
    if values.size and (int(values.min()) < limits[0] or int(values.max()) > limits[1]):
        return None
    return values.astype(dtype.array_dtype, copy=False)


# ---------------------------------------------------------------------------------------------------- What is wrong


def dense_shape(document: JsonDocument, node: int) -> tuple[int, ...]:
    """The shape of a value, as the first elements at every level have it."""
    shape: list[int] = []
    while document.kind(node) == Kind.LIST:
        shape.append(document.count(node))
        node += 1
    return (*shape, *document.shape(node)) if document.kind(node) == Kind.NUMBERS else tuple(shape)


def _one_by_one(document: JsonDocument, node: int, dtype: DType) -> Array:
    shape = dense_shape(document, node)
    pieces: list[Array] = []
    _Filling(document, dtype, shape, pieces).fill(node, 0)
    found = np.empty(sum(piece.size for piece in pieces), dtype.array_dtype)
    at = 0
    for piece in pieces:
        found[at : at + piece.size] = piece
        at += piece.size
    return _shaped_array(found, shape)


class _Filling:
    """Goes through a value in order, and collects what is in it."""

    def __init__(self, document: JsonDocument, dtype: DType, shape: tuple[int, ...], pieces: list[Array]) -> None:
        self._document = document
        self._dtype = dtype
        self._shape = shape
        self._pieces = pieces

    def fill(self, node: int, level: int) -> None:
        kind = self._document.kind(node)
        if kind == Kind.NUMBERS:
            self._fill_numbers(node, level)
        elif kind == Kind.LIST:
            self._check_list(self._document.count(node), level)
            for element in self._document.elements(node):
                self.fill(element, level + 1)
        else:
            self._check_level(level, self._document.text(node))
            one = np.empty(1, self._dtype.array_dtype)
            one[0] = scalar_of(self._document, node, self._dtype)
            self._pieces.append(one)

    def _fill_numbers(self, node: int, level: int) -> None:
        shape = self._document.shape(node)
        for axis, size in enumerate(shape):
            self._check_list(size, level + axis)
            if not size:
                return
        flat = self._document.flat_numbers(node)
        self._check_level(level + len(shape), number_text(flat[0].item()))
        fitting = _fitting(flat, self._dtype)
        if fitting is None:
            raise offence(self._document, node, self._dtype)[1]
        self._pieces.append(fitting)

    def _check_list(self, size: int, level: int) -> None:
        if level >= len(self._shape):
            raise InvalidArgumentError(f"Encountered list at unexpected level: {level} expected < {len(self._shape)}")
        if size != self._shape[level]:
            raise InvalidArgumentError(
                f"Encountered list at unexpected size: {size} at level: {level} expected size: {self._shape[level]}"
            )

    def _check_level(self, level: int, text: str) -> None:
        if level != len(self._shape):
            raise InvalidArgumentError(
                f"JSON Value: {text} found at incorrect level: {level + 1} in the JSON DOM. "
                f"Expected at level: {len(self._shape)}"
            )


def offence(document: JsonDocument, node: int, dtype: DType) -> tuple[int, TensorKeepError]:
    """The first number of an array that is none of a type, by its place in one row, and the error for it."""
    flat = document.flat_numbers(node)
    index = 0
    if (limits := _RANGES.get(dtype.name)) is not None:
        if flat.dtype.kind == "f":
            index = int(document.nodes(node)[0, 0]) >> FIRST_FLOAT_SHIFT
            flat = flat[: index + 1]
        beyond = (flat < limits[0]) | (flat > limits[1])
        index = int(np.argmax(beyond)) if beyond.any() else index
    value = flat[index].item()
    return index, _mismatch(dtype, number_text(value), "Number")


def _mismatch(dtype: DType, text: str, type_name: str) -> TensorKeepError:
    if dtype.name not in (*_FLOATING, *_RANGES, "bool", "string"):
        return UnimplementedError(f"Conversion of JSON Value: {text} to type: {dtype.label}")
    return InvalidArgumentError(f"JSON Value: {text} Type: {type_name} is not of expected type: {dtype.label}")


def scalar_of(document: JsonDocument, node: int, dtype: DType) -> Any:
    """A value that is no list, as an element of a type."""
    kind = document.kind(node)
    if dtype.name == "string":
        if document.is_string(node):
            return document.string(node)
        if kind == Kind.OBJECT:
            if document.is_base64(node):
                return document.base64(node)
            raise InvalidArgumentError(f"JSON Value: {document.text(node)} not formatted correctly for base64 data")
    if dtype.is_bool and kind in (Kind.FALSE, Kind.TRUE):
        return kind == Kind.TRUE
    if kind in _NUMBERS:
        found = rows_array(document, document.nodes(node)[np.newaxis], dtype)
        if found is not None:
            return found[0]
    raise _mismatch(dtype, document.text(node), document.type_name(node))
