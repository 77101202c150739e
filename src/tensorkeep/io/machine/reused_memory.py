"""Memory of large results, used again as soon as nobody sees what was in it: in a run, and in the runs after it.

The C library keeps freed pieces of up to 32 MiB (`large_arrays`), and gives larger ones back to the operating system at
once. The system fills every page with zeros when it gives them out anew:
for a chain of kernels over large batches that is up to a fifth of the time. So the pieces that kernels have had are
kept. When one is needed that none of those that are free can hold, as much of these is dropped, so that no more memory
is taken than without them. What some runs in a row have not used is dropped too, and so is what lies above a limit when
a run ends, and all of it when a session is closed. What is kept between runs is the system's for the asking: it takes
such pages first when memory runs short.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from math import prod
from threading import Lock
from typing import Any, Final

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.io.machine.huge_pages import offer_to_system
from tensorkeep.io.machine.large_arrays import give_freed_memory_back

LARGE: Final = 4 << 20
"""Bytes of what is kept, at least."""
_MOST_PIECES: Final = 32
_MOST_BYTES: Final = 1 << 30  # that are kept between runs
_LONGEST_UNUSED: Final = 8  # ends of runs; a run of a function inside a run is one too
_LARGEST_WASTE: Final = 8  # a piece is given out for no less than an eighth of it


def _holders(pieces: list[Array], index: int) -> int:
    return sys.getrefcount(pieces[index])


# How many holders the interpreter reports of what only the list has; None if it does not count them exactly.
_counts_holders: Final = sys.implementation.name == "cpython" and getattr(sys, "_is_gil_enabled", lambda: True)()
_FREE: Final = _holders([np.zeros(1)], 0) if _counts_holders else None
_PIECES: Final[list[Array]] = []
_UNUSED: Final[list[int]] = []  # for each piece, how many runs have ended since it was given out
_LOCK: Final = Lock()


def result_array(shape: Sequence[int], dtype: np.dtype[Any]) -> Array:
    """A new array, its elements whatever they are, in C order, for what a kernel computes."""
    size = prod(shape) * dtype.itemsize
    if size < LARGE or _FREE is None:
        return np.empty(shape, dtype)
    with _LOCK:
        found: Array = np.ndarray(shape, dtype, buffer=_piece(size))
    return found


def _free_pieces() -> list[int]:
    return [index for index in range(len(_PIECES)) if _holders(_PIECES, index) == _FREE]


def _piece(size: int) -> Array:
    """A piece that nobody sees anything in, of that many bytes or more."""
    free = _free_pieces()
    fitting = [index for index in free if size <= _PIECES[index].size <= _LARGEST_WASTE * size]
    if fitting:
        chosen = min(fitting, key=lambda index: _PIECES[index].size)
        _UNUSED[chosen] = 0
        return _PIECES[chosen]
    _drop(_pieces_to_drop(free, size))
    piece = np.empty(size, np.uint8)
    if len(_PIECES) < _MOST_PIECES:
        _PIECES.append(piece)
        _UNUSED.append(0)
    return piece


def _pieces_to_drop(free: list[int], size: int) -> list[int]:
    """Of free pieces, as many as hold so much together, those that have not been used for longest first."""
    found: list[int] = []
    for index in sorted(free, key=lambda index: _UNUSED[index], reverse=True):
        if size <= 0:
            break
        found.append(index)
        size -= _PIECES[index].size
    return found


def _drop(indices: Sequence[int]) -> None:
    for index in sorted(indices, reverse=True):
        del _PIECES[index], _UNUSED[index]


def spare_memory_after_run() -> None:
    """Drops what has not been given out for some runs, and what is too much to be kept: a run has ended."""
    if not _PIECES:
        return
    with _LOCK:
        _UNUSED[:] = [runs + 1 for runs in _UNUSED]
        _drop([index for index, runs in enumerate(_UNUSED) if runs > _LONGEST_UNUSED])
        free = _free_pieces()
        while sum(_PIECES[index].size for index in free) > _MOST_BYTES:
            _drop([max(free, key=lambda index: (_UNUSED[index], _PIECES[index].size))])
            free = _free_pieces()
        for index in free:
            offer_to_system(_PIECES[index].__array_interface__["data"][0], _PIECES[index].size)


def drop_spare_memory() -> None:
    """Keeps nothing any more, nor does the C library. What is still seen stays with those who see it."""
    if not _PIECES:
        return
    with _LOCK:
        _PIECES.clear()
        _UNUSED.clear()
    give_freed_memory_back()
