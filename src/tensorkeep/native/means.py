"""Means of arrays in one pass, where NumPy takes one for every array, and more for its sums."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.native.library import address, functions_by_dtype


@cache
def functions() -> Mapping[np.dtype[Any], Callable[..., int]]:
    """The compiled functions, by dtype: none if the library is not there."""
    return functions_by_dtype("mean", "plplp", "i")


def fused_mean(arrays: Sequence[Array], shares: npt.NDArray[np.float64] | None, out: Array) -> bool:
    """Puts the mean of arrays into `out`, and tells whether it did; if not, nothing has been touched.

    All are in C order, of one size and one dtype. `shares` has how much each of them counts; None, if all count the
    same. Not taken are other dtypes than float32 and float64, and arrays that are not aligned. Lets other threads run.
    """
    function = functions().get(out.dtype)
    if function is None or any(array.dtype != out.dtype for array in arrays):
        return False
    number = len(arrays)
    places = (ctypes.c_void_p * number)(*[array.__array_interface__["data"][0] for array in arrays])
    weighed = None if shares is None else address(shares)
    return function(places, number, weighed, out.size, address(out)) != 0
