"""How much a translation may take: operations that are written out, and arrays that are made of the model's.

A few bytes of a graph can stand for any amount: functions that call each other twice, forty deep; constants that state
one number a billion times, or that are doubled forty times. What is made of a model is bounded by what the model has.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from weakref import ref

import numpy as np

from tensorkeep.arrays import Array
from tensorkeep.errors import ResourceExhaustedError

SPARE: Final = 16 << 20
"""Bytes that may be made beyond as many as the model has."""
MOST_OPERATIONS: Final = 1_000_000
"""Operations that may be translated, those of a function once for each of its calls, and nodes that may be written."""
_MOST_NAMES: Final = 1 << 29  # characters in all names of a file
_SMALL: Final = 4096  # bytes; arrays of fewer are not looked at


class TooLargeError(ResourceExhaustedError):
    """A graph stands for more than may be written. The translation ends; no part is left out to go on with the rest."""


class Limits:
    """What the translation of one model has taken so far."""

    def __init__(self) -> None:
        self._operations = 0
        self._names = 0
        self._given = 0
        self._made = 0
        self._spread = 0
        self._known: dict[int, ref[Array]] = {}

    def count_operation(self, as_many: int = 1) -> None:
        """Counts an operation that is translated, as many times as it costs. TooLargeError if there are too many."""
        self._operations += as_many
        if self._operations > MOST_OPERATIONS:
            raise TooLargeError(
                f"more than {MOST_OPERATIONS:,} operations and nodes would have to be written: functions are written "
                "out for each call, and rounds of loops again where their shapes change. Export less of the graph "
                "(inputs=, outputs=; --inputs, --outputs)"
            )

    def count_name(self, name: str) -> None:
        """Counts a name of the file. TooLargeError if all together are too long."""
        self._names += len(name)
        if self._names > _MOST_NAMES:
            raise TooLargeError(
                f"the names of the file would have more than {_MOST_NAMES:,} characters: operations in functions are "
                "called after all calls that they are in"
            )

    # ---------------------------------------------------------------------------------------------------- arrays

    def give(self, arrays: Iterable[Array]) -> None:
        """Notes arrays that the model has, by whose memory the limit grows; views count as the array that they are
        views of.
        """
        for array in arrays:
            if array.nbytes > _SMALL:
                self._given += self._note(array)

    def make(self, arrays: Iterable[Array]) -> None:
        """Notes arrays that were computed from others, which count against the limit."""
        for array in arrays:
            if array.nbytes > _SMALL:
                self._made += self._note(array)

    def may_make(self, nbytes: int) -> bool:
        """Whether so many bytes may still be made of what the model has."""
        return self._made + nbytes <= self._given + SPARE

    def may_spread(self, nbytes: int) -> bool:
        """Whether so many bytes may still be written that repeat others; counts them if so."""
        if self._spread + nbytes > SPARE:
            return False
        self._spread += nbytes
        return True

    def _note(self, array: Array) -> int:
        """How many bytes of memory an array has, 0 if that memory was counted before."""
        root = _root(array)
        known = self._known.get(id(root))
        if known is not None and known() is root:
            return 0
        self._known[id(root)] = ref(root)
        return root.nbytes


def _root(array: Array) -> Array:
    """The array that has the memory of a view."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def repeated_bytes(array: Array) -> int:
    """How many bytes an array would take beyond its memory, as it has the same elements in many places."""
    if array.dtype == object:
        items = array.reshape(-1).tolist() if any(array.strides) or array.size <= 1 else [array.flat[0]]
        times = 1 if len(items) == array.size else array.size
        whole = sum(len(item) for item in items) * times
        return whole - sum(len(item) for item in {id(item): item for item in items}.values())
    real = array.itemsize
    for size, stride in zip(array.shape, array.strides, strict=True):
        real *= size if stride else 1
    return max(array.nbytes - real, 0)


def is_splat(array: Array) -> bool:
    """Whether an array has one element in all its places."""
    return array.size > 1 and not any(
        stride for size, stride in zip(array.shape, array.strides, strict=True) if size > 1
    )
