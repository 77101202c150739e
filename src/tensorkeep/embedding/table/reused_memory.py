"""Memory for rows that are handed out in large pieces, batch after batch: what was let go of is used once more.

The pages of fresh memory have to be made and cleared first. That takes a fifth of the time of a large lookup, and more
than all the rest of it where a virtual machine has to ask its host for them, or several threads do so at once.
"""

from __future__ import annotations

import math
import weakref
from collections import deque
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array

Bytes: TypeAlias = npt.NDArray[np.uint8]

_LEAST: Final = 4 << 20  # bytes; less is given out again by the C library itself
_MOST: Final = 64 << 20  # bytes; more is not kept
_KEPT: Final = 2  # pieces


class _Lent:
    """Bytes of which one array is made. They are free again when it, and all views of it, are gone.

    It is no array, for NumPy lets a view of a view hold on to the first array of its kind alone.
    """

    def __init__(self, piece: Bytes, size: int) -> None:
        self.__array_interface__ = {**piece.__array_interface__, "shape": (size,)}


class ReusedMemory:
    """Pieces of memory that nobody uses, a few of them. Any number of threads may ask for arrays, and let them go."""

    def __init__(self) -> None:
        self._free: deque[Bytes] = deque(maxlen=_KEPT)  # changed in one step each time, for arrays go at any moment

    @property
    def nbytes(self) -> int:
        """How much memory is kept."""
        return sum(piece.size for piece in list(self._free))

    def empty(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
        """A new array, its elements whatever they are, in C order."""
        size = math.prod(shape) * dtype.itemsize
        if not _LEAST <= size <= _MOST or dtype.hasobject:
            return np.empty(shape, dtype)
        piece = self._take_piece(size)
        lent = _Lent(piece, size)
        weakref.finalize(lent, self._free.append, piece).atexit = False
        return np.asarray(lent).view(dtype).reshape(shape)

    def _take_piece(self, size: int) -> Bytes:
        """A piece that is large enough, and not much too large."""
        for _ in range(_KEPT):
            try:
                piece = self._free.popleft()
            except IndexError:
                break
            if size <= piece.size <= 2 * size:
                return piece
        return np.empty(size, np.uint8)


new_rows: Final = ReusedMemory().empty
"""Arrays for rows that are read from tables."""
