"""Checksums of thousands of small stretches in one call, where the calls would cost more than their work."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from tensorkeep.io.coding.crc32c import crc32c_of_each
from tensorkeep.io.files.filesystem import Buffer
from tensorkeep.native.library import address, native, readable

Integers = npt.NDArray[np.int64]


@cache
def functions() -> Callable[..., int] | None:
    """The compiled function; None if the library is not there."""
    library = native().library
    if library is None:
        return None
    compiled = library.crc32c_of_stretches
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    compiled.argtypes = [pointer, integer, pointer, pointer, integer, ctypes.c_int32, pointer]
    compiled.restype = ctypes.c_int32
    return compiled


def crc32c_of_stretches(
    data: Buffer, starts: Integers, lengths: Integers, *, by_tables: bool = False
) -> npt.NDArray[np.uint32]:
    """`crc32c` of each stretch of `data`, all of which lie within it. Lets other threads run meanwhile.

    `by_tables` has the library do without the processor's instruction for it.
    """
    compiled = functions()
    if compiled is not None:
        array = np.frombuffer(data, np.uint8)
        crcs = np.empty(starts.size, np.uint32)
        place, size = array.ctypes.data, array.size
        if compiled(place, size, readable(starts), readable(lengths), starts.size, by_tables, address(crcs)):
            return crcs
    content = bytes(data)
    ends = (starts + lengths).tolist()
    pieces = (content[start:end] for start, end in zip(starts.tolist(), ends, strict=True))
    return np.fromiter(crc32c_of_each(pieces), np.uint32, starts.size)
