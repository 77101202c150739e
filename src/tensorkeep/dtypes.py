"""The element types of TensorFlow, one row each.

A row says how a type is numbered in files, what it is called, which NumPy type holds it in memory, which field of a
TensorProto carries it, and how many low bits of a stored byte mean anything. Nothing else in the package knows a
type by name; a new type is a new row.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tensorkeep._lazy import later
from tensorkeep.errors import DataLossError, InvalidArgumentError, WrongTypeError

if TYPE_CHECKING:
    import ml_dtypes
    import numpy as np
    import numpy.typing as npt
else:  # to name types and to list a checkpoint takes neither, and both take longer than all the rest of a small command
    ml_dtypes, np = later("ml_dtypes"), later("numpy")

__all__ = ["ALL_DTYPES", "DType"]

REF_OFFSET: Final = 100  # what the number of a reference type has more than that of its elements


@cache
def _extreme_of(dtype: np.dtype[Any], is_integer: bool, name: str) -> Any:
    """The "min" or "max" of a type of whole numbers or of fractions."""
    if is_integer:
        return int(getattr(ml_dtypes.iinfo(dtype), name))  # type: ignore[no-untyped-call]
    return getattr(ml_dtypes.finfo(dtype), name)  # type: ignore[no-untyped-call]


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class DType:
    """An element type. There is one object per type; `DType(1)` is the one that files number 1.

    It equals its name, its number and NumPy's type: `dtype == "float32"`, `dtype == 1`, `dtype == np.float32`. Its
    hash is that of its number, as in TensorFlow, so that a table by number is found by the type as well.
    """

    number: int
    name: str  # as TensorFlow's Python spells it: float32
    label: str  # as TensorFlow's messages spell it: float
    numpy_name: str  # NumPy's name of the type that holds it: a dot before it if it is one of ml_dtypes
    proto_field: str  # the field of TensorProto that holds its values
    itemsize: int
    """Bytes per stored element; 0 where elements vary in size."""
    bits: int = 0  # for types narrower than a byte: how many low bits of each stored byte count
    quantized: bool = False
    is_object: bool = field(init=False)
    """Whether elements vary in size: strings, variants, resources."""
    array_dtype: np.dtype[Any] = field(init=False)
    """NumPy's type of the arrays that `read` returns; for strings and variants, arrays of `bytes` objects."""

    def __new__(cls, type_enum: DType | npt.DTypeLike | str | int) -> DType:
        """The type with a number, references among them; the same as `DType.of`."""
        return cls.of(type_enum)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """NumPy's type, worked out when it is first wanted."""
            if name != "array_dtype":
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            is_ours = self.numpy_name.startswith(".")
            kind = getattr(ml_dtypes, self.numpy_name[1:]) if is_ours else self.numpy_name
            object.__setattr__(self, "array_dtype", np.dtype(kind))
            return self.array_dtype

    @property
    def dtype(self) -> np.dtype[Any]:
        """The same as `array_dtype`: by this name NumPy finds it, so that `np.zeros(3, info.dtype)` works."""
        return self.array_dtype

    @property
    def enum_name(self) -> str:
        """The name in protocol buffers, such as DT_FLOAT."""
        return f"DT_{self.label.upper()}"

    @property
    def is_storable(self) -> bool:
        """Whether a checkpoint can hold it: all but resource handles can be stored."""
        return self is not RESOURCE and not self.is_ref

    @property
    def is_ref(self) -> bool:
        """Whether it is the type of a reference to a variable, whose elements are those of `base_dtype`."""
        return self.number > REF_OFFSET

    @property
    def base_dtype(self) -> DType:
        """The type of the elements: itself, unless it is a reference."""
        return _BY_NUMBER[self.number - REF_OFFSET] if self.number > REF_OFFSET else self

    @property
    def ref(self) -> DType:
        """The type of a reference to a variable of these elements."""
        return _BY_NUMBER[self.number if self.number > REF_OFFSET else self.number + REF_OFFSET]

    @property
    def is_floating(self) -> bool:
        """Whether elements are real numbers with a fraction."""
        return self.base_dtype in _FLOATING

    @property
    def is_integer(self) -> bool:
        """Whether elements are whole numbers; bool and the quantised types are not."""
        return self.base_dtype in _INTEGERS

    @property
    def is_complex(self) -> bool:
        return self.base_dtype in (COMPLEX64, COMPLEX128)

    @property
    def is_unsigned(self) -> bool:
        return self.is_integer and self.name.startswith("u")

    @property
    def is_bool(self) -> bool:
        return self.base_dtype is BOOL

    @property
    def is_quantized(self) -> bool:
        return self.base_dtype.quantized

    @property
    def is_numpy_compatible(self) -> bool:
        """Whether NumPy can hold its elements: all but resources and variants."""
        return self.base_dtype not in (RESOURCE, VARIANT)

    @property
    def as_numpy_dtype(self) -> type[np.generic] | np.dtype[Any]:
        """NumPy's type of an element, such as `numpy.float32`; `object` for strings, one named field if quantised."""
        return np.dtype([(self.base_dtype.name, self.array_dtype)]) if self.is_quantized else self.array_dtype.type

    @property
    def as_datatype_enum(self) -> int:
        """The number in protocol buffers, as TensorFlow calls it."""
        return self.number

    @property
    def real_dtype(self) -> DType:
        """The type of the real part: of the elements, unless they are complex."""
        return {COMPLEX64: FLOAT32, COMPLEX128: FLOAT64}.get(self.base_dtype, self)

    @property
    def size(self) -> int:
        """Bytes per element; 0 where elements vary in size."""
        return self.itemsize

    @property
    def min(self) -> Any:
        """The least finite number of the type. Raises TypeError where there is no order."""
        return self._extreme("minimum", "min")

    @property
    def max(self) -> Any:
        """The greatest finite number of the type. Raises TypeError where there is no order."""
        return self._extreme("maximum", "max")

    @property
    def limits(self) -> tuple[Any, Any]:
        """The least and the greatest intensity of images of the type: 0 and 1 of fractions, else 0 and the maximum."""
        if self.is_bool:
            return False, True
        return 0, (1 if self.is_floating else self.max)

    def _extreme(self, word: str, name: str) -> Any:
        if self.is_floating or self.is_integer:
            return _extreme_of(self.array_dtype, self.is_integer, name)
        raise WrongTypeError(f"Cannot find {word} value of {self}: only whole numbers and fractions have one.")

    def is_compatible_with(self, other: DType | npt.DTypeLike | str | int) -> bool:
        """Whether a value of this type can be given where `other` is wanted: equal, or a reference to it is wanted."""
        wanted = DType.of(other)
        return wanted is self or wanted is self.ref

    def __eq__(self, other: object) -> bool:
        if other is self:
            return True
        if isinstance(other, DType):
            return False
        if isinstance(other, (int, np.integer)):
            return self.number == int(other)
        if not isinstance(other, str | type) and not isinstance(other, np.dtype):
            return False
        try:
            return DType.of(other) is self
        except InvalidArgumentError:
            return False

    def __hash__(self) -> int:
        return self.number

    def __int__(self) -> int:
        return self.number

    def __repr__(self) -> str:
        return f'DType.of("{self.name}")'

    def __str__(self) -> str:
        return self.name

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self))  # IPython and Hypothesis would otherwise look into every field

    def __reduce__(self) -> tuple[Any, ...]:
        return dtype_in_graph, (self.number,)

    @classmethod
    def of(cls, value: DType | npt.DTypeLike | str | int | None) -> DType:
        """The type meant by a DType, a TensorFlow name or label, a number in files, or what NumPy takes for a dtype.

        None, which NumPy takes for float64, is refused.
        """
        if isinstance(value, DType):
            return value
        if isinstance(value, str) and (known := _BY_NAME.get(value)):
            return known
        if value is None:
            raise WrongTypeError("None is not a data type")
        if isinstance(value, (int, np.integer)):
            return _dtype_of_given_number(value)
        try:
            array_dtype = np.dtype(value)
        except (TypeError, ValueError, SyntaxError) as error:
            near = get_close_matches(value, _BY_NAME, 1) if isinstance(value, str) else []
            why = f"did you mean {near[0]!r}?" if near else error
            raise WrongTypeError(f"{value!r} is not a data type: {why}") from None
        return dtype_of_array(array_dtype)


