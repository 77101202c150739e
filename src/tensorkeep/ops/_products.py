"""Matrix products, on as many threads as pay.

OpenBLAS, which NumPy's products mostly come from, uses other threads from 2**19 multiplications on, and waits for them
without sleeping. That pays for large products. Middling ones gain nothing, and where another process has the processor
that a thread was to run on, they wait for it for milliseconds. So a product is computed

    up to 2**19 multiplications    by one call
    up to 2**21                    in two or four parts that stay below 2**19, if its rows can be divided so, else
    up to 2**27                    on all threads, unless such products have been seen to wait lately
    beyond                         on all threads

What the library is told about threads, it is told through NumPy's own module, which has it loaded. If that cannot be,
products are left to the library.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from threading import Lock
from time import perf_counter
from typing import Any, Final

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

SMALL: Final = 1 << 19  # multiplications, as are those below
_MIDDLING: Final = 1 << 21
_LARGE: Final = 1 << 27
_SHORTEST_PAUSE: Final = 0.1  # seconds
_LONGEST_PAUSE: Final = 2.0
_WAIT: Final = 1e-3  # seconds; what takes so much longer than it has ever taken has been waiting

_PREFIXES: Final = ("scipy_openblas_", "openblas_")
_SUFFIXES: Final = ("64_", "")


def _thread_functions() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """The functions of the library under NumPy that get and set the number of its threads."""
    module = sys.modules.get("numpy._core._multiarray_umath") or sys.modules.get("numpy.core._multiarray_umath")
    path = getattr(module, "__file__", None)
    if path is None:
        return None
    try:
        library = ctypes.PyDLL(path)
    except OSError:
        return None
    for prefix in _PREFIXES:
        for suffix in _SUFFIXES:
            try:
                get = getattr(library, f"{prefix}get_num_threads{suffix}")
                put = getattr(library, f"{prefix}set_num_threads{suffix}")
            except AttributeError:
                continue
            get.argtypes, get.restype = (), ctypes.c_int
            put.argtypes, put.restype = (ctypes.c_int,), None
            return get, put
    return None


class _Threads:
    """How many threads products have, and whether several have paid of late."""

    def __init__(self) -> None:
        found = _thread_functions()
        self._can_be_set = found is not None
        self._get, self._put = found or (lambda: 1, lambda count: None)
        self._lock = Lock()
        self._users = 0
        self._count = 1
        self._fastest = 2e-10  # seconds for a multiplication; any machine of ours can do as well
        self._pause = _SHORTEST_PAUSE
        self._resume = 0.0

    def alone(self, left: Array, right: Array) -> Any:
        """The product, on one thread. Others that begin meanwhile may be on one thread too."""
        with self._lock:
            if self._users == 0:
                self._count = self._get()
                self._put(1)
            self._users += 1
        try:
            return np.matmul(left, right)
        finally:
            with self._lock:
                self._users -= 1
                if self._users == 0:
                    self._put(self._count)

    def watched(self, left: Array, right: Array, work: int) -> Any:
        """The product, on all threads, or on one for some time after waiting has been seen."""
        start = perf_counter()
        if start < self._resume and self._can_be_set:
            return self.alone(left, right)
        product = np.matmul(left, right)
        end = perf_counter()
        self._note(end, end - start, work)
        return product

    def _note(self, now: float, elapsed: float, work: int) -> None:
        each = elapsed / work
        if each < self._fastest:
            self._fastest = each
        if elapsed > _WAIT + 4 * self._fastest * work:
            self._resume = now + self._pause
            self._pause = min(2 * self._pause, _LONGEST_PAUSE)
        else:
            self._pause = max(0.999 * self._pause, _SHORTEST_PAUSE)


_THREADS: Final = _Threads()


def multiply(left: Array, right: Array) -> Any:
    """`left @ right`, of numbers with a fraction. Each has two dimensions or more, and NumPy's rules apply."""
    rows, depth = left.shape[-2:]
    work = rows * depth * right.shape[-1]
    if work < SMALL or work > _LARGE:
        return np.matmul(left, right)
    if work < _MIDDLING and left.ndim == 2 and right.ndim == 2:
        parts = 2 if work < 2 * SMALL else 4
        if rows % parts == 0 and depth == len(right):
            return np.matmul(left.reshape(parts, -1, depth), right).reshape(rows, -1)
    return _THREADS.watched(left, right, work)


def multiply_in_parts(left: Array, right: Array, out: Array, work: int, fewest_rows: int) -> None:
    """Computes `left @ right`, so many rows at a time that each product has no more than so many multiplications.

    If these would be too few rows for a part, the product is computed at once.
    """
    rows, row = left.shape[-2], right.shape[-2] * right.shape[-1]
    part = work // max(1, row)
    if not fewest_rows <= part < rows:
        np.matmul(left, right, out=out)
        return
    split = rows - rows % part
    each = right if right.ndim == 2 else right[:, np.newaxis]
    np.matmul(_in_parts(left[..., :split, :], part), each, out=_in_parts(out[..., :split, :], part))
    if split < rows:
        np.matmul(left[..., split:, :], right, out=out[..., split:, :])


def _in_parts(matrix: Array, rows: int) -> Array:
    """The same memory as matrices of so many rows."""
    return matrix.reshape(*matrix.shape[:-2], -1, rows, matrix.shape[-1])
