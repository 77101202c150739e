"""Streams of random words, comparisons of the numbers they give, draws from a ring by them, products of sparse matrices
with dense ones, each in one call.

A library that was built before these were there has none of them: NumPy, or Python, does the work then.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.native.library import address, compiled_function, functions_by_dtype, readable

_Words = npt.NDArray[np.uint32]
_Numbers = npt.NDArray[np.int64]


@cache
def _philox() -> Callable[..., None] | None:
    return compiled_function("philox_words", "wwwwlp")


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


_COMPARISONS: Final = (np.greater, np.greater_equal, np.less, np.less_equal)  # as streams.cpp numbers them


@cache
def _philox_mask() -> Callable[..., None] | None:
    return compiled_function("philox_mask", "wwwwlidp")


def philox_mask(key: int, counter: int, first: int, comparison: np.ufunc, number: float, out: Array) -> bool:
    """Compares the numbers of [0, 1) that words of a stream give, those of the blocks from `first` on, with a number of
    float32. Puts what comes out into `out`, an array of truths in C order, and tells whether it did.

    The comparison is one of greater, greater or equal, less, less or equal. Lets other threads run.
    """
    function = _philox_mask()
    if function is None or not out.size:
        return False
    low, high = counter & (2**64 - 1), counter >> 64
    function(key, low, high, first & (2**64 - 1), out.size, _COMPARISONS.index(comparison), number, address(out))
    return True


@cache
def _ring_draw() -> Callable[..., None] | None:
    return compiled_function("ring_draw", "pllllplplp")


def ring_draw(ring: _Numbers, size: int, places: tuple[int, int, int], incoming: _Numbers, words: _Words) -> _Numbers:
    """Draws a number for each word from a ring of so many places, of which the first are there, as many as are in use.

    They are drawn from those between the first two of the places, which are counted without end; the first of these
    takes over the place drawn. After each draw a number that comes in, if there is one, is put at the last place, and
    can be drawn if that was the second one too. There is always something to be drawn.
    """
    drawn: _Numbers = np.empty(len(words), np.int64)
    function = _ring_draw()
    if function is None:
        _draw_in_python(ring, size, places, (incoming.tolist(), words.tolist()), drawn)
    else:
        came = readable(incoming), len(incoming)
        function(address(ring), size, *places, *came, readable(words), len(words), address(drawn))
    return drawn


def _draw_in_python(
    ring: _Numbers,
    size: int,
    places: tuple[int, int, int],
    given: tuple[list[int], list[int]],
    drawn: _Numbers,
) -> None:
    held, (start, first_end, end), (incoming, words) = ring.data, places, given
    grows = first_end == end
    found = []
    for number, word in enumerate(words):
        at = (start + word % (first_end - start)) % size
        found.append(held[at])
        held[at] = held[start % size]
        start += 1
        if number < len(incoming):
            held[end % size] = incoming[number]
            end += 1
            first_end += grows
    drawn[:] = found


@cache
def _products() -> Mapping[np.dtype[Any], Callable[..., int]]:
    return functions_by_dtype("sparse_product", "pplipllpl", "i")


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
