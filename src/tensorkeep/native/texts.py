"""Strings, many in one call: looked up among words, and hashed as TensorFlow assigns them to buckets.

Strings are handed over one behind the other, with a zero byte between two of them: that takes Python a few nanoseconds
a string. If one has such a byte itself, where each ends is handed over as well.

A library that was built before these were there has none of them: a dictionary, or NumPy, does the work then.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.native.library import address, compiled_function

_SLOT: Final = 3  # numbers of Slot in texts.cpp
_SPARE: Final = 1.5  # slots for each word, at least
_TEXTS: Final = "blpl"  # the strings, how many bytes they have, where each ends, how many there are


class _Functions(NamedTuple):
    gather: Callable[..., int]
    find: Callable[..., int]
    fingerprint: Callable[..., int]


@cache
def functions() -> _Functions | None:
    """The compiled functions; None if the library is not there, or has none of them."""
    gather = compiled_function("words_gather", f"{_TEXTS}wpl", "i")
    find = compiled_function("words_find", f"{_TEXTS}bwplp", "i")
    fingerprint = compiled_function("texts_fingerprint", f"{_TEXTS}p", "i")
    if gather is None or find is None or fingerprint is None:
        return None
    return _Functions(gather, find, fingerprint)


class JoinedTexts:
    """Texts that were encoded together, in the place of an array of bytes objects.

    An object for each takes longer to make, and to take away, than it takes to look the texts up. So where nothing but
    operations that know these take the strings that a caller gives, they are handed over like this.
    """

    __slots__ = ("count", "joined", "shape")

    def __init__(self, joined: bytes, count: int, shape: tuple[int, ...]) -> None:
        self.joined = joined
        """The texts one behind the other, a zero byte between two of them, and none in any."""
        self.count = count
        self.shape = shape

    @classmethod
    def of(cls, array: Array) -> JoinedTexts | None:
        """Those of an array; None if its elements are not all texts, or cannot be joined so."""
        texts = array.reshape(-1).tolist()
        try:
            joined = "\0".join(texts).encode()
        except (TypeError, UnicodeEncodeError):
            return None
        return cls(joined, len(texts), array.shape) if joined.count(b"\0") == len(texts) - 1 else None

    @property
    def ndim(self) -> int:
        return len(self.shape)

    def listed(self) -> list[bytes]:
        """The texts as objects."""
        return self.joined.split(b"\0")

    def array(self) -> Array:
        """The texts as an array of objects."""
        return np.fromiter(self.listed(), object, self.count).reshape(self.shape)


class Words:
    """Words that never change, and the number of each among them."""

    def __init__(self, compiled: _Functions, words: Sequence[bytes]) -> None:
        """The words are all different."""
        self._find = compiled.find
        self._bytes = b"".join(words)
        self._seed = hash(b"words") & (1 << 64) - 1  # another one in each process, as that of a dictionary is
        self._slots = np.zeros((1 << int(_SPARE * len(words)).bit_length(), _SLOT), np.int64)
        done = compiled.gather(
            self._bytes, len(self._bytes), address(_ends(words)), len(words), self._seed, *self._table
        )
        assert done, "a word is there twice"

    @classmethod
    def of(cls, words: Sequence[bytes]) -> Words | None:
        """None if there is no compiled library to look them up."""
        compiled = functions()
        return None if compiled is None else cls(compiled, words)

    @property
    def _table(self) -> tuple[Any, int]:
        return address(self._slots), len(self._slots)

    def numbers(self, texts: Sequence[bytes] | JoinedTexts) -> npt.NDArray[np.int64]:
        """The number of the word that each text is, -1 of one that is none of them."""
        if isinstance(texts, JoinedTexts):
            found = np.empty(texts.count, np.int64)
            size = len(texts.joined)
            done = self._find(
                texts.joined, size, None, texts.count, self._bytes, self._seed, *self._table, address(found)
            )
            assert done, "there are as many texts as were counted"
            return found
        found = np.empty(len(texts), np.int64)
        _call(self._find, texts, self._bytes, self._seed, *self._table, address(found))
        return found


def fingerprints(texts: Sequence[bytes]) -> npt.NDArray[np.uint64] | None:
    """FarmHash's Fingerprint64 of every text; None if NumPy has to compute it."""
    compiled = functions()
    if compiled is None or sys.byteorder != "little":
        return None
    found = np.empty(len(texts), np.uint64)
    _call(compiled.fingerprint, texts, address(found))
    return found


def _call(function: Callable[..., int], texts: Sequence[bytes], *arguments: Any) -> None:
    """Calls a function with texts, and with where they end if it cannot see that by itself."""
    if not texts:
        return
    joined = b"\0".join(texts)
    if not function(joined, len(joined), None, len(texts), *arguments):
        joined = b"".join(texts)
        done = function(joined, len(joined), address(_ends(texts)), len(texts), *arguments)
        assert done, "strings end where their lengths say"


def _ends(texts: Sequence[bytes]) -> Array:
    return np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
