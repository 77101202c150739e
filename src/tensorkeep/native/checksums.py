"""Bytes and their checksums: of thousands of small stretches in one call, and of records that are found by them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
import numpy.typing as npt

from tensorkeep.io.coding.crc32c import crc32c_of_each
from tensorkeep.io.files.filesystem import Buffer
from tensorkeep.native.library import address, compiled_function, readable

Integers = npt.NDArray[np.int64]


@cache
def functions() -> Callable[..., int] | None:
    """The compiled function of checksums; None if the library is not there."""
    return compiled_function("crc32c_of_stretches", "plpplip", "i")


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


@cache
def record_functions() -> Callable[..., int] | None:
    """The compiled function of records; None if the library is not there."""
    return compiled_function("records_sound", "plllpp", "l")


def sound_records(block: bytes, at: int, most: int) -> tuple[list[int], list[int]] | None:
    """Where the records begin and end that lie in a block from a place on, so many at most; None without the library.

    They end before the first that is not there whole, or is not as it was written. Lets other threads run meanwhile.
    """
    compiled = record_functions()
    if compiled is None:
        return None
    places = np.empty((2, min(most, len(block) // 16 + 1)), np.int64)
    starts, ends = places
    count = compiled(block, len(block), at, len(starts), address(starts), address(ends))
    return starts[:count].tolist(), ends[:count].tolist()
