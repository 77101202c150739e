"""Memory for large arrays, fast to fill.

The kernel copies from a file into memory up to twice as fast where both begin at the same place of a page. NumPy's own
arrays begin wherever the C library puts them, so a large one is cut out of memory that is a page larger. Huge pages are
used only where they are at hand (`huge_pages`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.io.machine.huge_pages import avoid_waiting
from tensorkeep.io.machine.parallel import in_parallel
from tensorkeep.shapes import element_count

_PAGE: Final = 4096  # bytes
_NUMBER: Final = 16  # bytes of the largest one
_LARGE: Final = 1 << 20  # bytes; from here on it pays
_STRETCH: Final = 16 << 20  # bytes that one thread copies at a time


class _Memory(np.ndarray[tuple[int], np.dtype[np.uint8]]):
    """Bytes of which one array has been cut, and of which no other will be."""


def empty_array(shape: Sequence[int], dtype: npt.DTypeLike, offset: int = 0) -> Array:
    """A new array, its elements whatever they are, in C order. `offset` is where its bytes lie in a file."""
    dtype = np.dtype(dtype)
    size = element_count(shape) * dtype.itemsize
    if size < _LARGE or dtype.hasobject:
        return np.empty(shape, dtype)
    memory = _Memory((size + _PAGE,), np.uint8)
    address: int = memory.__array_interface__["data"][0]
    avoid_waiting(address, memory.nbytes)
    wanted = offset - offset % dtype.alignment
    start = (wanted - address) % _PAGE
    return np.ndarray(shape, dtype, buffer=memory, offset=start)


class ReadBuffer:
    """Memory that parts of files are read into, one after the other."""

    def __init__(self, size: int) -> None:
        self._memory = np.empty(size + _PAGE, np.uint8)
        self._address: int = self._memory.__array_interface__["data"][0]

    def at(self, offset: int, length: int) -> npt.NDArray[np.uint8]:
        """Room for bytes that lie at `offset` of a file, fit to hold numbers of any type. It is the same every time."""
        start = (offset - offset % _NUMBER - self._address) % _PAGE
        return self._memory[start : start + length]


def owns_memory(array: Array) -> bool:
    """Whether no other array can be seen in the memory of this one, but for views of it."""
    return array.flags.owndata or isinstance(array.base, _Memory)


def copy_array(array: Array) -> Array:
    """A copy in C order, made by several threads if it is large."""
    if array.nbytes < 2 * _STRETCH or array.dtype.hasobject or not array.flags.c_contiguous:
        return np.array(array, order="C")
    copy = empty_array(array.shape, array.dtype)
    source, target = array.reshape(-1), copy.reshape(-1)
    step = _STRETCH // array.itemsize
    in_parallel(
        lambda start: np.copyto(target[start : start + step], source[start : start + step]),
        range(0, source.size, step),
    )
    return copy


_LARGEST_KEPT: Final = 32 << 20  # bytes of one piece: the most that the C library can be told
_MOST_KEPT: Final = 1 << 30  # bytes at the end of the heap
_TRIM_THRESHOLD: Final = -1  # numbers of glibc's malloc.h
_MMAP_THRESHOLD: Final = -3


@cache
def keep_freed_memory() -> None:
    """Lets freed memory be used again without going through the operating system. Once is enough.

    A kernel's result is freed a few operations later, and the next kernel asks for as much again. The C library gives a
    large piece back to the operating system each time, and what is free at the end of its heap; getting it anew costs a
    page fault for every 4 KiB, or zeros for every huge page: more than most kernels take. So it is told to keep pieces
    up to 32 MiB, and 1 GiB at the end of the heap, which `give_freed_memory_back` gives back. Other libraries than
    glibc have no such limits.
    """
    set_limit = _c_function("mallopt")
    if set_limit is not None:
        set_limit(_MMAP_THRESHOLD, _LARGEST_KEPT)
        set_limit(_TRIM_THRESHOLD, _MOST_KEPT)


def give_freed_memory_back() -> None:
    """Gives what is free in the heap back to the operating system."""
    trim = _c_function("malloc_trim")
    if trim is not None:
        trim(0)


@cache
def _c_function(name: str) -> Callable[..., int] | None:
    """A function of the C library; None where it has none of that name, or there is no such library to ask."""
    try:
        found: Callable[..., int] = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return None
    return found
