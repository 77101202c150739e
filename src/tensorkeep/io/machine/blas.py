"""How many threads the library of products under NumPy (BLAS) wakes for us.

OpenBLAS, which NumPy mostly comes with, decides by size alone: it wakes threads for a dot product of 10,000 numbers,
for a matrix of some 10,000 and a vector, for two matrices from 2**19 multiplications on, and waits for them without
sleeping. Where another process has the processor that such a thread was to run on, or the container has used up its
share of time, a product of microseconds takes milliseconds, and a decomposition, which consists of thousands, takes
seconds. So whatever is small is computed inside `ONE_THREAD`, and only products that are worth it inside `all_threads`,
which are no more than `thread_limit()`. Sums of products over blocks are `inner_product`, which never wakes a thread,
whichever library it is.

The library is told through NumPy's own modules, which have it loaded; one that cannot be told is left alone. Outside
of these, the number of its threads is what the program has set.
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ContextDecorator
from threading import Lock
from typing import Any, Final, NamedTuple

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.io.machine.parallel import thread_limit

WAKES_THREADS: Final = 1 << 13
"""Products of fewer multiplications than these are computed by one thread in any case."""

_PREFIXES: Final = ("scipy_openblas_", "openblas_")
_SUFFIXES: Final = ("64_", "")


class ThreadFunctions(NamedTuple):
    """The functions of a library of products that get and set the number of its threads."""

    get: Callable[[], int]
    put: Callable[[int], None]


def find_thread_functions() -> ThreadFunctions | None:
    """Those of the library under NumPy; None if it has none that are known."""
    for path in _libraries():
        try:
            library = ctypes.PyDLL(path)
        except OSError:
            continue
        for prefix in _PREFIXES:
            for suffix in _SUFFIXES:
                get = getattr(library, f"{prefix}get_num_threads{suffix}", None)
                put = getattr(library, f"{prefix}set_num_threads{suffix}", None)
                if get is not None and put is not None:
                    get.argtypes, get.restype = (), ctypes.c_int
                    put.argtypes, put.restype = (ctypes.c_int,), None
                    return ThreadFunctions(get, put)
    return None


def _libraries() -> Iterator[str]:
    """NumPy's compiled module, through which its libraries are seen, and those beside it, for systems that do not."""
    module = sys.modules.get("numpy._core._multiarray_umath") or sys.modules.get("numpy.core._multiarray_umath")
    path = getattr(module, "__file__", None)
    if path is not None:
        yield path
    folder = os.path.join(os.path.dirname(os.path.dirname(np.__file__)), "numpy.libs")
    if os.path.isdir(folder):
        yield from (os.path.join(folder, name) for name in sorted(os.listdir(folder)) if "openblas" in name)


class BlasThreads:
    """The number of threads of a library, set while somebody computes and put back when nobody does.

    If one thread of the program wants them all, all are there for as long.
    """

    def __init__(self, functions: ThreadFunctions | None, limit: Callable[[], int] = thread_limit) -> None:
        self.can_be_set = functions is not None
        self._get, self._put = functions or ThreadFunctions(lambda: 1, lambda count: None)
        self._limit = limit
        self._lock = Lock()
        self._original = self._present = 1
        self._small = self._large = 0

    def change(self, small: int, large: int) -> None:
        """So many more users want one thread, and so many all."""
        with self._lock:
            if not self._small and not self._large:
                self._original = self._present = self._get()
            self._small += small
            self._large += large
            if self._original == 1:
                return
            several = min(self._original, self._limit()) if self._large else self._original
            wanted = 1 if self._small and not self._large else several
            if wanted != self._present:
                self._put(wanted)
                self._present = wanted


class ThreadUse(ContextDecorator):
    """Computing on one thread or on all, as a context or around a function. May be nested, and used by many threads."""

    def __init__(self, threads: BlasThreads, small: int, large: int) -> None:
        self._change, self._small, self._large = threads.change, small, large

    def __enter__(self) -> None:
        self._change(self._small, self._large)

    def __exit__(self, *_: object) -> None:
        self._change(-self._small, -self._large)


def one_thread(threads: BlasThreads) -> ThreadUse:
    """What computes on one thread of a library."""
    return ThreadUse(threads, 1, 0)


def all_threads(threads: BlasThreads) -> ThreadUse:
    """What computes on all threads of a library that it may use."""
    return ThreadUse(threads, 0, 1)


BLAS: Final = BlasThreads(find_thread_functions())
ONE_THREAD: Final = one_thread(BLAS)


def inner_product(left: Array, right: Array) -> Any:
    """The sum of the products of two vectors, one thread's work: in pieces that wake no other."""
    whole = left.size - left.size % WAKES_THREADS
    pieces = np.matmul(left[:whole].reshape(-1, 1, WAKES_THREADS), right[:whole].reshape(-1, WAKES_THREADS, 1))
    return pieces.sum() + np.dot(left[whole:], right[whole:])
