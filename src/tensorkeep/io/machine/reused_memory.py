"""Memory of large results, used again within a run as soon as nobody sees what was in it.

The C library keeps freed pieces of up to 32 MiB (`large_arrays`). Larger ones go back to the operating system, which
fills every page with zeros when it gives them out anew: for a chain of kernels over large batches that is a fifth of
the time. So the pieces that kernels have had are kept until a run ends, or until one is needed that none of those that
are free can hold: then these are dropped, so that no more memory is taken than without them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import prod
from threading import Lock
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array

LARGE: Final = 16 << 20
"""Bytes of what is kept, at least."""
_MOST_PIECES: Final = 16
_LARGEST_WASTE: Final = 8  # a piece is given out for no less than an eighth of it


def _holders(pieces: list[Array], index: int) -> int:
    return sys.getrefcount(pieces[index])


# How many holders the interpreter reports of what only the list has; None if it does not count them exactly.
_counts_holders: Final = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()
_FREE: Final = _holders([np.zeros(1)], 0) if _counts_holders else None
_PIECES: Final[list[Array]] = []
_LOCK: Final = Lock()


def result_array(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """A new array, its elements whatever they are, in C order, for what a kernel computes."""
    size = prod(shape) * dtype.itemsize
    if size < LARGE or _FREE is None:
        return np.empty(shape, dtype)
    with _LOCK:
        found: Array = np.ndarray(shape, dtype, buffer=_piece(size))
    return found


def _piece(size: int) -> Array:
    """A piece that nobody sees anything in, of that many bytes or more."""
    free = [index for index in range(len(_PIECES)) if _holders(_PIECES, index) == _FREE]
    fitting = [index for index in free if size <= _PIECES[index].size <= _LARGEST_WASTE * size]
    if fitting:
        return _PIECES[min(fitting, key=lambda index: _PIECES[index].size)]
    for index in reversed(free):
        del _PIECES[index]
    piece = np.empty(size, np.uint8)
    if len(_PIECES) < _MOST_PIECES:
        _PIECES.append(piece)
    return piece


def drop_spare_memory() -> None:
    """Keeps nothing any more: a run has ended. What is still seen stays with those who see it."""
    if _PIECES:
        with _LOCK:
            _PIECES.clear()