def make_dtype(
    number: int,
    name: str,
    label: str,
    numpy_name: str,
    proto_field: str,
    itemsize: int,
    *,
    bits: int = 0,
    quantized: bool = False,
) -> DType:
    """A row of the table below: an object of its own, though another may have the same number."""
    dtype = object.__new__(DType)
    row = (number, name, label, numpy_name, proto_field, itemsize, bits, quantized, numpy_name == "object")
    for field_name, value in zip(_COLUMNS, row, strict=True):
        object.__setattr__(dtype, field_name, value)
    return dtype


_COLUMNS: Final = tuple(column.name for column in fields(DType) if column.name != "array_dtype")

FLOAT32 = make_dtype(1, "float32", "float", "float32", "float_val", 4)
FLOAT64 = make_dtype(2, "float64", "double", "float64", "double_val", 8)
INT32 = make_dtype(3, "int32", "int32", "int32", "int_val", 4)
UINT8 = make_dtype(4, "uint8", "uint8", "uint8", "int_val", 1)
INT16 = make_dtype(5, "int16", "int16", "int16", "int_val", 2)
INT8 = make_dtype(6, "int8", "int8", "int8", "int_val", 1)
STRING = make_dtype(7, "string", "string", "object", "string_val", 0)
COMPLEX64 = make_dtype(8, "complex64", "complex64", "complex64", "scomplex_val", 8)
INT64 = make_dtype(9, "int64", "int64", "int64", "int64_val", 8)
BOOL = make_dtype(10, "bool", "bool", "bool", "bool_val", 1)
QINT8 = make_dtype(11, "qint8", "qint8", "int8", "int_val", 1, quantized=True)
QUINT8 = make_dtype(12, "quint8", "quint8", "uint8", "int_val", 1, quantized=True)
QINT32 = make_dtype(13, "qint32", "qint32", "int32", "int_val", 4, quantized=True)
BFLOAT16 = make_dtype(14, "bfloat16", "bfloat16", ".bfloat16", "half_val", 2)
QINT16 = make_dtype(15, "qint16", "qint16", "int16", "int_val", 2, quantized=True)
QUINT16 = make_dtype(16, "quint16", "quint16", "uint16", "int_val", 2, quantized=True)
UINT16 = make_dtype(17, "uint16", "uint16", "uint16", "int_val", 2)
COMPLEX128 = make_dtype(18, "complex128", "complex128", "complex128", "dcomplex_val", 16)
FLOAT16 = make_dtype(19, "float16", "half", "float16", "half_val", 2)
RESOURCE = make_dtype(20, "resource", "resource", "object", "resource_handle_val", 0)
VARIANT = make_dtype(21, "variant", "variant", "object", "variant_val", 0)
UINT32 = make_dtype(22, "uint32", "uint32", "uint32", "uint32_val", 4)
UINT64 = make_dtype(23, "uint64", "uint64", "uint64", "uint64_val", 8)
FLOAT8_E5M2 = make_dtype(24, "float8_e5m2", "float8_e5m2", ".float8_e5m2", "float8_val", 1)
FLOAT8_E4M3FN = make_dtype(25, "float8_e4m3fn", "float8_e4m3fn", ".float8_e4m3fn", "float8_val", 1)
FLOAT8_E4M3FNUZ = make_dtype(26, "float8_e4m3fnuz", "float8_e4m3fnuz", ".float8_e4m3fnuz", "float8_val", 1)
FLOAT8_E4M3B11FNUZ = make_dtype(27, "float8_e4m3b11fnuz", "float8_e4m3b11fnuz", ".float8_e4m3b11fnuz", "float8_val", 1)
FLOAT8_E5M2FNUZ = make_dtype(28, "float8_e5m2fnuz", "float8_e5m2fnuz", ".float8_e5m2fnuz", "float8_val", 1)
INT4 = make_dtype(29, "int4", "int4", ".int4", "int_val", 1, bits=4)
UINT4 = make_dtype(30, "uint4", "uint4", ".uint4", "int_val", 1, bits=4)
INT2 = make_dtype(31, "int2", "int2", ".int2", "int_val", 1, bits=2)
UINT2 = make_dtype(32, "uint2", "uint2", ".uint2", "int_val", 1, bits=2)
FLOAT4_E2M1FN = make_dtype(33, "float4_e2m1fn", "float4_e2m1fn", ".float4_e2m1fn", "float8_val", 1, bits=4)

