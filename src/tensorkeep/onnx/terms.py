"""Values as rules see them: a type, a shape, and what is known of the value itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeAlias

import numpy as np
import onnx_ir as ir

from tensorkeep.arrays import Array
from tensorkeep.dtypes import DType
from tensorkeep.errors import UnimplementedError

Dims: TypeAlias = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class SizeOf:
    """The size of one axis of a value, which is not known before the model runs."""

    term: Term
    axis: int


Size: TypeAlias = int | SizeOf | None
"""A number that a graph computes a shape with: known, known to be the size of an axis, or not known."""


@dataclass(eq=False, slots=True)
class Term:
    """A value of the ONNX graph: what a rule is given for an input of an operation, and gives for an output.

    Complex numbers, which ONNX Runtime cannot compute with, are pairs: a value whose `dtype` is complex64 is an array
    of float32 in the file, with one axis more, of size 2, at the end. `dims` are without that axis.
    """

    dtype: DType
    dims: Dims | None = None
    """The sizes of its axes, None for one that is not known; None if not even their number is."""
    array: Array | None = None
    """The value, if it is known before the model runs. Not to be written to."""
    axes: tuple[Size, ...] | None = None
    """For each of its axes, of what other value's axis it has the size, if that is known."""
    sizes: tuple[Size, ...] | None = None
    """Of a scalar or vector of integers that is not known, its elements as far as they are."""
    held: object = None
    """What a value of a resource or variant type leads to: a variable, a table, a list of tensors."""
    name: str = ""
    """What a known value is called in the graph: the name of its constant or variable."""
    is_lost: bool = False
    """Whether the operation that makes it could not be translated: what depends on it cannot be either."""
    value: ir.Value | None = field(default=None, repr=False)
    """The value in the file, once there is one: a constant has none before a node takes it."""

    @property
    def rank(self) -> int | None:
        return None if self.dims is None else len(self.dims)

    @property
    def is_complex(self) -> bool:
        return self.dtype.is_complex

    def size(self, axis: int) -> int | None:
        """The size of an axis, counted from the end if negative; None if it is not known."""
        return None if self.dims is None or not -len(self.dims) <= axis < len(self.dims) else self.dims[axis]

    @property
    def element_count(self) -> int | None:
        """How many elements it has, if that is known."""
        if self.dims is None or None in self.dims:
            return None
        return int(np.prod([size for size in self.dims if size is not None], dtype=object))


def axis_size(term: Term, axis: int) -> Size:
    """The size of an axis: the number if it is known, else the first value's that is known to have that size."""
    known = term.size(axis)
    if known is not None:
        return known
    other = None if term.axes is None else term.axes[axis]
    return SizeOf(term, axis) if other is None else other


def constant_term(array: Array, dtype: DType, name: str = "") -> Term:
    """A value that is known."""
    return Term(dtype, tuple(array.shape), array, name=name)


_ELEMENT_TYPES: Final = {
    "bool": ir.DataType.BOOL,
    "string": ir.DataType.STRING,
    "int8": ir.DataType.INT8,
    "int16": ir.DataType.INT16,
    "int32": ir.DataType.INT32,
    "int64": ir.DataType.INT64,
    "uint8": ir.DataType.UINT8,
    "uint16": ir.DataType.UINT16,
    "uint32": ir.DataType.UINT32,
    "uint64": ir.DataType.UINT64,
    "qint8": ir.DataType.INT8,
    "quint8": ir.DataType.UINT8,
    "qint16": ir.DataType.INT16,
    "quint16": ir.DataType.UINT16,
    "qint32": ir.DataType.INT32,
    "int4": ir.DataType.INT4,
    "uint4": ir.DataType.UINT4,
    "int2": ir.DataType.INT2,
    "uint2": ir.DataType.UINT2,
    "float16": ir.DataType.FLOAT16,
    "bfloat16": ir.DataType.BFLOAT16,
    "float32": ir.DataType.FLOAT,
    "float64": ir.DataType.DOUBLE,
    "float8_e4m3fn": ir.DataType.FLOAT8E4M3FN,
    "float8_e5m2": ir.DataType.FLOAT8E5M2,
    "float8_e4m3fnuz": ir.DataType.FLOAT8E4M3FNUZ,
    "float8_e5m2fnuz": ir.DataType.FLOAT8E5M2FNUZ,
    "float4_e2m1fn": ir.DataType.FLOAT4E2M1,
    "complex64": ir.DataType.FLOAT,  # as pairs
    "complex128": ir.DataType.DOUBLE,
}
_BY_ELEMENT_TYPE: Final = {found: name for name, found in reversed(_ELEMENT_TYPES.items()) if name[0] not in "cq"}


def element_type(dtype: DType) -> ir.DataType:
    """ONNX's element type for one of TensorFlow's; UnimplementedError if it has none."""
    found = _ELEMENT_TYPES.get(dtype.base_dtype.name)
    if found is None:
        raise UnimplementedError(f"ONNX has no element type for {dtype.base_dtype.name}")
    return found


def dtype_of_element_type(found: ir.DataType) -> DType:
    """TensorFlow's type for one of ONNX's."""
    return DType.of(_BY_ELEMENT_TYPE[found])


def shape_in_file(term: Term) -> ir.Shape | None:
    """The shape that a value has in the file, as far as it is known."""
    if term.dims is None:
        return None
    return ir.Shape((*term.dims, 2) if term.is_complex else term.dims)
