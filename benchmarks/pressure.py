"""Fragmented memory: much is free, and next to nothing in pieces as large as a huge page.

Memory is filled page by page, of which all but one page in each huge page are given back; what is left whole elsewhere
is then taken as it is. At no moment is less free than was asked to be left.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

_HUGE = 2 << 20
_PIECE = 1 << 28
_ENOUGH = 1 << 28  # bytes in whole pieces that may be left


@contextmanager
def fragmented(leave: int) -> Iterator[None]:
    """Fragments the memory of the machine meanwhile; `leave` is how many bytes stay free all the time."""
    holding = []
    while free_memory() > leave + _PIECE:
        holding.append(_filled(mmap.MADV_NOHUGEPAGE))
    for piece in holding:
        for start in range(0, len(piece), _HUGE):
            piece.madvise(mmap.MADV_DONTNEED, start + mmap.PAGESIZE, _HUGE - mmap.PAGESIZE)
    while whole_pieces() > _ENOUGH and free_memory() > leave + _PIECE:
        holding.append(_filled(mmap.MADV_HUGEPAGE))
    try:
        yield
    finally:
        for piece in holding:
            piece.close()


def _filled(advice: int) -> mmap.mmap:
    piece = mmap.mmap(-1, _PIECE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    piece.madvise(advice)
    np.frombuffer(piece, np.uint8)[:: mmap.PAGESIZE] = 1
    return piece


def free_memory() -> int:
    return int(re.findall(r"^MemFree: +(\d+) kB", Path("/proc/meminfo").read_text(), re.MULTILINE)[0]) << 10


def whole_pieces() -> int:
    """How many bytes are free in pieces that hold a huge page."""
    first = (_HUGE // mmap.PAGESIZE).bit_length() - 1
    lines = Path("/proc/buddyinfo").read_text().splitlines()
    counts = [[int(count) for count in line.split()[4:]] for line in lines]
    return sum(count << order for zone in counts for order, count in enumerate(zone) if order >= first) * mmap.PAGESIZE
