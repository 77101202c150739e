"""Sizes as people write them."""

from __future__ import annotations

import re

from tensorkeep.errors import InvalidArgumentError

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12, "ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30}


def size_of(text: str) -> int:
    """The bytes that 500MB, 2GiB, or 1000 stand for."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)\s*([kmgt]|[kmg]i)?b?", text.strip().lower())
    if found is None:
        raise InvalidArgumentError(f"{text!r} is not a size: expected something like 500MB, 2GiB, or bytes")
    return int(float(found[1]) * _UNITS[found[2] or ""])
