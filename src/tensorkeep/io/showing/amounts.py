"""Amounts in words for people: bytes and back, how many there are of something, and a few of many names."""

from __future__ import annotations

import math
import re
from collections.abc import Collection
from itertools import islice
from typing import Final

from tensorkeep.errors import InvalidArgumentError

_UNITS: Final = ("kB", "MB", "GB", "TB", "PB")
_FACTORS: Final = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}


def size_text(size: int) -> str:
    """A number of bytes for people: 512 B, 1.5 kB."""
    if size < 1000:
        return f"{size} B"
    power = min(int(math.log10(size)) // 3, len(_UNITS))
    scaled = size / 1000**power
    return f"{scaled:.3g} {_UNITS[power - 1]}" if scaled < 999.5 else f"{scaled:.0f} {_UNITS[power - 1]}"


def size_of(text: str) -> int:
    """The bytes that 500MB, 2GiB, or 1000 stand for."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([kmgt]|[kmg]i)?b?", text.strip().lower())
    if found is None:
        raise InvalidArgumentError(f"{text!r} is not a size: expected something like 500MB, 2GiB, or bytes")
    return int(float(found[1]) * _FACTORS[found[2] or ""])


def amount_of(count: int, noun: str) -> str:
    """A number of things: 1 tensor, 2,000 tensors."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def duration_text(seconds: float) -> str:
    """A length of time for people, in whole units of the largest kind that fits: 45 s, 3 min, 5 h, 12 d."""
    for unit, size in (("d", 86400), ("h", 3600), ("min", 60)):
        if seconds >= size:
            return f"{int(seconds // size):,} {unit}"
    return f"{int(seconds)} s"


def some_of(names: Collection[object], most: int) -> str:
    """The first of some names, and how many more there are: "a", "b" and 3 more. Empty if there are none."""
    shown = ", ".join(f'"{name}"' for name in islice(names, most))
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown
