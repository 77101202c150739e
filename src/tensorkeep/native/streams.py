"""Streams of random words, and products of sparse matrices with dense ones, each in one pass.

A library that was built before these were there has neither: NumPy does the work then.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.native.library import address, native, readable

_Words = npt.NDArray[np.uint32]


@cache
def _philox() -> Callable[..., None] | None:
    function = getattr(native().library, "philox_words", None)
    if function is None:
        return None
    word = ctypes.c_uint64
    function.argtypes = [word, word, word, word, ctypes.c_int64, ctypes.c_void_p]
    function.restype = None
    found: Callable[..., None] = function
    return found


def philox_words(key: int, counter: int, first: int, out: _Words) -> bool:
    """Fills rows of four words with the blocks of a stream from `first` on, and tells whether it did.

    The array is in C order. Lets other threads run.
    """
    function = _philox()
    if function is None or not len(out):
        return False
    low, high = counter & (2**64 - 1), counter >> 64
    function(key, low, high, first & (2**64 - 1), len(out), address(out))
    return True


@cache
def _products() -> Mapping[np.dtype[Any], Callable[..., int]]:
    library = native().library
    found: dict[np.dtype[Any], Callable[..., int]] = {}
    pointer, integer, flag = ctypes.c_void_p, ctypes.c_int64, ctypes.c_int32
    for dtype, suffix in ((np.dtype(np.float32), "float"), (np.dtype(np.float64), "double")):
        function = getattr(library, f"sparse_product_{suffix}", None)
        if function is not None:
            function.argtypes = [pointer, pointer, integer, flag, pointer, integer, integer, pointer, integer]
            function.restype = flag
            found[dtype] = function
    return found


def sparse_product(places: Array, values: Array, height: int, right: Array, *, flipped: bool) -> Array | None:
    """A sparse matrix of so many rows times a dense one; None if NumPy has to compute it.

    That is so without the library, for other types than float32 and float64, and if a place is outside of the matrix.
    `places` are pairs of row and column, int64; of column and row if they are `flipped`.
    """
    function = _products().get(values.dtype)
    if function is None or right.dtype != values.dtype or places.dtype != np.int64 or not len(places):
        return None
    out = np.zeros((height, right.shape[1]), values.dtype)
    given = (readable(places), readable(values), len(values), int(flipped), readable(right), *right.shape)
    return out if function(*given, address(out), height) == 0 else None
