"""Element types: numbered and named as TensorFlow numbers and names them."""

from __future__ import annotations

import copy
import pickle

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.dtypes import (
    ALL_DTYPES,
    BFLOAT16,
    FLOAT32,
    INT4,
    STRING,
    VARIANT,
    DType,
    dtype_of_array,
    dtype_of_number,
)
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.proto import messages

# number, Python name, name in protocol buffers, NumPy's type
TENSORFLOW = [
    (1, "float32", "DT_FLOAT", np.float32),
    (2, "float64", "DT_DOUBLE", np.float64),
    (3, "int32", "DT_INT32", np.int32),
    (4, "uint8", "DT_UINT8", np.uint8),
    (5, "int16", "DT_INT16", np.int16),
    (6, "int8", "DT_INT8", np.int8),
    (7, "string", "DT_STRING", object),
    (8, "complex64", "DT_COMPLEX64", np.complex64),
    (9, "int64", "DT_INT64", np.int64),
    (10, "bool", "DT_BOOL", np.bool_),
    (11, "qint8", "DT_QINT8", np.int8),
    (12, "quint8", "DT_QUINT8", np.uint8),
    (13, "qint32", "DT_QINT32", np.int32),
    (14, "bfloat16", "DT_BFLOAT16", ml_dtypes.bfloat16),
    (15, "qint16", "DT_QINT16", np.int16),
    (16, "quint16", "DT_QUINT16", np.uint16),
    (17, "uint16", "DT_UINT16", np.uint16),
    (18, "complex128", "DT_COMPLEX128", np.complex128),
    (19, "float16", "DT_HALF", np.float16),
    (20, "resource", "DT_RESOURCE", object),
    (21, "variant", "DT_VARIANT", object),
    (22, "uint32", "DT_UINT32", np.uint32),
    (23, "uint64", "DT_UINT64", np.uint64),
    (24, "float8_e5m2", "DT_FLOAT8_E5M2", ml_dtypes.float8_e5m2),
    (25, "float8_e4m3fn", "DT_FLOAT8_E4M3FN", ml_dtypes.float8_e4m3fn),
    (26, "float8_e4m3fnuz", "DT_FLOAT8_E4M3FNUZ", ml_dtypes.float8_e4m3fnuz),
    (27, "float8_e4m3b11fnuz", "DT_FLOAT8_E4M3B11FNUZ", ml_dtypes.float8_e4m3b11fnuz),
    (28, "float8_e5m2fnuz", "DT_FLOAT8_E5M2FNUZ", ml_dtypes.float8_e5m2fnuz),
    (29, "int4", "DT_INT4", ml_dtypes.int4),
    (30, "uint4", "DT_UINT4", ml_dtypes.uint4),
    (31, "int2", "DT_INT2", ml_dtypes.int2),
    (32, "uint2", "DT_UINT2", ml_dtypes.uint2),
    (33, "float4_e2m1fn", "DT_FLOAT4_E2M1FN", ml_dtypes.float4_e2m1fn),
]


def test_the_types_are_tensorflow_s() -> None:
    assert [(d.number, d.name, d.enum_name, d.array_dtype) for d in ALL_DTYPES] == [
        (number, name, enum_name, np.dtype(numpy)) for number, name, enum_name, numpy in TENSORFLOW
    ]


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_numbers_and_names_lead_to_the_one_object(dtype: DType) -> None:
    assert dtype_of_number(dtype.number) is dtype
    for name in (dtype.name, dtype.label, dtype.enum_name, dtype, dtype.number, np.int64(dtype.number)):
        assert DType.of(name) is dtype
    assert DType(dtype.number) is DType(dtype) is dtype
    assert DType(dtype.number + 100) is dtype.ref


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_copies_and_pickles_are_the_one_object(dtype: DType) -> None:
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is dtype
    assert dtype in {dtype}


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_the_protocol_buffer_field_exists(dtype: DType) -> None:
    assert dtype.proto_field in messages.TensorProto.DESCRIPTOR.fields_by_name


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL_DTYPES if not dtype.is_object], ids=str)
def test_the_stored_width_is_that_of_the_array(dtype: DType) -> None:
    assert dtype.itemsize == np.zeros(1, dtype.array_dtype).nbytes
    assert dtype.bits < 8


