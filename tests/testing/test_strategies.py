"""The strategies give what they promise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.vendor.pretty import pretty

from tensorkeep.arrays import Array
from tensorkeep.checkpoint.slices.tensor_slice import box_shape
from tensorkeep.checkpoint.slices.tiling import copies_for
from tensorkeep.checkpoint.sources import ArraySource, PartitionedArray
from tensorkeep.dtypes import ALL_DTYPES, BFLOAT16, BOOL, FLOAT32, INT4, QINT8, STRING, VARIANT, DType
from tensorkeep.shapes import element_count
from tensorkeep.testing.strategies import (
    STORABLE,
    Saveable,
    arrays,
    assert_identical,
    assert_saved,
    checkpoints,
    contents,
    partitions,
    shapes,
    sources,
    storable_dtypes,
    tensor_names,
)

# The first example will do, however large.
FIRST = settings(phases=[Phase.generate], max_examples=2000)


def test_every_type_but_resources_is_drawn() -> None:
    assert {dtype.name for dtype in ALL_DTYPES} - {dtype.name for dtype in STORABLE} == {"resource"}
    assert find(storable_dtypes(), lambda dtype: dtype is VARIANT, settings=FIRST) is VARIANT


@settings(max_examples=100)
@given(st.data())
def test_what_is_drawn_for_a_type_is_of_that_type(data: st.DataObject) -> None:
    dtype = data.draw(storable_dtypes())
    found, array = contents(data.draw(sources(dtype)))
    assert found is dtype
    assert array.ndim <= 3


def is_scalar(array: Array) -> bool:
    return array.ndim == 0


def is_empty(array: Array) -> bool:
    return array.size == 0


def is_fortran(array: Array) -> bool:
    return array.flags.f_contiguous and not array.flags.c_contiguous


def is_strided(array: Array) -> bool:
    return array.size > 1 and not array.flags.c_contiguous and not array.flags.f_contiguous


def is_backwards(array: Array) -> bool:
    return array.size > 1 and min(array.strides) < 0


def is_swapped(array: Array) -> bool:
    return not array.dtype.isnative


def has_unusual_nan(array: Array) -> bool:
    bits = np.frombuffer(array.tobytes(), np.uint32)
    return array.dtype.isnative and bool(np.any((bits & 0x7FC00000 == 0x7FC00000) & (bits & 0x3FFFFF != 0)))


@pytest.mark.parametrize(
    "holds", [is_scalar, is_empty, is_fortran, is_strided, is_backwards, is_swapped, has_unusual_nan]
)
def test_arrays_of_every_kind_are_drawn(holds: Callable[[Array], bool]) -> None:
    assert holds(find(arrays(FLOAT32), holds, settings=FIRST))


@settings(max_examples=30)
@given(arrays(BOOL))
def test_booleans_are_zero_or_one(array: Array) -> None:
    assert set(np.frombuffer(array.tobytes(), np.uint8)) <= {0, 1}


@settings(max_examples=50)
@given(st.data())
def test_a_partition_covers_its_shape_without_overlap(data: st.DataObject) -> None:
    shape = data.draw(shapes(min_side=1).filter(len))
    boxes = [part.box(shape) for part in data.draw(partitions(shape))]
    copies_for(tuple((0, size) for size in shape), boxes)
    assert sum(element_count(box_shape(box)) for box in boxes) == element_count(shape)


@settings(max_examples=30)
@given(tensor_names())
def test_names_are_text_that_any_format_can_hold(name: str) -> None:
    assert name
    assert name.encode().decode() == name


def has_parts(tensors: dict[str, Saveable]) -> bool:
    return len(tensors) > 1 and any(isinstance(value, PartitionedArray) for value in tensors.values())


def test_checkpoints_hold_several_tensors_some_of_them_in_slices() -> None:
    drawn = find(checkpoints([FLOAT32]), has_parts, settings=FIRST)
    found = {name: contents(value)[1].astype(np.float32) for name, value in sorted(drawn.items())}
    assert_saved(found, drawn)


def test_a_type_is_called_by_its_name_in_reports() -> None:
    assert pretty([FLOAT32]) == f"[{FLOAT32!r}]"


def differing() -> list[tuple[DType, Array, Array]]:
    nan, other_nan = np.array([0x7FC00000, 0x7FC00001], np.uint32).view(np.float32)
    return [
        (FLOAT32, np.array([0.0], np.float32), np.array([-0.0], np.float32)),
        (FLOAT32, np.array(nan), np.array(other_nan)),
        (FLOAT32, np.zeros((1, 2), np.float32), np.zeros((2, 1), np.float32)),
        (FLOAT32, np.zeros(2, np.float64), np.zeros(2, np.float32)),
        (FLOAT32, np.zeros(2, ">f4"), np.zeros(2, np.float32)),
        (STRING, np.array([b"a"], dtype=object), np.array([b"b"], dtype=object)),
        (STRING, np.array(["a"], dtype=object), np.array([b"a"], dtype=object)),
    ]


@pytest.mark.parametrize(("dtype", "actual", "expected"), differing())
def test_arrays_that_differ_in_any_way_are_not_identical(dtype: DType, actual: Array, expected: Array) -> None:
    with pytest.raises(AssertionError):
        assert_identical(actual, dtype, expected)


def test_arrays_that_differ_in_what_does_not_count_are_identical() -> None:
    swapped = np.array([1.5, -2], BFLOAT16.array_dtype).astype(BFLOAT16.array_dtype.newbyteorder(">"))
    assert_identical(np.array([1.5, -2], BFLOAT16.array_dtype), BFLOAT16, swapped)
    low, high = np.array([[0x0F], [0xFF]], np.uint8).view(INT4.array_dtype)
    assert_identical(low, INT4, high)
    assert_identical(np.array([b"a"], dtype=object), STRING, np.array(["a"]))
    assert_identical(np.array([-3], np.int8), QINT8, contents(ArraySource.of(np.array([-3], np.int8), QINT8))[1])
