"""Records of files found and checked many at a time, which Python would look at one by one."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache

import numpy as np

from tensorkeep.native.library import address, native


@cache
def functions() -> Callable[..., int] | None:
    """The compiled function; None if the library is not there."""
    library = native().library
    if library is None:
        return None
    compiled: Callable[..., int] = library.records_sound
    pointer, integer = ctypes.c_void_p, ctypes.c_int64
    compiled.argtypes = [pointer, integer, integer, integer, pointer, pointer]  # type: ignore[attr-defined]
    compiled.restype = integer  # type: ignore[attr-defined]
    return compiled


def sound_records(block: bytes, at: int, most: int) -> tuple[list[int], list[int]] | None:
    """Where the records begin and end that lie in a block from a place on, so many at most; None without the library.

    They end before the first that is not there whole, or is not as it was written. Lets other threads run meanwhile.
    """
    compiled = functions()
    if compiled is None:
        return None
    places = np.empty((2, min(most, len(block) // 16 + 1)), np.int64)
    starts, ends = places
    count = compiled(block, len(block), at, len(starts), address(starts), address(ends))
    return starts[:count].tolist(), ends[:count].tolist()