def test_elements_that_vary_in_size_have_none() -> None:
    assert {dtype.name for dtype in ALL_DTYPES if dtype.is_object} == {"string", "variant", "resource"}
    assert {dtype.itemsize for dtype in ALL_DTYPES if dtype.is_object} == {0}


def test_all_but_resources_can_be_stored() -> None:
    assert [dtype.name for dtype in ALL_DTYPES if not dtype.is_storable] == ["resource"]


@pytest.mark.parametrize("dtype", [d for d in ALL_DTYPES if not d.is_object and not d.quantized], ids=str)
def test_arrays_lead_to_their_type_in_either_byte_order(dtype: DType) -> None:
    assert dtype_of_array(dtype.array_dtype) is dtype
    assert dtype_of_array(dtype.array_dtype.newbyteorder(">")) is dtype
    assert dtype_of_array(dtype.array_dtype.newbyteorder("<")) is dtype
    assert DType.of(dtype.array_dtype) is dtype


@pytest.mark.parametrize("dtype", [dtype for dtype in ALL_DTYPES if dtype.quantized], ids=str)
def test_quantised_arrays_are_recognised_as_tensorflow_marks_them(dtype: DType) -> None:
    assert dtype_of_array(np.dtype([(dtype.name, dtype.array_dtype)])) is dtype
    assert dtype_of_array(dtype.array_dtype) is not dtype


@pytest.mark.parametrize("array_dtype", ["O", "S", "S7", "U", "U3", ">U3"])
def test_text_bytes_and_objects_are_strings(array_dtype: str) -> None:
    assert dtype_of_array(np.dtype(array_dtype)) is STRING


@pytest.mark.skipif(not hasattr(np.dtypes, "StringDType"), reason="NumPy 2 brought it")
def test_numpy_s_newest_strings_are_strings() -> None:
    assert dtype_of_array(np.dtypes.StringDType()) is STRING


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float32, "float32"),
        (float, "float64"),
        (int, "int64"),
        (bool, "bool"),
        (complex, "complex128"),
        (bytes, "string"),
        (str, "string"),
        ("<f4", "float32"),
        ("float", "float32"),  # TensorFlow's word, not NumPy's
        ("double", "float64"),
        ("half", "float16"),
        (np.longlong, "int64"),
        (np.intc, "int32"),
        (ml_dtypes.bfloat16, "bfloat16"),
    ],
)
def test_a_type_can_be_named_in_many_ways(value: type | str, expected: str) -> None:
    assert DType.of(value).name == expected