ALL_DTYPES: Final[tuple[DType, ...]] = tuple(value for value in list(globals().values()) if isinstance(value, DType))

_REFS: Final = tuple(
    make_dtype(
        dtype.number + REF_OFFSET,
        f"{dtype.name}_ref",
        f"{dtype.label}_ref",
        dtype.numpy_name,
        dtype.proto_field,
        dtype.itemsize,
        bits=dtype.bits,
    )
    for dtype in ALL_DTYPES
)
_BY_NUMBER: Final = {dtype.number: dtype for dtype in (*ALL_DTYPES, *_REFS)}
_BY_NAME: Final = {
    name: dtype for dtype in (*ALL_DTYPES, *_REFS) for name in (dtype.name, dtype.label, dtype.enum_name)
}
_FLOATING: Final = frozenset(dtype for dtype in ALL_DTYPES if "float" in dtype.name)
_INTEGERS: Final = frozenset(
    dtype for dtype in ALL_DTYPES if "int" in dtype.name and not dtype.quantized and "float" not in dtype.name
)


@cache
def _by_numpy() -> dict[np.dtype[Any], DType]:
    return {dtype.array_dtype: dtype for dtype in ALL_DTYPES if not dtype.quantized and not dtype.is_object}


@cache
def _by_structure() -> dict[np.dtype[Any], DType]:
    """TensorFlow's Python marks quantised arrays by a structured type of one field: [("qint8", int8)]."""
    return {np.dtype([(dtype.name, dtype.array_dtype)]): dtype for dtype in ALL_DTYPES if dtype.quantized}


