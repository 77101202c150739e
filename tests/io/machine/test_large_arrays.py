"""Memory for large arrays."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from tensorkeep.io.machine.large_arrays import _c_function, copy_array, empty_array, owns_memory

MANY = 1 << 20


def _address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


@pytest.mark.parametrize("offset", [0, 64, 1000, 4095, 4096, 10_000_000])
def test_a_large_array_begins_where_its_bytes_begin_in_a_page_of_the_file(offset: int) -> None:
    array = empty_array((MANY, 3), np.uint8, offset)
    assert array.shape == (MANY, 3)
    assert _address(array) % 4096 == offset % 4096


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex128, np.int16])
def test_elements_are_aligned_whatever_the_offset(dtype: type) -> None:
    array = empty_array((MANY,), dtype, 1001)
    assert array.flags.aligned
    assert array.flags.c_contiguous
    assert array.flags.writeable


@pytest.mark.parametrize("shape", [(), (0,), (3, 4), (MANY, 2)])
def test_a_new_array_has_its_memory_alone_and_a_view_has_not(shape: tuple[int, ...]) -> None:
    array = empty_array(shape, np.float32)
    assert owns_memory(array)
    assert not owns_memory(array[...])
    assert not owns_memory(array.reshape(-1))
    assert not owns_memory(array.view(np.uint32))


def test_memory_that_is_mapped_or_lent_is_not_owned() -> None:
    assert not owns_memory(np.frombuffer(bytearray(8), np.uint8))


@pytest.mark.parametrize("count", [0, 5, MANY, 9 * MANY, 9 * MANY + 7])
def test_a_copy_is_equal_and_apart(count: int) -> None:
    array = np.arange(count, dtype=np.float32)
    copy = copy_array(array)
    np.testing.assert_array_equal(copy, array)
    assert copy.dtype == array.dtype
    assert owns_memory(copy)
    copy += 1
    np.testing.assert_array_equal(array, np.arange(count, dtype=np.float32))


def test_a_copy_of_what_is_not_in_order_is_in_order() -> None:
    array = np.arange(12).reshape(3, 4).T
    copy = copy_array(array)
    assert copy.flags.c_contiguous
    np.testing.assert_array_equal(copy, array)


def test_objects_are_copied_as_objects() -> None:
    array = np.array([b"a", b"bc"], object)
    copy = copy_array(array)
    assert copy.tolist() == array.tolist()
    assert copy is not array


FILLED_THREE_TIMES = """
import resource
import numpy as np
from tensorkeep.io.machine.large_arrays import give_freed_memory_back, keep_freed_memory

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def fill():
    before = faults()
    arrays = [np.ones(24 << 20, np.uint8) for _ in range(6)]
    del arrays
    return faults() - before

keep_freed_memory()
fill()
again = fill()
give_freed_memory_back()
print(again, fill())
"""


@pytest.mark.skipif(_c_function("mallopt") is None, reason="the C library has no such limits")
def test_freed_memory_is_used_again_until_it_is_given_back() -> None:
    """In a process of its own: the heap of one that has run other tests has holes, and others have set its limits."""
    pytest.importorskip("resource", reason="this system does not count page faults")
    command = [sys.executable, "-c", FILLED_THREE_TIMES]
    again, anew = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert int(again) < int(anew) / 2


def test_a_c_library_without_a_function_is_no_error() -> None:
    assert _c_function("no_such_function_anywhere") is None
