"""Amounts in words for people: bytes, and how many there are of something."""

from __future__ import annotations

import math
from typing import Final

_UNITS: Final = ("kB", "MB", "GB", "TB", "PB")


def size_text(size: int) -> str:
    """A number of bytes for people: 512 B, 1.5 kB."""
    if size < 1000:
        return f"{size} B"
    power = min(int(math.log10(size)) // 3, len(_UNITS))
    scaled = size / 1000**power
    return f"{scaled:.3g} {_UNITS[power - 1]}" if scaled < 999.5 else f"{scaled:.0f} {_UNITS[power - 1]}"


def counted(count: int, noun: str) -> str:
    """A number of things: 1 tensor, 2,000 tensors."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


__all__ = ["counted", "size_text"]