def _dtype_of_given_number(number: int | np.integer[Any]) -> DType:
    """The type with the number that a program gives. Truth is no number here: that it is 1 is never what was meant."""
    known = None if isinstance(number, bool) else _BY_NUMBER.get(int(number))
    if known is None:
        last = ALL_DTYPES[-1].number
        raise WrongTypeError(
            f"{number!r} is not a data type: their numbers are 1 to {last}, and {REF_OFFSET} more of references"
        )
    return known


def dtype_of_number(number: int) -> DType:
    """The type with that number in a file. An unknown number means damage, or a file from a later TensorFlow."""
    if number not in _BY_NUMBER or number > REF_OFFSET:
        known = f"{ALL_DTYPES[0].number}..{ALL_DTYPES[-1].number}"
        raise DataLossError(f"data type number {number} is unknown (known are {known})")
    return _BY_NUMBER[number]


def dtype_in_graph(number: int) -> DType:
    """The type with that number in a graph, where references to variables have types too."""
    return _BY_NUMBER[number] if number > REF_OFFSET and number in _BY_NUMBER else dtype_of_number(number)


def dtype_of_plain_array(array_dtype: np.dtype[Any]) -> DType | None:
    """The type whose elements are stored as this NumPy dtype holds them, or None."""
    return _by_numpy().get(array_dtype)


def dtype_of_array(array_dtype: np.dtype[Any]) -> DType:
    """The type that stores arrays of this NumPy dtype: text, bytes and object arrays are strings."""
    found = _by_numpy().get(array_dtype)
    if found is None and array_dtype.kind in "OSUT":  # first, for NumPy's newest string type has no byte order
        found = STRING
    if found is None:
        found = _by_numpy().get(array_dtype.newbyteorder("=")) if array_dtype.names is None else None
    if found is None:
        found = _by_structure().get(array_dtype)
    if found is None:
        raise InvalidArgumentError(
            f"TensorFlow has no type for NumPy's {array_dtype}; convert the array to one of "
            + ", ".join(dtype.name for dtype in ALL_DTYPES if dtype.is_storable)
        )
    return found
