"""Arrays as TensorProto messages, as constants of graphs carry them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorkeep.dtypes import ALL_DTYPES, STRING, DType
from tensorkeep.errors import DataLossError, InvalidArgumentError
from tensorkeep.proto.messages import TensorProto
from tensorkeep.proto.tensors import (
    array_of_tensor,
    content_tensor,
    content_tensor_bytes,
    listed_tensor,
    listed_tensor_bytes,
    tensor_of_array,
)

PLAIN = [dtype for dtype in ALL_DTYPES if not dtype.is_object]


def _array(dtype: DType, shape: tuple[int, ...]) -> np.ndarray:
    count = int(np.prod(shape))
    return (np.arange(count) % 2).astype(np.int8).astype(dtype.array_dtype).reshape(shape)


@pytest.mark.parametrize("dtype", PLAIN, ids=str)
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 3), (0,), (2, 0)])
def test_an_array_survives_its_message(dtype: DType, shape: tuple[int, ...]) -> None:
    array = _array(dtype, shape)
    proto = TensorProto.FromString(tensor_of_array(array, dtype).SerializeToString())
    again = array_of_tensor(proto)
    assert proto.dtype == dtype.number
    assert again.dtype == array.dtype
    assert again.shape == shape
    assert again.tobytes() == array.tobytes()


@given(st.lists(st.binary(max_size=5), max_size=4))
def test_strings_survive(items: list[bytes]) -> None:
    array = np.array(items, dtype=object)
    again = array_of_tensor(tensor_of_array(array))
    assert again.dtype == object
    assert again.tolist() == items


def test_one_element_is_listed_and_more_are_content() -> None:
    assert tensor_of_array(np.float32(2)).float_val == [2.0]
    assert tensor_of_array(np.float32([2, 3])).tensor_content == b"\0\0\0\x40\0\0\x40\x40"
    assert tensor_of_array(np.array([True, False])).bool_val == [True, False]


def test_a_splat_is_stored_once_and_read_in_full() -> None:
    proto = tensor_of_array(np.float32(1.5), of_shape=(2, 3))
    assert proto.float_val == [1.5]
    assert array_of_tensor(proto).tolist() == [[1.5] * 3] * 2


def test_too_few_elements_are_filled_up_with_the_last() -> None:
    proto = TensorProto(dtype=3, int_val=[7, 8])
    proto.tensor_shape.dim.add().size = 4
    assert array_of_tensor(proto).tolist() == [7, 8, 8, 8]


@pytest.mark.parametrize("dtype", [*PLAIN, STRING], ids=str)
def test_no_elements_at_all_mean_zeros(dtype: DType) -> None:
    proto = TensorProto(dtype=dtype.number)
    proto.tensor_shape.dim.add().size = 2
    array = array_of_tensor(proto)
    assert array.shape == (2,)
    assert array.dtype == dtype.array_dtype
    assert (array == (b"" if dtype is STRING else np.zeros(2, dtype.array_dtype))).all()


def test_a_huge_splat_takes_no_memory() -> None:
    proto = TensorProto(dtype=1, float_val=[1.0])
    proto.tensor_shape.dim.add().size = 1 << 38
    assert array_of_tensor(proto).shape == (1 << 38,)


@pytest.mark.parametrize(
    ("sizes", "why"),
    [
        ([-1], "impossible shape"),
        ([1 << 40, 1 << 40], "impossible shape"),
        ([0, 1 << 50], "impossible shape"),
        ([1] * 99 + [2], "dimension"),
        ([3], "12"),
    ],
)
def test_a_message_that_contradicts_itself_is_damage(sizes: list[int], why: str) -> None:
    proto = TensorProto(dtype=1, tensor_content=b"\0" * 8)
    for size in sizes:
        proto.tensor_shape.dim.add().size = size
    with pytest.raises(DataLossError, match=why):
        array_of_tensor(proto, "constant c")


def test_handles_are_no_constants() -> None:
    with pytest.raises(InvalidArgumentError, match="resource"):
        tensor_of_array(np.empty(1, object), DType.of("resource"))
    with pytest.raises(DataLossError, match="resource"):
        array_of_tensor(TensorProto(dtype=20))


def test_more_elements_than_the_shape_has_are_cut_off() -> None:
    assert array_of_tensor(TensorProto(dtype=3, int_val=[1, 2, 3])).tolist() == 1


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((), np.float32),
        np.ones((2, 0), np.float32),
        np.arange(300, dtype=np.int32),
        np.array([[1.5, -2.0]], np.float64),
        np.array([b"a", b""], object),
        np.array([True, False]),
        np.array([1 + 2j], np.complex64),
        np.array([0.5], np.float16),
    ],
    ids=lambda array: f"{array.dtype}{list(array.shape)}",
)
def test_the_bytes_of_a_listed_tensor_are_those_of_its_message(array: Any) -> None:
    assert TensorProto.FromString(listed_tensor_bytes(array)) == listed_tensor(array)
    assert TensorProto.FromString(content_tensor_bytes(array)) == content_tensor(array)
