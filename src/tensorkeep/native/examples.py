"""Examples of features by name (`tf.train.Example`) parsed in one pass over their bytes, where these are ordinary.

What that is stands in examples.cpp; whoever calls has something else for all other bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tensorkeep.arrays import Array
from tensorkeep.native.layers import place_of
from tensorkeep.native.library import compiled_function

Numbers = npt.NDArray[np.int64]

STRINGS: Final = 0x0A
"""The kind of a feature whose list has strings …"""
FLOATS: Final = 0x12
"""… floats of 32 bits …"""
INTEGERS: Final = 0x1A
"""… integers of 64."""

_START, _END, _COUNT = range(3)


@dataclass(frozen=True, slots=True)
class _Functions:
    scan: Callable[..., int]
    sizes: Callable[..., None]
    floats: Callable[..., None]
    integers: Callable[..., None]
    strings: Callable[..., None]


_SIGNATURES: Final[Mapping[str, tuple[str, str]]] = {
    "scan": ("pplppplplp", "i"),
    "sizes": ("pllp", ""),
    "floats": ("pplplp", ""),
    "integers": ("pplplp", ""),
    "strings": ("pplplp", ""),
}


@cache
def functions() -> _Functions | None:
    """The compiled functions; None if the library is not there."""
    found: dict[str, Any] = {
        name: compiled_function(f"examples_{name}", takes, gives) for name, (takes, gives) in _SIGNATURES.items()
    }
    return None if None in found.values() else _Functions(**found)


class Column(NamedTuple):
    """A feature of all examples: values one after the other, how many are each one's, and whether it has any list."""

    values: Array
    counts: Array
    present: Array
    each: int = -1
    """How many values each example has, if it is known that all have a list and these are as long; -1 otherwise."""


class Features:
    """Features that are asked for, by key and kind. They are looked for in any number of batches."""

    def __init__(self, keys: Sequence[bytes], kinds: Sequence[int]) -> None:
        self._text = np.frombuffer(b"".join(keys) or b"\0", np.uint8)
        self._ends = np.cumsum([len(key) for key in keys], dtype=np.int64)
        self._kinds = np.array(kinds, np.uint8)
        self._room = 1 << max(2, (2 * len(keys)).bit_length())
        self._by_kind = {kind: np.flatnonzero(self._kinds == kind) for kind in (FLOATS, INTEGERS, STRINGS)}

    def parse(self, examples: Sequence[bytes]) -> list[Column] | None:
        """The features of a batch.

        None if something about the examples is out of the ordinary, or the library is not there.
        """
        compiled = functions()
        count, features = len(examples), len(self._kinds)
        if compiled is None or not features or not count:
            return None
        text = b"".join(examples) or b"\0"
        ends = np.cumsum(np.fromiter(map(len, examples), np.int64, count))
        found: Numbers = np.empty((features, count, 3), np.int64)
        room: Numbers = np.empty(self._room, np.int64)
        is_ordinary = compiled.scan(
            *(text, place_of(ends), count),
            *(place_of(self._text), place_of(self._ends), place_of(self._kinds), features),
            *(place_of(room), len(room), place_of(found)),
        )
        return self._read_features(compiled, text, found) if is_ordinary else None

    def _read_features(self, compiled: _Functions, text: bytes, found: Numbers) -> list[Column]:
        features, count, _ = found.shape
        sizes: Numbers = np.empty((features, 2), np.int64)
        compiled.sizes(place_of(found), features, count, place_of(sizes))
        totals, each = sizes.T.tolist()
        counts, present = found[:, :, _COUNT], found[:, :, _START] >= 0
        parsed: list[Any] = [None] * features
        for kind, those in self._by_kind.items():
            if those.size:
                wanted = those.tolist()
                lists = text, place_of(found), count, place_of(those), len(wanted)
                values = _values(compiled, kind, lists, sum(totals[at] for at in wanted))
                start = 0
                for at in wanted:
                    stop = start + totals[at]
                    parsed[at] = Column(values[start:stop], counts[at], present[at], each[at])
                    start = stop
        return parsed


def _values(compiled: _Functions, kind: int, lists: tuple[Any, ...], total: int) -> Array:
    """The values of lists of one kind, one after the other."""
    if kind == STRINGS:
        places: Numbers = np.empty((total, 2), np.int64)
        compiled.strings(*lists, place_of(places))
        strings, text = np.empty(total, object), lists[0]
        strings[:] = [text[start:end] for start, end in places.tolist()]
        return strings
    if kind == INTEGERS:
        integers: Numbers = np.empty(total, np.int64)
        compiled.integers(*lists, place_of(integers))
        return integers
    floats = np.empty(total, "<f4")
    compiled.floats(*lists, place_of(floats))
    return floats.astype(np.float32, copy=False)