@pytest.mark.parametrize(
    "value", [np.longdouble, "M8[s]", "m8", "V4", "f4,f4", [("a", "f4")], [("qint8", "i2")], np.clongdouble]
)
def test_types_that_tensorflow_lacks_are_refused_with_a_list_of_those_it_has(value: object) -> None:
    with pytest.raises(InvalidArgumentError, match="convert the array to one of float32"):
        DType.of(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", ["no such type", 3.5, object(), "f4,,", "(", "float33"])
def test_what_is_no_type_is_refused(value: object) -> None:
    with pytest.raises(InvalidArgumentError, match="is not a data type"):
        DType.of(value)  # type: ignore[arg-type]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # NumPy's, of some of its own names
@given(st.text(max_size=8))
def test_any_text_is_a_type_or_refused(text: str) -> None:
    try:
        DType.of(text)
    except InvalidArgumentError:
        return


@pytest.mark.parametrize("number", [0, -1, 34, 101, 1 << 40])
def test_an_unknown_number_in_a_file_is_data_loss(number: int) -> None:
    with pytest.raises(DataLossError, match=rf"data type number {number} is unknown \(known are 1..33\)"):
        dtype_of_number(number)


def test_a_type_is_shown_by_its_name() -> None:
    assert str(BFLOAT16) == "bfloat16"
    assert "bfloat16" in repr(BFLOAT16)


def test_types_are_compared_by_identity_and_cannot_be_changed() -> None:
    assert DType.of("float32") == FLOAT32
    assert INT4 != VARIANT
    assert FLOAT32.ref != FLOAT32
    with pytest.raises(AttributeError):
        FLOAT32.number = 2  # type: ignore[misc]


def test_a_type_equals_its_names_and_numpy_s_type() -> None:
    assert FLOAT32 == "float32"
    assert np.float32 == FLOAT32
    assert np.float32 == FLOAT32
    assert np.dtype("float32") == FLOAT32
    assert STRING == "string"
    assert FLOAT32 != "float64"
    assert FLOAT32 != "no such type"
    assert FLOAT32 != 1.0
    assert np.dtype("M8") != FLOAT32


@pytest.mark.parametrize("dtype", ALL_DTYPES, ids=str)
def test_a_type_equals_its_number_and_is_found_by_it(dtype: DType) -> None:
    assert dtype == dtype.number == dtype
    assert np.int32(dtype.number) == dtype
    assert (dtype == np.int32(dtype.number)) is True
    assert dtype != dtype.number + 1
    assert dtype.ref == dtype.number + 100
    assert dtype.ref != dtype.number
    assert {dtype: "type"}[dtype.number] == "type"  # type: ignore[index]
    assert {dtype.number: "number"}[dtype] == "number"  # type: ignore[index]
    assert (hash(dtype), int(dtype)) == (dtype.number, dtype.number)


@pytest.mark.parametrize("value", [0, -1, 34, 100, 134, True, False, np.int64(0), 1 << 70])
def test_a_number_of_no_type_is_refused_and_equals_none(value: int) -> None:
    with pytest.raises(TypeError, match="is not a data type: their numbers are 1 to 33, and 100 more of references"):
        DType.of(value)
    assert isinstance(value, bool) or all(dtype != value for dtype in ALL_DTYPES)


def test_a_type_says_what_numpy_makes_of_it() -> None:
    assert FLOAT32.as_numpy_dtype is np.float32
    assert FLOAT32.ref.as_numpy_dtype is np.float32
    assert BFLOAT16.as_numpy_dtype is ml_dtypes.bfloat16
    assert DType.of("bool").as_numpy_dtype is np.bool_
    assert STRING.as_numpy_dtype is np.object_
    assert DType.of("qint8").as_numpy_dtype == np.dtype([("qint8", np.int8)])
    assert (FLOAT32.as_datatype_enum, FLOAT32.size, STRING.size) == (1, 4, 0)


def test_numbers_have_extremes_and_images_limits() -> None:
    assert (DType.of("int8").min, DType.of("uint8").max) == (-128, 255)
    assert FLOAT32.max == np.finfo(np.float32).max
    assert -BFLOAT16.min > 3e38
    assert (FLOAT32.limits, DType.of("uint8").limits, DType.of("bool").limits) == ((0, 1), (0, 255), (False, True))
    with pytest.raises(TypeError, match="minimum value of string"):
        _ = STRING.min
    with pytest.raises(TypeError, match="maximum value of complex64"):
        _ = DType.of("complex64").limits


def test_kinds_of_types() -> None:
    assert DType.of("bool").ref.is_bool
    assert DType.of("qint8").is_quantized
    assert not VARIANT.is_numpy_compatible
    assert STRING.is_numpy_compatible
    assert DType.of("complex128").real_dtype is DType.of("float64")
    assert FLOAT32.real_dtype is FLOAT32


def test_a_value_may_be_given_where_a_reference_to_it_is_wanted() -> None:
    assert FLOAT32.is_compatible_with("float32_ref")
    assert FLOAT32.is_compatible_with(np.float32)
    assert not FLOAT32.ref.is_compatible_with(FLOAT32)
    assert not FLOAT32.is_compatible_with("int32")


def test_what_is_no_type_is_a_type_error() -> None:
    for value in ("floot", None, 1.5):
        with pytest.raises(TypeError, match="is not a data type"):
            DType.of(value)
